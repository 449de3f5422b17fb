// Everything that a user calls beyond the primitives of build.hpp, as plain functions that build
// primitives: fusion then needs no special cases.
//
// Conventions
// - f16 and bf16 arrays are computed in f32 from the first step to the last, and the result is
//   rounded once to the dtype of the
//   first array (a mean of 100,000 ones in f16 is 1, and eps=1e-5 keeps its value). Elementwise primitives on them are left to
//   the rules of numerics.md.
// - Plain numbers (eps, slope) are Operands: a literal takes the dtype that the formula is computed
//   in, a node may be an array
//   that broadcasts.
// - `axes` may count from the end; empty means all axes.
// - Functions of floats refuse integers and bools with the cast to write, as the Array API standard
//   leaves that mix undefined.
// - What the user can get wrong is thrown as UserBuildError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/build.hpp"

namespace smelt::functions {

using Axes = std::vector<int>;

// How a loss becomes one number.
enum class Reduction : uint8_t { Mean, Sum, None };

// ---- activations: x of any shape -> the same shape and dtype ------------------------------------------------------------------
NodeId relu(GraphBuilder& b, NodeId x);                              // maximum(x, 0): nan stays nan; integers too
NodeId leaky_relu(GraphBuilder& b, NodeId x, const Operand& slope);  // x where x >= 0, else slope * x
NodeId elu(GraphBuilder& b, NodeId x, const Operand& alpha);         // x where x > 0, else alpha * (exp(x) - 1)
NodeId gelu(GraphBuilder& b, NodeId x);                              // x * Phi(x) by erf (Hendrycks & Gimpel 2016)
NodeId gelu_tanh(GraphBuilder& b, NodeId x);                         // its approximation by tanh, from the same paper
NodeId sigmoid(GraphBuilder& b, NodeId x);                           // 1 / (1 + exp(-x)): 0 or 1 far out, never nan
NodeId silu(GraphBuilder& b, NodeId x);                              // x * sigmoid(x)
NodeId softplus(GraphBuilder& b, NodeId x);                          // log(1 + exp(x)), without overflow
NodeId mish(GraphBuilder& b, NodeId x);                              // x * tanh(softplus(x)) (Misra 2019)
NodeId hardswish(GraphBuilder& b, NodeId x);                         // x * clamp(x + 3, 0, 6) / 6 (Howard et al. 2019)
// Between lo and hi; a missing bound does not bound. nan stays nan; lo > hi gives hi, as in NumPy.
NodeId clamp(GraphBuilder& b, NodeId x, std::optional<Operand> lo, std::optional<Operand> hi);
// base ** exponent; a literal exponent of 2, 3 or -1 becomes products or a reciprocal.
NodeId power(GraphBuilder& b, const Operand& base, const Operand& exponent);

// ---- quantisation, interpolation
// i8(clamp(round(x / scale + zero_point), -128, 127)); nan gives 0. Halves round to even.
NodeId quantize_int8(GraphBuilder& b, NodeId x, const Operand& scale, const Operand& zero_point);
// (to(q) - zero_point) * scale
NodeId dequantize(GraphBuilder& b, NodeId q, const Operand& scale, const Operand& zero_point, DType to);
// start + weight * (end - start)
NodeId lerp(GraphBuilder& b, const Operand& start, const Operand& end, const Operand& weight);

// ---- reductions: drop the axes, or keep them with size 1 (sum, max and so on: GraphBuilder::reduce)
NodeId mean(GraphBuilder& b, NodeId x, Axes axes, bool keepdims);  // of nothing: nan
// Two passes: mean((x - mean(x)) ** 2), the squares' sum divided by count - ddof (by 0 when that is
// negative).
NodeId var(GraphBuilder& b, NodeId x, Axes axes, int64_t ddof, bool keepdims);
NodeId stddev(GraphBuilder& b, NodeId x, Axes axes, int64_t ddof, bool keepdims);
// log(sum(exp(x))), after the maximum is taken out; all -inf gives -inf, an inf gives inf.
NodeId logsumexp(GraphBuilder& b, NodeId x, Axes axes, bool keepdims);
// The vector norm of the elements: (sum |x| ** order) ** (1 / order). Order 1, 2, inf, -inf, 0 (how
// many are not zero), or any other.
NodeId norm(GraphBuilder& b, NodeId x, double order, Axes axes, bool keepdims);
NodeId l2norm(GraphBuilder& b, NodeId x, Axes axes, bool keepdims);  // sqrt(sum(x * x))

// ---- scans (cumsum and so on: GraphBuilder::scan)
NodeId cummean(GraphBuilder& b, NodeId x, int axis);
// log(cumsum(exp(x - max))) + max, with the maximum of the whole row.
NodeId logcumsumexp(GraphBuilder& b, NodeId x, int axis);

// ---- normalisation: x of any shape -> the same shape and dtype ------------------------------------------------------------------
// The row maximum is subtracted first. A row of -inf alone gives nan.
NodeId softmax(GraphBuilder& b, NodeId x, Axes axes);
NodeId log_softmax(GraphBuilder& b, NodeId x, Axes axes);
// (x - mean) / sqrt(var + eps) over the axes (Ba et al. 2016), then * weight + bias where given;
// these broadcast against x.
NodeId layernorm(GraphBuilder& b, NodeId x, Axes axes, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias);
// x / sqrt(mean(x * x) + eps) over the axes (Zhang & Sennrich 2019), then * weight where given.
NodeId rmsnorm(GraphBuilder& b, NodeId x, Axes axes, const Operand& eps, std::optional<NodeId> weight);
// x: [N, C, ...]. Channels fall into `groups` equal groups, each normalised with the rest of its
// axes (Wu & He 2018); weight, bias: [C].
NodeId groupnorm(GraphBuilder& b, NodeId x, const IntExpr& groups, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias);
// Inference: (x - mean) / sqrt(var + eps) * weight + bias with statistics per channel, [C] along
// `axis` (Ioffe & Szegedy 2015).
NodeId batchnorm(GraphBuilder& b, NodeId x, NodeId mean, NodeId var, const Operand& eps, std::optional<NodeId> weight,
                 std::optional<NodeId> bias, int axis);

// ---- losses
// -log_softmax(logits, axis) at the target. targets: integers, the shape of logits without `axis`.
// A target that names no class gives nan. The result has the logits' dtype.
NodeId cross_entropy(GraphBuilder& b, NodeId logits, NodeId targets, int axis, Reduction reduction);
NodeId mse(GraphBuilder& b, NodeId x, NodeId target, Reduction reduction);  // (x - target) ** 2
// With d = |x - target|: d*d/2 where d <= delta, else delta * (d - delta/2) (Huber 1964).
NodeId huber(GraphBuilder& b, NodeId x, NodeId target, const Operand& delta, Reduction reduction);

// ---- products (functions_product.cpp). Results have the promoted dtype: f16 and bf16 add up in f32 and are rounded once, integers wrap,
// of bools it is whether any pair is true. A precision is that of f32 factors; others are as exact
// as ever. Letters name axes: those that two arrays share are multiplied, those that the result
// lacks are summed; '...' broadcasts.
NodeId einsum(GraphBuilder& b, std::string_view subscripts, const std::vector<NodeId>& arrays,
              Precision precision = Precision::Full);
// numpy.matmul: [.., m, k] and [.., k, n] -> [.., m, n]; a vector is a row as x, a column as y.
// `what`: its name in messages.
NodeId matmul(GraphBuilder& b, NodeId x, NodeId y, std::string_view what = "matmul",
              Precision precision = Precision::Full);
// numpy.dot: over the last axis of x and the last but one of y
NodeId dot(GraphBuilder& b, NodeId x, NodeId y, Precision precision = Precision::Full);
NodeId vecdot(GraphBuilder& b, NodeId x, NodeId y, int axis);
NodeId outer(GraphBuilder& b, NodeId x, NodeId y);  // of the flattened arrays
// Over these axes, pair by pair.
NodeId tensordot(GraphBuilder& b, NodeId x, NodeId y, Axes of_x, Axes of_y, Precision precision = Precision::Full);
// x @ weight.T + bias; weight: [out, in]
NodeId linear(GraphBuilder& b, NodeId x, NodeId weight, std::optional<NodeId> bias,
              Precision precision = Precision::Full);
// softmax(q @ k.T * scale + mask) @ v, of [.., length, n] each. A bool mask says which keys are
// seen, causal those up to the row; a row that sees none is 0. Without a scale 1 / sqrt(n). Where q
// has more heads (axis -3) than k and v, neighbours share theirs.
NodeId attention(GraphBuilder& b, NodeId q, NodeId k, NodeId v, std::optional<NodeId> mask, bool causal,
                 std::optional<Operand> scale, Precision precision = Precision::Full);

// ---- movement
NodeId expand_dims(GraphBuilder& b, NodeId x, Axes axes);  // the axes count in the result
NodeId squeeze(GraphBuilder& b, NodeId x, Axes axes);      // empty: every axis of size 1
NodeId transpose(GraphBuilder& b, NodeId x, Axes order);   // empty: all axes in reverse
NodeId swapaxes(GraphBuilder& b, NodeId x, int first, int second);
NodeId moveaxis(GraphBuilder& b, NodeId x, const Axes& from, const Axes& to);
NodeId flatten(GraphBuilder& b, NodeId x);
NodeId flip(GraphBuilder& b, NodeId x, Axes axes);
NodeId roll(GraphBuilder& b, NodeId x, const IntExpr& shift,
            std::optional<int> axis);  // without an axis: as if flattened
NodeId tile(GraphBuilder& b, NodeId x, const Shape& repeats);
NodeId repeat(GraphBuilder& b, NodeId x, const IntExpr& count,
              std::optional<int> axis);  // each element; no axis: flattened
NodeId stack(GraphBuilder& b, const std::vector<NodeId>& xs, int axis);
// numpy.take: result shape is that of x with `axis` replaced by the indices' shape; without an axis
// x is flattened. With GatherMode::Check and Wrap indices below 0 count from the end.
NodeId take(GraphBuilder& b, NodeId x, NodeId indices, std::optional<int> axis, GatherMode mode);
// Indices that are numbers of the program, in an array of this shape.
struct KnownIndices {
  std::vector<int64_t> values;
  Dims shape;
};
// Requires that the axis has these elements; an index below 0 counts from the end.
void require_elements(GraphBuilder& b, NodeId x, int axis, const KnownIndices& indices);
// As above. Indices at equal distances are a slice, which moves nothing.
NodeId take(GraphBuilder& b, NodeId x, const KnownIndices& indices, std::optional<int> axis, GatherMode mode);
NodeId array_of(GraphBuilder& b, const KnownIndices& indices);  // of i64
NodeId take_along_axis(GraphBuilder& b, NodeId x, NodeId indices, std::optional<int> axis, GatherMode mode);
// 1 where the index is the place along a new last axis, else 0.
NodeId one_hot(GraphBuilder& b, NodeId indices, const IntExpr& classes, DType dtype);
NodeId embedding(GraphBuilder& b, NodeId table, NodeId ids, GatherMode mode);  // rows of a table [n, d]
// The pairs (a, b) of the last axis turned: (a cos - b sin, b cos + a sin). Halves of the axis, or
// interleaved: neighbours. cosine and sine have half the elements along that axis, and broadcast
// along the others.
NodeId rotary(GraphBuilder& b, NodeId x, NodeId cosine, NodeId sine, bool interleaved);
NodeId rope(GraphBuilder& b, NodeId x, NodeId positions, double base, bool interleaved);
IntExpr equal_part(GraphBuilder& b, NodeId x, int64_t parts, int axis);  // its size; the parts must come out even
std::vector<NodeId> split(GraphBuilder& b, NodeId x, const Shape& sizes, int axis);
// What a subscript names: elements start, start + step, .. of each axis, `sizes` of them; an axis
// of an integer has one. `shape` is that of the result of the subscript.
struct Region {
  std::vector<IntExpr> starts;
  std::vector<int64_t> steps;
  Shape sizes, shape;
};
// x with the region's elements replaced, as x[region] = value does in NumPy; the result has the
// dtype of x.
NodeId slice_update(GraphBuilder& b, NodeId x, const Region& region, const Operand& value);
// x with updates put, added, .. along an axis; see GraphBuilder::scatter. Halves are added in f32,
// and rounded once.
NodeId scatter(GraphBuilder& b, ScatterKind kind, NodeId x, NodeId indices, const Operand& updates, int axis,
               GatherMode mode, bool atomic);
// The sums of the rows of each segment; rows whose segment is none of 0 .. count-1 are left out.
NodeId segment_sum(GraphBuilder& b, NodeId x, NodeId segments, const IntExpr& count, bool atomic);
// How often each of 0 .. count-1 is there, as i64, or the sum of the weights of each; what is
// outside is left out.
NodeId bincount(GraphBuilder& b, NodeId x, const IntExpr& count, std::optional<NodeId> weights, bool atomic);
NodeId histogram(GraphBuilder& b, NodeId x, int64_t bins, double low, double high);
NodeId tril(GraphBuilder& b, NodeId x, int64_t diagonal);  // zero above the diagonal of the last two axes
NodeId triu(GraphBuilder& b, NodeId x, int64_t diagonal);  // zero below it

// ---- windows (functions_window.cpp). Lists of numbers: one for each axis that windows slide along, one for all of them, or
// none for what is in the comment.
struct Pool {
  std::vector<int64_t> size;                       // of the last axes
  std::vector<int64_t> stride, padding, dilation;  // the size; 0; 1
};
struct Conv {
  std::vector<int64_t> stride, padding, dilation;  // 1; 0; 1
  int64_t groups = 1;
};
// numpy's sliding_window_view: one more axis at the end for each windowed one. Without axes: the
// last ones. An axis that is named twice has windows of windows.
NodeId window(GraphBuilder& b, NodeId x, const Shape& size, Axes axes, const std::vector<int64_t>& stride,
              const std::vector<int64_t>& dilation);
// The padding of max_pool and min_pool never wins; that of avg_pool is zero, and counts or does
// not.
NodeId max_pool(GraphBuilder& b, NodeId x, const Pool& pool);
NodeId min_pool(GraphBuilder& b, NodeId x, const Pool& pool);
NodeId avg_pool(GraphBuilder& b, NodeId x, const Pool& pool, bool count_padding);
// As PyTorch's: x [N, C, sizes], weight [O, C / groups, window], bias [O] -> [N, O, sizes].
NodeId conv(GraphBuilder& b, NodeId x, NodeId weight, std::optional<NodeId> bias, const Conv& how);
// sum over j of x[i + j] * kernel[j], along the last axes, as many as the kernel has; where the
// kernel lies inside of x.
NodeId correlate(GraphBuilder& b, NodeId x, NodeId kernel);
// The same at every element of x, whose middle is the kernel's element size // 2; outside of x
// is what the mode says, or without one the value.
NodeId filter(GraphBuilder& b, NodeId x, NodeId kernel, std::optional<ExtendMode> mode, const Operand& value);

// ---- creation
// start, start + step, ... below stop. i64 unless `dtype` says otherwise. The step is not 0.
NodeId arange(GraphBuilder& b, const IntExpr& start, const IntExpr& stop, int64_t step, DType dtype);
NodeId arange(GraphBuilder& b, double start, double stop, double step, DType dtype);
NodeId eye(GraphBuilder& b, const IntExpr& rows, const IntExpr& columns, int64_t diagonal, DType dtype);
NodeId full(GraphBuilder& b, Shape shape, const Operand& value, std::optional<DType> dtype);

// ---- random numbers: element i takes word i mod 4 of Philox4x32-10 of the counter (offset + i / 4, stream) and the key `seed`
// Integers of rank 0, of which the low 64 bits count.
struct Key {
  NodeId seed, offset, stream;
};
NodeId random_bits(GraphBuilder& b, Shape shape, const Key& key);  // u32
NodeId uniform(GraphBuilder& b, Shape shape, const Key& key,
               DType dtype);  // in [0, 1), all bits of the dtype; f64: two words each
NodeId normal(GraphBuilder& b, Shape shape, const Key& key, DType dtype);  // mean 0, variance 1; f64: four words each
// true with probability ceil(p * 2^32) / 2^32; p may be an array that broadcasts to the shape.
NodeId bernoulli(GraphBuilder& b, Shape shape, const Operand& p, const Key& key);
// 0 where bernoulli of the same key is true, else x / (1 - p).
NodeId dropout(GraphBuilder& b, NodeId x, const Operand& p, const Key& key);

}  // namespace smelt::functions
