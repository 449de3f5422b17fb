// The table, the JSON and the picture of made-up results.
#include "report/bench_text.hpp"

#include <gtest/gtest.h>
#ifdef SMELT_HAS_EXPAT
#include <expat.h>
#endif

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "report/svg.hpp"
#include "support/symbols.hpp"

namespace smelt::report {
namespace {

Summary summary(double median, double spread) { return {median, median - spread, median + spread, spread, 0.01, 40}; }

BenchResult result(int64_t b) {
  BenchResult r;
  r.sizes = {{"B"_size, b}};
  r.inputs = {"x: f32[" + std::to_string(b) + ",1024]"};
  r.unfused = Side{9, 285212672, {summary(21.9, 0.41), summary(23, 1), summary(30, 1)}, 13.02, 13.4};
  r.fused = {1, 33554432, {summary(2.96, 0.05), summary(3.1, 0.1), summary(5, 1)}, 11.33, 13.3};
  r.speedup = 7.4;
  r.cold_speedup = 7.42;
  r.checked = true;
  r.accuracy.max_abs = 4.8e-7;
  r.accuracy.max_ulp = 2.96;
  r.accuracy.percentiles = {{50, 0, 0, 0}, {99.9, 1e-7, 1e-7, 2}};
  r.compile_ms = 12.5;
  return r;
}

const BenchTitle kTitle{"relu_layernorm", "cpu", "avx2", 2};

TEST(BenchTable, LooksLikeItsForm) {
  const std::string text = bench_table(kTitle, result(4096), Style{});
  const std::string expected =
      "relu_layernorm   x: f32[4096,1024]   cpu: 2 threads, avx2\n"
      "          kernels      time (ms)   moved (MB)   bandwidth (GB/s)   of copy   speedup\n"
      "unfused         9   21.90 ± 0.41        285.2               13.0      97 %     1.00x\n"
      "fused           1    2.96 ± 0.05         33.6               11.3      85 %     7.40x\n"
      "correct: max abs error 4.8e-07, max 3 ULP, against the float64 reference\n";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_NE(text.find("one kernel per primitive operation"), std::string::npos);
  EXPECT_NE(text.find("cold caches"), std::string::npos);
  EXPECT_NE(text.find("compiled in 12.50 ms"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(bench_table(kTitle, result(4096), Style{true}).find('\x1b'), std::string::npos);
}

TEST(BenchTable, TellsOfNoiseAndOfElementsBesideZero) {
  BenchResult r = result(8);
  EXPECT_EQ(bench_table(kTitle, r, Style{}).find("noisy"), std::string::npos);
  r.fused.time_ms.hot.noise = 0.13;
  r.accuracy.max_ulp = 221100;
  const std::string text = bench_table(kTitle, r, Style{});
  EXPECT_NE(text.find("noisy: medians are known to 13 % only"), std::string::npos) << text;
  EXPECT_NE(text.find("max 2.211e+05 ULP (99.9 % within 2), against the float64 reference"), std::string::npos) << text;
}

TEST(BenchTable, SaysWhatIsWrong) {
  BenchResult r = result(8);
  r.accuracy.correct = false;
  r.accuracy.note = "output 1 at [3] is 1, the reference has 2";
  EXPECT_NE(bench_table(kTitle, r, Style{}).find("WRONG: output 1 at [3]"), std::string::npos);
  EXPECT_NE(
      sweep_table(kTitle, "B"_size, {"x: f32[B,1024]"}, {result(4), r}, Style{}).find("WRONG at B=8: output 1 at [3]"),
      std::string::npos);
  r.checked = false;
  EXPECT_NE(bench_table(kTitle, r, Style{}).find("not checked"), std::string::npos);
}

TEST(SweepTable, HasARowPerSize) {
  const std::string text =
      sweep_table(kTitle, "B"_size, {"x: f32[B,1024]"}, {result(1024), result(4096), result(16384)}, Style{});
  EXPECT_EQ(text.rfind("relu_layernorm   x: f32[B,1024]   cpu", 0), 0u) << text;
  for (const char* size : {"\n 1024   ", "\n 4096   ", "\n16384   "})
    EXPECT_NE(text.find(size), std::string::npos) << text;
}

TEST(BenchJson, HasTheDocumentedKeys) {
  const auto json = to_json(kTitle, {result(1024), result(4096)});
  ASSERT_EQ(json["results"].size(), 2u);
  const auto& r = json["results"][1];
  for (const char* key : {"fused", "unfused", "copy_gbs", "speedup", "accuracy", "correct", "compile_ms"})
    EXPECT_TRUE(r.contains(key)) << key;
  for (const char* side : {"fused", "unfused"}) {
    for (const char* key : {"kernels", "time_ms", "bytes", "bandwidth_gbs"}) EXPECT_TRUE(r[side].contains(key)) << key;
    for (const char* key : {"median", "min", "max", "runs"}) EXPECT_TRUE(r[side]["time_ms"].contains(key)) << key;
  }
  for (const char* key : {"max_abs", "max_rel", "max_ulp", "percentiles"})
    EXPECT_TRUE(r["accuracy"].contains(key)) << key;
  EXPECT_EQ(r["accuracy"]["percentiles"]["99.9"]["ulp"], 2);
  EXPECT_EQ(r["fused"]["kernels"], 1);
  EXPECT_EQ(r["fused"]["time_ms"]["median"], 2.96);
  EXPECT_EQ(r["sizes"]["B"], 4096);
  EXPECT_EQ(r["correct"], true);
}

const char* kNastyName = "</text><script>alert(1)</script> & \"quotes\" 'x' \x1b[31m \xff\xfe größe";

TEST(Svg, EscapesWhateverTheNames) {
  BenchTitle title = kTitle;
  title.program = kNastyName;
  const std::string svg = bench_chart(title, {result(1024), result(4096)});
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x1b'), std::string::npos);
  EXPECT_NE(svg.find("größe"), std::string::npos);
  EXPECT_EQ(svg.find("@font-face"), std::string::npos);
  EXPECT_EQ(svg.find("href"), std::string::npos);
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST(Svg, ShowsEveryFigure) {
  const std::string svg = bench_chart(kTitle, {result(4096)});
  for (const char* text : {"21.90 ms", "2.96 ms (7.40x)", "285.2 MB in 9 kernels", "33.6 MB in 1 kernel", "13.0 GB/s",
                           "11.3 GB/s", "13.3 GB/s"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

// The widths of all bars of one class, in order.
std::vector<double> widths(const std::string& svg, const std::string& css) {
  std::vector<double> out;
  for (size_t at = 0; (at = svg.find("class=\"" + css + "\"", at)) != std::string::npos; ++at)
    out.push_back(std::stod(svg.substr(svg.rfind("width=\"", at) + 7)));
  return out;
}

TEST(Svg, BarsAreInProportion) {
  Chart chart{"t",
              "s",
              {{"p", {{"", {{Bar::Before, "a", 100, ""}, {Bar::After, "b", 25, ""}, {Bar::Yardstick, "c", 0, ""}}}}}},
              ""};
  const std::string svg = to_svg(chart);
  EXPECT_NEAR(widths(svg, "after")[0] * 4, widths(svg, "before")[0], 0.5);
  EXPECT_EQ(widths(svg, "yardstick")[0], 1.0);
}

TEST(Svg, NanHasNoWidth) {
  Chart chart{"t", "s", {{"p", {{"", {{Bar::Before, "a", std::nan(""), "nan"}, {Bar::After, "b", 0, "0"}}}}}}, ""};
  EXPECT_EQ(to_svg(chart).find("width=\"nan"), std::string::npos);
}

#ifdef SMELT_HAS_EXPAT
// What is wrong with it as XML; empty when nothing is.
std::string xml_fault(const std::string& text) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate("UTF-8"), &XML_ParserFree);
  if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), 1) == XML_STATUS_OK) return "";
  return XML_ErrorString(XML_GetErrorCode(parser.get()));
}

TEST(Svg, IsXml) {
  EXPECT_EQ(xml_fault("<a>x & y</a>"), "not well-formed (invalid token)");
  EXPECT_EQ(xml_fault(to_svg({})), "");
  EXPECT_EQ(xml_fault(to_svg({"t", "s", {{"p", {{"", {{Bar::Before, "a", std::nan(""), "nan"}}}}}}, ""})), "");
  BenchTitle title = kTitle;
  title.program = kNastyName;
  EXPECT_EQ(xml_fault(bench_chart(title, {result(1024), result(4096)})), "");
}
#else
TEST(Svg, IsXml) { GTEST_SKIP() << "built without expat"; }
#endif

}  // namespace
}  // namespace smelt::report
