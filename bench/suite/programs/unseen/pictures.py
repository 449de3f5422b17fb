"""Image processing: transforms of blocks, filters that depend on the data, colour formats of cameras and video."""

from .. import Row


def torch_dct(t, x, d, q):
    b, h, w = x.shape
    k = x.float().reshape(b, h // 8, 8, w // 8, 8).permute(0, 1, 3, 2, 4) - 128
    c = (d @ k @ d.T / q).round()
    return c.to(t.int16)


def torch_haar(t, x):
    a, b, c, d = x[..., ::2, ::2], x[..., ::2, 1::2], x[..., 1::2, ::2], x[..., 1::2, 1::2]
    return (a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2


def torch_bilateral(t, x):
    n = x.shape[-1]
    p = t.nn.functional.pad(x[:, None], (2, 2, 2, 2), mode="reflect")[:, 0]
    total, weight = 0, 0
    for dy in range(5):
        for dx in range(5):
            s = p[:, dy : dy + x.shape[1], dx : dx + n]
            w = t.exp(-((s - x) ** 2) * 8 - ((dy - 2) ** 2 + (dx - 2) ** 2) / 4.5)
            total, weight = total + w * s, weight + w
    return total / weight


def torch_nlm(t, x):
    total, weight = x, t.ones_like(x)
    for dy, dx in ((0, 3), (3, 0), (2, 2), (-2, 2)):
        s = t.roll(x, (dy, dx), (1, 2))
        d = t.nn.functional.avg_pool2d(t.nn.functional.pad((s - x).square()[:, None], (2, 2, 2, 2), mode="replicate"), 5, 1)[:, 0]
        w = t.exp(-d / 0.08)
        total, weight = total + w * s, weight + w
    return total / weight


def torch_canny(t, x):
    p = t.nn.functional.pad(x[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    s = lambda dy, dx: p[:, 1 + dy : p.shape[1] - 1 + dy, 1 + dx : p.shape[2] - 1 + dx]
    gx = s(-1, 1) + 2 * s(0, 1) + s(1, 1) - s(-1, -1) - 2 * s(0, -1) - s(1, -1)
    gy = s(1, -1) + 2 * s(1, 0) + s(1, 1) - s(-1, -1) - 2 * s(-1, 0) - s(-1, 1)
    m = t.hypot(gx, gy)
    q = t.nn.functional.pad(m, (1, 1, 1, 1))
    r = lambda dy, dx: q[:, 1 + dy : q.shape[1] - 1 + dy, 1 + dx : q.shape[2] - 1 + dx]
    ax, ay = gx.abs(), gy.abs()
    flat, steep, same = ay < 0.4142 * ax, ay > 2.4142 * ax, gx * gy > 0
    n1 = t.where(flat, r(0, 1), t.where(steep, r(1, 0), t.where(same, r(1, 1), r(-1, 1))))
    n2 = t.where(flat, r(0, -1), t.where(steep, r(-1, 0), t.where(same, r(-1, -1), r(1, -1))))
    keep = (m >= n1) & (m >= n2)
    return (keep & (m > 3)).to(t.uint8) * 255, (keep & (m > 1)).to(t.uint8)


def torch_integral(t, x):
    s = t.nn.functional.pad(x.to(t.int32).cumsum(1).cumsum(2), (1, 0, 1, 0))
    r = 15
    box = s[:, r:, r:] - s[:, :-r, r:] - s[:, r:, :-r] + s[:, :-r, :-r]
    return (box.float() / (r * r)).to(t.uint8)


def torch_demosaic(t, x):
    v = x.float()
    p = t.nn.functional.pad(v[None], (1, 1, 1, 1), mode="reflect")[0]
    h, w = x.shape[-2:]
    s = lambda dy, dx: p[..., 1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w]
    cross = (s(0, 1) + s(0, -1) + s(1, 0) + s(-1, 0)) / 4
    diag = (s(1, 1) + s(1, -1) + s(-1, 1) + s(-1, -1)) / 4
    hor, ver = (s(0, 1) + s(0, -1)) / 2, (s(1, 0) + s(-1, 0)) / 2
    ey, ex = (t.arange(h, device=x.device) % 2 == 0)[:, None], t.arange(w, device=x.device) % 2 == 0
    r = t.where(ey & ex, v, t.where(ey & ~ex, hor, t.where(~ey & ex, ver, diag)))
    g = t.where(ey == ex, cross, v)
    b = t.where(~ey & ~ex, v, t.where(~ey & ex, hor, t.where(ey & ~ex, ver, diag)))
    return t.stack((r, g, b), -1).round().to(t.uint8)


def torch_yuv420(t, y, u, v):
    up = lambda c: c.repeat_interleave(2, 1).repeat_interleave(2, 2).float() - 128
    y, u, v = 1.164 * (y.float() - 16), up(u), up(v)
    rgb = t.stack((y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u), -1)
    return rgb.clamp(0, 255).to(t.uint8)


def torch_srgb(t, a, b):
    lin = lambda v: t.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    m = (lin(a.float() / 255) + lin(b.float() / 255)) / 2
    s = t.where(m <= 0.0031308, m * 12.92, 1.055 * m ** (1 / 2.4) - 0.055)
    return (s * 255).round().to(t.uint8)


def torch_dither(t, x, bayer):
    b, h, w = x.shape
    level = (bayer.float() + 0.5) / 64
    tiled = level.repeat((h + 7) // 8, (w + 7) // 8)[:h, :w]
    return (x.float() / 255 > tiled).to(t.uint8) * 255


def torch_lut(t, x, lut):
    return lut[t.arange(x.shape[0], device=x.device)[:, None], x.long()]


def torch_equalize(t, x):
    h = t.bincount(x.reshape(-1).long(), minlength=256)
    c = h.cumsum(0)
    lut = ((c - h[0]).float() * 255 / (x.numel() - h[0]).float()).clamp(0, 255).round().to(t.uint8)
    return lut[x.long()]


def torch_opening(t, x):
    F = t.nn.functional
    v = x.half() if x.is_cuda else x.float()
    e = -F.max_pool2d(-v[None], 5, 1, 2)
    return F.max_pool2d(e, 5, 1, 2)[0].to(t.uint8)


def torch_template(t, x, k):
    w = x.unfold(1, 8, 1).unfold(2, 8, 1)
    return (w - k).square().sum((-2, -1))


def torch_warp(t, x, flow):
    b, h, w = x.shape
    yy = t.arange(h, device=x.device)[:, None] + flow[:, 0].float() / 16
    xx = t.arange(w, device=x.device) + flow[:, 1].float() / 16
    y0, x0 = yy.floor(), xx.floor()
    fy, fx = yy - y0, xx - x0
    flat = x.reshape(b, -1)

    def at(i, j):
        k = i.clamp(0, h - 1).long() * w + j.clamp(0, w - 1).long()
        return flat.gather(1, k.reshape(b, -1)).reshape(b, h, w)

    top = at(y0, x0) * (1 - fx) + at(y0, x0 + 1) * fx
    low = at(y0 + 1, x0) * (1 - fx) + at(y0 + 1, x0 + 1) * fx
    return top * (1 - fy) + low * fy


def torch_pyramid(t, x):
    k = [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]
    p = t.nn.functional.pad(x, (2, 2, 2, 2), mode="reflect")
    n, m = x.shape[-2], x.shape[-1]
    r = sum(w * p[..., i : i + n : 2, :] for i, w in enumerate(k))
    return sum(w * r[..., i : i + m : 2] for i, w in enumerate(k))


def torch_reinhard(t, x):
    lum = 0.2126 * x[:, 0] + 0.7152 * x[:, 1] + 0.0722 * x[:, 2]
    key = (lum + 1e-4).log().mean((1, 2), keepdim=True).exp()
    s = 0.18 * lum / key
    d = s * (1 + s / 16) / (1 + s)
    return (x * (d / (lum + 1e-6))[:, None]).clamp(0, 1) ** (1 / 2.2)


def torch_harris(t, x):
    gx = t.nn.functional.pad(x[:, :, 2:] - x[:, :, :-2], (1, 1))
    gy = t.nn.functional.pad(x[:, 2:] - x[:, :-2], (0, 0, 1, 1))
    box = lambda v: t.nn.functional.avg_pool2d(v[:, None], 3, 1, 1)[:, 0] * 9
    a, b, c = box(gx * gx), box(gy * gy), box(gx * gy)
    return a * b - c * c - 0.04 * (a + b) ** 2


def torch_adaptive(t, x):
    m = t.nn.functional.avg_pool2d(x.float()[:, None], 15, 1, 7, count_include_pad=False)[:, 0]
    return t.where(x.float() > m - 4, 255, 0).to(t.uint8)


def torch_gray_world(t, x):
    m = x.float().mean((1, 2))
    gain = m.mean(1, keepdim=True) / m
    return (x.float() * gain[:, None, None]).clamp(0, 255).to(t.uint8)


ROWS = [
    Row("pictures", "dct_8x8_quantized", {"x": "u8[B=64,1024,1024]", "d": "f32[8,8]", "q": "uniform:f32[8,8]"},
        "b, h, w = x.shape\nk = f32(x).reshape(b, h // 8, 8, w // 8, 8).transpose(0, 1, 3, 2, 4) - 128\n"
        "return i16(round(d @ k @ d.T / (q * 50 + 8)))", lambda t, x, d, q: torch_dct(t, x, d, q * 50 + 8)),
    Row("pictures", "haar_wavelet_level", {"x": "f32[B=16,2048,2048]"},
        "a = x[..., ::2, ::2]; b = x[..., ::2, 1::2]; c = x[..., 1::2, ::2]; d = x[..., 1::2, 1::2]\n"
        "return (a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2", torch_haar),
    Row("pictures", "bilateral_5x5_odd", {"x": "uniform:f32[B=20,1201,999]"},
        "s = window(pad(x, ((0, 0), (2, 2), (2, 2)), mode='reflect'), (5, 5))\nd = f32(arange(5)) - 2\n"
        "w = exp(-(s - x[..., None, None]) ** 2 * 8 - (d[:, None] ** 2 + d ** 2) / 4.5)\nreturn sum(w * s, axis=(-2, -1)) / sum(w, axis=(-2, -1))",
        torch_bilateral),
    Row("pictures", "non_local_means_4_shifts", {"x": "uniform:f32[B=20,1024,1024]"},
        "def weight(s, x):\n  d = (s - x) ** 2\n  d = mean(window(pad(d, ((0, 0), (2, 2), (2, 2)), mode='edge'), (5, 5)), axis=(-2, -1))\n"
        "  return exp(-d / 0.08)\n"
        "a = roll(x, (0, 3), axis=(1, 2)); b = roll(x, (3, 0), axis=(1, 2)); c = roll(x, (2, 2), axis=(1, 2)); d = roll(x, (-2, 2), axis=(1, 2))\n"
        "wa = weight(a, x); wb = weight(b, x); wc = weight(c, x); wd = weight(d, x)\n"
        "return (x + wa * a + wb * b + wc * c + wd * d) / (1 + wa + wb + wc + wd)", torch_nlm),
    Row("pictures", "canny_thin_edges", {"x": "f32[B=24,1080,1279]"},
        "p = pad(x, ((0, 0), (1, 1), (1, 1)), mode='edge')\n"
        "gx = p[:, :-2, 2:] + 2 * p[:, 1:-1, 2:] + p[:, 2:, 2:] - p[:, :-2, :-2] - 2 * p[:, 1:-1, :-2] - p[:, 2:, :-2]\n"
        "gy = p[:, 2:, :-2] + 2 * p[:, 2:, 1:-1] + p[:, 2:, 2:] - p[:, :-2, :-2] - 2 * p[:, :-2, 1:-1] - p[:, :-2, 2:]\n"
        "m = hypot(gx, gy)\nq = pad(m, ((0, 0), (1, 1), (1, 1)))\nax = abs(gx); ay = abs(gy)\n"
        "flat = ay < 0.4142 * ax; steep = ay > 2.4142 * ax; same = gx * gy > 0\n"
        "n1 = where(flat, q[:, 1:-1, 2:], where(steep, q[:, 2:, 1:-1], where(same, q[:, 2:, 2:], q[:, :-2, 2:])))\n"
        "n2 = where(flat, q[:, 1:-1, :-2], where(steep, q[:, :-2, 1:-1], where(same, q[:, :-2, :-2], q[:, 2:, :-2])))\n"
        "keep = (m >= n1) & (m >= n2)\nreturn u8(keep & (m > 3)) * 255, u8(keep & (m > 1))", torch_canny),
    Row("pictures", "integral_image_box_15", {"x": "u8[B=64,1000,1200]"},
        "s = pad(cumsum(cumsum(i32(x), axis=1), axis=2), ((0, 0), (1, 0), (1, 0)))\nr = 15\n"
        "box = s[:, r:, r:] - s[:, :-r, r:] - s[:, r:, :-r] + s[:, :-r, :-r]\nreturn u8(f32(box) / (r * r))", torch_integral),
    Row("pictures", "demosaic_rggb_bilinear", {"x": "u8[B=16,2160,3840]"},
        "v = f32(x)\np = pad(v, ((0, 0), (1, 1), (1, 1)), mode='reflect')\n"
        "hor = (p[:, 1:-1, 2:] + p[:, 1:-1, :-2]) / 2; ver = (p[:, 2:, 1:-1] + p[:, :-2, 1:-1]) / 2; cross = (hor + ver) / 2\n"
        "diag = (p[:, 2:, 2:] + p[:, 2:, :-2] + p[:, :-2, 2:] + p[:, :-2, :-2]) / 4\n"
        "ey = (arange(x.shape[1]) % 2 == 0)[:, None]; ex = arange(x.shape[2]) % 2 == 0\n"
        "r = where(ey, where(ex, v, hor), where(ex, ver, diag))\ng = where(ey == ex, cross, v)\n"
        "b = where(ey, where(ex, diag, ver), where(ex, hor, v))\n"
        "return u8(round(stack((r, g, b), axis=-1)))", torch_demosaic),
    Row("pictures", "yuv420_to_rgb", {"y": "u8[B=32,1080,1920]", "u": "u8[B,540,960]", "v": "u8[B,540,960]"},
        "def up(c): return f32(repeat(repeat(c, 2, axis=1), 2, axis=2)) - 128\ny = 1.164 * (f32(y) - 16); u = up(u); v = up(v)\n"
        "return u8(clamp(stack((y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u), axis=-1), 0, 255))", torch_yuv420),
    Row("pictures", "srgb_mean_u8", {"a": "u8[N=60000007]", "b": "u8[N]"},
        "def lin(v): return where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)\nm = (lin(f32(a) / 255) + lin(f32(b) / 255)) / 2\n"
        "return u8(round(where(m <= 0.0031308, m * 12.92, 1.055 * m ** (1 / 2.4) - 0.055) * 255))", torch_srgb),
    Row("pictures", "ordered_dither_8x8", {"x": "u8[B=64,1000,1504]", "bayer": "below=64:u8[8,8]"},
        "b, h, w = x.shape\nlevel = tile((f32(bayer) + 0.5) / 64, (h + 7) // 8, (w + 7) // 8)[:h, :w]\nreturn u8(f32(x) / 255 > level) * 255",
        torch_dither),
    Row("pictures", "lookup_table_per_image", {"x": "u8[B=64,2000000]", "lut": "u8[B,256]"}, "return take_along_axis(lut, x, axis=1)", torch_lut),
    Row("pictures", "equalize_histogram_u8", {"x": "u8[H=8000,9999]"},
        "h = bincount(x.flatten(), 256)\nc = cumsum(h)\nlut = u8(round(clamp(f32(c - h[0]) * 255 / f32(x.size - h[0]), 0, 255)))\n"
        "return take(lut, x)", torch_equalize),
    Row("pictures", "opening_5x5_u8", {"x": "u8[B=64,1080,1920]"}, "return max_pool(min_pool(x, (5, 5), 1, 2), (5, 5), 1, 2)", torch_opening),
    Row("pictures", "template_ssd_8x8", {"x": "f32[B=16,1024,1031]", "k": "f32[8,8]"},
        "return sum((window(x, (8, 8)) - k) ** 2, axis=(-2, -1))", torch_template),
    Row("pictures", "warp_by_flow_bilinear", {"x": "f32[B=16,720,1281]", "flow": "i16[B,2,720,1281]"},
        "b, h, w = x.shape\nyy = f32(arange(h))[:, None] + f32(flow[:, 0]) / 16; xx = f32(arange(w)) + f32(flow[:, 1]) / 16\n"
        "y0 = floor(yy); x0 = floor(xx)\n"
        "fy = yy - y0; fx = xx - x0\n"
        "def at(x, i, j):\n  b, h, w = x.shape\n  k = i64(clamp(i, 0, h - 1)) * w + i64(clamp(j, 0, w - 1))\n"
        "  return take_along_axis(x.reshape(b, h * w), k.reshape(b, h * w), axis=1).reshape(b, h, w)\n"
        "top = at(x, y0, x0) * (1 - fx) + at(x, y0, x0 + 1) * fx; low = at(x, y0 + 1, x0) * (1 - fx) + at(x, y0 + 1, x0 + 1) * fx\n"
        "return top * (1 - fy) + low * fy", torch_warp),
    Row("pictures", "gaussian_pyramid_reduce", {"x": "f32[B=16,3,1024,1280]"},
        "p = pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)), mode='reflect')\nn, m = x.shape[2:]\n"
        "def five(a, b, c, d, e): return (a + 4 * b + 6 * c + 4 * d + e) / 16\n"
        "r = five(p[:, :, 0:n:2], p[:, :, 1:n + 1:2], p[:, :, 2:n + 2:2], p[:, :, 3:n + 3:2], p[:, :, 4:n + 4:2])\n"
        "return five(r[..., 0:m:2], r[..., 1:m + 1:2], r[..., 2:m + 2:2], r[..., 3:m + 3:2], r[..., 4:m + 4:2])", torch_pyramid),
    Row("pictures", "reinhard_log_average", {"x": "uniform:f32[B=12,3,1080,1920]"},
        "lum = 0.2126 * x[:, 0] + 0.7152 * x[:, 1] + 0.0722 * x[:, 2]\nkey = exp(mean(log(lum + 1e-4), axis=(1, 2), keepdims=True))\n"
        "s = 0.18 * lum / key\nd = s * (1 + s / 16) / (1 + s)\nreturn clamp(x * (d / (lum + 1e-6))[:, None], 0, 1) ** (1 / 2.2)", torch_reinhard),
    Row("pictures", "harris_response_odd", {"x": "f32[B=24,1081,1283]"},
        "gx = pad(x[:, :, 2:] - x[:, :, :-2], ((0, 0), (0, 0), (1, 1))); gy = pad(x[:, 2:] - x[:, :-2], ((0, 0), (1, 1), (0, 0)))\n"
        "def box(v): return sum(window(pad(v, ((0, 0), (1, 1), (1, 1))), (3, 3)), axis=(-2, -1))\n"
        "a = box(gx * gx); b = box(gy * gy); c = box(gx * gy)\nreturn a * b - c * c - 0.04 * (a + b) ** 2", torch_harris),
    Row("pictures", "adaptive_threshold_15", {"x": "u8[B=32,1080,1921]"},
        "m = avg_pool(f32(x), (15, 15), 1, 7, count_padding=False)\nreturn where(f32(x) > m - 4, u8(255), u8(0))", torch_adaptive),
    Row("pictures", "gray_world_balance_u8", {"x": "u8[B=64,1080,1440,3]"},
        "m = mean(f32(x), axis=(1, 2))\ngain = mean(m, axis=1, keepdims=True) / m\nreturn u8(clamp(f32(x) * gain[:, None, None], 0, 255))",
        torch_gray_world),
]
