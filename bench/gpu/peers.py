"""The libraries that smelt is compared with. Each gives a call without arguments, how to wait for it, and its results as torch
tensors; what a library cannot do is an error that is kept as text, never the end of the run."""

import functools
import os
import time
from dataclasses import dataclass

from library import TORCH_DTYPES, first_line, function_of

# JAX would otherwise take most of the GPU's memory when it is imported.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# key: what the tables call it
NAMES = {
    "eager": "torch eager",
    "compile": "torch.compile",
    "graphs": "torch.compile, CUDA graphs",
    "autotune": "torch.compile, max-autotune",
    "jax": "JAX",
    "cupy": "CuPy",
}
LIBRARIES = {"eager": "torch", "compile": "torch._dynamo", "graphs": "torch._dynamo", "autotune": "torch._dynamo", "jax": "jax", "cupy": "cupy"}
GROUPS = {"torch": ("eager", "compile", "graphs", "autotune")}


def selected(names):
    chosen = []
    for name in names:
        chosen += GROUPS.get(name, (name,))
    unknown = [n for n in chosen if n not in NAMES]
    if unknown:
        raise SystemExit(f"bench: no peer is called {', '.join(unknown)}\nhelp: {', '.join([*GROUPS, *NAMES])}")
    return [n for n in NAMES if n in chosen]


@dataclass
class Prepared:
    call: object
    synchronize: object
    results: object  # of a call, as torch tensors
    events: bool = True  # whether CUDA events of torch's stream time it
    note: str = ""


def make_inputs(torch, workload, sizes=None, seed=1):
    """The inputs of one workload on the device, always the same."""
    generator = torch.Generator(device="cuda" if torch.cuda.is_available() else "cpu").manual_seed(seed)
    out = []
    for array in workload.family.inputs:
        shape, kind = array.shape(sizes or workload.sizes), getattr(torch, TORCH_DTYPES[array.dtype])
        if array.dtype.startswith("i"):  # as smelt's filler `uniform`
            out.append(torch.randint(0, 100, shape, generator=generator, device=generator.device, dtype=kind))
        elif array.filler == "uniform":
            out.append(torch.rand(shape, generator=generator, device=generator.device, dtype=kind))
        else:
            out.append(torch.randn(shape, generator=generator, device=generator.device, dtype=kind))
    return out


def prepare(key, torch, family, inputs):
    makers = {"eager": torch_eager, "compile": torch_compile, "graphs": torch_compile, "autotune": torch_compile,
              "jax": jax_jit, "cupy": cupy_plain}
    return makers[key](key, torch, family, inputs)


def torch_eager(key, torch, family, inputs):
    return Prepared(functools.partial(function_of("in_torch", family), *inputs), torch.cuda.synchronize, lambda out: out)


def torch_compile(key, torch, family, inputs):
    mode = {"compile": None, "graphs": "reduce-overhead", "autotune": "max-autotune-no-cudagraphs"}[key]
    torch._dynamo.reset()  # each size is compiled by itself: shapes are static
    compiled = torch.compile(function_of("in_torch", family), dynamic=False, mode=mode)
    return Prepared(functools.partial(compiled, *inputs), torch.cuda.synchronize, lambda out: out)


def jax_jit(key, torch, family, inputs):
    import jax

    arrays = [jax.dlpack.from_dlpack(x.int() if x.dtype == torch.int64 else x) for x in inputs]
    call = functools.partial(jax.jit(function_of("in_jax", family)), *arrays)
    last = []

    def launch():
        last[:] = [call()]

    def results(_):
        jax.block_until_ready(last)
        return jax.tree_util.tree_map(torch.from_dlpack, last[0])

    return Prepared(launch, lambda: jax.block_until_ready(last), results, events=False,
                    note="device time: wall time per call, back to back")


def cupy_plain(key, torch, family, inputs):
    import cupy

    function = function_of("in_cupy", family)
    arrays = [cupy.from_dlpack(x) for x in inputs]

    def results(out):
        return [torch.from_dlpack(x) for x in (out if isinstance(out, (tuple, list)) else [out])]

    prepared = Prepared(functools.partial(function, *arrays), torch.cuda.synchronize, results)
    prepared.call()  # here fuse says whether it takes the function
    prepared.note = getattr(function, "note", "")
    return prepared


def measure(key, torch, device, workload, inputs, check):
    """All figures of one library on one workload. `check`: compares its results with float64."""
    start = time.perf_counter()
    peer = prepare(key, torch, workload.family, inputs)
    out = peer.call()
    peer.synchronize()
    record = {"status": "ok", "first_call_s": time.perf_counter() - start, "note": peer.note}
    record["accuracy"] = check(peer.results(out))
    del out
    for _ in range(3):  # also the recordings of CUDA graphs
        peer.call()
    peer.synchronize()
    if peer.events:
        record["cold_us"] = device.times(peer.call, cold=True)
        record["hot_us"] = device.times(peer.call, cold=False)
        record["call_us"] = device.call_times(peer.call)
    else:
        from measure import call_times

        record["call_us"] = call_times(peer.call, peer.synchronize, device.budget_s)
        record["hot_us"] = record["call_us"]
    record["kernels"], record["kernel_names"] = attempt(lambda: device.kernels(peer.call, peer.synchronize), (None, []))
    if key in ("eager", "compile") and workload.small:
        record["graph_us"], record["graph_error"] = graph_times(torch, device, peer)
    return record


def attempt(function, otherwise):
    try:
        return function()
    except Exception:  # the profiler, which nothing depends on
        return otherwise


def graph_times(torch, device, peer):
    """The call captured once in a CUDA graph and replayed: wall time per replay."""
    try:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                peer.call()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            peer.call()
        return device.call_times(graph.replay), None
    except Exception as error:
        return None, first_line(error)
