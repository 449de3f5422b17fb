// The parts of the document. Internal to this folder.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "report/page.hpp"
#include "report/page_accesses.hpp"

namespace smelt::report {

// Nodes, the calls that made them, inputs and outputs.
nlohmann::ordered_json page_graph(const Graph& graph, const SizeBinding& sizes);
// Per kernel its launches, with the accesses of each; null for the user's own code.
nlohmann::ordered_json page_launches(const Executable& executable, const SizeBinding& sizes,
                                     const std::vector<Tensor>& arrays);
// How the plan came about.
nlohmann::ordered_json page_steps(const PageInput& input);
// Elements of outputs with all that they were computed from; null with a reason where they were not
// computed.
nlohmann::ordered_json page_trace(const PageInput& input);
nlohmann::ordered_json page_texts(const PageInput& input);

}  // namespace smelt::report
