#!/usr/bin/env python3
"""Checks that the stages of smelt include one another in one direction only (docs/architecture.md).

Every include of a project header from src/<stage>/ must name the same stage or one below it; include/smelt/ is free to all,
and tools/, bench/ and tests/ may use everything.
"""
import pathlib
import re
import sys

# A stage may use those named here, and all that they may use.
USES = {
    "base": [],
    "ops": ["base"],
    "graph": ["ops"],
    "schedule": ["graph"],
    "plan": ["schedule"],
    "kernel": ["schedule"],
    "emit": ["kernel"],
    "runtime": ["base"],
    "compile": ["plan", "emit", "runtime"],
    "frontends": ["graph"],
    "report": ["compile"],
    "api": ["report", "frontends"],
}
# A printer spells a kernel. It may include only these of the other stages, none of which plans, lowers, proves or verifies:
# kernels and the forms that passes write into them, and how to walk and flatten them. The one in the second row counts
# what a phase does with its locals and scratch, which a pass is to write into the kernel too.
MAY_EMIT = {
    "base/check.hpp", "base/scalar.hpp", "kernel/kernel.hpp", "kernel/lane_forms.hpp", "kernel/offset.hpp",
    "kernel/pipeline.hpp", "kernel/team_forms.hpp", "kernel/text.hpp", "kernel/walk.hpp",
    "kernel/phase_uses.hpp",
}
# What headers of include/smelt/ leave out: each costs a user's file 0.05 to 0.2 s. Callable and Handle stand for what they use
# of the first two. Headers of include/smelt/static/ are another library.
EXPENSIVE = {"memory", "functional", "algorithm", "chrono", "filesystem", "format", "fstream", "future", "iomanip", "iostream",
             "istream", "iterator", "map", "mutex", "numeric", "ostream", "random", "ranges", "regex", "set", "sstream", "thread",
             "unordered_map", "unordered_set", "variant"}
SYSTEM = re.compile(r'^\s*#\s*include\s*<([^>]+)>')
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def closure(stage):
    seen = {stage}
    for used in USES[stage]:
        seen |= closure(used)
    return seen


def expensive(root):
    for path in sorted((root / "include" / "smelt").glob("*.hpp")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = SYSTEM.match(line)
            if match and match.group(1) in EXPENSIVE:
                yield f"{path.relative_to(root)}:{number}: <{match.group(1)}> costs every file of a user: EXPENSIVE says why"


def faults(root):
    yield from expensive(root)
    allowed = {stage: closure(stage) for stage in USES}
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in USES:
            yield f"src/{folder.name}: not a stage that scripts/check_includes.py knows"
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".def") or path.relative_to(root).parts[1] not in USES:
            continue
        stage = path.relative_to(root).parts[1]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match.group(1)
            target = name.split("/")[0]
            where = f"{path.relative_to(root)}:{number}"
            if target == "smelt":
                continue
            if name.startswith("."):
                yield f'{where}: "{name}": name the stage ("{stage}/...") instead of a relative path'
            elif target not in USES:
                # A generated header, or one next to the file: the stage's name in front says which.
                if not (root / "src" / name).exists() and not (path.parent / name).exists():
                    continue
                yield f'{where}: "{name}": write the stage in front ("{stage}/{name}")'
            elif target not in allowed[stage]:
                below = ", ".join(s for s in USES if s in allowed[stage])
                yield f'{where}: {stage} may not include "{name}"; it may use {below}'
            elif stage == "emit" and target != stage and name not in MAY_EMIT:
                yield f'{where}: a printer may not include "{name}": MAY_EMIT in scripts/check_includes.py says what it may'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"includes: {len(found)} in the wrong direction" if found else "includes: all in one direction")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
