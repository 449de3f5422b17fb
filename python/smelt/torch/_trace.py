"""From nodes of a graph of torch to arrays of smelt."""

from __future__ import annotations

import operator
import re
from typing import Any, Callable

import torch
from torch._prims_common import is_non_overlapping_and_dense_or_false

from .. import _smelt
from ._aten import find
from ._products import is_product, why_no_product

DTYPES = {
    torch.bool: _smelt.bool, torch.int8: _smelt.int8, torch.int16: _smelt.int16, torch.int32: _smelt.int32,
    torch.int64: _smelt.int64, torch.uint8: _smelt.uint8, torch.uint16: _smelt.uint16, torch.uint32: _smelt.uint32,
    torch.uint64: _smelt.uint64, torch.float16: _smelt.float16, torch.bfloat16: _smelt.bfloat16,
    torch.float32: _smelt.float32, torch.float64: _smelt.float64,
}


class Unsupported(Exception):
    """Why a node stays in torch."""


class Out:
    """What torch says of a result: its dtype and its sizes."""

    __slots__ = ("dtype", "shape", "value")

    def __init__(self, value: Any, shape: tuple[Any, ...]) -> None:
        self.value = value
        self.dtype = DTYPES[value.dtype]
        self.shape = shape


def is_size(node: Any) -> bool:
    """Whether a node is a number of the host: a size, or what is calculated from sizes."""
    value = node.meta.get("val")
    return isinstance(value, (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


def tensors_of(value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_of(item)]
    return []


def _is_known_size(value: Any) -> bool:
    """Whether a program can calculate it: its symbols are sizes of arrays, and so not negative."""
    if isinstance(value, (torch.SymFloat, torch.SymBool)):
        return False
    if not isinstance(value, torch.SymInt):
        return True
    node = value.node
    return all(node.shape_env.bound_sympy(symbol).lower >= 0 for symbol in node.expr.free_symbols)


def why_not(node: Any, products: str) -> str:
    """Why smelt does not calculate a node; empty when it does, as far as its types tell. `products` is the option of this name."""
    if find(node.target) is None:
        return "products run in torch" if is_product(node) else "not supported"
    if is_product(node) and (why := why_no_product(node, products)):
        return why
    if "empty_strided" in str(node.target) and not is_non_overlapping_and_dense_or_false(node.meta["val"]):
        return "strides with gaps"
    for part in (node, *node.all_input_nodes):
        if is_size(part):
            if not _is_known_size(part.meta["val"]):
                return "a number that is known at run time"
            continue
        found = tensors_of(part.meta.get("val"))
        if not found:
            return "no tensor"
        for tensor in found:
            if type(tensor) not in (torch._subclasses.FakeTensor, torch.Tensor, torch.nn.Parameter):
                return f"a tensor of type {type(tensor).__name__}"
            if tensor.layout != torch.strided or tensor.is_quantized:
                return f"layout {tensor.layout}"
            if tensor.dtype not in DTYPES:
                return f"dtype {str(tensor.dtype)[6:]}"
            if tensor.device.type not in ("cpu", "cuda"):
                return f"device {tensor.device.type}"
    return ""


def place_of(node: Any) -> tuple[str, int]:
    """The innermost line of the user's source that a node comes from."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or node.stack_trace or "")
    return (found[-1][0], int(found[-1][1])) if found else (str(node.target), 0)


# ---- sizes

_SIZE_OPERATIONS = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}


def size_tree(size: Any) -> Any:
    """A size as numbers, names of symbols and (operator, a, b), in which form it goes to the library."""
    if isinstance(size, int):
        return size
    return _tree_of(size.node.expr)


def _tree_of(expression: Any) -> Any:
    if expression.is_Integer:
        return int(expression)
    if expression.is_Symbol:
        return str(expression)
    arguments = list(expression.args)
    kind = type(expression).__name__
    if expression.is_Pow and arguments[1].is_Integer and 0 < int(arguments[1]) < 8:
        kind, arguments = "Mul", [arguments[0]] * int(arguments[1])
    op = {"Add": "+", "Mul": "*"}.get(kind) or _SIZE_OPERATIONS.get(kind)
    if op is None:
        raise Unsupported(f"a size {expression}")
    made = _tree_of(arguments[0])
    for argument in arguments[1:]:
        made = (op, made, _tree_of(argument))
    return made


def symbols_of(tree: Any) -> set[str]:
    if isinstance(tree, str):
        return {tree}
    if isinstance(tree, tuple):
        return symbols_of(tree[1]) | symbols_of(tree[2])
    return set()


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}


def _evaluated(tree: Any, symbols: dict[str, Any]) -> Any:
    if isinstance(tree, tuple):
        return _ARITHMETIC[tree[0]](_evaluated(tree[1], symbols), _evaluated(tree[2], symbols))
    return symbols[tree] if isinstance(tree, str) else tree


# ---- programs


class Program:
    """Nodes of a graph that become one program of smelt."""

    def __init__(self, nodes: list[Any], inputs: list[Any], results: list[Any]) -> None:
        self.nodes, self.results = nodes, results
        self.arrays = inputs  # nodes with a tensor
        self.shapes: list[Any] = [[size_tree(n) for n in node.meta["val"].shape] for node in inputs]
        needed: set[str] = set()
        for node in (*nodes, *inputs):
            for tensor in tensors_of(node.meta["val"]):
                for size in tensor.shape:
                    needed |= symbols_of(size_tree(size))
            for size in _sizes_in((node.args, node.kwargs)):
                needed |= symbols_of(size_tree(size))
        alone = {size for shape in self.shapes for size in shape if isinstance(size, str)}
        # A symbol that no array has alone comes as an array of that size which nobody reads.
        self.symbols = sorted(needed - alone)
        self.shapes += [[name] for name in self.symbols]

    def trace(self, arguments: list[Any]) -> list[Any]:
        """The results, of arrays that stand for the inputs."""
        symbols: dict[str, Any] = {}
        for shape, array in zip(self.shapes, arguments):
            for size, extent in zip(shape, array.shape):
                if isinstance(size, str):
                    symbols.setdefault(size, extent)
        values: dict[Any, Any] = dict(zip(self.arrays, arguments))

        def convert(x: Any) -> Any:
            if isinstance(x, torch.fx.Node):
                if is_size(x):
                    return convert(x.meta["val"])
                return values[x]
            if isinstance(x, torch.SymInt):
                return _evaluated(size_tree(x), symbols)
            if isinstance(x, (list, tuple)):
                return [convert(item) for item in x]
            return x

        for node in self.nodes:
            _smelt.set_place(*place_of(node))
            if is_size(node):
                continue  # calculated from symbols where it is read
            if node.target is operator.getitem:
                values[node] = values[node.args[0]][node.args[1]]
                continue
            several = not isinstance(node.meta["val"], torch.Tensor)
            outs = [Out(t, tuple(convert(n) for n in t.shape)) if isinstance(t, torch.Tensor) else None
                    for t in (node.meta["val"] if several else [node.meta["val"]])]
            recipe = find(node.target)
            assert recipe is not None, node.target
            made = recipe(node, outs if several else outs[0], *convert(node.args),
                          **{name: convert(value) for name, value in node.kwargs.items()})
            for out, array in zip(outs, made if several else [made]):
                if array is None or out is None:
                    continue
                known = all(isinstance(n, int) for n in (*out.shape, *array.shape))
                if array.dtype != out.dtype or (known and tuple(array.shape) != out.shape):
                    raise _smelt.InternalError(f"{node.target} gives {array.describe()}, where torch has {out.value.dtype}{list(out.value.shape)}")
            values[node] = made
        _smelt.set_place("", 0)
        return [values[node] for node in self.results]


def _sizes_in(x: Any) -> list[Any]:
    if isinstance(x, torch.SymInt):
        return [x]
    if isinstance(x, torch.fx.Node):
        return _sizes_in(x.meta["val"]) if is_size(x) else []
    if isinstance(x, (list, tuple)):
        return [s for item in x for s in _sizes_in(item)]
    if isinstance(x, dict):
        return _sizes_in(list(x.values()))
    return []
