// Every pass alone, on kernels built by hand: what it changes, and what it leaves.
#include "kernel/passes.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "kernel/barriers.hpp"
#include "kernel/facts.hpp"
#include "kernel/hoist.hpp"
#include "kernel/multipliers.hpp"
#include "kernel/prefetch.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/walk.hpp"
#include "samples.hpp"
#include "support/message_of.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

using testing::message_of;

const IntExpr g = sym("g"_loop), i = sym("i"_loop), row = sym("r"_loop), B = sym("B"_size), C = sym("C"_size);

// out[g, i] = in[g, i] * (1 / s), on a GPU.
void fill_scaled(Sample& s, bool in_lanes = false) {
  const int in = s.input(DType::F32, {4, 512}), out = s.output(DType::F32, {4, 512});
  const int scale = s.array(ParamKind::Scalar, DType::F32, {});
  const ExprId divisor = in_lanes ? s.load(in, {g, i}) : s.load(scale, {});
  const ExprId factor = s.build.apply(Op::Div, {s.f32(1), divisor});
  const ExprId value = s.build.apply(Op::Mul, {s.load(in, {g, i}), factor});
  s.phase(grid("g"_loop, 4, {vector("i"_loop, 512, {store({false, out, {g, i}}, value)}, 4)}));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {128, 128, 0};
}

TEST(HoistInvariants, GoBeforeTheLoop) {
  Sample s;
  fill_scaled(s);
  EXPECT_EQ(changes(s.kernel, hoist_invariants),
            (Lines{"+ let %v0: f32 = 1:f32 / scalar2", "- out1[%g, %i] = in0[%g, %i] * (1:f32 / scalar2)",
                   "+ out1[%g, %i] = in0[%g, %i] * %v0"}));
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{}) << "once";
}

TEST(HoistInvariants, WhatDependsOnTheElementStays) {
  Sample s;
  fill_scaled(s, true);
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{});
}

// A sum over a row, then the row less three times the sum.
void fill_normed(Sample& s, bool combined) {
  const int in = s.input(DType::F32, {4, 512}), out = s.output(DType::F32, {4, 512});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const ExprId x = s.load(in, {g, i}), total = s.build.local(sum);
  std::vector<Stmt> body{assign(sum, s.f32(0)),
                         vector("i"_loop, 512, {assign(sum, s.build.apply(Op::Add, {total, x}))}, 4)};
  if (combined) body.push_back(combine(sum, Op::Add));
  const ExprId thrice = s.build.apply(Op::Mul, {total, s.f32(3)});
  body.push_back(vector("i"_loop, 512, {store({false, out, {g, i}}, s.build.apply(Op::Sub, {x, thrice}))}, 4));
  s.phase(grid("g"_loop, 4, std::move(body)));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {128, 128, 0};
}

TEST(HoistInvariants, OfACombinedLocalBehindItsCombine) {
  Sample s;
  fill_normed(s, true);
  EXPECT_EQ(changes(s.kernel, hoist_invariants),
            (Lines{"+ let %v1: f32 = %v0 * 3:f32", "- out1[%g, %i] = in0[%g, %i] - (%v0 * 3:f32)",
                   "+ out1[%g, %i] = in0[%g, %i] - %v1"}));
}

// The sums of 16 columns of as many rows, each less an element of its column or of its row.
void fill_columns(Sample& s, bool of_column) {
  const int in = s.input(DType::F32, {4096}), more = s.input(DType::F32, {256}), out = s.output(DType::F32, {4, 16});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const IntExpr place = of_column ? mod(i, 16) : floordiv(i, 16);
  const ExprId term = s.build.apply(Op::Sub, {s.load(in, {i}), s.load(more, {place})});
  Stmt rows = vector("i"_loop, 4096, {assign(sum, s.build.apply(Op::Add, {s.build.local(sum), term}))}, 1);
  rows.get<Loop>().columns = 16;
  Stmt joined = combine(sum, Op::Add);
  joined.get<Combine>().columns = 16;
  Stmt stored = vector("i"_loop, 16, {store({false, out, {g, i}}, s.build.local(sum))}, 1);
  stored.get<Loop>().columns = 16;
  s.phase(grid("g"_loop, 4, {assign(sum, s.f32(0)), std::move(rows), std::move(joined), std::move(stored)}));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {128, 128, 0};
}

TEST(HoistInvariants, WhatAColumnReadsIsReadOnce) {
  Sample s;
  fill_columns(s, true);
  const Lines changed = changes(s.kernel, hoist_invariants);
  EXPECT_EQ(changed, (Lines{"+ mutable %v1: f32", "+ %v1 := 0:f32",
                            "+ vector %i < 128 by 1 in 16 columns:", "+ %v1 := in1[(%i % 16)]",
                            "- %v0 := %v0 + (in0[%i] - in1[(%i % 16)])", "+ %v0 := %v0 + (in0[%i] - %v1)"}));
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{}) << "once";
  Sample of_rows;
  fill_columns(of_rows, false);
  EXPECT_EQ(changes(of_rows.kernel, hoist_invariants), Lines{});
}

TEST(HoistInvariants, LanesThatAreNotCombinedStay) {
  Sample s;
  fill_normed(s, false);
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{});
}

// Sums of 16 columns, then each element over what `times` multiplications make of the sum of its
// column.
void fill_columns(Sample& s, int times, int combined) {
  const int in = s.input(DType::F32, {4, 512}), out = s.output(DType::F32, {4, 512});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const ExprId x = s.load(in, {g, i}), total = s.build.local(sum);
  const auto over = [&](std::vector<Stmt> body) {
    Loop made = vector("i"_loop, 512, std::move(body), 4);
    made.columns = 16;
    return made;
  };
  std::vector<Stmt> body{assign(sum, s.f32(0)), over({assign(sum, s.build.apply(Op::Add, {total, x}))})};
  body.push_back(Combine{sum, Op::Add, -1, combined});
  ExprId factor = total;
  for (int n = 0; n < times; ++n) factor = s.build.apply(Op::Mul, {factor, s.f32(3)});
  body.push_back(over({store({false, out, {g, i}}, s.build.apply(Op::Div, {x, factor}))}));
  s.phase(grid("g"_loop, 4, std::move(body)));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {64, 64, 0};
}

TEST(HoistInvariants, OfAColumnOnceForEachLane) {
  Sample s;
  fill_columns(s, 3, 16);
  EXPECT_EQ(changes(s.kernel, hoist_invariants),
            (Lines{"+ mutable %v1: f32", "+ %v1 := 0:f32",
                   "+ vector %i < 256 by 4 in 16 columns:", "+ %v1 := ((%v0 * 3:f32) * 3:f32) * 3:f32",
                   "- out1[%g, %i] = in0[%g, %i] / (((%v0 * 3:f32) * 3:f32) * 3:f32)",
                   "+ out1[%g, %i] = in0[%g, %i] / %v1"}));
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{}) << "once";
}

TEST(HoistInvariants, LittleThatIsOfAColumnStays) {
  Sample s;
  fill_columns(s, 2, 16);
  EXPECT_EQ(changes(s.kernel, hoist_invariants), Lines{});
}

// Two passes over rows of `columns` f32.
void fill_passes(Sample& s, const IntExpr& columns, Symbol second = "i"_loop) {
  const int in = s.input(DType::F32, {B, columns}), out = s.output(DType::F32, {B, columns});
  s.size("B"_size);
  if (!columns.constant()) s.size("C"_size);
  const LocalId sum = s.build.new_local(DType::F32, true);
  const ExprId total = s.build.local(sum);
  const IntExpr j = sym(second);
  s.phase(grid("g"_loop, B,
               {assign(sum, s.f32(0)),
                vector("i"_loop, columns, {assign(sum, s.build.apply(Op::Add, {total, s.load(in, {g, i})}))}, 16),
                combine(sum, Op::Add),
                vector(second, columns,
                       {store({false, out, {g, j}}, s.build.apply(Op::Sub, {s.load(in, {g, j}), total}))}, 16)}));
}

TEST(Prefetch, TheNextRowInTheLastPass) {
  Sample s;
  fill_passes(s, 1024);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[1024*%g + %i + 1024] and the 15 after it to level 1"});
}

TEST(Prefetch, LongRowsToTheSecondLevel) {
  Sample s;
  fill_passes(s, 16384);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[16384*%g + %i + 16384] and the 15 after it to level 2"});
}

TEST(Prefetch, ShortAndVeryLongRowsAlongTheFirstPass) {
  Sample s;
  fill_passes(s, 256);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[min(256*B - 16, 256*%g + %i + 768)] and the 15 after it to level 1"});
  Sample of_long;
  fill_passes(of_long, 1 << 20);
  EXPECT_EQ(changes(of_long.kernel, add_prefetches),
            Lines{"+ prefetch in0[min(1048576*B - 16, 1048576*%g + %i + 768)] and the 15 after it to level 1"});
}

// One pass over rows of 5000 columns of `wide`, of which there are `rows`.
void fill_part(Sample& s, int64_t rows, int64_t columns, int64_t wide) {
  const int in = s.input(DType::F32, {rows, wide}), out = s.output(DType::F32, {rows, columns});
  s.phase(grid("g"_loop, rows, {vector("i"_loop, columns, {store({false, out, {g, i}}, s.load(in, {g, i}))}, 16)}));
}

TEST(Prefetch, NotBeyondRowsThatDoNotFollowEachOther) {
  Sample s;
  fill_part(s, 2000, 5000, 8000);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[min(8000*%g + %i + 768, 8000*%g + 4984)] and the 15 after it to level 1"});
  Sample of_few;
  fill_part(of_few, 2000, 256, 8000);
  EXPECT_EQ(changes(of_few.kernel, add_prefetches), Lines{}) << "pieces of rows end before";
  Sample near;
  fill_part(near, 50, 5000, 5000);
  EXPECT_EQ(changes(near.kernel, add_prefetches), Lines{}) << "an array that the second level holds";
}

// One pass over rows of 1024 f32, from array element `at` of row g.
void fill_pass(Sample& s, const IntExpr& r, const IntExpr& at, int64_t columns = 1024) {
  const int in = s.input(DType::F32, {B, columns}), out = s.output(DType::F32, {B, columns});
  s.size("B"_size);
  s.phase(grid("g"_loop, B, {vector("i"_loop, columns, {store({false, out, {g, i}}, s.load(in, {r, at}))}, 16)}));
}

TEST(Prefetch, RowsThatAreReadFromTheirEndsInTheOrderOfMemory) {
  Sample s;
  fill_pass(s, g, 1023 - i);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[1024*%g + %i + 1024] and the 15 after it to level 1"});
}

TEST(Prefetch, RowsThatAreReadFromTheLastOne) {
  Sample s;
  fill_pass(s, B - 1 - g, i);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[-1024*%g + %i + 1024*B - 2048] and the 15 after it to level 2"});
}

TEST(Prefetch, OnePassInTheOrderOfMemoryAlongItself) {
  Sample in_order;
  fill_pass(in_order, g, i);
  EXPECT_EQ(changes(in_order.kernel, add_prefetches),
            Lines{"+ prefetch in0[min(1024*B - 16, 1024*%g + %i + 768)] and the 15 after it to level 1"});
  Sample reversed;
  fill_pass(reversed, B - 1 - g, 1023 - i);
  EXPECT_EQ(changes(reversed.kernel, add_prefetches), Lines{});
  Sample s;
  fill_pass(s, g, 63 - i, 64);
  EXPECT_EQ(changes(s.kernel, add_prefetches), Lines{}) << "rows of few lines";
}

// The logarithm of a sum is long, but one for a row.
TEST(Prefetch, InThePassThatComputesMostForEachElement) {
  Sample s;
  const int in = s.input(DType::F32, {B, 1024}), out = s.output(DType::F32, {B, 1024});
  s.size("B"_size);
  const LocalId sum = s.build.new_local(DType::F32, true);
  const ExprId total = s.build.local(sum), x = s.load(in, {g, i});
  ExprId log = total, exp = x;
  for (int n = 0; n < 16; ++n) log = s.build.apply(Op::Mul, {log, log}), exp = s.build.apply(Op::Mul, {exp, exp});
  s.phase(grid("g"_loop, B,
               {assign(sum, s.f32(0)), vector("i"_loop, 1024, {assign(sum, s.build.apply(Op::Add, {total, x}))}, 16),
                combine(sum, Op::Add), vector("i"_loop, 1024, {assign(sum, s.build.apply(Op::Add, {total, exp}))}, 16),
                combine(sum, Op::Add),
                vector("i"_loop, 1024, {store({false, out, {g, i}}, s.build.apply(Op::Sub, {x, log}))}, 16)}));
  ASSERT_TRUE(add_prefetches(s.kernel));
  EXPECT_TRUE(grid_body(s.kernel)[3].get<Loop>().body[0].is<Prefetch>());
}

TEST(Prefetch, AlongTheFirstPassWhereTheLaterOneGoesAnotherWay) {
  Sample s;
  fill_passes(s, 1024, "j"_loop);
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[min(1024*B - 16, 1024*%g + %i + 768)] and the 15 after it to level 1"});
}

// What a roll reads at the other end of the array would lie before its first row for all others.
TEST(Prefetch, NotRowsThatFewIterationsRead) {
  Sample s;
  const int in = s.input(DType::F32, {2000, 1024}), out = s.output(DType::F32, {2000, 1024});
  const ExprId next = s.load(in, {row + 1, i}, s.less(row, 1999), s.f32(0));
  const ExprId first = s.load(in, {row - 1999, i}, s.at_least(row, 1999), s.f32(0));
  Loop rows =
      serial("r"_loop, 2000,
             {vector("i"_loop, 1024, {store({false, out, {row, i}}, s.build.apply(Op::Add, {next, first}))}, 16)});
  rows.ahead = 3;
  s.phase(grid("g"_loop, 1, {rows}));
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[%i + 1024*%r + 4096] and the 15 after it to level 1"});
}

TEST(Prefetch, RowsThatALoopGoesDown) {
  Sample s;
  const int in = s.input(DType::F32, {66, 1024}), out = s.output(DType::F32, {64, 1024});
  const ExprId below = s.build.apply(Op::Add, {s.load(in, {row, i}), s.load(in, {row + 2, i})});
  Loop rows = serial("r"_loop, 64, {vector("i"_loop, 1024, {store({false, out, {row, i}}, below)}, 16)});
  rows.ahead = 3;
  s.phase(grid("g"_loop, 1, {rows}));
  EXPECT_EQ(changes(s.kernel, add_prefetches),
            Lines{"+ prefetch in0[%i + 1024*%r + 5120] and the 15 after it to level 1"})
      << "the lower of two rows, three iterations ahead; the upper one has been read by then";
}

TEST(DivideByMultipliers, OfSizesKnownAtLaunch) {
  Sample s;
  s.size("C"_size);
  const int in = s.input(DType::F32, {B, C}), out = s.output(DType::F32, {B, C});
  s.size("B"_size);
  const Ranges inside{{"g"_loop, {0, B * C - 1}}};
  const std::vector<IntExpr> at{floordiv(g, C, inside), mod(g, C, inside)};
  s.phase(grid("g"_loop, B * C, {store({false, out, at}, s.load(in, at))}));
  s.kernel.dialect = Dialect::Gpu;
  EXPECT_EQ(changes(s.kernel, add_multipliers).size(), 2U) << "a launch size, and the argument that it is";
  EXPECT_EQ(s.kernel.launch_sizes.size(), 1U);
  EXPECT_EQ(s.kernel.params.back().symbol, s.kernel.launch_sizes[0].symbol);
}

// A row of 64 elements through scratch, read at `index`; `again`: three times.
void fill_turned(Sample& s, const IntExpr& index, int second_lanes = 1, bool again = false, int threads = 64) {
  const int in = s.input(DType::F32, {4, 64}), out = s.output(DType::F32, {4, 64});
  const int buffer = s.scratch(DType::F32, {64});
  std::vector<Stmt> body{
      vector("i"_loop, 64, {store({true, buffer, {i}}, s.load(in, {g, i}))}, 1),
      vector("i"_loop, 64, {store({false, out, {g, i}}, s.load_scratch(buffer, {index}))}, second_lanes)};
  if (again) body = {serial("r"_loop, 3, std::move(body))};
  body.insert(body.begin(), alloc(buffer));
  s.phase(grid("g"_loop, 4, std::move(body)));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {threads, threads, 0};
}

TEST(PlaceScratch, WhatEachThreadFindsAgainIsItsOwn) {
  Sample s;
  fill_turned(s, i);
  EXPECT_EQ(changes(s.kernel, place_scratch),
            (Lines{"- alloc scratch0: f32[64] per workgroup", "+ alloc scratch0: f32[64] per lane"}));
  EXPECT_EQ(changes(s.kernel, insert_barriers), Lines{});
}

TEST(PlaceScratch, OtherElementsAndOtherThreadsShare) {
  Sample turned, dealt;
  fill_turned(turned, 63 - i);
  fill_turned(dealt, i, 4);
  EXPECT_EQ(changes(turned.kernel, place_scratch), Lines{});
  EXPECT_EQ(changes(dealt.kernel, place_scratch), Lines{}) << "four neighbours to a thread, not one";
}

TEST(InsertBarriers, BetweenLoopsThatShare) {
  Sample s;
  fill_turned(s, 63 - i);
  EXPECT_EQ(changes(s.kernel, insert_barriers), Lines{"+ barrier"});
  EXPECT_TRUE(grid_body(s.kernel)[2].is<Barrier>()) << "behind the loop that stores";
}

TEST(InsertBarriers, AlsoBeforeTheNextIteration) {
  Sample s;
  fill_turned(s, 63 - i, 1, true);
  EXPECT_EQ(changes(s.kernel, insert_barriers), (Lines{"+ barrier", "+ barrier"}));
  const std::vector<Stmt>& inside = grid_body(s.kernel)[1].get<Loop>().body;
  EXPECT_TRUE(inside[0].is<Barrier>()) << "what the last iteration reads is not stored to before";
}

TEST(InsertBarriers, OneThreadWaitsForNobody) {
  Sample s;
  fill_turned(s, 63 - i, 1, false, 1);
  EXPECT_EQ(changes(s.kernel, insert_barriers), Lines{});
}

// Takes the n-th barrier out again.
std::string fault_without_barrier(Sample& s, int n) {
  insert_barriers(s.kernel);
  for_each_stmt(s.kernel.phases[0].body, [&](Stmt& around) {
    auto* body = body_of(around);
    for (size_t b = 0; body && b < body->size(); ++b)
      if ((*body)[b].is<Barrier>() && n-- == 0) {
        body->erase(body->begin() + static_cast<std::ptrdiff_t>(b));
        return;
      }
  });
  return fault(s.kernel);
}

TEST(InsertBarriers, TheVerifierMissesEachOfThem) {
  const auto says = [](const std::string& fault, const char* part) { return fault.find(part) != std::string::npos; };
  Sample once, first, second;
  fill_turned(once, 63 - i);
  fill_turned(first, 63 - i, 1, true);
  fill_turned(second, 63 - i, 1, true);
  EXPECT_TRUE(says(fault_without_barrier(once, 0), "reads scratch0, which was stored to since the last barrier"));
  EXPECT_TRUE(says(fault_without_barrier(first, 0), "stores to scratch0, which was touched since the last barrier"));
  EXPECT_TRUE(says(fault_without_barrier(second, 1), "reads scratch0, which was stored to since the last barrier"));
}

TEST(Verify, BarriersStandOutsideOfVectorLoops) {
  Sample s;
  fill_turned(s, i);
  grid_body(s.kernel)[1].get<Loop>().body.push_back(Barrier{});
  EXPECT_NE(fault(s.kernel).find("a barrier inside of a vector loop"), std::string::npos);
}

TEST(RemoveDeadCode, UnusedExpressionsGoAndLabelsMove) {
  Sample s;
  const int in = s.input(DType::F32, {8}), out = s.output(DType::F32, {8});
  s.build.apply(Op::Sqrt, {s.f32(7)});
  const ExprId x = s.load(in, {i});
  s.build.apply(Op::Add, {x, s.f32(2)});
  const ExprId value = s.build.apply(Op::Sqrt, {x});
  s.kernel.labels[value] = "root";
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 8, {store({false, out, {i}}, value)})}));
  EXPECT_EQ(changes(s.kernel, remove_dead_code), Lines{}) << "nothing that is printed";
  ASSERT_EQ(s.kernel.exprs.size(), 2U);
  EXPECT_EQ(s.kernel.exprs[1].get<Apply>().op, Op::Sqrt);
  EXPECT_EQ(s.kernel.labels, (std::map<ExprId, std::string>{{1, "root"}}));
  EXPECT_FALSE(remove_dead_code(s.kernel));
}

TEST(Passes, HaveNamesOfTheirOwnAndRunInOrder) {
  Sample s;
  fill_scaled(s);
  Lines seen;
  Proved proved;
  run_passes(s.kernel, proved, [&](const Pass& pass, const Kernel& kernel, bool changed) {
    verify(kernel);
    seen.push_back(std::string(pass.name) + (changed ? "!" : ""));
  });
  EXPECT_EQ(seen, (Lines{"divide-by-multipliers", "hoist-invariants!", "narrow-sums", "place-scratch",
                         "insert-barriers", "remove-dead-code!", "shape-vector-loops!", "load-early!",
                         "widen-accesses!", "choose-variants!", "find-boxes", "find-naturals", "find-in-place!"}))
      << "those of a GPU";
  for (const Pass& pass : passes()) EXPECT_FALSE(pass.purpose.empty()) << pass.name;
}

TEST(Passes, WhatCannotBeProvedIsUndone) {
  const auto read_beyond_the_end = [](Kernel& kernel) {
    for (Expr& e : kernel.exprs)
      if (auto* load = e.get_if<Load>(); load && !load->access.index.empty()) load->access.index[0] = 4;
    return true;
  };
  Sample s;
  fill_scaled(s);
  const std::string before = print(s.kernel);
  Proved proved;
  Pass pass{"beyond", "", true, false, read_beyond_the_end};
  pass.may_fail = true;
  EXPECT_FALSE(run_pass(pass, s.kernel, proved));
  EXPECT_EQ(s.kernel.undone, std::vector<std::string_view>{"beyond"});
  s.kernel.undone.clear();
  EXPECT_EQ(print(s.kernel), before);
  pass.may_fail = false;
  EXPECT_EQ(message_of<InternalError>([&] { run_pass(pass, s.kernel, proved); }),
            "internal error in smelt: kernel k0: load in0[4, %i]: index 0 is not proved inside its dimension: 4 < 4 "
            "does not follow from grid %g < 4, vector %i < 512");
}

// What a variant of a GPU's phase loads early, or at once, is left out where it is not proved; the
// later passes do without.
TEST(Passes, WhatIsUndoneOnAGpuLeavesOneAccessAtATime) {
  Sample s;
  fill_scaled(s);
  Proved proved;
  for (Pass pass : passes()) {
    if (!pass.gpu) continue;
    if (pass.name == "load-early" || pass.name == "widen-accesses")
      pass.check = [](const Kernel&) { throw InternalError("planted"); };
    run_pass(pass, s.kernel, proved);
  }
  EXPECT_EQ(s.kernel.undone, (std::vector<std::string_view>{"load-early", "widen-accesses"}));
  int loops = 0;
  for_each_stmt(s.kernel.phases[0].body, [&](const Stmt& stmt) {
    const auto* loop = stmt.get_if<Loop>();
    if (!loop || !loop->team) return;
    ++loops;
    ASSERT_EQ(loop->team->accesses.size(), s.kernel.phases[0].variants.size());
    for (const LoopAccesses& accesses : loop->team->accesses) {
      EXPECT_TRUE(accesses.held.empty() && accesses.early.empty());
      for (const BlockAccesses& block : accesses.blocks)
        EXPECT_TRUE(block.early.empty() && block.group_stores.empty() && block.loads.empty() && block.stores.empty());
    }
  });
  EXPECT_EQ(loops, 1);
}

TEST(Rewriter, CopiesOnlyWhatChanges) {
  Sample s;
  const int in = s.input(DType::F32, {8});
  const ExprId x = s.load(in, {i}), y = s.build.apply(Op::Sqrt, {x}), apart = s.build.apply(Op::Neg, {s.f32(3)});
  const ExprId both = s.build.apply(Op::Add, {y, apart});
  Rewriter rewrite(s.kernel);
  rewrite.replace(x, s.f32(4));
  const ExprId made = rewrite(both);
  EXPECT_NE(made, both);
  const auto args = [&](ExprId id) { return s.kernel.at(id).get<Apply>().args; };
  EXPECT_EQ(args(made)[1], apart) << "what does not depend on it is shared";
  EXPECT_EQ(args(args(made)[0])[0], s.f32(4));
  EXPECT_EQ(args(both)[0], y) << "the old one is as it was";
  EXPECT_EQ(rewrite(kNoExpr), kNoExpr);
}

TEST(Rewriter, MasksAndWhatIsBesideThem) {
  Sample s;
  const int in = s.input(DType::F32, {8});
  const ExprId asked = s.less(i, 5), beside = s.f32(7), other = s.less(i, 6), zero = s.f32(0);
  const ExprId masked = s.load(in, {i}, asked, beside);
  Rewriter rewrite(s.kernel);
  rewrite.replace(asked, other);
  rewrite.replace(beside, zero);
  const ExprId made = rewrite(masked);
  EXPECT_EQ(s.kernel.at(made).get<Load>().mask, other);
  EXPECT_EQ(s.kernel.at(made).get<Load>().other, zero);
}

TEST(RemoveDeadCode, MasksMoveWithTheirLoads) {
  Sample s;
  const int in = s.input(DType::F32, {8}), out = s.output(DType::F32, {16});
  s.build.apply(Op::Sqrt, {s.f32(7)});
  const ExprId value = s.load(in, {i}, s.less(i, 8), s.f32(3));
  s.phase(grid("g"_loop, 1, {vector("i"_loop, 16, {store({false, out, {i}}, value)})}));
  const std::string before = print(s.kernel);
  EXPECT_TRUE(remove_dead_code(s.kernel));
  verify(s.kernel);
  EXPECT_EQ(print(s.kernel), before);
}

}  // namespace
}  // namespace smelt::kernel
