"""smelt in PyTorch: torch.compile(model, backend="smelt"), and operators made of programs."""

from ._backend import backend, reports, reset

__all__ = ["backend", "reports", "reset"]
