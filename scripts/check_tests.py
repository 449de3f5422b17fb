#!/usr/bin/env python3
"""Checks that tests are where a reader looks for them, as docs/testing.md describes.

Every folder of src/ has one of the same name in tests/; every folder of tests/ has a row in the
first table of the page; C++ files with tests, and only these, are named *_test.cpp. The page lists
the numbered cases by what they show, read from the names of the tests; --fix writes that list. Every
program of tests/support/programs is run by a test. Every bug of tests/mutants/list.json still
applies: its text is at one place of the sources.
"""
import json
import pathlib
import re
import sys

PAGE = "docs/testing.md"
NO_STAGE = {"fuzz", "package", "support"}  # programs of their own, and what suites share
TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),\s*(\w+)\)", re.M)
CASE = re.compile(r"C(\d\d)_(\w+)")
LIST = re.compile(r"(<!-- cases -->\n).*?(<!-- end of cases -->\n)", re.S)


def words(name):
    """RoundHalfToEven -> round half to even."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=\d)", " ", name)
    return spaced.lower()


def tests_of(path):
    return TEST.findall(path.read_text(encoding="utf-8"))


def cases(root):
    """The numbered cases as a table: number, what it shows, file."""
    rows = []
    for path in sorted((root / "tests").rglob("*_test.cpp")):
        for suite, name in tests_of(path):
            match = CASE.fullmatch(name)
            if match:
                rows.append((int(match[1]), words(match[2]), suite, path.relative_to(root / "tests").as_posix()))
    lines = ["| case | what it shows | tests | file in tests/ |", "|---|---|---|---|"]
    # Within a number in the order of the files, which is that of the tests in them.
    for number, shown, suite, path in sorted(rows, key=lambda row: row[0]):
        lines.append(f"| {number} | {shown} | `{suite}.C{number:02}*` | `{path}` |")
    return "\n".join(lines) + "\n"


def faults(root, fix):
    page = (root / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.M)
    named_folders = set(re.findall(r"\w+", " ".join(rows)))
    stages = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    folders = {path.name for path in (root / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
    for stage in sorted(stages - folders):
        yield f"src/{stage}: there is no tests/{stage}"
    for folder in sorted(folders):
        if folder not in named_folders:
            yield f"tests/{folder}: {PAGE} has no row that says what it tests"
    for path in sorted((root / "tests").rglob("*.cpp")):
        where = path.relative_to(root)
        if where.parts[1] in NO_STAGE:
            continue
        named = path.name.endswith("_test.cpp")
        if bool(tests_of(path)) != named:
            yield f"{where}: " + ("has no tests: drop _test from its name" if named else "has tests: name it *_test.cpp")
    sources = "".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*_test.cpp"))
    for path in sorted((root / "tests/support/programs").iterdir()):
        if f'shared_program("{path.stem}"' not in sources:
            yield f"{path.relative_to(root)}: no test runs it"
    for mutant in json.loads((root / "tests/mutants/list.json").read_text(encoding="utf-8")):
        count = sum(path.read_text(encoding="utf-8").count(mutant["old"]) for path in root.glob(mutant["file"]))
        if count != 1:
            yield f"tests/mutants/list.json: {mutant['name']}: {mutant['file']} has its text {count} times, not once"
    written = LIST.sub(lambda match: match[1] + cases(root) + match[2], page)
    if not LIST.search(page):
        yield f"{PAGE}: there is no list of cases (<!-- cases -->)"
    elif fix:
        (root / PAGE).write_text(written, encoding="utf-8")
    elif written != page:
        yield f"{PAGE}: the list of cases is not that of the tests: scripts/check_tests.py --fix"


def main():
    found = list(faults(pathlib.Path(__file__).resolve().parent.parent, "--fix" in sys.argv[1:]))
    for fault in found:
        print(fault)
    print(f"tests: {len(found)} faults" if found else "tests: all where docs/testing.md says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
