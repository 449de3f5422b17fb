"""Everyone who takes part, as calls without arguments that return the results as numpy arrays when they are there. What a library cannot do
is an error that is kept as text, never the end of the run."""

import math
import os
from dataclasses import dataclass, field

import numpy
from library import NotWritten, function_of

# key: what the tables call it. `into`: results go into existing memory; `fresh`: into memory allocated by each call.
NAMES = {"smelt": "smelt", "unfused": "smelt, unfused", "copy": "copy of the same bytes", "numba": "numba", "halide": "Halide", "jax": "JAX",
         "numexpr": "numexpr", "cpp": "C++ loops", "emitted": "emitted C++", "compile": "torch.compile", "eager": "torch eager"}
EMITTED = "emitted"  # what smelt writes as C++: measured beside the peers, and none of them
PEERS = ("cpp", "numba", "halide", "jax", "numexpr", "compile", "eager")
MODULES = {"cpp": "in_cpp", "numba": "numba", "halide": "halide", "jax": "jax", "numexpr": "numexpr", "compile": "torch._dynamo", "eager": "torch"}


def limit_threads(threads):
    """Before the libraries are imported: as many threads for each as for smelt."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "HL_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"  # whose threads are those of the process' affinity
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@dataclass
class Contender:
    key: str
    memory: str  # "into", "fresh"
    call: object  # does the work, and waits for it
    results: object = None  # () -> list of numpy arrays, of the last call
    note: str = ""
    facts: dict = field(default_factory=dict)

    @property
    def name(self):
        return f"{self.key}.{self.memory}"


def aligned(shape, dtype):
    """An array that begins at a page, as those of JAX and PyTorch begin at a line of the cache. NumPy's own begin 16 bytes after one."""
    count, size = math.prod(shape), numpy.dtype(dtype).itemsize
    whole = numpy.empty(count * size + 4096, "uint8")
    skip = -whole.ctypes.data % 4096
    return whole[skip:skip + count * size].view(dtype).reshape(shape)


NUMPY_OF = {"f32": "float32", "i8": "int8", "u8": "uint8", "u16": "uint16", "i64": "int64"}


def outputs_of(workload):
    return [aligned(a.shape(workload.sizes), NUMPY_OF[a.dtype]) for a in workload.family.outputs]


def prepared(key, workload, inputs, outputs, threads):
    """The contenders of one library, `into` and `fresh` as far as it has them. They may all write into `outputs`."""
    makers = {"cpp": cpp_loops, "numba": numba_loops, "halide": halide_pipeline, "jax": jax_jit, "numexpr": numexpr_text, "compile": torch_compile, "eager": torch_eager}
    return makers[key](workload, inputs, outputs, threads)


def cpp_loops(workload, inputs, outputs, threads):
    import in_cpp

    return [Contender("cpp", "into", in_cpp.by_hand(workload, inputs, outputs, threads), lambda: outputs)]


def emitted_program(tool, text, inputs, outputs, threads):
    import in_cpp

    return [Contender(EMITTED, "into", in_cpp.emitted(tool, text, inputs, outputs, threads), lambda: outputs)]


def numba_loops(workload, inputs, outputs, threads):
    function = function_of("in_numba", workload.family)
    shapes = [(o.shape, o.dtype) for o in outputs]
    kept = tuple(outputs)
    last = []

    def into():
        function(*inputs, kept)

    def fresh():
        last[:] = []
        out = tuple([numpy.empty(shape, dtype) for shape, dtype in shapes])
        function(*inputs, out)
        last[:] = out

    return [Contender("numba", "into", into, lambda: outputs), Contender("numba", "fresh", fresh, lambda: last)]


def halide_pipeline(workload, inputs, outputs, threads):
    """Compiled here, for this processor and any size; a call runs it over the arrays."""
    define = function_of("in_halide", workload.family)
    import halide

    parameters = [halide.ImageParam(halide.Buffer(x).type(), x.ndim) for x in inputs]
    pipeline = define(*parameters)
    for parameter, x in zip(parameters, inputs):
        parameter.set(halide.Buffer(x))
    pipeline.compile_jit(halide.get_jit_target_from_environment())
    buffer, sizes = halide.Buffer(outputs[0]), outputs[0].shape[::-1]
    last = []

    def fresh():
        last[:] = []
        last[:] = [pipeline.realize(sizes)]

    return [Contender("halide", "into", lambda: pipeline.realize(buffer), lambda: outputs),
            Contender("halide", "fresh", fresh, lambda: [numpy.array(x) for x in last])]


def numexpr_text(workload, inputs, outputs, threads):
    import numexpr

    numexpr.set_num_threads(threads)
    function = function_of("in_numexpr", workload.family)
    last = []

    def fresh():
        last[:] = []
        last[:] = as_list(function(*inputs, None))

    out = [Contender("numexpr", "fresh", fresh, lambda: last)]
    if outputs[0].ndim:
        out.insert(0, Contender("numexpr", "into", lambda: function(*inputs, outputs), lambda: outputs))
    return out


def jax_jit(workload, inputs, outputs, threads):
    """`into`: an array that is donated has the memory of the result; XLA takes it when its shape and dtype are the result's."""
    import jax

    function = function_of("in_jax", workload.family)
    arrays = [jax.device_put(x) for x in inputs]
    plain = jax.jit(function)
    last = []

    def fresh():
        last[:] = []
        last[:] = as_list(jax.block_until_ready(plain(*arrays)))

    def results():
        return [numpy.asarray(x) for x in last]

    contenders = [Contender("jax", "fresh", fresh, results)]
    if not outputs[0].ndim:
        return contenders
    n = len(outputs)
    donating = jax.jit(lambda *a: function(*a[n:]), donate_argnums=tuple(range(n)), keep_unused=True)
    kept = []

    def into():
        kept[:] = as_list(jax.block_until_ready(donating(*kept, *arrays)))

    kept[:] = [jax.numpy.zeros(o.shape, o.dtype) for o in outputs]
    before = sorted(x.unsafe_buffer_pointer() for x in kept)
    into()
    into()
    if sorted(x.unsafe_buffer_pointer() for x in kept) != before:
        contenders[0].note = "takes no donated memory for this result"
        return contenders
    return [Contender("jax", "into", into, lambda: [numpy.asarray(x) for x in kept]), *contenders]


def torch_eager(workload, inputs, outputs, threads):
    import torch

    torch.set_num_threads(threads)
    function = function_of("in_torch", workload.family)
    arrays = [torch.from_numpy(x) for x in inputs]
    last = []

    def fresh():
        last[:] = []
        with torch.no_grad():
            last[:] = as_list(function(*arrays))

    return [Contender("eager", "fresh", fresh, lambda: [x.numpy() for x in last])]


def torch_compile(workload, inputs, outputs, threads):
    """`into`: copying into memory of the caller is part of what is compiled, and becomes the store of the last loop."""
    import torch

    torch.set_num_threads(threads)
    torch._dynamo.reset()  # each size is compiled by itself: shapes are static
    function = function_of("in_torch", workload.family)
    arrays = [torch.from_numpy(x) for x in inputs]
    kept = [torch.from_numpy(o) for o in outputs]
    plain = torch.compile(function, dynamic=False)

    def storing(out, arrays):
        for o, value in zip(out, as_list(function(*arrays))):
            o.copy_(value)

    compiled = torch.compile(storing, dynamic=False)
    last = []

    def fresh():
        last[:] = []
        with torch.no_grad():
            last[:] = as_list(plain(*arrays))

    def into():
        with torch.no_grad():
            compiled(kept, arrays)

    return [Contender("compile", "into", into, lambda: outputs), Contender("compile", "fresh", fresh, lambda: [x.numpy() for x in last])]


def as_list(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def copies(library, moved, threads):
    """A copy that moves as many bytes, half of them read, half written; the faster of two ways to store counts. And a read of as many."""
    half = max(64, moved // 2 // 64 * 64)
    source, target = (numpy.empty(half + 64, "uint8") for _ in range(2))
    source[:], target[:] = 1, 2
    at = [x.ctypes.data + -x.ctypes.data % 64 for x in (source, target)]
    kept = (source, target)

    def way(streaming):
        def call(kept=kept):
            library.copy(at[1], at[0], half, threads, streaming)

        return call

    whole = numpy.empty(2 * half + 64, "uint8")
    whole[:] = 3
    first = whole.ctypes.data + -whole.ctypes.data % 64

    def read(kept=whole):
        library.read(first, 2 * half, threads)

    ways = [Contender("copy", name, way(streaming)) for name, streaming in (("plain", 0), ("streaming", 1))]
    return [*ways, Contender("read", "whole", read)]


__all__ = ["Contender", "EMITTED", "NotWritten", "MODULES", "NAMES", "PEERS", "copies", "emitted_program", "limit_threads", "outputs_of", "prepared"]
