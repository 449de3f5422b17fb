"""Ordinary array programs that nobody tuned smelt for: each as smelt's text and as a function of torch, written as their users would.

A row is drawn from a family; families weigh equally in every mean. Inputs are the tool's own specifications (`smelt bench -i`)."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Row:
    family: str
    name: str
    inputs: dict[str, str]  # name -> "f32[4096,1024]", with a filler in front where normal numbers would not do
    text: str  # what follows the inputs
    torch: Callable  # (torch, *inputs) -> what the program returns

    def program(self):
        types = (f"input {name}: {spec.split(':')[-1]}" for name, spec in self.inputs.items())
        return "\n".join([*types, self.text]) + "\n"


def norm(axes, weight="", eps="1e-5"):
    return (f"m = mean(x, axis={axes}, keepdims=True)\nv = var(x, axis={axes}, keepdims=True)\n"
            f"return (x - m) * rsqrt(v + {eps}){weight}")


def halves(t, x, n):
    return x[..., :n].float(), x[..., n:].float()


def torch_layernorm_backward(t, x, g, w):
    m, r = x.mean(-1, keepdim=True), t.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)
    h, gw = (x - m) * r, g * w
    return (gw - gw.mean(-1, keepdim=True) - h * (gw * h).mean(-1, keepdim=True)) * r, (g * h).sum(0), g.sum(0)


def torch_rope_slices(t, x, c, s):
    a, b = halves(t, x, 64)
    return t.cat((a * c - b * s, b * c + a * s), -1).to(t.bfloat16)


def torch_rope_pairs(t, x, c, s):
    a, b = x[..., ::2].float(), x[..., 1::2].float()
    return t.stack((a * c - b * s, b * c + a * s), -1).flatten(-2).to(t.bfloat16)


def torch_stencil3d(t, u):
    c, i = u[1:-1, 1:-1, 1:-1], slice(1, -1)
    near = u[2:, i, i] + u[:-2, i, i] + u[i, 2:, i] + u[i, :-2, i] + u[i, i, 2:] + u[i, i, :-2]
    return c + 0.1 * (near - 6 * c)


def torch_cross_entropy_mid(t, x, k):
    p, i = t.log_softmax(x, 1), t.arange(21, device=x.device)[None, :, None, None]
    return -t.where(i == (k % 21)[:, None], p, 0.0).sum(1)


def torch_quantize_groups(t, x):
    g = x.float().reshape(8192, 32, 128)
    s = g.abs().amax(-1, keepdim=True) / 127
    return (g / s).round().to(t.int8).reshape(8192, 4096), s


def torch_batchnorm_backward(t, x, g):
    axes = (0, 2, 3)
    r = t.rsqrt(x.var(axes, keepdim=True, unbiased=False) + 1e-5)
    h = (x - x.mean(axes, keepdim=True)) * r
    return r * (g - g.mean(axes, keepdim=True) - h * (g * h).mean(axes, keepdim=True))


def torch_laplace_4th(t, u):
    near = u[1:-3, 2:-2] + u[3:-1, 2:-2] + u[2:-2, 1:-3] + u[2:-2, 3:-1]
    far = u[:-4, 2:-2] + u[4:, 2:-2] + u[2:-2, :-4] + u[2:-2, 4:]
    return (16 * near - far - 60 * u[2:-2, 2:-2]) / 12


def torch_box_blur(t, x):
    f = x.float()
    h = f[:, :-2] + f[:, 1:-1] + f[:, 2:]
    return ((h[:-2] + h[1:-1] + h[2:]) / 9).to(t.uint8)


def torch_gravity(t, p, m):
    d = p[None] - p[:, None]
    r = t.rsqrt((d * d).sum(-1) + 0.01)
    return (d * (m * r * r * r)[..., None]).sum(1)


ROWS = [
    # softmax along a middle axis
    Row("softmax", "softmax_mid", {"x": "f32[64,512,784]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "softmax_mid_odd", {"x": "f32[61,509,787]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "softmax_mid_short", {"x": "f32[32,21,262144]"}, "return softmax(x, axis=1)", lambda t, x: t.softmax(x, 1)),
    Row("softmax", "log_softmax_mid_bf16", {"x": "bf16[64,1000,1024]"}, "return log_softmax(x, axis=1)",
        lambda t, x: t.log_softmax(x, 1)),
    Row("softmax", "softmax_short", {"x": "f32[2000003,48]"}, "return softmax(x, axis=-1)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_10", {"x": "f32[3000000,10]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_600_bf16", {"x": "bf16[200000,600]"}, "return softmax(x)", lambda t, x: t.softmax(x, -1)),
    Row("softmax", "softmax_backward", {"y": "f32[16384,2048]", "g": "f32[16384,2048]"},
        "return (g - sum(g * y, axis=-1, keepdims=True)) * y", lambda t, y, g: (g - (g * y).sum(-1, keepdim=True)) * y),
    Row("losses", "cross_entropy_mid", {"x": "f32[16,21,512,512]", "t": "iota:i64[16,512,512]"},
        "k = t % 21\np = log_softmax(x, axis=1)\ni = arange(21)[None, :, None, None]\n"
        "return -sum(where(i == k[:, None], p, 0), axis=1)", torch_cross_entropy_mid),
    # norms
    Row("norms", "rms_mid", {"x": "f32[32,256,4096]", "w": "f32[256]"},
        "return x * rsqrt(mean(x * x, axis=1, keepdims=True) + 1e-6) * w[:, None]",
        lambda t, x, w: x * t.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * w[:, None]),
    Row("norms", "rms_odd", {"x": "bf16[16384,4095]", "w": "bf16[4095]"}, "return rmsnorm(x, w)",
        lambda t, x, w: t.nn.functional.rms_norm(x, (4095,), w)),
    Row("norms", "l2norm_mid", {"x": "f32[64,512,1024]"}, "return x / sqrt(sum(x * x, axis=1, keepdims=True) + 1e-12)",
        lambda t, x: x / t.sqrt((x * x).sum(1, keepdim=True) + 1e-12)),
    Row("norms", "layernorm_channels", {"x": "f32[32,96,112,112]", "w": "f32[96]", "b": "f32[96]"},
        norm(1, " * w[:, None, None] + b[:, None, None]", "1e-6"),
        lambda t, x, w, b: (x - x.mean(1, keepdim=True)) * t.rsqrt(x.var(1, keepdim=True, unbiased=False) + 1e-6)
        * w[:, None, None] + b[:, None, None]),
    Row("norms", "layernorm_3_axes", {"x": "f32[64,64,56,56]", "w": "f32[64,56,56]", "b": "f32[64,56,56]"},
        norm((1, 2, 3), " * w + b"), lambda t, x, w, b: t.nn.functional.layer_norm(x, (64, 56, 56), w, b)),
    Row("norms", "layernorm_backward", {"x": "f32[8192,2048]", "g": "f32[8192,2048]", "w": "f32[2048]"},
        "m = mean(x, axis=-1, keepdims=True)\nr = rsqrt(var(x, axis=-1, keepdims=True) + 1e-5)\nh = (x - m) * r\ng1 = g * w\n"
        "return (g1 - mean(g1, axis=-1, keepdims=True) - h * mean(g1 * h, axis=-1, keepdims=True)) * r, sum(g * h, axis=0), "
        "sum(g, axis=0)", torch_layernorm_backward),
    Row("norms", "groupnorm", {"x": "f32[32,256,64,64]", "w": "f32[256]", "b": "f32[256]"}, "return groupnorm(x, 32, w, b)",
        lambda t, x, w, b: t.nn.functional.group_norm(x, 32, w, b)),
    Row("norms", "groupnorm_odd", {"x": "f32[31,96,57,57]", "w": "f32[96]", "b": "f32[96]"}, "return groupnorm(x, 12, w, b)",
        lambda t, x, w, b: t.nn.functional.group_norm(x, 12, w, b)),
    Row("norms", "instancenorm", {"x": "f32[32,64,128,128]"}, norm((2, 3)), lambda t, x: t.nn.functional.instance_norm(x)),
    Row("norms", "batchnorm_training", {"x": "f32[64,128,56,56]", "w": "f32[128]", "b": "f32[128]"},
        norm((0, 2, 3), " * w[:, None, None] + b[:, None, None]"),
        lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, True)),
    Row("norms", "minus_column_mean", {"x": "f32[8192,4096]"}, "return x - mean(x, axis=0)", lambda t, x: x - x.mean(0)),
    # reductions
    Row("reductions", "sum_mid", {"x": "f32[128,1000,512]"}, "return sum(x, axis=1)", lambda t, x: x.sum(1)),
    Row("reductions", "max_mid_odd", {"x": "f32[127,997,509]"}, "return max(x, axis=1)", lambda t, x: x.amax(1)),
    Row("reductions", "mean_first", {"x": "f32[4096,16384]"}, "return mean(x, axis=0)", lambda t, x: x.mean(0)),
    Row("reductions", "argmax_mid", {"x": "f32[64,1000,1024]"}, "return argmax(x, axis=1)", lambda t, x: x.argmax(1)),
    Row("reductions", "sum_all_but_second", {"x": "f32[64,256,56,56]"}, "return sum(x, axis=(0, 2, 3))",
        lambda t, x: x.sum((0, 2, 3))),
    Row("reductions", "var_mid", {"x": "f32[64,768,1024]"}, "return var(x, axis=1)", lambda t, x: x.var(1, unbiased=False)),
    Row("reductions", "argmin_odd", {"x": "f32[16383,8191]"}, "return argmin(x, axis=-1)", lambda t, x: x.argmin(-1)),
    Row("reductions", "argmax_short", {"x": "f32[1000003,100]"}, "return argmax(x, axis=-1)", lambda t, x: x.argmax(-1)),
    Row("reductions", "sum_short", {"x": "f32[3000001,37]"}, "return sum(x, axis=-1)", lambda t, x: x.sum(-1)),
    Row("reductions", "sum_both_axes", {"x": "f32[4096,4096]"}, "return sum(x, axis=0), sum(x, axis=1)",
        lambda t, x: (x.sum(0), x.sum(1))),
    Row("reductions", "sum_first_tall", {"x": "f32[65536,1024]"}, "return sum(x, axis=0)", lambda t, x: x.sum(0)),
    Row("reductions", "sum_first_narrow", {"x": "f32[4000000,16]"}, "return sum(x, axis=0)", lambda t, x: x.sum(0)),
    Row("reductions", "sum_first_3", {"x": "f32[1000000,3]"}, "return sum(x, axis=0)", lambda t, x: x.sum(0)),
    Row("reductions", "sum_first_odd", {"x": "f32[262144,37]"}, "return sum(x, axis=0)", lambda t, x: x.sum(0)),
    Row("reductions", "sum_first_bf16", {"x": "bf16[131072,256]"}, "return sum(f32(x), axis=0)",
        lambda t, x: x.float().sum(0)),
    Row("reductions", "var_first", {"x": "f32[65536,256]"}, "return var(x, axis=0)", lambda t, x: x.var(0, unbiased=False)),
    Row("reductions", "argmax_first", {"x": "f32[65536,512]"}, "return argmax(x, axis=0)", lambda t, x: x.argmax(0)),
    Row("reductions", "sum_300", {"x": "f32[200000,300]"}, "return sum(x, axis=-1)", lambda t, x: x.sum(-1)),
    Row("reductions", "sum_17", {"x": "f32[3000000,17]"}, "return sum(x, axis=-1)", lambda t, x: x.sum(-1)),
    Row("reductions", "max_i8", {"x": "i8[300000001]"}, "return max(x)", lambda t, x: x.max()),
    Row("scans", "cumsum_mid", {"x": "f32[64,512,1024]"}, "return cumsum(x, axis=1)", lambda t, x: x.cumsum(1)),
    # windows
    Row("windows", "max_pool_3_stride_2", {"x": "f32[64,64,112,112]"}, "return max_pool(x, (3, 3), stride=2, padding=1)",
        lambda t, x: t.nn.functional.max_pool2d(x, 3, 2, 1)),
    Row("windows", "max_pool_2", {"x": "f32[64,128,112,112]"}, "return max_pool(x, (2, 2), stride=2)",
        lambda t, x: t.nn.functional.max_pool2d(x, 2, 2)),
    Row("windows", "avg_pool_11", {"x": "f32[8,32,512,512]"}, "return avg_pool(x, (11, 11), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 11, 1)),
    Row("windows", "avg_pool_3", {"x": "f32[32,64,128,128]"}, "return avg_pool(x, (3, 3), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 3, 1)),
    Row("windows", "moving_average_20", {"x": "f32[1000,1,100000]"}, "return avg_pool(x, (20,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x, 20, 1)),
    Row("windows", "moving_average_64_odd", {"x": "f32[500,1,100001]"}, "return avg_pool(x, (64,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x, 64, 1)),
    Row("windows", "moving_average_bf16", {"x": "bf16[1000,1,100000]"}, "return avg_pool(f32(x), (24,), stride=1)",
        lambda t, x: t.nn.functional.avg_pool1d(x.float(), 24, 1)),
    Row("windows", "avg_pool_7_odd", {"x": "f32[8,32,511,513]"}, "return avg_pool(x, (7, 7), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 7, 1)),
    Row("windows", "max_pool_5_same", {"x": "f32[16,32,512,512]"}, "return max_pool(x, (5, 5), stride=1, padding=2)",
        lambda t, x: t.nn.functional.max_pool2d(x, 5, 1, 2)),
    Row("windows", "avg_pool_9_small", {"x": "f32[4,8,96,96]"}, "return avg_pool(x, (9, 9), stride=1)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 9, 1)),
    Row("windows", "avg_pool_8_stride_4", {"x": "f32[16,32,512,512]"}, "return avg_pool(x, (8, 8), stride=4)",
        lambda t, x: t.nn.functional.avg_pool2d(x, 8, 4)),
    Row("windows", "max_pool_1d", {"x": "f32[64,64,16384]"}, "return max_pool(x, (5,), stride=1)",
        lambda t, x: t.nn.functional.max_pool1d(x, 5, 1)),
    Row("windows", "stencil_3d_odd", {"u": "f32[253,251,257]"},
        "c = u[1:-1, 1:-1, 1:-1]\nreturn c + 0.1 * (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + "
        "u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * c)", torch_stencil3d),
    # transformers
    Row("transformers", "rope_slices", {"x": "bf16[4,32,4096,128]", "c": "f32[4096,64]", "s": "f32[4096,64]"},
        "a = f32(x[..., :64])\nb = f32(x[..., 64:])\nreturn bf16(concat((a * c - b * s, b * c + a * s), axis=-1))",
        torch_rope_slices),
    Row("transformers", "rope_pairs", {"x": "bf16[4,4096,32,128]", "c": "f32[4096,1,64]", "s": "f32[4096,1,64]"},
        "a = f32(x[..., ::2])\nb = f32(x[..., 1::2])\n"
        "return bf16(stack((a * c - b * s, b * c + a * s), axis=-1).reshape(4, 4096, 32, 128))", torch_rope_pairs),
    Row("transformers", "swiglu_packed", {"x": "bf16[16384,22016]"}, "return silu(x[:, :11008]) * x[:, 11008:]",
        lambda t, x: t.nn.functional.silu(x[:, :11008]) * x[:, 11008:]),
    Row("transformers", "quantize_groups", {"x": "bf16[8192,4096]"},
        "g = f32(x).reshape(8192, 32, 128)\ns = max(abs(g), axis=-1, keepdims=True) / 127\n"
        "return int8(round(g / s)).reshape(8192, 4096), s", torch_quantize_groups),
    # elementwise and layout
    Row("elementwise", "mish", {"x": "f32[50331648]"}, "return mish(x)", lambda t, x: t.nn.functional.mish(x)),
    Row("elementwise", "gelu_bf16", {"x": "bf16[67108864]"}, "return gelu(x)", lambda t, x: t.nn.functional.gelu(x)),
    Row("elementwise", "dequantize", {"q": "i8[16384,8192]", "s": "f32[16384]"}, "return f32(q) * s[:, None]",
        lambda t, q, s: q.float() * s[:, None]),
    Row("layout", "transpose_odd", {"x": "f32[8191,8193]"}, "return x.T + 1", lambda t, x: x.T + 1),
    Row("layout", "transpose_bf16", {"x": "bf16[16384,8192]"}, "return x.T * 2", lambda t, x: x.T * 2),
    Row("layout", "transpose_add", {"x": "f32[4096,6000]", "y": "f32[6000,4096]"}, "return x.T + y", lambda t, x, y: x.T + y),
    Row("layout", "picture_to_planes", {"x": "u8[64,224,224,3]", "m": "f32[3]", "s": "f32[3]"},
        "return ((f32(x) / 255 - m) / s).transpose(0, 3, 1, 2)",
        lambda t, x, m, s: ((x.float() / 255 - m) / s).permute(0, 3, 1, 2).contiguous()),
    # pairs of points
    Row("pairs", "distances_3", {"x": "f32[4096,3]", "y": "f32[4096,3]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sqrt(sum(d * d, axis=-1))",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).pow(2).sum(-1).sqrt()),
    Row("pairs", "distances_32", {"x": "f32[2048,32]", "y": "f32[2048,32]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sum(abs(d), axis=-1)",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).abs().sum(-1)),
    Row("pairs", "distances_64_odd", {"x": "f32[1500,64]", "y": "f32[1500,64]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sum(abs(d), axis=-1)",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).abs().sum(-1)),
    Row("pairs", "furthest_of_all", {"x": "f32[20000]", "y": "f32[20000]"}, "return max(x[:, None] - y[None, :], axis=1)",
        lambda t, x, y: (x[:, None] - y[None, :]).amax(1)),
    Row("pairs", "nearest_centroid", {"x": "f32[1000000,16]", "c": "f32[64,16]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn argmin(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).argmin(-1)),
    Row("pairs", "nearest_of_1000_odd", {"x": "f32[100003,7]", "c": "f32[1000,7]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn argmin(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).argmin(-1)),
    Row("pairs", "nearest_of_few_rows", {"x": "f32[500,16]", "c": "f32[200000,16]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn min(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).amin(-1)),
    Row("pairs", "furthest_in_batches", {"x": "f32[64,2001]", "y": "f32[64,3001]"},
        "return max(x[:, :, None] - y[:, None, :], axis=2)", lambda t, x, y: (x[:, :, None] - y[:, None, :]).amax(2)),
    Row("pairs", "largest_difference", {"x": "f32[8192]", "y": "f32[8192]"}, "return max(x[:, None] - y[None, :])",
        lambda t, x, y: (x[:, None] - y[None, :]).max()),
    Row("pairs", "largest_difference_odd", {"x": "f32[3000001]", "y": "f32[99]"}, "return max(x[:, None] - y[None, :])",
        lambda t, x, y: (x[:, None] - y[None, :]).max()),
    Row("pairs", "sum_of_kernel", {"x": "f32[5001]", "y": "f32[7003]"},
        "d = x[:, None] - y[None, :]\nreturn sum(exp(-d * d))", lambda t, x, y: (-(x[:, None] - y[None, :]) ** 2).exp().sum()),
    Row("pairs", "largest_over_two_axes", {"x": "f32[16,3000]", "y": "f32[16,2000]"},
        "return max(x[:, :, None] - y[:, None, :], axis=(1, 2))", lambda t, x, y: (x[:, :, None] - y[:, None, :]).amax((1, 2))),
    Row("reductions", "sum_inner_slices", {"x": "f32[400,400,401]"}, "return sum(x[1:-1, 1:-1, 1:-1])",
        lambda t, x: x[1:-1, 1:-1, 1:-1].sum()),
    Row("reductions", "std_mid_odd", {"x": "f32[64,1000,500]"}, "return std(x, axis=1)",
        lambda t, x: x.std(1, unbiased=False)),
    Row("reductions", "max_i8_rows", {"x": "i8[65536,4096]"}, "return max(x, axis=1)", lambda t, x: x.amax(1)),
    # what other families left out
    Row("reductions", "sum_first_last", {"x": "f32[256,512,512]"}, "return sum(x, axis=(0, 2))", lambda t, x: x.sum((0, 2))),
    Row("reductions", "argmax_all", {"x": "f32[67108864]"}, "return argmax(x)", lambda t, x: x.argmax()),
    Row("reductions", "argmax_rows_bf16", {"x": "bf16[16384,8192]"}, "return argmax(x, axis=1)", lambda t, x: x.argmax(1)),
    Row("softmax", "softmax_first", {"x": "f32[4096,8192]"}, "return softmax(x, axis=0)", lambda t, x: t.softmax(x, 0)),
    Row("softmax", "softmax_first_odd", {"x": "f32[4001,8191]"}, "return softmax(x, axis=0)", lambda t, x: t.softmax(x, 0)),
    Row("scans", "cumsum_1d", {"x": "f32[100000007]"}, "return cumsum(x)", lambda t, x: x.cumsum(0)),
    Row("scans", "cumsum_first", {"x": "f32[8192,8192]"}, "return cumsum(x, axis=0)", lambda t, x: x.cumsum(0)),
    Row("scans", "cumsum_mid_long", {"x": "f32[8,65536,128]"}, "return cumsum(x, axis=1)", lambda t, x: x.cumsum(1)),
    Row("scans", "cumsum_first_narrow", {"x": "f32[400000,16]"}, "return cumsum(x, axis=0)", lambda t, x: x.cumsum(0)),
    Row("norms", "batchnorm_backward", {"x": "f32[64,128,56,56]", "g": "f32[64,128,56,56]"},
        "m = mean(x, axis=(0, 2, 3), keepdims=True)\nr = rsqrt(var(x, axis=(0, 2, 3), keepdims=True) + 1e-5)\nh = (x - m) * r\n"
        "return r * (g - mean(g, axis=(0, 2, 3), keepdims=True) - h * mean(g * h, axis=(0, 2, 3), keepdims=True))",
        torch_batchnorm_backward),
    Row("windows", "laplace_4th", {"u": "f32[8192,8192]"},
        "c = u[2:-2, 2:-2]\nreturn (16 * (u[1:-3, 2:-2] + u[3:-1, 2:-2] + u[2:-2, 1:-3] + u[2:-2, 3:-1])\n"
        "        - (u[:-4, 2:-2] + u[4:, 2:-2] + u[2:-2, :-4] + u[2:-2, 4:]) - 60 * c) / 12", torch_laplace_4th),
    Row("windows", "box_blur_u8", {"x": "u8[4096,4096,3]"},
        "f = f32(x)\nh = f[:, :-2] + f[:, 1:-1] + f[:, 2:]\nv = h[:-2] + h[1:-1] + h[2:]\nreturn u8(v / 9)", torch_box_blur),
    Row("pairs", "gravity", {"p": "f32[8192,3]", "m": "f32[8192]"},
        "d = p[None, :, :] - p[:, None, :]\nr = rsqrt(sum(d * d, axis=-1) + 0.01)\n"
        "return sum(d * (m[None, :] * r * r * r)[:, :, None], axis=1)", torch_gravity),
    Row("layout", "transpose_u8", {"x": "u8[16384,16384]"}, "return x.T", lambda t, x: x.T.contiguous()),
    Row("layout", "concat_last", {"a": "f32[100000,100]", "b": "f32[100000,200]"}, "return concat((a, b), axis=1)",
        lambda t, a, b: t.cat((a, b), 1)),
]
