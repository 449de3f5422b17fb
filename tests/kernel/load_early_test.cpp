// Which loads of a GPU's loops are made early, held and taken from other lanes, and what verify()
// makes of wrong ones.
#include "kernel/load_early.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "changes.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop), r = sym("r"_loop), C = sym("C"_size);

// A kernel of rows of 1024 by a team of 128 threads, 2 x 4 elements to each.
struct Rows {
  Sample s;
  int in = s.input(DType::F32, {4, 1040}), out = s.output(DType::F32, {4, 1040});
  Rows() { s.kernel.dialect = Dialect::Gpu; }

  Loop row(std::vector<Stmt> body, int lanes = 4, int unroll = 2) {
    Loop loop = vector("i"_loop, 1024, std::move(body), lanes);
    loop.unroll = unroll;
    return loop;
  }
  Stmt put(ExprId value) { return store({false, out, {g, i}}, value); }
  void phase(std::vector<Stmt> body) {
    s.phase(grid("g"_loop, 4, std::move(body)));
    s.kernel.phases[0].team = {128, 128, 0};
    shape_vector_loops(s.kernel);
  }
  Lines loaded() { return without_variants(changes(s.kernel, load_early)); }
  Loop& loop(size_t n = 0) { return grid_body(s.kernel)[n].get<Loop>(); }
  // What verify() says of accesses of the first variant that `change` has changed.
  template <class Change>
  std::string fault_of(Loop& loop, const Change& change) {
    const auto before = loop.team;
    TeamForms forms = *before;
    change(forms.accesses[0]);
    loop.team = std::make_shared<const TeamForms>(forms);
    const std::string found = fault(s.kernel);
    loop.team = before;
    return found;
  }
};

testing::AssertionResult says(const std::string& fault, const std::string& text) {
  if (!text.empty() && fault.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << fault << "\" says nothing of \"" << text << "\"";
}

TEST(LoadEarly, GroupsOfNeighboursAreOneAccess) {
  Rows x;
  x.phase({x.row({x.put(x.s.load(x.in, {g, i}))})});
  EXPECT_EQ(x.loaded(),
            (Lines{"+ fast, odd: loads early lasting groups of in0[%g, %i]", "+ any: loads early in0[%g, %i]"}));
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].alignment, (std::vector<int>{16, 4}));
}

TEST(LoadEarly, OneElementForTheLanesOfAGroup) {
  Rows x;
  x.phase({x.row({x.put(x.s.load(x.in, {g, floordiv(i, 16)}))})});
  EXPECT_EQ(x.loaded(), (Lines{"+ fast, odd: loads early one for each group of in0[%g, (%i // 16)]",
                               "+ any: loads early in0[%g, (%i // 16)]"}));
  // A group of four meets several thirds.
  Rows y;
  y.phase({y.row({y.put(y.s.load(y.in, {g, floordiv(i, 3)}))})});
  EXPECT_EQ(y.loaded(), Lines{"+ fast, odd, any: loads early in0[%g, (%i // 3)]"});
  EXPECT_TRUE(says(y.fault_of(y.loop(), [](LoopAccesses& a) { a.blocks[0].early[0].shared = true; }),
                   "read once for 4 lanes, which read several elements"));
}

TEST(LoadEarly, WhatLiesBetweenTwoWordsIsTakenFromOtherLanes) {
  Rows x;
  const ExprId sum = x.s.build.apply(Op::Add, {x.s.load(x.in, {g, i}), x.s.load(x.in, {g, i + 1})});
  x.phase({x.row({x.put(sum)})});
  EXPECT_EQ(x.loaded(), (Lines{"+ fast, odd: loads early lasting groups of in0[%g, %i], in0[%g, %i + 1]",
                               "+ any: loads early in0[%g, %i], in0[%g, %i + 1]",
                               "+ fast, odd: takes in0[%g, %i + 1] from groups of in0[%g, %i]"}));
}

// Three bytes of a pixel to each lane: twelve of four pixels are three words.
TEST(LoadEarly, LanesBetweenEachOtherAreARun) {
  Rows x;
  const int pixels = x.s.input(DType::U8, {4, 3072}), sums = x.s.output(DType::U8, {4, 1024});
  const auto channel = [&](int c) { return x.s.load(pixels, {g, 3 * i + c}); };
  const ExprId blue = channel(2), red = channel(0), green = channel(1);
  const ExprId sum = x.s.build.apply(Op::Add, {x.s.build.apply(Op::Add, {blue, red}), green});
  x.phase({x.row({store({false, sums, {g, i}}, sum)})});
  EXPECT_EQ(x.loaded(), (Lines{"+ fast, odd: loads early groups of in2[%g, 3*%i] and the 2 after it",
                               "+ any: loads early in2[%g, 3*%i + 2], in2[%g, 3*%i], in2[%g, 3*%i + 1]"}));
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].alignment[2], 4);
  EXPECT_EQ(fault(x.s.kernel), "");
  using A = LoopAccesses;
  const auto run = [](A& a) -> EarlyLoad& {
    return *std::find_if(a.blocks[0].early.begin(), a.blocks[0].early.end(), [](const EarlyLoad& e) { return e.step; });
  };
  EXPECT_TRUE(says(x.fault_of(x.loop(), [&](A& a) { std::swap(run(a).next[0], run(a).next[1]); }),
                   "which is not the element after the one before"));
  EXPECT_TRUE(says(x.fault_of(x.loop(), [&](A& a) { run(a).next.clear(); }), "made early with a load that there is"));
  EXPECT_TRUE(says(x.fault_of(x.loop(),
                              [&](A& a) {
                                for (EarlyLoad& e : a.blocks[0].early) e.follows = false;
                                run(a).next.pop_back();
                              }),
                   "no neighbours from a multiple on"));
}

TEST(LoadEarly, NoRunOfSomeElementsOrOfLargeOnes) {
  const auto loaded = [](DType t, int apart, std::vector<int> channels) {
    Rows x;
    const int pixels = x.s.input(t, {4, 8192}), sums = x.s.output(t, {4, 1024});
    ExprId sum = x.s.load(pixels, {g, apart * i + channels[0]});
    for (size_t c = 1; c < channels.size(); ++c)
      sum = x.s.build.apply(Op::Add, {sum, x.s.load(pixels, {g, apart * i + channels[c]})});
    x.phase({x.row({store({false, sums, {g, i}}, sum)})});
    return x.loaded()[0].find("groups of") != std::string::npos;
  };
  EXPECT_TRUE(loaded(DType::U8, 3, {0, 1, 2}));
  EXPECT_TRUE(loaded(DType::I16, 3, {2, 1, 0}));
  EXPECT_TRUE(loaded(DType::U8, 4, {0, 1, 2, 3}));
  EXPECT_TRUE(loaded(DType::U8, 5, {0, 1, 2, 3, 4}));
  EXPECT_FALSE(loaded(DType::U8, 3, {0, 1}));
  EXPECT_FALSE(loaded(DType::U8, 3, {1, 2, 3}));  // begin between two words
  EXPECT_FALSE(loaded(DType::F32, 3, {0, 1, 2}));
}

// What is read once is evicted last, however few bytes an access has.
TEST(LoadEarly, WhatIsReadOnceLasts) {
  for (const bool lasts : {false, true}) {
    Rows x;
    const int bytes = x.s.input(DType::U8, {4, 1024}), copy = x.s.output(DType::U8, {4, 1024});
    x.s.kernel.params[static_cast<size_t>(bytes)].lasts = lasts;
    x.phase({x.row({store({false, copy, {g, i}}, x.s.load(bytes, {g, i}))})});
    const std::string kind = lasts ? "lasting " : "";
    EXPECT_EQ(x.loaded(),
              (Lines{"+ fast, odd: loads early " + kind + "groups of in2[%g, %i]", "+ any: loads early in2[%g, %i]"}));
  }
}

TEST(LoadEarly, PassesOverARowShareThem) {
  Rows x;
  const ExprId value = x.s.load(x.in, {g, i});
  const LocalId sum = x.s.build.new_local(DType::F32, true);
  const ExprId total = x.s.build.local(sum);
  x.phase({assign(sum, x.s.f32(0)), x.row({assign(sum, x.s.build.apply(Op::Add, {total, value}))}),
           combine(sum, Op::Add), x.row({x.put(x.s.build.apply(Op::Sub, {value, total}))})});
  EXPECT_EQ(x.loaded(), (Lines{"+ fast, odd: holds lasting groups of in0[%g, %i]", "+ any: holds in0[%g, %i]"}))
      << "in the first loop, and nothing in the second";
  LoopAccesses none = x.loop(3).team->accesses[0];
  EXPECT_TRUE(none.held.empty() && none.blocks[0].early.empty());
}

TEST(LoadEarly, NotWhatTheLoopGivesItsPlace) {
  Rows x;
  const LocalId at = x.s.build.new_local(DType::I64, false);
  x.s.kernel.index_locals.push_back({at, 1040});
  const ExprId other = x.s.build.apply(Op::Min, {x.s.build.index(3 * i), x.s.build.index(1039)});
  const ExprId read = x.s.load(x.in, {g, IntExpr::symbol(Symbol::local(at))});
  x.phase({x.row({let(at, other), x.put(read)})});
  EXPECT_EQ(x.loaded(), Lines{});
}

TEST(LoadEarly, NotWhatThePhaseStoresTo) {
  Rows x;
  x.phase({x.row({x.put(x.s.load(x.out, {g, i}))})});
  EXPECT_EQ(x.loaded(), Lines{});
}

TEST(LoadEarly, MasksThatHoldForWholeGroups) {
  Rows x;
  const ExprId padded = x.s.load(x.in, {g, i - 8}, x.s.at_least(i, 8), x.s.f32(0));
  x.phase({x.row({x.put(padded)})});
  EXPECT_EQ(x.loaded(), Lines{"+ fast, odd: loads early lasting groups of in0[%g, %i - 8]"});
  Rows y;
  const ExprId crossing = y.s.load(y.in, {g, i - 2}, y.s.at_least(i, 2), y.s.f32(0));
  y.phase({y.row({y.put(crossing)})});
  EXPECT_EQ(y.loaded(), Lines{});
}

// A scale that a group of lanes has in common.
TEST(LoadEarly, MasksOfOneElementForAGroup) {
  Rows x;
  x.phase({x.row({x.put(x.s.load(x.in, {g, floordiv(i, 8)}, x.s.at_least(i, 8), x.s.f32(0)))})});
  EXPECT_EQ(x.loaded(), Lines{"+ fast, odd: loads early one for each group of in0[%g, (%i // 8)]"});
  Rows y;
  y.phase({y.row({y.put(y.s.load(y.in, {g, floordiv(i, 8)}, y.s.at_least(i, 2), y.s.f32(0)))})});
  EXPECT_EQ(y.loaded(), Lines{}) << "some lanes of a group are outside";
}

// A group is inside of rows of a length that is open, or outside, where that is a multiple of the
// lanes: as the fast variant then asks.
TEST(LoadEarly, MasksOfOpenSizes) {
  Rows x;
  const int open = x.s.input(DType::F32, {4, C});
  x.s.size("C"_size);
  x.phase({x.row({x.put(x.s.load(open, {g, i}, x.s.at_least(C - 1, i), x.s.f32(0)))})});
  EXPECT_EQ(x.loaded(), Lines{"+ fast: loads early lasting groups of in2[%g, %i]"});
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].when, std::vector<IntExpr>{-mod(C, 4)});
  EXPECT_TRUE(x.s.kernel.phases[0].variants[1].when.empty());
}

TEST(LoadEarly, IterationsThatStoreOnTheWay) {
  Rows x;
  const int in = x.s.input(DType::F32, {64, 1024}), out = x.s.output(DType::F32, {4, 64, 1024});
  Loop down = serial("r"_loop, 64, {store({false, out, {g, r, i}}, x.s.load(in, {r, i}))});
  down.unroll = 8;
  x.phase({x.row({down}, 1, 1)});
  EXPECT_EQ(x.loaded(), Lines{"+ fast, odd, any: loads in2[%r, %i] of 8 iterations"});
  EXPECT_EQ(fault(x.s.kernel), "");
  Loop& inner = x.loop().body[0].get<Loop>();
  EXPECT_TRUE(says(x.fault_of(inner, [](LoopAccesses& a) { a.blocks.clear(); }), "accesses of 0 blocks, not 1"));
}

TEST(VerifyTeams, EarlyLoadsThatAreNotSo) {
  Rows x;
  const ExprId value = x.s.load(x.in, {g, i}), next = x.s.load(x.in, {g, i + 1});
  const ExprId elsewhere = x.s.load(x.in, {g, i + 4}), stored = x.s.load(x.out, {g, i});
  const ExprId sum = x.s.build.apply(Op::Add, {x.s.build.apply(Op::Add, {value, next}), stored});
  x.phase({x.row({x.put(sum)}), x.row({x.put(elsewhere)})});
  x.loaded();
  Loop& loop = x.loop();
  using A = LoopAccesses;
  EXPECT_TRUE(says(x.fault_of(loop, [&](A& a) { a.blocks[0].early.push_back({elsewhere}); }), "do not use it"));
  EXPECT_TRUE(says(x.fault_of(loop, [&](A& a) { a.blocks[0].early.push_back({stored}); }), "which is stored to"));
  EXPECT_TRUE(says(x.fault_of(loop, [](A& a) { a.blocks[0].early[1].step = 1; }), "no neighbours from a multiple on"));
  EXPECT_TRUE(says(x.fault_of(loop, [](A& a) { a.blocks[0].early[0].step = -1; }), "no neighbours from a multiple on"));
  EXPECT_TRUE(says(x.fault_of(loop, [](A& a) { a.blocks[0].early[1].from->distance = 2; }), "2 elements further"));
  EXPECT_TRUE(
      says(x.fault_of(loop, [](A& a) { a.blocks[0].early[0].step = 0, a.blocks[0].early[0].cached = Cached::Usual; }),
           "a group that is not loaded early"));
  EXPECT_TRUE(says(x.fault_of(loop, [](A& a) { a.blocks[0].early[0].step = 0; }), "which its 4 lanes are not"));
  x.s.kernel.phases[0].variants[0].alignment[0] = 4;
  EXPECT_TRUE(says(fault(x.s.kernel), "16 bytes at once from an address that is a multiple of 4"));
}

TEST(VerifyTeams, HeldLoadsThatOthersCannotTake) {
  Rows x;
  const ExprId value = x.s.load(x.in, {g, i});
  x.phase({x.row({x.put(value)}), x.row({x.put(value)}, 4, 4)});
  x.loaded();
  ASSERT_TRUE(x.loop().team->accesses[0].held.empty()) << "they deal out their elements in two ways";
  const auto hold = [&](LoopAccesses& a) { a.held.push_back({value, 1}); };
  EXPECT_TRUE(says(x.fault_of(x.loop(), hold), "deals out its elements in another way"));
  Rows y;
  const ExprId again = y.s.load(y.in, {g, i});
  y.phase({y.row({y.put(again)}), y.row({y.put(again)})});
  y.loaded();
  EXPECT_TRUE(says(y.fault_of(y.loop(1),
                              [&](LoopAccesses& a) {
                                a.held.push_back({again, 1});
                              }),
                   "held behind a loop that uses it"));
}

}  // namespace
}  // namespace smelt::kernel
