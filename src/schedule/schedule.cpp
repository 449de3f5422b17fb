#include "schedule/schedule.hpp"
#include "graph/custom_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "schedule/candidates.hpp"
#include "schedule/cost.hpp"
#include "schedule/local.hpp"
#include "schedule/parts.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Operations that one more kernel's start is worth: of a core of a CPU; of a thread of a GPU, one
// after the other, and of all its threads.
constexpr double kLaunchOperations = 5000, kLaunchOfAThread = 2500, kLaunchOfAGpu = 1e8;

// A call of the user's code is alone in its group; nothing for groups without one.
std::optional<std::variant<Schedule, Refusal>> own_code(const Graph& graph, const Group& group,
                                                        const Options& options) {
  const CustomUse* use = nullptr;
  for (const NodeId id : group.nodes)
    if (graph.at(id).custom) use = graph.at(id).custom.get();
  if (!use) return std::nullopt;
  if (std::any_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) { return graph.at(id).custom.get() != use; }))
    return Refusal{fmt::format("fusion stops here: custom {} is code of your own", use->code->name),
                   "writing it in operations, or as a scalar function"};
  Schedule own;
  own.strategy = Strategy::Custom;
  const bool on_host = use->code->on_host && (!use->code->cuda || options.target.plain);
  own.note = !options.target.gpu ? "your C++ function"
             : on_host           ? "your C++ function, on copies of its arrays in host memory"
                                 : "your CUDA kernel";
  return own;
}

}  // namespace

static bool is_short(const Axis& axis) { return axis.extent.constant().value_or(kMostLanes) <= kMostJoined; }

// The operations of all points.
static double work_of(const Domain& domain) { return domain.work * static_cast<double>(domain.estimate(false)); }

// The short axes behind the last long one, with which loops would be over a few elements.
static ShortAxes last_short_axes(const Domain& domain) {
  ShortAxes last = 0;
  int d = 0;
  for (const Axis& axis : domain.axes) {
    if (axis.extent.is(1)) continue;
    last = is_short(axis) ? last | 1U << (d % 32) : 0;
    ++d;
  }
  return last;
}

// The same loops without the short axes along which elements share operations, and the last ones;
// on a GPU without all where none share any, since they may share what is read.
static std::optional<Domain> short_axes_apart(const Graph& graph, const Group& group, const Domain& domain,
                                              const Options& options) {
  constexpr double kShared = 0.9;
  constexpr int kMostAxes = 6;
  if (!domain.pointwise() || options.tuning.merged || domain.axes.size() < 2) return std::nullopt;
  if (options.target.gpu && domain.overlap) return std::nullopt;
  const auto is_loop = [&](NodeId id) {
    return graph.at(id).local && local_elements(graph, graph.at(id)) > kMostWrittenOut;
  };
  if (std::none_of(domain.axes.begin(), domain.axes.end(), is_short) ||
      std::any_of(group.nodes.begin(), group.nodes.end(), is_loop))
    return std::nullopt;
  const auto without = [&](ShortAxes apart) -> std::optional<Domain> {
    auto found = find_domain(graph, group, options.sizes, Online::Nothing, apart);
    Domain* points = std::get_if<Domain>(&found);
    return points ? std::optional(std::move(*points)) : std::nullopt;
  };
  ShortAxes sharing = 0, all = 0;
  std::optional<Domain> best;
  for (int d = 0; d < kMostAxes; ++d) {
    auto points = without(1U << d);
    if (!points) continue;
    all |= 1U << d;
    if (work_of(*points) > kShared * work_of(domain)) continue;
    sharing |= 1U << d;
    if (!best || work_of(*points) < work_of(*best)) best = std::move(points);
  }
  const ShortAxes together = sharing | (options.target.gpu && sharing == 0 ? all : all & last_short_axes(domain));
  for (const ShortAxes apart : {together, sharing}) {
    if (std::popcount(apart) < 2 && best) break;
    if (apart == 0) continue;
    if (auto points = without(apart)) {
      best = std::move(points);
      break;
    }
  }
  if (best) merge_axes(graph, *best);
  return best;
}

// What the elements of a point share is computed once where a thread or a lane has whole points:
// that is worth it where it saves most of the operations, or where it is predicted to be faster.
static std::variant<Schedule, Refusal> elements_or_points(const Graph& graph, Domain elements, const Group& group,
                                                          const Options& options) {
  constexpr double kSaved = 0.6, kFewOperations = 24, kFaster = 0.9;
  const auto make = [&](Domain domain) -> std::variant<Schedule, Refusal> {
    if (options.target.gpu) return gpu_schedule(graph, std::move(domain), group, options);
    for (const auto& repeated : {domain.overlap, domain.broadcast})
      if (repeated) return *repeated;
    return cpu_schedule(graph, std::move(domain), group, options);
  };
  auto points = short_axes_apart(graph, group, elements, options);
  merge_axes(graph, elements);
  if (!points) return make(std::move(elements));
  const bool repeats = elements.overlap || elements.broadcast;
  const bool saves = elements.work >= kFewOperations && work_of(*points) <= kSaved * work_of(elements);
  auto of_elements = make(std::move(elements));
  const auto* own = std::get_if<Schedule>(&of_elements);
  // Blocks of results share what they read as well.
  if (own && own->blocking) return of_elements;
  if (!own && !repeats) return of_elements;
  auto of_points = make(std::move(*points));
  const auto* apart = std::get_if<Schedule>(&of_points);
  if (apart && (saves || !own)) return of_points;
  // A stencil over a short axis has few lanes.
  if (!own) return of_elements;
  const bool comparable =
      own->strategy == Strategy::Pointwise || (own->strategy == Strategy::Stencil && !options.target.gpu);
  if (!apart || !comparable || apart->strategy != Strategy::Pointwise) return of_elements;
  // The threads at hand must not decide the order of sums.
  Options judged = options;
  if (!judged.target.gpu) judged.target.threads = kThreadsOfACpu;
  const auto us = [&](const Schedule& s) { return predict(graph, group, s, judged).us; };
  return us(*apart) < kFaster * us(*own) ? std::move(of_points) : std::move(of_elements);
}

static std::variant<Schedule, Refusal> choose(const Graph& graph, const Group& group, const Options& options) {
  if (auto own = own_code(graph, group, options)) return std::move(*own);
  if (has_scatter(graph, group)) return scatter_schedule(graph, group, options);
  if (auto chain = chain_on_gpu(graph, group, options)) return std::move(*chain);
  auto found = find_domain(graph, group, options.sizes);
  if (auto* refusal = std::get_if<Refusal>(&found)) return *refusal;
  Domain domain = std::get<Domain>(std::move(found));
  // A GPU reads lines of either direction.
  if (!options.target.gpu) follow_direction(graph, domain, options.sizes);
  return elements_or_points(graph, std::move(domain), group, options);
}

// Whether a GPU does all operations, those that are done again among them, while memory moves what
// the kernel reads and writes: then they cost nothing. A thread that has a short row to itself does
// each of them once: all indices are constants of its code.
static bool waits_for_memory(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  constexpr double kShare = 0.8;  // of the time of memory
  const TargetFacts facts = facts_of(options.target);
  const auto points = static_cast<double>(s.domain.estimate(false) * s.domain.estimate(true));
  const bool whole_row = s.strategy == Strategy::Row && s.team == 1 && s.held && s.domain.reduced_count().constant();
  const double operations = (whole_row ? s.domain.once : s.domain.again) * points;
  const double operations_us = operations / (facts.operations * facts.processors);
  return operations_us <= kShare * predict(graph, group, s, options).memory_us;
}

// A stencil weighs what it computes again itself; rows, windows and small arrays know no rings.
static std::string repeats_too_much(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  const Target& target = options.target;
  const Domain& domain = s.domain;
  const bool plain =
      domain.pointwise() && !domain.stores_components() &&
      std::none_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) { return graph.at(id).local; });
  const auto points = static_cast<double>(domain.estimate(false) * domain.estimate(true));
  const bool small = points < kSmallStencil;
  if (!small && plain) return "";
  const double most = target.gpu ? std::min(kLaunchOfAThread, kLaunchOfAGpu / std::max(1.0, points))
                                 : kLaunchOperations / std::max(1.0, points);
  if (domain.again <= domain.once + kRoundTrip + most) return "";
  if (target.gpu && !target.plain && waits_for_memory(graph, group, s, options)) return "";
  return fmt::format("{:.0f} operations an element would become {:.0f}, since values are needed at several indices",
                     domain.once, domain.again);
}

// Teams that meet have workgroups of their own; threads that work alone share one.
static void alone_in_workgroups(Schedule& s) {
  s.plain = true;
  if (s.team > 1) s.workgroup = s.team;
}

// Iterations of an OpenCL device that is a CPU: starting a workgroup takes about as long as some
// hundred elements do. All cores get several workgroups.
static void share_workgroups(Schedule& s, const Target& target) {
  constexpr int64_t kElements = 4096, kMostIterations = 64, kWorkgroupsPerCore = 16;
  const int64_t kept = s.domain.estimate(false), reduced = s.domain.estimate(true);
  int64_t elements = kElements;
  if (s.strategy == Strategy::Row) elements = reduced;
  if (s.strategy == Strategy::Column) elements = reduced * std::max<int64_t>(1, s.tile);
  if (s.strategy == Strategy::Pointwise && !s.flattened && !s.domain.axes.empty())
    elements = std::min(std::max<int64_t>(1, s.tile), s.domain.axes.back().estimate);
  const int64_t all = kept * reduced / std::max<int64_t>(1, elements) / (kWorkgroupsPerCore * target.threads);
  const int64_t most = std::min<int64_t>(kMostIterations, target.workgroup);
  const int64_t iterations = std::min({kElements / std::max<int64_t>(1, elements), most, all});
  s.workgroup = static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, iterations))));
}

std::variant<Schedule, Refusal> make_schedule(const Graph& graph, const Group& group, const Options& options) {
  auto made = choose(graph, group, options);
  if (auto* s = std::get_if<Schedule>(&made)) {
    if (s->unprofitable.empty()) {
      s->unprofitable = repeats_too_much(graph, group, *s, options);
      s->repeats = !s->unprofitable.empty();
    }
    if (s->unprofitable.empty() && s->product) s->unprofitable = why_stored_before(graph, group, *s->product);
    if (!options.target.gpu) s->cache_bytes = options.target.l3_bytes;
    if (options.target.plain) alone_in_workgroups(*s);
    if (options.target.plain && !options.target.gpu) share_workgroups(*s, options.target);
    if (options.target.plain && s->workgroup > options.target.workgroup && !options.tuning.threads) {
      Options fewer = options;
      fewer.tuning.threads = options.target.workgroup;
      return make_schedule(graph, group, fewer);
    }
  }
  return made;
}

// Parts of one launch of a GPU have workgroups of one size; clusters and launches in several steps
// stay alone, and so do stencils. On a CPU any loops can run side by side, and what reads and
// writes in like order is put together.
std::string batch_word(const Graph& graph, const Group& group, const Schedule& s, const Target& target) {
  // A checked gather reports to the word of its launch; scans are launches in order.
  const auto alone = [&](NodeId id) {
    const Node& node = graph.at(id);
    return node.kind == NodeKind::Scan || (node.kind == NodeKind::Gather && node.gather == GatherMode::Check);
  };
  const bool loops = s.strategy == Strategy::Pointwise || s.strategy == Strategy::Tiled ||
                     s.strategy == Strategy::Row || s.strategy == Strategy::Column;
  if (!loops || target.plain || std::any_of(group.nodes.begin(), group.nodes.end(), alone)) return "";
  if (!target.gpu) return std::string(name_of(s.strategy));
  return s.team > s.workgroup ? "" : fmt::format("{} {} {}", name_of(s.strategy), s.team, s.workgroup);
}

}  // namespace smelt::schedule
