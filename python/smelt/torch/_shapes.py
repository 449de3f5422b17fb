"""Sizes of results as expressions of the sizes of arguments, from a function that knows numbers alone."""

from __future__ import annotations

from typing import Any, Callable

import torch

# Large primes for the symbols of a call: a size of a result that is a product of some of them and of a number is that of the symbols.
_PRIMES = ((10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079), (20011, 20021, 20023, 20029, 20047, 20051, 20063, 20071))

ShapesOf = Callable[[list[list[int]]], list[tuple[list[int], Any]]]


def symbolic_shapes(shapes_of: ShapesOf, sizes: list[list[Any]]) -> list[tuple[list[Any], Any]]:
    """Shapes and dtypes of results. Where sizes follow in other ways than as products, they are those of the call, which guards them."""
    symbols: dict[str, Any] = {}
    for dims in sizes:
        for n in dims:
            if isinstance(n, torch.SymInt):
                symbols.setdefault(str(n.node.expr), n)
    if symbols and len(symbols) <= len(_PRIMES[0]):
        found = [_solved(shapes_of, sizes, symbols, primes) for primes in _PRIMES]
        if found[0] is not None and found[1] is not None and found[0] == found[1]:
            return [([_product(n, symbols) for n in dims], dtype) for dims, dtype in found[0]]
    return list(shapes_of([[int(n) for n in dims] for dims in sizes]))


def _solved(shapes_of: ShapesOf, sizes: list[list[Any]], symbols: dict[str, Any], primes: tuple[int, ...]) -> Any:
    of = dict(zip(symbols, primes))
    try:
        found = shapes_of([[of[str(n.node.expr)] if isinstance(n, torch.SymInt) else n for n in dims] for dims in sizes])
    except Exception:
        return None  # sizes that must fit another: then with those of the call
    return [([_factors(n, of) for n in dims], dtype) for dims, dtype in found]


def _factors(n: int, of: dict[str, int]) -> tuple[int, tuple[str, ...]]:
    names: list[str] = []
    for name, prime in of.items():
        while n and n % prime == 0:
            n //= prime
            names.append(name)
    return n, tuple(names)


def _product(size: tuple[int, tuple[str, ...]], symbols: dict[str, Any]) -> Any:
    made: Any = size[0]
    for name in size[1]:
        made = symbols[name] * made if isinstance(made, int) and made == 1 else made * symbols[name]
    return made
