// What the families of schedules for a CPU share. Internal to this folder.
#pragma once

#include "schedule/local.hpp"

namespace smelt::schedule {

// A grid iteration of about this many elements is long enough to hide its own overhead and short
// enough to balance.
constexpr int64_t kChunk = 8192;
// Bodies of this cost (operations.hpp) are light, and longer than that are long.
constexpr int kLightBody = 12, kLongBody = 640;

// Elements of a step of the Vector loop along `axis`; -1: along several as one.
int lanes_for(const Graph& graph, const Group& group, const Domain& domain, int axis, const Options& options);

Schedule pointwise_cpu(const Graph& graph, Domain domain, const Group& group, const Options& options);

}  // namespace smelt::schedule
