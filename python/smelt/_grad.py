"""Gradients of functions, and of values."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence, Union

from . import _smelt, _tree
from ._array import Array
from ._jit import Jit, _is_leaf
from ._smelt import UserError


def value_and_grad(function: Callable[..., Any], argnums: Union[int, Sequence[int]] = 0) -> Jit[Any]:
    """The value of a function that returns one float, with its gradient by an argument, or by several."""
    inner = function.function if isinstance(function, Jit) else function
    several = not isinstance(argnums, int)
    chosen = tuple(argnums) if not isinstance(argnums, int) else (argnums,)

    def differentiated(*args: Any) -> Any:
        for number in chosen:
            if not -len(args) <= number < len(args):
                raise UserError(f"grad: no argument {number}\nhelp: {getattr(inner, '__name__', 'the function')}() has {len(args)}")
        by_number = {number % len(args) for number in chosen}
        leaves: list[Any] = []
        structures = []
        by: list[bool] = []
        for number, arg in enumerate(args):
            flat, structure = _tree.flatten(arg, _is_leaf)
            leaves += flat
            structures.append(structure)
            by += [number in by_number] * len(flat)

        def on_leaves(arrays: list[Array]) -> list[Array]:
            given = iter(arrays)
            result = inner(*[_tree.unflatten(structure, given) for structure in structures])
            if not isinstance(result, Array):
                raise UserError(
                    f"grad: the function returns {type(result).__qualname__}, not one float\nhelp: smelt.sum() or smelt.mean() "
                    "makes one number of an array"
                )
            return [result]

        value, gradients = _smelt.differentiate(on_leaves, [_smelt.to_array(leaf) for leaf in leaves], by)
        found = iter(gradients)
        per_argument = {n: _tree.unflatten(structures[n], found) for n in sorted(by_number)}
        made = tuple(per_argument[number % len(args)] for number in chosen)
        return value, made if several else made[0]

    differentiated.__name__ = f"value_and_grad({getattr(inner, '__name__', 'function')})"
    return Jit(differentiated)


def grad(function: Callable[..., Any], argnums: Union[int, Sequence[int]] = 0) -> Jit[Any]:
    """The gradient of a function that returns one float, by an argument, or by several: a function of the same arguments."""
    both = value_and_grad(function, argnums).function

    def gradient(*args: Any) -> Any:
        return both(*args)[1]

    gradient.__name__ = f"grad({getattr(function, '__name__', 'function')})"
    return Jit(gradient)
