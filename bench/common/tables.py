"""Markdown pages: tables, the numbers in them, and pictures."""

import re


def table(head, rows, left=1):
    """The first columns to the left, numbers to the right."""
    clean = [[str(c).replace("|", "\\|").replace("\n", " ") for c in row] for row in rows]
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *clean]) + "\n"


def median(summary):
    return summary["median"] if summary else None


def us(value):
    if value is None:
        return ""
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def with_quartiles(s):
    return f"{us(s['median'])} ({us(s['q1'])}-{us(s['q3'])})" if s else ""


def mean_deviation(s):
    return f"{s['mean']:.2f} ± {s['deviation']:.2f}" if s else ""


def times(value):
    return "" if value is None else f"{value:.2f}x"


def write_page(text, pictures, path, quiet=False):
    """The page, and its pictures (file name -> SVG, or None where there is nothing to draw) in a folder next to it that has
    its name. The text names them as (PICTURES/file name)."""
    folder = path.with_suffix("")
    drawn = {file: svg for file, svg in pictures.items() if svg}
    path.parent.mkdir(parents=True, exist_ok=True)
    if drawn:
        folder.mkdir(exist_ok=True)
    for file, svg in drawn.items():
        (folder / file).write_text(svg)
    text = re.sub(r"\n!\[[^]]*\]\(PICTURES/([^/)]*)\)\n", lambda m: m[0] if m[1] in drawn else "", text)
    path.write_text(text.replace("(PICTURES/", f"({folder.name}/"))
    if not quiet:
        print(f"page: {path}", flush=True)
