"""Measures smelt and its peers on this CPU, in turns, and writes results.json, a Markdown page and pictures. bench/README.md says how."""

import collections
import gc
import json
import os
import signal
import sys
import time
from pathlib import Path

import ahead
import report
import session
import workloads
from library import NotWritten
from session import say

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
SHORTEST_S = 1.5  # that a workload is measured, also where the time is short


def arguments():
    parser = session.parser(__doc__, out=Path("bench-cpu"), peers="cpp,emitted,numba,halide,jax,numexpr,compile,eager", budget=600)
    parser.add_argument("--library", type=Path, default=Path("build/release/bench/libsmelt_bench.so"), help="smelt for this benchmark")
    parser.add_argument("--smelt", type=Path, default=Path("build/release/smelt"), help="the tool, which emits C++ for the peer `emitted`")
    parser.add_argument("--threads", type=int, default=0, help="of smelt and of every peer (all that the process may use)")
    parser.add_argument("--seconds", type=float, default=6, help="for the measurements of one workload, at most; compiling not included")
    parser.add_argument("--rounds", type=int, default=15, help="at most, for one workload")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: for one thread on a machine that others use too")
    parser.add_argument("--turn", type=float, default=0.02, help="seconds of one contender's turn")
    parser.add_argument("--peer-limit", type=float, default=30, help="seconds to compile one peer on one workload")
    parser.add_argument("--warm", action="store_true", help="only let torch.compile and numba fill their caches on disk, for all workloads at once")
    parser.add_argument("--warm-one", action="store_true", help=session.HIDDEN)
    options = parser.parse_args()
    options.threads = options.threads or len(os.sched_getaffinity(0))
    if options.quick:
        options.seconds, options.rounds, options.turn = min(options.seconds, 1), 3, min(options.turn, 0.005)
    return options


def machine(library, options):
    pages = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return {
        **library.facts(), **session.host(), "threads": options.threads,
        "huge_pages": pages.read_text().partition("[")[2].partition("]")[0] if pages.exists() else "",
        "versions": session.versions(("numpy", "numba", "halide", "jax", "jaxlib", "numexpr", "torch")),
        "seconds_each": options.seconds, "rounds": options.rounds, "turn_s": options.turn, "clock": options.clock,
    }


def make_inputs(numpy, contenders, workload):
    """A block of random numbers again and again: what is in the arrays does not matter to the time, but making 10^8 numbers does."""
    random = numpy.random.default_rng(7)
    out = []
    for array in workload.family.inputs:
        shape = array.shape(workload.sizes)
        n = 1
        for size in shape:
            n *= size
        size = min(n, (1 << 20) + 7)
        if array.filler == "price":
            block = random.uniform(10, 50, size)
        elif array.filler == "years":
            block = random.uniform(0.1, 2, size)
        elif array.filler == "uniform":
            block = random.random(size, "float32")
        elif array.filler == "picture":
            block = random.integers(0, 256, size, "uint8")
        elif array.filler == "image":
            block = random.integers(0, 4096, size, "uint16")
        else:
            block = random.standard_normal(size, dtype="float32")
        values = contenders.aligned((n,), contenders.NUMPY_OF[array.dtype])
        for at in range(0, n, size):
            values[at:at + size] = block[:min(size, n - at)]
        out.append(values.reshape(shape))
    return out


def with_sizes(workload):
    """The program with the sizes of this workload in its types: every library compiles for them."""
    text = workload.family.program.read_text()
    counts = collections.Counter(a.name.partition("[")[0] for a in workload.family.inputs)
    for array in workload.family.inputs:
        dims = ",".join(map(str, array.shape(workload.sizes)))
        text = text.replace(f"input {array.name}: {array.dtype}[...]", f"input {array.name}: {array.dtype}[{dims}]")
        if array.name.endswith("[0]"):  # a list of arrays of one shape
            name = array.name.partition("[")[0]
            text = text.replace(f"input {name}: list[{array.dtype}[...]]", f"input {name}: list[{array.dtype}[{dims}], {counts[name]}]")
    return text


class Session(session.Results):
    def __init__(self, options):
        import contenders
        import smelt_library

        super().__init__(options.out)
        self.options, self.contenders, self.smelt = options, contenders, smelt_library
        self.library = smelt_library.Library(options.library)
        self.data["machine"] = machine(self.library, options)
        if options.shrink:
            self.data["machine"]["shrunk"] = options.shrink
        unknown = [p for p in options.peers if p not in (*contenders.PEERS, contenders.EMITTED)]
        if unknown:
            raise SystemExit(f"bench: no peer is called {', '.join(unknown)}\nhelp: {', '.join((*contenders.PEERS, contenders.EMITTED))}")
        self.peers, self.data["missing"] = session.imported({p: contenders.MODULES[p] for p in options.peers if p in contenders.MODULES})

    def finish(self, quiet=False):
        """What there is so far, and the page of it."""
        self.data["seconds"] = self.seconds()
        self.save()
        report.write(self.data, self.options.out, self.options.page, quiet)

    def measure(self, workload, share):
        """`share`: seconds that it may take in all, what it compiles among them."""
        import accuracy
        import interleave
        import numpy

        options, contenders, start = self.options, self.contenders, time.monotonic()
        record = {"status": {}, "accuracy": {}, "notes": {}, "times": {}, "bytes": workload.bytes}
        inputs = make_inputs(numpy, self.contenders, workload)
        outputs = contenders.outputs_of(workload)
        taking = self.smelt_sides(workload, inputs, outputs, record)
        for key in self.peers:
            taking += self.guarded(key, record, lambda: contenders.prepared(key, workload, inputs, outputs, options.threads))
        if contenders.EMITTED in options.peers:
            taking += self.guarded(contenders.EMITTED, record,
                                   lambda: contenders.emitted_program(options.smelt, with_sizes(workload), inputs, outputs, options.threads))
        exact = sampled_reference(numpy, accuracy, workload, inputs)
        right = []
        for c in taking:
            right += self.guarded(c.name, record, lambda: self.checked(numpy, accuracy, workload, c, outputs, exact, record))
        copies = contenders.copies(self.library, workload.bytes, options.threads)
        ready = time.monotonic()
        turns = interleave.Turns([*copies, *right], options.turn, CLOCKS[options.clock])
        record["rounds"] = turns.run(min(options.seconds, max(SHORTEST_S, share - (ready - start))), options.rounds)
        record["times"] = interleave.figures(turns.readings)
        record["prepared_s"], record["measured_s"] = ready - start, time.monotonic() - ready
        self.data["workloads"][workload.name] = record
        self.finish(quiet=True)
        say(report.short(workload, record))

    def smelt_sides(self, workload, inputs, outputs, record):
        contenders, text = [], with_sizes(workload)
        for key, fuse in (("smelt", True), ("unfused", False)):
            def opened(key=key, fuse=fuse):
                program = self.smelt.Program(self.library, text, inputs, outputs, self.options.threads, fuse)
                record[key] = {"kernels": program.kernels, "compile_ms": program.compile_ms, "bytes": program.bytes}
                into = self.contenders.Contender(key, "into", program.into(), lambda: outputs)
                # The fresh results of smelt are freed after the call: those of `into` are what is checked.
                return [into, self.contenders.Contender(key, "fresh", program.fresh())] if fuse else [into]

            contenders += self.guarded(key, record, opened)
        return contenders

    def guarded(self, name, record, function):
        """What the function gives, or nothing, the reason kept."""
        try:
            found, error = session.attempt(self.options.peer_limit, name, function, (self.smelt.Failed,))
        except NotWritten:
            return []
        if error:
            record["status"][name] = error
            say(f"    {name}: {error}")
        return found or []

    def checked(self, numpy, accuracy, workload, contender, outputs, exact, record):
        """The contender as a list, when its results are right."""
        for o in outputs:
            o[...] = 77  # nobody's results are those of the one before
        contender.call()
        if contender.note:
            record["notes"][contender.name] = contender.note
        if contender.results is None:
            return [contender]
        result = accuracy.compare(numpy, workload.family, exact.sample(contender.results()), exact.values)
        record["accuracy"][contender.name] = result
        if not result["ok"]:
            say(f"    {contender.name} is WRONG: {result['note']}, max abs {result['max_abs']:.2g}, rel {result['max_rel']:.2g}")
        return [contender]


class sampled_reference:
    """The results in float64: all of them where they come of all inputs, else of rows here and there, the first and the last among them."""

    MOST = 4_000_000  # elements

    def __init__(self, numpy, accuracy, workload, inputs):
        self.rows = None
        family = workload.family
        length = inputs[0].shape[0]
        if family.sliced and inputs[0].size > self.MOST:
            width = inputs[0].size // length
            parts = min(16, length)
            each = max(1, self.MOST // width // parts)
            starts = numpy.linspace(0, length - each, parts).astype(int)
            self.rows = numpy.unique((starts[:, None] + numpy.arange(each)).reshape(-1))
            first = family.inputs[0].dims[0]
            inputs = [x[self.rows] if a.dims[:1] == (first,) else x for a, x in zip(family.inputs, inputs)]
        self.values = accuracy.reference(numpy, family, inputs)

    def sample(self, results):
        return results if self.rows is None else [r[self.rows] for r in results]


def fits(workload):
    """Inputs, outputs, and what the peers hold besides: results of their own, and temporaries."""
    return 6 * workload.bytes < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") or workload.bytes < 1 << 28


def main():
    options = arguments()
    chosen = workloads.selected(options.only)
    if options.list:
        session.list_workloads(chosen)
        return 0
    if options.render:
        report.write(json.loads(options.render.read_text()), options.out, options.page)
        return 0
    import contenders

    contenders.limit_threads(options.threads)
    if options.warm:
        ahead.compile_all(options, [w for w in chosen if fits(w)], say)
        return 0
    if options.warm_one:
        for w in chosen:
            ahead.compile_one(contenders, w, options)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = Session(options)
    say(f"{run.data['machine']['cpu']}, {options.threads} threads; peers: {', '.join(run.peers) or 'none'}")
    for i, w in enumerate(chosen):
        if options.shrink:
            w = type(w)(w.family, w.label, w.smaller(options.shrink), counted=w.counted)
        left = options.budget - run.seconds()
        if left < 0:
            run.data["skipped"].append(f"{w.name}: the time was over")
        elif not fits(w):
            run.data["skipped"].append(f"{w.name}: needs more memory than is free here")
        else:
            run.measure(w, left / (len(chosen) - i))
        gc.collect()
    run.finish()
    return 1 if report.wrong(run.data) else 0
