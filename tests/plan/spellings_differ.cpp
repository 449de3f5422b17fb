// Pairs that cost different amounts today, by what is to blame.
#include "spellings.hpp"

namespace smelt::testing {

namespace {

constexpr const char* kTransposed =
    "a permuted view is reduced or scanned in its own axis order, not in that of memory";
constexpr const char* kWindowStored =
    "two kernels are chosen that store the cast of a window, nine times the size of the image";
constexpr const char* kElsewhere = "a reader of a row or a scan at other indices is a second kernel";
constexpr const char* kParts = "reductions of slices that are joined again become several kernels";
constexpr const char* kShort = "a reduction of few elements is a loop over columns, not an unrolled pointwise kernel";
constexpr const char* kEdges = "reads behind a pad by edge or wrap are gathers, in the interior too";
constexpr const char* kStencil = "slices become a stencil, the same window or rolls do not";
constexpr const char* kBlocked =
    "a sum of products over an axis is computed in blocks, its terms by slices or a permute are not";
constexpr const char* kShortRanges = "a concat of ranges shorter than 64 elements is a select for every element";
constexpr const char* kMasks = "a condition on an index does not shorten a loop";
constexpr const char* kConcatRead = "a reduced concat loads every array under a condition";
constexpr const char* kIndexOperations = "the cost model counts what computes the index of a row for every element";
constexpr const char* kFunctionsForEach =
    "functions of every element are computed where the other program has a product";
constexpr const char* kStoredIndices = "computed indices that several gathers share are stored";

}  // namespace

const std::vector<Differing> kDiffer = {
    {{"softmax_by_logsumexp", "x: f32[B, C]", kSquare, "softmax(x)", "exp(x - logsumexp(x, axis=1, keepdims=True))"},
     "cpu",
     kFunctionsForEach},
    {{"log_of_softmax", "x: f32[B, C]", kSquare, "log_softmax(x)", "log(softmax(x))"}, "cpu", kFunctionsForEach},
    {{"transposed_layernorm", "x: f32[B, C]", kSquare, "layernorm(x).T", "layernorm(x.T, axis=0)"},
     "gpu cpu",
     kTransposed},
    {{"maximum_with_sum", "x: f32[B, C]", kOdd, "max(x, axis=0) + sum(x, axis=0)", "sum(x, axis=0) + max(x.T, axis=1)"},
     "gpu cpu",
     kTransposed},
    {{"life_by_rolls",
      "x: u8[B, C]",
      {"B=8192 C=8192", "B=6 C=8"},
      "r = roll(x, 1, axis=0) + x + roll(x, -1, axis=0); return roll(r, 1, axis=1) + r + roll(r, -1, axis=1)",
      "wrap_cast(sum(window(pad(x, 1, mode='wrap'), (3, 3)), axis=(-2, -1)), u8)"},
     "gpu cpu",
     kWindowStored},
    {{"cumsum_exclusive", "x: f32[B, C]", kSquare, "cumsum(x, exclusive=True)",
      "pad(cumsum(x), ((0, 0), (1, 0)))[:, :-1]"},
     "gpu cpu",
     kElsewhere},
    {{"cumsum_exclusive_by_concat", "x: f32[B, C]", kSquare, "cumsum(x, exclusive=True)",
      "concat([zeros((B, 1)), cumsum(x)[:, :-1]], axis=1)"},
     "gpu cpu",
     kElsewhere},
    {{"cumsum_total", "x: f32[B, C]", kSquare, "sum(x, axis=1)", "cumsum(x)[:, -1]"}, "gpu cpu", kElsewhere},
    {{"cumsum_and_total", "x: f32[B, C]", kOdd, "c = cumsum(x); return c / sum(x, axis=1, keepdims=True)",
      "c = cumsum(x); return c / c[:, -1:]"},
     "gpu cpu",
     kElsewhere},
    {{"norm_then_slice", "x: f32[B, C]", kSquare, "rmsnorm(x[:, :C // 2])",
      "y = x.reshape(B, 2, C // 2); return rmsnorm(y)[:, 0]"},
     "gpu cpu",
     kElsewhere},
    {{"padded_softmax", "x: f32[B, C]", kSquare, "softmax(x)", "softmax(pad(x, ((0, 0), (0, 8)), -inf))[:, :-8]"},
     "gpu cpu",
     kElsewhere},
    {{"concat_then_softmax", "x: f32[B, C]; y: f32[B, C]", kSquare, "softmax(concat([x, y], axis=1))",
      "m = maximum(max(x, axis=1), max(y, axis=1))[:, None]; a = exp(x - m); b = exp(y - m)\n"
      "s = (sum(a, axis=1) + sum(b, axis=1))[:, None]; return concat([a / s, b / s], axis=1)"},
     "gpu cpu",
     kParts},
    {{"softmax_of_blocks", "x: f32[B, C]", kSquare, "softmax(x.reshape(B, 4, C // 4)).reshape(B, C)",
      "concat([softmax(y) for y in split(x, 4, axis=1)], axis=1)"},
     "gpu cpu",
     kParts},
    {{"norms_of_blocks", "x: f32[B, C]", kSquare, "l2norm(x.reshape(B, 4, C // 4), axis=2)",
      "stack([l2norm(y, axis=1) for y in split(x, 4, axis=1)], axis=1)"},
     "gpu cpu",
     kParts},
    {{"rows_by_blocks", "x: f32[B, C]", kSquare, "layernorm(x)",
      "concat([layernorm(x[:100]), layernorm(x[100:])], axis=0)"},
     "gpu cpu",
     kParts},
    {{"narrow_softmax",
      "x: f32[B, 8]",
      {"B=2097152", "B=5"},
      "softmax(x)",
      "m = maximum(max(x[:, :4], axis=1), max(x[:, 4:], axis=1))[:, None]\n"
      "e = exp(x - m); return e / sum(e, axis=1, keepdims=True)"},
     "gpu cpu",
     kParts},
    {{"halves_summed", "x: f32[B, C]", kSquare, "sum(x.reshape(B, 2, C // 2), axis=1)",
      "x[:, :C // 2] + x[:, C // 2:]"},
     "gpu",
     kShort},
    {{"stack_then_sum", "x: f32[B, C]; y: f32[B, C]; z: f32[B, C]", kOdd, "x + y + z", "sum(stack([x, y, z]), axis=0)"},
     "gpu",
     kShort},
    {{"stack_then_max", "x: f32[B, C]; y: f32[B, C]", kSquare, "maximum(x, y)", "max(stack([x, y], axis=-1), axis=-1)"},
     "gpu",
     kShort},
    {{"list_summed",
      "xs: list[f32[B], 8]",
      {"B=4194304", "B=5"},
      "sum(stack(xs), axis=0)",
      "xs[0] + xs[1] + xs[2] + xs[3] + xs[4] + xs[5] + xs[6] + xs[7]"},
     "gpu",
     kShort},
    {{"sobel_by_filters", "x: f32[B, C]; k: f32[3]; l: f32[3]", kSquare, "filter(filter(x, k[None, :]), l[:, None])",
      "filter(x, k[None, :] * l[:, None])"},
     "gpu",
     kEdges},
    {{"box_blur_by_slices", "x: f32[B, C]", kSquare, "sum(window(x, (3, 3)), axis=(-2, -1))",
      "r = x[:-2] + x[1:-1] + x[2:]; return r[:, :-2] + r[:, 1:-1] + r[:, 2:]"},
     "gpu",
     kStencil},
    {{"max_filter_padded", "x: f32[B, C]", kSquare, "max_pool(x, (3, 3), stride=1, padding=1)",
      "p = pad(x, 1, -inf); r = maximum(maximum(p[:-2], p[1:-1]), p[2:])\n"
      "return maximum(maximum(r[:, :-2], r[:, 1:-1]), r[:, 2:])"},
     "gpu",
     kStencil},
    {{"periodic_heat", "x: f32[B, C]", kSquare,
      "roll(x, 1, axis=0) + roll(x, -1, axis=0) + roll(x, 1, axis=1) + roll(x, -1, axis=1) - 4*x",
      "p = pad(x, 1, mode='wrap'); return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4*x"},
     "gpu",
     kStencil},
    {{"distances", "a: f32[B, 3]; b: f32[C, 3]", kSquare, "sum((a[:, None, :] - b)**2, axis=2)",
      "(a[:, :1] - b[:, 0])**2 + (a[:, 1:2] - b[:, 1])**2 + (a[:, 2:] - b[:, 2])**2"},
     "gpu",
     kBlocked},
    {{"thin_product_of_slices", "a: f32[B, 4]; b: f32[4, C]", kOdd, "sum(a[:, :, None] * b, axis=1)",
      "a[:, :1]*b[0] + a[:, 1:2]*b[1] + a[:, 2:3]*b[2] + a[:, 3:]*b[3]"},
     "gpu",
     kBlocked},
    {{"bias_after_product", "a: f32[B, 8]; b: f32[8, C]; c: f32[C]", kOdd, "relu(sum(a[:, :, None]*b, axis=1) + c)",
      "relu(c + sum(permute(a[:, None, :]*b.T, (2, 0, 1)), axis=0))"},
     "gpu",
     kBlocked},
    {{"filter_of_rows", "x: f32[B, C]; k: f32[5]", kSquare, "filter(x, k[None, :])",
      "p = pad(x, ((0, 0), (2, 2)), mode='edge')\n"
      "return p[:, :-4]*k[0] + p[:, 1:-3]*k[1] + p[:, 2:-2]*k[2] + p[:, 3:-1]*k[3] + p[:, 4:]*k[4]"},
     "gpu",
     kEdges},
    {{"rotary_of_f32",
      "x: f32[B, C, 64]; c: f32[C, 32]; s: f32[C, 32]",
      {"B=127 C=2047", "B=2 C=3"},
      "rotary(x, c, s)",
      "concat([x[..., :32]*c - x[..., 32:]*s, x[..., 32:]*c + x[..., :32]*s], axis=2)"},
     "gpu",
     kShortRanges},
    {{"rotary_by_rotated_half",
      "x: f32[B, C, 64]; c: f32[C, 32]; s: f32[C, 32]",
      {"B=128 C=2048", "B=2 C=3"},
      "rotary(x, c, s)",
      "cc = concat([c, c], axis=1); ss = concat([s, s], axis=1)\n"
      "return x*cc + concat([-x[..., 32:], x[..., :32]], axis=-1)*ss"},
     "gpu",
     kShortRanges},
    {{"sum_of_range_by_where", "x: f32[B, C]", kSquare, "sum(x[:, :C // 2], axis=1)",
      "sum(where(arange(C) < C // 2, x, 0), axis=1)"},
     "gpu cpu",
     kMasks},
    {{"one_hot_then_sum", "x: f32[B, C]; i: i32[B]", kSquare, "take_along_axis(x, (abs(i) % C)[:, None], axis=1)[:, 0]",
      "sum(x * one_hot(abs(i) % C, C), axis=1)"},
     "gpu cpu",
     kMasks},
    {{"taken_modulo", "x: f32[B, C]", kOdd, "roll(x, -7, axis=1)", "take(x, (arange(C) + 7) % C, axis=1)"},
     "cpu",
     kIndexOperations},
    {{"embedding_along_axis",
      "t: f32[B, C]; i: i32[D]",
      {"B=50000 C=511 D=32768", "B=6 C=4 D=9"},
      "take(t, abs(i) % B, axis=0)",
      "take_along_axis(t, (abs(i) % B)[:, None], axis=0)"},
     "cpu",
     kIndexOperations},
    {{"gathered_sum",
      "t: f32[B, C]; i: i32[A, 8]",
      {"A=16384 B=50000 C=512", "A=4 B=6 C=4"},
      "sum(t[abs(i) % B], axis=1)",
      "j = abs(i) % B; return t[j[:, 0]] + t[j[:, 1]] + t[j[:, 2]] + t[j[:, 3]] + t[j[:, 4]] + t[j[:, 5]] + t[j[:, 6]] "
      "+ t[j[:, 7]]"},
     "gpu cpu",
     kStoredIndices},
};

}  // namespace smelt::testing
