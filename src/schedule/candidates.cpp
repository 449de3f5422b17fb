#include "schedule/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/parts.hpp"
#include "schedule/propose.hpp"

namespace smelt::schedule {
namespace {

// Predictions of one family are wrong by less than this beside each other.
constexpr double kDecisive = 1.5;
// Differences that say nothing.
constexpr double kAlike = 1.05;

std::vector<int64_t> block_of(const Schedule& s) { return s.blocking ? s.blocking->block : std::vector<int64_t>{}; }

// Whether lanes are neighbours of a reduced axis.
bool along_rows(const Schedule& s) {
  return s.vector_axis >= 0 && s.domain.axes[static_cast<size_t>(s.vector_axis)].reduced;
}

// That one iteration of a stencil goes down; 0: it is none.
int64_t rows_of(const Schedule& s) { return s.stencil ? s.stencil->chunk : 0; }

std::vector<Tuning> proposed(const Schedule& first, const Target& target) {
  switch (first.strategy) {
    case Strategy::Pointwise: return first.blocking ? propose_blocked(first) : propose_pointwise(first);
    case Strategy::Tiled: return propose_tiled(first);
    case Strategy::Stencil: return propose_stencil(first);
    case Strategy::Row: return propose_row(first, target);
    case Strategy::Column: return propose_column(first);
    case Strategy::Split: return propose_split(first);
    case Strategy::Scatter:
    case Strategy::Custom:
    case Strategy::Batch: return {};
  }
  return {};
}

// With lanes as this one has them.
std::vector<Tuning> tunings_like(const Schedule& first, bool turned, const Target& target) {
  std::vector<Tuning> tunings = turned ? propose_column(first) : proposed(first, target);
  if (tunings.empty()) return tunings;
  const std::vector<Tuning> lighter = propose_lighter(first);
  tunings.insert(tunings.end(), lighter.begin(), lighter.end());
  for (Tuning& tuning : tunings) tuning.turned = turned;
  return tunings;
}

}  // namespace

bool same_form(const Schedule& a, const Schedule& b) {
  return a.team == b.team && a.workgroup == b.workgroup && a.lanes == b.lanes && a.unroll == b.unroll &&
         a.tile == b.tile && a.held == b.held && a.flat == b.flat && a.columns == b.columns &&
         along_rows(a) == along_rows(b) && a.strategy == b.strategy && rows_of(a) == rows_of(b) &&
         block_of(a) == block_of(b);
}

std::string form_of(const Schedule& s) {
  if (s.blocking)
    return fmt::format("{} threads, blocks of {} results to each", s.workgroup, fmt::join(s.blocking->block, " x "));
  if (s.stencil) return fmt::format("{} threads, {} columns of {} rows to each", s.workgroup, s.lanes, rows_of(s));
  if (s.team == 0) return fmt::format("{} lane{}", s.lanes, s.lanes == 1 ? "" : "s");
  return fmt::format(
      "{}{} thread{}{}, {} x {} elements to each", s.team < s.workgroup ? fmt::format("{} of ", s.team) : "",
      s.workgroup, s.workgroup == 1 ? "" : "s",
      s.team > s.workgroup ? fmt::format(" in clusters of {}", s.team / s.workgroup) : "", s.unroll, s.lanes);
}

std::variant<Candidate, Refusal> candidate(const Graph& graph, const Group& group, Options options,
                                           const Tuning& tuning) {
  options.tuning = tuning;
  auto made = make_schedule(graph, group, options);
  if (const auto* refusal = std::get_if<Refusal>(&made)) return *refusal;
  auto schedule = std::make_shared<const Schedule>(std::get<Schedule>(std::move(made)));
  const Cost cost = predict(graph, group, *schedule, options);
  return Candidate{tuning, std::move(schedule), cost};
}

std::variant<std::vector<Candidate>, Refusal> candidates(const Graph& graph, const Group& group,
                                                         const Options& options) {
  std::vector<Candidate> found;
  const auto add = [&](const Tuning& tuning) -> std::optional<Refusal> {
    auto made = candidate(graph, group, options, tuning);
    if (const auto* refusal = std::get_if<Refusal>(&made)) return *refusal;
    Candidate& other = std::get<Candidate>(made);
    // Rings that a tuning makes too large leave every element on its own, which computes its whole
    // neighbourhood again: the model does not count that, and its text may grow without end.
    if (!found.empty() && found[0].schedule->stencil && !other.schedule->stencil) return std::nullopt;
    const auto same = [&](const Candidate& c) { return same_form(*c.schedule, *other.schedule); };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(other));
    return std::nullopt;
  };
  if (auto refusal = add(options.tuning)) return *refusal;
  if (!options.target.gpu) return found;
  const auto add_like = [&](const std::shared_ptr<const Schedule>& first, bool turned) {
    for (const Tuning& tuning : tunings_like(*first, turned, options.target)) add(tuning);
  };
  const std::shared_ptr<const Schedule> first = found[0].schedule;  // the list grows
  std::shared_ptr<const Schedule> turned;
  if (may_turn(first->domain) && !add({.turned = true})) turned = found.back().schedule;
  if (first->strategy == Strategy::Pointwise && !first->blocking) add({.rings = true});
  add_like(first, options.tuning.turned);
  if (turned) add_like(turned, true);
  return found;
}

std::optional<Candidate> far_better(const Graph& graph, const Group& group, const Options& options,
                                    const Schedule& own) {
  if (!options.target.gpu) return std::nullopt;
  const Cost cost = predict(graph, group, own, options);
  // Nothing is faster than memory, which spares the others where memory is the limit.
  if (cost.us < kDecisive * (cost.launch_us + cost.memory_us)) return std::nullopt;
  auto found = candidates(graph, group, options);
  auto* all = std::get_if<std::vector<Candidate>>(&found);
  if (!all) return std::nullopt;
  const auto least = std::min_element(all->begin(), all->end(),
                                      [](const Candidate& a, const Candidate& b) { return a.cost.us < b.cost.us; });
  if (least->cost.us * kDecisive > cost.us) return std::nullopt;
  // Of those that are alike the one that its family would choose: they are proposed in this order.
  const auto best =
      std::find_if(all->begin(), all->end(), [&](const Candidate& c) { return c.cost.us <= kAlike * least->cost.us; });
  return std::move(*best);
}

}  // namespace smelt::schedule
