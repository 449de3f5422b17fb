// An explanation as JSON. Its keys are a promise (docs/cli.md).
#include <nlohmann/json.hpp>

#include "report/explain_parts.hpp"
#include "report/json.hpp"
#include "report/savings.hpp"
#include "report/traffic.hpp"

namespace smelt::report {
namespace {

nlohmann::ordered_json candidate_json(const Explanation& e, size_t k, const Considered& c) {
  const schedule::Cost& cost = c.candidate.cost;
  const plan::Tuning& t = c.candidate.tuning;
  nlohmann::ordered_json out = {{"strategy", plan::name_of(c.candidate.schedule->strategy)},
                                {"form", schedule::form_of(*c.candidate.schedule)},
                                {"chosen", c.chosen},
                                {"tuning",
                                 {{"lanes", t.lanes},
                                  {"unroll", t.unroll},
                                  {"threads", t.threads},
                                  {"cluster", t.cluster},
                                  {"turned", t.turned},
                                  {"rings", t.rings},
                                  {"tile", t.tile},
                                  {"split", t.split},
                                  {"merged", t.merged}}},
                                {"predicted_us", cost.us},
                                {"limit", schedule::name_of(cost.limit)},
                                {"terms_us",
                                 {{"memory", cost.memory_us},
                                  {"cache", cost.cache_us},
                                  {"on_chip", cost.on_chip_us},
                                  {"issue", cost.issue_us},
                                  {"latency", cost.latency_us},
                                  {"launch", cost.launch_us}}}};
  if (const auto us = measured_us(e, k, c)) out["measured_us"] = *us;
  return out;
}

nlohmann::ordered_json function_json(const BuiltFunction& f) {
  nlohmann::ordered_json out = {{"name", f.name},
                                {"threads", f.threads},
                                {"cluster", f.cluster},
                                {"registers", f.facts.registers},
                                {"registers_allocated", runtime::allocated_registers(f.facts.registers)},
                                {"local_bytes", f.facts.local_bytes},
                                {"shared_bytes", f.facts.shared_bytes + f.shared_bytes}};
  if (f.workgroups_per_processor > 0) {  // else the GPU is not here
    out["workgroups_per_processor"] = f.workgroups_per_processor;
    out["occupancy"] = f.occupancy;
  }
  return out;
}

nlohmann::ordered_json value_json(const Explanation& e, NodeId id) {
  const Node& node = e.graph.at(id);
  return {{"node", id},
          {"name", role_of_value(e.graph, id)},
          {"dtype", name_of(node.dtype)},
          {"shape", evaluate(node.shape, e.sizes)},
          {"bytes", bytes_of(e.graph, id, e.sizes)}};
}

nlohmann::ordered_json operation_json(const Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  nlohmann::ordered_json out = {{"node", id},
                                {"operation", operation_of(node)},
                                {"label", node.label},
                                {"line", node.origin.line},
                                {"column", node.origin.column}};
  if (node.origin.file) out["file"] = node.origin.file;
  return out;
}

// The most first.
nlohmann::ordered_json changes_json(const Explanation& e) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Advice& a : advice(e)) {
    nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
    for (const size_t k : a.kernels) kernels.push_back(k + 1);
    out.push_back({{"kind", a.kind}, {"kernels", kernels}, {"change", a.what}, {"gain_ms", 1e-3 * a.gain_us}});
  }
  return out;
}

nlohmann::ordered_json kernel_json(const Explanation& e, size_t k) {
  const plan::FusionGroup& group = e.plan.groups[k];
  using nlohmann::ordered_json;
  ordered_json operations = ordered_json::array(), inputs = ordered_json::array(), outputs = ordered_json::array();
  for (const NodeId id : group.nodes) operations.push_back(operation_json(e.graph, id));
  for (const NodeId id : group.inputs) inputs.push_back(value_json(e, id));
  for (const NodeId id : group.outputs) outputs.push_back(value_json(e, id));
  ordered_json out = {{"strategy", plan::name_of(group.strategy())},
                      {"note", e.interpreted ? "" : group.note()},
                      {"rebuilt", group.rebuilt},
                      {"untuned", group.untuned},
                      {"undone", k < e.undone.size() ? e.undone[k] : std::vector<std::string>{}},
                      {"operations", operations},
                      {"reads", inputs},
                      {"writes", outputs},
                      {"bytes_read", total_bytes(e, group.inputs)},
                      {"bytes_written", total_bytes(e, group.outputs)}};
  for (const BuiltFunction& f : e.functions)
    if (static_cast<size_t>(f.kernel) == k) out["functions"].push_back(function_json(f));
  if (k < e.considered.size())
    for (const Considered& c : e.considered[k]) out["candidates"].push_back(candidate_json(e, k, c));
  if (const auto cost = predicted(e, k)) {
    out["predicted_ms"] = 1e-3 * cost->us;
    out["limited_by"] = schedule::name_of(cost->limit);
  }
  if (k < e.times.size()) {
    const KernelTime& t = e.times[k];
    const Summary& s = t.measured_ms;
    out["measured_ms"] = {{"median", s.median}, {"min", s.min},     {"max", s.max},
                          {"spread", s.spread}, {"noise", s.noise}, {"runs", s.runs}};
    out["copy_ms"] = t.copy_ms;
    out["of_copy"] = t.of_copy();
  }
  return out;
}

}  // namespace

void add_build(nlohmann::ordered_json& json, const Executable& executable) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageTime& time : executable.stage_times()) stages.push_back({{"stage", time.stage}, {"ms", time.ms}});
  json["stages"] = stages;
  json["device"] = executable.device().name;
  json["interpreted"] = executable.interpreted();
  json["cache"] = {{"hits", executable.cache_use().hits}, {"misses", executable.cache_use().misses}};
}

nlohmann::ordered_json to_json(const Explanation& e) {
  using nlohmann::ordered_json;
  ordered_json kernels = ordered_json::array(), decisions = ordered_json::array(), read_again = ordered_json::array();
  for (size_t k = 0; k < e.plan.groups.size(); ++k) kernels.push_back(kernel_json(e, k));
  for (const plan::Decision& d : e.plan.decisions) {
    decisions.push_back({{"producer", d.producer},
                         {"consumer", d.consumer},
                         {"from", name_of_value(e.graph, d.producer)},
                         {"to", name_of_value(e.graph, d.consumer)},
                         {"fused", d.fused},
                         {"reason", d.reason},
                         {"bytes", d.bytes},
                         {"remedy", d.remedy},
                         {"value_policy", d.value_policy}});
  }
  for (const plan::ReadAgain& r : e.plan.read_again)
    read_again.push_back({{"input", name_of_value(e.graph, r.input)},
                          {"first", name_of_value(e.graph, r.first)},
                          {"again", name_of_value(e.graph, r.again)},
                          {"reason", r.reason},
                          {"bytes", r.bytes},
                          {"remedy", r.remedy}});
  const plan::Traffic& t = e.plan.traffic;
  ordered_json out = {{"program", e.program},
                      {"sizes", sizes_json(e.sizes)},
                      {"kernels", kernels},
                      {"decisions", decisions},
                      {"read_again", read_again},
                      {"traffic",
                       {{"unfused_bytes", t.unfused_bytes},
                        {"fused_bytes", t.fused_bytes},
                        {"ideal_bytes", t.ideal_bytes},
                        {"savings_pct", round_to_decimals(t.savings_pct(), 2)},
                        {"speedup_estimate", round_to_decimals(t.speedup_estimate(), 2)}}}};
  if (e.outlook) {
    const Outlook& o = *e.outlook;
    out["predicted"] = {{"ms", 1e-3 * o.own.us},
                        {"unfused_ms", 1e-3 * o.unfused_us},
                        {"speedup", round_to_decimals(speedup(o), 2)},
                        {"complete", o.own.complete}};
    out["changes"] = changes_json(e);
  }
  if (e.temporary_bytes >= 0) out["temporary_bytes"] = e.temporary_bytes;
  out["slices"] = ordered_json::array();
  for (const auto& [first, end, slices, bytes] : e.slices)
    out["slices"].push_back({{"first", first + 1}, {"last", end}, {"slices", slices}, {"bytes", bytes}});
  out["in_place"] = ordered_json::array();
  for (const InPlaceArrays& p : e.in_place)
    out["in_place"].push_back({{"input", name_of_value(e.graph, e.graph.inputs[p.input])}, {"output", p.output + 1}});
  return out;
}

}  // namespace smelt::report
