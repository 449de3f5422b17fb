/// \file
/// Reductions, scans, norms and losses: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/call.hpp"

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
inline Array sum(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("sum", {x, axis, keep}, where);
}
/// product; integers as in sum. axis: one, several, or {} for all; they are dropped, or kept with
/// size 1.
inline Array prod(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("prod", {x, axis, keep}, where);
}
/// largest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or
/// kept with size 1.
inline Array max(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("max", {x, axis, keep}, where);
}
/// smallest element; nan if there is one. axis: one, several, or {} for all; they are dropped, or
/// kept with size 1.
inline Array min(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("min", {x, axis, keep}, where);
}
/// whether one element is true; numbers are true unless 0. axis: one, several, or {} for all; they
/// are dropped, or kept with size 1.
inline Array any(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("any", {x, axis, keep}, where);
}
/// whether every element is true. axis: one, several, or {} for all; they are dropped, or kept with
/// size 1.
inline Array all(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("all", {x, axis, keep}, where);
}
/// index of the first largest element, or of the first nan; of the flattened array without an axis.
/// Gives I64.
inline Array argmax(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("argmax", {x, axis, keep}, where);
}
/// index of the first smallest element, or of the first nan; of the flattened array without an
/// axis. Gives I64.
inline Array argmin(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("argmin", {x, axis, keep}, where);
}
/// sum / count, of floats. axis: one, several, or {} for all; they are dropped, or kept with size
/// 1.
inline Array mean(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("mean", {x, axis, keep}, where);
}
/// sum((x - mean(x))**2) / (count - ddof), in two passes. axis: one, several, or {} for all; they
/// are dropped, or kept with size 1.
inline Array var(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0,
                 Where where = Where::here()) {
  return detail::call("var", {x, axis, ddof, keep}, where);
}
/// sqrt(var(x)). Called std in the expression language. axis: as in var().
inline Array stddev(const Array& x, const Axes& axis = {}, KeepDims keep = {}, int64_t ddof = 0,
                    Where where = Where::here()) {
  return detail::call("std", {x, axis, ddof, keep}, where);
}
/// log(sum(exp(x))), without overflow. axis: one, several, or {} for all; they are dropped, or kept
/// with size 1.
inline Array logsumexp(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("logsumexp", {x, axis, keep}, where);
}
/// sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord may be infinite, and 0 counts
/// what is not 0. axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array norm(const Array& x, double ord = 2, const Axes& axis = {}, KeepDims keep = {},
                  Where where = Where::here()) {
  return detail::call("norm", {x, ord, axis, keep}, where);
}
/// sqrt(sum(x * x)). axis: one, several, or {} for all; they are dropped, or kept with size 1.
inline Array l2norm(const Array& x, const Axes& axis = {}, KeepDims keep = {}, Where where = Where::here()) {
  return detail::call("l2norm", {x, axis, keep}, where);
}

// ---- Scans

/// running sum along an axis, from the start or as `how` says; integers as in sum().
inline Array cumsum(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here()) {
  return detail::call("cumsum", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
/// running product along an axis, from the start or as `how` says; integers as in sum().
inline Array cumprod(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here()) {
  return detail::call("cumprod", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
/// largest element so far along an axis; nan from the first nan on.
inline Array cummax(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here()) {
  return detail::call("cummax", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
/// smallest element so far along an axis; nan from the first nan on.
inline Array cummin(const Array& x, Axis axis = -1, const ScanOptions& how = {}, Where where = Where::here()) {
  return detail::call("cummin", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
/// mean of the elements so far, of floats.
inline Array cummean(const Array& x, Axis axis = -1, Where where = Where::here()) {
  return detail::call("cummean", {x, axis}, where);
}
/// log(cumsum(exp(x))), computed relative to the maximum so far.
inline Array logcumsumexp(const Array& x, Axis axis = -1, Where where = Where::here()) {
  return detail::call("logcumsumexp", {x, axis}, where);
}

// ---- Normalisation and losses

/// exp(x - max) / sum(exp(x - max)); a row of -inf alone gives nan. Gives the shape and dtype of x.
inline Array softmax(const Array& x, const Axes& axis = -1, Where where = Where::here()) {
  return detail::call("softmax", {x, axis}, where);
}
/// log(softmax(x)), accurate. Gives the shape and dtype of x.
inline Array log_softmax(const Array& x, const Axes& axis = -1, Where where = Where::here()) {
  return detail::call("log_softmax", {x, axis}, where);
}
/// (x - mean) / sqrt(var + eps) over the axes, then * weight + bias, which broadcast. Ba et al.
/// 2016. Gives the shape and dtype of x.
inline Array layernorm(const Array& x, const Array& weight = {}, const Array& bias = {}, const Axes& axis = -1,
                       const Array& eps = 1e-5, Where where = Where::here()) {
  return detail::call("layernorm", {x, weight, bias, axis, eps}, where);
}
/// x / sqrt(mean(x*x) + eps) over the axes, then * weight. Zhang & Sennrich 2019. Gives the shape
/// and dtype of x.
inline Array rmsnorm(const Array& x, const Array& weight = {}, const Axes& axis = -1, const Array& eps = 1e-6,
                     Where where = Where::here()) {
  return detail::call("rmsnorm", {x, weight, axis, eps}, where);
}
/// x: [N, C, ...]; each of the groups of channels is normalised with its axes; weight and bias:
/// [C]. Wu & He 2018. Gives the shape and dtype of x.
inline Array groupnorm(const Array& x, const Size& groups, const Array& weight = {}, const Array& bias = {},
                       const Array& eps = 1e-5, Where where = Where::here()) {
  return detail::call("groupnorm", {x, groups, weight, bias, eps}, where);
}
/// inference: (x - mean) / sqrt(var + eps) * weight + bias, all of them [C] along the axis. Ioffe &
/// Szegedy 2015. Gives the shape and dtype of x.
inline Array batchnorm(const Array& x, const Array& mean, const Array& var, const Array& weight = {},
                       const Array& bias = {}, const Array& eps = 1e-5, Axis axis = 1, Where where = Where::here()) {
  return detail::call("batchnorm", {x, mean, var, weight, bias, eps, axis}, where);
}
/// -log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of
/// range: nan. Gives the dtype of x: one number, or with Reduction::None the shape of targets.
inline Array cross_entropy(const Array& x, const Array& targets, Axis axis = -1, Reduction reduction = Reduction::Mean,
                           Where where = Where::here()) {
  return detail::call("cross_entropy", {x, targets, axis, reduction}, where);
}
/// (x - targets)**2, and its mean. Gives the dtype of x: one number, or with Reduction::None the
/// broadcast shape.
inline Array mse(const Array& x, const Array& targets, Reduction reduction = Reduction::Mean,
                 Where where = Where::here()) {
  return detail::call("mse", {x, targets, reduction}, where);
}
/// with d = abs(x - targets): d*d/2 where d <= delta, else delta * (d - delta/2), and its mean.
/// Huber 1964. Gives the dtype of x: one number, or with Reduction::None the broadcast shape.
inline Array huber(const Array& x, const Array& targets, const Array& delta = 1.0,
                   Reduction reduction = Reduction::Mean, Where where = Where::here()) {
  return detail::call("huber", {x, targets, delta, reduction}, where);
}

/// The larger, element by element: maximum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array max(const Array& x, const Other& y, Where where = Where::here()) {
  return detail::call("maximum", {x, y}, where);
}
/// The smaller, element by element: minimum(x, y).
template <class Other>
requires std::is_same_v<Other, Array> Array min(const Array& x, const Other& y, Where where = Where::here()) {
  return detail::call("minimum", {x, y}, where);
}
/// The largest element along an axis, nan if there is one, and the index of the first; in one pass.
inline std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis = -1, KeepDims keep = {},
                                              Where where = Where::here()) {
  return {max(x, axis, keep, where), argmax(x, axis, keep, where)};
}

}  // namespace smelt
