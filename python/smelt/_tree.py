"""Nested tuples, lists, dicts, named tuples and dataclasses of arrays, as a list of arrays and what they were in."""

from __future__ import annotations

import sys
TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Callable, Hashable, Iterator

LEAF: Hashable = "*"


def flatten(tree: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Hashable]:
    """The leaves in order, and a hashable structure. Raises TypeError for what is neither a leaf nor a container."""
    leaves: list[Any] = []
    return leaves, _flatten(tree, is_leaf, leaves)


def _is_dataclass(x: Any) -> bool:
    return hasattr(type(x), "__dataclass_fields__")


def _flatten(tree: Any, is_leaf: Callable[[Any], bool], leaves: list[Any]) -> Hashable:
    if is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if tree is None:
        return None
    kind = type(tree)
    if kind in (tuple, list):
        return (kind, tuple(_flatten(item, is_leaf, leaves) for item in tree))
    if isinstance(tree, dict):
        return (kind, tuple(tree), tuple(_flatten(item, is_leaf, leaves) for item in tree.values()))
    if isinstance(tree, tuple):  # a named tuple
        return (kind, tuple(_flatten(item, is_leaf, leaves) for item in tree))
    if _is_dataclass(tree):
        names = tuple(tree.__dataclass_fields__)
        return (kind, names, tuple(_flatten(getattr(tree, name), is_leaf, leaves) for name in names))
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} is no array, number, tuple, list, dict or dataclass")


def has_keys(structure: Any) -> bool:
    """Whether a dict is in it."""
    if structure == LEAF or structure is None:
        return False
    return (len(structure) == 3 and issubclass(structure[0], dict)) or any(has_keys(item) for item in structure[-1])


def matched(tree: Any, structure: Any, name: str) -> list[Any]:
    """The leaves of `tree` in the order of `structure`, dicts by their keys. Raises ValueError where they have other containers."""
    if structure == LEAF:
        return [tree]
    if structure is None:
        return []
    items, names = structure[-1], structure[1] if len(structure) == 3 else None
    if names is None:
        if not isinstance(tree, (tuple, list)) or len(tree) != len(items):
            raise ValueError(f"{name} is no {structure[0].__name__} of {len(items)}")
        return [leaf for i, (part, item) in enumerate(zip(tree, items)) for leaf in matched(part, item, f"{name}[{i}]")]
    by_name = tree if isinstance(tree, dict) else vars(tree) if _is_dataclass(tree) else {}
    if set(by_name) != set(names):
        raise ValueError(f"{name} has {_names(by_name)}, and the result has {_names(names)}")
    return [leaf for key, item in zip(names, items) for leaf in matched(by_name[key], item, f"{name}[{key!r}]")]


def _names(names: Any) -> str:
    return ", ".join(map(repr, names)) or "no names"


def unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    """The way back."""
    if structure == LEAF:
        return next(leaves)
    if structure is None:
        return None
    kind = structure[0]
    items = [unflatten(item, leaves) for item in structure[-1]]
    if len(structure) == 3:
        named = dict(zip(structure[1], items))
        return kind(named) if issubclass(kind, dict) else kind(**named)
    return kind(items) if kind in (tuple, list) else kind(*items)


def paths(structure: Any, name: str) -> Iterator[str]:
    """A name for each leaf: x, x[0], x.weight."""
    if structure == LEAF:
        yield name
    elif structure is not None:
        keys = structure[1] if len(structure) == 3 else range(len(structure[-1]))
        for key, item in zip(keys, structure[-1]):
            part = f"[{key}]" if isinstance(key, int) else f".{key}"
            yield from paths(item, name + part)


def is_foreign_array(x: Any) -> bool:
    """Whether another library's array: NumPy's, or one that has DLPack."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic)):
        return True
    return hasattr(x, "__dlpack__")


def is_number(x: Any) -> bool:
    """Whether a number of Python, which takes the dtype of arrays: not numpy.float64, which is a float too."""
    return isinstance(x, (bool, int, float)) and not is_foreign_array(x)
