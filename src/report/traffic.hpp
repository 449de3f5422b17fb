// Bytes that a plan moves at given sizes. Plan::traffic holds them for the sizes that the plan was
// made with; an executable supports other sizes too.
#pragma once

#include "plan/plan.hpp"

namespace smelt::report {

int64_t bytes_of(const Graph& graph, NodeId id, const SizeBinding& sizes);
int64_t bytes_of(const Graph& graph, const plan::FusionGroup& group, const SizeBinding& sizes);  // read and written
// What the kernels of the plan read and write.
int64_t kernel_bytes(const Graph& graph, const plan::Plan& plan, const SizeBinding& sizes);

}  // namespace smelt::report
