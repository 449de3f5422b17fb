// An explanation as text.
#include "report/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/explain_parts.hpp"
#include "report/table.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"
#include "report/view.hpp"

namespace smelt::report {
namespace {

// "relu (2 operations), layernorm (9 operations)": operations that one thing of the user's text
// became are together.
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

std::string transfers(const Explanation& e, const std::vector<NodeId>& ids) {
  if (ids.empty()) return "nothing";
  constexpr size_t kMost = 16;
  std::vector<std::string> words;
  for (size_t i = 0; i < ids.size() && (i < kMost || ids.size() <= kMost + 1); ++i)
    words.push_back(transfer(e, ids[i]));
  const size_t more = ids.size() - words.size();
  return fmt::format("{}{}", fmt::join(words, ", "), more ? fmt::format(", and {} more", more) : "");
}

// What the cost model predicts, and what was measured; empty when neither is known.
std::string time_text(const Explanation& e, size_t k) {
  const std::optional<schedule::Cost> cost = predicted(e, k);
  const std::string expected =
      cost ? fmt::format("{} predicted, limited by {}", microseconds(cost->us), schedule::name_of(cost->limit)) : "";
  if (k >= e.times.size()) return expected;
  const KernelTime& t = e.times[k];
  std::string out = fmt::format("{} ± {} measured{}{}", microseconds(1e3 * t.measured_ms.median),
                                microseconds(1e3 * t.measured_ms.spread, 2), cost ? ", " : "", expected);
  if (t.copy_ms > 0) out += fmt::format("; {:.0f} % of a copy of as many bytes", 100 * t.of_copy());
  return out;
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
         microseconds(cost.us), std::string(schedule::name_of(cost.limit)), us ? microseconds(*us) : ""});
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
    // The needs of code that is not loaded are only in the document: they depend on the compiler,
    // not on the plan.
    for (const BuiltFunction& f : e.functions)
      if (static_cast<size_t>(f.kernel) == k && f.workgroups_per_processor > 0)
        out += fmt::format("  built   {}\n", describe(f));
    if (k < e.undone.size() && !e.undone[k].empty())
      out += fmt::format("  slower  than it could be: without {}, which could not be proved\n",
                         fmt::join(e.undone[k], " and "));
    if (const std::string time = time_text(e, k); !time.empty()) out += "  time    " + time + "\n";
    out += candidates_text(e, k);
  }
  return out;
}

std::string ledger_text(const plan::Traffic& t) {
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Left}});
  table.add({"unfused", format_bytes(t.unfused_bytes), "every operation reads its inputs and writes its output"});
  table.add({"fused", format_bytes(t.fused_bytes), "every kernel reads its inputs and writes its outputs"});
  table.add({"ideal", format_bytes(t.ideal_bytes), "every input once, every output once"});
  return table.str(2) + fmt::format("  saves {:.2f} % of the bytes\n", t.savings_pct());
}

std::vector<std::vector<std::string>> undone_passes(const Executable& executable) {
  std::vector<std::vector<std::string>> undone;
  for (const kernel::Kernel& k : executable.kernels()) {
    std::set<std::string> names(k.undone.begin(), k.undone.end());
    for (const kernel::Kernel& body : k.bodies) names.insert(body.undone.begin(), body.undone.end());
    undone.emplace_back(names.begin(), names.end());
  }
  return undone;
}

}  // namespace

Explanation explanation_of(const std::string& program, const Executable& executable, const plan::Plan& plan,
                           const SizeBinding& sizes, std::vector<BuiltFunction> functions) {
  Explanation e{program, executable.graph(), plan, sizes, std::move(functions), executable.cache_use()};
  e.undone = undone_passes(executable);
  e.in_place = executable.in_place();
  e.interpreted = executable.interpreted();
  e.slices = executable.slices(sizes);
  return e;
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
  out += summary_text(e, style) + kernels_text(e, style);
  if (e.cache.hits + e.cache.misses > 0)
    out += fmt::format("  {} of {} kernels came from the cache\n", e.cache.hits, e.cache.hits + e.cache.misses);
  if (e.temporary_bytes >= 0)
    out += fmt::format("  temporaries of a call: {}\n",
                       e.temporary_bytes > 0 ? format_memory(e.temporary_bytes) + ", one block" : "none");
  for (const auto& [first, end, slices, bytes] : e.slices)
    out += fmt::format("  kernels {} to {} run in {} slices: {} of temporaries for each thread\n", first + 1, end,
                       slices, format_memory(bytes));
  if (!e.in_place.empty()) out += fmt::format("  may reuse the memory of an input: {}\n", in_place_text(e));
  out += "\n" + style.bold("edges") + "\n" + edges_text(e, style);
  out += "\n" + style.bold("bytes moved") + "\n" + ledger_text(e.plan.traffic);
  return out;
}

}  // namespace smelt::report
