"""What the package is: its version, what importing it costs and loads, and that generated files are the table's."""

import pathlib
import subprocess
import sys

import pytest

import smelt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_version_is_the_headers():
    header = (ROOT / "include/smelt/version.hpp").read_text()
    for name, number in zip(("MAJOR", "MINOR", "PATCH"), smelt.__version__.split(".")):
        assert f"#define SMELT_VERSION_{name} {number}\n" in header


def test_import_loads_neither_numpy_nor_torch():
    loaded = run("import smelt, sys; print(' '.join(sorted(sys.modules)))").split()
    assert "smelt" in loaded
    assert "numpy" not in loaded and "torch" not in loaded
    # Each takes as long to import as a large part of the package.
    bare = run("import sys; print(' '.join(sys.modules))").split()
    assert not {"typing", "re", "inspect", "threading", "functools", "contextlib"} & set(loaded) - set(bare)


def test_show_config_names_what_compiles():
    text = run("import smelt; smelt.show_config()")
    assert smelt.__version__ in text
    for line in ("cpu", "cuda", "cache", "python"):
        assert any(row.startswith(line) for row in text.splitlines()), line


def test_generated_files_are_what_the_table_says():
    folder = pathlib.Path(smelt._smelt.__file__).parent
    made = subprocess.run([sys.executable, str(ROOT / "python/generate.py"), str(folder), "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr


def test_every_function_of_the_table_is_there_and_described():
    by_hand = {"slice", "range", "gradient", "vjp"}
    for row in smelt._smelt.function_table():
        for name in row["names"]:
            if row["names"][0] not in by_hand:
                assert getattr(smelt, name).__doc__, name


def test_fusion_savings_has_the_fields_and_rounding_of_the_tool():
    chain = [
        {"name": "matmul", "input_size": 1000, "output_size": 333},
        {"name": "relu", "input_size": 333, "output_size": 333},
        {"name": "sum", "input_size": 333, "output_size": 1},
    ]
    # (1000 + 333 + 333 + 333 + 333 + 1) * 2 bytes unfused, (1000 + 1) * 2 fused.
    assert smelt.fusion_savings(chain) == {
        "unfused_bytes": 4666, "fused_bytes": 2002, "savings_bytes": 2664, "savings_pct": 57.09, "speedup_estimate": 2.33,
    }
    assert list(smelt.fusion_savings(chain, dtype_bytes=4).values())[:2] == [9332, 4004]
    with pytest.raises(smelt.UserError, match="output_size"):
        smelt.fusion_savings([{"name": "relu", "input_size": 3}])
