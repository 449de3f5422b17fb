#include "plan/predict.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "plan/batch.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

using schedule::Cost;

// What two kernels do side by side, or one after the other within one launch.
Cost joined(const Cost& a, const Cost& b) {
  Cost c;
  c.memory_us = a.memory_us + b.memory_us;
  c.cache_us = a.cache_us + b.cache_us;
  c.on_chip_us = a.on_chip_us + b.on_chip_us;
  c.issue_us = a.issue_us + b.issue_us;
  c.latency_us = std::max(a.latency_us, b.latency_us);
  c.launch_us = std::max(a.launch_us, b.launch_us);
  schedule::take_longest(c);
  return c;
}

// Every form of a batch once, with the sizes that its parts have together.
Cost cost_of_batch(const FusionGroup& group, const Options& options) {
  const Batch& batch = *group.batch;
  std::vector<SizeBinding> sizes(batch.forms.size());
  for (const Batch::Part& part : batch.parts)
    for (const auto& [symbol, size] : part.sizes)
      sizes[static_cast<size_t>(part.form)][symbol] += size.evaluate(options.sizes);
  std::optional<Cost> all;
  for (size_t f = 0; f < batch.forms.size(); ++f) {
    const Batch::Form& form = batch.forms[f];
    schedule::Options here = options;
    for (const auto& [symbol, size] : sizes[f]) here.sizes[symbol] = size;
    const Cost cost = schedule::predict(form.graph, form.group, *form.schedule, here);
    all = all ? joined(*all, cost) : cost;
  }
  return *all;
}

std::vector<NodeId> united(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  std::vector<NodeId> all;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  return all;
}

bool says_nothing(const std::string& remedy) { return remedy.empty() || remedy.rfind("nothing", 0) == 0; }

class Boundaries {
 public:
  Boundaries(const Graph& graph, const Plan& plan, const Options& options, const Prediction& prediction)
      : graph_(graph), plan_(plan), options_(options), prediction_(prediction) {
    for (size_t k = 0; k < plan.groups.size(); ++k)
      for (const NodeId id : plan.groups[k].outputs) stored_by_[id] = k;
  }

  std::vector<Boundary> run() {
    for (size_t d = 0; d < plan_.decisions.size(); ++d) {
      const Decision& decision = plan_.decisions[d];
      const auto from = stored_by_.find(decision.producer);
      if (decision.fused || from == stored_by_.end()) continue;
      for (size_t k = 0; k < plan_.groups.size(); ++k)
        if (k != from->second && contains(plan_.groups[k].nodes, decision.consumer) &&
            contains(plan_.groups[k].inputs, decision.producer))
          between(from->second, k).decisions.push_back(d);
    }
    for (size_t r = 0; r < plan_.read_again.size(); ++r) {
      const ReadAgain& again = plan_.read_again[r];
      const auto first = reader_of(again.first, again.input), second = reader_of(again.again, again.input);
      if (first && second && *first != *second)
        between(std::min(*first, *second), std::max(*first, *second)).read_again.push_back(r);
    }
    constexpr size_t kMostTried = 16;  // a schedule for two kernels takes a while
    std::vector<Boundary> all;
    for (auto& [kernels, boundary] : found_) {
      judge(boundary, found_.size() <= kMostTried);
      all.push_back(std::move(boundary));
    }
    return all;
  }

 private:
  Boundary& between(size_t first, size_t second) {
    Boundary& boundary = found_[{first, second}];
    boundary.first = first, boundary.second = second;
    return boundary;
  }

  std::optional<size_t> reader_of(NodeId node, NodeId input) const {
    for (size_t k = 0; k < plan_.groups.size(); ++k)
      if (contains(plan_.groups[k].nodes, node) && contains(plan_.groups[k].inputs, input)) return k;
    return std::nullopt;
  }

  void judge(Boundary& boundary, bool try_one) const {
    const auto& first = prediction_.kernels[boundary.first];
    const auto& second = prediction_.kernels[boundary.second];
    boundary.avoidable = true;
    for (const size_t d : boundary.decisions)
      if (says_nothing(plan_.decisions[d].remedy)) boundary.avoidable = false;
    for (const size_t r : boundary.read_again)
      if (says_nothing(plan_.read_again[r].remedy)) boundary.avoidable = false;
    if (!first || !second) {
      boundary.avoidable = false;
      return;
    }
    boundary.two_us = first->us + second->us;
    if (const auto one = try_one ? as_one(boundary) : std::nullopt) {
      boundary.one_us = one->us;
      boundary.gain_us = boundary.two_us - one->us;
      return;
    }
    Cost one = joined(*first, *second);
    const double spared = spared_bytes(boundary) / prediction_.facts.memory_bytes;
    one.memory_us = std::max(one.memory_us - spared, 0.0);
    schedule::take_longest(one);
    boundary.gain_us = std::max(0.0, boundary.two_us - one.us);
  }

  // Inputs and values of the first kernel that the second reads once more, and values that nobody
  // else needs stored.
  double spared_bytes(const Boundary& boundary) const {
    const FusionGroup &a = plan_.groups[boundary.first], &b = plan_.groups[boundary.second];
    double bytes = 0;
    for (const NodeId id : b.inputs) {
      const auto size = static_cast<double>(element_count(evaluate(graph_.at(id).shape, options_.sizes))) *
                        size_of(graph_.at(id).dtype);
      if (contains(a.inputs, id) || contains(a.outputs, id)) bytes += size;
      if (contains(a.outputs, id) && !needed_outside(id, boundary)) bytes += size;
    }
    return bytes;
  }

  bool needed_outside(NodeId id, const Boundary& boundary) const {
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end()) return true;
    for (size_t k = 0; k < plan_.groups.size(); ++k)
      if (k != boundary.second && contains(plan_.groups[k].inputs, id)) return true;
    return false;
  }

  // Whether a third kernel needs results of the first and feeds the second.
  bool kernel_between(const Boundary& boundary) const {
    std::set<size_t> after{boundary.first};
    for (size_t k = boundary.first + 1; k < boundary.second; ++k)
      for (const NodeId id : plan_.groups[k].inputs)
        if (const auto from = stored_by_.find(id); from != stored_by_.end() && after.count(from->second)) {
          after.insert(k);
          break;
        }
    after.erase(boundary.first);
    const auto& inputs = plan_.groups[boundary.second].inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](NodeId id) {
      const auto from = stored_by_.find(id);
      return from != stored_by_.end() && after.count(from->second) > 0;
    });
  }

  std::optional<Cost> as_one(const Boundary& boundary) const {
    const FusionGroup &a = plan_.groups[boundary.first], &b = plan_.groups[boundary.second];
    if (!a.parts.empty() || !b.parts.empty() || kernel_between(boundary)) return std::nullopt;
    schedule::Group one;
    one.nodes = united(a.nodes, b.nodes);
    for (const NodeId id : united(a.inputs, b.inputs))
      if (!contains(one.nodes, id) || graph_.at(id).kind == NodeKind::Input) one.inputs.push_back(id);
    for (const NodeId id : a.outputs)
      if (!contains(b.inputs, id) || needed_outside(id, boundary)) one.outputs.push_back(id);
    one.outputs = united(one.outputs, b.outputs);
    auto made = schedule::make_schedule(graph_, one, options_);
    auto* found = std::get_if<schedule::Schedule>(&made);
    if (!found || found->strategy == Strategy::Custom) return std::nullopt;
    const auto own = std::make_shared<const schedule::Schedule>(std::move(*found));
    if (const auto better = schedule::far_better(graph_, one, options_, own)) return better->cost;
    return schedule::predict(graph_, one, *own, options_);
  }

  const Graph& graph_;
  const Plan& plan_;
  const Options& options_;
  const Prediction& prediction_;
  std::map<NodeId, size_t> stored_by_;
  std::map<std::pair<size_t, size_t>, Boundary> found_;
};

}  // namespace

Prediction predict(const Graph& graph, const Plan& plan, const Options& options) {
  Prediction prediction;
  prediction.facts = schedule::facts_of(options.target);
  for (const FusionGroup& group : plan.groups) {
    std::optional<Cost> cost;
    if (!group.parts.empty())
      cost = cost_of_batch(group, options);
    else if (group.strategy() != Strategy::Custom)
      cost = schedule::predict(graph, group, *group.schedule, options);
    prediction.us += cost ? cost->us : 0;
    prediction.complete = prediction.complete && cost;
    prediction.kernels.push_back(cost);
  }
  return prediction;
}

bool compares_forms(const Graph& graph, const Options& options) {
  constexpr size_t kMostPlannedTwice = 1000;
  return options.fuse && options.depth == 0 && options.tuning == Tuning{} && options.splits.empty() &&
         graph.nodes.size() <= kMostPlannedTwice;
}

bool is_faster(const Graph& other, const Plan& other_plan, const Graph& graph, const Plan& plan, Options options) {
  constexpr double kWorthIt = 0.9;  // of the time of the graph as it is
  if (!options.target.gpu) options.target.threads = schedule::kThreadsOfACpu;
  const Prediction own = predict(graph, plan, options), others = predict(other, other_plan, options);
  return own.complete && others.complete && others.us <= kWorthIt * own.us;
}

std::vector<Boundary> boundaries(const Graph& graph, const Plan& plan, const Options& options,
                                 const Prediction& prediction) {
  return Boundaries(graph, plan, options, prediction).run();
}

std::vector<FasterSchedule> faster_schedules(const Graph& graph, const Plan& plan, const Options& options,
                                             const Prediction& prediction) {
  constexpr size_t kMostKernels = 16;
  std::vector<size_t> order(plan.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto us = [&](size_t k) { return prediction.kernels[k] ? prediction.kernels[k]->us : 0; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return us(a) > us(b); });
  if (order.size() > kMostKernels) order.resize(kMostKernels);
  std::vector<FasterSchedule> found;
  for (const size_t k : order) {
    const FusionGroup& group = plan.groups[k];
    const auto& own = prediction.kernels[k];
    // Nothing is faster than memory. What was measured is known better.
    if (!own || !group.parts.empty() || !group.rebuilt.empty() ||
        own->us < schedule::kAlike * (own->launch_us + own->memory_us))
      continue;
    auto made = schedule::candidates(graph, group, options);
    const auto* all = std::get_if<std::vector<schedule::Candidate>>(&made);
    if (!all) continue;
    const auto best =
        std::min_element(all->begin(), all->end(), [](const auto& a, const auto& b) { return a.cost.us < b.cost.us; });
    if (best->cost.us * schedule::kAlike < own->us) found.push_back({k, best->schedule, best->cost.us, own->us});
  }
  return found;
}

}  // namespace smelt::plan
