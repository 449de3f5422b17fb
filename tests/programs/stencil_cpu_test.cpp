// How stencils run on a CPU: ends of rows, the loops of a row, rings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "kernel/lower.hpp"
#include "run.hpp"
#include "schedule/schedule.hpp"

namespace smelt::testing {
namespace {

schedule::Schedule scheduled(const std::string& program) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  for (const Symbol symbol : graph.size_symbols()) options.sizes[symbol] = 1024;
  const plan::Plan plan = plan::make_plan(graph, options);
  EXPECT_EQ(plan.groups.size(), 1U);
  auto made = schedule::make_schedule(graph, plan.groups[0], options);
  return std::get<schedule::Schedule>(made);
}

std::string kernel_text(const std::string& program) {
  const Graph graph = simplify(lang::parse_program(program, "<test>"));
  plan::Options options;
  const plan::Plan plan = plan::make_plan(graph, options);
  auto made = schedule::make_schedule(graph, plan.groups[0], options);
  return kernel::print(kernel::lower(graph, plan.groups[0], std::get<schedule::Schedule>(made), "k0"));
}

size_t occurrences(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const char* kBlur =
    "p = pad(x, 1)\nrows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]\nreturn (rows[:-2] + rows[1:-1] + rows[2:]) / 9\n";

// Elements of pixels are columns: neighbours are a pixel apart.
TEST(StencilsOnCpu, PixelsHaveRings) {
  const char* sums = "h = f[:, :-2] + f[:, 1:-1] + f[:, 2:]\nreturn (h[:-2] + h[1:-1] + h[2:]) / 9\n";
  const schedule::Schedule s = scheduled(std::string("input x: u8[1024, 1024, 3]\nf = f32(x) / 255 - 0.5\n") + sums);
  ASSERT_TRUE(s.stencil);
  ASSERT_EQ(s.stencil->rings.size(), 2U);
  EXPECT_EQ(s.stencil->rings[0].halo(), 6);
  EXPECT_EQ(s.stencil->rings[0].column_step, 3);
  EXPECT_EQ(s.stencil->rings[1].rows, 3);
}

TEST(StencilsOnCpu, TheNewestRowTakesThePlaceOfTheOldest) {
  const schedule::Schedule s = scheduled(std::string("input x: f32[1024, 1024]\n") + kBlur);
  ASSERT_TRUE(s.stencil);
  ASSERT_EQ(s.stencil->rings.size(), 1U);  // sums of rows; the padded input is read where it is
  EXPECT_EQ(s.stencil->rings[0].rows, 3);
  EXPECT_EQ(s.stencil->rings[0].lines, 2);
  EXPECT_EQ(s.stencil->output_loop, 0U);
  // One loop over columns for the row before the first, one for all others.
  const std::string text = kernel_text(std::string("input x: f32[1024, 1024]\n") + kBlur);
  EXPECT_EQ(occurrences(text, "vector %i"), 2U) << text;
}

TEST(StencilsOnCpu, OtherColumnsOfTheNewestRowNeedALoopBefore) {
  const schedule::Schedule s = scheduled(
      "input x: f32[1024, 1024]\nm = sqrt(x * x + 1)\n"
      "return exp(m[:-2, 1:-1]) + m[2:, :-2] * m[2:, 2:]\n");
  ASSERT_TRUE(s.stencil);
  ASSERT_FALSE(s.stencil->rings.empty());
  EXPECT_LT(s.stencil->rings[0].loop, s.stencil->output_loop);
  EXPECT_EQ(s.stencil->rings[0].lines, s.stencil->rings[0].rows);
}

TEST(StencilsOnCpu, RowsThatNeighboursReadAreGoneDownWithoutRings) {
  const char* step = "p = pad(x, 1)\nreturn p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]\n";
  const schedule::Schedule s = scheduled(std::string("input x: f32[1024, 1024]\n") + step);
  EXPECT_EQ(s.strategy, plan::Strategy::Stencil);
  ASSERT_TRUE(s.stencil);
  EXPECT_TRUE(s.stencil->rings.empty());
  EXPECT_EQ(scheduled("input x: f32[1024, 1024]\nreturn x[:, :-1] + x[:, 1:]\n").strategy, plan::Strategy::Pointwise);
}

// Rows so short that no step is without an end, and longer ones; what is read begins in front of a
// line, on it, and after it.
TEST(StencilsOnCpu, RowsOfEveryLength) {
  NEEDS_LLVM();
  const char* programs[] = {
      "p = pad(x, 1)\nrows = p[:, :-2] + p[:, 1:-1] + p[:, 2:]\nreturn (rows[:-2] + rows[1:-1] + rows[2:]) / 9\n",
      "p = pad(x, 2, mode='edge')\nrows = p[:, :-4] + p[:, 2:-2] + p[:, 4:]\nreturn rows[:-4] * rows[4:] - "
      "rows[2:-2]\n",
      "p = pad(x, [(1, 0), (3, 1)], value=1)\na = p[:-1, :-4] - p[1:, 4:]\nq = pad(a, 1)\n"
      "b = q[2:, 1:-1] + q[:-2, :-2] * q[1:-1, 2:]\nreturn a, b\n",
      "p = pad(x, 1)\nreturn p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]\n"};
  for (const char* program : programs) {
    std::vector<Tensor> images;
    std::vector<std::vector<TensorView>> calls;
    for (const int64_t width : {1, 2, 15, 16, 17, 31, 33, 48, 63, 64, 65, 95, 97, 130, 700})
      images.push_back(noise(DType::F32, {width % 2 ? 9 : 40, width}, static_cast<uint64_t>(width)));
    for (const Tensor& image : images) calls.push_back({image});
    EXPECT_TRUE(right(std::string("input x: f32[H, W]\n") + program, calls)) << program;
  }
}

TEST(StencilsOnCpu, EndsOfNarrowTypes) {
  NEEDS_LLVM();
  for (const DType dtype : {DType::U8, DType::I16, DType::F16, DType::F64})
    for (const int64_t width : {40, 129}) {
      const std::string program = fmt::format(
          "input x: {}[20, {}]\np = pad(x, 1)\nm = max(max(p[:, :-2], p[:, 1:-1]), p[:, 2:])\n"
          "return max(max(m[:-2], m[1:-1]), m[2:])\n",
          name_of(dtype), width);
      EXPECT_TRUE(right(program, {noise(dtype, {20, width})})) << program;
    }
}

// Whole lines of columns of rings are computed, more than are needed: what is in them may reach no
// result. Strips end at 256 or 512 columns.
TEST(StencilsOnCpu, StripsOfAChainMeet) {
  NEEDS_LLVM();
  const char* padded =
      "p{0} = pad(x{0}, 1)\nx{1} = 0.5 * x{0} + 0.125 * (p{0}[:-2, 1:-1] + p{0}[2:, 1:-1] + p{0}[1:-1, :-2] + "
      "p{0}[1:-1, 2:])\n";
  const char* inside = "x{1} = 0.5 * x{0}[1:-1, 1:-1] + 0.25 * (x{0}[:-2, 2:] - x{0}[1:-1, :-2] + x{0}[2:, 1:-1])\n";
  for (const char* step : {padded, inside})
    for (const DType dtype : {DType::F32, DType::F64}) {
      std::string program = fmt::format("input x0: {}[H, W]\n", name_of(dtype));
      for (int i = 0; i < 5; ++i) program += fmt::format(fmt::runtime(step), i, i + 1);
      program += "return x5\n";
      std::vector<Tensor> images;
      std::vector<std::vector<TensorView>> calls;
      for (const int64_t width : {11, 40, 255, 257, 383, 385, 511, 513, 544, 769, 1024, 1301}) {
        images.push_back(noise(dtype, {13, width}, static_cast<uint64_t>(width)));
        for (const int64_t column : {int64_t{0}, int64_t{256}, int64_t{511}, width - 1}) {
          if (column >= width) continue;
          const int64_t at = 6 * width + column;
          if (dtype == DType::F32) static_cast<float*>(images.back().data)[at] = static_cast<float>(kNan);
          if (dtype == DType::F64) static_cast<double*>(images.back().data)[at] = kInf;
        }
      }
      for (const Tensor& image : images) calls.push_back({image});
      EXPECT_TRUE(right(program, calls)) << program;
    }
}

TEST(StencilsOnCpu, LinesOfManyLoopsStayInTheFirstLevelCache) {
  std::string program = "input x0: f32[4096, 4096]\n";
  for (int i = 0; i < 5; ++i)
    program += fmt::format(
        "p{0} = pad(x{0}, 1)\nx{1} = p{0}[:-2, 1:-1] + p{0}[2:, 1:-1] + p{0}[1:-1, :-2] + p{0}[1:-1, 2:]\n", i, i + 1);
  const schedule::Schedule s = scheduled(program + "return x5\n");
  ASSERT_TRUE(s.stencil);
  int64_t bytes = 0;
  for (const schedule::Ring& ring : s.stencil->rings) bytes += 4 * ring.lines * s.tile;
  EXPECT_LE(bytes, plan::Options{}.target.l1_bytes);
}

// Columns that nobody needs hold anything, so an index is never made of them.
TEST(StencilsOnCpu, IndicesOfAStencilAreThoseOfTheProgram) {
  NEEDS_LLVM();
  const std::string program =
      "input t: f32[7]\ninput x: f32[H, W]\nm = i32(clamp(abs(x), 0, 1))\np = pad(m, 1)\n"
      "s = p[:, :-2] + p[:, 1:-1] + p[:, 2:]\nn = s[:-2] + s[1:-1] + s[2:]\nq = pad(sqrt(abs(x)), 1)\n"
      "d = q[:-2, 1:-1] * q[2:, 1:-1]\nreturn take(t, n // 2) + d\n";
  const Tensor t = noise(DType::F32, {7}, 3);
  for (const int64_t width : {33, 700}) EXPECT_TRUE(right(program, {t, noise(DType::F32, {20, width})})) << width;
}

// A condition that fails at many elements is no matter of ends.
TEST(StencilsOnCpu, TrianglesAndBandsStayWhatTheyAre) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {70, 700}), y = noise(DType::F32, {700}, 2);
  EXPECT_TRUE(
      right("input x: f32[70, 700]\nr = arange(70)[:, None]\nc = arange(700)[None, :]\n"
            "return where(c <= 10 * r, x, -1), where(c >= r, x, 2)\n",
            {x}));
  EXPECT_TRUE(right("input y: f32[700]\nreturn concat([y[:3], y, y[650:]], axis=0) * 2\n", {y}));
}

}  // namespace
}  // namespace smelt::testing
