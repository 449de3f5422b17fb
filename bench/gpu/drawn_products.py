#!/usr/bin/env python3
"""Products and attention of shapes that nobody chose, compared with torch: drawn by a seeded generator.

    PYTHONPATH=build/release/python python bench/gpu/drawn_products.py [--shapes 200] [--seed 1] [--only attention]

Odd, misaligned, skinny, strided, transposed and batched operands in bf16, f16 and f32. A line each: microseconds of a call, calls back
to back, the median of rounds in which both have a turn; the ratio is torch's time over smelt's. Results are compared with float64 on the
way. torch is cuBLAS for products and the fastest of its kernels for attention.
"""

import argparse
import math
import random
import statistics

import torch
import torch.nn.functional as F

import smelt

ROUNDS, CALLS = 7, 10


def extent(draw):
    """Sizes are powers of two and multiples of 8 more often than not, as in programs, and odd now and then."""
    kind = draw.random()
    if kind < 0.35:
        return 2 ** draw.randint(4, 12)
    if kind < 0.7:
        return 8 * draw.randint(2, 512)
    if kind < 0.85:
        return draw.randint(1, 64)
    return draw.randint(17, 4096)


def operand(draw, shape, dtype):
    """Row-major, transposed, or a part of a larger array."""
    kind = draw.random()
    *batch, rows, columns = shape
    if kind < 0.55:
        return torch.randn(shape, device="cuda").to(dtype), "rows"
    if kind < 0.85:
        return torch.randn(*batch, columns, rows, device="cuda").to(dtype).mT, "columns"
    offset = draw.choice([1, 8])
    return torch.randn(*batch, rows, columns + 2 * offset, device="cuda").to(dtype)[..., offset : offset + columns], "part"


def product(draw):
    dtype = draw.choice([torch.bfloat16, torch.bfloat16, torch.float16, torch.float32])
    batch = [] if draw.random() < 0.7 else [draw.choice([3, 8, 48])]
    most = 2 ** 36 if dtype != torch.float32 else 2 ** 34
    while True:
        m, n, k = extent(draw), extent(draw), extent(draw)
        if math.prod(batch) * m * n * k <= most and math.prod(batch) * max(m * k, k * n, m * n) <= 2**26:
            break
    a, lies_a = operand(draw, [*batch, m, k], dtype)
    b, lies_b = operand(draw, [*batch, k, n], dtype)
    what = draw.choice(["", "relu", "bias gelu"])
    bias = torch.randn(n, device="cuda").to(dtype)
    if what == "":
        functions = (lambda a, b, c: a @ b), (lambda a, b, c: a @ b)
    elif what == "relu":
        functions = (lambda a, b, c: smelt.relu(a @ b)), (lambda a, b, c: torch.relu(a @ b))
    else:
        functions = (lambda a, b, c: smelt.gelu(a @ b + c)), (lambda a, b, c: F.gelu(a @ b + c))
    name = f"{str(dtype)[6:]} {'x'.join(map(str, batch)) + ' of ' if batch else ''}{m}x{k}x{n} {lies_a} {lies_b} {what}"
    return name, functions, (a, b, bias), k


def attention(draw):
    heads, size = draw.choice([8, 16, 32]), draw.choice([64, 128])
    queries, keys = draw.choice([64, 512, 1000, 1024, 2048]), draw.choice([512, 1000, 1024, 2048])
    causal = draw.random() < 0.5
    if causal:
        keys = queries
    q, k, v = (torch.randn(2, heads, n, size, device="cuda", dtype=torch.bfloat16) for n in (queries, keys, keys))
    functions = (
        (lambda q, k, v: smelt.scaled_dot_product_attention(q, k, v, causal=causal)),
        (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)),
    )
    return f"attention 2x{heads}x{queries}x{keys}x{size}{' causal' if causal else ''}", functions, (q, k, v), keys


def round_of(function, arguments):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(CALLS):
        function(*arguments)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / CALLS


def error(result, exact):
    return ((result.double() - exact).abs().max() / exact.abs().max().clamp_min(1e-30)).item()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--shapes", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=["products", "attention"])
    options = options.parse_args()
    draw = random.Random(options.seed)
    ratios = []
    for _ in range(options.shapes):
        make = product if draw.random() < 0.8 else attention
        if options.only:
            make = product if options.only == "products" else attention
        name, (own, theirs), arguments, terms = make(draw)
        ours = smelt.jit(own)
        try:
            result = ours(*arguments)
        except Exception as fault:  # the line says so, and the count at the end
            print(f"FAILED {name}: {str(fault)[:200]}", flush=True)
            ratios.append((0.0, name))
            continue
        exact = theirs(*(x.double() for x in arguments))
        # Sums of f32 in an order of their own differ by some roundings.
        bound = 4 * error(theirs(*arguments), exact) + 4 * 2**-24 * terms**0.5
        wrong = error(result, exact) > bound
        times = [[], []]
        for _ in range(ROUNDS):
            for kept, function in zip(times, (ours, theirs)):
                kept.append(round_of(function, arguments))
        smelt_us, torch_us = (statistics.median(t) for t in times)
        ratios.append((torch_us / smelt_us, name))
        print(f"{torch_us / smelt_us:6.2f}  {smelt_us:8.1f} {torch_us:8.1f}  {name}{'  WRONG' if wrong else ''}", flush=True)
    good = [r for r, _ in ratios if r > 0]
    if not good:
        raise SystemExit("no shape ran")
    print(f"{len(good)} of {len(ratios)} shapes: geometric mean {statistics.geometric_mean(good):.3f}, least {min(good):.2f}")


if __name__ == "__main__":
    main()
