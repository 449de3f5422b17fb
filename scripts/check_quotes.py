#!/usr/bin/env python3
"""Checks that the programs which a page quotes are the files that tests build and run.

A line `<!-- examples/cpp/norm.cpp -->` precedes a quoted file; the block after it is the file without
its first comment and the blank lines around it. With --fix the blocks are written again. After
`<!-- part of examples/cpp/norm.cpp -->` the block is some lines of the file, which follow each other;
after `<!-- in a function of (PARAMETERS) -->` tests/docs compiles it as the body of such a function.
Also: no public header may include anything but the standard library and other public headers, and
every example must be quoted.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md"))]
PART = re.compile(r"<!-- part of (\S+) -->\n```cpp\n(.*?)```\n", re.S)
QUOTE = re.compile(r"(<!-- (examples/cpp/\S+) -->\n```cpp\n)(.*?)(```\n)", re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def quoted(root, name):
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return "\n".join(lines).strip("\n") + "\n"


def dedented(text):
    return "\n".join(line.strip() for line in text.strip().splitlines())


def faults(root, fix):
    seen = set()
    for page in PAGES:
        path = root / page
        text = path.read_text(encoding="utf-8")
        for match in QUOTE.finditer(text):
            seen.add(match.group(2))
        for match in re.finditer(r"(.*)\n```cpp\n", text):
            if not match[1].startswith("<!-- "):
                yield f"{page}: a block of C++ without a comment that says where it is compiled: {match[1] or text[match.end():].splitlines()[0]}"
        for name, block in PART.findall(text):
            if dedented(block) not in dedented((root / name).read_text(encoding="utf-8")):
                yield f"{page}: these lines are not those of {name}: {block.splitlines()[0]}"
        written = QUOTE.sub(lambda m: m.group(1) + quoted(root, m.group(2)) + m.group(4), text)
        if fix:
            path.write_text(written, encoding="utf-8")
        elif written != text:
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
    found = list(faults(ROOT, "--fix" in sys.argv[1:]))
    for fault in found:
        print(fault)
    print(f"quotes: {len(found)} faults" if found else "quotes: as the files are")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
