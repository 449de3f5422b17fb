"""smelt through its command line: `smelt bench` fills its own inputs on the device, `smelt run` takes and gives .npy files."""

import json
import re
import tempfile
from pathlib import Path

from command_line import Failed, run, top_level

# Where `smelt bench --json` says what, under "fused" and "unfused"; the first that is there counts. Milliseconds unless the name says us.
DEVICE_COLD = ("device_cold_ms", "device_ms.cold", "cold_device_ms", "device_cold_us", "cold_ms")
DEVICE_HOT = ("device_hot_ms", "device_ms.hot", "hot_device_ms", "device_hot_us", "device_ms", "hot_ms", "time_ms")
CALL = ("call_ms", "wall_ms", "call_us", "wall_us", "device_ms.call")
GRAPH = ("graph_ms", "graph_call_ms", "replay_ms", "graph_us")


def input_options(workload, sizes):
    options = []
    for array in workload.family.inputs:
        dims = ",".join(str(n) for n in array.shape(sizes))
        options += ["-i", f"{array.name}={array.filler}:{array.dtype}" + (f"[{dims}]" if dims else "")]
    return options


def bench(tool, workload, device="cuda", time_limit_s=0.3, limit_s=60, sizes=None, check=False):
    """One result of `smelt bench`, in the words of this benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        command = [tool, "bench", workload.family.program, "--device", device, "--time-limit", time_limit_s, "--json", file]
        command += input_options(workload, sizes or workload.sizes) + ([] if check else ["--no-check"])
        run(command, limit_s)
        return read(json.loads(file.read_text()))


def read(document):
    """What `smelt bench --json` wrote, as a record like those of the peers."""
    result = document["results"][0]
    record = {"status": "ok", "note": ""}
    record.update(read_side(result["fused"]))
    record["unfused"] = read_side(result["unfused"]) if result.get("unfused") else None
    record["compile_ms"] = result.get("compile_ms")
    record["checked"] = result.get("correct")
    record["check_note"] = (result.get("accuracy") or {}).get("note", "")
    return record


def read_side(side):
    return {
        "kernels": side.get("kernels"),
        "bytes": side.get("bytes"),
        "cold_us": reading(side, DEVICE_COLD),
        "hot_us": reading(side, DEVICE_HOT),
        "call_us": reading(side, CALL),
        "graph_us": reading(side, GRAPH),
        "copy_gbs": side.get("copy_gbs"),
    }


def reading(side, names):
    for name in names:
        value = side
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, dict) and "median" not in value:
            continue
        if value is not None:
            return in_microseconds(value, 1 if name.endswith("_us") else 1e3)
    return None


def in_microseconds(value, scale):
    """smelt's summary has a median and a spread that is a deviation; quartiles are as far from it as in normal noise."""
    if not isinstance(value, dict):
        value = {"median": value}
    median = value["median"] * scale
    spread = value.get("spread", 0) * scale
    return {
        "median": median,
        "q1": value["q1"] * scale if "q1" in value else median - 0.6745 * spread,
        "q3": value["q3"] * scale if "q3" in value else median + 0.6745 * spread,
        "mean": value["mean"] * scale if "mean" in value else median,
        "deviation": value["deviation"] * scale if "deviation" in value else spread,
        "min": value.get("min", value["median"]) * scale,
        "max": value.get("max", value["median"]) * scale,
        "runs": value.get("runs", 0),
    }


# .npy files hold no bf16: such arrays travel as f32 and are cast at the ends of the program.


def program_over_f32(family):
    text = family.program.read_text()
    heads, casts, body = [], [], []
    for line in text.splitlines():
        match = re.match(r"input (\w+): (\w+)(.*)", line)
        if not match:
            body.append(line)
        elif match[2] == "bf16":
            heads.append(f"input {match[1]}_f32: f32{match[3]}")
            casts.append(f"{match[1]} = bf16({match[1]}_f32)")
        else:
            heads.append(line)
    if any(a.dtype == "bf16" for a in family.outputs):
        values = top_level(body[-1].removeprefix("return "))
        body[-1] = "return " + ", ".join(f"f32(bf16({v}))" for v in values)
    return "\n".join(heads + casts + body) + "\n"


def run_on_files(tool, family, arrays, device, limit_s, folder):
    """The outputs of the program as numpy arrays; `arrays`: inputs as numpy arrays, bf16 ones as f32 that bf16 holds."""
    import numpy

    folder = Path(folder)
    (folder / "program.smelt").write_text(program_over_f32(family))
    command = [tool, "run", folder / "program.smelt", "--device", device]
    for array, values in zip(family.inputs, arrays):
        numpy.save(folder / f"{array.name}.npy", values)
        command += ["-i", f"{array.name}{'_f32' if array.dtype == 'bf16' else ''}=@{folder / array.name}.npy"]
    outputs = [folder / f"output{i}.npy" for i in range(len(family.outputs))]
    for output in outputs:
        command += ["-o", output]
    run(command, limit_s)
    return [numpy.load(output) for output in outputs]
