#include "report/page.hpp"

#include <algorithm>

#include "report/explain_parts.hpp"
#include "report/json.hpp"
#include "report/page_parts.hpp"
#include "report/traffic.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

ordered_json machine_json(const PageInput& input) {
  const Machine& device = input.executable.device();
  const bool gpu = device.is_gpu;
  ordered_json out = {{"device", device.name},
                      {"kind", gpu ? "gpu" : "cpu"},
                      {"name", gpu ? device.gpu_facts.name : device.facts.name},
                      {"present", gpu ? device.gpu != nullptr : device.llvm != nullptr},
                      {"missing", device.missing},
                      {"isa", input.title.isa},
                      {"threads", input.title.threads},
                      {"warp", gpu ? kWarp : 1},
                      {"sector_bytes", gpu ? kSectorBytes : kCpuLineBytes},
                      {"line_bytes", gpu ? kGpuLineBytes : kCpuLineBytes}};
  if (gpu)
    out["limits"] = {{"processors", device.gpu_facts.processors},
                     {"threads_per_processor", device.gpu_facts.threads_per_processor},
                     {"registers_per_processor", device.gpu_facts.registers_per_processor},
                     {"shared_bytes_per_processor", device.gpu_facts.shared_bytes_per_processor},
                     {"l2_bytes", device.gpu_facts.l2_bytes}};
  else
    out["limits"] = {{"vector_bits", device.facts.vector_bits},
                     {"l1_bytes", device.facts.l1_bytes},
                     {"l2_bytes", device.facts.l2_bytes},
                     {"l3_bytes", device.facts.l3_bytes}};
  if (!input.explanation.outlook) return out;
  const schedule::TargetFacts& facts = input.explanation.outlook->own.facts;
  // What the cost model takes for the limits, in units of a second.
  out["roofs"] = {{"memory_gbs", 1e-3 * facts.memory_bytes},
                  {"cache_gbs", 1e-3 * facts.cache_bytes},
                  {"gops", 1e-3 * facts.operations * facts.processors},
                  {"launch_us", facts.launch_us},
                  {"from", "cost model"}};
  if (input.bench) {
    out["copy_gbs"] = input.bench->fused.copy_gbs;
    out["roofs"]["copy_gbs"] = input.bench->fused.copy_gbs;
  }
  return out;
}

// One kernel per operation. Its views are looked through by the page.
ordered_json unfused_json(const PageInput& input, const plan::Plan& plan) {
  const Explanation& e = input.explanation;
  ordered_json kernels = ordered_json::array();
  for (const plan::FusionGroup& group : plan.groups)
    kernels.push_back({{"nodes", group.nodes},
                       {"strategy", plan::name_of(group.strategy())},
                       {"reads", group.inputs},
                       {"writes", group.outputs},
                       {"bytes_read", total_bytes(e, group.inputs)},
                       {"bytes_written", total_bytes(e, group.outputs)}});
  return {{"kernels", kernels}, {"bytes", e.plan.traffic.unfused_bytes}};
}

// Nodes of kernels by their numbers, and of very many decisions those alone that keep kernels
// apart.
void make_small(ordered_json& fused) {
  constexpr size_t kMostDecisions = 2000;
  for (ordered_json& kernel : fused["kernels"]) {
    ordered_json nodes = ordered_json::array();
    for (const ordered_json& operation : kernel["operations"]) nodes.push_back(operation["node"]);
    kernel["nodes"] = nodes;
    kernel.erase("operations");
  }
  ordered_json& decisions = fused["decisions"];
  fused["decision_count"] = decisions.size();
  if (decisions.size() <= kMostDecisions) return;
  ordered_json cut = ordered_json::array();
  for (ordered_json& decision : decisions)
    if (!decision["fused"].get<bool>()) cut.push_back(std::move(decision));
  decisions = std::move(cut);
}

// What terms of the cost model say of each kernel, for the roofline.
void add_costs(const PageInput& input, ordered_json& kernels) {
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto cost = predicted(input.explanation, k);
    if (!cost) continue;
    kernels[k]["terms_ms"] = {{"memory", 1e-3 * cost->memory_us},   {"cache", 1e-3 * cost->cache_us},
                              {"on_chip", 1e-3 * cost->on_chip_us}, {"issue", 1e-3 * cost->issue_us},
                              {"latency", 1e-3 * cost->latency_us}, {"launch", 1e-3 * cost->launch_us}};
    // Operations in the units of the model: the time that they take, times what the machine does.
    const schedule::TargetFacts& facts = input.explanation.outlook->own.facts;
    kernels[k]["operations_estimate"] = cost->issue_us * facts.operations * facts.processors;
  }
}

}  // namespace

ordered_json page_json(const PageInput& input) {
  const Explanation& e = input.explanation;
  const Executable& executable = input.executable;
  ordered_json out = {{"schema", "smelt.report"}, {"version", {1, 0}}, {"command", input.command}};
  out["program"] = {{"name", e.program}, {"text", input.text}};
  out["inputs"] = input.inputs;
  out["sizes"] = sizes_json(e.sizes);
  out["interpreted"] = e.interpreted;
  out["problem"] = input.problem;
  out["machine"] = machine_json(input);
  out["graph"] = page_graph(e.graph, e.sizes);
  ordered_json fused = to_json(e);
  add_build(fused, executable);
  add_costs(input, fused["kernels"]);
  make_small(fused);
  fused["launches"] = page_launches(executable, e.sizes, input.arrays);
  const plan::Plan unfused_plan = executable.unfused_plan(e.sizes);
  out["plans"] = {{"unfused", unfused_json(input, unfused_plan)}, {"fused", std::move(fused)}};
  if (input.unfused) out["plans"]["unfused"]["launches"] = page_launches(*input.unfused, e.sizes, input.arrays);
  out["replay"] = page_steps(input);
  out["trace"] = page_trace(input);
  if (input.bench) out["bench"] = to_json(input.title, {*input.bench});
  if (input.depths) out["depth"] = to_json(*input.depths);
  if (input.profile) out["counters"] = to_json(*input.profile);
  out["texts"] = page_texts(input);
  return out;
}

}  // namespace smelt::report
