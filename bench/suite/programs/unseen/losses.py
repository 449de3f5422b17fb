"""Losses of training."""

from .. import Row


def torch_focal(t, x, y):
    y = y.float()
    bce = t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction="none")
    p = t.sigmoid(x)
    pt = p * y + (1 - p) * (1 - y)
    return ((0.25 * y + 0.75 * (1 - y)) * (1 - pt) ** 2 * bce).sum() / y.sum().clamp(min=1)


def torch_dice(t, x, y):
    p = x.softmax(1)
    h = t.nn.functional.one_hot(y.long(), x.shape[1]).movedim(-1, 1)
    return 1 - ((2 * (p * h).sum((0, 2, 3)) + 1) / (p.sum((0, 2, 3)) + h.sum((0, 2, 3)) + 1)).mean()


def torch_triplet(t, a, p, n):
    d = lambda u, v: (u - v).square().sum(-1).add(1e-12).sqrt()
    return t.relu(d(a, p) - d(a, n) + 0.3).mean()


def torch_smoothed(t, x, y):
    return t.nn.functional.cross_entropy(x, y.long(), label_smoothing=0.1)


def torch_info_nce(t, a, b):
    F = t.nn.functional
    s = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / 0.07
    y = t.arange(a.shape[0], device=a.device)
    return (F.cross_entropy(s, y) + F.cross_entropy(s.T, y)) / 2


def torch_td(t, q, q2, online, a, r, done):
    best = online.argmax(1, keepdim=True)
    target = r + 0.99 * t.where(done, 0, q2.gather(1, best)[:, 0])
    return t.nn.functional.smooth_l1_loss(q.gather(1, a[:, None].long())[:, 0], target)


def torch_ppo(t, new, old, adv, value, ret):
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    r = t.exp(new - old)
    pi = -t.minimum(r * adv, r.clamp(0.8, 1.2) * adv).mean()
    return pi + 0.5 * (value - ret).square().mean(), (old - new).mean(), ((r - 1).abs() > 0.2).float().mean()


def torch_giou(t, p, g):
    p, g = (t.cat((b[:, :2], b[:, :2] + b[:, 2:]), 1) for b in (p, g))
    lt, rb = t.maximum(p[:, :2], g[:, :2]), t.minimum(p[:, 2:], g[:, 2:])
    i = (rb - lt).clamp(min=0).prod(1)
    area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    u = area(p) + area(g) - i
    e = (t.maximum(p[:, 2:], g[:, 2:]) - t.minimum(p[:, :2], g[:, :2])).prod(1)
    return (1 - i / (u + 1e-7) + (e - u) / (e + 1e-7)).mean()


def torch_vae(t, x, y, mu, lv):
    rec = t.nn.functional.binary_cross_entropy_with_logits(y, x, reduction="none").sum(1)
    kl = -0.5 * (1 + lv - mu * mu - lv.exp()).sum(1)
    return (rec + kl).mean(), kl.mean()


def torch_charbonnier_tv(t, x, y):
    c = t.sqrt((x - y) ** 2 + 1e-6).mean()
    tv = (x[..., 1:, :] - x[..., :-1, :]).abs().mean() + (x[..., 1:] - x[..., :-1]).abs().mean()
    return c + 0.1 * tv


def torch_masked_poisson(t, z, n, mask):
    l = t.exp(z) - n * z
    return t.where(mask, l, 0).sum(-1) / mask.sum(-1).clamp(min=1)


def torch_barlow(t, a, b):
    n = lambda z: (z - z.mean(0)) / (z.std(0) + 1e-6)
    c = n(a).T @ n(b) / a.shape[0]
    on = (c.diagonal() - 1).square().sum()
    return on + 0.005 * (c.square().sum() - c.diagonal().square().sum())


ROWS = [
    Row("losses", "focal_loss_80_classes", {"x": "f32[N=400000,80]", "y": "bool[N,80]"},
        "y = f32(y)\nbce = maximum(x, 0) - x * y + log1p(exp(-abs(x)))\np = sigmoid(x)\npt = p * y + (1 - p) * (1 - y)\n"
        "return sum((0.25 * y + 0.75 * (1 - y)) * (1 - pt) ** 2 * bce) / maximum(sum(y), 1)", torch_focal),
    Row("losses", "dice_21_classes", {"x": "f32[B=16,21,513,513]", "y": "below=21:i64[B,513,513]"},
        "p = softmax(x, axis=1)\nh = f32(y[:, None] == arange(21)[:, None, None])\ns = (0, 2, 3)\n"
        "return 1 - mean((2 * sum(p * h, axis=(0, 2, 3)) + 1) / (sum(p, axis=(0, 2, 3)) + sum(h, axis=(0, 2, 3)) + 1))", torch_dice),
    Row("losses", "triplet_margin_128", {"a": "f32[N=300000,128]", "p": "f32[N,128]", "n": "f32[N,128]"},
        "def d(u, v): return sqrt(sum((u - v) ** 2, axis=-1) + 1e-12)\nreturn mean(relu(d(a, p) - d(a, n) + 0.3))", torch_triplet),
    Row("losses", "label_smoothing_10007", {"x": "f32[B=8191,10007]", "y": "below=10007:i64[B]"},
        "lp = log_softmax(x, axis=-1)\nnll = -take_along_axis(lp, y[:, None], axis=-1)[:, 0]\nreturn mean(0.9 * nll - 0.1 * mean(lp, axis=-1))",
        torch_smoothed),
    Row("losses", "info_nce_4096x128", {"a": "f32[4096,128]", "b": "f32[4096,128]"},
        "def unit(v): return v / l2norm(v, axis=1, keepdims=True)\ns = unit(a) @ unit(b).T / 0.07\n"
        "d = sum(unit(a) * unit(b), axis=1) / 0.07\nreturn (mean(logsumexp(s, axis=1) - d) + mean(logsumexp(s, axis=0) - d)) / 2", torch_info_nce),
    Row("losses", "double_dqn_18_actions", {"q": "f32[N=1500000,18]", "q2": "f32[N,18]", "online": "f32[N,18]",
        "a": "below=18:i32[N]", "r": "f32[N]", "done": "bool[N]"},
        "best = argmax(online, axis=1, keepdims=True)\nt = r + 0.99 * where(done, 0, take_along_axis(q2, best, axis=1)[:, 0])\n"
        "return huber(take_along_axis(q, a[:, None], axis=1)[:, 0], t)", torch_td),
    Row("losses", "ppo_clipped_odd", {k: ("f32[N=14999999]" if k == "new" else "f32[N]") for k in ("new", "old", "adv", "value", "ret")},
        "adv = (adv - mean(adv)) / (std(adv, ddof=1) + 1e-8)\nr = exp(new - old)\npi_loss = -mean(minimum(r * adv, clamp(r, 0.8, 1.2) * adv))\n"
        "return pi_loss + 0.5 * mean((value - ret) ** 2), mean(old - new), mean(f32(abs(r - 1) > 0.2))", torch_ppo),
    Row("losses", "giou_boxes", {"p": "uniform:f32[N=6000001,4]", "g": "uniform:f32[N,4]"},
        "px = p[:, :2]; pX = px + p[:, 2:]; gx = g[:, :2]; gX = gx + g[:, 2:]\ni = prod(relu(minimum(pX, gX) - maximum(px, gx)), axis=1)\n"
        "u = prod(pX - px, axis=1) + prod(gX - gx, axis=1) - i\ne = prod(maximum(pX, gX) - minimum(px, gx), axis=1)\n"
        "return mean(1 - i / (u + 1e-7) + (e - u) / (e + 1e-7))", torch_giou),
    Row("losses", "vae_elbo_784_20", {"x": "uniform:f32[B=60000,784]", "y": "f32[B,784]", "mu": "f32[B,20]", "lv": "f32[B,20]"},
        "rec = sum(softplus(y) - x * y, axis=1)\nkl = -0.5 * sum(1 + lv - mu * mu - exp(lv), axis=1)\nreturn mean(rec + kl), mean(kl)", torch_vae),
    Row("losses", "charbonnier_total_variation", {"x": "f32[B=70,3,480,640]", "y": "f32[B,3,480,640]"},
        "c = mean(sqrt((x - y) ** 2 + 1e-6))\ntv = mean(abs(x[..., 1:, :] - x[..., :-1, :])) + mean(abs(x[..., 1:] - x[..., :-1]))\n"
        "return c + 0.1 * tv", torch_charbonnier_tv),
    Row("losses", "masked_poisson_nll_1001", {"z": "f32[B=20000,1001]", "n": "uniform:f32[B,1001]", "mask": "bool[B,1001]"},
        "l = exp(z) - n * z\nreturn sum(where(mask, l, 0), axis=-1) / maximum(f32(sum(mask, axis=-1)), 1)", torch_masked_poisson),
    Row("losses", "barlow_twins_64", {"a": "f32[N=300000,64]", "b": "f32[N,64]"},
        "def z(v): return (v - mean(v, axis=0)) / (std(v, axis=0, ddof=1) + 1e-6)\nc = z(a).T @ z(b) / a.shape[0]\n"
        "same = arange(64)[:, None] == arange(64)\n"
        "return sum(where(same, (c - 1) ** 2, 0.005 * c * c))", torch_barlow),
]
