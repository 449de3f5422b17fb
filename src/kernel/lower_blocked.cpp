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
// Sums over windows of one size share these loops. A block may stick out of the results: what is
// read there is anything, and nothing is stored.
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

// What is added to sums at one element of a window, for one result: what they share is computed
// once.
class Elements {
 public:
  using Operands = std::map<NodeId, const Operand*>;  // by what is computed from them
  using Place = std::function<ExprId(const Operand&)>;
  Elements(const Graph& graph, const std::set<NodeId>& members, Builder& builder, const Operands& operands, Place place)
      : graph_(graph), members_(members), builder_(builder), operands_(operands), place_(std::move(place)) {}

  // The sum with this element.
  ExprId next(const BlockedSum& sum, ExprId so_far) {
    const Node& node = graph_.at(sum.node);
    const Node& element = graph_.at(node.args[0]);
    const bool product = node.reduce == ReduceKind::Sum && is_float(node.dtype) && members_.count(node.args[0]) &&
                         element.kind == NodeKind::Elementwise && element.op == Op::Mul;
    // A product is added with one rounding.
    if (product) return builder_.apply(Op::Fma, {value(element.args[0]), value(element.args[1]), so_far});
    return builder_.apply(op_of(node.reduce), {so_far, value(node.args[0])});
  }

 private:
  ExprId value(NodeId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (const auto operand = operands_.find(id); operand != operands_.end())
      return known_[id] = place_(*operand->second);
    const Node& node = graph_.at(id);
    std::vector<ExprId> args;
    for (const NodeId arg : node.args) args.push_back(value(arg));
    return known_[id] = node.kind == NodeKind::Cast ? builder_.cast(args[0], node.dtype, node.wrap)
                                                    : builder_.apply(node.op, std::move(args));
  }

  const Graph& graph_;
  const std::set<NodeId>& members_;
  Builder& builder_;
  const Operands& operands_;
  Place place_;
  std::map<NodeId, ExprId> known_;
};

}  // namespace

// Sums over windows of one size, which a thread goes through at once.
struct PointwiseLowering::Window {
  // An operand in shared memory.
  struct Staged {
    int buffer = -1;
    StagedShape shape;
  };
  std::vector<const BlockedSum*> sums;
  std::vector<int> axes;         // of what is added up, as in the sums
  std::vector<int64_t> extents;  // of these
  size_t serial = 0;             // so many of them are loops, the others are written out
  int part_axis = -1;            // of which a part is staged at a time; -1: of none
  IntExpr chunk = 0, parts = 1;
  Elements::Operands operands;
  std::map<NodeId, Staged> staged;

  Window(const Graph& graph, std::vector<const BlockedSum*> of) : sums(std::move(of)) {
    const BlockedSum& first = *sums[0];
    const Node& node = graph.at(first.node);
    axes = node.axes, serial = axes.size() - first.unrolled;
    for (const int axis : axes) extents.push_back(extent_of(graph, first, axis));
    for (const BlockedSum* sum : sums)
      for (const Operand& operand : sum->operands) operands.emplace(operand.top, &operand);
    const int chunked = first.chunk ? schedule::chunked_axis(graph, first) : -1;
    if (chunked < 0) return;
    part_axis = axes[static_cast<size_t>(chunked)];
    chunk = first.chunk, parts = ceildiv(extents[static_cast<size_t>(chunked)], chunk);
  }
  static int64_t extent_of(const Graph& graph, const BlockedSum& sum, int axis) {
    return graph.at(graph.at(sum.node).args[0]).shape[static_cast<size_t>(axis)].constant().value();
  }
  // Whether they have windows of one size, and operands that both read at the same elements.
  static bool alike(const Graph& graph, const BlockedSum& a, const BlockedSum& b) {
    const std::vector<int>& axes = graph.at(a.node).axes;
    if (axes != graph.at(b.node).axes || a.chunk != b.chunk || a.unrolled != b.unrolled) return false;
    std::map<Symbol, IntExpr> of_a;
    for (const int axis : axes) {
      if (extent_of(graph, a, axis) != extent_of(graph, b, axis)) return false;
      of_a[Symbol::window(b.node, axis)] = IntExpr::symbol(Symbol::window(a.node, axis));
    }
    return std::all_of(b.operands.begin(), b.operands.end(), [&](const Operand& operand) {
      const auto same = std::find_if(a.operands.begin(), a.operands.end(),
                                     [&](const Operand& other) { return other.top == operand.top; });
      if (same == a.operands.end()) return true;
      Index index;
      for (const IntExpr& e : operand.index) index.push_back(e.substitute(of_a, {}));
      return same->staged == operand.staged && same->index == index;
    });
  }

  static IntExpr part() { return IntExpr::symbol(Symbol::loop("part")); }
  size_t place_of(int axis) const {
    return static_cast<size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  }
  IntExpr length(int axis) const {
    const int64_t all = extents[place_of(axis)];
    if (axis != part_axis) return all;
    return all % *chunk.constant() == 0 ? chunk : min(chunk, all - part() * chunk);
  }
  // The place `at` of this axis, of the part at hand.
  void place(Placement& placement, int axis, const IntExpr& at) const {
    for (const BlockedSum* sum : sums)
      placement.place(Symbol::window(sum->node, axis), axis == part_axis ? part() * chunk + at : at);
  }
  Symbol loop_along(int axis) const { return Symbol::window(sums[0]->node, axis); }
  // Where an element is: `tap` along what is written out, the loops' variables else.
  IntExpr at(size_t axis, const Point& tap) const {
    if (axis >= serial) return tap[axis - serial];
    return extents[axis] == 1 ? IntExpr(0) : IntExpr::symbol(loop_along(axes[axis]));
  }
};

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

// Computes what all threads share of one operand, in shared memory.
Stmt PointwiseLowering::stage(Window& window, const BlockedSum& sum, const Operand& operand, const Blocks& blocks) {
  const Blocking& b = *schedule_.blocking;
  Window::Staged s{-1, schedule::staged_shape(graph_, domain(), b, sum, operand)};
  std::vector<IntExpr> dims, counts;
  for (const int axis : s.shape.window) {
    dims.push_back(axis == window.part_axis ? window.chunk : window.length(axis));
    counts.push_back(window.length(axis));
  }
  const int64_t block = s.shape.axis < 0 ? 1 : b.block[static_cast<size_t>(s.shape.axis)];
  dims.emplace_back(s.shape.axis < 0 ? 1 : (block + 3) / 4 * 4);
  counts.emplace_back(block);
  s.buffer = add_scratch(compute_type(graph_.at(operand.base).dtype), dims);
  IntExpr elements = 1;
  for (const IntExpr& n : counts) elements = elements * n;
  Blocks all = blocks;
  all.ranges[kLane] = {0, elements - 1};
  Index at(counts.size());
  IntExpr rest = IntExpr::symbol(kLane);
  for (size_t d = counts.size(); d-- > 0;) {
    at[d] = d == 0 ? rest : mod(rest, counts[d], all.ranges);
    rest = floordiv(rest, counts[d], all.ranges);
  }
  Placement placement = result_at(all, Point(domain().axes.size(), 0));
  if (s.shape.axis >= 0) {
    IntExpr& along = placement.value_of.at(domain().axes[static_cast<size_t>(s.shape.axis)].var);
    along = along + at.back();
  }
  for (size_t d = 0; d < s.shape.window.size(); ++d) window.place(placement, s.shape.window[d], at[d]);
  std::vector<Stmt> element;
  evaluator_.enter(&element, &all.ranges);
  const ExprId value = evaluator_.value_or_anything(operand.base, placement.at(operand.index));
  element.push_back(builder_.store({true, s.buffer, at}, value));
  window.staged[operand.top] = std::move(s);
  return loop(LoopKind::Vector, kLane, elements, std::move(element), 1, 4);
}

// What is written out of the window, for all results of a block.
std::vector<Stmt> PointwiseLowering::written_out(const Window& window, const Blocks& here, const Totals& totals) {
  const std::set<NodeId> members(group_.nodes.begin(), group_.nodes.end());
  // By operand, and the results and elements that it differs in.
  std::map<std::pair<NodeId, Point>, ExprId> known;
  const auto operand_at = [&](const Operand& operand, const Point& result, const Point& tap) -> ExprId {
    Point differs;
    for (size_t a = 0; a < result.size(); ++a)
      differs.push_back(schedule::mentions(operand.index, domain().axes[a].var) ? result[a] : 0);
    differs.insert(differs.end(), tap.begin(), tap.end());
    const auto [at, fresh] = known.try_emplace({operand.top, differs}, kNoExpr);
    if (!fresh) return at->second;
    if (const auto s = window.staged.find(operand.top); s != window.staged.end()) {
      Index index;
      for (const int axis : s->second.shape.window) index.push_back(window.at(window.place_of(axis), tap));
      index.emplace_back(s->second.shape.axis < 0 ? 0 : result[static_cast<size_t>(s->second.shape.axis)]);
      return at->second = builder_.load({true, s->second.buffer, index});
    }
    Placement placement = result_at(here, result);
    for (size_t a = 0; a < window.axes.size(); ++a) window.place(placement, window.axes[a], window.at(a, tap));
    return at->second = evaluator_.value_or_anything(operand.base, placement.at(operand.index));
  };
  const std::vector<Point> results = points_of(schedule_.blocking->block);
  const std::vector<int64_t> box(window.extents.begin() + static_cast<std::ptrdiff_t>(window.serial),
                                 window.extents.end());
  std::vector<Stmt> steps;
  for (const Point& tap : points_of(box))
    for (size_t r = 0; r < results.size(); ++r) {
      Elements elements(graph_, members, builder_, window.operands,
                        [&](const Operand& operand) { return operand_at(operand, results[r], tap); });
      for (const BlockedSum* sum : window.sums) {
        const LocalId total = totals.at(sum->node)[r];
        steps.push_back(assign(total, elements.next(*sum, builder_.local(total))));
      }
    }
  return steps;
}

// Adds up the sums of a window for all results of a block.
void PointwiseLowering::blocked_sums(Window window, const Blocks& blocks, const Totals& totals,
                                     std::vector<Stmt>& body) {
  Blocks here = blocks;
  if (window.part_axis >= 0) here.ranges[Symbol::loop("part")] = {0, window.parts - 1};
  std::vector<Stmt> steps;
  for (const BlockedSum* sum : window.sums)
    for (const Operand& operand : sum->operands)
      if (operand.staged && !window.staged.count(operand.top)) steps.push_back(stage(window, *sum, operand, here));
  std::vector<Stmt> lanes, products;
  evaluator_.enter(&lanes, &here.ranges);
  find_lanes(here);
  for (size_t a = 0; a < window.serial; ++a)
    if (window.extents[a] > 1) here.ranges[window.loop_along(window.axes[a])] = {0, window.length(window.axes[a]) - 1};
  evaluator_.enter(&products, &here.ranges);
  append(products, written_out(window, here, totals));
  for (size_t a = window.serial; a-- > 0;) {
    if (window.extents[a] == 1) continue;
    // The innermost loop, where its body is short, is unrolled some times.
    const bool innermost = products.empty() || !products.back().is<Loop>();
    const auto some = static_cast<int>(std::min<size_t>(8, kMostRepeated / std::max<size_t>(1, products.size())));
    products = single(loop(LoopKind::Serial, window.loop_along(window.axes[a]), window.length(window.axes[a]),
                           std::move(products), 1, innermost && some > 1 ? some : 0));
  }
  // The printer joins loads of neighbours within one block of statements; a loop of one step keeps
  // the indices that they depend on out of it.
  if (products.empty() || !products.back().is<Loop>())
    products = single(loop(LoopKind::Serial, Symbol::loop("w"), 1, std::move(products)));
  append(lanes, std::move(products));
  steps.push_back(loop(LoopKind::Vector, kLane, here.length, std::move(lanes)));
  if (window.part_axis < 0) {
    append(body, std::move(steps));
  } else {
    body.push_back(loop(LoopKind::Serial, Symbol::loop("part"), window.parts, std::move(steps)));
  }
}

// Sums over windows of one size go through them together.
void PointwiseLowering::add_up_windows(const Blocks& blocks, const Totals& totals, std::vector<Stmt>& body) {
  std::vector<std::vector<const BlockedSum*>> windows;
  for (const BlockedSum& sum : schedule_.blocking->sums) {
    const auto same = std::find_if(windows.begin(), windows.end(), [&](const auto& sums) {
      return std::all_of(sums.begin(), sums.end(), [&](const auto* one) { return Window::alike(graph_, *one, sum); });
    });
    if (same == windows.end())
      windows.push_back({&sum});
    else
      same->push_back(&sum);
  }
  for (const auto& sums : windows) blocked_sums({graph_, sums}, blocks, totals, body);
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
  add_up_windows(blocks, totals, body);

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
