/// \file
/// Reductions, scans, norms and losses: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/choices.hpp"

namespace smelt {

/// How cumsum() and the like run: cumsum(x, -1, {.reverse = true}).
struct ScanOptions {
  bool reverse = false;    ///< from the end of the axis to its start
  bool exclusive = false;  ///< of what comes before an element, without itself
  Array restart = {};      ///< Bool, broadcast to x: true where the running value restarts
};

// ---- Reductions

/// sum; bools and integers below 64 bits add up in i64 or u64. axis: one, several, or {} for all;
/// they are dropped, or kept with size 1.
SMELT_API Array sum(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// product; integers as in sum. axis: one, several, or {} for all; they are dropped, or kept with
/// size 1.
SMELT_API Array prod(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// largest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or
/// kept with size 1.
SMELT_API Array max(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// smallest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or
/// kept with size 1.
SMELT_API Array min(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// whether one element is true; numbers are true unless 0. axis: one, several, or {} for all; they
/// are dropped, or kept with size 1.
SMELT_API Array any(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// whether every element is true. axis: one, several, or {} for all; they are dropped, or kept with
/// size 1.
SMELT_API Array all(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// index of the first largest element, or of the first nan; of the flattened array without an axis.
/// Gives I64.
SMELT_API Array argmax(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// index of the first smallest element, or of the first nan; of the flattened array without an
/// axis. Gives I64.
SMELT_API Array argmin(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// sum / count, of floats. axis: one, several, or {} for all; they are dropped, or kept with size
/// 1.
SMELT_API Array mean(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// sum((x - mean(x))**2) / (count - ddof), in two passes. axis: one, several, or {} for all; they
/// are dropped, or kept with size 1.
SMELT_API Array var(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0,
                    Where where = Where::here());
/// sqrt(var(x)). Called std in the expression language. axis: as in var().
SMELT_API Array stddev(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0,
                       Where where = Where::here());
/// log(sum(exp(x))), without overflow. axis: one, several, or {} for all; they are dropped, or kept
/// with size 1.
SMELT_API Array logsumexp(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());
/// sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord may be infinite, and 0 counts
/// what is not 0. axis: one, several, or {} for all; they are dropped, or kept with size 1.
SMELT_API Array norm(const Array& x, double ord = 2, const Axes& axis = {}, KeepDims keep = {},
                     Where where = Where::here());
/// sqrt(sum(x * x)). axis: one, several, or {} for all; they are dropped, or kept with size 1.
SMELT_API Array l2norm(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here());

// ---- Scans

/// running sum along an axis, from the start or as `how` says; integers as in sum().
SMELT_API Array cumsum(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here());
/// running product along an axis, from the start or as `how` says; integers as in sum().
SMELT_API Array cumprod(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here());
/// largest element so far along an axis; nan from the first nan on.
SMELT_API Array cummax(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here());
/// smallest element so far along an axis; nan from the first nan on.
SMELT_API Array cummin(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here());
/// mean of the elements so far, of floats.
SMELT_API Array cummean(const Array& x, Axis axis = -1, Where where = Where::here());
/// log(cumsum(exp(x))), computed relative to the maximum so far.
SMELT_API Array logcumsumexp(const Array& x, Axis axis = -1, Where where = Where::here());

// ---- Normalisation and losses

/// exp(x - max) / sum(exp(x - max)); a row of -inf alone gives nan. Gives the shape and dtype of x.
SMELT_API Array softmax(const Array& x, const Axes& axis = -1, Where where = Where::here());
/// log(softmax(x)), accurate. Gives the shape and dtype of x.
SMELT_API Array log_softmax(const Array& x, const Axes& axis = -1, Where where = Where::here());
/// (x - mean) / sqrt(var + eps) over the axes, then * weight + bias, which broadcast. Ba et al.
/// 2016. Gives the shape and dtype of x.
SMELT_API Array layernorm(const Array& x, const Array& weight = {}, const Array& bias = {}, const Axes& axis = -1,
                          const Array& eps = 1e-5, Where where = Where::here());
/// x / sqrt(mean(x*x) + eps) over the axes, then * weight. Zhang & Sennrich 2019. Gives the shape
/// and dtype of x.
SMELT_API Array rmsnorm(const Array& x, const Array& weight = {}, const Axes& axis = -1, const Array& eps = 1e-6,
                        Where where = Where::here());
/// x: [N, C, ...]; each of the groups of channels is normalised with its axes; weight and bias:
/// [C]. Wu & He 2018. Gives the shape and dtype of x.
SMELT_API Array groupnorm(const Array& x, const Size& groups, const Array& weight = {}, const Array& bias = {},
                          const Array& eps = 1e-5, Where where = Where::here());
/// inference: (x - mean) / sqrt(var + eps) * weight + bias, all of them [C] along the axis. Ioffe &
/// Szegedy 2015. Gives the shape and dtype of x.
SMELT_API Array batchnorm(const Array& x, const Array& mean, const Array& var, const Array& weight = {},
                          const Array& bias = {}, const Array& eps = 1e-5, Axis axis = 1, Where where = Where::here());
/// -log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of
/// range: nan. Gives the dtype of x: one number, or with Reduction::None the shape of targets.
SMELT_API Array cross_entropy(const Array& x, const Array& targets, Axis axis = -1,
                              Reduction reduction = Reduction::Mean, Where where = Where::here());
/// (x - targets)**2, and its mean. Gives the dtype of x: one number, or with Reduction::None the
/// broadcast shape.
SMELT_API Array mse(const Array& x, const Array& targets, Reduction reduction = Reduction::Mean,
                    Where where = Where::here());
/// with d = abs(x - targets): d*d/2 where d <= delta, else delta * (d - delta/2), and its mean.
/// Huber 1964. Gives the dtype of x: one number, or with Reduction::None the broadcast shape.
SMELT_API Array huber(const Array& x, const Array& targets, const Array& delta = 1.0,
                      Reduction reduction = Reduction::Mean, Where where = Where::here());

/// The larger, element by element: maximum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array max(const Array& x, const Other& y, Where where = Where::here()) {
  return maximum(x, y, where);
}
/// The smaller, element by element: minimum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array min(const Array& x, const Other& y, Where where = Where::here()) {
  return minimum(x, y, where);
}
/// The largest element along an axis, nan if there is one, and the index of the first; in one pass.
SMELT_API std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis = -1, KeepDims keep = {},
                                                 Where where = Where::here());

}  // namespace smelt
