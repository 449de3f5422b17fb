#!/usr/bin/env python3
"""Tensors of NumPy and of smelt handed to each other by DLPack, in capsules of Python: `numpy_test.py versioned|legacy LIBRARY [FOLDER]`.

LIBRARY is tests/api/dlpack/exchange.cpp; FOLDER may have a NumPy, for where this Python has none or an old one. Exit status 77 (CTest: skipped)
where NumPy is missing, or older than 2.1 and so without DLPack 1.0."""

import ctypes
import gc
import sys
import weakref

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_GetName.restype = ctypes.c_char_p
python.PyCapsule_GetName.argtypes = [ctypes.py_object]
NAMES = {"versioned": (b"dltensor_versioned", b"used_dltensor_versioned"), "legacy": (b"dltensor", b"used_dltensor")}
CPU = (1, 0)


def skip(why):
    print(f"dlpack test: skipped, {why}")
    sys.exit(77)


def numpy_of(kind, folder):
    def version(module):
        return tuple(int(part) for part in module.__version__.split(".")[:2])

    try:
        import numpy

        if kind == "legacy" or version(numpy) >= (2, 1):
            return numpy
        found = f"NumPy here is {numpy.__version__}"
    except ImportError:
        found = "there is no NumPy here"
    if folder not in sys.path:
        for name in [n for n in sys.modules if n.split(".")[0] == "numpy"]:
            del sys.modules[name]
        sys.path.insert(0, folder)
        return numpy_of(kind, folder)
    skip(f"{found}, and this takes {'any' if kind == 'legacy' else '2.1 or later'}: scripts/setup.sh test fetches one (pip)")


class Library:
    """The C functions, over capsules of one kind."""

    def __init__(self, path, kind):
        self.kind, self.c = kind, ctypes.CDLL(path)
        self.new, self.used = NAMES[kind]
        self.suffix = "" if kind == "versioned" else "_legacy"
        self.c.exchange_error.restype = ctypes.c_char_p

    def taken(self, capsule):
        """The pointer in a capsule, which is marked as taken: the deleter is the taker's."""
        assert python.PyCapsule_GetName(capsule) == self.new, python.PyCapsule_GetName(capsule)
        pointer = python.PyCapsule_GetPointer(capsule, self.new)
        python.PyCapsule_SetName(capsule, self.used)
        return pointer

    def call(self, name, *capsules, result=ctypes.c_void_p):
        function = getattr(self.c, name)
        function.restype, function.argtypes = result, [ctypes.c_void_p] * len(capsules)
        value = function(*[self.taken(c) for c in capsules])
        error = self.c.exchange_error().decode()
        if error:
            raise RuntimeError(error)
        return value

    def tensor(self, name, *capsules):
        return Tensor(self, self.call(name + self.suffix, *capsules))

    def drop(self, pointer):
        function = getattr(self.c, "exchange_drop" + self.suffix)
        function.restype, function.argtypes = None, [ctypes.c_void_p]
        function(pointer)


class Tensor:
    """smelt's tensor, as libraries take it: by __dlpack__. It is given away once."""

    def __init__(self, library, pointer):
        self.library, self.pointer = library, pointer

    def __dlpack_device__(self):
        return CPU

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert stream is None and dl_device in (None, CPU) and copy in (None, False)
        assert self.library.kind == "legacy" or max_version >= (1, 0), f"the consumer takes {max_version}"
        pointer, self.pointer = self.pointer, None
        return python.PyCapsule_New(pointer, self.library.new, None)

    def __del__(self):
        if self.pointer:
            self.library.drop(self.pointer)


def require(condition, what):
    if not condition:
        sys.exit(f"dlpack test: {what}")


def capsule_of(array, kind):
    return array.__dlpack__(max_version=(1, 0)) if kind == "versioned" else array.__dlpack__()


def values(np, library, kind):
    """Dtypes, ranks, strides and sizes there and back, through a calculation."""
    random = np.random.default_rng(3)
    for dtype in ("float32", "float64", "float16", "int8", "uint8", "int16", "int32", "int64", "uint32"):
        base = (random.standard_normal((6, 10)) * 10).astype(dtype)
        for x in (base, base.T, base[::2, 1:7:3], base[3], base[:, ::-1], base[:0], np.asarray(base[2, 2])):
            got = np.from_dlpack(library.tensor("exchange_calculate", capsule_of(x, kind)))
            want = (x * 2 + 1).astype(dtype)
            require(got.dtype == want.dtype and got.shape == want.shape, f"{dtype} {x.shape}: {got.dtype} {got.shape}")
            require(np.array_equal(got, want), f"{dtype}{x.shape} of strides {x.strides}: {got} is not {want}")


def lifetimes(np, library, kind):
    """What is in use lives, at either side, and is freed when nobody uses it."""

    class Watched(np.ndarray):
        pass

    x = np.arange(12, dtype="float32").view(Watched)
    alive, capsule = weakref.ref(x), capsule_of(x, kind)
    del x
    gc.collect()
    require(alive() is not None, "numpy's array died while its capsule was there")
    result = np.from_dlpack(library.tensor("exchange_calculate", capsule))
    gc.collect()
    require(alive() is None, "smelt holds what it has used")
    part = result[3:5]
    del result, capsule
    gc.collect()
    require(part.tolist() == [7, 9], f"a view of smelt's memory: {part}")
    library.tensor("exchange_calculate", capsule_of(np.ones(5, "float32"), kind))  # nobody takes it


def flags(np, library):
    """The same memory comes back, and what must not be written says so."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    back = np.from_dlpack(library.tensor("exchange_pass", x.__dlpack__(max_version=(1, 0))))
    require(np.shares_memory(x, back), "passing an array copied it")
    require(back.flags.writeable, "numpy may not write what it could write before")
    back[1, 2] = 50
    require(x[1, 2] == 50, "another memory")
    truths = np.array([True, False, True])
    require(np.from_dlpack(library.tensor("exchange_pass", truths.__dlpack__(max_version=(1, 0)))).tolist() == [True, False, True], "bool")
    x.flags.writeable = False
    back = np.from_dlpack(library.tensor("exchange_pass", x.__dlpack__(max_version=(1, 0))))
    require(not back.flags.writeable, "what was read-only is not any more")
    out = np.zeros((2, 3), "float32")
    library.call("exchange_fill", x.__dlpack__(max_version=(1, 0)), out.__dlpack__(max_version=(1, 0)), result=ctypes.c_bool)
    require(np.array_equal(out, x * 3), f"written by smelt: {out}")
    try:
        library.call("exchange_fill", out.__dlpack__(max_version=(1, 0)), x.__dlpack__(max_version=(1, 0)), result=ctypes.c_bool)
        sys.exit("dlpack test: smelt wrote what is read-only")
    except RuntimeError:
        pass
    try:
        library.tensor("exchange_pass", np.zeros(3, "complex64").__dlpack__(max_version=(1, 0)))
        sys.exit("dlpack test: smelt took complex numbers")
    except RuntimeError as error:
        require("complex" in str(error) or "element" in str(error) or "type" in str(error), f"it says: {error}")


def main():
    kind, path = sys.argv[1:3]
    np = numpy_of(kind, sys.argv[3] if len(sys.argv) > 3 else "")
    library = Library(path, kind)
    values(np, library, kind)
    lifetimes(np, library, kind)
    if kind == "versioned":
        flags(np, library)
    print(f"dlpack test: {kind}, with NumPy {np.__version__}: as wanted")


main()
