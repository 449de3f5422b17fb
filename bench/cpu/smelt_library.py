"""smelt in this process, through the C interface of library.cpp: programs over numpy arrays."""

import ctypes
from pathlib import Path

NAMES = {"float64": "f64", "float32": "f32", "int8": "i8", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16"}


class Failed(Exception):
    pass


class Array(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_char_p), ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


def described(array):
    return Array(NAMES[str(array.dtype)].encode(), array.ndim, (ctypes.c_int64 * array.ndim)(*array.shape), array.ctypes.data)


class Library:
    def __init__(self, path):
        path = Path(path).resolve()
        if not path.exists():
            raise SystemExit(f"bench: there is no {path}\nhelp: `make bench` builds it")
        self.c = ctypes.CDLL(str(path))
        for name, result, arguments in [
            ("error", ctypes.c_char_p, []),
            ("machine", ctypes.c_char_p, []),
            ("open", ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(Array), ctypes.c_int32, ctypes.c_int32]),
            ("close", None, [ctypes.c_void_p]),
            ("kernels", ctypes.c_int32, [ctypes.c_void_p]),
            ("compile_ms", ctypes.c_double, [ctypes.c_void_p]),
            ("bytes", ctypes.c_int64, [ctypes.c_void_p]),
            ("run", ctypes.c_int32, [ctypes.c_void_p]),
            ("run_fresh", ctypes.c_int32, [ctypes.c_void_p]),
            ("copy", None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_int32]),
            ("read", ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32]),
        ]:
            function = getattr(self.c, "smelt_bench_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def message(self):
        return Failed(self.error().decode(errors="replace"))

    def facts(self):
        text = self.machine()
        if not text:
            raise self.message()
        name, isa, threads, l2, l3, llvm = text.decode().split(";")
        return {"cpu": name, "isa": isa, "threads": int(threads), "l2_bytes": int(l2), "l3_bytes": int(l3), "libllvm": llvm}


class Program:
    """A compiled program over these arrays, which it keeps alive."""

    def __init__(self, library, text, inputs, outputs, threads, fuse=True):
        self.library, self.arrays = library, (inputs, outputs)
        table = (Array * (len(inputs) + len(outputs)))(*[described(a) for a in [*inputs, *outputs]])
        self.handle = library.open(text.encode(), int(fuse), threads, table, len(inputs), len(outputs))
        if not self.handle:
            raise library.message()
        self.kernels = library.kernels(self.handle)
        self.compile_ms = library.compile_ms(self.handle)
        self.bytes = library.bytes(self.handle)

    def into(self):
        run, handle, message = self.library.run, self.handle, self.library.message

        def call():
            if not run(handle):
                raise message()

        return call

    def fresh(self):
        run, handle, message = self.library.run_fresh, self.handle, self.library.message

        def call():
            if not run(handle):
                raise message()

        return call

    def close(self):
        self.library.close(self.handle)
        self.handle = None
