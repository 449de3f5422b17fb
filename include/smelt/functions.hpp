/// \file
/// The functions of arrays. Written by test_api from the table that the expression language has them from (SMELT_UPDATE_GOLDENS=1
/// writes it anew): same names, same meanings, one implementation. docs/language.md has their other names.
///
/// All of them
/// - give an unevaluated value: nothing is calculated before eval(), or before a compiled function runs;
/// - take arrays and numbers, which broadcast as in NumPy and promote as the Array API standard says;
/// - compute f16 and bf16 in f32, and round where a value is stored;
/// - throw UserError at once for dtypes, shapes or axes that do not fit, with them and what to do.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/call.hpp"

namespace smelt {

/// How gelu() is calculated.
enum class Approximate : uint8_t { None, Tanh };
/// How a loss becomes one number, or stays one for each element.
enum class Reduction : uint8_t { Mean, Sum, None };
/// What take() and scatter() make of an index that is out of range; Drop: nothing is written (scatters only).
enum class OutOfRange : uint8_t { Raise, Clip, Wrap, Drop };
/// What stands outside of an array, as numpy.pad has it: a value; the outermost element; the array mirrored without and with that
/// element; the array again.
enum class PadMode : uint8_t { Constant, Edge, Reflect, Symmetric, Wrap };
/// How cumsum() and the like run: cumsum(x, -1, {.reverse = true}).
struct ScanOptions {
  bool reverse = false;    ///< from the end of the axis to its start
  bool exclusive = false;  ///< of what comes before an element, without itself
  Array restart = {};      ///< Bool, broadcast to x: true where the running value begins anew
};

namespace detail {
inline std::string_view text_of(Approximate a) { return a == Approximate::None ? "none" : "tanh"; }
inline std::string_view text_of(Reduction r) {
  return r == Reduction::Mean ? "mean" : r == Reduction::Sum ? "sum" : "none";
}
inline std::string_view text_of(OutOfRange r) {
  return r == OutOfRange::Raise ? "raise" : r == OutOfRange::Clip ? "clip" : r == OutOfRange::Wrap ? "wrap" : "drop";
}
inline std::string_view text_of(PadMode m) {
  return m == PadMode::Constant    ? "constant"
         : m == PadMode::Edge      ? "edge"
         : m == PadMode::Reflect   ? "reflect"
         : m == PadMode::Symmetric ? "symmetric"
                                   : "wrap";
}
inline Argument flag(bool value) {
  Argument argument;
  argument.kind = Argument::Kind::Flag;
  argument.integer = value;
  return argument;
}
}  // namespace detail

// ---- Elementwise

/// a + b; integers wrap. Integers and floats. Correctly rounded.
inline Array add(const Array& a, const Array& b) { return detail::call("add", {a, b}); }
/// a - b; integers wrap. Integers and floats. Correctly rounded.
inline Array subtract(const Array& a, const Array& b) { return detail::call("subtract", {a, b}); }
/// a * b; integers wrap. Integers and floats. Correctly rounded.
inline Array multiply(const Array& a, const Array& b) { return detail::call("multiply", {a, b}); }
/// a / b. Floats. Correctly rounded.
inline Array divide(const Array& a, const Array& b) { return detail::call("divide", {a, b}); }
/// a // b, rounded down as in Python; integers: x // 0 is 0, MIN // -1 is MIN. Integers and floats. Error at most 1 ULP
/// (f32), 1 (f64).
inline Array floor_divide(const Array& a, const Array& b) { return detail::call("floor_divide", {a, b}); }
/// a % b with the sign of b, as in Python; integers: x % 0 is 0; f64: nan where |a / b| is 2^300 and more. Integers and
/// floats. Error at most 1 ULP (f32), 1 (f64).
inline Array remainder(const Array& a, const Array& b) { return detail::call("remainder", {a, b}); }
/// remainder with the sign of a, as in C; integers: fmod(x, 0) is 0; f64: nan where |a / b| is 2^300 and more. Integers
/// and floats.
inline Array fmod(const Array& a, const Array& b) { return detail::call("fmod", {a, b}); }
/// a ** b; integers wrap, a negative exponent gives 0 unless a is 1 or -1. Integers and floats. Error at most 4 ULP
/// (f32), 4 (f64).
inline Array pow(const Array& a, const Array& b) { return detail::call("pow", {a, b}); }
/// -a; integers wrap. Integers and floats.
inline Array negative(const Array& a) { return detail::call("negative", {a}); }
/// absolute value; abs(MIN) is MIN. Integers and floats.
inline Array abs(const Array& a) { return detail::call("abs", {a}); }
/// -1, 0 or 1; sign(0.0) keeps its zero, sign(nan) is nan. Integers and floats.
inline Array sign(const Array& a) { return detail::call("sign", {a}); }
/// a * b + c with one rounding. Floats. Correctly rounded.
inline Array fma(const Array& a, const Array& b, const Array& c) { return detail::call("fma", {a, b, c}); }
/// a * a. Integers and floats. Correctly rounded.
inline Array square(const Array& a) { return detail::call("square", {a}); }
/// 1 / a. Floats. Correctly rounded.
inline Array reciprocal(const Array& a) { return detail::call("reciprocal", {a}); }
/// the larger; nan if either is nan; +0 is above -0. Integers and floats.
inline Array maximum(const Array& a, const Array& b) { return detail::call("maximum", {a, b}); }
/// the smaller; nan if either is nan; -0 is below +0. Integers and floats.
inline Array minimum(const Array& a, const Array& b) { return detail::call("minimum", {a, b}); }
/// largest integer not above a. Floats.
inline Array floor(const Array& a) { return detail::call("floor", {a}); }
/// smallest integer not below a. Floats.
inline Array ceil(const Array& a) { return detail::call("ceil", {a}); }
/// a without its fraction. Floats.
inline Array trunc(const Array& a) { return detail::call("trunc", {a}); }
/// nearest integer, halves to even. Floats.
inline Array round(const Array& a) { return detail::call("round", {a}); }
/// square root. Floats. Correctly rounded.
inline Array sqrt(const Array& a) { return detail::call("sqrt", {a}); }
/// 1 / sqrt(a). Floats. Error at most 2 ULP (f32), 1.5 (f64).
inline Array rsqrt(const Array& a) { return detail::call("rsqrt", {a}); }
/// cube root. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array cbrt(const Array& a) { return detail::call("cbrt", {a}); }
/// sqrt(a*a + b*b) without overflow in between. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array hypot(const Array& a, const Array& b) { return detail::call("hypot", {a, b}); }
/// e ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array exp(const Array& a) { return detail::call("exp", {a}); }
/// 2 ** a. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array exp2(const Array& a) { return detail::call("exp2", {a}); }
/// e ** a - 1, accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array expm1(const Array& a) { return detail::call("expm1", {a}); }
/// natural logarithm. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log(const Array& a) { return detail::call("log", {a}); }
/// logarithm to base 2. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log2(const Array& a) { return detail::call("log2", {a}); }
/// logarithm to base 10. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log10(const Array& a) { return detail::call("log10", {a}); }
/// log(1 + a), accurate near 0. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array log1p(const Array& a) { return detail::call("log1p", {a}); }
/// sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array sin(const Array& a) { return detail::call("sin", {a}); }
/// cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array cos(const Array& a) { return detail::call("cos", {a}); }
/// tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians.
inline Array tan(const Array& a) { return detail::call("tan", {a}); }
/// inverse sine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2]; nan outside of [-1, 1].
inline Array asin(const Array& a) { return detail::call("asin", {a}); }
/// inverse cosine. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [0, pi]; nan outside of [-1, 1].
inline Array acos(const Array& a) { return detail::call("acos", {a}); }
/// inverse tangent. Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi/2, pi/2].
inline Array atan(const Array& a) { return detail::call("atan", {a}); }
/// angle of the point (b, a). Floats. Error at most 4 ULP (f32), 4 (f64). Radians, in [-pi, pi].
inline Array atan2(const Array& a, const Array& b) { return detail::call("atan2", {a, b}); }
/// hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array sinh(const Array& a) { return detail::call("sinh", {a}); }
/// hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array cosh(const Array& a) { return detail::call("cosh", {a}); }
/// hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array tanh(const Array& a) { return detail::call("tanh", {a}); }
/// inverse hyperbolic sine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array asinh(const Array& a) { return detail::call("asinh", {a}); }
/// inverse hyperbolic cosine. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array acosh(const Array& a) { return detail::call("acosh", {a}); }
/// inverse hyperbolic tangent. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array atanh(const Array& a) { return detail::call("atanh", {a}); }
/// error function. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array erf(const Array& a) { return detail::call("erf", {a}); }
/// 1 - erf(a), accurate in the tail. Floats. Error at most 4 ULP (f32), 4 (f64).
inline Array erfc(const Array& a) { return detail::call("erfc", {a}); }
/// magnitude of a, sign of b. Floats.
inline Array copysign(const Array& a, const Array& b) { return detail::call("copysign", {a, b}); }
/// a == b. Any dtype; gives Bool.
inline Array equal(const Array& a, const Array& b) { return detail::call("equal", {a, b}); }
/// a != b. Any dtype; gives Bool.
inline Array not_equal(const Array& a, const Array& b) { return detail::call("not_equal", {a, b}); }
/// a < b. Any dtype; gives Bool.
inline Array less(const Array& a, const Array& b) { return detail::call("less", {a, b}); }
/// a <= b. Any dtype; gives Bool.
inline Array less_equal(const Array& a, const Array& b) { return detail::call("less_equal", {a, b}); }
/// a > b. Any dtype; gives Bool.
inline Array greater(const Array& a, const Array& b) { return detail::call("greater", {a, b}); }
/// a >= b. Any dtype; gives Bool.
inline Array greater_equal(const Array& a, const Array& b) { return detail::call("greater_equal", {a, b}); }
/// true for nan. Integers and floats; gives Bool.
inline Array isnan(const Array& a) { return detail::call("isnan", {a}); }
/// true for inf and -inf. Integers and floats; gives Bool.
inline Array isinf(const Array& a) { return detail::call("isinf", {a}); }
/// true for all but nan, inf and -inf. Integers and floats; gives Bool.
inline Array isfinite(const Array& a) { return detail::call("isfinite", {a}); }
/// a & b; logical on bool. Integers and Bool.
inline Array bitwise_and(const Array& a, const Array& b) { return detail::call("bitwise_and", {a, b}); }
/// a | b; logical on bool. Integers and Bool.
inline Array bitwise_or(const Array& a, const Array& b) { return detail::call("bitwise_or", {a, b}); }
/// a ^ b; logical on bool. Integers and Bool.
inline Array bitwise_xor(const Array& a, const Array& b) { return detail::call("bitwise_xor", {a, b}); }
/// ~a; logical on bool. Integers and Bool.
inline Array bitwise_not(const Array& a) { return detail::call("bitwise_not", {a}); }
/// a << b; 0 when b is negative or the width and more. Integers.
inline Array left_shift(const Array& a, const Array& b) { return detail::call("left_shift", {a, b}); }
/// a >> b, keeping the sign; all sign bits when b is negative or the width and more. Integers.
inline Array right_shift(const Array& a, const Array& b) { return detail::call("right_shift", {a, b}); }
/// x where condition is true, else y. condition is Bool, x and y of any dtype.
inline Array where(const Array& condition, const Array& x, const Array& y) {
  return detail::call("where", {condition, x, y});
}

// ---- Activations and quantisation

/// truth of both; numbers are true unless 0. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_and(const Array& x, const Array& y) { return detail::call("logical_and", {x, y}); }
/// truth of either. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_or(const Array& x, const Array& y) { return detail::call("logical_or", {x, y}); }
/// truth of one, not both. Arrays that broadcast, of any dtype; gives Bool.
inline Array logical_xor(const Array& x, const Array& y) { return detail::call("logical_xor", {x, y}); }
/// true where x is false or 0. Any dtype; gives Bool.
inline Array logical_not(const Array& x) { return detail::call("logical_not", {x}); }
/// minimum(maximum(x, lo), hi); nan stays nan; a bound of {} does not bound. Numbers; bounds broadcast.
inline Array clamp(const Array& x, const Array& lo = {}, const Array& hi = {}) {
  return detail::call("clamp", {x, lo, hi});
}
/// maximum(x, 0). Numbers. Gives the shape and dtype of x.
inline Array relu(const Array& x) { return detail::call("relu", {x}); }
/// x where x >= 0, else slope * x. Floats.
inline Array leaky_relu(const Array& x, const Array& slope = 0.01) { return detail::call("leaky_relu", {x, slope}); }
/// x where x > 0, else alpha * (exp(x) - 1). Floats. Clevert et al. 2015.
inline Array elu(const Array& x, const Array& alpha = 1.0) { return detail::call("elu", {x, alpha}); }
/// x * (1 + erf(x / sqrt(2))) / 2; Approximate::Tanh is gelu_tanh. Floats. Hendrycks & Gimpel 2016.
inline Array gelu(const Array& x, Approximate approximate = Approximate::None) {
  return detail::call("gelu", {x, detail::text_of(approximate)});
}
/// x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) / 2. Floats. Hendrycks & Gimpel 2016.
inline Array gelu_tanh(const Array& x) { return detail::call("gelu_tanh", {x}); }
/// 1 / (1 + exp(-x)). Floats; 0 or 1 far out, never nan.
inline Array sigmoid(const Array& x) { return detail::call("sigmoid", {x}); }
/// x * sigmoid(x). Floats. Elfwing et al. 2017.
inline Array silu(const Array& x) { return detail::call("silu", {x}); }
/// log(1 + exp(x)), without overflow. Floats.
inline Array softplus(const Array& x) { return detail::call("softplus", {x}); }
/// x * tanh(softplus(x)). Floats. Misra 2019.
inline Array mish(const Array& x) { return detail::call("mish", {x}); }
/// x * clamp(x + 3, 0, 6) / 6. Floats. Howard et al. 2019.
inline Array hardswish(const Array& x) { return detail::call("hardswish", {x}); }
/// i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0. Floats; scale and zero_point broadcast. Halves
/// round to even. Gives I8 in the shape of x.
inline Array quantize_int8(const Array& x, const Array& scale, const Array& zero_point = 0) {
  return detail::call("quantize_int8", {x, scale, zero_point});
}
/// (x - zero_point) * scale, as dtype. Integers; scale and zero_point broadcast.
inline Array dequantize(const Array& x, const Array& scale, const Array& zero_point = 0, DType dtype = DType::F32) {
  return detail::call("dequantize", {x, scale, zero_point, dtype});
}
/// x + weight * (y - x). Floats that broadcast.
inline Array lerp(const Array& x, const Array& y, const Array& weight) { return detail::call("lerp", {x, y, weight}); }

// ---- Reductions

/// sum; bools and integers below 64 bits add up in i64 or u64. axis: one, several, or {} for all; they are dropped, or
/// kept with size 1.
inline Array sum(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("sum", {x, axis, keep});
}
/// product; integers as in sum. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array prod(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("prod", {x, axis, keep});
}
/// largest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array max(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("max", {x, axis, keep});
}
/// smallest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array min(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("min", {x, axis, keep});
}
/// whether one element is true; numbers are true unless 0. axis: one, several, or {} for all; they are dropped, or kept
/// with size 1.
inline Array any(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("any", {x, axis, keep});
}
/// whether every element is true. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array all(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("all", {x, axis, keep});
}
/// index of the first largest element, or of the first nan; of the flattened array without an axis. Gives I64.
inline Array argmax(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("argmax", {x, axis, keep});
}
/// index of the first smallest element, or of the first nan; of the flattened array without an axis. Gives I64.
inline Array argmin(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("argmin", {x, axis, keep});
}
/// sum / count, of floats. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array mean(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("mean", {x, axis, keep});
}
/// sum((x - mean(x))**2) / (count - ddof), in two passes. axis: one, several, or {} for all; they are dropped, or kept
/// with size 1.
inline Array var(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0) {
  return detail::call("var", {x, axis, ddof, keep});
}
/// sqrt(var(x)). Called std in the expression language. axis: as in var().
inline Array stddev(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0) {
  return detail::call("std", {x, axis, ddof, keep});
}
/// log(sum(exp(x))), without overflow. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array logsumexp(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("logsumexp", {x, axis, keep});
}
/// sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord may be infinite, and 0 counts what is not 0. axis:
/// one, several, or {} for all; they are dropped, or kept with size 1.
inline Array norm(const Array& x, double ord = 2, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("norm", {x, ord, axis, keep});
}
/// sqrt(sum(x * x)). axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array l2norm(const Array& x, const Axes& axis = {}, KeepDims keep = {}) {
  return detail::call("l2norm", {x, axis, keep});
}

// ---- Scans

/// running sum along an axis, from the start or as `how` says; integers as in sum().
inline Array cumsum(const Array& x, int axis = -1, const ScanOptions& how = {}) {
  return detail::call("cumsum", {x, axis, detail::flag(how.reverse), detail::flag(how.exclusive), how.restart});
}
/// running product along an axis, from the start or as `how` says; integers as in sum().
inline Array cumprod(const Array& x, int axis = -1, const ScanOptions& how = {}) {
  return detail::call("cumprod", {x, axis, detail::flag(how.reverse), detail::flag(how.exclusive), how.restart});
}
/// largest element so far along an axis; nan from the first nan on.
inline Array cummax(const Array& x, int axis = -1, const ScanOptions& how = {}) {
  return detail::call("cummax", {x, axis, detail::flag(how.reverse), detail::flag(how.exclusive), how.restart});
}
/// smallest element so far along an axis; nan from the first nan on.
inline Array cummin(const Array& x, int axis = -1, const ScanOptions& how = {}) {
  return detail::call("cummin", {x, axis, detail::flag(how.reverse), detail::flag(how.exclusive), how.restart});
}
/// mean of the elements so far, of floats.
inline Array cummean(const Array& x, int axis = -1) { return detail::call("cummean", {x, axis}); }
/// log(cumsum(exp(x))) below the row's maximum; what lies further below it than exp can tell from 0 is -inf.
inline Array logcumsumexp(const Array& x, int axis = -1) { return detail::call("logcumsumexp", {x, axis}); }

// ---- Normalisation and losses

/// exp(x - max) / sum(exp(x - max)); a row of -inf alone gives nan. Gives the shape and dtype of x.
inline Array softmax(const Array& x, const Axes& axis = -1) { return detail::call("softmax", {x, axis}); }
/// log(softmax(x)), accurate. Gives the shape and dtype of x.
inline Array log_softmax(const Array& x, const Axes& axis = -1) { return detail::call("log_softmax", {x, axis}); }
/// (x - mean) / sqrt(var + eps) over the axes, then * weight + bias, which broadcast. Ba et al. 2016. Gives the shape
/// and dtype of x.
inline Array layernorm(const Array& x, const Array& weight = {}, const Array& bias = {}, const Axes& axis = -1,
                       const Array& eps = 1e-5) {
  return detail::call("layernorm", {x, weight, bias, axis, eps});
}
/// x / sqrt(mean(x*x) + eps) over the axes, then * weight. Zhang & Sennrich 2019. Gives the shape and dtype of x.
inline Array rmsnorm(const Array& x, const Array& weight = {}, const Axes& axis = -1, const Array& eps = 1e-6) {
  return detail::call("rmsnorm", {x, weight, axis, eps});
}
/// x: [N, C, ...]; each of the groups of channels is normalised with its axes; weight and bias: [C]. Wu & He 2018.
/// Gives the shape and dtype of x.
inline Array groupnorm(const Array& x, const Size& groups, const Array& weight = {}, const Array& bias = {},
                       const Array& eps = 1e-5) {
  return detail::call("groupnorm", {x, groups, weight, bias, eps});
}
/// inference: (x - mean) / sqrt(var + eps) * weight + bias, all of them [C] along the axis. Ioffe & Szegedy 2015. Gives
/// the shape and dtype of x.
inline Array batchnorm(const Array& x, const Array& mean, const Array& var, const Array& weight = {},
                       const Array& bias = {}, const Array& eps = 1e-5, int axis = 1) {
  return detail::call("batchnorm", {x, mean, var, weight, bias, eps, axis});
}
/// -log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of range: nan. Gives
/// the dtype of x: one number, or with Reduction::None the shape of targets.
inline Array cross_entropy(const Array& x, const Array& targets, int axis = -1, Reduction reduction = Reduction::Mean) {
  return detail::call("cross_entropy", {x, targets, axis, detail::text_of(reduction)});
}
/// (x - targets)**2, and its mean. Gives the dtype of x: one number, or with Reduction::None the broadcast shape.
inline Array mse(const Array& x, const Array& targets, Reduction reduction = Reduction::Mean) {
  return detail::call("mse", {x, targets, detail::text_of(reduction)});
}
/// with d = abs(x - targets): d*d/2 where d <= delta, else delta * (d - delta/2), and its mean. Huber 1964. Gives the
/// dtype of x: one number, or with Reduction::None the broadcast shape.
inline Array huber(const Array& x, const Array& targets, const Array& delta = 1.0,
                   Reduction reduction = Reduction::Mean) {
  return detail::call("huber", {x, targets, delta, detail::text_of(reduction)});
}

// ---- Movement

/// the same elements, row by row, in another shape; one size may be -1. Moves no data.
inline Array reshape(const Array& x, const Sizes& shape) { return detail::call("reshape", {x, shape}); }
/// reshape(x, -1).
inline Array flatten(const Array& x) { return detail::call("flatten", {x}); }
/// axes in another order; without axes: reversed, as x.T().
inline Array transpose(const Array& x, const Axes& axes = {}) { return detail::call("transpose", {x, axes}); }
/// two axes change places.
inline Array swapaxes(const Array& x, int axis1, int axis2) { return detail::call("swapaxes", {x, axis1, axis2}); }
/// one axis moves, the others keep their order.
inline Array moveaxis(const Array& x, int source, int destination) {
  return detail::call("moveaxis", {x, source, destination});
}
/// axes of size 1, and new ones in front, repeated to the shape.
inline Array broadcast_to(const Array& x, const Sizes& shape) { return detail::call("broadcast_to", {x, shape}); }
/// a new axis of size 1 at this place of the result.
inline Array expand_dims(const Array& x, const Axes& axis) { return detail::call("expand_dims", {x, axis}); }
/// drops axes of size 1: all, or those named.
inline Array squeeze(const Array& x, const Axes& axis = {}) { return detail::call("squeeze", {x, axis}); }
/// arrays one after the other along an axis.
inline Array concat(const std::vector<Array>& arrays, int axis = 0) { return detail::call("concat", {arrays, axis}); }
/// arrays of one shape along a new axis.
inline Array stack(const std::vector<Array>& arrays, int axis = 0) { return detail::call("stack", {arrays, axis}); }
/// value around x, or x continued; 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1, 2}} for each axis.
inline Array pad(const Array& x, const PadWidth& pad_width, const Array& value = 0, PadMode mode = PadMode::Constant) {
  return detail::call("pad", {x, pad_width, value, detail::text_of(mode)});
}
/// reversed along the axes, or all of them.
inline Array flip(const Array& x, const Axes& axis = {}) { return detail::call("flip", {x, axis}); }
/// elements move up by shift, and around the end; without an axis as if flattened.
inline Array roll(const Array& x, const Sizes& shift, const Axes& axis = {}) {
  return detail::call("roll", {x, shift, axis});
}
/// the whole of x again and again: reps[d] times along axis d.
inline Array tile(const Array& x, const Sizes& reps) { return detail::call("tile", {x, reps}); }
/// each element again and again; without an axis flattened.
inline Array repeat(const Array& x, const Size& repeats, const Axes& axis = {}) {
  return detail::call("repeat", {x, repeats, axis});
}
/// x[indices] along the axis, or of the flattened x; indices below 0 count from the end; out of range: an error when it
/// runs, the nearest, or modulo. Gives the shape of x with the axis replaced by the shape of indices.
inline Array take(const Array& x, const Array& indices, const Axes& axis = {}, OutOfRange mode = OutOfRange::Raise) {
  return detail::call("take", {x, indices, axis, detail::text_of(mode)});
}
/// x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are broadcast.
inline Array take_along_axis(const Array& x, const Array& indices, const Axes& axis = -1,
                             OutOfRange mode = OutOfRange::Raise) {
  return detail::call("take_along_axis", {x, indices, axis, detail::text_of(mode)});
}
/// zero above diagonal k of the last two axes.
inline Array tril(const Array& x, int64_t k = 0) { return detail::call("tril", {x, k}); }
/// zero below diagonal k of the last two axes.
inline Array triu(const Array& x, int64_t k = 0) { return detail::call("triu", {x, k}); }

// ---- Windows

/// views of size elements each, stride apart, in a new last axis for each windowed axis; without axes the last ones.
inline Array window(const Array& x, const Sizes& size, const Axes& axis = {}, const Sizes& stride = 1,
                    const Sizes& dilation = 1) {
  return detail::call("window", {x, size, axis, stride, dilation});
}
/// largest element of each window over the last axes, as many as there are sizes; stride: the size unless given.
inline Array max_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      const Sizes& dilation = 1) {
  return detail::call("max_pool", {x, size, stride, padding, dilation});
}
/// smallest element, as in max_pool.
inline Array min_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      const Sizes& dilation = 1) {
  return detail::call("min_pool", {x, size, stride, padding, dilation});
}
/// mean of each window, as in max_pool; the zeros of the padding count as elements, or not.
inline Array avg_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      bool count_padding = true) {
  return detail::call("avg_pool", {x, size, stride, padding, count_padding});
}
/// as PyTorch's: x [N, C, L], [N, C, H, W] or [N, C, D, H, W], weight [O, C // groups, window], bias [O].
inline Array conv(const Array& x, const Array& weight, const Array& bias = {}, const Sizes& stride = 1,
                  const Sizes& padding = 0, const Sizes& dilation = 1, const Size& groups = 1) {
  return detail::call("conv", {x, weight, bias, stride, padding, dilation, groups});
}
/// sum of kernel[j] * x[i + j] along the last axes, as many as the kernel has; only where the kernel lies inside of x.
inline Array correlate(const Array& x, const Array& kernel) { return detail::call("correlate", {x, kernel}); }
/// correlate at every element of x, with the middle of the kernel on it; outside of x stands what pad's mode says.
inline Array filter(const Array& x, const Array& kernel, PadMode mode = PadMode::Edge, const Array& value = 0) {
  return detail::call("filter", {x, kernel, detail::text_of(mode), value});
}

// ---- Creation and casts

/// start, start + step, ... below stop; arange(n) starts at 0. Integers give I64, floats F32. The step is not 0.
inline Array arange(const Array& start, const Array& stop = {}, const Array& step = 1,
                    std::optional<DType> dtype = {}) {
  return detail::call("arange", {start, stop, step, dtype});
}
/// [n, m] with ones on diagonal k, else zeros.
inline Array eye(const Size& n, const std::optional<Size>& m = {}, int64_t k = 0, DType dtype = DType::F32) {
  return detail::call("eye", {n, m, k, dtype});
}
/// an array of one value. Without a dtype that of the value: I64, F32 or Bool.
inline Array full(const Sizes& shape, const Array& value, std::optional<DType> dtype = {}) {
  return detail::call("full", {shape, value, dtype});
}
/// an array of 0.
inline Array zeros(const Sizes& shape, DType dtype = DType::F32) { return detail::call("zeros", {shape, dtype}); }
/// an array of 1.
inline Array ones(const Sizes& shape, DType dtype = DType::F32) { return detail::call("ones", {shape, dtype}); }
/// an array of one value in the shape and dtype of x.
inline Array full_like(const Array& x, const Array& value, std::optional<DType> dtype = {}) {
  return detail::call("full_like", {x, value, dtype});
}
/// 0 in the shape and dtype of x.
inline Array zeros_like(const Array& x, std::optional<DType> dtype = {}) {
  return detail::call("zeros_like", {x, dtype});
}
/// 1 in the shape and dtype of x.
inline Array ones_like(const Array& x, std::optional<DType> dtype = {}) {
  return detail::call("ones_like", {x, dtype});
}
/// saturating cast. Floats round half to even; floats to integers truncate and saturate, nan gives 0; everything but 0
/// is true.
inline Array astype(const Array& x, DType dtype) { return detail::call("astype", {x, dtype}); }
/// integers to integers, keeping the low bits.
inline Array wrap_cast(const Array& x, DType dtype) { return detail::call("wrap_cast", {x, dtype}); }

// ---- Gathers and parts

/// 1 at the index along a new last axis of size n, else 0; out of range: zeros.
inline Array one_hot(const Array& indices, const Size& n, DType dtype = DType::F32) {
  return detail::call("one_hot", {indices, n, dtype});
}
/// the rows of a table by their numbers, as take(table, ids, axis=0).
inline Array embedding(const Array& table, const Array& ids, OutOfRange mode = OutOfRange::Raise) {
  return detail::call("embedding", {table, ids, detail::text_of(mode)});
}
/// the pairs of the last axis turned: (a cos - b sin, b cos + a sin); b is half the axis behind a, or interleaved:
/// beside it.
inline Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved = false) {
  return detail::call("rotary", {x, cos, sin, interleaved});
}
/// rotary by positions * base**(-2i/n) for pair i of an axis of n.
inline Array rope(const Array& x, const Array& positions, double base = 10000, bool interleaved = false) {
  return detail::call("rope", {x, positions, base, interleaved});
}
/// one of the equal parts of an axis, counted from 0.
inline Array part(const Array& x, int64_t parts, int64_t index, const Axes& axis = 0) {
  return detail::call("part", {x, parts, index, axis});
}

// ---- Scatters

/// x with x[indices] = updates along the axis; of several updates of one place the last stays; indices as in take(), or
/// those out of range go nowhere. updates: the shape of x with the axis replaced by the shape of indices, or one that
/// broadcasts to it.
inline Array scatter(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                     OutOfRange mode = OutOfRange::Raise) {
  return detail::call("scatter", {x, indices, updates, axis, detail::text_of(mode)});
}
/// x with x[indices] += updates along the axis, every update counted, as numpy.add.at; not deterministic: on a GPU
/// floats are added in any order, which is faster. indices and updates: as in scatter().
inline Array scatter_add(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise, bool deterministic = true) {
  return detail::call("scatter_add", {x, indices, updates, axis, detail::text_of(mode), deterministic});
}
/// as scatter_add, with *=.
inline Array scatter_mul(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise) {
  return detail::call("scatter_mul", {x, indices, updates, axis, detail::text_of(mode)});
}
/// as scatter_add, with maximum; nan wins.
inline Array scatter_max(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise) {
  return detail::call("scatter_max", {x, indices, updates, axis, detail::text_of(mode)});
}
/// as scatter_add, with minimum; nan wins.
inline Array scatter_min(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise) {
  return detail::call("scatter_min", {x, indices, updates, axis, detail::text_of(mode)});
}
/// the sum of the rows of x that belong to each of the segments 0 .. n-1; rows of no such segment are left out. Gives
/// [n] and the other sizes of x.
inline Array segment_sum(const Array& x, const Array& segments, const Size& n, bool deterministic = true) {
  return detail::call("segment_sum", {x, segments, n, deterministic});
}
/// how often each of 0 .. n-1 is in x, as I64, or the sum of their weights; others are left out.
inline Array bincount(const Array& x, const Size& n, const Array& weights = {}, bool deterministic = true) {
  return detail::call("bincount", {x, n, weights, deterministic});
}
/// how many elements lie in each of the bins of equal width from low to high, as I64; nan and what is outside are left
/// out.
inline Array histogram(const Array& x, int64_t bins, double low, double high) {
  return detail::call("histogram", {x, bins, low, high});
}

// ---- Random numbers

/// random words of 32 bits: Philox4x32-10 of the counter (offset + i / 4, stream) and the key seed, for element i.
/// Gives U32. seed, offset and stream are integers without axes; arrays of U64 are arguments of a compiled function,
/// numbers a part of it.
inline Array random_bits(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0) {
  return detail::call("random_bits", {shape, seed, offset, stream});
}
/// evenly spread from 0 to below 1, with as many random bits as the dtype has. Never 1. seed, offset, stream: as in
/// random_bits().
inline Array uniform(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                     DType dtype = DType::F32) {
  return detail::call("uniform", {shape, seed, offset, stream, dtype});
}
/// normally spread: mean 0, deviation 1. Box & Muller 1958. seed, offset, stream: as in random_bits().
inline Array normal(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                    DType dtype = DType::F32) {
  return detail::call("normal", {shape, seed, offset, stream, dtype});
}
/// true with probability p, exact to 2**-32. p broadcasts. Gives Bool. seed, offset, stream: as in random_bits().
inline Array bernoulli(const Sizes& shape, const Array& p, const Array& seed, const Array& offset = 0,
                       const Array& stream = 0) {
  return detail::call("bernoulli", {shape, p, seed, offset, stream});
}
/// 0 where bernoulli() of the same seed, offset and stream is true, else x / (1 - p). Floats. Gives the shape and dtype
/// of x.
inline Array dropout(const Array& x, const Array& p, const Array& seed, const Array& offset = 0,
                     const Array& stream = 0) {
  return detail::call("dropout", {x, p, seed, offset, stream});
}

// ---- Gradients

/// x, which gradients take for a constant.
inline Array stop_gradient(const Array& x) { return detail::call("stop_gradient", {x}); }

/// The larger, element by element: maximum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array max(const Array& x, const Other& y) { return maximum(x, y); }
/// The smaller, element by element: minimum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array min(const Array& x, const Other& y) { return minimum(x, y); }

/// The equal parts of x along an axis.
inline std::vector<Array> split(const Array& x, int64_t parts, int axis = 0) {
  std::vector<Array> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(part(x, parts, i, axis));
  return result;
}
/// The largest element along an axis, nan if there is one, and its index, the first of several; from one reading of x.
inline std::pair<Array, Array> max_and_argmax(const Array& x, int axis = -1, KeepDims keep = {}) {
  return {max(x, axis, keep), argmax(x, axis, keep)};
}

/// A saturating cast to the dtype of a C++ type: cast<f16>(x). astype() has the rules.
template <Element T>
Array cast(const Array& x) {
  return astype(x, dtype_of<T>);
}

}  // namespace smelt
