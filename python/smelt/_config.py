"""What smelt runs on, and what it says of itself."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, Sequence

from . import _smelt

_logging = False


def show_config() -> None:
    """Prints the version, what compiles, and where compiled kernels are kept."""
    for name, value in config().items():
        print(f"{name:10} {value}")


def config() -> dict[str, str]:
    """What show_config() prints."""
    import os
    import platform
    import sys

    def device(name: str) -> str:
        missing: str = _smelt.missing(name)
        return f"not usable: {missing.strip()}" if missing else "usable"

    def llvm() -> str:
        version, path = _smelt.llvm()
        return f"{version}, {path}" if path else "none"

    cache = os.environ.get("SMELT_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "smelt"
    )
    return {
        "smelt": _smelt.version,
        "python": f"{platform.python_version()} ({sys.implementation.name})",
        "module": _smelt.__file__,
        "llvm": llvm(),
        "cpu": device("cpu"),
        "cuda": device("cuda"),
        "cache": cache,
    }


def fusion_savings(operations: Sequence[Any], dtype_bytes: int = 2) -> Any:
    """Memory traffic of a chain of operations, each its own kernel and fused, as `smelt savings` has it.

    operations: {"name", "input_size", "output_size"} for each, sizes in elements.
    """
    import json

    return json.loads(_smelt.fusion_savings(json.dumps(list(operations)), dtype_bytes))


def on_event(callback: Optional[Callable[..., None]]) -> None:
    """Gives every event (compiled, cache hit, cache stored, loaded, fell back) to callback(kind, program, kernel, device, ms,
    bytes, message); None stops that. Called from any thread."""
    _smelt.on_event(callback)


def log_events(level: Optional[int] = None) -> None:
    """Logs every event to the logger "smelt" of the standard library's logging, at DEBUG or this level."""
    import logging

    logger = logging.getLogger("smelt")
    at = logging.DEBUG if level is None else level

    def log(kind: str, program: str, kernel: str, device: str, ms: float, size: int, message: str) -> None:
        severity = logging.WARNING if kind == "fell back" else at
        logger.log(severity, "%s: %s %s on %s, %.1f ms, %d bytes%s", kind, program, kernel, device, ms, size,
                   f": {message}" if message else "")

    _smelt.on_event(log)
