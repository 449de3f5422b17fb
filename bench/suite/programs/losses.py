"""Losses of torch.nn."""

from . import Row, functional


def torch_cross_entropy_mid(t, x, k):
    p, i = t.log_softmax(x, 1), t.arange(21, device=x.device)[None, :, None, None]
    return -t.where(i == (k % 21)[:, None], p, 0.0).sum(1)


def torch_focal(t, x, y):
    p = t.sigmoid(x)
    ce = t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")
    q = p * y + (1 - p) * (1 - y)
    return ((0.25 * y + 0.75 * (1 - y)) * (1 - q) ** 2 * ce).mean()


def torch_cross_entropy_backward(t, x, k):
    return (t.softmax(x, -1) - t.nn.functional.one_hot(k, x.shape[1])) / x.shape[0]


def torch_dice(t, x, y):
    p = t.sigmoid(x)
    return 1 - (2 * (p * y).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)


ROWS = [
    Row("losses", "cross_entropy_mid", {"x": "f32[B=16,21,512,W=512]", "t": "iota:i64[B,512,W]"},
        "k = t % 21\np = log_softmax(x, axis=1)\ni = arange(21)[None, :, None, None]\n"
        "return -sum(where(i == k[:, None], p, 0), axis=1)", torch_cross_entropy_mid),
    Row("losses", "cross_entropy_vocabulary", {"x": "bf16[N=7472,32000]", "k": "below=32000:i64[N]"},
        "return cross_entropy(f32(x), k)", lambda t, x, k: t.nn.functional.cross_entropy(x.float(), k)),
    Row("losses", "cross_entropy_classes_odd", {"x": "f32[N=71963,1009]", "k": "below=1009:i64[N]"},
        "return cross_entropy(x, k, reduction='none')", functional("cross_entropy", reduction="none")),
    Row("losses", "cross_entropy_backward", {"x": "f32[N=26848,1000]", "k": "below=1000:i64[N]"},
        "return (softmax(x) - one_hot(k, 1000)) / x.shape[0]", torch_cross_entropy_backward),
    Row("losses", "nll", {"x": "f32[N=1024992,128]", "k": "below=128:i64[N]"},
        "return -mean(take_along_axis(x, k[:, None]))", functional("nll_loss")),
    Row("losses", "kl_div_odd", {"x": "f32[N=38993,877]", "y": "uniform:f32[N,877]"},
        "return sum(y * (log(y + 1e-8) - x)) / x.shape[0]",
        lambda t, x, y: (y * (t.log(y + 1e-8) - x)).sum() / x.shape[0]),
    Row("losses", "kl_of_logits", {"x": "f32[N=1607376,32]", "y": "f32[N,32]"},
        "p = log_softmax(x); q = log_softmax(y)\nreturn sum(exp(q) * (q - p), axis=-1)",
        lambda t, x, y: t.nn.functional.kl_div(t.log_softmax(x, -1), t.log_softmax(y, -1), reduction="none", log_target=True).sum(-1)),
    Row("losses", "huber_odd", {"x": "f32[N=60530807]", "y": "f32[N]"}, "return huber(x, y, 0.5)",
        functional("huber_loss", delta=0.5)),
    Row("losses", "smooth_l1_boxes", {"x": "f32[N=2829040,4]", "y": "f32[N,4]"},
        "d = abs(x - y)\nreturn sum(where(d < 0.1, 5 * d * d, d - 0.05), axis=-1)",
        lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y, beta=0.1, reduction="none").sum(-1)),
    Row("losses", "hinge_embedding", {"x": "f32[N=51611456]", "y": "bool[N]"},
        "return mean(where(y, x, maximum(1 - x, 0)))", lambda t, x, y: t.where(y, x, t.relu(1 - x)).mean()),
    Row("losses", "margin_ranking_odd", {"a": "f32[N=26323211]", "b": "f32[N]"}, "return mean(maximum(b - a + 0.3, 0))",
        lambda t, a, b: t.relu(b - a + 0.3).mean()),
    Row("losses", "triplet_odd", {"a": "f32[N=140521,227]", "p": "f32[N,227]", "n": "f32[N,227]"},
        "return mean(maximum(norm(a - p + 1e-6, axis=-1) - norm(a - n + 1e-6, axis=-1) + 1, 0))", functional("triplet_margin_loss")),
    Row("losses", "cosine_embedding", {"x": "f32[N=39280,384]", "y": "f32[N,384]", "same": "bool[N]"},
        "c = sum(x * y, axis=-1) / sqrt((sum(x * x, axis=-1) + 1e-12) * (sum(y * y, axis=-1) + 1e-12))\n"
        "return mean(where(same, 1 - c, maximum(c - 0.1, 0)))",
        lambda t, x, y, same: t.nn.functional.cosine_embedding_loss(x, y, t.where(same, 1, -1), margin=0.1)),
    Row("losses", "cosine_similarity_bf16", {"x": "bf16[N=149184,768]", "y": "bf16[N,768]"},
        "x = f32(x); y = f32(y)\nreturn sum(x * y, axis=-1) * rsqrt(sum(x * x, axis=-1) * sum(y * y, axis=-1))",
        lambda t, x, y: t.nn.functional.cosine_similarity(x.float(), y.float())),
    Row("losses", "focal", {"x": "f32[N=346831,80]", "y": "uniform:f32[N,80]"},
        "p = sigmoid(x)\nce = softplus(x) - x * y\nq = p * y + (1 - p) * (1 - y)\n"
        "return mean((0.25 * y + 0.75 * (1 - y)) * (1 - q) ** 2 * ce)", torch_focal),
    Row("losses", "bce_with_logits", {"x": "f32[B=44,1,512,512]", "y": "uniform:f32[B,1,512,512]"},
        "return mean(maximum(x, 0) - x * y + log1p(exp(-abs(x))))", functional("binary_cross_entropy_with_logits")),
    Row("losses", "poisson_nll", {"x": "f32[N=16174336]", "y": "uniform:f32[N]"}, "return mean(exp(x) - y * x)",
        functional("poisson_nll_loss")),
    Row("losses", "gaussian_nll_odd", {"x": "f32[N=20257493]", "y": "f32[N]", "v": "uniform:f32[N]"},
        "v = maximum(v, 1e-6)\nreturn mean(0.5 * (log(v) + (x - y) ** 2 / v))", functional("gaussian_nll_loss")),
    Row("losses", "mse_rows_bf16", {"x": "bf16[N=4373,4327]", "y": "bf16[N,4327]"}, "return mean((f32(x) - f32(y)) ** 2, axis=-1)",
        lambda t, x, y: ((x.float() - y.float()) ** 2).mean(-1)),
    Row("losses", "l1_skewed", {"x": "f32[N=2639728,6]", "y": "f32[N,6]"}, "return mean(abs(x - y))", functional("l1_loss")),
    Row("losses", "soft_margin_f16", {"x": "f16[N=34512064]", "y": "f16[N]"},
        "return mean(log1p(exp(-f32(y) * f32(x))))", lambda t, x, y: t.log1p(t.exp(-y.float() * x.float())).mean()),
    Row("losses", "dice", {"x": "f32[B=48,4,256,256]", "y": "uniform:f32[B,4,256,256]"},
        "p = sigmoid(x)\nreturn 1 - (2 * sum(p * y, axis=(1, 2, 3)) + 1) / (sum(p, axis=(1, 2, 3)) + sum(y, axis=(1, 2, 3)) + 1)",
        torch_dice),
]
