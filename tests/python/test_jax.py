"""smelt.jax.call: functions of smelt as operations of JAX, with their gradients."""

import threading

import numpy as np
import pytest

import smelt

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import smelt.jax  # noqa: E402

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 33)).astype("float32")
W = rng.normal(size=33).astype("float32")


def scaled_softmax(x, w):
    return smelt.softmax(x * w)


def reference(x, w):
    return jax.nn.softmax(x * w, axis=-1)


def close(got, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(got, "float64"), np.asarray(wanted, "float64"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_results_are_jax_arrays_of_the_same_values(wrap):
    made = wrap(smelt.jax.call(scaled_softmax))(X, W)
    assert isinstance(made, jax.Array) and made.dtype == jnp.float32
    close(made, reference(X, W))


def test_it_is_a_part_of_a_larger_program():
    f = smelt.jax.call(smelt.jit(scaled_softmax))
    made = jax.jit(lambda x, w: jnp.sin(f(jnp.cos(x), w + 1)).sum(axis=0))(X, W)
    close(made, jnp.sin(reference(jnp.cos(X), W + 1)).sum(axis=0))


def test_containers_and_numbers():
    f = smelt.jax.call(lambda p, x, gain: {"y": (x * p["w"] * gain, p["b"] + 1), "n": smelt.sum(x > 0)})
    made = f({"w": W, "b": jnp.float32(2)}, jnp.asarray(X, jnp.bfloat16), 0.5)
    assert made["y"][0].dtype == jnp.float32 and made["n"] == (jnp.asarray(X, jnp.bfloat16) > 0).sum()
    assert smelt.jax.call(lambda x, gain: x * gain)(jnp.ones(3, jnp.bfloat16), 2).dtype == jnp.bfloat16
    close(made["y"][1], 3)


def test_dtypes_are_those_of_jax():
    made = smelt.jax.call(lambda x: (smelt.argmax(x, axis=-1), smelt.sum(smelt.astype(x, smelt.float64)), x > 0))(X)
    assert [str(m.dtype) for m in made] == ["int32", "float32", "bool"]  # without jax_enable_x64
    assert (made[0] == X.argmax(axis=-1)).all()


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_gradients(wrap):
    f = smelt.jax.call(scaled_softmax)
    weight = np.arange(33, dtype="float32")
    ours = wrap(jax.grad(lambda x, w: (f(x, w) * weight).sum(), (0, 1)))(X, W)
    theirs = jax.grad(lambda x, w: (reference(x, w) * weight).sum(), (0, 1))(X, W)
    for got, wanted in zip(ours, theirs):
        close(got, wanted, 1e-4)


def test_gradients_of_gradients():
    f = smelt.jax.call(lambda x: smelt.sin(x) * x)
    ours = jax.grad(lambda x: (jax.grad(lambda y: f(y).sum())(x) ** 2).sum())(W)
    theirs = jax.grad(lambda x: (jax.grad(lambda y: (jnp.sin(y) * y).sum())(x) ** 2).sum())(W)
    close(ours, theirs, 1e-4)


def test_arguments_and_results_that_are_no_floats_have_no_gradient():
    f = smelt.jax.call(lambda x, i: (smelt.take(x, i, axis=0), smelt.argmax(x)))
    i = np.array([2, 0, 2], "int32")
    gradient = jax.grad(lambda x: f(x, i)[0].sum())(W)
    assert gradient[2] == 2 and gradient[0] == 1 and gradient[1] == 0
    none = jax.grad(lambda x: smelt.jax.call(lambda x: x > 0)(x).astype("float32").sum())(W)
    assert none.shape == W.shape and not none.any()


def test_vmap():
    f = smelt.jax.call(lambda x, w: smelt.cumsum(x * w))
    close(jax.vmap(f, (0, None))(X, W), np.cumsum(X * W, axis=-1), 1e-4)


def test_sizes_of_nothing():
    f = smelt.jax.call(lambda x: (x + 1, smelt.sum(x)))
    made = f(np.zeros((0, 3), "float32"))
    assert made[0].shape == (0, 3) and made[1] == 0


def test_a_wrong_program_says_why():
    with pytest.raises(smelt.UserError, match="cannot broadcast"):
        smelt.jax.call(lambda x, y: x + y)(X, X[:, :5])
    with pytest.raises(smelt.UserError, match="static arguments"):
        smelt.jax.call(smelt.jit(static=("n",))(lambda x, n: x * n))


def test_threads():
    f = jax.jit(smelt.jax.call(lambda x: smelt.exp(x) / smelt.sum(smelt.exp(x))))
    wrong = []

    def work(n):
        x = np.full(n, 2.0, "float32")
        for _ in range(20):
            if abs(float(f(x).sum()) - 1) > 1e-5:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 4, 500, 501)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
