"""What first_result reads: a line per row of the suite, at small sizes. Usage: lines.py FOLDER; the programs are written there."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

import tool
from programs import ROWS

SMALL = 1 << 20  # bytes of the inputs: running takes much less than compiling


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for row in ROWS:
        arrays = row.arrays(SMALL)
        program = folder / f"{row.name}.smelt"
        program.write_text(row.program(arrays))
        print(row.name, program, *tool.inputs(arrays)[1::2])


if __name__ == "__main__":
    main()
