#!/usr/bin/env python3
"""Checks that comments of C++ are at most 100 columns wide; --fix wraps those that are wider.

Only comments on lines of their own are looked at. What is laid out by hand is left alone: lines
that are indented after the slashes, or that have columns, and those inside of raw strings.
"""
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
WIDTH = 100
SUFFIXES = {".cpp", ".hpp", ".def", ".cu"}
COMMENT = re.compile(r"^( *)(///?) ?(.*)$")
BY_HAND = re.compile(r"^( {2,}|\||\\|NOLINT|clang-format|-{3,})|\S {3,}\S")
RAW = re.compile(r'R"([^()\\\s]{0,16})\(')


def comments(lines):
    """The line numbers of comments that may be wrapped."""
    end = None  # of the raw string that a line is in
    for number, line in enumerate(lines):
        at, inside = 0, end is not None
        while True:
            if end is not None:
                found = line.find(end, at)
                if found < 0:
                    break
                at, end = found + len(end), None
            opened = RAW.search(line, at)
            if not opened or "//" in line[at:opened.start()]:
                break
            at, end = opened.end(), ")" + opened[1] + '"'
        continued = number > 0 and lines[number - 1].endswith("\\")
        found = COMMENT.match(line)
        if found and not inside and not continued and not line.endswith("\\") and not BY_HAND.search(found[3]):
            yield number


def is_wide(line):
    text = COMMENT.match(line)
    return len(line) > WIDTH and len(text[1]) + len(text[2]) + 1 + max(map(len, text[3].split())) <= WIDTH


def wrapped(lines):
    """The lines, comments wrapped. A line is joined with the next one only if that one's first word did not fit it."""
    usable, result, number = set(comments(lines)), [], 0
    while number < len(lines):
        if number not in usable:
            result.append(lines[number])
            number += 1
            continue
        indent, slashes, text = COMMENT.match(lines[number]).groups()
        first = number
        while number + 1 < len(lines) and number + 1 in usable:
            follows = COMMENT.match(lines[number + 1])
            words = follows[3].split()
            if (follows[1], follows[2]) != (indent, slashes) or not words or words[0] in ("-", "*") or not text:
                break
            if len(lines[number]) + 1 + len(words[0]) <= WIDTH - 4:
                break
            number += 1
        number += 1
        block = lines[first:number]
        if not any(is_wide(line) for line in block):
            result += block
            continue
        texts = [COMMENT.match(line)[3].strip() for line in block]
        begin = f"{indent}{slashes} "
        hanging = "  " if texts[0].startswith(("- ", "* ")) else ""
        result += textwrap.wrap(" ".join(texts), WIDTH, initial_indent=begin, subsequent_indent=begin + hanging,
                                break_long_words=False, break_on_hyphens=False)
    return result


def main():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if "build" not in path.relative_to(ROOT).parts]
    faults = files = 0
    for path in sorted(paths):
        if path.suffix not in SUFFIXES or not path.is_file():
            continue
        files += 1
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        lines = text.split("\n")
        wide = [n for n in comments(lines) if is_wide(lines[n])]
        if not wide:
            continue
        if "--fix" in sys.argv[1:]:
            path.write_text("\n".join(wrapped(lines)), encoding="utf-8", errors="surrogateescape")
            continue
        for n in wide:
            print(f"{path.relative_to(ROOT)}:{n + 1}: a comment of {len(lines[n])} columns; {WIDTH} at most")
        faults += len(wide)
    if faults == 0:
        print(f"comments: {files} files in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
