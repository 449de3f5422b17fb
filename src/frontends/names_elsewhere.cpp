#include "frontends/names_elsewhere.hpp"

#include <utility>

namespace smelt::lang {
namespace {

constexpr std::string_view kNoSorting =
    "smelt has no functions that sort; max, min, argmax and argmin find the extremes";
constexpr std::string_view kNoAlgebra = "smelt has no linear algebra and no Fourier transforms";
constexpr std::string_view kDataDependentShape =
    "the shape of a result cannot depend on data; where(condition, x, 0) keeps the shape";

constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"sort", kNoSorting},
    {"argsort", kNoSorting},
    {"msort", kNoSorting},
    {"lexsort", kNoSorting},
    {"topk", kNoSorting},
    {"partition", kNoSorting},
    {"median", kNoSorting},
    {"nanmedian", kNoSorting},
    {"quantile", kNoSorting},
    {"percentile", kNoSorting},
    {"searchsorted", "count what is below: sum(edges[:, None] < x[None], axis=0)"},
    {"unique", kDataDependentShape},
    {"nonzero", kDataDependentShape},
    {"flatnonzero", kDataDependentShape},
    {"argwhere", kDataDependentShape},
    {"masked_select", kDataDependentShape},
    {"compress", kDataDependentShape},
    {"vdot", "write dot(a.flatten(), b.flatten())"},
    {"inner", "write einsum('...i,...i->...', a, b), or a @ b of vectors"},
    {"fft", kNoAlgebra},
    {"ifft", kNoAlgebra},
    {"rfft", kNoAlgebra},
    {"inv", kNoAlgebra},
    {"det", kNoAlgebra},
    {"solve", kNoAlgebra},
    {"svd", kNoAlgebra},
    {"qr", kNoAlgebra},
    {"cholesky", kNoAlgebra},
    {"eig", kNoAlgebra},
    {"average", "write mean(x)"},
    {"ptp", "write max(x) - min(x)"},
    {"diff", "write x[1:] - x[:-1]"},
    {"count_nonzero", "write sum(i64(x != 0))"},
    {"nansum", "write sum(where(isnan(x), 0, x))"},
    {"nanmax", "write max(where(isnan(x), -inf, x))"},
    {"nanmin", "write min(where(isnan(x), inf, x))"},
    {"nanmean", "write sum(where(isnan(x), 0, x)) / sum(where(isnan(x), 0, 1))"},
    {"linspace", "write a + arange(0, n) * step"},
    {"empty", "write zeros(N)"},
    {"empty_like", "write zeros_like(x)"},
    {"hstack", "write concat((a, b), axis=1); of vectors concat((a, b), axis=0)"},
    {"vstack", "write concat((a, b), axis=0); of vectors stack((a, b), axis=0)"},
    {"dstack", "write stack((a, b), axis=2) of matrices; of arrays of three axes concat((a, b), axis=2)"},
    {"array", "write stack((1.0, 2.0, 3.0)), or declare an input"},
    {"asarray", "write stack((1.0, 2.0, 3.0)), or declare an input"},
    {"cross",
     "write stack((a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2], "
     "a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), axis=-1)"},
    {"trace", "write einsum('ii->', x)"},
    {"diag", "write einsum('ii->i', x) for the diagonal of a matrix"},
    {"diagonal", "write einsum('ii->i', x)"},
    {"mv", "write a @ x"},
    {"cov", "write d = x - mean(x, axis=0), then d.T @ d / (x.shape[0] - 1)"},
    {"nan_to_num", "write where(isnan(x), 0, x)"},
    {"masked_fill", "write where(mask, value, x)"},
    {"clamp_min", "write maximum(x, a)"},
    {"clamp_max", "write minimum(x, a)"},
    {"digitize", "count what is not above: sum(edges <= x[..., None], axis=-1)"},
    {"isclose", "write abs(a - b) <= 1e-8 + 1e-5 * abs(b)"},
    {"allclose", "write all(abs(a - b) <= 1e-8 + 1e-5 * abs(b))"},
    {"radians", "write x * (pi / 180)"},
    {"deg2rad", "write x * (pi / 180)"},
    {"degrees", "write x * (180 / pi)"},
    {"rad2deg", "write x * (180 / pi)"},
    {"logaddexp", "write maximum(a, b) + log1p(exp(-abs(a - b)))"},
    {"addcmul", "write x + value * a * b"},
    {"relu6", "write clamp(x, 0, 6)"},
    {"hardtanh", "write clamp(x, -1, 1)"},
    {"prelu", "write where(x > 0, x, a * x)"},
    {"softmin", "write softmax(-x)"},
    {"softsign", "write x / (1 + abs(x))"},
    {"logsigmoid", "write -softplus(-x)"},
    {"log_sigmoid", "write -softplus(-x)"},
    {"hardsigmoid", "write clamp(x / 6 + 0.5, 0, 1)"},
    {"glu", "write a * sigmoid(b) of the halves a = x[..., :N] and b = x[..., N:]"},
    {"normalize", "write x / l2norm(x, axis=-1, keepdims=True)"},
    {"cosine_similarity", "write sum(a * b, axis=-1) / (l2norm(a, axis=-1) * l2norm(b, axis=-1))"},
    {"l1_loss", "write mean(abs(x - y))"},
    {"print", "a program has no side effects; return what you want to see: return x, y"},
    {"range", "there are no loops; arange(0, n) is the array of these numbers"},
    {"len", "write x.shape[0]"},
    {"map", "functions work on whole arrays: f(x)"},
};

}  // namespace

std::string_view instead_of(std::string_view name) {
  for (const auto& [elsewhere, help] : kElsewhere)
    if (elsewhere == name) return help;
  return "";
}

}  // namespace smelt::lang
