/// \file
/// Functions of elements: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/call.hpp"

namespace smelt {

// ---- Elementwise

/// a + b; integers wrap. Integers and floats. Correctly rounded.
inline Array add(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("add", {a, b}, where);
}
/// a - b; integers wrap. Integers and floats. Correctly rounded.
inline Array subtract(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("subtract", {a, b}, where);
}
/// a * b; integers wrap. Integers and floats. Correctly rounded.
inline Array multiply(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("multiply", {a, b}, where);
}
/// a / b. Floats. Correctly rounded.
inline Array divide(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("divide", {a, b}, where);
}
/// a // b, rounded down as in Python; integers: x // 0 is 0, MIN // -1 is MIN. Integers and floats.
/// Error at most 1 ULP (f32), 1 (f64).
inline Array floor_divide(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("floor_divide", {a, b}, where);
}
/// a % b with the sign of b, as in Python; integers: x % 0 is 0; f64: nan where |a / b| is 2^300
/// and more. Integers and floats. Error at most 1 ULP (f32), 1 (f64).
inline Array remainder(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("remainder", {a, b}, where);
}
/// remainder with the sign of a, as in C; integers: fmod(x, 0) is 0; f64: nan where |a / b| is
/// 2^300 and more. Integers and floats.
inline Array fmod(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("fmod", {a, b}, where);
}
/// a ** b; integers wrap, a negative exponent gives 0 unless a is 1 or -1. Integers and floats.
/// Error at most 4 ULP (f32), 4 (f64).
inline Array pow(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("pow", {a, b}, where);
}
/// -a; integers wrap. Integers and floats.
inline Array negative(const Array& a, Where where = Where::here()) { return detail::call("negative", {a}, where); }
/// absolute value; abs(MIN) is MIN. Integers and floats.
inline Array abs(const Array& a, Where where = Where::here()) { return detail::call("abs", {a}, where); }
/// -1, 0 or 1; sign(0.0) keeps its zero, sign(nan) is nan. Integers and floats.
inline Array sign(const Array& a, Where where = Where::here()) { return detail::call("sign", {a}, where); }
/// a * b + c with one rounding. Floats. Correctly rounded.
inline Array fma(const Array& a, const Array& b, const Array& c, Where where = Where::here()) {
  return detail::call("fma", {a, b, c}, where);
}
/// a * a. Integers and floats. Correctly rounded.
inline Array square(const Array& a, Where where = Where::here()) { return detail::call("square", {a}, where); }
/// 1 / a. Floats. Correctly rounded.
inline Array reciprocal(const Array& a, Where where = Where::here()) { return detail::call("reciprocal", {a}, where); }
/// the larger; nan if either is nan; +0 is above -0. Integers and floats.
inline Array maximum(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("maximum", {a, b}, where);
}
/// the smaller; nan if either is nan; -0 is below +0. Integers and floats.
inline Array minimum(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("minimum", {a, b}, where);
}
/// largest integer not above a. Floats.
inline Array floor(const Array& a, Where where = Where::here()) { return detail::call("floor", {a}, where); }
/// smallest integer not below a. Floats.
inline Array ceil(const Array& a, Where where = Where::here()) { return detail::call("ceil", {a}, where); }
/// a without its fraction. Floats.
inline Array trunc(const Array& a, Where where = Where::here()) { return detail::call("trunc", {a}, where); }
/// nearest integer, halves to even. Floats.
inline Array round(const Array& a, Where where = Where::here()) { return detail::call("round", {a}, where); }
/// square root. Floats. Correctly rounded.
inline Array sqrt(const Array& a, Where where = Where::here()) { return detail::call("sqrt", {a}, where); }
/// 1 / sqrt(a). Floats. Error at most 2 ULP (f32), 1.5 (f64).
inline Array rsqrt(const Array& a, Where where = Where::here()) { return detail::call("rsqrt", {a}, where); }
/// cube root. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array cbrt(const Array& a, Where where = Where::here()) { return detail::call("cbrt", {a}, where); }
/// sqrt(a*a + b*b) without overflow in between. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array hypot(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("hypot", {a, b}, where);
}
/// e ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array exp(const Array& a, Where where = Where::here()) { return detail::call("exp", {a}, where); }
/// 2 ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array exp2(const Array& a, Where where = Where::here()) { return detail::call("exp2", {a}, where); }
/// e ** a - 1, accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array expm1(const Array& a, Where where = Where::here()) { return detail::call("expm1", {a}, where); }
/// natural logarithm. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log(const Array& a, Where where = Where::here()) { return detail::call("log", {a}, where); }
/// logarithm to base 2. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log2(const Array& a, Where where = Where::here()) { return detail::call("log2", {a}, where); }
/// logarithm to base 10. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log10(const Array& a, Where where = Where::here()) { return detail::call("log10", {a}, where); }
/// log(1 + a), accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log1p(const Array& a, Where where = Where::here()) { return detail::call("log1p", {a}, where); }
/// sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array sin(const Array& a, Where where = Where::here()) { return detail::call("sin", {a}, where); }
/// cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array cos(const Array& a, Where where = Where::here()) { return detail::call("cos", {a}, where); }
/// tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array tan(const Array& a, Where where = Where::here()) { return detail::call("tan", {a}, where); }
/// inverse sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2]; nan outside
/// of [-1, 1].
inline Array asin(const Array& a, Where where = Where::here()) { return detail::call("asin", {a}, where); }
/// inverse cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [0, pi]; nan outside of
/// [-1, 1].
inline Array acos(const Array& a, Where where = Where::here()) { return detail::call("acos", {a}, where); }
/// inverse tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2].
inline Array atan(const Array& a, Where where = Where::here()) { return detail::call("atan", {a}, where); }
/// angle of the point (b, a). Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi, pi].
inline Array atan2(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("atan2", {a, b}, where);
}
/// hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array sinh(const Array& a, Where where = Where::here()) { return detail::call("sinh", {a}, where); }
/// hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array cosh(const Array& a, Where where = Where::here()) { return detail::call("cosh", {a}, where); }
/// hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array tanh(const Array& a, Where where = Where::here()) { return detail::call("tanh", {a}, where); }
/// inverse hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array asinh(const Array& a, Where where = Where::here()) { return detail::call("asinh", {a}, where); }
/// inverse hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array acosh(const Array& a, Where where = Where::here()) { return detail::call("acosh", {a}, where); }
/// inverse hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array atanh(const Array& a, Where where = Where::here()) { return detail::call("atanh", {a}, where); }
/// error function. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array erf(const Array& a, Where where = Where::here()) { return detail::call("erf", {a}, where); }
/// 1 - erf(a), accurate in the tail. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array erfc(const Array& a, Where where = Where::here()) { return detail::call("erfc", {a}, where); }
/// magnitude of a, sign of b. Floats.
inline Array copysign(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("copysign", {a, b}, where);
}
/// a == b. Any dtype; gives Bool.
inline Array equal(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("equal", {a, b}, where);
}
/// a != b. Any dtype; gives Bool.
inline Array not_equal(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("not_equal", {a, b}, where);
}
/// a < b. Any dtype; gives Bool.
inline Array less(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("less", {a, b}, where);
}
/// a <= b. Any dtype; gives Bool.
inline Array less_equal(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("less_equal", {a, b}, where);
}
/// a > b. Any dtype; gives Bool.
inline Array greater(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("greater", {a, b}, where);
}
/// a >= b. Any dtype; gives Bool.
inline Array greater_equal(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("greater_equal", {a, b}, where);
}
/// true for nan. Integers and floats; gives Bool.
inline Array isnan(const Array& a, Where where = Where::here()) { return detail::call("isnan", {a}, where); }
/// true for inf and -inf. Integers and floats; gives Bool.
inline Array isinf(const Array& a, Where where = Where::here()) { return detail::call("isinf", {a}, where); }
/// true for all but nan, inf and -inf. Integers and floats; gives Bool.
inline Array isfinite(const Array& a, Where where = Where::here()) { return detail::call("isfinite", {a}, where); }
/// a & b; logical on bool. Integers and Bool.
inline Array bitwise_and(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("bitwise_and", {a, b}, where);
}
/// a | b; logical on bool. Integers and Bool.
inline Array bitwise_or(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("bitwise_or", {a, b}, where);
}
/// a ^ b; logical on bool. Integers and Bool.
inline Array bitwise_xor(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("bitwise_xor", {a, b}, where);
}
/// ~a; logical on bool. Integers and Bool.
inline Array bitwise_not(const Array& a, Where where = Where::here()) {
  return detail::call("bitwise_not", {a}, where);
}
/// a << b; 0 when b is negative or the width and more. Integers.
inline Array left_shift(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("left_shift", {a, b}, where);
}
/// a >> b, keeping the sign; all sign bits when b is negative or the width and more. Integers.
inline Array right_shift(const Array& a, const Array& b, Where where = Where::here()) {
  return detail::call("right_shift", {a, b}, where);
}
/// x where condition is true, else y. condition is Bool, x and y of any dtype.
inline Array where(const Array& condition, const Array& x, const Array& y, Where where = Where::here()) {
  return detail::call("where", {condition, x, y}, where);
}

// ---- Activations and quantisation

/// true where both are; numbers are true unless 0. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_and(const Array& x, const Array& y, Where where = Where::here()) {
  return detail::call("logical_and", {x, y}, where);
}
/// true where either is. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_or(const Array& x, const Array& y, Where where = Where::here()) {
  return detail::call("logical_or", {x, y}, where);
}
/// true where exactly one is. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_xor(const Array& x, const Array& y, Where where = Where::here()) {
  return detail::call("logical_xor", {x, y}, where);
}
/// true where x is false or 0. Any dtype; gives Bool.
inline Array logical_not(const Array& x, Where where = Where::here()) {
  return detail::call("logical_not", {x}, where);
}
/// minimum(maximum(x, lo), hi); nan stays nan; a bound of {} does not bound. Numbers; bounds
/// broadcast.
inline Array clamp(const Array& x, const Array& lo = {}, const Array& hi = {}, Where where = Where::here()) {
  return detail::call("clamp", {x, lo, hi}, where);
}
/// maximum(x, 0). Numbers. Gives the shape and dtype of x.
inline Array relu(const Array& x, Where where = Where::here()) { return detail::call("relu", {x}, where); }
/// x where x >= 0, else slope * x. Floats.
inline Array leaky_relu(const Array& x, const Array& slope = 0.01, Where where = Where::here()) {
  return detail::call("leaky_relu", {x, slope}, where);
}
/// x where x > 0, else alpha * (exp(x) - 1). Floats. Clevert et al. 2015.
inline Array elu(const Array& x, const Array& alpha = 1.0, Where where = Where::here()) {
  return detail::call("elu", {x, alpha}, where);
}
/// x * (1 + erf(x / sqrt(2))) / 2; Approximate::Tanh is gelu_tanh. Floats. Hendrycks & Gimpel 2016.
inline Array gelu(const Array& x, Approximate approximate = Approximate::None, Where where = Where::here()) {
  return detail::call("gelu", {x, approximate}, where);
}
/// x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2. Floats. Hendrycks & Gimpel 2016.
inline Array gelu_tanh(const Array& x, Where where = Where::here()) { return detail::call("gelu_tanh", {x}, where); }
/// 1 / (1 + exp(-x)). Floats; 0 or 1 far out, never nan.
inline Array sigmoid(const Array& x, Where where = Where::here()) { return detail::call("sigmoid", {x}, where); }
/// x * sigmoid(x). Floats. Elfwing et al. 2017.
inline Array silu(const Array& x, Where where = Where::here()) { return detail::call("silu", {x}, where); }
/// log(1 + exp(x)), without overflow. Floats.
inline Array softplus(const Array& x, Where where = Where::here()) { return detail::call("softplus", {x}, where); }
/// x * tanh(softplus(x)). Floats. Misra 2019.
inline Array mish(const Array& x, Where where = Where::here()) { return detail::call("mish", {x}, where); }
/// x * clamp(x + 3, 0, 6) / 6. Floats. Howard et al. 2019.
inline Array hardswish(const Array& x, Where where = Where::here()) { return detail::call("hardswish", {x}, where); }
/// i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0. Floats; scale and zero_point
/// broadcast. Halves round to even. Gives I8 in the shape of x.
inline Array quantize_int8(const Array& x, const Array& scale, const Array& zero_point = 0,
                           Where where = Where::here()) {
  return detail::call("quantize_int8", {x, scale, zero_point}, where);
}
/// (x - zero_point) * scale, as dtype. Integers; scale and zero_point broadcast.
inline Array dequantize(const Array& x, const Array& scale, const Array& zero_point = 0, DType dtype = DType::F32,
                        Where where = Where::here()) {
  return detail::call("dequantize", {x, scale, zero_point, dtype}, where);
}
/// x + weight * (y - x). Floats that broadcast.
inline Array lerp(const Array& x, const Array& y, const Array& weight, Where where = Where::here()) {
  return detail::call("lerp", {x, y, weight}, where);
}

}  // namespace smelt
