"""What is alike for every library that smelt is compared with."""

import importlib

TORCH_DTYPES = {"f64": "float64", "f32": "float32", "bf16": "bfloat16", "f16": "float16", "u8": "uint8", "i8": "int8", "i16": "int16",
                "i32": "int32", "i64": "int64", "bool": "bool"}


class NotWritten(Exception):
    pass


def function_of(module, family):
    library = importlib.import_module(module)
    function = getattr(library, family.name, None)
    if function is None:
        raise NotWritten(f"{module}.py has no {family.name}")
    return function


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:300] if text else ''}"
