"""smelt.linalg compared with numpy.linalg."""

import math

import numpy as np
import pytest

import smelt

rng = np.random.default_rng(0)
MATRICES = [(1, 1), (2, 2), (5, 5), (3, 4, 4), (2, 3, 6, 6), (0, 3, 3), (0, 0), (2, 0, 0)]


def both(shape, dtype="float64"):
    x = rng.standard_normal(shape).astype(dtype)
    return x, smelt.asarray(x)


def close(got, wanted, tolerance=1e-9):
    wanted = np.asarray(wanted)
    assert tuple(got.shape) == wanted.shape
    np.testing.assert_allclose(np.asarray(got.numpy(), "float64"), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", MATRICES)
def test_factorizations(shape):
    x, a = both(shape)
    close(smelt.linalg.det(a), np.linalg.det(x))
    sign, logarithm = smelt.linalg.slogdet(a)
    close(sign, np.linalg.slogdet(x)[0])
    close(logarithm, np.linalg.slogdet(x)[1])
    close(smelt.linalg.inv(a), np.linalg.inv(x), 1e-8)
    positive = x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1])
    close(smelt.linalg.cholesky(smelt.asarray(positive)), np.linalg.cholesky(positive))
    close(smelt.linalg.cholesky(smelt.asarray(positive), upper=True), np.swapaxes(np.linalg.cholesky(positive), -1, -2))


@pytest.mark.parametrize("left, right", [((4, 4), (4,)), ((4, 4), (4, 3)), ((2, 4, 4), (4, 3)), ((4, 4), (5, 4, 1)), ((3, 1, 2, 2), (2, 2, 2)),
                                         ((2, 2, 2), (2,)), ((3, 3), (3, 0)), ((0, 0), (0, 2))])
def test_solve(left, right):
    (x, a), (y, b) = both(left), both(right)
    close(smelt.linalg.solve(a, b), np.linalg.solve(x, y) if len(right) > 1 else np.linalg.solve(x, y[:, None])[..., 0], 1e-8)


def test_rows_are_exchanged_and_singular_matrices_are_errors():
    x = np.array([[0.0, 2.0], [3.0, 4.0]])
    close(smelt.linalg.det(smelt.asarray(x)), -6.0)
    close(smelt.linalg.solve(smelt.asarray(x), smelt.asarray([2.0, 7.0])), [1, 1])
    singular = smelt.asarray([[1.0, 2.0], [2.0, 4.0]])
    assert float(smelt.linalg.det(singular)) == 0
    sign, logarithm = smelt.linalg.slogdet(singular)
    assert float(sign) == 0 and float(logarithm) == -math.inf
    with pytest.raises(smelt.UserError, match="singular"):
        smelt.eval(smelt.linalg.inv(singular))
    with pytest.raises(smelt.UserError, match="positive definite"):
        smelt.eval(smelt.linalg.cholesky(-singular))
    with pytest.raises(smelt.UserError, match="no square matrix"):
        smelt.linalg.det(smelt.ones((2, 3)))


@pytest.mark.parametrize("offset", [-5, -2, -1, 0, 1, 3, 9])
@pytest.mark.parametrize("shape", [(4, 4), (2, 5), (3, 2, 6, 4)])
def test_diagonals(shape, offset):
    x, a = both(shape)
    close(smelt.linalg.diagonal(a, offset=offset), np.diagonal(x, offset, -2, -1))
    close(smelt.linalg.trace(a, offset=offset), np.trace(x, offset, -2, -1))


def test_norms():
    x, a = both((3, 4, 5))
    for axis in (None, 1, (0, 2)):
        flat = x if axis is not None else x.ravel()
        for ord in (0, 1, 2, 3, 0.5, math.inf, -math.inf):
            wanted = np.linalg.vector_norm(x, axis=axis, ord=ord, keepdims=True) if hasattr(np.linalg, "vector_norm") else None
            close(smelt.linalg.vector_norm(a, axis=axis, ord=ord, keepdims=True), wanted)
        assert flat.size
    for ord in ("fro", 1, -1, math.inf, -math.inf):
        close(smelt.linalg.matrix_norm(a, ord=ord), np.linalg.norm(x, ord, axis=(-2, -1)))


def test_products():
    (x, a), (y, b) = both((4, 3)), both((4, 3))
    close(smelt.linalg.cross(a, b), np.cross(x, y))
    close(smelt.linalg.cross(smelt.matrix_transpose(a), smelt.matrix_transpose(b), axis=0), np.cross(x, y).T)
    close(smelt.linalg.outer(a[:, 0], b[0, :]), np.outer(x[:, 0], y[0]))
    (s, m) = both((2, 3, 3))
    for n in (-2, -1, 0, 1, 2, 5):
        close(smelt.linalg.matrix_power(m, n), np.linalg.matrix_power(s, n), 1e-7)


def test_single_precision_and_jit():
    x, _ = both((5, 5), "float32")
    y = rng.standard_normal((5, 2)).astype("float32")
    made = smelt.jit(lambda a, b: smelt.linalg.solve(a + 5 * smelt.eye(5), b) * 2)(x, y)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, np.linalg.solve(x + 5 * np.eye(5), y) * 2, rtol=1e-4, atol=1e-5)
