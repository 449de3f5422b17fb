#!/usr/bin/env python3
"""Finds the coefficients of the polynomials in include/smelt/static/expand/ (needs mpmath).

    scripts/minimax.py                # the names of the fits
    scripts/minimax.py exp_f32 ...    # prints fits: coefficients from the constant upwards, and the largest error
    scripts/minimax.py --check        # whether the coefficients of every fit are in include/smelt/static/expand/

A fit minimises the largest weight(x) |p(x) - f(x)| over an interval, by Remez exchange on a dense grid. The weight makes it the
relative error of the function that the polynomial is a part of. Coefficients are rounded to the working precision one by one
from the constant upwards, the rest being fitted again after each, so that the error is that of the numbers as printed.
"""
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import mpmath as mp

mp.mp.dps = 60


def rounded(x, bits):
    """x with a significand of so many bits."""
    if x == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def extrema(errors, count):
    """The positions of `count` largest errors of alternating sign; fewer where the error does not alternate so often."""
    runs = []
    for k, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = k
        elif e != 0:
            runs.append(k)
    while len(runs) > count:
        if len(runs) == count + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        else:
            # Without an inner one two neighbours would have one sign: the weakest two neighbours go.
            k = min(range(len(runs) - 1), key=lambda i: max(abs(errors[runs[i]]), abs(errors[runs[i + 1]])))
            del runs[k:k + 2]
    return runs


def exchanged_one(reference, errors):
    """The reference with the worst point of all taken in for a neighbour, signs still alternating."""
    worst = max(range(len(errors)), key=lambda k: abs(errors[k]))
    same = lambda k: (errors[k] > 0) == (errors[worst] > 0)
    if worst in reference:
        return reference
    if worst < reference[0]:
        return [worst] + (reference[1:] if same(reference[0]) else reference[:-1])
    if worst > reference[-1]:
        return (reference[:-1] if same(reference[-1]) else reference[1:]) + [worst]
    right = next(i for i, k in enumerate(reference) if k > worst)
    i = right if same(reference[right]) else right - 1
    return reference[:i] + [worst] + reference[i + 1:]


@dataclass
class Fit:
    f: Callable       # what the polynomial approximates
    lo: float
    hi: float
    terms: int
    bits: int         # of a coefficient
    weight: Callable
    step: int = 1     # between powers: 2 for a polynomial in x^2
    scale: int = 1    # what the source has the coefficients multiplied by

    def samples(self):
        """Chebyshev points: dense where the error of a fit is steep."""
        count = 401
        middle, half = (mp.mpf(self.hi) + self.lo) / 2, (mp.mpf(self.hi) - self.lo) / 2
        xs = [middle - half * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
        xs = [x for x in xs if abs(x) > mp.mpf(10) ** -12]
        return xs, [mp.mpf(self.f(x)) for x in xs], [abs(mp.mpf(self.weight(x))) for x in xs]

    def solve(self, samples, fixed):
        """The best polynomial whose first coefficients are `fixed`, and its largest weighted error."""
        xs, fs, ws = samples
        powers = [self.step * k for k in range(self.terms)]
        free = powers[len(fixed):]
        rest = [f - sum(c * x ** p for c, p in zip(fixed, powers)) for x, f in zip(xs, fs)]
        if not free:
            return list(fixed), max(abs(w * r) for w, r in zip(ws, rest))
        basis = [[x ** p for p in free] for x in xs]
        # Where the lowest free power is odd, the error alternates but for the sign of x.
        turned = [-1 if free[0] % 2 and x < 0 else 1 for x in xs]
        count = len(free) + 1
        reference = [min(max(round((len(xs) - 1) * k / (count - 1)), 1), len(xs) - 2) for k in range(count)]
        best = None
        for _ in range(100):
            rows, right = mp.matrix(count, count), mp.matrix(count, 1)
            for i, k in enumerate(reference):
                for j in range(len(free)):
                    rows[i, j] = basis[k][j]
                rows[i, count - 1] = (-1 if i % 2 else 1) * turned[k] / ws[k]
                right[i] = rest[k]
            solution = mp.lu_solve(rows, right)
            found = [solution[j] for j in range(len(free))]
            errors = [t * w * (mp.fdot(found, b) - r) for t, w, b, r in zip(turned, ws, basis, rest)]
            worst = max(abs(e) for e in errors)
            if best is None or worst < best[1]:
                best = (list(fixed) + found, worst)
            if worst <= abs(solution[count - 1]) * mp.mpf("1.0001"):
                break
            at = extrema(errors, count)
            reference = at if len(at) == count else exchanged_one(reference, errors)
        return best

    def run(self):
        samples, fixed = self.samples(), []
        coefficients, worst = self.solve(samples, fixed)
        while len(fixed) < self.terms:
            fixed.append(rounded(coefficients[len(fixed)], self.bits))
            coefficients, worst = self.solve(samples, fixed)
        return [c * self.scale for c in coefficients], worst


HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.0005")
THIRD = mp.mpf(1) / 3
S_END = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0005")  # of (m - 1) / (m + 1) for m up to sqrt(2)


def erf_exponent(a):
    return -mp.log(mp.erfc(a), 2)


def at_t(f, c=3):
    """f(a) as a function of t = (a - c) / (a + c)."""
    return lambda t: f(c * (1 + t) / (1 - t))


def fits():
    found = {}

    def fit(name, terms32, terms64, f, lo, hi, weight, **more):
        for width, terms, bits in (("f32", terms32, 24), ("f64", terms64, 53)):
            if terms:
                ends = [e[width] if isinstance(e, dict) else e for e in (lo, hi)]
                found[f"{name}_{width}"] = Fit(f, *ends, terms, bits, weight, **more)

    def tail(name, terms32, terms64, f, first, power, lo, hi, step=2, **more):
        """(f(x) - first(x)) / x^power, so that first + x^power p has a small relative error."""
        fit(name, terms32, terms64, lambda x: (f(x) - first(x)) / x ** power, lo, hi, lambda x: x ** power / f(x), step=step,
            **more)

    one, same = lambda x: mp.mpf(1), lambda x: x
    tail("exp", 5, 10, mp.exp, lambda r: 1 + r, 2, -HALF_LN2, HALF_LN2, step=1, scale=2)
    tail("expm1", 5, 10, mp.expm1, same, 2, -HALF_LN2, HALF_LN2, step=1)
    tail("exp2", 6, 11, lambda r: mp.mpf(2) ** r, one, 1, -0.50001, 0.50001, step=1)
    tail("log1p", 9, 0, mp.log1p, same, 2, -THIRD, THIRD, step=1)
    tail("log_of_s", 0, 7, lambda s: mp.log((1 + s) / (1 - s)), lambda s: 2 * s, 3, 0, S_END)
    tail("sin", 3, 7, mp.sin, same, 3, 0, 0.8)
    tail("cos", 4, 7, mp.cos, one, 2, 0, 0.8)
    tail("tan", 6, 14, mp.tan, same, 3, 0, 0.8)
    tail("asin", 5, 13, mp.asin, same, 3, 0, 0.5)
    tail("atan", 8, 20, mp.atan, same, 3, 0, 1)
    tail("sinh", 2, 6, mp.sinh, same, 3, 0, HALF_LN2)
    tail("cosh", 3, 6, mp.cosh, one, 2, 0, HALF_LN2)
    fit("erf", 9, 25, lambda a: erf_exponent(a) / a, 0, {"f32": 3.93, "f64": 5.95}, lambda a: a * mp.erfc(a) / mp.erf(a))
    scaled_erfc = lambda a: mp.erfc(a) * mp.exp(a * a) * (a + 3) / 6
    fit("erfc", 10, 24, at_t(scaled_erfc), -1, {"f32": 7.2 / 13.2, "f64": 24.3 / 30.3}, lambda t: 1 / at_t(scaled_erfc)(t))
    log2_slope = lambda f: mp.log1p(f) / mp.log(2) / f
    found["log2_for_f32"] = Fit(log2_slope, -THIRD, THIRD, 12, 53, lambda f: 1 / log2_slope(f))
    found["log2_in_pair"] = Fit(lambda s: (mp.atanh(s) / s - 1 - s ** 2 / 3 - s ** 4 / 5) / s ** 6, 0, S_END, 7, 53,
                                lambda s: s ** 6, step=2)
    inverse_root = lambda m: m ** -THIRD
    found["cbrt"] = Fit(inverse_root, THIRD, 8 * THIRD, 5, 24, lambda m: 1 / inverse_root(m))
    return found


def numbers_in_source():
    folder = Path(__file__).resolve().parent.parent / "include/smelt/static/expand"
    text = "".join(path.read_text() for path in folder.glob("*.hpp"))
    return {float.fromhex(n) for n in re.findall(r"-?0x[0-9a-f.]+p[-+][0-9]+", text)}


def main(names):
    all_fits = fits()
    check = names == ["--check"]
    if not names:
        print("\n".join(all_fits))
    source = numbers_in_source() if check else set()
    missing = 0
    for name in all_fits if check else names:
        coefficients, error = all_fits[name].run()
        print(f"{name}: 2^{mp.nstr(mp.log(error, 2), 4)}")
        for c in (float(c) for c in coefficients):
            if not check:
                print("   ", c.hex())
            elif c not in source:
                missing += 1
                print("    not in include/smelt/static/expand/:", c.hex())
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
