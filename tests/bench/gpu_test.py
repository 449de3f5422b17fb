#!/usr/bin/env python3
"""The benchmark for GPUs, without one: `report` renders canned figures; `programs SMELT` runs every program small on the CPU.

Exit status 77 (CTest: skipped) where matplotlib or numpy is missing."""

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path[:0] = [str(BENCH / "gpu"), str(BENCH / "common")]
RUN = [sys.executable, str(BENCH / "run.py"), "gpu"]


def require(condition, what):
    if not condition:
        sys.exit(f"bench_gpu test: {what}")


def run(*arguments, status=0):
    done = subprocess.run([*RUN, *map(str, arguments)], capture_output=True, text=True)
    require(done.returncode == status, f"{arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def report():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print("bench_gpu test: skipped, matplotlib is not here (apt-get install python3-matplotlib)")
        sys.exit(77)
    import canned
    import measure
    import report as page
    import smelt_tool
    import workloads

    with tempfile.TemporaryDirectory() as folder:
        run("--dry-run", "--out", folder)
        text = (Path(folder) / "report.md").read_text()
        for w in workloads.WORKLOADS:
            require(f"| {w.name} |" in text, f"no row of {w.name}")
        pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)
        require(len(pictures) == 5, f"pictures: {pictures}")
        for picture in pictures:
            root = xml.etree.ElementTree.parse(Path(folder) / picture).getroot()
            require(root.tag.endswith("svg"), f"{picture} is no SVG")
        for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            require(len(widths) == 1, f"a table with rows of different lengths: {block.splitlines()[0]}")
        require("Canned figures: nothing here was measured" in text, "canned figures pass for real ones")
        require("a canned error | with a bar" in text, "a peer's error is not told")
        # The page of results that were saved is the same page; a folder of another name has its pictures.
        results = Path(folder) / "results.json"
        results.write_text(json.dumps(canned.results()))
        run("--render", results, "--out", folder, "--page", Path(folder) / "pages" / "gpu.md")
        again = (Path(folder) / "pages" / "gpu.md").read_text()
        require(again.replace("(gpu/", "(report/") == text, "--render gives another page")
        for picture in pictures:
            same = Path(folder) / "pages" / "gpu" / Path(picture).name
            require(same.read_bytes() == (Path(folder) / picture).read_bytes(), f"{same.name}: the same figures give another picture")

    # Rows that miss are marked, and nothing is marked that does not.
    results = canned.results()
    entry = results["workloads"]["softmax_bf16 16384x4096"]
    for key, cold, expected in (("smelt", 60.0, []), ("smelt", 71.0, ["misses"]), ("smelt", 90.0, ["misses", "slower"])):
        entry[key]["cold_us"] = measure.summary([cold])
        faults = [r for r in page.rows_of(results) if r.workload.name == "softmax_bf16 16384x4096"][0].faults()
        require([next(w for w in ("misses", "slower") if w in f) for f in faults] == expected, f"{cold}: {faults}")
    # Nothing measured at all is still a page.
    empty = {"machine": {}, "workloads": {w.name: {"copy": None, "peers": {}, "smelt": None, "check": None} for w in workloads.WORKLOADS}}
    require("not measured" in page.page(empty), "no page without figures")

    ratio, error = measure.ratio_with_error({"mean": 10.0, "deviation": 1.0}, {"mean": 5.0, "deviation": 0.5})
    require(abs(ratio - 2) < 1e-12 and abs(error - 2 * (0.01 + 0.01) ** 0.5) < 1e-12, "the error of a ratio")
    side = smelt_tool.read_side({"kernels": 1, "device_cold_ms": {"median": 0.5, "spread": 0.1}, "device_hot_ms": 0.25, "call_us": 3.0})
    require(side["cold_us"]["median"] == 500 and side["hot_us"]["median"] == 250 and side["call_us"]["median"] == 3, f"units: {side}")
    require(smelt_tool.top_level("a, f(b, c)") == ["a", "f(b, c)"], "outputs of a program")
    require(workloads.WORKLOADS[0].bytes == 2_500_000, "bytes of quantize_int8 500K")
    require("no workload" in run("--only", "nothing", "--dry-run", status=1), "an unknown workload")
    require("no peer" in run("--peers", "nothing", "--dry-run", status=1), "an unknown peer")


def programs(tool):
    try:
        import numpy
    except ImportError:
        print("bench_gpu test: skipped, numpy is not here (apt-get install python3-numpy)")
        sys.exit(77)
    import accuracy
    import check
    import workloads

    # What compares can find fault.
    family = workloads.FAMILIES["add_mul_exp"]
    exact = numpy.array([1.0, 2.0, numpy.nan])
    for values, right in (([1, 2, numpy.nan], True), ([1, 2.001, numpy.nan], False), ([1, numpy.nan, numpy.nan], False), ([1, 2, 3], False)):
        require(accuracy.compare(numpy, family, [numpy.array(values, "float32")], [exact])["ok"] == right, f"compare {values}")

    for name, family in workloads.FAMILIES.items():
        w = next(w for w in workloads.WORKLOADS if w.family is family)
        result = check.against_float64(tool, w, "cpu", 50_000, 60)
        require(result["ok"], f"{name}: {result}")
    with tempfile.TemporaryDirectory() as folder:  # the whole way, but for the peers
        run("--smelt", tool, "--device", "cpu", "--shrink", 1000, "--check-elements", 20000, "--quick", "--stages", "check,smelt",
            "--only", "rmsnorm,l2norm", "--out", folder)
        entry = json.loads((Path(folder) / "results.json").read_text())["workloads"]["rmsnorm 16384x4096"]
        require(entry["check"]["ok"] and entry["check"]["as_it_is"]["ok"], f"check: {entry['check']}")
        require(entry["smelt"].get("kernels") == 1 or "help" in entry["smelt"].get("error", ""), f"bench: {entry['smelt']}")


if __name__ == "__main__":
    report() if sys.argv[1] == "report" else programs(sys.argv[2])
