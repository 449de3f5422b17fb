"""qr, eigh, svd and what follows from them, compared with numpy.linalg: orders, shapes, and what makes a decomposition one."""

import numpy as np
import pytest

import smelt

linalg = smelt.linalg
SHAPES = [(1, 1), (2, 2), (7, 3), (3, 7), (1, 9), (9, 1), (2, 3, 4, 4), (33, 40), (0, 3, 3), (0, 0), (3, 0), (0, 3), (2, 0, 0)]
DTYPES = ["float32", "float64"]


def nasty(shape, dtype):
    """Matrices of one shape: random ones near both ends of the dtype's range, of low rank, graded, of zeros."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(shape)
    m, n = shape[-2:]
    far = 1e30 if dtype == "float32" else 1e300
    grades = np.logspace(0, -20, n)
    for made in (x, x * far, x / far, x * grades, np.round(x), np.zeros(shape), np.ones(shape), x[..., :1] @ x[..., :1, :] if n and m else x,
                 np.broadcast_to(np.eye(m, n), shape)):
        yield made.astype(dtype)


def bound(x):
    """What rounding may be of elements of x."""
    return 60 * max(*x.shape[-2:], 1) * np.finfo(x.dtype).eps * max(float(np.abs(x).max(initial=0)), np.finfo(x.dtype).tiny)


def near(a, b, most):
    assert a.shape == b.shape
    assert np.abs(a.astype("float64") - b.astype("float64")).max(initial=0) <= most


def orthonormal(q):
    """Whether the columns are."""
    product = np.swapaxes(q, -1, -2) @ q
    near(product, np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), product.shape), 60 * max(*q.shape[-2:], 1) * np.finfo(q.dtype).eps)


def numpys(arrays):
    return [a.numpy() for a in arrays]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape, dtype):
    for x in nasty(shape, dtype):
        for mode in ("reduced", "complete"):
            made = linalg.qr(smelt.asarray(x), mode=mode)
            q, r = numpys(made)
            wanted = np.linalg.qr(x, mode=mode)
            assert (q.shape, r.shape, r.dtype) == (wanted.Q.shape, wanted.R.shape, x.dtype)
            near(q @ r, x, bound(x))
            orthonormal(q)
            assert not np.tril(r, -1).any()
            assert made.Q.shape == q.shape and made.R.shape == r.shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[-1] == s[-2]] + [(50, 50)])
def test_eigh(shape, dtype):
    for x in nasty(shape, dtype):
        x = x / 2 + np.swapaxes(x, -1, -2) / 2
        made = linalg.eigh(smelt.asarray(x))
        values, vectors = numpys(made)
        near(values, np.linalg.eigvalsh(x), bound(x))
        near(linalg.eigvalsh(smelt.asarray(x)).numpy(), values, bound(x))
        near(x @ vectors, vectors * values[..., None, :], 2 * bound(x))
        orthonormal(vectors)
        assert made.eigenvalues.shape == values.shape and made.eigenvectors.shape == vectors.shape


def test_eigh_reads_the_lower_triangle():
    x = np.random.default_rng(0).standard_normal((6, 6))
    near(linalg.eigvalsh(smelt.asarray(x)).numpy(), np.linalg.eigvalsh(x, "L"), 1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape, dtype):
    for x in nasty(shape, dtype):
        values = np.linalg.svd(x, compute_uv=False)
        k = values.shape[-1]
        for full in (True, False):
            made = linalg.svd(smelt.asarray(x), full_matrices=full)
            u, s, vh = numpys(made)
            assert [a.shape for a in (u, s, vh)] == [a.shape for a in np.linalg.svd(x, full_matrices=full)]
            near(s, values, bound(x))
            assert (np.diff(s, axis=-1) <= 0).all() and (s >= 0).all()
            near((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, bound(x))
            orthonormal(u)
            orthonormal(np.swapaxes(vh, -1, -2))
            assert (made.U.shape, made.S.shape, made.Vh.shape) == (u.shape, s.shape, vh.shape)
        near(linalg.svdvals(smelt.asarray(x)).numpy(), values, bound(x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (7, 3), (3, 7), (2, 3, 4, 4), (1, 1)])
def test_ranks_inverses_and_norms_by_singular_values(shape, dtype):
    for x in nasty(shape, dtype):
        if float(np.abs(x).max()) > 1e150:
            continue  # norms of the peer overflow
        a, rtol = smelt.asarray(x), max(shape[-2:]) * np.finfo(dtype).eps
        near(linalg.matrix_rank(a).numpy(), np.linalg.matrix_rank(x, rtol=rtol), 0)
        kept = np.linalg.svd(x, compute_uv=False)
        least = np.where(kept > kept[..., :1] * rtol, kept, np.inf).min()
        inverse = linalg.pinv(a).numpy().astype("float64")
        near(x @ inverse @ x, x, 100 * bound(x) * (np.abs(x).max() / least if np.isfinite(least) else 1))
        for ord in ("nuc", 2, -2):
            for keepdims in (False, True):
                wanted = np.linalg.norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)
                near(linalg.matrix_norm(a, ord=ord, keepdims=keepdims).numpy(), np.asarray(wanted), 4 * bound(x))


def test_a_tolerance_may_be_an_array():
    x = np.stack([np.diag([1.0, 1e-3, 1e-6])] * 2)
    tolerance = smelt.asarray([1e-2, 1e-5], dtype="float64")
    assert linalg.matrix_rank(smelt.asarray(x), rtol=tolerance).numpy().tolist() == [1, 2]
    near(linalg.pinv(smelt.asarray(x), rtol=tolerance).numpy(), np.stack([np.diag([1.0, 0, 0]), np.diag([1.0, 1e3, 0])]), 1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_makes_its_matrix_nan(value):
    x = np.stack([np.eye(3), np.eye(3)])
    x[1, 2, 0] = value
    for results in (linalg.qr(smelt.asarray(x)), linalg.eigh(smelt.asarray(x)), linalg.svd(smelt.asarray(x))):
        for made in numpys(results):
            assert np.isfinite(made[0]).all() and np.isnan(made[1]).all()


def test_decompositions_under_jit():
    x = np.random.default_rng(1).standard_normal((5, 4, 3)).astype("float32")

    @smelt.jit
    def rebuilt(x):
        q, r = linalg.qr(x * 2)
        u, s, vh = linalg.svd(x, full_matrices=False)
        return q @ r / 2, (u * smelt.expand_dims(s, -2)) @ vh

    for rows in (x, x[:2], x[:, :2]):
        for made in rebuilt(np.ascontiguousarray(rows)):
            near(made, rows, 1e-5)


def test_errors():
    with pytest.raises(smelt.UserError, match="no square matrix"):
        linalg.eigh(smelt.ones((2, 3)))
    with pytest.raises(smelt.UserError, match="no matrix"):
        linalg.svd(smelt.ones(3))
    with pytest.raises(smelt.UserError, match="'reduced' and 'complete'"):
        linalg.qr(smelt.ones((2, 2)), mode="full")
    with pytest.raises(smelt.UserError, match="float32 and float64"):
        smelt.eval(linalg.qr(smelt.ones((2, 2), dtype="int32")))
    with pytest.raises(smelt.UserError, match="'nuc'"):
        linalg.matrix_norm(smelt.ones((2, 2)), ord=3)
