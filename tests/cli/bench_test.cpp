#include <gtest/gtest.h>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

const std::vector<std::string> kSmall = {"bench", "(x + y) * 2",  "-i",           "x=f32[64,32]",
                                         "-i",    "y=f32[64,32]", "--time-limit", "0.02"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CliBench, PrintsTheTable) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result r = tool(kSmall);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.rfind("(x + y) * 2   x: f32[64,32], y: f32[64,32]   cpu: ", 0), 0u) << r.out;
  for (const char* part : {"kernels", "time (ms)", "moved (MB)", "bandwidth (GB/s)", "of copy", "speedup", "\nunfused",
                           "\nfused", "1.00x", "\ncorrect: max abs error", "against the float64 reference",
                           "cold caches", "compiled in", "one kernel per primitive operation"})
    EXPECT_TRUE(r.out_has(part)) << part << "\n" << r.out;
  EXPECT_EQ(r.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(r.err, "");
}

TEST(CliBench, JsonCarriesEveryFigure) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result r = tool(with(kSmall, {"--json", "-", "--threads", "1"}));
  ASSERT_EQ(r.status, 0) << r.err;
  const auto json = r.json();
  EXPECT_EQ(json["threads"], 1);
  ASSERT_EQ(json["results"].size(), 1u);
  const auto& result = json["results"][0];
  for (const char* side : {"fused", "unfused"}) {
    EXPECT_GT(result[side]["time_ms"]["median"], 0.0);
    EXPECT_LE(result[side]["time_ms"]["min"], result[side]["time_ms"]["median"]);
    EXPECT_GE(result[side]["time_ms"]["max"], result[side]["time_ms"]["median"]);
    EXPECT_GE(result[side]["time_ms"]["runs"], 3);
    EXPECT_GT(result[side]["bandwidth_gbs"], 0.0);
  }
  EXPECT_EQ(result["fused"]["kernels"], 1);
  EXPECT_EQ(result["unfused"]["kernels"], 2);
  EXPECT_EQ(result["fused"]["bytes"], 3 * 64 * 32 * 4);
  EXPECT_EQ(result["unfused"]["bytes"], 5 * 64 * 32 * 4);
  EXPECT_GT(result["copy_gbs"], 0.0);
  EXPECT_GT(result["speedup"], 0.0);
  EXPECT_GT(result["compile_ms"], 0.0);
  EXPECT_EQ(result["correct"], true);
  for (const char* key : {"max_abs", "max_rel", "max_ulp", "percentiles"})
    EXPECT_TRUE(result["accuracy"].contains(key)) << key;
}

TEST(CliBench, FusedOnlyMeasuresNothingElse) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result text = tool(with(kSmall, {"--fused-only"}));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(text.out_has("\nfused")) << text.out;
  EXPECT_TRUE(text.out_has("not checked against the reference (--fused-only)")) << text.out;
  EXPECT_FALSE(text.out_has("unfused")) << text.out;
  const auto result = tool(with(kSmall, {"--fused-only", "--json", "-"})).json()["results"][0];
  EXPECT_GT(result["fused"]["time_ms"]["median"], 0.0);
  for (const char* key : {"unfused", "speedup", "cold_speedup", "accuracy", "correct"})
    EXPECT_TRUE(result[key].is_null()) << key;
}

TEST(CliBench, SweepsWithOneExecutable) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result r =
      tool({"bench", "x * 2 + 1", "-i", "x=f32[B,16]", "--sweep", "B=1,7,33", "--time-limit", "0.02", "--json", "-"});
  ASSERT_EQ(r.status, 0) << r.err;
  const auto results = r.json()["results"];
  ASSERT_EQ(results.size(), 3u);
  const int sizes[] = {1, 7, 33};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results[i]["sizes"]["B"], sizes[i]);
    EXPECT_EQ(results[i]["fused"]["bytes"], 2 * sizes[i] * 16 * 4);
    EXPECT_EQ(results[i]["correct"], true);
    EXPECT_EQ(results[i]["compile_ms"], results[0]["compile_ms"]) << "compiled once";
  }
  const Result text = tool({"bench", "x * 2 + 1", "-i", "x=f32[B,16]", "--sweep", "B=1,7,33", "--time-limit", "0.02"});
  EXPECT_TRUE(text.out_has("\n 1   ") && text.out_has("\n 7   ") && text.out_has("\n33   ")) << text.out;
}

TEST(CliBench, AFailedCheckExitsWithOne) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  // What the addition rounds away in f32 is all of the answer.
  const TemporaryFolder folder;
  const std::vector<std::string> wrong = {"bench", "(x + 1e8) - 1e8", "-i", "x=f32[64,32]", "--time-limit", "0.02"};
  const Result text = tool(with(wrong, {"--plot", folder / "p.svg"}));
  EXPECT_EQ(text.status, 1) << text.out << text.err;
  EXPECT_TRUE(text.out_has("\nWRONG: output 1 at [0, 0] is ")) << text.out;
  EXPECT_EQ(text.err, "");
  EXPECT_EQ(folder.entries(), 1u) << "the rest of the report is written all the same";
  const Result json = tool(with(wrong, {"--json", "-"}));
  EXPECT_EQ(json.status, 1);
  EXPECT_EQ(json.json()["results"][0]["correct"], false);
  const Result unchecked = tool(with(wrong, {"--no-check"}));
  EXPECT_EQ(unchecked.status, 0) << unchecked.err;
}

// int8 of quotients, some of which lie between two integers: either neighbour is right.
TEST(CliBench, RoundingBoundariesAreNoErrors) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result r = tool({"bench", "int8(round(x / (max(abs(x), axis=-1, keepdims=True) / 127)))", "-i",
                         "x=bf16[64,5000]", "--time-limit", "0.02"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_TRUE(r.out_has("correct: ")) << r.out;
}

TEST(CliBench, DrawsAPicture) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const TemporaryFolder folder;
  const Result r = tool(with(kSmall, {"--plot", folder / "p.svg"}));
  EXPECT_EQ(r.status, 0) << r.err;
  const std::string svg = bytes_of(folder / "p.svg");
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_TRUE(r.out_has("picture: " + (folder / "p.svg")));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(CliBench, DeclaredInputsNeedNoSpecOnlySizes) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const TemporaryFolder folder;
  const std::string program = folder.file("scale.smelt", "input x: f32[B, C]\ninput s: f32\nreturn x * s\n");
  const Result r = tool({"bench", program, "--size", "B=4", "--size", "C=8", "--time-limit", "0.02"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.rfind("scale   x: f32[4,8], s: f32   cpu: ", 0), 0u) << r.out;
}

TEST(CliBench, EmptyArraysAreNoProblem) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result r = tool({"bench", "x + 1", "-i", "x=f32[0]", "--time-limit", "0.02"});
  EXPECT_EQ(r.status, 0) << r.err;
}

TEST(CliBench, MistakesAreNamed) {
  EXPECT_TRUE(tool_without_llvm({"bench", "x + 1", "-i", "x=f32[4]"}).err_has("apt-get install libllvm19"));
  EXPECT_EQ(tool_without_llvm({"bench", "x + 1", "-i", "x=f32[4]"}).status, 2);
  if (!has_llvm()) GTEST_SKIP() << "no LLVM here";
  const Result large = tool({"bench", "x + 1", "-i", "x=f32[100000000000000]"});
  EXPECT_EQ(large.status, 2);
  EXPECT_TRUE(large.err_has("this machine has")) << large.err;
  const Result constant = tool({"bench", "x + 1", "-i", "x=f32[4]", "--sweep", "B=1,2"});
  EXPECT_EQ(constant.status, 2);
  EXPECT_TRUE(constant.err_has("no input has a size of that name\n  help: name it in a type: -i x=f32[B,1024]"))
      << constant.err;
  EXPECT_EQ(tool({"bench", "x + 1", "-i", "x=f32[B]", "--sweep", "B=1,x"}).status, 2);
  EXPECT_EQ(tool({"bench", "x + 1", "-i", "x=f32[B]", "--sweep", "B=-1"}).status, 2);
  EXPECT_EQ(tool({"bench", "x + 1", "-i", "x=f32[4]", "--time-limit", "0"}).status, 2);
  EXPECT_EQ(tool({"bench", "x + 1", "-i", "x=f32[4]", "--plot", "/dev/null/p.svg", "--time-limit", "0.02"}).status, 2);
}

}  // namespace
