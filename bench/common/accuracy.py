"""Results against float64, in numpy or in torch (on the GPU), in slices so that the float64 copies stay small."""

import importlib
import math

# What smelt documents (docs/cli.md): relative, absolute.
TOLERANCE = {"f64": (1e-12, 1e-12), "f32": (1e-5, 1e-6), "f16": (1e-3, 1e-3), "bf16": (1.6e-2, 1.6e-2)}
SLICE = 1 << 25  # elements


def is_numpy(xp):
    return xp.__name__ == "numpy"


def double(xp, x):
    return x.astype("float64") if is_numpy(xp) else x.double()


def reference(xp, family, inputs):
    """The outputs in float64, as a list. `inputs`: arrays of xp in their own dtypes."""
    formula = getattr(importlib.import_module("exact"), family.name)
    if getattr(formula, "keeps_dtype", False):
        return [formula(xp, *inputs)]
    first = family.inputs[0].dims
    rows = first[0] if first else None
    length = inputs[0].shape[0] if rows else 0
    step = length
    if family.sliced and length:
        widest = max(x.size if is_numpy(xp) else x.numel() for x in inputs)
        step = max(1, SLICE * length // max(1, widest))
    if step >= length:
        return as_list(formula(xp, *[double(xp, x) for x in inputs]))
    parts = []
    for i in range(0, length, step):
        some = [x[i:i + step] if a.dims[:1] == (rows,) else x for a, x in zip(family.inputs, inputs)]
        parts.append(as_list(formula(xp, *[double(xp, x) for x in some])))
    join = xp.concatenate if is_numpy(xp) else xp.cat
    return [join(column) for column in zip(*parts)]


def as_list(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def compare(xp, family, got, wanted):
    """The largest errors over all outputs. Integers that rounding moved by one are counted apart."""
    got = as_list(got)
    drops = getattr(getattr(importlib.import_module("exact"), family.name, None), "drops", None)
    if drops is not None:
        wanted, rate = dropped(xp, got, wanted)
    result = {"elements": 0, "max_abs": 0.0, "max_rel": 0.0, "outside": 0, "off_by_one": 0, "ok": False, "note": ""}
    if len(got) != len(family.outputs):
        result["note"] = f"{len(got)} outputs, not {len(family.outputs)}"
        return result
    for array, values, exact in zip(family.outputs, got, wanted):
        if tuple(values.shape) != tuple(exact.shape):
            result["note"] = f"shape {tuple(values.shape)}, not {tuple(exact.shape)}"
            return result
        values, exact = values.reshape(-1), exact.reshape(-1)
        for i in range(0, max(1, len(exact)), SLICE):
            compare_slice(xp, family.tolerance or TOLERANCE.get(array.dtype), double(xp, values[i:i + SLICE]), exact[i:i + SLICE], result)
    if drops is not None and abs(rate[0] - drops * rate[1]) > 5 * math.sqrt(drops * (1 - drops) * rate[1]):
        result["note"] = f"{rate[0]} of {rate[1]} dropped"
    elif result["outside"]:
        result["note"] = f"{result['outside']} outside the tolerance"
    elif result["off_by_one"] > 1e-4 * result["elements"]:
        result["note"] = f"{result['off_by_one']} off by one"
    else:
        result["ok"] = True
    return result


def dropped(xp, got, wanted):
    """What is wanted where an element may be dropped; and how many of those that are not 0 anyway were."""
    values, exact = got[0].reshape(-1), wanted[0].reshape(-1)
    candidates = exact != 0
    gone = candidates & (values == 0)
    kept = xp.where(gone, xp.zeros_like(exact), exact)
    return [kept.reshape(wanted[0].shape)], (int(gone.sum()), int(candidates.sum()))


def compare_slice(xp, tolerance, values, exact, result):
    if not len(exact):
        return
    same = (values == exact) | (xp.isnan(values) & xp.isnan(exact))
    error = abs(values - exact)
    error = xp.where(same, xp.zeros_like(error), xp.where(xp.isnan(error), xp.full_like(error, math.inf), error))
    size = xp.where(xp.isfinite(exact), abs(exact), xp.zeros_like(exact))
    result["elements"] += len(exact)
    result["max_abs"] = max(result["max_abs"], float(error.max()))
    # Beside zero a relative error says nothing: only values that are not tiny count.
    large = size > 1e-3
    relative = xp.where(large, error, xp.zeros_like(error)) / xp.where(large, size, xp.ones_like(size))
    result["max_rel"] = max(result["max_rel"], float(relative.max()))
    if tolerance:
        rtol, atol = tolerance
        result["outside"] += int((error > atol + rtol * size).sum())
    else:
        result["off_by_one"] += int((error == 1).sum())
        result["outside"] += int((error > 1).sum())
