"""Runs the programs of programs/ with smelt and with torch on a GPU or a CPU. See bench/README.md."""

import argparse
import concurrent.futures
import fcntl
import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

import check
import page
import tool
from peers import PEERS, Torch
from programs import SETS
from session import names


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smelt", type=Path, help="the command line tool; without it only torch is measured")
    parser.add_argument("--out", type=Path, help="results.json and report.md are written here; what results.json holds already is kept")
    parser.add_argument("--device", choices=("cuda", "cpu"), help="cuda where torch finds a GPU, else cpu")
    parser.add_argument("--threads", type=int, help="of the CPU, for smelt and torch")
    parser.add_argument("--set", choices=SETS, default="suite", help="unseen: programs that were written apart from those that smelt was measured with")
    parser.add_argument("--only", default="", type=names, help="names, or beginnings of names, of rows, or families: softmax,pairs")
    parser.add_argument("--shard", default="1/1", help="I/N: rows I, I + N, I + 2 N, ... of those selected")
    parser.add_argument("--peers", default="eager,compile", type=names, help=f"of {', '.join(PEERS)}; '' for none")
    parser.add_argument("--seconds", type=float, default=0.1, help="for one measurement")
    parser.add_argument("--budget", type=float, default=480, help="seconds after which no row is begun")
    parser.add_argument("--tune", action="store_true", help="smelt times its candidates first")
    parser.add_argument("--compare", type=Path, help="an older results.json: says which rows of smelt got slower; exit status 1 if any")
    parser.add_argument("--prepare", type=int, metavar="JOBS", help="times nothing: compiles the peers' programs, JOBS at a time; they keep them")
    parser.add_argument("--check", action="store_true", help="times nothing: compares smelt with torch in float64 at small sizes")
    parser.add_argument("--plan", metavar="DEVICE", help="times nothing: lists the kernels of every row, as on sm_90 or cpu")
    options = parser.parse_args()
    if not (options.out or options.check or options.plan or options.prepare):
        parser.error("--out is missing")
    if (options.check or options.plan) and not options.smelt:
        parser.error("--check and --plan need --smelt")
    if set(options.peers) - set(PEERS):
        parser.error(f"--peers: of {', '.join(PEERS)}")
    if not options.device:
        options.device = default_device()
    return options


def default_device():
    try:
        import torch
    except ImportError:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def selected(options):
    rows = [r for r in SETS[options.set] if not options.only or any(r.name.startswith(w) or r.family == w for w in options.only)]
    index, count = map(int, options.shard.split("/"))
    return rows[index - 1 :: count]


def keep(file, name, entry):
    """Joins a row's entry with what the file holds by now, as shards share it. Returns all results."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "a+") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        results = json.loads(stream.read() or "{}")
        if name:
            results[name] = {**results.get(name, {}), **entry}
            stream.truncate(0)
            stream.write(json.dumps(results, indent=1))
    return results


def measured(options, row, torch, folder):
    entry = {"device": options.device}
    if options.smelt:
        entry["smelt"] = tool.bench(options, row, folder)
    for peer in options.peers:
        entry[peer] = torch.measure(row, peer)
    return entry


def within_budget(options, rows):
    start = time.monotonic()
    for row in rows:
        if time.monotonic() - start > options.budget:
            print(f"time is over before {row.name}", file=sys.stderr)
            return
        yield row


def measure(options, rows, file, folder):
    torch = Torch(options) if options.peers else None

    def finish(row, entry):
        if options.smelt:
            entry["smelt"] |= tool.expected(options, row, entry["smelt"], folder)
        keep(file, row.name, entry)

    waiting = []
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        for row in within_budget(options, rows):
            entry = measured(options, row, torch, folder)
            if options.device == "cpu":
                finish(row, entry)
            else:  # while the GPU measures the next row
                waiting.append(beside.submit(finish, row, entry))
    for done in waiting:
        done.result()


def prepared(options, name):
    """In a process of its own. Returns a line about the row."""
    torch = Torch(options)
    row = next(r for r in SETS[options.set] if r.name == name)
    failed = [f"{p}: {found['error']}" for p in options.peers if "error" in (found := torch.measure(row, p, once=True))]
    return f"{name} {' '.join(failed) or 'ok'}"


def prepare(options, rows):
    """Fills the caches of the peers' compilers."""
    start = time.monotonic()
    pool = concurrent.futures.ProcessPoolExecutor(options.prepare, multiprocessing.get_context("spawn"))
    waiting = [pool.submit(prepared, options, row.name) for row in rows]
    for done in waiting:
        try:
            print(done.result(max(0, options.budget - (time.monotonic() - start))), flush=True)
        except TimeoutError:
            pool.shutdown(wait=False, cancel_futures=True)
            print("time is over", file=sys.stderr)
            return False
    return True


def checked(options, row, folder):
    try:
        found = check.check(options, row, folder)
    except Exception as error:  # of torch or of the row
        found = {"ok": False, "note": f"{type(error).__name__}: {error}"[:400]}
    print(f"{'ok' if found['ok'] else 'FAILED'} {row.name} {found['note']}", flush=True)
    return {"check": found}


def check_all(options, rows, file, folder):
    good = True
    for row in within_budget(options, rows):
        entry = checked(options, row, folder)
        good = good and entry["check"]["ok"]
        keep(file, row.name, entry)
    return good


def plan(options, rows, folder):
    """Prints rows with their kernels; returns whether every row has a plan."""
    good = True

    def one(row):
        try:
            return tool.explain(options.smelt, row, row.arrays(), options.plan, folder)
        except tool.Failed as error:
            return str(error)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row, found in zip(rows, pool.map(one, rows)):
            if isinstance(found, str):
                good = False
                print(f"FAILED {row.name} {found}")
                continue
            traffic, kernels = found["traffic"], found["kernels"]
            print(f"{row.family} {row.name} {len(kernels)} {traffic['fused_bytes'] / max(1, traffic['ideal_bytes']):.2f} "
                  f"{' '.join(k['strategy'] for k in kernels)}")
    return good


def run(options):
    """Whether all is well."""
    rows = selected(options)
    if options.prepare:
        return prepare(options, rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if options.plan:
            return plan(options, rows, folder)
        file = options.out / "results.json" if options.out else folder / "results.json"
        if options.check:
            return check_all(options, rows, file, folder)
        measure(options, rows, file, folder)
        results = keep(file, None, None)
    text = page.page(results)
    (options.out / "report.md").write_text(text)
    print(text)
    if not options.compare:
        return True
    lines, slower = page.compare(json.loads(options.compare.read_text()), results)
    print("\n".join(lines))
    return not slower


def main():
    return 0 if run(arguments()) else 1
