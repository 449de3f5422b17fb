"""What a run of a benchmark has, whatever it measures: options, the machine, results that are saved after every step, and errors of
libraries that do not end it."""

import argparse
import datetime
import importlib
import importlib.metadata
import json
import os
import platform
import time
import traceback
from pathlib import Path

from library import NotWritten, first_line
from timing import TimeLimit, time_limit

HIDDEN = argparse.SUPPRESS


def say(text):
    print(text, flush=True)


def parser(description, **defaults):
    """The options that benchmarks of workloads share; `defaults`: those of out, peers and budget."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--out", type=Path, default=defaults["out"], help="folder for results.json, the page and the pictures")
    made.add_argument("--only", default="", type=names, help="names, or beginnings of names, of workloads: softmax,'relu_layernorm 4096'")
    made.add_argument("--peers", default=defaults["peers"], type=names, help=f"of {defaults['peers']}; '' for none")
    made.add_argument("--budget", type=float, default=defaults["budget"], help="seconds for everything: after them nothing is begun")
    made.add_argument("--quick", action="store_true", help="fewer and shorter measurements, for a look")
    made.add_argument("--shrink", type=int, help="at most so many elements: tries the machinery, measures nothing")
    made.add_argument("--render", type=Path, metavar="RESULTS", help="only write the page and the pictures of a results.json")
    made.add_argument("--page", type=Path, help="where the page goes (OUT/report.md); its pictures are in a folder next to it")
    made.add_argument("--list", action="store_true", help="the workloads")
    return made


def names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def list_workloads(workloads):
    for w in workloads:
        say(f"{w.name:34} {w.bytes / 1e6:10.1f} MB   {w.family.formula}")


def versions(packages):
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def host():
    """The machine around the device that is measured."""
    return {"cores": os.cpu_count(), "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release(), "date": datetime.date.today().isoformat()}


def imported(modules):
    """Those of key -> module that can be imported, and why the others cannot: (keys, module -> reason)."""
    keys, missing = [], {}
    for key, module in modules.items():
        try:
            importlib.import_module(module)
            keys.append(key)
        except Exception as error:  # an import can fail in any way
            if module not in missing:
                say(f"{module} is left out: {first_line(error)}")
            missing[module] = first_line(error)
    return keys, missing


def attempt(limit_s, what, function, expected=()):
    """(what the function gives, ""), or (None, the error as results keep it). `expected`: errors whose text says all.
    NotWritten is for the caller."""
    try:
        with time_limit(limit_s, what):
            return function(), ""
    except NotWritten:
        raise
    except (TimeLimit, *expected) as error:
        return None, str(error)[:500]
    except Exception as error:
        say("    " + traceback.format_exc(limit=-3).replace("\n", "\n    ").rstrip())
        return None, first_line(error)


class Results:
    """results.json, saved after every step: a run that is cut short leaves what it had."""

    def __init__(self, folder, resume=False):
        self.start = time.monotonic()
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "results.json"
        self.data = {"schema": 1, "machine": {}, "workloads": {}}
        if resume and self.file.exists():
            self.data = json.loads(self.file.read_text())
        self.data.update(skipped=[], missing={})

    def seconds(self):
        return time.monotonic() - self.start

    def save(self):
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.data, indent=1))
        part.replace(self.file)
