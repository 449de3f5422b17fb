// The parts of verify(), each over a whole kernel; later ones rely on what earlier ones have checked. All throw InternalError.
#pragma once

#include <fmt/format.h>

#include "base/check.hpp"
#include "kernel/kernel.hpp"

namespace smelt::kernel {

void verify_structure(
    const Kernel& kernel);                // ids in range, loops where they may stand, symbols known where they are used
void verify_types(const Kernel& kernel);  // dtypes of expressions, stores and combines
void verify_locals(const Kernel& kernel);  // assigned before use, one value or one per lane, scratch allocated
void verify_accesses(const Kernel& kernel, Proved& proved);  // every index inside its dimension
void verify_lanes(const Kernel& kernel);                     // the lanes of accesses lie as their forms say
void verify_teams(const Kernel& kernel);                     // what the variants of a phase do with its loops is so
void verify_barriers(const Kernel& kernel);                  // of a kernel with barriers: where threads meet in scratch

template <class... Args>
[[noreturn]] void fail(const Kernel& kernel, fmt::format_string<Args...> format, Args&&... args) {
  throw InternalError(fmt::format("kernel {}: {}", kernel.name, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace smelt::kernel
