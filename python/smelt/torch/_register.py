"""Operators of torch that are programs of smelt: torch.ops.NAMESPACE.NAME, with fake kernels and gradients."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Optional, Sequence

import torch

from .. import _smelt
from .._jit import Jit
from .._smelt import UserError
from ._aten import TABLE
from ._elementwise import cast
from ._graph import call_of_steps
from ._shapes import symbolic_shapes
from ._trace import DTYPES

_NAMES = {dtype: torch_dtype for torch_dtype, dtype in DTYPES.items()}
_NUMBERS = {"float": float, "int": int, "bool": bool, float: float, int: int, bool: bool}
_libraries: dict[str, Any] = {}
_known: dict[str, Any] = {}

Checker = Callable[..., None]


class _Parameter:
    def __init__(self, name: str, number: Any, default: Any) -> None:
        self.name, self.number, self.default = name, number, default

    def __str__(self) -> str:
        if self.number is None:
            return f"Tensor {self.name}"
        default = "" if self.default is inspect.Parameter.empty else f"={self.default}"
        return f"{self.number.__name__} {self.name}{default}"


def _parameters(function: Any) -> list[_Parameter]:
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            raise UserError(f"register: parameter {p.name} takes no single value\nhelp: name every tensor and number")
        number = _NUMBERS.get(p.annotation)
        if number is None and p.default is not p.empty:
            number = _NUMBERS.get(type(p.default))
        found.append(_Parameter(p.name, number, p.default))
    if all(p.number is not None for p in found):
        raise UserError("register: the program takes no tensor")
    return found


class Operator:
    """One program as an operator: what torch calls with tensors, fake tensors, and for gradients."""

    def __init__(self, qualified: str, function: Any, parameters: list[_Parameter], results: int, check: Optional[Checker]) -> None:
        self.name, self.function, self.parameters, self.results, self.check = qualified, function, parameters, results, check
        self.tensors = [i for i, p in enumerate(parameters) if p.number is None]
        self.calls: dict[int, Any] = {}  # by the number of the device, -1 for the CPU

    def complete(self, arguments: Sequence[Any]) -> list[Any]:
        """With the defaults, which torch leaves out where an argument has its value."""
        return [*arguments, *(p.default for p in self.parameters[len(arguments) :])]

    def checked(self, arguments: Sequence[Any]) -> None:
        """Throws UserError where smelt cannot calculate it for these tensors."""
        devices = set()
        for i in self.tensors:
            name, tensor = self.parameters[i].name, arguments[i]
            if tensor.layout != torch.strided:
                raise UserError(f"{self.name}: {name} has the layout {tensor.layout}\nhelp: {name}.to_dense()")
            if tensor.dtype not in DTYPES:
                raise UserError(f"{self.name}: {name} is of {tensor.dtype}, which smelt does not have")
            if tensor.device.type not in ("cpu", "cuda", "meta"):
                raise UserError(f"{self.name}: {name} is on {tensor.device}\nhelp: smelt runs on CPUs and on CUDA devices")
            devices.add(tensor.device)
        if len(devices) > 1:
            raise UserError(f"{self.name}: tensors on {' and '.join(sorted(map(str, devices)))}\nhelp: move them to one device")
        if self.check is not None:
            self.check(*arguments)

    def on_arrays(self, arguments: Sequence[Any]) -> list[Any]:
        """The program on arrays of smelt and numbers."""
        made = self.function(*arguments)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(made) != self.results:
            raise UserError(f"{self.name}: the program gives {len(made)} arrays\nhelp: register(..., results={len(made)})")
        return made

    def fake(self, *given: Any) -> Any:
        arguments = self.complete(given)
        self.checked(arguments)
        device = arguments[self.tensors[0]].device

        def shapes_of(sizes: list[list[int]]) -> list[tuple[list[int], Any]]:
            stand_ins = list(arguments)
            for i, dims in zip(self.tensors, sizes):
                stand_ins[i] = _smelt.stand_in(dims, DTYPES[arguments[i].dtype])
            return [([int(n) for n in a.shape], _NAMES[a.dtype]) for a in self.on_arrays(stand_ins)]

        found = symbolic_shapes(shapes_of, [list(arguments[i].shape) for i in self.tensors])
        made = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in found]
        return made[0] if self.results == 1 else tuple(made)

    def eager(self, *given: Any) -> Any:
        arguments = self.complete(given)
        self.checked(arguments)
        first = arguments[self.tensors[0]]
        tensors = [
            x if p.number is None else torch.full((), x, dtype=torch.float64 if p.number is float else torch.int64, device=first.device)
            for p, x in zip(self.parameters, arguments)
        ]
        gpu = -1 if first.device.type == "cpu" else first.device.index
        call = self.calls.get(gpu)
        if call is None:
            call = self.calls[gpu] = self.compiled(gpu)
        made = call(tensors)
        return made[0] if self.results == 1 else made

    def compiled(self, gpu: int) -> Any:
        names = [p.name for p in self.parameters]
        function = _smelt.make_function(self.traced, self.name.replace("::", "_"), names, len(names), torch.get_num_threads(), False, [])
        count = len(names)
        step = {
            "function": function, "inputs": list(range(count)), "gpu": gpu, "dead": list(range(count)),
            "results": [(count + k, -1, None, None, []) for k in range(self.results)],
        }
        return call_of_steps(count + self.results, [], [step], [count + k for k in range(self.results)])

    def traced(self, arrays: list[Any]) -> list[Any]:
        """Numbers are of the dtype of the first float, so that another one needs no other program."""
        floats = [arrays[i].dtype for i in self.tensors if arrays[i].dtype.kind == "float"]
        given = list(arrays)
        for i, p in enumerate(self.parameters):
            if p.number is not None and floats and p.number is not bool:
                given[i] = cast(arrays[i], floats[0])
        return self.on_arrays(given)

    def inlined(self, node: Any, out: Any, *arguments: Any, **named: Any) -> Any:
        """Its recipe: under torch.compile(backend="smelt") it is a part of the kernels around it."""
        values = [*arguments, *(named.get(p.name, p.default) for p in self.parameters[len(arguments):])]
        made = self.on_arrays(values)
        return made[0] if self.results == 1 else made


class _Gradient(Operator):
    """The gradients of an operator by its float tensors: of the gradients of its results, and its arguments."""

    def __init__(self, forward: Operator) -> None:
        self.forward = forward
        gradients = [_Parameter(f"grad_{k}", None, inspect.Parameter.empty) for k in range(forward.results)]
        super().__init__(f"{forward.name}_backward", self.program, [*gradients, *forward.parameters], len(forward.tensors), None)

    def program(self, *given: Any) -> list[Any]:
        gradients, arguments = given[: self.forward.results], list(given[self.forward.results :])
        tensors = [arguments[i] for i in self.forward.tensors]
        by = [t.dtype.kind == "float" for t in tensors]

        def loss(arrays: list[Any]) -> list[Any]:
            for i, array in zip(self.forward.tensors, arrays):
                arguments[i] = array
            total: Any = None
            for gradient, made in zip(gradients, self.forward.on_arrays(arguments)):
                if made.dtype.kind == "float":
                    # Halves summed in float32: the sum itself is not a result.
                    wide = _smelt.float32 if made.dtype.itemsize < 4 else made.dtype
                    part = _smelt.call("sum", _smelt.binary("*", cast(made, wide), cast(gradient, wide)))
                    total = part if total is None else _smelt.binary("+", total, cast(part, total.dtype))
            return [total]

        _, found = _smelt.differentiate(loss, tensors, by)
        made = iter(found)
        return [cast(next(made), t.dtype) if differentiable else _smelt.call("zeros_like", t) for t, differentiable in zip(tensors, by)]


def register(name: str, program: Any, *, results: int = 1, check: Optional[Checker] = None) -> Any:
    """Makes an operator of torch of a program: a function of smelt's arrays, or what smelt.jit made of one.

    name: "namespace::name"; without a namespace "smelt::name". Parameters are tensors, but for those that are annotated as float, int
    or bool, or have such a default. results: how many arrays the program gives. check: called with the arguments of every call, to
    refuse what is wrong with a message of its own. Gives the operator, which is also torch.ops.namespace.name.
    """
    function = program.function if isinstance(program, Jit) else program
    if not callable(function):
        raise UserError(f"register: {type(program).__name__} is no program\nhelp: give a function of smelt's arrays, or smelt.jit of one")
    qualified = name if "::" in name else f"smelt::{name}"
    if not all(part.isidentifier() for part in qualified.split("::")) or qualified.count("::") != 1:
        raise UserError(f"register: {name!r} is no name of an operator\nhelp: as in \"my_project::my_operator\"")
    if qualified in _known:
        raise UserError(f"register: {qualified} is there already")
    operator = Operator(qualified, function, _parameters(function), results, check)
    gradient = _Gradient(operator)
    for each in (operator, gradient):
        _define(each)
    _differentiable(operator, gradient)
    _known[qualified] = _find(qualified)
    return _known[qualified]


def _find(qualified: str) -> Any:
    namespace, name = qualified.split("::")
    return getattr(getattr(torch.ops, namespace), name).default


def _define(operator: Operator) -> None:
    namespace, name = operator.name.split("::")
    library = _libraries.get(namespace)
    if library is None:
        library = _libraries[namespace] = torch.library.Library(namespace, "FRAGMENT")
    returned = "Tensor" if operator.results == 1 else "(" + ", ".join(["Tensor"] * operator.results) + ")"
    library.define(f"{name}({', '.join(map(str, operator.parameters))}) -> {returned}", tags=[torch.Tag.pt2_compliant_tag])
    library.impl(name, operator.eager, "CompositeExplicitAutograd")
    torch.library.register_fake(operator.name, operator.fake, lib=library)
    TABLE[f"{namespace}.{name}"] = operator.inlined


def _differentiable(operator: Operator, gradient: Operator) -> None:
    backward_of = _find(gradient.name)

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        inputs = operator.complete(inputs)
        ctx.save_for_backward(*(inputs[i] for i in operator.tensors))
        ctx.numbers = [None if i in operator.tensors else x for i, x in enumerate(inputs)]
        ctx.like = [(o.shape, o.dtype, o.device) for o in (output if operator.results > 1 else (output,))]

    def backward(ctx: Any, *gradients: Any) -> Any:
        arguments = list(ctx.numbers)
        for i, tensor in zip(operator.tensors, ctx.saved_tensors):
            arguments[i] = tensor
        given = [torch.zeros(like[0], dtype=like[1], device=like[2]) if g is None else g for g, like in zip(gradients, ctx.like)]
        found = backward_of(*given, *arguments)
        by_place = dict(zip(operator.tensors, (found,) if len(operator.tensors) == 1 else found))
        return tuple(
            by_place[i] if i in by_place and arguments[i].is_floating_point() and ctx.needs_input_grad[i] else None
            for i in range(len(arguments))
        )

    torch.library.register_autograd(operator.name, backward, setup_context=setup_context, lib=_libraries[operator.name.split("::")[0]])
