#!/usr/bin/env python3
"""What a call of a function under torch.compile costs: the backend smelt, Inductor, eager torch, and backends that do nothing.

    PYTHONPATH=build/release/python python bench/python/torch_calls.py [--device cuda]

relu(x * 2 + y) of f32[1024], one thread; microseconds a call, the median and the shortest of rounds in which each has a turn.
Training is a call and its backward. `the call alone` is what remains of the backend smelt without Dynamo and AOTAutograd.
"""

import argparse
import statistics
import time
import types

import torch

from smelt.torch import backend, reports

ROUNDS, CALLS = 21, 1000


def function(x, y):
    return torch.relu(x * 2 + y)


def compiled(name, backend_):
    # Dynamo keeps what it compiled for a code object: each has one of its own.
    code = function.__code__.replace(co_name=name.replace(" ", "_"))
    return torch.compile(types.FunctionType(code, globals()), backend=backend_)


def contenders(device):
    x, y = (torch.randn(1024, device=device) for _ in range(2))
    backends = {
        "smelt": backend, "Inductor": "inductor", "AOTAutograd that does nothing": "aot_eager", "Dynamo that does nothing": "eager",
    }
    functions = {"eager": function}
    for name, chosen in backends.items():
        try:
            functions[name] = compiled(name, chosen)
            functions[name](x, y)
        except Exception as e:
            print(f"{name}: {str(e).splitlines()[0]}")
            functions.pop(name)
        if name == "smelt":
            call = reports()[-1].call
    for name, f in functions.items():
        yield f"{name}, inference", lambda f=f: f(x, y)
    yield "smelt, the call alone", lambda: call([x, y])
    leaf = x.clone().requires_grad_()
    ones = torch.ones_like(x)
    for name, f in functions.items():
        def step(f=f):
            leaf.grad = None
            f(leaf, y).backward(ones)

        step()
        yield f"{name}, training", step


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    entries = list(contenders(chosen.device))
    times = {name: [] for name, _ in entries}
    for _ in range(ROUNDS):
        for name, call in entries:
            call()
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            if chosen.device == "cuda":
                torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start) / CALLS * 1e6)
    print("| call | median | shortest |")
    print("|---|---|---|")
    for name, found in times.items():
        print(f"| {name} | {statistics.median(found):.1f} µs | {min(found):.1f} µs |")


if __name__ == "__main__":
    main()
