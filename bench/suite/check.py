"""Whether a row's text and its function of torch mean the same: `smelt run` compared with torch in float64."""

import zlib

import tool
from command_line import top_level
from library import TORCH_DTYPES as DTYPES

BYTES = 2 << 20  # of a row's inputs
# Relative to the value plus the root mean square of its output.
TOLERANCE = {"float64": 1e-10, "float32": 2e-4, "float16": 4e-3, "bfloat16": 3e-2}
MOVED = 1e-3  # of the integers, and of floats after a rounding to integers, may be others


def in_float64(torch):
    """A mode in which casts to narrower floats give float64."""
    from torch.overrides import TorchFunctionMode

    narrow = {torch.float32, torch.float16, torch.bfloat16}
    casts = {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}

    class InFloat64(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function in casts:
                return args[0].double()
            wide = {k: torch.float64 if isinstance(v, torch.dtype) and v in narrow else v for k, v in (kwargs or {}).items()}
            return function(*[torch.float64 if isinstance(a, torch.dtype) and a in narrow else a for a in args], **wide)

    return InFloat64()


def numbers(torch, array, source):
    """As `smelt bench` fills arrays."""
    kind = getattr(torch, DTYPES[array.dtype])
    if array.filler.startswith("below"):
        return torch.randint(0, int(array.filler.partition("=")[2]), array.shape, generator=source, dtype=kind)
    if array.filler == "iota":
        return torch.arange(torch.Size(array.shape).numel(), dtype=kind).reshape(array.shape)
    if array.dtype == "bool":
        return torch.rand(array.shape, generator=source) < 0.5
    if array.dtype == "u8":
        return torch.randint(0, 256, array.shape, generator=source, dtype=kind)
    if not kind.is_floating_point:
        return (torch.randn(array.shape, generator=source) * 10).round().to(kind)
    return (torch.rand if array.filler == "uniform" else torch.randn)(array.shape, generator=source).to(kind)


def each(function, value):
    return [function(v) for v in value] if isinstance(value, (list, tuple)) else function(value)


def flat(value):
    return [v for item in value for v in flat(item)] if isinstance(value, (list, tuple)) else [value]


def over_files(row, arrays, outputs):
    """The program over .npy files. These have no bf16: such arrays travel as f32, and the program casts."""
    text = row.program(arrays)
    narrow = [name for name, a in arrays.items() if not isinstance(a, list) and a.dtype == "bf16"]
    for name in narrow:
        text = text.replace(f"input {name}: bf16", f"input {name}: f32", 1)
    head, body = text[: text.index(row.text)], row.text
    head += "".join(f"{name} = bf16({name})\n" for name in narrow)
    if any(str(o.dtype) == "torch.bfloat16" for o in outputs):
        at = body.rindex("return ") + len("return ")
        values = top_level(body[at:])
        body = body[:at] + ", ".join(f"f32({v})" if str(o.dtype) == "torch.bfloat16" else v for v, o in zip(values, outputs, strict=True))
    return head + body + "\n"


def difference(torch, got, exact, dtype, rounds):
    """What is wrong with an output, or None. `rounds`: the program rounds to integers on the way."""
    if got.shape != exact.shape:
        return f"shape {tuple(got.shape)}, not {tuple(exact.shape)}"
    kind = str(dtype).removeprefix("torch.")
    if kind != "bfloat16" and str(got.dtype) != str(dtype):
        return f"dtype {got.dtype}, not {dtype}"
    if not dtype.is_floating_point:
        wrong = int((got != exact.to(dtype)).sum())
        return f"{wrong} of {got.numel()} integers differ" if wrong > MOVED * got.numel() else None
    got, exact = got.double(), exact.double()
    finite = exact.isfinite()
    same = (got == exact) | (got.isnan() & exact.isnan())
    size = exact[finite].square().mean().sqrt() if finite.any() else exact.new_zeros(())
    near = (got - exact).abs() <= TOLERANCE[kind] * (exact.abs() + size)
    wrong = ~(same | (finite & near))
    if int(wrong.sum()) <= (MOVED * got.numel() if rounds else 0):
        return None
    at = int(wrong.flatten().int().argmax())
    return f"{int(wrong.sum())} of {got.numel()} differ, the first {got.flatten()[at]:.6g}, not {exact.flatten()[at]:.6g}"


def check(options, row, folder):
    import numpy
    import torch

    arrays = row.arrays(BYTES)
    source = torch.Generator().manual_seed(zlib.crc32(row.name.encode()))
    given = [each(lambda a: numbers(torch, a, source), a) for a in arrays.values()]
    native = flat(row.torch(torch, *given))
    with in_float64(torch):
        exact = flat(row.torch(torch, *[each(lambda a: a.double() if a.is_floating_point() else a, a) for a in given]))
    program = folder / "program.smelt"
    program.write_text(over_files(row, arrays, native))
    command = [options.smelt, "run", program, "--device", options.device]
    command += tool.threads(options)
    for name, value in zip(arrays, given):
        for i, array in enumerate(flat(value)):
            file = folder / f"{name}{i}.npy"
            numpy.save(file, (array.float() if array.dtype == torch.bfloat16 else array).numpy())
            command += ["-i", f"{name}[{i}]=@{file}" if isinstance(value, list) else f"{name}=@{file}"]
    outputs = [folder / f"output{i}.npy" for i in range(len(native))]
    for file in outputs:
        command += ["-o", file]
    try:
        tool.run(command)
    except tool.Failed as error:
        return {"ok": False, "note": str(error)}
    notes = []
    for i, (file, n, e) in enumerate(zip(outputs, native, exact)):
        note = difference(torch, torch.from_numpy(numpy.load(file)), e, n.dtype, "round(" in row.text)
        notes += [f"output {i + 1}: {note}"] if note else []
    return {"ok": not notes, "note": "; ".join(notes)}
