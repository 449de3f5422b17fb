"""Markdown tables and the numbers in them."""


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
