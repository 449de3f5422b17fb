// Matrix products and attention.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#include "smelt/functions_product.hpp"

#include "smelt/call.hpp"

namespace smelt {

Array matmul(const Array& x, const Array& y, Precision precision, Where where) {
  return detail::call("matmul", {x, y, precision}, where);
}
Array linear(const Array& x, const Array& weight, const Array& bias, Precision precision, Where where) {
  return detail::call("linear", {x, weight, bias, precision}, where);
}
Array einsum(std::string_view subscripts, const std::vector<Array>& operands, Precision precision, Where where) {
  return detail::call("einsum", {subscripts, operands, precision}, where);
}
Array dot(const Array& x, const Array& y, Precision precision, Where where) {
  return detail::call("dot", {x, y, precision}, where);
}
Array vecdot(const Array& x, const Array& y, const Axes& axis, Where where) {
  return detail::call("vecdot", {x, y, axis}, where);
}
Array outer(const Array& x, const Array& y, Where where) { return detail::call("outer", {x, y}, where); }
Array scaled_dot_product_attention(const Array& q, const Array& k, const Array& v, const Array& mask, bool causal,
                                   const Array& scale, Precision precision, Where where) {
  return detail::call("scaled_dot_product_attention", {q, k, v, mask, causal, scale, precision}, where);
}

Array tensordot(const Array& x, const Array& y, int64_t axes, Where where) {
  return detail::call("tensordot", {x, y, axes}, where);
}
Array tensordot(const Array& x, const Array& y, const Axes& of_x, const Axes& of_y, Where where) {
  return detail::call("tensordot", {x, y, detail::Argument::tuple(std::vector<Axes>{of_x, of_y})}, where);
}

}  // namespace smelt
