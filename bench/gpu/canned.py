"""Made-up measurements in the form of real ones, so that the page and the pictures can be tried without a GPU."""

import measure
import workloads

SLOWNESS = {"eager": 2.7, "compile": 1.15, "graphs": 1.2, "autotune": 1.1, "jax": 1.3, "cupy": 3.1}


def around(us):
    return measure.summary([us * f for f in (0.98, 0.99, 1.0, 1.0, 1.02, 1.05)])


def figures(w, cold, call, kernels=1, **more):
    return {"status": "ok", "note": "", "kernels": kernels, "bytes": w.bytes * kernels, "cold_us": around(cold),
            "hot_us": around(cold * 0.9), "call_us": around(max(call, cold)), "graph_us": around(max(1.0, cold * 0.95)), **more}


def results():
    out = {"schema": 1, "skipped": ["autotune transpose_add 16384x16384"], "seconds": 0.0, "workloads": {}}
    out["machine"] = {
        "gpu": "Canned figures, no GPU", "sm": "9.0", "multiprocessors": 132, "memory_bytes": 150e9, "l2_bytes": 60 << 20,
        "peak_gbs": 4800.0, "driver": "none", "cpu_threads": 16, "flush_bytes": 240 << 20, "date": "2000-01-01",
        "versions": {"python": "3"}, "smelt": "smelt", "canned": True,
    }
    for i, w in enumerate(workloads.WORKLOADS):
        copy = 4 + w.bytes / 4.0e6
        accurate = {"ok": True, "max_abs": 1e-7, "max_rel": 1e-6, "outside": 0, "off_by_one": 0, "note": "", "elements": w.elements}
        peers = {}
        for key, slow in SLOWNESS.items():
            if key == "graphs" and not w.small:
                continue
            peers[key] = figures(w, copy * slow, 35, 5 if key == "eager" else 1, first_call_s=2.0, accuracy=accurate)
        peers["jax"].update(cold_us=None, note="device time: wall time per call, back to back")
        if i % 5 == 1:
            peers["cupy"] = {"status": "error", "error": "NotImplementedError: a canned error | with a bar"}
        if i % 7 == 2:
            peers["autotune"]["cached"] = "2000-01-01"
        smelt = figures(w, copy * (0.97 + 0.02 * (i % 6)), 3.5, compile_ms=12.0, checked=None)
        smelt["unfused"] = figures(w, copy * 3, 12, 3)
        smelt["cpp_call_us"] = around(max(3.3, copy))
        out["workloads"][w.name] = {
            "copy": {"bytes": w.bytes, "cold_us": around(copy), "hot_us": around(copy * 0.9), "call_us": around(copy)},
            "peers": peers, "smelt": smelt, "check": {**accurate, "sizes": w.smaller(1000)},
        }
    last = list(out["workloads"].values())[-1]
    last["smelt"] = {"status": "error", "error": "exit status 2: error: a canned error"}
    last["check"] = {"status": "error", "error": "exit status 2: error: a canned error"}
    return out
