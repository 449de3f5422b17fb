"""Nasty data: what NumPy gives for the same expression."""

import numpy as np
import pytest

import smelt

# Every case is another program, on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*was traced")

VALUES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38, 1.0, -2.5]


def same(a, b):
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])


steps = smelt.jit(lambda x, y: smelt.where(x > y, x - y, smelt.abs(x) * y))
total = smelt.jit(lambda x: smelt.sum(x, axis=-1))


def steps_by_numpy(x, y):
    with np.errstate(all="ignore"):
        return np.where(x > y, x - y, np.abs(x) * y)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_special_values(dtype):
    x, y = (m.ravel().astype(dtype) for m in np.meshgrid(VALUES, VALUES))
    same(steps(x, y), steps_by_numpy(x, y))


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 1000])
def test_odd_sizes(n):
    x = np.arange(n, dtype="f4") - 5
    same(steps(x, x[::-1]), steps_by_numpy(x, x[::-1]))
    m = np.arange(3 * n, dtype="f4").reshape(3, n)
    np.testing.assert_allclose(total(m), m.sum(-1), rtol=1e-6)


def test_empty_arrays():
    assert steps(np.empty((0, 3), "f4"), np.empty((0, 3), "f4")).shape == (0, 3)
    assert total(np.empty((4, 0), "f4")).tolist() == [0, 0, 0, 0]


def test_strides_of_all_kinds():
    base = np.random.default_rng(0).standard_normal((12, 14)).astype("f4")
    for x in (base[::-1], base[:, ::-1], base[::-2, ::3], base.T, base.T[::-1, 2:], np.broadcast_to(base[0], (5, 14)), base[3:4]):
        same(steps(x, x * 0.5), steps_by_numpy(x, x * np.float32(0.5)))
        np.testing.assert_allclose(total(x), x.sum(-1), rtol=1e-5, atol=1e-5)
        out = np.zeros_like(base)[: x.shape[0], : x.shape[1]] if x.shape[0] <= 12 and x.shape[1] <= 14 else np.zeros(x.shape, "f4")
        steps(x, x, out=out[::-1])
        same(out[::-1], steps_by_numpy(x, x))


def test_misaligned_pointers():
    raw = np.zeros(4 * 50 + 1, "u1")
    x = raw[1:].view("f4")
    x[:] = np.arange(50)
    assert x.ctypes.data % 4 != 0
    same(steps(x, x[::-1]), steps_by_numpy(x, x[::-1]))
    out = np.zeros(4 * 50 + 3, "u1")[3:].view("f4")
    steps(x, x, out=out)
    same(out, steps_by_numpy(x, x))


def test_fields_of_records():
    records = np.zeros(20, dtype=[("a", "u1"), ("b", "f4")])  # 5 bytes apart
    records["b"] = np.arange(20)
    same(steps(records["b"], records["b"]), steps_by_numpy(records["b"], records["b"]))
    with pytest.raises(smelt.UserError, match="strides that are no multiple"):
        steps(records["b"], records["b"], out=records["b"])


def test_read_only_arrays_and_numpy_scalars():
    x = np.arange(5, dtype="f4")
    x.flags.writeable = False
    same(steps(x, np.float32(2)), steps_by_numpy(x, np.float32(2)))
    same(steps(x, np.ones((), "f4")), steps_by_numpy(x, np.float32(1)))


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_every_dtype_there_and_back(dtype):
    x = np.arange(40).astype(dtype)
    same_type = smelt.jit(lambda x: smelt.flip(x))
    y = same_type(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, x[::-1])
    assert smelt.asarray(x).dtype == x.dtype and smelt.asarray(x).dtype.itemsize == x.dtype.itemsize


def test_integers_wrap():
    f = smelt.jit(lambda x, y: x * y + y)
    x = np.array([2**31 - 1, -(2**31), 7], "i4")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(f(x, x), x * x + x)


@pytest.mark.parametrize("bad", [np.arange(3, dtype=">f4"), np.array([1j]), np.array(["a"]), np.array([object()])])
def test_what_is_no_array_of_smelt(bad):
    with pytest.raises((smelt.UserError, BufferError, TypeError)):
        smelt.jit(lambda x: x)(bad)
