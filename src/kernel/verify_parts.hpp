// The parts of verify(), each over a whole kernel; later ones rely on what earlier ones have
// checked. All throw InternalError.
#pragma once

#include <fmt/format.h>

#include <map>

#include "base/check.hpp"
#include "kernel/kernel.hpp"

namespace smelt::kernel {

void verify_structure(
    const Kernel& kernel);                 // ids in range, loops where they may be, symbols known where they are used
void verify_types(const Kernel& kernel);   // dtypes of expressions, stores and combines
void verify_locals(const Kernel& kernel);  // assigned before use, one value or one per lane, scratch allocated
void verify_accesses(const Kernel& kernel, Proved& proved);  // every index inside its dimension
void verify_lanes(const Kernel& kernel);                     // the lanes of accesses lie as their forms say
void verify_indices(const Kernel& kernel);                   // their indices and random words too
void verify_teams(const Kernel& kernel);                     // what the variants of a phase do with its loops is so
void verify_team_accesses(const Kernel& kernel);             // as is what they load early, hold and access at once
void verify_boxes(const Kernel& kernel);                     // parts of pipelines that come as boxes are those
void verify_naturals(const Kernel& kernel);                  // no numerator is below 0 that must not be
void verify_barriers(const Kernel& kernel);                  // of a kernel with barriers: where threads meet in scratch

// The sizes that the conditions of a variant make multiples of numbers, as such.
using Multiples = std::map<Symbol, IntExpr>;
Multiples multiples_of(const Variant& variant);
// Whether a value is a multiple of n, whatever its symbols are.
bool is_multiple_of(const IntExpr& e, int64_t n);

template <class... Args>
[[noreturn]] void fail(const Kernel& kernel, fmt::format_string<Args...> format, Args&&... args) {
  throw InternalError(fmt::format("kernel {}: {}", kernel.name, fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace smelt::kernel
