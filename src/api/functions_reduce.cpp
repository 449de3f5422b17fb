// Reductions, scans, norms and losses.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#include "smelt/functions_reduce.hpp"

#include "smelt/call.hpp"

namespace smelt {

Array sum(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("sum", {x, axis, keep}, where);
}
Array prod(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("prod", {x, axis, keep}, where);
}
Array max(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("max", {x, axis, keep}, where);
}
Array min(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("min", {x, axis, keep}, where);
}
Array any(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("any", {x, axis, keep}, where);
}
Array all(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("all", {x, axis, keep}, where);
}
Array argmax(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("argmax", {x, axis, keep}, where);
}
Array argmin(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("argmin", {x, axis, keep}, where);
}
Array mean(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("mean", {x, axis, keep}, where);
}
Array var(const Array& x, const Axes& axis, KeepDims keep, int64_t ddof, Where where) {
  return detail::call("var", {x, axis, ddof, keep}, where);
}
Array stddev(const Array& x, const Axes& axis, KeepDims keep, int64_t ddof, Where where) {
  return detail::call("std", {x, axis, ddof, keep}, where);
}
Array logsumexp(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("logsumexp", {x, axis, keep}, where);
}
Array norm(const Array& x, double ord, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("norm", {x, ord, axis, keep}, where);
}
Array l2norm(const Array& x, const Axes& axis, KeepDims keep, Where where) {
  return detail::call("l2norm", {x, axis, keep}, where);
}
Array cumsum(const Array& x, Axis axis, const ScanOptions& how, Where where) {
  return detail::call("cumsum", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
Array cumprod(const Array& x, Axis axis, const ScanOptions& how, Where where) {
  return detail::call("cumprod", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
Array cummax(const Array& x, Axis axis, const ScanOptions& how, Where where) {
  return detail::call("cummax", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
Array cummin(const Array& x, Axis axis, const ScanOptions& how, Where where) {
  return detail::call("cummin", {x, axis, how.reverse, how.exclusive, how.restart}, where);
}
Array cummean(const Array& x, Axis axis, Where where) { return detail::call("cummean", {x, axis}, where); }
Array logcumsumexp(const Array& x, Axis axis, Where where) { return detail::call("logcumsumexp", {x, axis}, where); }
Array softmax(const Array& x, const Axes& axis, Where where) { return detail::call("softmax", {x, axis}, where); }
Array log_softmax(const Array& x, const Axes& axis, Where where) {
  return detail::call("log_softmax", {x, axis}, where);
}
Array layernorm(const Array& x, const Array& weight, const Array& bias, const Axes& axis, const Array& eps,
                Where where) {
  return detail::call("layernorm", {x, weight, bias, axis, eps}, where);
}
Array rmsnorm(const Array& x, const Array& weight, const Axes& axis, const Array& eps, Where where) {
  return detail::call("rmsnorm", {x, weight, axis, eps}, where);
}
Array groupnorm(const Array& x, const Size& groups, const Array& weight, const Array& bias, const Array& eps,
                Where where) {
  return detail::call("groupnorm", {x, groups, weight, bias, eps}, where);
}
Array batchnorm(const Array& x, const Array& mean, const Array& var, const Array& weight, const Array& bias,
                const Array& eps, Axis axis, Where where) {
  return detail::call("batchnorm", {x, mean, var, weight, bias, eps, axis}, where);
}
Array cross_entropy(const Array& x, const Array& targets, Axis axis, Reduction reduction, Where where) {
  return detail::call("cross_entropy", {x, targets, axis, reduction}, where);
}
Array mse(const Array& x, const Array& targets, Reduction reduction, Where where) {
  return detail::call("mse", {x, targets, reduction}, where);
}
Array huber(const Array& x, const Array& targets, const Array& delta, Reduction reduction, Where where) {
  return detail::call("huber", {x, targets, delta, reduction}, where);
}

std::pair<Array, Array> max_and_argmax(const Array& x, Axis axis, KeepDims keep, Where where) {
  return {max(x, axis, keep, where), argmax(x, axis, keep, where)};
}

}  // namespace smelt
