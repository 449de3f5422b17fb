// Sums over pairs that keep a short axis of components, as the sum of the forces on each
// body, of which each component needs the distance.
//
//   d = p[None, :, :] - p[:, None, :]                         r: [N, N], a function of sum(d * d, axis=-1)
//   sum(d * r[..., None], axis=1)    ->    concat(sum(d[..., 0:1] * r[..., None], axis=1), ... 1:2 ..., ... 2:3 ...)
//
// Reductions of one kernel share what they have in common. Along an axis they would compute it for
// each element. Nor has a loop over few results lanes enough, where each of them reduces the same
// rows with a value of its own, as counts below some limits do:
//
//   sum(x[:, :, None] < q, axis=1)        x: [B, N], q: [9]     of f32[40000, 1000] 650 us on an H100 as it is
#include "graph/short_results.hpp"

#include <algorithm>
#include <vector>

#include "graph/graph_copy.hpp"
#include "graph/repeats.hpp"

namespace smelt {
namespace {

constexpr int64_t kMostResults = 4, kMostOfRows = 16;
constexpr int kMostLooked = 256;  // operations past which nothing is looked for

class ShortResults : GraphCopy {
 public:
  explicit ShortResults(const Graph& from) : GraphCopy(from) {}

  Graph run() {
    return copy([&](const Node& node) {
      const int64_t results = results_of(node);
      return results == 0 ? add_as_it_is(node) : apart(node, results);
    });
  }

 private:
  // How many results of a reduction are written out; 0: none.
  int64_t results_of(const Node& reduce) const {
    if (reduce.kind != NodeKind::Reduce || reduce.local) return 0;
    const Shape& shape = from_.at(reduce.args[0]).shape;
    const auto last = static_cast<int>(shape.size()) - 1;
    const int64_t results = shape.back().constant().value_or(0);
    if (results < 2 || results > kMostOfRows || std::count(reduce.axes.begin(), reduce.axes.end(), last)) return 0;
    int steps = kMostLooked;
    if (results <= kMostResults && repeats_reductions(reduce.args[0], static_cast<size_t>(last), steps)) return results;
    steps = kMostLooked;
    const bool of_rows = last > 1 && reduce.axes == std::vector<int>{last - 1};
    return of_rows && joins_rows_with_results(reduce.args[0], steps) ? results : 0;
  }

  // Whether everything that it is computed of is the same for all results, or for all elements of
  // rows. Of products of matrices one factor is neither.
  bool joins_rows_with_results(NodeId id, int& steps) const {
    if (--steps < 0) return false;
    const Node& node = from_.at(id);
    if (node.kind == NodeKind::Broadcast) {
      const size_t last = node.shape.size() - 1;
      return repeats_along(from_, node, last) || repeats_along(from_, node, last - 1);
    }
    return (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast) &&
           std::all_of(node.args.begin(), node.args.end(),
                       [&](NodeId arg) { return joins_rows_with_results(arg, steps); });
  }

  // Whether it is computed from short reductions that are the same along this dimension.
  bool repeats_reductions(NodeId id, size_t d, int& steps) const {
    if (--steps < 0) return false;
    const Node& node = from_.at(id);
    switch (node.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
          return from_.at(arg).shape.size() > d && repeats_reductions(arg, d, steps);
        });
      case NodeKind::Broadcast: {
        const Shape& source = from_.at(node.args[0]).shape;
        const size_t missing = node.shape.size() - source.size();
        if (d < missing || source[d - missing].is(1)) return has_reduction(node.args[0], steps);
        return repeats_reductions(node.args[0], d - missing, steps);
      }
      default: return false;
    }
  }

  bool has_reduction(NodeId id, int& steps) const {
    if (--steps < 0) return false;
    const Node& node = from_.at(id);
    if (node.kind == NodeKind::Reduce) return node.local;
    if (node.kind != NodeKind::Elementwise && node.kind != NodeKind::Cast && !is_view(node.kind)) return false;
    return std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return has_reduction(arg, steps); });
  }

  NodeId apart(const Node& reduce, int64_t results) {
    const NodeId argument = written(reduce.args[0]);
    Node joined{.kind = NodeKind::Concat, .dtype = reduce.dtype, .axes = {static_cast<int>(reduce.shape.size()) - 1}};
    std::vector<NodeId> parts;
    for (int64_t k = 0; k < results; ++k) {
      Shape one = at(argument).shape, result = reduce.shape;
      one.back() = result.back() = 1;
      Node part{.kind = NodeKind::Slice, .dtype = at(argument).dtype};
      part.starts.assign(one.size(), 0), part.steps.assign(one.size(), 1);
      part.starts.back() = k;
      Node sum = reduce;
      sum.args = {add_like(std::move(part), std::move(one), {argument}, reduce)};
      sum.shape = std::move(result);
      parts.push_back(add(std::move(sum)));
    }
    return add_like(std::move(joined), reduce.shape, std::move(parts), reduce);
  }
};

}  // namespace

Graph with_short_results_apart(const Graph& graph) { return ShortResults(graph).run(); }

}  // namespace smelt
