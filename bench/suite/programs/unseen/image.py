"""Pictures: colours, filters, resizing."""

from .. import Row


def torch_ycbcr(t, x):
    r, g, b = x.float().unbind(-1)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    out = t.stack((y, 128 + 0.564 * (b - y), 128 + 0.713 * (r - y)), -1)
    return out.round().clamp(0, 255).to(t.uint8)


def torch_binarize(t, x):
    g = x.float().mean(-1)
    return ((g > g.mean((1, 2), keepdim=True)) * 255).to(t.uint8)


def torch_over(t, fg, bg):
    a = fg[:, 3:]
    return t.cat((fg[:, :3] * a + bg[:, :3] * (1 - a), a + bg[:, 3:] * (1 - a)), 1)


def torch_half_size(t, x):
    return t.nn.functional.avg_pool2d(x, 2)


def torch_unsharp(t, x):
    F = t.nn.functional
    k = t.tensor([1, 4, 6, 4, 1], dtype=x.dtype, device=x.device) / 16
    p = F.pad(x[:, None], (2, 2, 2, 2), mode="replicate")
    blur = F.conv2d(F.conv2d(p, k.view(1, 1, 1, 5)), k.view(1, 1, 5, 1))[:, 0]
    return (x + 0.8 * (x - blur)).clamp(0, 1)


def torch_to_tensor(t, x, mean, std):
    return ((x.float() / 255 - mean) / std).permute(0, 3, 1, 2).contiguous()


def torch_sobel(t, x):
    p = t.nn.functional.pad(x[:, None], (1, 1, 1, 1), mode="reflect")[:, 0]
    d = p[:, :, 2:] - p[:, :, :-2]
    s = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]
    gx = d[:, :-2] + 2 * d[:, 1:-1] + d[:, 2:]
    gy = s[:, 2:] - s[:, :-2]
    return t.sqrt(gx * gx + gy * gy), t.atan2(gy, gx)


def torch_stretch(t, x):
    lo, hi = x.amin((2, 3), keepdim=True), x.amax((2, 3), keepdim=True)
    return ((x - lo) / (hi - lo + 1e-6)) ** 0.4545


def torch_demosaic(t, raw):
    q = raw.float() / 255
    g = (q[:, ::2, 1::2] + q[:, 1::2, ::2]) / 2
    return t.stack((q[:, ::2, ::2] * 1.9, g, q[:, 1::2, 1::2] * 1.6), 1)


def torch_vignette(t, x):
    h, w = x.shape[-2:]
    y = t.linspace(-1, 1, h, device=x.device, dtype=x.dtype)[:, None]
    z = t.linspace(-1, 1, w, device=x.device, dtype=x.dtype)
    return x / (1 + 0.5 * (y * y + z * z)) ** 2


def torch_median3(t, x):
    a, b, c = x[:, :-2], x[:, 1:-1], x[:, 2:]
    return t.maximum(t.minimum(a, b), t.minimum(t.maximum(a, b), c))


def torch_block_ssim(t, a, b):
    n, h, w = a.shape
    a, b = (v.reshape(n, h // 8, 8, w // 8, 8) for v in (a, b))
    d = (2, 4)
    ma, mb = a.mean(d), b.mean(d)
    va, vb = (a * a).mean(d) - ma * ma, (b * b).mean(d) - mb * mb
    vab = (a * b).mean(d) - ma * mb
    s = (2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4))
    return s.mean((1, 2))


def torch_rgb_to_hsv(t, x):
    r, g, b = x.unbind(1)
    v, n = x.amax(1), x.amin(1)
    c = v - n
    d = t.where(c > 0, c, 1)
    h = t.where(v == r, (g - b) / d % 6, t.where(v == g, (b - r) / d + 2, (r - g) / d + 4))
    return t.stack((h / 6, t.where(v > 0, c / t.where(v > 0, v, 1), 0), v), 1)


def torch_rotate90_flip(t, x):
    return t.flip(x.transpose(1, 2), (1,)), t.flip(x, (2,))


ROWS = [
    Row("image", "ycbcr_u8_1080p", {"x": "u8[B=20,1080,1920,3]"},
        "r = f32(x[..., 0]); g = f32(x[..., 1]); b = f32(x[..., 2])\ny = 0.299 * r + 0.587 * g + 0.114 * b\n"
        "out = stack((y, 128 + 0.564 * (b - y), 128 + 0.713 * (r - y)), axis=-1)\nreturn u8(clip(round(out), 0, 255))", torch_ycbcr),
    Row("image", "binarize_by_mean_u8", {"x": "u8[B=48,720,1280,3]"},
        "g = mean(f32(x), axis=-1)\nt = mean(g, axis=(1, 2), keepdims=True)\nreturn where(g > t, u8(255), u8(0))", torch_binarize),
    Row("image", "porter_duff_over_f16", {"fg": "uniform:f16[B=10,4,1080,1920]", "bg": "uniform:f16[B,4,1080,1920]"},
        "a = fg[:, 3:]\nrgb = fg[:, :3] * a + bg[:, :3] * (1 - a)\nreturn concat((rgb, a + bg[:, 3:] * (1 - a)), axis=1)", torch_over),
    Row("image", "half_size_by_slices", {"x": "uniform:f32[B=50,3,540,960]"},
        "return (x[..., ::2, ::2] + x[..., ::2, 1::2] + x[..., 1::2, ::2] + x[..., 1::2, 1::2]) / 4", torch_half_size),
    Row("image", "unsharp_mask_5", {"x": "uniform:f32[B=40,1080,1920]"},
        "def blur(v): return (v[0] + v[4] + 4 * (v[1] + v[3]) + 6 * v[2]) / 16\np = pad(x, ((0, 0), (2, 2), (2, 2)), mode='edge')\n"
        "H = x.shape[1]; W = x.shape[2]\nh = blur((p[:, :, :W], p[:, :, 1:W+1], p[:, :, 2:W+2], p[:, :, 3:W+3], p[:, :, 4:]))\n"
        "b = blur((h[:, :H], h[:, 1:H+1], h[:, 2:H+2], h[:, 3:H+3], h[:, 4:]))\nreturn clamp(x + 0.8 * (x - b), 0, 1)", torch_unsharp),
    Row("image", "to_tensor_224", {"x": "u8[B=333,224,224,3]", "mean": "uniform:f32[3]", "std": "uniform:f32[3]"},
        "return transpose((f32(x) / 255 - mean) / (std), (0, 3, 1, 2))", torch_to_tensor),
    Row("image", "sobel_odd", {"x": "uniform:f32[B=31,743,1013]"},
        "p = pad(x, ((0, 0), (1, 1), (1, 1)), mode='reflect')\nd = p[:, :, 2:] - p[:, :, :-2]\n"
        "s = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]\ngx = d[:, :-2] + 2 * d[:, 1:-1] + d[:, 2:]\n"
        "gy = s[:, 2:] - s[:, :-2]\nreturn hypot(gx, gy), atan2(gy, gx)", torch_sobel),
    Row("image", "contrast_stretch_gamma_227", {"x": "uniform:f32[B=128,3,227,227]"},
        "lo = x.min(axis=(2, 3), keepdims=True); hi = x.max(axis=(2, 3), keepdims=True)\n"
        "return ((x - lo) / (hi - lo + 1e-6)) ** 0.4545", torch_stretch),
    Row("image", "half_demosaic_u8_4k", {"raw": "u8[B=12,2160,3840]"},
        "q = f32(raw) / 255\ng = (q[:, ::2, 1::2] + q[:, 1::2, ::2]) / 2\n"
        "return stack((q[:, ::2, ::2] * 1.9, g, q[:, 1::2, 1::2] * 1.6), axis=1)", torch_demosaic),
    Row("image", "vignette_odd", {"x": "uniform:f32[B=13,3,1001,1499]"},
        "H = x.shape[-2]; W = x.shape[-1]\ny = f32(arange(H))[:, None] * (2 / (H - 1)) - 1\nz = f32(arange(W)) * (2 / (W - 1)) - 1\n"
        "return x / (1 + 0.5 * (y * y + z * z)) ** 2", torch_vignette),
    Row("image", "median_of_3_rows_u8", {"x": "u8[B=60,1082,1920]"},
        "a = x[:, :-2]; b = x[:, 1:-1]; c = x[:, 2:]\nreturn maximum(minimum(a, b), minimum(maximum(a, b), c))", torch_median3),
    Row("image", "block_ssim", {"a": "uniform:f32[B=64,512,768]", "b": "uniform:f32[B,512,768]"},
        "H = a.shape[1]; W = a.shape[2]\na = a.reshape(-1, H // 8, 8, W // 8, 8); b = b.reshape(-1, H // 8, 8, W // 8, 8)\n"
        "def m(v): return mean(v, axis=(2, 4))\nma = m(a); mb = m(b)\nva = m(a * a) - ma ** 2; vb = m(b * b) - mb ** 2\n"
        "vab = m(a * b) - ma * mb\n"
        "s = (2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma * ma + mb * mb + 1e-4) * (va + vb + 9e-4))\nreturn mean(s, axis=(1, 2))",
        torch_block_ssim),
    Row("image", "rgb_to_hsv_planar", {"x": "uniform:f32[B=9,3,1080,1920]"},
        "r = x[:, 0]; g = x[:, 1]; b = x[:, 2]\nv = max(x, axis=1); n = min(x, axis=1)\nc = v - n\nd = where(c > 0, c, 1)\n"
        "h = where(v == r, (g - b) / d % 6, where(v == g, (b - r) / d + 2, (r - g) / d + 4))\n"
        "return stack((h / 6, where(v > 0, c / where(v > 0, v, 1), 0), v), axis=1)", torch_rgb_to_hsv),
    Row("image", "rotate90_and_mirror_rgba_u8", {"x": "u8[B=14,1080,1920,4]"},
        "return flip(swapaxes(x, 1, 2), axis=1), x[:, :, ::-1]", torch_rotate90_flip),
]
