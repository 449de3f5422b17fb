#!/usr/bin/env python3
"""Finds the coefficients of the polynomials and rational functions in src/ops/expand/ (needs mpmath).

    scripts/minimax.py            # lists the fits
    scripts/minimax.py exp_f32    # prints one fit: the coefficients from the constant upwards, and its error

A fit minimises the largest |weight(x) (approximation(x) - f(x))| over an interval by Remez exchange on a dense grid.
Coefficients are rounded to the working precision one by one, the rest being fitted again after each, so that the printed
error is that of the numbers as printed.
"""
import sys
from dataclasses import dataclass, field
from typing import Callable

import mpmath as mp

mp.mp.dps = 50
BITS = {"f32": 24, "f64": 53}


def rounded(x, bits):
    """x with a significand of so many bits."""
    if x == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def grid(lo, hi, count):
    """Chebyshev points with the ends: dense where the error of a fit is steep."""
    middle, half = (mp.mpf(hi) + lo) / 2, (mp.mpf(hi) - lo) / 2
    return [middle - half * mp.cos(mp.pi * k / (count - 1)) for k in range(count)]


def extrema(errors, count):
    """Positions of `count` largest errors of alternating sign; fewer where the error does not alternate so often."""
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
            # Dropping an inner one would leave two neighbours of one sign: drop the weakest pair of neighbours, or an end.
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
    """sum of numerator coefficients c_k x^p_k over sum of denominator coefficients d_k x^q_k (the first of which is 1)."""
    f: Callable
    lo: float
    hi: float
    powers: list
    denominator: list = field(default_factory=lambda: [0])
    weight: Callable = None          # default: relative error
    bits: list = None                # significand of each coefficient, in the order of powers, then denominator[1:]
    fixed: dict = field(default_factory=dict)  # coefficients that are given: {position in powers: value}
    points: int = 1500
    spreads: tuple = (1, 1.2, 1.4)

    def samples(self):
        xs = grid(self.lo, self.hi, self.points)
        fs = [mp.mpf(self.f(x)) for x in xs]
        ws = [abs(mp.mpf(self.weight(x)) if self.weight else 1 / v) for x, v in zip(xs, fs)]
        return xs, fs, ws

    def solve(self, samples, fixed, start=None):
        """fixed: {position among all coefficients: value}. Returns all coefficients, the largest weighted
        error, and the positions where the error is level."""
        xs, fs, ws = samples
        n, m = len(self.powers), len(self.denominator) - 1
        free = [k for k in range(n + m) if k not in fixed]
        coefficients = [fixed.get(k, mp.mpf(0)) for k in range(n + m)]
        count = len(free) + 1
        basis = [[x ** p for p in self.powers] + [x ** q for q in self.denominator[1:]] for x in xs]

        # x^p times a basis that can alternate turns round with the sign of x, so where p is the lowest power left to fit
        # and odd, it is the error times that sign which alternates.
        odd = bool(free) and free[0] < n and self.powers[free[0]] % 2 == 1
        turned = [-1 if odd and x < 0 else 1 for x in xs]

        def error(k):
            row = basis[k]
            top = mp.fdot(coefficients[:n], row[:n])
            below = 1 + mp.fdot(coefficients[n:], row[n:])
            return turned[k] * ws[k] * (top / below - fs[k])

        # The grid is in Chebyshev points: evenly spaced positions are about where the error of a polynomial is extreme.
        reference = [round((len(xs) - 1) * k / max(count - 1, 1)) for k in range(count)]
        reference = [min(max(int(k), 1), len(xs) - 2) for k in reference]
        if start and len(start) == count:
            reference = start
        levelled = mp.mpf(0)
        best = None
        if not free:
            return coefficients, max(abs(error(k)) for k in range(len(xs))), []
        for _ in range(120):
            for _ in range(12 if m else 1):
                rows, right = mp.matrix(count, count), mp.matrix(count, 1)
                for i, k in enumerate(reference):
                    sign = (-1 if i % 2 else 1) * turned[k]
                    target = fs[k] + sign * levelled / ws[k]
                    known = mp.mpf(0)
                    below_known = mp.mpf(1)
                    for c in fixed:
                        if c < n:
                            known += fixed[c] * basis[k][c]
                        else:
                            below_known += fixed[c] * basis[k][c]
                    for j, c in enumerate(free):
                        rows[i, j] = basis[k][c] if c < n else -target * basis[k][c]
                    rows[i, count - 1] = -sign * below_known / ws[k]
                    right[i] = fs[k] * below_known - known
                try:
                    solution = mp.lu_solve(rows, right)
                except ZeroDivisionError:
                    return best or (coefficients, mp.inf, reference)
                for j, c in enumerate(free):
                    coefficients[c] = solution[j]
                previous, levelled = levelled, solution[count - 1]
                if abs(levelled - previous) <= abs(levelled) * mp.mpf("1e-8"):
                    break
            errors = [error(k) for k in range(len(xs))]
            worst = max(abs(e) for e in errors)
            if best is None or worst < best[1]:
                best = (list(coefficients), worst, reference)
            if worst <= abs(levelled) * mp.mpf("1.001"):
                break
            found = extrema(errors, count)
            reference = found if len(found) == count else exchanged_one(reference, errors)
        return best

    def start(self, xs, count, spread):
        """Positions about evenly spaced in angle, pushed outwards where spread < 1."""
        middle = [mp.mpf(k) / max(count - 1, 1) for k in range(count)]
        at = [round((len(xs) - 1) * float(t) ** spread) for t in middle]
        at = [min(max(k, 1), len(xs) - 2) for k in at]
        return at if len(set(at)) == count else None

    def run(self, default_bits):
        n, m = len(self.powers), len(self.denominator) - 1
        bits = self.bits or [default_bits] * (n + m)
        fixed = {k: mp.mpf(v) for k, v in self.fixed.items()}
        samples = self.samples()
        # A rational exchange converges from near by only: take the best of several starts.
        coefficients, ideal, reference = min((self.solve(samples, fixed, self.start(samples[0], n + m - len(fixed) + 1, g))
                                              for g in (self.spreads if m else [1])), key=lambda found: found[1])
        worst = ideal
        for k in range(n + m):
            if k not in fixed:
                fixed[k] = rounded(coefficients[k], bits[k])
                count = n + m - len(fixed) + 1
                starts = [reference[:count], reference[-count:], self.start(samples[0], count, 1)]
                tried = [self.solve(samples, fixed, start) for start in starts]
                # Also: the others as they were.
                kept = [fixed.get(j, c) for j, c in enumerate(coefficients)]
                tried.append(self.solve(samples, dict(enumerate(kept))))
                coefficients, worst, found = min(tried, key=lambda one: one[1])
                reference = found if len(found) == count else starts[2] or reference[:count]
        return coefficients[:n], [mp.mpf(1)] + coefficients[n:], ideal, worst


def log2_or_minus_inf(x):
    return float(mp.log(x, 2)) if x else float("-inf")
