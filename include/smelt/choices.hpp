/// \file
/// Named options of functions.
#pragma once

#include <cstdint>

#include "smelt/precision.hpp"

namespace smelt {

/// How gelu() is calculated.
enum class Approximate : uint8_t { None, Tanh };
/// How a loss is reduced to one number, or not reduced.
enum class Reduction : uint8_t { Mean, Sum, None };
/// How take() and scatter() treat an index that is out of range; Drop: nothing is written (scatters
/// only).
enum class OutOfRange : uint8_t { Raise, Clip, Wrap, Drop };
/// The values outside of an array, as in numpy.pad: a constant; the outermost element; the array
/// mirrored without and with that element; the array repeated.
enum class PadMode : uint8_t { Constant, Edge, Reflect, Symmetric, Wrap };

}  // namespace smelt
