"""What is measured on a CPU, as data; workload.py (bench/common) says what a family needs besides a row here."""

from workload import Workload, chosen, family

# A step of an optimiser over tensors of one size.
LISTS = "; ".join(f"{name}: 24*{filler} f32[N]" for name, filler in (("params", "normal"), ("grads", "normal"), ("m", "normal"), ("v", "uniform")))

FAMILIES = {
    f.name: f
    for f in [
        family("quantize_int8", "int8(clamp(round(x/4.2+1.2), -128, 127))", "x: f32[N]", "i8[N]", "N"),
        family("add_mul_exp", "exp((x+y)*2)", "x: f32[N]; y: f32[N]", "f32[N]", "N"),
        family("relu_layernorm", "layernorm(relu(x))", "x: f32[B,C]", "f32[B,C]", "B"),
        family("softmax_f32", "softmax(x)", "x: f32[B,C]", "f32[B,C]", "B"),
        family("rmsnorm_f32", "x*rsqrt(mean(x*x)+1e-6)*w", "x: f32[B,C]; w: f32[C]", "f32[B,C]", "B"),
        family("cumsum", "running sums of rows", "x: f32[B,C]", "f32[B,C]", "B", tolerance=(1e-4, 1e-2)),
        family("var", "unbiased variance of rows", "x: f32[B,C]", "f32[B]", "B"),
        family("l2norm", "sqrt(sum(x*x))", "x: f32[N]", "f32", "N", sliced=False),
        family("colsum", "sum(relu(x), axis 0)", "x: f32[B,C]", "f32[C]", "B", sliced=False),
        family("chain10", "five times x=tanh(x*1.01)+0.1", "x: f32[N]", "f32[N]", "N"),
        family("poly20", "polynomial of degree ten, 20 operations", "x: f32[N]", "f32[N]", "N", tolerance=(1e-4, 1e-4)),
        family("gelu_bias", "gelu_erf(x+b)", "x: f32[B,C]; b: f32[C]", "f32[B,C]", "B"),
        family("loop2", "a=b+c; d=a*e; both", "b: f32[N]; c: f32[N]; e: f32[N]", "f32[N]; f32[N]", "N"),
        family("horizontal", "sigmoid(2x+1) of 64 arrays", "xs: 64*f32[N]", "64*f32[N]", "N", sliced=False),
        family("dropout_relu", "dropout(relu(x), 0.1)", "x: f32[N]", "f32[N]", "N"),
        family("transpose_add", "x.T+y", "x: f32[M,N]; y: f32[N,M]", "f32[N,M]", "M N", sliced=False),
        family("box_blur", "3x3 mean inside of the image, as Halide's example", "x: f32[H,W]", "f32[H-2,W-2]", "H W", sliced=False),
        family("box_blur_u16", "the same in 16 bits", "x: image u16[H,W]", "u16[H-2,W-2]", "H W", sliced=False),
        family("blur", "3x3 mean", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("blur_sobel", "3x3 mean, gradient magnitude, -0.05, relu", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("heat5", "five steps of the heat equation", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("heat", "a step of the heat equation", "x: f32[H,W]", "f32[H,W]", "H W", sliced=False),
        family("diffusion3d", "a step of 7-point diffusion", "x: f32[D,H,W]", "f32[D,H,W]", "D H", sliced=False),
        family("black_scholes", "European calls and puts", "s: price f32[N]; k: price f32[N]; t: years f32[N]",
               "f32[N]; f32[N]", "N", tolerance=(1e-5, 5e-5)),
        family("adamw", "a step of AdamW over 24 tensors", f"{LISTS}; lr: uniform f32; step: uniform f32", "; ".join(["24*f32[N]"] * 3), "N",
               sliced=False, tolerance=(1e-5, 1e-5)),
        family("nearest_centre", "the nearest of K centres to each point", "x: f32[N,D]; c: f32[K,D]", "i64[N]", "N"),
        family("image_blur", "u8 picture: normalise, 3x3 mean, u8", "x: picture u8[H,W,3]", "u8[H-2,W-2,3]", "H", sliced=False),
        family("image_half", "u8 picture: normalise, half the size by 2x2 means, u8", "x: picture u8[H,W,3]", "u8[H/2,W/2,3]", "H", sliced=False),
        # Random numbers of its own for each library: what they agree in is the mean of 16,384 paths.
        family("monte_carlo", "calls priced by 16,384 drawn paths each", "s: price f32[N]", "f32[N]", "N", tolerance=(0.1, 0.5)),
    ]
}


def workload(family_name, label, counted=True, **sizes):
    return Workload(FAMILIES[family_name], label, sizes, counted=counted)


WORKLOADS = [
    workload("quantize_int8", "50M", N=50_000_000),
    workload("add_mul_exp", "20M", N=20_000_000),
    workload("relu_layernorm", "4096x1024", B=4096, C=1024),
    workload("relu_layernorm", "65536x4096", B=65536, C=4096),
    workload("softmax_f32", "16384x4096", B=16384, C=4096),
    workload("rmsnorm_f32", "16384x4096", B=16384, C=4096),
    workload("cumsum", "8192x8192", B=8192, C=8192),
    workload("var", "16384x4096", B=16384, C=4096),
    workload("l2norm", "128M", N=128_000_000),
    workload("colsum", "65536x2048", B=65536, C=2048),
    workload("chain10", "32M", N=32_000_000),
    workload("poly20", "32M", N=32_000_000),
    workload("gelu_bias", "16384x2048", B=16384, C=2048),
    workload("loop2", "32M", N=32_000_000),
    workload("dropout_relu", "32M", N=32_000_000),
    workload("transpose_add", "8192x8192", M=8192, N=8192),
    workload("horizontal", "64x65536", N=65536),
    workload("box_blur", "4096x4096", H=4096, W=4096),
    workload("box_blur_u16", "4096x4096", H=4096, W=4096),
    workload("blur", "8192x8192", H=8192, W=8192),
    workload("blur_sobel", "8192x8192", H=8192, W=8192),
    workload("heat5", "4096x4096", H=4096, W=4096),
    workload("diffusion3d", "256^3", D=256, H=256, W=256),
    workload("black_scholes", "10M", N=10_000_000),
    workload("adamw", "24x1M", N=1_000_000),
    workload("nearest_centre", "500000x16, 32", N=500_000, K=32, D=16),
    workload("nearest_centre", "2000000x3, 8", N=2_000_000, K=8, D=3),
    workload("image_blur", "1080x1920", H=1080, W=1920),
    workload("image_half", "2160x3840", H=2160, W=3840),
    workload("heat", "4096x4096", H=4096, W=4096),
    workload("monte_carlo", "1024", N=1024),
    workload("add_mul_exp", "1000", counted=False, N=1000),
]


def selected(names):
    return chosen(WORKLOADS, names)
