"""Arrays outside of compiled functions: lazy values, subscripts, printing, exchange, and what the Array API suite does not ask."""

import copy
import logging
import pickle

import numpy as np
import pytest

import smelt


def test_values_are_calculated_when_somebody_looks():
    a = smelt.asarray(np.arange(6, dtype="f4").reshape(2, 3))
    b = smelt.exp(a) * 2
    assert not b.evaluated
    assert b.shape == (2, 3) and b.dtype == smelt.float32 and not b.evaluated
    smelt.eval(b)
    assert b.evaluated
    np.testing.assert_allclose(np.asarray(b), np.exp(np.arange(6).reshape(2, 3)) * 2, rtol=1e-6)
    for look in (float, int, bool, lambda x: x.item(), lambda x: x.tolist(), str, repr, np.asarray):
        c = smelt.sum(a)
        look(c)
        assert c.evaluated, look


def test_memory_is_shared_with_numpy():
    x = np.arange(4, dtype="f4")
    a = smelt.asarray(x)
    x[0] = 9
    assert a.tolist() == [9, 1, 2, 3]
    assert smelt.asarray(x, copy=True).tolist() == [9, 1, 2, 3]
    b = smelt.asarray(x, copy=True)
    x[0] = 5
    assert b[0] == 9
    back = (a + 1).numpy()
    assert back.tolist() == [6, 2, 3, 4] and np.from_dlpack(a).tolist() == [5, 1, 2, 3]
    del a
    x_again = smelt.asarray(np.arange(1000.0)).numpy()  # the array of smelt is gone, the memory is not
    assert x_again.sum() == 499500


def test_assignment_makes_a_new_array_of_the_name():
    a = smelt.asarray([1.0, 2.0, 3.0])
    b, before = a, a * 1
    a[1] = 7
    a[smelt.asarray([True, False, False])] = -1
    a[2:] = [4.0]
    assert a.tolist() == [-1, 7, 4] and b is a and before.tolist() == [1, 2, 3]
    m = smelt.zeros((3, 3))
    m[1, ...] = smelt.asarray([1.0, 2.0, 3.0])
    m[smelt.asarray([0, 2])] = 5.0
    assert m.tolist() == [[5, 5, 5], [1, 2, 3], [5, 5, 5]]


@pytest.mark.parametrize(
    "key",
    [0, -1, slice(1, None), (slice(None), 1), (..., None, 0), [2, 0], ([2, 0], [1, 3]), (slice(None), [1, 3]), ([0, 1], slice(None, 2)),
     (1, [0, 2]), np.array([True, False, True]), np.arange(12).reshape(3, 4) % 2 == 0, (None, 0), ([[0, 1], [2, 0]],), [], (slice(None), [])],
    ids=str,
)
def test_subscripts_are_those_of_numpy(key):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    np.testing.assert_array_equal(np.asarray(smelt.asarray(x)[key]), x[key])


@pytest.mark.parametrize("indices", [[2, 1, 0], (0, 0, -1), [[0, 1], [2, -3]], [np.int64(1)]], ids=str)
@pytest.mark.parametrize("mode", ["raise", "clip", "wrap"])
def test_take_of_lists(indices, mode):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    take = lambda a: smelt.take(a, indices, axis=0, mode=mode)
    wanted = np.take(x, indices, axis=0, mode=mode)
    np.testing.assert_array_equal(np.asarray(take(smelt.asarray(x))), wanted)
    np.testing.assert_array_equal(smelt.jit(take)(x), wanted)
    np.testing.assert_array_equal(np.asarray(smelt.asarray(x).take(indices, axis=0, mode=mode)), wanted)


def test_lists_of_indices_elsewhere():
    x = smelt.asarray([1.0, 2.0, 3.0])
    assert smelt.take(x, []).tolist() == []
    assert smelt.take_along_axis(x, [2, 0], axis=0).tolist() == [3, 1]
    assert smelt.scatter_add(x, [0, 0], smelt.asarray([1.0, 2.0])).tolist() == [4, 2, 3]
    assert smelt.one_hot([1], 2).tolist() == [[0, 1]]
    for f in (lambda x: smelt.take(x, [0, 9]), smelt.jit(lambda x: smelt.take(x, [0, 9])), lambda x: x[[0, 9]]):
        with pytest.raises(smelt.UserError, match="index 9 "):
            np.asarray(f(x))


def test_masks_of_no_elements_choose_nothing():
    # By the Array API standard. NumPy has that of arrays whose axis is of size 0, too.
    x = smelt.reshape(smelt.arange(12), (3, 4))
    for shape, rest in (((0,), (0, 4)), ((0, 4), (0,)), ((3, 0), (0,)), ((0, 0), (0,))):
        assert x[smelt.zeros(shape, dtype=smelt.bool)].shape == rest, shape
    for shape in ((2,), (3, 1), (0, 5), (3, 4, 0)):
        with pytest.raises(IndexError, match="the mask is"):
            x[smelt.zeros(shape, dtype=smelt.bool)]


@pytest.mark.parametrize("k", [2**63, -(2**63) - 1, 2**80, 5, -5, 1, 0])
def test_identities_have_any_diagonal(k):
    for rows, columns in ((2, 3), (0, 0), (4, 1)):
        wanted = [[float(j - i == k) for j in range(columns)] for i in range(rows)]
        assert smelt.eye(rows, columns, k=k).numpy().tolist() == wanted


def test_subscripts_that_do_not_fit():
    a = smelt.asarray(np.zeros((3, 4), "f4"))
    for key in ((0, 0, 0), ([0], [1], [2]), np.zeros(4, bool), (..., ...)):
        with pytest.raises((IndexError, smelt.UserError)):
            a[key].numpy()
    with pytest.raises(smelt.UserError):
        a[5]


def test_numbers_do_not_compile_again():
    compiled = []
    smelt.on_event(lambda kind, *rest: compiled.append(kind))
    try:
        a = smelt.asarray(np.arange(5, dtype="f4"))
        assert (a * 0.123 + 7).tolist() == pytest.approx([0.123 * i + 7 for i in range(5)])
        count = len(compiled)
        assert (a * 0.456 + 9).tolist() == pytest.approx([0.456 * i + 9 for i in range(5)])
        assert len(compiled) == count
    finally:
        smelt.on_event(None)


def test_texts():
    a = smelt.asarray([[1.5, 2.0], [3.0, -4.25]])
    assert repr(a) == "array([[1.5, 2],\n       [3, -4.25]], dtype=float32)"
    assert str(smelt.asarray([True, False])) == "[True False]"
    assert repr(smelt.asarray(3)) == "array(3, dtype=int64)"
    long = repr(smelt.arange(100000))
    assert "..." in long and len(long) < 200 and "99999" in long
    html = a._repr_html_()
    assert "<table>" in html and "<td>-4.25</td>" in html and "f32[2, 2]" in html
    assert "[]" in str(smelt.zeros((0,)))


def test_copies_and_pickles():
    a = smelt.asarray(np.arange(6, dtype="i2").reshape(2, 3))[:, ::-1]
    for made in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), pickle.loads(pickle.dumps(a + 1)) - 1):
        assert isinstance(made, smelt.Array) and made.dtype == smelt.int16
        assert made.tolist() == a.tolist()
    b = copy.copy(a)
    b[0, 0] = 99
    assert a[0, 0] == 2
    assert pickle.loads(pickle.dumps(smelt.float32)) is smelt.float32


def test_dtypes_compare_with_those_of_numpy():
    assert smelt.float32 == np.float32 and smelt.float32 == np.dtype("f4") and smelt.float32 != smelt.float64
    assert smelt.asarray([1], dtype=np.int16).dtype == smelt.int16
    assert smelt.asarray([1], dtype="uint8").dtype == smelt.uint8
    assert {smelt.int8: 1}[smelt.int8] == 1 and repr(smelt.bool) == "smelt.bool"
    with pytest.raises(smelt.UserError, match="no dtype"):
        smelt.zeros(3, dtype="complex64")


def test_events_are_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="smelt"):
        smelt.log_events()
        try:
            (smelt.asarray(np.ones(3, "f4")) * np.float32(np.random.rand()) - smelt.asarray(np.ones(3, "f4"))).numpy()
        finally:
            smelt.on_event(None)
    assert caplog.records and all(r.name == "smelt" for r in caplog.records)
    assert any(r.message.startswith(("compiled", "cache hit", "loaded")) for r in caplog.records)


def test_sorting_with_nasty_data():
    x = np.array([[3, np.nan, -0.0, np.inf], [0.0, -np.inf, np.nan, 1]], "f4")
    a = smelt.asarray(x)
    np.testing.assert_array_equal(smelt.sort(a).numpy(), np.sort(x))
    np.testing.assert_array_equal(smelt.argsort(a, axis=0).numpy(), np.argsort(x, axis=0, kind="stable"))
    np.testing.assert_array_equal(smelt.searchsorted(smelt.asarray([1.0, 2.0, 2.0]), smelt.asarray([2.0, 0.0]), side="right").numpy(), [3, 0])
    made = smelt.unique_all(smelt.asarray([3, 1, 3, 2, 1]))
    assert [part.tolist() for part in made] == [[1, 2, 3], [1, 3, 0], [2, 0, 2, 1, 0], [2, 1, 2]]
    assert smelt.unique_values(smelt.zeros((0,))).tolist() == []
    assert [p.tolist() for p in smelt.nonzero(smelt.asarray([[0, 5], [7, 0]]))] == [[0, 1], [1, 0]]
    with pytest.raises(smelt.UserError, match="being traced"):
        smelt.jit(lambda x: smelt.nonzero(x)[0])(np.ones(3, "f4"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "f2", "f4", "f8"])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 3000])
def test_sorting_of_every_dtype(dtype, n):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal((2, n)) * 50).astype(dtype)
    if x.dtype.kind == "f":
        x[:, : n // 4] = rng.choice(np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-8, np.finfo(dtype).max], dtype), (2, n // 4))
    elif dtype != "bool" and n:
        x[0, 0], x[1, -1] = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = smelt.asarray(x)
    np.testing.assert_array_equal(smelt.sort(a).numpy(), np.sort(x))
    np.testing.assert_array_equal(smelt.argsort(a).numpy(), np.argsort(x, kind="stable"))
    # The other way round every nan is the first; equal elements stay in their order.
    np.testing.assert_array_equal(smelt.sort(a, descending=True).numpy(), np.sort(x)[:, ::-1])
    order = smelt.argsort(a, descending=True).numpy()
    np.testing.assert_array_equal(order, n - 1 - np.argsort(x[:, ::-1], kind="stable")[:, ::-1])


def test_matrix_products():
    rng = np.random.default_rng(0)
    for a, b in (((3, 4), (4, 5)), ((4,), (4, 5)), ((2, 3, 4), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 3)), ((3, 0), (0, 2))):
        x, y = rng.standard_normal(a), rng.standard_normal(b)
        np.testing.assert_allclose((smelt.asarray(x) @ smelt.asarray(y)).numpy(), x @ y, rtol=1e-12, atol=1e-12)
    with pytest.raises(smelt.UserError, match="matmul"):
        smelt.zeros((3, 4)) @ smelt.zeros((3, 4))
    product = smelt.jit(lambda x, y: x @ y)
    np.testing.assert_allclose(product(x := rng.standard_normal((6, 4)), y := rng.standard_normal((4, 3))), x @ y, rtol=1e-12)


def test_numpy_on_the_other_side_of_an_operator():
    x, a = np.arange(3, dtype="f4"), smelt.asarray([1.0, 2.0, 3.0])
    for made in (x + a, a + x, x * a, np.float32(2) * a):
        assert isinstance(made, smelt.Array)
    assert (x - a).tolist() == [-1, -1, -1]
    with pytest.raises(TypeError):
        a + "text"


# ---- what users of NumPy write

NUMPY_NUMBERS = {
    "float64": (lambda x: x * np.sqrt(2.0), np.float64),
    "in front": (lambda x: np.sqrt(2.0) * x, np.float64),
    "float32": (lambda x: x / np.float32(3) - np.float32(0.5), np.float32),
    "float16": (lambda x: x * np.float16(0.1), np.float32),
    "where": (lambda x: smelt.where(x > np.float64(1), x, np.float64(0.1)), np.float64),
    "axis": (lambda x: smelt.sum(x, axis=np.int64(0)), np.float32),
    "shape": (lambda x: x.reshape(np.int64(2), np.int32(2)), np.float32),
    "index": (lambda x: x[np.int64(1)] + x[: np.int8(3)], np.float32),
    "whole": (lambda x: smelt.astype(x, smelt.int32) + np.int64(3), np.int64),
    "bool": (lambda x: (x > 1) | np.bool_(True), np.bool_),
}


@pytest.mark.parametrize("name", NUMPY_NUMBERS)
def test_numbers_of_numpy_have_their_dtype(name):
    function, dtype = NUMPY_NUMBERS[name]
    x = np.arange(4, dtype="f4")
    lazy, traced = np.asarray(function(smelt.asarray(x))), smelt.jit(lambda x: function(x))(x)
    assert lazy.dtype == traced.dtype == dtype
    np.testing.assert_array_equal(lazy, traced)


def test_numbers_of_numpy_promote_as_arrays():
    x = smelt.asarray(np.ones(3, "f4"))
    assert smelt.result_type(x, np.float64(1)) == smelt.float64 and smelt.result_type(x, 1.0) == smelt.float32


def test_functions_of_numpy_are_those_of_smelt():
    x = np.linspace(-2, 2, 9, dtype="f4")
    a = smelt.asarray(x)
    for function in (np.exp, np.abs, np.arctan, np.rint, np.isnan, np.negative, np.square):
        made = function(a)
        assert isinstance(made, smelt.Array)
        np.testing.assert_allclose(np.asarray(made), function(x), rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(np.maximum(x[::-1], a)), np.maximum(x[::-1], x))
    np.testing.assert_array_equal(np.asarray(x[::-1] - a), x[::-1] - x)
    np.testing.assert_allclose(smelt.jit(lambda x: np.tanh(x) ** 2)(x), np.tanh(x) ** 2, rtol=1e-5)
    with pytest.raises(smelt.UserError, match="numpy.frexp cannot be applied to f32.9.*\nhelp: write functions"):
        np.frexp(a)
    with pytest.raises(smelt.UserError, match="numpy.add.reduce cannot"):
        np.add.reduce(a)
    with pytest.raises(smelt.UserError, match="numpy.add with out= cannot"):
        x += a


@pytest.mark.parametrize("dtype, told", [
    (">f4", "another byte order, or of another size\nhelp: convert it first"), ("f16", "of another size\nhelp: convert it first"),
    ("M8[D]", "since it has dates\n"), ("m8[s]", "time spans"), ("U1", "since it has texts\nhelp: convert it first"), ("S1", "texts"),
    ("O", "objects of Python"), ("c16", "complex numbers cannot be read\nhelp: x.real and x.imag"), ("f4, i4", "records"), ("V2", "help: convert it first"),
])
def test_elements_that_are_not_supported(dtype, told):
    x = np.zeros(3, dtype)
    for take in (smelt.asarray, smelt.jit(lambda x: x)):
        with pytest.raises(smelt.UserError, match="cannot be read") as raised:
            take(x)
        assert told in str(raised.value)


def test_arrays_are_of_what_has_them():
    with pytest.raises(TypeError, match="from_dlpack: int has no __dlpack__"):
        smelt.from_dlpack(3)
    with pytest.raises(ValueError, match="linspace: -3 numbers"):
        smelt.linspace(0, 1, -3)
    with pytest.raises(smelt.UserError, match="smelt has no dtype <class 'complex'>"):
        smelt.ones(3).astype(complex)
    with pytest.raises(smelt.UserError, match="smelt has no dtype dtype.'complex64'."):
        smelt.ones(3).astype(np.dtype("c8"))
    for number, bits in ((2**80, 81), (-(2**70), 71)):
        with pytest.raises(smelt.UserError, match=f"an integer of {bits} bits is too large"):
            smelt.jit(lambda x: x + number)(np.ones(3, "f4"))  # noqa: B023
    with pytest.raises(smelt.UserError, match="not the number 1.0"):
        smelt.sum(smelt.ones((2, 3)), axis=1.0)


@pytest.mark.parametrize("shape", [(5, 0), (0, 5), (3, 0, 4), (0,)])
def test_arrays_without_elements(shape):
    x = np.zeros(shape, "f4")
    made = smelt.jit(lambda x: (x + 1, smelt.cumsum(x, axis=0), smelt.sum(x, axis=-1)))(x)
    assert [y.shape for y in made] == [shape, shape, shape[:-1]]
    out = np.zeros(shape, "f4")
    assert smelt.jit(lambda x: x * 2)(x, out=out) is out


@pytest.mark.parametrize("part", [np.s_[:100, :100], np.s_[::2, 5:150], np.s_[:, 1:], np.s_[7:90, ::-1], np.s_[:0, :9]])
def test_parts_of_arrays_are_returned_as_they_are(part):
    x = np.arange(300 * 300.0).reshape(300, 300)
    for of in (x[part], x.T[part]):
        same, turned, more = smelt.jit(lambda x: (x, x.T, x + 1))(of)
        np.testing.assert_array_equal(smelt.jit(lambda x: x)(of), of)
        np.testing.assert_array_equal(same, of)
        np.testing.assert_array_equal(turned, of.T)
        np.testing.assert_array_equal(more, of + 1)


def test_errors_of_equal_expressions_name_their_own_lines():
    x = smelt.asarray(np.arange(3, dtype="f4"))
    assert x[np.array([0, 2])].tolist() == [0, 2]
    first = x[np.array([0, 9])]
    with pytest.raises(smelt.UserError) as error:
        smelt.eval(first)
    second = x[np.array([0, -4])]
    with pytest.raises(smelt.UserError) as again:
        smelt.eval(second)
    for raised, index, line in ((error, 9, 3), (again, -4, 6)):
        place = test_errors_of_equal_expressions_name_their_own_lines.__code__.co_firstlineno + line
        assert f"index {index} of 3 elements\n  at {__file__}:{place}\n" in str(raised.value)


@pytest.mark.skipif(bool(smelt._smelt.missing("cuda")), reason="no GPU")
def test_arrays_on_a_gpu():
    host = np.random.default_rng(5).standard_normal((40, 7)).astype(np.float32)
    x = smelt.asarray(host, device="cuda")
    y = x * 2 + 1
    assert y.device == "cuda"  # before it is calculated too
    for made in (smelt.zeros_like(x), smelt.ones_like(y), smelt.full_like(x, 3), smelt.empty_like(x), smelt.zeros((3,), device="cuda")):
        assert made.device == "cuda"
    assert smelt.zeros_like(x, device="cpu").device == "cpu"
    np.testing.assert_array_equal((smelt.zeros_like(x) + x).numpy(), host)
    x += 1
    x[x > 1] = 0
    x[3] = -1
    expected = host + 1
    expected[expected > 1] = 0
    expected[3] = -1
    np.testing.assert_array_equal(x.numpy(), expected)
    assert x.to_device("cuda:0") is x
    copy = smelt.asarray(x, copy=True)
    copy[0] = 9
    np.testing.assert_array_equal(x.numpy(), expected)
    assert copy.device == "cuda"
    for made, wanted in (
        (smelt.sort(x, axis=0), np.sort(expected, axis=0)),
        (smelt.argsort(x, stable=True), np.argsort(expected, axis=-1, stable=True)),
        (smelt.unique_values(x), np.unique_values(expected)),
        (smelt.searchsorted(smelt.sort(x[:, 0]), x[:, 1]), np.searchsorted(np.sort(expected[:, 0]), expected[:, 1])),
        (x[x < 0], expected[expected < 0]),
        (smelt.nextafter(x, x + 1), np.nextafter(expected, expected + 1)),
    ):
        assert made.device == "cuda"
        np.testing.assert_array_equal(np.sort(made.numpy(), axis=0), np.sort(wanted, axis=0))
    square = x.mT @ x + smelt.asarray(np.eye(7, dtype=np.float32), device="cuda")
    solved = smelt.linalg.solve(square, x.mT)
    assert solved.device == "cuda"
    np.testing.assert_allclose((square @ solved).numpy(), expected.T, atol=1e-3)


@pytest.mark.skipif(bool(smelt._smelt.missing("cuda")), reason="no GPU")
def test_a_function_with_a_sort_on_a_gpu():
    f = smelt.jit(lambda x: smelt.sort(x * 2, axis=-1) + 1)
    host = np.random.default_rng(6).standard_normal((30, 100)).astype(np.float32)
    for rows in (30, 7):
        made = f(smelt.asarray(host[:rows], device="cuda"))
        assert made.device == "cuda"
        np.testing.assert_array_equal(made.numpy(), np.sort(host[:rows] * 2, axis=-1) + 1)


def test_elements_by_place_are_one_program():
    compiled = []
    x = smelt.asarray(np.arange(60, dtype=np.float32).reshape(5, 4, 3))
    expected = x.numpy().copy()

    def all_places():
        assert [[[float(v) for v in row] for row in plane] for plane in x] == expected.tolist()
        assert x.tolist() == expected.tolist()
        for i in range(-5, 5):
            np.testing.assert_array_equal(x[i].numpy(), expected[i])
            np.testing.assert_array_equal(x[i, -i % 4].numpy(), expected[i, -i % 4])
            x[i] = i * 0.5
            x[i, 2] = np.full(3, i, np.float32)
            x[i, 1, -1] = i
            expected[i] = i * 0.5
            expected[i, 2] = i
            expected[i, 1, -1] = i
        np.testing.assert_array_equal(x.numpy(), expected)

    all_places()
    smelt.on_event(lambda kind, *rest: compiled.append(kind))
    try:
        all_places()
    finally:
        smelt.on_event(None)
    assert not compiled
    for key in (5, -6, (0, 4), (0, 0, 0, 0)):
        with pytest.raises(smelt.UserError, match="out of range for axis|indices for"):
            x[key]
        with pytest.raises(smelt.UserError, match="out of range for axis|indices for"):
            x[key] = 1.0
    for dtype, number in (("uint8", 300), ("int32", 1.5), ("bool", 2), ("float32", 1e300), ("float16", 1e6), ("int64", 2**63)):
        y = smelt.zeros((3,), dtype=dtype)
        smelt.eval(y)
        with pytest.raises(smelt.UserError, match="does not fit|cannot mix"):
            y[0] = number


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint64", "float16", "float32", "float64"])
def test_lists_of_scalars(dtype):
    x = np.array([[0, 1, 2**63 if dtype == "uint64" else 3]] * 5, dtype="uint64").astype(dtype)
    a = smelt.asarray(x)
    for times in (1, 6):
        rows = [[a[i % 5, j] for j in range(3)] for i in range(5 * times)]
        made = smelt.asarray(rows)
        assert made.dtype == a.dtype
        np.testing.assert_array_equal(made.numpy(), np.tile(x, (times, 1)))
        np.testing.assert_array_equal(smelt.asarray(rows, dtype="float64").numpy(), np.tile(x, (times, 1)).astype("float64"))
