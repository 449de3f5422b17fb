// Rules for what is read: rows that indices name in order are a slice, and a reduction does not see
// what changes none of its results.
#include <algorithm>
#include <limits>

#include "graph/simplify_detail.hpp"

namespace smelt::simplifying {

namespace {

// An index of each element of one axis: first + step * i.
struct Progression {
  IntExpr first;
  int64_t step;
};

bool within(const IntExpr& value, const IntExpr& least, const IntExpr& most) {
  return proves_nonnegative(value - least, {}) && proves_nonnegative(most - value, {});
}

// Whether no element leaves the dtype; for 64 bits that is taken for granted, as of every size.
bool fits(const Progression& p, const IntExpr& count, DType t) {
  if (t == DType::I64) return true;
  if (t != DType::I32) return false;
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  return within(p.first, kLeast, kMost) && within(p.first + IntExpr(p.step) * (count - 1), kLeast, kMost);
}

std::optional<Progression> progression(const Rewriter& r, NodeId id) {
  const Node& node = r.at(id);
  if (node.shape.size() != 1 || (node.dtype != DType::I64 && node.dtype != DType::I32)) return std::nullopt;
  if (const Scalar* s = r.uniform(id)) return Progression{convert(*s, DType::I64).i, 0};
  const auto of = [&](size_t i) { return progression(r, node.args[i]); };
  std::optional<Progression> made;
  if (node.kind == NodeKind::Iota) made = Progression{0, 1};
  if (node.kind == NodeKind::Cast) made = of(0);
  if (node.kind == NodeKind::Elementwise && (node.op == Op::Add || node.op == Op::Sub || node.op == Op::Mul)) {
    const auto a = of(0), b = of(1);
    if (!a || !b) return std::nullopt;
    int64_t step = 0;
    if (node.op == Op::Add && !__builtin_add_overflow(a->step, b->step, &step))
      made = Progression{a->first + b->first, step};
    if (node.op == Op::Sub && !__builtin_sub_overflow(a->step, b->step, &step))
      made = Progression{a->first - b->first, step};
    const Progression& moving = a->step != 0 ? *a : *b;
    const auto factor = (a->step != 0 ? *b : *a).first.constant();
    const bool scaled = node.op == Op::Mul && factor && (a->step == 0 || b->step == 0);
    if (scaled && !__builtin_mul_overflow(moving.step, *factor, &step))
      made = Progression{moving.first * IntExpr(*factor), step};
  }
  return made && fits(*made, node.shape[0], node.dtype) ? made : std::nullopt;
}

// Whether an element of this value changes no result.
bool is_neutral(const Rewriter& r, ReduceKind kind, NodeId value) {
  const Scalar* s = r.uniform(value);
  if (!s) return false;
  const double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case ReduceKind::Sum: return r.is_uniform(value, 0);
    case ReduceKind::Prod: return r.is_uniform(value, 1);
    case ReduceKind::Max: return is_float(s->dtype) && s->as_double() == -infinity;
    case ReduceKind::Min: return is_float(s->dtype) && s->as_double() == infinity;
    default: return false;
  }
}

// What the concatenated slices are slices of, where each element of that is in one of them.
std::optional<NodeId> whole_of_slices(const Rewriter& r, const Node& concat) {
  const auto axis = static_cast<size_t>(concat.axes[0]);
  const NodeId source = r.arg(concat, 0).kind == NodeKind::Slice ? r.arg(concat, 0).args[0] : -1;
  if (source < 0 || r.at(source).shape != concat.shape) return std::nullopt;
  for (size_t i = 0; i < concat.args.size(); ++i) {
    const Node& slice = r.arg(concat, i);
    if (slice.kind != NodeKind::Slice || slice.args[0] != source) return std::nullopt;
    for (size_t d = 0; d < slice.steps.size(); ++d)
      if (slice.steps[d] != 1 || (d != axis && !slice.starts[d].is(0))) return std::nullopt;
  }
  IntExpr end = 0;
  std::vector<bool> used(concat.args.size());
  for (size_t found = 0; found < used.size(); ++found) {
    size_t next = 0;
    while (next < used.size() && (used[next] || !(r.arg(concat, next).starts[axis] == end))) ++next;
    if (next == used.size()) return std::nullopt;
    used[next] = true;
    end = end + r.arg(concat, next).shape[axis];
  }
  return end == concat.shape[axis] ? std::optional(source) : std::nullopt;
}

bool is_reduced(const Node& reduce, size_t d) {
  return std::binary_search(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(d));
}

}  // namespace

// take(x, arange(1, 9)) -> x[1:9], where every index is inside.
std::optional<NodeId> slice_ranges(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Gather || node.along) return std::nullopt;
  const auto index = progression(r, node.args[1]);
  if (!index || index->step == 0) return std::nullopt;
  const Node& from = r.arg(node, 0);
  const auto axis = static_cast<size_t>(node.axes[0]);
  const IntExpr count = node.shape[axis], last = index->first + IntExpr(index->step) * (count - 1);
  const IntExpr most = from.shape[axis] - 1;
  if (!proves_nonnegative(count - 1, {}) || !within(index->first, 0, most) || !within(last, 0, most))
    return std::nullopt;
  Node slice{.kind = NodeKind::Slice};
  slice.dtype = node.dtype;
  slice.shape = node.shape;
  slice.args = {node.args[0]};
  slice.starts.assign(node.shape.size(), 0);
  slice.steps.assign(node.shape.size(), 1);
  slice.starts[axis] = index->first;
  slice.steps[axis] = index->step;
  slice.origin = node.origin;
  slice.label = node.label;
  return r.emit(std::move(slice));
}

// sum(pad(x, 1)) -> sum(x), where the reduced axes are padded by what changes nothing.
std::optional<NodeId> reduce_without_padding(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Reduce || node.local || r.arg(node, 0).kind != NodeKind::Pad) return std::nullopt;
  const Node& pad = r.arg(node, 0);
  const Node& inner = r.arg(pad, 0);
  if (!is_neutral(r, node.reduce, pad.args[1])) return std::nullopt;
  Node rest = pad;
  bool drops = false;
  for (size_t d = 0; d < pad.shape.size(); ++d) {
    if (!is_reduced(node, d)) continue;
    if (!proves_nonnegative(inner.shape[d] - 1, {})) return std::nullopt;  // a maximum of nothing is none
    drops = drops || !(inner.shape[d] == pad.shape[d]);
    rest.shape[d] = inner.shape[d];
    rest.starts[d] = 0;
  }
  return drops ? std::optional(r.emit_like(NodeKind::Reduce, r.emit(std::move(rest)), node)) : std::nullopt;
}

// sum(roll(x, 1)) -> sum(x): a reduction does not depend on where its elements are.
std::optional<NodeId> reduce_in_order(Rewriter& r, const Node& node) {
  if (node.kind != NodeKind::Reduce || node.local || node.reduce == ReduceKind::ArgMax ||
      node.reduce == ReduceKind::ArgMin)
    return std::nullopt;
  const Node& moved = r.arg(node, 0);
  if (moved.kind != NodeKind::Concat || !is_reduced(node, static_cast<size_t>(moved.axes[0]))) return std::nullopt;
  const auto source = whole_of_slices(r, moved);
  return source ? std::optional(r.emit_like(NodeKind::Reduce, *source, node)) : std::nullopt;
}

}  // namespace smelt::simplifying
