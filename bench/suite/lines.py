"""What compile/first_result and choice/choice read: a line per row of the suite. The programs are written to FOLDER.

Usage: lines.py FOLDER [--large | --cpu] [ROW...]     small sizes of the rows of the suite for first_result; --large: the sizes
of a GPU, of all sets, for choice; --cpu: those of a CPU. Of the rows with these names, or beginnings of names."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

import tool
from programs import ROWS, UNSEEN

SMALL = 1 << 20  # bytes of the inputs: running takes much less than compiling


def with_limits(option, arrays):
    name, _, spec = option.partition("=")
    filler = "" if isinstance(arrays[name], list) else arrays[name].filler
    return f"{name}={filler}:{spec}" if filler.startswith("below") else option


def main():
    large, cpu = "--large" in sys.argv, "--cpu" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    for row in ROWS + UNSEEN if large or cpu else ROWS:
        if words[1:] and not any(row.name.startswith(w) for w in words[1:]):
            continue
        arrays = row.arrays(None if large else tool.BATCH if cpu else SMALL)
        program = folder / f"{row.name}.smelt"
        program.write_text(row.program(arrays))
        options = tool.inputs(arrays)[1::2]
        print(row.name, program, *([with_limits(o, arrays) for o in options] if large or cpu else options))


if __name__ == "__main__":
    main()
