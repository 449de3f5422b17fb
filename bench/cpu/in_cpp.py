"""Loops in C++ beside the compiled programs: those of in_cpp.cpp, and those that `smelt emit --as cpp` writes, both by the
compiler that CXX names (g++) and the flags of a careful user."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from library import NotWritten

FLAGS = ["-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fopenmp", "-shared", "-fPIC"]
SOURCE = Path(__file__).with_name("in_cpp.cpp")
LIBRARIES = {}  # source text -> the library, loaded


def loaded(text, *flags):
    """The library of this C++ text, compiled once a process."""
    if text not in LIBRARIES:
        compiler = os.environ.get("CXX", "g++")
        if not shutil.which(compiler):
            raise FileNotFoundError(f"there is no {compiler}")
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder) / "loops.cpp", Path(folder) / "loops.so"
            source.write_text(text)
            done = subprocess.run([compiler, *FLAGS, *flags, "-o", library, source, "-lm"], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr.strip().splitlines()[0])
            LIBRARIES[text] = ctypes.CDLL(str(library))
    return LIBRARIES[text]


def pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])


def set_threads(library, threads):
    library.omp_set_num_threads(threads)


def by_hand(workload, inputs, outputs, threads):
    """A call of the loops that in_cpp.cpp has of this family."""
    library = loaded(SOURCE.read_text())
    try:
        function = getattr(library, workload.family.name)
    except AttributeError:
        raise NotWritten(f"in_cpp.cpp has no {workload.family.name}") from None
    sizes = (ctypes.c_int64 * len(workload.sizes))(*workload.sizes.values())
    taken, given, count = pointers(inputs), pointers(outputs), ctypes.c_int64(len(inputs))

    def call():
        set_threads(library, threads)
        function(taken, count, given, sizes)

    return call


def emitted(tool, program, inputs, outputs, threads):
    """A call of what the tool emits for this program, whose types have no sizes left."""
    with tempfile.TemporaryDirectory() as folder:
        source, written = Path(folder) / "program.smelt", Path(folder) / "program.cpp"
        source.write_text(program)
        done = subprocess.run([tool, "emit", source, "--as", "cpp", "-o", written], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0])
        text = written.read_text()
    library = loaded(text)
    set_threads(library, threads)
    bytes_of = library.smelt_program_workspace_bytes
    bytes_of.restype = ctypes.c_int64
    memory = (ctypes.c_char * (bytes_of() + 64))()
    workspace = ctypes.c_void_p(ctypes.addressof(memory) + -ctypes.addressof(memory) % 64)
    arguments = [ctypes.c_void_p(a.ctypes.data) for a in [*inputs, *outputs]]

    def call(kept=memory):
        set_threads(library, threads)
        if library.smelt_program(*arguments, workspace):
            raise RuntimeError("the emitted program refused its arguments")

    return call
