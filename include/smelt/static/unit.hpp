/// \file
/// What a GPU has beyond expand/algebra.hpp, on f32: the functions of its special unit,
/// approximate, and multiply-adds that saturate. On a host they are computed to within the errors
/// stated, so that tests sweep what is built on them; the compiler has its own in kernel/value.hpp.
///
///   power_of_two(x)         2^x to 2 ULP; results below 2^-126 are 0
///   power_of_two_full(x)    the same with subnormal results
///   reciprocal(x)           1 / x to 1 ULP, if x and the result are normal numbers; beyond 2^126 it is 0, of a subnormal infinity
///   inverse_root(x)         1 / sqrt(x) to 2 ULP; of a subnormal infinity, as of 0
///   saturated_fma(a, b, c)  a * b + c within [0, 1]; nan gives 0
///   at_most(x, c), at_least(x, c)   min and max with a constant; nan stays nan
#pragma once

#include "smelt/static/values.hpp"

namespace smelt::expand {

#if defined(__CUDA_ARCH__)
SMELT_HD Real32 power_of_two(Real32 x) {
  Real32 y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y.value) : "f"(x.value));
  return y;
}
SMELT_HD Real32 power_of_two_full(Real32 x) {
  Real32 y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y.value) : "f"(x.value));
  return y;
}
SMELT_HD Real32 reciprocal(Real32 x) {
  Real32 y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y.value) : "f"(x.value));
  return y;
}
SMELT_HD Real32 inverse_root(Real32 x) {
  Real32 y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y.value) : "f"(x.value));
  return y;
}
SMELT_HD Real32 saturated_fma(Real32 a, Real32 b, Real32 c) {
  Real32 y;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(y.value) : "f"(a.value), "f"(b.value), "f"(c.value));
  return y;
}
#else
SMELT_HD Real32 flushed(Real32 x) { return select(abs(x) < like(x, 0x1p-126), copysign(like(x, 0), x), x); }
SMELT_HD Real32 power_of_two_full(Real32 x) {
  return {static_cast<float>(__builtin_exp2(static_cast<double>(x.value)))};
}
SMELT_HD Real32 power_of_two(Real32 x) { return flushed(power_of_two_full(x)); }
SMELT_HD Real32 reciprocal(Real32 x) {
  return flushed({static_cast<float>(1.0 / static_cast<double>(flushed(x).value))});
}
SMELT_HD Real32 inverse_root(Real32 x) {
  return {static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(flushed(x).value)))};
}
SMELT_HD Real32 saturated_fma(Real32 a, Real32 b, Real32 c) {
  const float y = fma(a, b, c).value;
  return {y > 0 ? (y < 1 ? y : 1.0f) : 0.0f};
}
#endif

}  // namespace smelt::expand
