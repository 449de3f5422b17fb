"""Prices, risks, paths."""

from .. import Row


def torch_rolling_vol(t, p):
    p = 1 + p
    r = t.log(p[:, 1:] / p[:, :-1])
    w = r.unfold(1, 20, 1)
    return w.mean(-1), w.std(-1) * 15.874507866387544


def torch_rsi(t, p):
    d = p[:, 1:] - p[:, :-1]
    up, down = d.clamp(min=0).unfold(1, 14, 1).mean(-1), (-d).clamp(min=0).unfold(1, 14, 1).mean(-1)
    return 100 - 100 / (1 + up / (down + 1e-9))


def torch_portfolio(t, w, cov, mu):
    w = w / w.sum(1, keepdim=True)
    return (w * mu).sum(1), t.sqrt(((w @ cov) * w).sum(1))


def torch_heston(t, s, v, z1, z2):
    v = v.clamp(min=0)
    q = t.sqrt(v * 0.004)
    w = -0.7 * z1 + 0.714142842854285 * z2
    return s * t.exp(-0.5 * v * 0.004 + q * z1), v + 2 * (0.04 - v) * 0.004 + 0.3 * q * w


def torch_barrier(t, z):
    x = (0.02 * z - 0.0002).cumsum(1)
    alive = x.amin(1) > -0.25
    return t.where(alive, t.relu(t.exp(x[:, -1]) - 1), 0).mean()


def torch_vwap(t, p, q):
    return (p * q).cumsum(1) / q.cumsum(1)


def torch_zscore_nan(t, x, bad):
    n = (~bad).sum(1, keepdim=True).clamp(min=1)
    m = t.where(bad, 0, x).sum(1, keepdim=True) / n
    d = t.where(bad, 0, x - m)
    s = t.sqrt((d * d).sum(1, keepdim=True) / n)
    return (d / s).clamp(-3, 3)


def torch_imbalance(t, book):
    k = 1 / t.arange(1, 11, device=book.device)
    d = (book * k[:, None]).sum(1)
    return (d[:, 0] - d[:, 1]) / (d[:, 0] + d[:, 1])


def torch_ohlc(t, p, q):
    return p[:, 0], p.amax(1), p.amin(1), p[:, -1], q.sum(1), (p * q).sum(1) / q.sum(1)


def torch_implied_vol(t, m, y):
    m, y = 0.9 + 0.2 * m, 0.2 + y
    cdf = lambda x: 0.5 * t.erfc(-x * 0.7071067811865476)
    price = lambda s: cdf(t.log(m) / (s * t.sqrt(y)) + 0.5 * s * t.sqrt(y)) * m - cdf(t.log(m) / (s * t.sqrt(y)) - 0.5 * s * t.sqrt(y))
    target = price(0.2 + 0.1 * m)
    s = t.full_like(m, 0.4)
    for _ in range(3):
        d = t.log(m) / (s * t.sqrt(y)) + 0.5 * s * t.sqrt(y)
        vega = m * 0.3989422804014327 * t.exp(-0.5 * d * d) * t.sqrt(y)
        s = s - (price(s) - target) / vega
    return s


def torch_discount(t, r, c):
    d = t.cumprod(1 / (1 + 0.05 * r), 1)
    return (c * d).sum(1), d[:, -1]


def torch_sharpe(t, r):
    m, s = r.mean(0), r.std(0)
    down = t.sqrt((r.clamp(max=0) ** 2).mean(0))
    return m / s, m / down, (r > 0).float().mean(0)


ROWS = [
    Row("finance", "rolling_volatility_20", {"p": "uniform:f32[B=4000,2520]"},
        "p = 1 + p\nr = log(p[:, 1:] / p[:, :-1])\nw = window(r, 20)\nreturn mean(w, axis=-1), std(w, axis=-1, ddof=1) * sqrt(252)",
        torch_rolling_vol),
    Row("finance", "rsi_14_odd", {"p": "uniform:f32[B=4999,1259]"},
        "d = p[:, 1:] - p[:, :-1]\nup = mean(window(relu(d), 14), axis=-1); down = mean(window(relu(-d), 14), axis=-1)\n"
        "return 100 - 100 / (1 + up / (down + 1e-9))", torch_rsi),
    Row("finance", "portfolio_risk_100", {"w": "uniform:f32[N=500000,100]", "cov": "uniform:f32[100,100]", "mu": "f32[100]"},
        "w = w / sum(w, axis=1, keepdims=True)\nreturn sum(w * mu, axis=1), sqrt(sum((w @ cov) * w, axis=1))", torch_portfolio),
    Row("finance", "heston_step", {"s": "uniform:f32[N=16777216]", "v": "uniform:f32[N]", "z1": "f32[N]", "z2": "f32[N]"},
        "dt = 0.004\nv = maximum(v, 0)\nq = sqrt(v * dt)\nw = -0.7 * z1 + sqrt(1 - 0.49) * z2\n"
        "return s * exp(-0.5 * v * dt + q * z1), v + 2 * (0.04 - v) * dt + 0.3 * q * w", torch_heston),
    Row("finance", "barrier_option_100_steps", {"z": "f32[N=1000003,100]"},
        "x = cumsum(0.02 * z - 0.0002, axis=1)\nalive = min(x, axis=1) > -0.25\n"
        "return mean(where(alive, relu(exp(x[:, -1]) - 1), 0))", torch_barrier),
    Row("finance", "running_vwap_f64", {"p": "uniform:f64[B=3000,1950]", "q": "uniform:f64[B,1950]"},
        "return cumsum(p * q) / cumsum(q)", torch_vwap),
    Row("finance", "zscore_without_missing", {"x": "f32[T=5040,3001]", "bad": "bool[T,3001]"},
        "good = not bad\nn = maximum(f32(sum(good, axis=1, keepdims=True)), 1)\nm = sum(where(bad, 0, x), axis=1, keepdims=True) / n\n"
        "d = where(good, x - m, 0)\ns = sqrt(sum(d ** 2, axis=1, keepdims=True) / n)\nreturn clip(d / s, -3, 3)", torch_zscore_nan),
    Row("finance", "book_imbalance_10_levels", {"book": "uniform:f32[N=4000000,10,2]"},
        "k = 1 / f32(arange(1, 11))\nd = sum(book * k[:, None], axis=1)\nreturn (d[:, 0] - d[:, 1]) / (d[:, 0] + d[:, 1])", torch_imbalance),
    Row("finance", "ohlc_bars_60", {"p": "uniform:f32[N=900001,60]", "q": "uniform:f32[N,60]"},
        "v = sum(q, axis=1)\nreturn p[:, 0], p.max(axis=1), p.min(axis=1), p[:, -1], v, sum(p * q, axis=1) / v", torch_ohlc),
    Row("finance", "implied_volatility_newton_3", {"m": "uniform:f32[N=20000003]", "y": "uniform:f32[N]"},
        "def cdf(x): return 0.5 * erfc(-x * 0.7071067811865476)\n"
        "def d1(m, y, s): return log(m) / (s * sqrt(y)) + 0.5 * s * sqrt(y)\n"
        "def price(m, y, s): return cdf(d1(m, y, s)) * m - cdf(d1(m, y, s) - s * sqrt(y))\n"
        "def step(m, y, s, target):\n  d = d1(m, y, s)\n"
        "  return s - (price(m, y, s) - target) / (m * 0.3989422804014327 * exp(-0.5 * d * d) * sqrt(y))\n"
        "m = 0.9 + 0.2 * m; y = 0.2 + y\ntarget = price(m, y, 0.2 + 0.1 * m)\n"
        "s = step(m, y, full_like(m, 0.4), target)\ns = step(m, y, s, target)\nreturn step(m, y, s, target)", torch_implied_vol),
    Row("finance", "npv_360_months", {"r": "uniform:f32[N=150000,360]", "c": "uniform:f32[N,360]"},
        "d = cumprod(1 / (1 + 0.05 * r), axis=1)\nreturn sum(c * d, axis=1), d[:, -1]", torch_discount),
    Row("finance", "sharpe_sortino_columns", {"r": "f32[252,N=200003]"},
        "m = mean(r, axis=0); s = std(r, axis=0, ddof=1)\ndown = sqrt(mean(minimum(r, 0) ** 2, axis=0))\n"
        "return m / s, m / down, mean(f32(r > 0), axis=0)", torch_sharpe),
]
