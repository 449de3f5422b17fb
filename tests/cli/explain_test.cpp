#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

TEST(CliExplain, NamesKernelsEdgesAndBytes) {
  const Result r = tool_without_llvm({"explain", "softmax(x * 2)", "-i", "x=f32[B,64]", "--size", "B=10"});
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* part : {"kernel 1", "at B=10", "reads   x: f32[10,64]", "writes  output 1", "edges", "fused",
                           "ideal", "change  nothing", " predicted, limited by ", "--edges lists them"})
    EXPECT_TRUE(r.out_has(part)) << part << "\n" << r.out;
}

TEST(CliExplain, JsonHasTheDocumentedKeys) {
  const auto json =
      tool_without_llvm({"explain", "softmax(x * 2)", "-i", "x=f32[B,64]", "--size", "B=10", "--json", "-"}).json();
  ASSERT_FALSE(json["kernels"].empty());
  ASSERT_FALSE(json["decisions"].empty());
  for (const char* key :
       {"strategy", "note", "rebuilt", "untuned", "operations", "reads", "writes", "bytes_read", "bytes_written"})
    EXPECT_TRUE(json["kernels"][0].contains(key)) << key;
  for (const char* key : {"producer", "consumer", "fused", "reason", "bytes", "remedy", "value_policy"})
    EXPECT_TRUE(json["decisions"][0].contains(key)) << key;
  const auto& traffic = json["traffic"];
  for (const char* key : {"unfused_bytes", "fused_bytes", "ideal_bytes", "savings_pct", "speedup_estimate"})
    EXPECT_TRUE(traffic.contains(key)) << key;
  EXPECT_EQ(traffic["ideal_bytes"], 2 * 10 * 64 * 4);
  EXPECT_GE(traffic["unfused_bytes"], traffic["fused_bytes"]);
  EXPECT_GE(traffic["fused_bytes"], traffic["ideal_bytes"]);
}

TEST(CliExplain, EdgesAreListedOnRequest) {
  const std::string program =
      "input s: f32\nz = normal((64, 256), 7)\np = s * exp(cumsum(0.01 * z, axis=1))\n"
      "pay = maximum(mean(p, axis=1) - 100, 0)\nreturn mean(pay), std(pay)";
  const Result summary = tool_without_llvm({"explain", program, "--device", "cpu"});
  ASSERT_EQ(summary.status, 0) << summary.err;
  EXPECT_TRUE(summary.out_has("  cut    maximum -> mean, maximum -> std (kernel 1 to kernel 2): ")) << summary.out;
  EXPECT_TRUE(summary.out_has("edges are fused; --edges lists them")) << summary.out;
  EXPECT_FALSE(summary.out_has("  fused  normal.")) << summary.out;
  const Result edges = tool_without_llvm({"explain", program, "--device", "cpu", "--edges"});
  EXPECT_TRUE(edges.out_has("  fused  normal.")) << edges.out;
  const auto json = tool_without_llvm({"explain", program, "--device", "cpu", "--json", "-"}).json();
  EXPECT_GT(json["decisions"].size(), 30u);
}

// One estimate: the kernels' add up to the whole, and a plan without fusion has the time that this
// one calls unfused.
TEST(CliExplain, PredictionsAreThoseOfTheCostModel) {
  const std::vector<std::string> arguments = {"explain", "softmax(x).T", "-i", "x=f32[4096,4096]", "--device",
                                              "cpu",     "--threads",    "2",  "--json",           "-"};
  const auto json = tool_without_llvm(arguments).json();
  double sum = 0;
  for (const auto& kernel : json["kernels"]) {
    sum += kernel["predicted_ms"].get<double>();
    EXPECT_THAT(kernel["limited_by"].get<std::string>(), ::testing::AnyOf("memory", "operations"))
        << "as the processor is";
  }
  EXPECT_DOUBLE_EQ(json["predicted"]["ms"], sum);
  EXPECT_EQ(json["predicted"]["complete"], true);
  std::vector<std::string> unfused = arguments;
  unfused.push_back("--no-fuse");
  const auto without = tool_without_llvm(unfused).json();
  EXPECT_DOUBLE_EQ(json["predicted"]["unfused_ms"], without["predicted"]["ms"]);
  EXPECT_NEAR(json["predicted"]["speedup"], json["predicted"]["unfused_ms"].get<double>() / sum, 0.005);
  ASSERT_EQ(without["changes"].size(), 1u);
  EXPECT_EQ(without["changes"][0]["kind"], "fusion");
  EXPECT_DOUBLE_EQ(without["changes"][0]["gain_ms"], without["predicted"]["ms"].get<double>() - sum);
}

TEST(CliExplain, FusionOffCutsEveryEdge) {
  const auto json =
      tool_without_llvm({"explain", "exp(x * 2) + 1", "-i", "x=f32[100]", "--no-fuse", "--json", "-"}).json();
  EXPECT_EQ(json["kernels"].size(), 3u);
  for (const auto& d : json["decisions"]) {
    EXPECT_EQ(d["fused"], false);
    EXPECT_EQ(d["reason"], "fusion is off");
    EXPECT_EQ(d["remedy"], "run with fusion");
  }
  EXPECT_EQ(json["traffic"]["unfused_bytes"], json["traffic"]["fused_bytes"]);
}

TEST(CliExplain, AValueWithTwoReadersIsReadTwiceUnfused) {
  // y is written once and read twice, x read once, the result written once: five times 400 bytes.
  const auto json = tool_without_llvm({"explain", "exp(x) * exp(x)", "-i", "x=f32[100]", "--json", "-"}).json();
  EXPECT_EQ(json["traffic"]["unfused_bytes"], 5 * 400);
  EXPECT_EQ(json["traffic"]["fused_bytes"], 2 * 400);
  EXPECT_EQ(json["traffic"]["savings_pct"], 60.0);
  EXPECT_EQ(json["traffic"]["speedup_estimate"], 2.5);
}

TEST(CliExplain, DumpsStages) {
  const Result graph = tool_without_llvm({"explain", "x + 1", "-i", "x=f32[4]", "--dump", "graph"});
  EXPECT_EQ(graph.status, 0) << graph.err;
  EXPECT_TRUE(graph.out_has("add f32[4]")) << graph.out;
  EXPECT_FALSE(graph.out_has("kernel 1"));
  const Result two = tool_without_llvm({"explain", "x + 1", "-i", "x=f32[4]", "--dump", "graph,plan"});
  EXPECT_TRUE(two.out_has("---- graph") && two.out_has("---- plan")) << two.out;
  const auto json =
      tool_without_llvm({"explain", "x + 1", "-i", "x=f32[4]", "--dump", "graph,plan", "--json", "-"}).json();
  EXPECT_TRUE(json["dump"].contains("graph") && json["dump"].contains("plan"));
  const Result wrong = tool({"explain", "x + 1", "-i", "x=f32[4]", "--dump", "graph,tree"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.err_has(
      "there is no stage \"tree\"\n  help: one or more of graph,plan,passes,after:PASS,kernel,source,asm,ptx,sass; "
      "passes lists the names"))
      << wrong.err;
}

TEST(CliExplain, DumpsPasses) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const std::vector<std::string> rows{"explain", "softmax(x)", "-i", "x=f32[64,1024]", "--threads", "2", "--dump"};
  const auto dump = [&](const std::string& stage) {
    std::vector<std::string> arguments = rows;
    arguments.push_back(stage);
    return tool(arguments);
  };
  const Result passes = dump("passes");
  EXPECT_EQ(passes.status, 0) << passes.err;
  EXPECT_TRUE(passes.out_has("kernel k0\n  narrow-sums: ")) << passes.out;
  EXPECT_TRUE(passes.out_has("    +       prefetch in0[")) << passes.out;
  const Result before = dump("after:lowering"), after = dump("after:prefetch");
  EXPECT_TRUE(before.out_has("kernel k0") && !before.out_has("prefetch in0[")) << before.out;
  EXPECT_TRUE(after.out_has("kernel k0") && after.out_has("prefetch in0[")) << after.out;
  EXPECT_EQ(dump("after:find-in-place").out, dump("kernel").out) << "the last pass";
  EXPECT_TRUE(dump("after:hoist-invariants").out_has("no kernel here goes through hoist-invariants"));
  EXPECT_EQ(dump("after:").status, 2);
  EXPECT_EQ(dump("after:tree").status, 2);
}

TEST(CliExplain, FormsOfABatchHaveOneNameInAllDumps) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const char* batch = "input x: f32[64]\ninput a: f32[10, 20]\nreturn x + 1, sqrt(a)";
  for (const char* stage : {"passes", "after:lowering", "kernel"}) {
    const Result r = tool({"explain", batch, "--device", "cpu", "--dump", stage});
    EXPECT_TRUE(r.out_has("kernel b0\n") && r.out_has("kernel b1\n")) << stage << "\n" << r.out;
  }
}

TEST(CliExplain, DumpsKernelsWhereThereIsACompiler) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  for (const char* stage : {"kernel", "source", "asm"}) {
    const Result r = tool({"explain", "x + 1", "-i", "x=f32[B]", "--size", "B=64", "--dump", stage});
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_GT(r.out.size(), 50u) << stage;
  }
}

TEST(CliExplain, DeclaredInputsNeedNoSpecOnlySizes) {
  const TemporaryFolder folder;
  const std::string program = folder.file("p.smelt", "input x: f32[B, C]\nreturn sum(x, axis=1)\n");
  const Result missing = tool_without_llvm({"explain", program, "--size", "B=8"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(missing.err_has("the size C of the input x (f32[B,C]) has no value")) << missing.err;
  const Result r = tool_without_llvm({"explain", program, "--size", "B=8", "--size", "C=16"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has("reads   x: f32[8,16]")) << r.out;
}

TEST(CliExplain, ShortRowsAreConstants) {
  const std::vector<std::string> arguments = {
      "explain", "input x: f32[B, C]\nreturn x + 1", "--size", "B=8", "--dump", "graph", "--device", "cpu", "--size"};
  const auto with = [&](const char* size) {
    std::vector<std::string> all = arguments;
    all.emplace_back(size);
    return tool_without_llvm(all);
  };
  EXPECT_TRUE(with("C=3").out_has("f32[B, 3]")) << with("C=3").out;
  EXPECT_TRUE(with("C=16").out_has("f32[B, 16]"));
  EXPECT_TRUE(with("C=17").out_has("f32[B, C]"));
  EXPECT_TRUE(with("C=1").out_has("f32[B, C]"));
}

TEST(CliExplain, MeasuresEveryKernel) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const std::vector<std::string> arguments = {"explain",  "softmax(x).sum(axis=0)", "-i", "x=f32[256,64]", "--no-fuse",
                                              "--measure"};
  const Result r = tool(arguments);
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has(" measured, ") && r.out_has(" predicted, limited by ") &&
              r.out_has("% of a copy of as many bytes"))
      << r.out;
  std::vector<std::string> with_json = arguments;
  with_json.insert(with_json.end(), {"--json", "-"});
  const auto json = tool(with_json).json();
  ASSERT_GT(json["kernels"].size(), 2u);
  for (const auto& kernel : json["kernels"]) {
    EXPECT_GT(kernel["measured_ms"]["median"], 0.0);
    EXPECT_GT(kernel["predicted_ms"], 0.0);
    EXPECT_GT(kernel["of_copy"], 0.0);
  }
  EXPECT_EQ(tool_without_llvm(arguments).status, 2);
}

TEST(CliExplain, MeasuresKernelsOfAGpu) {
  const std::map<std::string, std::string> fake = {
      {"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", SMELT_FAKE_CUDA}, {"SMELT_CACHE_DIR", "off"}};
  const std::vector<std::string> arguments = {"explain",     "(x + y) * 2", "-i",    "x=f32[B,64]", "-i",
                                              "y=f32[B,64]", "--size",      "B=100", "--device",    "cuda",
                                              "--no-fuse",   "--json",      "-"};
  const Result predicted = run({arguments, fake, "", false});
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  const nlohmann::json explained = predicted.json();
  for (const auto& kernel : explained["kernels"]) {
    EXPECT_GT(kernel["predicted_ms"], 0.003);
    EXPECT_FALSE(kernel.contains("measured_ms"));
  }
  std::vector<std::string> measure = arguments;
  measure.push_back("--measure");
  const Result r = run({measure, fake, "", false});
  ASSERT_EQ(r.status, 0) << r.err;
  ASSERT_EQ(r.json()["kernels"].size(), 2u);
  const nlohmann::json measured = r.json();
  for (const auto& kernel : measured["kernels"]) {
    EXPECT_EQ(kernel["measured_ms"]["median"], 0.25) << "every time of the stand-in is that";
    EXPECT_EQ(kernel["of_copy"], 1.0);
    EXPECT_TRUE(kernel.contains("functions"));
  }
  std::vector<std::string> absent = measure;
  absent[std::find(absent.begin(), absent.end(), "cuda") - absent.begin()] = "sm_90";
  const Result refused = run({absent, fake, "", false});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(refused.err_has("not a GPU of this machine")) << refused.err;
}

TEST(CliExplain, ListsTheSchedulesThatAKernelCouldHave) {
  const std::map<std::string, std::string> fake = {
      {"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", SMELT_FAKE_CUDA}, {"SMELT_CACHE_DIR", "off"}};
  const std::vector<std::string> arguments = {"explain",   "softmax(x)", "-i", "x=f32[256,1024]", "--device", "cuda",
                                              "--measure", "--json",     "-"};
  const Result without = run({arguments, fake, "", false});
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_FALSE(without.json()["kernels"][0].contains("candidates"));
  std::vector<std::string> asked = arguments;
  asked.push_back("--candidates");
  const Result r = run({asked, fake, "", false});
  ASSERT_EQ(r.status, 0) << r.err;
  const nlohmann::json candidates = r.json()["kernels"][0]["candidates"];
  ASSERT_GT(candidates.size(), 3u);
  EXPECT_EQ(candidates[0]["chosen"], true);
  for (const auto& c : candidates) {
    EXPECT_EQ(c["strategy"], "row");
    EXPECT_GT(c["predicted_us"], 3.0);
    EXPECT_GT(c["measured_us"], 0.0) << c.dump();
  }
  asked.resize(asked.size() - 3);
  asked.push_back("--candidates");
  const Result text = run({asked, fake, "", false});
  EXPECT_TRUE(text.out_has("limited by") && text.out_has("   *   row, ")) << text.out;
}

TEST(CliExplain, MeasuresTheDepthOfFusion) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const std::vector<std::string> arguments = {"explain", "(x * 2 + 1) * x - 3", "-i", "x=f32[1000]", "--depth"};
  const Result r = tool(arguments);
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has("at most 1") && r.out_has("no limit: 4") && r.out_has("fastest: ")) << r.out;
  std::vector<std::string> with_json = arguments;
  with_json.insert(with_json.end(), {"--json", "-"});
  const auto points = tool(with_json).json()["depth"]["points"];
  ASSERT_EQ(points.size(), 4u) << "1, 2, 3 and no limit";
  EXPECT_EQ(points[0]["kernels"], 4);
  EXPECT_EQ(points[1]["kernels"], 2);
  EXPECT_EQ(points[2]["kernels"], 2);
  EXPECT_EQ(points[3]["kernels"], 1);
  for (const auto& point : points) {
    const int limit = point["limit"];
    EXPECT_TRUE(limit == 0 || point["longest"] <= limit) << point;
    EXPECT_GT(point["measured_ms"]["median"], 0.0);
    EXPECT_GT(point["predicted_ms"], 0.0);
  }
  EXPECT_EQ(tool_without_llvm(arguments).status, 2);
}

TEST(CliExplain, TunesOnAGpu) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> fake = {
      {"SMELT_CUDA", SMELT_FAKE_CUDA}, {"SMELT_NVRTC", SMELT_FAKE_CUDA}, {"SMELT_CACHE_DIR", folder / "cache"}};
  for (const char* command : {"explain", "run", "bench"}) {
    std::vector<std::string> arguments = {command, "x * 2 + 1", "-i", "x=f32[4096]", "--device", "cuda", "--tune"};
    if (arguments[0] == "bench") arguments.insert(arguments.end(), {"--no-check", "--time-limit", "0.02"});
    arguments.insert(arguments.end(), {"--json", "-"});
    const Result r = run({arguments, fake, "", false});
    ASSERT_EQ(r.status, 0) << r.err;
    if (arguments[0] != "explain") continue;
    EXPECT_NE(r.json()["kernels"][0]["rebuilt"].get<std::string>().find("tuned: the schedule stays"),
              std::string::npos);
  }
  const Result absent = run({{"explain", "x + 1", "-i", "x=f32[4]", "--device", "sm_90", "--tune"}, fake, "", false});
  EXPECT_EQ(absent.status, 2);
}

// The indices are zeros, which are not inside once 600 is added.
TEST(CliExplain, SaysWhyNothingWasTuned) {
  const TemporaryFolder folder;
  const std::map<std::string, std::string> cache = {{"SMELT_CACHE_DIR", folder / "cache"}};
  std::vector<std::string> arguments = {"explain",    "x[i + 600] * 2 + x", "-i",  "x=f32[512]", "-i",
                                        "i=i64[512]", "--device",           "cpu", "--tune"};
  const Result text = run({arguments, cache, "", false});
  ASSERT_EQ(text.status, 0) << text.err;
  if (text.err.find("no compiler") != std::string::npos) GTEST_SKIP() << text.err;
  EXPECT_TRUE(text.out_has("\n  untuned x[...] met an index out of range: ")) << text.out;
  EXPECT_FALSE(text.out_has("help: check the indices")) << text.out;
  arguments.insert(arguments.end(), {"--json", "-"});
  const auto kernel = run({arguments, cache, "", false}).json()["kernels"][0];
  EXPECT_EQ(kernel["untuned"].get<std::string>().find("x[...] met an index out of range: "), 0u) << kernel;
  EXPECT_EQ(kernel["rebuilt"], "");
}

TEST(CliExplain, ReadsOnlyTheHeadersOfFiles) {
  const TemporaryFolder folder;
  const Result r = tool_without_llvm({"explain", "x + 1", "-i", "x=f32[1000000000000]"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(r.out_has("4.0 TB")) << r.out;
}

}  // namespace
