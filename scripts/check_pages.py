#!/usr/bin/env python3
"""Checks the pages without a build: links lead somewhere, prose is at most 100 columns wide.

A link leads to a file or folder of the repository, and its #anchor to a heading there; what begins
with https:// is not looked at. Pages that nothing links to are listed: nobody would find them.
--fix wraps the paragraphs that are too wide. tests/docs runs the commands of the pages.
"""
import pathlib
import re
import sys
import textwrap

import markdown

WIDTH = 100
ENTRIES = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
# Tables, images, headings, links that no line holds, and lines of HTML cannot be wrapped.
UNBREAKABLE = re.compile(r"^\s*(\||#|<|!\[|\[[^\]]*\]:)|^\S*$")


def is_wide(line):
    if len(line) <= WIDTH or UNBREAKABLE.match(line):
        return False
    return any(len(word) <= WIDTH - 2 for word in line.split()[1:])


def paragraphs(page):
    """Runs of lines of prose that may be wrapped, as lists of line numbers: a list item is one."""
    found, current = [], []
    for number, line in [*page.prose, (10**9, "")]:
        marker = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        follows = current and number == current[-1] + 1
        if not line.strip() or marker or UNBREAKABLE.match(line) or not follows:
            if current:
                found.append(current)
            current = []
        if line.strip() and not re.match(r"^\s*(\||#|<|!\[)", line):
            current.append(number)
    return found


def wrap(path):
    page = markdown.Page(path)
    lines = list(page.lines)
    for numbers in reversed(paragraphs(page)):
        text = [page.lines[n - 1] for n in numbers]
        if not any(is_wide(line) for line in text):
            continue
        first = re.match(r"\s*(?:(?:[-*]|\d+\.) )?", text[0])[0]
        joined = " ".join(line.strip() for line in text)[len(first.strip()):].strip()
        wrapped = textwrap.wrap(joined, WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
                                break_long_words=False, break_on_hyphens=False)
        lines[numbers[0] - 1:numbers[-1]] = wrapped
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def faults(root):
    pages = {path: markdown.Page(path) for path in markdown.pages(root)}
    linked = set()
    for path, page in pages.items():
        where = path.relative_to(root)
        for number, target in page.links():
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            to = (path.parent / name).resolve() if name else path
            if not to.exists():
                yield f"{where}:{number}: {target} does not exist"
                continue
            linked.add(to)
            if anchor and to.suffix == ".md" and anchor not in (pages.get(to) or markdown.Page(to)).anchors():
                yield f"{where}:{number}: {name or where} has no heading #{anchor}"
        for number, line in page.prose:
            if is_wide(line):
                yield f"{where}:{number}: {len(line)} columns, {WIDTH} at most"
    for path in pages:
        where = path.relative_to(root)
        if str(where) not in ENTRIES and path not in linked:
            if not (path.name == "README.md" and path.parent in linked):
                yield f"{where}: no page links to it"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    if "--fix" in sys.argv[1:]:
        for path in markdown.pages(root):
            wrap(path)
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"pages: {len(found)} faults" if found else "pages: links and lines in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
