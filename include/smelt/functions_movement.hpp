/// \file
/// Functions that move, make, gather, scatter and draw elements: a part of smelt/functions.hpp.
/// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/choices.hpp"

namespace smelt {

// ---- Movement

/// the same elements, row by row, in another shape; one size may be -1. Moves no data.
SMELT_API Array reshape(const Array& x, const Sizes& shape, Where where = Where::here());
/// reshape(x, -1).
SMELT_API Array flatten(const Array& x, Where where = Where::here());
/// axes in another order; without axes: reversed, as x.T().
SMELT_API Array transpose(const Array& x, const Axes& axes = {}, Where where = Where::here());
/// two axes change places.
SMELT_API Array swapaxes(const Array& x, Axis axis1, Axis axis2, Where where = Where::here());
/// axes move to these positions, the others keep their order.
SMELT_API Array moveaxis(const Array& x, const Axes& source, const Axes& destination, Where where = Where::here());
/// axes of size 1, and new ones in front, repeated to the shape.
SMELT_API Array broadcast_to(const Array& x, const Sizes& shape, Where where = Where::here());
/// a new axis of size 1 at this position of the result.
SMELT_API Array expand_dims(const Array& x, const Axes& axis, Where where = Where::here());
/// drops axes of size 1: all, or those named.
SMELT_API Array squeeze(const Array& x, const Axes& axis = {}, Where where = Where::here());
/// arrays one after the other along an axis.
SMELT_API Array concat(const std::vector<Array>& arrays, Axis axis = 0, Where where = Where::here());
/// arrays of one shape along a new axis.
SMELT_API Array stack(const std::vector<Array>& arrays, Axis axis = 0, Where where = Where::here());
/// value around x, or x extended; 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1,
/// 2}} for each axis.
SMELT_API Array pad(const Array& x, const PadWidth& pad_width, const Array& value = 0, PadMode mode = PadMode::Constant,
                    Where where = Where::here());
/// reversed along the axes, or all of them.
SMELT_API Array flip(const Array& x, const Axes& axis = {}, Where where = Where::here());
/// elements move up by shift and wrap around; one shift for each axis, or one for all; without an
/// axis as if flattened.
SMELT_API Array roll(const Array& x, const Sizes& shift, const Axes& axis = {}, Where where = Where::here());
/// x repeated as a whole: reps[d] times along axis d.
SMELT_API Array tile(const Array& x, const Sizes& reps, Where where = Where::here());
/// each element repeated; without an axis flattened.
SMELT_API Array repeat(const Array& x, const Size& repeats, const Axes& axis = {}, Where where = Where::here());
/// x[indices] along the axis, or of the flattened x; indices below 0 count from the end; out of
/// range: an error when it runs, the nearest, or modulo. Gives the shape of x with the axis
/// replaced by the shape of indices.
SMELT_API Array take(const Array& x, const IndexList& indices, const Axes& axis = {},
                     OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are
/// broadcast.
SMELT_API Array take_along_axis(const Array& x, const IndexList& indices, const Axes& axis = -1,
                                OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// x in which x[index] is the value: `x[index] = value` of NumPy. The value broadcasts to x[index];
/// for arrays as indices see scatter() and where(). Gives the shape and dtype of x.
SMELT_API Array slice_update(const Array& x, const Indices& index, const Array& value, Where where = Where::here());
/// zero above diagonal k of the last two axes.
SMELT_API Array tril(const Array& x, int64_t k = 0, Where where = Where::here());
/// zero below diagonal k of the last two axes.
SMELT_API Array triu(const Array& x, int64_t k = 0, Where where = Where::here());

// ---- Windows

/// views of size elements each, stride apart, in a new last axis for each windowed axis; without
/// axes the last ones.
SMELT_API Array window(const Array& x, const Sizes& size, const Axes& axis = {}, const Sizes& stride = 1,
                       const Sizes& dilation = 1, Where where = Where::here());
/// largest element of each window over the last axes, as many as there are sizes; stride: the size
/// unless given.
SMELT_API Array max_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                         const Sizes& dilation = 1, Where where = Where::here());
/// smallest element, as in max_pool.
SMELT_API Array min_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                         const Sizes& dilation = 1, Where where = Where::here());
/// mean of each window, as in max_pool; the zeros of the padding count as elements, or not.
SMELT_API Array avg_pool(const Array& x, const Sizes& size, const Sizes& stride = {}, const Sizes& padding = 0,
                         bool count_padding = true, Where where = Where::here());
/// as PyTorch's: x [N, C, L], [N, C, H, W] or [N, C, D, H, W], weight [O, C // groups, window],
/// bias [O].
SMELT_API Array conv(const Array& x, const Array& weight, const Array& bias = {}, const Sizes& stride = 1,
                     const Sizes& padding = 0, const Sizes& dilation = 1, const Size& groups = 1,
                     Where where = Where::here());
/// sum of kernel[j] * x[i + j] along the last axes, as many as the kernel has; only where the
/// kernel lies inside x.
SMELT_API Array correlate(const Array& x, const Array& kernel, Where where = Where::here());
/// correlate at every element of x, with the middle of the kernel on it; values outside of x are
/// those of pad's mode.
SMELT_API Array filter(const Array& x, const Array& kernel, PadMode mode = PadMode::Edge, const Array& value = 0,
                       Where where = Where::here());

// ---- Creation and casts

/// start, start + step, ... below stop; arange(n) starts at 0. Integers give I64, floats F32. The
/// step is not 0.
SMELT_API Array arange(const Array& start, const Array& stop = {}, const Array& step = 1,
                       std::optional<DType> dtype = {}, Where where = Where::here());
/// [n, m] with ones on diagonal k, else zeros.
SMELT_API Array eye(const Size& n, const std::optional<Size>& m = {}, int64_t k = 0, DType dtype = DType::F32,
                    Where where = Where::here());
/// an array of one value. Without a dtype that of the value: I64, F32 or Bool.
SMELT_API Array full(const Sizes& shape, const Array& value, std::optional<DType> dtype = {},
                     Where where = Where::here());
/// an array of 0.
SMELT_API Array zeros(const Sizes& shape, DType dtype = DType::F32, Where where = Where::here());
/// an array of 1.
SMELT_API Array ones(const Sizes& shape, DType dtype = DType::F32, Where where = Where::here());
/// an array of one value in the shape and dtype of x.
SMELT_API Array full_like(const Array& x, const Array& value, std::optional<DType> dtype = {},
                          Where where = Where::here());
/// 0 in the shape and dtype of x.
SMELT_API Array zeros_like(const Array& x, std::optional<DType> dtype = {}, Where where = Where::here());
/// 1 in the shape and dtype of x.
SMELT_API Array ones_like(const Array& x, std::optional<DType> dtype = {}, Where where = Where::here());
/// saturating cast. Floats round half to even; floats to integers truncate and saturate, nan gives
/// 0; everything but 0 is true.
SMELT_API Array astype(const Array& x, DType dtype, Where where = Where::here());
/// integers to integers, keeping the low bits.
SMELT_API Array wrap_cast(const Array& x, DType dtype, Where where = Where::here());

// ---- Gathers and parts

/// 1 at the index along a new last axis of size n, else 0; out of range: zeros.
SMELT_API Array one_hot(const Array& indices, const Size& n, DType dtype = DType::F32, Where where = Where::here());
/// the rows of a table by index, as take(table, ids, axis=0).
SMELT_API Array embedding(const Array& table, const IndexList& ids, OutOfRange mode = OutOfRange::Raise,
                          Where where = Where::here());
/// the pairs of the last axis rotated: (a cos - b sin, b cos + a sin); b is half the axis after a,
/// or interleaved: next to it.
SMELT_API Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved = false,
                       Where where = Where::here());
/// rotary by positions * base**(-2i/n) for pair i of an axis of n.
SMELT_API Array rope(const Array& x, const Array& positions, double base = 10000, bool interleaved = false,
                     Where where = Where::here());
/// one of the equal parts of an axis, counted from 0.
SMELT_API Array part(const Array& x, int64_t parts, int64_t index, const Axes& axis = 0, Where where = Where::here());

// ---- Scatters

/// x with x[indices] = updates along the axis; of several updates of one element the last wins;
/// indices as in take(), or those out of range are discarded. updates: the shape of x with the axis
/// replaced by the shape of indices, or one that broadcasts to it.
SMELT_API Array scatter(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis = 0,
                        OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at; not
/// deterministic: on a GPU floats are added in any order, which is faster. indices and updates: as
/// in scatter().
SMELT_API Array scatter_add(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis = 0,
                            OutOfRange mode = OutOfRange::Raise, bool deterministic = true,
                            Where where = Where::here());
/// as scatter_add, with *=.
SMELT_API Array scatter_mul(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis = 0,
                            OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// as scatter_add, with maximum; nan wins.
SMELT_API Array scatter_max(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis = 0,
                            OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// as scatter_add, with minimum; nan wins.
SMELT_API Array scatter_min(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis = 0,
                            OutOfRange mode = OutOfRange::Raise, Where where = Where::here());
/// the sum of the rows of x that belong to each of the segments 0 .. n-1; rows of no such segment
/// are left out. Gives [n] and the other sizes of x.
SMELT_API Array segment_sum(const Array& x, const IndexList& segments, const Size& n, bool deterministic = true,
                            Where where = Where::here());
/// how often each of 0 .. n-1 is in x, as I64, or the sum of their weights; others are left out.
SMELT_API Array bincount(const Array& x, const Size& n, const Array& weights = {}, bool deterministic = true,
                         Where where = Where::here());
/// how many elements lie in each of the bins of equal width from low to high, as I64; nan and what
/// is outside are left out.
SMELT_API Array histogram(const Array& x, int64_t bins, double low, double high, Where where = Where::here());

// ---- Random numbers

/// random words of 32 bits: Philox4x32-10 of the counter (offset + i / 4, stream) and the key seed,
/// for element i. Gives U32. seed, offset and stream are integers without axes; arrays of U64 are
/// arguments of a compiled function, numbers are constants.
SMELT_API Array random_bits(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                            Where where = Where::here());
/// uniformly distributed from 0 to below 1, with as many random bits as the dtype holds. Never 1.
/// seed, offset, stream: as in random_bits().
SMELT_API Array uniform(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                        DType dtype = DType::F32, Where where = Where::here());
/// normally distributed: mean 0, deviation 1. Box & Muller 1958. seed, offset, stream: as in
/// random_bits().
SMELT_API Array normal(const Sizes& shape, const Array& seed, const Array& offset = 0, const Array& stream = 0,
                       DType dtype = DType::F32, Where where = Where::here());
/// true with probability p, exact to 2**-32. p broadcasts. Gives Bool. seed, offset, stream: as in
/// random_bits().
SMELT_API Array bernoulli(const Sizes& shape, const Array& p, const Array& seed, const Array& offset = 0,
                          const Array& stream = 0, Where where = Where::here());
/// 0 where bernoulli() of the same seed, offset and stream is true, else x / (1 - p). Floats. Gives
/// the shape and dtype of x.
SMELT_API Array dropout(const Array& x, const Array& p, const Array& seed, const Array& offset = 0,
                        const Array& stream = 0, Where where = Where::here());

// ---- Gradients

/// x, treated as a constant by gradients.
SMELT_API Array stop_gradient(const Array& x, Where where = Where::here());

/// The equal parts of x along an axis.
SMELT_API std::vector<Array> split(const Array& x, int64_t parts, Axis axis = 0, Where where = Where::here());
/// A saturating cast to the dtype of a C++ type: cast<f16>(x). astype() has the rules.
template <Element T>
Array cast(const Array& x, Where where = Where::here()) {
  return astype(x, dtype_of<T>, where);
}

}  // namespace smelt
