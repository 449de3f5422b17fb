"""Measures smelt and its peers on one GPU, and writes results.json, a Markdown page and pictures. bench/README.md says how."""

import json
import subprocess
import sys
import time
from pathlib import Path

import canned
import check
import measure
import peers
import report
import session
import smelt_tool
import workloads
from library import NotWritten, first_line
from session import say


def arguments():
    parser = session.parser(__doc__, out=Path("bench-gpu"), peers="torch,jax,cupy", budget=1e9)
    parser.add_argument("--smelt", type=Path, help="the smelt command line tool; without it only peers are measured")
    parser.add_argument("--stages", default="check,copy,smelt,peers", type=session.names, help="what to do, in this order")
    parser.add_argument("--resume", action="store_true", help="keep what --out holds already, measure what is missing")
    parser.add_argument("--peers-cache", type=Path, help="a results.json of the same kind of GPU: its figures of peers are used again")
    parser.add_argument("--calls", type=Path, help="JSON {workload: summary or microseconds}: smelt's wall time per call from C++")
    parser.add_argument("--peer-limit", type=float, default=60, help="seconds for one peer on one workload, compiling included")
    parser.add_argument("--smelt-limit", type=float, default=60, help="seconds for one call of the tool")
    parser.add_argument("--device", default="cuda", help="of smelt; cpu serves to try the checks")
    parser.add_argument("--check-elements", type=int, default=16_000_000, help="size of the check against float64")
    parser.add_argument("--dry-run", action="store_true", help="canned figures in place of measurements: shows the page and the pictures")
    options = parser.parse_args()
    options.peers = peers.selected(options.peers)
    if options.quick:
        options.check_elements = min(options.check_elements, 1_000_000)
        options.peers = [p for p in options.peers if p != "autotune"]
    return options


class Session(session.Results):
    def __init__(self, options):
        super().__init__(options.out, options.resume)
        self.options = options
        self.torch = self.device = None
        for w in workloads.selected(options.only):
            self.entry(w)

    def entry(self, workload):
        fresh = {"copy": None, "peers": {}, "smelt": None, "check": None}
        return self.data["workloads"].setdefault(workload.name, fresh)

    def out_of_time(self, what):
        if self.seconds() < self.options.budget:
            return False
        self.data["skipped"].append(what)
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
            self.data["machine"].update(machine(torch, self.device))
            return True
        except Exception as error:
            say(f"no GPU for the peers: {first_line(error)}")
            self.data["missing"] = {"torch": first_line(error)}
            return False


def guarded(limit_s, what, function):
    """A record of what the function gives, or of why it did not."""
    start = time.monotonic()
    try:
        found, error = session.attempt(limit_s, what, function, (smelt_tool.Failed,))
        if not error:
            return found
        return {"status": "error", "error": error, "seconds": time.monotonic() - start}
    except NotWritten as error:
        return {"status": "left out", "error": str(error), "seconds": time.monotonic() - start}


def machine(torch, device):
    p = torch.cuda.get_device_properties(0)
    clock, width = measure.driver_attribute(36), measure.driver_attribute(37)  # MEMORY_CLOCK_RATE in kHz, its BUS_WIDTH in bits
    packages = ("triton", "jax", "jaxlib", "cupy-cuda13x", "cupy-cuda12x", "cupy", "numpy")
    versions = {"torch": torch.__version__, "cuda of torch": torch.version.cuda, **session.versions(packages)}
    host = session.host()
    return {
        "gpu": p.name, "sm": f"{p.major}.{p.minor}", "multiprocessors": p.multi_processor_count,
        "memory_bytes": p.total_memory, "l2_bytes": device.l2_bytes, "peak_gbs": 2 * clock * 1e3 * width / 8 / 1e9 or None,
        "driver": driver(), "cpu_threads": host["cores"], "versions": versions,
        "flush_bytes": device.flushed.numel(), "date": host["date"],
    }


def driver():
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, timeout=20).stdout.strip().splitlines()[0]
    except (OSError, subprocess.TimeoutExpired, IndexError):
        return ""


def stage_check(run, chosen):
    """Correctness: one workload of each length of row is enough, but there are few."""
    options = run.options
    on_gpu = options.device != "cpu" and run.open_gpu()
    for w in chosen:
        entry = run.entry(w)
        if (entry["check"] or {}).get("ok") or run.out_of_time(f"check {w.name}"):
            continue
        record = guarded(2 * options.smelt_limit, w.name, lambda: check.against_float64(
            options.smelt, w, options.device, options.check_elements, options.smelt_limit, run.torch if on_gpu else None))
        if any(a.dtype == "bf16" for a in w.family.inputs):
            record["as_it_is"] = guarded(options.smelt_limit, w.name, lambda: check.against_interpreter(
                options.smelt, w, options.device, 200_000, options.smelt_limit))
        entry["check"] = record
        run.save()
        say(f"check {w.name:32} {verdict(record)}" + (f"; bf16 as it is: {verdict(record['as_it_is'])}" if "as_it_is" in record else ""))


def verdict(record):
    if "error" in record:
        return "FAILED: " + record["error"]
    detail = f"max abs {record['max_abs']:.2g}, rel {record['max_rel']:.2g}" if "max_abs" in record else ""
    return ("right " if record["ok"] else "WRONG ") + detail + (" " + record["note"] if record["note"] else "")


def stage_copy(run, chosen):
    if not run.open_gpu():
        return
    for w in chosen:
        entry = run.entry(w)
        if not entry["copy"] and not run.out_of_time(f"copy {w.name}"):
            record = guarded(30, w.name, lambda: run.device.copy(w.bytes))
            entry["copy"] = record if "cold_us" in record else None
            run.torch.cuda.empty_cache()
    run.save()


def stage_smelt(run, chosen):
    options = run.options
    calls = json.loads(options.calls.read_text()) if options.calls and options.calls.exists() else {}
    for w in chosen:
        entry = run.entry(w)
        if (entry["smelt"] or {}).get("status") != "ok" and not run.out_of_time(f"smelt {w.name}"):
            seconds = 0.05 if options.quick else 0.2
            entry["smelt"] = guarded(2 * options.smelt_limit, w.name, lambda: smelt_tool.bench(
                options.smelt, w, options.device, seconds, options.smelt_limit, w.smaller(options.shrink) if options.shrink else None))
            run.save()
            say(f"smelt {w.name:32} {short(entry['smelt'])}")
        if w.name in calls and entry["smelt"]:
            value = calls[w.name]
            entry["smelt"]["cpp_call_us"] = value if isinstance(value, dict) else measure.summary([value])
    run.save()


def short(record):
    if record["status"] != "ok":
        return f"{record['status']}: {record.get('error', '')}"
    figures = [f"{name[:-3]} {record[name]['median']:.1f}" for name in ("cold_us", "hot_us", "call_us", "graph_us") if record.get(name)]
    return ", ".join(figures) + f" us, {record.get('kernels')} kernels" + ("; cached" if record.get("cached") else "")


def reuse_peers(run):
    """Takes over what an earlier run on the same kind of GPU measured, and marks it."""
    file = run.options.peers_cache
    if not file or not file.exists():
        return
    earlier = json.loads(file.read_text())
    here, there = run.data["machine"].get("gpu"), earlier["machine"].get("gpu")
    if here and there and here != there:
        say(f"peers-cache: that was a {there}, this is a {here}: not used")
        return
    for name, old in earlier["workloads"].items():
        entry = run.data["workloads"].get(name)
        for key, record in old["peers"].items() if entry else ():
            if record["status"] == "ok" and key not in entry["peers"]:
                entry["peers"][key] = {**record, "cached": record.get("cached") or earlier["machine"].get("date", "earlier")}
    run.save()


def stage_peers(run, chosen):
    """The quick ones for every workload first, then the slow max-autotune as far as the time goes."""
    on_gpu = run.open_gpu()
    reuse_peers(run)
    if not on_gpu:
        return
    keys, run.data["missing"] = session.imported({k: peers.LIBRARIES[k] for k in run.options.peers})
    for group in ([k for k in keys if k != "autotune"], [k for k in keys if k == "autotune"]):
        for w in chosen:
            if not peers_of(run, w, [k for k in group if k != "graphs" or w.small]):
                return


def peers_of(run, w, keys):
    torch, entry = run.torch, run.entry(w)
    missing = [k for k in keys if entry["peers"].get(k, {}).get("status") not in ("ok", "left out")]
    missing = [k for k in missing if not run.out_of_time(f"{k} {w.name}")]
    if not missing:
        return True
    inputs = exact = None
    try:
        inputs = peers.make_inputs(torch, w)
        exact = check.accuracy.reference(torch, w.family, inputs)
    except Exception as error:
        say(f"{w.name}: no reference: {first_line(error)}")

    def compared(out):
        return check.accuracy.compare(torch, w.family, out, exact) if exact else {"ok": None, "note": "no reference"}

    for key in missing:
        if inputs is None or run.out_of_time(f"{key} {w.name}"):
            continue
        entry["peers"][key] = guarded(run.options.peer_limit, f"{key} on {w.name}",
                                      lambda: peers.measure(key, torch, run.device, w, inputs, compared))
        run.save()
        say(f"{key:9} {w.name:32} {short(entry['peers'][key])}")
        if not alive(run):
            run.data["missing"]["the GPU's context"] = f"lost after {key} on {w.name}; --resume goes on in a new process"
            return False
    del inputs, exact
    free_memory(run)
    return True


def alive(run):
    """A kernel that went wrong ends the whole context: nothing after it can be measured by this process."""
    try:
        run.torch.cuda.synchronize()
        return True
    except Exception:
        return False


def free_memory(run):
    run.torch.cuda.empty_cache()
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()


def version_of_smelt(tool):
    try:
        return smelt_tool.run([tool, "--version"], 20).strip()
    except smelt_tool.Failed as error:
        return str(error)


def main():
    options = arguments()
    chosen = workloads.selected(options.only)
    if options.list:
        session.list_workloads(chosen)
        return 0
    if options.render or options.dry_run:
        results = json.loads(options.render.read_text()) if options.render else canned.results()
        report.write(results, options.out, options.page)
        return 0
    if not options.smelt:
        options.stages = [s for s in options.stages if s in ("copy", "peers")]
    elif not options.smelt.exists():
        raise SystemExit(f"bench: there is no {options.smelt}\nhelp: build it (make build) and name it with --smelt")
    run = Session(options)
    if options.smelt:
        run.data["machine"]["smelt"] = version_of_smelt(options.smelt)
    stages = {"check": stage_check, "copy": stage_copy, "smelt": stage_smelt, "peers": stage_peers}
    for name in options.stages:
        say(f"== {name}")
        stages[name](run, chosen)
    if options.shrink:
        run.data["machine"]["shrunk"] = options.shrink
    run.data["machine"].setdefault("date", session.host()["date"])
    run.data["seconds"] = run.seconds()
    run.save()
    report.write(run.data, options.out, options.page)
    wrong = [n for n, e in run.data["workloads"].items() if (e["check"] or {}).get("ok") is False or "error" in (e["check"] or {})]
    return 1 if wrong else 0
