// The explanation of a plan made by hand: x -> relu -> sum, cut between them.
#include "report/explain.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/build.hpp"
#include "report/traffic.hpp"
#include "support/symbols.hpp"

namespace smelt::report {
namespace {

struct Example {
  Graph graph;
  plan::Plan plan;
  SizeBinding sizes{{"B"_size, 100}};
  NodeId x, relu, sum;

  Example() {
    GraphBuilder b;
    x = b.input("x", DType::F32, {sym("B"_size), 8});
    b.set_origin({2, 5, 4}, "relu");
    relu = b.elementwise(Op::Max, {x, x});
    b.set_origin({2, 1, 3}, "sum");
    sum = b.reduce(ReduceKind::Sum, relu, {1}, false);
    graph = b.finish({sum});
    plan.groups = {{{{relu}, {relu}, {x}}, scheduled(plan::Strategy::Pointwise, "vectors of 8")},
                   {{{sum}, {sum}, {relu}}, scheduled(plan::Strategy::Row, "a row of 8 per iteration")}};
    plan.decisions = {{relu, sum, false, "a test says so", 6400, "do not say so", "stored"}};
    plan.traffic = {10000, 9984, 3600};
  }
  static std::shared_ptr<const schedule::Schedule> scheduled(plan::Strategy strategy, const char* note) {
    schedule::Schedule s;
    s.strategy = strategy;
    s.note = note;
    return std::make_shared<const schedule::Schedule>(std::move(s));
  }
  Explanation explanation() const { return {"example", graph, plan, sizes}; }
};

TEST(Explain, TextNamesKernelsEdgesAndBytes) {
  const Example example;
  const std::string text = to_text(example.explanation(), Style{});
  for (const char* part : {"example   2 kernels   at B=100", "kernel 1  ", ": vectors of 8", "does    relu\n",
                           "bytes   10.0 kB moved, 10.0 kB unfused: 0.16 % saved", "reads   x: f32[100,8] (3.2 kB)",
                           "writes  output 1: f32[100] (400 B)", "  cut    relu -> sum: a test says so; costs 6.4 kB",
                           "to change it: do not say so", "unfused   10.0 kB", "saves 0.16 % of the bytes"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Explain, ListsEveryEdgeOnRequest) {
  const Example example;
  Explanation e = example.explanation();
  e.all_edges = true;
  EXPECT_NE(to_text(e, Style{}).find("  cut    relu.maximum %1 -> sum %2: a test says so (value stored); costs 6.4 kB"),
            std::string::npos)
      << to_text(e, Style{});
}

TEST(Explain, SummaryNamesTheChangeThatGainsMost) {
  const Example example;
  Explanation e = example.explanation();
  EXPECT_EQ(to_text(e, Style{}).find("predicted"), std::string::npos) << "nothing is estimated without the cost model";
  EXPECT_FALSE(to_json(e).contains("predicted"));
  schedule::Cost first, second;
  first.us = 30, first.limit = schedule::Resource::Memory;
  second.us = 10, second.limit = schedule::Resource::Latency;
  Outlook o;
  o.own.kernels = {first, second};
  o.own.us = 40, o.unfused_us = 100, o.fused_us = 40;
  o.boundaries = {{0, 1, {0}, {}, 40, std::nullopt, 12, true}};
  schedule::Schedule other = *example.plan.groups[1].schedule;
  other.workgroup = other.team = 128;
  o.faster = {{1, std::make_shared<const schedule::Schedule>(other), 7, 10}};
  e.outlook = o;
  std::string text = to_text(e, Style{});
  for (const char* part : {"  time    40.0 µs predicted, 100 µs unfused: 2.50 times as fast",
                           "  change  make one kernel of kernels 1 and 2 (what allows it: do not say so); predicted to "
                           "gain up to 12.0 µs (30 %)",
                           "  time    30.0 µs predicted, limited by memory", "relu -> sum (kernel 1 to kernel 2): ",
                           "predicted: 40.0 µs as two kernels, at least 28.0 µs as one"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = to_json(e);
  EXPECT_DOUBLE_EQ(json["kernels"][1]["predicted_ms"], 0.01);
  EXPECT_EQ(json["kernels"][1]["limited_by"], "latency");
  EXPECT_EQ(json["predicted"]["speedup"], 2.5);
  ASSERT_EQ(json["changes"].size(), 2u);
  EXPECT_EQ(json["changes"][0]["kind"], "boundary");
  EXPECT_EQ(json["changes"][0]["kernels"], (nlohmann::ordered_json{1, 2}));
  EXPECT_EQ(json["changes"][1]["kind"], "schedule");
  // A cut that nothing would change is no advice, and one kernel that would take longer is none
  // either.
  e.outlook->boundaries[0].avoidable = false;
  text = to_text(e, Style{});
  EXPECT_NE(text.find("  change  --tune: kernel 2 is predicted to take 7.00 µs with 128 threads"), std::string::npos)
      << text;
  e.outlook->faster.clear();
  e.outlook->boundaries[0].one_us = 20;
  text = to_text(e, Style{});
  EXPECT_NE(
      text.find("to change it: nothing in the program; smelt cuts here although one kernel is predicted to be faster"),
      std::string::npos)
      << text;
  e.outlook->boundaries[0].one_us = 90;
  text = to_text(e, Style{});
  EXPECT_NE(text.find("  change  nothing that is predicted to gain 5 % or more"), std::string::npos) << text;
  EXPECT_NE(text.find("predicted: 90.0 µs as one kernel, 40.0 µs as two"), std::string::npos) << text;
}

TEST(Explain, NamesPassesThatWereUndone) {
  const Example example;
  Explanation e = example.explanation();
  EXPECT_EQ(to_text(e, Style{}).find("slower"), std::string::npos);
  EXPECT_EQ(to_json(e)["kernels"][1]["undone"], nlohmann::ordered_json::array());
  e.undone = {{}, {"load-early", "widen-accesses"}};
  const std::string text = to_text(e, Style{});
  const size_t second = text.find("kernel 2"),
               line = text.find(
                   "slower  than it could be: without load-early and widen-accesses, which could not be proved\n");
  EXPECT_NE(line, std::string::npos) << text;
  EXPECT_LT(second, line) << text;
  EXPECT_EQ(to_json(e)["kernels"][0]["undone"], nlohmann::ordered_json::array());
  EXPECT_EQ(to_json(e)["kernels"][1]["undone"], (nlohmann::ordered_json{"load-early", "widen-accesses"}));
}

TEST(Explain, ListsTheSchedulesThatWereConsidered) {
  const Example example;
  Explanation e = example.explanation();
  EXPECT_EQ(to_text(e, Style{}).find("limited by"), std::string::npos) << "only when it is asked for";
  schedule::Schedule other;
  other.strategy = plan::Strategy::Pointwise;
  other.workgroup = other.team = 128;
  other.lanes = 4;
  schedule::Candidate first{{}, example.plan.groups[0].schedule, {}},
      second{{0, 0, 128, 0}, std::make_shared<const schedule::Schedule>(other), {}};
  first.cost.us = 4, second.cost.us = 5.5, second.cost.limit = schedule::Resource::Latency;
  e.considered = {{{first, true, 0.0045}, {second, false, 0.0061}}, {}};
  const std::string text = to_text(e, Style{});
  for (const char* part :
       {"limited by", "*", "pointwise, 128 threads, 1 x 4 elements to each", "5.50 µs", "latency", "6.10 µs"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = to_json(e)["kernels"][0]["candidates"];
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["chosen"], true);
  EXPECT_EQ(json[1]["form"], "128 threads, 1 x 4 elements to each");
  EXPECT_EQ(json[1]["tuning"]["threads"], 128);
  EXPECT_EQ(json[1]["limit"], "latency");
  EXPECT_DOUBLE_EQ(json[1]["predicted_us"], 5.5);
  EXPECT_DOUBLE_EQ(json[1]["measured_us"], 6.1);
}

TEST(Explain, JsonHasTheDocumentedKeys) {
  const Example example;
  const auto json = to_json(example.explanation());
  ASSERT_EQ(json["kernels"].size(), 2u);
  EXPECT_EQ(json["kernels"][0]["operations"][0]["label"], "relu");
  EXPECT_EQ(json["kernels"][0]["reads"][0]["name"], "x");
  EXPECT_EQ(json["kernels"][0]["bytes_read"], 3200);
  EXPECT_EQ(json["kernels"][1]["bytes_written"], 400);
  EXPECT_EQ(json["decisions"][0]["fused"], false);
  EXPECT_EQ(json["decisions"][0]["bytes"], 6400);
  EXPECT_EQ(json["decisions"][0]["remedy"], "do not say so");
  for (const char* key : {"unfused_bytes", "fused_bytes", "ideal_bytes", "savings_pct", "speedup_estimate"})
    EXPECT_TRUE(json["traffic"].contains(key)) << key;
}

TEST(Explain, KernelBytesFollowTheSizes) {
  const Example example;
  EXPECT_EQ(kernel_bytes(example.graph, example.plan, {{"B"_size, 100}}), 3200 + 3200 + 3200 + 400);
  EXPECT_EQ(kernel_bytes(example.graph, example.plan, {{"B"_size, 1}}), 100);
}

}  // namespace
}  // namespace smelt::report
