// Blocked sums over windows: each thread has several results at a time, so that what it has loaded
// serves all of them.
//
//   grid %g over parts of the lanes, and the blocks along shared axes
//     totals = 0                                    one for each result of a block
//     serial %part over parts of the window, where not all of it is staged at once:
//       vector %i over its elements: staged = k
//       vector %i over the lanes, each with its block:
//         serial over what is not written out of the window:
//           each total = fma(x, staged, total)     element of the window after element
//     vector %i over the lanes: out = f(total)
//
// A block may stick out of the results: what is read there is anything, and nothing is stored.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/check.hpp"
#include "kernel/lower_pointwise.hpp"
#include "schedule/local.hpp"

namespace smelt::kernel {

using schedule::BlockedSum;
using schedule::Blocking;
using schedule::Operand;
using schedule::StagedShape;

namespace {

using Point = std::vector<int64_t>;

// Statements of a loop's body that are repeated by unrolling.
constexpr size_t kMostRepeated = 512;

// All places of a box, the last dimension fastest.
std::vector<Point> points_of(const std::vector<int64_t>& box) {
  std::vector<Point> points{{}};
  for (const int64_t size : box) {
    std::vector<Point> longer;
    for (const Point& p : points)
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(p);
        longer.back().push_back(i);
      }
    points = std::move(longer);
  }
  return points;
}

// An operand in shared memory.
struct Staged {
  int buffer = -1;
  StagedShape shape;
};

// The elements of one sum's window, at each result of a block.
class Elements {
 public:
  using Place = std::function<ExprId(const Operand&, const Point& result, const Point& tap)>;
  Elements(const Graph& graph, const std::set<NodeId>& members, Builder& builder, const BlockedSum& sum, Place place)
      : graph_(graph), members_(members), builder_(builder), sum_(sum), place_(std::move(place)) {}

  // The sum with one element more.
  ExprId next(ExprId so_far, const Point& result, const Point& tap) {
    const Node& node = graph_.at(sum_.node);
    const Node& element = graph_.at(node.args[0]);
    const bool product = node.reduce == ReduceKind::Sum && is_float(node.dtype) && members_.count(node.args[0]) &&
                         element.kind == NodeKind::Elementwise && element.op == Op::Mul;
    // A product is added with one rounding.
    if (product)
      return builder_.apply(Op::Fma,
                            {value(element.args[0], result, tap), value(element.args[1], result, tap), so_far});
    return builder_.apply(op_of(node.reduce), {so_far, value(node.args[0], result, tap)});
  }

 private:
  ExprId value(NodeId id, const Point& result, const Point& tap) {
    for (const Operand& operand : sum_.operands)
      if (operand.top == id) return place_(operand, result, tap);
    const Node& node = graph_.at(id);
    std::vector<ExprId> args;
    for (const NodeId arg : node.args) args.push_back(value(arg, result, tap));
    return node.kind == NodeKind::Cast ? builder_.cast(args[0], node.dtype, node.wrap)
                                       : builder_.apply(node.op, std::move(args));
  }

  const Graph& graph_;
  const std::set<NodeId>& members_;
  Builder& builder_;
  const BlockedSum& sum_;
  Place place_;
};

}  // namespace

// Names the block of the lane at hand, in the current block of statements; `each` lanes follow one
// another in one block.
void PointwiseLowering::find_lanes(Blocks& blocks, int64_t each) {
  const Blocking& b = *schedule_.blocking;
  const auto& axes = domain().axes;
  blocks.ranges[kLane] = {0, blocks.length * each - 1};
  IntExpr at = blocks.first + floordiv(IntExpr::symbol(kLane), each, blocks.ranges);
  int outermost = -1;
  for (size_t a = axes.size(); a-- > 0;)
    if (!b.shared[a]) outermost = static_cast<int>(a);
  std::vector<IntExpr> places(axes.size());
  for (size_t a = axes.size(); a-- > 0;) {
    if (b.shared[a]) continue;
    const IntExpr count = ceildiv(axes[a].extent, b.block[a]);
    places[a] = static_cast<int>(a) == outermost ? at : mod(at, count, blocks.ranges);
    at = floordiv(at, count, blocks.ranges);
  }
  for (size_t a = 0; a < axes.size(); ++a)
    if (!b.shared[a])
      blocks.at[a] = evaluator_.as_index(builder_.index(places[a]), ceildiv(axes[a].extent, b.block[a]));
  blocks.ranges = evaluator_.ranges();
}

Placement PointwiseLowering::result_at(const Blocks& blocks, const std::vector<int64_t>& result) const {
  Placement placement;
  placement.ranges = blocks.ranges;
  const auto& axes = domain().axes;
  for (size_t a = 0; a < axes.size(); ++a)
    placement.place(axes[a].var, blocks.at[a] * schedule_.blocking->block[a] + result[a]);
  return placement;
}

// Adds up one sum for all results of a block: `totals`, by result.
void PointwiseLowering::blocked_sum(const BlockedSum& sum, const Blocks& blocks, const std::vector<LocalId>& totals,
                                    std::vector<Stmt>& body) {
  const Blocking& b = *schedule_.blocking;
  const Node& node = graph_.at(sum.node);
  const std::set<NodeId> members(group_.nodes.begin(), group_.nodes.end());
  const auto extent = [&](int axis) {
    return graph_.at(node.args[0]).shape[static_cast<size_t>(axis)].constant().value();
  };
  const int chunked = sum.chunk ? schedule::chunked_axis(graph_, sum) : -1;
  const int part_axis = chunked < 0 ? -1 : node.axes[static_cast<size_t>(chunked)];
  const IntExpr part = IntExpr::symbol(Symbol::loop("part"));
  Ranges ranges = blocks.ranges;
  IntExpr part_length = 0, parts = 1;
  if (part_axis >= 0) {
    parts = ceildiv(extent(part_axis), sum.chunk);
    ranges[Symbol::loop("part")] = {0, parts - 1};
    part_length =
        extent(part_axis) % sum.chunk == 0 ? IntExpr(sum.chunk) : min(sum.chunk, extent(part_axis) - part * sum.chunk);
  }
  const auto length_of = [&](int axis) { return axis == part_axis ? part_length : IntExpr(extent(axis)); };
  const auto in_array = [&](int axis, const IntExpr& at) { return axis == part_axis ? part * sum.chunk + at : at; };
  const std::vector<int64_t> no_result(domain().axes.size(), 0);
  std::vector<Stmt> steps;

  // What all threads share.
  std::map<NodeId, Staged> staged;
  for (const Operand& operand : sum.operands) {
    if (!operand.staged) continue;
    Staged s{-1, schedule::staged_shape(graph_, domain(), b, sum, operand)};
    std::vector<IntExpr> dims, counts;
    for (const int axis : s.shape.window) {
      dims.emplace_back(axis == part_axis ? sum.chunk : extent(axis));
      counts.push_back(length_of(axis));
    }
    const int64_t block = s.shape.axis < 0 ? 1 : b.block[static_cast<size_t>(s.shape.axis)];
    dims.emplace_back(s.shape.axis < 0 ? 1 : (block + 3) / 4 * 4);
    counts.emplace_back(block);
    s.buffer = add_scratch(compute_type(graph_.at(operand.base).dtype), dims);
    IntExpr elements = 1;
    for (const IntExpr& n : counts) elements = elements * n;
    Ranges stage_ranges = ranges;
    stage_ranges[kLane] = {0, elements - 1};
    Index at(counts.size());
    IntExpr rest = IntExpr::symbol(kLane);
    for (size_t d = counts.size(); d-- > 0;) {
      at[d] = d == 0 ? rest : mod(rest, counts[d], stage_ranges);
      rest = floordiv(rest, counts[d], stage_ranges);
    }
    Blocks all = blocks;
    all.ranges = stage_ranges;
    Placement placement = result_at(all, no_result);
    if (s.shape.axis >= 0) {
      IntExpr& along = placement.value_of.at(domain().axes[static_cast<size_t>(s.shape.axis)].var);
      along = along + at.back();
    }
    for (size_t d = 0; d < s.shape.window.size(); ++d)
      placement.place(Symbol::window(sum.node, s.shape.window[d]), in_array(s.shape.window[d], at[d]));
    std::vector<Stmt> element;
    evaluator_.enter(&element, &stage_ranges);
    const ExprId value = evaluator_.value_or_anything(operand.base, placement.at(operand.index));
    element.push_back(builder_.store({true, s.buffer, at}, value));
    steps.push_back(loop(LoopKind::Vector, kLane, elements, std::move(element), 1, 4));
    staged[operand.top] = std::move(s);
  }

  // The window, element after element.
  std::vector<Stmt> lanes, products;
  Blocks here = blocks;
  here.ranges = ranges;
  evaluator_.enter(&lanes, &here.ranges);
  find_lanes(here);
  const size_t serial = node.axes.size() - sum.unrolled;
  std::vector<int64_t> box;
  for (size_t a = 0; a < serial; ++a)
    if (extent(node.axes[a]) > 1)
      here.ranges[Symbol::window(sum.node, node.axes[a])] = {0, length_of(node.axes[a]) - 1};
  for (size_t a = serial; a < node.axes.size(); ++a) box.push_back(extent(node.axes[a]));
  const auto tap_at = [&](size_t a, const Point& tap) {
    if (a >= serial) return IntExpr(tap[a - serial]);
    return extent(node.axes[a]) == 1 ? IntExpr(0) : IntExpr::symbol(Symbol::window(sum.node, node.axes[a]));
  };
  // By operand, and the results and elements that it differs in.
  std::map<std::pair<NodeId, Point>, ExprId> known;
  const auto operand_at = [&](const Operand& operand, const Point& result, const Point& tap) -> ExprId {
    Point differs;
    for (size_t a = 0; a < result.size(); ++a) {
      Symbol var = domain().axes[a].var;
      differs.push_back(
          std::any_of(operand.index.begin(), operand.index.end(), [&](const IntExpr& i) { return i.mentions(var); })
              ? result[a]
              : 0);
    }
    differs.insert(differs.end(), tap.begin(), tap.end());
    const auto [at, fresh] = known.try_emplace({operand.top, differs}, kNoExpr);
    if (!fresh) return at->second;
    if (const auto s = staged.find(operand.top); s != staged.end()) {
      Index index;
      for (const int axis : s->second.shape.window) {
        const auto a = static_cast<size_t>(std::find(node.axes.begin(), node.axes.end(), axis) - node.axes.begin());
        index.push_back(tap_at(a, tap));
      }
      index.emplace_back(s->second.shape.axis < 0 ? 0 : result[static_cast<size_t>(s->second.shape.axis)]);
      return at->second = builder_.load({true, s->second.buffer, index});
    }
    Placement placement = result_at(here, result);
    for (size_t a = 0; a < node.axes.size(); ++a)
      placement.place(Symbol::window(sum.node, node.axes[a]), in_array(node.axes[a], tap_at(a, tap)));
    return at->second = evaluator_.value_or_anything(operand.base, placement.at(operand.index));
  };
  evaluator_.enter(&products, &here.ranges);
  Elements elements(graph_, members, builder_, sum, operand_at);
  const std::vector<Point> results = points_of(b.block);
  for (const Point& tap : points_of(box))
    for (size_t r = 0; r < results.size(); ++r)
      products.push_back(assign(totals[r], elements.next(builder_.local(totals[r]), results[r], tap)));
  for (size_t a = serial; a-- > 0;) {
    const int axis = node.axes[a];
    if (extent(axis) == 1) continue;
    // The innermost loop, where its body is short, is unrolled some times.
    const bool innermost = products.empty() || !products.back().is<Loop>();
    const auto some = static_cast<int>(std::min<size_t>(8, kMostRepeated / std::max<size_t>(1, products.size())));
    std::vector<Stmt> wrapped;
    wrapped.push_back(loop(LoopKind::Serial, Symbol::window(sum.node, axis), length_of(axis), std::move(products), 1,
                           innermost && some > 1 ? some : 0));
    products = std::move(wrapped);
  }
  // The printer joins loads of neighbours within one block of statements; a loop of one step keeps
  // the indices that they depend on out of it.
  if (products.empty() || !products.back().is<Loop>())
    products = single(loop(LoopKind::Serial, Symbol::loop("w"), 1, std::move(products)));
  append(lanes, std::move(products));
  steps.push_back(loop(LoopKind::Vector, kLane, here.length, std::move(lanes)));
  if (part_axis < 0) {
    append(body, std::move(steps));
  } else {
    body.push_back(loop(LoopKind::Serial, Symbol::loop("part"), parts, std::move(steps)));
  }
}

void PointwiseLowering::blocks() {
  const Blocking& b = *schedule_.blocking;
  const auto& axes = domain().axes;
  const IntExpr team = schedule_.team;
  IntExpr lanes = 1;
  for (size_t a = 0; a < axes.size(); ++a)
    if (!b.shared[a]) lanes = lanes * ceildiv(axes[a].extent, b.block[a]);
  const auto constant = lanes.constant();
  const bool chunked = !(constant && *constant <= schedule_.team);
  // Workgroups that follow each other read the same of what is not shared.
  Grid grid;
  Placement outer;
  if (chunked) grid.add(Symbol::loop("chunk"), ceildiv(lanes, team));
  for (size_t a = 0; a < axes.size(); ++a)
    if (b.shared[a]) grid.add(axes[a].var, ceildiv(axes[a].extent, b.block[a]));
  grid.decode(outer);

  std::vector<Stmt> body;
  evaluator_.enter(&body, &outer.ranges);
  Blocks blocks;
  blocks.at.resize(axes.size());
  blocks.first = 0, blocks.length = lanes;
  if (chunked) {
    blocks.first =
        evaluator_.as_index(builder_.index(outer.value_of.at(Symbol::loop("chunk"))), ceildiv(lanes, team)) * team;
    const bool whole = constant && *constant % schedule_.team == 0;
    blocks.length = whole ? team : min(team, lanes - blocks.first);
  }
  for (size_t a = 0; a < axes.size(); ++a)
    if (b.shared[a])
      blocks.at[a] =
          evaluator_.as_index(builder_.index(outer.value_of.at(axes[a].var)), ceildiv(axes[a].extent, b.block[a]));
  blocks.ranges = evaluator_.ranges();

  const std::vector<Point> results = points_of(b.block);
  Totals totals;
  for (const BlockedSum& sum : b.sums) {
    const Node& node = graph_.at(sum.node);
    const DType t = accumulator_type(graph_.at(node.args[0]).dtype);
    std::vector<LocalId>& of = totals[sum.node];
    for (size_t r = 0; r < results.size(); ++r) {
      of.push_back(builder_.new_local(t, true));
      body.push_back(assign(of.back(), builder_.constant(neutral(node.reduce, t))));
    }
  }
  for (const BlockedSum& sum : b.sums) blocked_sum(sum, blocks, totals.at(sum.node), body);

  if (stores_across())
    store_across(blocks, totals, body);
  else
    store_blocks(blocks, totals, body);
  add_phase(grid.extent(), std::move(body), schedule_.tile);
}

Stmt PointwiseLowering::stored_inside(const StoredOutput& output, const Placement& placement) {
  std::vector<schedule::Guard> inside;
  for (const Axis& axis : domain().axes) inside.push_back({placement.value_of.at(axis.var), axis.extent});
  const ExprId mask = evaluator_.only_where(inside);
  const ExprId value = evaluator_.value_to_store(output.base, placement.at(output.base_index));
  Stmt stored = store_output(output, placement, value, mask);
  evaluator_.only_where(kNoExpr);
  return stored;
}

// Each thread stores its results.
void PointwiseLowering::store_blocks(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body) {
  const std::vector<Point> results = points_of(schedule_.blocking->block);
  std::vector<Stmt> element, stores;
  Blocks here = blocks;
  evaluator_.enter(&element, &here.ranges);
  find_lanes(here);
  evaluator_.enter(&element, &here.ranges);
  size_t current = 0;
  evaluator_.set_known([&](NodeId id, const Index&) {
    const auto found = totals.find(id);
    return found == totals.end() ? kNoExpr : builder_.local(found->second[current]);
  });
  for (const StoredOutput& o : domain().outputs)
    for (current = 0; current < results.size(); ++current)
      stores.push_back(stored_inside(o, result_at(here, results[current])));
  evaluator_.set_known({});
  append(element, std::move(stores));
  body.push_back(loop(LoopKind::Vector, kLane, here.length, std::move(element)));
}

constexpr int64_t kBanks = 32;  // of shared memory

// Rows of results that are no whole number of blocks begin anywhere: a thread's own results would
// be stored one by one, and each would touch a sector of its own, or half of one.
bool PointwiseLowering::stores_across() const {
  constexpr int64_t kApart = 4;                            // columns
  const int64_t most = (schedule_.plain ? 32 : 96) << 10;  // bytes
  const Blocking& b = *schedule_.blocking;
  const auto width = domain().axes.back().extent.constant();
  if (b.staged() || b.block.back() < kApart || !width || *width % b.block.back() == 0) return false;
  int64_t bytes = 0;
  for (const BlockedSum& sum : b.sums)
    bytes += b.results() * (schedule_.team + kBanks) *
             size_of(accumulator_type(graph_.at(graph_.at(sum.node).args[0]).dtype));
  return bytes <= most;
}

// Sums go through scratch to the threads that store them, where neighbours are neighbours in
// memory.
//
//   vector %i over the lanes: scratch[result, %i] = total
//   vector %i over the lanes and the columns of a block: out = f(scratch)
void PointwiseLowering::store_across(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body) {
  const Blocking& b = *schedule_.blocking;
  const int64_t columns = b.block.back(), count = b.results();
  const IntExpr lane = IntExpr::symbol(kLane);
  std::map<NodeId, int> scratch;
  std::vector<Stmt> put;
  for (const auto& [id, of] : totals) {
    // Columns of a block are as far apart as keeps them in different banks.
    const DType t = kernel_.locals[static_cast<size_t>(of[0])].dtype;
    scratch[id] = add_scratch(t, {count, schedule_.team + std::max<int64_t>(1, kBanks / columns)});
    for (int64_t r = 0; r < count; ++r)
      put.push_back(builder_.store({true, scratch.at(id), {r, lane}}, builder_.local(of[static_cast<size_t>(r)])));
  }
  body.push_back(loop(LoopKind::Vector, kLane, blocks.length, std::move(put)));

  std::vector<Stmt> element, stores;
  Blocks here = blocks;
  evaluator_.enter(&element, &here.ranges);
  find_lanes(here, columns);
  evaluator_.enter(&element, &here.ranges);
  const IntExpr column = mod(lane, columns, here.ranges), thread = floordiv(lane, columns, here.ranges);
  int64_t first = 0;  // result of a row of the block
  evaluator_.set_known([&](NodeId id, const Index&) {
    const auto found = scratch.find(id);
    if (found == scratch.end()) return kNoExpr;
    return builder_.load({true, found->second, {first + column, thread}});
  });
  const std::vector<Point> results = points_of(b.block);
  for (const StoredOutput& o : domain().outputs)
    for (first = 0; first < count; first += columns) {
      Placement placement = result_at(here, results[static_cast<size_t>(first)]);
      IntExpr& along = placement.value_of.at(domain().axes.back().var);
      along = along + column;
      stores.push_back(stored_inside(o, placement));
    }
  evaluator_.set_known({});
  append(element, std::move(stores));
  body.push_back(
      loop(LoopKind::Vector, kLane, here.length * columns, std::move(element), 1, static_cast<int>(columns)));
}

}  // namespace smelt::kernel
