#!/usr/bin/env python3
"""What smelt report says of kernels on a GPU, against the machine: on twelve programs the sectors of global loads and
stores equal Nsight Compute's within 5 %, registers and shared memory those of the launch; and what it says of the same
code without the GPU. Every figure is printed next to the one that was counted. 77: no GPU, or no ncu.

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


def document_of(smelt, program, inputs, device):
    made = subprocess.run(
        [smelt, "report", program, *inputs, "--device", device, "--time-limit", "0.01", "--json", "-"],
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        raise RuntimeError(made.stderr)
    return json.loads(made.stdout)


def functions_of(document):
    return {f["name"]: f for kernel in document["plans"]["fused"]["kernels"] for f in kernel.get("functions", [])}


def compared(document, counts):
    """Per launch and figure: what the page has, what was counted, and whether these agree."""
    fused, built = document["plans"]["fused"], functions_of(document)
    for launch in (launch for launches in fused["launches"] for launch in launches):
        name = launch["function"]
        row = counts.get(name)
        if row is None:
            yield name, "launches", 1, 0, False
            continue
        for metric, kind in ((LOADS, "load"), (STORES, "store")):
            known = [a["total_sectors"] for a in launch["accesses"] if a["kind"] == kind and "total_sectors" in a]
            theirs = number(row[metric])
            yield name, f"sectors of {kind}s", sum(known), theirs, abs(sum(known) - theirs) <= 0.05 * max(theirs, 32)
        # A launch has at least 16.
        registers, theirs = max(16, built[name]["registers"]), number(row[REGISTERS])
        yield name, "registers", registers, theirs, registers == theirs
        shared, theirs = built[name]["shared_bytes"], sum(number(row[metric]) for metric in SHARED)
        yield name, "bytes of shared memory", shared, theirs, shared == theirs


def compared_without(document, elsewhere):
    """The same code, of which the cubin alone says what it needs."""
    sources = [[t["text"] for t in d["texts"] if t["stage"] == "source"] for d in (document, elsewhere)]
    if sources[0] != sources[1]:
        return  # made for another number of multiprocessors
    others = functions_of(elsewhere)
    for name, here in functions_of(document).items():
        for figure in ("registers", "local_bytes", "shared_bytes"):
            if name in others:
                yield name, f"{figure} by the cubin", others[name][figure], here[figure], others[name][
                    figure
                ] == here[figure]


def figures(smelt, program, inputs):
    document = document_of(smelt, program, inputs, "cuda")
    counts = counted(smelt, program, inputs)
    found = list(compared(document, counts))
    elsewhere = document_of(smelt, program, [*inputs, "--no-run"], document["machine"]["isa"])
    return found, list(compared_without(document, elsewhere))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    smelt = sys.argv[1]
    probe = subprocess.run([smelt, "run", "x + 1", "-i", "x=f32[4]", "--device", "cuda"], capture_output=True)
    if probe.returncode != 0 or not shutil.which("ncu"):
        print("skipped: there is no GPU here" if probe.returncode != 0 else "skipped: there is no ncu here")
        sys.exit(77)
    agree = 0
    for program, inputs in PROGRAMS:
        try:
            found, without = figures(smelt, program, inputs)
            found = found or [("", "launches", 0, 1, False)]
        except (RuntimeError, KeyError, ValueError) as error:
            found, without = [(f"{type(error).__name__}: {error}", "launches", 0, 1, False)], []
        good = all(ok for *_, ok in found + without)
        agree += good
        print(("ok" if good else "FAILED") + f"  {program}   ({len(without)} figures by the cubin)", flush=True)
        for name, figure, ours, theirs, ok in found + without:
            if not ok or (name, figure, ours, theirs, ok) in found:
                print(f"    {'' if ok else 'FAILED '}{name} {figure}: page {ours:.0f}, counted {theirs:.0f}", flush=True)
    print(f"{agree} of {len(PROGRAMS)} programs agree")
    sys.exit(0 if agree == len(PROGRAMS) else 1)


if __name__ == "__main__":
    main()
