#!/usr/bin/env python3
"""Runs the programs of programs.py with smelt and with torch on one GPU; writes JSON and a Markdown page. README.md says how."""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import geometric_mean, median

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

from programs import ROWS

PEERS = ("eager", "compile")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smelt", type=Path, help="the command line tool; without it only torch is measured")
    parser.add_argument("--out", type=Path, required=True, help="results.json is written here; what it holds already is kept")
    parser.add_argument("--only", default="", help="names, or beginnings of names, of rows, or families: softmax,pairs")
    parser.add_argument("--peers", default="eager,compile", help="of eager, compile; '' for none")
    parser.add_argument("--seconds", type=float, default=0.1, help="for one measurement")
    parser.add_argument("--budget", type=float, default=480, help="seconds after which no row is begun")
    parser.add_argument("--tune", action="store_true", help="smelt times its candidates first")
    parser.add_argument("--compare", type=Path, help="an older results.json: says which rows of smelt got slower")
    return parser.parse_args()


def selected(only):
    wanted = [w for w in only.split(",") if w]
    return [r for r in ROWS if not wanted or any(r.name.startswith(w) or r.family == w for w in wanted)]


def run_smelt(options, row, folder):
    program, result = folder / f"{row.name}.smelt", folder / "result.json"
    program.write_text(row.program())
    command = [options.smelt, "bench", program, "--device", "cuda", "--time-limit", options.seconds, "--json", result, "--no-check"]
    for name, spec in row.inputs.items():
        command += ["-i", f"{name}={spec}"]
    done = subprocess.run([str(c) for c in command + ["--tune"] * options.tune], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        return {"error": (done.stderr or done.stdout).strip()[:400]}
    bench = json.loads(result.read_text())["results"][0]
    fused = bench["fused"]
    return {"us": fused["cold_ms"]["median"] * 1e3, "noise_us": fused["cold_ms"]["noise"] * 1e3, "kernels": fused["kernels"],
            "bytes": fused["bytes"], "copy_us": fused["copy_ms"]["cold"]["median"] * 1e3, "compile_ms": bench["compile_ms"]}


class Torch:
    """Device times of a function by events, the L2 cache flushed before every call."""

    DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "u8": "uint8", "i64": "int64"}

    def __init__(self, seconds):
        import torch

        self.torch, self.seconds = torch, seconds
        self.flush = torch.empty(4 * 60 << 20, dtype=torch.uint8, device="cuda")

    def array(self, spec):
        filler, dtype, dims = re.fullmatch(r"(?:(\w+):)?(\w+)\[([\d,]+)\]", spec).groups()
        shape, kind = [int(n) for n in dims.split(",")], getattr(self.torch, self.DTYPES[dtype])
        if filler == "iota":
            return self.torch.arange(math.prod(shape), device="cuda", dtype=kind).reshape(shape)
        if dtype == "u8":
            return self.torch.randint(0, 256, shape, device="cuda", dtype=kind)
        return self.torch.randn(shape, device="cuda", dtype=kind)

    def time_us(self, call):
        call()
        times, start = [], time.monotonic()
        while len(times) < 5 or (time.monotonic() - start < self.seconds and len(times) < 200):
            begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.flush.zero_()
            self.torch.cuda._sleep(200_000)  # the host has launched all of the call by then
            begin.record()
            call()
            end.record()
            self.torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e3)
        return median(times)

    def measure(self, row, peer):
        arrays = [self.array(spec) for spec in row.inputs.values()]

        def function(*given):
            return row.torch(self.torch, *given)

        if peer == "compile":
            self.torch._dynamo.reset()
            function = self.torch.compile(function)
        try:
            return {"us": self.time_us(lambda: function(*arrays))}
        except Exception as error:  # a peer that fails is a line of the page
            return {"error": str(error)[:400]}
        finally:
            del arrays
            self.torch.cuda.empty_cache()


def against_best(entry):
    peers = [entry[p]["us"] for p in PEERS if "us" in entry.get(p, {})]
    return min(peers) / entry["smelt"]["us"] if peers and "us" in entry.get("smelt", {}) else None


def summary(results):
    """Rows with their ratios, and the geometric mean of the families' geometric means."""
    ratios = [(r, against_best(results[r.name])) for r in ROWS if r.name in results]
    families = {}
    for row, ratio in ratios:
        if ratio:
            families.setdefault(row.family, []).append(ratio)
    mean = geometric_mean([geometric_mean(f) for f in families.values()]) if families else None
    return ratios, families, mean


def page(results):
    def us(entry):
        return f"{entry['us']:.1f}" if "us" in entry else "failed" if "error" in entry else ""

    ratios, families, mean = summary(results)
    every = [ratio for _, ratio in ratios if ratio]
    lines = ["| family | row | smelt, µs | kernels | copy, µs | eager, µs | torch.compile, µs | against the faster |",
             "|---|---|---:|---:|---:|---:|---:|---:|"]
    for row, ratio in ratios:
        entry = results[row.name]
        smelt = entry.get("smelt", {})
        cells = [row.family, row.name, us(smelt), str(smelt.get("kernels", "")),
                 f"{smelt['copy_us']:.1f}" if "copy_us" in smelt else "", us(entry.get("eager", {})), us(entry.get("compile", {})),
                 "" if ratio is None else f"**{ratio:.2f}x**" if ratio < 0.95 else f"{ratio:.2f}x"]
        lines.append("| " + " | ".join(cells) + " |")
    if every:
        lines += ["", f"Geometric mean over {len(families)} families {mean:.2f}x, over {len(every)} rows "
                  f"{geometric_mean(every):.2f}x; {sum(r < 0.95 for r in every)} rows below 0.95x (bold), the worst {min(every):.2f}x."]
    return "\n".join(lines) + "\n"


def slower(old, new):
    """Rows of smelt that take longer than noise explains."""
    for name in old:
        a, b = old[name].get("smelt", {}), new.get(name, {}).get("smelt", {})
        if "us" in a and "us" in b and b["us"] > 1.03 * a["us"] and b["us"] - a["us"] > max(0.3, a["noise_us"] + b["noise_us"]):
            yield f"slower: {name} {a['us']:.1f} -> {b['us']:.1f} us ({b['us'] / a['us']:.2f})"


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "results.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    start, rows = time.monotonic(), selected(options.only)
    peers = [p for p in options.peers.split(",") if p]
    torch = Torch(options.seconds) if peers else None
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            if time.monotonic() - start > options.budget:
                print(f"time is over before {row.name}", file=sys.stderr)
                break
            entry = results.setdefault(row.name, {})
            if options.smelt:
                entry["smelt"] = run_smelt(options, row, Path(folder))
            for peer in peers:
                entry[peer] = torch.measure(row, peer)
            file.write_text(json.dumps(results, indent=1))
    text = page(results)
    (options.out / "report.md").write_text(text)
    print(text)
    if options.compare:
        print("\n".join(slower(json.loads(options.compare.read_text()), results)) or "nothing is slower")


if __name__ == "__main__":
    main()
