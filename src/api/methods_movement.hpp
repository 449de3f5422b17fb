// Functions that move, make, gather, scatter and draw elements as methods.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include "smelt/functions.hpp"

namespace smelt {

template <class Self>
Self Methods<Self>::reshape(const Sizes& shape, Where where) const {
  return smelt::reshape(self(), shape, where);
}
template <class Self>
Self Methods<Self>::flatten(Where where) const {
  return smelt::flatten(self(), where);
}
template <class Self>
Self Methods<Self>::transpose(const Axes& axes, Where where) const {
  return smelt::transpose(self(), axes, where);
}
template <class Self>
Self Methods<Self>::swapaxes(Axis axis1, Axis axis2, Where where) const {
  return smelt::swapaxes(self(), axis1, axis2, where);
}
template <class Self>
Self Methods<Self>::moveaxis(const Axes& source, const Axes& destination, Where where) const {
  return smelt::moveaxis(self(), source, destination, where);
}
template <class Self>
Self Methods<Self>::broadcast_to(const Sizes& shape, Where where) const {
  return smelt::broadcast_to(self(), shape, where);
}
template <class Self>
Self Methods<Self>::expand_dims(const Axes& axis, Where where) const {
  return smelt::expand_dims(self(), axis, where);
}
template <class Self>
Self Methods<Self>::squeeze(const Axes& axis, Where where) const {
  return smelt::squeeze(self(), axis, where);
}
template <class Self>
Self Methods<Self>::pad(const PadWidth& pad_width, const Self& value, PadMode mode, Where where) const {
  return smelt::pad(self(), pad_width, value, mode, where);
}
template <class Self>
Self Methods<Self>::flip(const Axes& axis, Where where) const {
  return smelt::flip(self(), axis, where);
}
template <class Self>
Self Methods<Self>::roll(const Sizes& shift, const Axes& axis, Where where) const {
  return smelt::roll(self(), shift, axis, where);
}
template <class Self>
Self Methods<Self>::tile(const Sizes& reps, Where where) const {
  return smelt::tile(self(), reps, where);
}
template <class Self>
Self Methods<Self>::repeat(const Size& repeats, const Axes& axis, Where where) const {
  return smelt::repeat(self(), repeats, axis, where);
}
template <class Self>
Self Methods<Self>::take(const IndexList& indices, const Axes& axis, OutOfRange mode, Where where) const {
  return smelt::take(self(), indices, axis, mode, where);
}
template <class Self>
Self Methods<Self>::take_along_axis(const IndexList& indices, const Axes& axis, OutOfRange mode, Where where) const {
  return smelt::take_along_axis(self(), indices, axis, mode, where);
}
template <class Self>
Self Methods<Self>::slice_update(const Indices& index, const Self& value, Where where) const {
  return smelt::slice_update(self(), index, value, where);
}
template <class Self>
Self Methods<Self>::tril(int64_t k, Where where) const {
  return smelt::tril(self(), k, where);
}
template <class Self>
Self Methods<Self>::triu(int64_t k, Where where) const {
  return smelt::triu(self(), k, where);
}
template <class Self>
Self Methods<Self>::window(const Sizes& size, const Axes& axis, const Sizes& stride, const Sizes& dilation,
                           Where where) const {
  return smelt::window(self(), size, axis, stride, dilation, where);
}
template <class Self>
Self Methods<Self>::max_pool(const Sizes& size, const Sizes& stride, const Sizes& padding, const Sizes& dilation,
                             Where where) const {
  return smelt::max_pool(self(), size, stride, padding, dilation, where);
}
template <class Self>
Self Methods<Self>::min_pool(const Sizes& size, const Sizes& stride, const Sizes& padding, const Sizes& dilation,
                             Where where) const {
  return smelt::min_pool(self(), size, stride, padding, dilation, where);
}
template <class Self>
Self Methods<Self>::avg_pool(const Sizes& size, const Sizes& stride, const Sizes& padding, bool count_padding,
                             Where where) const {
  return smelt::avg_pool(self(), size, stride, padding, count_padding, where);
}
template <class Self>
Self Methods<Self>::conv(const Self& weight, const Self& bias, const Sizes& stride, const Sizes& padding,
                         const Sizes& dilation, const Size& groups, Where where) const {
  return smelt::conv(self(), weight, bias, stride, padding, dilation, groups, where);
}
template <class Self>
Self Methods<Self>::correlate(const Self& kernel, Where where) const {
  return smelt::correlate(self(), kernel, where);
}
template <class Self>
Self Methods<Self>::filter(const Self& kernel, PadMode mode, const Self& value, Where where) const {
  return smelt::filter(self(), kernel, mode, value, where);
}
template <class Self>
Self Methods<Self>::full_like(const Self& value, std::optional<DType> dtype, Where where) const {
  return smelt::full_like(self(), value, dtype, where);
}
template <class Self>
Self Methods<Self>::zeros_like(std::optional<DType> dtype, Where where) const {
  return smelt::zeros_like(self(), dtype, where);
}
template <class Self>
Self Methods<Self>::ones_like(std::optional<DType> dtype, Where where) const {
  return smelt::ones_like(self(), dtype, where);
}
template <class Self>
Self Methods<Self>::astype(DType dtype, Where where) const {
  return smelt::astype(self(), dtype, where);
}
template <class Self>
Self Methods<Self>::wrap_cast(DType dtype, Where where) const {
  return smelt::wrap_cast(self(), dtype, where);
}
template <class Self>
Self Methods<Self>::one_hot(const Size& n, DType dtype, Where where) const {
  return smelt::one_hot(self(), n, dtype, where);
}
template <class Self>
Self Methods<Self>::embedding(const IndexList& ids, OutOfRange mode, Where where) const {
  return smelt::embedding(self(), ids, mode, where);
}
template <class Self>
Self Methods<Self>::rotary(const Self& cos, const Self& sin, bool interleaved, Where where) const {
  return smelt::rotary(self(), cos, sin, interleaved, where);
}
template <class Self>
Self Methods<Self>::rope(const Self& positions, double base, bool interleaved, Where where) const {
  return smelt::rope(self(), positions, base, interleaved, where);
}
template <class Self>
Self Methods<Self>::part(int64_t parts, int64_t index, const Axes& axis, Where where) const {
  return smelt::part(self(), parts, index, axis, where);
}
template <class Self>
Self Methods<Self>::scatter(const IndexList& indices, const Self& updates, const Axes& axis, OutOfRange mode,
                            Where where) const {
  return smelt::scatter(self(), indices, updates, axis, mode, where);
}
template <class Self>
Self Methods<Self>::scatter_add(const IndexList& indices, const Self& updates, const Axes& axis, OutOfRange mode,
                                bool deterministic, Where where) const {
  return smelt::scatter_add(self(), indices, updates, axis, mode, deterministic, where);
}
template <class Self>
Self Methods<Self>::scatter_mul(const IndexList& indices, const Self& updates, const Axes& axis, OutOfRange mode,
                                Where where) const {
  return smelt::scatter_mul(self(), indices, updates, axis, mode, where);
}
template <class Self>
Self Methods<Self>::scatter_max(const IndexList& indices, const Self& updates, const Axes& axis, OutOfRange mode,
                                Where where) const {
  return smelt::scatter_max(self(), indices, updates, axis, mode, where);
}
template <class Self>
Self Methods<Self>::scatter_min(const IndexList& indices, const Self& updates, const Axes& axis, OutOfRange mode,
                                Where where) const {
  return smelt::scatter_min(self(), indices, updates, axis, mode, where);
}
template <class Self>
Self Methods<Self>::segment_sum(const IndexList& segments, const Size& n, bool deterministic, Where where) const {
  return smelt::segment_sum(self(), segments, n, deterministic, where);
}
template <class Self>
Self Methods<Self>::bincount(const Size& n, const Self& weights, bool deterministic, Where where) const {
  return smelt::bincount(self(), n, weights, deterministic, where);
}
template <class Self>
Self Methods<Self>::histogram(int64_t bins, double low, double high, Where where) const {
  return smelt::histogram(self(), bins, low, high, where);
}
template <class Self>
Self Methods<Self>::dropout(const Self& p, const Self& seed, const Self& offset, const Self& stream,
                            Where where) const {
  return smelt::dropout(self(), p, seed, offset, stream, where);
}
template <class Self>
Self Methods<Self>::stop_gradient(Where where) const {
  return smelt::stop_gradient(self(), where);
}

}  // namespace smelt
