#!/usr/bin/env python3
"""Reports of twelve examples as a small static site, in the order in which they teach.

Usage: gallery.py SMELT FOLDER [--screenshots FOLDER] [options of smelt report]
"""

import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Name, options, and what it teaches.
PROGRAMS = [
    (
        "add_mul_exp",
        ["-i", "x=f32[1000000]", "-i", "y=f32[1000000]"],
        "A chain: every value between two operations stays in a register.",
    ),
    ("quantize_int8", ["-i", "x=f32[1000000]"], "Bytes decide: the result is a quarter of the input."),
    (
        "gelu_bias",
        ["--size", "B=512", "--size", "C=1024"],
        "A small array is read by every row: broadcast costs almost nothing.",
    ),
    (
        "row_sums",
        ["--size", "B=512", "--size", "C=1024"],
        "Several results of one pass: the array is read once for all of them.",
    ),
    (
        "softmax",
        ["--size", "B=512", "--size", "C=1024"],
        "Reductions: a row stays on chip between its maximum, its sum and its result.",
    ),
    (
        "relu_layernorm",
        ["--size", "B=512", "--size", "C=1024"],
        "Ten operations, two of them reductions, in one kernel.",
    ),
    (
        "cross_entropy",
        ["--size", "B=512", "--size", "C=1000", "-i", "targets=zeros:i64[512]"],
        "A reduction with a gather: one element of each row is picked by an index.",
    ),
    ("cumsum", ["-i", "x=f32[512,1024]"], "A scan: each element needs all before it, and still the row is read once."),
    (
        "embedding",
        ["--size", "V=5000", "--size", "D=256", "--size", "B=8", "--size", "S=128", "-i", "ids=uniform:i32[8,128]"],
        "A gather: rows of a table come from where the data says.",
    ),
    (
        "blur_sobel",
        ["--size", "H=512", "--size", "W=512"],
        "Stencils: neighbours are kept on chip instead of being read nine times.",
    ),
    ("horizontal", ["-i", "xs=8*f32[16384]"], "Many small programs side by side: one launch in place of many."),
    (
        "attention",
        ["--size", "S=128", "--size", "D=64"],
        "Where fusion ends: three kernels, and why each cut is there.",
    ),
]

INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>What fusion does: twelve programs</title>
<link rel="stylesheet" href="page.css">
</head>
<body>
<main>
<h1>What fusion does: twelve programs</h1>
<p class="lead">From one chain of operations to attention. Every page is made by
<code>smelt report</code> from the program that it shows; {machine}.</p>
<div class="scroll" tabindex="0" role="region" aria-label="programs"><table>
<thead><tr><th scope="col" class="figure">#</th><th scope="col">program</th><th scope="col">what it shows</th>
<th scope="col" class="figure">kernels</th><th scope="col" class="figure">bytes saved</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
</main>
</body>
</html>
"""


def report(smelt, folder, name, options):
    """Writes a page; gives its document."""
    with tempfile.TemporaryDirectory() as scratch:
        document = os.path.join(scratch, "document.json")
        subprocess.run(
            [
                smelt,
                "report",
                f"examples/{name}.smelt",
                *options,
                "--assets",
                str(folder),
                "-o",
                str(folder / f"{name}.html"),
                "--json",
                document,
            ],
            check=True,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
        )
        return json.loads(pathlib.Path(document).read_text())


def row(number, name, lesson, document):
    fused, unfused = document["plans"]["fused"], document["plans"]["unfused"]
    return (
        f'<tr><td class="figure">{number}</td><td><a href="{name}.html">{name}</a></td><td>{html.escape(lesson)}</td>'
        f'<td class="figure">{len(unfused["kernels"])} &rarr; {len(fused["kernels"])}</td>'
        f'<td class="figure">{fused["traffic"]["savings_pct"]:.0f} %</td></tr>'
    )


def screenshots(folder, to):
    """The pictures of README and docs/report.md."""
    sys.path.insert(0, str(ROOT / "tests/page"))
    import browser as chromium

    shown = chromium.Browser()
    try:
        for dark in (False, True):
            ending = "-dark.png" if dark else ".png"
            shown.open(str(folder / "relu_layernorm.html"), dark=dark, width=1160, height=690)
            shown.screenshot(str(to / f"report{ending}"))
            shown.screenshot(str(to / f"report-fused{ending}"), "#graph .pair")
        for page, section in (("attention", "graph"), ("embedding", "memory"), ("relu_layernorm", "value")):
            shown.open(str(folder / f"{page}.html"), width=1160, height=690)
            shown.screenshot(str(to / f"report-{section}.png"), "#" + section)
    finally:
        shown.close()


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    smelt, folder, options = os.path.abspath(arguments[0]), pathlib.Path(arguments[1]).resolve(), arguments[2:]
    pictures = None
    if "--screenshots" in options:
        at = options.index("--screenshots")
        pictures = pathlib.Path(options[at + 1]).resolve()
        options = options[:at] + options[at + 2 :]
    folder.mkdir(parents=True, exist_ok=True)
    rows, machine = [], {}
    for number, (name, sizes, lesson) in enumerate(PROGRAMS, 1):
        document = report(smelt, folder, name, [*sizes, *options])
        machine = document["machine"]
        rows.append(row(number, name, lesson, document))
    where = f"measured on {machine['name']}" if machine["present"] else f"built for {machine['isa']} and not run"
    (folder / "index.html").write_text(INDEX.format(rows="\n".join(rows), machine=html.escape(where)))
    if pictures:
        screenshots(folder, pictures)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"gallery: {folder}/index.html, {len(PROGRAMS)} pages, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
