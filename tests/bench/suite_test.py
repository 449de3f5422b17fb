#!/usr/bin/env python3
"""The suite of bench/suite: `plan SMELT` parses and plans every row; `page` renders canned figures and compares them."""

import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH / "suite"), str(BENCH / "common")]

import page
from programs import ROWS, SETS, UNSEEN, total_bytes


def require(condition, what):
    if not condition:
        sys.exit(f"bench_suite test: {what}")


def plan(smelt):
    for name, rows in SETS.items():
        command = [sys.executable, BENCH / "run.py", "suite", "--smelt", smelt, "--set", name, "--plan", "cpu"]
        done = subprocess.run(command, capture_output=True, text=True)
        failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
        require(done.returncode == 0, "\n".join(failed) or done.stderr)
        require(len(done.stdout.splitlines()) == len(rows), "not every row has a plan")


def canned():
    for row in ROWS + UNSEEN:
        small = total_bytes(row.arrays(48 << 20))
        require(small <= total_bytes(row.arrays()) and small < 200e6, f"{row.name}: {small} bytes on a CPU")
    a, b = ROWS[0].name, ROWS[-1].name
    smelt = {"us": 100.0, "noise_us": 0.5, "kernels": 1, "bytes": 1000, "copy_us": 80.0, "floor_us": 80.0, "compile_ms": 1.0, "predicted_us": 110.0}
    results = {a: {"device": "cuda", "smelt": smelt, "eager": {"us": 200.0}, "compile": {"error": "none"}},
               b: {"device": "cuda", "smelt": {**smelt, "us": 50.0}, "eager": {"us": 40.0}}}
    text = page.page(results)
    for words in ("80 %", "2.00x", "**0.80x**", "failed", "over 2 families 1.26x", "1 rows below 0.95x", "1 of 2 rows take within 20 % of the predicted time"):
        require(words in text, f"{words} is missing from the page:\n{text}")
    cpu = {a: {"device": "cpu", "smelt": {**smelt, "fresh_us": 250.0}, "eager": {"us": 200.0}}}
    require("**0.80x**" in page.page(cpu) and "fresh outputs" in page.page(cpu), "no column of fresh outputs")

    def against(factor, noise=0.5):
        slow = {a: {"smelt": {**smelt, "us": 100.0 * factor, "noise_us": noise}}}
        return page.compare(results, slow)

    require(against(1.1)[1] and against(1.1)[0][0].startswith("slower"), "a slower row is not named")
    require(not against(1.02)[1] and not against(1.1, 5.0)[1], "noise passes for a slower row")
    require(against(0.8)[0][0].startswith("faster") and not against(0.8)[1], "a faster row is not named")


if __name__ == "__main__":
    plan(sys.argv[2]) if sys.argv[1] == "plan" else canned()
