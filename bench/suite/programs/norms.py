"""Normalisation over one to three axes."""

from . import Row, functional


def norm(axes, weight="", eps="1e-5"):
    return (f"m = mean(x, axis={axes}, keepdims=True)\nv = var(x, axis={axes}, keepdims=True)\n"
            f"return (x - m) * rsqrt(v + {eps}){weight}")


def torch_layernorm(t, x, w, b):
    return t.nn.functional.layer_norm(x, w.shape, w, b)


ROWS = [
    Row("norms", "rms_mid", {"x": "f32[B=32,256,4096]", "w": "f32[256]"},
        "return x * rsqrt(mean(x * x, axis=1, keepdims=True) + 1e-6) * w[:, None]",
        lambda t, x, w: x * t.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * w[:, None]),
    Row("norms", "rms_odd", {"x": "bf16[N=16384,4095]", "w": "bf16[4095]"}, "return rmsnorm(x, w)",
        lambda t, x, w: t.nn.functional.rms_norm(x, (4095,), w)),
    Row("norms", "l2norm_mid", {"x": "f32[B=64,512,1024]"}, "return x / sqrt(sum(x * x, axis=1, keepdims=True) + 1e-12)",
        lambda t, x: x / t.sqrt((x * x).sum(1, keepdim=True) + 1e-12)),
    Row("norms", "layernorm_channels", {"x": "f32[B=32,96,112,112]", "w": "f32[96]", "b": "f32[96]"},
        norm(1, " * w[:, None, None] + b[:, None, None]", "1e-6"),
        lambda t, x, w, b: (x - x.mean(1, keepdim=True)) * t.rsqrt(x.var(1, keepdim=True, unbiased=False) + 1e-6)
        * w[:, None, None] + b[:, None, None]),
    Row("norms", "layernorm_3_axes", {"x": "f32[B=64,64,56,56]", "w": "f32[64,56,56]", "b": "f32[64,56,56]"},
        norm((1, 2, 3), " * w + b"), lambda t, x, w, b: t.nn.functional.layer_norm(x, (64, 56, 56), w, b)),
    Row("norms", "groupnorm", {"x": "f32[B=32,256,64,64]", "w": "f32[256]", "b": "f32[256]"}, "return groupnorm(x, 32, w, b)",
        lambda t, x, w, b: t.nn.functional.group_norm(x, 32, w, b)),
    Row("norms", "groupnorm_odd", {"x": "f32[B=31,96,57,57]", "w": "f32[96]", "b": "f32[96]"}, "return groupnorm(x, 12, w, b)",
        lambda t, x, w, b: t.nn.functional.group_norm(x, 12, w, b)),
    Row("norms", "instancenorm", {"x": "f32[B=32,64,128,128]"}, norm((2, 3)), lambda t, x: t.nn.functional.instance_norm(x)),
    Row("norms", "batchnorm_training", {"x": "f32[B=64,128,56,56]", "w": "f32[128]", "b": "f32[128]"},
        norm((0, 2, 3), " * w[:, None, None] + b[:, None, None]"),
        lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, True)),
    Row("norms", "minus_column_mean", {"x": "f32[8192,N=4096]"}, "return x - mean(x, axis=0)", lambda t, x: x - x.mean(0)),
    Row("norms", "layernorm_bf16", {"x": "bf16[N=29056,4096]", "w": "bf16[4096]", "b": "bf16[4096]"},
        "return layernorm(x, w, b)", torch_layernorm),
    Row("norms", "layernorm_odd", {"x": "f32[N=78977,877]", "w": "f32[877]", "b": "f32[877]"}, "return layernorm(x, w, b)",
        torch_layernorm),
    Row("norms", "layernorm_96_nhwc", {"x": "f32[B=48,56,56,96]", "w": "f32[96]", "b": "f32[96]"},
        "return layernorm(x, w, b, eps=1e-6)", lambda t, x, w, b: t.nn.functional.layer_norm(x, (96,), w, b, 1e-6)),
    Row("norms", "layernorm_2_axes_odd", {"x": "f32[N=180053,23,29]"}, "return layernorm(x, axis=(1, 2))",
        lambda t, x: t.nn.functional.layer_norm(x, x.shape[1:])),
    Row("norms", "layernorm_few_long", {"x": "f32[8,N=16355293]"}, "return layernorm(x)",
        lambda t, x: t.nn.functional.layer_norm(x, x.shape[1:])),
    Row("norms", "rms_f16", {"x": "f16[N=52160,5120]", "w": "f16[5120]"}, "return rmsnorm(x, w)",
        lambda t, x, w: t.nn.functional.rms_norm(x, (5120,), w, 1e-6)),
    Row("norms", "rms_short_odd", {"x": "f32[N=1216009,79]", "w": "f32[79]"}, "return rmsnorm(x, w)",
        lambda t, x, w: t.nn.functional.rms_norm(x, w.shape, w, 1e-6)),
    Row("norms", "rms_channels_odd", {"x": "f32[B=971,71,29,43]", "g": "f32[71]"},
        "return x * rsqrt(mean(x * x, axis=1, keepdims=True) + 1e-6) * g[:, None, None]",
        lambda t, x, g: x * t.rsqrt((x * x).mean(1, keepdim=True) + 1e-6) * g[:, None, None]),
    Row("norms", "groupnorm_bf16", {"x": "bf16[B=28,320,64,64]", "w": "bf16[320]", "b": "bf16[320]"},
        "return groupnorm(x, 32, w, b)", lambda t, x, w, b: t.nn.functional.group_norm(x, 32, w, b)),
    Row("norms", "groupnorm_silu", {"x": "f32[B=44,128,128,128]", "w": "f32[128]", "b": "f32[128]"},
        "return silu(groupnorm(x, 32, w, b))", lambda t, x, w, b: t.nn.functional.silu(t.nn.functional.group_norm(x, 32, w, b))),
    Row("norms", "instancenorm_1d_odd", {"x": "f32[B=367,64,3203]"}, norm(2),
        lambda t, x: t.nn.functional.instance_norm(x)),
    Row("norms", "instancenorm_3d", {"x": "f32[B=29,32,31,53,59]"}, norm((2, 3, 4)),
        lambda t, x: t.nn.functional.instance_norm(x)),
    Row("norms", "batchnorm_inference",
        {"x": "f32[B=592,256,28,28]", "m": "f32[256]", "v": "uniform:f32[256]", "w": "f32[256]", "b": "f32[256]"}, "return batchnorm(x, m, v, w, b)",
        lambda t, x, m, v, w, b: t.nn.functional.batch_norm(x, m, v, w, b)),
    Row("norms", "batchnorm_inference_relu_odd", {"x": "f16[B=229,179,41,43]", "m": "f16[179]", "v": "uniform:f16[179]"},
        "return relu(batchnorm(x, m, v))", lambda t, x, m, v: t.relu(t.nn.functional.batch_norm(x, m, v))),
    Row("norms", "batchnorm_1d_training", {"x": "f32[N=14821,1979]", "w": "f32[1979]", "b": "f32[1979]"}, norm(0, " * w + b"),
        lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, True)),
    Row("norms", "batchnorm_nhwc_training", {"x": "f32[B=320,28,28,256]", "w": "f32[256]", "b": "f32[256]"},
        norm((0, 1, 2), " * w + b"),
        lambda t, x, w, b: t.nn.functional.batch_norm(x.permute(0, 3, 1, 2), None, None, w, b, True).permute(0, 2, 3, 1)),
    Row("norms", "weight_norm", {"v": "f32[N=56857,1213]", "g": "f32[N]"},
        "return v * (g / l2norm(v, axis=1))[:, None]", lambda t, v, g: v * (g / v.norm(dim=1))[:, None]),
    Row("norms", "l1_normalize", {"x": "f32[N=320048,144]"}, "return x / maximum(sum(abs(x), axis=1, keepdims=True), 1e-12)",
        functional("normalize", p=1)),
    Row("norms", "l2_normalize_f16_odd", {"x": "f16[N=158429,1423]"},
        "return x / maximum(l2norm(f32(x), axis=1, keepdims=True), 1e-12)",
        lambda t, x: x / t.linalg.vector_norm(x.float(), dim=1, keepdim=True).clamp_min(1e-12)),
    Row("norms", "frobenius", {"x": "f32[M=3040,8192]"}, "return x / l2norm(x)", lambda t, x: x / t.linalg.norm(x)),
    Row("norms", "frobenius_batches_odd", {"x": "f32[B=2309,191,277]"}, "return l2norm(x, axis=(1, 2))",
        lambda t, x: t.linalg.matrix_norm(x)),
    Row("norms", "standardize_rows", {"x": "f32[N=532949,61]"},
        "return (x - mean(x, axis=1, keepdims=True)) / (std(x, axis=1, ddof=1, keepdims=True) + 1e-6)",
        lambda t, x: (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-6)),
]
