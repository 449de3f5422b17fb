"""The LLVM inside of llvmlite, where there is no libLLVM: the text of a module in, object code out."""

from __future__ import annotations

import _thread
import os
TYPE_CHECKING = False  # of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from typing import Any, Optional

from . import _smelt

# Not to be had through llvmlite is early-cse, which libLLVM runs after sroa.
_PASSES = "sroa,instcombine,newgvn,simplifycfg"

_lock = _thread.allocate_lock()
_machines: dict[str, Any] = {}


def path() -> str:
    """The shared library of llvmlite, without importing it; empty when it is not installed."""
    import importlib.util

    found = importlib.util.find_spec("llvmlite")
    if found is None or found.origin is None:
        return ""
    library = os.path.join(os.path.dirname(found.origin), "binding", "libllvmlite.so")
    return library if os.path.exists(library) else ""


def target() -> tuple[int, int, int, str, str, str]:
    import llvmlite.binding as llvm  # type: ignore[import-not-found,unused-ignore]

    major, minor, patch = llvm.llvm_version_info
    return major, minor, patch, llvm.get_default_triple(), llvm.get_host_cpu_name(), _PASSES


def _machine(llvm: Any, cpu: str) -> Any:
    found: Optional[Any] = _machines.get(cpu)
    if found is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = "" if cpu else llvm.get_host_cpu_features().flatten()
        found = _machines[cpu] = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu or llvm.get_host_cpu_name(), features=features, opt=2, reloc="pic", codemodel="small")
    return found


def compile(text: str, cpu: str, assembly: bool) -> bytes:
    import llvmlite.binding as llvm

    with _lock, llvm.create_context() as context:
        machine = _machine(llvm, cpu)
        with llvm.parse_assembly(text, context) as module:
            module.triple = machine.triple
            module.data_layout = str(machine.target_data)
            module.verify()
            _optimise(llvm, machine, module)
            made: bytes = machine.emit_assembly(module).encode() if assembly else machine.emit_object(module)
            return made


def _optimise(llvm: Any, machine: Any, module: Any) -> None:
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_new_gvn_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)


_smelt.set_llvm_compiler("llvmlite", "pip install llvmlite", path, target, compile)
