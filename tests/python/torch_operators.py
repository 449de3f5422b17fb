#!/usr/bin/env python3
"""Runs the operators of torch's OpInfo database through torch.compile(backend="smelt", options={"fallback": "error"}).

    tests/python/torch_operators.py [NAME ...] [--device cuda] [--samples 0] [--jobs 8] [--write] [--compare]

Every sample is compared with eager torch, of float32 with its gradients. A column of an operator is `native` where smelt's kernels
calculated the results of all samples, else the operations that torch has to run. A wrong result, an error or a crash of a process is a
failure, and the exit code 1. --samples 0 takes all samples that the database has; --write makes docs/torch-operators.md of the rows,
--compare says which rows that page has otherwise.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import queue
import re
import select
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Iterable, Iterator, Optional

COLUMNS = ("float32", "gradient", "int64", "bool", "bfloat16")
COMPARED = ("result", "gradient", "argument")
FAILURES = ("wrong", "error", "crash", "timeout")
SEED = 7
SAMPLES = 4  # of an operator and dtype, on the page


@dataclass
class Cell:
    """What became of one operator for one dtype."""

    state: str  # native, torch, nothing (no kernel is needed), break (Dynamo does not trace it), or one of FAILURES
    detail: str = ""
    samples: int = 0


@dataclass
class Row:
    name: str
    cells: dict[str, Cell] = field(default_factory=dict)


# ---- one operator


def tensors_in(value: Any) -> list[Any]:
    import torch

    return [t for t in torch.utils._pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def copied(value: Any, grad: bool) -> Any:
    """The same arguments in new memory, with strides and whether a gradient is asked for."""
    import torch

    def copy(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or t.layout != torch.strided:
            return t
        made = torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device=t.device) if dense(t) else torch.empty_like(t)
        made.copy_(t.detach())
        if t.is_conj():
            made = made.conj()
        return made.requires_grad_(grad and t.requires_grad)

    return torch.utils._pytree.tree_map(copy, value)


def dense(t: Any) -> bool:
    import torch

    return bool(torch._prims_common.is_non_overlapping_and_dense_or_false(t))


def reason_of(error: BaseException) -> Optional[str]:
    """The operations that torch would have to run, of the message that refuses them."""
    found = re.search(r"in torch: ([^\n]*)", str(error))
    return re.sub(r"\b\d+ (?=aten|prims)", "", found[1]) if found and "operations in" in str(error) else None


class Checked:
    """One operator, for one dtype: eager and compiled."""

    def __init__(self, op: Any, device: str, dtype: Any, gradient: bool) -> None:
        self.op, self.device, self.dtype, self.gradient = op, device, dtype, gradient

    def samples(self, most: int) -> list[Any]:
        """The first samples, the last, and others between them."""
        import torch

        torch.manual_seed(SEED)
        found = list(self.op.sample_inputs(self.device, self.dtype, requires_grad=self.gradient))
        if most and len(found) > most:
            found = [found[round(k * (len(found) - 1) / max(most - 1, 1))] for k in range(most)]
        return found

    def call(self, arguments: Any, clone: bool = False) -> Any:
        import torch

        x, args, kwargs = arguments
        made = self.op.op(x, *args, **kwargs)
        return torch.utils._pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, made) if clone else made

    def run(self, f: Callable[[Any], Any], arguments: Any) -> tuple[list[Any], list[Any], list[Any]]:
        """Results, gradients, and the arguments afterwards, which an operator may have changed."""
        import torch

        arguments = copied(arguments, self.gradient)
        torch.manual_seed(SEED)
        results = tensors_in(f(arguments))
        gradients = []
        if self.gradient:
            differentiable = [r for r in results if r.requires_grad]
            total = sum((self.weighted(r) for r in differentiable), torch.zeros((), device=self.device))
            if total.requires_grad:
                wanted = [t for t in tensors_in(arguments) if t.requires_grad]
                gradients = [g for g in torch.autograd.grad(total, wanted, allow_unused=True) if g is not None]
        return [r.detach() for r in results], gradients, [t.detach() for t in tensors_in(arguments)]

    def weighted(self, r: Any) -> Any:
        """A sum in which every element counts differently."""
        import torch

        weights = torch.linspace(0.5, 1.5, r.numel(), device=r.device).reshape(r.shape)
        return (r.real if r.is_complex() else r).float().mul(weights).sum()

    def check(self, sample: Any) -> Cell:
        import torch
        from smelt.torch import backend, reports, reset

        arguments = (sample.input, sample.args, sample.kwargs)
        for clone in (False, True):  # a view is calculated where somebody reads it
            try:
                expected = self.run(lambda a: self.call(a, clone), arguments)
            except Exception as e:  # the database has samples that some builds of torch refuse
                return Cell("skipped", str(e))
            torch.compiler.reset()
            reset()
            f = torch.compile(lambda a: self.call(a, clone), backend=backend, options={"fallback": "error"}, dynamic=False,
                              fullgraph=True)
            try:
                made = self.run(f, arguments)
            except Exception as e:
                return failed(e)
            graphs = reports()
            if any(g.kernels for g in graphs) or not any(r.numel() for r in expected[0]):
                wrong = self.difference(made, expected, arguments) or self.strides(made[0], expected[0], arguments, clone)
                return Cell("wrong", wrong) if wrong else Cell("native")
        return Cell("nothing")

    def difference(self, made: Any, expected: Any, arguments: Any) -> str:
        import torch

        valueless = self.op.name.startswith(("empty", "new_empty"))
        for what, ours, theirs in zip(COMPARED, made, expected):
            if len(ours) != len(theirs):
                return f"{len(ours)} {what}s for {len(theirs)}"
            for k, (a, b) in enumerate(zip(ours, theirs)):
                try:
                    if valueless:
                        assert (a.shape, a.dtype) == (b.shape, b.dtype)
                    else:
                        torch.testing.assert_close(a, b, equal_nan=True)
                except AssertionError as e:
                    if not self.as_exact(what, k, a, b, arguments):
                        return f"{what} {k}: " + " ".join(str(e).split())[:300]
        return ""

    def strides(self, made: Any, expected: Any, arguments: Any, clone: bool) -> str:
        """Strides are those of torch: of its kernels, or of what it traces, where these differ."""
        import torch

        def differ(a: Any, b: Any) -> bool:
            return a.numel() > 1 and any(s != t for s, t, n in zip(a.stride(), b.stride(), a.shape) if n > 1)

        if not any(differ(a, b) for a, b in zip(made, expected)):
            return ""
        with torch._subclasses.FakeTensorMode() as mode:
            fake = torch.utils._pytree.tree_map(lambda t: mode.from_tensor(t) if isinstance(t, torch.Tensor) else t, arguments)
            traced = tensors_in(self.call(fake, clone))
        return "".join(f"strides {a.stride()} for {b.stride()} " for a, b in zip(made, traced) if differ(a, b))

    def as_exact(self, what: str, k: int, a: Any, b: Any, arguments: Any) -> bool:
        """Whether a result that is not torch's is about as near to that in float64 as torch's is."""
        import torch

        if not a.is_floating_point() or a.shape != b.shape or a.dtype != b.dtype:
            return False

        def doubled(t: Any) -> Any:
            if isinstance(t, torch.dtype) and t.is_floating_point:
                return torch.float64
            return t.detach().double().requires_grad_(t.requires_grad) if isinstance(t, torch.Tensor) and t.is_floating_point() else t

        try:
            exact = self.run(self.call, torch.utils._pytree.tree_map(doubled, arguments))[COMPARED.index(what)][k]
        except Exception:
            return False
        if not exact.is_floating_point() or exact.shape != a.shape:
            return False
        finite = torch.isfinite(exact) & torch.isfinite(b)
        if not torch.equal(torch.nan_to_num(a)[~finite], torch.nan_to_num(b)[~finite]):
            return False
        ours, theirs = ((t.double() - exact)[finite].abs() for t in (a, b))
        unit = torch.finfo(a.dtype).eps * exact[finite].abs()
        return bool((ours <= 3 * theirs.max() + 4 * unit).all()) if ours.numel() else True


def failed(error: BaseException) -> Cell:
    text = str(error)
    reason = reason_of(error)
    if reason is not None:
        return Cell("torch", reason)
    kind = type(error).__name__
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = " | ".join(lines[:4])[:400]
    dynamo = kind != "BackendCompilerFailed" and "torch._dynamo" in type(error).__module__
    if dynamo or "GuardOnDataDependentSymNode" in text:
        return Cell("break", lines[0][:100])
    return Cell("error", f"{kind}: {short}")


def check_operator(op: Any, device: str, most: int, columns: list[str]) -> Row:
    import torch

    row = Row(op.full_name)
    for column in columns:
        gradient = column == "gradient"
        dtype = torch.float32 if gradient else getattr(torch, column)
        if dtype not in op.supported_dtypes(device) or (gradient and not op.supports_autograd):
            continue
        checked = Checked(op, device, dtype, gradient)
        try:
            samples = checked.samples(most)
        except Exception as e:
            row.cells[column] = Cell("skipped", str(e)[:200])
            continue
        row.cells[column] = joined([checked.check(sample) for sample in samples])
    return row


def reasons_in(cells: Iterable[Cell]) -> list[str]:
    """The operations that torch runs, each with its reason, once."""
    found = [part for cell in cells if cell.state == "torch" for part in re.findall(r"[\w.]+ \([^()]*(?:\([^()]*\))?[^()]*\)", cell.detail)]
    return list(dict.fromkeys(re.sub(r"\[[\d, ]*\]", "[]", part) for part in found))


def joined(cells: list[Cell]) -> Cell:
    """The worst of what became of the samples."""
    order = (*FAILURES, "torch", "break", "native", "nothing", "skipped")
    cells = [c for c in cells if c.state != "skipped"] or cells
    if not cells:
        return Cell("skipped", "no samples")
    worst = min(cells, key=lambda c: order.index(c.state))
    if worst.state == "torch":
        return Cell("torch", ", ".join(reasons_in(cells)) or worst.detail, len(cells))
    return Cell(worst.state, worst.detail, len(cells))


# ---- many operators, each in a process that may end


def database() -> dict[str, Any]:
    from torch.testing._internal import common_methods_invocations as database

    # Dynamo does not trace the seeds that the database sets around random numbers; run() sets one.
    database.wrapper_set_seed = lambda f, *args, **kwargs: f(*args, **kwargs)
    return {op.full_name: op for op in database.op_db}


def work() -> None:
    """A worker: names of operators come on standard input, rows go to standard output."""
    import logging
    import warnings

    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    operators = database()
    for line in sys.stdin:
        task = json.loads(line)
        row = check_operator(operators[task["name"]], task["device"], task["samples"], task["columns"])
        out.write(json.dumps(asdict(row)) + "\n")
        out.flush()


class Worker:
    def __init__(self) -> None:
        self.process: Optional[subprocess.Popen[bytes]] = None

    def ask(self, task: dict[str, Any], seconds: float) -> Row:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([sys.executable, __file__, "--worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL if not os.environ.get("LOUD") else None)
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write((json.dumps(task) + "\n").encode())
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            ready, line = [True], b""
        if line:
            made = json.loads(line)
            return Row(made["name"], {column: Cell(**cell) for column, cell in made["cells"].items()})
        if not ready:
            self.process.kill()
        code = self.process.wait()
        self.process = None
        cell = Cell("crash", f"exit code {code}") if ready else Cell("timeout", f"{seconds:.0f} s")
        return Row(task["name"], {task["columns"][0]: cell})

    def close(self) -> None:
        if self.process is not None and self.process.stdin:
            self.process.stdin.close()
            self.process.wait()


def check_all(names: list[str], device: str = "cpu", samples: int = SAMPLES, jobs: int = 2, seconds: float = 240.0,
              progress: bool = False) -> Iterator[Row]:
    """The rows of operators, in the order in which they are done. An operator whose process ends is tried column by column."""
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in names:
        tasks.put(name)
    rows: queue.SimpleQueue[Optional[Row]] = queue.SimpleQueue()

    def serve() -> None:
        worker = Worker()
        while True:
            try:
                name = tasks.get_nowait()
            except queue.Empty:
                break
            task = {"name": name, "device": device, "samples": samples, "columns": list(COLUMNS)}
            row = worker.ask(task, seconds)
            if any(cell.state in ("crash", "timeout") for cell in row.cells.values()):
                row = Row(name)
                for column in COLUMNS:
                    row.cells.update(worker.ask({**task, "columns": [column]}, seconds).cells)
            rows.put(row)
        worker.close()
        rows.put(None)

    for _ in range(jobs):
        threading.Thread(target=serve, daemon=True).start()
    running = jobs
    while running:
        row = rows.get()
        if row is None:
            running -= 1
        else:
            yield row


# ---- the page

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "torch-operators.md"
SHOWN = {"native": "smelt", "torch": "torch", "break": "none", "nothing": "none", "skipped": ""}
HEAD = """\
# Operators of torch

This page answers: which operators of torch does `torch.compile(backend="smelt")` calculate itself,
for which dtypes, and why not the others? It is written by a command, which compares every operator
of torch's OpInfo database with eager torch:

    tests/python/torch_operators.py --write

| entry | what it means |
|---|---|
| `smelt` | smelt's kernels calculate the results of all samples, and they are those of torch |
| `torch` | for some samples torch runs an operation, which the last column names with its reason |
| `none` | Dynamo traces no graph, or there is nothing to calculate |
| | the operator has no such dtype, or no gradient |

This is measured with `fallback="error"`, so that nothing runs in torch unnoticed.
[torch.md](torch.md) is the manual.

"""


def entries(row: Row) -> list[str]:
    """A row of the page."""
    dtypes = [SHOWN.get(row.cells[c].state, row.cells[c].state) if c in row.cells else "" for c in COLUMNS]
    return [row.name, *dtypes, ", ".join(reasons_in(row.cells.values())).replace("|", "/")]


def is_native(entry: list[str]) -> bool:
    """Whether smelt calculates an operator whatever the dtype."""
    return "smelt" in entry[1:6] and set(entry[1:6]) <= {"smelt", ""}


def page(rows: list[Row]) -> str:
    import torch

    table = sorted(entries(row) for row in rows)
    native = sum(is_native(e) for e in table)
    some = sum("smelt" in e[1:6] for e in table) - native
    lines = ["| torch " + torch.__version__.split("+")[0] + " | operators |", "|---|---|", f"| smelt for all dtypes and gradients | {native} |",
             f"| smelt for some | {some} |", f"| torch | {sum('torch' in e[1:6] and 'smelt' not in e[1:6] for e in table)} |",
             f"| none | {sum(not set(e[1:6]) & {'smelt', 'torch'} for e in table)} |", "",
             "| operator | " + " | ".join(COLUMNS) + " | in torch |", "|---" * 7 + "|"]
    return HEAD + "\n".join(lines + ["| " + " | ".join(e) + " |" for e in table]) + "\n"


def written() -> dict[str, list[str]]:
    """The rows of the page by their names."""
    found = [[part.strip() for part in line.strip("|\n").split("|")] for line in PAGE.read_text().splitlines() if line.count("|") == 8]
    return {entry[0]: entry for entry in found[2:]}


def differences(rows: list[Row]) -> list[str]:
    """What the page says otherwise."""
    known = written()
    return [f"{e[0]}: {e[1:]}, on the page {known.get(e[0], [''])[1:]}" for e in map(entries, rows) if known.get(e[0], [])[:6] != e[:6]]


def main() -> int:
    if "--worker" in sys.argv:
        work()
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="operators, all without any; NAME* for those that start so")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="at most so many of each operator and dtype; 0: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=240.0, help="the limit of an operator")
    parser.add_argument("--write", action="store_true", help="writes docs/torch-operators.md")
    parser.add_argument("--compare", action="store_true", help="exit code 1 where that page says otherwise")
    parser.add_argument("--json", help="writes the rows to a file")
    chosen = parser.parse_args()
    names = [n for n in database() if not chosen.names or any(
        n == p or n.split(".")[0] == p or (p.endswith("*") and n.startswith(p[:-1])) for p in chosen.names)]
    start = time.time()
    rows = []
    for row in check_all(names, chosen.device, chosen.samples, chosen.jobs, chosen.seconds):
        rows.append(row)
        told = "; ".join(f"{c}: {cell.state}" + (f" {cell.detail}" if cell.detail else "") for c, cell in row.cells.items())
        print(f"[{len(rows)}/{len(names)} {time.time() - start:.0f} s] {row.name}: {told}", flush=True)
        if chosen.json:
            with open(chosen.json, "w") as f:
                json.dump([asdict(r) for r in rows], f, indent=0)
    states = collections.Counter(cell.state for row in rows for cell in row.cells.values())
    print(dict(states))
    print(f"{sum(is_native(entries(row)) for row in rows)} of {len(rows)} operators in smelt alone")
    if chosen.write:
        PAGE.write_text(page(rows))
    if chosen.compare and (told := differences(rows)):
        print("\n".join(told))
        return 1
    return 1 if any(states[s] for s in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
