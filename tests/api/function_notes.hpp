// What the headers of the functions say besides the language's table.
#pragma once

#include <string_view>

namespace smelt::api_test {

// What the table's own words, which are Python's, do not say in C++: shapes, dtypes, sources.
struct Note {
  std::string_view name, doc, more;  // an empty doc: the table's
};
inline constexpr std::string_view kSame = "Gives the shape and dtype of x.";
inline constexpr std::string_view kReduce = "axis: one, several, or {} for all; they are dropped, or kept with size 1.";
inline constexpr Note kNotes[] = {
    {"sin", "", "Radians."},
    {"cos", "", "Radians."},
    {"tan", "", "Radians."},
    {"asin", "", "Radians, in [-pi/2, pi/2]; nan outside of [-1, 1]."},
    {"acos", "", "Radians, in [0, pi]; nan outside of [-1, 1]."},
    {"atan", "", "Radians, in [-pi/2, pi/2]."},
    {"atan2", "", "Radians, in [-pi, pi]."},
    {"where", "x where condition is true, else y", ""},
    {"logical_and", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_or", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_xor", "", "Arrays that broadcast, of any dtype; gives Bool."},
    {"logical_not", "", "Any dtype; gives Bool."},
    {"clamp", "minimum(maximum(x, lo), hi); nan stays nan; a bound of {} does not bound", "Numbers; bounds broadcast."},
    {"relu", "", "Numbers. Gives the shape and dtype of x."},
    {"leaky_relu", "", "Floats."},
    {"elu", "", "Floats. Clevert et al. 2015."},
    {"gelu", "x * (1 + erf(x / sqrt(2))) / 2; Approximate::Tanh is gelu_tanh", "Floats. Hendrycks & Gimpel 2016."},
    {"gelu_tanh", "", "Floats. Hendrycks & Gimpel 2016."},
    {"sigmoid", "", "Floats; 0 or 1 far out, never nan."},
    {"silu", "", "Floats. Elfwing et al. 2017."},
    {"softplus", "", "Floats."},
    {"mish", "", "Floats. Misra 2019."},
    {"hardswish", "", "Floats. Howard et al. 2019."},
    {"quantize_int8", "", "Floats; scale and zero_point broadcast. Halves round to even. Gives I8 in the shape of x."},
    {"dequantize", "", "Integers; scale and zero_point broadcast."},
    {"lerp", "", "Floats that broadcast."},
    {"sum", "", kReduce},
    {"prod", "", kReduce},
    {"max", "largest element; nan if there is one", kReduce},
    {"min", "smallest element; nan if there is one", kReduce},
    {"any", "", kReduce},
    {"all", "", kReduce},
    {"argmax", "index of the first largest element, or of the first nan; of the flattened array without an axis",
     "Gives I64."},
    {"argmin", "index of the first smallest element, or of the first nan; of the flattened array without an axis",
     "Gives I64."},
    {"mean", "", kReduce},
    {"var", "", kReduce},
    {"std", "", "Called std in the expression language. axis: as in var()."},
    {"logsumexp", "", kReduce},
    {"norm",
     "sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord may be infinite, and 0 counts what is not 0",
     kReduce},
    {"l2norm", "", kReduce},
    {"softmax", "", kSame},
    {"log_softmax", "", kSame},
    {"layernorm", "", "Ba et al. 2016. Gives the shape and dtype of x."},
    {"rmsnorm", "", "Zhang & Sennrich 2019. Gives the shape and dtype of x."},
    {"groupnorm", "", "Wu & He 2018. Gives the shape and dtype of x."},
    {"batchnorm", "", "Ioffe & Szegedy 2015. Gives the shape and dtype of x."},
    {"cross_entropy",
     "-log_softmax(x) at the target class; targets: integers, the shape of x without the axis; out of range: nan",
     "Gives the dtype of x: one number, or with Reduction::None the shape of targets."},
    {"cumsum", "running sum along an axis, from the start or as `how` says; integers as in sum()", ""},
    {"cumprod", "running product along an axis, from the start or as `how` says; integers as in sum()", ""},
    {"cummax", "largest element so far along an axis; nan from the first nan on", ""},
    {"cummin", "smallest element so far along an axis; nan from the first nan on", ""},
    {"mse", "(x - targets)**2, and its mean",
     "Gives the dtype of x: one number, or with Reduction::None the broadcast shape."},
    {"huber", "with d = abs(x - targets): d*d/2 where d <= delta, else delta * (d - delta/2), and its mean",
     "Huber 1964. Gives the dtype of x: one number, or with Reduction::None the broadcast shape."},
    {"transpose", "axes in another order; without axes: reversed, as x.T()", ""},
    {"pad",
     "value around x, or x extended; 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1, 2}} for each "
     "axis",
     ""},
    {"slice_update", "x in which x[index] is the value: `x[index] = value` of NumPy",
     "The value broadcasts to x[index]; for arrays as indices see scatter() and where(). Gives the shape and dtype of "
     "x."},
    {"take",
     "x[indices] along the axis, or of the flattened x; indices below 0 count from the end; out of range: an error "
     "when it runs, "
     "the nearest, or modulo",
     "Gives the shape of x with the axis replaced by the shape of indices."},
    {"scatter",
     "x with x[indices] = updates along the axis; of several updates of one element the last wins; indices as in "
     "take(), or those out of range are discarded",
     "updates: the shape of x with the axis replaced by the shape of indices, or one that broadcasts to it."},
    {"scatter_add",
     "x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at; not deterministic: on a GPU "
     "floats are added in any order, which is faster",
     "indices and updates: as in scatter()."},
    {"bincount", "how often each of 0 .. n-1 is in x, as I64, or the sum of their weights; others are left out", ""},
    {"histogram",
     "how many elements lie in each of the bins of equal width from low to high, as I64; nan and what is outside are "
     "left "
     "out",
     ""},
    {"segment_sum",
     "the sum of the rows of x that belong to each of the segments 0 .. n-1; rows of no such segment are left out",
     "Gives [n] and the other sizes of x."},
    {"arange", "start, start + step, ... below stop; arange(n) starts at 0",
     "Integers give I64, floats F32. The step is not 0."},
    {"full", "an array of one value", "Without a dtype that of the value: I64, F32 or Bool."},
    {"astype", "saturating cast",
     "Floats round half to even; floats to integers truncate and saturate, nan gives 0; everything but 0 is true."},
    {"random_bits",
     "random words of 32 bits: Philox4x32-10 of the counter (offset + i / 4, stream) and the key seed, for element i",
     "Gives U32. seed, offset and stream are integers without axes; arrays of U64 are arguments of a compiled "
     "function, numbers are constants."},
    {"uniform", "", "Never 1. seed, offset, stream: as in random_bits()."},
    {"normal", "", "Box & Muller 1958. seed, offset, stream: as in random_bits()."},
    {"bernoulli", "", "p broadcasts. Gives Bool. seed, offset, stream: as in random_bits()."},
    {"dropout", "0 where bernoulli() of the same seed, offset and stream is true, else x / (1 - p)",
     "Floats. Gives the shape and dtype of x."},
    {"matmul",
     "matrix product: sums of products over the last axis of x and the last but one of y; axes in front broadcast. F16 "
     "and BF16 add up in F32 and are rounded once; integers wrap; Precision::Tf32 or Bf16x3: products of F32 may be "
     "off "
     "by 2^-10 or 2^-14",
     "x: [.., m, k], y: [.., k, n], gives [.., m, n]; a vector is a row as x, a column as y. Gives the promoted "
     "dtype."},
    {"linear", "", "x: [.., in]. Gives [.., out] in the promoted dtype."},
    {"einsum", "", "Gives the promoted dtype; several arrays are multiplied from the first to the last."},
    {"dot", "", "Gives the promoted dtype."},
    {"vecdot", "", "Gives the promoted dtype."},
    {"outer", "", "Gives [elements of x, elements of y]."},
    {"scaled_dot_product_attention",
     "softmax(matmul(q, k transposed) * scale + mask), times v; a Bool mask says which keys are seen, causal those up "
     "to the row; "
     "without scale 1 / sqrt of the last axis; more heads of q (axis -3) than of k share theirs",
     "q: [.., rows, n], k: [.., keys, n], v: [.., keys, m]. Gives [.., rows, m] in the dtype of q; 0 in rows that see "
     "no key. Vaswani "
     "et al. 2017."},
    {"reshape", "the same elements, row by row, in another shape; one size may be -1", "Moves no data."},
};

}  // namespace smelt::api_test
