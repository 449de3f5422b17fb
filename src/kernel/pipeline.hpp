// What the form of a pipeline says: a Serial loop of a GPU with stages (kernel.hpp).
#pragma once

#include <cstddef>
#include <optional>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Whether groups of four warps multiply all fragments, as instructions of compute capability 9.0
// do.
bool all_in_groups(const Kernel& kernel);
// Whether the rows' factor of a fragment is another one.
bool holds_rows(const Kernel& kernel);
// Index in its body of the first statement that uses a part instead of making it.
size_t uses_of_pipeline(const Loop& pipeline);
// Whether nothing of an iteration needs what it multiplies, and the units go on with that while
// threads do something else.
bool goes_on_alone(const Kernel& kernel, const Loop& pipeline);
// Whether its first multiplications begin with sums of 0 in each part, and what they make is added
// to other fragments, which threads do while the units go on with other multiplications, if any.
bool adds_meanwhile(const Kernel& kernel, const Loop& pipeline);
// The multiplications by rows in registers that it ends with.
size_t held_multiplications(const Loop& pipeline);
// Whether it ends with rows that it weighs and then multiplies, which the units do while the next
// part is weighed.
bool weighs_meanwhile(const Kernel& kernel, const Loop& pipeline);
// Whether its parts come as boxes and it ends with one multiplication by rows that follow from its
// first ones: the units do that of a part while what is between is computed of the next one.
bool chains_meanwhile(const Kernel& kernel, const Loop& pipeline);
// Iterations that parts are made ahead: units that go on meanwhile still have the part before.
int parts_ahead(const Kernel& kernel, const Loop& pipeline);
// Parts that come as boxes and are left at once have a number in common: all where the units still
// have the part before, or the last multiplication has a factor of another one; else 0 of the first
// multiplications, and 1 of the last one.
int group_of_part(const Kernel& kernel, const Loop& pipeline, size_t part);
int groups_of_parts(const Kernel& kernel, const Loop& pipeline);
// The number, in the body of a phase's Grid loop, of the pipeline that may get its parts as boxes,
// if there is one. What comes before it the team does alone, or threads outside the team may do
// too; all that these need is computed first.
std::optional<size_t> boxed_pipeline(const Phase& phase);

}  // namespace smelt::kernel
