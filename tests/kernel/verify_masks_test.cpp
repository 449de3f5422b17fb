// What a condition says of an index, to the element: every comparison, both ways round, itself and
// its negation, as a mask, as the condition of an If and of an Each, and with quotients.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "kernel/kernel.hpp"
#include "samples.hpp"
#include "smelt/error.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr i = sym("i0"_loop);
constexpr int64_t kExtent = 24;  // 0 <= i < this

using Condition = std::function<ExprId(Sample&)>;
enum class Guard { Mask, If, Each };

// Whether it is proved that in[at] lies inside of in[dim] where the condition holds.
bool proved(const Condition& condition, const IntExpr& at, const IntExpr& dim, Guard guard = Guard::Mask) {
  Sample s;
  if (const auto size = dim.as_symbol()) s.size(*size);
  const int in = s.input(DType::F32, {dim}), out = s.output(DType::F32, {kExtent});
  const ExprId holds = condition(s);
  const Access to{false, out, {i}};
  if (guard == Guard::Mask)
    s.phase(grid("i0"_loop, kExtent, {store(to, s.load(in, {at}, holds, s.f32(0)))}));
  else if (guard == Guard::If)
    s.phase(grid("i0"_loop, kExtent, {when(holds, {store(to, s.load(in, {at}))})}));
  else
    s.phase(grid("g"_loop, 1, {each("i0"_loop, kExtent, holds, {store(to, s.load(in, {at}))}, 4)}));
  try {
    verify(s.kernel);
    return true;
  } catch (const InternalError&) {
    return false;
  }
}

bool compare(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::Eq: return a == b;
    default: return a != b;
  }
}
constexpr Op kComparisons[] = {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};

// A comparison of left(i) with a number, or the other way round, negated so many times.
struct Comparison {
  Op op;
  bool swapped;
  int negations;
  int64_t with;
  int64_t divisor = 1;

  Condition text() const {
    return [*this](Sample& s) {
      const ExprId left = s.build.index(floordiv(i, divisor)), right = s.build.index(with);
      ExprId e = swapped ? s.build.apply(op, {right, left}) : s.build.apply(op, {left, right});
      for (int n = 0; n < negations; ++n) e = s.build.apply(Op::Not, {e});
      return e;
    };
  }
  bool holds(int64_t at) const {
    const int64_t left = at / divisor;
    return (swapped ? compare(op, with, left) : compare(op, left, with)) != (negations % 2 == 1);
  }
  // The smallest and the largest i for which it holds.
  std::optional<std::pair<int64_t, int64_t>> range() const {
    std::optional<std::pair<int64_t, int64_t>> r;
    for (int64_t at = 0; at < kExtent; ++at)
      if (holds(at)) r = {r ? r->first : at, at};
    return r;
  }
  // Whether it holds between its smallest and its largest i only, which an inequality can say; !=
  // has a hole.
  bool is_a_range() const { return (op != Op::Eq && op != Op::Ne) || (op == Op::Eq) == (negations % 2 == 0); }
  std::string str() const {
    return fmt::format("{} of %i0 // {} and {}{}, negated {} times", name_of(op), divisor, with,
                       swapped ? ", swapped" : "", negations);
  }
};

template <class Visit>
void for_all_comparisons(int64_t divisor, const Visit& visit) {
  for (const Op op : kComparisons)
    for (const bool swapped : {false, true})
      for (const int negations : {0, 1, 2})
        for (const int64_t with : {1, 5, 7}) visit(Comparison{op, swapped, negations, with, divisor});
}

// in[i - first] of an array that ends after `last`: nothing less will do at either end.
TEST(VerifyMasks, EveryComparisonSaysWhatHoldsToTheElement) {
  for_all_comparisons(1, [](const Comparison& c) {
    if (!c.is_a_range()) return;
    const auto [first, last] = *c.range();
    for (const Guard guard : {Guard::Mask, Guard::If, Guard::Each}) {
      SCOPED_TRACE(fmt::format("{}, guard {}", c.str(), static_cast<int>(guard)));
      EXPECT_TRUE(proved(c.text(), i - first, last - first + 1, guard));
      EXPECT_FALSE(proved(c.text(), i - first, last - first, guard)) << "one short";
      EXPECT_FALSE(proved(c.text(), i - first - 1, last - first + 1, guard)) << "one before";
    }
  });
}

TEST(VerifyMasks, WhatHasAHoleSaysNothingOfItsEnds) {
  for_all_comparisons(1, [](const Comparison& c) {
    if (c.is_a_range()) return;
    EXPECT_TRUE(proved(c.text(), i, kExtent)) << c.str();
    EXPECT_FALSE(proved(c.text(), i, kExtent - 1)) << c.str();
    EXPECT_FALSE(proved(c.text(), i - 1, kExtent)) << c.str();
  });
}

TEST(VerifyMasks, QuotientsToTheElement) {
  for (const int64_t divisor : {2, 3, 4})
    for_all_comparisons(divisor, [](const Comparison& c) {
      const auto range = c.range();
      if (!c.is_a_range() || !range) return;
      const auto [first, last] = *range;
      EXPECT_TRUE(proved(c.text(), i - first, last - first + 1)) << c.str();
      EXPECT_FALSE(proved(c.text(), i - first, last - first)) << c.str() << ": one short";
      EXPECT_FALSE(proved(c.text(), i - first - 1, last - first + 1)) << c.str() << ": one before";
    });
}

// The index is a quotient, too: of upsampled rows with padding around them.
TEST(VerifyMasks, QuotientsAsIndices) {
  const IntExpr half = floordiv(i, 2);
  for (const int64_t pad : {0, 1, 2, 3})
    for (const int64_t dim : {1, 4, 7, 12}) {
      const auto between = [&](int64_t low, int64_t high) {
        return [=](Sample& s) { return s.both(s.at_least(half, low), s.less(half, high)); };
      };
      EXPECT_TRUE(proved(between(pad, pad + dim), half - pad, dim)) << pad << " " << dim;
      if (pad > 0) {
        EXPECT_FALSE(proved(between(pad - 1, pad + dim), half - pad, dim)) << pad << " " << dim;
      }
      if (pad + dim < 12) {
        EXPECT_FALSE(proved(between(pad, pad + dim + 1), half - pad, dim)) << pad << " " << dim;
      }
    }
}

TEST(VerifyMasks, AndOrAndTheirNegations) {
  const auto low = [](Sample& s) { return s.at_least(i, 3); };
  const auto high = [](Sample& s) { return s.less(i, 9); };
  const auto no = [](Sample& s, ExprId e) { return s.build.apply(Op::Not, {e}); };
  const auto either = [](Sample& s, ExprId a, ExprId b) { return s.build.apply(Op::Or, {a, b}); };
  const auto inside = [&](const Condition& c) { return proved(c, i - 3, 6); };
  EXPECT_TRUE(inside([&](Sample& s) { return s.both(low(s), high(s)); }));
  EXPECT_TRUE(inside([&](Sample& s) { return no(s, no(s, s.both(low(s), high(s)))); }));
  EXPECT_TRUE(inside([&](Sample& s) { return no(s, either(s, no(s, low(s)), no(s, high(s)))); }));
  EXPECT_FALSE(inside([&](Sample& s) { return either(s, low(s), high(s)); }));
  EXPECT_FALSE(inside([&](Sample& s) { return no(s, s.both(no(s, low(s)), no(s, high(s)))); }));
  EXPECT_FALSE(inside([&](Sample& s) { return no(s, either(s, s.at_least(i, 12), s.less(i, 9))); }));
  EXPECT_FALSE(inside([&](Sample& s) { return no(s, s.both(low(s), high(s))); }));
  EXPECT_FALSE(inside([&](Sample& s) { return s.both(low(s), no(s, high(s))); }));
}

// A size in place of a number.
TEST(VerifyMasks, AgainstASize) {
  const IntExpr N = sym("N"_size);
  const auto compared = [&](Op op, const IntExpr& with) {
    return [=](Sample& s) { return s.build.apply(op, {s.build.index(i), s.build.index(with)}); };
  };
  EXPECT_TRUE(proved(compared(Op::Lt, N), i, N));
  EXPECT_FALSE(proved(compared(Op::Le, N), i, N));
  EXPECT_TRUE(proved(compared(Op::Le, N - 1), i, N));
  EXPECT_FALSE(proved(compared(Op::Lt, N + 1), i, N));
  EXPECT_FALSE(proved(compared(Op::Gt, N), i, N));
  EXPECT_FALSE(proved(compared(Op::Ne, N), i, N));
  EXPECT_TRUE(proved(compared(Op::Eq, N - 1), i, N));
  EXPECT_FALSE(proved(compared(Op::Eq, N), i, N));
}

// A store that is masked, and whose mask is off by one.
TEST(VerifyMasks, OfStores) {
  for (const Op op : kComparisons) {
    const int64_t with = op == Op::Le ? 5 : op == Op::Lt ? 6 : 3;
    for (const int64_t off : {0, 1}) {
      Sample s;
      const int out = s.output(DType::F32, {6});
      const ExprId mask = s.build.apply(op, {s.build.index(i), s.build.index(with + off)});
      s.phase(grid("i0"_loop, kExtent, {store({false, out, {i}}, s.f32(1), mask)}));
      bool passes = true;
      try {
        verify(s.kernel);
      } catch (const InternalError&) {
        passes = false;
      }
      EXPECT_EQ(passes, op == Op::Eq || (off == 0 && (op == Op::Lt || op == Op::Le))) << name_of(op) << " " << off;
    }
  }
}

}  // namespace
}  // namespace smelt::kernel
