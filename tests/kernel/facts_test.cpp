// What follows from loops and masks, and that nothing false does.
#include "kernel/facts.hpp"
#include "support/symbols.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace smelt::kernel {
namespace {

const IntExpr B = sym("B"_size), C = sym("C"_size), i = sym("i"_loop), j = sym("j"_loop);

TEST(Facts, ALoopThatRunsSaysThatItsSizesAreNotZero) {
  Facts facts;
  EXPECT_FALSE(facts.proves(B - 1));
  EXPECT_TRUE(facts.proves(B)) << "no size is negative";
  facts.add_range("i"_loop, B * C);
  EXPECT_TRUE(facts.proves(B - 1));
  EXPECT_TRUE(facts.proves(C - 1));
  EXPECT_FALSE(facts.proves(sym("D"_size) - 1));
  Facts blocks;
  blocks.add_range("i"_loop, ceildiv(B, 8));
  EXPECT_TRUE(blocks.proves(B - 1));
  EXPECT_TRUE(blocks.proves(B + 7 - i * 8 - 1));
  Facts tiles;
  tiles.add_range("i"_loop, ceildiv(C, 64) * B);
  EXPECT_TRUE(tiles.proves(B - 1));
  EXPECT_FALSE(tiles.proves(sym("D"_size) - 1));
  Facts either;
  either.add_range("i"_loop, B + C);
  EXPECT_FALSE(either.proves(B - 1));
  EXPECT_TRUE(either.proves(B + C - 1));
}

TEST(Facts, MinimaAndMaximaBoundBothSides) {
  Facts facts;
  facts.add_range("i"_loop, C);
  facts.add(i - max(0, B - j));
  facts.add(min(C - 2, B + 5) - i);
  EXPECT_TRUE(facts.proves(i - B + j));
  EXPECT_TRUE(facts.proves(B + 5 - i));
  EXPECT_TRUE(facts.proves(C - 2 - i));
  EXPECT_FALSE(facts.proves(B - j - i));
  EXPECT_FALSE(facts.proves(i - 1));
  EXPECT_FALSE(facts.proves(C - 3 - i));
}

TEST(Facts, TheInnermostBoundIsTakenApartHoweverMuchIsKnown) {
  for (const int known : {0, 4, 8, 12}) {
    SCOPED_TRACE(known);
    const IntExpr D = sym("D"_size);
    Facts facts;
    facts.add_range("i"_loop, C);
    for (int n = 0; n < known; ++n)
      facts.add(min(sym(Symbol::size(fmt::format("P{}", n))), sym(Symbol::size(fmt::format("Q{}", n)))) - n - 2);
    facts.add(min(floordiv(2 * B - 2 * mod(i, 3) + 1, 4), min(floordiv(C - j, 3), C - 7)) - 1 - D);
    facts.add(D - max(max(2, B - C), 3 - floordiv(B, 3)));
    EXPECT_TRUE(facts.proves(B - mod(i, 3) - 2 - 2 * D));
    EXPECT_TRUE(facts.proves(C - j - 3 - 3 * D));
    EXPECT_TRUE(facts.proves(C - 8 - D));
    EXPECT_TRUE(facts.proves(D - B + C));
    EXPECT_FALSE(facts.proves(B - mod(i, 3) - 3 - 2 * D));
    EXPECT_FALSE(facts.proves(C - j - 4 - 3 * D));
    EXPECT_FALSE(facts.proves(D - 3));
  }
}

TEST(Facts, WhatIsGivenCountsHoweverMuchIsKnown) {
  Facts facts;
  facts.add_range("i"_loop, C);
  for (int n = 0; n < 60; ++n)
    facts.add(min(floordiv(B + n, 6), min(floordiv(C + n, 6), C)) -
              floordiv(sym(Symbol::size(fmt::format("P{}", n))), 5));
  const IntExpr m = mod(256 * j + 2, 6);
  EXPECT_FALSE(facts.proves(4 * m - 5));
  facts.add(4 * m - 5);
  EXPECT_TRUE(facts.proves(4 * m - 5));
  EXPECT_TRUE(facts.proves(B - floordiv(sym("P0"_size), 5)));
}

TEST(Facts, WhatWasProvedIsKeptForPlacesWhereTheSameIsKnown) {
  Proved proved;
  const auto facts = [&](const IntExpr& rows, const IntExpr& mask) {
    Facts known({}, &proved);
    known.add_range("i"_loop, rows);
    known.add(mask);
    return known;
  };
  for (int time = 0; time < 2; ++time) {
    EXPECT_TRUE(facts(B, i - 3).proves(B - 4));
    EXPECT_FALSE(facts(B, i - 2).proves(B - 4)) << "another mask";
    EXPECT_FALSE(facts(C, i - 3).proves(B - 4)) << "another loop";
    Facts more = facts(B, i - 2);
    EXPECT_FALSE(more.proves(B - 4));
    more.add(i - 3);
    EXPECT_TRUE(more.proves(B - 4)) << "what was not proved before more was known";
  }
}

TEST(Facts, Combine) {
  Facts facts;
  facts.add_range("i"_loop, B * 2);
  facts.add(B - 1 - floordiv(i, 2));
  facts.add(i - 3);
  EXPECT_TRUE(facts.proves(i - 3));
  EXPECT_FALSE(facts.proves(i - 4));
  EXPECT_TRUE(facts.proves(B * C - 1 - floordiv(i, 2) * C - (C - 1))) << "a fact taken C times";
  Facts two;
  two.add_range("i"_loop, 100);
  two.add_range("j"_loop, 100);
  two.add(B - i - 1);
  two.add(C - j - 1);
  EXPECT_TRUE(two.proves(B + C - i - j - 2));
  EXPECT_FALSE(two.proves(B + C - i - j - 3));
  two.add(20 - i - j);
  EXPECT_TRUE(two.proves(20 - i));
  EXPECT_FALSE(two.proves(19 - i));
}

TEST(Facts, DigitsOfAnIndexInARowOfUnknownLength) {
  const IntExpr rows = floordiv(B, 2) + 1, q = floordiv(floordiv(i, C), rows);
  Facts facts;
  facts.add_range("i"_loop, rows * C * 40);
  EXPECT_TRUE(facts.proves(39 - q));
  EXPECT_TRUE(facts.proves(9 - floordiv(floordiv(q, 5), 4) * 5 - mod(q, 5)));
  EXPECT_FALSE(facts.proves(8 - floordiv(floordiv(q, 5), 4) * 5 - mod(q, 5)));
  EXPECT_FALSE(facts.proves(mod(q, 5) - 1));
}

TEST(Facts, LaunchSizesByTheirValues) {
  Facts facts({{"chunk"_launch, ceildiv(B, sym("threads"_launch))}});
  facts.add_range("i"_loop, sym("threads"_launch));
  facts.add_range("j"_loop, sym("chunk"_launch));
  EXPECT_TRUE(facts.proves(B - 1)) << "a chunk that runs is not empty";
  EXPECT_TRUE(facts.proves(sym("threads"_launch) * sym("chunk"_launch) - 1 - i * sym("chunk"_launch) - j));
  EXPECT_FALSE(facts.proves(B - 1 - i * sym("chunk"_launch) - j)) << "the last chunk may be shorter";
}

TEST(Facts, OffsetsInAnArrayOfMergedAxes) {
  // Four rows at a time of a part of an axis, in arrays of which another axis may be merged in.
  for (const int64_t inner : {1, 3, 8})
    for (const int64_t rows : {1, 4}) {
      SCOPED_TRACE(fmt::format("{} rows of {}", rows, inner));
      const IntExpr parts = sym("parts"_launch), part = sym("part"_launch), N = sym("N"_size), g = sym("g"_loop),
                    q = sym("q"_loop);
      const IntExpr wanted = max(1, min(1024, ceildiv(N, 256)));
      Facts facts({{"part"_launch, ceildiv(ceildiv(N, wanted), 4) * 4}, {"parts"_launch, ceildiv(N, part)}});
      facts.add_range("g"_loop, parts * B * C);
      facts.add_range("q"_loop, floordiv(min(part, N - part * mod(g, parts)), rows));
      facts.add_range("i"_loop, inner);
      const IntExpr row = part * mod(g, parts) + rows * q, outer = floordiv(g, parts);
      for (int64_t r = 0; r < rows; ++r) {
        const IntExpr offset =
            ((floordiv(outer, C) * N + row + r) * C + mod(outer, C)) * inner + (inner > 1 ? i : IntExpr(0));
        EXPECT_TRUE(facts.proves(B * C * N * inner - 1 - offset)) << r;
        EXPECT_EQ(facts.proves(B * C * N * inner - 2 - offset), r < rows - 1) << r;
      }
    }
}

TEST(Facts, ProductsOfSizesThatAreNotSmall) {
  Facts facts;
  facts.add_range("i"_loop, ceildiv(C - 2, 64) * (B - 1));
  facts.add_range("j"_loop, min(C - 2 - mod(i, ceildiv(C - 2, 64)) * 64, 64));
  EXPECT_TRUE(facts.proves(B - 2)) << "no factor of a product that is positive is below 1";
  EXPECT_TRUE(facts.proves((B - 1) * (C - 2) - 1));
  EXPECT_FALSE(facts.proves((B - 1) * (C - 2) - 2));
  EXPECT_FALSE(facts.proves(B - 3));
}

TEST(Facts, CommonFactorsRoundToTheElement) {
  for (const int64_t factor : {2, 3, 5})
    for (int64_t rest = 1; rest <= 23; ++rest) {
      SCOPED_TRACE(std::to_string(factor) + " * i and " + std::to_string(rest));
      const int64_t least = (rest + factor - 1) / factor, most = rest / factor;
      Facts low, high;
      low.add_range("i"_loop, 100);
      low.add(i * factor - rest);  // i >= rest / factor
      EXPECT_TRUE(low.proves(i - least));
      EXPECT_FALSE(low.proves(i - least - 1));
      high.add_range("i"_loop, 100);
      high.add(rest - i * factor);
      EXPECT_TRUE(high.proves(most - i));
      EXPECT_FALSE(high.proves(most - 1 - i));
    }
}

TEST(Facts, QuotientsToTheElement) {
  for (const int64_t divisor : {2, 3, 8})
    for (const int64_t bound : {0, 1, 4}) {
      SCOPED_TRACE("i // " + std::to_string(divisor) + " and " + std::to_string(bound));
      Facts low, high;
      low.add_range("i"_loop, 100);
      low.add(floordiv(i, divisor) - bound);
      EXPECT_TRUE(low.proves(i - bound * divisor));
      EXPECT_FALSE(low.proves(i - bound * divisor - 1));
      high.add_range("i"_loop, 100);
      high.add(bound - floordiv(i, divisor));
      EXPECT_TRUE(high.proves(bound * divisor + divisor - 1 - i));
      EXPECT_FALSE(high.proves(bound * divisor + divisor - 2 - i));
      // And the other way round.
      Facts index;
      index.add_range("i"_loop, 100);
      index.add(bound * divisor + divisor - 1 - i);
      EXPECT_TRUE(index.proves(bound - floordiv(i, divisor)));
      EXPECT_FALSE(index.proves(bound - 1 - floordiv(i, divisor)));
    }
}

TEST(Facts, NothingFalseFollows) {
#ifdef __OPTIMIZE__
  constexpr unsigned kSeeds = 400;
#else
  constexpr unsigned kSeeds = 100;  // all of them take a minute
#endif
  unsigned claims = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 engine(seed);
    auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine); };
    const std::vector<IntExpr> extents = {B,
                                          C,
                                          B * C,
                                          B + C,
                                          ceildiv(B, 3),
                                          min(B, C + 1),
                                          IntExpr(4),
                                          B - 1,
                                          floordiv(B, 2),
                                          ceildiv(C, 3) * (B - 1),
                                          C - 2,
                                          B - 3 * mod(C, 2)};
    auto extent = [&] { return extents[static_cast<size_t>(number(0, static_cast<int>(extents.size()) - 1))]; };
    auto linear = [&] {
      IntExpr e = number(-4, 4);
      for (const IntExpr& s : {B, C, i, j})
        if (number(0, 2) == 0) e = e + s * number(-2, 2);
      if (number(0, 3) == 0)
        e = e + (number(0, 1) ? floordiv(i, number(2, 3)) : mod(i + j, number(2, 3))) * number(-1, 2);
      if (number(0, 5) == 0) e = e + i * C * number(-1, 1);
      return e;
    };
    const IntExpr first = extent(), second = extent();
    std::vector<IntExpr> masks;
    for (int m = number(0, 3); m > 0; --m) masks.push_back(linear());
    if (number(0, 3) == 0) masks.push_back(linear() - max(linear(), linear()));
    if (number(0, 3) == 0) masks.push_back(min(linear(), linear()) - linear());
    Facts facts;
    facts.add_range("i"_loop, first);
    facts.add_range("j"_loop, second);
    for (const IntExpr& m : masks) facts.add(m);

    std::vector<IntExpr> proved;
    for (int goal = 0; goal < 12; ++goal) {
      IntExpr e = linear() + (masks.empty() || number(0, 1) ? IntExpr(0) : masks[0]);
      if (number(0, 3) == 0) e = (B - number(0, 3)) * (C - number(0, 3)) - number(-1, 4);
      if (facts.proves(e)) proved.push_back(e);
    }
    claims += static_cast<unsigned>(proved.size());
    for (int64_t b = 0; b < 6; ++b)
      for (int64_t c = 0; c < 6; ++c) {
        std::map<Symbol, int64_t> v = {{"B"_size, b}, {"C"_size, c}};
        const int64_t rows = first.evaluate(v), columns = second.evaluate(v);
        for (v["i"_loop] = 0; v["i"_loop] < rows; ++v["i"_loop])
          for (v["j"_loop] = 0; v["j"_loop] < columns; ++v["j"_loop]) {
            const bool here =
                std::all_of(masks.begin(), masks.end(), [&](const auto& m) { return m.evaluate(v) >= 0; });
            for (const IntExpr& e : proved)
              ASSERT_TRUE(!here || e.evaluate(v) >= 0)
                  << "seed " << seed << ": " << e.str() << " is negative at B=" << b << " C=" << c
                  << " i=" << v["i"_loop] << " j=" << v["j"_loop] << ", loops " << first.str() << ", " << second.str();
          }
      }
  }
  EXPECT_GT(claims, kSeeds / 4 * 3);
}

}  // namespace
}  // namespace smelt::kernel
