// Reductions, scans, norms and losses as methods.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include "smelt/functions.hpp"

namespace smelt {

template <class Self>
Self Methods<Self>::sum(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::sum(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::prod(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::prod(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::max(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::max(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::min(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::min(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::any(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::any(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::all(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::all(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::argmax(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::argmax(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::argmin(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::argmin(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::mean(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::mean(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::var(const Axes& axis, KeepDims keep, int64_t ddof, Where where) const {
  return smelt::var(self(), axis, keep, ddof, where);
}
template <class Self>
Self Methods<Self>::stddev(const Axes& axis, KeepDims keep, int64_t ddof, Where where) const {
  return smelt::stddev(self(), axis, keep, ddof, where);
}
template <class Self>
Self Methods<Self>::logsumexp(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::logsumexp(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::norm(double ord, const Axes& axis, KeepDims keep, Where where) const {
  return smelt::norm(self(), ord, axis, keep, where);
}
template <class Self>
Self Methods<Self>::l2norm(const Axes& axis, KeepDims keep, Where where) const {
  return smelt::l2norm(self(), axis, keep, where);
}
template <class Self>
Self Methods<Self>::cumsum(Axis axis, const ScanOptions& how, Where where) const {
  return smelt::cumsum(self(), axis, how, where);
}
template <class Self>
Self Methods<Self>::cumsum(Axis axis, Where where) const {
  return smelt::cumsum(self(), axis, {}, where);
}
template <class Self>
Self Methods<Self>::cumprod(Axis axis, const ScanOptions& how, Where where) const {
  return smelt::cumprod(self(), axis, how, where);
}
template <class Self>
Self Methods<Self>::cumprod(Axis axis, Where where) const {
  return smelt::cumprod(self(), axis, {}, where);
}
template <class Self>
Self Methods<Self>::cummax(Axis axis, const ScanOptions& how, Where where) const {
  return smelt::cummax(self(), axis, how, where);
}
template <class Self>
Self Methods<Self>::cummax(Axis axis, Where where) const {
  return smelt::cummax(self(), axis, {}, where);
}
template <class Self>
Self Methods<Self>::cummin(Axis axis, const ScanOptions& how, Where where) const {
  return smelt::cummin(self(), axis, how, where);
}
template <class Self>
Self Methods<Self>::cummin(Axis axis, Where where) const {
  return smelt::cummin(self(), axis, {}, where);
}
template <class Self>
Self Methods<Self>::cummean(Axis axis, Where where) const {
  return smelt::cummean(self(), axis, where);
}
template <class Self>
Self Methods<Self>::logcumsumexp(Axis axis, Where where) const {
  return smelt::logcumsumexp(self(), axis, where);
}
template <class Self>
Self Methods<Self>::softmax(const Axes& axis, Where where) const {
  return smelt::softmax(self(), axis, where);
}
template <class Self>
Self Methods<Self>::log_softmax(const Axes& axis, Where where) const {
  return smelt::log_softmax(self(), axis, where);
}
template <class Self>
Self Methods<Self>::layernorm(const Self& weight, const Self& bias, const Axes& axis, const Self& eps,
                              Where where) const {
  return smelt::layernorm(self(), weight, bias, axis, eps, where);
}
template <class Self>
Self Methods<Self>::rmsnorm(const Self& weight, const Axes& axis, const Self& eps, Where where) const {
  return smelt::rmsnorm(self(), weight, axis, eps, where);
}
template <class Self>
Self Methods<Self>::groupnorm(const Size& groups, const Self& weight, const Self& bias, const Self& eps,
                              Where where) const {
  return smelt::groupnorm(self(), groups, weight, bias, eps, where);
}
template <class Self>
Self Methods<Self>::batchnorm(const Self& mean, const Self& var, const Self& weight, const Self& bias, const Self& eps,
                              Axis axis, Where where) const {
  return smelt::batchnorm(self(), mean, var, weight, bias, eps, axis, where);
}
template <class Self>
Self Methods<Self>::cross_entropy(const Self& targets, Axis axis, Reduction reduction, Where where) const {
  return smelt::cross_entropy(self(), targets, axis, reduction, where);
}
template <class Self>
Self Methods<Self>::mse(const Self& targets, Reduction reduction, Where where) const {
  return smelt::mse(self(), targets, reduction, where);
}
template <class Self>
Self Methods<Self>::huber(const Self& targets, const Self& delta, Reduction reduction, Where where) const {
  return smelt::huber(self(), targets, delta, reduction, where);
}

}  // namespace smelt
