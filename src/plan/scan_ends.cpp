#include "plan/scan_ends.hpp"

#include <algorithm>

#include "plan/predict.hpp"

namespace smelt::plan {

// Two running sums of rows of 5001, which a thread keeps twenty elements of, take an H100 1485 us
// so, and 1003 as two kernels; those of rows of 1000 164 and 401.
constexpr int64_t kLongestRow = 2048;

static bool scans_long_rows(const Graph& graph, const SizeBinding& sizes) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.kind == NodeKind::Scan && evaluate(node.shape, sizes)[static_cast<size_t>(node.axes[0])] > kLongestRow;
  });
}

std::optional<Graph> with_scan_ends_in_rows(const Graph& graph, const Options& options) {
  if (!compares_forms(graph, options) || scans_long_rows(graph, options.sizes)) return std::nullopt;
  std::optional<Graph> reduced = with_scan_ends_reduced(graph);
  if (!reduced) return std::nullopt;
  reduced = simplify(*reduced);
  const Plan plan = make_plan(graph, options), other = make_plan(*reduced, options);
  // What is predicted of scans is too near to what memory takes to decide between kernels that move
  // as much.
  const bool moves_less = 10 * other.traffic.fused_bytes < 9 * plan.traffic.fused_bytes;
  return moves_less && is_faster(*reduced, other, graph, plan, options) ? reduced : std::nullopt;
}

}  // namespace smelt::plan
