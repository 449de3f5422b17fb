// How the team of threads of a GPU runs a loop, in each variant of its phase.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// How a Vector loop is spread over the threads t of a team. Each takes groups of `lanes` neighbouring elements, one access of up
// to 16 bytes, and `unroll` groups in a step, whose loads are all under way before the first is used:
//
//   element = ((step * unroll + u) * threads + t) * lanes + l
//
// Rows whose length is no multiple of the lanes begin at another place of a 16-byte word each. A peeled loop takes the whole words
// of a row as groups; what is left at both ends, fewer than 2 * lanes elements, is one more element of the first threads.
struct LoopShape {
  int lanes = 1, unroll = 1;
  bool one_step = false;     // covers the extent
  bool checked = true;       // groups may lie outside of the extent
  int inside = 0;            // checked, of one step: the first groups, which lie inside for every thread
  bool peeled = false;
  IntExpr origin = 0;        // peeled: the offset of element 0 in the arrays whose words the groups are
  bool by_element = false;   // PlainThread: one loop over all elements, since nothing of one step is kept
  int count() const { return lanes * unroll; }
  bool operator==(const LoopShape&) const = default;
};

// Of a Vector loop.
struct TeamForms {
  std::vector<LoopShape> shapes;  // one for each variant of the phase
};

}  // namespace smelt::kernel
