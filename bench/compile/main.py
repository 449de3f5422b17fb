"""Compile times of chains, cold: bench/run.py compile --smelt build/release/smelt [--device cuda] [--only heat]

Each row is one process with an empty cache: `smelt explain PROGRAM --json`, which parses, plans, lowers, prints and
compiles. Prints a table in Markdown: operations, kernels, seconds of all stages, and what the planner, the lowerer,
the printer and the back end took of them. A program doubled in length should take at most 2.3 times as long."""
import argparse
import json
import os
import tempfile

from command_line import run

HEADS = {
    "life": "def step(z):\n"
            "  r = roll(z, 1, axis=0) + z + roll(z, -1, axis=0)\n"
            "  n = roll(r, 1, axis=1) + r + roll(r, -1, axis=1) - z\n"
            "  return where((n == 3) | ((n == 2) & (z == 1)), u8(1), u8(0))\n",
    "heat": "def step(u):\n"
            "  p = pad(u, 1, mode='edge')\n"
            "  return u + 0.1*(p[:-2,1:-1] + p[2:,1:-1] + p[1:-1,:-2] + p[1:-1,2:] - 4*u)\n",
    "heat0": "def step(u):\n"
             "  p = pad(u, 1)\n"
             "  return u + 0.1*(p[:-2,1:-1] + p[2:,1:-1] + p[1:-1,:-2] + p[1:-1,2:] - 4*u)\n",
    "norms": "def step(h): return layernorm(relu(h*1.01 + 0.1))\n",
    "chain": "def step(h): return sin(h*1.01 + 0.1) * 0.5\n",
    "diamonds": "def step(h):\n  a = h*1.01\n  b = h + 0.1\n  return maximum(a, b) - a*b\n",
    "cumsums": "def step(h): return cumsum(h, axis=1) * 0.5\n",
}
INPUT = {"life": "input z: u8[512, 512]\n", "gathers": "input z: f32[1000]\ninput idx: i64[1000]\n"}


def steps(name, levels):
    head = INPUT.get(name, "input z: f32[512, 512]\n")
    if name == "gathers":
        return head + "z = z[(idx*7 + 3) % 1000]*0.5 + z\n" * levels + "return z\n"
    return head + HEADS[name] + "z = step(z)\n" * levels + "return z\n"


def sort(n):
    text, k = f"input z: f32[{n}]\nid = arange({n})\n", 2
    while k <= n:
        j = k // 2
        while j >= 1:
            text += f"p = z[id ^ {j}]\nup = ((id & {k}) == 0) == ((id & {j}) == 0)\n"
            text += "z = where(up, minimum(z, p), maximum(z, p))\n"
            j //= 2
        k *= 2
    return text + "return z\n"


def programs():
    for name, lengths in {"life": (3, 12, 50, 100), "heat": (6, 8, 50, 100), "heat0": (8, 50, 100),
                          "gathers": (12, 50, 100), "norms": (60, 100, 200, 1000), "cumsums": (50, 100),
                          "chain": (100, 2500, 25000), "diamonds": (1000, 10000)}.items():
        for levels in lengths:
            yield f"{name} {levels}", steps(name, levels)
    for n in (64, 256):
        yield f"sort {n}", sort(n)


def measure(smelt, text, device):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.smelt")
        with open(path, "w") as file:
            file.write(text)
        command = [smelt, "explain", path, "--json", "-", "--device", device]
        if "idx" in text:
            command += ["-i", "idx=zeros:i64[1000]"]
        return json.loads(run(command, 600, {**os.environ, "XDG_CACHE_HOME": folder}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smelt", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="rows whose names contain this")
    args = parser.parse_args()
    print("| program | kernels | seconds | simplify | plan | lower | emit | compile |\n|---|---|---|---|---|---|---|---|")
    for name, text in programs():
        if args.only not in name:
            continue
        report = measure(args.smelt, text, args.device)
        stages = {s["stage"]: s["ms"] / 1000 for s in report["stages"]}
        seconds = sum(stages.values())
        cells = [f"{stages.get(s, 0):.2f}" for s in ("simplify", "plan", "lower", "emit", "compile")]
        print(f"| {name} | {len(report['kernels'])} | {seconds:.2f} | " + " | ".join(cells) + " |", flush=True)

