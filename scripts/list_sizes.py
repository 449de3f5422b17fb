#!/usr/bin/env python3
"""Lists what is larger than CONTRIBUTING.md requires: files of more than 500 lines, functions of
more than 80, classes of more than 25 member functions. It lists them and does not fail.

Reads the sources as clang-format leaves them: a function ends at the first closing brace in the
column where its text begins.
"""
import pathlib
import re
import sys

MOST_LINES, MOST_FUNCTION, MOST_MEMBERS = 500, 80, 25
OTHER = "namespace|extern|enum|struct|class|union|else|if|for|while|switch|do\\b|case|return|\\}|//|#|:|.*R[\"]\\("
OPENS = re.compile(rf"^(\s{{0,4}})(?!{OTHER})(\S.*\{{)$")
CLASS = re.compile(r"^(\s*)(?:class|struct) (?:SMELT_API )?(\w+)[^;]*\{$")
MEMBER = re.compile(r"^\s+[\w:~][^=]*\)\s*(?:const|override|noexcept|\s)*(?:;|\{.*|= \w+;|:.*)$")


def functions(lines):
    at = 0
    while at < len(lines):
        match = OPENS.match(lines[at])
        if match and "(" in lines[at] + (lines[at - 1] if at else ""):
            end = at + 1
            while end < len(lines) and not re.match(match.group(1) + r"\}", lines[end]):
                end += 1
            yield at, end - at + 1, match.group(2)
            at = end
        at += 1


def classes(lines):
    for at, line in enumerate(lines):
        match = CLASS.match(line)
        if not match:
            continue
        inside = match.group(1) + "  "
        members = 0
        for text in lines[at + 1 :]:
            if text.startswith(match.group(1) + "}"):
                break
            members += text.startswith(inside) and text[len(inside) : len(inside) + 1] not in " }/" and bool(MEMBER.match(text))
        yield at, members, match.group(2)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cpp", ".hpp"):
            continue
        where = path.relative_to(root)
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MOST_LINES:
            found.append(f"{where}: {len(lines)} lines")
        for at, length, head in functions(lines):
            if length > MOST_FUNCTION:
                found.append(f"{where}:{at + 1}: a function of {length} lines: {head[:80]}")
        for at, members, name in classes(lines):
            if members > MOST_MEMBERS:
                found.append(f"{where}:{at + 1}: {name} has {members} member functions")
    for line in found:
        print(line)
    print(f"sizes: {len(found)} over what CONTRIBUTING.md requires" if found else "sizes: nothing is over")


if __name__ == "__main__":
    main()
