"""Runs rows by the command line tool, and reads what it says of them."""

import contextlib
import fcntl
import json
import tempfile
from pathlib import Path

from command_line import Failed, run

BATCH = 48 << 20  # bytes of a row's inputs on a CPU
GATHERS = ("take(", "take_along_axis(", "embedding(")  # such rows read part of an input: how much is needed is not known


@contextlib.contextmanager
def turn(options):
    """Shards that run at the same time on one GPU measure one after the other."""
    if options.device == "cpu":
        yield
        return
    with open(Path(tempfile.gettempdir()) / "smelt_suite.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def spec(array):
    filler = "" if array.filler.startswith("below") else array.filler
    return f"{filler}:{array.type}" if filler else array.type


def inputs(arrays, files=()):
    """The options of the inputs; `files`: name -> path of those that are read from a file."""
    options = []
    for name, array in arrays.items():
        value = f"@{files[name]}" if name in files else "+".join(f"1*{spec(a)}" for a in array) if isinstance(array, list) else spec(array)
        options += ["-i", f"{name}={value}"]
    return options


def drawn(arrays, folder):
    """Files of the inputs that the tool cannot fill: integers below a limit."""
    import numpy

    files = {}
    for name, array in arrays.items():
        if not isinstance(array, list) and array.filler.startswith("below"):
            files[name] = folder / f"{name}.npy"
            below = int(array.filler.partition("=")[2])
            dtype = array.dtype.replace("i", "int").replace("u", "uint")
            numpy.save(files[name], numpy.random.default_rng(7).integers(0, below, array.shape, dtype))
    return files


def threads(options):
    """A GPU takes no such option."""
    return ["--threads", options.threads] if options.threads and options.device == "cpu" else []


def explain(smelt, row, arrays, device, folder, more=()):
    program = folder / f"{row.name}.smelt"
    program.write_text(row.program(arrays))
    return json.loads(run([smelt, "explain", program, "--device", device, "--json", "-", *inputs(arrays), *more]))


def bench(options, row, folder):
    """What is kept of `smelt bench`: on a CPU `us` for existing and `fresh_us` for new outputs, on a GPU
    `us` with a cold cache."""
    arrays = row.arrays(BATCH if options.device == "cpu" else None)
    try:
        program = folder / f"{row.name}.smelt"
        program.write_text(row.program(arrays))
        command = [options.smelt, "bench", program, "--device", options.device, "--fused-only", "--json", "-",
                   "--time-limit", options.seconds, *inputs(arrays, drawn(arrays, folder))]
        command += ["--tune"] * options.tune + threads(options)
        with turn(options):
            result = json.loads(run(command))["results"][0]
    except Failed as error:
        return {"error": str(error)}
    fused, gpu = result["fused"], options.device != "cpu"
    time = fused["cold_ms" if gpu else "time_ms"]
    copy_us = fused["copy_ms"]["cold"]["median"] * 1e3 if gpu else fused["bytes"] / fused["copy_gbs"] / 1e3
    entry = {"us": time["median"] * 1e3, "noise_us": time["noise"] * time["median"] * 1e3, "kernels": fused["kernels"],
             "bytes": fused["bytes"], "copy_us": copy_us, "compile_ms": result["compile_ms"]}
    if not gpu:
        entry["fresh_us"] = fused["fresh_ms"]["median"] * 1e3
    return entry


def expected(options, row, entry, folder):
    """What is kept of `smelt explain` besides `entry`: the predicted time, and the floor. Run after bench(), whose
    compile_ms is without the cache."""
    if "error" in entry:
        return {}
    arrays = row.arrays(BATCH if options.device == "cpu" else None)
    try:
        plan = explain(options.smelt, row, arrays, options.device, folder, ["--candidates", *threads(options)])
    except Failed as error:
        return {"error": str(error)}
    chosen = [next((c["predicted_us"] for c in k.get("candidates", []) if c["chosen"]), None) for k in plan["kernels"]]
    found = {"predicted_us": sum(chosen)} if None not in chosen else {}
    if not any(gather in row.text for gather in GATHERS):
        found["floor_us"] = entry["copy_us"] * plan["traffic"]["ideal_bytes"] / entry["bytes"]
    return found
