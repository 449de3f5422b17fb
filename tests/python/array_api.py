#!/usr/bin/env python3
"""Runs the suite of the Array API standard (github.com/data-apis/array-api-tests) against smelt.

    SMELT_ARRAY_API_TESTS=FOLDER tests/python/array_api.py [--max-examples 200] [other arguments of pytest]

FOLDER is a clone of the suite with its submodule; it requires pytest-json-report and ndindex. SMELT_ARRAY_API_DEVICE=cuda
makes its arrays on a GPU. The run is of version
2024.12 without complex dtypes; the expected failures are in array_api_xfails.txt, each with its reason, and the cases
of complex numbers in array_api_skips.txt. Of the extensions, linalg is there, fft is not. Exit 77: there is no suite,
or not what it requires.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# The suite takes the largest of the complex dtypes when it is imported, also where all of them are skipped.
REPLACED = ("for dt in complex_dtypes], key", "for dt in complex_dtypes or real_float_dtypes], key")
# Arrays of smelt are made on the CPU where no device is named.
ON_ANOTHER_DEVICE = """import functools
import smelt
from smelt import *
from smelt import __array_api_version__, __array_namespace_info__
for _name in ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros"):
    globals()[_name] = functools.wraps(getattr(smelt, _name))(functools.partial(getattr(smelt, _name), device="{device}"))
linalg = smelt.linalg
"""
# What is on a GPU cannot be given to the host with copy=False, which the suite expects of every array.
XFAILS_ON_A_GPU = "\narray_api_tests/test_dlpack.py::test_dunder_dlpack\n"


def main() -> int:
    suite = os.environ.get("SMELT_ARRAY_API_TESTS", "")
    if not pathlib.Path(suite, "array_api_tests").is_dir():
        print("the suite of the Array API is not here: SMELT_ARRAY_API_TESTS names its folder")
        return 77
    missing = [name for name in ("pytest_jsonreport", "ndindex", "hypothesis") if importlib.util.find_spec(name) is None]
    if missing:
        print("the suite of the Array API requires", ", ".join(missing))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "array-api-tests")
        shutil.copytree(suite, copy, copy_function=shutil.copyfile)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        for kind in ("xfails", "skips"):  # by the names that the suite looks for
            shutil.copyfile(HERE / f"array_api_{kind}.txt", copy / f"{kind}.txt")
        helpers = copy / "array_api_tests" / "dtype_helpers.py"
        helpers.write_text(helpers.read_text().replace(*REPLACED))
        device = os.environ.get("SMELT_ARRAY_API_DEVICE")
        (copy / "smelt_on_device.py").write_text(ON_ANOTHER_DEVICE.format(device=device))
        if device and device != "cpu":
            with open(copy / "xfails.txt", "a") as file:
                file.write(XFAILS_ON_A_GPU)
        environment = dict(
            os.environ, ARRAY_API_TESTS_MODULE="smelt_on_device" if device else "smelt", ARRAY_API_TESTS_VERSION="2024.12",
            ARRAY_API_TESTS_SKIP_DTYPES="complex64,complex128",
        )
        chosen = sys.argv[1:]
        arguments = ["--disable-extension", "fft", "-q", "-p", "no:cacheprovider", "--disable-deadline"]
        if not any(a.startswith("--max-examples") for a in chosen):
            arguments += ["--max-examples", "200"]
        if not any(a.startswith("array_api_tests") for a in chosen):
            arguments += ["array_api_tests"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments, *chosen],
            cwd=copy, env=environment,
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
