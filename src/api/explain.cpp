#include "api/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "report/explain.hpp"
#include "report/json.hpp"
#include "report/page.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"

namespace smelt {

namespace detail {

struct ExplanationState {
  Executable executable;
  SizeBinding sizes;
  std::vector<BuiltFunction> built;
  plan::Plan plan = {};  // with the bytes of these sizes
  HostInputs inputs = nullptr;
  report::Explanation report(const std::string& program) const {
    return report::explanation_of(program, executable, plan, sizes, built);
  }
  // With what the cost model says, which takes plans of its own.
  report::Explanation full_report(const std::string& program) const {
    report::Explanation e = report(program);
    e.outlook = executable.outlook(sizes);
    return e;
  }
};

namespace {

Explanation::Value value_of(const report::Explanation& e, NodeId id) {
  const smelt::Node& node = e.graph.at(id);
  return {report::role_of_value(e.graph, id), node.dtype, evaluate(node.shape, e.sizes),
          report::bytes_of(e.graph, id, e.sizes)};
}

Explanation::Kernel kernel_of(const report::Explanation& e, const plan::FusionGroup& group) {
  Explanation::Kernel kernel;
  kernel.strategy = plan::name_of(group.strategy());
  if (!e.interpreted) kernel.note = group.note();
  kernel.rebuilt = group.rebuilt;
  kernel.untuned = group.untuned;
  for (NodeId id : group.nodes)
    kernel.operations.push_back({report::operation_of(e.graph.at(id)), e.graph.at(id).label});
  for (NodeId id : group.inputs) kernel.reads.push_back(value_of(e, id));
  for (NodeId id : group.outputs) kernel.writes.push_back(value_of(e, id));
  for (const Explanation::Value& value : kernel.reads) kernel.bytes_read += value.bytes;
  for (const Explanation::Value& value : kernel.writes) kernel.bytes_written += value.bytes;
  return kernel;
}

}  // namespace

Explanation explain_special(const Special& special, const SizeBinding& sizes, const std::string& name,
                            HostInputs inputs) {
  auto state = std::make_shared<ExplanationState>();
  state->executable = special.executable;
  state->sizes = sizes;
  state->built = special.executable.built(sizes);
  state->inputs = std::move(inputs);
  state->plan = special.executable.plan();
  plan::count_bytes(special.executable.graph(), sizes, state->plan);
  const report::Explanation r = state->report(name);
  Explanation e;
  e.program = name;
  e.device = special.device.name();
  for (const plan::FusionGroup& group : r.plan.groups) e.kernels.push_back(kernel_of(r, group));
  for (size_t k = 0; k < r.undone.size(); ++k) e.kernels[k].undone = r.undone[k];
  for (const plan::Decision& d : r.plan.decisions)
    e.decisions.push_back({report::name_of_value(r.graph, d.producer), report::name_of_value(r.graph, d.consumer),
                           d.fused, d.reason, d.bytes, d.remedy, d.value_policy});
  for (const plan::ReadAgain& again : r.plan.read_again)
    e.read_again.push_back({report::name_of_value(r.graph, again.input), report::name_of_value(r.graph, again.first),
                            report::name_of_value(r.graph, again.again), again.reason, again.bytes, again.remedy});
  for (const InPlaceArrays& p : r.in_place)
    e.in_place.push_back({report::name_of_value(r.graph, r.graph.inputs[p.input]), static_cast<int>(p.output) + 1});
  for (const StageTime& stage : special.executable.stage_times()) e.stages.push_back({stage.stage, stage.ms});
  e.specialization = special.facts;
  e.interpreted = r.interpreted;
  e.cache_hits = r.cache.hits;
  e.cache_misses = r.cache.misses;
  e.unfused_bytes = r.plan.traffic.unfused_bytes;
  e.fused_bytes = r.plan.traffic.fused_bytes;
  e.ideal_bytes = r.plan.traffic.ideal_bytes;
  e.state = std::move(state);
  return e;
}

void check_kernels(const Explanation& e, int count) {
  const auto found = static_cast<int>(e.kernels.size());
  if (found == count) return;
  std::string message = fmt::format("{} has {} kernel{} for {}, not {}", e.program, found, found == 1 ? "" : "s",
                                    e.specialization.types.empty() ? "no arguments" : e.specialization.types, count);
  for (const Explanation::Decision& d : e.decisions) {
    if (d.fused == (found > count)) continue;
    message += fmt::format("\n  {} -> {}: {}", d.from, d.to, d.reason);
    if (!d.help.empty()) message += fmt::format("\n    help: {}", d.help);
  }
  if (found > count)
    for (const Explanation::ReadAgain& r : e.read_again)
      message += fmt::format("\n  {} is read for {} and again for {}: {}\n    help: {}", r.input, r.first, r.again,
                             r.reason, r.help);
  throw UserError(message);
}

}  // namespace detail

static const detail::ExplanationState& filled(const Explanation& e) {
  if (!e.state) throw UserError("this explanation is of no function\nhelp: take one from explain()");
  return *e.state;
}

std::string Explanation::text() const {
  report::Explanation full = filled(*this).full_report(program);
  full.names_options = false;
  std::string text = report::to_text(full, report::Style{});
  text += fmt::format("\ncompiled for {}: {}\n", specialization.types.empty() ? "no arguments" : specialization.types,
                      specialization.reason);
  if (!specialization.exact.empty()) text += fmt::format("  for these sizes alone: {}\n", specialization.exact);
  return text;
}

std::string Explanation::json() const {
  nlohmann::ordered_json json = report::to_json(filled(*this).full_report(program));
  report::add_build(json, state->executable);
  json["specialization"] = {{"types", specialization.types},
                            {"reason", specialization.reason},
                            {"exact", specialization.exact},
                            {"compiled_now", compiled_now},
                            {"compile_ms", specialization.compile_ms}};
  return report::text_of(json);
}

// The program with one kernel per operation, and what both make of the arrays of the call.
static std::optional<Executable> run_both(const detail::ExplanationState& made, report::PageInput& page) {
  const Executable& executable = made.executable;
  const Machine& device = executable.device();
  const bool runs = !executable.interpreted() && (!device.is_gpu || device.gpu);
  if (!made.inputs || !runs || !report::shows_values(executable.graph(), made.sizes)) return std::nullopt;
  std::optional<Executable> unfused;
  try {
    std::vector<Tensor> arrays = made.inputs();
    if (arrays.empty()) return unfused;
    const std::vector<TensorView> views(arrays.begin(), arrays.end());
    CompileOptions one_by_one;
    one_by_one.sizes = made.sizes;
    one_by_one.fuse = false;
    unfused = compile(executable.graph(), device, one_by_one);
    page.fused_results = executable.run(views);
    page.unfused_results = unfused->run(views);
    page.arrays = std::move(arrays);
  } catch (const UserError& error) {  // an index of the data that is out of range, say
    page.problem = error.what();
  }
  return unfused;
}

std::string Explanation::html() const {
  const detail::ExplanationState& made = filled(*this);
  const Executable& executable = made.executable;
  report::PageInput page{made.full_report(program), executable};
  page.text = executable.graph().source.empty() ? print(executable.graph()) : executable.graph().source;
  page.inputs = {specialization.types};
  page.title = report::title_of(program, executable.device(), executable.device().facts.threads);
  const std::optional<Executable> unfused = run_both(made, page);
  page.unfused = unfused ? &*unfused : nullptr;
  if (!executable.interpreted()) page.explanation.considered = executable.considered(made.sizes, false);
  return report::page_html(report::page_json(page));
}

std::string Explanation::dump(const std::string& stage) const { return filled(*this).executable.dump(stage); }

}  // namespace smelt
