"""Chains over pictures: u8 in, normalise, resize, blur, edges, u8 out; NHWC and NCHW."""

from . import Row


def torch_box_blur(t, x):
    f = x.float()
    h = f[:, :-2] + f[:, 1:-1] + f[:, 2:]
    return ((h[:-2] + h[1:-1] + h[2:]) / 9).to(t.uint8)


def torch_bilinear_half(t, x):
    f = x.float()
    return ((f[:, ::2, ::2] + f[:, 1::2, ::2] + f[:, ::2, 1::2] + f[:, 1::2, 1::2]) / 4).round().to(t.uint8)


def torch_gray(t, x):
    f = x.float()
    return (0.299 * f[..., 0] + 0.587 * f[..., 1] + 0.114 * f[..., 2]).round().to(t.uint8)


def torch_sobel(t, x):
    p = t.nn.functional.pad(x.float()[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    l, c, r = p[:, :, :-2], p[:, :, 1:-1], p[:, :, 2:]
    gx = (r - l)[:, :-2] + 2 * (r - l)[:, 1:-1] + (r - l)[:, 2:]
    s = l + 2 * c + r
    gy = s[:, 2:] - s[:, :-2]
    return t.sqrt(gx * gx + gy * gy).clamp(0, 255).to(t.uint8)


def torch_gauss(t, f, n):
    """Five binomial weights along each of the last two axes, inside only."""
    for k in (n, n + 1):
        m = f.shape[k] - 4
        a = [f.narrow(k, i, m) for i in range(5)]
        f = (a[0] + 4 * a[1] + 6 * a[2] + 4 * a[3] + a[4]) / 16
    return f


def torch_unsharp(t, x):
    f = x.float()
    return (f[:, 2:-2, 2:-2] + 0.8 * (f[:, 2:-2, 2:-2] - torch_gauss(t, f, 1))).clamp(0, 255).to(t.uint8)


def torch_resize_linear(t, x, y0, fy, x0, fx):
    f = x.float()
    top, low = f[:, y0], f[:, y0 + 1]
    rows = top + fy[:, None, None] * (low - top)
    left, right = rows[:, :, x0], rows[:, :, x0 + 1]
    return (left + fx[:, None] * (right - left)).round().to(t.uint8)


def torch_yuv(t, y, u, v):
    y, u, v = y.float(), u.float() - 128, v.float() - 128
    u, v = (c.repeat_interleave(2, 1).repeat_interleave(2, 2) for c in (u, v))
    return t.stack((y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u), -1).clamp(0, 255).to(t.uint8)


def torch_blend(t, a, b, m):
    w = m.float()[..., None] / 255
    return (a.float() * w + b.float() * (1 - w)).round().to(t.uint8)


def torch_crop_flip(t, x, m, s):
    c = x[:, 16:240, 16:240].flip(2).permute(0, 3, 1, 2).half()
    return (c / 255 - m[:, None, None]) / s[:, None, None]


def torch_stretch(t, x):
    f = x.float()
    lo, hi = f.amin((1, 2), keepdim=True), f.amax((1, 2), keepdim=True)
    return ((f - lo) * (255 / (hi - lo + 1e-3))).to(t.uint8)


GAUSS = ("def rows(f): return (f[:, :-4] + 4 * f[:, 1:-3] + 6 * f[:, 2:-2] + 4 * f[:, 3:-1] + f[:, 4:]) / 16\n"
         "def columns(f): return (f[:, :, :-4] + 4 * f[:, :, 1:-3] + 6 * f[:, :, 2:-2] + 4 * f[:, :, 3:-1] + f[:, :, 4:]) / 16\n")

ROWS = [
    Row("images", "picture_to_planes", {"x": "u8[B=64,224,224,3]", "m": "f32[3]", "s": "f32[3]"},
        "return ((f32(x) / 255 - m) / s).transpose(0, 3, 1, 2)",
        lambda t, x, m, s: ((x.float() / 255 - m) / s).permute(0, 3, 1, 2).contiguous()),
    Row("images", "box_blur_u8", {"x": "u8[H=4096,W=4096,3]"},
        "f = f32(x)\nh = f[:, :-2] + f[:, 1:-1] + f[:, 2:]\nv = h[:-2] + h[1:-1] + h[2:]\nreturn u8(v / 9)", torch_box_blur),
    Row("images", "normalize_nchw_f16", {"x": "u8[B=528,3,224,224]", "m": "f16[3]", "s": "uniform:f16[3]"},
        "return (f16(x) / 255 - m[:, None, None]) / (s[:, None, None] + 0.1)",
        lambda t, x, m, s: (x.half() / 255 - m[:, None, None]) / (s[:, None, None] + 0.1)),
    Row("images", "planes_to_picture_odd", {"x": "f32[B=103,3,307,179]"},
        "return u8(clamp(x.transpose(0, 2, 3, 1) * 64 + 128, 0, 255))",
        lambda t, x: (x.permute(0, 2, 3, 1) * 64 + 128).clamp(0, 255).to(t.uint8).contiguous()),
    Row("images", "crop_flip_normalize", {"x": "u8[B=1888,256,256,3]", "m": "f16[3]", "s": "uniform:f16[3]"},
        "c = f16(x[:, 16:240, 16:240][:, :, ::-1].transpose(0, 3, 1, 2))\n"
        "return (c / 255 - m[:, None, None]) / (s + 0.1)[:, None, None]",
        lambda t, x, m, s: torch_crop_flip(t, x, m, s + 0.1)),
    Row("images", "half_size", {"x": "u8[B=160,1024,1024,3]"},
        "f = f32(x)\nreturn u8(round((f[:, ::2, ::2] + f[:, 1::2, ::2] + f[:, ::2, 1::2] + f[:, 1::2, 1::2]) / 4))", torch_bilinear_half),
    Row("images", "resize_linear_odd",
        {"x": "u8[B=83,500,700,3]", "y0": "below=499:i64[223]", "fy": "uniform:f32[223]", "x0": "below=699:i64[317]", "fx": "uniform:f32[317]"},
        "f = f32(x)\ntop = take(f, y0, axis=1)\nrows = top + fy[:, None, None] * (take(f, y0 + 1, axis=1) - top)\n"
        "left = take(rows, x0, axis=2)\nreturn u8(round(left + fx[:, None] * (take(rows, x0 + 1, axis=2) - left)))",
        torch_resize_linear),
    Row("images", "nearest_twice", {"x": "u8[B=1543,3,373,211]"}, "return repeat(repeat(x, 2, axis=2), 2, axis=3)",
        lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="nearest")),
    Row("images", "gray_nhwc", {"x": "u8[B=241,383,709,3]"},
        "f = f32(x)\nreturn u8(round(0.299 * f[..., 0] + 0.587 * f[..., 1] + 0.114 * f[..., 2]))", torch_gray),
    Row("images", "sobel_u8", {"x": "u8[B=448,1024,1024]"},
        "p = pad(f32(x), ((0, 0), (1, 1), (1, 1)), mode='edge')\nl = p[:, :, :-2]; c = p[:, :, 1:-1]; r = p[:, :, 2:]\nd = r - l\n"
        "gx = d[:, :-2] + 2 * d[:, 1:-1] + d[:, 2:]\ns = l + 2 * c + r\ngy = s[:, 2:] - s[:, :-2]\n"
        "return u8(clamp(sqrt(gx * gx + gy * gy), 0, 255))", torch_sobel),
    Row("images", "gauss_5_u8_odd", {"x": "u8[B=197,941,1163]"}, GAUSS + "return u8(columns(rows(f32(x))))",
        lambda t, x: torch_gauss(t, x.float(), 1).to(t.uint8)),
    Row("images", "gauss_5_f32", {"x": "f32[B=28,1024,1024]"}, GAUSS + "return columns(rows(x))",
        lambda t, x: torch_gauss(t, x, 1)),
    Row("images", "unsharp_u8", {"x": "u8[B=96,1080,1920]"},
        GAUSS + "f = f32(x)\nc = f[:, 2:-2, 2:-2]\nreturn u8(clamp(c + 0.8 * (c - columns(rows(f))), 0, 255))", torch_unsharp),
    Row("images", "gamma_u8", {"x": "u8[N=92799829]"}, "return u8(round(255 * (f32(x) / 255) ** 0.4545))",
        lambda t, x: (255 * (x.float() / 255) ** 0.4545).round().to(t.uint8)),
    Row("images", "lookup_u8", {"x": "u8[B=42,1080,1920,3]", "table": "u8[256]"}, "return take(table, i32(x))",
        lambda t, x, table: table[x.int()]),
    Row("images", "blend_u8", {"a": "u8[B=24,720,1280,3]", "b": "u8[B,720,1280,3]", "m": "u8[B,720,1280]"},
        "w = f32(m)[..., None] / 255\nreturn u8(round(f32(a) * w + f32(b) * (1 - w)))", torch_blend),
    Row("images", "yuv_to_rgb", {"y": "u8[B=32,1080,1920]", "u": "u8[B,540,960]", "v": "u8[B,540,960]"},
        "y = f32(y); u = f32(u) - 128; v = f32(v) - 128\nu = repeat(repeat(u, 2, axis=1), 2, axis=2)\n"
        "v = repeat(repeat(v, 2, axis=1), 2, axis=2)\n"
        "return u8(clamp(stack((y + 1.402 * v, y - 0.344136 * u - 0.714136 * v, y + 1.772 * u), axis=-1), 0, 255))", torch_yuv),
    Row("images", "stretch_contrast", {"x": "u8[B=331,509,499]"},
        "f = f32(x)\nlo = min(f, axis=(1, 2), keepdims=True); hi = max(f, axis=(1, 2), keepdims=True)\n"
        "return u8((f - lo) * (255 / (hi - lo + 1e-3)))", torch_stretch),
    Row("images", "dilate_u8", {"x": "u8[B=48,1,2048,2048]"}, "return max_pool(x, (3, 3), stride=1, padding=1)",
        lambda t, x: t.nn.functional.max_pool2d(x.half(), 3, 1, 1).to(t.uint8)),
]
