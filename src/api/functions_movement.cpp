// Functions that move, make, gather, scatter and draw elements.
// Written by test_api from the function table of the language (SMELT_UPDATE_GOLDENS=1).
#include "smelt/functions_movement.hpp"

#include "smelt/call.hpp"

namespace smelt {

Array reshape(const Array& x, const Sizes& shape, Where where) { return detail::call("reshape", {x, shape}, where); }
Array flatten(const Array& x, Where where) { return detail::call("flatten", {x}, where); }
Array transpose(const Array& x, const Axes& axes, Where where) { return detail::call("transpose", {x, axes}, where); }
Array swapaxes(const Array& x, Axis axis1, Axis axis2, Where where) {
  return detail::call("swapaxes", {x, axis1, axis2}, where);
}
Array moveaxis(const Array& x, const Axes& source, const Axes& destination, Where where) {
  return detail::call("moveaxis", {x, source, destination}, where);
}
Array broadcast_to(const Array& x, const Sizes& shape, Where where) {
  return detail::call("broadcast_to", {x, shape}, where);
}
Array expand_dims(const Array& x, const Axes& axis, Where where) {
  return detail::call("expand_dims", {x, axis}, where);
}
Array squeeze(const Array& x, const Axes& axis, Where where) { return detail::call("squeeze", {x, axis}, where); }
Array concat(const std::vector<Array>& arrays, Axis axis, Where where) {
  return detail::call("concat", {arrays, axis}, where);
}
Array stack(const std::vector<Array>& arrays, Axis axis, Where where) {
  return detail::call("stack", {arrays, axis}, where);
}
Array pad(const Array& x, const PadWidth& pad_width, const Array& value, PadMode mode, Where where) {
  return detail::call("pad", {x, pad_width, value, mode}, where);
}
Array flip(const Array& x, const Axes& axis, Where where) { return detail::call("flip", {x, axis}, where); }
Array roll(const Array& x, const Sizes& shift, const Axes& axis, Where where) {
  return detail::call("roll", {x, shift, axis}, where);
}
Array tile(const Array& x, const Sizes& reps, Where where) { return detail::call("tile", {x, reps}, where); }
Array repeat(const Array& x, const Size& repeats, const Axes& axis, Where where) {
  return detail::call("repeat", {x, repeats, axis}, where);
}
Array take(const Array& x, const IndexList& indices, const Axes& axis, OutOfRange mode, Where where) {
  return detail::call("take", {x, indices, axis, mode}, where);
}
Array take_along_axis(const Array& x, const IndexList& indices, const Axes& axis, OutOfRange mode, Where where) {
  return detail::call("take_along_axis", {x, indices, axis, mode}, where);
}
Array slice_update(const Array& x, const Indices& index, const Array& value, Where where) {
  return detail::call("slice_update", {x, index, value}, where);
}
Array tril(const Array& x, int64_t k, Where where) { return detail::call("tril", {x, k}, where); }
Array triu(const Array& x, int64_t k, Where where) { return detail::call("triu", {x, k}, where); }
Array window(const Array& x, const Sizes& size, const Axes& axis, const Sizes& stride, const Sizes& dilation,
             Where where) {
  return detail::call("window", {x, size, axis, stride, dilation}, where);
}
Array max_pool(const Array& x, const Sizes& size, const Sizes& stride, const Sizes& padding, const Sizes& dilation,
               Where where) {
  return detail::call("max_pool", {x, size, stride, padding, dilation}, where);
}
Array min_pool(const Array& x, const Sizes& size, const Sizes& stride, const Sizes& padding, const Sizes& dilation,
               Where where) {
  return detail::call("min_pool", {x, size, stride, padding, dilation}, where);
}
Array avg_pool(const Array& x, const Sizes& size, const Sizes& stride, const Sizes& padding, bool count_padding,
               Where where) {
  return detail::call("avg_pool", {x, size, stride, padding, count_padding}, where);
}
Array conv(const Array& x, const Array& weight, const Array& bias, const Sizes& stride, const Sizes& padding,
           const Sizes& dilation, const Size& groups, Where where) {
  return detail::call("conv", {x, weight, bias, stride, padding, dilation, groups}, where);
}
Array correlate(const Array& x, const Array& kernel, Where where) {
  return detail::call("correlate", {x, kernel}, where);
}
Array filter(const Array& x, const Array& kernel, PadMode mode, const Array& value, Where where) {
  return detail::call("filter", {x, kernel, mode, value}, where);
}
Array arange(const Array& start, const Array& stop, const Array& step, std::optional<DType> dtype, Where where) {
  return detail::call("arange", {start, stop, step, dtype}, where);
}
Array eye(const Size& n, const std::optional<Size>& m, int64_t k, DType dtype, Where where) {
  return detail::call("eye", {n, m, k, dtype}, where);
}
Array full(const Sizes& shape, const Array& value, std::optional<DType> dtype, Where where) {
  return detail::call("full", {shape, value, dtype}, where);
}
Array zeros(const Sizes& shape, DType dtype, Where where) { return detail::call("zeros", {shape, dtype}, where); }
Array ones(const Sizes& shape, DType dtype, Where where) { return detail::call("ones", {shape, dtype}, where); }
Array full_like(const Array& x, const Array& value, std::optional<DType> dtype, Where where) {
  return detail::call("full_like", {x, value, dtype}, where);
}
Array zeros_like(const Array& x, std::optional<DType> dtype, Where where) {
  return detail::call("zeros_like", {x, dtype}, where);
}
Array ones_like(const Array& x, std::optional<DType> dtype, Where where) {
  return detail::call("ones_like", {x, dtype}, where);
}
Array astype(const Array& x, DType dtype, Where where) { return detail::call("astype", {x, dtype}, where); }
Array wrap_cast(const Array& x, DType dtype, Where where) { return detail::call("wrap_cast", {x, dtype}, where); }
Array one_hot(const Array& indices, const Size& n, DType dtype, Where where) {
  return detail::call("one_hot", {indices, n, dtype}, where);
}
Array embedding(const Array& table, const IndexList& ids, OutOfRange mode, Where where) {
  return detail::call("embedding", {table, ids, mode}, where);
}
Array rotary(const Array& x, const Array& cos, const Array& sin, bool interleaved, Where where) {
  return detail::call("rotary", {x, cos, sin, interleaved}, where);
}
Array rope(const Array& x, const Array& positions, double base, bool interleaved, Where where) {
  return detail::call("rope", {x, positions, base, interleaved}, where);
}
Array part(const Array& x, int64_t parts, int64_t index, const Axes& axis, Where where) {
  return detail::call("part", {x, parts, index, axis}, where);
}
Array scatter(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis, OutOfRange mode,
              Where where) {
  return detail::call("scatter", {x, indices, updates, axis, mode}, where);
}
Array scatter_add(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis, OutOfRange mode,
                  bool deterministic, Where where) {
  return detail::call("scatter_add", {x, indices, updates, axis, mode, deterministic}, where);
}
Array scatter_mul(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis, OutOfRange mode,
                  Where where) {
  return detail::call("scatter_mul", {x, indices, updates, axis, mode}, where);
}
Array scatter_max(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis, OutOfRange mode,
                  Where where) {
  return detail::call("scatter_max", {x, indices, updates, axis, mode}, where);
}
Array scatter_min(const Array& x, const IndexList& indices, const Array& updates, const Axes& axis, OutOfRange mode,
                  Where where) {
  return detail::call("scatter_min", {x, indices, updates, axis, mode}, where);
}
Array segment_sum(const Array& x, const IndexList& segments, const Size& n, bool deterministic, Where where) {
  return detail::call("segment_sum", {x, segments, n, deterministic}, where);
}
Array bincount(const Array& x, const Size& n, const Array& weights, bool deterministic, Where where) {
  return detail::call("bincount", {x, n, weights, deterministic}, where);
}
Array histogram(const Array& x, int64_t bins, double low, double high, Where where) {
  return detail::call("histogram", {x, bins, low, high}, where);
}
Array random_bits(const Sizes& shape, const Array& seed, const Array& offset, const Array& stream, Where where) {
  return detail::call("random_bits", {shape, seed, offset, stream}, where);
}
Array uniform(const Sizes& shape, const Array& seed, const Array& offset, const Array& stream, DType dtype,
              Where where) {
  return detail::call("uniform", {shape, seed, offset, stream, dtype}, where);
}
Array normal(const Sizes& shape, const Array& seed, const Array& offset, const Array& stream, DType dtype,
             Where where) {
  return detail::call("normal", {shape, seed, offset, stream, dtype}, where);
}
Array bernoulli(const Sizes& shape, const Array& p, const Array& seed, const Array& offset, const Array& stream,
                Where where) {
  return detail::call("bernoulli", {shape, p, seed, offset, stream}, where);
}
Array dropout(const Array& x, const Array& p, const Array& seed, const Array& offset, const Array& stream,
              Where where) {
  return detail::call("dropout", {x, p, seed, offset, stream}, where);
}
Array stop_gradient(const Array& x, Where where) { return detail::call("stop_gradient", {x}, where); }

std::vector<Array> split(const Array& x, int64_t parts, Axis axis, Where where) {
  std::vector<Array> result;
  for (int64_t i = 0; i < parts; ++i) result.push_back(part(x, parts, i, axis, where));
  return result;
}

}  // namespace smelt
