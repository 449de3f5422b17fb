"""The snippets of every page print what the page says; the examples run."""

import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if "```python\n" in page.read_text()]
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n((?:    [^\n]*\n)+))?", re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_snippets_print_what_the_page_says(page):
    names = {"__name__": "page"}
    for code, expected in BLOCK.findall(page.read_text()):
        if re.search(r"^(?:import|from) (?:smelt\.)?torch", code, re.M):
            pytest.importorskip("torch")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, str(page), "exec"), names)
        if expected:
            assert said.getvalue().rstrip() == "".join(line[4:] for line in expected.splitlines(True)).rstrip(), code


@pytest.mark.parametrize("example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example):
    ran = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, env=dict(os.environ))
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
