"""What is compiled ahead of the measurement, each workload in a process of its own: torch.compile, into the folder that
TORCHINDUCTOR_CACHE_DIR names, and numba, into that of NUMBA_CACHE_DIR. The measurement finds it there."""

import os
import subprocess
import sys
import time
from pathlib import Path

KEYS = ("compile", "numba")
RUN = Path(__file__).resolve().parent.parent / "run.py"
MEMORY = 8 << 30  # of all workloads that are under way


def command(options, workload):
    return [sys.executable, RUN, "cpu", "--warm-one", "--only", workload.name, "--threads", str(options.threads), "--peers", ",".join(options.peers)]


def environment():
    """A process compiles by itself, not with a pool of processes of its own, and threads that wait do not spin: there is one for each core."""
    return {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}


def compile_all(options, chosen, say):
    """The first one alone, since all wait for what it makes: the headers, compiled, and which instructions the compiler knows."""
    waiting, running, done = list(chosen), [], []
    start = time.monotonic()
    while waiting or running:
        if time.monotonic() - start > options.budget:
            for w, process in running:
                process.kill()
                process.communicate()
            say(f"ahead: out of time; not compiled: {', '.join(w.name for w in [w for w, _ in running] + waiting)}")
            break
        most = max(1, options.threads) if done else 1
        while waiting and len(running) < most and (not running or sum(w.bytes for w, _ in running) + waiting[0].bytes < MEMORY):
            w = waiting.pop(0)
            running.append((w, subprocess.Popen(command(options, w), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
        for w, process in list(running):
            if process.poll() is not None:
                running.remove((w, process))
                done.append(w)
                text = process.stdout.read().strip()
                say(f"ahead: {w.name} after {time.monotonic() - start:.1f} s" + (f" FAILED: {text[-600:]}" if process.returncode else ""))
        time.sleep(0.1)
    say(f"ahead: {len(done)} of {len(chosen)} workloads in {time.monotonic() - start:.1f} s")


def compile_one(contenders, workload, options):
    import numpy

    keys = [k for k in KEYS if k in options.peers]
    inputs = [numpy.zeros(a.shape(workload.sizes), contenders.NUMPY_OF[a.dtype]) for a in workload.family.inputs]
    outputs = contenders.outputs_of(workload)
    for key in keys:
        try:
            for c in contenders.prepared(key, workload, inputs, outputs, options.threads):
                c.call()
        except (contenders.NotWritten, ModuleNotFoundError):
            pass  # the measurement says so
