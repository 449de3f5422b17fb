"""smelt in PyTorch: torch.compile(model, backend="smelt"), and operators made of programs."""

from typing import Any

from ._backend import backend, reports, reset
from ._register import register

__all__ = ["backend", "ops", "register", "reports", "reset"]


def __getattr__(name: str) -> Any:
    if name == "ops":  # its operators are defined when somebody looks
        import importlib

        return importlib.import_module(".ops", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
