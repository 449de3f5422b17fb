"""Ordinary array programs that nobody tuned smelt for, as smelt's text and as functions of torch.

Families weigh equally in every mean. A family is a module here, or one of the few of a module."""

import importlib
import math
import re
from dataclasses import dataclass
from typing import Callable

from workload import SIZE_OF



@dataclass(frozen=True)
class Array:
    filler: str  # of `smelt bench -i`, "" for its default, or "below=N": integers from 0 to N - 1, which the driver draws
    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self):
        return math.prod(self.shape) * SIZE_OF[self.dtype]

    @property
    def type(self):
        return f"{self.dtype}[{','.join(map(str, self.shape))}]" if self.shape else self.dtype


def smaller(n):
    """An eighth less. Above 64 the remainder by 16 stays: what was aligned stays aligned, odd stays odd."""
    step = 16 if n > 64 else 1
    return max(2, n - step * math.ceil(n / 8 / step))


@dataclass(frozen=True)
class Row:
    family: str
    name: str
    # name -> "f32[B=4096,1024]": an extent with a name may shrink, and is the same wherever the name
    # occurs. A filler precedes the type, "uniform:f32[B]". With "+" between arrays the input is a list.
    inputs: dict[str, str]
    text: str  # what follows the inputs
    torch: Callable  # (torch, *inputs) -> what the program returns

    def arrays(self, limit=None):
        """name -> Array, or a list of them. Named extents shrink, the largest first, until the arrays that
        have one, and f32 over all of them (pairs of points), hold at most `limit` bytes."""
        sizes = {name: int(n) for spec in self.inputs.values() for name, n in re.findall(r"(\w+)=(\d+)[,\]]", spec)}
        fixed = total_bytes({name: read(spec, dict.fromkeys(sizes, 0)) for name, spec in self.inputs.items()})
        while True:
            arrays = {name: read(spec, sizes) for name, spec in self.inputs.items()}
            largest = max(sizes, key=sizes.get, default=None)
            size = max(total_bytes(arrays) - fixed, 4 * math.prod(sizes.values()))
            if limit is None or largest is None or sizes[largest] <= 2 or size <= limit:
                return arrays
            sizes[largest] = smaller(sizes[largest])

    def program(self, arrays):
        types = {name: f"list[{a[0].dtype}[...]]" if isinstance(a, list) else a.type for name, a in arrays.items()}
        return "".join(f"input {name}: {kind}\n" for name, kind in types.items()) + self.text + "\n"


def read(spec, sizes):
    found = []
    for filler, dtype, extents in re.findall(r"(?:([\w=]+):)?(\w+)(?:\[([^]]*)\])?", spec):
        names = [e.partition("=")[0].strip() for e in extents.split(",") if e]
        found.append(Array(filler, dtype, tuple(sizes[n] if n in sizes else int(n) for n in names)))
    return found if len(found) > 1 else found[0]


def total_bytes(arrays):
    return sum(a.bytes for item in arrays.values() for a in (item if isinstance(item, list) else [item]))


def functional(name, **options):
    """A function of torch.nn.functional with these options, as a row takes it."""
    return lambda t, *arrays, **more: getattr(t.nn.functional, name)(*arrays, **options, **more)


MODULES = ("activations", "elementwise", "softmax", "losses", "norms", "gradients", "reductions", "scans", "windows", "stencils",
           "images", "transformers", "products", "quantization", "optimizers", "layout", "pairs", "science", "statistics")

UNSEEN_MODULES = ("image", "audio", "physics", "finance", "statistics", "transformer", "losses", "training", "geometry", "vision", "bits",
                  "tables", "geoscience", "serving", "tuning", "networks", "pictures", "solvers", "frames", "text", "tutorials",
                  "layers", "matrices", "graphs", "sequences", "classics", "genome", "earth", "shading",
                  "simulation", "signals")


def rows_of(modules, package):
    return [row for module in modules for row in importlib.import_module(f".{module}", package).ROWS]


ROWS = rows_of(MODULES, __name__)
UNSEEN = rows_of(UNSEEN_MODULES, f"{__name__}.unseen")
SETS = {"suite": ROWS, "unseen": UNSEEN}
assert len({row.name for row in ROWS + UNSEEN}) == len(ROWS) + len(UNSEEN), "two rows have one name"
