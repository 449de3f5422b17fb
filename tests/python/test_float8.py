"""Floats of 8 bits: every value and every rounding against ml_dtypes, and the precision of products."""

import numpy as np
import pytest

import smelt

ml_dtypes = pytest.importorskip("ml_dtypes")
jnp = pytest.importorskip("jax.numpy")

NAMES = ("float8_e4m3fn", "float8_e5m2")


def every(name):
    return np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))


def hard_values(name):
    """Every number, what is halfway between two of them, and the floats next to these, of both signs."""
    numbers = every(name).astype(np.float32)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    halfway = (numbers[1:] + numbers[:-1]) / 2
    past = np.float32([464, 480, 57344, 61440, 65536, 1e9, np.inf, 3e-5, 1e-30, 1e-42, 0])
    values = np.concatenate([numbers, halfway, past, -past])
    around = [np.nextafter(values, np.float32(end)) for end in (-np.inf, np.inf)]
    noise = np.random.default_rng(1).normal(size=5000).astype(np.float32) * np.float32(100)
    return np.concatenate([values, *around, noise, np.float32([np.nan])])


def same(a, b):
    """Equal to the bit, but all nans are one."""
    return a.shape == b.shape and np.array_equal(np.where(np.isnan(a), 0, a).view(np.uint32), np.where(np.isnan(b), 0, b).view(np.uint32)) \
        and np.array_equal(np.isnan(a), np.isnan(b))


@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_read(name):
    x = smelt.from_dlpack(jnp.asarray(every(name)))
    assert x.dtype == getattr(smelt, name) and x.dtype.itemsize == 1
    assert same(x.astype(smelt.float32).numpy(), every(name).astype(np.float32))
    finite = np.flatnonzero(np.isfinite(every(name).astype(np.float32)))
    assert [float(x[int(i)]) for i in finite] == list(every(name).astype(np.float64)[finite])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_roundings_are_those_of_ml_dtypes(name, wide):
    values = hard_values(name).astype(wide)
    made = smelt.asarray(values).astype(getattr(smelt, name))
    with np.errstate(all="ignore"):
        expected = values.astype(getattr(ml_dtypes, name)).astype(np.float32)
    assert same(made.astype(smelt.float32).numpy(), expected)
    # As what is stored, by another library too.
    assert same(np.asarray(jnp.from_dlpack(made)).astype(np.float32), expected)


@pytest.mark.parametrize("name", NAMES)
def test_functions_compute_in_float32(name):
    x = np.linspace(-3, 3, 103).astype(getattr(ml_dtypes, name))

    @smelt.jit
    def f(x):
        return smelt.exp(x) / 3, smelt.max(x), smelt.sum(x.astype(smelt.float32) ** 2), smelt.softmax(x).astype(smelt.float32)

    exp, largest, squares, weights = (np.asarray(y) for y in f(jnp.asarray(x)))
    wide = x.astype(np.float32)
    assert exp.dtype == x.dtype and largest.dtype == x.dtype
    assert same(exp.astype(np.float32), (np.exp(wide) / 3).astype(x.dtype).astype(np.float32))
    assert float(largest) == wide.max() and np.isclose(squares, (wide**2).sum())
    e = np.exp(wide - wide.max())
    assert np.allclose(weights, (e / e.sum()).astype(x.dtype).astype(np.float32), atol=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_products(name):
    random = np.random.default_rng(2)
    a, b = (random.normal(size=shape).astype(getattr(ml_dtypes, name)) for shape in ((70, 130), (130, 50)))
    f = smelt.jit(lambda a, b: a.astype(smelt.float32) @ b.astype(smelt.float32))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(np.asarray(f(jnp.asarray(a), jnp.asarray(b))), exact, atol=1e-4)


def test_limits():
    for name in NAMES:
        ours, theirs = smelt.finfo(getattr(smelt, name)), ml_dtypes.finfo(getattr(ml_dtypes, name))
        assert ours.max == float(theirs.max) and ours.min == float(theirs.min) and ours.eps == float(theirs.eps)
        assert ours.bits == 8 and ours.smallest_normal == float(theirs.smallest_normal)


def test_what_is_out_of_range_is_an_error():
    x = smelt.zeros(3, dtype=smelt.float8_e4m3fn)
    with pytest.raises(smelt.UserError, match="500 does not fit"):
        smelt.eval(x * 500)
    with pytest.raises(smelt.UserError, match="-inf does not fit"):
        smelt.eval(smelt.where(x > 0, x, -np.inf))


def test_calls_by_jax():
    import smelt.jax

    x = jnp.asarray(every("float8_e4m3fn"))
    made = smelt.jax.call(lambda x: x * 0.5)(x)
    assert made.dtype == x.dtype
    assert same(np.asarray(made).astype(np.float32), (np.asarray(x).astype(np.float32) / 2).astype(x.dtype).astype(np.float32))


@pytest.mark.parametrize("precision", ["full", "tf32", "bf16x3"])
def test_precision_is_a_permission(precision):
    random = np.random.default_rng(3)
    a, b = random.normal(size=(150, 64)).astype("f4"), random.normal(size=(64, 140)).astype("f4")
    exact = a.astype("f8") @ b
    for f in (
        lambda a, b: smelt.matmul(a, b, precision=precision),
        lambda a, b: smelt.linear(a, b.T, precision=precision),
        lambda a, b: smelt.einsum("ik,kj->ij", a, b, precision=precision),
        lambda a, b: smelt.einsum("ik,kj->ij", [a, b], precision=precision),
        lambda a, b: smelt.tensordot(a, b, axes=1, precision=precision),
        lambda a, b: smelt.dot(a, b, precision=precision),
    ):
        assert np.allclose(smelt.jit(f)(a, b), exact, atol=1e-4)  # on a CPU in full
    slope = smelt.grad(lambda a, b: smelt.sum(smelt.matmul(a, b, precision=precision) ** 2))(a, b)
    assert np.allclose(slope, 2 * exact @ b.T, rtol=1e-4, atol=1e-2)
    q = a[:, :32]
    attention = smelt.jit(lambda q: smelt.scaled_dot_product_attention(q, q, q, precision=precision))
    assert np.allclose(attention(q), smelt.jit(lambda q: smelt.scaled_dot_product_attention(q, q, q))(q))


def test_precision_has_a_name():
    a = np.ones((3, 3), "f4")
    with pytest.raises(smelt.UserError, match="one of 'full', 'tf32', 'bf16x3'"):
        smelt.jit(lambda a: smelt.matmul(a, a, precision="half"))(a)
