// The accesses that the code of a phase has, in the variant that a launch takes. Internal to this
// folder.
#pragma once

#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/team_forms.hpp"
#include "report/page_index.hpp"

namespace smelt::report {

// How a thread accesses the elements of its groups in a Vector loop (kernel/team_forms.hpp).
enum class AccessForm : uint8_t {
  Single,    // an access for each element
  Group,     // accesses of up to 16 bytes that cover a group
  Shared,    // one for all elements of a group
  Run,       // one of `run` neighbours, of which this is the first
  Invariant  // one before the loop, of `run` neighbours
};

struct AccessSite {
  const kernel::Access* access = nullptr;
  kernel::ExprId mask = kernel::kNoExpr;
  bool stored = false, atomic = false;
  std::vector<const kernel::Stmt*> around;  // loops and conditions, the outermost first
  const kernel::Loop* vector = nullptr;     // the Vector loop of these
  kernel::LoopShape shape;                  // of that loop
  AccessForm form = AccessForm::Single;
  int step = 1, run = 1;
  int distance = 0;  // not 0: elements so far from another of the group are in registers
};

// In the order of the code. Tells `indices` what locals stand for.
std::vector<AccessSite> access_sites(const kernel::Kernel& kernel, const kernel::Phase& phase, size_t variant, bool gpu,
                                     PageIndices& indices);

}  // namespace smelt::report
