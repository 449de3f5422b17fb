// Sums over windows with what their elements are computed from: what has an element for each of a
// window's is not stored.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/plan.hpp"
#include "planning.hpp"

namespace smelt::plan {
namespace {

// The elements of the largest value that is stored.
int64_t largest_stored(const Graph& graph, const Plan& plan) {
  int64_t largest = 0;
  for (const FusionGroup& group : plan.groups)
    for (const NodeId id : group.outputs) largest = std::max(largest, element_count(evaluate(graph.at(id).shape, {})));
  return largest;
}

// The mean is needed once for each window: merged first, it kept both sums away from their
// elements.
TEST(Windows, DeviationsFromTheirMeanAreNotStored) {
  const Graph graph = graph_of(
      "input x: f32[500, 601]\ninput t: f32[21, 21]\nw = window(x, (21, 21))\nm = mean(w, axis=(-2, -1))\n"
      "d = w - m[..., None, None]\n"
      "return sum(d * t, axis=(-2, -1)) / sqrt(sum(d * d, axis=(-2, -1)) + 0.000001)\n");
  for (const Options& options : {for_cpu(), for_gpu()}) {
    const Plan plan = make_plan(graph, options);
    EXPECT_LE(largest_stored(graph, plan), 500 * 601) << print(graph, plan);
  }
}

// Weights of two sums: loops over the window, which are code of one of its rows.
TEST(Windows, WeightsOfTwoSumsAreNotStored) {
  for (const char* side : {"7", "11", "31"}) {
    const std::string size = std::string("(") + side + ", " + side + ")";
    const Graph graph = graph_of("input x: f32[500, 601]\ns = window(x, " + size +
                                 ")\nw = exp(-(s - s[:, :, 3:4, 3:4]) ** 2 * 8)\n"
                                 "return sum(w * s, axis=(-2, -1)) / sum(w, axis=(-2, -1))\n");
    for (const Options& options : {for_cpu(), for_gpu()}) {
      const Plan plan = make_plan(graph, options);
      EXPECT_EQ(plan.groups.size(), 1U) << side << print(graph, plan);
    }
  }
}

}  // namespace
}  // namespace smelt::plan
