// Matrix products and attention as methods.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include "smelt/functions.hpp"

namespace smelt {

template <class Self>
Self Methods<Self>::matmul(const Self& y, Precision precision, Where where) const {
  return smelt::matmul(self(), y, precision, where);
}
template <class Self>
Self Methods<Self>::linear(const Self& weight, const Self& bias, Precision precision, Where where) const {
  return smelt::linear(self(), weight, bias, precision, where);
}
template <class Self>
Self Methods<Self>::dot(const Self& y, Precision precision, Where where) const {
  return smelt::dot(self(), y, precision, where);
}
template <class Self>
Self Methods<Self>::vecdot(const Self& y, const Axes& axis, Where where) const {
  return smelt::vecdot(self(), y, axis, where);
}
template <class Self>
Self Methods<Self>::outer(const Self& y, Where where) const {
  return smelt::outer(self(), y, where);
}
template <class Self>
Self Methods<Self>::scaled_dot_product_attention(const Self& k, const Self& v, const Self& mask, bool causal,
                                                 const Self& scale, Precision precision, Where where) const {
  return smelt::scaled_dot_product_attention(self(), k, v, mask, causal, scale, precision, where);
}

}  // namespace smelt
