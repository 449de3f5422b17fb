"""results.json as one Markdown page with pictures."""

import math

import classic
import peers
import pictures
import workloads
from tables import median, table, times, us, with_quartiles, write_page
from timing import geometric_mean

WITHIN = 1.05  # of the copy of the same bytes
EQUAL = 0.98  # of the fastest peer


def cold(record):
    """Device time with L2 flushed; for JAX, whose streams take no events, wall time per call back to back."""
    if not record or record.get("status") != "ok":
        return None
    return median(record.get("cold_us") or record.get("hot_us"))


def ratio(a, b):
    return a / b if a and b else None


class Row:
    """What the tables say of one workload."""

    def __init__(self, workload, entry):
        self.workload, self.entry = workload, entry
        self.copy = median((entry["copy"] or {}).get("cold_us"))
        self.smelt = entry["smelt"] or {}
        self.cold = cold(self.smelt)
        self.peers = {k: r for k, r in entry["peers"].items() if cold(r)}
        self.best = min(self.peers, key=lambda k: self.against(k) or math.inf, default=None)
        self.to_best = self.against(self.best)
        self.to_eager = self.against("eager")

    def against(self, peer):
        """The peer's time over smelt's; of a peer that has no cold device time, both back to back."""
        record = self.peers.get(peer)
        back_to_back = record and not record.get("cold_us")
        return ratio(cold(record), median(self.smelt.get("call_us")) if back_to_back and self.cold else self.cold)

    @property
    def call(self):
        return self.smelt.get("cpp_call_us") or self.smelt.get("call_us")

    @property
    def limit(self):
        return self.workload.target_us or (WITHIN * self.copy if self.copy else None)

    @property
    def judged(self):
        """The time that is compared with the limit."""
        return median(self.smelt.get("hot_us")) if self.workload.target_hot and self.cold else self.cold

    def faults(self):
        """What this row does not reach, in words; the empty list when all is reached."""
        w, out = self.workload, []
        if self.smelt.get("status") == "error":
            return ["**no result**"]
        if not self.cold:
            return []
        limit = self.limit
        if limit and self.judged > limit:
            out.append(f"**misses {us(limit)}**" + ("" if w.target_us else " (1.05 of the copy)"))
        if self.to_best and self.to_best < EQUAL:
            out.append(f"**slower than {peers.NAMES[self.best]}**")
        return out


def rows_of(results):
    known = {w.name: w for w in workloads.WORKLOADS}
    return [Row(known[name], entry) for name, entry in results["workloads"].items() if name in known]


def heading(results):
    m = results["machine"]
    out = [f"# smelt and its peers on {m.get('gpu', 'an unknown GPU')}, {m.get('date', '')}\n"]
    if m.get("canned"):
        out.append("**Canned figures: nothing here was measured.**\n")
    if m.get("shrunk"):
        out.append(f"**smelt ran with at most {m['shrunk']} elements: its times are of other sizes than the rows say.**\n")
    facts = [
        f"GPU {m.get('gpu', '?')}, sm {m.get('sm', '?')}, {m.get('multiprocessors', '?')} multiprocessors, "
        f"{m.get('memory_bytes', 0) / 2**30:.0f} GiB, L2 {m.get('l2_bytes', 0) / 2**20:.0f} MiB"
        + (f", peak {m['peak_gbs']:.0f} GB/s from memory clock and bus width" if m.get("peak_gbs") else ""),
        f"driver {m.get('driver', '?')}; {m.get('smelt', 'smelt not run')}; "
        + ", ".join(f"{k} {v}" for k, v in m.get("versions", {}).items()),
    ]
    out.append("\n".join(f"- {f}" for f in facts) + "\n")
    out.append(f"""All on one GPU in one session (smelt's tool as a process of its own), medians in microseconds, quartiles in brackets.

- **cold**: device time of one call by CUDA events, the L2 cache flushed before each by writing {m.get('flush_bytes', 0) / 2**20:.0f} MiB.
- **hot**: the same without the flush.
- **call**: wall time of a call among many back to back, the host's part included, into outputs as each library provides them: the
  peers take memory from their allocators' pools, smelt writes into memory that the caller keeps.
- **copy**: a device-to-device copy that moves as many bytes as the workload needs: each input once, each output once.
- JAX runs on streams of its own that take no events from outside: its device time is its wall time per call, back to back,
  and is compared with smelt's call.
- Shapes are static for every library. The peers get the same arrays; smelt's tool fills arrays of the same distribution on
  the device. The results of all are compared with float64 (last section).
""")
    return "\n".join(out)


def summary(rows):
    counted = [r for r in rows if r.workload.counted]
    best, eager = geometric_mean([r.to_best for r in counted]), geometric_mean([r.to_eager for r in counted])
    measured = [r for r in counted if r.cold]
    lines = [
        f"- against the fastest peer of each row: geometric mean {times(best) or 'not measured'} "
        f"over {sum(1 for r in counted if r.to_best)} workloads",
        f"- against torch eager: geometric mean {times(eager) or 'not measured'} over {sum(1 for r in counted if r.to_eager)} workloads",
        f"- within {WITHIN} of the copy, or the row's target: "
        f"{sum(1 for r in measured if r.limit and r.judged <= r.limit)} of {sum(1 for r in measured if r.limit)}",
        f"- slower than the fastest peer (under {EQUAL}x): {sum(1 for r in measured if r.to_best and r.to_best < EQUAL)} "
        f"of {sum(1 for r in measured if r.to_best)}",
    ]
    return "## Summary\n\n" + "\n".join(lines) + "\n"


def main_table(rows):
    head = ["workload", "formula", "MB", "copy", "smelt cold", "hot", "call", "kernels", "of copy", "fastest peer", "its cold",
            "speedup", "over eager", "missed"]
    out = []
    for r in rows:
        w = r.workload
        out.append([
            w.name, w.family.formula, f"{w.bytes / 1e6:.1f}", us(r.copy), with_quartiles(r.smelt.get("cold_us")),
            us(median(r.smelt.get("hot_us"))), us(median(r.call)), r.smelt.get("kernels", "") or "",
            f"{100 * r.copy / r.cold:.0f} %" if r.copy and r.cold else "",
            peers.NAMES.get(r.best, ""), us(cold(r.peers.get(r.best))), times(r.to_best), times(r.to_eager), "; ".join(r.faults())])
    return "## Device time, cold\n\n" + table(head, out, 2) + "\n![time over the copy](PICTURES/relative.svg)\n"


def peers_table(rows):
    keys = [k for k in peers.NAMES if any(k in r.entry["peers"] for r in rows)]
    if not keys:
        return ""
    head = ["workload", "smelt", *[peers.NAMES[k] for k in keys]]
    out, dates = [], set()
    for r in rows:
        cells = [r.workload.name, us(r.cold)]
        for k in keys:
            record = r.entry["peers"].get(k)
            if not record or record["status"] == "left out":
                cells.append("")
            elif record["status"] != "ok":
                cells.append("failed")
            else:
                if record.get("cached"):
                    dates.add(record["cached"])
                kernels = f", {record['kernels']} k" if record.get("kernels") else ""
                cells.append(f"{with_quartiles(record.get('cold_us') or record.get('hot_us'))}{kernels}{' †' if record.get('cached') else ''}")
        out.append(cells)
    note = f"\n† measured in an earlier run on the same kind of GPU ({', '.join(sorted(dates))}).\n" if dates else ""
    return "## The peers, cold, with the number of kernels (k)\n\n" + table(head, out) + note


def call_table(rows):
    rows = [r for r in rows if r.workload.small]
    if not rows:
        return ""
    keys = [k for k in peers.NAMES if any(k in r.peers for r in rows)]
    head = ["workload", "smelt, from C++", "smelt, by its tool", "smelt, graph", *[peers.NAMES[k] for k in keys], "eager, graph", "compile, graph"]
    out = []
    for r in rows:
        graphs = [us(median(r.peers.get(k, {}).get("graph_us"))) for k in ("eager", "compile")]
        out.append([r.workload.name, us(median(r.smelt.get("cpp_call_us"))), us(median(r.smelt.get("call_us"))),
                    us(median(r.smelt.get("graph_us"))), *[us(median(r.peers.get(k, {}).get("call_us"))) for k in keys], *graphs])
    return ("## Wall time per call, small sizes\n\nBack to back. `graph`: the call captured in a CUDA graph by hand and replayed.\n\n"
            + table(head, out) + "\n![wall time per call](PICTURES/calls.svg)\n")


def compile_table(rows):
    head = ["workload", "smelt, compile (ms)", *[f"{peers.NAMES[k]}, first call (ms)" for k in ("compile", "autotune", "jax", "cupy")]]
    out = []
    for r in rows:
        ms = r.smelt.get("compile_ms")
        cells = [r.workload.name, f"{ms:.1f}" if ms else ""]
        for k in ("compile", "autotune", "jax", "cupy"):
            seconds = r.peers.get(k, {}).get("first_call_s")
            cells.append(f"{1e3 * seconds:.0f}" if seconds else "")
        out.append(cells)
    return ("## Time until the first result\n\nThe peers' first call of a workload, in a process that has imported them; disk caches as "
            "they were.\n\n" + table(head, out))


def correctness(rows):
    head = ["workload", "sizes", "max abs", "max rel", "verdict"]
    out, others = [], []
    for r in rows:
        c = r.entry["check"]
        if c and "error" in c:
            out.append([r.workload.name, "", "", "", "**failed**: " + c["error"]])
        elif c:
            sizes = ", ".join(f"{k}={v}" for k, v in c.get("sizes", {}).items())
            extra = c.get("as_it_is")
            bf16 = "" if not extra else ("; bf16 kernels: right" if extra.get("ok") else f"; **bf16 kernels: {extra.get('error') or extra.get('note') or 'wrong'}**")
            out.append([r.workload.name, sizes, f"{c['max_abs']:.2g}", f"{c['max_rel']:.2g}", ("right" if c["ok"] else f"**wrong**: {c['note']}") + bf16])
        for k, record in r.peers.items():
            a = record.get("accuracy") or {}
            if a.get("ok") is False:
                others.append(f"- {peers.NAMES[k]}, {r.workload.name}: {a['note']}; max abs {a['max_abs']:.2g}, rel {a['max_rel']:.2g}")
    text = ("## Correctness\n\nsmelt, through files, against float64 with the tolerances of docs/cli.md; relative errors of elements "
            "above 0.001.\n\n" + (table(head, out, 2) if out else "Not run.\n"))
    return text + ("\nPeers outside the same tolerances, at full size:\n\n" + "\n".join(others) + "\n" if others else "")


def failures(results, rows):
    lines = [f"- {library}, all of it: {why}" for library, why in results.get("missing", {}).items()]
    for r in rows:
        for k, record in [("smelt", r.smelt), *[(peers.NAMES[k], p) for k, p in r.entry["peers"].items()]]:
            if record.get("status") == "error":
                lines.append(f"- {k}, {r.workload.name}: {record['error']}")
            elif record.get("graph_error"):
                lines.append(f"- {k}, {r.workload.name}, as a graph: {record['graph_error']}")
            elif "refused" in record.get("note", ""):
                lines.append(f"- {k}, {r.workload.name}: {record['note']}")
    lines += [f"- not started, out of time: {what}" for what in results.get("skipped", [])]
    return "## What did not run\n\n" + ("\n".join(lines) if lines else "Everything ran.") + "\n"


def drawings(results, rows):
    """File name to SVG."""
    machine, names = results["machine"].get("gpu", ""), {**peers.NAMES, "copy": "copy of the same bytes"}

    def bars(r, kinds, of, words, scale=1.0):
        out = []
        for kind in dict.fromkeys(k for k in kinds if k):
            s = of(r.smelt if kind == "smelt" else r.peers.get(kind, {}))
            if s:
                v = s["median"] / scale
                out.append(pictures.Bar(kind, v, words(v), s["q1"] / scale, s["q3"] / scale))
        return out

    def cold_summary(record):
        return (record.get("cold_us") or record.get("hot_us")) if record.get("status") == "ok" else None

    def call_summary(record):
        return record.get("cpp_call_us") or record.get("call_us")

    out = {
        "relative.svg": pictures.chart(
            "Device time over a copy of the same bytes", f"{machine} · cold, median and quartiles · shorter is better",
            [(r.workload.name, bars(r, ["smelt", r.best, "eager"], cold_summary, times, r.copy)) for r in rows if r.copy],
            names, most=4, mark=(1, "copy"), footnote="smelt, the fastest peer of the row, and torch eager"),
        "calls.svg": pictures.chart(
            "Wall time per call, small sizes", f"{machine} · microseconds, logarithmic · shorter is better",
            [(r.workload.name, bars(r, ["smelt", "compile", "graphs", "jax", "cupy", "eager"], call_summary, lambda v: us(v) + " us"))
             for r in rows if r.workload.small], names, log=True, unit=" us"),
    }
    out.update(classic.drawings(machine, rows, names))
    return out


def page(results):
    rows = rows_of(results)
    parts = [heading(results), summary(rows), main_table(rows), peers_table(rows), call_table(rows)]
    parts += [classic.sizes_tables(f, results, rows) for f in ("quantize_int8", "add_mul_exp")]
    parts += [classic.fusion_table(results, rows), compile_table(rows), correctness(rows), failures(results, rows)]
    return "\n".join(p for p in parts if p)


def write(results, out, page_path=None):
    write_page(page(results), drawings(results, rows_of(results)), page_path or out / "report.md")
