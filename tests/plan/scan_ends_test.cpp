// Single elements of the rows of a scan, in the kernel of the scan; long windows far apart, as
// rows.
#include "plan/scan_ends.hpp"

#include <gtest/gtest.h>

#include "planning.hpp"

namespace smelt::plan {
namespace {

TEST(ScanEndsInRows, ARunningSumAndItsLastElementAreOneKernel) {
  const Graph graph = graph_of("input x: f32[60000, 1000]\ns = cumsum(x, axis=1)\nreturn s / s[:, -1:]\n");
  const auto reduced = with_scan_ends_in_rows(graph, for_gpu());
  ASSERT_TRUE(reduced);
  verify(*reduced);
  EXPECT_EQ(make_plan(graph, for_gpu()).groups.size(), 2U);
  EXPECT_EQ(make_plan(*reduced, for_gpu()).groups.size(), 1U);
}

TEST(ScanEndsInRows, NothingWithoutScans) {
  EXPECT_FALSE(with_scan_ends_in_rows(graph_of("input x: f32[60000, 1000]\nreturn x / x[:, -1:]\n"), for_gpu()));
}

TEST(FarWindows, AreRows) {
  for (const bool gpu : {false, true}) {
    const Graph frames = with_local_reductions(
        graph_of("input x: f32[100, 160000]\nf = window(x, 512, axis=1, stride=160)\nreturn mean(f, axis=-1)\n"), 64,
        !gpu, gpu);
    const Plan plan = make_plan(frames, gpu ? for_gpu() : Options{});
    ASSERT_EQ(plan.groups.size(), 1U);
    EXPECT_EQ(plan.groups[0].strategy(), Strategy::Row);
  }
  const Graph means = with_local_reductions(
      graph_of("input x: f32[100, 160000]\nf = window(x, 512, axis=1)\nreturn mean(f, axis=-1)\n"), 64, false, true);
  EXPECT_EQ(make_plan(means, for_gpu()).groups[0].strategy(), Strategy::Pointwise);
}

}  // namespace
}  // namespace smelt::plan
