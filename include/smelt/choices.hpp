/// \file
/// What some functions are told by a name.
#pragma once

#include <cstdint>

#include "smelt/precision.hpp"

namespace smelt {

/// How gelu() is calculated.
enum class Approximate : uint8_t { None, Tanh };
/// How a loss becomes one number, or stays one for each element.
enum class Reduction : uint8_t { Mean, Sum, None };
/// What take() and scatter() make of an index that is out of range; Drop: nothing is written
/// (scatters only).
enum class OutOfRange : uint8_t { Raise, Clip, Wrap, Drop };
/// What stands outside of an array, as numpy.pad has it: a value; the outermost element; the array
/// mirrored without and with that element; the array again.
enum class PadMode : uint8_t { Constant, Edge, Reflect, Symmetric, Wrap };

}  // namespace smelt
