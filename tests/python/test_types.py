"""Type checkers: the package itself and a user's file pass `mypy --strict`."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
USER = """
import numpy as np
import smelt

@smelt.jit
def softmax(x: smelt.Array) -> smelt.Array:
    e = smelt.exp(x - smelt.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)

@smelt.jit(static=("n",))
def power(x: smelt.Array, n: int) -> smelt.Array:
    return x**n

y = softmax(np.ones((2, 3), "float32"))
softmax.expect_kernels(1)
kernels: int = softmax.explain().kernels
a = smelt.asarray([[1.0, 2.0], [3.0, 4.0]], dtype=smelt.float32)
b: smelt.Array = smelt.where(a > 1, a, -a).T @ a
slope = smelt.grad(lambda w: smelt.sum(w * w))(np.ones(3))
print(float(b[0, 0]), b.shape[0] + 1, smelt.softmax(b, axis=-1).dtype.name)
"""


def check(*arguments: str) -> None:
    pytest.importorskip("mypy")
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null", *arguments],
                         capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package():
    check("python/smelt")


def test_a_users_file(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    check(str(tmp_path / "user.py"))


def test_mistakes_of_a_user_are_found(tmp_path):
    (tmp_path / "wrong.py").write_text("import smelt\nx: int = smelt.zeros(3)\nsmelt.softmax(smelt.zeros(3), axes=1)\n")
    with pytest.raises(AssertionError, match='Incompatible types(.|\n)*Unexpected keyword argument "axes"'):
        check(str(tmp_path / "wrong.py"))
