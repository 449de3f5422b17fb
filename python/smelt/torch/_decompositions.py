"""Which of torch's decompositions take part: those of all that smelt lacks, with exceptions."""

from __future__ import annotations

from typing import Any

import torch

from ._aten import VIEWS, find

# Better as they are: products, what torch has a kernel of its own for, and random numbers, which are to be those of torch.
_KEPT = (
    "aten._scaled_dot_product", "aten.bernoulli", "aten.uniform", "aten.normal", "aten.rand", "aten.exponential", "aten.geometric",
    "aten.cauchy", "aten.log_normal", "aten.lstm", "aten.gru", "aten.rnn", "aten.fft_", "aten.item", "aten.sym_", "aten.is_",
    "aten.mv", "aten.mm", "aten.bmm", "aten.baddbmm", "aten.resize", "aten.view_as",
    # Their decompositions write to arrays or need a number of the data.
    "aten.diagonal_scatter", "aten.as_strided_scatter", "aten.complex", "aten.polar", "aten.bucketize",
)

_made: dict[Any, Any] = {}


def decompositions() -> dict[Any, Any]:
    """Of each operation how torch writes it with others."""
    if not _made:
        from torch._decomp import decomposition_table

        for operation, function in decomposition_table.items():
            name = str(operation)
            if not isinstance(operation, torch._ops.OpOverload) or name.startswith(_KEPT) or name in VIEWS:
                continue
            if find(operation) is None or name.startswith("aten.special_"):
                _made[operation] = function
    return _made
