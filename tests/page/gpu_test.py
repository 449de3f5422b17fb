#!/usr/bin/env python3
"""What smelt report says of kernels on a GPU, against the machine: on twelve programs the sectors of global loads and
stores equal Nsight Compute's within 5 %, registers and shared memory those of the launch. 77: no GPU, or no ncu.

Usage: gpu_test.py path/to/smelt
"""

import csv
import io
import json
import shutil
import subprocess
import sys

PROGRAMS = [
    ("x * 2 + 1", ["-i", "x=f32[4194304]"]),
    ("x[::4] + 1", ["-i", "x=f32[4194304]"]),
    ("x.T * 2", ["-i", "x=f32[2048,2048]"]),
    ("x * s", ["-i", "x=f32[4096,1024]", "-i", "s=f32[1024]"]),
    ("softmax(x)", ["-i", "x=f32[4096,1024]"]),
    ("layernorm(relu(x))", ["-i", "x=f32[4096,1024]"]),
    ("sum(x, axis=0)", ["-i", "x=f32[4096,1024]"]),
    ("sum(x * x)", ["-i", "x=f32[4194304]"]),
    ("cumsum(x, axis=1)", ["-i", "x=f32[1024,4096]"]),
    ("t[i]", ["-i", "t=f32[1000000]", "-i", "i=iota:i32[1000000]"]),
    ("t[(i * 7919) % 1000000]", ["-i", "t=f32[1000000]", "-i", "i=iota:i32[100000]"]),
    ("x[:, :-1] + x[:, 1:]", ["-i", "x=f32[4096,1024]"]),
]
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORES = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
REGISTERS = "launch__registers_per_thread"
SHARED = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")


def counted(smelt, program, inputs):
    """Of every launch, by name of its function: what Nsight Compute counts."""
    metrics = ",".join([LOADS, STORES, REGISTERS, *SHARED])
    made = subprocess.run(
        [
            "ncu",
            "--csv",
            "--page",
            "raw",
            "--print-units",
            "base",
            "--kernel-name",
            "regex:^k[0-9]+_p",
            "--metrics",
            metrics,
            smelt,
            "profile-run",
            "--side",
            "fused",
            "--device",
            "cuda",
            *inputs,
            "--",
            program,
        ],
        capture_output=True,
        text=True,
    )
    if "ERR_NVGPUCTRPERM" in made.stdout + made.stderr:
        print("skipped: the counters of this GPU are not permitted")
        sys.exit(77)
    lines = [line for line in made.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))[1:]  # the first has the units
    return {row["Kernel Name"].split("(")[0]: row for row in rows}


def number(text):
    return float(text.replace(",", ""))


def faults(smelt, program, inputs):
    made = subprocess.run(
        [smelt, "report", program, *inputs, "--device", "cuda", "--time-limit", "0.01", "--json", "-"],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        yield made.stderr
        return
    fused = json.loads(made.stdout)["plans"]["fused"]
    counts = counted(smelt, program, inputs)
    if not counts:
        yield "Nsight Compute counted no launch"
    for kernel, launches in zip(fused["kernels"], fused["launches"]):
        built = {f["name"]: f for f in kernel.get("functions", [])}
        for launch in launches:
            name = launch["function"]
            row = counts.get(name)
            if row is None:
                yield f"{name} was not launched"
                continue
            for metric, kind in ((LOADS, "load"), (STORES, "store")):
                ours = sum(a["total_sectors"] for a in launch["accesses"] if a["kind"] == kind and "total_sectors" in a)
                theirs = number(row[metric])
                if abs(ours - theirs) > 0.05 * max(theirs, 32):
                    yield f"{name}: {ours:.0f} sectors of {kind}s, counted {theirs:.0f}"
            if built[name]["registers"] != number(row[REGISTERS]):
                yield f"{name}: {built[name]['registers']} registers, and the launch has {row[REGISTERS]}"
            shared = sum(number(row[metric]) for metric in SHARED)
            if built[name]["shared_bytes"] != shared:
                yield f"{name}: {built[name]['shared_bytes']} bytes of shared memory, and the launch has {shared:.0f}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    smelt = sys.argv[1]
    probe = subprocess.run([smelt, "run", "x + 1", "-i", "x=f32[4]", "--device", "cuda"], capture_output=True)
    if probe.returncode != 0 or not shutil.which("ncu"):
        print("skipped: there is no GPU here" if probe.returncode != 0 else "skipped: there is no ncu here")
        sys.exit(77)
    failed = 0
    for program, inputs in PROGRAMS:
        found = list(faults(smelt, program, inputs))
        print(("FAILED" if found else "ok") + f"  {program}")
        for fault in found:
            print("   ", fault)
        failed += bool(found)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
