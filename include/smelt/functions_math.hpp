/// \file
/// Functions of elements: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/choices.hpp"

namespace smelt {

// ---- Elementwise

/// a + b; integers wrap. Integers and floats. Correctly rounded.
SMELT_API Array add(const Array& a, const Array& b, Where where = Where::here());
/// a - b; integers wrap. Integers and floats. Correctly rounded.
SMELT_API Array subtract(const Array& a, const Array& b, Where where = Where::here());
/// a * b; integers wrap. Integers and floats. Correctly rounded.
SMELT_API Array multiply(const Array& a, const Array& b, Where where = Where::here());
/// a / b. Floats. Correctly rounded.
SMELT_API Array divide(const Array& a, const Array& b, Where where = Where::here());
/// a // b, rounded down as in Python; integers: x // 0 is 0, MIN // -1 is MIN. Integers and floats.
/// Error at most 1 ULP (f32), 1 (f64).
SMELT_API Array floor_divide(const Array& a, const Array& b, Where where = Where::here());
/// a % b with the sign of b, as in Python; integers: x % 0 is 0; f64: nan where |a / b| is 2^300
/// and more. Integers and floats. Error at most 1 ULP (f32), 1 (f64).
SMELT_API Array remainder(const Array& a, const Array& b, Where where = Where::here());
/// remainder with the sign of a, as in C; integers: fmod(x, 0) is 0; f64: nan where |a / b| is
/// 2^300 and more. Integers and floats.
SMELT_API Array fmod(const Array& a, const Array& b, Where where = Where::here());
/// a ** b; integers wrap, a negative exponent gives 0 unless a is 1 or -1. Integers and floats.
/// Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array pow(const Array& a, const Array& b, Where where = Where::here());
/// -a; integers wrap. Integers and floats.
SMELT_API Array negative(const Array& a, Where where = Where::here());
/// absolute value; abs(MIN) is MIN. Integers and floats.
SMELT_API Array abs(const Array& a, Where where = Where::here());
/// -1, 0 or 1; sign(0.0) keeps its zero, sign(nan) is nan. Integers and floats.
SMELT_API Array sign(const Array& a, Where where = Where::here());
/// a * b + c with one rounding. Floats. Correctly rounded.
SMELT_API Array fma(const Array& a, const Array& b, const Array& c, Where where = Where::here());
/// a * a. Integers and floats. Correctly rounded.
SMELT_API Array square(const Array& a, Where where = Where::here());
/// 1 / a. Floats. Correctly rounded.
SMELT_API Array reciprocal(const Array& a, Where where = Where::here());
/// the larger; nan if either is nan; +0 is above -0. Integers and floats.
SMELT_API Array maximum(const Array& a, const Array& b, Where where = Where::here());
/// the smaller; nan if either is nan; -0 is below +0. Integers and floats.
SMELT_API Array minimum(const Array& a, const Array& b, Where where = Where::here());
/// largest integer not above a. Floats.
SMELT_API Array floor(const Array& a, Where where = Where::here());
/// smallest integer not below a. Floats.
SMELT_API Array ceil(const Array& a, Where where = Where::here());
/// a without its fraction. Floats.
SMELT_API Array trunc(const Array& a, Where where = Where::here());
/// nearest integer, halves to even. Floats.
SMELT_API Array round(const Array& a, Where where = Where::here());
/// square root. Floats. Correctly rounded.
SMELT_API Array sqrt(const Array& a, Where where = Where::here());
/// 1 / sqrt(a). Floats. Error at most 2 ULP (f32), 1.5 (f64).
SMELT_API Array rsqrt(const Array& a, Where where = Where::here());
/// cube root. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array cbrt(const Array& a, Where where = Where::here());
/// sqrt(a*a + b*b) without overflow in between. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array hypot(const Array& a, const Array& b, Where where = Where::here());
/// e ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array exp(const Array& a, Where where = Where::here());
/// 2 ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array exp2(const Array& a, Where where = Where::here());
/// e ** a - 1, accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array expm1(const Array& a, Where where = Where::here());
/// natural logarithm. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array log(const Array& a, Where where = Where::here());
/// logarithm to base 2. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array log2(const Array& a, Where where = Where::here());
/// logarithm to base 10. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array log10(const Array& a, Where where = Where::here());
/// log(1 + a), accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array log1p(const Array& a, Where where = Where::here());
/// sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
SMELT_API Array sin(const Array& a, Where where = Where::here());
/// cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
SMELT_API Array cos(const Array& a, Where where = Where::here());
/// tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
SMELT_API Array tan(const Array& a, Where where = Where::here());
/// inverse sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2]; nan outside
/// of [-1, 1].
SMELT_API Array asin(const Array& a, Where where = Where::here());
/// inverse cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [0, pi]; nan outside of
/// [-1, 1].
SMELT_API Array acos(const Array& a, Where where = Where::here());
/// inverse tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2].
SMELT_API Array atan(const Array& a, Where where = Where::here());
/// angle of the point (b, a). Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi, pi].
SMELT_API Array atan2(const Array& a, const Array& b, Where where = Where::here());
/// hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array sinh(const Array& a, Where where = Where::here());
/// hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array cosh(const Array& a, Where where = Where::here());
/// hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array tanh(const Array& a, Where where = Where::here());
/// inverse hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array asinh(const Array& a, Where where = Where::here());
/// inverse hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array acosh(const Array& a, Where where = Where::here());
/// inverse hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array atanh(const Array& a, Where where = Where::here());
/// error function. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array erf(const Array& a, Where where = Where::here());
/// 1 - erf(a), accurate in the tail. Floats. Error at most 4 ULP (f32), 4 (f64).
SMELT_API Array erfc(const Array& a, Where where = Where::here());
/// magnitude of a, sign of b. Floats.
SMELT_API Array copysign(const Array& a, const Array& b, Where where = Where::here());
/// a == b. Any dtype; gives Bool.
SMELT_API Array equal(const Array& a, const Array& b, Where where = Where::here());
/// a != b. Any dtype; gives Bool.
SMELT_API Array not_equal(const Array& a, const Array& b, Where where = Where::here());
/// a < b. Any dtype; gives Bool.
SMELT_API Array less(const Array& a, const Array& b, Where where = Where::here());
/// a <= b. Any dtype; gives Bool.
SMELT_API Array less_equal(const Array& a, const Array& b, Where where = Where::here());
/// a > b. Any dtype; gives Bool.
SMELT_API Array greater(const Array& a, const Array& b, Where where = Where::here());
/// a >= b. Any dtype; gives Bool.
SMELT_API Array greater_equal(const Array& a, const Array& b, Where where = Where::here());
/// true for nan. Integers and floats; gives Bool.
SMELT_API Array isnan(const Array& a, Where where = Where::here());
/// true for inf and -inf. Integers and floats; gives Bool.
SMELT_API Array isinf(const Array& a, Where where = Where::here());
/// true for all but nan, inf and -inf. Integers and floats; gives Bool.
SMELT_API Array isfinite(const Array& a, Where where = Where::here());
/// a & b; logical on bool. Integers and Bool.
SMELT_API Array bitwise_and(const Array& a, const Array& b, Where where = Where::here());
/// a | b; logical on bool. Integers and Bool.
SMELT_API Array bitwise_or(const Array& a, const Array& b, Where where = Where::here());
/// a ^ b; logical on bool. Integers and Bool.
SMELT_API Array bitwise_xor(const Array& a, const Array& b, Where where = Where::here());
/// ~a; logical on bool. Integers and Bool.
SMELT_API Array bitwise_not(const Array& a, Where where = Where::here());
/// a << b; 0 when b is negative or the width and more. Integers.
SMELT_API Array left_shift(const Array& a, const Array& b, Where where = Where::here());
/// a >> b, keeping the sign; all sign bits when b is negative or the width and more. Integers.
SMELT_API Array right_shift(const Array& a, const Array& b, Where where = Where::here());
/// x where condition is true, else y. condition is Bool, x and y of any dtype.
SMELT_API Array where(const Array& condition, const Array& x, const Array& y, Where where = Where::here());

// ---- Activations and quantisation

/// true where both are; numbers are true unless 0. Arrays that broadcast, of any dtype; gives Bool.
SMELT_API Array logical_and(const Array& x, const Array& y, Where where = Where::here());
/// true where either is. Arrays that broadcast, of any dtype; gives Bool.
SMELT_API Array logical_or(const Array& x, const Array& y, Where where = Where::here());
/// true where exactly one is. Arrays that broadcast, of any dtype; gives Bool.
SMELT_API Array logical_xor(const Array& x, const Array& y, Where where = Where::here());
/// true where x is false or 0. Any dtype; gives Bool.
SMELT_API Array logical_not(const Array& x, Where where = Where::here());
/// minimum(maximum(x, lo), hi); nan stays nan; a bound of {} does not bound. Numbers; bounds
/// broadcast.
SMELT_API Array clamp(const Array& x, const Array& lo = {}, const Array& hi = {}, Where where = Where::here());
/// maximum(x, 0). Numbers. Gives the shape and dtype of x.
SMELT_API Array relu(const Array& x, Where where = Where::here());
/// x where x >= 0, else slope * x. Floats.
SMELT_API Array leaky_relu(const Array& x, const Array& slope = 0.01, Where where = Where::here());
/// x where x > 0, else alpha * (exp(x) - 1). Floats. Clevert et al. 2015.
SMELT_API Array elu(const Array& x, const Array& alpha = 1.0, Where where = Where::here());
/// x * (1 + erf(x / sqrt(2))) / 2; Approximate::Tanh is gelu_tanh. Floats. Hendrycks & Gimpel 2016.
SMELT_API Array gelu(const Array& x, Approximate approximate = Approximate::None, Where where = Where::here());
/// x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2. Floats. Hendrycks & Gimpel 2016.
SMELT_API Array gelu_tanh(const Array& x, Where where = Where::here());
/// 1 / (1 + exp(-x)). Floats; 0 or 1 far out, never nan.
SMELT_API Array sigmoid(const Array& x, Where where = Where::here());
/// x * sigmoid(x). Floats. Elfwing et al. 2017.
SMELT_API Array silu(const Array& x, Where where = Where::here());
/// log(1 + exp(x)), without overflow. Floats.
SMELT_API Array softplus(const Array& x, Where where = Where::here());
/// x * tanh(softplus(x)). Floats. Misra 2019.
SMELT_API Array mish(const Array& x, Where where = Where::here());
/// x * clamp(x + 3, 0, 6) / 6. Floats. Howard et al. 2019.
SMELT_API Array hardswish(const Array& x, Where where = Where::here());
/// i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0. Floats; scale and zero_point
/// broadcast. Halves round to even. Gives I8 in the shape of x.
SMELT_API Array quantize_int8(const Array& x, const Array& scale, const Array& zero_point = 0,
                              Where where = Where::here());
/// (x - zero_point) * scale, as dtype. Integers; scale and zero_point broadcast.
SMELT_API Array dequantize(const Array& x, const Array& scale, const Array& zero_point = 0, DType dtype = DType::F32,
                           Where where = Where::here());
/// x + weight * (y - x). Floats that broadcast.
SMELT_API Array lerp(const Array& x, const Array& y, const Array& weight, Where where = Where::here());

}  // namespace smelt
