#!/usr/bin/env python3
"""Writes python/smelt/_functions.py and _methods.py from the table of functions that the expression language has.

python/generate.py FOLDER writes the files; with --check it reports whether they are what it would write. FOLDER has the module,
as build/release/python/smelt."""

from __future__ import annotations

import ast
import importlib
import keyword
import pathlib
import sys
import types

SOURCES = pathlib.Path(__file__).parent / "smelt"

HEAD = '''"""The functions of arrays. Written by python/generate.py from the table that the expression language has them from."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    _Axes = Union[None, int, Sequence[int]]
    _Sizes = Union[int, Sequence[int]]

from . import _smelt
from ._array import Array, ArrayLike
from ._smelt import DType

_call = _smelt.call


def _items(rest: Any) -> Any:
    return rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest


def _indices(given: Any) -> Any:
    if not isinstance(given, (tuple, list)):
        return given
    from ._index import indices

    return indices(given)
'''

# Those with several results, and those of functions, are written by hand (_more.py, _grad.py); slice() and range() are Python's.
BY_HAND = {"split", "max_and_argmax", "slice", "range", "gradient", "value_and_gradient", "vjp"}

TYPES = {
    "dtype": "Optional[DType]", "keepdims": "bool", "reverse": "bool", "exclusive": "bool", "restart": "Optional[ArrayLike]",
    "interleaved": "bool", "deterministic": "bool", "count_padding": "bool", "axis": "_Axes", "axes": "Any", "subscripts": "str", "causal": "bool",
    "source": "_Sizes", "destination": "_Sizes", "axis1": "int", "axis2": "int", "ddof": "int", "k": "int", "ord": "float",
    "stride": "Optional[_Sizes]", "padding": "_Sizes", "dilation": "_Sizes", "shape": "_Sizes", "reps": "_Sizes",
    "shift": "_Sizes", "size": "_Sizes", "groups": "int", "repeats": "int", "n": "int", "m": "Optional[int]", "low": "float",
    "high": "float", "parts": "int", "bins": "int", "base": "float", "pad_width": "Any", "arrays": "Sequence[ArrayLike]",
    "approximate": "str", "precision": "str", "reduction": "str", "mode": "str", "index": "Any",
}


def parameter(name: str, default: str, rest: bool) -> tuple[str, str]:
    """How it is declared, and how it is passed on."""
    kind = TYPES.get(name, "ArrayLike")
    if name == "k" and not default:  # the keys of attention; of tril a diagonal
        kind = "ArrayLike"
    if rest:
        return f"*{name}: Any", f"_items({name}){' or None' if default == 'None' else ''}"
    if not default:
        return f"{name}: {'DType' if name == 'dtype' else kind}", passed_on(name)
    if name == "dtype" and default != "None":
        default = {"f32": "_smelt.float32", "i64": "_smelt.int64"}[default]
        kind = "DType"
    if default == "None" and not kind.startswith("Optional") and kind not in ("_Axes", "Any"):
        kind = f"Optional[{kind}]"
    return f"{name}: {kind} = {default}", name


def passed_on(name: str) -> str:
    return f"_indices({name})" if name in ("indices", "ids", "segments") else name


def function(row: dict) -> str:
    name = row["names"][0]
    assert not keyword.iskeyword(name), name
    declared, passed = zip(*(parameter(*p) for p in row["parameters"]))
    doc = row["doc"].replace("\\\\", "\\\\\\\\")
    first = f"def {name}({', '.join(declared)}) -> Array:"
    if len(first) > 120:
        first = f"def {name}(\n    {', '.join(declared)}\n) -> Array:"
    text = f'\n\n{first}\n    """{doc}{"" if doc.endswith(".") else "."}"""\n    return _call("{name}", {", ".join(passed)})\n'
    for alias in row["names"][1:]:
        text += f"\n\n{alias} = {name}\n" if alias == row["names"][1] else f"{alias} = {name}\n"
    return text


METHODS_HEAD = '''"""The functions of arrays as methods. Written by python/generate.py, as _functions.py."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional, Sequence, Union

    from ._array import Array, ArrayLike

    _Axes = Union[None, int, Sequence[int]]
    _Sizes = Union[int, Sequence[int]]

from . import _smelt
from ._smelt import DType

_call = _smelt.call


def _items(rest: Any) -> Any:
    return rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest


def _indices(given: Any) -> Any:
    if not isinstance(given, (tuple, list)):
        return given
    from ._index import indices

    return indices(given)


class Methods(_smelt.Array):
    """The functions whose first argument is an array."""

    __slots__ = ()
'''


def method(row: dict) -> str:
    name = row["names"][0]
    parameters = row["parameters"][1:]
    declared, passed = zip(*(parameter(*p) for p in parameters)) if parameters else ((), ())
    first = f"    def {name}({', '.join(('self', *declared))}) -> Array:"
    if len(first) > 120:
        first = f"    def {name}(\n        {', '.join(('self', *declared))}\n    ) -> Array:"
    return f'\n{first}\n        """smelt.{name}() of this array."""\n        return _call("{name}", {", ".join(("self", *passed))})\n'


# Properties and others of the class itself.
NO_METHODS = {"shape", "size"}


def table(folder: str) -> list[dict]:
    package = types.ModuleType("smelt")
    package.__path__ = [folder]
    sys.modules["smelt"] = package
    return importlib.import_module("smelt._smelt").function_table()


def written_by_hand() -> set[str]:
    names: set[str] = set()
    for name in ("_standard.py", "_dtypes.py"):
        for node in ast.parse((SOURCES / name).read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                names |= set(ast.literal_eval(node.value))
    return names


def texts(rows: list[dict]) -> dict[pathlib.Path, str]:
    groups: dict[str, list[dict]] = {}
    for row in rows:
        if row["names"][0] not in BY_HAND:
            groups.setdefault(row["group"], []).append(row)
    functions, methods = HEAD, METHODS_HEAD
    names = []
    for group, members in groups.items():
        functions += f"\n\n# ---- {group}"
        for row in members:
            functions += function(row)
            names += row["names"]
            if row["parameters"][0][0] in ("x", "a") and row["names"][0] not in NO_METHODS:
                methods += method(row)
    # Some have the signature of the Array API standard, from _standard.py and _dtypes.py.
    listed = "".join(f'    "{name}",\n' for name in names if name not in written_by_hand())
    functions += f"\n\n__all__ = [\n{listed}]\n"
    return {SOURCES / "_functions.py": functions, SOURCES / "_methods.py": methods}


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    if len(arguments) != 1:
        print(__doc__)
        return 2
    for target, made in texts(table(arguments[0])).items():
        if "--check" not in sys.argv:
            target.write_text(made)
        elif target.read_text() != made:
            print(f"{target} is not what the table says\nhelp: python/generate.py {arguments[0]} writes it")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
