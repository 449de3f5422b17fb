// Loads of Vector loops that are made early: in words where lanes are neighbours.
#include <algorithm>
#include <cstdlib>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

// An element, from its register where another lane of the group has read it.
std::string PhasePrinter::element_or_lane(ExprId id) {
  const std::string itself = element(load_at(id).access);
  const auto found = from_lane_.find(id);
  if (found == from_lane_.end() || vector_.edge) return itself;
  const kernel::FromLane& from = found->second;
  const std::string lane = fmt::format("l {} {}", from.distance < 0 ? "-" : "+", std::abs(from.distance));
  return fmt::format("((unsigned)({0}) < {1}u ? ld{2}[u * {1} + {0}] : {3})", lane, vector_.lanes, from.group, itself);
}

// The lanes of one group: one access when they are neighbours.
void PhasePrinter::load_group(const kernel::EarlyLoad& early) {
  const ExprId id = early.load;
  const Load& e = load_at(id);
  vector_.grouped = true;
  const Place p = place(e.access);
  const std::string type = memory_type(p.dtype);
  if (const int step = early.step) {
    const int lanes = std::min(vector_.lanes, 16 / size_of(p.dtype)), chunks = vector_.lanes / lanes;
    const std::string_view helper = name_of(early.cached);
    // By words what is converted by words, and what a mask would choose element by element.
    const bool masked = e.mask != kNoExpr, small = size_of(p.dtype) < 4 && lanes * size_of(p.dtype) % 4 == 0;
    const bool words = step > 0 && small && ((masked && !helper.empty()) || early_bytes_.count(id));
    const std::string unit = words ? "unsigned" : type;
    const int units = words ? lanes * size_of(p.dtype) / 4 : lanes;
    const std::string as = e.access.scratch && is_bool(p.dtype) ? fmt::format("(const {}*)", type) : "";
    const std::string from =
        fmt::format("{}{} + {}", as, p.base, integer(step > 0 ? p.offset : p.offset - (vector_.lanes - 1)));
    line("const {}* const p{} = {};", unit, id, words ? "(const unsigned*)(" + from + ")" : from);
    if (step < 0) {
      line("__align__(16) {} back{}[{}];", type, id, vector_.lanes);
      for (int c = 0; c < chunks; ++c)
        line("*(Vec<{0}, {1}>*)&back{2}[{3}] = *(const Vec<{0}, {1}>*)(p{2} + {3});", type, lanes, id, c * lanes);
      line("#pragma unroll");
      line("for (int l = 0; l < {0}; ++l) ld{1}[u * {0} + l] = back{1}[{0} - 1 - l];", vector_.lanes, id);
      vector_.grouped = false;
      return;
    }
    const std::string vec = fmt::format("Vec<{}, {}>", unit, units);
    const std::string read = helper.empty() ? fmt::format("*(const {}*)", vec)
                                            : fmt::format("{}<{}, {}>", used_(std::string(helper)), unit, units);
    const std::string inside = masked ? value(e.mask) + " ? " : "", otherwise = masked ? " : " + vec + "{}" : "";
    for (int c = 0; c < chunks * early.apart(); ++c)
      line("*({}*)&ld{}[u * {} + {}] = {}{}(p{} + {}){};", vec, id, vector_.lanes * early.apart(), c * lanes, inside,
           read, id, c * units, otherwise);
    vector_.grouped = false;
    return;
  }
  if (early.shared) {
    const std::string inside = e.mask == kNoExpr ? "" : value(e.mask) + " ? ";
    line("const {0} one{1} = {2}{3}{4};", type, id, inside, element(e.access),
         inside.empty() ? "" : fmt::format(" : ({})0", type));
    line("#pragma unroll");
    line("for (int l = 0; l < {0}; ++l) ld{1}[u * {0} + l] = one{1};", vector_.lanes, id);
    vector_.grouped = false;
    return;
  }
  vector_.grouped = false;
  if (vector_.lanes > 1) {
    line("#pragma unroll");
    open(fmt::format("for (int l = 0; l < {}; ++l)", vector_.lanes));
    line("const {} i = i0 + l;", index_type());
    line("const int n = u * {} + l; (void)n;", vector_.lanes);
    line("ld{}[u * {} + l] = {};", id, vector_.lanes, element_or_lane(id));
    close();
  } else if (!early.next.empty()) {
    const std::string vec = fmt::format("Vec<{}, {}>", type, early.next.size() + 1);
    line("const {} i = i0;", index_type());
    line("const int n = u * {}; (void)n;", vector_.lanes);
    line("const {0} w = *(const {0}*)({1} + {2});", vec, p.base, integer(p.offset));
    line("ld{}[u] = w.at[0];", id);
    for (size_t k = 0; k < early.next.size(); ++k) line("ld{}[u] = w.at[{}];", early.next[k], k + 1);
  } else {
    line("const {} i = i0;", index_type());
    line("const int n = u * {}; (void)n;", vector_.lanes);
    const std::string inside = e.mask == kNoExpr ? "" : value(e.mask);
    const std::string_view helper = name_of(early.cached);
    const std::string read = helper.empty() ? element(e.access)
                                            : fmt::format("{}<{}, 1>({} + {}).at[0]", used_(std::string(helper)), type,
                                                          p.base, integer(p.offset));
    line("ld{}[u] = {};", id, inside.empty() ? read : fmt::format("{} ? {} : ({})0", inside, read, type));
  }
}

// Makes loads whose values outlive the loop.
void PhasePrinter::hold(const std::vector<kernel::EarlyLoad>& loads, const std::string& first,
                        const std::string& extent) {
  if (loads.empty()) return;
  declare_loads(loads);
  open("");
  line("const {} start = {}, end = {}; (void)end;", index_type(), first, extent);
  name_place();
  load_groups(loads, vector_.checked);
  from_lane_.clear();
  close();
}

void PhasePrinter::declare_loads(const std::vector<kernel::EarlyLoad>& loads) {
  for (const kernel::EarlyLoad& early : loads) {
    const ExprId id = early.load;
    if (early.from) from_lane_[id] = *early.from;
    if (early.follows && vector_.lanes > 1) continue;  // of a run
    const DType t = kernel_.dtype_of(load_at(id).access);
    const int apart = early.apart();
    line("{}{} ld{}[{}];", as_.aligned, memory_type(t), id, (vector_.count() + (vector_.peeled ? 1 : 0)) * apart);
    if (apart > 1) {
      early_[id] = from_memory(t, fmt::format("ld{}[n * {}]", id, apart));
      for (int k = 1; k < apart; ++k)
        early_[early.next[static_cast<size_t>(k) - 1]] = from_memory(t, fmt::format("ld{}[n * {} + {}]", id, apart, k));
      continue;
    }
    early_[id] = from_memory(t, fmt::format("ld{}[n]", id));
    if (early.step && vector_.lanes % 4 == 0 && converted_bytes_.count(id)) early_bytes_.insert(id);
  }
}

void PhasePrinter::make_early(const std::vector<kernel::EarlyLoad>& loads, bool check) {
  if (loads.empty()) return;
  declare_loads(loads);
  load_groups(loads, check);
}

void PhasePrinter::end_early(const std::vector<kernel::EarlyLoad>& loads) {
  for (const kernel::EarlyLoad& early : loads) early_.erase(early.load), early_bytes_.erase(early.load);
  from_lane_.clear();
}

void PhasePrinter::load_groups(const std::vector<kernel::EarlyLoad>& loads, bool check) {
  open_group(check);
  for (const kernel::EarlyLoad& early : loads) {
    if (early.follows) continue;
    open("");
    push();
    load_group(early);
    pop();
    close();
  }
  if (check) close();
  close();
  if (!vector_.peeled || !vector_.one_step) return;
  open_edge();
  for (const kernel::EarlyLoad& l : loads) {
    if (l.follows && vector_.lanes > 1) continue;
    const int apart = l.apart();
    line("ld{}[n{}] = {};", l.load, apart > 1 ? fmt::format(" * {}", apart) : "", element(load_at(l.load).access));
    for (int k = 1; k < apart; ++k)
      line("ld{}[n * {} + {}] = {};", l.load, apart, k, element(load_at(l.next[static_cast<size_t>(k) - 1]).access));
  }
  close_edge();
}

}  // namespace smelt::emit::c_like
