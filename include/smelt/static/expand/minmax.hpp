// maximum, minimum and sign on floats.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

// The larger; nan if either is nan; +0 is above -0.
template <class V>
SMELT_HD V maximum(V a, V b) {
  // One instruction on most machines; gives b where b is nan or the two are equal.
  const auto larger = select(a > b, a, b);
  // Equal values have the same bits or are zeros, of which -0 has one bit more.
  const auto ordered = select(a == b, from_bits(bits(a) & bits(b)), larger);
  return select(a == a, ordered, a);
}

// The smaller; nan if either is nan; -0 is below +0.
template <class V>
SMELT_HD V minimum(V a, V b) {
  const auto smaller = select(a < b, a, b);
  const auto ordered = select(a == b, from_bits(bits(a) | bits(b)), smaller);
  return select(a == a, ordered, a);
}

// -1 or 1, or a itself where it is a zero or nan.
template <class V>
SMELT_HD V sign(V a) {
  return select(abs(a) > like(a, 0), copysign(like(a, 1), a), a);
}

}  // namespace smelt::expand
