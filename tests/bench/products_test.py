#!/usr/bin/env python3
"""The shapes of bench/products: the same seed draws the same, of every kind, and none takes minutes."""

import importlib.util
import sys
from pathlib import Path

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("products", Path(__file__).resolve().parents[2] / "bench" / "products" / "main.py")
products = importlib.util.module_from_spec(spec)
spec.loader.exec_module(products)


def require(condition, what):
    if not condition:
        sys.exit(f"bench_products test: {what}")


cases = list(products.drawn(200, 19))
require(cases == list(products.drawn(200, 19)), "the same seed draws other shapes")
require(cases != list(products.drawn(200, 20)), "another seed draws the same shapes")
require(len({case[0] for case in cases}) == 6 and {case[1] for case in cases} == {"f32", "bf16"}, "a kind is never drawn")
require(any(case[3] == 1 for case in cases) and any(case[4] % 16 for case in cases), "no single row, or no odd length")
for kind, _, *sizes in cases:
    work = sizes[0] * sizes[1] * sizes[2] * sizes[3]
    require(min(sizes) > 0 and (kind == "attention" or work <= products.WORK), f"{kind} {sizes} is too much")
