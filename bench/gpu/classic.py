"""The two classic tables of elementwise kernels by size, and the one of a fused normalisation."""

import measure
import peers
import pictures
from tables import mean_deviation, table


def of_family(rows, family):
    return [r for r in rows if r.workload.family.name == family and r.workload.elements <= 50_000_000]


def sides(r):
    """Everyone's hot device time."""
    out = {k: p["hot_us"] for k, p in r.peers.items() if p.get("hot_us") and k in ("eager", "compile", "jax", "cupy")}
    if r.smelt.get("hot_us"):
        out["smelt"] = r.smelt["hot_us"]
    return out


def sizes_tables(family, results, rows):
    rows = of_family(rows, family)
    keys = [k for k in ("eager", "cupy", "jax", "compile", "smelt") if any(k in sides(r) for r in rows)]
    if not rows or not keys:
        return ""
    l2 = results["machine"].get("l2_bytes") or 0
    names = {**peers.NAMES, "smelt": "smelt"}
    raw, relative = [], []
    for r in rows:
        fits = ("fits L2" if r.workload.bytes <= l2 else "larger than L2") if l2 else ""
        all_sides = sides(r)
        raw.append([r.workload.label, fits, f"{r.workload.bytes / 1e6:.1f}", *[mean_deviation(all_sides.get(k)) for k in keys]])
        cells = [r.workload.label, fits]
        for k in keys[1:]:
            value = measure.ratio_with_error(all_sides.get(keys[0]), all_sides.get(k))
            cells.append(f"{value[0]:.2f} ± {value[1]:.2f}" if value else "")
        relative.append(cells)
    speed_ups = (f"\nSpeed-up over {names[keys[0]]}, the error propagated from both deviations.\n\n"
                 + table(["elements", "data", *[names[k] for k in keys[1:]]], relative, 2)) if keys[1:] else ""
    return (f"## {family} by size\n\nDevice time back to back without a flush, mean ± standard deviation, microseconds "
            "(JAX: wall time per call).\n\n"
            + table(["elements", "data", "MB", *[names[k] for k in keys]], raw, 2)
            + speed_ups + f"\n![{family}](PICTURES/{family}.svg)\n")


def fusion_sides(results, r):
    """(who, kind, kernels, time summary, bytes moved). What libraries move is counted from what their kernels read and write."""
    size = r.workload.bytes
    out = []
    unfused = r.smelt.get("unfused")
    if unfused and unfused.get("hot_us"):
        out.append(("smelt, unfused", "eager", unfused.get("kernels"), unfused["cold_us"] or unfused["hot_us"], unfused.get("bytes")))
    if r.peers.get("eager", {}).get("cold_us"):
        # relu, then layer_norm: each reads and writes the array.
        out.append(("torch eager, relu then layer_norm", "eager", r.peers["eager"].get("kernels"), r.peers["eager"]["cold_us"], 2 * size))
    if r.peers.get("cupy", {}).get("cold_us"):
        out.append(("CuPy, operation by operation", "cupy", r.peers["cupy"].get("kernels"), r.peers["cupy"]["cold_us"], None))
    if r.peers.get("compile", {}).get("cold_us"):
        out.append(("torch.compile", "compile", r.peers["compile"].get("kernels"), r.peers["compile"]["cold_us"], size))
    if r.smelt.get("cold_us"):
        out.append(("smelt, fused", "smelt", r.smelt.get("kernels"), r.smelt["cold_us"], r.smelt.get("bytes")))
    return out


def fusion_table(results, rows):
    rows = [r for r in rows if r.workload.name == "relu_layernorm 4096x1024"]
    if not rows or not fusion_sides(results, rows[0]):
        return ""
    peak = results["machine"].get("peak_gbs")
    out = []
    for who, _, kernels, s, moved in fusion_sides(results, rows[0]):
        bandwidth = moved / s["median"] / 1e3 if moved else None
        out.append([who, kernels or "", mean_deviation(s), f"{moved / 1e6:.1f}" if moved else "", f"{bandwidth:.0f}" if bandwidth else "",
                    f"{100 * bandwidth / peak:.0f} %" if bandwidth and peak else ""])
    return ("## relu_layernorm 4096x1024, unfused and fused\n\nCold device time, mean ± standard deviation. Memory moved: what the kernels "
            "read and write; empty where a library's kernels are not known.\n\n"
            + table(["", "kernels", "time (us)", "moved (MB)", "bandwidth (GB/s)", "of peak"], out)
            + "\n![relu_layernorm](PICTURES/relu_layernorm.svg)\n")


def drawings(machine, rows, names):
    out = {}
    for family in ("quantize_int8", "add_mul_exp"):
        groups = []
        for r in of_family(rows, family):
            all_sides = sides(r)
            groups.append((r.workload.label, [
                pictures.Bar(k, s["mean"], mean_deviation(s) + " us", max(s["mean"] - s["deviation"], 1e-3), s["mean"] + s["deviation"])
                for k, s in ((k, all_sides.get(k)) for k in ("smelt", "compile", "jax", "cupy", "eager")) if s]))
        out[f"{family}.svg"] = pictures.chart(
            f"{family} by number of elements", f"{machine} · device time without a flush, mean ± deviation, logarithmic", groups, names,
            log=True, unit=" us")
    for r in rows:
        if r.workload.name == "relu_layernorm 4096x1024":
            groups = [(who.replace("torch eager, relu then layer_norm", "torch eager").replace("CuPy, operation by operation", "CuPy"),
                       [pictures.Bar(kind, s["median"], f"{s['median']:.1f} us" + (f", {moved / 1e6:.0f} MB" if moved else ""), s["q1"], s["q3"])])
                      for who, kind, _, s, moved in fusion_sides({}, r)]
            out["relu_layernorm.svg"] = pictures.chart(
                "relu_layernorm 4096x1024, unfused and fused", f"{machine} · cold device time, and memory moved", groups,
                {**names, "eager": "unfused"})
    return out
