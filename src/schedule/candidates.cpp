#include "schedule/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "schedule/parts.hpp"
#include "schedule/propose.hpp"

namespace smelt::schedule {
namespace {

// Predictions of one family are wrong by less than this relative to each other, on a GPU and on a
// CPU; on a GPU those of one kind are right more often than not where they differ by little
// (docs/decisions/004).
constexpr double kDecisive = 1.5, kDecisiveOnCpu = 1.3, kDecisiveAlike = 1.1;

bool is_of_one_kind(const Schedule& a, const Schedule& b) {
  return a.strategy == b.strategy && a.stencil.has_value() == b.stencil.has_value() &&
         a.blocking.has_value() == b.blocking.has_value();
}

std::vector<int64_t> block_of(const Schedule& s) { return s.blocking ? s.blocking->block : std::vector<int64_t>{}; }

// The tile of a product: rows, columns, and terms that are staged at a time.
std::vector<int64_t> tile_of(const Schedule& s) {
  if (s.chain) return {s.chain->product.tile_rows, s.chain->product.tile_inner};
  return s.product ? std::vector<int64_t>{s.product->tile_rows, s.product->tile_columns, s.product->tile_inner}
                   : std::vector<int64_t>{};
}
int split_of(const Schedule& s) { return s.product ? s.product->split : s.chain ? s.chain->product.split : 1; }
bool is_packed(const Schedule& s) { return s.product && !s.product->packed.empty(); }

// Whether lanes are neighbours of a reduced axis.
bool along_rows(const Schedule& s) {
  return s.vector_axis >= 0 && s.domain.axes[static_cast<size_t>(s.vector_axis)].reduced;
}

// That one iteration of a stencil goes down; 0: it is none.
int64_t rows_of(const Schedule& s) { return s.stencil ? s.stencil->chunk : 0; }
bool is_apart(const Schedule& s) { return s.stencil && s.stencil->apart; }

// "16 lanes, 2048 columns at a time"
std::string form_on_cpu(const Schedule& s) {
  std::string form = fmt::format("{} lane{}", s.lanes, s.lanes == 1 ? "" : "s");
  if (s.stencil) return form + fmt::format(", {} rows of {} columns at a time", rows_of(s), s.tile);
  if (s.pieces) return form + fmt::format(", a short row each, {} rows at a time", s.tile);
  if (s.flattened) {
    const size_t axes = s.domain.axes.size() - static_cast<size_t>(s.flat_from);
    const std::string over = s.flat_from > 0 ? fmt::format("the last {}", axes) : "all";
    return form + fmt::format(" over {} axes, {} elements at a time", over, s.tile);
  }
  if (s.strategy == Strategy::Tiled) return form + fmt::format(", tiles of {0} x {0}", s.tile);
  if (s.strategy == Strategy::Scatter)
    return form + (s.scatter == ScatterForm::Copies ? ", copies" : ", parts of the rows");
  if (s.narrow_axis >= 0) return form + fmt::format(", {} elements of whole rows at a time", s.tile);
  if (s.tile > s.lanes)
    return form + fmt::format(", {} {} at a time", s.tile, s.domain.pointwise() ? "elements" : "columns");
  return form + (s.vector_axis >= 0 && !along_rows(s) && !s.domain.pointwise() ? ", a column to each" : "");
}

std::vector<Tuning> proposed(const Schedule& first, const Target& target) {
  switch (first.strategy) {
    case Strategy::Pointwise: return first.blocking ? propose_blocked(first) : propose_pointwise(first);
    case Strategy::Tiled: return propose_tiled(first);
    case Strategy::Stencil: return propose_stencil(first);
    case Strategy::Row: return propose_row(first, target);
    case Strategy::Column: return propose_column(first);
    case Strategy::Split: return propose_split(first);
    case Strategy::Product: return propose_product(first, target);
    case Strategy::Chain: return propose_chain(first);
    case Strategy::Scatter:
    case Strategy::Custom:
    case Strategy::Batch: return {};
  }
  return {};
}

// With lanes as this one has them.
std::vector<Tuning> tunings_like(const Schedule& first, bool turned, const Target& target) {
  std::vector<Tuning> tunings = turned ? propose_column(first) : proposed(first, target);
  if (tunings.empty() || first.product || first.chain) return tunings;
  const std::vector<Tuning> lighter = propose_lighter(first);
  tunings.insert(tunings.end(), lighter.begin(), lighter.end());
  for (Tuning& tuning : tunings) tuning.turned = turned;
  return tunings;
}

}  // namespace

std::string text_of(const Tuning& t) {
  return fmt::format("{} {} {} {} {:d} {:d} {} {:d} {:d}", t.lanes, t.unroll, t.threads, t.cluster, t.turned, t.rings,
                     t.tile, t.split, t.merged);
}

std::optional<Tuning> tuning_of(const std::string& text) {
  std::istringstream from(text);
  Tuning t;
  from >> t.lanes >> t.unroll >> t.threads >> t.cluster >> t.turned >> t.rings >> t.tile >> t.split >> t.merged;
  if (!from || text_of(t) != text) return std::nullopt;
  return t;
}

bool same_form(const Schedule& a, const Schedule& b) {
  return a.turns_results == b.turns_results && a.team == b.team && a.workgroup == b.workgroup && a.lanes == b.lanes &&
         a.unroll == b.unroll && a.tile == b.tile && a.held == b.held && a.flat == b.flat && a.columns == b.columns &&
         a.rows == b.rows && a.flattened == b.flattened && a.flat_from == b.flat_from && a.pieces == b.pieces &&
         a.narrow_axis == b.narrow_axis && along_rows(a) == along_rows(b) && a.strategy == b.strategy &&
         a.scatter == b.scatter && rows_of(a) == rows_of(b) && is_apart(a) == is_apart(b) &&
         (!a.stencil || a.resident == b.resident) && block_of(a) == block_of(b) && tile_of(a) == tile_of(b) &&
         split_of(a) == split_of(b) && is_packed(a) == is_packed(b) && a.domain.axes.size() == b.domain.axes.size();
}

std::string form_of(const Schedule& s) {
  if (s.blocking)
    return fmt::format("{} threads, blocks of {} results to each", s.workgroup, fmt::join(s.blocking->block, " x "));
  if ((s.product || s.chain) && s.team > 0)
    return fmt::format("{} threads, tiles of {}{}{}", s.workgroup, fmt::join(tile_of(s), " x "),
                       split_of(s) > 1 ? fmt::format(" in {} parts", split_of(s)) : "", is_packed(s) ? ", packed" : "");
  if (s.product) return fmt::format("{} lanes, tiles of {}", s.lanes, fmt::join(tile_of(s), " x "));
  if (s.team == 0) return form_on_cpu(s);
  if (s.stencil)
    return fmt::format("{} threads, {} columns{} of {} rows to each, {} workgroup{} to a multiprocessor", s.workgroup,
                       s.lanes, s.stencil->apart ? " apart" : "", rows_of(s), s.resident, s.resident == 1 ? "" : "s");
  return fmt::format("{}{} thread{}{}{}, {} x {} elements to each",
                     s.team < s.workgroup ? fmt::format("{} of ", s.team) : "", s.workgroup,
                     s.workgroup == 1 ? "" : "s",
                     s.team > s.workgroup ? fmt::format(" in clusters of {}", s.team / s.workgroup) : "",
                     s.columns > 0 ? fmt::format(", {} columns", s.columns) : "", s.unroll, s.lanes);
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

namespace {

// Candidates of one group, each form once.
class List {
 public:
  List(const Graph& graph, const Group& group, const Options& options)
      : graph_(graph), group_(group), options_(options) {}

  void add(Candidate candidate) {
    // Rings that a tuning makes too large leave every element on its own, which computes its whole
    // neighbourhood again: the model does not count that, and its text may grow without end.
    if (!found_.empty() && found_[0].schedule->stencil && !candidate.schedule->stencil) return;
    const auto same = [&](const Candidate& c) { return same_form(*c.schedule, *candidate.schedule); };
    if (std::none_of(found_.begin(), found_.end(), same)) found_.push_back(std::move(candidate));
  }
  std::optional<Refusal> add(const Tuning& tuning) {
    auto made = candidate(graph_, group_, options_, tuning);
    if (const auto* refusal = std::get_if<Refusal>(&made)) return *refusal;
    add(std::get<Candidate>(std::move(made)));
    return std::nullopt;
  }
  void add_all(const std::vector<Tuning>& tunings) {
    for (const Tuning& tuning : tunings) add(tuning);
  }

  // What the families propose besides the first.
  void add_on_gpu() {
    const std::shared_ptr<const Schedule> first = found_[0].schedule;  // the list grows
    std::shared_ptr<const Schedule> turned;
    if ((first->stencil || may_turn(first->domain)) && !add(Tuning{.turned = true})) turned = found_.back().schedule;
    if (first->strategy == Strategy::Pointwise && !first->blocking) add(Tuning{.rings = true});
    add_all(tunings_like(*first, options_.tuning.turned, options_.target));
    if (turned) add_all(tunings_like(*turned, true, options_.target));
  }
  void add_on_cpu(Proposed which) { add_all(propose_on_cpu(*found_[0].schedule, options_.target, which)); }

  const Schedule& first() const { return *found_[0].schedule; }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  const Graph& graph_;
  const Group& group_;
  const Options& options_;
  std::vector<Candidate> found_;
};

}  // namespace

std::variant<std::vector<Candidate>, Refusal> candidates(const Graph& graph, const Group& group,
                                                         const Options& options) {
  List list(graph, group, options);
  if (auto refusal = list.add(options.tuning)) return *refusal;
  if (options.target.gpu)
    list.add_on_gpu();
  else if (!options.target.plain)
    list.add_on_cpu(Proposed::All);
  return list.take();
}

std::optional<Candidate> far_better(const Graph& graph, const Group& group, const Options& options,
                                    std::shared_ptr<const Schedule> own) {
  const bool gpu = options.target.gpu;
  if ((!gpu && options.target.plain) || !(options.tuning == Tuning{})) return std::nullopt;
  const double decisive = gpu ? kDecisive : kDecisiveOnCpu;
  const double least_gain = gpu && !own->product && !own->chain ? kDecisiveAlike : decisive;
  const bool reduces = !gpu && !own->domain.pointwise();
  Options judged = options;
  if (reduces) {
    // A family's choice may follow from the threads; what is compared with it must not.
    judged.target.threads = kThreadsOfACpu;
    auto made = make_schedule(graph, group, judged);
    if (!std::holds_alternative<Schedule>(made)) return std::nullopt;
    own = std::make_shared<const Schedule>(std::get<Schedule>(std::move(made)));
  }
  const Cost cost = predict(graph, group, *own, judged);
  // Nothing is faster than memory, which spares the others where memory is the limit.
  if (cost.us < least_gain * (cost.launch_us + cost.memory_us)) return std::nullopt;
  List list(graph, group, judged);
  list.add({options.tuning, std::move(own), cost});
  if (gpu && list.first().product)
    list.add(without_tiles());  // its tiles are the best of all that are proposed
  else if (gpu)
    list.add_on_gpu();
  else
    list.add_on_cpu(Proposed::Decisive);
  std::vector<Candidate> all = list.take();
  const auto loses = [&](const Candidate& c) {
    return c.cost.us * (is_of_one_kind(*c.schedule, *all[0].schedule) ? least_gain : decisive) > cost.us;
  };
  all.erase(std::remove_if(all.begin() + 1, all.end(), loses), all.end());
  if (all.size() == 1) return std::nullopt;
  const auto least = std::min_element(all.begin(), all.end(),
                                      [](const Candidate& a, const Candidate& b) { return a.cost.us < b.cost.us; });
  // The first of equal ones, the family's choice: they are proposed in this order.
  const auto best =
      std::find_if(all.begin(), all.end(), [&](const Candidate& c) { return c.cost.us <= kAlike * least->cost.us; });
  // A reduction must win on one thread too, which seldom waits for others.
  if (reduces) {
    Options alone = judged;
    alone.target.threads = 1;
    const Cost family = predict(graph, group, *all[0].schedule, alone);
    if (predict(graph, group, *best->schedule, alone).us * decisive > family.us) return std::nullopt;
  }
  return std::move(*best);
}

}  // namespace smelt::schedule
