#!/usr/bin/env python3
"""Whole networks of published sizes under torch.compile: the backend smelt, with its own products and with those of torch, Inductor, eager.

    PYTHONPATH=build/release/python python bench/python/networks.py [NAME ...] [--device cuda] [--batch 8] [--training] [--autocast]

Each contender has a turn in every round. `call` is the time of calls back to back, `device` that of their kernels alone, by torch's
profiler, which also counts them; `first` is the first call, which compiles. A training step is forward and backward with dropout off.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/python"))
import torch_networks as networks  # noqa: E402

CONTENDERS = {
    "eager": None,
    "Inductor": {"backend": "inductor"},
    "smelt": {"options": {"products": "smelt"}},
    "smelt, products of torch": {"options": {"products": "torch"}},
    "smelt, as it chooses": {},
}


def contender(name, module):
    how = CONTENDERS[name]
    if how is None:
        return module
    if "backend" not in how:
        from smelt.torch import backend

        how = {"backend": backend, **how}
    torch.compiler.reset()
    return torch.compile(module, **how)


def step_of(module, f, inputs, chosen):
    """A function of no arguments: a call, or a training step."""

    def call():
        with torch.autocast(chosen.device, dtype=torch.bfloat16, enabled=chosen.autocast):
            return f(*inputs)

    if not chosen.training:
        def inference():
            with torch.no_grad():
                return call()

        return inference

    def training():
        for p in module.parameters():
            p.grad = None
        result = call()
        result.float().square().mean().backward()
        return result

    return training


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(step, count, device):
    synchronize(device)
    start = time.perf_counter()
    for _ in range(count):
        step()
    synchronize(device)
    return (time.perf_counter() - start) / count


def on_device(step, count):
    """Microseconds of the kernels of a call, how many there are, and which take longest."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(count):
            step()
        torch.cuda.synchronize()
    times, kernels = {}, 0
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not getattr(event, "is_user_annotation", False):
            times[event.name] = times.get(event.name, 0.0) + event.self_device_time_total / count
            kernels += 1
    longest = sorted(times.items(), key=lambda row: -row[1])[:12]
    return sum(times.values()), kernels / count, [(name[:60], round(us, 1)) for name, us in longest]


def measure(name, chosen):
    torch.manual_seed(0)
    build, inputs_of = networks.NETWORKS[name][2:]
    module = build().to(chosen.device)
    module.train(chosen.training)
    inputs = [t.to(chosen.device) for t in inputs_of(chosen.batch)]
    steps, rows, expected = {}, {}, None
    for who in chosen.contenders:
        step = step_of(module, contender(who, module), inputs, chosen)
        start = time.perf_counter()
        try:
            made = step().detach().float()
            synchronize(chosen.device)
        except Exception as e:
            rows[who] = {"failed": (str(e).strip() or type(e).__name__).split("\n")[0]}
            continue
        rows[who] = {"first": time.perf_counter() - start}
        expected = made if expected is None else expected
        rows[who]["error"] = float((made - expected).abs().max() / expected.abs().max())
        steps[who] = step
    times = {who: [] for who in steps}
    count = max(1, int(0.05 / max(seconds(step, 2, chosen.device) for step in steps.values())))
    for _ in range(chosen.rounds):
        for who, step in steps.items():
            times[who].append(seconds(step, count, chosen.device))
    for who, step in steps.items():
        rows[who]["call"] = statistics.median(times[who]) * 1e6
        if chosen.device == "cuda":
            rows[who]["device"], rows[who]["kernels"], rows[who]["longest"] = on_device(step, 2)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=[], help=", ".join(networks.NETWORKS))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--autocast", action="store_true", help="bf16")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--contenders", type=lambda text: text.split(";"), default=list(CONTENDERS))
    parser.add_argument("--json", help="appends a line for each network to this file")
    chosen = parser.parse_args()
    print("| network | contender | first, s | call, µs | device, µs | kernels | error |\n|---|---|---:|---:|---:|---:|---:|")
    for name in chosen.names or networks.NETWORKS:
        rows = measure(name, chosen)
        for who, row in rows.items():
            if "failed" in row:
                print(f"| {name} | {who} | {row['failed']} |")
                continue
            device, kernels = (f"{row['device']:.0f}", f"{row['kernels']:.0f}") if "device" in row else ("", "")
            print(f"| {name} | {who} | {row['first']:.1f} | {row['call']:.0f} | {device} | {kernels} | {row['error']:.1e} |", flush=True)
        if chosen.json:
            with open(chosen.json, "a") as file:
                file.write(json.dumps({"name": name, "batch": chosen.batch, "training": chosen.training,
                                       "autocast": chosen.autocast, "rows": rows}) + "\n")


if __name__ == "__main__":
    main()
