"""smelt.jit: what calls calculate, take and give, and when functions are traced again."""

import collections
import contextlib
import dataclasses
import json
import re
import threading
import warnings

import numpy as np
import pytest

import smelt


def rows(*shape, seed=0, dtype="f4"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture
def softmax():
    @smelt.jit
    def softmax(x):
        e = smelt.exp(x - smelt.max(x, axis=-1, keepdims=True))
        return e / smelt.sum(e, axis=-1, keepdims=True)

    return softmax


def softmax_by_numpy(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_one_program_for_every_number_of_rows(softmax):
    for n in (1000, 900, 4001):
        x = rows(n, 64)
        y = softmax(x)
        assert type(y) is np.ndarray and y.dtype == np.float32
        np.testing.assert_allclose(y, softmax_by_numpy(x), rtol=1e-5)
    assert softmax.compile_count() == 1
    softmax.expect_kernels(1)
    with pytest.raises(smelt.UserError, match="kernel"):
        softmax.expect_kernels(2)


def test_numbers_are_arguments():
    @smelt.jit
    def line(x, a, b):
        return a * x + b

    x = rows(100)
    for a, b in ((2.0, 1.0), (0.5, -3.0), (float("inf"), 0.0)):
        np.testing.assert_array_equal(line(x, a, b), np.float32(a) * x + np.float32(b))
    assert line.compile_count() == 1
    assert line(rows(7, dtype="f8"), 2.0, 1.0).dtype == np.float64
    assert line.compile_count() == 2


def test_static_arguments_choose_programs():
    traces = []

    @smelt.jit(static=("n", "how"))
    def power(x, n, how="product"):
        traces.append((n, how))
        y = x
        for _ in range(n - 1):
            y = y * x
        return -y if how == "negative" else y

    x = rows(50)
    np.testing.assert_allclose(power(x, 3), x * x * x, rtol=1e-6)
    np.testing.assert_allclose(power(x, 2, how="negative"), -(x * x), rtol=1e-6)
    power(x + 1, 3)
    assert traces == [(3, "product"), (2, "negative")]
    with pytest.raises(smelt.UserError, match="static argument n is not hashable"):
        power(x, [3])
    with pytest.raises(smelt.UserError, match="no parameter 'm'"):
        smelt.jit(static="m")(lambda x: x)


def test_only_functions_whose_parameters_are_known_are_compiled():
    with pytest.raises(TypeError, match="jit: int is no function"):
        smelt.jit(3)
    with pytest.raises(smelt.UserError, match=r"does not know the parameters of max\(\)\nhelp: name them: lambda x: max\(x\)"):
        smelt.jit(max)
    for threads in (-3, 2**40):
        with pytest.raises(smelt.UserError, match=f"^threads: {threads} is not a whole number"):
            smelt.jit(lambda x: x, threads=threads)
    with pytest.raises(smelt.UserError, match="^threads is an integer, not '3'"):
        smelt.jit(lambda x: x, threads="3")
    with pytest.raises(smelt.UserError, match="^fixed: argument x is f32.3., which has no axis 7"):
        smelt.jit(lambda x: x * 2, fixed={"x": 7})(rows(3))
    with pytest.raises(smelt.UserError, match="^fixed: an axis is an integer, not 'rows'"):
        smelt.jit(lambda x: x * 2, fixed={"x": "rows"})(rows(3))
    with pytest.raises(smelt.UserError, match="^Spec: a size is an integer, not 3.5"):
        smelt.Spec((3.5, 4))
    with pytest.raises(smelt.UserError, match="^save..: nothing is compiled yet"):
        smelt.jit(lambda x: x).save("never.saved")
    with pytest.raises(smelt.UserError, match="^grad: a gradient is of one float"):
        smelt.grad(lambda x: x * 2)(rows(3))


def test_out_takes_the_memory_of_results():
    double = smelt.jit(lambda x: x * 2)
    x, y = rows(33), np.full(40, 7, "f4")
    assert double(x, out=y[3:36]) is not None
    np.testing.assert_array_equal(y[3:36], x * 2)
    np.testing.assert_array_equal(y[:3], 7)
    np.testing.assert_array_equal(y[36:], 7)
    double(x, out=x)
    np.testing.assert_array_equal(x, rows(33) * 2)
    for wrong in (np.empty(32, "f4"), np.empty(33, "f8")):
        with pytest.raises(smelt.UserError, match="output"):
            double(x, out=wrong)
    fixed = np.empty(33, "f4")
    fixed.flags.writeable = False
    with pytest.raises(smelt.UserError, match="read-only"):
        double(x, out=fixed)
    named = smelt.jit(lambda x: {"more": x + 1, "pair": [x - 1, x * 3]})
    for enter in (contextlib.nullcontext, smelt.disable_jit):
        more, less, three = (np.empty(33, "f4") for _ in range(3))
        with enter():
            named(x, out={"pair": [less, three], "more": more})  # by their names
        for got, wanted in ((more, x + 1), (less, x - 1), (three, x * 3)):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(smelt.UserError, match="out has 'most', 'pair', and the result has 'more', 'pair'"):
        named(x, out={"most": more, "pair": [less, three]})
    with pytest.raises(smelt.UserError, match=r"out\['pair'\] is no list of 2"):
        named(x, out={"more": more, "pair": less})
    both = smelt.jit(lambda x: (x + 1, x - 1))
    out = (np.empty(33, "f4"), np.empty(33, "f4"))
    assert both(x, out=out) is out
    np.testing.assert_array_equal(out[1], x - 1)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_out_takes_tensors_without_a_line_of_python(device, monkeypatch):
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    one, two = smelt.jit(lambda x: x * 2), smelt.jit(lambda x: (x + 1, x - 1))
    x = torch.arange(33, dtype=torch.float32, device=device)
    for n in (33, 5):  # of several sizes, so that they may be any afterwards
        one(x[:n]), two(x[:n])
    monkeypatch.setattr(smelt.jit(lambda x: x).__class__, "_slow", None)
    y, more, less = (torch.full((33,), 7.0, device=device) for _ in range(3))
    assert one(x, out=y) is y
    assert torch.equal(y, x * 2)
    y.fill_(7)
    one(x[:5], out=y[3:8])
    assert torch.equal(y[3:8], x[:5] * 2)
    assert y[2] == 7 and y[8] == 7
    both = (more, less)
    assert two(x, out=both) is both
    assert torch.equal(more, x + 1) and torch.equal(less, x - 1)
    if device == "cpu":
        mixed = (np.empty(33, "f4"), less)
        assert two(x, out=mixed) is mixed
        np.testing.assert_array_equal(mixed[0], more)
    one(x, out=x)
    assert torch.equal(x, torch.arange(33, device=device) * 2.0)
    for wrong in (torch.empty(32, device=device), torch.empty(33, device=device).double()):
        with pytest.raises(smelt.UserError, match="output"):
            one(x, out=wrong)
    monkeypatch.undo()
    with pytest.raises(smelt.UserError, match="require gradient"):
        one(x, out=torch.empty(33, requires_grad=True, device=device))
    with pytest.raises(smelt.UserError, match="returns 2 arrays, but memory for 1"):
        two(x, out=(y,))


def test_products_of_rows_with_gaps_between_them():
    torch = pytest.importorskip("torch")
    product = smelt.jit(lambda a, b: a @ b)
    for dtype in (torch.float32, torch.bfloat16):
        wide, many, b = (torch.randn(shape).to(dtype) for shape in ((48, 97), (48, 3, 96), (96, 40)))
        for a in (wide[:, 1:], many[:, 1], many.transpose(0, 1)):
            for _ in range(2):  # arguments are copied the first time
                got = product(a, b)
            torch.testing.assert_close(got.double(), a.double() @ b.double(), rtol=1e-2, atol=1e-1)


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Layer:
    weight: object
    bias: object


def test_containers_go_in_and_out():
    @smelt.jit
    def f(parameters, pair, *, scale=1.0):
        layer = parameters["layers"][0]
        y = pair.first * layer.weight + layer.bias
        return {"y": y * scale, "rest": [Pair(pair.second + 1, y - 1), None], "layer": Layer(layer.weight * 2, layer.bias)}

    x, w, b = rows(9), rows(9, seed=1), rows(9, seed=2)
    made = f({"layers": [Layer(w, b)]}, Pair(x, x * 2), scale=3.0)
    np.testing.assert_allclose(made["y"], (x * w + b) * 3, rtol=1e-5, atol=1e-6)
    assert isinstance(made["rest"][0], Pair) and made["rest"][1] is None and isinstance(made["layer"], Layer)
    np.testing.assert_allclose(made["rest"][0].first, x * 2 + 1, rtol=1e-6)
    f({"layers": [Layer(w, b)]}, Pair(x, x * 2), scale=4.0)
    assert f.compile_count() == 1
    with pytest.raises(smelt.UserError, match=r"argument parameters: builtins.str is no array.*\nhelp: name it in static="):
        f("text", Pair(x, x))


def test_results_that_depend_on_the_types_of_arguments():
    @smelt.jit
    def f(x):
        return x + 1 if x.ndim == 1 else (x, x * 2)

    assert isinstance(f(rows(5)), np.ndarray)
    assert isinstance(f(rows(5, 3)), tuple)
    assert isinstance(f(rows(6)), np.ndarray)
    assert isinstance(f(rows(7, 3)), tuple)
    assert f.compile_count() == 2


def test_arrays_of_smelt_and_of_others_come_back_as_they_came(softmax):
    x = rows(10, 16)
    made = softmax(smelt.asarray(x))
    assert isinstance(made, smelt.Array)
    np.testing.assert_allclose(made.numpy(), softmax_by_numpy(x), rtol=1e-5)
    lazy = softmax(smelt.asarray(x) * 2)
    np.testing.assert_allclose(lazy.numpy(), softmax_by_numpy(x * 2), rtol=1e-5)


def test_torch_tensors_come_back_as_tensors(softmax):
    torch = pytest.importorskip("torch")
    x = torch.randn(10, 16)
    y = softmax(x)
    assert isinstance(y, torch.Tensor)
    torch.testing.assert_close(y, torch.softmax(x, -1))


def test_tensors_of_a_gpu_are_taken_in_their_stream():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    f = smelt.jit(lambda x: x * 2 + 1)
    g = smelt.jit(lambda x: smelt.sum(x, axis=0))
    n = 1 << 20
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(10):
                x = torch.zeros(n, device="cuda")
                torch.cuda._sleep(1_000_000)  # what follows waits, and smelt with it
                for _ in range(20):
                    x += 1
                y = f(x)
                del x
                torch.full((n,), -1.0, device="cuda")  # in the memory of x, after f
                total = g(y)
                del y
                f(torch.zeros(n, device="cuda"))  # in the memory of y, after g
                assert float(total) == 41.0 * n


def test_jax_arrays_come_back_as_arrays(softmax):
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(rows(10, 16))
    y = softmax(x)
    assert isinstance(y, jax.Array)
    np.testing.assert_allclose(np.asarray(y), softmax_by_numpy(rows(10, 16)), rtol=1e-5)


def test_functions_inside_of_functions_are_one_program(softmax):
    outer = smelt.jit(lambda x: softmax(x) * 2)
    x = rows(8, 32)
    np.testing.assert_allclose(outer(x), softmax_by_numpy(x) * 2, rtol=1e-5)
    outer.expect_kernels(1)
    assert softmax.compile_count() == 0


def test_sizes_inside_of_functions():
    @smelt.jit
    def centred(x):
        return x - smelt.sum(x, axis=0) / x.shape[0]

    for n in (10, 11, 500):
        x = rows(n, 4)
        np.testing.assert_allclose(centred(x), x - x.mean(0), rtol=1e-4, atol=1e-6)
    assert centred.compile_count() <= 2

    @smelt.jit
    def halves(x):
        n = x.shape[0] // 2
        return x[:n] + x[n:]

    for n in (10, 12, 14):
        x = rows(n)
        np.testing.assert_array_equal(halves(x), x[: n // 2] + x[n // 2 :])

    @smelt.jit
    def unrolled(x):
        total = x[0]
        for i in range(1, x.shape[0]):  # needs the number: compiled for it
            total = total + x[i]
        return total

    for n in (3, 4):
        np.testing.assert_allclose(unrolled(rows(n)), rows(n).sum(), rtol=1e-5)


def test_many_retraces_warn_and_name_the_argument():
    f = smelt.jit(lambda x, y: x + y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n, dtype in enumerate(("f4", "f8", "i4", "i8", "i2", "u1", "u2", "u4", "i1")):
            f(np.ones(3, dtype), np.ones(3, dtype))
        assert not caught
        for ndim in (2, 3):
            f(np.ones((3,) * ndim, "f4"), np.ones(3, "f4"))
    assert len(caught) == 1 and issubclass(caught[0].category, RuntimeWarning)
    assert "argument x is f32[3, 3]" in str(caught[0].message)


def test_captured_arrays_are_errors_that_name_them():
    weights, ours = rows(4), smelt.asarray(rows(4))
    later = ours * 2
    for use in (lambda x: x + weights, lambda x: smelt.maximum(weights, x)):
        with pytest.raises(smelt.UserError, match="none of its arguments: weights.*\n  at .*test_jit.py:.*\nhelp: pass weights"):
            smelt.jit(use)(rows(4))
    with pytest.raises(smelt.UserError, match=r"none of its arguments: ours, f32\[4\]"):
        smelt.jit(lambda x: x + ours)(rows(4))
    with pytest.raises(smelt.UserError, match=r"not among its arguments"):
        smelt.jit(lambda x: x + later)(rows(4))
    with pytest.raises(smelt.UserError, match="weights"):
        smelt.jit(lambda x: weights)(rows(4))
    # Numbers, and short lists of them, are part of the program.
    np.testing.assert_array_equal(smelt.jit(lambda x: x + smelt.asarray([1.0, 2.0, 3.0]))(np.zeros(3, "f4")), [1, 2, 3])


def test_looking_at_values_while_tracing_is_an_error():
    for look in (lambda x: x if x > 0 else -x, lambda x: float(x) + x, lambda x: x[x > 0], lambda x: x + x.numpy()):
        with pytest.raises(smelt.UserError, match="is being traced|no value yet"):
            smelt.jit(look)(np.ones(3, "f4"))
    with pytest.raises(smelt.UserError, match="help: smelt's functions"):
        smelt.jit(np.linalg.inv)(np.eye(3, dtype="f4"))
    with pytest.raises(smelt.UserError, match="help: leave it an array"):
        smelt.jit(lambda x: x.sum().item() * x)(np.ones(3, "f4"))
    seen = []
    smelt.jit(lambda x: (seen.append(repr(x)), x)[1])(rows(4))
    assert "being traced" in seen[0]


def test_errors_have_the_place_the_operation_and_the_shapes():
    @smelt.jit
    def f(x, y):
        return smelt.exp(x + y)

    with pytest.raises(smelt.UserError) as raised:
        f(rows(4, 8), rows(4, 3))
    first, place, fix = str(raised.value).splitlines()
    assert "cannot broadcast" in first and "8]" in first and "3]" in first
    assert place.strip().startswith("at ") and place.endswith(f"test_jit.py:{f.function.__code__.co_firstlineno + 2}")
    assert fix.startswith("help: ")
    assert any(frame.name == "f" for frame in raised.traceback)
    with pytest.raises(ZeroDivisionError):
        smelt.jit(lambda x: x * (1 // 0))(rows(3))
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        f(rows(4))
    with pytest.raises(smelt.UserError, match="returns no array"):
        smelt.jit(lambda x: None)(rows(3))


def test_disable_jit_runs_operation_by_operation():
    seen = []

    @smelt.jit
    def f(x):
        seen.append(float(smelt.sum(x)))
        return x * 2

    x = np.arange(4, dtype="f4")
    with smelt.disable_jit():
        y = f(x)
        out = np.empty_like(x)
        f(x, out=out)
    assert type(y) is np.ndarray and seen == [6.0, 6.0]
    np.testing.assert_array_equal(y, x * 2)
    np.testing.assert_array_equal(out, x * 2)
    with pytest.raises(smelt.UserError):
        f(x)


def test_explain_source_lower(softmax):
    with pytest.raises(smelt.UserError, match="nothing is compiled yet"):
        softmax.explain()
    lowered = softmax.lower(smelt.Spec((1 << 20, 1024)))
    assert lowered.kernels == 1 and "row" in str(lowered.explain())
    assert "smelt_program" in lowered.source("cpp")
    x = rows(32, 1024)
    softmax(x)
    assert softmax.compile_count() == 1
    assert softmax.explain().kernels == 1
    assert softmax.explain(x).fused_bytes > 0
    assert "mine" in softmax.source(x, name="mine")


def page_data(html):
    return json.loads(re.search('<script type="application/json" id="report">(.*?)</script>', html, re.DOTALL)[1])


def test_an_explanation_is_a_page(softmax):
    x = np.zeros((4, 16), np.float32)
    page = softmax.explain(x).html()
    assert page.startswith("<!DOCTYPE html>") and "Content-Security-Policy" in page
    data = page_data(page)
    assert data["schema"] == "smelt.report" and len(data["plans"]["fused"]["kernels"]) == 1
    # The program was run with the arguments: a row of equal numbers is divided evenly.
    assert {(e["reference"], e["fused"], e["unfused"]) for e in data["trace"]["elements"]} == {(0.0625,) * 3}
    # With types alone there is nothing to run.
    of_types = page_data(softmax.lower(smelt.Spec((4, 16))).explain().html())
    assert of_types["trace"] == {"elements": [], "reason": "the program was not run"}
    assert len(of_types["plans"]["fused"]["kernels"]) == 1


def test_a_page_of_arguments_that_cannot_be_run_says_why():
    pick = smelt.jit(lambda t, i: smelt.take(t, i) * 2)
    data = page_data(pick.explain(np.arange(4.0), np.array([0, 9])).html())
    assert "out of range" in data["problem"] and data["trace"]["elements"] == []


def test_explaining_a_call_with_numbers_is_of_the_program_that_it_runs():
    f = smelt.jit(lambda x, a: x * a)
    assert f.explain(rows(10), 2.0).kernels == 1
    assert "smelt_program" in f.source(smelt.asarray(rows(10)) + 1, 2.0)
    np.testing.assert_array_equal(f(rows(10), 3.0), rows(10) * 3)
    assert f.compile_count() == 1


def test_saved_functions(softmax, tmp_path):
    x = rows(64, 128)
    expected = softmax(x)
    softmax.save(tmp_path / "softmax.smelt")
    loaded = smelt.load(tmp_path / "softmax.smelt")
    assert loaded.parameters == ["x"]
    np.testing.assert_array_equal(loaded(x), expected)
    out = np.empty_like(x)
    assert loaded(x, out=out) is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(smelt.UserError, match="no code for f64"):
        loaded(x.astype("f8"))
    both = smelt.jit(lambda x, a: (x * a, x + a))
    with pytest.raises(smelt.UserError, match="save"):
        both.save(tmp_path / "both.smelt")
    both(x, 2.0)
    both.save(tmp_path / "both.smelt")
    first, second = smelt.load(tmp_path / "both.smelt")(x, 3.0)
    np.testing.assert_array_equal(first, x * 3)
    np.testing.assert_array_equal(second, x + 3)
    with pytest.raises(smelt.UserError, match="no saved function"):
        (tmp_path / "other").write_text("text")
        smelt.load(tmp_path / "other")


def test_gradients():
    def loss(w, x, y):
        return smelt.mean(smelt.square(smelt.sum(x * w, axis=-1) - y))

    w, x, y = rows(3), rows(20, 3, seed=1), rows(20, seed=2)
    expected = 2 * (x * ((x * w).sum(-1) - y)[:, None]).mean(0)
    slope = smelt.grad(loss)(w, x, y)
    assert type(slope) is np.ndarray
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-6)
    value, slope = smelt.value_and_grad(loss)(w, x, y)
    np.testing.assert_allclose(value, (((x * w).sum(-1) - y) ** 2).mean(), rtol=1e-5)
    by_two = smelt.grad(loss, argnums=(0, 2))(w, x, y)
    np.testing.assert_allclose(by_two[1], -2 * ((x * w).sum(-1) - y) / 20, rtol=1e-4, atol=1e-6)
    step = smelt.jit(lambda w, x, y: w - 0.1 * smelt.grad(loss)(w, x, y))
    np.testing.assert_allclose(step(w, x, y), w - 0.1 * expected, rtol=1e-4, atol=1e-6)
    tree = smelt.grad(lambda p, x: smelt.sum(p["w"] * x) + p["b"][0] * 2)({"w": w, "b": [np.float32(1)]}, rows(3))
    np.testing.assert_allclose(tree["w"], rows(3), rtol=1e-6)
    assert float(tree["b"][0]) == 2
    twice = smelt.grad(smelt.grad(lambda x: x * x * x))
    assert float(twice(np.float32(2))) == 12
    with pytest.raises(smelt.UserError, match="no argument 1"):
        smelt.grad(lambda x: smelt.sum(x), argnums=1)(w)


def test_threads_may_call_one_function(softmax):
    x = [rows(200 + i, 32, seed=i) for i in range(8)]
    wrong = []

    def work(i):
        for _ in range(20):
            y = softmax(x[i])
            if not np.allclose(y, softmax_by_numpy(x[i]), rtol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and softmax.compile_count() == 1


def test_methods_and_pickle():
    import pickle

    class Model:
        def __init__(self):
            self.scale = 2.0

        @smelt.jit(static="self")
        def __call__(self, x):
            return x * self.scale

    np.testing.assert_array_equal(Model()(np.ones(3, "f4")), [2, 2, 2])
    again = pickle.loads(pickle.dumps(module_level))
    assert again is module_level


@smelt.jit
def module_level(x):
    return x + 1
