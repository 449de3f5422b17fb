#include "report/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "plan/isolate.hpp"
#include "report/json.hpp"
#include "report/savings.hpp"
#include "report/table.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"
#include "report/view.hpp"

namespace smelt::report {

std::string operation_of(const Node& node) {
  if (node.kind == NodeKind::Elementwise) return std::string(name_of(node.op));
  if (node.kind == NodeKind::Reduce) return std::string(name_of(node.reduce));
  if (node.kind == NodeKind::Scan) return std::string(name_of_scan(node.reduce));
  return std::string(name_of(node.kind));
}

namespace {

std::string label_of(const Node& node) { return printable(node.label.empty() ? operation_of(node) : node.label, 40); }

// "relu (2 operations), layernorm (9 operations)": operations that one thing of the user's text became stand together.
std::string contents(const Graph& graph, const plan::FusionGroup& group) {
  struct Part {
    std::string label;
    int operations;
  };
  std::vector<Part> parts;
  for (const NodeId id : group.nodes) {
    const std::string label = label_of(graph.at(id));
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.label == label; });
    if (same == parts.end()) {
      parts.push_back({label, 1});
    } else {
      ++same->operations;
    }
  }
  std::vector<std::string> words;
  for (const Part& part : parts)
    words.push_back(part.operations == 1 ? part.label : fmt::format("{} ({} operations)", part.label, part.operations));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string transfer(const Explanation& e, NodeId id) {
  const Node& node = e.graph.at(id);
  return fmt::format("{}: {} ({})", role_of_value(e.graph, id),
                     describe_type(node.dtype, evaluate(node.shape, e.sizes)),
                     format_bytes(bytes_of(e.graph, id, e.sizes)));
}

int64_t total(const Explanation& e, const std::vector<NodeId>& ids) {
  int64_t bytes = 0;
  for (const NodeId id : ids) bytes += bytes_of(e.graph, id, e.sizes);
  return bytes;
}

std::string transfers(const Explanation& e, const std::vector<NodeId>& ids) {
  if (ids.empty()) return "nothing";
  constexpr size_t kMost = 16;
  std::vector<std::string> words;
  for (size_t i = 0; i < ids.size() && (i < kMost || ids.size() <= kMost + 1); ++i)
    words.push_back(transfer(e, ids[i]));
  const size_t more = ids.size() - words.size();
  return fmt::format("{}{}", fmt::join(words, ", "), more ? fmt::format(", and {} more", more) : "");
}

std::string microseconds(double ms, int digits = 3) { return format_significant(ms * 1e3, digits) + " µs"; }

// What the bytes let expect, and what was measured; empty when neither is known.
std::string time_text(const Explanation& e, size_t k) {
  if (k < e.times.size()) {
    const KernelTime& t = e.times[k];
    std::string out = fmt::format("{} ± {} measured, {} predicted", microseconds(t.measured_ms.median),
                                  microseconds(t.measured_ms.spread, 2), microseconds(t.predicted_ms));
    if (t.copy_ms > 0) out += fmt::format("; {:.0f} % of a copy of as many bytes", 100 * t.of_copy());
    return out;
  }
  const plan::FusionGroup& group = e.plan.groups[k];
  const double expected = predicted_ms(total(e, group.inputs) + total(e, group.outputs), e.memory_gbs);
  return expected > 0 ? microseconds(expected) + " predicted" : "";
}

// Measured by themselves, or, of the one that runs, with the kernel; nothing: neither.
std::optional<double> measured_us(const Explanation& e, size_t k, const Considered& c) {
  if (c.measured_ms >= 0) return 1e3 * c.measured_ms;
  if (c.chosen && k < e.times.size()) return 1e3 * e.times[k].measured_ms.median;
  return std::nullopt;
}

std::string candidates_text(const Explanation& e, size_t k) {
  if (k >= e.considered.size() || e.considered[k].empty()) return "";
  const bool measured = std::any_of(e.considered[k].begin(), e.considered[k].end(),
                                    [&](const Considered& c) { return measured_us(e, k, c).has_value(); });
  Table table(
      {{"  "}, {"schedule", Align::Left}, {"predicted"}, {"limited by", Align::Left}, {measured ? "measured" : ""}});
  for (const Considered& c : e.considered[k]) {
    const schedule::Cost& cost = c.candidate.cost;
    const auto us = measured_us(e, k, c);
    table.add(
        {c.chosen ? "*" : "",
         fmt::format("{}, {}", plan::name_of(c.candidate.schedule->strategy), schedule::form_of(*c.candidate.schedule)),
         microseconds(cost.us * 1e-3), std::string(schedule::name_of(cost.limit)), us ? microseconds(*us * 1e-3) : ""});
  }
  return table.str(2);
}

std::string kernels_text(const Explanation& e, const Style& style) {
  std::string out;
  if (e.interpreted) out += "not compiled: there is no compiler, and the reference interpreter runs the program\n";
  for (size_t k = 0; k < e.plan.groups.size(); ++k) {
    const plan::FusionGroup& group = e.plan.groups[k];
    out += fmt::format("{}  {}{}\n", style.bold(fmt::format("kernel {}", k + 1)), plan::name_of(group.strategy()),
                       group.note().empty() || e.interpreted ? "" : ": " + group.note());
    if (!group.rebuilt.empty()) out += fmt::format("  rebuilt {}\n", group.rebuilt);
    if (!group.untuned.empty()) out += fmt::format("  untuned {}\n", group.untuned);
    out += fmt::format("  does    {}\n", contents(e.graph, group));
    out += fmt::format("  reads   {}\n", transfers(e, group.inputs));
    out += fmt::format("  writes  {}\n", transfers(e, group.outputs));
    for (const BuiltFunction& f : e.functions)
      if (static_cast<size_t>(f.kernel) == k) out += fmt::format("  built   {}\n", describe(f));
    if (k < e.undone.size() && !e.undone[k].empty())
      out += fmt::format("  slower  than it could be: without {}, which could not be proved\n",
                         fmt::join(e.undone[k], " and "));
    if (const std::string time = time_text(e, k); !time.empty()) out += "  time    " + time + "\n";
    out += candidates_text(e, k);
  }
  return out;
}

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
  return {{"name", f.name},
          {"threads", f.threads},
          {"cluster", f.cluster},
          {"registers", f.facts.registers},
          {"local_bytes", f.facts.local_bytes},
          {"shared_bytes", f.facts.shared_bytes + f.shared_bytes},
          {"workgroups_per_processor", f.workgroups_per_processor},
          {"occupancy", f.occupancy}};
}

std::string decision_text(const Explanation& e, const plan::Decision& d, const Style& style) {
  const std::string edge =
      fmt::format("{} -> {}", name_of_value(e.graph, d.producer), name_of_value(e.graph, d.consumer));
  std::string out = fmt::format("  {}  {}: {}", d.fused ? style.good("fused") : style.warn("cut  "), edge, d.reason);
  if (!d.value_policy.empty()) out += fmt::format(" (value {})", d.value_policy);
  out += fmt::format("; {} {}\n", d.fused ? "saves" : "costs", format_bytes(d.bytes));
  if (!d.remedy.empty()) out += fmt::format("         to change it: {}\n", d.remedy);
  return out;
}

std::string read_again_text(const Explanation& e, const plan::ReadAgain& r, const Style& style) {
  return fmt::format("  {}  {} is read for {} and again for {}: {}; costs {}\n         to change it: {}\n",
                     style.warn("again"), name_of_value(e.graph, r.input), name_of_value(e.graph, r.first),
                     name_of_value(e.graph, r.again), r.reason, format_bytes(r.bytes), r.remedy);
}

// Nodes of parts that do what an earlier part of their batch does.
std::set<NodeId> in_like_parts(const Explanation& e) {
  std::set<NodeId> nodes;
  for (const plan::FusionGroup& group : e.plan.groups) {
    std::set<std::string> forms;
    for (const plan::FusionGroup& part : group.parts)
      if (!forms.insert(plan::isolate(e.graph, part, true).key).second)
        nodes.insert(part.nodes.begin(), part.nodes.end());
  }
  return nodes;
}

std::string ledger_text(const plan::Traffic& t) {
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Left}});
  table.add({"unfused", format_bytes(t.unfused_bytes), "every operation reads its inputs and writes its output"});
  table.add({"fused", format_bytes(t.fused_bytes), "every kernel reads its inputs and writes its outputs"});
  table.add({"ideal", format_bytes(t.ideal_bytes), "every input once, every output once"});
  return table.str(2) + fmt::format("  saves {:.2f} % of the bytes; estimated speed-up {:.2f}x\n", t.savings_pct(),
                                    t.speedup_estimate());
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
  return {{"node", id},
          {"operation", operation_of(node)},
          {"label", node.label},
          {"line", node.origin.line},
          {"column", node.origin.column}};
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
                      {"bytes_read", total(e, group.inputs)},
                      {"bytes_written", total(e, group.outputs)}};
  for (const BuiltFunction& f : e.functions)
    if (static_cast<size_t>(f.kernel) == k) out["functions"].push_back(function_json(f));
  if (k < e.considered.size())
    for (const Considered& c : e.considered[k]) out["candidates"].push_back(candidate_json(e, k, c));
  if (k < e.times.size()) {
    const KernelTime& t = e.times[k];
    const Summary& s = t.measured_ms;
    out["predicted_ms"] = t.predicted_ms;
    out["measured_ms"] = {{"median", s.median}, {"min", s.min},     {"max", s.max},
                          {"spread", s.spread}, {"noise", s.noise}, {"runs", s.runs}};
    out["copy_ms"] = t.copy_ms;
    out["of_copy"] = t.of_copy();
  } else if (e.memory_gbs > 0) {
    out["predicted_ms"] = predicted_ms(total(e, group.inputs) + total(e, group.outputs), e.memory_gbs);
  }
  return out;
}

}  // namespace

std::vector<std::vector<std::string>> undone_passes(const Executable& executable) {
  std::vector<std::vector<std::string>> undone;
  for (const kernel::Kernel& k : executable.kernels()) {
    std::set<std::string> names(k.undone.begin(), k.undone.end());
    for (const kernel::Kernel& body : k.bodies) names.insert(body.undone.begin(), body.undone.end());
    undone.emplace_back(names.begin(), names.end());
  }
  return undone;
}

std::string describe(const BuiltFunction& f) {
  return fmt::format(
      "{}: {} threads{}, {} registers, {}{} shared, {} of them on a multiprocessor, occupancy {:.0f} %", f.name,
      f.threads, f.cluster > 1 ? fmt::format(" in clusters of {}", f.cluster) : "", f.facts.registers,
      f.facts.local_bytes > 0 ? format_memory(f.facts.local_bytes) + " spilled per thread, " : "",
      format_memory(f.facts.shared_bytes + f.shared_bytes), f.workgroups_per_processor, 100 * f.occupancy);
}

std::string name_of_value(const Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  if (node.kind == NodeKind::Input) return printable(node.name, 40);
  const std::string label = label_of(node), operation = operation_of(node);
  const bool is_word = std::isalpha(static_cast<unsigned char>(label[0])) != 0;
  return fmt::format("{}{} %{}", label, !is_word || label == operation ? "" : "." + operation, id);
}

// Which output of the program a value is, from 1; 0 when it is none.
static size_t output_number(const Graph& graph, NodeId id) {
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    if (graph.outputs[o] == id) return o + 1;
  return 0;
}

std::string role_of_value(const Graph& graph, NodeId id) {
  if (graph.at(id).kind == NodeKind::Input) return printable(graph.at(id).name, 40);
  const size_t output = output_number(graph, id);
  return output > 0 ? fmt::format("output {}", output) : name_of_value(graph, id);
}

void add_build(nlohmann::ordered_json& json, const Executable& executable) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageTime& time : executable.stage_times()) stages.push_back({{"stage", time.stage}, {"ms", time.ms}});
  json["stages"] = stages;
  json["device"] = executable.device().name;
  json["interpreted"] = executable.interpreted();
  json["cache"] = {{"hits", executable.cache_use().hits}, {"misses", executable.cache_use().misses}};
}

// "output 1 of p or g, output 2 of m"
static std::string in_place_text(const Explanation& e) {
  constexpr size_t kMost = 8;
  std::map<size_t, std::vector<std::string>> inputs;
  for (const InPlaceArrays& p : e.in_place) inputs[p.output].push_back(name_of_value(e.graph, e.graph.inputs[p.input]));
  std::vector<std::string> parts;
  for (const auto& [output, names] : inputs)
    if (parts.size() < kMost) parts.push_back(fmt::format("output {} of {}", output + 1, fmt::join(names, " or ")));
  if (inputs.size() > kMost) parts.push_back(fmt::format("{} more", inputs.size() - kMost));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string to_text(const Explanation& e, const Style& style) {
  std::vector<std::string> sizes;
  for (const auto& [name, size] : e.sizes) sizes.push_back(fmt::format("{}={}", name, size));
  const size_t kernels = e.plan.groups.size();
  std::string out =
      fmt::format("{}   {} kernel{}{}\n\n", style.bold(printable(e.program, 80)), kernels, kernels == 1 ? "" : "s",
                  sizes.empty() ? "" : fmt::format("   at {}", fmt::join(sizes, ", ")));
  out += kernels_text(e, style);
  if (e.cache.hits + e.cache.misses > 0)
    out += fmt::format("  {} of {} kernels came from the cache\n", e.cache.hits, e.cache.hits + e.cache.misses);
  if (e.temporary_bytes >= 0)
    out += fmt::format("  temporaries of a call: {}\n",
                       e.temporary_bytes > 0 ? format_memory(e.temporary_bytes) + ", one block" : "none");
  if (!e.in_place.empty()) out += fmt::format("  may stand in place of an input: {}\n", in_place_text(e));
  out += "\n" + style.bold("edges") + "\n";
  if (e.plan.decisions.empty() && e.plan.read_again.empty())
    out += "  none: no operation reads what another one computes\n";
  const std::set<NodeId> repeated = in_like_parts(e);
  size_t alike = 0;
  for (const plan::Decision& d : e.plan.decisions)
    if (d.fused && repeated.count(d.producer) && repeated.count(d.consumer))
      ++alike;
    else
      out += decision_text(e, d, style);
  for (const plan::ReadAgain& r : e.plan.read_again) out += read_again_text(e, r, style);
  if (alike) out += fmt::format("  and {} like these, in other parts of the same launch\n", alike);
  out += "\n" + style.bold("bytes moved") + "\n" + ledger_text(e.plan.traffic);
  return out;
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
  if (e.temporary_bytes >= 0) out["temporary_bytes"] = e.temporary_bytes;
  out["in_place"] = ordered_json::array();
  for (const InPlaceArrays& p : e.in_place)
    out["in_place"].push_back({{"input", name_of_value(e.graph, e.graph.inputs[p.input])}, {"output", p.output + 1}});
  return out;
}

}  // namespace smelt::report
