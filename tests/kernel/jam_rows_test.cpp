// Rows that share what they read in lanes: which Grid loops take several of them at a time.
#include "kernel/jam_rows.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop);

// Sums of `taps` pixels beside each other, with weights for each channel or for all.
void fill_taps(Sample& s, int64_t pixels, int64_t taps, bool by_channel, int64_t pictures = 20) {
  const int x = s.input(DType::F32, {pictures, pixels + taps, 100}), w = s.input(DType::F32, {taps, 100}),
            out = s.output(DType::F32, {pictures, pixels, 100});
  const bool one = pictures == 1;
  const IntExpr picture = one ? IntExpr(0) : floordiv(g, pixels), pixel = one ? g : mod(g, pixels);
  ExprId sum = s.build.constant(Scalar::of_float(DType::F32, 0));
  for (int64_t t = 0; t < taps; ++t)
    sum =
        s.build.apply(Op::Fma, {s.load(x, {picture, pixel + t, i}), s.load(w, {t, by_channel ? i : IntExpr(0)}), sum});
  s.phase(
      grid("g"_loop, pictures * pixels, {vector("i"_loop, 100, {store({false, out, {picture, pixel, i}}, sum)}, 64)}));
}

TEST(JamRows, ReadsOnceWhatRowsShare) {
  for (const int64_t pixels : {16, 17, 19}) {
    Sample s;
    fill_taps(s, pixels, 9, true);
    EXPECT_TRUE(jam_rows(s.kernel));
    remove_dead_code(s.kernel);
    verify(s.kernel);
    const Loop& grid = s.kernel.phases[0].body[0].get<Loop>();
    EXPECT_TRUE(grid.extent.is(20 * ((pixels + 3) / 4)));
    const bool rest = pixels % 4 > 0;
    ASSERT_EQ(grid.body.size(), rest ? 2u : 1u);
    const std::vector<Stmt>& first = rest ? grid.body[0].get<If>().body : grid.body;
    const Loop& row = first[0].get<Loop>();
    EXPECT_EQ(row.body.size(), 4u);
    EXPECT_EQ(row.lanes, 32);
    int loads = 0;
    visit_below(s.kernel, expressions_of(row.body), [&](ExprId, const Expr& e) {
      loads += e.is<Load>();
      return true;
    });
    EXPECT_EQ(loads, 9 + 9 + 3);
    if (rest) {
      EXPECT_EQ(grid.body[1].get<If>().body[0].get<Loop>().body.size(), static_cast<size_t>(pixels % 4));
    }
  }
}

// Its last rows are one iteration.
TEST(JamRows, RowsOfOnePicture) {
  for (int64_t pixels = 256; pixels < 260; ++pixels) {
    SCOPED_TRACE(pixels);
    Sample s;
    fill_taps(s, pixels, 12, true, 1);
    EXPECT_TRUE(jam_rows(s.kernel));
    verify(s.kernel);
    EXPECT_TRUE(s.kernel.phases[0].body[0].get<Loop>().extent.is((pixels + 3) / 4));
  }
}

TEST(JamRows, LeavesWeightsOfAllLanesFewTapsAndFewRows) {
  for (const auto& [pixels, taps, by_channel] :
       {std::tuple<int64_t, int64_t, bool>{16, 9, false}, {16, 3, true}, {7, 9, true}}) {
    Sample s;
    fill_taps(s, pixels, taps, by_channel);
    EXPECT_FALSE(jam_rows(s.kernel));
    verify(s.kernel);
  }
}

}  // namespace
}  // namespace smelt::kernel
