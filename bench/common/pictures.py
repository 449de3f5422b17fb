"""Bar charts as SVG that read on light and dark pages, in the style of `smelt bench --plot`."""

import math
from dataclasses import dataclass
from html import escape

COLOURS = {  # light page, dark page
    "smelt": ("#1a7f6b", "#3fb99f"),
    "eager": ("#b3591f", "#e0823d"),
    "compile": ("#3b6fb5", "#6ea8f0"),
    "graphs": ("#5c86c4", "#86b4ee"),
    "autotune": ("#8fb3de", "#a9c8ee"),
    "jax": ("#8250a8", "#b990dd"),
    "cupy": ("#9a8420", "#d0b94a"),
    "numba": ("#3b6fb5", "#6ea8f0"),
    "halide": ("#5c86c4", "#86b4ee"),
    "numexpr": ("#9a8420", "#d0b94a"),
    "unfused": ("#b3591f", "#e0823d"),
    "copy": ("#8c959f", "#6e7681"),
}
WIDTH, MARGIN, LABEL, TEXT = 760, 20, 192, 118


@dataclass
class Bar:
    kind: str
    value: float
    text: str
    low: float = None  # a whisker
    high: float = None


def style():
    def rules(i):
        return "\n".join(f"      .{kind} {{ fill: {pair[i]}; }}" for kind, pair in COLOURS.items())

    return f"""  <style>
      svg {{ color-scheme: light dark; font-family: system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }}
      .page {{ fill: #ffffff; }}
      text {{ fill: #1f2328; font-size: 11px; }}
      .title {{ font-size: 17px; font-weight: 600; }}
      .quiet {{ fill: #59636e; }}
      .line {{ stroke: #d1d9e0; }} .mark {{ stroke: #59636e; stroke-dasharray: 4 3; }} .whisker {{ stroke: #1f2328; }}
{rules(0)}
      @media (prefers-color-scheme: dark) {{
      .page {{ fill: #0d1117; }} text {{ fill: #e6edf3; }} .quiet {{ fill: #9198a1; }}
      .line {{ stroke: #3d444d; }} .mark {{ stroke: #9198a1; }} .whisker {{ stroke: #e6edf3; }}
{rules(1)}
      }}
  </style>
"""


class Axis:
    """Pixels of values, from the smallest power of ten below them or from zero."""

    def __init__(self, values, log, most=None):
        self.log = log
        self.top = min(max(values), most) if most else max(values)
        self.bottom = 10 ** math.floor(math.log10(min(values))) if log else 0
        if log:
            self.top = max(self.top, self.bottom * 10)

    def __call__(self, value):
        space = WIDTH - 2 * MARGIN - LABEL - TEXT
        value = min(max(value, self.bottom), self.top)
        part = math.log(value / self.bottom) / math.log(self.top / self.bottom) if self.log else value / self.top
        return MARGIN + LABEL + part * space

    def ticks(self):
        if not self.log:
            return []
        out, tick = [], self.bottom
        while tick <= self.top * 1.0001:
            out.append(tick)
            tick *= 10
        return out


def chart(title, subtitle, groups, names, log=False, most=None, mark=None, footnote="", unit=""):
    """`groups`: (label, bars). `most`: longer bars are cut there. `mark`: a value that gets a line, as (value, what)."""
    groups = [(label, [b for b in bars if b.value and b.value > 0]) for label, bars in groups]
    groups = [(label, bars) for label, bars in groups if bars]
    if not groups:
        return None
    axis = Axis([b.value for _, bars in groups for b in bars], log, most)
    height, gap = 11, 9
    body, y = [], MARGIN + 14

    def text(x, at, words, css="", anchor="start"):
        body.append(f'  <text x="{x:.1f}" y="{at:.1f}" class="{css}" text-anchor="{anchor}">{escape(words)}</text>')

    text(MARGIN, y, title, "title")
    text(MARGIN, y + 19, subtitle, "quiet")
    y += 38
    x = MARGIN
    for kind in [k for k in COLOURS if any(b.kind == k for _, bars in groups for b in bars)]:
        words = names.get(kind, kind)
        body.append(f'  <rect x="{x}" y="{y - 9}" width="10" height="10" class="{kind}"/>')
        text(x + 14, y, words)
        x += 30 + 6.2 * len(words)
    y += 22
    top = y
    for label, bars in groups:
        text(MARGIN + LABEL - 8, y + height * len(bars) / 2 + 4, label, "", "end")
        for b in bars:
            end = axis(b.value)
            body.append(f'  <rect x="{MARGIN + LABEL}" y="{y}" width="{max(end - MARGIN - LABEL, 1):.1f}" height="{height - 2}" class="{b.kind}"/>')
            if b.low is not None and b.high > b.low and b.value <= axis.top:
                body.append(f'  <line x1="{axis(b.low):.1f}" y1="{y + 4.5}" x2="{axis(b.high):.1f}" y2="{y + 4.5}" class="whisker"/>')
            text(end + 5, y + height - 2.5, b.text + (" (cut)" if most and b.value > most else ""), "quiet")
            y += height
        y += gap
    for tick in axis.ticks():
        body.insert(0, f'  <line x1="{axis(tick):.1f}" y1="{top - 4}" x2="{axis(tick):.1f}" y2="{y - 4}" class="line"/>')
        text(axis(tick), y + 8, f"{tick:g}{unit}", "quiet", "middle")
    if mark and mark[0] <= axis.top:
        body.append(f'  <line x1="{axis(mark[0]):.1f}" y1="{top - 4}" x2="{axis(mark[0]):.1f}" y2="{y - 4}" class="mark"/>')
        text(axis(mark[0]), y + 8, mark[1], "quiet", "middle")
    y += 28
    if footnote:
        text(MARGIN, y, footnote, "quiet")
        y += 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 8:.0f}" viewBox="0 0 {WIDTH} {y + 8:.0f}" '
            f'role="img" aria-label="{escape(title)}">\n{style()}  <rect class="page" width="100%" height="100%"/>\n' + "\n".join(body) + "\n</svg>\n")
