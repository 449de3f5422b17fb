// Tiles of products on CPUs: convolutions among them, lines of several axes, and which factor has
// the lanes.
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "plan/plan.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

constexpr int kThreads = 2;

// The product of the first kernel on a CPU with vectors of 512 bits; nothing if it is none.
std::optional<Product> product_of(const std::string& program) {
  plan::Options options;
  options.target.threads = kThreads;
  options.target.vector_bits = 512;
  const Graph graph = with_local_reductions(simplify(lang::parse_program(program, "<test>")), 8, true, false);
  return plan::make_plan(graph, options).groups.at(0).schedule->product;
}

Product of_conv(const std::string& x, const std::string& w, const std::string& how) {
  return product_of("input x: f32" + x + "\ninput w: f32" + w + "\nreturn conv(x, w, " + how + ")\n").value();
}

TEST(ProductTiles, HaveLinesOfAnImage) {
  const Product p = of_conv("[8, 64, 56, 56]", "[64, 64, 3, 3]", "padding=1");
  EXPECT_EQ(p.lines, 4);
  EXPECT_EQ(p.tile_columns, 4 * 56);
  const Product small = of_conv("[8, 256, 14, 14]", "[256, 256, 3, 3]", "padding=1");
  EXPECT_EQ(small.lines, 16);
  EXPECT_EQ(small.tile_columns, 16 * 14);
}

TEST(ProductTiles, HavePiecesOfLongLines) {
  const Product p = of_conv("[8, 16, 10, 600]", "[64, 16, 3, 3]", "padding=1");
  EXPECT_EQ(p.lines, 1);
  EXPECT_EQ(p.tile_columns, 224);  // 600 in three pieces of whole blocks
}

// Neighbours along the inner axis share a byte, or the scale of a group: lanes go along it, and
// several blocks of rows share what was unpacked.
TEST(ProductTiles, GoAlongWhatIsUnpacked) {
  const auto unpacked = [](int rows) {
    return product_of("input x: f32[" + std::to_string(rows) +
                      ", 4096]\ninput p: u8[512, 2048]\ninput s: f32[512, 32]\n"
                      "w = f32(stack((p & 15, p >> 4), axis=-1).reshape(512, 32, 128)) * s[..., None]\n"
                      "return x @ w.reshape(512, 4096).T\n")
        .value();
  };
  EXPECT_TRUE(unpacked(4).few_rows);
  EXPECT_FALSE(unpacked(4).stages_columns);
  EXPECT_TRUE(unpacked(16).stages_columns);
  EXPECT_FALSE(unpacked(100).few_rows);
  EXPECT_TRUE(unpacked(100).columns_along_inner);
}

TEST(ProductTiles, WindowsThatMoveByStepsAreLines) {
  EXPECT_GT(of_conv("[8, 64, 56, 56]", "[64, 64, 3, 3]", "padding=1, stride=2").lines, 0);
}

// The gradient of the weights adds up over places; the image is not turned, as it has more of them
// than there are results.
TEST(ProductTiles, OfGradientsHaveWholeInnerLines) {
  const Product p = product_of(
                        "input x: f32[8, 32, 28, 28]\ninput w: f32[32, 32, 3, 3]\ninput g: f32[8, 32, 28, 28]\n"
                        "return gradient(sum(conv(x, w, padding=1) * g), w)\n")
                        .value();
  EXPECT_EQ(p.inner_lines, 9);
  EXPECT_EQ(p.tile_inner, 9 * 28);
  EXPECT_EQ(p.rows.size(), 3u);  // channels and the window
  EXPECT_EQ(p.columns.size(), 1u);
}

TEST(ProductTiles, ColumnsAreWhatTakesFewerLanes) {
  const Product narrow =
      product_of("input a: f32[9, 1000]\ninput b: f32[1000, 4096]\nreturn (a @ b).T\n").value();  // columns: 9
  EXPECT_GT(narrow.tile_columns, narrow.tile_rows);
}

TEST(ProductTiles, BlocksLeaveFewRowsOver) {
  EXPECT_EQ(product_of("input a: f32[52, 512]\ninput b: f32[512, 512]\nreturn a @ b\n").value().block_rows, 12);
  EXPECT_EQ(product_of("input a: f32[26, 512]\ninput b: f32[512, 512]\nreturn a @ b\n").value().block_rows, 11);
  EXPECT_EQ(product_of("input a: f32[512, 512]\ninput b: f32[512, 512]\nreturn a @ b\n").value().block_rows, 12);
}

TEST(ProductTiles, FactorsAreReadInPlaceWhereCachesKeepThem) {
  const auto in_place = [](const std::string& a, const std::string& b, const std::string& product) {
    const Product p = product_of("input a: " + a + "\ninput b: " + b + "\nreturn " + product + "\n").value();
    return std::pair{p.rows_in_place, p.columns_in_place};
  };
  EXPECT_EQ(in_place("f32[64, 64]", "f32[64, 64]", "a @ b"), std::pair(true, true));
  EXPECT_EQ(in_place("f32[4000, 64]", "f32[64, 64]", "a @ b"), std::pair(true, false));  // many rows
  EXPECT_EQ(in_place("f32[64, 64]", "f32[64, 1024]", "a @ b"), std::pair(true, false));  // lines in one set
  EXPECT_EQ(in_place("f32[64, 512]", "f32[64, 64]", "a.T @ b"), std::pair(false, true));
  EXPECT_EQ(in_place("f32[64, 64]", "f32[64, 64]", "(a + 1) @ b"), std::pair(false, true));
  EXPECT_EQ(in_place("f16[64, 64]", "f32[64, 64]", "f32(a) @ b"), std::pair(false, true));
  EXPECT_EQ(in_place("f32[64, 64]", "f32[64, 64]", "a @ b.T"), std::pair(true, false));
}

}  // namespace
}  // namespace smelt::schedule
