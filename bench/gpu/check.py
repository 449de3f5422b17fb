"""Whether smelt is right: each program at moderate sizes, inputs and outputs through .npy files, against float64; and where asked,
`smelt bench` with its own check at small sizes, which runs the bf16 kernels as they are."""

import tempfile

import accuracy
import smelt_tool


def round_to_bf16(numpy, x):
    bits = x.astype("float32").view("uint32")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & numpy.uint32(0xFFFF0000)).view("float32")


def make_inputs(numpy, workload, sizes, seed=7):
    random = numpy.random.default_rng(seed)
    out = []
    for array in workload.family.inputs:
        shape = array.shape(sizes)
        if array.dtype.startswith("i"):
            out.append(random.integers(0, 100, shape, dtype="int64" if array.dtype == "i64" else "int32"))
            continue
        uniform = array.filler == "uniform"
        values = random.random(shape, dtype="float32") if uniform else random.standard_normal(shape, dtype="float32")
        values = numpy.asarray(values, dtype="float32")
        out.append(round_to_bf16(numpy, values) if array.dtype == "bf16" else values)
    return out


def against_float64(tool, workload, device, elements, limit_s, torch=None):
    """`torch`: calculates the reference on its GPU; numpy does without."""
    import numpy

    sizes = workload.smaller(elements)
    arrays = make_inputs(numpy, workload, sizes)
    with tempfile.TemporaryDirectory() as folder:
        got = smelt_tool.run_on_files(tool, workload.family, arrays, device, limit_s, folder)
    if torch is not None:
        xp = torch
        arrays = [torch.from_numpy(a).cuda() for a in arrays]
        got = [torch.from_numpy(a).cuda() for a in got]
    else:
        xp = numpy
    result = accuracy.compare(xp, workload.family, got, accuracy.reference(xp, workload.family, arrays))
    result["sizes"] = sizes
    return result


def against_interpreter(tool, workload, device, elements, limit_s):
    sizes = workload.smaller(elements)
    record = smelt_tool.bench(tool, workload, device, 0.02, limit_s, sizes, check=True)
    return {"ok": bool(record["checked"]), "note": record["check_note"], "sizes": sizes}
