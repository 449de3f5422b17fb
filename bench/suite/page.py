"""Results as a Markdown page, and compared with older results."""

import math
from statistics import geometric_mean, median

from peers import PEERS
from programs import ROWS, UNSEEN
from tables import table


def against_best(entry, key):
    """The fastest peer's time over smelt's."""
    peers = [entry[p]["us"] for p in PEERS if "us" in entry.get(p, {})]
    return min(peers) / entry["smelt"][key] if peers and key in entry.get("smelt", {}) else None


def families_mean(values):
    """(families, geometric mean of the families' geometric means) of (row, value)."""
    families = {}
    for row, value in values:
        families.setdefault(row.family, []).append(value)
    return len(families), geometric_mean([geometric_mean(f) for f in families.values()])


def us(entry, key="us"):
    return f"{entry[key]:.1f}" if key in entry else "failed" if "error" in entry else ""


def ratio_cell(ratio):
    return "" if ratio is None else f"**{ratio:.2f}x**" if ratio < 0.95 else f"{ratio:.2f}x"


def page(results):
    rows = [(r, results[r.name]) for r in ROWS + UNSEEN if r.name in results]
    peers = [p for p in PEERS if any(p in entry for _, entry in rows)]
    fresh = any("fresh_us" in entry.get("smelt", {}) for _, entry in rows)
    kinds = [("us", "kept outputs" if fresh else "")] + [("fresh_us", "fresh outputs")] * fresh
    heads = ["family", "row", "smelt, µs", *["fresh, µs"] * fresh, "kernels", "floor, µs", "of floor", *[f"{p}, µs" for p in peers]]
    heads += ["speedup", *["speedup, fresh"] * fresh] if peers else []
    cells_of = []
    for row, entry in rows:
        smelt = entry.get("smelt", {})
        of_floor = f"{100 * smelt['floor_us'] / smelt['us']:.0f} %" if "floor_us" in smelt else ""
        cells = [row.family, row.name, us(smelt), *[us(smelt, "fresh_us")] * fresh, str(smelt.get("kernels", "")),
                 us({k: v for k, v in smelt.items() if k != "error"}, "floor_us"), of_floor, *[us(entry.get(p, {})) for p in peers]]
        cells += [ratio_cell(against_best(entry, key)) for key, _ in kinds] if peers else []
        cells_of.append(cells)
    lines = [table(heads, cells_of, 2)]
    for key, words in kinds:
        ratios = [(row, r) for row, entry in rows if (r := against_best(entry, key))]
        if ratios:
            every = [r for _, r in ratios]
            count, mean = families_mean(ratios)
            lines.append(f"Against the fastest peer{', ' + words if words else ''}: geometric mean over {count} families {mean:.2f}x, over "
                         f"{len(every)} rows {geometric_mean(every):.2f}x; {sum(r < 0.95 for r in every)} rows below 0.95x (bold), the "
                         f"worst {min(every):.2f}x.")
    floors = [e["smelt"]["floor_us"] / e["smelt"]["us"] for _, e in rows if "floor_us" in e.get("smelt", {})]
    if floors:
        lines.append(f"{sum(f >= 0.8 for f in floors)} of {len(floors)} rows reach 80 % of the floor, the median {100 * median(floors):.0f} %.")
    predicted = [e["smelt"]["predicted_us"] / e["smelt"]["us"] for _, e in rows if "predicted_us" in e.get("smelt", {}) and "us" in e["smelt"]]
    if predicted:
        lines.append(f"{sum(abs(p - 1) <= 0.2 for p in predicted)} of {len(predicted)} rows take within 20 % of the predicted time, which is "
                     f"{median(predicted):.2f} of the measured in the median.")
    return "\n".join(lines) + "\n"


def compare(old, new):
    """(lines, whether a row is slower): rows whose time moved by more than the noise, and the mean."""
    lines, ratios, slower = [], [], 0
    for row in ROWS + UNSEEN:
        a, b = (results.get(row.name, {}).get("smelt", {}) for results in (old, new))
        if "us" not in a or "us" not in b:
            if "us" in a and "error" in b:
                lines.append(f"failed: {row.name}: {b['error'].splitlines()[0]}")
                slower += 1
            continue
        ratio = a["us"] / b["us"]
        noise = math.hypot(*(e.get("noise_us", 0) / e["us"] for e in (a, b)))
        ratios.append((row, ratio))
        if abs(math.log(ratio)) > max(0.03, 3 * noise) and abs(a["us"] - b["us"]) > 0.3:
            slower += ratio < 1
            lines.append(f"{'slower' if ratio < 1 else 'faster'}: {row.name} {a['us']:.1f} -> {b['us']:.1f} us ({ratio:.2f}x, noise "
                         f"{100 * noise:.1f} %)")
    if ratios:
        lines.append(f"{len(ratios)} rows in both: {families_mean(ratios)[1]:.3f}x over families; {slower} slower than the noise explains")
    return lines or ["no row is in both"], slower > 0
