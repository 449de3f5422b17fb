// Where a plan is cut and why, what that costs, and what the cost model holds to gain most.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/isolate.hpp"
#include "report/explain_parts.hpp"
#include "report/traffic.hpp"
#include "report/units.hpp"
#include "schedule/candidates.hpp"

namespace smelt::report {

int64_t total_bytes(const Explanation& e, const std::vector<NodeId>& values) {
  int64_t bytes = 0;
  for (const NodeId id : values) bytes += bytes_of(e.graph, id, e.sizes);
  return bytes;
}

std::optional<double> measured_us(const Explanation& e, size_t kernel, const Considered& c) {
  if (c.measured_ms >= 0) return 1e3 * c.measured_ms;
  if (c.chosen && kernel < e.times.size()) return 1e3 * e.times[kernel].measured_ms.median;
  return std::nullopt;
}

std::optional<schedule::Cost> predicted(const Explanation& e, size_t kernel) {
  return e.outlook ? e.outlook->own.kernels[kernel] : std::nullopt;
}

std::string microseconds(double us, int digits) { return format_significant(us, digits) + " µs"; }

namespace {

constexpr double kWorthSaying = 0.05;  // of the whole time

// The first decision or input that keeps two kernels apart.
std::string remedy_of(const Explanation& e, const plan::Boundary& b) {
  return b.decisions.empty() ? e.plan.read_again[b.read_again[0]].remedy : e.plan.decisions[b.decisions[0]].remedy;
}

const plan::Boundary* boundary_of(const Explanation& e, size_t decision) {
  if (!e.outlook) return nullptr;
  for (const plan::Boundary& b : e.outlook->boundaries)
    if (std::find(b.decisions.begin(), b.decisions.end(), decision) != b.decisions.end()) return &b;
  return nullptr;
}

const plan::Boundary* boundary_of_input(const Explanation& e, size_t again) {
  if (!e.outlook) return nullptr;
  for (const plan::Boundary& b : e.outlook->boundaries)
    if (std::find(b.read_again.begin(), b.read_again.end(), again) != b.read_again.end()) return &b;
  return nullptr;
}

// What the cost model says of two kernels as one.
std::string cost_lines(const plan::Boundary* b) {
  if (!b) return "";
  if (b->one_us)
    return fmt::format("         predicted: {} as one kernel, {} as two\n", microseconds(*b->one_us),
                       microseconds(b->two_us));
  return b->gain_us >= 0.1 && b->avoidable ? fmt::format("         predicted: {} as two kernels, at least {} as one\n",
                                                         microseconds(b->two_us), microseconds(b->two_us - b->gain_us))
                                           : "";
}

// What would change it. A rule of the planner that the cost model contradicts is no reason to call
// a cut unavoidable.
std::string remedy_line(const std::string& remedy, const plan::Boundary* b) {
  if (b && b->one_us && b->two_us > schedule::kAlike * *b->one_us)
    return "         to change it: nothing in the program; smelt cuts here although one kernel is predicted to be "
           "faster\n";
  return remedy.empty() ? "" : fmt::format("         to change it: {}\n", remedy);
}

std::string decision_text(const Explanation& e, const plan::Decision& d, const Style& style) {
  const std::string edge =
      fmt::format("{} -> {}", name_of_value(e.graph, d.producer), name_of_value(e.graph, d.consumer));
  std::string out = fmt::format("  {}  {}: {}", d.fused ? style.good("fused") : style.warn("cut  "), edge, d.reason);
  if (!d.value_policy.empty()) out += fmt::format(" (value {})", d.value_policy);
  out += fmt::format("; {} {}\n", d.fused ? "saves" : "costs", format_bytes(d.bytes));
  return out + remedy_line(d.remedy, nullptr);
}

std::string read_again_text(const Explanation& e, size_t again, const Style& style) {
  const plan::ReadAgain& r = e.plan.read_again[again];
  const plan::Boundary* boundary = boundary_of_input(e, again);
  return fmt::format("  {}  {} is read for {} and again for {}: {}; costs {}\n{}{}", style.warn("again"),
                     name_of_value(e.graph, r.input), name_of_value(e.graph, r.first), name_of_value(e.graph, r.again),
                     r.reason, format_bytes(r.bytes), cost_lines(boundary), remedy_line(r.remedy, boundary));
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

std::string all_edges(const Explanation& e, const Style& style) {
  const std::set<NodeId> repeated = in_like_parts(e);
  size_t alike = 0;
  std::string out;
  for (const plan::Decision& d : e.plan.decisions)
    if (d.fused && repeated.count(d.producer) && repeated.count(d.consumer))
      ++alike;
    else
      out += decision_text(e, d, style);
  for (size_t r = 0; r < e.plan.read_again.size(); ++r) out += read_again_text(e, r, style);
  if (alike) out += fmt::format("  and {} like these, in other parts of the same launch\n", alike);
  return out;
}

// Edges that are cut between the same two kernels for the same reason.
struct Cut {
  const plan::Boundary* boundary;
  const plan::Decision* first;  // whose words they share
  std::vector<std::string> edges;
  int64_t bytes = 0;
};

std::vector<Cut> cuts(const Explanation& e) {
  std::vector<Cut> all;
  for (size_t i = 0; i < e.plan.decisions.size(); ++i) {
    const plan::Decision& d = e.plan.decisions[i];
    if (d.fused) continue;
    const plan::Boundary* boundary = boundary_of(e, i);
    auto same = std::find_if(all.begin(), all.end(), [&](const Cut& c) {
      return c.boundary == boundary && c.first->reason == d.reason && c.first->remedy == d.remedy;
    });
    if (same == all.end()) same = all.insert(all.end(), {boundary, &d, {}, 0});
    const std::string edge =
        fmt::format("{} -> {}", label_of(e.graph.at(d.producer)), label_of(e.graph.at(d.consumer)));
    if (std::find(same->edges.begin(), same->edges.end(), edge) == same->edges.end()) same->edges.push_back(edge);
    same->bytes += d.bytes;
  }
  return all;
}

std::string cut_text(const Cut& cut, const Style& style) {
  constexpr size_t kMost = 3;
  std::vector<std::string> edges = cut.edges;
  const size_t more = edges.size() > kMost + 1 ? edges.size() - kMost : 0;
  if (more) edges.resize(kMost);
  std::string out = fmt::format(
      "  {}  {}{}{}: {}; costs {}\n", style.warn("cut  "), fmt::join(edges, ", "),
      more ? fmt::format(" and {} more", more) : "",
      cut.boundary ? fmt::format(" (kernel {} to kernel {})", cut.boundary->first + 1, cut.boundary->second + 1) : "",
      cut.first->reason, format_bytes(cut.bytes));
  return out + cost_lines(cut.boundary) + remedy_line(cut.first->remedy, cut.boundary);
}

}  // namespace

std::string edges_text(const Explanation& e, const Style& style) {
  if (e.plan.decisions.empty() && e.plan.read_again.empty())
    return "  none: no operation reads what another one computes\n";
  if (e.all_edges) return all_edges(e, style);
  std::string out;
  for (const Cut& cut : cuts(e)) out += cut_text(cut, style);
  for (size_t r = 0; r < e.plan.read_again.size(); ++r) out += read_again_text(e, r, style);
  const auto fused =
      std::count_if(e.plan.decisions.begin(), e.plan.decisions.end(), [](const plan::Decision& d) { return d.fused; });
  if (fused > 0)
    out += fmt::format("  {}{} edge{} fused{}\n", out.empty() && fused > 1 ? "all " : "", fused,
                       fused == 1 ? " is" : "s are",
                       !e.names_options ? ""
                       : fused == 1     ? "; --edges lists it"
                                        : "; --edges lists them");
  return out;
}

double speedup(const Outlook& outlook) { return outlook.own.us > 0 ? outlook.unfused_us / outlook.own.us : 0; }

std::vector<Advice> advice(const Explanation& e) {
  std::vector<Advice> all;
  if (!e.outlook) return all;
  const Outlook& o = *e.outlook;
  if (!o.fuses) all.push_back({"run with fusion", "fusion", {}, o.own.us - o.fused_us});
  for (const plan::Boundary& b : o.boundaries)
    if (b.avoidable && b.gain_us > 0)
      all.push_back({fmt::format("make one kernel of kernels {} and {} (what allows it: {})", b.first + 1, b.second + 1,
                                 remedy_of(e, b)),
                     "boundary",
                     {b.first, b.second},
                     b.gain_us});
  for (const plan::FasterSchedule& f : o.faster)
    all.push_back({fmt::format("--tune: kernel {} is predicted to take {} with {}, and {} with {}", f.kernel + 1,
                               microseconds(f.us), schedule::form_of(*f.schedule), microseconds(f.own_us),
                               schedule::form_of(*e.plan.groups[f.kernel].schedule)),
                   "schedule",
                   {f.kernel},
                   f.own_us - f.us});
  std::erase_if(all, [&](const Advice& a) { return a.gain_us < kWorthSaying * o.own.us; });
  std::stable_sort(all.begin(), all.end(), [](const Advice& a, const Advice& b) { return a.gain_us > b.gain_us; });
  return all;
}

std::string summary_text(const Explanation& e, const Style& style) {
  const plan::Traffic& t = e.plan.traffic;
  std::string out = fmt::format("  {}   {} moved, {} unfused: {:.2f} % saved\n", style.bold("bytes"),
                                format_bytes(t.fused_bytes), format_bytes(t.unfused_bytes), t.savings_pct());
  if (!e.outlook) return out + "\n";
  const Outlook& o = *e.outlook;
  double measured = 0;
  for (const KernelTime& time : e.times) measured += 1e3 * time.measured_ms.median;
  const std::string other =
      o.fuses ? fmt::format("{} unfused: {:.2f} times as fast", microseconds(o.unfused_us), speedup(o))
              : microseconds(o.fused_us) + " with fusion";
  out += fmt::format("  {}    {}{} predicted{}, {}\n", style.bold("time"),
                     e.times.empty() ? "" : microseconds(measured) + " measured, ", microseconds(o.own.us),
                     o.own.complete ? "" : " without your own code", other);
  const std::vector<Advice> known = advice(e);
  out += fmt::format("  {}  ", style.bold("change"));
  if (known.empty()) return out + "nothing that is predicted to gain 5 % or more\n\n";
  return out + fmt::format("{}; predicted to gain {}{} ({:.0f} %)\n\n", known[0].what,
                           known[0].kind == "boundary" ? "up to " : "", microseconds(known[0].gain_us),
                           100 * known[0].gain_us / o.own.us);
}

}  // namespace smelt::report
