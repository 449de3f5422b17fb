#include <gtest/gtest.h>

#include "kernel/kernel.hpp"
#include "samples.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

TEST(Print, Row) {
  Sample s;
  fill_row(s);
  EXPECT_EQ(print(s.kernel), R"(kernel k0
  size0: B
  size1: C
  in2: f16[B, C] strides [C, 1]  # x
  out3: f16[B, C] strides [C, 1]  # result
  mutable %v0: f32
phase 0, work C
  grid %i0 < B:
    alloc scratch0: f32[C] per workgroup
    %v0 := 0:f32
    vector %i1 < C by 8:
      let %v1: f32 = cast<f32>(in2[%i0, %i1])
      scratch0[%i1] = %v1
      %v0 := %v0 + %v1
    combine %v0 by add over lane
    vector %i2 < C by 8:
      stream out3[%i0, %i2] = cast<f16>(scratch0[%i2] - %v0)
)");
}

TEST(Print, MasksAndNames) {
  Sample s;
  s.size("N"_size);
  const int in = s.input(DType::F32, {sym("N"_size)});
  const int out = s.output(DType::I8, {sym("N"_size) + 2});
  const IntExpr i = sym("i0"_loop);
  const ExprId mask = s.both(s.at_least(i, 1), s.less(i, sym("N"_size) + 1));
  const ExprId x = s.load(in, {i - 1}, mask, s.f32(-0.0));
  const ExprId twice = s.build.apply(Op::Mul, {x, x});
  const ExprId bits = s.build.bitcast(twice, DType::I32);
  const ExprId value = s.build.cast(s.build.raw(RawOp::Shr, DType::I32, {bits, bits}), DType::I8, true);
  s.phase(grid("i0"_loop, sym("N"_size) + 2, {store({false, out, {i}}, value, mask)}));
  EXPECT_EQ(print(s.kernel), R"(kernel k0
  size0: N
  in1: f32[N] strides [1]
  out2: i8[N + 2] strides [1]
phase 0, work 1
  grid %i0 < N + 2:
    %0: bool = (index(%i0) >= 1:i64) & (index(%i0) < index(N + 1))
    %1: f32 = in1[%i0 - 1] if %0 else -0:f32
    %2: i32 = bitcast<i32>(%1 * %1)
    out2[%i0] = wrap<i8>(shr(%2, %2)) if %0
)");
}

// A shared value gets its line again where what it is made of has changed.
TEST(Print, NamesEndWithTheirValues) {
  Sample s;
  const int in = s.input(DType::F32, {4});
  const int out = s.output(DType::F32, {4, 2});
  const LocalId sum = s.build.new_local(DType::F32, true);
  const IntExpr i = sym("i0"_loop);
  const ExprId root = s.build.apply(Op::Sqrt, {s.build.local(sum)});
  s.phase(grid("i0"_loop, 4,
               {assign(sum, s.load(in, {i})), store({false, out, {i, 0}}, s.build.apply(Op::Mul, {root, root})),
                assign(sum, s.f32(2)), store({false, out, {i, 1}}, root)}));
  EXPECT_EQ(print(s.kernel), R"(kernel k0
  in0: f32[4] strides [1]
  out1: f32[4, 2] strides [2, 1]
  mutable %v0: f32
phase 0, work 1
  grid %i0 < 4:
    %v0 := in0[%i0]
    %0: f32 = sqrt(%v0)
    out1[%i0, 0] = %0 * %0
    %v0 := 2:f32
    %1: f32 = sqrt(%v0)
    out1[%i0, 1] = %1
)");
}

TEST(Print, LongExpressionsAreBroken) {
  Sample s;
  const int in = s.input(DType::F32, {64});
  const int out = s.output(DType::F32, {64});
  ExprId sum = s.load(in, {sym("i0"_loop)});
  for (int k = 1; k < 40; ++k) sum = s.build.apply(Op::Add, {sum, s.f32(k)});
  s.phase(grid("i0"_loop, 64, {store({false, out, {sym("i0"_loop)}}, sum)}));
  const std::string text = print(s.kernel);
  size_t longest = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  EXPECT_LT(longest, 140u) << text;
  EXPECT_EQ(text, print(s.kernel));
}

}  // namespace
}  // namespace smelt::kernel
