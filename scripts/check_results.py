#!/usr/bin/env python3
"""The table of results: README.md has that of docs/benchmarks/README.md, and the chart draws it. The index of pages there
has the numbers of programs and the means that are on these pages.

--fix copies the table and draws docs/images/results.svg again.
"""
import html
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE, COPY, CHART = ROOT / "docs/benchmarks/README.md", ROOT / "README.md", ROOT / "docs/images/results.svg"
TABLE = re.compile(r"(<!-- results -->\n)(.*?)(<!-- end of results -->\n)", re.S)
LEFT, WIDTH, ROW, TOP = 330, 820, 26, 34
LOWEST, HIGHEST = 0.5, 8.0
STYLE = """text{font:13px sans-serif;fill:#222}.axis{stroke:#bbb}.one{stroke:#555}
.win{fill:#2a7f5f}.loss{fill:#b5493a}
@media (prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#555}.one{stroke:#aaa}.win{fill:#4fb58c}.loss{fill:#e0705f}}"""


def rows(table):
    """(program, machine, speedup) of each row."""
    for line in table.splitlines()[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        yield cells[0].replace("`", ""), cells[1], float(cells[-1].strip("*"))


def x_of(speedup):
    share = math.log(speedup / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + share * (WIDTH - LEFT - 20)


def chart(table):
    data = list(rows(table))
    height = TOP + ROW * len(data) + 10
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
             f'aria-label="smelt compared with the fastest alternative">', f"<style>{STYLE}</style>"]
    for tick in (0.5, 1, 2, 4, 8):
        kind = "one" if tick == 1 else "axis"
        lines.append(f'<line class="{kind}" x1="{x_of(tick):.1f}" x2="{x_of(tick):.1f}" y1="{TOP - 8}" y2="{height - 6}"/>')
        lines.append(f'<text x="{x_of(tick):.1f}" y="{TOP - 14}" text-anchor="middle">{tick:g}x</text>')
    for index, (program, machine, speedup) in enumerate(data):
        y = TOP + index * ROW
        start, end = sorted((x_of(1), x_of(speedup)))
        side = (f'x="{end + 5:.1f}"' if speedup >= 1 else f'x="{start - 5:.1f}" text-anchor="end"')
        lines += [f'<text x="{LEFT - 52}" y="{y + 15}" text-anchor="end">{html.escape(program)}</text>',
                  f'<text x="{LEFT - 45}" y="{y + 15}" opacity="0.6">{machine.split(",")[0]}</text>',
                  f'<rect class="{"win" if speedup >= 1 else "loss"}" x="{start:.1f}" y="{y + 3}" '
                  f'width="{max(end - start, 1.5):.1f}" height="{ROW - 9}"/>',
                  f'<text {side} y="{y + 15}">{speedup:.2f}</text>']
    return "\n".join([*lines, "</svg>"]) + "\n"


def stale_figures():
    """Lines of the index whose number of programs, or whose mean, is not on the page that they link."""
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\|[^|]*\| \[[^]]*\]\(([\w-]+\.md)[^)]*\) \| (\d+)[ ,].*\| (\d+\.\d+) \|$", line)
        page = row and (SOURCE.parent / row[1]).read_text(encoding="utf-8")
        if row and not all(re.search(rf"(?<![\d.]){re.escape(n)}(?!\.?\d)", page) for n in row.groups()[1:]):
            yield line


def main():
    table = TABLE.search(SOURCE.read_text(encoding="utf-8"))[2]
    page = COPY.read_text(encoding="utf-8")
    wanted = TABLE.sub(lambda match: match[1] + table + match[3], page)
    drawn = chart(table)
    if "--fix" in sys.argv[1:]:
        COPY.write_text(wanted, encoding="utf-8")
        CHART.write_text(drawn, encoding="utf-8")
        return 0
    found = []
    if page != wanted:
        found.append("README.md: its table of results is not that of docs/benchmarks/README.md")
    if not CHART.exists() or CHART.read_text(encoding="utf-8") != drawn:
        found.append("docs/images/results.svg: does not draw the table of docs/benchmarks/README.md")
    for fault in found:
        print(fault + ": scripts/check_results.py --fix")
    for line in stale_figures():
        found.append(line)
        print("docs/benchmarks/README.md: a figure of the index is not on the page that it links: " + line)
    print("results: " + (f"{len(found)} faults" if found else "table and chart agree"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
