"""smelt.bench compares functions of the same arguments, in time and in accuracy."""

from __future__ import annotations

import math
import sys
import time
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

from . import _smelt, _tree
from ._array import Array
from ._smelt import UserError

Size = Union[int, Sequence[int]]
_PERCENTILES = (50, 90, 99, 100)
_MOST_SAMPLES = 10_000
_MOST_COPIED_BYTES = 1 << 30


class Measurement(NamedTuple):
    """One function at one size. Percentiles are the 50th, the 90th, the 99th and the largest."""

    function: str
    size: str
    memory: str  # "L2": the same arguments in every call; "DRAM": arguments that the caches do not have
    samples: int
    mean_us: float
    deviation_us: float
    latency_us: tuple[float, ...]
    speedup: float  # the baseline's mean through this mean
    speedup_error: float  # from the standard errors of both means
    error: tuple[float, ...]  # relative, against the reference in float64
    kernels: Optional[int]  # None: nothing counts them


class Bench:
    """What smelt.bench() measured: `rows`, `table()`, `figure()`, `json()`."""

    def __init__(self, rows: list[Measurement]) -> None:
        self.rows = rows

    def table(self) -> str:
        """A table in Markdown."""
        head = ["size", "memory", "function", "kernels", "mean ± deviation, us", "50, 90, 99 %, largest, us", "speed-up",
                "relative error: 50, 90, 99 %, largest"]
        lines = [head, ["---", "---", "---", "---:", "---:", "---:", "---:", "---:"]]
        for r in self.rows:
            lines.append([
                r.size, r.memory, r.function, "" if r.kernels is None else str(r.kernels), f"{r.mean_us:.2f} ± {r.deviation_us:.2f}",
                ", ".join(f"{t:.2f}" for t in r.latency_us), f"{r.speedup:.2f} ± {r.speedup_error:.2f}",
                ", ".join(f"{e:.1e}" for e in r.error),
            ])
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines)

    def figure(self, path: Any = None) -> Any:
        """Speed-ups with their errors, and latencies, by matplotlib; written to `path` where there is one."""
        from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]

        places = list(dict.fromkeys((r.size, r.memory) for r in self.rows))
        names = list(dict.fromkeys(r.function for r in self.rows))
        figure: Any = Figure(figsize=(max(7.0, 1.2 * len(places) * len(names)), 7.0), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True)
        width = 0.8 / len(names)
        for i, name in enumerate(names):
            rows = [r for r in self.rows if r.function == name]
            at = [places.index((r.size, r.memory)) + (i - (len(names) - 1) / 2) * width for r in rows]
            top.bar(at, [r.speedup for r in rows], width, yerr=[r.speedup_error for r in rows], capsize=2, label=name)
            median = [r.latency_us[0] for r in rows]
            bottom.errorbar(at, median, yerr=[[0.0] * len(rows), [r.latency_us[2] - r.latency_us[0] for r in rows]], fmt="o",
                            capsize=2, label=name)
        top.axhline(1, color="gray", linewidth=0.8)
        top.set_ylabel(f"speed-up over {names[0]}")
        top.legend()
        bottom.set_yscale("log")
        bottom.set_ylabel("latency, us: median to 99 %")
        bottom.set_xticks(range(len(places)), [f"{size}\n{memory}" for size, memory in places])
        if path is not None:
            figure.savefig(path)
        return figure

    def json(self) -> str:
        """The rows as JSON."""
        import json

        return json.dumps([r._asdict() for r in self.rows], indent=1)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in self.table().splitlines()]
        rows = ["".join(f"<{tag}>{cell}</{tag}>" for cell in line) for tag, line in
                [("th", lines[0]), *(("td", line) for line in lines[2:])]]
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def bench(
    functions: Mapping[str, Callable[..., Any]],
    sizes: Sequence[Size],
    *,
    batch: Sequence[int] = (),
    memory: Sequence[str] = ("L2", "DRAM"),
    dtype: str = "float32",
    device: str = "cpu",
    inputs: Optional[Callable[[tuple[int, ...]], Sequence[Any]]] = None,
    reference: Optional[Callable[..., Any]] = None,
    seconds: float = 0.2,
) -> Bench:
    """Compares functions of the same arguments; speedups are over the first, the baseline.

    sizes: shapes of the arguments, (1024, 256) or 1024.
    batch: sizes of an axis in front of each shape, (1, 32, 1024).
    memory: "L2" calls with the same arguments each time, left out where they and the results do not fit in the L2 cache;
        "DRAM" takes turns among copies of the arguments, so many that no cache has the next one.
    dtype, device: of the arguments, which are numbers from 0 to 1; tensors of torch for device="cuda".
    inputs: gives the arguments for a shape; then dtype and device are not used.
    reference: what errors are relative to, called with arguments in float64; without it, the baseline.
    seconds: the least time for each function at each size; functions take turns, call by call.
    """
    if not functions:
        raise UserError("bench: no functions\nhelp: pass a dict of them by their names, the baseline first")
    for name, function in functions.items():
        if not callable(function):
            raise UserError(f"bench: {name!r} is {type(function).__qualname__}, not a function")
    for scenario in memory:
        if scenario not in ("L2", "DRAM"):
            raise UserError(f'bench: no memory {scenario!r}\nhelp: "L2" and "DRAM" are')
    baseline = next(iter(functions.values()))
    make = inputs or _random_inputs(baseline, dtype, device)
    rows: list[Measurement] = []
    for shape in _shapes(sizes, batch):
        arguments = _finished(tuple(make(shape)))
        results = {name: _finished(f(*arguments)) for name, f in functions.items()}
        wanted = _leaves((reference or baseline)(*_in_float64(arguments)))
        errors = {name: _errors(_leaves(result), wanted) for name, result in results.items()}
        kernels = {name: _kernels(f, arguments) for name, f in functions.items()}
        moved = sum(x.nbytes for x in _arrays(arguments) + _arrays(results[next(iter(functions))]))
        l2, last = _caches(arguments)
        for scenario in memory:
            if scenario == "L2" and moved > l2:
                continue
            copies = 1 if scenario == "L2" else _copies_beyond(last, moved)
            turns = [arguments, *(_copied(arguments) for _ in range(copies - 1))]
            if copies == _MOST_SAMPLES:  # as many as there are calls, and the caches may still have them
                _fill_caches(last, arguments)
            times = _take_turns(functions, turns, seconds)
            rows += _measurements(times, "x".join(map(str, shape)) or "()", scenario, errors, kernels)
    return Bench(rows)


def _shapes(sizes: Sequence[Size], batch: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in sizes:
        shape = (size,) if isinstance(size, int) else tuple(size)
        if any(n < 0 for n in shape):
            raise UserError(f"bench: no array has the shape {shape}\nhelp: sizes are 0 or more")
        yield from ((n, *shape) for n in batch) if batch else (shape,)


def _random_inputs(function: Callable[..., Any], dtype: str, device: str) -> Callable[[tuple[int, ...]], Sequence[Any]]:
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UserError("bench: how many arguments the baseline takes is not known\nhelp: pass inputs=") from None
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)

    def make(shape: tuple[int, ...]) -> Sequence[Any]:
        if device != "cpu":
            import torch

            generator = torch.Generator(device).manual_seed(0)
            kind = getattr(torch, dtype)
            return [torch.rand(shape, generator=generator, device=device).to(kind) for _ in range(count)]
        import numpy

        random = numpy.random.default_rng(0)
        return [random.random(shape).astype(dtype) for _ in range(count)]

    return make


# ---- arrays of any library


def _is_array(x: Any) -> bool:
    return isinstance(x, Array) or _tree.is_foreign_array(x)


def _arrays(tree: Any) -> list[Any]:
    leaves, _ = _tree.flatten(tree, lambda x: _is_array(x) or isinstance(x, (bool, int, float)))
    return [x for x in leaves if _is_array(x)]


def _leaves(tree: Any) -> list[Any]:
    """The arrays of results in float64 on the CPU."""
    import numpy

    found = []
    for x in _arrays(_finished(tree)):
        x = x.detach().double().cpu() if type(x).__module__.split(".")[0] == "torch" else x
        found.append(numpy.asarray(x.get() if type(x).__module__.split(".")[0] == "cupy" else x).astype("float64"))
    return found


def _finished(results: Any) -> Any:
    """The results, once they are calculated."""
    waited = False
    for x in [results] if _is_array(results) else _arrays(results):
        if isinstance(x, Array):
            _smelt.eval([x])
        elif hasattr(x, "block_until_ready"):
            x.block_until_ready()
        elif getattr(x, "is_cuda", False) and not waited:
            sys.modules["torch"].cuda.synchronize()
            waited = True
        elif type(x).__module__.split(".")[0] == "cupy" and not waited:
            sys.modules["cupy"].cuda.runtime.deviceSynchronize()
            waited = True
    return results


def _in_float64(arguments: Sequence[Any]) -> Any:
    def wide(x: Any) -> Any:
        if not _is_array(x):
            return x
        if hasattr(x, "is_floating_point"):
            return x.double() if x.is_floating_point() else x
        floating = getattr(x.dtype, "kind", "") in ("f", "float")
        return x.astype(_smelt.float64 if isinstance(x, Array) else "float64") if floating else x

    leaves, structure = _tree.flatten(tuple(arguments), lambda x: _is_array(x) or isinstance(x, (bool, int, float)))
    return _tree.unflatten(structure, iter([wide(x) for x in leaves]))


def _copied(arguments: Sequence[Any]) -> Any:
    def copy(x: Any) -> Any:
        if not _is_array(x):
            return x
        if isinstance(x, Array):
            return x.contiguous()
        return x.clone() if hasattr(x, "clone") else x.copy()

    leaves, structure = _tree.flatten(tuple(arguments), lambda x: _is_array(x) or isinstance(x, (bool, int, float)))
    return _tree.unflatten(structure, iter([copy(x) for x in leaves]))


def _errors(got: list[Any], wanted: list[Any]) -> tuple[float, ...]:
    """Percentiles of |got - wanted| / |wanted|; a nan where only one of both is one counts as an infinite error."""
    import numpy

    parts = [numpy.zeros(0)]
    for g, w in zip(got, wanted, strict=True):
        with numpy.errstate(all="ignore"):
            error = numpy.abs(g - w) / numpy.maximum(numpy.abs(w), numpy.finfo("float32").tiny)
        error = numpy.where((g == w) | (numpy.isnan(g) & numpy.isnan(w)), 0.0, error)
        parts.append(numpy.where(numpy.isnan(error), numpy.inf, error).ravel())
    every = numpy.sort(numpy.concatenate(parts))
    if every.size == 0:
        return (0.0,) * len(_PERCENTILES)
    return tuple(float(every[_place(p, every.size)]) for p in _PERCENTILES)


def _place(percent: int, count: int) -> int:
    # The nearest rank: always a value that occurred, so that an infinite one stays out of the others.
    return max(math.ceil(percent / 100 * count), 1) - 1


# ---- kernels and caches


def _kernels(function: Callable[..., Any], arguments: Sequence[Any]) -> Optional[int]:
    if any(getattr(x, "is_cuda", False) for x in _arrays(tuple(arguments))):
        import torch
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            function(*arguments)
            torch.cuda.synchronize()
        device = torch.autograd.DeviceType.CUDA
        return int(sum(e.device_type == device and not e.name.startswith(("Memcpy", "Memset")) for e in profiler.events()))
    explain = getattr(function, "explain", None)
    return None if explain is None else int(explain(*arguments).kernels)


def _caches(arguments: Sequence[Any]) -> tuple[int, int]:
    """Bytes of the L2 cache and of the last one, of the device of the arguments."""
    for x in _arrays(tuple(arguments)):
        if getattr(x, "is_cuda", False):
            l2 = sys.modules["torch"].cuda.get_device_properties(x.device).L2_cache_size
            return l2, l2
    sizes = {2: 1 << 20}
    for i in range(8):
        try:
            folder = f"/sys/devices/system/cpu/cpu0/cache/index{i}/"
            with open(folder + "level") as level, open(folder + "size") as size:
                sizes[int(level.read())] = int(size.read().strip().rstrip("K")) << 10
        except (OSError, ValueError):
            continue
    return sizes[2], sizes[max(sizes)] if max(sizes) > 2 else 32 << 20


def _copies_beyond(cache: int, moved: int) -> int:
    return min(max(1, math.ceil(min(2 * cache, _MOST_COPIED_BYTES) / max(moved, 1))), _MOST_SAMPLES)


def _fill_caches(cache: int, arguments: Sequence[Any]) -> None:
    for x in _arrays(tuple(arguments)):
        if getattr(x, "is_cuda", False):
            torch = sys.modules["torch"]
            torch.ones(2 * cache, dtype=torch.uint8, device=x.device)
            return
    bytearray(b"\x01") * (2 * cache)


# ---- time


def _take_turns(functions: Mapping[str, Callable[..., Any]], turns: list[Any], seconds: float) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in functions}
    spent = 0.0
    call = 0
    while (spent < seconds * len(functions) or call < 3) and call < _MOST_SAMPLES:
        for i, (name, function) in enumerate(functions.items()):
            # Each function starts elsewhere: what one has just read is not what the next one reads.
            arguments = turns[(call + i * len(turns) // len(functions)) % len(turns)]
            start = time.perf_counter()
            _finished(function(*arguments))
            took = time.perf_counter() - start
            times[name].append(took * 1e6)
            spent += took
        call += 1
    return times


def _measurements(
    times: dict[str, list[float]], size: str, memory: str, errors: dict[str, tuple[float, ...]], kernels: dict[str, Optional[int]]
) -> list[Measurement]:
    rows: list[Measurement] = []
    base: Optional[tuple[float, float]] = None
    for name, taken in times.items():
        n = len(taken)
        ordered = sorted(taken)
        mean = math.fsum(taken) / n
        deviation = math.sqrt(math.fsum((t - mean) ** 2 for t in taken) / (n - 1))
        relative = deviation / mean / math.sqrt(n)  # of the mean, its standard error
        base = base or (mean, relative)
        speedup = base[0] / mean
        rows.append(Measurement(
            name, size, memory, n, mean, deviation, tuple(ordered[_place(p, n)] for p in _PERCENTILES), speedup,
            speedup * math.hypot(base[1], relative) if rows else 0.0, errors[name], kernels[name],
        ))
    return rows
