"""What is measured: programs and their sizes, as data.

A family has a program in ../common/programs and a function <family> in each of exact.py (the float64 reference), in_torch.py, in_jax.py
and in_cupy.py; a library without that function is left out of the family's rows. To add a workload, add a row; to add a family, add a
row here, the program and the functions.
"""

from workload import SIZE_OF, Workload, chosen, count, family  # noqa: F401

# Sizes as networks have them: biases and norms, small and large matrices, and some that are no multiple of anything.
ADAMW = "200*{0} f32[C] + 200*{0} f32[A,C] + 90*{0} f32[A,D] + 10*{0} f32[E,F]"

FAMILIES = {
    f.name: f
    for f in [
        family("quantize_int8", "int8(clamp(round(x/4.2+1.2), -128, 127))", "x: f32[N]", "i8[N]", "N"),
        family("add_mul_exp", "exp((x+y)*2)", "x: f32[N]; y: f32[N]", "f32[N]", "N"),
        family("relu_layernorm", "layernorm(relu(x))", "x: f32[B,C]", "f32[B,C]", "B"),
        family("relu_bn_add_relu", "relu(relu(x)*s[c]+b[c] + r)",
               "x: f32[N,C,H,W]; s: f32[C]; b: f32[C]; r: f32[N,C,H,W]", "f32[N,C,H,W]", "N"),
        family("l2norm", "sqrt(sum(x*x))", "x: f32[N]", "f32", "N", sliced=False),
        family("softmax_bf16", "softmax(x)", "x: bf16[B,C]", "bf16[B,C]", "B"),
        family("softmax_f32", "softmax(x)", "x: f32[B,C]", "f32[B,C]", "B"),
        family("rmsnorm", "x*rsqrt(mean(x*x)+1e-6)*w", "x: bf16[B,C]; w: bf16[C]", "bf16[B,C]", "B"),
        family("add_layernorm", "h=x+r; layernorm(h)*w+b; both",
               "x: bf16[B,C]; r: bf16[B,C]; w: bf16[C]; b: bf16[C]", "bf16[B,C]; bf16[B,C]", "B"),
        family("swiglu", "silu(a)*b", "a: bf16[B,C]; b: bf16[B,C]", "bf16[B,C]", "B"),
        family("bias_gelu", "gelu_erf(x+b)", "x: bf16[B,C]; b: bf16[C]", "bf16[B,C]", "B"),
        family("loop2", "a=b+c; d=a*e; both", "b: f32[N]; c: f32[N]; e: f32[N]", "f32[N]; f32[N]", "N"),
        family("chain10", "five times x=tanh(x*1.01)+0.1", "x: f32[N]", "f32[N]", "N"),
        family("colsum", "sum(relu(x), axis 0)", "x: f32[B,C]", "f32[C]", "B", sliced=False),
        family("cumsum", "running sums of rows", "x: f32[B,C]", "f32[B,C]", "B", tolerance=(1e-4, 1e-2)),
        family("var", "unbiased variance of rows", "x: f32[B,C]", "f32[B]", "B"),
        family("cross_entropy", "mean of -log softmax at the target",
               "x: bf16[B,C]; t: uniform i64[B]", "f32", "B", sliced=False),
        family("horizontal", "sigmoid(2x+1) of 64 arrays", "xs: 64*f32[N]", "64*f32[N]", "N", sliced=False),
        family("adamw", "a step of AdamW over 500 tensors", "; ".join(f"{name}: {ADAMW.format(filler)}" for name, filler in (
            ("params", "normal"), ("grads", "normal"), ("m", "normal"), ("v", "uniform"))) + "; lr: uniform f32; step: uniform f32",
               "; ".join([ADAMW.format("normal")] * 3), "A", sliced=False, tolerance=(1e-5, 1e-5)),
        family("dropout_relu", "dropout(relu(x), 0.1)", "x: f32[N]", "f32[N]", "N"),
        family("transpose_add", "x.T+y", "x: f32[M,N]; y: f32[N,M]", "f32[N,M]", "M N", sliced=False),
        family("blur_sobel", "3x3 mean, gradient magnitude, -0.05, relu", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("heat5", "five steps of the heat equation", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("diffusion3d", "a step of 7-point diffusion", "x: f32[D,H,W]", "f32[D,H,W]", "D H", sliced=False),
    ]
}


def workload(family_name, label, target_us=None, target_hot=False, counted=True, **sizes):
    return Workload(FAMILIES[family_name], label, sizes, target_us, target_hot, counted)


WORKLOADS = [
    workload("quantize_int8", "500K", N=500_000),
    workload("quantize_int8", "1M", N=1_000_000),
    workload("quantize_int8", "5M", N=5_000_000),
    workload("quantize_int8", "10M", N=10_000_000),
    workload("quantize_int8", "50M", N=50_000_000),
    workload("quantize_int8", "500M", N=500_000_000),
    workload("add_mul_exp", "100K", N=100_000),
    workload("add_mul_exp", "300K", N=300_000),
    workload("add_mul_exp", "1M", N=1_000_000),
    workload("add_mul_exp", "5M", N=5_000_000),
    workload("add_mul_exp", "20M", N=20_000_000),
    workload("add_mul_exp", "200M", N=200_000_000),
    workload("relu_layernorm", "4096x1024", B=4096, C=1024),
    workload("relu_layernorm", "16384x4096", B=16384, C=4096),
    workload("relu_layernorm", "65536x8192", B=65536, C=8192),
    workload("relu_layernorm", "256x131072", B=256, C=131072, target_us=78),
    workload("relu_layernorm", "1048576x128", B=1048576, C=128),
    workload("relu_bn_add_relu", "64x256x56x56", N=64, C=256, H=56, W=56),
    workload("l2norm", "2^28", N=2**28),
    workload("softmax_bf16", "16384x4096", B=16384, C=4096, target_us=70),
    workload("softmax_f32", "4096x50257", B=4096, C=50257, target_us=430),
    workload("rmsnorm", "16384x4096", B=16384, C=4096, target_us=71),
    workload("add_layernorm", "16384x4096", B=16384, C=4096, target_us=135),
    workload("swiglu", "16384x11008", B=16384, C=11008),
    workload("bias_gelu", "16384x16384", B=16384, C=16384, target_us=285),
    workload("loop2", "2^26", N=2**26),
    workload("chain10", "2^27", N=2**27, target_us=360),
    workload("colsum", "65536x4096", B=65536, C=4096),
    workload("cumsum", "32768x32768", B=32768, C=32768),
    workload("var", "16384x4096", B=16384, C=4096),
    workload("cross_entropy", "8192x128256", B=8192, C=128256, target_us=505),
    workload("horizontal", "64x65536", N=65536, target_us=8, target_hot=True),
    workload("adamw", "500 tensors", A=768, C=256, D=1024, E=333, F=1001),
    workload("dropout_relu", "2^27", N=2**27),
    workload("transpose_add", "16384x16384", M=16384, N=16384, counted=False),
    workload("blur_sobel", "8192x8192", H=8192, W=8192, target_us=167),
    workload("heat5", "4096x4096", H=4096, W=4096),
    workload("diffusion3d", "256^3", D=256, H=256, W=256),
]


def selected(names):
    return chosen(WORKLOADS, names)
