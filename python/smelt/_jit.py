"""smelt.jit: functions of arrays that are traced once, compiled, and called on arrays of any library."""

from __future__ import annotations

import sys
from _thread import allocate_lock
from _weakref import ref
TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Callable, Generic, Hashable, Iterator, Optional, Sequence, TypeVar, Union, overload

from . import _smelt, _tree
from ._array import Array
from ._smelt import Explanation, UserError

if TYPE_CHECKING:
    R = TypeVar("R")

    class _Dispatcher(_smelt.Dispatcher, Generic[R]): ...
else:
    R = None

    class _Dispatcher(_smelt.Dispatcher):
        def __class_getitem__(cls, item):
            return cls

    def overload(function):
        return function


_MOST_RETRACES = 8
_MOST_THREADS = 4096  # what the library takes
_SMELT, _NUMPY, _OTHER = 0, 1, 2  # kinds of results
_SLOW, _ONE, _TUPLE = 0, 1, 2  # how calls without a line of Python return


def _whole(what: str, value: Any) -> int:
    if not hasattr(value, "__index__"):
        raise UserError(f"{what} is an integer, not {value!r}")
    return int(value.__index__())


class Spec:
    """The shape and dtype of an argument, where there is no array: `f.lower(smelt.Spec((1024, 256)))`."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Sequence[int], dtype: Any = "float32") -> None:
        self.shape = tuple(_whole("Spec: a size", n) for n in shape)
        self.dtype = _smelt.dtype(dtype)

    def __repr__(self) -> str:
        return f"Spec({self.shape}, {self.dtype})"


def _is_leaf(x: Any) -> bool:
    return isinstance(x, (_smelt.Array, bool, int, float, Spec, _smelt.Size)) or _tree.is_foreign_array(x)


def _is_number(x: Any) -> bool:
    return _tree.is_number(x)


def captured(x: Any) -> str:
    """What to say of an array that a traced function uses, although it is none of its arguments."""
    name = _name_of(x)
    what = x.describe() if isinstance(x, _smelt.Array) else f"{type(x).__module__}.{type(x).__qualname__}{_shape_text(x)}"
    return (
        f"the function uses an array that is none of its arguments: {name + ', ' if name else ''}{what}{_place()}\n"
        f"help: pass {name or 'it'} as an argument, so that a call with other data needs no other program"
    )


def _shape_text(x: Any) -> str:
    return f" of shape {tuple(x.shape)}" if hasattr(x, "shape") else ""


def _user_frames() -> Iterator[Any]:
    package = __file__.rsplit("/", 1)[0] + "/"
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(package):
            yield frame
        frame = frame.f_back


def _place() -> str:
    for frame in _user_frames():
        return f"\n  at {frame.f_code.co_filename}:{frame.f_lineno}"
    return ""


def _name_of(x: Any) -> str:
    for frame in _user_frames():
        for names in (frame.f_locals, frame.f_globals):
            for name, value in names.items():
                if value is x:
                    return str(name)
        return ""
    return ""


class _Entry:
    """The function for one structure of arguments and one set of static values."""

    def __init__(self, owner: Jit[Any], structure: Any, static: dict[str, Any]) -> None:
        names: list[str] = []
        for name, item in structure:
            names += _tree.paths(item, name)
        self.names = names
        self.trees: dict[Hashable, Hashable] = {}  # of results, by the types of the arguments
        self.tree: Any = None  # the one, as long as there is one alone
        self.changed = False
        function, convention = owner.function, owner._convention
        self._owner = ref(owner)
        self._lock = owner._lock
        self.function = _smelt.make_function(
            lambda arrays: self._trace(function, convention, structure, static, arrays),
            owner.__name__, names, len(names), owner._threads, owner._tune, owner._fixed_axes(names),
        )

    def _trace(self, function: Any, convention: Any, structure: Any, static: dict[str, Any], arrays: list[Array]) -> list[Array]:
        leaves = iter(arrays)
        given = {name: _tree.unflatten(item, leaves) for name, item in structure}
        args, kwargs = _arguments(convention, {**given, **static})
        result = function(*args, **kwargs)
        try:
            results, tree = _tree.flatten(result, _is_leaf)
        except TypeError as e:
            raise UserError(f"the function returns what is no array: {e}\nhelp: return arrays, or containers of them") from None
        if not results:
            raise UserError("the function returns no array\nhelp: return at least one")
        with self._lock:
            self.trees[tuple((a.dtype, a.ndim) for a in arrays)] = tree
            self.tree = tree if len(set(self.trees.values())) == 1 else None
            self.changed = True
            owner = self._owner()
            if owner is not None:
                owner._use(None, 0, _SLOW)  # until the call is over and has seen what changed
        for leaf in results:
            if _tree.is_foreign_array(leaf) and not isinstance(leaf, _smelt.Array):
                raise UserError(captured(leaf))
        return [_smelt.call("full", (), leaf) if _is_number(leaf) else leaf for leaf in results]

    def tree_of(self, leaves: list[Any]) -> Any:
        tree = self.tree  # once: another thread may trace the function for other types
        if tree is not None:
            return tree
        arrays = [_smelt.to_array(leaf) for leaf in leaves]
        return self.trees[tuple((a.dtype, a.ndim) for a in arrays)]


def _arguments(convention: Any, given: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, kind in convention:
        if name not in given:
            continue
        if kind == "VAR_POSITIONAL":
            args.extend(given[name])
        elif kind == "VAR_KEYWORD":
            kwargs.update(given[name])
        elif kind == "KEYWORD_ONLY":
            kwargs[name] = given[name]
        else:
            args.append(given[name])
    return args, kwargs


class Lowered:
    """A function compiled for arguments of these types, without a call."""

    def __init__(self, entry: _Entry, leaves: list[Any]) -> None:
        self._entry, self._leaves = entry, leaves
        self._explanation = entry.function.explain(leaves)

    def explain(self) -> Explanation:
        """What became one kernel, what did not, and why."""
        return self._explanation

    def source(self, target: str = "cpp", name: str = "smelt_program") -> str:
        """A source file with this program, which needs no smelt."""
        return self._entry.function.source(target, self._leaves, name)

    @property
    def kernels(self) -> int:
        """Launches of one call."""
        return self._explanation.kernels


class Jit(_Dispatcher[R]):
    """What smelt.jit makes of a function: called like it."""

    def __init__(self, function: Callable[..., R], static: Sequence[str] = (), fixed: Any = None, tune: bool = False,
                 threads: int = 0) -> None:
        if not callable(function):
            raise TypeError(f"jit: {type(function).__qualname__} is no function\nhelp: as in @smelt.jit, or smelt.jit(lambda x: x * 2)")
        self.function = function
        self.__name__: str = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        import inspect  # slow to import, and not needed by those who compile nothing

        try:
            self.signature = inspect.signature(function)
        except ValueError:
            raise UserError(
                f"jit: Python does not know the parameters of {self.__name__}()\nhelp: name them: lambda x: {self.__name__}(x)"
            ) from None
        parameters = self.signature.parameters
        self._convention = [(p.name, p.kind.name) for p in parameters.values()]
        self._static = (static,) if isinstance(static, str) else tuple(static)
        self._fixed, self._tune, self._threads = dict(fixed or {}), bool(tune), _whole("threads", threads)
        if not 0 <= self._threads <= _MOST_THREADS:
            raise UserError(f"threads: {threads} is not a whole number from 0 to {_MOST_THREADS}")
        for name in (*self._static, *self._fixed):
            if name not in parameters:
                raise UserError(f"jit: {self.__name__}() has no parameter {name!r}\nhelp: it has {', '.join(parameters)}")
        if "out" in parameters:
            raise UserError(f"jit: the parameter 'out' of {self.__name__}() has another meaning: where results go\nhelp: rename it")
        self._lock = allocate_lock()  # of what it knows of its results
        self._entries: dict[Any, _Entry] = {}
        self._plain: Optional[_Entry] = None  # the one of calls that take the short path
        self._warned = False
        self._token: Optional[str] = None  # of its pickled copies

    # ---- calls

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        import functools

        return functools.partial(self, instance)

    def _flatten(self, args: Any, kwargs: Any) -> tuple[list[Any], Any, dict[str, Any]]:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as e:
            raise TypeError(f"{self.__name__}(): {e}") from None
        bound.apply_defaults()
        leaves: list[Any] = []
        structure = []
        static = {}
        for name, value in bound.arguments.items():
            if name in self._static:
                static[name] = value
                continue
            try:
                flat, tree = _tree.flatten(value, _is_leaf)
            except TypeError as e:
                raise UserError(
                    f"{self.__name__}(): argument {name}: {e}\nhelp: name it in static=, as in @smelt.jit(static=({name!r},)), "
                    "when its value chooses the program"
                ) from None
            leaves += flat
            structure.append((name, tree))
        return leaves, tuple(structure), static

    def _entry(self, structure: Any, static: dict[str, Any]) -> _Entry:
        key = (structure, tuple(static.items()))
        try:
            entry = self._entries.get(key)
        except TypeError:
            for name, value in static.items():
                try:
                    hash(value)
                except TypeError:
                    raise UserError(
                        f"{self.__name__}(): the static argument {name} is not hashable: {type(value).__qualname__}\n"
                        "help: a tuple in place of a list, a frozen dataclass in place of a dict"
                    ) from None
            raise
        if entry is None:
            entry = self._entries.setdefault(key, _Entry(self, structure, static))
            self._warn(lambda: self._reason_for_key(key))
        return entry

    def _slow(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if _smelt.tracing():
            if out is not None:
                raise UserError(f"{self.__name__}(): out= cannot be given inside of a function that is being traced")
            return self.function(*args, **kwargs)
        leaves, structure, static = self._flatten(args, kwargs)
        first = next((leaf for leaf in leaves if not _is_number(leaf)), None)
        if _disabled:
            return self._interpreted(leaves, structure, static, first, out)
        entry = self._entry(structure, static)
        kind = self._kind(first)
        outputs = None
        if out is not None:
            outputs, tree = _tree.flatten(out, _is_leaf)
            if _tree.has_keys(tree):  # whose order may be another
                if not entry.trees:
                    entry.function.explain(leaves)
                outputs = self._matched(out, entry.tree_of(leaves))
        results = entry.function.run(leaves, outputs, kind)
        if entry.changed:
            self._traced(entry, structure, static)
        if out is not None:
            return out
        if kind == _OTHER:
            convert = _converter(first)
            results = [convert(result) for result in results]
        return _tree.unflatten(entry.tree_of(leaves), iter(results))

    def _matched(self, out: Any, tree: Any) -> list[Any]:
        try:
            return _tree.matched(out, tree, "out")
        except ValueError as e:
            raise UserError(f"{self.__name__}(): {e}\nhelp: out= has the containers that the function returns") from None

    def _assemble(self, results: list[Any], leaves: list[Any]) -> Any:
        # A call on the short path that had to trace.
        entry = self._plain
        assert entry is not None
        tree = entry.tree_of(leaves)
        structure, static = next(key for key, value in list(self._entries.items()) if value is entry)
        self._traced(entry, structure, dict(static))
        return _tree.unflatten(tree, iter(results))

    def _traced(self, entry: _Entry, structure: Any, static: dict[str, Any]) -> None:
        plain = not static and all(tree == _tree.LEAF for _, tree in structure)
        plain = plain and all(
            kind in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD") for _, kind in self._convention
        )
        with self._lock:
            entry.changed = False
            if plain and len(structure) == len(self._convention):
                shape = _SLOW
                if entry.tree == _tree.LEAF:
                    shape = _ONE
                elif isinstance(entry.tree, tuple) and entry.tree[0] is tuple and all(t == _tree.LEAF for t in entry.tree[1]):
                    shape = _TUPLE
                self._plain = entry
                self._use(entry.function, len(structure), shape)
        self._warn(lambda: entry.function.specializations()[-1]["reason"])

    def _kind(self, first: Any) -> int:
        if first is None or isinstance(first, (_smelt.Array, Spec)):
            return _SMELT
        numpy = sys.modules.get("numpy")
        return _NUMPY if numpy is not None and isinstance(first, (numpy.ndarray, numpy.generic)) else _OTHER

    def _interpreted(self, leaves: list[Any], structure: Any, static: dict[str, Any], first: Any, out: Any) -> Any:
        arrays = iter([leaf if _is_number(leaf) else _smelt.to_array(leaf) for leaf in leaves])
        given = {name: _tree.unflatten(item, arrays) for name, item in structure}
        args, kwargs = _arguments(self._convention, {**given, **static})
        results, tree = _tree.flatten(self.function(*args, **kwargs), _is_leaf)
        made = [_smelt.to_array(result) for result in results]
        made = [_smelt.call("full", (), r) if _is_number(r) else m for r, m in zip(results, made)]
        _smelt.eval(made)
        if out is not None:
            targets = self._matched(out, tree)
            for target, value in zip(targets, made):
                target[...] = value.numpy()
            return out
        kind = self._kind(first)
        if kind != _SMELT:
            convert = _converter(first)
            return _tree.unflatten(tree, iter([convert(m) for m in made]))
        return _tree.unflatten(tree, iter(made))

    # ---- retraces

    def _warn(self, reason: Callable[[], str]) -> None:
        if self._warned or self.compile_count() + len(self._entries) - 1 <= _MOST_RETRACES + 1:
            return
        self._warned = True
        import warnings

        warnings.warn(
            f"{self.__name__}() was traced {self.compile_count()} times: {reason()}\n"
            "help: pass what changes as an array or a number, with the same dtype and number of axes",
            RuntimeWarning, stacklevel=4,
        )

    def _reason_for_key(self, key: Any) -> str:
        keys = [known for known in list(self._entries) if known != key]
        if not keys:
            return "the first call"
        structure, static = keys[-1]
        for (name, now), (_, before) in zip(key[1], static):
            if now != before:
                return f"the static argument {name} is {now!r}, not {before!r}"
        for (name, now), (_, before) in zip(key[0], structure):
            if now != before:
                return f"argument {name} has another structure"
        return "the arguments have another structure"

    def compile_count(self) -> int:
        """How often it was traced and compiled."""
        return sum(entry.function.compile_count for entry in list(self._entries.values()))

    def specializations(self) -> list[dict[str, Any]]:
        """What was compiled, for which types, and why."""
        return [row for entry in list(self._entries.values()) for row in entry.function.specializations()]

    # ---- what it says

    def _fixed_axes(self, names: list[str]) -> list[tuple[int, int]]:
        pins = []
        for name, axes in self._fixed.items():
            for axis in axes if isinstance(axes, (tuple, list, set)) else (axes,):
                axis = _whole("fixed: an axis", axis)
                pins += [(i, axis) for i, known in enumerate(names) if known == name or known.startswith((name + "[", name + "."))]
        return pins

    def lower(self, *specs: Any, **named: Any) -> Lowered:
        """Compiles it for arguments of these types (Spec, or arrays) without a call."""
        leaves, structure, static = self._flatten(specs, named)
        entry = self._entry(structure, static)
        leaves = [_smelt.stand_in(list(leaf.shape), leaf.dtype) if isinstance(leaf, Spec) else leaf for leaf in leaves]
        lowered = Lowered(entry, leaves)
        if entry.changed:
            self._traced(entry, structure, static)
        return lowered

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What a call with these arguments does, and why; without arguments, what the latest call did."""
        if args or kwargs or not self._convention:
            return self.lower(*args, **kwargs).explain()
        if not self._entries:
            raise UserError("explain(): nothing is compiled yet\nhelp: call the function first, or explain(arguments)")
        return list(self._entries.values())[-1].function.explain_last()

    def source(self, *args: Any, target: str = "cpp", name: str = "smelt_program", **kwargs: Any) -> str:
        """A source file with the program of a call with these arguments, which needs no smelt."""
        return self.lower(*args, **kwargs).source(target, name)

    def expect_kernels(self, count: int) -> None:
        """Raises UserError, with every decision against fusion and its reason, unless each program has so many kernels."""
        if not self._entries:
            raise UserError(f"expect_kernels({count}): nothing is compiled yet\nhelp: call the function first")
        for entry in list(self._entries.values()):
            entry.function.expect_kernels(count)

    def save(self, path: Any, targets: Sequence[str] = ()) -> None:
        """Writes its programs, with their code, to a file that smelt.load() reads where no compiler is."""
        if not self._entries:
            raise UserError("save(): nothing is compiled yet\nhelp: call the function first")
        if len(self._entries) != 1:
            raise UserError(
                f"save(): {self.__name__}() has {len(self._entries)} programs for different static values or structures, and a "
                "file has one\nhelp: call it with one of them before save()"
            )
        entry = next(iter(self._entries.values()))
        tree: Any = entry.tree
        if tree == _tree.LEAF:
            results = 1
        elif isinstance(tree, tuple) and tree[0] in (tuple, list) and all(t == _tree.LEAF for t in tree[-1]):
            results = len(tree[-1])
        else:
            raise UserError("save(): the function returns a container that a file does not keep\nhelp: return an array, or a tuple of arrays")
        entry.function.save(str(path), list(targets), entry.names, results)

    def __repr__(self) -> str:
        return f"<smelt.jit of {self.__qualname__}, {self.compile_count()} compiled>"

    def __reduce__(self) -> Any:
        # By name, as functions of Python, where the name is this one's; a process that is started by this one has another __main__.
        if self.__module__ != "__main__" and _find(self.__module__, self.__qualname__) is self:
            return _find, (self.__module__, self.__qualname__)
        if self._token is None:
            import uuid

            self._token = uuid.uuid4().hex
        return _received, (self._token, self.function, self._static, self._fixed, self._tune, self._threads)


_MOST_RECEIVED = 256
_received_by_token: dict[str, Jit[Any]] = {}  # the latest ones
_received_lock = allocate_lock()


def _received(token: str, *arguments: Any) -> Jit[Any]:
    """The function that was pickled; the same for each of its copies, so that it is traced once in each process."""
    with _received_lock:
        found = _received_by_token.pop(token, None) or Jit(*arguments)
        found._token = token
        _received_by_token[token] = found
        if len(_received_by_token) > _MOST_RECEIVED:
            _received_by_token.pop(next(iter(_received_by_token)), None)
        return found


def _find(module: str, name: str) -> Any:
    import importlib

    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found


class Loaded(_smelt.Dispatcher):
    """A function from a file."""

    def __init__(self, path: str) -> None:
        self._function, self.parameters = _smelt.load_function(path)
        shape = _ONE if self._function.results == 1 else _TUPLE
        self._use(self._function, len(self.parameters), shape)

    def _slow(self, *args: Any, out: Any = None) -> Any:
        if len(args) != len(self.parameters):
            count = len(self.parameters)
            takes = f"{count} argument{'' if count == 1 else 's'} ({', '.join(self.parameters)})"
            raise TypeError(f"the function takes {takes}, not {len(args)}")
        first = next((leaf for leaf in args if not _is_number(leaf)), None)
        kind = Jit._kind(self, first)  # type: ignore[arg-type]
        outputs = None if out is None else list(out) if isinstance(out, (tuple, list)) else [out]
        results = self._function.run(list(args), outputs, kind)
        if out is not None:
            return out
        if kind == _OTHER:
            convert = _converter(first)
            results = [convert(result) for result in results]
        return results[0] if self._function.results == 1 else tuple(results)

    def explain(self) -> Explanation:
        """What the latest call did."""
        return self._function.explain_last()


def load(path: Any) -> Any:
    """The function that `save` wrote. The file has machine code: load what you would run."""
    return Loaded(str(path))


def _converter(first: Any) -> Callable[[Any], Any]:
    """From an array of smelt to one of the library that `first` is from."""
    root = type(first).__module__.split(".")[0]
    if root in ("jaxlib", "jax"):
        import jax.numpy  # type: ignore[import-not-found,unused-ignore]

        return jax.numpy.from_dlpack  # type: ignore[no-any-return,unused-ignore]
    library: Any = sys.modules.get(root)
    if hasattr(library, "from_dlpack"):
        return library.from_dlpack  # type: ignore[no-any-return]
    if hasattr(first, "__array_namespace__"):
        return first.__array_namespace__().from_dlpack  # type: ignore[no-any-return]
    return lambda x: x


@overload
def jit(function: Callable[..., R]) -> Jit[R]: ...
@overload
def jit(*, static: Union[str, Sequence[str]] = (), fixed: Any = None, tune: bool = False,
        threads: int = 0) -> Callable[[Callable[..., R]], Jit[R]]: ...
def jit(function: Any = None, *, static: Any = (), fixed: Any = None, tune: bool = False, threads: int = 0) -> Any:
    """Compiles a function of arrays into few kernels.

    The function runs once for each combination of dtypes and numbers of axes, with arrays that have no data; what it does with
    them is compiled. Calls take arrays of NumPy, PyTorch, CuPy, JAX or smelt, and give arrays of the same kind; `out=` takes
    the memory of the results. Numbers are arguments: another value needs no other program.

    static: names of parameters whose values, hashable, are part of the program.
    fixed: axes whose sizes are built in, {"x": 0}; else first axes stay open.
    tune: the first call times other schedules.
    threads: the most that a call uses; 0: all.
    """
    if function is None:
        return lambda f: Jit(f, static, fixed, tune, threads)
    return Jit(function, static, fixed, tune, threads)


_disabled = False


class disable_jit:
    """While it lasts, functions under jit run as they are written, operation by operation, so that print and debuggers see values."""

    def __enter__(self) -> None:
        global _disabled
        self._before, _disabled = _disabled, True
        _smelt.set_disabled(True)

    def __exit__(self, *raised: Any) -> None:
        global _disabled
        _disabled = self._before
        _smelt.set_disabled(self._before)
