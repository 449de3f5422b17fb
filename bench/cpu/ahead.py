"""torch.compile of every workload at once, each in a process of its own: what it compiles stays in the folder that TORCHINDUCTOR_CACHE_DIR
names, where the measurement finds it."""

import subprocess
import sys
import time


def compile_all(run, options, chosen, say):
    waiting, running = [w for w in chosen], []
    start = time.monotonic()
    while waiting or running:
        while waiting and len(running) < max(1, options.threads):
            w = waiting.pop(0)
            command = [sys.executable, run, "--warm-one", "--only", w.name, "--threads", str(options.threads), "--library", str(options.library)]
            running.append((w, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))
        for w, process in list(running):
            if process.poll() is not None:
                running.remove((w, process))
                text = process.stdout.read().strip()
                if process.returncode:
                    say(f"torch.compile of {w.name} failed: {text[-300:]}")
        time.sleep(0.1)
    say(f"torch.compile of {len(chosen)} workloads: {time.monotonic() - start:.1f} s")


def compile_one(contenders, workload, threads):
    import numpy

    inputs = [numpy.zeros(a.shape(workload.sizes), "float32") for a in workload.family.inputs]
    for c in contenders.prepared("compile", workload, inputs, contenders.outputs_of(workload), threads):
        c.call()
