#!/usr/bin/env python3
"""Measures smelt and its peers on one GPU, and writes results.json, a Markdown page and pictures. README.md says how."""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

import canned
import check
import measure
import peers
import report
import smelt_tool
import workloads


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smelt", type=Path, help="the smelt command line tool; without it only peers are measured")
    parser.add_argument("--out", type=Path, default=Path("bench-gpu"), help="folder for results.json, the page and the pictures")
    parser.add_argument("--only", default="", help="names, or beginnings of names, of workloads: softmax,'quantize_int8 1M'")
    parser.add_argument("--peers", default="torch,jax,cupy", help="of torch (all of eager,compile,graphs,autotune), jax, cupy; '' for none")
    parser.add_argument("--stages", default="check,copy,smelt,peers", help="what to do, in this order")
    parser.add_argument("--resume", action="store_true", help="keep what --out holds already, measure what is missing")
    parser.add_argument("--peers-cache", type=Path, help="a results.json of the same kind of GPU: its figures of peers are used again")
    parser.add_argument("--calls", type=Path, help="JSON {workload: summary or microseconds}: smelt's wall time per call from C++")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, small checks, no max-autotune")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which nothing more is begun")
    parser.add_argument("--peer-limit", type=float, default=60, help="seconds for one peer on one workload, compiling included")
    parser.add_argument("--smelt-limit", type=float, default=60, help="seconds for one call of the tool")
    parser.add_argument("--device", default="cuda", help="of smelt; cpu serves to try the checks")
    parser.add_argument("--check-elements", type=int, default=16_000_000, help="size of the check against float64")
    parser.add_argument("--shrink", type=int, help="no more elements than these in smelt's runs: tries the machinery, measures nothing")
    parser.add_argument("--dry-run", action="store_true", help="canned figures in place of measurements: shows the page and the pictures")
    parser.add_argument("--render", type=Path, metavar="RESULTS", help="only write the page and the pictures of a results.json")
    parser.add_argument("--page", type=Path, help="where the page goes (OUT/report.md); its pictures lie in a folder beside it")
    parser.add_argument("--list", action="store_true", help="the workloads")
    options = parser.parse_args()
    options.only = [name.strip() for name in options.only.split(",") if name.strip()]
    options.peers = peers.selected([p.strip() for p in options.peers.split(",") if p.strip()])
    options.stages = [s for s in options.stages.split(",") if s]
    if options.quick:
        options.check_elements = min(options.check_elements, 1_000_000)
        options.peers = [p for p in options.peers if p != "autotune"]
    return options


class Session:
    """The results so far, saved after every step: a run that is cut short leaves what it had."""

    def __init__(self, options):
        self.options = options
        self.file = options.out / "results.json"
        self.start = time.monotonic()
        self.torch = self.device = None
        options.out.mkdir(parents=True, exist_ok=True)
        self.results = {"schema": 1, "machine": {}, "workloads": {}}
        if options.resume and self.file.exists():
            self.results = json.loads(self.file.read_text())
        self.results.update(skipped=[], missing={})
        for w in workloads.selected(options.only):
            self.entry(w)

    def entry(self, workload):
        fresh = {"copy": None, "peers": {}, "smelt": None, "check": None}
        return self.results["workloads"].setdefault(workload.name, fresh)

    def save(self):
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.results, indent=1))
        part.replace(self.file)

    def out_of_time(self, what):
        if time.monotonic() - self.start < self.options.budget:
            return False
        self.results["skipped"].append(what)
        return True

    def open_gpu(self):
        """torch on the GPU; False without."""
        if self.device:
            return True
        try:
            import torch

            torch.set_grad_enabled(False)
            if not torch.cuda.is_available():
                raise RuntimeError("torch sees no GPU")
            self.torch, self.device = torch, measure.Device(torch, self.options.quick)
            self.results["machine"].update(machine(torch, self.device))
            return True
        except Exception as error:
            say(f"no GPU for the peers: {peers.first_line(error)}")
            self.results["missing"] = {"torch": peers.first_line(error)}
            return False


def say(text):
    print(text, flush=True)


def guarded(limit_s, what, function):
    """A record of what the function gives, or of why it did not."""
    start = time.monotonic()
    try:
        with measure.time_limit(limit_s, what):
            return function()
    except (measure.TimeLimit, peers.NotWritten, smelt_tool.Failed) as error:
        status = "left out" if isinstance(error, peers.NotWritten) else "error"
        record = {"status": status, "error": str(error)[:500]}
    except Exception as error:
        say("    " + traceback.format_exc(limit=-3).replace("\n", "\n    ").rstrip())
        record = {"status": "error", "error": peers.first_line(error)}
    record["seconds"] = time.monotonic() - start
    return record


def machine(torch, device):
    p = torch.cuda.get_device_properties(0)
    clock, width = measure.driver_attribute(36), measure.driver_attribute(37)  # MEMORY_CLOCK_RATE in kHz, its BUS_WIDTH in bits
    versions = {"python": platform.python_version(), "torch": torch.__version__, "cuda of torch": torch.version.cuda}
    for package in ("triton", "jax", "jaxlib", "cupy-cuda13x", "cupy-cuda12x", "cupy", "numpy"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return {
        "gpu": p.name, "sm": f"{p.major}.{p.minor}", "multiprocessors": p.multi_processor_count,
        "memory_bytes": p.total_memory, "l2_bytes": device.l2_bytes, "peak_gbs": 2 * clock * 1e3 * width / 8 / 1e9 or None,
        "driver": driver(), "cpu_threads": os.cpu_count(), "versions": versions,
        "flush_bytes": device.flushed.numel(), "date": datetime.date.today().isoformat(),
    }


def driver():
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.strip().splitlines()[0]
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return ""


def stage_check(session, chosen):
    """Correctness: one workload of each length of row is enough, but there are few."""
    options = session.options
    on_gpu = options.device != "cpu" and session.open_gpu()
    for w in chosen:
        entry = session.entry(w)
        if (entry["check"] or {}).get("ok") or session.out_of_time(f"check {w.name}"):
            continue
        record = guarded(2 * options.smelt_limit, w.name, lambda: check.against_float64(
            options.smelt, w, options.device, options.check_elements, options.smelt_limit, session.torch if on_gpu else None))
        if any(a.dtype == "bf16" for a in w.family.inputs):
            record["as_it_is"] = guarded(options.smelt_limit, w.name, lambda: check.against_interpreter(
                options.smelt, w, options.device, 200_000, options.smelt_limit))
        entry["check"] = record
        session.save()
        say(f"check {w.name:32} {verdict(record)}" + (f"; bf16 as it is: {verdict(record['as_it_is'])}" if "as_it_is" in record else ""))


def verdict(record):
    if "error" in record:
        return "FAILED: " + record["error"]
    detail = f"max abs {record['max_abs']:.2g}, rel {record['max_rel']:.2g}" if "max_abs" in record else ""
    return ("right " if record["ok"] else "WRONG ") + detail + (" " + record["note"] if record["note"] else "")


def stage_copy(session, chosen):
    if not session.open_gpu():
        return
    for w in chosen:
        entry = session.entry(w)
        if not entry["copy"] and not session.out_of_time(f"copy {w.name}"):
            record = guarded(30, w.name, lambda: session.device.copy(w.bytes))
            entry["copy"] = record if "cold_us" in record else None
            session.torch.cuda.empty_cache()
    session.save()


def stage_smelt(session, chosen):
    options = session.options
    calls = json.loads(options.calls.read_text()) if options.calls and options.calls.exists() else {}
    for w in chosen:
        entry = session.entry(w)
        if (entry["smelt"] or {}).get("status") != "ok" and not session.out_of_time(f"smelt {w.name}"):
            seconds = 0.05 if options.quick else 0.2
            entry["smelt"] = guarded(2 * options.smelt_limit, w.name, lambda: smelt_tool.bench(
                options.smelt, w, options.device, seconds, options.smelt_limit, w.smaller(options.shrink) if options.shrink else None))
            session.save()
            say(f"smelt {w.name:32} {short(entry['smelt'])}")
        if w.name in calls and entry["smelt"]:
            value = calls[w.name]
            entry["smelt"]["cpp_call_us"] = value if isinstance(value, dict) else measure.summary([value])
    session.save()


def short(record):
    if record["status"] != "ok":
        return f"{record['status']}: {record.get('error', '')}"
    figures = [f"{name[:-3]} {record[name]['median']:.1f}" for name in ("cold_us", "hot_us", "call_us", "graph_us") if record.get(name)]
    return ", ".join(figures) + f" us, {record.get('kernels')} kernels" + ("; cached" if record.get("cached") else "")


def reuse_peers(session):
    """Takes over what an earlier run on the same kind of GPU measured, and marks it."""
    file = session.options.peers_cache
    if not file or not file.exists():
        return
    earlier = json.loads(file.read_text())
    here, there = session.results["machine"].get("gpu"), earlier["machine"].get("gpu")
    if here and there and here != there:
        say(f"peers-cache: that was a {there}, this is a {here}: not used")
        return
    for name, old in earlier["workloads"].items():
        entry = session.results["workloads"].get(name)
        for key, record in old["peers"].items() if entry else ():
            if record["status"] == "ok" and key not in entry["peers"]:
                entry["peers"][key] = {**record, "cached": record.get("cached") or earlier["machine"].get("date", "earlier")}
    session.save()


def stage_peers(session, chosen):
    """The quick ones for every workload first, then the slow max-autotune as far as the time goes."""
    on_gpu = session.open_gpu()
    reuse_peers(session)
    if not on_gpu:
        return
    keys = installed(session, session.options.peers)
    for group in ([k for k in keys if k != "autotune"], [k for k in keys if k == "autotune"]):
        for w in chosen:
            if not peers_of(session, w, [k for k in group if k != "graphs" or w.small]):
                return


def installed(session, keys):
    """Those whose library can be imported; the others are noted once."""
    out, missing = [], {}
    for key in keys:
        library = peers.LIBRARIES[key]
        try:
            importlib.import_module(library)
            out.append(key)
        except Exception as error:  # an import can fail in any way
            missing[library] = peers.first_line(error)
    session.results["missing"] = missing
    for library, why in missing.items():
        say(f"{library} is left out: {why}")
    return out


def peers_of(session, w, keys):
    torch, entry = session.torch, session.entry(w)
    missing = [k for k in keys if entry["peers"].get(k, {}).get("status") not in ("ok", "left out")]
    missing = [k for k in missing if not session.out_of_time(f"{k} {w.name}")]
    if not missing:
        return True
    inputs = exact = None
    try:
        inputs = peers.make_inputs(torch, w)
        exact = check.accuracy.reference(torch, w.family, inputs)
    except Exception as error:
        say(f"{w.name}: no reference: {peers.first_line(error)}")

    def compared(out):
        return check.accuracy.compare(torch, w.family, out, exact) if exact else {"ok": None, "note": "no reference"}

    for key in missing:
        if inputs is None or session.out_of_time(f"{key} {w.name}"):
            continue
        entry["peers"][key] = guarded(session.options.peer_limit, f"{key} on {w.name}",
                                      lambda: peers.measure(key, torch, session.device, w, inputs, compared))
        session.save()
        say(f"{key:9} {w.name:32} {short(entry['peers'][key])}")
        if not alive(session):
            session.results["missing"]["the GPU's context"] = f"lost after {key} on {w.name}; --resume goes on in a new process"
            return False
    del inputs, exact
    free_memory(session)
    return True


def alive(session):
    """A kernel that went wrong ends the whole context: nothing after it can be measured by this process."""
    try:
        session.torch.cuda.synchronize()
        return True
    except Exception:
        return False


def free_memory(session):
    session.torch.cuda.empty_cache()
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()


def version_of_smelt(tool):
    try:
        return smelt_tool.run([tool, "--version"], 20).strip()
    except smelt_tool.Failed as error:
        return str(error)


def main():
    options = arguments()
    if options.list:
        for w in workloads.WORKLOADS:
            say(f"{w.name:34} {w.bytes / 1e6:10.1f} MB   {w.family.formula}")
        return 0
    chosen = workloads.selected(options.only)
    if options.render or options.dry_run:
        results = json.loads(options.render.read_text()) if options.render else canned.results()
        report.write(results, options.out, options.page)
        return 0
    if not options.smelt:
        options.stages = [s for s in options.stages if s in ("copy", "peers")]
    elif not options.smelt.exists():
        raise SystemExit(f"run.py: there is no {options.smelt}\nhelp: build it (make build) and name it with --smelt")
    session = Session(options)
    if options.smelt:
        session.results["machine"]["smelt"] = version_of_smelt(options.smelt)
    stages = {"check": stage_check, "copy": stage_copy, "smelt": stage_smelt, "peers": stage_peers}
    for name in options.stages:
        say(f"== {name}")
        stages[name](session, chosen)
    if options.shrink:
        session.results["machine"]["shrunk"] = options.shrink
    session.results["machine"].setdefault("date", datetime.date.today().isoformat())
    session.results["seconds"] = time.monotonic() - session.start
    session.save()
    report.write(session.results, options.out, options.page)
    wrong = [n for n, e in session.results["workloads"].items() if (e["check"] or {}).get("ok") is False or "error" in (e["check"] or {})]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
