// Accesses of a GPU's loops that are made at once, and what verify() makes of wrong ones.
#include "kernel/widen_accesses.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/load_early.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop), C = sym("C"_size);

// A loop over 256 elements by a team of 128 threads, one at a time.
struct Columns {
  Sample s;
  int in, out;
  explicit Columns(const IntExpr& width = 1024) {
    if (!width.constant()) s.size("C"_size);
    in = s.input(DType::F32, {4, width}), out = s.output(DType::F32, {4, width});
    s.kernel.dialect = Dialect::Gpu;
  }
  Stmt put(const IntExpr& at, ExprId value, ExprId mask = kNoExpr) { return store({false, out, {g, at}}, value, mask); }
  ExprId take(const IntExpr& at) { return s.load(in, {g, at}); }
  Lines widened(std::vector<Stmt> body, const IntExpr& extent = 256, int lanes = 1) {
    s.phase(grid("g"_loop, 4, {vector("i"_loop, extent, std::move(body), lanes)}));
    s.kernel.phases[0].team = {128, 128, 0};
    shape_vector_loops(s.kernel);
    load_early(s.kernel);
    return without_variants(changes(s.kernel, widen_accesses));
  }
  Loop& loop() { return grid_body(s.kernel)[0].get<Loop>(); }
  // What verify() says of the one block of the first variant, which `change` has changed.
  template <class Change>
  std::string fault_of(const Change& change) {
    const auto before = loop().team;
    TeamForms forms = *before;
    change(forms.accesses[0].blocks[0]);
    loop().team = std::make_shared<const TeamForms>(forms);
    const std::string found = fault(s.kernel);
    loop().team = before;
    return found;
  }
};

testing::AssertionResult says(const std::string& fault, const std::string& text) {
  if (fault.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << fault << "\" says nothing of \"" << text << "\"";
}

TEST(WidenAccesses, ElementsThatFollowEachOther) {
  Columns x;
  EXPECT_EQ(x.widened({x.put(2 * i, x.take(2 * i)), x.put(2 * i + 1, x.take(2 * i + 1))}),
            Lines{"+ fast, odd: loads in0[%g, 2*%i] and the 1 after it; stores out1[%g, 2*%i] and the 1 after it"});
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].alignment, (std::vector<int>{8, 8}));
  EXPECT_EQ(x.s.kernel.phases[0].variants[2].alignment, (std::vector<int>{4, 4}));
}

TEST(WidenAccesses, RowsOfUnknownLengthAreMultiples) {
  Columns x(C);
  EXPECT_EQ(x.widened({x.put(2 * i, x.take(2 * i)), x.put(2 * i + 1, x.take(2 * i + 1))}, floordiv(C, 2)),
            Lines{"+ fast: loads in1[%g, 2*%i] and the 1 after it; stores out2[%g, 2*%i] and the 1 after it"});
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].when, std::vector<IntExpr>{-mod(C, 2)});
}

TEST(WidenAccesses, NotFromBetweenTwoMultiples) {
  Columns x;
  EXPECT_EQ(x.widened({x.put(2 * i, x.take(2 * i + 1)), x.put(2 * i + 1, x.take(2 * i + 2))}),
            Lines{"+ fast, odd: stores out1[%g, 2*%i] and the 1 after it"});
}

TEST(WidenAccesses, BehindConditionsThatAreOne) {
  Columns x;
  const ExprId first = x.s.less(2 * i, 500), second = x.s.less(2 * i + 1, 500), third = x.s.less(2 * i + 1, 499);
  EXPECT_EQ(x.widened({x.put(2 * i, x.s.f32(1), first), x.put(2 * i + 1, x.s.f32(2), second)}),
            Lines{"+ fast, odd: stores out1[%g, 2*%i] and the 1 after it"});
  x.loop().body[1].get<Store>().mask = third;
  EXPECT_TRUE(says(fault(x.s.kernel), "stored behind another mask"));
  Columns y;
  const ExprId even = y.s.less(2 * i, 499), odd = y.s.less(2 * i + 1, 499);
  EXPECT_EQ(y.widened({y.put(2 * i, y.s.f32(1), even), y.put(2 * i + 1, y.s.f32(2), odd)}), Lines{});
}

TEST(WidenAccesses, GroupsOfLanes) {
  Columns x;
  EXPECT_EQ(x.widened({x.put(i, x.take(i)), x.put(i + 510, x.s.f32(1))}, 512, 4),
            Lines{"+ fast, odd: stores groups of out1[%g, %i]"});
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.group_stores[0].step = -1; }), "no neighbours"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.group_stores[0].statement = 1; }), "no neighbours"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.group_stores[0].statement = 2; }), "statement 2 is no store"));
}

// Three bytes of a pixel to each lane.
TEST(WidenAccesses, LanesBetweenEachOther) {
  Columns x;
  const int pixels = x.s.output(DType::U8, {4, 1536});
  const auto put = [&](int c) {
    return store({false, pixels, {g, 3 * i + c}}, x.s.build.constant(Scalar::of_int(DType::U8, c)));
  };
  EXPECT_EQ(x.widened({put(1), put(0), put(2)}, 512, 4),
            Lines{"+ fast, odd: stores groups of out2[%g, 3*%i] and the 2 after it"});
  EXPECT_EQ(x.s.kernel.phases[0].variants[0].alignment[2], 4);
  EXPECT_EQ(fault(x.s.kernel), "");
  EXPECT_TRUE(
      says(x.fault_of([](BlockAccesses& b) { std::swap(b.group_stores[0].next[0], b.group_stores[0].statement); }),
           "no neighbours from a multiple on"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.group_stores[0].next[1] = 0; }), "not the element after"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.group_stores[0].next.pop_back(); }), "no neighbours"));
  Columns y;
  const int some = y.s.output(DType::U8, {4, 1536});
  const auto put_some = [&](int c) {
    return store({false, some, {g, 3 * i + c}}, y.s.build.constant(Scalar::of_int(DType::U8, c)));
  };
  EXPECT_EQ(y.widened({put_some(0), put_some(2)}, 512, 4), Lines{});
}

TEST(VerifyTeams, AccessesAtOnceThatAreNotSo) {
  Columns x;
  x.widened({x.put(2 * i, x.take(2 * i)), x.put(2 * i + 1, x.take(2 * i + 1))});
  EXPECT_EQ(fault(x.s.kernel), "");
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { std::swap(b.loads[0].loads[0], b.loads[0].loads[1]); }),
                   "does not follow"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.loads[0].loads.pop_back(); }), "1 elements at once"));
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.stores[0].statements[1] = 0; }), "does not follow"));
  const ExprId mask = x.s.less(i, 5);
  EXPECT_TRUE(says(x.fault_of([&](BlockAccesses& b) { b.loads[0].mask = mask; }), "loaded behind another mask"));
  x.s.kernel.phases[0].variants[0].alignment[1] = 4;
  EXPECT_TRUE(says(fault(x.s.kernel), "8 bytes at once from an address that is a multiple of 4"));
}

TEST(WidenAccesses, LanesShareBlocksOfRandomWords) {
  Columns x;
  const ExprId seed = x.s.build.constant(Scalar::of_int(DType::U64, 1));
  const ExprId zero = x.s.build.constant(Scalar::of_int(DType::U64, 0));
  const auto draw = [&](const IntExpr& at) {
    return x.s.build.cast(x.s.build.random(philox::Draw::Words, {seed, zero, zero}, at, 8192), DType::F32);
  };
  const ExprId sum = x.s.build.apply(Op::Add, {draw(1024 * g + i), draw(1024 * g + i + 2)});
  EXPECT_EQ(
      x.widened({x.put(i, sum)}, 512, 4),
      Lines{"+ fast, odd: draws blocks from 1024*%g + %i, blocks from 1024*%g + %i; stores groups of out1[%g, %i]"});
  EXPECT_EQ(fault(x.s.kernel), "");
  EXPECT_TRUE(says(x.fault_of([](BlockAccesses& b) { b.draws[1].words[3] = 4; }), "lane 3 does not take word 4"));
  const auto between = [](BlockAccesses& b) {
    b.draws[0].base = b.draws[0].base - 1;
    for (int& word : b.draws[0].words) ++word;
  };
  EXPECT_TRUE(says(x.fault_of(between), "begin between two of them"));
}

TEST(VerifyTeams, StoresWaitForNoReader) {
  Columns x;
  const ExprId back = x.s.load(x.out, {g, 2 * i});
  x.widened({x.put(2 * i, x.s.f32(1)), x.put(2 * i + 1, x.s.f32(2))});
  x.loop().body[1].get<Store>().value = back;
  EXPECT_TRUE(says(fault(x.s.kernel), "stored behind what reads out1"));
}

}  // namespace
}  // namespace smelt::kernel
