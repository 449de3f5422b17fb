"""What bench/gpu/first_result reads: a line per workload. Names of workloads as arguments choose some."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

import smelt_tool
import workloads


def main():
    for w in workloads.selected(sys.argv[1:]):
        inputs = smelt_tool.input_options(w, w.sizes)[1::2]
        print(w.name.replace(" ", "_"), w.family.program, *inputs)


if __name__ == "__main__":
    main()
