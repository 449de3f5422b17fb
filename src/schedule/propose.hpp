// What each family of schedules proposes besides its own choice. Proposers are pure and
// veto nothing: a tuning that a family cannot have comes out as another one, or as none. Internal
// to this folder.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace smelt::schedule {

// propose_pointwise.cpp
std::vector<Tuning> propose_pointwise(const Schedule& first);
std::vector<Tuning> propose_blocked(const Schedule& first);
std::vector<Tuning> propose_tiled(const Schedule& first);
std::vector<Tuning> propose_stencil(const Schedule& first);

// propose_reduction.cpp
std::vector<Tuning> propose_row(const Schedule& first, const Target& target);
std::vector<Tuning> propose_split(const Schedule& first);
std::vector<Tuning> propose_product(const Schedule& first, const Target& target);
// With which a product of a GPU has no schedule in tiles, but one of another family.
Tuning without_tiles();
std::vector<Tuning> propose_chain(const Schedule& first);
std::vector<Tuning> propose_column(const Schedule& first);

// propose_cpu.cpp, for every family: all, or what may make a large difference alone, other loops
// and the vectors of short rows.
enum class Proposed : uint8_t { All, Decisive };
std::vector<Tuning> propose_on_cpu(const Schedule& first, const Target& target, Proposed which);

// Fewer registers for all threads of a workgroup together: fewer threads, or less for each of them
// at a time.
std::vector<Tuning> propose_lighter(const Schedule& first);

}  // namespace smelt::schedule
