// One element of each row of a scan, beside its others: as the last of a running sum, which it is
// divided by.
//
//   s = cumsum(x, axis=1)      s / s[:, n-1:n]  ->  s / max(where(arange(n) == n - 1, s, -inf), axis=1, keepdims=True)
//
// A reduction gives all elements of a row what it found, in the kernel of the scan, where a slice
// would be a result at other indices than the current one. It is the same element, bit for bit.
#include "graph/build_detail.hpp"
#include "graph/graph_copy.hpp"

namespace smelt {
namespace {

class ScanEnds : GraphCopy {
 public:
  explicit ScanEnds(const Graph& from) : GraphCopy(from), others_(use_counts(from)) {
    for (const Node& node : from.nodes)
      if (is_one_of_rows(node)) --others_[static_cast<size_t>(node.args[0])], found_ = true;
  }

  bool found() const { return found_; }

  Graph run() {
    return copy([&](const Node& node) {
      const bool reduced = is_one_of_rows(node) && others_[static_cast<size_t>(node.args[0])] > 0;
      return reduced ? reduction(node) : add_as_it_is(node);
    });
  }

 private:
  // Whether it takes one element from each row of a scan.
  bool is_one_of_rows(const Node& slice) const {
    if (slice.kind != NodeKind::Slice) return false;
    const Node& scan = from_.at(slice.args[0]);
    if (scan.kind != NodeKind::Scan) return false;
    const auto axis = static_cast<size_t>(scan.axes[0]);
    return slice.shape[axis].is(1) && !scan.shape[axis].is(1) && is_whole_but_along(from_, slice, axis);
  }

  NodeId everywhere(NodeId scalar, const Shape& shape, const Node& like) {
    Node one{.kind = NodeKind::Reshape}, node{.kind = NodeKind::Broadcast};
    one.dtype = node.dtype = at(scalar).dtype;
    const NodeId point = add_like(std::move(one), Shape(shape.size(), IntExpr(1)), {scalar}, like);
    return add_like(std::move(node), shape, {point}, like);
  }

  NodeId reduction(const Node& slice) {
    const Node& scan = from_.at(slice.args[0]);
    const std::vector<int> axes = scan.axes;
    Node place{.kind = NodeKind::SizeValue}, least{.kind = NodeKind::Constant}, index{.kind = NodeKind::Iota};
    place.dtype = index.dtype = DType::I64, place.size = slice.starts[static_cast<size_t>(axes[0])];
    least.dtype = scan.dtype, least.constant = lowest(scan.dtype);
    index.axes = axes;
    const NodeId here = add_like(std::move(index), scan.shape, {}, slice);
    const NodeId there = everywhere(add_like(std::move(place), {}, {}, slice), scan.shape, slice);
    const NodeId other = everywhere(add_like(std::move(least), {}, {}, slice), scan.shape, slice);
    Node equal{.kind = NodeKind::Elementwise}, chosen{.kind = NodeKind::Elementwise}, one{.kind = NodeKind::Reduce};
    equal.op = Op::Eq, equal.dtype = DType::Bool;
    const NodeId is_it = add_like(std::move(equal), scan.shape, {here, there}, slice);
    chosen.op = Op::Where, chosen.dtype = scan.dtype;
    const NodeId only = add_like(std::move(chosen), scan.shape, {is_it, written(slice.args[0]), other}, slice);
    one.reduce = ReduceKind::Max, one.dtype = scan.dtype, one.axes = axes;
    Shape rows = scan.shape;
    rows.erase(rows.begin() + axes[0]);
    const NodeId found = add_like(std::move(one), std::move(rows), {only}, slice);
    Node kept{.kind = NodeKind::Reshape};
    kept.dtype = scan.dtype;
    return add_like(std::move(kept), slice.shape, {found}, slice);
  }

  std::vector<int> others_;  // uses of each node but for such slices
  bool found_ = false;
};

}  // namespace

std::optional<Graph> with_scan_ends_reduced(const Graph& graph) {
  ScanEnds ends(graph);
  return ends.found() ? std::optional(ends.run()) : std::nullopt;
}

}  // namespace smelt
