#!/usr/bin/env python3
"""Runs a benchmark: bench/run.py NAME [options]; bench/run.py NAME --help lists the options. README.md says what each measures.

  cpu         smelt, numba, Halide, JAX, numexpr and PyTorch on this CPU
  gpu         smelt, PyTorch, JAX and CuPy on one GPU
  suite       programs that nobody tuned for, compared with PyTorch, on a CPU or a GPU
  short-rows  programs over rows of 2 to 31 elements on a CPU
  products    products of drawn shapes, compared with NumPy and PyTorch, on a CPU
  compile     how long chains take to compile
"""

import importlib
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
BENCHMARKS = {"cpu": ("cpu", "main"), "gpu": ("gpu", "main"), "suite": ("suite", "main"), "short-rows": ("cpu", "short_rows"),
              "products": ("products", "main"), "compile": ("compile", "main")}


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("-h", "--help"):
        print(__doc__, end="")
        return 0
    if name not in BENCHMARKS:
        print(f"bench: there is no benchmark {name!r}\nhelp: one of {', '.join(BENCHMARKS)}" if name else __doc__.rstrip(), file=sys.stderr)
        return 2
    folder, module = BENCHMARKS[name]
    sys.path[:0] = [str(HERE / folder), str(HERE / "common")]
    sys.argv[:2] = [f"{sys.argv[0]} {name}"]
    from command_line import Failed

    try:
        return importlib.import_module(module).main()
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "torch"):
            raise
        print(f"bench: {sys.executable} has no {error.name}\nhelp: run it with a Python that has, or install it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
