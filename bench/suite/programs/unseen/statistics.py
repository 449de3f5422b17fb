"""Samples, moments, mixtures."""

from .. import Row


def torch_correlation(t, x):
    z = (x - x.mean(0)) / x.std(0, unbiased=False)
    return z.T @ z / x.shape[0]


def torch_moments(t, x):
    m = x.mean(1, keepdim=True)
    d = x - m
    v = (d * d).mean(1)
    return m[:, 0], v, (d ** 3).mean(1) / v ** 1.5, (d ** 4).mean(1) / (v * v) - 3


def torch_welch(t, a, b):
    return (a.mean(0) - b.mean(0)) / t.sqrt(a.var(0) / a.shape[0] + b.var(0) / b.shape[0])


def torch_kl(t, a, b):
    p, q = a.log_softmax(-1), b.log_softmax(-1)
    return (p.exp() * (p - q)).sum(-1), -(p.exp() * p).sum(-1)


def torch_cloud_cov(t, x):
    d = x - x.mean(1, keepdim=True)
    return d.transpose(1, 2) @ d / (x.shape[1] - 1)


def torch_weighted(t, x, w):
    s = w.sum(-1, keepdim=True)
    m = (w * x).sum(-1, keepdim=True) / s
    return m[..., 0], (w * (x - m) ** 2).sum(-1) / s[..., 0]


def torch_autocorrelation(t, x):
    d = x - x.mean(1, keepdim=True)
    v = (d * d).sum(1)
    return t.stack([(d[:, k:] * d[:, :-k]).sum(1) / v for k in (1, 2, 3, 4)], 1)


def torch_counts_below(t, x, q):
    return (x[:, :, None] < q).sum(1)


def torch_best_two(t, x):
    v, i = x.max(1)
    rest = t.where(t.arange(x.shape[1], device=x.device) == i[:, None], -t.inf, x)
    return v, i, v - rest.amax(1)


def torch_trend(t, y):
    n = y.shape[1]
    k = t.arange(n, device=y.device, dtype=y.dtype) - (n - 1) / 2
    b = (k * y).sum(1) / (k * k).sum()
    r = y - y.mean(1, keepdim=True) - b[:, None] * k
    return b, (r * r).sum(1) / (n - 2)


def torch_mixture(t, x, mu, logvar, logw):
    d = x[:, None] - mu
    ll = logw - 0.5 * (d * d * t.exp(-logvar) + logvar + 1.8378770664093453).sum(-1)
    return t.logsumexp(ll, 1), ll.softmax(1)


def torch_robust(t, x):
    m = x.mean(-1, keepdim=True)
    mad = (x - m).abs().mean(-1, keepdim=True)
    keep = (x - m).abs() <= 3 * mad
    return t.where(keep, x, 0).sum(-1) / keep.sum(-1)


def torch_kde(t, q, x):
    return t.exp(-0.5 * ((q[:, None] - x) / 0.1) ** 2).mean(1) / 0.2506628274631


def torch_log_prob(t, x, mu, log_sigma):
    z = (x - mu) * t.exp(-log_sigma)
    return -(0.5 * z * z + log_sigma + 0.9189385332046727).sum((-1, -2))


ROWS = [
    Row("statistics", "correlation_matrix_32", {"x": "f32[N=1500000,32]"},
        "z = (x - mean(x, axis=0)) / std(x, axis=0)\nreturn z.T @ z / x.shape[0]", torch_correlation),
    Row("statistics", "four_moments_odd", {"x": "f32[B=30011,997]"},
        "m = mean(x, axis=1, keepdims=True)\nd = x - m\nv = mean(d * d, axis=1)\n"
        "return m[:, 0], v, mean(d ** 3, axis=1) / v ** 1.5, mean(d ** 4, axis=1) / (v * v) - 3", torch_moments),
    Row("statistics", "welch_t_per_gene", {"a": "f32[37,G=400000]", "b": "f32[53,G]"},
        "na = a.shape[0]; nb = b.shape[0]\n"
        "return (mean(a, axis=0) - mean(b, axis=0)) / sqrt(var(a, axis=0, ddof=1) / na + var(b, axis=0, ddof=1) / nb)", torch_welch),
    Row("statistics", "kl_and_entropy_1000", {"a": "f32[B=16384,1000]", "b": "f32[B,1000]"},
        "p = log_softmax(a); q = log_softmax(b)\nreturn sum(exp(p) * (p - q), axis=-1), -sum(exp(p) * p, axis=-1)", torch_kl),
    Row("statistics", "point_cloud_covariance", {"x": "f32[B=4096,1024,3]"},
        "d = x - mean(x, axis=1, keepdims=True)\nreturn d.mT @ d / (x.shape[1] - 1)", torch_cloud_cov),
    Row("statistics", "weighted_mean_var_rank_4", {"x": "f32[B=64,33,50,301]", "w": "uniform:f32[B,33,50,301]"},
        "s = sum(w, axis=-1, keepdims=True)\nm = sum(w * x, axis=-1, keepdims=True) / s\n"
        "return m[..., 0], sum(w * (x - m) ** 2, axis=-1) / s[..., 0]", torch_weighted),
    Row("statistics", "autocorrelation_4_lags", {"x": "f32[B=20000,2000]"},
        "d = x - mean(x, axis=1, keepdims=True)\nv = sum(d * d, axis=1)\n"
        "return stack([sum(d[:, k:] * d[:, :-k], axis=1) / v for k in (1, 2, 3, 4)], axis=1)", torch_autocorrelation),
    Row("statistics", "counts_below_9_thresholds", {"x": "f32[B=40000,1000]", "q": "f32[9]"},
        "return sum(x[:, :, None] < q, axis=1)", torch_counts_below),
    Row("statistics", "best_and_margin_odd", {"x": "f32[B=50021,503]"},
        "v = max(x, axis=1); i = argmax(x, axis=1)\nrest = where(arange(x.shape[1]) == i[:, None], -inf, x)\n"
        "return v, i, v - max(rest, axis=1)", torch_best_two),
    Row("statistics", "linear_trend_short_rows", {"y": "f32[N=1800000,24]"},
        "n = y.shape[1]\nk = f32(arange(n)) - (n - 1) / 2\nb = sum(k * y, axis=1) / sum(k * k)\n"
        "r = y - mean(y, axis=1, keepdims=True) - b[:, None] * k\nreturn b, sum(r * r, axis=1) / (n - 2)", torch_trend),
    Row("statistics", "gaussian_mixture_16x8", {"x": "f32[N=1000000,8]", "mu": "f32[16,8]", "logvar": "uniform:f32[16,8]", "logw": "f32[16]"},
        "d = x[:, None] - mu\nll = logw - 0.5 * sum(d * d * exp(-logvar) + logvar + log(2 * pi), axis=-1)\n"
        "return logsumexp(ll, axis=1), softmax(ll, axis=1)", torch_mixture),
    Row("statistics", "mean_without_outliers", {"x": "f32[B=1000,50000]"},
        "m = mean(x, axis=-1, keepdims=True)\nmad = mean(abs(x - m), axis=-1, keepdims=True)\nkeep = abs(x - m) <= 3 * mad\n"
        "return sum(where(keep, x, 0), axis=-1) / f32(sum(keep, axis=-1))", torch_robust),
    Row("statistics", "kernel_density", {"q": "f32[B=20000]", "x": "f32[5000]"},
        "return mean(exp(-0.5 * ((q[:, None] - x) / 0.1) ** 2), axis=1) / (0.1 * sqrt(2 * pi))", torch_kde),
    Row("statistics", "normal_log_prob_trajectories", {"x": "f32[B=60000,50,7]", "mu": "f32[B,50,7]", "log_sigma": "uniform:f32[7]"},
        "z = (x - mu) * exp(-log_sigma)\nreturn -sum(0.5 * z * z + log_sigma + 0.5 * log(2 * pi), axis=(-1, -2))", torch_log_prob),
]
