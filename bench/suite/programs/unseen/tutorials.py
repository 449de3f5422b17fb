"""What the documentation of other tools begins with: numexpr, CuPy, numba, JAX, Halide, Taichi, Triton, einops, Julia."""

from .. import Row


def torch_mandelbrot(t, re, im):
    x, y, n = t.zeros_like(re), t.zeros_like(re), t.zeros_like(re, dtype=t.int32)
    for _ in range(24):
        x, y = x * x - y * y + re, 2 * x * y + im
        x, y = x.clamp(-1e3, 1e3), y.clamp(-1e3, 1e3)
        n = n + (x * x + y * y <= 4).to(t.int32)
    return n.to(t.uint8)


def torch_stencil_border(t, a):
    out = t.zeros_like(a)
    c = a[1:-1, 1:-1]
    out[1:-1, 1:-1] = 0.25 * (a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1]) - c
    return out


def torch_mlp(t, x, w1, b1, w2, b2):
    z = t.tanh(x @ w1 + b1) @ w2 + b2
    return z - t.logsumexp(z, 1, keepdim=True)


def torch_logistic_hessian(t, x, w, v):
    p = t.sigmoid(x @ w)
    return x.T @ (p * (1 - p) * (x @ v)) + 0.1 * v


def torch_blur(t, x):
    v = x.to(t.int32)
    h = (v[:, :-2] + v[:, 1:-1] + v[:, 2:]) // 3
    return ((h[:-2] + h[1:-1] + h[2:]) // 3).to(t.int16)


def torch_local_laplacian(t, x):
    fx = x.float() / 255
    level = (fx * 7).floor()
    d = fx - level / 7
    return fx + 0.5 * d * t.exp(-d * d * 49 / 2)


def torch_curve(t, x, m):
    v = x.float() @ m.T
    z = 1 - (v / 1023).clamp(0, 1)
    g = (1 - z * z * (1.5 - z * 0.5)).clamp(0, 1) ** (1 / 2.2)
    return (g * 255 + 0.5).to(t.uint8)


def torch_julia(t, im):
    n, m = im.shape
    zx = 3 * t.arange(m, device=im.device).to(im.dtype) / m - 1.5
    zy = 2 * t.arange(n, device=im.device).to(im.dtype)[:, None] / n - 1
    zx, zy = zx.expand(n, m), zy.expand(n, m)
    for _ in range(8):
        zx, zy = (zx * zx - zy * zy - 0.8).clamp(-9, 9), (2 * zx * zy + 0.156).clamp(-9, 9)
    return im * 0.5 + t.exp(-(zx * zx + zy * zy))


def torch_waterwave(t, h, v):
    p = t.nn.functional.pad(h, (1, 1, 1, 1))
    lap = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * h
    v = (v + 0.1 * lap) * 0.995
    h = h + 0.1 * v
    q = t.nn.functional.pad(h, (0, 1, 0, 1))
    return h, v, 0.5 + 3 * (q[1:, :-1] - h) - 2 * (q[:-1, 1:] - h)


def torch_matmul_leaky(t, a, b):
    return t.nn.functional.leaky_relu(a @ b, 0.01)


def torch_layernorm_backward(t, x, w, dy):
    x, dy = x.float(), dy.float()
    m = x.mean(-1, keepdim=True)
    r = t.rsqrt((x - m).square().mean(-1, keepdim=True) + 1e-5)
    h = (x - m) * r
    g = dy * w.float()
    dx = (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True)) * r
    return dx.half(), (dy * h).sum(0), dy.sum(0)


def torch_stable_norm(t, x):
    m = x.abs().amax(1, keepdim=True)
    return (m * (x / m).square().sum(1, keepdim=True).sqrt())[:, 0]


def torch_einops(t, x):
    b, h, w, c = x.shape
    y = x.reshape(b, h // 2, 2, w // 2, 2, c)
    return y.amax((2, 4)), y.permute(0, 2, 4, 1, 3, 5).reshape(b, 4, -1), x.permute(3, 0, 1, 2).reshape(c, -1).mean(1)


def torch_haversine(t, lat, lon):
    d = t.pi / 180
    a = (0.5 * d * (lat - 48.1)).sin() ** 2 + (lat * d).cos() * 0.6678 * (0.5 * d * (lon - 11.6)).sin() ** 2
    r = 2 * 6371 * t.asin(a.sqrt())
    return r, (r < 500).sum()


def torch_complex_poly(t, re, im):
    a, b = re * re - im * im, 2 * re * im
    c, e = a * re - b * im, a * im + b * re
    return c - 2 * a + re - 1, e - 2 * b + im, (c * c + e * e).sqrt()


def torch_pairwise_p1(t, x, y):
    return (x[:, None] - y).abs().sum(-1)


def torch_black_body(t, wl, temp):
    x = 0.014387769 / (wl[:, None] * temp)
    b = 1.191043e-16 / wl[:, None] ** 5 / t.expm1(x)
    return b / b.amax(0), b.mean(0)


ROWS = [
    Row("tutorials", "numexpr_polynomial_where", {"a": "f64[N=10000000]", "b": "f64[N]", "c": "f64[N]"},
        "return where(2 * a + 3 * b > c, sin(a) ** 2 + cos(b) ** 2, 2 * a ** 3 - 4 * b ** 2 + c)",
        lambda t, a, b, c: t.where(2 * a + 3 * b > c, a.sin() ** 2 + b.cos() ** 2, 2 * a**3 - 4 * b**2 + c)),
    Row("tutorials", "cupy_fuse_squared_diff_axis_0", {"x": "f32[N=40000,1001]", "y": "f32[N,1001]"}, "return sqrt(sum((x - y) ** 2, axis=0))",
        lambda t, x, y: ((x - y) ** 2).sum(0).sqrt()),
    Row("tutorials", "numba_mandelbrot_24", {"re": "uniform:f32[N=4000,4000]", "im": "uniform:f32[N,4000]"},
        "def step(s, re, im):\n  x, y, n = s\n  a = clamp(x * x - y * y + re, -1e3, 1e3); b = clamp(2 * x * y + im, -1e3, 1e3)\n"
        "  return (a, b, n + i32(a * a + b * b <= 4))\n"
        "def four(s, re, im): return step(step(step(step(s, re, im), re, im), re, im), re, im)\nz = zeros_like(re)\nre = 3 * re - 2\n"
        "im = 2 * im - 1\ns = (z, z, zeros(re.shape, i32))\ns = four(four(four(s, re, im), re, im), re, im)\n"
        "s = four(four(four(s, re, im), re, im), re, im)\nreturn u8(s[2])", lambda t, r, i: torch_mandelbrot(t, 3 * r - 2, 2 * i - 1)),
    Row("tutorials", "numba_stencil_zero_border", {"a": "f64[N=5000,5003]"},
        "v = 0.25 * (a[1:-1, 2:] + a[1:-1, :-2] + a[2:, 1:-1] + a[:-2, 1:-1]) - a[1:-1, 1:-1]\nreturn pad(v, 1)", torch_stencil_border),
    Row("tutorials", "jax_mnist_predict", {"x": "f32[N=60000,784]", "w1": "f32[784,128]", "b1": "f32[128]", "w2": "f32[128,10]", "b2": "f32[10]"},
        "z = tanh(x @ w1 / 28 + b1) @ w2 + b2\nreturn z - logsumexp(z, axis=1, keepdims=True)",
        lambda t, x, w1, b1, w2, b2: torch_mlp(t, x, w1 / 28, b1, w2, b2)),
    Row("tutorials", "jax_hessian_vector_product", {"x": "f32[N=300000,200]", "w": "f32[200]", "v": "f32[200]"},
        "def loss(w, x): return sum(softplus(x @ w)) + 0.05 * sum(w * w)\ng = gradient(loss)(w / 14, x)\nreturn gradient(sum(g * v), w) * 14",
        lambda t, x, w, v: torch_logistic_hessian(t, x, w / 14, v)),
    Row("tutorials", "jax_selu_bf16", {"x": "bf16[N=100000001]"}, "return 1.05070098 * where(x > 0, x, 1.67326324 * (exp(x) - 1))",
        lambda t, x: t.nn.functional.selu(x)),
    Row("tutorials", "halide_blur_3x3_i16", {"x": "below=4096:i16[H=6400,9602]"},
        "v = i32(x)\nh = (v[:, :-2] + v[:, 1:-1] + v[:, 2:]) // 3\nreturn i16((h[:-2] + h[1:-1] + h[2:]) // 3)", torch_blur),
    Row("tutorials", "halide_remap_levels", {"x": "u8[N=80000000]"},
        "fx = f32(x) / 255\nd = fx - floor(fx * 7) / 7\nreturn fx + 0.5 * d * exp(-d * d * 49 / 2)", torch_local_laplacian),
    Row("tutorials", "halide_camera_curve", {"x": "below=1024:i16[N=20000000,3]", "m": "uniform:f32[3,3]"},
        "v = f32(x) @ m.T\nz = 1 - clamp(v / 1023, 0, 1)\ng = clamp(1 - z * z * (1.5 - z * 0.5), 0, 1) ** (1 / 2.2)\n"
        "return u8(g * 255 + 0.5)", torch_curve),
    Row("tutorials", "taichi_julia_set", {"im": "f32[N=6000,8000]"},
        "n, m = im.shape\nzx = broadcast_to(3 * f32(arange(m)) / m - 1.5, n, m); zy = broadcast_to(2 * f32(arange(n))[:, None] / n - 1, n, m)\n"
        "def step(z): return (clamp(z[0] * z[0] - z[1] * z[1] - 0.8, -9, 9), clamp(2 * z[0] * z[1] + 0.156, -9, 9))\n"
        "z = step(step(step(step(step(step(step(step((zx, zy)))))))))\n"
        "return im * 0.5 + exp(-(z[0] * z[0] + z[1] * z[1]))", torch_julia),
    Row("tutorials", "taichi_waterwave", {"h": "f32[N=4096,4111]", "v": "f32[N,4111]"},
        "p = pad(h, 1)\nlap = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * h\nv = (v + 0.1 * lap) * 0.995\nh = h + 0.1 * v\n"
        "q = pad(h, (0, 1))\nreturn h, v, 0.5 + 3 * (q[1:, :-1] - h) - 2 * (q[:-1, 1:] - h)", torch_waterwave),
    Row("tutorials", "triton_softmax_781", {"x": "f32[N=60000,781]"},
        "z = exp(x - max(x, axis=1, keepdims=True))\nreturn z / sum(z, axis=1, keepdims=True)", lambda t, x: x.softmax(1)),
    Row("tutorials", "triton_matmul_leaky_f16", {"a": "f16[M=8192,1024]", "b": "f16[1024,4096]"}, "return leaky_relu(a @ b, 0.01)",
        torch_matmul_leaky),
    Row("tutorials", "triton_layernorm_backward_f16", {"x": "f16[N=16384,4096]", "w": "f16[4096]", "dy": "f16[N,4096]"},
        "h = f32(x); g = f32(dy)\nm = mean(h, axis=-1, keepdims=True)\nr = rsqrt(mean((h - m) ** 2, axis=-1, keepdims=True) + 1e-5)\n"
        "h = (h - m) * r\n"
        "k = g * f32(w)\n"
        "return f16((k - mean(k, axis=-1, keepdims=True) - h * mean(k * h, axis=-1, keepdims=True)) * r), sum(g * h, axis=0), sum(g, axis=0)",
        torch_layernorm_backward),
    Row("tutorials", "stable_norm_of_rows", {"x": "f32[N=50000,999]"},
        "m = max(abs(x), axis=1, keepdims=True)\nreturn (m * sqrt(sum((x / m) ** 2, axis=1, keepdims=True)))[:, 0]", torch_stable_norm),
    Row("tutorials", "einops_pool_split_mean", {"x": "f32[B=64,128,96,48]"},
        "b, h, w, c = x.shape\ny = x.reshape(b, h // 2, 2, w // 2, 2, c)\n"
        "return max(y, axis=(2, 4)), y.transpose(0, 2, 4, 1, 3, 5).reshape(b, 4, -1), mean(x.transpose(3, 0, 1, 2).reshape(c, -1), axis=1)",
        torch_einops),
    Row("tutorials", "julia_haversine_count", {"lat": "uniform:f32[N=30000000]", "lon": "uniform:f32[N]"},
        "lat = 180 * lat - 90; lon = 360 * lon - 180; d = pi / 180\n"
        "a = sin(0.5 * d * (lat - 48.1)) ** 2 + cos(lat * d) * 0.6678 * sin(0.5 * d * (lon - 11.6)) ** 2\nr = 2 * 6371 * asin(sqrt(a))\n"
        "return r, sum(r < 500)", lambda t, a, b: torch_haversine(t, 180 * a - 90, 360 * b - 180)),
    Row("tutorials", "complex_cubic_by_hand_f64", {"re": "f64[N=9000000]", "im": "f64[N]"},
        "a = re * re - im * im; b = 2 * re * im\nc = a * re - b * im; e = a * im + b * re\n"
        "return c - 2 * a + re - 1, e - 2 * b + im, sqrt(c * c + e * e)", torch_complex_poly),
    Row("tutorials", "vmap_manhattan_distances", {"x": "f32[N=6000,24]", "y": "f32[M=5000,24]"}, "return sum(abs(x[:, None] - y), axis=-1)",
        torch_pairwise_p1),
    Row("tutorials", "planck_curves_per_temperature", {"wl": "uniform:f32[N=3000]", "temp": "uniform:f32[T=10007]"},
        "wl = 1e-7 + 2e-6 * wl; temp = 2000 + 8000 * temp\nb = 1.191043e-16 / wl[:, None] ** 5 / expm1(0.014387769 / (wl[:, None] * temp))\n"
        "return b / max(b, axis=0), mean(b, axis=0)", lambda t, w, k: torch_black_body(t, 1e-7 + 2e-6 * w, 2000 + 8000 * k)),
]
