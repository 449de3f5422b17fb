"""Data frames and event logs: groups, rolling windows, lags, missing values, bins."""

from .. import Row


def torch_group_sorted(t, x, step):
    key = step.long().cumsum(0) % 5000
    s = t.zeros(5000, dtype=x.dtype, device=x.device).index_add(0, key, x)
    n = t.bincount(key, minlength=5000)
    return s, n, s / n.clamp(min=1)


def torch_group_stats(t, x, key):
    k = key.long()
    n = t.bincount(k, minlength=1000).to(x.dtype)
    s = t.zeros(1000, dtype=x.dtype, device=x.device).index_add(0, k, x)
    m = s / n.clamp(min=1)
    v = t.zeros(1000, dtype=x.dtype, device=x.device).index_add(0, k, (x - m[k]) ** 2) / (n - 1).clamp(min=1)
    top = t.full((1000,), -t.inf, dtype=x.dtype, device=x.device).scatter_reduce(0, k, x, "amax")
    return m, v.sqrt(), top


def torch_transform_zscore(t, x, key):
    k = key.long()
    n = t.bincount(k, minlength=64).to(x.dtype).clamp(min=1)
    s = t.zeros(64, dtype=x.dtype, device=x.device)
    m = s.index_add(0, k, x) / n
    v = s.index_add(0, k, x * x) / n - m * m
    return (x - m[k]) / (v[k] + 1e-6).sqrt()


def torch_rolling_z(t, x):
    w = x.unfold(1, 30, 1)
    return (x[:, 29:] - w.mean(-1)) / (w.std(-1) + 1e-9)


def torch_rolling_range(t, x):
    w = t.nn.functional.pad(x, (19, 0), value=t.nan).unfold(1, 20, 1)
    hi = w.nan_to_num(-t.inf).amax(-1)
    lo = w.nan_to_num(t.inf).amin(-1)
    return hi, lo, (x - lo) / (hi - lo)


def torch_lag_lead(t, x):
    nan = t.full_like(x[:, :7], t.nan)
    lag = t.cat((nan, x[:, :-7]), 1)
    lead = t.cat((x[:, 1:], nan[:, :1]), 1)
    return x - lag, lead - x, (x / lag - 1)


def torch_ffill(t, x):
    x = t.where(x < -0.5, t.nan, x)
    i = t.arange(x.shape[1], device=x.device)
    last = t.where(x.isnan(), -1, i).cummax(1).values
    out = x.gather(1, last.clamp(min=0))
    return t.where(last < 0, 0, out), x.isnan().sum(1)


def torch_sessions(t, gap):
    new = gap > 15
    s = new.long().cumsum(1)
    clock = gap.long().cumsum(1)
    i = t.arange(gap.shape[1], device=gap.device)
    start = t.where(new, clock, 0).cummax(1).values
    return s, clock - start, i - t.where(new, i, 0).cummax(1).values


def torch_winsor(t, p):
    r = p[1:] / p[:-1] - 1
    m, s = r.mean(0), r.std(0)
    c = t.minimum(t.maximum(r, m - 3 * s), m + 3 * s)
    return c, (1 + 0.1 * c).cumprod(0)


def torch_resample(t, x):
    h = t.where(x > 1.8, t.nan, x).reshape(x.shape[0], -1, 60)
    ok = ~h.isnan()
    n = ok.sum(-1)
    z = t.where(ok, h, 0)
    return z.sum(-1) / n, t.where(ok, h, -t.inf).amax(-1), n


def torch_crosstab(t, a, b):
    c = t.bincount(a.long() * 24 + b.long(), minlength=7 * 24).reshape(7, 24)
    return c, c.double() / c.sum(1, keepdim=True)


def torch_bins(t, x, edges):
    e = edges.cumsum(0) - 4
    b = t.searchsorted(e, x, right=True)
    return b.to(t.int8), t.bincount(b, minlength=10)


def torch_ewma(t, x):
    a, y, out = 0.1, x[:, 0], []
    for i in range(x.shape[1]):
        y = (1 - a) * y + a * x[:, i]
        out.append(y)
    return t.stack(out, 1)


def torch_ranks(t, x):
    less = (x[:, None, :] < x[:, :, None]).sum(-1)
    same = (x[:, None, :] == x[:, :, None]).sum(-1)
    return less.float() + (same + 1).float() / 2


def torch_runs(t, x):
    i = t.arange(x.shape[1], device=x.device)
    start = t.cat((t.ones_like(x[:, :1], dtype=t.bool), x[:, 1:] != x[:, :-1]), 1)
    length = i - t.where(start, i, 0).cummax(1).values + 1
    return start.long().sum(1), length.amax(1), t.where(x > 0, length, 0).amax(1)


def torch_drawdown(t, r):
    w = (1 + 0.01 * r).cumprod(1)
    d = 1 - w / w.cummax(1).values
    return d.amax(1), d.argmax(1), (d > 0.05).sum(1)


def torch_join(t, key, rate, amount):
    r = rate[key.long()]
    ok = key % 3 != 0
    return t.where(ok, amount * r, amount), (amount * r * ok).sum()


def torch_impute(t, x):
    ok = x > -1
    m = t.where(ok, x, 0).sum(0) / ok.sum(0)
    return t.cat((t.where(ok, x, m), ~ok), 1)


ROWS = [
    Row("frames", "sums_by_sorted_key", {"x": "f32[N=30000000]", "step": "bool[N]"},
        "key = cumsum(i64(step)) % 5000\ns = segment_sum(x, key, 5000)\nn = bincount(key, 5000)\n"
        "return s, n, s / f32(maximum(n, 1))", torch_group_sorted),
    Row("frames", "group_mean_std_max_f64", {"x": "f64[N=10000000]", "key": "below=1000:i32[N]"},
        "n = f64(bincount(key, 1000))\nm = bincount(key, 1000, x) / maximum(n, 1)\n"
        "v = bincount(key, 1000, (x - take(m, key)) ** 2) / maximum(n - 1, 1)\n"
        "return m, sqrt(v), scatter_max(full(1000, -inf, f64), key, x)", torch_group_stats),
    Row("frames", "zscore_within_64_groups", {"x": "f32[N=20000000]", "key": "below=64:u8[N]"},
        "n = maximum(f32(bincount(key, 64)), 1)\nm = bincount(key, 64, x) / n\nv = bincount(key, 64, x * x) / n - m * m\n"
        "return (x - take(m, key)) / sqrt(take(v, key) + 1e-6)", torch_transform_zscore),
    Row("frames", "rolling_zscore_30", {"x": "f32[B=10000,2501]"},
        "w = window(x, 30)\nreturn (x[:, 29:] - mean(w, axis=-1)) / (std(w, axis=-1, ddof=1) + 1e-9)", torch_rolling_z),
    Row("frames", "stochastic_oscillator_20", {"x": "f32[B=20000,1000]"},
        "hi = max(window(pad(x, ((0, 0), (19, 0)), value=-inf), 20), axis=-1); lo = min(window(pad(x, ((0, 0), (19, 0)), value=inf), 20), axis=-1)\n"
        "return hi, lo, (x - lo) / (hi - lo)", torch_rolling_range),
    Row("frames", "lag_7_lead_1_changes", {"x": "f64[B=20000,730]"},
        "lag = concat((full_like(x[:, :7], nan), x[:, :-7]), axis=1); lead = pad(x[:, 1:], ((0, 0), (0, 1)), value=nan)\n"
        "return x - lag, lead - x, x / lag - 1", torch_lag_lead),
    Row("frames", "forward_fill_nan_counts", {"x": "f32[B=50000,733]"},
        "x = where(x < -0.5, nan, x)\nlast = cummax(where(isnan(x), -1, arange(x.shape[1])), axis=1)\n"
        "return where(last < 0, 0, take_along_axis(x, maximum(last, 0), axis=1)), sum(isnan(x), axis=1)", torch_ffill),
    Row("frames", "sessions_from_gaps", {"gap": "below=20:i32[B=40000,1000]"},
        "new = gap > 15\nclock = cumsum(gap, axis=1)\ni = arange(gap.shape[1])\n"
        "return cumsum(new, axis=1), clock - cummax(where(new, clock, 0), axis=1), i - cummax(where(new, i, 0), axis=1)", torch_sessions),
    Row("frames", "returns_winsorized_columns", {"p": "uniform:f32[N=2520,9000]"},
        "p = p + 1\nr = p[1:] / p[:-1] - 1\nm = mean(r, axis=0); s = std(r, axis=0, ddof=1)\nc = clamp(r, m - 3 * s, m + 3 * s)\n"
        "return c, cumprod(1 + 0.1 * c, axis=0)", lambda t, p: torch_winsor(t, p + 1)),
    Row("frames", "minutes_to_hours_missing", {"x": "f32[B=5000,7200]"},
        "h = where(x > 1.8, nan, x).reshape(x.shape[0], 120, 60)\nok = not isnan(h)\nn = sum(ok, axis=-1)\n"
        "return sum(where(ok, h, 0), axis=-1) / f32(n), max(where(ok, h, -inf), axis=-1), n", torch_resample),
    Row("frames", "crosstab_weekday_hour", {"a": "below=7:u8[N=100000000]", "b": "below=24:u8[N]"},
        "c = bincount(i32(a) * 24 + i32(b), 168).reshape(7, 24)\nreturn c, f64(c) / f64(sum(c, axis=1, keepdims=True))", torch_crosstab),
    Row("frames", "decile_bins_and_counts", {"x": "f32[N=50000000]", "edges": "uniform:f32[9]"},
        "e = cumsum(edges) - 4\nb = sum(x[:, None] >= e, axis=1)\nreturn i8(b), bincount(b, 10)", torch_bins),
    Row("frames", "ewma_as_weighted_cumsum_f64", {"x": "f64[B=100000,250]"},
        "a = 0.1\nd = (1 - a) ** f64(arange(x.shape[1]))\nreturn d * (1 - a) * x[:, :1] + d * cumsum(a * x / d, axis=1)", torch_ewma),
    Row("frames", "average_ranks_of_32", {"x": "below=50:i16[B=1000000,32]"},
        "less = sum(x[:, None, :] < x[:, :, None], axis=-1)\nsame = sum(x[:, None, :] == x[:, :, None], axis=-1)\n"
        "return f32(less) + f32(same + 1) / 2", torch_ranks),
    Row("frames", "run_lengths_i8", {"x": "below=3:i8[B=50000,2000]"},
        "i = arange(x.shape[1])\nstart = pad(x[:, 1:] != x[:, :-1], ((0, 0), (1, 0)), value=True)\n"
        "length = i - cummax(where(start, i, 0), axis=1) + 1\n"
        "return sum(start, axis=1), max(length, axis=1), max(where(x > 0, length, 0), axis=1)", torch_runs),
    Row("frames", "max_drawdown_2520", {"r": "f32[B=20000,2520]"},
        "w = cumprod(1 + 0.01 * r, axis=1)\nd = 1 - w / cummax(w, axis=1)\n"
        "return max(d, axis=1), argmax(d, axis=1), sum(d > 0.05, axis=1)", torch_drawdown),
    Row("frames", "join_rates_by_key", {"key": "below=500:i16[N=30000001]", "rate": "uniform:f32[500]", "amount": "f32[N]"},
        "r = take(rate, key)\nok = key % 3 != 0\nreturn where(ok, amount * r, amount), sum(where(ok, amount * r, 0))", torch_join),
    Row("frames", "impute_means_and_flags", {"x": "f32[N=1000000,60]"},
        "ok = x > -1\nm = sum(where(ok, x, 0), axis=0) / f32(sum(ok, axis=0))\nreturn concat((where(ok, x, m), f32(not ok)), axis=1)", torch_impute),
]
