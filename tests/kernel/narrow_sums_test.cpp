// Accumulators in narrower lanes: which type they get, and which keep theirs.
#include "kernel/narrow_sums.hpp"

#include <gtest/gtest.h>

#include "changes.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

const IntExpr g = sym("g"_loop), i = sym("i"_loop), r = sym("r"_loop);

ExprId zero(Sample& s) { return s.build.constant(Scalar::of_int(DType::I64, 0)); }

// %v0 + x as i64
Stmt add(Sample& s, LocalId sum, ExprId x) {
  return assign(sum, s.build.apply(Op::Add, {s.build.local(sum), s.build.cast(x, DType::I64)}));
}

// A sum of rows of `length` elements.
void fill_rows(Sample& s, DType type, const IntExpr& length) {
  const int in = s.input(type, {8, length}), out = s.output(DType::I64, {8});
  const LocalId sum = s.build.new_local(DType::I64, true);
  s.phase(grid("g"_loop, 8,
               {assign(sum, zero(s)), vector("i"_loop, length, {add(s, sum, s.load(in, {g, i}))}, 64),
                combine(sum, Op::Add), store({false, out, {g}}, s.build.local(sum))}));
}

DType type_of_rows(DType type, int64_t length) {
  Sample s;
  fill_rows(s, type, length);
  narrow_sums(s.kernel);
  verify(s.kernel);
  return s.kernel.locals[0].dtype;
}

TEST(NarrowSums, OfARow) {
  Sample s;
  fill_rows(s, DType::Bool, 300);
  EXPECT_EQ(changes(s.kernel, narrow_sums),
            (Lines{"- mutable %v0: i64", "+ mutable %v0: u16", "- %v0 := 0:i64", "+ %v0 := 0:u16",
                   "- %v0 := %v0 + cast<i64>(in0[%g, %i])", "+ %v0 := %v0 + wrap<u16>(in0[%g, %i])", "- out1[%g] = %v0",
                   "+ out1[%g] = wrap<i64>(%v0)"}));
}

TEST(NarrowSums, NoNarrowerThanTheSumOrTheElements) {
  EXPECT_EQ(type_of_rows(DType::Bool, 255), DType::U8);
  EXPECT_EQ(type_of_rows(DType::Bool, 256), DType::U16);
  EXPECT_EQ(type_of_rows(DType::U8, 257), DType::U16);
  EXPECT_EQ(type_of_rows(DType::U8, 258), DType::U32);
  EXPECT_EQ(type_of_rows(DType::I8, 256), DType::I16);
  EXPECT_EQ(type_of_rows(DType::I8, 257), DType::I32);
  EXPECT_EQ(type_of_rows(DType::I16, 65536), DType::I32);
  EXPECT_EQ(type_of_rows(DType::I16, 65537), DType::I64);
  EXPECT_EQ(type_of_rows(DType::U16, 65537), DType::U32);
  EXPECT_EQ(type_of_rows(DType::U16, 65538), DType::I64);
  EXPECT_EQ(type_of_rows(DType::I32, 2), DType::I64);
}

// Registers of a GPU have 32 bits: sums there are no narrower.
TEST(NarrowSums, OnAGpu) {
  const auto type_on_gpu = [](DType type, int64_t length) {
    Sample s;
    fill_rows(s, type, length);
    s.kernel.dialect = Dialect::Gpu;
    s.kernel.phases[0].team = {128, 128};
    narrow_sums(s.kernel);
    verify(s.kernel);
    return s.kernel.locals[0].dtype;
  };
  EXPECT_EQ(type_on_gpu(DType::Bool, 255), DType::U32);
  EXPECT_EQ(type_on_gpu(DType::I8, 256), DType::I32);
  EXPECT_EQ(type_on_gpu(DType::U16, 65538), DType::I64);
}

// Running sums of rows of `length` elements.
void fill_scan(Sample& s, DType type, int64_t length, bool with_factors = false) {
  const int in = s.input(type, {8, length}), out = s.output(DType::I64, {8, length});
  const LocalId carry = s.build.new_local(DType::I64, true), sum = s.build.new_local(DType::I64, false);
  const ExprId x = s.build.cast(s.load(in, {g, i}), DType::I64);
  s.phase(grid("g"_loop, 8,
               {assign(carry, zero(s)),
                vector("i"_loop, length,
                       {scan(sum, Op::Add, carry, x, zero(s), false, kNoExpr, with_factors ? x : kNoExpr),
                        store({false, out, {g, i}}, s.build.local(sum))},
                       1)}));
  s.kernel.phases[0].team = {128, 128};
}

TEST(NarrowSums, OfAScanOnAGpu) {
  Sample s;
  fill_scan(s, DType::Bool, 3000);
  s.kernel.dialect = Dialect::Gpu;
  EXPECT_TRUE(narrow_sums(s.kernel));
  verify(s.kernel);
  for (const Local& local : s.kernel.locals) EXPECT_EQ(local.dtype, DType::U32);
  Sample cpu, wide, factors;
  fill_scan(cpu, DType::Bool, 3000);
  cpu.kernel.phases[0].team = {};
  EXPECT_FALSE(narrow_sums(cpu.kernel));
  fill_scan(wide, DType::I32, 3000);
  wide.kernel.dialect = Dialect::Gpu;
  EXPECT_FALSE(narrow_sums(wide.kernel));
  fill_scan(factors, DType::Bool, 3000, true);
  factors.kernel.dialect = Dialect::Gpu;
  EXPECT_FALSE(narrow_sums(factors.kernel));
}

TEST(NarrowSums, NotOfRowsThatMayBeLong) {
  Sample s;
  s.size("N"_size);
  fill_rows(s, DType::Bool, sym("N"_size));
  EXPECT_FALSE(narrow_sums(s.kernel));
}

// Blocks of a part that is empty: of the sum of their sums nothing is known but that it is 0.
TEST(NarrowSums, SumsOfNarrowerSums) {
  Sample s;
  const int in = s.input(DType::Bool, {8, 255}), out = s.output(DType::I64, {8});
  const LocalId whole = s.build.new_local(DType::I64, true), block = s.build.new_local(DType::I64, true);
  s.phase(grid("g"_loop, 8,
               {assign(whole, zero(s)),
                serial("r"_loop, 0,
                       {assign(block, zero(s)), vector("i"_loop, 255, {add(s, block, s.load(in, {g, i}))}, 16),
                        combine(block, Op::Add),
                        assign(whole, s.build.apply(Op::Add, {s.build.local(whole), s.build.local(block)}))}),
                store({false, out, {g}}, s.build.local(whole))}));
  EXPECT_TRUE(narrow_sums(s.kernel));
  verify(s.kernel);
  EXPECT_EQ(s.kernel.locals[static_cast<size_t>(block)].dtype, DType::U8);
  EXPECT_EQ(s.kernel.locals[static_cast<size_t>(whole)].dtype, DType::U32);
}

TEST(NarrowSums, NotWhatOthersAreTakenFromOrPutInto) {
  for (const bool starts_with_three : {false, true}) {
    Sample s;
    const int in = s.input(DType::Bool, {8, 20}), out = s.output(DType::I64, {8});
    const LocalId sum = s.build.new_local(DType::I64, true);
    const ExprId read = s.build.local(sum);
    const ExprId first = starts_with_three ? s.build.constant(Scalar::of_int(DType::I64, 3)) : zero(s);
    std::vector<Stmt> element{add(s, sum, s.load(in, {g, i}))};
    if (!starts_with_three) element.push_back(assign(sum, s.build.apply(Op::Mul, {read, read})));
    s.phase(grid("g"_loop, 8,
                 {assign(sum, first), vector("i"_loop, 20, std::move(element), 16), combine(sum, Op::Add),
                  store({false, out, {g}}, read)}));
    EXPECT_FALSE(narrow_sums(s.kernel));
  }
}

// What a tile of columns is added to is in scratch. Each lane has an element of its own, so the
// rows alone count.
TEST(NarrowSums, KeptInScratch) {
  for (const int64_t rows : {257, 258}) {
    Sample s;
    const int in = s.input(DType::U8, {rows, 1000}), out = s.output(DType::I64, {1000});
    const int kept = s.scratch(DType::I64, {1000});
    const LocalId sum = s.build.new_local(DType::I64, true);
    const Access at{true, kept, {i}};
    const Stmt take = assign(sum, s.build.load(at));
    s.phase(grid(
        "g"_loop, 1,
        {alloc(kept), vector("i"_loop, 1000, {store(at, zero(s))}, 64),
         serial("r"_loop, rows,
                {vector("i"_loop, 1000, {take, add(s, sum, s.load(in, {r, i})), store(at, s.build.local(sum))}, 64)}),
         vector("i"_loop, 1000, {take, store({false, out, {i}}, s.build.local(sum))}, 64)}));
    EXPECT_TRUE(narrow_sums(s.kernel));
    verify(s.kernel);
    EXPECT_EQ(s.kernel.buffers[0].dtype, rows == 257 ? DType::U16 : DType::U32);
    EXPECT_EQ(s.kernel.locals[0].dtype, s.kernel.buffers[0].dtype);
  }
}

// The scratch goes on from one row to the next: where the local starts in every row does not count.
TEST(NarrowSums, ScratchThatNothingStarts) {
  Sample s;
  const int in = s.input(DType::U8, {9, 16}), out = s.output(DType::I64, {16});
  const int kept = s.scratch(DType::I64, {16});
  const LocalId sum = s.build.new_local(DType::I64, true);
  const Access at{true, kept, {i}};
  const Stmt take = assign(sum, s.build.load(at));
  s.phase(grid(
      "g"_loop, 1,
      {alloc(kept),
       serial(
           "r"_loop, 9,
           {vector("i"_loop, 16,
                   {assign(sum, zero(s)), take, add(s, sum, s.load(in, {r, i})), store(at, s.build.local(sum))}, 16)}),
       vector("i"_loop, 16, {take, store({false, out, {i}}, s.build.local(sum))}, 16)}));
  EXPECT_FALSE(narrow_sums(s.kernel));
}

// A local of two phases gets a narrow one beside it for the phase that can have it.
TEST(NarrowSums, InOneOfTwoPhases) {
  Sample s;
  const int in = s.input(DType::Bool, {8, 90}), parts = s.array(ParamKind::Temporary, DType::I64, {8});
  const int out = s.output(DType::I64, {});
  const LocalId sum = s.build.new_local(DType::I64, true);
  s.phase(grid("g"_loop, 8,
               {assign(sum, zero(s)), vector("i"_loop, 90, {add(s, sum, s.load(in, {g, i}))}, 64),
                combine(sum, Op::Add), store({false, parts, {g}}, s.build.local(sum))}));
  s.phase(grid("g"_loop, 1,
               {assign(sum, zero(s)), vector("i"_loop, 8, {add(s, sum, s.load(parts, {i}))}, 8), combine(sum, Op::Add),
                store({false, out, {}}, s.build.local(sum))}));
  EXPECT_TRUE(narrow_sums(s.kernel));
  verify(s.kernel);
  ASSERT_EQ(s.kernel.locals.size(), 2U);
  EXPECT_EQ(s.kernel.locals[0].dtype, DType::I64);
  EXPECT_EQ(s.kernel.locals[1].dtype, DType::U8);
}

}  // namespace
}  // namespace smelt::kernel
