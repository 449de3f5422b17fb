// The helpers from_f16, to_f16 and those of floats of 8 bits, by integer arithmetic: the same for
// every dialect of C.
#pragma once

#include <string>
#include <string_view>

#include "base/scalar.hpp"

namespace smelt::emit {

// How the text is spelled.
struct SmallFloatSpelling {
  std::string_view begin;              // of a function
  std::string_view memory, wide;       // unsigned integers: of the size of the small float, of 32 bits
  std::string_view float_of, bits_of;  // the bits of one as the other
  std::string_view magnitude;          // fabs
  bool choose = false;                 // a choice is a call of choose<wide>
};

std::string from_small_float(DType small, const SmallFloatSpelling& as);
std::string to_small_float(DType small, const SmallFloatSpelling& as);

}  // namespace smelt::emit
