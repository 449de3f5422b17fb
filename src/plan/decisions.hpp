#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/partition.hpp"

namespace smelt::plan {

using Kept = std::map<NodeId, std::string>;  // values that a schedule keeps for several readers, and how

// One decision for every edge from a computing node to one that reads it, and every input that
// several kernels read; without bytes.
void explain(const Partition& partition, const Kept& kept, Plan& plan);

void count_bytes(const Graph& graph, const Edges& edges, const SizeBinding& sizes, Plan& plan);

}  // namespace smelt::plan
