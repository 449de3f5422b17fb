"""What is measured: programs and their sizes, as data.

A family is one program. It has a file workloads/<family>.smelt and a function <family> in each of exact.py (the float64
reference), in_torch.py, in_jax.py and in_cupy.py; a library without that function is left out of the family's rows.
A workload is a family at one size. To add one, add a row; to add a family, add a row here, the program and the functions.
"""

from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "workloads"
SIZE_OF = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i8": 1, "u8": 1, "bool": 1}


@dataclass(frozen=True)
class Array:
    """One input or output: `name: dtype[B,C]`, sizes being names."""

    name: str
    dtype: str
    dims: tuple
    filler: str = "normal"

    def shape(self, sizes):
        return tuple(sizes[d] for d in self.dims)


def arrays(text):
    """`x: bf16[B,C]; t: uniform i64[B]` as Arrays; a result has no name."""
    out = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        name, _, kind = item.rpartition(":")
        words = kind.split()
        dtype, _, dims = words[-1].rstrip("]").partition("[")
        out.append(Array(name.strip(), dtype, tuple(filter(None, dims.split(","))), words[0] if len(words) > 1 else "normal"))
    return tuple(out)


@dataclass(frozen=True)
class Family:
    name: str
    formula: str
    inputs: tuple
    outputs: tuple
    shrinks: tuple  # the sizes that are made smaller where a smaller array will do, as in checks
    sliced: bool  # whether rows along the first of them are independent of one another

    @property
    def program(self):
        return PROGRAMS / f"{self.name}.smelt"


@dataclass(frozen=True)
class Workload:
    family: Family
    label: str
    sizes: dict = field(hash=False)
    target_us: float = None  # cold device time to reach on an H200, where one is named
    counted: bool = True  # in the geometric means

    @property
    def name(self):
        return f"{self.family.name} {self.label}"

    def bytes_in(self, sizes=None):
        return sum(count(a, sizes or self.sizes) * SIZE_OF[a.dtype] for a in self.family.inputs)

    def bytes_out(self, sizes=None):
        return sum(count(a, sizes or self.sizes) * SIZE_OF[a.dtype] for a in self.family.outputs)

    @property
    def bytes(self):
        """Each input once, each output once."""
        return self.bytes_in() + self.bytes_out()

    @property
    def elements(self):
        return max(count(a, self.sizes) for a in self.family.inputs)

    @property
    def small(self):
        """Where the time of a call is that of launching it."""
        return self.elements <= 5_000_000

    def smaller(self, elements):
        """Sizes with at most about so many elements; the length of rows stays."""
        sizes = dict(self.sizes)
        names = self.family.shrinks
        most = max(count(a, sizes) for a in self.family.inputs)
        if most > elements:
            factor = (elements / most) ** (1 / len(names))
            for name in names:
                sizes[name] = max(3, int(sizes[name] * factor))
        return sizes


def count(array, sizes):
    n = 1
    for size in array.shape(sizes):
        n *= size
    return n


def family(name, formula, inputs, outputs, shrinks, sliced=True):
    return Family(name, formula, arrays(inputs), arrays(outputs), tuple(shrinks.split()), sliced)


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
        family("var", "unbiased variance of rows", "x: f32[B,C]", "f32[B]", "B"),
        family("cross_entropy", "mean of -log softmax at the target",
               "x: bf16[B,C]; t: uniform i64[B]", "f32", "B", sliced=False),
        family("transpose_add", "x.T+y", "x: f32[M,N]; y: f32[N,M]", "f32[N,M]", "M N", sliced=False),
    ]
}


def workload(family_name, label, target_us=None, counted=True, **sizes):
    return Workload(FAMILIES[family_name], label, sizes, target_us, counted)


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
    workload("var", "16384x4096", B=16384, C=4096),
    workload("cross_entropy", "8192x128256", B=8192, C=128256, target_us=505),
    workload("transpose_add", "16384x16384", M=16384, N=16384, counted=False),
]


def selected(names):
    """Those whose name begins with one of the names, in the order of the list; all without names."""
    if not names:
        return list(WORKLOADS)
    chosen = [w for w in WORKLOADS if any(w.name == n or w.family.name == n or w.name.startswith(n) for n in names)]
    unknown = [n for n in names if not any(w.name.startswith(n) for w in WORKLOADS)]
    if unknown:
        raise SystemExit(f"run.py: no workload is called {', '.join(unknown)}\nhelp: --list names them")
    return chosen
