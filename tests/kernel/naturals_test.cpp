// Which numerators are never below 0, and what verify() makes of others.
#include "kernel/naturals.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr i = sym("i"_loop), j = sym("j"_loop), S = sym("S"_size);

// out[i] = in[at] for i < 960; another loop, over j < 4, stores what `beside` is.
struct Divided {
  Sample s;
  explicit Divided(const IntExpr& at, const IntExpr& beside = 0) {
    s.size("S"_size);
    const int in = s.input(DType::F32, {1 << 20}), out = s.output(DType::F32, {960}), other = s.output(DType::I64, {4});
    s.phase(grid("g"_loop, 1,
                 {serial("i"_loop, 960, {store({false, out, {i}}, s.load(in, {at}))}),
                  serial("j"_loop, 4, {store({false, other, {j}}, s.build.index(beside))})}));
  }
  std::set<IntExpr> found() {
    find_naturals(s.kernel);
    return s.kernel.phases[0].naturals;
  }
};

TEST(FindNaturals, WhatTheRangesOfLoopsSay) {
  Divided x(floordiv(i, 7) + mod(i + S, 99)), none(3 * i);
  EXPECT_EQ(changes(x.s.kernel, find_naturals), (Lines{"+ naturals %i, %i + S"}));
  EXPECT_EQ(changes(none.s.kernel, find_naturals), Lines{});
  EXPECT_EQ(Divided(mod(i - S, 99)).found(), std::set<IntExpr>{}) << "it may be below 0";
}

TEST(FindNaturals, InsideOfNumeratorsAndWithLocalSizes) {
  EXPECT_EQ(Divided(mod(floordiv(i, 7) - S, 5)).found(), std::set<IntExpr>{i});
  EXPECT_EQ(Divided(0, mod(j + 2, 3)).found(), std::set<IntExpr>{j + 2}) << "what is no index of an array";
}

TEST(FindNaturals, TheLongestOfTheLoopsOverAVariableCounts) {
  Divided x(floordiv(S - i, 7));
  auto& body = grid_body(x.s.kernel);
  body[0].get<Loop>().extent = S;
  EXPECT_EQ(x.found(), std::set<IntExpr>{S - i});
  body.push_back(serial("i"_loop, S + 2, {}));
  EXPECT_EQ(x.found(), std::set<IntExpr>{});
}

TEST(VerifyNaturals, WhatMayBeBelowZero) {
  Divided x(mod(i + 500, 99));
  x.found();
  EXPECT_EQ(fault(x.s.kernel), "");
  x.s.kernel.phases[0].naturals.insert(i - 3);
  EXPECT_NE(fault(x.s.kernel).find("%i - 3 may be below 0"), std::string::npos) << fault(x.s.kernel);
}

}  // namespace
}  // namespace smelt::kernel
