"""Pairs of programs with the same meaning, timed on this CPU: spellings.py --smelt PATH [NAME...]. The pairs are those of tests/plan/spellings_*.cpp, whose
plans a test compares. Names the pairs that are more than a tenth apart; exit status 1 if any."""

import argparse
import ast
import json
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "common")]

from command_line import Failed, run

TESTS = HERE.parents[1] / "tests" / "plan"
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|\w+|[{},]')
SMALL = 4 << 20  # elements of the largest input


def literals(text):
    """Tokens of C++ initializers, in nested lists; adjacent strings are one."""
    stack, joined = [[]], False
    for token in TOKEN.findall(text):
        if token.startswith("//"):
            continue
        if token == "{":
            stack.append([])
        elif token == "}":
            done = stack.pop()
            stack[-1].append(done)
        elif token[0] == '"':
            value = ast.literal_eval(token)
            if joined:
                stack[-1][-1] += value
            else:
                stack[-1].append(value)
        elif token != ",":
            stack[-1].append(token)
        joined = token[0] == '"'
    return stack[0]


def pairs():
    sizes = {}
    for name, large, small in re.findall(r'Sizes (k\w+) = \{"([^"]*)", "([^"]*)"', (TESTS / "spellings.hpp").read_text()):
        sizes[name] = [large, small]
    for file in ("functions", "layouts"):
        text = (TESTS / f"spellings_{file}.cpp").read_text()
        body = text[text.index("= {") + 2 : text.rindex("};") + 1]
        for name, inputs, size, a, b in literals(body)[0]:
            yield name, inputs, *(sizes[size] if isinstance(size, str) else size), a, b


def shapes(inputs, sizes):
    """(types with numbers in place of symbols, elements of the largest)"""
    extents = dict(item.split("=") for item in sizes.split())
    types = re.sub(r"\b([A-Z])\b", lambda m: extents.get(m[1], m[1]), inputs)
    counts = [1]
    for shape in re.findall(r"\[([^][]*)\]", types):
        count = 1
        for extent in shape.split(","):
            count *= eval(extent) if extent.strip() else 1  # noqa: S307: of the tests' own text
        counts.append(count)
    return types, max(counts)


def extents_of(sizes):
    return {name: int(extent) for name, extent in (item.split("=") for item in sizes.split())}


def smaller(inputs, sizes, small):
    """The largest extent shrinks until the largest input is small; what was odd stays odd. Extents that are multiples of others, in the
    sizes of the tests too, stay those multiples."""
    given, tested = extents_of(sizes), extents_of(small)
    extents = dict(given)
    while shapes(inputs, " ".join(f"{n}={e}" for n, e in extents.items()))[1] > SMALL:
        largest = max(extents, key=extents.get)
        extents[largest] = extents[largest] // 4 * 2 + extents[largest] % 2
        for n in extents:
            if given[n] != given[largest] and given[n] * tested[largest] == given[largest] * tested[n]:
                extents[n] = given[n] * extents[largest] // given[largest]
    return " ".join(f"{n}={e}" for n, e in extents.items())


def program(inputs, sizes, text):
    extents = dict(item.split("=") for item in sizes.split())
    types, _ = shapes(inputs, sizes)
    body = re.sub(r"\b([A-Z])\b", lambda m: extents.get(m[1], m[1]), text)
    return "".join(f"input {i.strip()}\n" for i in types.split(";")) + ("" if "return" in body else "return ") + body + "\n"


def least_us(options, folder, text):
    file = folder / "program.smelt"
    file.write_text(text)
    command = [options.smelt, "bench", file, "--device", "cpu", "--threads", options.threads, "--fused-only", "--json", "-", "--time-limit", "0.1"]
    return json.loads(run(command))["results"][0]["fused"]["time_ms"]["min"] * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smelt", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3, help="of those that differ")
    parser.add_argument("names", nargs="*", help="beginnings of names of pairs")
    options = parser.parse_args()
    apart = measured = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, inputs, sizes, small, a, b in pairs():
            if options.names and not any(name.startswith(n) for n in options.names):
                continue
            sizes = smaller(inputs, sizes, small)
            best = [float("inf")] * 2
            try:
                for _ in range(options.turns):
                    best = [min(us, least_us(options, Path(temporary), program(inputs, sizes, text))) for us, text in zip(best, (a, b))]
                    if max(best) <= 1.1 * min(best):
                        break
            except Failed as error:
                print(f"FAILED {name}: {str(error).splitlines()[0]}", flush=True)
                continue
            measured += 1
            differs = max(best) > 1.1 * min(best)
            apart += differs
            print(f"{'apart' if differs else 'alike'} {name} {best[0]:.1f} us, {best[1]:.1f} us ({best[1] / best[0]:.2f}x)", flush=True)
    print(f"{measured} pairs, {apart} more than a tenth apart")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
