"""Quantisation per tensor, row, channel and group, its inverse, and packed four-bit numbers."""

from . import Row


def torch_quantize_groups(t, x):
    g = x.float().reshape(x.shape[0], -1, 128)
    s = g.abs().amax(-1, keepdim=True) / 127
    return (g / s).round().to(t.int8).reshape(x.shape), s


def quantize(t, x, axis):
    s = x.abs().amax(axis, keepdim=True) / 127
    return (x / s).round().to(t.int8), s


def torch_quantize_asymmetric(t, x):
    lo, hi = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    s = (hi - lo) / 255
    return ((x - lo) / s).round().clamp(0, 255).to(t.uint8), s, lo


def torch_unpack(t, q, s):
    low, high = (q & 15).float() - 8, (q >> 4).float() - 8
    w = t.stack((low, high), -1).reshape(q.shape[0], -1, 128)
    return (w * s[..., None]).reshape(q.shape[0], -1)


def torch_pack(t, x):
    q = (x * 4 + 8).round().clamp(0, 15).to(t.uint8)
    return q[:, ::2] | (q[:, 1::2] << 4)


def torch_fake(t, x):
    s = x.abs().amax() / 127
    return (x / s).round().clamp(-128, 127) * s


def torch_requantize(t, x, s, b):
    return ((x + b).float() * s).round().clamp(-128, 127).to(t.int8)


def torch_smooth(t, x, s):
    return quantize(t, x.float() / s, -1)


def torch_dequantize_rms(t, q, s, w):
    return t.nn.functional.rms_norm(q.float() * s[:, None], w.shape, w, 1e-6)


def torch_blocks(t, x):
    g = x.reshape(-1, 32)
    s = t.exp2(t.floor(t.log2(g.abs().amax(-1, keepdim=True) + 1e-30)) - 6)
    return (g / s).round().clamp(-127, 127).to(t.int8), s


ROWS = [
    Row("quantization", "quantize_groups", {"x": "bf16[N=8192,4096]"},
        "g = f32(x).reshape(x.shape[0], 32, 128)\ns = max(abs(g), axis=-1, keepdims=True) / 127\n"
        "return int8(round(g / s)).reshape(x.shape), s", torch_quantize_groups),
    Row("quantization", "dequantize", {"q": "i8[N=16384,8192]", "s": "f32[N]"}, "return f32(q) * s[:, None]",
        lambda t, q, s: q.float() * s[:, None]),
    Row("quantization", "quantize_tensor", {"x": "f32[N=8480,4096]"},
        "s = max(abs(x)) / 127\nreturn int8(round(x / s)), s",
        lambda t, x: ((x / (x.abs().amax() / 127)).round().to(t.int8), x.abs().amax() / 127)),
    Row("quantization", "quantize_rows_bf16_odd", {"x": "bf16[N=53693,2503]"},
        "x = f32(x)\ns = max(abs(x), axis=-1, keepdims=True) / 127\nreturn int8(round(x / s)), s",
        lambda t, x: quantize(t, x.float(), -1)),
    Row("quantization", "quantize_columns", {"x": "f32[4096,N=24576]"},
        "s = max(abs(x), axis=0, keepdims=True) / 127\nreturn int8(round(x / s)), s", lambda t, x: quantize(t, x, 0)),
    Row("quantization", "quantize_channels_odd", {"x": "f32[B=263,59,1423]"},
        "s = max(abs(x), axis=(0, 2), keepdims=True) / 127\nreturn int8(round(x / s)), s", lambda t, x: quantize(t, x, (0, 2))),
    Row("quantization", "quantize_asymmetric", {"x": "f32[N=10181,12007]"},
        "lo = min(x, axis=-1, keepdims=True); hi = max(x, axis=-1, keepdims=True)\ns = (hi - lo) / 255\n"
        "return u8(clamp(round((x - lo) / s), 0, 255)), s, lo", torch_quantize_asymmetric),
    Row("quantization", "quantize_blocks_32", {"x": "f32[N=31824,2048]"},
        "g = x.reshape(-1, 32)\ns = exp2(floor(log2(max(abs(g), axis=-1, keepdims=True) + 1e-30)) - 6)\n"
        "return int8(clamp(round(g / s), -127, 127)), s", torch_blocks),
    Row("quantization", "fake_quantize_odd", {"x": "f32[N=77280337]"},
        "s = max(abs(x)) / 127\nreturn clamp(round(x / s), -128, 127) * s", torch_fake),
    Row("quantization", "smooth_quantize_bf16", {"x": "bf16[N=28976,4096]", "c": "uniform:f32[4096]"},
        "x = f32(x) / (c + 0.5)\ns = max(abs(x), axis=-1, keepdims=True) / 127\nreturn int8(round(x / s)), s",
        lambda t, x, c: torch_smooth(t, x, c + 0.5)),
    Row("quantization", "dequantize_columns_odd", {"q": "i8[N=19973,7577]", "s": "f16[7577]"}, "return f16(q) * s",
        lambda t, q, s: q.half() * s),
    Row("quantization", "dequantize_groups_bf16", {"q": "i8[N=81264,4096]", "s": "bf16[N,32]"},
        "return (bf16(q).reshape(-1, 32, 128) * s[:, :, None]).reshape(-1, 4096)",
        lambda t, q, s: (q.to(t.bfloat16).reshape(-1, 32, 128) * s[:, :, None]).reshape(-1, 4096)),
    Row("quantization", "dequantize_rms", {"q": "i8[N=127056,4096]", "s": "uniform:f32[N]", "w": "f32[4096]"},
        "return rmsnorm(f32(q) * s[:, None], w)", torch_dequantize_rms),
    Row("quantization", "int4_unpack", {"q": "u8[N=124512,2048]", "s": "f32[N,32]"},
        "w = stack((f32(q & 15) - 8, f32(q >> 4) - 8), axis=-1).reshape(-1, 32, 128)\nreturn (w * s[..., None]).reshape(-1, 4096)",
        torch_unpack),
    Row("quantization", "int4_pack_odd", {"x": "f32[N=51307,2614]"},
        "q = u8(clamp(round(x * 4 + 8), 0, 15))\nreturn q[:, ::2] | (q[:, 1::2] << 4)", torch_pack),
    Row("quantization", "requantize_i32", {"x": "i32[N=23719,811]", "s": "uniform:f32[811]", "b": "i32[811]"},
        "return int8(clamp(round(f32(x + b) * s), -128, 127))", torch_requantize),
]
