"""Products of drawn shapes on a CPU, smelt's Python package compared with NumPy and PyTorch: bench/run.py products --page FILE

Shapes, layouts and dtypes come from a seeded generator: skinny, odd, strided, transposed and batched ones, and attention. All are
called in turns on the same arrays; a figure is the median of the calls. Exits with 1 where a result of smelt is wrong."""

import argparse
import os
import random
import statistics
import sys
import time
from pathlib import Path

WORK = 4e8  # multiplications of a product, at most


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--threads", type=int, default=1, help="of smelt, NumPy and torch")
    parser.add_argument("--seconds", type=float, default=0.5, help="for one shape")
    parser.add_argument("--page", type=Path, help="the table is written here as well")
    return parser.parse_args()


def drawn(count, seed):
    """Cases: (kind, dtype, batch, M, K, N), attention with M queries, N keys and heads of K."""
    source = random.Random(seed)

    def size(low, high):
        n = round(low * (high / low) ** source.random())
        return n if source.random() < 0.5 or n < 16 else n // 16 * 16

    for i in range(count):
        kind = source.choice(("a @ b", "a @ b", "a @ b.T", "a @ b.T", "a.T @ b", "strided", "batched", "attention"))
        dtype = source.choice(("f32", "f32", "f32", "bf16")) if kind != "strided" else "f32"
        if kind == "attention":
            yield kind, dtype, size(2, 16), size(64, 1024), source.choice((32, 64, 80, 128)), size(64, 1024)
            continue
        batch = size(4, 256) if kind == "batched" else 1
        m, k, n = (size(32, 1024), size(64, 2048), size(64, 2048)) if batch == 1 else (size(8, 128), size(16, 128), size(16, 128))
        if i % 4 == 0:
            m = source.choice((1, 2, 4, 8, 16, 32, 64))
        while batch * m * k * n > WORK:
            m, k, n = max(1, m * 3 // 4), max(8, k * 3 // 4), max(1, n * 3 // 4)
        yield kind, dtype, batch, m, k, n


def contenders(case, threads, np, torch, smelt, generator):
    """The arrays, and by name what computes the product of them."""
    kind, dtype, batch, m, k, n = case
    kinds = {"f32": torch.float32, "bf16": torch.bfloat16}

    def array(*shape):
        return torch.randn(shape, generator=generator).to(kinds[dtype])

    if kind == "attention":
        arrays = array(batch, m, k), array(batch, n, k), array(batch, n, k)
        return arrays, {
            "smelt": smelt.jit(threads=threads)(lambda q, k, v: smelt.scaled_dot_product_attention(q, k, v)),
            "torch": torch.nn.functional.scaled_dot_product_attention,
        }
    front = (batch,) if kind == "batched" else ()
    shapes = {"a @ b.T": ((m, k), (n, k)), "a.T @ b": ((k, m), (k, n)), "strided": ((m, 2 * k), (k, n))}
    arrays = tuple(array(*front, *shape) for shape in shapes.get(kind, ((m, k), (k, n))))
    if kind == "strided":
        arrays = arrays[0][:, ::2], arrays[1]
    function = {"a @ b.T": lambda a, b: a @ b.T, "a.T @ b": lambda a, b: a.T @ b}.get(kind, lambda a, b: a @ b)
    found = {"smelt": smelt.jit(threads=threads)(lambda a, b: function(a, b)), "torch": function}
    if dtype == "f32":
        views = [a.numpy() for a in arrays]
        found["numpy"] = lambda a, b: function(*views)
    return arrays, found


def medians(functions, arrays, seconds):
    times = {name: [] for name in functions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["smelt"]) < 5:
        for name, function in functions.items():
            begin = time.perf_counter()
            function(*arrays)
            times[name].append(time.perf_counter() - begin)
    return {name: 1e6 * statistics.median(of) for name, of in times.items()}


def error(torch, np, case, arrays, result):
    """The largest error of an element, in units of what the dtype allows."""
    wide = [a.double() for a in arrays]
    kind = case[0]
    if kind == "attention":
        exact = torch.nn.functional.scaled_dot_product_attention(*wide)
    else:
        exact = {"a @ b.T": lambda a, b: a @ b.T, "a.T @ b": lambda a, b: a.T @ b}.get(kind, lambda a, b: a @ b)(*wide)
    got = result.double() if isinstance(result, torch.Tensor) else torch.from_numpy(np.asarray(result)).double()
    allowed = {"f32": 2e-5, "bf16": 2e-2}[case[1]]
    return float(((got - exact).abs() / (allowed * (exact.abs() + exact.square().mean().sqrt()))).max())


def main():
    options = arguments()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    import numpy as np
    import smelt
    import torch

    torch.set_num_threads(options.threads)
    generator = torch.Generator().manual_seed(options.seed)
    lines = ["| product | dtype | shape | smelt, µs | NumPy, µs | torch, µs | |", "|---|---|---|---:|---:|---:|---:|"]
    ratios, wrong = [], 0
    for case in drawn(options.shapes, options.seed):
        kind, dtype, batch, m, k, n = case
        arrays, functions = contenders(case, options.threads, np, torch, smelt, generator)
        results = {name: function(*arrays) for name, function in functions.items()}
        off = error(torch, np, case, arrays, results["smelt"])
        wrong += off > 1
        us = medians(functions, arrays, options.seconds)
        ratios.append(min(t for name, t in us.items() if name != "smelt") / us["smelt"])
        shape = f"{f'{batch} of ' if batch > 1 else ''}{m} x {k} x {n}"
        numpy = f"{us['numpy']:.1f}" if "numpy" in us else ""
        lines.append(f"| {kind} | {dtype} | {shape} | {us['smelt']:.1f} | {numpy} | {us['torch']:.1f} | {ratios[-1]:.2f}{' wrong' if off > 1 else ''} |")
        print(lines[-1], flush=True)
    lines.insert(0, "Against the faster of both: geometric mean "
                    f"{statistics.geometric_mean(ratios):.2f}, median {statistics.median(ratios):.2f}, minimum {min(ratios):.2f}; "
                    f"{sum(r < 0.85 for r in ratios)} of {len(ratios)} are below 0.85.\n")
    print(lines[0])
    if options.page:
        options.page.write_text("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
