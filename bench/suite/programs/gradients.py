"""Backward passes of norms, written by hand as formulas."""

from . import Row


def backward(axes, result):
    """Text of a backward pass of (x - m) * r, with m and r over the axes; h is the normalised x."""
    return (f"m = mean(x, axis={axes}, keepdims=True)\nr = rsqrt(var(x, axis={axes}, keepdims=True) + 1e-5)\nh = (x - m) * r\n"
            f"{result}")


def through(axes, g="g"):
    return f"(({g} - mean({g}, axis={axes}, keepdims=True) - h * mean({g} * h, axis={axes}, keepdims=True)) * r)"


def torch_backward(t, x, g, axes, h_too=False):
    r = t.rsqrt(x.var(axes, keepdim=True, unbiased=False) + 1e-5)
    h = (x - x.mean(axes, keepdim=True)) * r
    d = r * (g - g.mean(axes, keepdim=True) - h * (g * h).mean(axes, keepdim=True))
    return (d, h) if h_too else d


def torch_layernorm_backward(t, x, g, w):
    m, r = x.mean(-1, keepdim=True), t.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)
    h, gw = (x - m) * r, g * w
    return (gw - gw.mean(-1, keepdim=True) - h * (gw * h).mean(-1, keepdim=True)) * r, (g * h).sum(0), g.sum(0)


def torch_batchnorm_backward(t, x, g):
    return torch_backward(t, x, g, (0, 2, 3))


def torch_rms_backward(t, x, g, w, axis=-1):
    r = t.rsqrt((x * x).mean(axis, keepdim=True) + 1e-6)
    h, gw = x * r, g * w
    return (gw - h * (gw * h).mean(axis, keepdim=True)) * r, g * h


def torch_rms_backward_weight(t, x, g, w):
    d, gh = torch_rms_backward(t, x, g, w)
    return d, gh.sum(0)


def torch_groupnorm_backward(t, x, g, w):
    b, c, h, k = x.shape
    g1 = (g * w[:, None, None]).reshape(b, 8, -1)
    return torch_backward(t, x.reshape(b, 8, -1), g1, -1).reshape(b, c, h, k)


def torch_batchnorm_backward_affine(t, x, g, w):
    d, h = torch_backward(t, x, g * w, 0, True)
    return d, (g * h).sum(0), g.sum(0)


def torch_l2_backward(t, x, g):
    n = t.rsqrt((x * x).sum(-1, keepdim=True) + 1e-12)
    y = x * n
    return n * (g - y * (y * g).sum(-1, keepdim=True))


def torch_weight_norm_backward(t, v, g, d):
    n = t.rsqrt((v * v).sum(1, keepdim=True))
    dg = (d * v).sum(1, keepdim=True) * n
    return g[:, None] * n * (d - v * n * dg), dg[:, 0]


RMS = ("r = rsqrt(mean(x * x, axis={0}, keepdims=True) + 1e-6)\nh = x * r\ng1 = g * {1}\n"
       "d = (g1 - h * mean(g1 * h, axis={0}, keepdims=True)) * r\n")

ROWS = [
    Row("gradients", "layernorm_backward", {"x": "f32[B=8192,2048]", "g": "f32[B,2048]", "w": "f32[2048]"},
        "m = mean(x, axis=-1, keepdims=True)\nr = rsqrt(var(x, axis=-1, keepdims=True) + 1e-5)\nh = (x - m) * r\ng1 = g * w\n"
        "return (g1 - mean(g1, axis=-1, keepdims=True) - h * mean(g1 * h, axis=-1, keepdims=True)) * r, sum(g * h, axis=0), "
        "sum(g, axis=0)", torch_layernorm_backward),
    Row("gradients", "batchnorm_backward", {"x": "f32[B=64,128,56,56]", "g": "f32[B,128,56,56]"},
        "m = mean(x, axis=(0, 2, 3), keepdims=True)\nr = rsqrt(var(x, axis=(0, 2, 3), keepdims=True) + 1e-5)\nh = (x - m) * r\n"
        "return r * (g - mean(g, axis=(0, 2, 3), keepdims=True) - h * mean(g * h, axis=(0, 2, 3), keepdims=True))",
        torch_batchnorm_backward),
    Row("gradients", "layernorm_backward_odd", {"x": "f32[N=10099,2579]", "g": "f32[N,2579]", "w": "f32[2579]"},
        backward(-1, f"g1 = g * w\nreturn {through(-1, 'g1')}, sum(g * h, axis=0), sum(g, axis=0)"), torch_layernorm_backward),
    Row("gradients", "layernorm_backward_bf16", {"x": "bf16[N=8176,4096]", "g": "bf16[N,4096]"},
        "x = f32(x); g = f32(g)\n" + backward(-1, f"return bf16({through(-1)})"),
        lambda t, x, g: torch_backward(t, x.float(), g.float(), -1).to(t.bfloat16)),
    Row("gradients", "layernorm_backward_short", {"x": "f32[N=207184,96]", "g": "f32[N,96]"}, backward(-1, f"return {through(-1)}"),
        lambda t, x, g: torch_backward(t, x, g, -1)),
    Row("gradients", "layernorm_backward_2_axes", {"x": "f32[N=23216,32,64]", "g": "f32[N,32,64]"},
        backward((1, 2), f"return {through((1, 2))}"), lambda t, x, g: torch_backward(t, x, g, (1, 2))),
    Row("gradients", "rms_backward", {"x": "f32[N=3152,4096]", "g": "f32[N,4096]", "w": "f32[4096]"},
        RMS.format(-1, "w") + "return d, sum(g * h, axis=0)", torch_rms_backward_weight),
    Row("gradients", "rms_backward_bf16_odd", {"x": "bf16[N=71719,1439]", "g": "bf16[N,1439]", "w": "bf16[1439]"},
        "x = f32(x); g = f32(g); w = f32(w)\n" + RMS.format(-1, "w") + "return bf16(d)",
        lambda t, x, g, w: torch_rms_backward(t, x.float(), g.float(), w.float())[0].to(t.bfloat16)),
    Row("gradients", "rms_channels_backward", {"x": "f32[B=331,131,1109]", "g": "f32[B,131,1109]", "w": "f32[131]"},
        RMS.format(1, "w[:, None]") + "return d", lambda t, x, g, w: torch_rms_backward(t, x, g, w[:, None], 1)[0]),
    Row("gradients", "groupnorm_backward", {"x": "f32[B=256,64,56,56]", "g": "f32[B,64,56,56]", "w": "f32[64]"},
        "s = x.shape\ng = (g * w[:, None, None]).reshape(s[0], 8, -1)\nx = x.reshape(s[0], 8, -1)\n"
        + backward(-1, f"return {through(-1)}.reshape(s)"), torch_groupnorm_backward),
    Row("gradients", "instancenorm_backward_odd", {"x": "f32[B=43,29,97,79]", "g": "f32[B,29,97,79]"},
        backward((2, 3), f"return {through((2, 3))}"), lambda t, x, g: torch_backward(t, x, g, (2, 3))),
    Row("gradients", "batchnorm_backward_affine", {"x": "f32[N=228509,223]", "g": "f32[N,223]", "w": "f32[223]"},
        backward(0, f"g1 = g * w\nreturn {through(0, 'g1')}, sum(g * h, axis=0), sum(g, axis=0)"), torch_batchnorm_backward_affine),
    Row("gradients", "batchnorm_backward_nhwc", {"x": "f32[B=448,28,28,128]", "g": "f32[B,28,28,128]"},
        backward((0, 1, 2), f"return {through((0, 1, 2))}"), lambda t, x, g: torch_backward(t, x, g, (0, 1, 2))),
    Row("gradients", "l2_normalize_backward", {"x": "f32[N=21601,631]", "g": "f32[N,631]"},
        "n = rsqrt(sum(x * x, axis=-1, keepdims=True) + 1e-12)\ny = x * n\nreturn n * (g - y * sum(y * g, axis=-1, keepdims=True))",
        torch_l2_backward),
    Row("gradients", "weight_norm_backward", {"v": "f32[N=2912,5552]", "g": "f32[N]", "d": "f32[N,5552]"},
        "n = rsqrt(sum(v * v, axis=1, keepdims=True))\ndg = sum(d * v, axis=1, keepdims=True) * n\n"
        "return g[:, None] * n * (d - v * n * dg), dg[:, 0]", torch_weight_norm_backward),
]
