#!/usr/bin/env python3
"""The benchmark for CPUs, without peers: `run LIBRARY` measures every program small, and looks at what it wrote.

Exit status 77 (CTest: skipped) where numpy is missing."""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH / "cpu"), str(BENCH / "common")]

SHRUNK = 20000  # elements
FEW = 8  # rows


def require(condition, what):
    if not condition:
        sys.exit(f"bench_cpu test: {what}")


def turns():
    """Ratios are of the same round, whatever the rounds are like."""
    import interleave
    import report
    import workloads

    times = interleave.figures({"copy.plain": [80.0, 800.0, 80.0], "smelt.into": [100.0, 1000.0, 100.0], "jax.into": [90.0, 900.0, 90.0],
                                "numba.fresh": [10.0, 10.0, 10.0]})
    require(abs(interleave.ratio(times, "jax.into", "smelt.into")["median"] - 0.9) < 1e-12, "a ratio")
    record = {"times": times, "status": {}, "notes": {}, "accuracy": {"smelt.into": {"ok": False, "note": "off"}}}
    large = next(w for w in workloads.WORKLOADS if w.bytes >= report.LARGE)
    row = report.Row(large, record)
    require(row.faults() == ["**wrong**", "80 % of the copy", "**0.90x of JAX**"], f"faults: {row.faults()}")
    require(report.wrong({"workloads": {large.name: record}}) == [large.name], "a wrong result passes")


def run(library):
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("bench_cpu test: skipped, numpy is not here (apt-get install python3-numpy)")
        sys.exit(77)
    import workloads

    turns()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, BENCH / "run.py", "cpu", "--library", library, "--out", folder, "--peers", "", "--shrink", SHRUNK, "--quick",
                   "--seconds", "0.02", "--turn", "0.001", "--threads", "2"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if "libLLVM" in done.stderr:
            print("bench_cpu test: skipped, there is no libLLVM")
            sys.exit(77)
        require(done.returncode == 0, f"it ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        results = json.loads((Path(folder) / "results.json").read_text())
        for w in workloads.WORKLOADS:
            record = results["workloads"].get(w.name) or {}
            require(record.get("accuracy", {}).get("smelt.into", {}).get("ok"), f"{w.name}: {record.get('status')} {record.get('accuracy')}")
            for name in ("smelt.into", "smelt.fresh", "unfused.into", "copy.plain", "copy.streaming"):
                require(record["times"].get(name, {}).get("median", 0) > 0, f"{w.name}: no time of {name}")
            most = 1 if w.smaller(SHRUNK).get("H", FEW) >= FEW else 2  # of a few rows of a picture, two can be faster
            require(1 <= record["smelt"]["kernels"] <= most, f"{w.name} is not {most} kernel(s)")
        text = (Path(folder) / "report.md").read_text()
        require("At most 20000 elements" in text, "small sizes pass for the real ones")
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            require(len(widths) == 1, f"a table with rows of different lengths: {block.splitlines()[0]}")
        picture = re.search(r"!\[[^]]*\]\(([^)]*)\)", text)
        if importlib.util.find_spec("matplotlib"):
            require(xml.etree.ElementTree.parse(Path(folder) / picture[1]).getroot().tag.endswith("svg"), "no picture")
        else:
            require(picture is None, "the page names a picture that nothing has drawn")
        again = Path(folder) / "pages" / "cpu.md"
        subprocess.run([sys.executable, BENCH / "run.py", "cpu", "--render", Path(folder) / "results.json", "--page", again], check=True, capture_output=True)
        require(again.read_text().replace("(cpu/", "(report/") == text, "--render gives another page")


if __name__ == "__main__":
    run(sys.argv[2])
