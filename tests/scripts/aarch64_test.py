#!/usr/bin/env python3
"""smelt for aarch64: cross-compiled, run under qemu-aarch64, compared with the results of this machine.

Usage: aarch64_test.py SMELT FOLDER. SMELT is the tool for this machine, FOLDER keeps the build. Programs run in
the interpreter, and compiled where apt offers libLLVM for arm64, which is unpacked into FOLDER. Takes
g++-aarch64-linux-gnu, qemu-user, ninja and numpy. Exit status 77 (CTest: skipped) without one of them, or without
SMELT_AARCH64=1 outside of continuous integration."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
COMPILER = "aarch64-linux-gnu-g++"
CROSS_LIBRARIES = Path("/usr/aarch64-linux-gnu")

# Name, arguments of `smelt run`, largest difference of compiled code relative to the largest element: sums are ordered
# by the lanes of a processor. The interpreter has no lanes: its results are the same to the bit.
PROGRAMS = [
    ("elementwise", ["exp(x) * y + 1", "-i", "x=f32[33,65]", "-i", "y=f32[65]"], 0),
    ("layernorm", ["examples/relu_layernorm.smelt", "-i", "x=f32[7,100]"], 1e-5),
    ("quantize", ["examples/quantize_int8.smelt", "-i", "x=f32[1001]"], 0),
    ("heat", ["examples/heat.smelt", "-i", "x=f32[19,37]"], 1e-6),
    ("cumsum", ["examples/cumsum.smelt", "-i", "x=f32[3,257]"], 1e-5),
    ("histogram", ["examples/histogram.smelt", "-i", "picture=uniform:f32[31,33]"], 0),
    ("half", ["softmax(x)", "-i", "x=f16[5,129]"], 2e-3),
    ("gather", ["x[::-1].T // 3", "-i", "x=iota:i64[17,9]"], 0),
]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        text = (done.stdout + done.stderr)[-8000:]
        sys.exit(f"aarch64 test: {' '.join(map(str, command))} ended with {done.returncode}:\n{text}")
    return done.stdout + done.stderr


def build(folder):
    """The tool and the library. Header-only fmt: libfmt for arm64 need not be here."""
    fmt = next((place for place in Path("/usr").glob("lib/*/cmake/fmt")), None) or skip("there is no libfmt-dev")
    variables = {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": "aarch64", "CMAKE_CXX_COMPILER": COMPILER,
                 "CMAKE_BUILD_TYPE": "Debug", "CMAKE_CXX_FLAGS_DEBUG": "-O0", "SMELT_UNITY": "ON", "SMELT_TESTS": "OFF",
                 "SMELT_INSTALL": "OFF", "SMELT_FMT_HEADER_ONLY": "ON", "fmt_DIR": fmt}
    options = [f"-D{name}={value}" for name, value in variables.items()]
    run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-Wno-dev", *options])
    run(["ninja", "-C", folder, "-j", "2", "smelt", "smelt_static"])
    machine = run(["readelf", "-h", folder / "smelt"])
    if "AArch64" not in machine:
        sys.exit(f"aarch64 test: the tool is for another machine:\n{machine}")
    return folder / "smelt"


def libraries_with_llvm(folder):
    """A folder with Debian's libraries for arm64, libLLVM among them, by apt with lists of its own; or None."""
    root = folder / "root"
    if (root / "complete").exists():
        return root
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        return None
    state = folder / "apt"
    for part in ("state/lists/partial", "cache/archives/partial"):
        (state / part).mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    settings = {"APT::Architecture": "arm64", "APT::Architectures": "arm64", "Dir::State": state / "state",
                "Dir::State::status": state / "status", "Dir::Cache": state / "cache"}
    options = [f"-o{name}={value}" for name, value in settings.items()]
    install = ["-y", "--no-install-recommends", "--download-only", "install", "libllvm19", "libstdc++6"]
    for command in (["update"], install):
        done = subprocess.run(["apt-get", "-q", *options, *command], capture_output=True, text=True)
        if done.returncode:
            print(f"apt-get {command[0]} for arm64: {done.stderr.strip()[-300:]}")
            return None
    for package in (state / "cache/archives").glob("*.deb"):
        run(["dpkg", "-x", package, root])
    (root / "complete").touch()
    return root


def main():
    host, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if not os.environ.get("SMELT_AARCH64") and not os.environ.get("CI"):
        skip("minutes of building; SMELT_AARCH64=1 runs it, and continuous integration does")
    for what, there in ((COMPILER, shutil.which(COMPILER)), ("qemu-aarch64", qemu), ("ninja", shutil.which("ninja"))):
        if not there:
            skip(f"there is no {what} (apt-get install g++-aarch64-linux-gnu qemu-user ninja-build)")
    try:
        import numpy
    except ImportError:
        skip("there is no numpy")

    tool = build(folder)
    root = libraries_with_llvm(folder)
    engines = [("interpreter", [qemu, "-L", CROSS_LIBRARIES, tool], ["--fallback", "allow"], {"SMELT_LLVM": "none"})]
    if root:
        engines.append(("compiled", [qemu, "-L", root, tool], [], {}))

    def result(command, arguments, file, variables):
        # One cache for both processors, as in a home that machines share.
        environment = {**os.environ, "SMELT_CACHE_DIR": str(folder / "cache"), **variables}
        run([*command, "run", *arguments, "--seed", "3", "--device", "cpu", "-o", file], cwd=SOURCE, env=environment)
        return numpy.load(file)

    for name, arguments, bound in PROGRAMS:
        for engine, command, more, variables in engines:
            expected = result([host], arguments + more, folder / f"{name}.host.npy", variables)
            found = result(command, arguments + more, folder / f"{name}.npy", variables)
            what = f"aarch64 test: {name}, {engine}"
            if found.dtype != expected.dtype or found.shape != expected.shape:
                sys.exit(f"{what}: {found.dtype}{found.shape}, not {expected.dtype}{expected.shape}")
            apart = numpy.abs(found.astype("f8") - expected.astype("f8")).max()
            allowed = 0 if engine == "interpreter" else bound * numpy.abs(expected.astype("f8")).max()
            if not apart <= allowed:
                sys.exit(f"{what}: up to {apart} from the results of this machine, {allowed} is allowed")
    print(f"aarch64: {len(PROGRAMS)} programs, {' and '.join(engine[0] for engine in engines)}")
    if not root:
        print("not compiled: apt offers no libLLVM for arm64 here")


main()
