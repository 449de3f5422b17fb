// The document and the file of smelt report. What the page shows of it is tested in a browser
// (tests/page).
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "../report/temporary_folder.hpp"
#include "process.hpp"

namespace {

using nlohmann::json;

std::vector<std::string> report(const std::string& program, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"report", program, "--time-limit", "0.01", "--json", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

json document(const std::string& program, const std::vector<std::string>& more) {
  const Result r = tool(report(program, more));
  EXPECT_EQ(r.status, 0) << r.err;
  return r.status == 0 ? r.json() : json::object();
}

// Kernels for a GPU that need not be here, where NVRTC is.
bool compiles_for_gpu() {
  static const bool does = tool({"explain", "x + 1", "-i", "x=f32[4]", "--device", "sm_90"}).status == 0;
  return does;
}

json access_of(const json& document, const std::string& kind, int node) {
  for (const json& launch : document["plans"]["fused"]["launches"][0])
    for (const json& access : launch["accesses"])
      if (access["kind"] == kind && access["node"] == node) return access;
  return {};
}

TEST(CliReport, TheDocumentAgreesWithItself) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM";
  const json d = document("layernorm(relu(x))", {"-i", "x=f32[B,96]", "--size", "B=32", "--device", "cpu"});
  EXPECT_EQ(d["schema"], "smelt.report");
  EXPECT_EQ(d["program"]["text"], "layernorm(relu(x))");
  EXPECT_EQ(d["sizes"]["B"], 32);
  const json &fused = d["plans"]["fused"], &unfused = d["plans"]["unfused"], &states = d["replay"]["states"];
  EXPECT_EQ(states.front()["kernels"], unfused["kernels"].size());
  EXPECT_EQ(states.front()["bytes"], fused["traffic"]["unfused_bytes"]);
  EXPECT_EQ(states.back()["kernels"], fused["kernels"].size());
  EXPECT_EQ(states.back()["bytes"], fused["traffic"]["fused_bytes"]);
  EXPECT_EQ(fused["launches"].size(), fused["kernels"].size());
  EXPECT_EQ(unfused["launches"].size(), unfused["kernels"].size());
  EXPECT_TRUE(d["bench"]["results"][0]["correct"]);
  // Operations of one call are together.
  std::set<std::string> labels;
  for (const json& call : d["graph"]["calls"]) labels.insert(call["label"]);
  EXPECT_EQ(labels, (std::set<std::string>{"relu", "layernorm"}));
}

TEST(CliReport, ValuesAreThoseOfTheRun) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM";
  const json d = document("relu(x * 2) + 1", {"-i", "x=iota:f32[8]", "--device", "cpu"});
  const json& element = d["trace"]["elements"][0];
  EXPECT_EQ(element["index"], json::array({3}));
  EXPECT_EQ(element["reference"], 7);
  EXPECT_EQ(element["fused"], 7);
  EXPECT_EQ(element["unfused"], 7);
  std::vector<double> values;
  for (const json& step : element["steps"])
    if (d["graph"]["nodes"][step["node"].get<int>()]["kind"] == "compute") values.push_back(step["value"]);
  EXPECT_EQ(values, (std::vector<double>{6, 6, 7}));
}

// Reductions, scans, views, joined and gathered arrays: the value of a step is what its arguments
// make.
TEST(CliReport, StepsLeadThroughEveryKindOfNode) {
  if (!has_llvm()) GTEST_SKIP() << "no LLVM";
  for (const char* program : {"sum(x, axis=1)", "cumsum(x, axis=0)", "x.T[1:, ::2]", "concat([x, x * 2], axis=0)",
                              "x[i] + 1", "pad(x, [(1, 1), (0, 0)])", "softmax(x).T", "argmax(x, axis=0)"}) {
    const json d = document(program, {"-i", "x=f32[6,10]", "-i", "i=uniform:i32[4]", "--device", "cpu"});
    if (std::string(program) == "x[i] + 1") continue;  // data that is made up is out of range
    ASSERT_FALSE(d["trace"]["elements"].empty()) << program;
    for (const json& element : d["trace"]["elements"]) {
      ASSERT_FALSE(element["steps"].empty()) << program;
      EXPECT_EQ(element["steps"].back()["value"], element["reference"]) << program;
    }
  }
}

TEST(CliReport, AccessesOfAWarp) {
  if (!compiles_for_gpu()) GTEST_SKIP() << "no NVRTC";
  const std::vector<std::string> sm = {"--device", "sm_90"};
  const json chain = document("x * 2", {"-i", "x=f32[1048576]", "--device", "sm_90"});
  for (const char* kind : {"load", "store"}) {
    const json a = access_of(chain, kind, std::string(kind) == "load" ? 0 : chain["graph"]["outputs"][0].get<int>());
    EXPECT_EQ(a["pattern"], "contiguous") << a;
    EXPECT_EQ(a["lane_bytes"], 16);
    EXPECT_EQ(a["sectors"], 16);
    EXPECT_EQ(a["ideal_sectors"], 16);
    EXPECT_EQ(a["total_sectors"], 1048576 * 4 / 32);
  }
  const json rows = document("x * s", {"-i", "x=f32[4096,256]", "-i", "s=f32[4096,1]", "--device", "sm_90"});
  EXPECT_EQ(access_of(rows, "load", 1)["pattern"], "broadcast");
  const json strided = document("x[::4] + 1", {"-i", "x=f32[1048576]", "--device", "sm_90"});
  const json a = access_of(strided, "load", 0);
  EXPECT_EQ(a["pattern"], "strided") << a;
  EXPECT_GT(a["sectors"].get<int>(), a["ideal_sectors"].get<int>());
}

TEST(CliReport, GatheredAddressesAreThoseOfTheData) {
  if (!compiles_for_gpu()) GTEST_SKIP() << "no NVRTC";
  const std::vector<std::string> inputs = {"-i", "t=f32[100000]", "-i", "i=iota:i32[65536]", "--device", "sm_90"};
  EXPECT_EQ(access_of(document("t[i]", inputs), "load", 0)["pattern"], "contiguous");
  const json far = access_of(document("t[(i * 7919) % 100000]", inputs), "load", 0);
  EXPECT_EQ(far["pattern"], "irregular") << far;
  EXPECT_GT(far["sectors"].get<int>(), 8);
  std::vector<std::string> not_run = inputs;
  not_run.emplace_back("--no-run");
  EXPECT_EQ(access_of(document("t[i]", not_run), "load", 0)["pattern"], "unknown");
}

TEST(CliReport, LaunchesOfAGpuThatIsNotHere) {
  if (!compiles_for_gpu()) GTEST_SKIP() << "no NVRTC";
  const json d = document("softmax(x)", {"-i", "x=f32[512,1024]", "--device", "sm_90", "--no-run"});
  const json& launch = d["plans"]["fused"]["launches"][0][0];
  EXPECT_EQ(launch["iterations"], 512);
  EXPECT_EQ(launch["workgroups"].get<int64_t>() * launch["threads"].get<int64_t>() / launch["team"].get<int64_t>(),
            512);
  EXPECT_FALSE(d["machine"]["present"]);
  EXPECT_FALSE(d.contains("bench"));
  EXPECT_EQ(d["trace"]["reason"], "the program was not run");
}

TEST(CliReport, TextOfTheUserIsNoMarkup) {
  const TemporaryFolder folder;
  const std::string nasty = "</script><script>alert(1)</script>", page = folder / "page.html";
  const Result r = tool_without_llvm(
      {"report", "x + 1  # " + nasty + "<!--data--><!--policy-->", "-i", "x=f32[4]", "--device", "cpu", "-o", page});
  ASSERT_EQ(r.status, 0) << r.err;
  const std::string html = bytes_of(page);
  EXPECT_EQ(html.find(nasty), std::string::npos);
  EXPECT_NE(html.find("\\u003c/script>"), std::string::npos);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("</script>", at)) != std::string::npos; ++at) ++scripts;
  EXPECT_EQ(scripts, 2u);
  EXPECT_NE(html.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
}

TEST(CliReport, MistakesLeaveNoFile) {
  const TemporaryFolder folder;
  const std::string page = folder / "page.html";
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"report", "x +", "-i", "x=f32[4]", "-o", page}, "error"},
      {{"report", "x + 1", "-i", "x=f32[4]", "-o", folder / "page.txt"}, "a page is an HTML file"},
      {{"report", "x + 1", "-i", "x=f32[4]"}, "no file is named"},
      {{"report", "-o", page}, "needs a program"},
      {{"report", "--from", folder.file("other.json", "{}"), "-o", page}, "no document of smelt report"}};
  for (const auto& [arguments, message] : wrong) {
    const Result r = tool_without_llvm(arguments);
    EXPECT_EQ(r.status, 2) << message;
    EXPECT_TRUE(r.err_has(message)) << r.err;
    EXPECT_FALSE(std::filesystem::exists(page)) << message;
  }
}

TEST(CliReport, WithoutACompilerThereIsThePlan) {
  const json d = tool_without_llvm(report("softmax(x)", {"-i", "x=f32[8,16]", "--device", "cpu"})).json();
  EXPECT_TRUE(d["interpreted"]);
  EXPECT_EQ(d["plans"]["fused"]["kernels"].size(), 1u);
  EXPECT_TRUE(d["plans"]["fused"]["launches"].empty());
  EXPECT_FALSE(d["trace"]["elements"].empty());
  EXPECT_FALSE(d["trace"]["elements"][0].contains("fused"));
}

TEST(CliReport, ADocumentMakesTheSamePageAgain) {
  const TemporaryFolder folder;
  const std::string first = folder / "first.html", again = folder / "again.html", data = folder / "data.json";
  ASSERT_EQ(
      tool_without_llvm({"report", "x + 1", "-i", "x=f32[4]", "--device", "cpu", "-o", first, "--json", data}).status,
      0);
  ASSERT_EQ(tool({"report", "--from", data, "-o", again}).status, 0);
  EXPECT_EQ(bytes_of(first), bytes_of(again));
  const std::string shared = folder / "shared.html";
  ASSERT_EQ(tool({"report", "--from", data, "--assets", folder.path.string(), "-o", shared}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "page.css"));
  EXPECT_LT(bytes_of(shared).size(), bytes_of(again).size() / 2);
}

}  // namespace
