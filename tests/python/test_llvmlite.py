"""The LLVM of llvmlite in place of libLLVM. SMELT_LLVM=llvmlite takes it where libLLVM is installed too."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

needs_llvmlite = pytest.mark.skipif(importlib.util.find_spec("llvmlite") is None, reason="no llvmlite")

PROGRAM = """
import sys
import numpy as np
import smelt

@smelt.jit
def f(x, y):
    return smelt.softmax(x * y) @ x.T, smelt.cumsum(x), smelt.sum(x > 0.5)

x = np.linspace(0, 1, 600, dtype="float32").reshape(20, 30)
made = f(x, x[:1])
"""


def run(code, **environment):
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300,
                         env={**os.environ, "SMELT_LLVM": "llvmlite", "SMELT_CACHE_DIR": "off", **environment})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@needs_llvmlite
def test_results_are_those_of_libllvm():
    code = PROGRAM + "print([np.asarray(m).astype('f8').sum().hex() for m in made], 'llvmlite' in sys.modules)"
    by_llvmlite = run(code)
    assert "True" in by_llvmlite
    if "none" in run("import smelt; print(smelt.config()['llvm'])", SMELT_LLVM=""):
        pytest.skip("no libLLVM")
    numbers = eval(by_llvmlite.rsplit(" ", 1)[0]), eval(run(code, SMELT_LLVM="").rsplit(" ", 1)[0])
    for ours, theirs in zip(*numbers):
        assert float.fromhex(ours) == pytest.approx(float.fromhex(theirs), rel=1e-6)


@needs_llvmlite
def test_the_configuration_names_it():
    assert "llvmlite" in run("import smelt; print(smelt.config()['llvm'])")


@needs_llvmlite
def test_a_process_that_finds_code_in_the_cache_does_not_load_it(tmp_path):
    code = PROGRAM + "print('llvmlite' in sys.modules)"
    assert [run(code, SMELT_CACHE_DIR=str(tmp_path)).strip() for _ in range(2)] == ["True", "False"]


@needs_llvmlite
def test_it_compiles_for_the_processor_that_smelt_cpu_names():
    code = PROGRAM + "print(f.explain().dump('asm'))"
    assert "zmm" not in run(code, SMELT_CPU="x86-64-v3") and "ymm" not in run(code, SMELT_CPU="x86-64-v2")


@needs_llvmlite
def test_pages_and_threads_that_compile_wait_for_nobody():
    run(PROGRAM + """
        print(len(f.explain().html()))
        import threading
        def work(n):
            g = smelt.jit(lambda x: smelt.sin(x) + n)
            assert abs(g(x)[0, 0] - n) < 1e-6
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """.replace("\n        ", "\n"))


def test_without_either_the_first_call_says_what_to_install(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util\nfind = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'llvmlite' else find(name, *rest)\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    said = run("""
        import numpy as np, smelt
        try:
            smelt.jit(lambda x: x + 1)(np.ones(3))
        except smelt.UserError as e:
            print(e)
        """, PYTHONPATH=path)
    assert "pip install llvmlite" in said
