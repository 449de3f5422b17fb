"""Functions of smelt inside of JAX's programs: smelt.jax.call(f) under jax.jit, jax.grad and jax.vmap."""

from __future__ import annotations

import functools
from typing import Any, Callable, Hashable, Optional, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from . import _smelt, _tree
from ._array import Array
from ._jit import Jit, _is_leaf
from ._smelt import UserError

_TARGET = "smelt_call"
_registered = False


def _register_target() -> None:
    global _registered
    if not _registered:
        jax.ffi.register_ffi_target(_TARGET, _smelt.ffi_handler(False), platform="cpu")
        jax.ffi.register_ffi_target(_TARGET, _smelt.ffi_handler(True), platform="CUDA")
        _registered = True


class _Program:
    """A function of arrays in one structure of arguments: an operation of JAX, whose gradient is another one."""

    def __init__(self, function: Callable[[list[Array]], list[Array]], name: str, count: int) -> None:
        _register_target()
        self.function, self.name, self.count = function, name, count
        names = [f"x{i}" for i in range(count)]
        self.number = _smelt.ffi_register(_smelt.make_function(function, name, names, count, 0, False, []))
        self.operation = jax.custom_vjp(self.call)
        self.operation.defvjp(lambda *leaves: (self.operation(*leaves), leaves), self.backward)
        self._gradient: Optional[_Program] = None

    def call(self, *leaves: Any) -> tuple[Any, ...]:
        stand_ins = [_smelt.stand_in(list(x.shape), x.dtype.name) for x in leaves]
        types = [jax.ShapeDtypeStruct(tuple(int(n) for n in a.shape), jnp.dtype(a.dtype.name)) for a in self.function(stand_ins)]
        made = jax.ffi.ffi_call(_TARGET, types, vmap_method="sequential")(*leaves, function=np.int64(self.number))
        return tuple(made)

    def backward(self, leaves: Any, gradients: Any) -> tuple[Any, ...]:
        by = [jnp.issubdtype(x.dtype, jnp.floating) for x in leaves]
        if self._gradient is None:
            self._gradient = _Program(functools.partial(self.differentiated, by), f"{self.name}_backward", len(gradients) + len(leaves))
        # The gradient of a result that is no float has JAX's dtype float0, which has no elements to pass.
        given = [jnp.zeros(g.shape, "float32") if g.dtype == jax.dtypes.float0 else g for g in gradients]
        found = iter(self._gradient.operation(*given, *leaves))
        return tuple(next(found) if float_ else np.zeros(x.shape, jax.dtypes.float0) for x, float_ in zip(leaves, by))

    def differentiated(self, by: list[bool], arrays: list[Array]) -> list[Array]:
        results = len(arrays) - self.count
        gradients, leaves = arrays[:results], arrays[results:]

        def loss(given: list[Array]) -> list[Array]:
            total: Any = None
            for gradient, made in zip(gradients, self.function(given)):
                if made.dtype.kind == "float":
                    # Halves summed in float32: the sum itself is not a result.
                    wide = _smelt.float32 if made.dtype.itemsize < 4 else made.dtype
                    part = _smelt.call("sum", _cast(made, wide) * _cast(gradient, wide))
                    total = part if total is None else total + _cast(part, total.dtype)
            return [total if total is not None else _smelt.call("full", (), 0.0)]

        _, found = _smelt.differentiate(loss, leaves, by)
        made = iter(found)
        return [_cast(next(made), x.dtype) for x, float_ in zip(leaves, by) if float_]


def _cast(x: Array, dtype: Any) -> Array:
    return x if x.dtype == dtype else _smelt.call("astype", x, dtype)


def call(function: Any) -> Callable[..., Any]:
    """Makes a function of JAX's arrays of a function of smelt's, or of what smelt.jit made of one.

    It runs as one operation of XLA (jax.ffi), alone or under jax.jit; jax.grad differentiates it by smelt, jax.vmap calls it for one
    element after the other. Arguments and results are containers of arrays; numbers take the dtype of the first float array.
    """
    if isinstance(function, Jit) and function._static:
        raise UserError(f"smelt.jax.call: {function.__name__}() has static arguments\nhelp: functools.partial gives them")
    inner = function.function if isinstance(function, Jit) else function
    programs: dict[Hashable, tuple[_Program, list[Hashable]]] = {}

    @functools.wraps(inner)
    def called(*args: Any) -> Any:
        leaves, structure = _tree.flatten(args, lambda x: _is_leaf(x) or isinstance(x, jax.Array))
        if structure not in programs:
            programs[structure] = _program_of(inner, structure, len(leaves))
        program, result = programs[structure]
        made = program.operation(*_arrays(leaves))
        return _tree.unflatten(result[0], iter(made))

    return called


def _program_of(inner: Callable[..., Any], structure: Hashable, count: int) -> tuple[_Program, list[Hashable]]:
    result: list[Hashable] = []  # the structure of results, known once it was traced

    def on_leaves(arrays: list[Array]) -> list[Array]:
        made, found = _tree.flatten(inner(*_tree.unflatten(structure, iter(arrays))), _is_leaf)
        result[:] = [found]
        arrays = [x if isinstance(x, Array) else _smelt.call("full", (), x) for x in made]
        # JAX has 64 bits where jax_enable_x64 says so, and else no array of them.
        return [_cast(x, _smelt.dtype(jax.dtypes.canonicalize_dtype(x.dtype.name).name)) for x in arrays]

    return _Program(on_leaves, getattr(inner, "__name__", "function"), count), result


def _arrays(leaves: Sequence[Any]) -> list[Any]:
    floats = [x.dtype for x in leaves if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating)]

    def array(x: Any) -> Any:
        number = isinstance(x, (int, float)) and not isinstance(x, bool)
        return jnp.asarray(x, floats[0] if number and floats else None)

    return [array(x) for x in leaves]
