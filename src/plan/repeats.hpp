// Values that are computed again where they are read, so that they need not be stored.
//
//   u = exp(row sums);  y = u * x;  sum(y, axis=0)
//
//   kernel 1 stores y                    kernel 1 stores u
//   kernel 2 sums y                  →   kernel 2 sums u * x
//
// What has far fewer elements than its readers need is stored, as u is here: a kernel of columns
// would compute it for each of them.
#pragma once

#include "plan/partition.hpp"

namespace smelt::plan {

// A stored value whose readers could compute it from what they can read as cheaply: they do, and
// the store goes away. Returns whether some value is stored in place of a larger one; later passes
// must keep such stores.
bool repeat_cheap_values(Partition& parts);

}  // namespace smelt::plan
