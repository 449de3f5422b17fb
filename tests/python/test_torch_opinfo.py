"""A spread of the operators of torch's database, as docs/torch-operators.md has them; tests/python/torch_operators.py is the whole run."""

import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")  # of torch's own tests

import torch_operators as operators  # noqa: E402

PAGE = operators.written()
EVERY = 12


def test_the_page_has_all_operators():
    if f"| torch {torch.__version__.split('+')[0]} |" not in operators.PAGE.read_text():
        pytest.skip("the page is of another torch")
    assert sorted(PAGE) == sorted(operators.database())
    assert sum(map(operators.is_native, PAGE.values())) >= 250
    assert not {state for entry in PAGE.values() for state in entry[1:6]} - {"smelt", "torch", "none", ""}


def test_a_spread_of_operators_is_as_the_page_says():
    names = [name for name in operators.database() if name in PAGE][::EVERY]
    rows = list(operators.check_all(names, jobs=max(1, min(4, (os.cpu_count() or 1)))))
    failed = [f"{row.name}, {column}: {cell.state} {cell.detail}" for row in rows for column, cell in row.cells.items()
              if cell.state in operators.FAILURES]
    assert not failed, "\n".join(failed)
    if f"| torch {torch.__version__.split('+')[0]} |" in operators.PAGE.read_text():
        assert not operators.differences(rows), "\n".join(operators.differences(rows))
