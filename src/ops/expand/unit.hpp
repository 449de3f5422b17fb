// What a GPU has beyond algebra.hpp, on f32: the functions of its special unit, approximate, and multiply-adds that saturate. Here on
// the host, to within the errors stated, so that tests sweep what is built on them; on IR values in kernel/value.hpp.
//
//   power_of_two(x)         2^x to 2 ULP; results below 2^-126 are 0
//   power_of_two_full(x)    the same with subnormal results
//   reciprocal(x)           1 / x to 1 ULP, if x and the result are normal numbers; beyond 2^126 it is 0, of a subnormal infinity
//   quotient(a, b)          a / b to 2 ULP
//   inverse_root(x)         1 / sqrt(x) to 2 ULP;  root(x)  sqrt(x) to 1 ULP
//   saturated_fma(a, b, c)  a * b + c within [0, 1]; nan gives 0
//   at_most(x, c), at_least(x, c)   min and max with a constant; nan stays nan
#pragma once

#include "ops/expand/algebra.hpp"

namespace smelt::expand {

inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
inline float power_of_two_full(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
inline float power_of_two(float x) { return flushed(power_of_two_full(x)); }
inline float reciprocal(float x) { return flushed(static_cast<float>(1.0 / static_cast<double>(flushed(x)))); }
inline float quotient(float a, float b) { return a / b; }
inline float inverse_root(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
inline float root(float x) { return std::sqrt(x); }
inline float saturated_fma(float a, float b, float c) {
  const float y = __builtin_fmaf(a, b, c);
  return y > 0 ? (y < 1 ? y : 1.0f) : 0.0f;
}

}  // namespace smelt::expand
