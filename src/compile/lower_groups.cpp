#include "compile/lower_groups.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "base/check.hpp"
#include "compile/custom.hpp"
#include "kernel/lower.hpp"
#include "plan/isolate.hpp"
#include "schedule/schedule.hpp"

namespace smelt {
namespace {

schedule::Schedule schedule_of(const Graph& graph, const plan::FusionGroup& group, const plan::Options& options) {
  auto made = schedule::make_schedule(graph, group, options);
  SMELT_CHECK(std::holds_alternative<schedule::Schedule>(made), "a group lost its schedule");
  return std::get<schedule::Schedule>(std::move(made));
}

kernel::Kernel lower_group(const Graph& graph, const plan::FusionGroup& group, const plan::Options& options,
                           const std::string& name) {
  return kernel::lower(graph, group, schedule_of(graph, group, options), name);
}

// On a GPU every workgroup looks its part up first. Longer ones do that less often: as long as together they fill the GPU once, a thread
// has no more under way than its registers take, and a part has some workgroups.
constexpr int kThreadsPerProcessor = 2048, kMostUnroll = 4;
constexpr int64_t kBytesUnderWay = 64;

int unroll_of_batch(const Graph& graph, const schedule::Schedule& s, int64_t points, int64_t parts,
                    const plan::Options& options) {
  if (!options.target.gpu || s.strategy != plan::Strategy::Pointwise || s.unroll != 1) return 0;  // as it is
  int64_t bytes = 0;  // that a thread reads at a time
  for (const schedule::Read& read : s.domain.reads)
    if (!graph.at(read.node).shape.empty()) bytes += s.lanes * size_of(graph.at(read.node).dtype);
  const int64_t resident = int64_t{options.target.threads} * kThreadsPerProcessor * s.lanes;
  int unroll = 1;
  while (2 * unroll <= kMostUnroll && 10 * points >= 9 * resident * 2 * unroll &&
         bytes * 2 * unroll <= kBytesUnderWay && points / parts >= 4 * s.tile * 2 * unroll)
    unroll *= 2;
  return unroll;
}

kernel::Kernel lower_batch(const Graph& graph, const plan::FusionGroup& group, const plan::Options& options,
                           const std::string& name) {
  std::vector<plan::Isolated> parts;
  std::map<std::string, SizeBinding> sizes_of;  // of a form: what all of its parts have together
  std::map<std::string, int64_t> count_of;
  for (const plan::FusionGroup& part : group.parts) {
    parts.push_back(plan::isolate(graph, part, true));
    ++count_of[parts.back().key];
    SizeBinding& sizes = sizes_of[parts.back().key];
    for (const auto& [symbol, size] : parts.back().sizes) sizes[symbol] += size.evaluate(options.sizes);
  }
  kernel::Kernel batch;
  batch.name = name;
  std::map<std::string, int> body_of;
  for (const plan::Isolated& part : parts) {
    const auto [known, fresh] = body_of.try_emplace(part.key, static_cast<int>(batch.bodies.size()));
    if (fresh) {
      plan::Options sized = options;
      for (const auto& [symbol, size] : sizes_of[part.key]) sized.sizes[symbol] = size;
      const schedule::Schedule first = schedule_of(part.graph, part.group, sized);
      sized.tuning.unroll =
          unroll_of_batch(part.graph, first, first.domain.estimate(false), count_of[part.key], options);
      batch.bodies.push_back(lower_group(part.graph, part.group, sized, fmt::format("b{}", known->second)));
    }
    kernel::Part made{known->second, {}, part.sizes};
    for (const kernel::Param& p : batch.bodies[static_cast<size_t>(made.body)].params)
      made.values.push_back(p.value < 0 ? -1 : part.original[static_cast<size_t>(p.value)]);
    batch.parts.push_back(std::move(made));
  }
  return batch;
}

}  // namespace

kernel::Kernel for_group(const Executable::State& state, const kernel::Kernel& first, size_t k) {
  const std::vector<NodeId>&from = state.original[state.alike[k]], &to = state.original[k];
  std::unordered_map<NodeId, NodeId> renamed;
  for (size_t i = 0; i < from.size(); ++i) renamed[from[i]] = to[i];
  kernel::Kernel made = first;
  for (kernel::Param& p : made.params)
    if (p.value >= 0) p.value = renamed.at(p.value);
  return made;
}

void lower_groups(Executable::State& state, const plan::Options& options) {
  std::unordered_map<std::string, size_t> first;
  const std::vector<plan::FusionGroup>& groups = state.plan.groups;
  state.original.resize(groups.size());
  for (size_t k = 0; k < groups.size(); ++k) {
    state.alike.push_back(k);
    const std::string name = fmt::format("k{}", k);
    if (!groups[k].parts.empty()) {
      state.kernels.push_back(lower_batch(state.graph, groups[k], options, name));
      continue;
    }
    if (is_custom(state, k)) {
      state.kernels.push_back(custom_kernel(state.graph, groups[k], name));
      continue;
    }
    plan::Isolated alone = plan::isolate(state.graph, groups[k], false);
    state.original[k] = std::move(alone.original);
    const size_t like = first.try_emplace(std::move(alone.key), k).first->second;
    // An index out of range is reported with its node, which is built in.
    if (like != k && state.kernels[like].error_param < 0) {
      state.alike[k] = like;
      state.kernels.push_back(for_group(state, state.kernels[like], k));
    } else {
      state.kernels.push_back(lower_group(state.graph, groups[k], options, name));
    }
  }
}

}  // namespace smelt
