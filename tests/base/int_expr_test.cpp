// Integer expressions: canonical form, Python's division, and proofs that are never wrong.
#include "base/int_expr.hpp"

#include <gtest/gtest.h>

#include <random>

#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt {
namespace {

using testing::message_of;

const IntExpr B = sym("B"_size), C = sym("C"_size), i = sym("i"_loop), j = sym("j"_loop);
const Ranges kLoops = {{"i"_loop, {0, B - 1}}, {"j"_loop, {0, C - 1}}};

TEST(IntExpr, EqualExpressionsAreEqualValues) {
  EXPECT_EQ((B + C) * (B - C), B * B - C * C);
  EXPECT_EQ(B + 2 + C - B, C + 2);
  EXPECT_EQ((B - B), IntExpr(0));
  EXPECT_EQ(C * B * 2, B * 2 * C);
  EXPECT_EQ(floordiv(i * 4 + j, 3), floordiv(j + i * 4, 3));
  EXPECT_FALSE(B == C);
  EXPECT_EQ(-(-B), B);
  EXPECT_TRUE(IntExpr(0).is(0));
  EXPECT_FALSE((B + 1).constant());
}

TEST(IntExpr, Text) {
  EXPECT_EQ(IntExpr(0).str(), "0");
  EXPECT_EQ(IntExpr(-7).str(), "-7");
  EXPECT_EQ((B + 1).str(), "B + 1");
  EXPECT_EQ((i * 2 - j - 3).str(), "2*%i - %j - 3");
  EXPECT_EQ((IntExpr(INT64_MIN)).str(), "-9223372036854775808");
}

TEST(IntExpr, OrderIsTotal) {
  const std::vector<IntExpr> all = {IntExpr(0), IntExpr(1), IntExpr(-3),    B,        C, B + 1,
                                    B * C,      B * 2,      floordiv(B, 3), mod(B, 3)};
  for (const auto& a : all)
    for (const auto& b : all) {
      EXPECT_EQ((a < b) + (b < a) + (a == b), 1) << a.str() << " and " << b.str();
      for (const auto& c : all) EXPECT_TRUE(!(a < b && b < c) || a < c);
    }
}

TEST(IntExpr, Coefficients) {
  const IntExpr e = i * C + j * 3 + 7;
  EXPECT_EQ(*e.coefficient_of("i"_loop), C);
  EXPECT_EQ(*e.coefficient_of("j"_loop), IntExpr(3));
  EXPECT_EQ(*e.coefficient_of("absent"_size), IntExpr(0));
  EXPECT_FALSE((i * i).coefficient_of("i"_loop));
  EXPECT_FALSE(floordiv(i, 2).coefficient_of("i"_loop));
}

TEST(IntExpr, Symbols) {
  EXPECT_EQ((B + floordiv(i * C, 7) + B).symbols().size(), 3u);
  EXPECT_TRUE(floordiv(i * C, 7).mentions("C"_size));
  EXPECT_FALSE(floordiv(i * C, 7).mentions("B"_size));
  EXPECT_EQ(*sym("B"_size).as_symbol(), "B"_size);
  EXPECT_FALSE((B * 2).as_symbol());
  EXPECT_FALSE((B * C).as_symbol());
}

TEST(IntExpr, Overflow) {
  const IntExpr big = int64_t{1} << 62;
  EXPECT_EQ(message_of([&] { big + big; }), "a size does not fit 64 bits: 4611686018427387904 + 4611686018427387904");
  EXPECT_EQ(message_of([&] { big * 2; }), "a size does not fit 64 bits: 4611686018427387904 * 2");
  EXPECT_EQ(message_of([&] {
              (B * C).evaluate({{"B"_size, int64_t{1} << 40}, {"C"_size, int64_t{1} << 40}});
            }),
            "a size does not fit 64 bits: 1099511627776 * 1099511627776");
  EXPECT_EQ((B * C).evaluate({{"B"_size, 1 << 20}, {"C"_size, int64_t{1} << 40}}), int64_t{1} << 60);
  EXPECT_EQ(message_of<InternalError>([&] { B.evaluate(std::map<Symbol, int64_t>{}); }),
            "internal error in smelt: size B has no value");
}

TEST(IntExpr, DivisionIsThatOfPython) {
  const struct {
    int64_t a, b, quotient, remainder;
  } cases[] = {{7, 3, 2, 1}, {-7, 3, -3, 2}, {7, -3, -3, -2}, {-7, -3, 2, -1}, {-6, 3, -2, 0},
               {6, 1, 6, 0}, {0, 5, 0, 0},   {-1, 5, -1, 4},  {1, 5, 0, 1},    {INT64_MIN, 2, INT64_MIN / 2, 0}};
  for (const auto& c : cases) {
    if (c.b > 0) {
      EXPECT_TRUE(floordiv(c.a, c.b).is(c.quotient)) << c.a << " // " << c.b;
      EXPECT_TRUE(mod(c.a, c.b).is(c.remainder)) << c.a << " % " << c.b;
    }
    EXPECT_EQ(floordiv(sym("x"_size), sym("y"_size)).evaluate({{"x"_size, c.a}, {"y"_size, c.b}}), c.quotient)
        << c.a << " // " << c.b;
    EXPECT_EQ(mod(sym("x"_size), sym("y"_size)).evaluate({{"x"_size, c.a}, {"y"_size, c.b}}), c.remainder)
        << c.a << " % " << c.b;
  }
}

TEST(IntExpr, DivisionSimplifies) {
  EXPECT_EQ(floordiv(i * C + j, C, kLoops), i);
  EXPECT_EQ(mod(i * C + j, C, kLoops), j);
  EXPECT_EQ(floordiv(j, C, kLoops), IntExpr(0));
  EXPECT_EQ(floordiv(B * 12, 4), B * 3);
  EXPECT_EQ(mod(B * 12, 4), IntExpr(0));
  EXPECT_EQ(floordiv(j - C, C, kLoops), IntExpr(-1));
  EXPECT_EQ(ceildiv(B * 8, 8), B);
  EXPECT_EQ(floordiv(B * 2 + 1, 16), floordiv(B, 8));
  EXPECT_EQ(mod(B * 2 + 1, 16), mod(B, 8) * 2 + 1);
  EXPECT_EQ(floordiv(B * 8 + 8191, 8192), floordiv(B + 1023, 1024));
  EXPECT_EQ(floordiv(B * -6 - 1, 12), floordiv(-B - 1, 2));
  EXPECT_EQ(min(i, B, kLoops), i);
  EXPECT_EQ(max(i, B, kLoops), B);
  EXPECT_EQ(min(i + 3, i + 5), i + 3);
  EXPECT_EQ(min(B, C), min(C, B));
  // Pieces that follow one another: the first of their starts, the last of their ends.
  IntExpr starts = 8192, ends = 0;
  for (int k = 50; k-- > 0;) starts = min(B - i + 3 * k, starts), ends = max(B - i + 3 * k, ends);
  EXPECT_EQ(starts, min(8192, B - i));
  EXPECT_EQ(ends, max(0, B - i + 147));
  EXPECT_EQ(min(min(B, C), min(B + 1, C - 1)), min(B, C - 1));
  EXPECT_EQ(max(min(B, C), min(B + 1, C)).str(), max(min(B + 1, C), min(B, C)).str());
}

TEST(IntExpr, TheNearestMultipleComesOutOfATerm) {
  const Ranges within{{"j"_loop, {0, 4}}};
  EXPECT_EQ(floordiv(j * 4 + 4, 5, within), j);
  EXPECT_EQ(mod(j * 4 + 4, 5, within), IntExpr(4) - j);
  EXPECT_EQ(floordiv(j * 6, 5, within), j);
  EXPECT_EQ(mod(j * 6 + B * 5, 5, within), j);
  EXPECT_EQ(floordiv(j * 9 + 4, 5, within), j * 2 + floordiv(IntExpr(4) - j, 5, within));
  // A sum that does not fit the remainder stays as it is.
  const Ranges wide{{"j"_loop, {0, 5}}};
  for (const IntExpr& a : {j * 4 + 4, j * 6})
    for (int64_t v = 0; v <= 5; ++v) {
      EXPECT_EQ(floordiv(a, 5, wide).evaluate({{"j"_loop, v}}), a.evaluate({{"j"_loop, v}}) / 5);
      EXPECT_EQ(mod(a, 5, wide).evaluate({{"j"_loop, v}}), a.evaluate({{"j"_loop, v}}) % 5);
    }
}

TEST(IntExpr, Recombine) {
  EXPECT_EQ(recombine(floordiv(i, 4) * 4 + mod(i, 4)), i);
  EXPECT_EQ(recombine(floordiv(i + j, 4) * 8 + mod(i + j, 4) * 2 + 5), (i + j) * 2 + 5);
  EXPECT_EQ(recombine(floordiv(i, C) * C * B + mod(i, C) * B), i * B);
  // Partners that do not fit stay.
  const IntExpr other = floordiv(i, 4) * 4 + mod(i, 3);
  EXPECT_EQ(recombine(other), other);
  const IntExpr halves = floordiv(i, 4) * 2 + mod(i, 4);
  EXPECT_EQ(recombine(halves), halves);
}

TEST(IntExpr, Proofs) {
  auto proves = [](const IntExpr& e) { return proves_nonnegative(e, kLoops); };
  EXPECT_TRUE(proves(i));
  EXPECT_TRUE(proves(B - 1 - i));
  EXPECT_TRUE(proves(B * C - 1 - (i * C + j)));
  EXPECT_TRUE(proves(B * C * 4 - 1 - (i * C * 4 + j * 4 + 3)));
  EXPECT_FALSE(proves(B - 2 - i));
  EXPECT_FALSE(proves(i - 1));
  EXPECT_FALSE(proves(B * C - 1 - (i * C + j + 1)));
  EXPECT_FALSE(proves(B - C));
  EXPECT_TRUE(proves(B - 1)) << "a loop over B runs";
  EXPECT_TRUE(proves_nonnegative(B - 1, Ranges::inside_loops()));
  EXPECT_FALSE(proves_nonnegative(B - 1, {})) << "outside of loops a size may be 0";
  EXPECT_TRUE(proves_nonnegative(B, {}));

  const IntExpr flat = i * C + j;
  EXPECT_TRUE(proves(C - 1 - floordiv(flat, B)));
  EXPECT_TRUE(proves(B - 1 - mod(flat, B)));
  EXPECT_TRUE(proves(mod(flat, B)));
  EXPECT_TRUE(proves(floordiv(i, 3)));
  EXPECT_TRUE(proves(i - floordiv(i, 3) * 3));
  EXPECT_FALSE(proves(i - floordiv(i, 3) * 3 - 1));
  EXPECT_TRUE(proves(min(i, j) + 1 - 1 - min(i, j)));
  EXPECT_TRUE(proves(B - 1 - min(i, j)));
  EXPECT_FALSE(proves(B - 1 - max(i, j)));
  EXPECT_TRUE(proves(max(i, j) - j));
  EXPECT_TRUE(proves_nonnegative(ceildiv(sym("N"_size), 4) * 4 - sym("N"_size), {{"k"_loop, {0, 0}}}));
  EXPECT_FALSE(proves_nonnegative(sym("N"_size) - ceildiv(sym("N"_size), 4) * 4, {{"k"_loop, {0, 0}}}));
}

// Vectors of the elements of a row that comes in pieces, some of each element.
TEST(IntExpr, ProofsOfQuotientsOfMinima) {
  for (const int64_t parts : {2, 3, 4}) {
    const IntExpr g = sym("g"_loop), rows = floordiv(B + 2, 5);
    const IntExpr piece = min(2048 * parts, parts * rows - 2048 * parts * g);
    const Ranges ranges = {{"g"_loop, {0, ceildiv(rows, 2048) - 1}}, {"i"_loop, {0, floordiv(piece, parts) - 1}}};
    EXPECT_TRUE(proves_nonnegative(rows - 1 - 2048 * g - i, ranges));
    EXPECT_TRUE(proves_nonnegative(B - 3 - 10240 * g - 5 * i, ranges));
    EXPECT_FALSE(proves_nonnegative(rows - 2 - 2048 * g - i, ranges));
    EXPECT_FALSE(proves_nonnegative(B - 4 - 10240 * g - 5 * i, ranges));
    EXPECT_TRUE(proves_nonnegative(floordiv(max(B, parts * C), parts) - C, ranges));
    EXPECT_FALSE(proves_nonnegative(floordiv(min(B, parts * C), parts) - C, ranges));
  }
}

// Loops inside of what a proof is about: they count from 0, whatever sizes do there.
TEST(IntExpr, ProofsOfLoopsWithoutARange) {
  const Ranges inside = Ranges::inside_loops();
  for (const Symbol loop : {"w"_loop, Symbol::window(4, 1), Symbol::local(7), Symbol::gathered(5)}) {
    const IntExpr w = sym(loop);
    EXPECT_TRUE(proves_nonnegative(w, inside));
    EXPECT_FALSE(proves_nonnegative(w - 1, inside));
    EXPECT_TRUE(proves_nonnegative(B * w - w, inside));
    EXPECT_TRUE(proves_nonnegative(B * C + w * C - C, inside));
    EXPECT_FALSE(proves_nonnegative(B * w - B, inside));
    EXPECT_FALSE(proves_nonnegative(B * w + w * C - C, inside));
    EXPECT_FALSE(max(w - 1, 0, inside) == w - 1);
    EXPECT_TRUE(proves_nonnegative(w - 1, {{loop, {1, 5}}}));
  }
}

// A grid of pieces of M, over B, over 13: what the first one has left.
TEST(IntExpr, ProofsOfQuotientsOfQuotients) {
  const IntExpr pieces = ceildiv(sym("M"_size), 72);
  const Ranges ranges = {{"g"_loop, {0, pieces * B * 13 - 1}}};
  const IntExpr piece = floordiv(floordiv(sym("g"_loop), 13), B);
  EXPECT_TRUE(proves_nonnegative(sym("M"_size) - 1 - piece * 72, ranges));
  EXPECT_TRUE(proves_nonnegative(pieces - 1 - piece, ranges));
  EXPECT_FALSE(proves_nonnegative(sym("M"_size) - 2 - piece * 72, ranges));
  EXPECT_FALSE(proves_nonnegative(pieces - 2 - piece, ranges));
}

// What would take a term for each subset of the sizes.
TEST(IntExpr, ProofsOfManySizes) {
  IntExpr most = 1, all = 1;
  for (int n = 0; n < 40; ++n) {
    all = all * sym(Symbol::size("S" + std::to_string(n)));
    if (n == 20) most = all;
  }
  const Ranges inside = Ranges::inside_loops();
  EXPECT_TRUE(proves_nonnegative(all - 1, inside));
  EXPECT_FALSE(proves_nonnegative(all - 2, inside));
  EXPECT_TRUE(proves_nonnegative(all - most, inside));
  EXPECT_FALSE(proves_nonnegative(most - all, inside));
  EXPECT_FALSE(proves_nonnegative(all - most * most, inside));
  EXPECT_TRUE(proves_nonnegative(all * 3 - most * 2 - 1, inside));
  EXPECT_FALSE(proves_nonnegative(all - 1, {}));
}

// Numbers that do not fit 64 bits on the way are nobody's mistake.
TEST(IntExpr, ProofsMayOverflow) {
  const IntExpr big = int64_t{1} << 61;
  const Ranges ranges = {{"i"_loop, {0, big * B}}, {"j"_loop, {0, big}}};
  EXPECT_FALSE(proves_nonnegative(big - i * 7, ranges));
  EXPECT_FALSE(proves_nonnegative(big - i * j, ranges));
  EXPECT_FALSE(proves_nonnegative(floordiv(i * 5, 3) * 6 - j * big, ranges));
}

// ---- against brute force

struct Random {
  std::mt19937 engine;
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine); }
};

// An expression tree kept next to the IntExpr that it builds, with its own plain evaluation.
struct Tree {
  char kind;  // number 'n', symbol 's', + - * / % m(in) M(ax)
  int64_t number = 0;
  std::optional<Symbol> symbol;
  std::vector<Tree> args;

  int64_t value(const std::map<Symbol, int64_t>& values) const {
    if (kind == 'n') return number;
    if (kind == 's') return values.at(*symbol);
    const int64_t a = args[0].value(values), b = args[1].value(values);
    switch (kind) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return (a - ((a % b) + b) % b) / b;
      case '%': return ((a % b) + b) % b;
      case 'm': return std::min(a, b);
      default: return std::max(a, b);
    }
  }
  IntExpr expr(const Ranges& ranges) const {
    if (kind == 'n') return number;
    if (kind == 's') return sym(*symbol);
    const IntExpr a = args[0].expr(ranges), b = args[1].expr(ranges);
    switch (kind) {
      case '+': return a + b;
      case '-': return a - b;
      case '*': return a * b;
      case '/': return floordiv(a, b, ranges);
      case '%': return mod(a, b, ranges);
      case 'm': return min(a, b, ranges);
      default: return max(a, b, ranges);
    }
  }
};

const std::vector<Symbol> kVariables = {"i"_loop, "j"_loop, "k"_loop};
const std::vector<Symbol> kSizes = {"B"_size, "C"_size};

Tree random_divisor(Random& random) {
  if (random.number(0, 3)) return {'n', random.number(1, 6)};
  Tree size{'s', 0, kSizes[static_cast<size_t>(random.number(0, 1))]};
  if (random.number(0, 1)) return size;
  return {'*', 0, {}, {size, {'n', random.number(1, 3)}}};
}

Tree random_tree(Random& random, int depth) {
  const int64_t pick = random.number(0, depth == 0 ? 2 : 11);
  if (pick == 0) return {'n', random.number(-6, 9)};
  if (pick == 1) return {'s', 0, kSizes[static_cast<size_t>(random.number(0, 1))]};
  if (pick == 2) return {'s', 0, kVariables[static_cast<size_t>(random.number(0, 2))]};
  const char kind = "++--*//%%mM"[random.number(0, 10)];
  if (kind == '/' || kind == '%') return {kind, 0, {}, {random_tree(random, depth - 1), random_divisor(random)}};
  return {kind, 0, {}, {random_tree(random, depth - 1), random_tree(random, depth - 1)}};
}

// Calls visit for every value of sizes and variables: 0 <= %i < B, 0 <= %j < C, 0 <= %k < %i + 2.
template <class Visit>
void for_all_values(const Visit& visit) {
  for (int64_t b = 1; b <= 5; ++b)
    for (int64_t c = 1; c <= 5; ++c)
      for (int64_t x = 0; x < b; ++x)
        for (int64_t y = 0; y < c; ++y)
          for (int64_t z = 0; z < x + 2; ++z)
            visit(std::map<Symbol, int64_t>{{"B"_size, b}, {"C"_size, c}, {"i"_loop, x}, {"j"_loop, y}, {"k"_loop, z}});
}
const Ranges kNest = {{"i"_loop, {0, B - 1}}, {"j"_loop, {0, C - 1}}, {"k"_loop, {0, i + 1}}};

TEST(IntExprRandom, ValuesSurviveSimplification) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Tree tree = random_tree(random, 4);
    for (const Ranges& ranges : {Ranges{}, kNest}) {
      const IntExpr e = tree.expr(ranges), combined = recombine(e);
      for_all_values([&](const auto& values) {
        const int64_t right = tree.value(values);
        ASSERT_EQ(e.evaluate(values), right) << "seed " << seed << ": " << e.str();
        ASSERT_EQ(combined.evaluate(values), right) << "seed " << seed << ": " << combined.str();
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(IntExprRandom, Substitution) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(1000 + seed);
    const IntExpr e = random_tree(random, 3).expr({});
    const Tree by = random_tree(random, 2);
    const IntExpr replaced = e.substitute({{"i"_loop, by.expr({})}}, {});
    for_all_values([&](const auto& values) {
      auto changed = values;
      changed["i"_loop] = by.value(values);
      ASSERT_EQ(replaced.evaluate(values), e.evaluate(changed)) << "seed " << seed;
    });
    if (HasFatalFailure()) return;
  }
}

TEST(IntExprRandom, NothingFalseIsProved) {
  int proved = 0, held = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(2000 + seed);
    const Tree tree = random_tree(random, 3);
    const IntExpr base = tree.expr(kNest);
    int64_t smallest = INT64_MAX;
    for_all_values([&](const auto& values) { smallest = std::min(smallest, tree.value(values)); });
    // Shifted so that its smallest value here is 0, and one below.
    for (const int64_t low : {0, -1}) {
      const IntExpr e = base - smallest + low;
      const bool claim = proves_nonnegative(e, kNest);
      ASSERT_FALSE(claim && low < 0) << "seed " << seed << ": " << e.str() << " >= 0 is false";
      held += low == 0;
      proved += claim && low == 0;
    }
  }
  // Not all of what holds for these few sizes holds for every size, so the share has no right
  // value; but it must not fall to 0.
  RecordProperty("proved", proved);
  EXPECT_GT(proved, held / 4) << proved << " of " << held;
}

// Sizes of 1 or more: proofs are exactly those whose polynomial has no negative coefficient once
// every size is shifted by 1.
TEST(IntExprRandom, SizesAreShiftedByOne) {
  const std::vector<IntExpr> sizes = {B, C, sym("D"_size), sym("E"_size)};
  const Ranges inside = Ranges::inside_loops();
  int proved = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    Random random(17000 + seed);
    IntExpr e, shifted;
    for (int t = 0; t < 4; ++t) {
      const int64_t coefficient = random.number(-2, 3);
      IntExpr product = coefficient, written = coefficient;
      for (int f = static_cast<int>(random.number(0, 4)); f > 0; --f) {
        const IntExpr& size = sizes[static_cast<size_t>(random.number(0, 3))];
        product = product * size;
        written = written * (size + 1);
      }
      e = e + product;
      shifted = shifted + written;
    }
    bool none_negative = true;
    for (const auto& t : shifted.terms()) none_negative &= t.coefficient >= 0;
    EXPECT_EQ(proves_nonnegative(e, inside), none_negative) << "seed " << seed << ": " << e.str();
    proved += none_negative;
  }
  EXPECT_GT(proved, 500);
}

// The same where sizes may be 0 (no ranges).
TEST(IntExprRandom, NothingFalseIsProvedOfSizesAlone) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random random(9000 + seed);
    IntExpr e = random.number(-3, 3);
    for (int t = 0; t < 3; ++t) {
      IntExpr product = random.number(-3, 3);
      for (int f = static_cast<int>(random.number(0, 2)); f > 0; --f) product = product * (random.number(0, 1) ? B : C);
      e = e + product;
    }
    if (random.number(0, 2) == 0) e = e + floordiv(B, random.number(2, 4)) - mod(C, random.number(2, 4));
    if (!proves_nonnegative(e, {})) continue;
    for (int64_t b = 0; b < 8; ++b)
      for (int64_t c = 0; c < 8; ++c)
        ASSERT_GE(e.evaluate({{"B"_size, b}, {"C"_size, c}}), 0)
            << "seed " << seed << ": " << e.str() << " at " << b << ", " << c;
  }
}

}  // namespace
}  // namespace smelt
