// What matrix units of a GPU multiply for factors that are no halves: bf16 that add up to f32, and
// halves for bytes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/language.hpp"
#include "plan/channels_last.hpp"
#include "plan/plan.hpp"
#include "schedule/product.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The product that is chosen for the last kernel on a GPU; nothing if it is none.
std::optional<Product> product_of(const std::string& program, int compute = 90) {
  plan::Options options;
  options.target.device = "cuda", options.target.gpu = true, options.target.threads = 132;
  options.target.shared_bytes = 227 << 10, options.target.compute = compute;
  Graph graph = with_local_reductions(simplify(lang::parse_program(program, "<test>")), 64, false, true, compute == 90);
  if (auto copied = plan::with_channels_last(graph, options)) {
    graph = std::move(copied->graph);
    options.splits = std::move(copied->splits);
  }
  return plan::make_plan(graph, options).groups.back().schedule->product;
}

// The product of two matrices of 2048 x 2048.
Product of_matrices(const std::string& a, const std::string& b, const std::string& returned, int compute = 90) {
  return product_of("input a: " + a + "[2048, 2048]\ninput b: " + b + "[2048, 2048]\nreturn " + returned + "\n",
                    compute)
      .value();
}

TEST(ProductUnits, MultiplyF32InThreeParts) {
  const Product p = of_matrices("f32", "f32", "relu(a @ b)");
  EXPECT_EQ(p.units, DType::BF16);
  EXPECT_TRUE(p.boxed);
  EXPECT_EQ(p.packed.size(), 2u);
  EXPECT_EQ(held_sums(p), 3);
  EXPECT_THAT(pairs_of_parts(p.sums[0]),
              ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0), Pair(0, 2), Pair(1, 1), Pair(2, 0)));
}

TEST(ProductUnits, AreForHopperWherePrecisionIsFull) {
  EXPECT_FALSE(of_matrices("f32", "f32", "a @ b", 80).units);
  EXPECT_FALSE(of_matrices("f64", "f64", "a @ b").units);
}

// Few rows: weights go to the units through registers, whatever they are computed from, where rows
// of memory begin at multiples of what a thread reads.
TEST(ProductUnits, ReadWeightsOfFewRowsIntoRegisters) {
  const auto skinny = [](int rows, int inner, const std::string& weights, int compute = 90) {
    const auto product = product_of(fmt::format("input x: bf16[{0}, {1}]\ninput w: {2}\ninput s: bf16[4096, {3}]\n"
                                                "return linear(x, (bf16(w).reshape(4096, {3}, -1) * s[..., "
                                                "None]).reshape(4096, {1}))\n",
                                                rows, inner, weights, inner / 64),
                                    compute);
    return product ? product->skinny : std::nullopt;
  };
  for (const int rows : {1, 2, 16, 64})
    for (const int compute : {80, 90}) EXPECT_TRUE(skinny(rows, 4096, "i8[4096, 4096]", compute)) << rows;
  EXPECT_FALSE(skinny(72, 4096, "i8[4096, 4096]")) << "registers do not hold the sums";
  EXPECT_FALSE(skinny(16, 4096, "i8[4096, 4096]", 75));
  const auto odd = product_of("input x: bf16[16, 4097]\ninput w: i8[4096, 4097]\nreturn linear(x, bf16(w))\n");
  EXPECT_FALSE(odd && odd->skinny);
  const auto across = product_of("input x: bf16[16, 4096]\ninput w: i8[4096, 4096]\nreturn x @ bf16(w)\n");
  EXPECT_FALSE(across && across->skinny) << "neighbours in memory are columns";
  // Where few workgroups share the weights, more warps go along a row of these.
  EXPECT_LT(skinny(16, 4096, "i8[4096, 4096]")->parts, 3);
  const auto of = [](int columns) {
    return product_of(
               fmt::format("input x: bf16[8, 8192]\ninput w: i8[{}, 8192]\nreturn linear(x, bf16(w))\n", columns))
        ->skinny->warps;
  };
  EXPECT_GT(of(2048), of(65536));
}

TEST(ProductUnits, LeaveAVectorTimesWhatIsReadAsItIsToSumsOfRows) {
  const auto of_vector = [](const std::string& matrix, int columns, int inner) {
    return product_of(fmt::format("input x: bf16[1, {1}]\ninput w: {2}[{0}, {1}]\nreturn linear(x, bf16(w))\n", columns,
                                  inner, matrix));
  };
  EXPECT_TRUE(of_vector("i8", 4096, 4096));
  EXPECT_FALSE(of_vector("i8", 8192, 2048));
  EXPECT_FALSE(of_vector("bf16", 4096, 4096));
  EXPECT_FALSE(of_vector("i8", 512, 4096)) << "few elements";
}

TEST(ProductUnits, TakeAsManyPartsAsAFactorNeeds) {
  const Product p = of_matrices("f32", "bf16", "a @ f32(b)");
  EXPECT_EQ(p.sums[0].parts_of_rows, 3);
  EXPECT_EQ(p.sums[0].parts_of_columns, 1);
  EXPECT_EQ(p.packed.size(), 1u) << "boxes bring the other one";
  EXPECT_EQ(of_matrices("f32", "f16", "a @ f32(b)").sums[0].parts_of_columns, 2);
  EXPECT_EQ(of_matrices("f32", "i8", "a @ f32(b)").sums[0].parts_of_columns, 1);
  EXPECT_EQ(of_matrices("f32", "bf16", "a @ (f32(b) * 0.1)").sums[0].parts_of_columns, 3);
}

TEST(ProductUnits, TakeTwoPartsWhereLessIsPermitted) {
  for (const int compute : {80, 86, 90}) {
    const Product p = of_matrices("f32", "f32", "matmul(a, b, precision='bf16x3')", compute);
    EXPECT_EQ(p.units, DType::BF16);
    EXPECT_EQ(held_sums(p), 1);
    EXPECT_THAT(pairs_of_parts(p.sums[0]), ElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0)));
  }
}

TEST(ProductUnits, LeaveSmallProductsToThreads) {
  const auto p = product_of("input a: f32[40, 64]\ninput b: f32[64, 40]\nreturn a @ b\n");
  EXPECT_FALSE(p && p->units);
}

TEST(ProductUnits, MultiplyBytesAsHalves) {
  const auto of_bytes = [](const std::string& a, const std::string& b, const std::string& to, int64_t inner) {
    const std::string k = std::to_string(inner);
    return product_of("input a: " + a + "[2048, " + k + "]\ninput b: " + b + "[2048, " + k + "]\nreturn " + to +
                      "(a) @ " + to + "(b).T\n")
        .value();
  };
  for (const char* to : {"i32", "i64"}) {
    EXPECT_TRUE(of_bytes("i8", "i8", to, 1024).exact_in_f32);
    EXPECT_EQ(held_sums(of_bytes("i8", "i8", to, 1024)), 1);
    EXPECT_FALSE(of_bytes("i8", "i8", to, 1025).exact_in_f32);
    EXPECT_EQ(held_sums(of_bytes("i8", "u8", to, 4096)), 2);
    EXPECT_FALSE(of_bytes("u8", "u8", to, 259).exact_in_f32);
    EXPECT_FALSE(of_bytes("i16", "i8", to, 64).units);
  }
  EXPECT_TRUE(of_bytes("i8", "i8", "i64", 131000).units) << "i32 holds the sums";
  EXPECT_FALSE(of_bytes("i8", "i8", "i64", 131072).units);
  EXPECT_TRUE(of_bytes("i8", "i8", "i32", 131072).units) << "they wrap";
}

// An image is taken apart as it lies, and the parts of its inner axes have neighbouring channels.
TEST(ProductUnits, TakeImagesApartAsTheyLie) {
  for (const auto& [x, w] :
       {std::pair{"[32, 256, 56, 56]", "[256, 256, 3, 3]"}, {"[32, 64, 56, 56]", "[64, 64, 3, 3]"}}) {
    const Product p =
        product_of(std::string("input x: f32") + x + "\ninput w: f32" + w + "\nreturn conv(x, w, padding=1)\n").value();
    EXPECT_EQ(p.units, DType::BF16) << x;
    EXPECT_EQ(p.apart.size(), 1u) << x;
    EXPECT_EQ(p.packed.size(), 1u) << x;
    EXPECT_EQ(p.inner.back(), p.nearest_inner) << x;
  }
}

TEST(ProductUnits, LeaveConvolutionsOfFewChannelsToThreads) {
  const auto p = product_of("input x: f32[32, 32, 56, 56]\ninput w: f32[16, 32, 3, 3]\nreturn conv(x, w, padding=1)\n");
  EXPECT_FALSE(p && p->units);
}

// 128 tiles for 132 multiprocessors; where there are many tiles for each, the usual ones.
TEST(ProductUnits, TakeTilesThatFillMultiprocessorsEvenly) {
  const auto columns_of = [](const char* sizes) {
    return product_of("input a: bf16[" + std::string(sizes) + "]\nreturn a @ b.T").value().tile_columns;
  };
  EXPECT_EQ(columns_of("2048, 4608]\ninput b: bf16[1152, 4608"), 144);
  EXPECT_EQ(columns_of("4096, 3072]\ninput b: bf16[768, 3072"), 192);
  EXPECT_EQ(columns_of("8192, 8192]\ninput b: bf16[8192, 8192"), 256);
  // Neighbours along the columns come 64 at a time.
  EXPECT_EQ(product_of("input a: bf16[2048, 4608]\ninput b: bf16[4608, 1152]\nreturn a @ b").value().tile_columns % 64,
            0);
}

}  // namespace
}  // namespace smelt::schedule
