"""results.json as one Markdown page with a picture."""

import pictures
import workloads
from interleave import ratio
from tables import table, times, write_page
from timing import geometric_mean

NAMES = {"smelt": "smelt", "unfused": "smelt, unfused", "copy": "copy of the same bytes", "numba": "numba", "halide": "Halide", "jax": "JAX",
         "numexpr": "numexpr", "cpp": "C++ loops", "emitted": "emitted C++", "compile": "torch.compile", "eager": "torch eager"}
PEERS = ("cpp", "numba", "halide", "jax", "numexpr", "compile", "eager")
TABLES = (*PEERS, "emitted")
OF_COPY = 0.85
LARGE = 64e6  # bytes


def ms(us):
    if us is None:
        return ""
    if us < 100:
        return f"{us:.1f} us"
    return f"{us / 1e3:.3g} ms"


def with_quartiles(s):
    return f"{ms(s['median'])} ({ms(s['q1'])}-{ms(s['q3'])})" if s else ""


class Row:
    """What the tables say of one workload."""

    def __init__(self, workload, record):
        self.workload, self.record, self.times = workload, record, record["times"]
        ways = [n for n in self.times if n.startswith("copy.")]
        self.copy = min(ways, key=lambda n: self.times[n]["median"], default=None)

    def median(self, name):
        return self.times[name]["median"] if name in self.times else None

    def fastest(self, memories):
        """The peer that takes the least, of those whose results go into such memory."""
        names = [f"{p}.{m}" for p in PEERS for m in memories if f"{p}.{m}" in self.times]
        return min(names, key=self.median, default=None)

    def against(self, mine, theirs):
        return ratio(self.times, theirs, mine) if theirs else None

    @property
    def of_copy(self):
        return ratio(self.times, self.copy, "smelt.into")

    def faults(self):
        out = []
        for key in ("smelt", "unfused"):
            if key in self.record["status"]:
                out.append("**no result**")
            accuracy = self.record["accuracy"].get(f"{key}.into")
            if accuracy and not accuracy["ok"]:
                out.append("**wrong**")
        if self.workload.bytes >= LARGE and self.of_copy and self.of_copy["median"] < OF_COPY:
            out.append(f"{100 * self.of_copy['median']:.0f} % of the copy")
        for memory in ("into", "fresh"):
            best = self.fastest([memory])
            r = self.against(f"smelt.{memory}", best)
            if r and r["median"] < 1:
                out.append(f"**{times(r['median'])} of {label(best)}**")
        return out


def label(name):
    key, _, memory = name.partition(".")
    return NAMES[key] + (", fresh" if memory == "fresh" else "")


def rows_of(results):
    known = {w.name: w for w in workloads.WORKLOADS}
    return [Row(known[name], record) for name, record in results["workloads"].items() if name in known]


def wrong(results):
    return [r.workload.name for r in rows_of(results) if any(f in ("**no result**", "**wrong**") for f in r.faults())]


def short(workload, record):
    """A line while it runs."""
    row = Row(workload, record)
    into, fresh = row.fastest(["into"]), row.fastest(["fresh"])
    parts = [f"smelt {ms(row.median('smelt.into'))}", f"fresh {ms(row.median('smelt.fresh'))}", f"unfused {ms(row.median('unfused.into'))}",
             f"copy {ms(row.median(row.copy))}"]
    if row.of_copy:
        parts.append(f"{100 * row.of_copy['median']:.0f} % of copy")
    for mine, best in (("smelt.into", into), ("smelt.fresh", fresh)):
        r = row.against(mine, best)
        if r:
            parts.append(f"{label(best)} {ms(row.median(best))}: {times(r['median'])}")
    return f"{workload.name:26} " + ", ".join(parts) + f"   [{record['rounds']} rounds, {record['prepared_s']:.1f} + {record['measured_s']:.1f} s]"


def heading(results):
    m = results["machine"]
    out = [f"# smelt and its peers on {m['cpu']}, {m['threads']} cores, {m['date']}\n"]
    if m.get("shrunk"):
        out.append(f"**At most {m['shrunk']} elements: the sizes are not those that the rows say.**\n")
    facts = [
        f"{m['cpu']}, {m['threads']} of {m['cores']} processors used, by smelt and by every peer; {m['isa']}; L2 {m['l2_bytes'] / 2**20:.3g} MiB a core, "
        f"L3 {m['l3_bytes'] / 2**20:.3g} MiB; {m['memory_bytes'] / 2**30:.0f} GiB of memory; huge pages: {m['huge_pages'] or 'unknown'}",
        f"Linux {m['kernel']}, libLLVM {m['libllvm']}, " + ", ".join(f"{k} {v}" for k, v in m["versions"].items()),
    ]
    out.append("\n".join(f"- {f}" for f in facts) + "\n")
    out.append("""One process, one run; the contenders take turns, round after round. A figure is the median over the rounds of the CLOCK time of a
call, quartiles in brackets; a ratio is the median of the ratios within a round. Results go into existing memory (**kept**)
or into memory that the call allocates (**fresh**), whose pages the system has to map and clear. **Copy**: a parallel copy that
moves as many bytes as the workload needs, each input once and each output once, half of them read and half written, into existing
memory; the faster of two ways to store. **Read**: a parallel read of as many bytes. Every result is checked against float64. See docs/benchmarks/README.md.
""".replace("CLOCK", m.get("clock", "wall")))
    return "\n".join(out)


def summary(rows):
    counted = [r for r in rows if r.workload.counted]
    large = [r for r in counted if r.workload.bytes >= LARGE and r.of_copy]
    lines = [f"- workloads of 64 MB and more at 85 % of the copy's bandwidth: {sum(1 for r in large if r.of_copy['median'] >= OF_COPY)} of {len(large)}"]
    for memory, words in (("into", "into kept memory"), ("fresh", "into fresh memory")):
        ratios = [r.against(f"smelt.{memory}", r.fastest([memory])) for r in counted]
        ratios = [r["median"] for r in ratios if r]
        if ratios:
            lines.append(f"- {words}, against the fastest peer of each: geometric mean {times(geometric_mean(ratios))}, smallest {times(min(ratios))}, "
                         f"{sum(1 for r in ratios if r < 1)} of {len(ratios)} slower")
    unfused = [r.against("smelt.into", "unfused.into") for r in counted]
    unfused = [r["median"] for r in unfused if r]
    if unfused:
        lines.append(f"- against the same programs with fusion off: geometric mean {times(geometric_mean(unfused))}")
    return "## Summary\n\n" + "\n".join(lines) + "\n"


def main_table(rows):
    head = ["workload", "formula", "MB", "copy", "read", "smelt", "of copy", "unfused", "kernels", "fastest peer", "its time", "speedup",
            "smelt, fresh", "fastest peer, fresh", "its time", "speedup", "missed"]
    out = []
    for r in rows:
        w = r.workload
        cells = [w.name, w.family.formula, f"{w.bytes / 1e6:.4g}", ms(r.median(r.copy)), ms(r.median("read.whole")), with_quartiles(r.times.get("smelt.into")),
                 f"{100 * r.of_copy['median']:.0f} %" if r.of_copy else "", ms(r.median("unfused.into")),
                 " / ".join(str(r.record[k]["kernels"]) for k in ("smelt", "unfused") if k in r.record)]
        for memory in ("into", "fresh"):
            best = r.fastest([memory])
            if memory == "fresh":
                cells.append(with_quartiles(r.times.get("smelt.fresh")))
            against = r.against(f"smelt.{memory}", best)
            cells += [NAMES[best.partition(".")[0]] if best else "", ms(r.median(best)) if best else "", times(against["median"]) if against else ""]
        out.append([*cells, "; ".join(r.faults())])
    return "## Against the fastest peer\n\nKernels: fused / unfused.\n\n" + table(head, out, 2) + "\n![time over the copy](PICTURES/relative.svg)\n"


def peers_table(rows):
    names = [n for p in TABLES for n in (f"{p}.into", f"{p}.fresh") if any(n in r.times for r in rows)]
    if not names:
        return ""
    head = ["workload", "smelt", "smelt, fresh", *[label(n) for n in names]]
    out = [[r.workload.name, ms(r.median("smelt.into")), ms(r.median("smelt.fresh")), *[with_quartiles(r.times.get(n)) for n in names]] for r in rows]
    return "## All peers\n\nEmpty: the library lacks an operation, or cannot write into given memory.\n\n" + table(head, out)


def correctness(rows):
    names = [n for n in ("smelt.into", "unfused.into", *[f"{p}.{m}" for p in TABLES for m in ("into", "fresh")])
             if any(n in r.record["accuracy"] for r in rows)]
    out = []
    for r in rows:
        cells = [r.workload.name]
        for n in names:
            a = r.record["accuracy"].get(n)
            cells.append("" if not a else f"{a['max_abs']:.1e}, {a['max_rel']:.1e}" + ("" if a["ok"] else f" **{a['note']}**"))
        out.append(cells)
    return ("## Largest errors against float64\n\nAbsolute, then relative among results above 0.001.\n\n"
            + table(["workload", *[label(n) for n in names]], out))


def left_out(results, rows):
    lines = [f"- {library}, all of it: {why}" for library, why in results.get("missing", {}).items()]
    for r in rows:
        lines += [f"- {r.workload.name}, {name}: {why}" for name, why in r.record["status"].items()]
        lines += [f"- {r.workload.name}, {label(name)}: {note}" for name, note in r.record["notes"].items()]
    lines += [f"- {what}" for what in results.get("skipped", [])]
    return "## What did not run\n\n" + ("\n".join(lines) if lines else "Everything ran.") + "\n"


def drawing(results, rows):
    m = results["machine"]
    groups = []
    for r in rows:
        if not r.copy or not r.workload.counted:
            continue
        bars, copy = [], r.median(r.copy)
        for name in dict.fromkeys(n for n in ("smelt.into", r.fastest(["into", "fresh"]), "unfused.into") if n):
            s = r.times.get(name)
            if s:
                bars.append(pictures.Bar(name.partition(".")[0], s["median"] / copy, times(s["median"] / copy), s["q1"] / copy, s["q3"] / copy))
        groups.append((r.workload.name, bars))
    return pictures.chart("Time over a copy of the same bytes", f"{m['cpu']}, {m['threads']} threads · median and quartiles · shorter is better",
                          groups, NAMES, most=6, mark=(1, "copy"), footnote="smelt, the fastest peer of the row, and smelt without fusion")


def page(results):
    rows = rows_of(results)
    return "\n".join(p for p in [heading(results), summary(rows), main_table(rows), peers_table(rows), correctness(rows), left_out(results, rows)] if p)


def write(results, out, page_path=None, quiet=False):
    write_page(page(results), {"relative.svg": drawing(results, rows_of(results))}, page_path or out / "report.md", quiet)
