/// \file
/// Functions that move, make, gather, scatter and draw elements: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/call.hpp"

namespace smelt {

// ---- Movement

/// the same elements, row by row, in another shape; one size may be -1. Moves no data.
inline Array reshape(const Array& x, const Sizes& shape, Where where = Where::here()) {
  return detail::call("reshape", {x, shape}, where);
}
/// reshape(x, -1).
inline Array flatten(const Array& x, Where where = Where::here()) { return detail::call("flatten", {x}, where); }
/// axes in another order; without axes: reversed, as x.T().
inline Array transpose(const Array& x, const Axes& axes = {}, Where where = Where::here()) {
  return detail::call("transpose", {x, axes}, where);
}
/// two axes change places.
inline Array swapaxes(const Array& x, Axis axis1, Axis axis2, Where where = Where::here()) {
  return detail::call("swapaxes", {x, axis1, axis2}, where);
}
/// axes move to these positions, the others keep their order.
inline Array moveaxis(const Array& x, const Axes& source, const Axes& destination, Where where = Where::here()) {
  return detail::call("moveaxis", {x, source, destination}, where);
}
/// axes of size 1, and new ones in front, repeated to the shape.
inline Array broadcast_to(const Array& x, const Sizes& shape, Where where = Where::here()) {
  return detail::call("broadcast_to", {x, shape}, where);
}
/// a new axis of size 1 at this position of the result.
inline Array expand_dims(const Array& x, const Axes& axis, Where where = Where::here()) {
  return detail::call("expand_dims", {x, axis}, where);
}
/// drops axes of size 1: all, or those named.
inline Array squeeze(const Array& x, const Axes& axis = {}, Where where = Where::here()) {
  return detail::call("squeeze", {x, axis}, where);
}
/// arrays one after the other along an axis.
inline Array concat(const std::vector<Array>& arrays, Axis axis = 0, Where where = Where::here()) {
  return detail::call("concat", {arrays, axis}, where);
}
/// arrays of one shape along a new axis.
inline Array stack(const std::vector<Array>& arrays, Axis axis = 0, Where where = Where::here()) {
  return detail::call("stack", {arrays, axis}, where);
}
/// value around x, or x extended; 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1,
/// 2}} for each axis.
inline Array pad(const Array& x, const PadWidth& pad_width, const Array& value = 0, PadMode mode = PadMode::Constant,
                 Where where = Where::here()) {
  return detail::call("pad", {x, pad_width, value, mode}, where);
}
/// reversed along the axes, or all of them.
inline Array flip(const Array& x, const Axes& axis = {}, Where where = Where::here()) {
  return detail::call("flip", {x, axis}, where);
}
/// elements move up by shift and wrap around; one shift for each axis, or one for all; without an
/// axis as if flattened.
inline Array roll(const Array& x, const Sizes& shift, const Axes& axis = {}, Where where = Where::here()) {
  return detail::call("roll", {x, shift, axis}, where);
}
/// x repeated as a whole: reps[d] times along axis d.
inline Array tile(const Array& x, const Sizes& reps, Where where = Where::here()) {
  return detail::call("tile", {x, reps}, where);
}
/// each element repeated; without an axis flattened.
inline Array repeat(const Array& x, const Size& repeats, const Axes& axis = {}, Where where = Where::here()) {
  return detail::call("repeat", {x, repeats, axis}, where);
}
/// x[indices] along the axis, or of the flattened x; indices below 0 count from the end; out of
/// range: an error when it runs, the nearest, or modulo. Gives the shape of x with the axis
/// replaced by the shape of indices.
inline Array take(const Array& x, const Array& indices, const Axes& axis = {}, OutOfRange mode = OutOfRange::Raise,
                  Where where = Where::here()) {
  return detail::call("take", {x, indices, axis, mode}, where);
}
/// x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are
/// broadcast.
inline Array take_along_axis(const Array& x, const Array& indices, const Axes& axis = -1,
                             OutOfRange mode = OutOfRange::Raise, Where where = Where::here()) {
  return detail::call("take_along_axis", {x, indices, axis, mode}, where);
}
/// x in which x[index] is the value: `x[index] = value` of NumPy. The value broadcasts to x[index];
/// for arrays as indices see scatter() and where(). Gives the shape and dtype of x.
inline Array slice_update(const Array& x, const Indices& index, const Array& value, Where where = Where::here()) {
  return detail::call("slice_update", {x, index, value}, where);
}
/// zero above diagonal k of the last two axes.
inline Array tril(const Array& x, int64_t k = 0, Where where = Where::here()) {
  return detail::call("tril", {x, k}, where);
}
/// zero below diagonal k of the last two axes.
inline Array triu(const Array& x, int64_t k = 0, Where where = Where::here()) {
  return detail::call("triu", {x, k}, where);
}

// ---- Windows

/// views of size elements each, stride apart, in a new last axis for each windowed axis; without
/// axes the last ones.
inline Array window(const Array& x, const Sizes& size, const Axes& axis = {}, const Sizes& stride = 1,
                    const Sizes& dilation = 1, Where where = Where::here()) {
  return detail::call("window", {x, size, axis, stride, dilation}, where);
}
/// largest element of each window over the last axes, as many as there are sizes; stride: the size
/// unless given.
inline Array max_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      const Sizes& dilation = 1, Where where = Where::here()) {
  return detail::call("max_pool", {x, size, stride, padding, dilation}, where);
}
/// smallest element, as in max_pool.
inline Array min_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      const Sizes& dilation = 1, Where where = Where::here()) {
  return detail::call("min_pool", {x, size, stride, padding, dilation}, where);
}
/// mean of each window, as in max_pool; the zeros of the padding count as elements, or not.
inline Array avg_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                      bool count_padding = true, Where where = Where::here()) {
  return detail::call("avg_pool", {x, size, stride, padding, count_padding}, where);
}
/// as PyTorch's: x [N, C, L], [N, C, H, W] or [N, C, D, H, W], weight [O, C // groups, window],
/// bias [O].
inline Array conv(const Array& x, const Array& weight, const Array& bias = {}, const Sizes& stride = 1,
                  const Sizes& padding = 0, const Sizes& dilation = 1, const Size& groups = 1,
                  Where where = Where::here()) {
  return detail::call("conv", {x, weight, bias, stride, padding, dilation, groups}, where);
}
/// sum of kernel[j] * x[i + j] along the last axes, as many as the kernel has; only where the
/// kernel lies inside x.
inline Array correlate(const Array& x, const Array& kernel, Where where = Where::here()) {
  return detail::call("correlate", {x, kernel}, where);
}
/// correlate at every element of x, with the middle of the kernel on it; values outside of x are
/// those of pad's mode.
inline Array filter(const Array& x, const Array& kernel, PadMode mode = PadMode::Edge, const Array& value = 0,
                    Where where = Where::here()) {
  return detail::call("filter", {x, kernel, mode, value}, where);
}

// ---- Creation and casts

/// start, start + step, ... below stop; arange(n) starts at 0. Integers give I64, floats F32. The
/// step is not 0.
inline Array arange(const Array& start, const Array& stop = {}, const Array& step = 1, std::optional<DType> dtype = {},
                    Where where = Where::here()) {
  return detail::call("arange", {start, stop, step, dtype}, where);
}
/// [n, m] with ones on diagonal k, else zeros.
inline Array eye(const Size& n, const std::optional<Size>& m = {}, int64_t k = 0, DType dtype = DType::F32,
                 Where where = Where::here()) {
  return detail::call("eye", {n, m, k, dtype}, where);
}
/// an array of one value. Without a dtype that of the value: I64, F32 or Bool.
inline Array full(const Sizes& shape, const Array& value, std::optional<DType> dtype = {},
                  Where where = Where::here()) {
  return detail::call("full", {shape, value, dtype}, where);
}
/// an array of 0.
inline Array zeros(const Sizes& shape, DType dtype = DType::F32, Where where = Where::here()) {
  return detail::call("zeros", {shape, dtype}, where);
}
/// an array of 1.
inline Array ones(const Sizes& shape, DType dtype = DType::F32, Where where = Where::here()) {
  return detail::call("ones", {shape, dtype}, where);
}
/// an array of one value in the shape and dtype of x.
inline Array full_like(const Array& x, const Array& value, std::optional<DType> dtype = {},
                       Where where = Where::here()) {
  return detail::call("full_like", {x, value, dtype}, where);
}
/// 0 in the shape and dtype of x.
inline Array zeros_like(const Array& x, std::optional<DType> dtype = {}, Where where = Where::here()) {
  return detail::call("zeros_like", {x, dtype}, where);
}
/// 1 in the shape and dtype of x.
inline Array ones_like(const Array& x, std::optional<DType> dtype = {}, Where where = Where::here()) {
  return detail::call("ones_like", {x, dtype}, where);
}
/// saturating cast. Floats round half to even; floats to integers truncate and saturate, nan gives
/// 0; everything but 0 is true.
inline Array astype(const Array& x, DType dtype, Where where = Where::here()) {
  return detail::call("astype", {x, dtype}, where);
}
/// integers to integers, keeping the low bits.
inline Array wrap_cast(const Array& x, DType dtype, Where where = Where::here()) {
  return detail::call("wrap_cast", {x, dtype}, where);
}

// ---- Gathers and parts

/// 1 at the index along a new last axis of size n, else 0; out of range: zeros.
inline Array one_hot(const Array& indices, const Size& n, DType dtype = DType::F32, Where where = Where::here()) {
  return detail::call("one_hot", {indices, n, dtype}, where);
}
/// the rows of a table by index, as take(table, ids, axis=0).
inline Array embedding(const Array& table, const Array& ids, OutOfRange mode = OutOfRange::Raise,
                       Where where = Where::here()) {
  return detail::call("embedding", {table, ids, mode}, where);
}
/// the pairs of the last axis rotated: (a cos - b sin, b cos + a sin); b is half the axis after a,
/// or interleaved: next to it.
inline Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved = false,
                    Where where = Where::here()) {
  return detail::call("rotary", {x, cos, sin, interleaved}, where);
}
/// rotary by positions * base**(-2i/n) for pair i of an axis of n.
inline Array rope(const Array& x, const Array& positions, double base = 10000, bool interleaved = false,
                  Where where = Where::here()) {
  return detail::call("rope", {x, positions, base, interleaved}, where);
}
/// one of the equal parts of an axis, counted from 0.
inline Array part(const Array& x, int64_t parts, int64_t index, const Axes& axis = 0, Where where = Where::here()) {
  return detail::call("part", {x, parts, index, axis}, where);
}

// ---- Scatters

/// x with x[indices] = updates along the axis; of several updates of one element the last wins;
/// indices as in take(), or those out of range are discarded. updates: the shape of x with the axis
/// replaced by the shape of indices, or one that broadcasts to it.
inline Array scatter(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                     OutOfRange mode = OutOfRange::Raise, Where where = Where::here()) {
  return detail::call("scatter", {x, indices, updates, axis, mode}, where);
}
/// x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at; not
/// deterministic: on a GPU floats are added in any order, which is faster. indices and updates: as
/// in scatter().
inline Array scatter_add(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise, bool deterministic = true, Where where = Where::here()) {
  return detail::call("scatter_add", {x, indices, updates, axis, mode, deterministic}, where);
}
/// as scatter_add, with *=.
inline Array scatter_mul(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise, Where where = Where::here()) {
  return detail::call("scatter_mul", {x, indices, updates, axis, mode}, where);
}
/// as scatter_add, with maximum; nan wins.
inline Array scatter_max(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise, Where where = Where::here()) {
  return detail::call("scatter_max", {x, indices, updates, axis, mode}, where);
}
/// as scatter_add, with minimum; nan wins.
inline Array scatter_min(const Array& x, const Array& indices, const Array& updates, const Axes& axis = 0,
                         OutOfRange mode = OutOfRange::Raise, Where where = Where::here()) {
  return detail::call("scatter_min", {x, indices, updates, axis, mode}, where);
}
/// the sum of the rows of x that belong to each of the segments 0 .. n-1; rows of no such segment
/// are left out. Gives [n] and the other sizes of x.
inline Array segment_sum(const Array& x, const Array& segments, const Size& n, bool deterministic = true,
                         Where where = Where::here()) {
  return detail::call("segment_sum", {x, segments, n, deterministic}, where);
}
/// how often each of 0 .. n-1 is in x, as I64, or the sum of their weights; others are left out.
inline Array bincount(const Array& x, const Size& n, const Array& weights = {}, bool deterministic = true,
                      Where where = Where::here()) {
  return detail::call("bincount", {x, n, weights, deterministic}, where);
}
/// how many elements lie in each of the bins of equal width from low to high, as I64; nan and what
/// is outside are left out.
inline Array histogram(const Array& x, int64_t bins, double low, double high, Where where = Where::here()) {
  return detail::call("histogram", {x, bins, low, high}, where);
}

// ---- Random numbers

/// random words of 32 bits: Philox4x32-10 of the counter (offset + i / 4, stream) and the key seed,
/// for element i. Gives U32. seed, offset and stream are integers without axes; arrays of U64 are
/// arguments of a compiled function, numbers are constants.
inline Array random_bits(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                         Where where = Where::here()) {
  return detail::call("random_bits", {shape, seed, offset, stream}, where);
}
/// uniformly distributed from 0 to below 1, with as many random bits as the dtype holds. Never 1.
/// seed, offset, stream: as in random_bits().
inline Array uniform(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                     DType dtype = DType::F32, Where where = Where::here()) {
  return detail::call("uniform", {shape, seed, offset, stream, dtype}, where);
}
/// normally distributed: mean 0, deviation 1. Box & Muller 1958. seed, offset, stream: as in
/// random_bits().
inline Array normal(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                    DType dtype = DType::F32, Where where = Where::here()) {
  return detail::call("normal", {shape, seed, offset, stream, dtype}, where);
}
/// true with probability p, exact to 2**-32. p broadcasts. Gives Bool. seed, offset, stream: as in
/// random_bits().
inline Array bernoulli(const Sizes& shape, const Array& p, const Array& seed, const Array& offset = 0,
                       const Array& stream = 0, Where where = Where::here()) {
  return detail::call("bernoulli", {shape, p, seed, offset, stream}, where);
}
/// 0 where bernoulli() of the same seed, offset and stream is true, else x / (1 - p). Floats. Gives
/// the shape and dtype of x.
inline Array dropout(const Array& x, const Array& p, const Array& seed, const Array& offset = 0,
                     const Array& stream = 0, Where where = Where::here()) {
  return detail::call("dropout", {x, p, seed, offset, stream}, where);
}

// ---- Gradients

/// x, treated as a constant by gradients.
inline Array stop_gradient(const Array& x, Where where = Where::here()) {
  return detail::call("stop_gradient", {x}, where);
}

/// The equal parts of x along an axis.
inline std::vector<Array> split(const Array& x, int64_t parts, Axis axis = 0, Where where = Where::here()) {
  std::vector<Array> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(part(x, parts, i, axis, where));
  return result;
}
/// A saturating cast to the dtype of a C++ type: cast<f16>(x). astype() has the rules.
template <Element T>
Array cast(const Array& x, Where where = Where::here()) {
  return astype(x, dtype_of<T>, where);
}

}  // namespace smelt
