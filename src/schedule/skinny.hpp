// Products of few rows on a GPU with matrix units, whose factors go to these through registers
// (Skinny in product.hpp).
#pragma once

#include <optional>
#include <vector>

#include "schedule/cost.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {

// Tunings for so many rows, by rows and columns of a tile, terms and parts at a time and threads;
// `turned` tells them from those of tiles on chip.
std::vector<Tuning> proposed_skinny(int64_t rows);
bool is_skinny(const Tuning& tuning);
// Nothing where the product is not such.
std::optional<Schedule> in_registers(const LargeProduct& found, const Domain& domain, const Options& options,
                                     const Tuning& tuning);

// Registers of a thread: its sums, what it has read, and others.
int64_t registers_of_skinny(const Product& product);
Cost predict_skinny(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);

}  // namespace smelt::schedule
