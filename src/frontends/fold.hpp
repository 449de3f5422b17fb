// Arithmetic on literals alone, with Python's meaning: 1/2 is 0.5, 2**-1 is 0.5, True + 1 is 2.
#pragma once

#include <optional>
#include <span>

#include "graph/build.hpp"

namespace smelt::lang {

// Nothing when the operation does not take such numbers. Throws UserBuildError for what Python
// refuses too: a division by zero, and results past 64 bits.
std::optional<Literal> fold(Op op, std::span<const Literal> args);

}  // namespace smelt::lang
