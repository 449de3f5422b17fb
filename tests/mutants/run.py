#!/usr/bin/env python3
"""Plants bugs, one at a time, and says which the tests notice.

    python3 tests/mutants/run.py                       # all of tests/mutants/list.json
    python3 tests/mutants/run.py --only NAME           # those whose name contains NAME
    python3 tests/mutants/run.py --build build/release # another build made by Ninja; build/quick is expected
    python3 tests/mutants/run.py --jobs 8              # eight at a time

The sources stay as they are. A changed copy of one file is compiled as the build compiles that file,
and each test program that should notice is linked again with this object in front of the libraries.
Everything lies in build/mutants. The exit status is 1 unless all are caught. A bug with which tests
do not end is not counted as caught: the machine may be slow.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("list.json")


class DoesNotApply(Exception):
    pass


class DoesNotBuild(Exception):
    pass


class DoesNotEnd(Exception):
    pass


def mutated(mutant):
    """The file, and its text with the bug. "file" may be a pattern: of several files, one has the text."""
    found = []
    for path in sorted(ROOT.glob(mutant["file"])):
        text = path.read_text()
        if mutant["old"] in text:
            found.append((path, text))
    if len(found) != 1 or found[0][1].count(mutant["old"]) != 1:
        raise DoesNotApply(f"{mutant['file']} has the text {sum(t.count(mutant['old']) for _, t in found)} times")
    path, text = found[0]
    return path, text.replace(mutant["old"], mutant["new"])


class Build:
    def __init__(self, folder):
        self.folder = folder
        if not (folder / "build.ninja").exists():
            sys.exit(f"{folder} is no build by Ninja: cmake --preset quick -G Ninja")

    def make(self, programs):
        subprocess.run(["ninja", "-C", str(self.folder), *sorted(f"tests/{p}" for p in programs)], check=True,
                       stdout=subprocess.DEVNULL)
        commands = json.loads((self.folder / "compile_commands.json").read_text())
        # A file may be compiled for several targets; any of them does.
        self.compile_commands = {c["file"]: shlex.split(c["command"]) for c in reversed(commands)}

    def run(self, words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise DoesNotBuild((done.stderr + done.stdout).strip().split("\n")[0])

    def compile(self, path, text, into):
        command = self.compile_commands.get(str(path))
        if command is None:
            raise DoesNotApply(f"{path.name} is compiled by no target")
        copy = into / path.name
        copy.write_text(text)
        object_file = into / (path.name + ".o")
        words = list(command)
        words[words.index("-o") + 1] = str(object_file)
        words[words.index("-c") + 1] = str(copy)
        self.run(words + ["-iquote", str(path.parent)])
        return object_file

    def link(self, program, object_file, into):
        listed = subprocess.run(["ninja", "-C", str(self.folder), "-t", "commands", "-s", f"tests/{program}"],
                                capture_output=True, text=True, check=True).stdout
        command = shlex.split(listed.strip().split("\n")[-1])
        words = []
        for word in command[command.index("&&") + 1:]:  # ": && c++ ... && cd ..."
            if word == "&&":
                break
            words.append(word)
        made = into / program
        words[words.index("-o") + 1] = str(made)
        first = next(i for i, w in enumerate(words) if w.endswith(".a"))
        words.insert(first, str(object_file))
        self.run(words)
        return made


def notices(program, test_filter, into, seconds):
    """The first test that fails, or None."""
    environment = dict(os.environ, SMELT_CACHE_DIR=str(into / "cache"))
    try:
        ran = subprocess.run([str(program), f"--gtest_filter={test_filter}", "--gtest_fail_fast"], cwd=into,
                             env=environment, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise DoesNotEnd(f"{program.name} {test_filter} in {seconds} s")
    if "Running 0 tests" in ran.stdout:
        raise DoesNotApply(f"{program.name} has no test {test_filter}")
    if ran.returncode == 0:
        return None
    failed = re.search(r"^\[  FAILED  \] (\S+?)[,\s]", ran.stdout, re.M)
    started = re.findall(r"^\[ RUN      \] (\S+)", ran.stdout, re.M)
    return failed.group(1) if failed else f"{started[-1] if started else program.name} ends by {ran.returncode}"


def plant(mutant, build, folder, seconds):
    """What became of it, and in which words."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        object_file = build.compile(*mutated(mutant), folder)
        for program, test_filter in mutant["tests"].items():
            failed = notices(build.link(program, object_file, folder), test_filter, folder, seconds)
            if failed:
                return "caught", failed
        return "survived", ""
    except DoesNotApply as why:
        return "does not apply", str(why)
    except DoesNotBuild as why:
        return "does not build", str(why)
    except DoesNotEnd as why:
        return "does not end", str(why)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = argparse.ArgumentParser(description="Plants bugs and says which the tests notice.")
    options.add_argument("--only", default="", help="only bugs whose name contains this")
    options.add_argument("--build", default="build/quick", help="a build by Ninja")
    options.add_argument("--seconds", type=int, default=120, help="time for each test program")
    options.add_argument("--jobs", type=int, default=1, help="bugs planted at a time, each in its own folder")
    options.add_argument("--list", action="store_true", help="names the bugs and the tests that should notice")
    options = options.parse_args()
    mutants = [m for m in json.loads(LIST.read_text()) if options.only in m["name"]]
    if options.list:
        for m in mutants:
            print(f"{m['name']}: {m['file']}, {', '.join(f'{p} {f}' for p, f in m['tests'].items())}")
        return 0
    build = Build((ROOT / options.build).resolve())
    build.make({p for m in mutants for p in m["tests"]})
    counts = {}

    def timed(m):
        start = time.monotonic()
        return *plant(m, build, ROOT / "build" / "mutants" / m["name"], options.seconds), time.monotonic() - start

    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        running = {pool.submit(timed, m): m for m in mutants}
        for done in concurrent.futures.as_completed(running):
            outcome, words, seconds = done.result()
            counts[outcome] = counts.get(outcome, 0) + 1
            print(f"{outcome:14} {seconds:5.0f} s  {running[done]['name']}{': ' + words if words else ''}", flush=True)
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
    return 0 if set(counts) <= {"caught"} else 1


if __name__ == "__main__":
    sys.exit(main())
