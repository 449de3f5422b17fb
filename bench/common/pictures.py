"""Bar charts as SVG, by matplotlib: the same figures give the same file."""

import io
import math
from dataclasses import dataclass

COLOURS = {
    "smelt": "#1a7f6b",
    "eager": "#b3591f",
    "compile": "#3b6fb5",
    "graphs": "#5c86c4",
    "autotune": "#8fb3de",
    "jax": "#8250a8",
    "cupy": "#9a8420",
    "numba": "#3b6fb5",
    "halide": "#5c86c4",
    "numexpr": "#9a8420",
    "cpp": "#5b4b8a",
    "unfused": "#b3591f",
    "copy": "#8c959f",
}
# Text stays text, identifiers do not depend on the run, and no date is written.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "smelt", "font.size": 8, "font.family": "sans-serif", "axes.spines.top": False,
         "axes.spines.right": False}
WIDTH, BAR, GAP = 10.5, 0.16, 0.13  # inches


@dataclass
class Bar:
    kind: str
    value: float
    text: str
    low: float = None  # a whisker
    high: float = None


def chart(title, subtitle, groups, names, log=False, most=None, mark=None, footnote="", unit=""):
    """`groups`: (label, bars). `most`: longer bars are cut there. `mark`: a value that gets a line, as (value, what).
    None where there is nothing to draw."""
    groups = [(label, [b for b in bars if b.value and b.value > 0]) for label, bars in groups]
    groups = [(label, bars) for label, bars in groups if bars]
    if not groups:
        return None
    try:
        import matplotlib
    except ImportError:
        print("bench: no matplotlib, so no picture\nhelp: apt-get install python3-matplotlib, or pip install matplotlib", flush=True)
        return None
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        bars_in_all = sum(len(bars) for _, bars in groups)
        height = 1.1 + BAR * bars_in_all + GAP * len(groups)
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.add_axes((0.22, 0.45 / height, 0.64, 1 - 1.1 / height))
        draw(axes, groups, names, log, most)
        if mark:
            axes.axvline(mark[0], color="#59636e", linestyle="--", linewidth=0.8, zorder=0)
            axes.set_xticks([mark[0]], [mark[1]])
        elif log:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}{unit}")
        else:
            axes.set_xticks([])
        figure.text(0.01, 1 - 0.22 / height, title, fontsize=12, fontweight="bold")
        figure.text(0.01, 1 - 0.4 / height, subtitle, color="#59636e")
        figure.text(0.01, 0.08 / height, footnote, color="#59636e")
        figure.legend(*axes.get_legend_handles_labels(), loc="upper right", ncol=4, frameon=False)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def draw(axes, groups, names, log, most):
    values = [b.value for _, bars in groups for b in bars]
    longest = min(max(values), most) if most else max(values)
    if log:
        axes.set_xscale("log")
        lowest = 10 ** math.floor(math.log10(min(values)))
        axes.set_xlim(lowest, max(longest, 10 * lowest))
    else:
        axes.set_xlim(0, longest)
    drawn, y, middles = {}, 0.0, []
    for label, bars in groups:
        middles.append((y + BAR * (len(bars) - 1) / 2, label))
        for b in bars:
            end = min(b.value, longest)
            handle = axes.barh(y, end, BAR * 0.85, color=COLOURS[b.kind])
            drawn.setdefault(b.kind, handle)
            if b.low is not None and b.high > b.low and b.value <= longest:
                axes.plot([b.low, b.high], [y, y], color="#1f2328", linewidth=0.8)
            axes.annotate(b.text + (" (cut)" if b.value > longest else ""), (end, y), (4, 0), textcoords="offset points", va="center",
                          fontsize=6.5, color="#59636e", annotation_clip=False)
            y += BAR
        y += GAP
    for kind in COLOURS:
        if kind in drawn:
            drawn[kind].set_label(names.get(kind, kind))
    axes.set_yticks([at for at, _ in middles], [label for _, label in middles])
    axes.set_ylim(y - GAP, -BAR)
