/// \file
/// How exactly the factors of a product are multiplied.
#pragma once

#include <cstdint>

namespace smelt {

/// Of f32 factors, on devices that multiply faster where less is asked for. Full: every product is
/// rounded once, as f32 is. Tf32: it may be off by 2^-10 of itself, as factors of 11 bits make it.
/// Bf16x3: by 2^-14, as three products of bf16 make it. Sums are of f32 in any case. A device may
/// always be more exact; CPUs are.
enum class Precision : uint8_t { Full, Tf32, Bf16x3 };

}  // namespace smelt
