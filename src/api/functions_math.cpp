// Functions of elements.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#include "smelt/functions_math.hpp"

#include "smelt/call.hpp"

namespace smelt {

Array add(const Array& a, const Array& b, Where where) { return detail::call("add", {a, b}, where); }
Array subtract(const Array& a, const Array& b, Where where) { return detail::call("subtract", {a, b}, where); }
Array multiply(const Array& a, const Array& b, Where where) { return detail::call("multiply", {a, b}, where); }
Array divide(const Array& a, const Array& b, Where where) { return detail::call("divide", {a, b}, where); }
Array floor_divide(const Array& a, const Array& b, Where where) { return detail::call("floor_divide", {a, b}, where); }
Array remainder(const Array& a, const Array& b, Where where) { return detail::call("remainder", {a, b}, where); }
Array fmod(const Array& a, const Array& b, Where where) { return detail::call("fmod", {a, b}, where); }
Array pow(const Array& a, const Array& b, Where where) { return detail::call("pow", {a, b}, where); }
Array negative(const Array& a, Where where) { return detail::call("negative", {a}, where); }
Array abs(const Array& a, Where where) { return detail::call("abs", {a}, where); }
Array sign(const Array& a, Where where) { return detail::call("sign", {a}, where); }
Array fma(const Array& a, const Array& b, const Array& c, Where where) { return detail::call("fma", {a, b, c}, where); }
Array square(const Array& a, Where where) { return detail::call("square", {a}, where); }
Array reciprocal(const Array& a, Where where) { return detail::call("reciprocal", {a}, where); }
Array maximum(const Array& a, const Array& b, Where where) { return detail::call("maximum", {a, b}, where); }
Array minimum(const Array& a, const Array& b, Where where) { return detail::call("minimum", {a, b}, where); }
Array floor(const Array& a, Where where) { return detail::call("floor", {a}, where); }
Array ceil(const Array& a, Where where) { return detail::call("ceil", {a}, where); }
Array trunc(const Array& a, Where where) { return detail::call("trunc", {a}, where); }
Array round(const Array& a, Where where) { return detail::call("round", {a}, where); }
Array sqrt(const Array& a, Where where) { return detail::call("sqrt", {a}, where); }
Array rsqrt(const Array& a, Where where) { return detail::call("rsqrt", {a}, where); }
Array cbrt(const Array& a, Where where) { return detail::call("cbrt", {a}, where); }
Array hypot(const Array& a, const Array& b, Where where) { return detail::call("hypot", {a, b}, where); }
Array exp(const Array& a, Where where) { return detail::call("exp", {a}, where); }
Array exp2(const Array& a, Where where) { return detail::call("exp2", {a}, where); }
Array expm1(const Array& a, Where where) { return detail::call("expm1", {a}, where); }
Array log(const Array& a, Where where) { return detail::call("log", {a}, where); }
Array log2(const Array& a, Where where) { return detail::call("log2", {a}, where); }
Array log10(const Array& a, Where where) { return detail::call("log10", {a}, where); }
Array log1p(const Array& a, Where where) { return detail::call("log1p", {a}, where); }
Array sin(const Array& a, Where where) { return detail::call("sin", {a}, where); }
Array cos(const Array& a, Where where) { return detail::call("cos", {a}, where); }
Array tan(const Array& a, Where where) { return detail::call("tan", {a}, where); }
Array asin(const Array& a, Where where) { return detail::call("asin", {a}, where); }
Array acos(const Array& a, Where where) { return detail::call("acos", {a}, where); }
Array atan(const Array& a, Where where) { return detail::call("atan", {a}, where); }
Array atan2(const Array& a, const Array& b, Where where) { return detail::call("atan2", {a, b}, where); }
Array sinh(const Array& a, Where where) { return detail::call("sinh", {a}, where); }
Array cosh(const Array& a, Where where) { return detail::call("cosh", {a}, where); }
Array tanh(const Array& a, Where where) { return detail::call("tanh", {a}, where); }
Array asinh(const Array& a, Where where) { return detail::call("asinh", {a}, where); }
Array acosh(const Array& a, Where where) { return detail::call("acosh", {a}, where); }
Array atanh(const Array& a, Where where) { return detail::call("atanh", {a}, where); }
Array erf(const Array& a, Where where) { return detail::call("erf", {a}, where); }
Array erfc(const Array& a, Where where) { return detail::call("erfc", {a}, where); }
Array copysign(const Array& a, const Array& b, Where where) { return detail::call("copysign", {a, b}, where); }
Array equal(const Array& a, const Array& b, Where where) { return detail::call("equal", {a, b}, where); }
Array not_equal(const Array& a, const Array& b, Where where) { return detail::call("not_equal", {a, b}, where); }
Array less(const Array& a, const Array& b, Where where) { return detail::call("less", {a, b}, where); }
Array less_equal(const Array& a, const Array& b, Where where) { return detail::call("less_equal", {a, b}, where); }
Array greater(const Array& a, const Array& b, Where where) { return detail::call("greater", {a, b}, where); }
Array greater_equal(const Array& a, const Array& b, Where where) {
  return detail::call("greater_equal", {a, b}, where);
}
Array isnan(const Array& a, Where where) { return detail::call("isnan", {a}, where); }
Array isinf(const Array& a, Where where) { return detail::call("isinf", {a}, where); }
Array isfinite(const Array& a, Where where) { return detail::call("isfinite", {a}, where); }
Array bitwise_and(const Array& a, const Array& b, Where where) { return detail::call("bitwise_and", {a, b}, where); }
Array bitwise_or(const Array& a, const Array& b, Where where) { return detail::call("bitwise_or", {a, b}, where); }
Array bitwise_xor(const Array& a, const Array& b, Where where) { return detail::call("bitwise_xor", {a, b}, where); }
Array bitwise_not(const Array& a, Where where) { return detail::call("bitwise_not", {a}, where); }
Array left_shift(const Array& a, const Array& b, Where where) { return detail::call("left_shift", {a, b}, where); }
Array right_shift(const Array& a, const Array& b, Where where) { return detail::call("right_shift", {a, b}, where); }
Array where(const Array& condition, const Array& x, const Array& y, Where where) {
  return detail::call("where", {condition, x, y}, where);
}
Array logical_and(const Array& x, const Array& y, Where where) { return detail::call("logical_and", {x, y}, where); }
Array logical_or(const Array& x, const Array& y, Where where) { return detail::call("logical_or", {x, y}, where); }
Array logical_xor(const Array& x, const Array& y, Where where) { return detail::call("logical_xor", {x, y}, where); }
Array logical_not(const Array& x, Where where) { return detail::call("logical_not", {x}, where); }
Array clamp(const Array& x, const Array& lo, const Array& hi, Where where) {
  return detail::call("clamp", {x, lo, hi}, where);
}
Array relu(const Array& x, Where where) { return detail::call("relu", {x}, where); }
Array leaky_relu(const Array& x, const Array& slope, Where where) {
  return detail::call("leaky_relu", {x, slope}, where);
}
Array elu(const Array& x, const Array& alpha, Where where) { return detail::call("elu", {x, alpha}, where); }
Array gelu(const Array& x, Approximate approximate, Where where) {
  return detail::call("gelu", {x, approximate}, where);
}
Array gelu_tanh(const Array& x, Where where) { return detail::call("gelu_tanh", {x}, where); }
Array sigmoid(const Array& x, Where where) { return detail::call("sigmoid", {x}, where); }
Array silu(const Array& x, Where where) { return detail::call("silu", {x}, where); }
Array softplus(const Array& x, Where where) { return detail::call("softplus", {x}, where); }
Array mish(const Array& x, Where where) { return detail::call("mish", {x}, where); }
Array hardswish(const Array& x, Where where) { return detail::call("hardswish", {x}, where); }
Array quantize_int8(const Array& x, const Array& scale, const Array& zero_point, Where where) {
  return detail::call("quantize_int8", {x, scale, zero_point}, where);
}
Array dequantize(const Array& x, const Array& scale, const Array& zero_point, DType dtype, Where where) {
  return detail::call("dequantize", {x, scale, zero_point, dtype}, where);
}
Array lerp(const Array& x, const Array& y, const Array& weight, Where where) {
  return detail::call("lerp", {x, y, weight}, where);
}

}  // namespace smelt
