// Which f32 constants can be divided by in a few multiplications, with the result of the division,
// bit for bit, for every dividend.
#pragma once

#include <optional>

namespace smelt::emit {

// The rounded 1 / c for a positive c where
//
//   q = x * r                      off by one unit of its last place at most, or a little more
//   e = q * c - x                  exact, in one fma
//   x / c = q - e * r              in one fma
//
// rounds as the division does, also where the quotient is subnormal (and e is kept out of that
// range by powers of two). nullopt where that is not shown.
std::optional<float> reciprocal_to_divide_by(float c);

}  // namespace smelt::emit
