// The levels of exponents at which terms of floats are summed exactly (ScatterForm::Levels).
#pragma once

#include "base/int_expr.hpp"

namespace smelt::schedule {

// For so many terms at most: the exponents of a level, and the levels of a sum. The last one counts
// infinities and NaN.
struct Levels {
  IntExpr exponents, count;
};
Levels levels_of(const IntExpr& terms);

}  // namespace smelt::schedule
