"""A graph of torch as steps: programs of smelt, and what torch runs between them."""

from __future__ import annotations

import itertools
import operator
from typing import Any, Optional

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from .. import _smelt
from ._partition import COPY, Partition, Piece, partition
from ._trace import DTYPES, Program, Unsupported, is_size, size_tree, tensors_of, why_not

_NUMBERED = {_smelt.dtype_number(dtype): torch_dtype for torch_dtype, dtype in DTYPES.items()}
_BY_NUMBER = [_NUMBERED.get(number) for number in range(max(_NUMBERED) + 1)]  # None: a dtype that no graph of torch has


class Compiled:
    """A graph that was compiled: what to call, and what became of its operations."""

    def __init__(self, call: Any, parts: Partition, explanations: list[Any]) -> None:
        self.call = call
        self.operations = parts.operations
        self.refused = {str(node): (str(node.target), why) for node, why in parts.refused.items()}
        self.explanations = explanations

    @property
    def kernels(self) -> int:
        return sum(e.kernels for e in self.explanations)

    def __str__(self) -> str:
        native = self.operations - len(self.refused)
        line = f"smelt: {native} of {self.operations} operations in {self.kernels} kernel{'s' * (self.kernels != 1)}"
        if self.refused:
            counts: dict[str, int] = {}
            for target, why in self.refused.values():
                name = f"{target.rpartition('.')[0]} ({why})"
                counts[name] = counts.get(name, 0) + 1
            listed = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())
            line += f"; {len(self.refused)} in torch: {listed}"
        return line


def compile_graph(module: Any, name: str, tune: bool = False, products: str = "auto") -> Compiled:
    """Compiles it for the sizes that it was traced with; of symbols, for those at hand."""
    symbols = _symbol_nodes(module.graph)
    excluded: dict[Any, str] = {}
    while True:
        parts = partition(module.graph, lambda node: excluded.get(node) or why_not(node, products))
        programs: dict[int, tuple[Any, Any]] = {}
        failed = False
        for k, piece in enumerate(parts.pieces):
            if not piece.native:
                continue
            try:
                programs[k] = _program(piece, f"{name}_{k}" if k else name, symbols, tune)
            except (_smelt.UserError, Unsupported) as e:
                why = str(e).split("\n")[0]
                excluded.update((node, why) for node in piece.nodes if not is_size(node) and node.target is not operator.getitem)
                failed = True
        if not failed:
            break
    explanations = [explanation for _, explanation in programs.values()]
    return Compiled(_steps(module, parts, {k: program for k, (program, _) in programs.items()}), parts, explanations)


def _device(nodes: Any) -> torch.device:
    devices = {t.device for n in nodes for t in tensors_of(n.meta["val"]) if not (t.device.type == "cpu" and t.dim() == 0)}
    if len(devices) > 1:
        raise Unsupported("arrays on several devices")
    return next(iter(devices), torch.device("cpu"))


def _program(piece: Piece, name: str, known: dict[str, Any], tune: bool) -> tuple[Any, Any]:
    """The function of a piece, compiled, and what was compiled."""
    device = _device((*piece.nodes, *piece.inputs))
    piece.gpu = -1 if device.type == "cpu" else device.index or 0
    piece.inputs = [n for n in piece.inputs if not is_size(n)]
    program = Program(piece.nodes, piece.inputs, piece.results)
    for symbol in program.symbols:
        if symbol not in known:
            raise Unsupported(f"a size {symbol} that is no input")
    dtypes = [DTYPES[n.meta["val"].dtype] for n in piece.inputs] + [_smelt.bool] * len(program.symbols)
    hints = {s: _hint(s, piece) for shape in program.shapes for s in _names(shape)}
    sizes = [[_number(size, hints) for size in shape] for shape in program.shapes]
    if not program.shapes:
        dtypes, sizes = [_smelt.bool], [[1]]
    text = "cpu" if device.type == "cpu" else f"cuda:{piece.gpu}"
    last: Optional[_smelt.UserError] = None
    for exact in (False, True) if hints else (False,):
        shapes = None if exact else program.shapes or [[1]]
        function = _smelt.make_graph_function(program.trace, name, shapes, len(sizes), torch.get_num_threads(), text, tune)
        try:
            explanation = _smelt.prepare(function, list(zip(sizes, dtypes)), text)
        except _smelt.UserError as e:
            last = e
            continue
        piece.symbols = program.symbols
        return function, explanation
    assert last is not None
    raise last


def _names(shape: Any) -> set[str]:
    from ._trace import symbols_of

    return {name for size in shape for name in symbols_of(size)}


_UNKNOWN = 8  # of a size that follows from the data, any


def _hint(symbol: str, piece: Piece) -> int:
    """The size that a symbol has in the call that is being compiled."""
    for node in (*piece.inputs, *piece.nodes):
        for tensor in tensors_of(node.meta["val"]):
            for size in tensor.shape:
                if isinstance(size, torch.SymInt):
                    for known in size.node.expr.free_symbols:
                        if str(known) == symbol:
                            if known in free_unbacked_symbols(size):
                                return _UNKNOWN
                            shapes = size.node.shape_env
                            hint = getattr(shapes, "optimization_hint", None) or shapes.size_hint  # torch 2.11 has size_hint only
                            return int(hint(known))
    raise Unsupported(f"a size {symbol} that no tensor has")


def _number(tree: Any, hints: dict[str, int]) -> int:
    from ._trace import _evaluated

    return int(_evaluated(tree, hints))


# ---- steps


def _steps(module: Any, parts: Partition, programs: dict[int, Any]) -> Any:
    graph = module.graph
    slots: dict[Any, int] = {}
    constants = []
    symbols = _symbol_nodes(graph)
    for node in graph.nodes:
        if node.op == "placeholder":
            slots[node] = len(slots)
    for node in graph.nodes:
        if node.op == "get_attr":
            slots[node] = len(slots)
            constants.append(_attribute(module, node.target))
    outputs = _output_of(graph)
    numbers = [n for n in outputs if isinstance(n, (int, float, bool))]
    first_number = len(slots)
    constants += numbers
    count = first_number + len(numbers)
    steps = []
    for k, piece in enumerate(parts.pieces):
        inputs = list(piece.inputs)
        results = []
        for node in piece.results:
            target = piece.targets.get(node)
            slots[node] = count
            count += 1
            results.append((slots[node], slots[target] if target is not None else -1, *_layout(node, piece.native)))
        if piece.native:
            inputs += [symbols[name] for name in piece.symbols]
            function = programs[k]
        else:
            function = _in_torch(module, piece)
        steps.append({"function": function, "inputs": [slots[n] for n in inputs], "results": results, "gpu": piece.gpu, "dead": []})
    places = itertools.count(first_number)
    returned = [-1 if n is None else slots[n] if isinstance(n, torch.fx.Node) else next(places) for n in outputs]
    used: set[int] = set(returned)
    for step in reversed(steps):
        touched = {*step["inputs"], *(r[0] for r in step["results"]), *(r[1] for r in step["results"] if r[1] >= 0)}
        step["dead"] = sorted(touched - used)
        used |= touched
    return call_of_steps(count, constants, steps, returned)


def call_of_steps(slots: int, constants: list[Any], steps: list[dict[str, Any]], returned: list[int]) -> Any:
    """What takes a list of inputs and runs the steps, in C."""
    guards = torch._C._dynamo.guards
    several = torch.cuda.is_available() and torch.cuda.device_count() > 1
    call = _smelt.GraphCall(
        torch.Tensor, slots, constants, steps, returned, _BY_NUMBER, guards._empty_strided_cpu,
        _empty_cuda if several else getattr(guards, "_empty_strided_cuda", None),
    )
    setattr(call, "_boxed_call", True)  # of the object: what wraps it copies its attributes
    return call


def _empty_cuda(size: Any, stride: Any, dtype: Any, gpu: int = 0) -> Any:
    return torch.empty_strided(size, stride, dtype=dtype, device=f"cuda:{gpu}")


def _attribute(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def _output_of(graph: Any) -> list[Any]:
    return list(next(n for n in graph.nodes if n.op == "output").args[0])


def _symbol_nodes(graph: Any) -> dict[str, Any]:
    """Of symbols the nodes that have their number in a call."""
    found: dict[str, Any] = {}
    for node in graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt) and value.node.expr.is_Symbol and node.op == "placeholder":
            found.setdefault(str(value.node.expr), node)
    return found


def _layout(node: Any, native: bool) -> tuple[Any, Any, list[int]]:
    """Sizes and strides of a new tensor as torch traced them; of open sizes the order of the axes in memory."""
    value = node.meta["val"]
    if not native or not isinstance(value, torch.Tensor):
        return None, None, []
    size, stride = list(value.shape), list(value.stride())
    if all(isinstance(n, int) for n in (*size, *stride)):
        if torch._prims_common.is_non_overlapping_and_dense_or_false(value):
            return tuple(size), tuple(stride), []
        return tuple(size), tuple(torch._prims_common.make_contiguous_strides_for(size)), []
    order = sorted(range(len(size)), key=lambda d: (-_hint_of(stride[d]), d))
    return None, None, order


def _hint_of(size: Any) -> int:
    return size if isinstance(size, int) else int(size.node.hint if size.node.hint is not None else 1)


def _in_torch(module: Any, piece: Piece) -> Any:
    """A function of Python that runs a piece by torch's own kernels."""
    graph = torch.fx.Graph()
    made: dict[Any, Any] = {node: graph.placeholder(node.name) for node in piece.inputs}
    for node in piece.nodes:
        made[node] = graph.node_copy(node, made.__getitem__)
    graph.output(tuple(made[node] for node in piece.results))
    return torch.fx.GraphModule(module, graph).forward


__all__ = ["COPY", "Compiled", "compile_graph", "size_tree"]
