#!/usr/bin/env python3
"""One expression over an array larger than the memory of two Dask workers: blocks of smelt compared with blocks of NumPy.

    PYTHONPATH=build/release/python python bench/python/dask_blocks.py [ELEMENTS]
"""

import os
import sys
import time

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import smelt

CHUNK, LIMIT, ROUNDS = 4_000_000, 1 << 30, 3


def chain(xp, x):
    y = 1 - x
    return xp.sqrt(xp.abs(xp.sin(x) * y + xp.exp(-x * x) * (y - 0.5))) + xp.log1p(x * x) * xp.tanh(y) - (x + y) / (1 + x * x)


@smelt.jit(threads=1)
def by_smelt(x):
    return chain(smelt, x)


def by_numpy(x):
    return chain(np, x)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 320_000_000
    with LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None) as cluster, Client(cluster):
        x = da.arange(n, chunks=CHUNK, dtype="float64") * (1 / n)
        print(f"{x.nbytes / 1e9:.1f} GB in blocks of {CHUNK * 8 / 1e6:.0f} MB; two workers of one thread and {LIMIT / 1e9:.1f} GB each")
        da.map_blocks(by_smelt, x[:CHUNK], dtype=x.dtype).sum().compute()
        times = {by_smelt: [], by_numpy: [], None: []}
        for _ in range(ROUNDS):
            for function, taken in times.items():
                blocks = x if function is None else da.map_blocks(function, x, dtype=x.dtype)
                start = time.perf_counter()
                total = blocks.sum().compute()
                taken.append(time.perf_counter() - start)
                print(f"{function.__name__ if function else 'the array and its sum':22} {taken[-1]:6.2f} s, sum {total:.9g}", flush=True)
    least = {function: min(taken) for function, taken in times.items()}
    print(f"NumPy through smelt: {least[by_numpy] / least[by_smelt]:.2f}; without the array and its sum, which both have: "
          f"{(least[by_numpy] - least[None]) / (least[by_smelt] - least[None]):.2f}")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
