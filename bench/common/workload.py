"""What a benchmark measures, as data: a family is one program, a workload is a family at one size.

A family has a file programs/<family>.smelt and a function <family> in each of exact.py (the float64 reference) and of the
libraries' files (in_torch.py, in_jax.py, ...); a library without that function is left out of the family's rows.
"""

from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
SIZE_OF = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "u16": 2, "i8": 1, "u8": 1, "bool": 1}


@dataclass(frozen=True)
class Array:
    """One input or output: `name: dtype[B,C]`, sizes being numbers, names, names less a number, or a part of them: `f32[H-2,W/2,3]`."""

    name: str
    dtype: str
    dims: tuple
    filler: str = "normal"

    def shape(self, sizes):
        return tuple(extent(d, sizes) for d in self.dims)


def extent(dim, sizes):
    if dim.isdigit():
        return int(dim)
    if "/" in dim:
        name, _, part = dim.partition("/")
        return sizes[name] // int(part)
    name, _, less = dim.partition("-")
    return sizes[name] - int(less or 0)


def arrays(text):
    """`x: bf16[B,C]; t: uniform i64[B]` as Arrays; a result has no name. `xs: 8*f32[N] + 2*f32[M]` is a list: xs[0] to xs[9]."""
    out = []
    for item in filter(None, (part.strip() for part in text.split(";"))):
        name, _, kind = item.rpartition(":")
        items = [n for piece in kind.split("+") for n in repeated(piece)]
        for i, words in enumerate(items):
            dtype, _, dims = words[-1].rstrip("]").partition("[")
            called = f"{name.strip()}[{i}]" if "*" in kind and name.strip() else name.strip()
            out.append(Array(called, dtype, tuple(filter(None, dims.split(","))), words[0] if len(words) > 1 else "normal"))
    return tuple(out)


def repeated(piece):
    times, star, kind = piece.rpartition("*")
    return [kind.split()] * (int(times) if star else 1)


@dataclass(frozen=True)
class Family:
    name: str
    formula: str
    inputs: tuple
    outputs: tuple
    shrinks: tuple  # the sizes that are made smaller where a smaller array will do, as in checks
    sliced: bool  # whether rows along the first of them are independent of one another
    tolerance: tuple = None  # relative, absolute, where that of the dtype does not fit the program: differences of large numbers

    @property
    def program(self):
        return PROGRAMS / f"{self.name}.smelt"


@dataclass(frozen=True)
class Workload:
    family: Family
    label: str
    sizes: dict = field(hash=False)
    target_us: float = None  # a time to reach on the machine at hand, where one is named
    target_hot: bool = False  # what it names is the time with what L2 holds, not the time after a flush
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


def family(name, formula, inputs, outputs, shrinks, sliced=True, tolerance=None):
    return Family(name, formula, arrays(inputs), arrays(outputs), tuple(shrinks.split()), sliced, tolerance)


def chosen(workloads, names):
    """Those whose name begins with one of the names, in the order of the list; all without names."""
    if not names:
        return list(workloads)
    unknown = [n for n in names if not any(w.name.startswith(n) for w in workloads)]
    if unknown:
        raise SystemExit(f"bench: no workload is called {', '.join(unknown)}\nhelp: --list names them")
    return [w for w in workloads if any(w.name == n or w.family.name == n or w.name.startswith(n) for n in names)]
