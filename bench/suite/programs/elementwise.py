"""Chains of elementwise operations: polynomials, complex numbers as pairs, integers, broadcasts."""

from . import Row


def horner(coefficients):
    """A polynomial in x, the highest coefficient first, in smelt's text and in torch's alike."""
    text = str(coefficients[0])
    for c in coefficients[1:]:
        text = f"({text}) * x + {c}"
    return text


EXP_TAYLOR = horner([0.0013888889, 0.008333333, 0.041666667, 0.16666667, 0.5, 1.0, 1.0])


def torch_horner(t, x):
    y = t.full_like(x, 0.0013888889)
    for c in (0.008333333, 0.041666667, 0.16666667, 0.5, 1.0, 1.0):
        y = y * x + c
    return y


def torch_mandelbrot(t, a, b):
    u, v = a, b
    for _ in range(8):
        u, v = t.clamp(u * u - v * v + a, -4, 4), t.clamp(2 * u * v + b, -4, 4)
    return u * u + v * v < 4


def torch_complex_multiply(t, x, y):
    a, b, c, d = x[:, 0], x[:, 1], y[:, 0], y[:, 1]
    return t.stack((a * c - b * d, a * d + b * c), -1)


def torch_hash(t, x):
    x = (x ^ (x >> 16)) * 73244475
    x = (x ^ (x >> 15)) * 73244475
    return x ^ (x >> 16)


ROWS = [
    Row("elementwise", "polynomial_6", {"x": "uniform:f32[N=49043504]"}, f"return {EXP_TAYLOR}", torch_horner),
    Row("elementwise", "rational_odd", {"x": "f32[N=80599,431]"},
        "return (x * x * (0.25 * x + 1.5) - 0.75) / (1 + x * x * (0.5 + 0.125 * x * x))",
        lambda t, x: (x * x * (0.25 * x + 1.5) - 0.75) / (1 + x * x * (0.5 + 0.125 * x * x))),
    Row("elementwise", "mandelbrot_8", {"a": "f32[N=19224880]", "b": "f32[N]"},
        "u = a; v = b\n" + "\n".join(f"{p} = clamp(u * u - v * v + a, -4, 4); v = clamp(2 * u * v + b, -4, 4); u = {p}"
                                     for p in "cdefghij") + "\nreturn u * u + v * v < 4", torch_mandelbrot),
    Row("elementwise", "complex_multiply", {"x": "f32[N=9240919,2]", "y": "f32[N,2]"},
        "a = x[:, 0]; b = x[:, 1]; c = y[:, 0]; d = y[:, 1]\nreturn stack((a * c - b * d, a * d + b * c), axis=-1)",
        torch_complex_multiply),
    Row("elementwise", "complex_magnitude", {"x": "f32[N=21611216,2]"}, "return hypot(x[:, 0], x[:, 1])",
        lambda t, x: t.hypot(x[:, 0], x[:, 1])),
    Row("elementwise", "power_spectrum_odd", {"x": "f32[B=61121,443,2]"}, "return log10(sum(x * x, axis=-1) + 1e-10) * 10",
        lambda t, x: t.log10((x * x).sum(-1) + 1e-10) * 10),
    Row("elementwise", "polar", {"x": "f32[N=8982173,5]", "y": "f32[N,5]"}, "return hypot(x, y), atan2(y, x)",
        lambda t, x, y: (t.hypot(x, y), t.atan2(y, x))),
    Row("elementwise", "bias_relu_nhwc_f16", {"x": "f16[B=48,56,56,256]", "b": "f16[256]"}, "return relu(x + b)",
        lambda t, x, b: t.relu(x + b)),
    Row("elementwise", "row_and_column_odd", {"x": "f32[N=41341,2503]", "r": "f32[N]", "b": "f32[2503]"},
        "return x * r[:, None] + b", lambda t, x, r, b: x * r[:, None] + b),
    Row("elementwise", "axpy_f16", {"x": "f16[N=104579152]", "y": "f16[N]"}, "return x * 2.5 + y", lambda t, x, y: x * 2.5 + y),
    Row("elementwise", "axpy_f64_odd", {"x": "f64[N=5941961]", "y": "f64[N]"}, "return x * 2.5 + y", lambda t, x, y: x * 2.5 + y),
    Row("elementwise", "hash_i32", {"x": "i32[N=52779200]"},
        "x = (x ^ (x >> 16)) * 73244475\nx = (x ^ (x >> 15)) * 73244475\nreturn x ^ (x >> 16)", torch_hash),
    Row("elementwise", "compare_and_count_i8", {"x": "i8[N=2651359,64]"}, "return sum(x > 5, axis=1)", lambda t, x: (x > 5).sum(1)),
    Row("elementwise", "masked_fill_bf16", {"x": "bf16[N=14608,4096]", "m": "bool[N,4096]"}, "return where(m, -100, x)",
        lambda t, x, m: x.masked_fill(m, -100)),
    Row("elementwise", "clean_nan_odd", {"x": "f32[N=80723917]"}, "return where(isfinite(x), clamp(x, -2, 2), 0)",
        lambda t, x: t.where(x.isfinite(), x.clamp(-2, 2), 0.0)),
    Row("elementwise", "outer_product", {"x": "f32[M=16381]", "y": "f32[N=8192]"}, "return x[:, None] * y",
        lambda t, x, y: x[:, None] * y),
]
