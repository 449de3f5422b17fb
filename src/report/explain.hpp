// What the planner did and why, as text and as JSON: the kernels, a decision for every edge, and
// the ledger of bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "report/measure_kernels.hpp"
#include "report/style.hpp"

namespace smelt::report {

struct Explanation {
  std::string program;  // its name
  const Graph& graph;
  const plan::Plan& plan;
  const SizeBinding& sizes;                   // what the plan's bytes were counted with
  std::vector<BuiltFunction> functions = {};  // on a GPU that is here
  CacheUse cache = {};
  std::optional<Outlook> outlook = {};          // what the cost model says
  bool all_edges = false;                       // text: every edge, not only those that are cut
  bool names_options = true;                    // text: mentions options of the command line
  std::vector<KernelTime> times = {};           // per kernel, when they were measured
  int64_t temporary_bytes = -1;                 // of one call; -1: not known
  std::vector<Executable::Slices> slices = {};  // kernels that run slice by slice
  std::vector<InPlaceArrays> in_place = {};
  std::vector<std::vector<Considered>> considered = {};  // per kernel, when they were asked for
  std::vector<std::vector<std::string>> undone = {};  // per kernel, the passes of which the result could not be proved
  bool interpreted = false;                           // nothing was compiled: the plan is what kernels would be
};

// The explanation of a plan of this executable, without predictions and measurements; refers to the
// three.
Explanation explanation_of(const std::string& program, const Executable& executable, const plan::Plan& plan,
                           const SizeBinding& sizes, std::vector<BuiltFunction> functions);

std::string to_text(const Explanation& e, const Style& style);
nlohmann::ordered_json to_json(const Explanation& e);
// What `smelt explain --json` adds of how it was built: stages, device, cache.
void add_build(nlohmann::ordered_json& json, const Executable& executable);

// "k0_p0: 128 threads, 32 registers, ..."
std::string describe(const BuiltFunction& f);

// How the user would call this value: an input's name, or what was written for it, the operation
// that it became, and the node's number: "softmax.exp %3".
std::string name_of_value(const Graph& graph, NodeId id);
// The name of what a kernel reads or writes: an input's name, "output 1", else as above.
std::string role_of_value(const Graph& graph, NodeId id);
// The primitive that a node is: "add", "sum", "reshape".
std::string operation_of(const Node& node);

}  // namespace smelt::report
