// Copies of arrays in the order in which rows read them.
#include "plan/turned_copies.hpp"

#include <gtest/gtest.h>

#include "plan/predict.hpp"
#include "planning.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

Plan planned(const StoredCopies& copied) {
  Options options = for_cpu();
  options.splits = copied.splits;
  Plan plan = make_plan(copied.graph, options);
  verify(copied.graph, plan);
  return plan;
}

TEST(TurnedCopies, ATransposedArrayIsStoredForTheRowsThatReadIt) {
  for (const char* result : {"softmax(x.T)", "softmax(exp(x).T)", "layernorm(x.T) + x.T", "cumsum(x.T, axis=1)",
                             "softmax(x.T, axis=0)", "softmax(x.T.reshape(512, 2, 1024), axis=-1)"}) {
    const Graph graph = graph_of("input x: f32[1024, 1024]\nreturn " + std::string(result));
    const auto copied = with_turned_copies(graph, for_cpu());
    ASSERT_TRUE(copied) << result;
    verify(copied->graph);
    EXPECT_EQ(copied->graph.nodes.size(), graph.nodes.size() + 1) << result;
    const Plan plan = planned(*copied);
    ASSERT_EQ(plan.groups.size(), 2U) << result << "\n" << print(copied->graph, plan);
    EXPECT_EQ(plan.groups[0].strategy(), Strategy::Tiled) << result;
    Options judged = for_cpu();
    judged.target.threads = schedule::kThreadsOfACpu;
    const double as_it_is = predict(graph, make_plan(graph, judged), judged).us;
    EXPECT_LT(1.5 * predict(copied->graph, plan, judged).us, as_it_is) << result;
  }
}

TEST(TurnedCopies, NotWhereOneKernelServes) {
  for (const char* result : {"softmax(x)", "softmax(x.T).T", "sum(x.T, axis=0)", "sum(x.T, axis=1)", "exp(x.T)",
                             "x + x.T", "x.T", "softmax(x.T[:, :8], axis=-1)", "softmax(x[:64, :64].T)"})
    EXPECT_FALSE(with_turned_copies(graph_of("input x: f32[1024, 1024]\nreturn " + std::string(result)), for_cpu()))
        << result;
}

TEST(TurnedCopies, ColumnsOnMorePagesThanACoreKeepsAddressesOf) {
  EXPECT_TRUE(with_turned_copies(graph_of("input x: f32[4095, 4093]\nreturn cumsum(x.T, axis=1)"), for_cpu()));
  EXPECT_FALSE(with_turned_copies(graph_of("input x: f32[1027, 999]\nreturn cumsum(x.T, axis=1)"), for_cpu()));
}

TEST(TurnedCopies, OneForEachArray) {
  const Graph graph =
      graph_of("input x: f32[1024, 1024]\ninput y: f32[1024, 1024]\nreturn softmax(x.T), layernorm(y.T)");
  const auto copied = with_turned_copies(graph, for_cpu());
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->splits.size(), 2U);
  EXPECT_EQ(copied->graph.nodes.size(), graph.nodes.size() + 2);
  EXPECT_EQ(planned(*copied).groups.size(), 3U) << "the rows share a launch";
}

TEST(TurnedCopies, NeverWithoutFusionNorOnAGpu) {
  const Graph graph = graph_of("input x: f32[1024, 1024]\nreturn softmax(x.T)");
  Options options = for_cpu();
  options.fuse = false;
  EXPECT_FALSE(with_turned_copies(graph, options));
  options = for_cpu();
  options.target.gpu = true;
  EXPECT_FALSE(with_turned_copies(graph, options));
}

}  // namespace
}  // namespace smelt::plan
