// Blocks of results for sums over windows, on a GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "schedule/computing.hpp"
#include "schedule/local.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

constexpr int kBlockedWorkgroup = 128;
// Results of a thread: with what they are computed from, half of the registers that it may have.
constexpr int64_t kMostResults = 64;
// Registers of a thread for which a multiprocessor holds four workgroups.
constexpr int kResident = 4;
// Shared memory of a workgroup, small enough that registers limit how many workgroups fit.
constexpr int64_t kStagedBytes = 32 << 10;

// Operations of what is computed for an operand.
double cost_behind(const Graph& graph, const Group& group, NodeId base) {
  const Computing computes(graph);
  double cost = 0;
  std::vector<NodeId> waiting{base};
  std::set<NodeId> seen;
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const Node& node = graph.at(id);
    const bool member = std::binary_search(group.nodes.begin(), group.nodes.end(), id);
    if (!seen.insert(id).second || node.kind == NodeKind::Input || (!member && computes(id))) continue;
    if (member && node.kind != NodeKind::Pad && node.kind != NodeKind::Concat) cost += std::max(1, cost_of(node));
    waiting.insert(waiting.end(), node.args.begin(), node.args.end());
  }
  return cost;
}

// Whether what leads to the operands is computed so often that storing it would cost less.
bool repeats_much(const Graph& graph, const Domain& domain, const Group& group, const Blocking& blocking,
                  const SizeBinding& sizes) {
  double threads = 1, excess = 0;
  for (size_t a = 0; a < domain.axes.size(); ++a)
    threads *= std::ceil(static_cast<double>(std::max<int64_t>(1, domain.axes[a].estimate)) /
                         static_cast<double>(blocking.block[a]));
  for (const BlockedSum& sum : blocking.sums)
    for (const Operand& operand : sum.operands) {
      if (operand.staged) continue;
      const Evaluations made = evaluations_of(graph, domain, blocking, sum, operand);
      double elements = 1;
      for (const IntExpr& size : graph.at(operand.base).shape) elements *= static_cast<double>(size.evaluate(sizes));
      const double again = threads * static_cast<double>(made.places) * static_cast<double>(made.runs) - elements;
      excess += again * cost_behind(graph, group, operand.base) -
                2 * kOperationsPerByte * elements * size_of(graph.at(operand.base).dtype);
    }
  return excess > 0;
}

// Elements of a sum from which on it takes longer than a round trip of its result through memory,
// when it is not blocked.
constexpr int64_t kLongSum = 32;
// Elements of all of them that take as long as a launch.
constexpr int64_t kMuchWork = 1 << 24;

// The part of a group that leads to one of its values.
Group alone(const Graph& graph, const Group& group, NodeId id) {
  Group part;
  part.outputs = {id};
  part.inputs = group.inputs;
  std::set<NodeId> seen;
  std::vector<NodeId> waiting{id};
  while (!waiting.empty()) {
    const NodeId at = waiting.back();
    waiting.pop_back();
    if (!seen.insert(at).second || std::count(group.inputs.begin(), group.inputs.end(), at)) continue;
    if (std::binary_search(group.nodes.begin(), group.nodes.end(), at)) part.nodes.push_back(at);
    waiting.insert(waiting.end(), graph.at(at).args.begin(), graph.at(at).args.end());
  }
  std::sort(part.nodes.begin(), part.nodes.end());
  return part;
}

}  // namespace

std::optional<Refusal> loses_blocks(const Graph& graph, const Group& group, const Options& options) {
  for (const NodeId id : group.nodes) {
    const Node& node = graph.at(id);
    if (!node.local || local_elements(graph, node) < kLongSum) continue;
    if (count(node.shape).evaluate(options.sizes) < kMuchWork / local_elements(graph, node)) continue;
    const Group part = alone(graph, group, id);
    if (part.nodes.size() < 2 || part.nodes.size() == group.nodes.size()) continue;
    auto found = find_domain(graph, part, options.sizes);
    Domain* domain = std::get_if<Domain>(&found);
    if (!domain) continue;
    merge_axes(graph, *domain);
    follow_output(graph, *domain);
    if (!blocked_schedule(graph, *domain, part, options)) continue;
    return Refusal{fmt::format("{} is computed in blocks of results, one per thread, and would be needed by other "
                               "threads: that takes longer than storing it",
                               node.label.empty() ? std::string(name_of(node.reduce)) : node.label),
                   "nothing, unless it is needed element by element"};
  }
  return std::nullopt;
}

std::optional<Schedule> blocked_schedule(const Graph& graph, const Domain& domain, const Group& group,
                                         const Options& options) {
  const Tuning& tuning = options.tuning;
  const auto wide = [&](NodeId id) { return graph.at(id).local && size_of(graph.at(id).dtype) > 4; };
  BlockNeeds needs;
  needs.results = std::any_of(group.nodes.begin(), group.nodes.end(), wide) ? kMostResults / 2 : kMostResults;
  needs.threads = int64_t{options.target.threads} * 2 * kBlockedWorkgroup;
  needs.columns = tuning.lanes, needs.rows = tuning.unroll;
  needs.shared = tuning.cluster > 1 ? tuning.cluster : 0;
  needs.staged_bytes = kStagedBytes;
  auto blocking = find_blocking(graph, group, domain, needs);
  if (!blocking) return std::nullopt;
  if (domain.overlap && repeats_much(graph, domain, group, *blocking, options.sizes)) return std::nullopt;
  Schedule s;
  s.strategy = Strategy::Pointwise;
  s.domain = domain;
  s.vector_axis = static_cast<int>(domain.axes.size()) - 1;
  s.team = s.workgroup = tuning.threads ? tuning.threads : kBlockedWorkgroup;
  if (blocking->staged()) s.resident = std::max(1, kResident * kBlockedWorkgroup / s.workgroup);
  s.lanes = static_cast<int>(blocking->block.back());
  s.unroll = static_cast<int>(blocking->results() / s.lanes);
  s.tile = s.team * blocking->results();
  std::vector<std::string> over;
  for (const Axis& axis : domain.axes) over.push_back(axis.extent.str());
  s.note = fmt::format("blocks of {} results to a thread over {}, {}", fmt::join(blocking->block, " x "),
                       fmt::join(over, " x "),
                       blocking->staged() ? "what they share staged on chip" : "which share what their windows read");
  s.blocking = std::move(*blocking);
  return s;
}

}  // namespace smelt::schedule
