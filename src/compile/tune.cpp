#include "compile/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/disk_cache.hpp"

namespace smelt {
namespace {

constexpr size_t kMostMeasured = 12;
// Another schedule must be faster by this much: less is noise.
constexpr double kGainOnGpu = 0.98, kGainOnCpu = 0.95;

void fill(const Machine& device, const Tensor& array) {
  const uint8_t byte = is_float(array.dtype) ? 0x3f : 0;
  if (device.is_gpu)
    device.gpu->fill(reinterpret_cast<uint64_t>(array.data), byte, array.bytes(), device.gpu->stream());
  else
    std::memset(array.data, byte, static_cast<size_t>(array.bytes()));
}

Tensor empty(const Machine& device, DType dtype, const Dims& dims) {
  return device.is_gpu ? device_empty(device, dtype, dims) : Tensor::empty(dtype, dims);
}

// After the reason that the group has, of a kernel that spilled say.
void add_reason(plan::FusionGroup& group, const std::string& why) {
  group.rebuilt += group.rebuilt.empty() ? why : "; " + why;
}

// How many others were timed, and how many could not be.
std::string tried(const std::vector<double>& ms) {
  const auto timed = std::count_if(ms.begin(), ms.end(), [](double t) { return t >= 0; });
  const auto missing = static_cast<std::ptrdiff_t>(ms.size()) - timed;
  return fmt::format("{} others were tried{}", timed, missing ? fmt::format(", {} could not be built", missing) : "");
}

std::string describe(const Machine& device, int threads) {
  if (!device.is_gpu) return fmt::format("{}, {} threads", device.llvm->identity(), threads);
  const runtime::GpuFacts& gpu = device.gpu_facts;
  return fmt::format("{}, sm_{}, {} multiprocessors", gpu.name, gpu.compute, gpu.processors);
}

}  // namespace

std::vector<schedule::Candidate> candidates_of(const Executable::State& state, size_t group) {
  plan::Options options = state.target;
  options.tuning = {};
  auto found = schedule::candidates(state.graph, state.plan.groups[group], options);
  auto* all = std::get_if<std::vector<schedule::Candidate>>(&found);
  return all ? std::move(*all) : std::vector<schedule::Candidate>{};
}

std::vector<schedule::Candidate> other_schedules(const Executable::State& state, size_t group) {
  const schedule::Schedule& first = *state.plan.groups[group].schedule;
  std::vector<schedule::Candidate> found = candidates_of(state, group);
  std::erase_if(found, [&](const schedule::Candidate& c) { return schedule::same_form(*c.schedule, first); });
  std::stable_sort(found.begin(), found.end(),
                   [](const schedule::Candidate& a, const schedule::Candidate& b) { return a.cost.us < b.cost.us; });
  if (found.size() > kMostMeasured) found.resize(kMostMeasured);
  return found;
}

void take(Executable::State& state, size_t group, const schedule::Candidate& other, const std::string& why) {
  plan::FusionGroup& planned = state.plan.groups[group];
  planned.tuning = other.tuning;
  planned.schedule = other.schedule;
  add_reason(planned, why);
}

// The schedule that the first of some groups took since the plan, of another of them: it names its
// own nodes.
static std::shared_ptr<const schedule::Schedule> scheduled_as(const Executable::State& state,
                                                              const plan::FusionGroup& group,
                                                              const plan::FusionGroup& first) {
  plan::Options options = state.target;
  options.tuning = first.tuning;
  auto made = schedule::make_schedule(state.graph, group, options);
  auto* own = std::get_if<schedule::Schedule>(&made);
  return own ? std::make_shared<const schedule::Schedule>(std::move(*own)) : first.schedule;
}

void share_schedules(Executable::State& state) {
  for (size_t k = 0; k < state.alike.size(); ++k) {
    const plan::FusionGroup& from = state.plan.groups[state.alike[k]];
    plan::FusionGroup& to = state.plan.groups[k];
    if (!(to.tuning == from.tuning)) to.schedule = scheduled_as(state, to, from);
    to.tuning = from.tuning;
    to.rebuilt = from.rebuilt;
    to.untuned = from.untuned;
  }
}

std::shared_ptr<Executable::State> without_kernels(const Executable::State& state) {
  auto copy = std::make_shared<Executable::State>();
  copy->graph = state.graph;
  copy->plan = state.plan;
  copy->device = state.device;
  copy->nvrtc = state.nvrtc;
  copy->target = state.target;
  copy->threads = state.threads;
  copy->alike = state.alike;
  copy->original = state.original;
  return copy;
}

void say_not_tuned(Executable::State& state, const UserError& why) {
  const std::string text = why.what();
  for (size_t k = 0; k < state.plan.groups.size(); ++k)
    if (has_own_schedule(state, k)) state.plan.groups[k].untuned = text.substr(0, text.find('\n'));
  share_schedules(state);
}

std::vector<std::optional<size_t>> take_fastest(Executable::State& state,
                                                const std::vector<std::vector<schedule::Candidate>>& others,
                                                const Times& times, const std::vector<std::string>& keys) {
  std::vector<std::optional<size_t>> winners(others.size());
  const double gain = state.device.is_gpu ? kGainOnGpu : kGainOnCpu;
  for (size_t k = 0; k < others.size(); ++k) {
    if (!has_own_schedule(state, k)) continue;
    const double first = times.first[k];
    double best = gain * first;
    for (size_t c = 0; c < others[k].size(); ++c)
      if (const double ms = times.others[k][c]; ms >= 0 && ms < best) best = ms, winners[k] = c;
    plan::FusionGroup& group = state.plan.groups[k];
    const plan::Tuning tuning = winners[k] ? others[k][*winners[k]].tuning : group.tuning;
    if (state.device.cache)
      state.device.cache->store(keys[k], schedule::text_of(tuning), runtime::DiskCache::Kind::Note);
    if (!winners[k]) {
      add_reason(group, fmt::format("tuned: the schedule stays, {:.1f} us; {}", 1e3 * first, tried(times.others[k])));
      continue;
    }
    const std::string before = schedule::form_of(*group.schedule);
    const schedule::Candidate& winner = others[k][*winners[k]];
    take(state, k, winner,
         fmt::format("tuned: {:.1f} us with {}, {:.1f} us with {}; {}", 1e3 * best, schedule::form_of(*winner.schedule),
                     1e3 * first, before, tried(times.others[k])));
  }
  return winners;
}

std::string tuned_key(const Executable::State& state, const kernel::Kernel& first, const std::string& source) {
  std::string sizes;
  for (const kernel::Param& p : first.params) {
    const auto size = p.symbol ? state.target.sizes.find(*p.symbol) : state.target.sizes.end();
    if (size != state.target.sizes.end())
      sizes += fmt::format(" {}~2^{}", *p.symbol,
                           std::lround(std::log2(std::max<double>(1, static_cast<double>(size->second)))));
  }
  return fmt::format("tuned\nsmelt {}\n{}\n{}\n{}", SMELT_VERSION, describe(state.device, state.threads), sizes,
                     source);
}

std::optional<schedule::Candidate> tuned_before(const Executable::State& state, size_t group, const std::string& key) {
  std::optional<schedule::Tuning> tuning;
  if (state.settled) {
    if (group < state.settled->tunings.size()) tuning = state.settled->tunings[group];
  } else if (const auto known = state.device.cache->find(key, runtime::DiskCache::Kind::Note)) {
    tuning = schedule::tuning_of(*known);
  }
  if (!tuning || *tuning == state.plan.groups[group].tuning) return std::nullopt;
  // A file says anything; what is proposed can be built.
  for (schedule::Candidate& c : candidates_of(state, group))
    if (c.tuning == *tuning && !schedule::same_form(*c.schedule, *state.plan.groups[group].schedule))
      return std::move(c);
  return std::nullopt;
}

Arrays arrays_of(const Executable::State& state) {
  const Graph& graph = state.graph;
  const SizeBinding& sizes = state.target.sizes;
  Arrays arrays;
  for (const NodeId id : graph.inputs) {
    const Node& node = graph.at(id);
    if (node.shape.empty()) {
      arrays.inputs.push_back(Tensor::empty(node.dtype, {}));
      store_scalar(convert(Scalar::of_int(DType::I64, 1), node.dtype), arrays.inputs.back().data);
      continue;
    }
    const size_t i = arrays.inputs.size();
    const TensorView view = expected_view(state, i, {node.dtype, evaluate(node.shape, sizes), {}}, nullptr);
    Tensor array = empty(state.device, node.dtype, {bytes_across(view) / size_of(node.dtype)});
    fill(state.device, array);
    array.dims = view.dims, array.strides = view.strides;
    arrays.inputs.push_back(std::move(array));
  }
  for (const NodeId id : graph.outputs)
    arrays.outputs.push_back(empty(state.device, graph.at(id).dtype, evaluate(graph.at(id).shape, sizes)));
  arrays.input_views = {arrays.inputs.begin(), arrays.inputs.end()};
  arrays.output_views = {arrays.outputs.begin(), arrays.outputs.end()};
  return arrays;
}

}  // namespace smelt
