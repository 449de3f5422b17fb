#!/usr/bin/env python3
"""Draws the shape of a row from its name as the seed: shapes.py NAME KIND BYTES PATTERN. See bench/README.md."""

import math
import random
import sys


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


def rounded(n, odd):
    """The next prime, or a multiple of 16 (of 2 where the extent is small)."""
    n = max(2, round(n))
    while odd and not is_prime(n):
        n += 1
    step = 16 if n >= 48 else 2
    return n if odd else max(step, n // step * step)


def draw(name, kind, element_bytes, pattern):
    """Extents by name. PATTERN: 'B=*,C=64..1024,3': `*` makes the inputs 64 to 512 MB, A..B is drawn
    on a logarithmic scale.

    KIND: 'friendly', 'odd' (primes), or 'skewed' (ranges at one of their ends, friendly or odd)."""
    source = random.Random(name)
    target = 2 ** source.uniform(26, 29) / element_bytes
    odd = kind == "odd" or (kind == "skewed" and source.random() < 0.5)
    extents, free = {}, None
    for i, item in enumerate(pattern.split(",")):
        key, _, value = item.rpartition("=")
        key = key or str(i)
        if value == "*":
            free = key
            extents[key] = 1
        elif ".." in value:
            low, high = map(int, value.split(".."))
            where = source.choice((0.0, 1.0)) if kind == "skewed" else source.random()
            extents[key] = rounded(low * (high / low) ** where, odd)
        elif value.isdigit():
            extents[key] = int(value)
        else:
            extents[key] = extents[value]
    if free:
        extents[free] = rounded(target / math.prod(extents.values()), odd)
    return extents


if __name__ == "__main__":
    print(draw(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]))
