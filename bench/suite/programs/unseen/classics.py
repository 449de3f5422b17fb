"""Statistics and machine learning before networks: likelihoods, estimators, tests, trees, factorizations."""

from .. import Row


def torch_naive_bayes(t, x, logp, prior):
    z = x @ logp + prior
    return z.argmax(1), z - z.logsumexp(1, keepdim=True)


def torch_gaussian_nb(t, x, m, v, prior):
    d = x[:, None] - m
    ll = -0.5 * (d * d / v + (2 * t.pi * v).log()).sum(-1) + prior
    return ll.softmax(1)


def torch_full_mixture(t, x, mu, chol, logw):
    d = x[:, None] - mu
    y = t.einsum("nki,kij->nkj", d, chol)
    logdet = t.diagonal(chol, dim1=1, dim2=2).abs().log().sum(1)
    lp = logw + logdet - 0.5 * y.square().sum(-1)
    total = lp.logsumexp(1, keepdim=True)
    return (lp - total).exp(), total.mean()


def torch_matern(t, x, ls):
    d = ((x[:, None] - x) / ls).square().sum(-1).sqrt() * 5**0.5
    return (1 + d + d * d / 3) * (-d).exp()


def torch_newton_logistic(t, x, y, b):
    p = (x @ b).sigmoid()
    g = x.T @ (p - y)
    h = (x * (p * (1 - p))[:, None]).T @ x
    return g, h + 0.1 * t.eye(x.shape[1], device=x.device, dtype=x.dtype)


def torch_anova(t, x):
    m = x.mean(2)
    grand = m.mean(1, keepdim=True)
    between = x.shape[2] * (m - grand).square().sum(1) / 7
    within = (x - m[..., None]).square().sum((1, 2)) / (8 * (x.shape[2] - 1))
    return between / within


def torch_huber_location(t, x):
    m = x.mean(1, keepdim=True)
    for _ in range(3):
        w = (1.345 / (x - m).abs().clamp(min=1e-6)).clamp(max=1)
        m = (w * x).sum(1, keepdim=True) / w.sum(1, keepdim=True)
    return m[:, 0]


def torch_pinball(t, q, y):
    levels = t.arange(1, 10, device=q.device) / 10
    d = y[:, None] - q
    loss = t.maximum(levels * d, (levels - 1) * d)
    return loss.mean(0), (q[:, 1:] < q[:, :-1]).sum(0)


def torch_monotone(t, y):
    up = y.cummax(1).values
    down = y.flip(1).cummin(1).values.flip(1)
    fit = (up + down) / 2
    return fit, (fit - y).square().mean(1)


def torch_kaplan_meier(t, d, c):
    d, c = d.long(), c.long()
    out = d + c
    risk = (out.flip(1).cumsum(1).flip(1)).float()
    s = (1 - d / risk.clamp(min=1)).cumprod(1)
    term = d / (risk * (risk - d)).clamp(min=1)
    return s, s * term.cumsum(1).sqrt()


def torch_bootstrap(t, w, x):
    w = w.float()
    n = w.sum(1, keepdim=True)
    m = w @ x / n
    return m, w @ (x * x) / n - m * m


def torch_gini(t, x):
    n = x.shape[1]
    i = t.arange(1, n + 1, device=x.device, dtype=x.dtype)
    s = x.cumsum(1)
    return ((2 * i - n - 1) * x).sum(1) / (n * s[:, -1]), s / s[:, -1:]


def torch_ista(t, x, y, b):
    g = x.T @ (x @ b - y)
    z = b - 1e-4 * g
    return z.sign() * (z.abs() - 0.01).clamp(min=0)


def torch_nmf(t, v, w, h):
    h = h * (w.T @ v) / (w.T @ w @ h + 1e-9)
    return w * (v @ h.T) / (w @ (h @ h.T) + 1e-9), h


def torch_hmm(t, a, trans, e):
    logs = 0
    for i in range(4):
        a = a @ trans * e[:, i]
        c = a.sum(1, keepdim=True)
        a, logs = a / c, logs + c.log()
    return a, logs[:, 0]


def torch_fuzzy_means(t, x, c):
    d = (x[:, None] - c).square().sum(-1).clamp(min=1e-12)
    u = 1 / (d[:, :, None] / d[:, None]).sum(2)
    return u, (u * u * d).sum()


def torch_trees(t, x, feature, threshold, leaf):
    n, trees = x.shape[0], feature.shape[0]
    bits = x[:, feature.long().flatten()].reshape(n, trees, 4) > threshold
    leafs = (bits.long() * t.tensor([1, 2, 4, 8], device=x.device)).sum(-1)
    return leaf[t.arange(trees, device=x.device), leafs].sum(1)


def torch_roc(t, y):
    y = y.float()
    tp, fp = y.cumsum(1), (1 - y).cumsum(1)
    tpr = tp / tp[:, -1:].clamp(min=1)
    fpr = fp / fp[:, -1:].clamp(min=1)
    auc = ((fpr[:, 1:] - fpr[:, :-1]) * (tpr[:, 1:] + tpr[:, :-1])).sum(1) / 2
    return auc, (tpr - fpr).amax(1)


def torch_tf_idf(t, n):
    df = (n > 0).sum(0).float()
    x = n.float() * ((1 + n.shape[0]) / (1 + df)).log().add(1)
    return x / x.norm(dim=1, keepdim=True).clamp(min=1e-12)


def torch_mutual_information(t, n):
    p = n.double() / n.sum((1, 2), keepdim=True).clamp(min=1)
    a, b = p.sum(2, keepdim=True), p.sum(1, keepdim=True)
    return t.where(p > 0, p * (p / (a * b)).log(), 0).sum((1, 2))


def torch_kolmogorov(t, x):
    x = x.cumsum(1) / x.sum(1, keepdim=True)
    n = x.shape[1]
    i = t.arange(n, device=x.device)
    return t.maximum((x - i / n).amax(1), ((i + 1) / n - x).amax(1))


def torch_softmax_regression(t, x, y, w):
    p = (x @ w).softmax(1)
    p = p - t.nn.functional.one_hot(y.long(), 10)
    return w - 0.1 * (x.T @ p / x.shape[0] + 1e-3 * w)


def torch_ols_by_moments(t, x, y):
    mx, my = x.mean(1, keepdim=True), y.mean(1, keepdim=True)
    sxy = ((x - mx) * (y - my)).sum(1)
    sxx, syy = (x - mx).square().sum(1), (y - my).square().sum(1)
    b = sxy / sxx
    n = x.shape[1]
    r2 = sxy**2 / (sxx * syy)
    return b, (my - b[:, None] * mx)[:, 0], r2, b / (((1 - r2) * syy / (n - 2)) / sxx).sqrt()


ROWS = [
    Row("classics", "naive_bayes_words_20_classes", {"x": "uniform:f32[N=100000,500]", "logp": "f32[500,20]", "prior": "f32[20]"},
        "z = x @ logp + prior\nreturn argmax(z, axis=1), z - logsumexp(z, axis=1, keepdims=True)", torch_naive_bayes),
    Row("classics", "gaussian_naive_bayes_16x8", {"x": "f32[N=2000003,16]", "m": "f32[8,16]", "v": "uniform:f32[8,16]", "prior": "f32[8]"},
        "v = v + 0.2\nd = x[:, None] - m\nreturn softmax(-0.5 * sum(d * d / v + log(2 * pi * v), axis=-1) + prior, axis=1)",
        lambda t, x, m, v, p: torch_gaussian_nb(t, x, m, v + 0.2, p)),
    Row("classics", "mixture_full_covariance_8x12", {"x": "f32[N=1000000,12]", "mu": "f32[8,12]", "chol": "f32[8,12,12]", "logw": "f32[8]"},
        "chol = chol / 3\ny = einsum('nki,kij->nkj', x[:, None] - mu, chol)\nlogdet = sum(log(abs(sum(chol * eye(12), axis=2))), axis=1)\n"
        "lp = logw + logdet - 0.5 * sum(y * y, axis=-1)\ntotal = logsumexp(lp, axis=1, keepdims=True)\nreturn exp(lp - total), mean(total)",
        lambda t, x, mu, c, w: torch_full_mixture(t, x, mu, c / 3, w)),
    Row("classics", "matern_5_2_gram_f64", {"x": "f64[N=5003,5]", "ls": "uniform:f64[5]"},
        "ls = ls + 0.5\nd = sqrt(sum(((x[:, None] - x) / ls) ** 2, axis=-1)) * sqrt(5)\nreturn (1 + d + d * d / 3) * exp(-d)",
        lambda t, x, ls: torch_matern(t, x, ls + 0.5)),
    Row("classics", "newton_step_logistic_32", {"x": "f32[N=2000000,32]", "y": "uniform:f32[N]", "b": "f32[32]"},
        "y = f32(y > 0.5)\np = sigmoid(x @ b)\nreturn x.T @ (p - y), (x * (p * (1 - p))[:, None]).T @ x + 0.1 * eye(32)",
        lambda t, x, y, b: torch_newton_logistic(t, x, (y > 0.5).to(x.dtype), b)),
    Row("classics", "anova_8_groups", {"x": "f32[N=30000,8,300]"},
        "m = mean(x, axis=2)\nn = x.shape[2]\nbetween = n * sum((m - mean(m, axis=1, keepdims=True)) ** 2, axis=1) / 7\n"
        "return between / (sum((x - m[..., None]) ** 2, axis=(1, 2)) / (8 * (n - 1)))", torch_anova),
    Row("classics", "huber_location_3_rounds", {"x": "f32[N=100003,500]"},
        "def round_of(x, m):\n  w = minimum(1.345 / maximum(abs(x - m), 1e-6), 1)\n"
        "  return sum(w * x, axis=1, keepdims=True) / sum(w, axis=1, keepdims=True)\n"
        "m = mean(x, axis=1, keepdims=True)\nreturn round_of(x, round_of(x, round_of(x, m)))[:, 0]", torch_huber_location),
    Row("classics", "pinball_9_levels_crossings", {"q": "f32[N=8000000,9]", "y": "f32[N]"},
        "levels = f32(arange(1, 10)) / 10\nd = y[:, None] - q\n"
        "return mean(maximum(levels * d, (levels - 1) * d), axis=0), sum(q[:, 1:] < q[:, :-1], axis=0)", torch_pinball),
    Row("classics", "monotone_envelope_fit_f64", {"y": "f64[N=30000,701]"},
        "fit = (cummax(y, axis=1) + cummin(y, axis=1, reverse=True)) / 2\nreturn fit, mean((fit - y) ** 2, axis=1)", torch_monotone),
    Row("classics", "kaplan_meier_greenwood_u8", {"d": "below=4:u8[N=100000,365]", "c": "below=3:u8[N,365]"},
        "d = i64(d)\nrisk = f32(cumsum(d + i64(c), axis=1, reverse=True)); d = f32(d)\ns = cumprod(1 - d / maximum(risk, 1), axis=1)\n"
        "return s, s * sqrt(cumsum(d / maximum(risk * (risk - d), 1), axis=1))", torch_kaplan_meier),
    Row("classics", "bootstrap_moments_u8", {"w": "below=5:u8[B=2000,N=60000]", "x": "f32[N,4]"},
        "w = f32(w)\nn = sum(w, axis=1, keepdims=True)\nm = w @ x / n\nreturn m, w @ (x * x) / n - m * m", torch_bootstrap),
    Row("classics", "gini_and_lorenz_rows", {"x": "uniform:f32[N=60000,1000]"},
        "n = x.shape[1]\ni = f32(arange(1, n + 1))\ns = cumsum(x, axis=1)\nreturn sum((2 * i - n - 1) * x, axis=1) / (n * s[:, -1]), s / s[:, -1:]",
        torch_gini),
    Row("classics", "lasso_ista_step", {"x": "f32[N=20000,M=4096]", "y": "f32[N]", "b": "f32[M]"},
        "z = b - 1e-4 * (x.T @ (x @ b - y))\nreturn sign(z) * maximum(abs(z) - 0.01, 0)", torch_ista),
    Row("classics", "nmf_multiplicative_32", {"v": "uniform:f32[N=8192,M=6000]", "w": "uniform:f32[N,32]", "h": "uniform:f32[32,M]"},
        "h = h * (w.T @ v) / (w.T @ w @ h + 1e-9)\nreturn w * (v @ h.T) / (w @ (h @ h.T) + 1e-9), h", torch_nmf),
    Row("classics", "hmm_scaled_forward_4_steps", {"a": "uniform:f32[B=1000000,16]", "trans": "uniform:f32[16,16]", "e": "uniform:f32[B,4,16]"},
        "def step(a, e, trans):\n  a = a @ trans * e\n  c = sum(a, axis=1, keepdims=True)\n  return (a / c, log(c))\n"
        "a, l1 = step(a, e[:, 0], trans); a, l2 = step(a, e[:, 1], trans)\na, l3 = step(a, e[:, 2], trans); a, l4 = step(a, e[:, 3], trans)\n"
        "return a, (l1 + l2 + l3 + l4)[:, 0]", torch_hmm),
    Row("classics", "fuzzy_c_means_12", {"x": "f32[N=2000003,8]", "c": "f32[12,8]"},
        "d = maximum(sum((x[:, None] - c) ** 2, axis=-1), 1e-12)\nu = 1 / sum(d[:, :, None] / d[:, None], axis=2)\nreturn u, sum(u * u * d)",
        torch_fuzzy_means),
    Row("classics", "oblivious_trees_64_depth_4", {"x": "f32[N=1000000,28]", "feature": "below=28:i32[64,4]", "threshold": "f32[64,4]", "leaf": "f32[64,16]"},
        "bits = take(x, feature, axis=1) > threshold\nleafs = sum(where(bits, 1 << arange(4), 0), axis=-1)\n"
        "return sum(take(leaf.flatten(), leafs + 16 * arange(64)), axis=1)", torch_trees),
    Row("classics", "roc_from_sorted_labels", {"y": "bool[N=20000,5001]"},
        "y = f32(y)\ntp = cumsum(y, axis=1); fp = cumsum(1 - y, axis=1)\ntpr = tp / maximum(tp[:, -1:], 1); fpr = fp / maximum(fp[:, -1:], 1)\n"
        "return sum((fpr[:, 1:] - fpr[:, :-1]) * (tpr[:, 1:] + tpr[:, :-1]), axis=1) / 2, max(tpr - fpr, axis=1)", torch_roc),
    Row("classics", "tf_idf_unit_rows_i16", {"n": "below=4:i16[N=40000,M=2003]"},
        "df = f32(sum(n > 0, axis=0))\nx = f32(n) * (log((1 + n.shape[0]) / (1 + df)) + 1)\n"
        "return x / maximum(l2norm(x, axis=1, keepdims=True), 1e-12)", torch_tf_idf),
    Row("classics", "mutual_information_8x8_i32", {"n": "below=50:i32[N=500000,8,8]"},
        "p = f64(n) / f64(maximum(sum(n, axis=(1, 2), keepdims=True), 1))\na = sum(p, axis=2, keepdims=True); b = sum(p, axis=1, keepdims=True)\n"
        "return sum(where(p > 0, p * log(p / (a * b)), 0), axis=(1, 2))", torch_mutual_information),
    Row("classics", "kolmogorov_smirnov_rows", {"x": "uniform:f32[N=40001,1000]"},
        "f = cumsum(x, axis=1) / sum(x, axis=1, keepdims=True)\nn = x.shape[1]\ni = f32(arange(n))\n"
        "return maximum(max(f - i / n, axis=1), max((i + 1) / n - f, axis=1))", torch_kolmogorov),
    Row("classics", "softmax_regression_step", {"x": "f32[N=200000,256]", "y": "below=10:i64[N]", "w": "f32[256,10]"},
        "w = w / 16\np = softmax(x @ w, axis=1) - one_hot(y, 10)\nreturn w - 0.1 * (x.T @ p / x.shape[0] + 1e-3 * w)",
        lambda t, x, y, w: torch_softmax_regression(t, x, y, w / 16)),
    Row("classics", "least_squares_t_and_r2_f64", {"x": "f64[N=100000,120]", "y": "f64[N,120]"},
        "dx = x - mean(x, axis=1, keepdims=True); dy = y - mean(y, axis=1, keepdims=True)\n"
        "sxy = sum(dx * dy, axis=1); sxx = sum(dx * dx, axis=1); syy = sum(dy * dy, axis=1)\nb = sxy / sxx\nr2 = sxy ** 2 / (sxx * syy)\n"
        "return b, mean(y, axis=1) - b * mean(x, axis=1), r2, b / sqrt((1 - r2) * syy / (x.shape[1] - 2) / sxx)", torch_ols_by_moments),
]
