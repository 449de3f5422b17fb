#!/usr/bin/env python3
"""Benchmark expressions of numexpr, CuPy and numba by smelt, numexpr and numba on this CPU, one thread each, into existing memory.

    PYTHONPATH=build/release/python python bench/python/expressions.py [ELEMENTS] [--only TEXT] [--json FILE]

The shortest of rounds in which each has a turn. Results are compared with NumPy's before anything is timed.
"""

import argparse
import json
import math
import os
import statistics
import sys
import time

import numba
import numexpr
import numpy as np

import smelt

TIMING = "https://github.com/pydata/numexpr/blob/master/bench/timing.py"
VML = "https://github.com/pydata/numexpr/blob/master/bench/vml_timing.py"
POLY = "https://github.com/pydata/numexpr/blob/master/bench/poly.py"
README = "https://github.com/pydata/numexpr/blob/master/README.rst"
CUPY = "https://docs.cupy.dev/en/stable/user_guide/kernel.html"
NUMBA_TIPS = "https://numba.readthedocs.io/en/stable/user/performance-tips.html"
NUMBA_VECTORIZE = "https://numba.readthedocs.io/en/stable/user/vectorize.html"

# Source, expression for NumPy, smelt and numexpr, that of one element for numba where it is another, arguments. smelt mixes no
# dtypes that NumPy makes a third one of: IN_SMELT has what is written for it.
IN_SMELT = {
    "f3 + i2": "astype(f3, float64) + astype(i2, float64)",
    "0.1*i2 > arctan2(f3, f4)": "0.1*astype(i2, float64) > arctan2(f3, f4)",
}
ELEMENTWISE = [
    (TIMING, "b*c + d*e", None, "abcde"),
    (TIMING, "2*a + 3*b", None, "ab"),
    (TIMING, "2*s + (cos(3.0)+5)*sinh(cos(b))", None, "sb"),
    (TIMING, "2*s + arctan2(s, b)", None, "sb"),
    (TIMING, "where(0.1*s > arctan2(s, b), 2*s, arctan2(s, b))", "2*s if 0.1*s > arctan2(s, b) else arctan2(s, b)", "sb"),
    (TIMING, "where(s != 0.0, 2.0, b)", "2.0 if s != 0.0 else b", "sb"),
    (TIMING, "where(s-10 != 0.0, s, 2.0)", "s if s-10 != 0.0 else 2.0", "s"),
    (TIMING, "where(s%2 != 0.0, b+5, 2.0)", "b+5 if s%2 != 0.0 else 2.0", "sb"),
    (TIMING, "s**2 + (b+1)**-2.5", None, "sb"),
    (TIMING, "(s+1)**50", None, "s"),
    (TIMING, "sqrt(s**2 + b**2)", None, "sb"),
    (VML, "i2 > 0", None, ("i2",)),
    (VML, "f3 + f4", None, ("f3", "f4")),
    (VML, "f3 + i2", None, ("f3", "i2")),
    (VML, "exp(f3)", None, ("f3",)),
    (VML, "log(exp(f3)+1)/f4", None, ("f3", "f4")),
    (VML, "0.1*i2 > arctan2(f3, f4)", None, ("f3", "f4", "i2")),
    (VML, "sqrt(f3**2 + f4**2) > 1", None, ("f3", "f4")),
    (VML, "sin(f3) > cos(f4)", None, ("f3", "f4")),
    (VML, "f3**f4", None, ("f3", "f4")),
    (POLY, ".25*x**3 + .75*x**2 - 1.5*x - 2", None, "x"),
    (README, "a*b - 4.1*a > 2.5*b", None, "ab"),
    (README, "sin(a) + arcsinh(a/b)", None, "ab"),
    (CUPY, "(p - q)*(p - q)", None, "pq"),
    (NUMBA_TIPS, "cos(x)**2 + sin(x)**2", None, "x"),
    (NUMBA_VECTORIZE, "x + y", None, "xy"),
]
REDUCTIONS = [(CUPY, "sqrt(sum(p*p))", "p*p", "p"), (NUMBA_TIPS, "sum(sqrt(x))", "sqrt(x)", "x")]


def arguments(n):
    random = np.random.default_rng(0)
    i2 = (np.arange(n) / 1000).astype("int32")
    f3 = np.linspace(0.001, 1, n).astype("float32")
    every = {
        **{name: np.arange(n, dtype="float64") + 1 for name in "abcde"}, "s": np.arange(2 * n, dtype="float64")[::2],
        "i2": i2, "f3": f3, "f4": f3.astype("float64") * 1.23, "x": np.linspace(-1, 1, n), "y": random.random(n),
        "p": random.random(n, "float32"), "q": random.random(n, "float32"),
    }
    return every


def names_of(module, extra=()):
    functions = ("sin", "cos", "sinh", "exp", "log", "sqrt", "where", "sum", *extra)
    return {name: getattr(module, name) for name in functions if hasattr(module, name)}


NUMPY = {**names_of(np), "arctan2": np.arctan2, "arcsinh": np.arcsinh}
SMELT = {**names_of(smelt, ("astype", "float64")), "arctan2": smelt.atan2, "arcsinh": smelt.asinh}
NUMBA = {**names_of(math), "arctan2": math.atan2, "arcsinh": math.asinh}


def made(code, name, names):
    space = dict(names)
    exec(code, space)
    return space[name]


def one_expression(expression, element, used, reduced):
    """The functions of smelt, numexpr and numba, each called with an output and the arguments."""
    list_ = ", ".join(used)
    scalar = {"cos": math.cos} if "cos(3.0)" in expression else {}
    in_smelt = IN_SMELT.get(expression, expression).replace("cos(3.0)", repr(math.cos(3.0)))
    by_smelt = smelt.jit(threads=1)(made(f"def f({list_}): return {in_smelt}", "f", SMELT))
    elements = ", ".join(f"{name}[i]" for name in used)
    item = made(f"def item({list_}): return {element or expression}", "item", {**NUMBA, **scalar})
    item = numba.njit(fastmath=True, error_model="numpy", inline="always")(item)
    if reduced:
        end = "math.sqrt(total)" if expression.startswith("sqrt") else "total"
        code = f"def loop(out, {list_}):\n total = {used[0]}[0] * 0\n for i in range({used[0]}.size):\n"
        code += f"  total += item({elements})\n out[0] = {end}"
    else:
        code = f"def loop(out, {list_}):\n for i in range(out.size):\n  out[i] = item({elements})"
    loop = numba.njit(fastmath=True, error_model="numpy")(made(code, "loop", {"item": item, "math": math}))
    in_numexpr = "sum(p*p)" if expression == "sqrt(sum(p*p))" else expression
    return by_smelt, in_numexpr, loop


def best(calls, rounds):
    least = [math.inf] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            least[i] = min(least[i], time.perf_counter() - start)
    return [t * 1e6 for t in least]


def measure(source, expression, element, used, every, reduced, rounds):
    used = list(used)
    given = {name: every[name] for name in used}
    with np.errstate(all="ignore"):
        wanted = np.asarray(eval(expression, dict(NUMPY), given))
    by_smelt, in_numexpr, loop = one_expression(expression, element, used, reduced)
    arrays = list(given.values())
    compiled = numexpr.evaluate(in_numexpr, given)
    outs = [np.empty(wanted.shape, wanted.dtype), np.empty(compiled.shape, compiled.dtype), np.empty(wanted.shape or (1,), wanted.dtype)]
    outs[0] = np.empty_like(np.asarray(by_smelt(*arrays)))

    def numexpr_call():
        return numexpr.re_evaluate(given)

    numexpr.evaluate(in_numexpr, given, **({} if reduced else {"out": outs[1]}))
    calls = [lambda: by_smelt(*arrays, out=outs[0]), numexpr_call, lambda: loop(outs[2], *arrays)]
    for call in calls:
        call()
    for name, out in (("smelt", outs[0]), ("numba", outs[2])):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(np.asarray(out, "float64").ravel(), wanted.astype("float64").ravel(), rtol=2e-5, err_msg=f"{name}: {expression}")
    # The latest expression is the one that re_evaluate() runs.
    numexpr.evaluate(in_numexpr, given, **({} if reduced else {"out": outs[1]}))
    times = best(calls, rounds)
    return {"source": source, "expression": expression, "dtype": str(wanted.dtype), "smelt_us": times[0], "numexpr_us": times[1], "numba_us": times[2]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("elements", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json")
    options = parser.parse_args()
    numexpr.set_num_threads(1)
    numba.set_num_threads(1)
    every = arguments(options.elements)
    rows = []
    print("| expression | result | smelt, us | numexpr, us | numba, us | numexpr / smelt | numba / smelt |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for table, reduced in ((ELEMENTWISE, False), (REDUCTIONS, True)):
        for source, expression, element, used in table:
            if options.only not in expression:
                continue
            r = measure(source, expression, element, used, every, reduced, options.rounds)
            rows.append(r)
            print(f"| `{expression}` | {r['dtype']} | {r['smelt_us']:.0f} | {r['numexpr_us']:.0f} | {r['numba_us']:.0f} | "
                  f"{r['numexpr_us'] / r['smelt_us']:.2f} | {r['numba_us'] / r['smelt_us']:.2f} |", flush=True)
    for other in ("numexpr", "numba"):
        ratios = [r[f"{other}_us"] / r["smelt_us"] for r in rows]
        print(f"\n{other} / smelt: geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    print(f"{options.elements} elements; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; Python {sys.version.split()[0]}, "
          f"NumPy {np.__version__}, numexpr {numexpr.__version__}, numba {numba.__version__}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
