"""smelt.bench: what it measures, and how it counts."""

import json
import math

import numpy as np
import pytest

import smelt
from smelt import _bench


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def measured():
    fused = smelt.jit(lambda x: smelt.softmax(x))
    return smelt.bench({"NumPy": softmax, "smelt": fused}, [(64, 128)], batch=(1, 64), seconds=0.01)


def test_rows_are_sizes_and_memories_and_functions(measured):
    # 1 x 64 x 128 floats and as many results fit in an L2 cache, 64 times of them in none of 1 or 2 MiB.
    assert [(r.size, r.memory, r.function) for r in measured.rows if r.size == "1x64x128"] == [
        ("1x64x128", memory, function) for memory in ("L2", "DRAM") for function in ("NumPy", "smelt")
    ]
    assert ("64x64x128", "DRAM", "smelt") in [(r.size, r.memory, r.function) for r in measured.rows]
    for row in measured.rows:
        assert row.samples >= 3 and row.latency_us == tuple(sorted(row.latency_us))
        assert 0 < row.mean_us <= row.latency_us[-1]
        assert row.kernels == (1 if row.function == "smelt" else None)
        assert row.error[-1] < 1e-5


def test_an_l2_row_is_left_out_where_the_arguments_do_not_fit(monkeypatch):
    monkeypatch.setattr(_bench, "_caches", lambda arguments: (8000, 16000))
    made = smelt.bench({"twice": lambda x: x * 2}, [999, 1001], seconds=0.001)
    assert [(r.size, r.memory) for r in made.rows] == [("999", "L2"), ("999", "DRAM"), ("1001", "DRAM")]


def test_dram_takes_turns_among_copies(monkeypatch):
    monkeypatch.setattr(_bench, "_caches", lambda arguments: (0, 20000))
    seen = set()
    smelt.bench({"see": lambda x: seen.add((x.dtype, x.ctypes.data)) or x}, [1000], seconds=0.001)
    # Copies of 4000 bytes, with results of as many, beyond twice the cache; and the reference.
    assert sorted(str(dtype) for dtype, _ in seen) == 5 * ["float32"] + ["float64"]


def test_small_arguments_have_no_more_copies_than_there_are_calls(monkeypatch):
    copied = []
    monkeypatch.setattr(_bench, "_caches", lambda arguments: (1 << 10, 1 << 28))
    monkeypatch.setattr(_bench, "_copied", lambda arguments: copied.append(1) or arguments)
    smelt.bench({"same": lambda x: x}, [3], seconds=0.001)
    assert len(copied) == 9999


def test_speedups_have_the_propagated_error():
    base, fast = _bench._measurements(
        {"base": [8.0, 12.0], "fast": [4.0, 6.0]}, "1", "L2", {"base": (0.0,), "fast": (0.0,)}, {"base": None, "fast": 1})
    assert (base.mean_us, base.speedup, base.speedup_error) == (10, 1, 0)
    # Deviations of sqrt(8) and sqrt(2); both means are known to a fifth.
    assert fast.deviation_us == pytest.approx(math.sqrt(2)) and fast.speedup == 2
    assert fast.speedup_error == pytest.approx(2 * math.hypot(0.2, 0.2))


def test_percentiles_of_errors():
    def off(x):
        y = x.copy()
        y[95:] *= 1.5
        if x.dtype == np.float32:
            y[99] = np.nan
        return y

    made = smelt.bench({"same": lambda x: x, "off": off}, [100], seconds=0.001, memory=("L2",))
    assert made.rows[0].error == (0, 0, 0, 0)
    assert made.rows[1].error == pytest.approx((0, 0, 0.5, math.inf), rel=1e-6)


def test_the_reference_is_called_in_float64():
    dtypes = []

    def reference(x):
        dtypes.append(x.dtype)
        return x

    smelt.bench({"same": lambda x: x}, [3], reference=reference, seconds=0.001)
    assert dtypes == [np.float64]


def test_tables_figures_and_json(measured, tmp_path):
    lines = str(measured).splitlines()
    assert len(lines) == 2 + len(measured.rows) and "speed-up" in lines[0]
    assert len(set(map(len, lines))) == 1
    assert json.loads(measured.json())[0]["function"] == "NumPy"
    assert measured._repr_html_().count("<tr>") == 1 + len(measured.rows)
    pytest.importorskip("matplotlib")
    figure = measured.figure(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
    assert len(figure.axes[0].patches) == len(measured.rows)


def test_arrays_of_smelt_and_of_torch():
    made = smelt.bench({"lazy": lambda x: smelt.exp(x)}, [50], inputs=lambda shape: [smelt.ones(shape)], seconds=0.001)
    assert made.rows[0].error[-1] < 1e-6
    torch = pytest.importorskip("torch")
    functions = {"torch": torch.sin, "smelt": smelt.jit(lambda x: smelt.sin(x))}
    made = smelt.bench(functions, [50], inputs=lambda shape: [torch.rand(shape)], seconds=0.001)
    assert made.rows[1].error[-1] < 1e-6


def test_errors_say_what_to_pass():
    with pytest.raises(smelt.UserError, match="no functions"):
        smelt.bench({}, [3])
    with pytest.raises(smelt.UserError, match='"L2" and "DRAM"'):
        smelt.bench({"f": lambda x: x}, [3], memory=("L1",))
    with pytest.raises(smelt.UserError, match="'f' is int, not a function"):
        smelt.bench({"f": 3}, [3])
    with pytest.raises(smelt.UserError, match=r"no array has the shape \(2, -1\)"):
        smelt.bench({"f": lambda x: x}, [(2, -1)])
