"""Which nodes of a graph run in smelt and which in torch, in as few pieces as dependencies allow."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable

import torch

from ._aten import VIEWS
from ._products import drops, is_product
from ._trace import is_size, tensors_of

COPY = torch.ops.aten.copy_.default


@dataclass
class Piece:
    """Nodes that run together, and what they take from others and give to them."""

    native: bool
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    targets: dict[Any, Any] = field(default_factory=dict)  # results that are written to an input of the graph
    gpu: int = -1
    symbols: list[str] = field(default_factory=list)  # sizes that are arguments of its program, in order


@dataclass
class Partition:
    pieces: list[Piece]
    refused: dict[Any, str]  # nodes that stay in torch, and why
    operations: int  # all of the graph


def _is_free(node: Any) -> bool:
    """Whether a node costs nothing: sizes and views, which are repeated wherever they are read."""
    if node.op != "call_function":
        return False
    if is_size(node):
        return not any(tensors_of(i.meta.get("val")) for i in node.all_input_nodes) or "sym_" in str(node.target)
    if node.target is operator.getitem:
        return _is_free(node.args[0])
    return str(node.target) in VIEWS


def _is_ordered(node: Any) -> bool:
    """Whether a node must stay in its order among others of this kind: random numbers, and what changes tensors."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return node.target is not operator.getitem and not is_size(node)
    if is_product(node) and not drops(node):
        return False
    return node.target._schema.is_mutable or torch.Tag.nondeterministic_seeded in node.target.tags


def producer(node: Any) -> Any:
    """The node that calculates: of an item of several results the node that has them."""
    while node.op == "call_function" and node.target is operator.getitem and not _is_free(node):
        node = node.args[0]
    return node


def partition(graph: Any, reasons: Callable[[Any], str]) -> Partition:
    calls = [n for n in graph.nodes if n.op == "call_function"]
    refused: dict[Any, str] = {}
    real, copies = [], []
    dependencies: dict[Any, set[Any]] = {}
    last_ordered: Any = None
    for node in calls:
        reads: set[Any] = set()
        for argument in node.all_input_nodes:
            reads |= dependencies.get(argument, set()) if _is_free(argument) else {producer(argument)}
        reads = {n for n in reads if n.op == "call_function"}
        dependencies[node] = reads
        if _is_free(node) or node.target is operator.getitem:
            continue
        if node.target is COPY and node.args[0].op == "placeholder":
            copies.append(node)
            continue
        real.append(node)
        if _is_ordered(node):
            if last_ordered is not None:
                reads.add(last_ordered)
            last_ordered = node
            refused[node] = _why_ordered(node)
        elif why := reasons(node):
            refused[node] = why
    order = _scheduled(real, dependencies, refused)
    pieces = [_filled(Piece(native, nodes), graph) for native, nodes in order]
    _connect(graph, pieces, copies)
    counted = [n for n in calls if not is_size(n) and n.target is not operator.getitem]
    return Partition(pieces, refused, len(counted))


def _why_ordered(node: Any) -> str:
    if not isinstance(node.target, torch._ops.OpOverload):
        return "not supported"
    return "changes a tensor" if node.target._schema.is_mutable else "random numbers"


def _scheduled(real: list[Any], dependencies: dict[Any, set[Any]], refused: dict[Any, str]) -> list[tuple[bool, list[Any]]]:
    """Alternating runs of nodes for smelt and for torch: each takes all that is ready, so that there are as few as can be."""
    best: list[tuple[bool, list[Any]]] = []
    place = {node: k for k, node in enumerate(real)}
    users: dict[Any, list[Any]] = {}
    for node in real:
        for read in dependencies[node]:
            users.setdefault(read, []).append(node)
    for native in (True, False):
        missing = {node: len(dependencies[node]) for node in real}
        ready: dict[bool, list[Any]] = {True: [], False: []}
        for node in real:
            if not missing[node]:
                ready[node not in refused].append(node)
        runs: list[tuple[bool, list[Any]]] = []
        while ready[True] or ready[False]:
            run = []
            while ready[native]:
                node = ready[native].pop()
                run.append(node)
                for user in users.get(node, ()):
                    missing[user] -= 1
                    if not missing[user]:
                        ready[user not in refused].append(user)
            if run:
                runs.append((native, sorted(run, key=place.__getitem__)))
            native = not native
        if not best or len(runs) < len(best):
            best = runs
    return best


def _filled(piece: Piece, graph: Any) -> Piece:
    """Adds the sizes, views and items that its nodes read, in the order of the graph."""
    inside = set(piece.nodes)
    for node in piece.nodes:  # items of several results belong to what has them
        inside |= {user for user in node.users if user.target is operator.getitem}
    piece.nodes, piece.inputs = _with_free(graph, inside)
    return piece


def _with_free(graph: Any, inside: set[Any]) -> tuple[list[Any], list[Any]]:
    inputs: dict[Any, None] = {}
    pending = list(inside)
    while pending:
        for argument in pending.pop().all_input_nodes:
            if argument in inside:
                continue
            if _is_free(argument):
                inside.add(argument)
                pending.append(argument)
            else:
                inputs[argument] = None
    return [n for n in graph.nodes if n in inside], list(inputs)


def _connect(graph: Any, pieces: list[Piece], copies: list[Any]) -> None:
    """Says what each piece gives to others, and binds updates of inputs to the pieces that calculate them."""
    outputs = [n for n in _flat(next(n for n in graph.nodes if n.op == "output").args[0]) if isinstance(n, torch.fx.Node)]
    home = {node: k for k, piece in enumerate(pieces) for node in piece.nodes if not _is_free(node)}
    rest: set[Any] = set()  # what is left to torch after all pieces: views that are returned, and other updates
    for copy in copies:
        target, value = copy.args[0], copy.args[1]
        if not _bound(pieces, home, outputs, target, value):
            rest.add(copy)
    for node in outputs:
        if _is_free(node):
            rest.add(node)
    if rest:
        nodes, inputs = _with_free(graph, rest)
        pieces.append(Piece(False, nodes, inputs, [n for n in dict.fromkeys(outputs) if n in set(nodes)]))
    needed = {n for n in outputs if n not in rest}
    for piece in pieces:
        needed |= {n for n in piece.inputs if n.op == "call_function"} | set(piece.targets)
    for piece in pieces:
        if not piece.results:
            piece.results = [n for n in piece.nodes if n in needed and not _is_free(n)]


def _bound(pieces: list[Piece], home: dict[Any, int], outputs: list[Any], target: Any, value: Any) -> bool:
    """Whether the piece that calculates `value` can write it to `target`, an input of the graph, at once."""
    if not isinstance(value, torch.fx.Node) or value not in home or not pieces[home[value]].native or value in outputs:
        return False
    old, new = target.meta["val"], value.meta["val"]
    if old.dtype != new.dtype or old.shape != new.shape or old.device != new.device or target in outputs:
        return False
    if not torch._prims_common.is_non_overlapping_and_dense_or_false(old):
        return False
    readers, views = set(), [target]
    while views:
        for user in views.pop().users:
            if user.target is COPY:
                continue
            if _is_free(user):
                if user in outputs:
                    return False
                views.append(user)
            else:
                readers.add(user)
    at = home[value]
    if any(home.get(producer(r), len(pieces)) > at for r in readers):
        return False
    if value in pieces[at].targets or any(value in piece.inputs for piece in pieces):
        return False
    pieces[at].targets[value] = target
    return True


def _flat(x: Any) -> Iterable[Any]:
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _flat(item)
    else:
        yield x
