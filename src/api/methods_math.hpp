// Functions of elements as methods.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include "smelt/functions.hpp"

namespace smelt {

template <class Self>
Self Methods<Self>::add(const Self& b, Where where) const {
  return smelt::add(self(), b, where);
}
template <class Self>
Self Methods<Self>::subtract(const Self& b, Where where) const {
  return smelt::subtract(self(), b, where);
}
template <class Self>
Self Methods<Self>::multiply(const Self& b, Where where) const {
  return smelt::multiply(self(), b, where);
}
template <class Self>
Self Methods<Self>::divide(const Self& b, Where where) const {
  return smelt::divide(self(), b, where);
}
template <class Self>
Self Methods<Self>::floor_divide(const Self& b, Where where) const {
  return smelt::floor_divide(self(), b, where);
}
template <class Self>
Self Methods<Self>::remainder(const Self& b, Where where) const {
  return smelt::remainder(self(), b, where);
}
template <class Self>
Self Methods<Self>::fmod(const Self& b, Where where) const {
  return smelt::fmod(self(), b, where);
}
template <class Self>
Self Methods<Self>::pow(const Self& b, Where where) const {
  return smelt::pow(self(), b, where);
}
template <class Self>
Self Methods<Self>::negative(Where where) const {
  return smelt::negative(self(), where);
}
template <class Self>
Self Methods<Self>::abs(Where where) const {
  return smelt::abs(self(), where);
}
template <class Self>
Self Methods<Self>::sign(Where where) const {
  return smelt::sign(self(), where);
}
template <class Self>
Self Methods<Self>::fma(const Self& b, const Self& c, Where where) const {
  return smelt::fma(self(), b, c, where);
}
template <class Self>
Self Methods<Self>::square(Where where) const {
  return smelt::square(self(), where);
}
template <class Self>
Self Methods<Self>::reciprocal(Where where) const {
  return smelt::reciprocal(self(), where);
}
template <class Self>
Self Methods<Self>::maximum(const Self& b, Where where) const {
  return smelt::maximum(self(), b, where);
}
template <class Self>
Self Methods<Self>::minimum(const Self& b, Where where) const {
  return smelt::minimum(self(), b, where);
}
template <class Self>
Self Methods<Self>::floor(Where where) const {
  return smelt::floor(self(), where);
}
template <class Self>
Self Methods<Self>::ceil(Where where) const {
  return smelt::ceil(self(), where);
}
template <class Self>
Self Methods<Self>::trunc(Where where) const {
  return smelt::trunc(self(), where);
}
template <class Self>
Self Methods<Self>::round(Where where) const {
  return smelt::round(self(), where);
}
template <class Self>
Self Methods<Self>::sqrt(Where where) const {
  return smelt::sqrt(self(), where);
}
template <class Self>
Self Methods<Self>::rsqrt(Where where) const {
  return smelt::rsqrt(self(), where);
}
template <class Self>
Self Methods<Self>::cbrt(Where where) const {
  return smelt::cbrt(self(), where);
}
template <class Self>
Self Methods<Self>::hypot(const Self& b, Where where) const {
  return smelt::hypot(self(), b, where);
}
template <class Self>
Self Methods<Self>::exp(Where where) const {
  return smelt::exp(self(), where);
}
template <class Self>
Self Methods<Self>::exp2(Where where) const {
  return smelt::exp2(self(), where);
}
template <class Self>
Self Methods<Self>::expm1(Where where) const {
  return smelt::expm1(self(), where);
}
template <class Self>
Self Methods<Self>::log(Where where) const {
  return smelt::log(self(), where);
}
template <class Self>
Self Methods<Self>::log2(Where where) const {
  return smelt::log2(self(), where);
}
template <class Self>
Self Methods<Self>::log10(Where where) const {
  return smelt::log10(self(), where);
}
template <class Self>
Self Methods<Self>::log1p(Where where) const {
  return smelt::log1p(self(), where);
}
template <class Self>
Self Methods<Self>::sin(Where where) const {
  return smelt::sin(self(), where);
}
template <class Self>
Self Methods<Self>::cos(Where where) const {
  return smelt::cos(self(), where);
}
template <class Self>
Self Methods<Self>::tan(Where where) const {
  return smelt::tan(self(), where);
}
template <class Self>
Self Methods<Self>::asin(Where where) const {
  return smelt::asin(self(), where);
}
template <class Self>
Self Methods<Self>::acos(Where where) const {
  return smelt::acos(self(), where);
}
template <class Self>
Self Methods<Self>::atan(Where where) const {
  return smelt::atan(self(), where);
}
template <class Self>
Self Methods<Self>::atan2(const Self& b, Where where) const {
  return smelt::atan2(self(), b, where);
}
template <class Self>
Self Methods<Self>::sinh(Where where) const {
  return smelt::sinh(self(), where);
}
template <class Self>
Self Methods<Self>::cosh(Where where) const {
  return smelt::cosh(self(), where);
}
template <class Self>
Self Methods<Self>::tanh(Where where) const {
  return smelt::tanh(self(), where);
}
template <class Self>
Self Methods<Self>::asinh(Where where) const {
  return smelt::asinh(self(), where);
}
template <class Self>
Self Methods<Self>::acosh(Where where) const {
  return smelt::acosh(self(), where);
}
template <class Self>
Self Methods<Self>::atanh(Where where) const {
  return smelt::atanh(self(), where);
}
template <class Self>
Self Methods<Self>::erf(Where where) const {
  return smelt::erf(self(), where);
}
template <class Self>
Self Methods<Self>::erfc(Where where) const {
  return smelt::erfc(self(), where);
}
template <class Self>
Self Methods<Self>::copysign(const Self& b, Where where) const {
  return smelt::copysign(self(), b, where);
}
template <class Self>
Self Methods<Self>::equal(const Self& b, Where where) const {
  return smelt::equal(self(), b, where);
}
template <class Self>
Self Methods<Self>::not_equal(const Self& b, Where where) const {
  return smelt::not_equal(self(), b, where);
}
template <class Self>
Self Methods<Self>::less(const Self& b, Where where) const {
  return smelt::less(self(), b, where);
}
template <class Self>
Self Methods<Self>::less_equal(const Self& b, Where where) const {
  return smelt::less_equal(self(), b, where);
}
template <class Self>
Self Methods<Self>::greater(const Self& b, Where where) const {
  return smelt::greater(self(), b, where);
}
template <class Self>
Self Methods<Self>::greater_equal(const Self& b, Where where) const {
  return smelt::greater_equal(self(), b, where);
}
template <class Self>
Self Methods<Self>::isnan(Where where) const {
  return smelt::isnan(self(), where);
}
template <class Self>
Self Methods<Self>::isinf(Where where) const {
  return smelt::isinf(self(), where);
}
template <class Self>
Self Methods<Self>::isfinite(Where where) const {
  return smelt::isfinite(self(), where);
}
template <class Self>
Self Methods<Self>::bitwise_and(const Self& b, Where where) const {
  return smelt::bitwise_and(self(), b, where);
}
template <class Self>
Self Methods<Self>::bitwise_or(const Self& b, Where where) const {
  return smelt::bitwise_or(self(), b, where);
}
template <class Self>
Self Methods<Self>::bitwise_xor(const Self& b, Where where) const {
  return smelt::bitwise_xor(self(), b, where);
}
template <class Self>
Self Methods<Self>::bitwise_not(Where where) const {
  return smelt::bitwise_not(self(), where);
}
template <class Self>
Self Methods<Self>::left_shift(const Self& b, Where where) const {
  return smelt::left_shift(self(), b, where);
}
template <class Self>
Self Methods<Self>::right_shift(const Self& b, Where where) const {
  return smelt::right_shift(self(), b, where);
}
template <class Self>
Self Methods<Self>::where(const Self& x, const Self& y, Where where) const {
  return smelt::where(self(), x, y, where);
}
template <class Self>
Self Methods<Self>::logical_and(const Self& y, Where where) const {
  return smelt::logical_and(self(), y, where);
}
template <class Self>
Self Methods<Self>::logical_or(const Self& y, Where where) const {
  return smelt::logical_or(self(), y, where);
}
template <class Self>
Self Methods<Self>::logical_xor(const Self& y, Where where) const {
  return smelt::logical_xor(self(), y, where);
}
template <class Self>
Self Methods<Self>::logical_not(Where where) const {
  return smelt::logical_not(self(), where);
}
template <class Self>
Self Methods<Self>::clamp(const Self& lo, const Self& hi, Where where) const {
  return smelt::clamp(self(), lo, hi, where);
}
template <class Self>
Self Methods<Self>::relu(Where where) const {
  return smelt::relu(self(), where);
}
template <class Self>
Self Methods<Self>::leaky_relu(const Self& slope, Where where) const {
  return smelt::leaky_relu(self(), slope, where);
}
template <class Self>
Self Methods<Self>::elu(const Self& alpha, Where where) const {
  return smelt::elu(self(), alpha, where);
}
template <class Self>
Self Methods<Self>::gelu(Approximate approximate, Where where) const {
  return smelt::gelu(self(), approximate, where);
}
template <class Self>
Self Methods<Self>::gelu_tanh(Where where) const {
  return smelt::gelu_tanh(self(), where);
}
template <class Self>
Self Methods<Self>::sigmoid(Where where) const {
  return smelt::sigmoid(self(), where);
}
template <class Self>
Self Methods<Self>::silu(Where where) const {
  return smelt::silu(self(), where);
}
template <class Self>
Self Methods<Self>::softplus(Where where) const {
  return smelt::softplus(self(), where);
}
template <class Self>
Self Methods<Self>::mish(Where where) const {
  return smelt::mish(self(), where);
}
template <class Self>
Self Methods<Self>::hardswish(Where where) const {
  return smelt::hardswish(self(), where);
}
template <class Self>
Self Methods<Self>::quantize_int8(const Self& scale, const Self& zero_point, Where where) const {
  return smelt::quantize_int8(self(), scale, zero_point, where);
}
template <class Self>
Self Methods<Self>::dequantize(const Self& scale, const Self& zero_point, DType dtype, Where where) const {
  return smelt::dequantize(self(), scale, zero_point, dtype, where);
}
template <class Self>
Self Methods<Self>::lerp(const Self& y, const Self& weight, Where where) const {
  return smelt::lerp(self(), y, weight, where);
}

}  // namespace smelt
