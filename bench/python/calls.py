#!/usr/bin/env python3
"""What calls from Python cost: smelt.jit, NumPy, numexpr and numba, where they are installed.

    PYTHONPATH=build/release/python python bench/python/calls.py

x * 2 + 1 of f32[1000], one thread; microseconds a call, the median and the shortest of rounds in which each has a turn.
"""

import os
import statistics
import subprocess
import sys
import time

import numpy as np

import smelt

ROUNDS, CALLS = 41, 2000


def contenders(x, out):
    @smelt.jit(threads=1)
    def f(x):
        return x * 2 + 1

    f(x)
    yield "smelt.jit", "fresh", lambda: f(x)
    yield "smelt.jit", "out=", lambda: f(x, out=out)
    yield "NumPy", "fresh", lambda: x * 2 + 1
    yield "NumPy", "out=", lambda: np.add(np.multiply(x, 2, out=out), 1, out=out)
    try:
        import numexpr

        numexpr.set_num_threads(1)
        numexpr.evaluate("x * 2 + 1", {"x": x})
        yield "numexpr", "fresh", lambda: numexpr.evaluate("x * 2 + 1", {"x": x})
        yield "numexpr, re_evaluate", "out=", lambda: numexpr.re_evaluate({"x": x})
    except ImportError:
        pass
    try:
        import numba

        @numba.njit(fastmath=True)
        def fresh(x):
            return x * np.float32(2) + np.float32(1)

        @numba.njit(fastmath=True)
        def into(x, out):
            for i in range(x.size):
                out[i] = x[i] * np.float32(2) + np.float32(1)

        fresh(x), into(x, out)
        yield "numba", "fresh", lambda: fresh(x)
        yield "numba", "out=", lambda: into(x, out)
    except ImportError:
        pass


def turns(entries):
    times = {i: [] for i in range(len(entries))}
    for _ in range(ROUNDS):
        for i, (_, _, call) in enumerate(entries):
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[i].append((time.perf_counter() - start) / CALLS * 1e6)
    return times


def in_process(code, **environment):
    """Milliseconds that the code takes, and those of the processor, the shortest of nine processes: as a text."""
    found = []
    for _ in range(9):
        ran = subprocess.run([sys.executable, "-c", CLOCK.format(code=code)], capture_output=True, text=True, check=True,
                             env={**os.environ, **environment})
        found.append([float(number) for number in ran.stdout.split()])
    wall, processor = (min(column) for column in zip(*found))
    return f"{wall:.1f} ms, {processor:.1f} of the processor"


CLOCK = """
{code[0]}
import time
clocks = time.perf_counter(), time.process_time()
{code[1]}
print((time.perf_counter() - clocks[0]) * 1e3, (time.process_time() - clocks[1]) * 1e3)
"""
IMPORT = "", "import smelt"
FIRST = 'import numpy, smelt; x = numpy.ones(1000, "f4"); f = smelt.jit(lambda x: x * 2 + 1)', "f(x)"


def main():
    x = np.random.default_rng(0).random(1000, "f4")
    out = np.empty_like(x)
    entries = list(contenders(x, out))
    times = turns(entries)
    print("| | memory | median, us | shortest, us |\n|---|---|---:|---:|")
    for i, (name, memory, _) in enumerate(entries):
        print(f"| {name} | {memory} | {statistics.median(times[i]):.2f} | {min(times[i]):.2f} |")
    print(f"\nimport smelt: {in_process(IMPORT)}")
    in_process(FIRST)
    print(f"first call, from the cache on disk: {in_process(FIRST)}")
    print(f"first call, without it: {in_process(FIRST, SMELT_CACHE_DIR='off')}")
    load = os.getloadavg()[0]
    print(f"load while it ran: {load:.1f} on {os.cpu_count()} processors; Python {sys.version.split()[0]}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
