"""Programs over rows of 2 to 31 elements on a CPU: bench/run.py short-rows build/release/smelt [OTHER] [--only slice,sum] [--widths 3,12]

Twenty forms of fourteen widths, about a million elements each. Prints the microseconds of the kernels (the least of `smelt explain
--measure`), with another binary those of both and their ratio; a pair that is more than 8 % apart is measured twice more. With
--candidates the kernels' own schedules are compared with the fastest candidate."""
import argparse
import json
import math
import os
import tempfile
from statistics import geometric_mean

from command_line import run
from session import names

ELEMENTS = 1000000
WIDTHS = (2, 3, 4, 5, 7, 8, 10, 12, 14, 16, 20, 24, 28, 31)
# The types of x, y and z, for N * 16 rows of W elements, and what is computed.
FORMS = {
    "slice": ("x: f32[{R},{W2}]", "x[:, 1:-1] * 2 + 1"),
    "slice_heavy": ("x: f32[{R},{W2}]", "tanh(x[:, 1:-1]) * sigmoid(x[:, 2:])"),
    "flip": ("x: f32[{R},{W}]", "flip(x, axis=1) + x"),
    "roll": ("x: f32[{R},{W}]", "roll(x, 1, axis=1) - x"),
    "window3": ("x: f32[{R},{W2}]", "x[:, 2:] + x[:, 1:-1] + x[:, :-2]"),
    "maxpool3": ("x: f32[{N},16,{W2}]", "max_pool(x, (3, 3), 1)"),
    "avgpool2s2": ("x: f32[{N},16,{D}]", "avg_pool(x, (2, 2), 2)"),
    "stride2": ("x: f32[{R},{D}]", "x[:, ::2] * 3"),
    "bcast": ("x: f32[{R},{W}]; y: f32[{R}]; z: f32[{W}]", "x * y[:, None] + z"),
    "outer": ("y: f32[{R}]; z: f32[{W}]", "y[:, None] * z"),
    "swap": ("x: f32[{N},{W},16]", "transpose(x, (0, 2, 1)) + 1"),
    "sum_mid": ("x: f32[{N},16,{W}]", "sum(x, axis=1)"),
    "sum_last": ("x: f32[{R},{W}]", "sum(x, axis=1)"),
    "softmax_last": ("x: f32[{R},{W}]", "softmax(x, axis=1)"),
    "norm_mid": ("x: f32[{N},16,{W}]", "x * rsqrt(mean(x * x, axis=1, keepdims=True) + 1e-6)"),
    "argmax_last": ("x: f32[{R},{W}]", "argmax(x, axis=1)"),
    "pad": ("x: f32[{R},{W}]", "pad(x, ((0, 0), (1, 1))) * 2"),
    "concat": ("x: f32[{R},{W}]; y: f32[{R},{W}]", "concat([x, y], axis=1)"),
    "where": ("x: f32[{R},{W}]", "where(arange({W}) > 1, x, -x)"),
    "take": ("x: f32[{R},{W}]", "take(x, arange({W}) * 3 % {W}, axis=1)"),
}


def program(form, width):
    n = max(1, ELEMENTS // (16 * width))
    inputs, text = (part.format(N=n, R=16 * n, W=width, W2=width + 2, D=2 * width) for part in FORMS[form])
    return "".join(f"input {line.strip()}\n" for line in inputs.split(";")) + f"return {text}\n"


def explain(smelt, text, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".smelt") as file:
        file.write(text)
        file.flush()
        return json.loads(run([smelt, "explain", file.name, "--measure", "--device", "cpu", "--json", "-", *options]))["kernels"]


def microseconds(smelt, text):
    return 1e3 * sum(kernel["measured_ms"]["min"] for kernel in explain(smelt, text))


def both(smelt, other, text):
    a, b = microseconds(other, text), microseconds(smelt, text)
    for _ in range(2):
        if abs(math.log(b / a)) > 0.08:
            a, b = min(a, microseconds(other, text)), min(b, microseconds(smelt, text))
    return a, b


def fastest(smelt, text):
    """Microseconds of the schedules that the kernels have, and of the fastest that each could have."""
    own = best = 0
    for kernel in explain(smelt, text, "--candidates"):
        times = [c["measured_us"] for c in kernel["candidates"]]
        own += next(c["measured_us"] for c in kernel["candidates"] if c["chosen"])
        best += min(times)
    return own, best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smelt")
    parser.add_argument("other", nargs="?", help="another binary, to compare with: the one of before")
    parser.add_argument("--candidates", action="store_true", help="compare with the fastest candidate")
    parser.add_argument("--only", type=names, default=list(FORMS), help="forms")
    parser.add_argument("--widths", type=names, default=WIDTHS)
    options = parser.parse_args()
    os.environ.setdefault("SMELT_CACHE_DIR", "off")
    ratios = {}
    for form in options.only:
        for width in map(int, options.widths):
            text = program(form, width)
            if options.candidates:
                second, first = fastest(options.smelt, text)
            elif options.other:
                second, first = both(options.smelt, options.other, text)
            else:
                print(f"{form:14} {width:3} {microseconds(options.smelt, text):10.1f}", flush=True)
                continue
            ratios.setdefault(form, []).append(first / second)
            print(f"{form:14} {width:3} {second:10.1f} {first:10.1f} {first / second:6.2f}", flush=True)
    for form, values in ratios.items():
        print(f"{form:14} geometric mean {geometric_mean(values):.2f}")
    if ratios:
        every = [v for values in ratios.values() for v in values]
        print(f"{len(every)} programs, geometric mean {geometric_mean(every):.3f}")
