/// \file
/// How exactly the factors of a product are multiplied.
#pragma once

#include <cstdint>

namespace smelt {

/// For f32 factors, on devices that multiply faster with less precision. Full: every product is
/// rounded once, to f32. Tf32: the relative error of a product may be 2^-10, as with factors of 11
/// bits. Bf16x3: 2^-14, as with three products of bf16. Sums are in f32 in any case. A device may
/// always be more exact; CPUs are.
enum class Precision : uint8_t { Full, Tf32, Bf16x3 };

}  // namespace smelt
