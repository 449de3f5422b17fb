/// \file
/// Matrix products and attention: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/choices.hpp"

namespace smelt {

// ---- Products

/// matrix product: sums of products over the last axis of x and the last but one of y; axes in
/// front broadcast. F16 and BF16 add up in F32 and are rounded once; integers wrap; Precision::Tf32
/// or Bf16x3: products of F32 may be off by 2^-10 or 2^-14. x: [.., m, k], y: [.., k, n], gives
/// [.., m, n]; a vector is a row as x, a column as y. Gives the promoted dtype.
SMELT_API Array matmul(const Array& x, const Array& y, Precision precision = Precision::Full,
                       Where where = Where::here());
/// x @ weight.T + bias; weight: [out, in]. x: [.., in]. Gives [.., out] in the promoted dtype.
SMELT_API Array linear(const Array& x, const Array& weight, const Array& bias = {},
                       Precision precision = Precision::Full, Where where = Where::here());
/// letters name axes: those that two arrays share are multiplied, those that the result lacks are
/// summed, as in einsum('bij,bjk->bik', x, y); ... broadcasts. Gives the promoted dtype; several
/// arrays are multiplied from the first to the last.
SMELT_API Array einsum(std::string_view subscripts, const std::vector<Array>& operands,
                       Precision precision = Precision::Full, Where where = Where::here());
/// sums of products over the last axis of x and the last but one of y, or its only one. Gives the
/// promoted dtype.
SMELT_API Array dot(const Array& x, const Array& y, Precision precision = Precision::Full, Where where = Where::here());
/// sum(x * y, axis). Gives the promoted dtype.
SMELT_API Array vecdot(const Array& x, const Array& y, const Axes& axis = -1, Where where = Where::here());
/// every product of an element of x and one of y, both flattened. Gives [elements of x, elements of
/// y].
SMELT_API Array outer(const Array& x, const Array& y, Where where = Where::here());
/// softmax(matmul(q, k transposed) * scale + mask), times v; a Bool mask says which keys are seen,
/// causal those up to the row; without scale 1 / sqrt of the last axis; more heads of q (axis -3)
/// than of k share theirs. q: [.., rows, n], k: [.., keys, n], v: [.., keys, m]. Gives [.., rows,
/// m] in the dtype of q; 0 in rows that see no key. Vaswani et al. 2017.
SMELT_API Array scaled_dot_product_attention(const Array& q, const Array& k, const Array& v, const Array& mask = {},
                                             bool causal = false, const Array& scale = {},
                                             Precision precision = Precision::Full, Where where = Where::here());

/// Sums of products over the last axes of x and as many first ones of y.
SMELT_API Array tensordot(const Array& x, const Array& y, int64_t axes = 2, Where where = Where::here());
/// Sums of products over pairs of axes: the first named axis of x with the first of y, and so on.
SMELT_API Array tensordot(const Array& x, const Array& y, const Axes& of_x, const Axes& of_y,
                          Where where = Where::here());

}  // namespace smelt
