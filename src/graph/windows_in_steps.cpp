// Sums and extrema over long windows, axis by axis, from those over shorter windows next to each
// other:
//
//   sum over 11 elements:  a = x[:-1] + x[1:], b = a[:-2] + a[2:], c = b[:-4] + b[4:], c[:-3] + a[8:-1] + x[10:]
//
// A window of 11 x 11 elements takes 10 additions instead of 120. A CPU keeps the shorter windows
// in rings of rows (schedule/stencil.hpp), so that each is computed once.
#include <algorithm>

#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

// One more addition in a single expression costs less than a step, which stores its result in a
// ring. An extremum takes several instructions, so that fewer of them are worth a step.
constexpr int64_t kSumsWorthAStep = 3, kExtremaWorthAStep = 2;
// Rows of fewer elements leave most of a ring's vectors empty, and rings keep rows, so that a third
// axis takes a kernel of its own: there a step costs twice as much.
constexpr int64_t kNarrow = 64;
constexpr size_t kAxesOfRings = 2;

bool is_extremum(ReduceKind kind) { return kind == ReduceKind::Max || kind == ReduceKind::Min; }

// Operations of a window of n elements along one axis.
int64_t steps_of(int64_t n, bool overlap) {
  int64_t steps = 0, length = 1;
  for (; 2 * length <= n; length *= 2) ++steps;
  if (overlap) return steps + (length < n ? 1 : 0);
  for (n -= length; n > 0; n &= n - 1) ++steps;
  return steps;
}

// Copies a graph, and writes such reductions out.
class WindowWriter : GraphCopy {
 public:
  explicit WindowWriter(const Graph& from) : GraphCopy(from) {}

  Graph run() {
    return copy([&](const Node& node) { return is_worth_it(node) ? in_steps(node) : add_as_it_is(node); });
  }

 private:
  // What a reduction reads windows by, and the cast between them: small integers are added up in
  // wider ones.
  const Node& window_of(const Node& reduce) const {
    const Node& read = from_.at(reduce.args[0]);
    return read.kind == NodeKind::Cast ? from_.at(read.args[0]) : read;
  }
  const Node* cast_of(const Node& reduce) const {
    const Node& read = from_.at(reduce.args[0]);
    return read.kind == NodeKind::Cast ? &read : nullptr;
  }

  // A sum, a maximum or a minimum over all axes of dense windows at every element, with many
  // elements each.
  bool is_worth_it(const Node& reduce) const {
    if (reduce.kind != NodeKind::Reduce || !reduce.local) return false;
    const bool extremum = is_extremum(reduce.reduce);
    const Node& window = window_of(reduce);
    if ((!extremum && reduce.reduce != ReduceKind::Sum) || window.kind != NodeKind::Window) return false;
    const auto ones = [](const std::vector<int64_t>& v) {
      return std::all_of(v.begin(), v.end(), [](int64_t n) { return n == 1; });
    };
    const auto rank = static_cast<int>(from_.at(window.args[0]).shape.size());
    if (!ones(window.steps) || !ones(window.dilation) || reduce.axes.size() != window.axes.size() ||
        reduce.axes.front() != rank)
      return false;
    int64_t elements = 1, steps = 0;
    for (size_t a = 0; a < window.axes.size(); ++a) {
      const int64_t n = window.shape[static_cast<size_t>(rank) + a].constant().value();
      elements *= n;
      steps += steps_of(n, extremum);
    }
    const bool narrow = window.shape[static_cast<size_t>(rank) - 1].constant().value_or(kNarrow) < kNarrow;
    const int64_t worth =
        (extremum ? kExtremaWorthAStep : kSumsWorthAStep) * (narrow || window.axes.size() > kAxesOfRings ? 2 : 1);
    return elements - 1 >= steps * worth;
  }

  NodeId in_steps(const Node& reduce) {
    const Node& window = window_of(reduce);
    const size_t rank = from_.at(window.args[0]).shape.size();
    const bool narrow = is_small_float(reduce.dtype) && reduce.reduce == ReduceKind::Sum;
    NodeId x = written(window.args[0]);
    if (const Node* wider = cast_of(reduce)) {
      Node node = *wider;
      x = add_like(std::move(node), at(x).shape, {x}, *wider);
    }
    if (narrow) x = cast(x, DType::F32, reduce);
    for (size_t a = window.axes.size(); a-- > 0;)
      x = along(x, static_cast<size_t>(window.axes[a]), window.shape[rank + a].constant().value(), reduce);
    return narrow ? cast(x, reduce.dtype, reduce) : x;
  }

  NodeId cast(NodeId x, DType to, const Node& like) {
    Node node{.kind = NodeKind::Cast};
    node.dtype = to;
    return add_like(std::move(node), at(x).shape, {x}, like);
  }

  // Windows of n elements along axis d.
  NodeId along(NodeId x, size_t d, int64_t n, const Node& reduce) {
    std::vector<NodeId> windows{x};  // of 1, 2, 4, .. elements
    int64_t length = 1;
    for (; 2 * length <= n; length *= 2)
      windows.push_back(
          joined(windows.back(), 0, windows.back(), length, d, at(windows.back()).shape[d] - length, reduce));
    if (length == n) return windows.back();
    const IntExpr extent = at(x).shape[d] - (n - 1);
    if (is_extremum(reduce.reduce)) return joined(windows.back(), 0, windows.back(), n - length, d, extent, reduce);
    NodeId sum = windows.back();
    for (size_t w = windows.size() - 1; w-- > 0;) {
      const int64_t bit = int64_t{1} << w;
      if ((n & bit) == 0) continue;
      sum = joined(sum, 0, windows[w], length, d, extent, reduce);
      length += bit;
    }
    return sum;
  }

  // The operation over `extent` elements along axis d of both, from these on.
  NodeId joined(NodeId a, int64_t from_a, NodeId b, int64_t from_b, size_t d, const IntExpr& extent,
                const Node& reduce) {
    const NodeId left = slice(a, from_a, d, extent, reduce), right = slice(b, from_b, d, extent, reduce);
    Node node{.kind = NodeKind::Elementwise};
    node.op = reduce.reduce == ReduceKind::Sum ? Op::Add : reduce.reduce == ReduceKind::Max ? Op::Max : Op::Min;
    node.dtype = at(left).dtype;
    return add_like(std::move(node), at(left).shape, {left, right}, reduce);
  }

  NodeId slice(NodeId x, int64_t from, size_t d, const IntExpr& extent, const Node& like) {
    if (from == 0 && at(x).shape[d] == extent) return x;
    Node node{.kind = NodeKind::Slice};
    node.dtype = at(x).dtype;
    Shape shape = at(x).shape;
    node.starts.assign(shape.size(), IntExpr(0));
    node.starts[d] = from;
    node.steps.assign(shape.size(), 1);
    shape[d] = extent;
    return add_like(std::move(node), std::move(shape), {x}, like);
  }
};

}  // namespace

Graph with_windows_in_steps(const Graph& graph) { return WindowWriter(graph).run(); }

}  // namespace smelt
