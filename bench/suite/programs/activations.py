"""Activations of torch.nn, forward and backward."""

from . import Row, functional


def torch_gelu_backward(t, x, g):
    cdf = 0.5 * (1 + t.erf(x * 0.7071067811865476))
    return g * (cdf + x * 0.3989422804014327 * t.exp(-0.5 * x * x))


def torch_silu_backward(t, x, g):
    s = t.sigmoid(x)
    return g * s * (1 + x * (1 - s))


ROWS = [
    Row("activations", "mish", {"x": "f32[N=50331648]"}, "return mish(x)", lambda t, x: t.nn.functional.mish(x)),
    Row("activations", "gelu_bf16", {"x": "bf16[N=67108864]"}, "return gelu(x)", lambda t, x: t.nn.functional.gelu(x)),
    Row("activations", "elu", {"x": "f32[N=20528,1024]"}, "return elu(x)", functional("elu")),
    Row("activations", "hardshrink_odd", {"x": "f32[N=19117927]"}, "return where(abs(x) > 0.5, x, 0)", functional("hardshrink")),
    Row("activations", "hardsigmoid_bf16", {"x": "bf16[N=196775664]"}, "return clamp(x / 6 + 0.5, 0, 1)",
        functional("hardsigmoid")),
    Row("activations", "hardtanh", {"x": "f32[N=14186688,8]"}, "return clamp(x, -1, 1)", functional("hardtanh")),
    Row("activations", "hardswish_f16", {"x": "f16[N=256,64,56,56]"}, "return hardswish(x)", functional("hardswish")),
    Row("activations", "leaky_relu_odd", {"x": "f32[N=89959,439]"}, "return leaky_relu(x, 0.2)",
        functional("leaky_relu", negative_slope=0.2)),
    Row("activations", "log_sigmoid", {"x": "f32[N=83855312]"}, "return minimum(x, 0) - log1p(exp(-abs(x)))",
        functional("logsigmoid")),
    Row("activations", "prelu_channels", {"x": "f32[B=89,181,59,59]", "a": "f32[181]"},
        "return where(x >= 0, x, a[:, None, None] * x)", functional("prelu")),
    Row("activations", "relu6_bf16_odd", {"x": "bf16[N=169339,1297]"}, "return clamp(x, 0, 6)", functional("relu6")),
    Row("activations", "selu", {"x": "f32[N=128430368]"},
        "return 1.0507009873554805 * where(x > 0, x, 1.6732632423543772 * expm1(x))", functional("selu")),
    Row("activations", "celu_odd", {"x": "f32[N=26517233]"}, "return maximum(x, 0) + minimum(1.5 * expm1(x / 1.5), 0)",
        functional("celu", alpha=1.5)),
    Row("activations", "gelu_tanh_f16_odd", {"x": "f16[N=164471,1049]"}, "return gelu(x, approximate='tanh')",
        functional("gelu", approximate="tanh")),
    Row("activations", "softplus_bf16", {"x": "bf16[N=22,2000000]"}, "return softplus(x)", functional("softplus")),
    Row("activations", "softshrink", {"x": "f32[N=62253040]"}, "return where(x > 0.5, x - 0.5, where(x < -0.5, x + 0.5, 0))",
        functional("softshrink")),
    Row("activations", "softsign_f16", {"x": "f16[N=113155664]"}, "return x / (1 + abs(x))", functional("softsign")),
    Row("activations", "tanhshrink_odd", {"x": "f32[N=521551,107]"}, "return x - tanh(x)", functional("tanhshrink")),
    Row("activations", "threshold", {"x": "f32[N=43416128]"}, "return where(x > 0.1, x, 20)",
        functional("threshold", threshold=0.1, value=20)),
    Row("activations", "glu_odd", {"x": "f32[N=27329,2246]"}, "return x[:, :1123] * sigmoid(x[:, 1123:])", functional("glu")),
    Row("activations", "tanh_bias_bf16", {"x": "bf16[N=351632,624]", "b": "bf16[624]"}, "return tanh(x + b)",
        lambda t, x, b: t.tanh(x + b)),
    Row("activations", "gelu_backward", {"x": "f32[N=7440,4096]", "g": "f32[N,4096]"},
        "cdf = 0.5 * (1 + erf(x * 0.7071067811865476))\nreturn g * (cdf + x * 0.3989422804014327 * exp(-0.5 * x * x))",
        torch_gelu_backward),
    Row("activations", "silu_backward_odd", {"x": "f32[N=28751,373]", "g": "f32[N,373]"},
        "s = sigmoid(x)\nreturn g * s * (1 + x * (1 - s))", torch_silu_backward),
    Row("activations", "tanh_backward_f16", {"y": "f16[N=78591200]", "g": "f16[N]"}, "return g * (1 - y * y)",
        lambda t, y, g: g * (1 - y * y)),
]
