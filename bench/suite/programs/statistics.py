"""Statistics of columns, groups and series."""

from . import Row


def torch_covariance(t, x):
    c = x - x.mean(0)
    return (c[:, :, None] * c[:, None, :]).sum(0) / (x.shape[0] - 1)


def torch_correlation(t, x, y):
    a, b = x - x.mean(1, keepdim=True), y - y.mean(1, keepdim=True)
    return (a * b).sum(1) / t.sqrt((a * a).sum(1) * (b * b).sum(1))


def torch_shape_moments(t, x):
    d = x - x.mean(1, keepdim=True)
    v = (d * d).mean(1)
    return (d ** 3).mean(1) / v ** 1.5, (d ** 4).mean(1) / (v * v)


def torch_bollinger(t, x):
    w = x.unfold(1, 20, 1)
    m, s = w.mean(-1), w.std(-1, unbiased=False)
    return m - 2 * s, m + 2 * s


def torch_histogram(t, x):
    return t.histc(x.float(), 64, -4, 4).long()


def torch_winsorize(t, x):
    m, s = x.mean(0), x.std(0, unbiased=False)
    return t.clamp(x, m - 2 * s, m + 2 * s)


def torch_group_mean(t, x, g):
    n = t.bincount(g, minlength=100)
    return t.zeros(100, x.shape[1], dtype=x.dtype, device=x.device).index_add(0, g, x) / n.clamp_min(1)[:, None]


def torch_regression(t, x, y):
    a = x - x.mean(1, keepdim=True)
    b = (a * y).sum(1) / (a * a).sum(1)
    return b, y.mean(1) - b * x.mean(1)


def torch_scale(t, x):
    lo, hi = x.amin(0), x.amax(0)
    return (x - lo) / (hi - lo)


def torch_kmeans(t, x, c):
    k = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
    return t.zeros_like(c).index_add(0, k, x), t.bincount(k, minlength=c.shape[0])


def torch_nan_mean(t, x, m):
    return (x * m).sum(1) / m.sum(1).clamp_min(1)


def torch_exponential_average(t, x):
    w = 0.9 ** t.arange(31, -1, -1, device=x.device, dtype=t.float32)
    return t.nn.functional.conv1d(x[:, None], (w / w.sum())[None, None])[:, 0]


ROWS = [
    Row("statistics", "covariance_8", {"x": "f32[N=3404128,8]"},
        "c = x - mean(x, axis=0)\nreturn sum(c[:, :, None] * c[:, None, :], axis=0) / (x.shape[0] - 1)", torch_covariance),
    Row("statistics", "correlation_odd", {"x": "f32[N=24509,1423]", "y": "f32[N,1423]"},
        "a = x - mean(x, axis=1, keepdims=True); b = y - mean(y, axis=1, keepdims=True)\n"
        "return sum(a * b, axis=1) / sqrt(sum(a * a, axis=1) * sum(b * b, axis=1))", torch_correlation),
    Row("statistics", "standardize_columns", {"x": "f32[N=754513,67]"}, "return (x - mean(x, axis=0)) / std(x, axis=0, ddof=1)",
        lambda t, x: (x - x.mean(0)) / x.std(0)),
    Row("statistics", "skewness_and_kurtosis", {"x": "f32[N=15056,4096]"},
        "d = x - mean(x, axis=1, keepdims=True)\nv = mean(d * d, axis=1)\n"
        "return mean(d ** 3, axis=1) / v ** 1.5, mean(d ** 4, axis=1) / (v * v)", torch_shape_moments),
    Row("statistics", "bollinger_bands", {"x": "f32[N=9901,7741]"},
        "w = window(x, 20)\nm = mean(w, axis=-1); s = std(w, axis=-1)\nreturn m - 2 * s, m + 2 * s", torch_bollinger),
    Row("statistics", "moving_max_and_min", {"x": "f32[N=15856,8192]"},
        "w = window(x, 14)\nreturn max(w, axis=-1), min(w, axis=-1)",
        lambda t, x: (x.unfold(1, 14, 1).amax(-1), x.unfold(1, 14, 1).amin(-1))),
    Row("statistics", "weighted_average_32", {"x": "f32[N=3216,16384]"},
        "w = exp(log(0.9) * f32(arange(31, -1, -1)))\nreturn correlate(x, (w / sum(w))[None, :])", torch_exponential_average),
    Row("statistics", "histogram_64", {"x": "f32[N=116410576]"}, "return histogram(x, 64, -4, 4)", torch_histogram),
    Row("statistics", "bincount_256_odd", {"x": "u8[N=490802047]"}, "return bincount(i32(x), 256)",
        lambda t, x: t.bincount(x, minlength=256)),
    Row("statistics", "one_hot_counts", {"x": "below=10:i64[N=21509264]"}, "return sum(one_hot(x, 10, i64), axis=0)",
        lambda t, x: t.nn.functional.one_hot(x, 10).sum(0)),
    Row("statistics", "group_means", {"x": "f32[N=500009,64]", "g": "below=100:i64[N]"},
        "return segment_sum(x, g, 100) / maximum(f32(bincount(g, 100)), 1)[:, None]", torch_group_mean),
    Row("statistics", "k_means_step", {"x": "f32[N=500009,16]", "c": "f32[32,16]"},
        "d = x[:, None, :] - c\nk = argmin(sum(d * d, axis=-1), axis=1)\nreturn segment_sum(x, k, 32), bincount(k, 32)", torch_kmeans),
    Row("statistics", "winsorize_columns", {"x": "f32[N=21264,2992]"},
        "m = mean(x, axis=0); s = std(x, axis=0)\nreturn clamp(x, m - 2 * s, m + 2 * s)", torch_winsorize),
    Row("statistics", "regression_rows", {"x": "f32[N=42752,1024]", "y": "f32[N,1024]"},
        "a = x - mean(x, axis=1, keepdims=True)\nb = sum(a * y, axis=1) / sum(a * a, axis=1)\n"
        "return b, mean(y, axis=1) - b * mean(x, axis=1)", torch_regression),
    Row("statistics", "scale_columns_f64", {"x": "f64[N=23539,419]"},
        "lo = min(x, axis=0); hi = max(x, axis=0)\nreturn (x - lo) / (hi - lo)", torch_scale),
    Row("statistics", "entropy_rows_odd", {"x": "uniform:f32[N=17471,1093]"},
        "p = x / sum(x, axis=1, keepdims=True)\nreturn -sum(p * log(p + 1e-12), axis=1)",
        lambda t, x: (lambda p: -(p * t.log(p + 1e-12)).sum(1))(x / x.sum(1, keepdim=True))),
    Row("statistics", "masked_mean_rows", {"x": "f32[N=21808,2048]", "m": "bool[N,2048]"},
        "return sum(where(m, x, 0), axis=1) / maximum(f32(sum(m, axis=1)), 1)", torch_nan_mean),
    Row("statistics", "autocorrelation_odd", {"x": "f32[N=1567,17657]"},
        "d = x - mean(x, axis=1, keepdims=True)\nreturn sum(d[:, 5:] * d[:, :-5], axis=1) / sum(d * d, axis=1)",
        lambda t, x: (lambda d: (d[:, 5:] * d[:, :-5]).sum(1) / (d * d).sum(1))(x - x.mean(1, keepdim=True))),
]
