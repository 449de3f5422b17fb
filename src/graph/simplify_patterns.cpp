// Elements that indices name in a pattern which repeats, as every second one with its neighbour's
// place, are slices joined side by side: take(x, arange(8) ^ 1) has x[1::2] and x[::2] in turn.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "graph/simplify_detail.hpp"

namespace smelt::simplifying {

namespace {

constexpr size_t kLongestPattern = 8;
constexpr int64_t kLargestIndex = int64_t{1} << 40;  // far from where 64 bits end
// Elements that lie together after the axis: of longer runs each is found once, whatever the
// indices are.
constexpr int64_t kLongRun = 64;

// Element q * first.size() + j of one axis is step * q + first[j].
struct Pattern {
  int64_t step = 0;
  std::vector<int64_t> first;
};

std::optional<Pattern> repeated(const Pattern& p, size_t times) {
  Pattern made;
  if (p.first.size() * times > kLongestPattern ||
      __builtin_mul_overflow(p.step, static_cast<int64_t>(times), &made.step))
    return std::nullopt;
  for (size_t t = 0; t < times; ++t)
    for (const int64_t first : p.first) made.first.push_back(first + p.step * static_cast<int64_t>(t));
  return made;
}

// As a pattern that moves on by whole multiples of n.
std::optional<Pattern> in_multiples(const Pattern& p, int64_t n) {
  return repeated(p, static_cast<size_t>(n / std::gcd(n, p.step)));
}

std::optional<Pattern> added(const Pattern& a, const Pattern& b, int64_t sign) {
  const size_t both = std::lcm(a.first.size(), b.first.size());
  auto x = repeated(a, both / a.first.size());
  const auto y = repeated(b, both / b.first.size());
  if (!x || !y) return std::nullopt;
  x->step += sign * y->step;
  for (size_t j = 0; j < both; ++j) x->first[j] += sign * y->first[j];
  return x;
}

// What an operation makes of a pattern and a constant.
std::optional<Pattern> with_constant(Op op, const Pattern& p, int64_t c) {
  const bool bits = op == Op::And || op == Op::Or || op == Op::Xor;
  const bool shift = op == Op::ShiftLeft || op == Op::ShiftRight;
  if (c < 0 && op != Op::Mul) return std::nullopt;
  if (shift && c > 40) return std::nullopt;
  if (op == Op::ShiftLeft) return with_constant(Op::Mul, p, int64_t{1} << c);
  if (op == Op::ShiftRight) return with_constant(Op::FloorDiv, p, int64_t{1} << c);
  if (op == Op::Mul) {
    Pattern made = p;
    bool over = __builtin_mul_overflow(p.step, c, &made.step);
    for (int64_t& first : made.first) over = __builtin_mul_overflow(first, c, &first) || over;
    return over ? std::nullopt : std::optional(made);
  }
  if (!bits && (c == 0 || (op != Op::Mod && op != Op::FloorDiv))) return std::nullopt;
  const int64_t unit = bits ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(c) + 1)) : c;
  auto made = in_multiples(p, unit);
  if (!made) return std::nullopt;
  for (int64_t& first : made->first) {
    const int64_t low = floor_remainder(first, unit);
    if (op == Op::FloorDiv) first = floor_quotient(first, unit);
    if (op == Op::Mod) first = low;
    if (op == Op::And) first = low & c;
    if (op == Op::Or) first += (low | c) - low;
    if (op == Op::Xor) first += (low ^ c) - low;
  }
  if (op == Op::FloorDiv) made->step /= unit;
  if (op == Op::Mod || op == Op::And) made->step = 0;
  return made;
}

// Whether `count` elements keep far from the ends of the dtype.
bool fits_pattern(const Pattern& p, int64_t count, DType t) {
  const int64_t most = t == DType::I32 ? std::numeric_limits<int32_t>::max() : kLargestIndex;
  int64_t last = 0;
  if (__builtin_mul_overflow(p.step, count / static_cast<int64_t>(p.first.size()), &last)) return false;
  for (const int64_t first : p.first) {
    int64_t end = 0;
    if (__builtin_add_overflow(first, last, &end) || std::abs(first) > most || std::abs(end) > most) return false;
  }
  return true;
}

std::optional<Pattern> pattern_of(const Rewriter& r, NodeId id, int64_t count) {
  const Node& node = r.at(id);
  if (node.shape.size() != 1 || (node.dtype != DType::I64 && node.dtype != DType::I32)) return std::nullopt;
  std::optional<Pattern> made;
  if (const Scalar* s = r.uniform(id)) made = Pattern{0, {convert(*s, DType::I64).i}};
  if (!made && node.kind == NodeKind::Iota) made = Pattern{1, {0}};
  if (!made && node.kind == NodeKind::Cast) made = pattern_of(r, node.args[0], count);
  if (!made && node.kind == NodeKind::Elementwise && node.args.size() == 2) {
    const auto a = pattern_of(r, node.args[0], count), b = pattern_of(r, node.args[1], count);
    if (!a || !b) return std::nullopt;
    const auto is_constant = [](const Pattern& p) { return p.step == 0 && p.first.size() == 1; };
    const bool swaps = node.op == Op::Mul || node.op == Op::And || node.op == Op::Or || node.op == Op::Xor;
    if (node.op == Op::Add || node.op == Op::Sub)
      made = added(*a, *b, node.op == Op::Add ? 1 : -1);
    else if (is_constant(*b))
      made = with_constant(node.op, *a, b->first[0]);
    else if (is_constant(*a) && swaps)
      made = with_constant(node.op, *b, a->first[0]);
  }
  return made && fits_pattern(*made, count, node.dtype) ? made : std::nullopt;
}

// In a chain of takes, as a network that sorts has, every next one would double what is computed
// for an element.
bool follows_joined(const Rewriter& r, NodeId source) {
  constexpr size_t kMostSeen = 64;
  std::vector<NodeId> seen{source};
  for (size_t at = 0; at < seen.size(); ++at) {
    const Node& node = r.at(seen[at]);
    const bool moves = node.kind == NodeKind::Slice &&
                       std::any_of(node.steps.begin(), node.steps.end(), [](int64_t step) { return step != 1; });
    if (node.kind == NodeKind::Concat || node.kind == NodeKind::Gather || moves || seen.size() > kMostSeen) return true;
    for (const NodeId arg : node.args)
      if (std::find(seen.begin(), seen.end(), arg) == seen.end()) seen.push_back(arg);
  }
  return false;
}

Node moved(NodeKind kind, std::vector<NodeId> args, Shape shape, const Node& like) {
  Node made{.kind = kind};
  made.dtype = like.dtype;
  made.shape = std::move(shape);
  made.args = std::move(args);
  made.origin = like.origin;
  made.label = like.label;
  return made;
}

// By how much each element of a pattern is beyond the one before; nothing where that differs.
std::optional<int64_t> distance(const Pattern& p) {
  if (p.first.size() < 2) return p.step;
  for (size_t j = 1; j < p.first.size(); ++j)
    if (p.first[j] - p.first[j - 1] != p.first[1] - p.first[0]) return std::nullopt;
  return p.first[1] - p.first[0];
}

// What takes the place of a take along an axis: `times` patterns of `length` elements.
struct Joining {
  Rewriter& r;
  const Node& node;
  size_t axis;
  int64_t times, length;

  NodeId slice(int64_t start, int64_t step, int64_t count) {
    Shape shape = node.shape;
    shape[axis] = count;
    return sliced(node.args[0], std::move(shape), axis, start, count > 1 ? step : 1);
  }
  // With an axis for the places of a pattern after the one of the patterns.
  Shape shape(int64_t places) const {
    Shape made = node.shape;
    made[axis] = times;
    made.insert(made.begin() + static_cast<long>(axis) + 1, places);
    return made;
  }
  NodeId part(const Pattern& p, size_t place) {
    return r.emit(moved(NodeKind::Reshape, {slice(p.first[place], p.step, times)}, shape(1), node));
  }
  NodeId flipped(int64_t start) {
    const NodeId pairs = r.emit(moved(NodeKind::Reshape, {slice(start, 1, times * length)}, shape(length), node));
    return joined(sliced(pairs, shape(length), axis + 1, length - 1, -1));
  }
  NodeId joined(NodeId x) { return r.emit(moved(NodeKind::Reshape, {x}, node.shape, node)); }

 private:
  NodeId sliced(NodeId x, Shape shape, size_t along, int64_t start, int64_t step) {
    const size_t rank = shape.size();
    Node made = moved(NodeKind::Slice, {x}, std::move(shape), node);
    made.starts.assign(rank, 0);
    made.steps.assign(rank, 1);
    made.starts[along] = start;
    made.steps[along] = step;
    return r.emit(std::move(made));
  }
};

}  // namespace

// take(x, arange(8) ^ 1) -> stack([x[1::2], x[::2]], axis=-1).reshape(8), where every index is
// inside.
std::optional<NodeId> join_patterns(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Gather || node.along || r.arg(node, 1).shape.size() != 1) return std::nullopt;
  const auto axis = static_cast<size_t>(node.axes[0]);
  int64_t behind = 1;
  for (size_t d = axis + 1; d < node.shape.size(); ++d) behind *= node.shape[d].constant().value_or(kLongRun);
  const auto count = node.shape[axis].constant(), extent = r.arg(node, 0).shape[axis].constant();
  if (behind >= kLongRun || !count || !extent) return std::nullopt;
  const auto p = pattern_of(r, node.args[1], *count);
  const auto length = static_cast<int64_t>(p ? p->first.size() : 0);
  if (length < 1 || *count == 0 || *count % length != 0) return std::nullopt;
  const int64_t times = *count / length;
  if ((p->step == 0 && times > 1) || (length > 1 && follows_joined(r, node.args[0]))) return std::nullopt;
  for (const int64_t first : p->first)
    for (const int64_t index : {first, first + p->step * (times - 1)})
      if (index < 0 || index >= *extent) return std::nullopt;
  Joining join{r, node, axis, times, length};
  if (length == 1 || times == 1)
    if (const auto apart = distance(*p); apart && *apart != 0)
      return join.slice(p->first[0], times == 1 ? *apart : p->step, *count);
  if (distance(*p) == 0)
    return join.joined(r.emit(moved(NodeKind::Broadcast, {join.part(*p, 0)}, join.shape(length), node)));
  if (distance(*p) == -1 && p->step == length) return join.flipped(p->first.back());
  std::vector<NodeId> parts;
  for (size_t j = 0; j < p->first.size(); ++j) parts.push_back(join.part(*p, j));
  Node whole = moved(NodeKind::Concat, std::move(parts), join.shape(length), node);
  whole.axes = {node.axes[0] + 1};
  return join.joined(r.emit(std::move(whole)));
}

}  // namespace smelt::simplifying
