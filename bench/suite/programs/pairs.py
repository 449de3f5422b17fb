"""Every point with every other: distances, kernels, forces, nearest points."""

from . import Row


def torch_gravity(t, p, m):
    d = p[None] - p[:, None]
    r = t.rsqrt((d * d).sum(-1) + 0.01)
    return (d * (m * r * r * r)[..., None]).sum(1)


def torch_lennard_jones(t, p):
    d = p[None] - p[:, None]
    r = 1 / ((d * d).sum(-1) + 1)
    r = r * r * r
    return (r * r - r).sum(1)


def torch_chamfer(t, x, y):
    d = ((x[:, None] - y[None]) ** 2).sum(-1)
    return d.amin(1), d.amin(0)


def torch_iou(t, a, b):
    low, high = t.maximum(a[:, None, :2], b[None, :, :2]), t.minimum(a[:, None, :2] + a[:, None, 2:], b[None, :, :2] + b[None, :, 2:])
    inter = (high - low).clamp_min(0).prod(-1)
    return inter / (a[:, 2:].prod(1)[:, None] + b[:, 2:].prod(1) - inter + 1e-9)


IOU = ("x0 = maximum(a[:, None, 0], b[:, 0]); x1 = minimum(a[:, None, 0] + a[:, None, 2], b[:, 0] + b[:, 2])\n"
       "y0 = maximum(a[:, None, 1], b[:, 1]); y1 = minimum(a[:, None, 1] + a[:, None, 3], b[:, 1] + b[:, 3])\n"
       "inter = maximum(x1 - x0, 0) * maximum(y1 - y0, 0)\n"
       "return inter / (a[:, 2:3] * a[:, 3:] + b[:, 2] * b[:, 3] - inter + 1e-9)")

ROWS = [
    Row("pairs", "distances_3", {"x": "f32[M=4096,3]", "y": "f32[N=4096,3]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sqrt(sum(d * d, axis=-1))",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).pow(2).sum(-1).sqrt()),
    Row("pairs", "distances_32", {"x": "f32[M=2048,32]", "y": "f32[N=2048,32]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sum(abs(d), axis=-1)",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).abs().sum(-1)),
    Row("pairs", "distances_64_odd", {"x": "f32[M=1500,64]", "y": "f32[N=1500,64]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sum(abs(d), axis=-1)",
        lambda t, x, y: (x[:, None, :] - y[None, :, :]).abs().sum(-1)),
    Row("pairs", "furthest_of_all", {"x": "f32[M=20000]", "y": "f32[N=20000]"}, "return max(x[:, None] - y[None, :], axis=1)",
        lambda t, x, y: (x[:, None] - y[None, :]).amax(1)),
    Row("pairs", "nearest_centroid", {"x": "f32[N=1000000,16]", "c": "f32[64,16]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn argmin(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).argmin(-1)),
    Row("pairs", "nearest_of_1000_odd", {"x": "f32[N=100003,7]", "c": "f32[1000,7]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn argmin(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).argmin(-1)),
    Row("pairs", "nearest_of_few_rows", {"x": "f32[500,16]", "c": "f32[N=200000,16]"},
        "d = x[:, None, :] - c[None, :, :]\nreturn min(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, c: t.cdist(x, c).amin(-1).square()),
    Row("pairs", "furthest_in_batches", {"x": "f32[N=64,2001]", "y": "f32[N,3001]"},
        "return max(x[:, :, None] - y[:, None, :], axis=2)", lambda t, x, y: (x[:, :, None] - y[:, None, :]).amax(2)),
    Row("pairs", "largest_difference", {"x": "f32[M=8192]", "y": "f32[N=8192]"}, "return max(x[:, None] - y[None, :])",
        lambda t, x, y: (x[:, None] - y[None, :]).max()),
    Row("pairs", "largest_difference_odd", {"x": "f32[N=3000001]", "y": "f32[99]"}, "return max(x[:, None] - y[None, :])",
        lambda t, x, y: (x[:, None] - y[None, :]).max()),
    Row("pairs", "sum_of_kernel", {"x": "f32[N=5001]", "y": "f32[7003]"},
        "d = x[:, None] - y[None, :]\nreturn sum(exp(-d * d))", lambda t, x, y: (-(x[:, None] - y[None, :]) ** 2).exp().sum()),
    Row("pairs", "largest_over_two_axes", {"x": "f32[N=16,3000]", "y": "f32[N,2000]"},
        "return max(x[:, :, None] - y[:, None, :], axis=(1, 2))", lambda t, x, y: (x[:, :, None] - y[:, None, :]).amax((1, 2))),
    Row("pairs", "gravity", {"p": "f32[N=8192,3]", "m": "f32[N]"},
        "d = p[None, :, :] - p[:, None, :]\nr = rsqrt(sum(d * d, axis=-1) + 0.01)\n"
        "return sum(d * (m[None, :] * r * r * r)[:, :, None], axis=1)", torch_gravity),
    Row("pairs", "distances_256", {"x": "f32[M=1021,256]", "y": "f32[N=1531,256]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn sum(d * d, axis=-1)", lambda t, x, y: ((x[:, None] - y[None]) ** 2).sum(-1)),
    Row("pairs", "distances_2_bf16", {"x": "bf16[M=8192,2]", "y": "bf16[N=8192,2]"},
        "d = f32(x)[:, None, :] - f32(y)[None, :, :]\nreturn bf16(sqrt(sum(d * d, axis=-1)))",
        lambda t, x, y: ((x.float()[:, None] - y.float()[None]) ** 2).sum(-1).sqrt().to(t.bfloat16)),
    Row("pairs", "kernel_matrix_odd", {"x": "f32[M=5003,5]", "y": "f32[N=4001,5]"},
        "d = x[:, None, :] - y[None, :, :]\nreturn exp(-0.5 * sum(d * d, axis=-1))",
        lambda t, x, y: t.exp(-0.5 * ((x[:, None] - y[None]) ** 2).sum(-1))),
    Row("pairs", "kernel_regression", {"x": "f32[M=20011]", "y": "f32[N=10007]", "v": "f32[N]"},
        "d = x[:, None] - y\nw = exp(-8 * d * d)\nreturn sum(w * v, axis=1) / (sum(w, axis=1) + 1e-6)",
        lambda t, x, y, v: (lambda w: (w * v).sum(1) / (w.sum(1) + 1e-6))(t.exp(-8 * (x[:, None] - y) ** 2))),
    Row("pairs", "lennard_jones", {"p": "f32[N=8009,3]"},
        "d = p[None, :, :] - p[:, None, :]\nr = 1 / (sum(d * d, axis=-1) + 1)\nr = r * r * r\nreturn sum(r * r - r, axis=1)",
        torch_lennard_jones),
    Row("pairs", "chamfer", {"x": "f32[M=10007,3]", "y": "f32[N=8192,3]"},
        "d = x[:, None, :] - y[None, :, :]\nd = sum(d * d, axis=-1)\nreturn min(d, axis=1), min(d, axis=0)", torch_chamfer),
    Row("pairs", "overlap_of_boxes", {"a": "uniform:f32[M=8731,4]", "b": "uniform:f32[N=8192,4]"}, IOU, torch_iou),
    Row("pairs", "hamming_u8", {"x": "u8[M=2048,64]", "y": "u8[N=3001,64]"}, "return sum(x[:, None, :] != y[None, :, :], axis=-1)",
        lambda t, x, y: (x[:, None] != y[None]).sum(-1)),
    Row("pairs", "nearest_in_batches", {"x": "f32[B=32,2048,3]", "y": "f32[B,1024,3]"},
        "d = x[:, :, None, :] - y[:, None, :, :]\nreturn argmin(sum(d * d, axis=-1), axis=-1)",
        lambda t, x, y: ((x[:, :, None] - y[:, None]) ** 2).sum(-1).argmin(-1)),
]
