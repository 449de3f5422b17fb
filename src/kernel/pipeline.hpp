// What the form of a pipeline says: a Serial loop of a GPU with stages (kernel.hpp).
#pragma once

#include <cstddef>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Whether groups of four warps multiply all fragments, as instructions of compute capability 9.0
// do.
bool all_in_groups(const Kernel& kernel);
// Where in its body the first statement stands that uses a part instead of making it.
size_t uses_of_pipeline(const Loop& pipeline);
// Whether nothing of an iteration needs what it multiplies, and the units go on with that while
// threads do something else.
bool goes_on_alone(const Kernel& kernel, const Loop& pipeline);
// Whether it ends with rows that it weighs and then multiplies, which the units do while the next
// part is weighed.
bool weighs_meanwhile(const Kernel& kernel, const Loop& pipeline);
// Iterations that parts are made ahead: units that go on meanwhile still have the part before.
int parts_ahead(const Kernel& kernel, const Loop& pipeline);

}  // namespace smelt::kernel
