#!/usr/bin/env python3
"""Checks that the programs which a page quotes are the files that tests build and run.

In docs/cpp-api.md and README.md a line `<!-- examples/cpp/norm.cpp -->` stands before a quoted file; the block behind it is the file,
without its first comment and the blank lines around. With --fix the blocks are written anew. Also: no public header may include
anything but the standard library and other public headers, and every example must be quoted.
"""
import pathlib
import re
import sys

PAGES = ["docs/cpp-api.md"]
QUOTE = re.compile(r"(<!-- (examples/cpp/\S+) -->\n```cpp\n)(.*?)(```\n)", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def quoted(root, name):
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return "\n".join(lines).strip("\n") + "\n"


def faults(root, fix):
    seen = set()
    for page in PAGES:
        path = root / page
        text = path.read_text(encoding="utf-8")
        for match in QUOTE.finditer(text):
            seen.add(match.group(2))
        mended = QUOTE.sub(lambda m: m.group(1) + quoted(root, m.group(2)) + m.group(4), text)
        if fix:
            path.write_text(mended, encoding="utf-8")
        elif mended != text:
            yield f"{page}: a quoted example is not the file: scripts/check_quotes.py --fix"
    for example in sorted((root / "examples/cpp").glob("*.cpp")):
        if f"examples/cpp/{example.name}" not in seen:
            yield f"examples/cpp/{example.name}: no page quotes it"
    for header in sorted((root / "include/smelt").glob("*.hpp")):
        for name in INCLUDE.findall(header.read_text(encoding="utf-8")):
            public = name.startswith("smelt/") and (root / "include" / name).exists()
            standard = re.fullmatch(r"[a-z_]+", name)
            if not public and not standard:
                yield f"include/smelt/{header.name}: includes {name}, which is no public header of smelt and none of C++"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = list(faults(root, "--fix" in sys.argv[1:]))
    for fault in found:
        print(fault)
    print(f"quotes: {len(found)} faults" if found else "quotes: as the files are")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
