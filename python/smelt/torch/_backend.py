"""torch.compile(backend="smelt")."""

from __future__ import annotations

import itertools
import logging
from typing import Any, Optional

import torch

from .._smelt import UserError
from ._decompositions import decompositions
from ._graph import Compiled, compile_graph
from ._products import CHOICES

log = logging.getLogger("smelt.torch")
_OPTIONS = {"fallback": ("torch", "error"), "explain": (False, True), "products": CHOICES}
_numbers = itertools.count()
_latest: list[Compiled] = []


def _checked(options: Optional[dict[str, Any]]) -> dict[str, Any]:
    given = {name: allowed[0] for name, allowed in _OPTIONS.items()}
    for name, value in (options or {}).items():
        if name not in _OPTIONS:
            raise UserError(f"torch.compile(backend=\"smelt\") has no option {name!r}\nhelp: it has {', '.join(_OPTIONS)}")
        if value not in _OPTIONS[name]:
            raise UserError(f"option {name} is {value!r}\nhelp: it is one of {', '.join(map(repr, _OPTIONS[name]))}")
        given[name] = value
    return given


_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def _tunes(mode: Optional[str]) -> bool:
    """Whether a mode of torch.compile requests measured schedules. CUDA graphs, which others request, are the caller's."""
    if mode is not None and mode not in _MODES:
        raise UserError(f"torch.compile(backend=\"smelt\") has no mode {mode!r}\nhelp: it is one of {', '.join(_MODES)}")
    if mode in ("reduce-overhead", "max-autotune"):
        log.info("mode=%r: smelt records no CUDA graphs; torch.cuda.graph(...) records calls of the compiled function", mode)
    return mode in ("max-autotune", "max-autotune-no-cudagraphs")


def compiler(options: dict[str, Any], kind: str, tune: bool = False) -> Any:
    """What AOTAutograd calls with a graph of aten operations."""

    products = options["products"]
    if products == "auto" and options["fallback"] == "error":
        products = "smelt"

    def compile_aten(module: Any, inputs: Any) -> Any:
        compiled = compile_graph(module, f"{kind}{next(_numbers)}", tune, products)
        _latest.append(compiled)
        del _latest[:-_KEPT]
        line = str(compiled)
        if compiled.refused and options["fallback"] == "error":
            raise UserError(f"{line}\nhelp: options={{\"fallback\": \"torch\"}} runs these in torch")
        (log.warning if compiled.refused else log.info)("%s", line)
        if options["explain"]:
            print(line)
            for explanation in compiled.explanations:
                print(explanation)
        return compiled.call

    return compile_aten


_KEPT = 64


def reports() -> list[Compiled]:
    """What became of the latest graphs, the oldest first: operations, kernels, what torch runs and why."""
    return list(_latest)


def backend(module: Any, inputs: Any, *, mode: Optional[str] = None, options: Optional[dict[str, Any]] = None) -> Any:
    """What torch.compile calls: the function of a graph that Dynamo traced."""
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    given, tune = _checked(options), _tunes(mode)
    return aot_autograd(
        fw_compiler=compiler(given, "forward", tune), bw_compiler=compiler(given, "backward", tune),
        inference_compiler=compiler(given, "inference", tune),
        partition_fn=min_cut_rematerialization_partition, decompositions=decompositions(), keep_inference_input_mutations=True,
    )(module, inputs)


def reset() -> None:
    """Forgets what was compiled, when torch.compiler.reset() does."""
    _latest.clear()


backend.reset = reset  # type: ignore[attr-defined]
