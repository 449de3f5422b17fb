#include "kernel/widen_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "kernel/offset.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using AccessForm = LaneAccess::Form;
using LanePiece = LaneAccess::Piece;

// Loads of one array beyond which nobody looks for neighbours: each is compared with each.
constexpr size_t kMostCompared = 64;

IntExpr offset_of(const Kernel& kernel, ExprId id) {
  return merged_quotients(flat_offset(kernel, kernel.at(id).get<Load>().access));
}

// What a load at a constant distance reads, as one piece.
std::vector<LanePiece> pieces_of(const LaneAccess& access, int lanes) {
  if (access.form == AccessForm::Pieces) return access.pieces;
  if (access.form != AccessForm::Strided || !access.holds.empty()) return {};
  const int64_t furthest = access.step * (lanes - 1);
  LanePiece all{0, std::min<int64_t>(furthest, 0), std::max<int64_t>(furthest, 0), {}};
  for (int lane = 0; lane < lanes; ++lane) all.lanes.emplace_back(lane, access.step * lane);
  return {all};
}

// Whether the lanes of its pieces read in every step: no mask says otherwise, or one that is the
// same in all steps.
bool reads_always(const Kernel& kernel, ExprId id, const LaneForms& forms) {
  const ExprId mask = kernel.at(id).get<Load>().mask;
  return mask == kNoExpr || forms.conditions.count(mask) > 0;
}

// Elements of whole vectors.
int64_t whole_vectors(int64_t elements, int lanes) {
  if (elements > lanes) return (elements + lanes - 1) / lanes * lanes;
  return std::min<int64_t>(lanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(elements))));
}

// The blocks of a Vector loop in which each of its loads is made: where one of a block is made, all
// are, and the variables of the loops around are the same.
class Blocks {
 public:
  Blocks(const Kernel& kernel, const Loop& loop) : kernel_(kernel) {
    add(loop.body);
    if (loop.interior) add(loop.interior->body);
  }

  // Whether `other` is made wherever the load is.
  bool beside(ExprId load, ExprId other) const {
    const auto own = of_.find(load), others = of_.find(other);
    return own != of_.end() && others != of_.end() &&
           std::includes(others->second.begin(), others->second.end(), own->second.begin(), own->second.end());
  }

 private:
  void add(const std::vector<Stmt>& body) {
    std::vector<ExprId> roots;
    for (const Stmt& s : body) {
      if (const auto* inside = body_of(s)) add(*inside);
      if (!s.is<Each>()) for_each_expression(s, [&](ExprId root) { roots.push_back(root); });
    }
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (e.is<Load>()) of_[id].insert(&body);
      return true;
    });
  }

  const Kernel& kernel_;
  std::map<ExprId, std::set<const std::vector<Stmt>*>> of_;
};

bool all_among(const std::vector<IntExpr>& holds, const LaneAccess& access) {
  return std::all_of(holds.begin(), holds.end(), [&](const IntExpr& h) {
    return std::find(access.holds.begin(), access.holds.end(), h) != access.holds.end();
  });
}

// The elements that a load of every step reads in the terms of a piece of another: those of its
// lanes that are furthest.
struct LaneReach {
  ExprId load = kNoExpr;
  int64_t low = 0, high = 0;
};

std::vector<LaneReach> reaches_of(const std::vector<LanePiece>& pieces, const IntExpr& distance, const LanePiece& piece,
                                  ExprId load) {
  std::vector<LaneReach> found;
  for (const LanePiece& other : pieces) {
    const auto by = (distance + other.apart - piece.apart).constant();
    if (!by || other.lanes.empty()) continue;
    const auto [least, most] = std::minmax_element(other.lanes.begin(), other.lanes.end(),
                                                   [](const auto& a, const auto& b) { return a.second < b.second; });
    found.push_back({load, least->second + *by, most->second + *by});
  }
  return found;
}

// Lanes further apart than loads on their own are read between: those that take all elements in
// turn share the vectors, which even and odd elements part into halves until each has its own.
constexpr int64_t kNextApart = 9, kMostDealt = 32, kMostOdd = 5, kMostLanesDealt = 16;

bool deals_out(int64_t step, int lanes) {
  return step >= kNextApart && step <= kMostDealt && step / (step & -step) <= kMostOdd && lanes <= kMostLanesDealt;
}

// The gathers of rows of which most elements are read: `all` elements side by side of each lane's
// row, dealt out.
//
//   in[16*%i], in[16*%i + 1], ... in[16*%i + 15]     16 vectors and 64 shuffles in place of 256 loads
class Dealing {
 public:
  Dealing(const Kernel& kernel, const Loop& loop, LaneForms& forms) : lanes_(loop.lanes), forms_(forms) {
    for (const ExprId id : loads_of_every_step(kernel, loop)) {
      const auto form = forms.loads.find(id);
      if (form == forms.loads.end() ||
          (form->second.form != AccessForm::Gather && form->second.form != AccessForm::Apart))
        continue;
      const Load& load = *kernel.at(id).get_if<Load>();
      const IntExpr offset = offset_of(kernel, id);
      const auto slope = offset.coefficient_of(loop.var);
      const int64_t step = slope ? slope->constant().value_or(0) : 0;
      if (load.mask != kNoExpr || !deals_out(step, lanes_)) continue;
      const int64_t number = constant_term(offset);
      rows_[{load.access.scratch, load.access.array, step, (offset - number).str()}].emplace(number, id);
    }
  }

  void run() {
    for (const auto& [key, loads] : rows_) {
      const int64_t step = std::get<2>(key), first = loads.begin()->first, last = loads.rbegin()->first;
      // The first and the last bound what is read.
      if (last - first != step - 1 || static_cast<int64_t>(loads.size()) * 2 < step) continue;
      for (const auto& [number, id] : loads) {
        LanePiece all{0, first - number, first - number + step * lanes_ - 1, {}};
        for (int lane = 0; lane < lanes_; ++lane) all.lanes.emplace_back(lane, step * lane);
        all.within = {loads.begin()->second, loads.rbegin()->second};
        forms_.loads[id] = {.form = AccessForm::Pieces, .step = step, .pieces = {std::move(all)}};
      }
    }
  }

 private:
  const int lanes_;
  LaneForms& forms_;
  // By the array, the step, and the rest of the offset: the element of a row, and its load.
  std::map<std::tuple<bool, int, int64_t, std::string>, std::map<int64_t, ExprId>> rows_;
};

class PieceWidening {
 public:
  PieceWidening(const Kernel& kernel, const Loop& loop, LaneForms& forms)
      : kernel_(kernel), lanes_(loop.lanes), blocks_(kernel, loop), forms_(forms) {
    const std::vector<ExprId> always = loads_of_every_step(kernel, loop);
    for (const ExprId id : always) add(id, true);
    // Those of loops inside, for others of the same iteration.
    for (const auto& [id, access] : forms.loads)
      if (access.form == AccessForm::Strided && !std::binary_search(always.begin(), always.end(), id)) add(id, false);
  }

  void run() {
    for (auto& [id, access] : forms_.loads) {
      const Access& at = kernel_.at(id).get<Load>().access;
      const auto beside = beside_.find({at.scratch, at.array});
      if (beside == beside_.end() || beside->second.size() > kMostCompared) continue;
      std::vector<LanePiece> pieces = pieces_of(access, lanes_);
      const bool whole = std::all_of(pieces.begin(), pieces.end(), [&](const LanePiece& p) {
        return p.high - p.low + 1 == whole_vectors(p.high - p.low + 1, lanes_);
      });
      if (whole) continue;
      const IntExpr offset = offset_of(kernel_, id);
      bool changed = false;
      for (LanePiece& p : pieces) changed = widen(id, p, access, offset, beside->second) || changed;
      if (!changed) continue;
      access.form = AccessForm::Pieces;
      access.pieces = std::move(pieces);
    }
  }

 private:
  struct Beside {
    ExprId id;
    IntExpr offset;
    std::vector<LanePiece> pieces;  // before any was widened
    std::vector<IntExpr> holds;
    bool always;  // in every step
  };

  void add(ExprId id, bool always) {
    const auto form = forms_.loads.find(id);
    if (form == forms_.loads.end()) return;
    std::vector<LanePiece> pieces = pieces_of(form->second, lanes_);
    if (pieces.empty() || !reads_always(kernel_, id, forms_)) return;
    const Access& at = kernel_.at(id).get<Load>().access;
    std::vector<Beside>& beside = beside_[{at.scratch, at.array}];
    if (always || beside.size() < kMostCompared)
      beside.push_back({id, offset_of(kernel_, id), std::move(pieces), form->second.holds, always});
  }

  // All loads at one distance begin at the same vectors, if they have the same number of them; else
  // each ends where the furthest does.
  bool widen(ExprId id, LanePiece& p, const LaneAccess& access, const IntExpr& offset,
             const std::vector<Beside>& beside) const {
    const int64_t wide = whole_vectors(p.high - p.low + 1, lanes_);
    LaneReach least{kNoExpr, p.low, p.low}, most{kNoExpr, p.high, p.high};
    for (const Beside& b : beside) {
      if (!all_among(b.holds, access) || !(b.always || blocks_.beside(id, b.id))) continue;
      for (const LaneReach& r : reaches_of(b.pieces, b.offset - offset, p, b.id)) {
        if (r.low > p.high + 1 || r.high < p.low - 1) continue;
        if (r.low < least.low) least = r;
        if (r.high > most.high) most = r;
      }
    }
    if (most.high - least.low + 1 < wide) return false;
    const int64_t step = std::max<int64_t>(std::abs(access.step), 1);
    // Between the ends that others reach, with all of its own elements.
    const int64_t first = std::max(least.low, p.high - wide + 1), last = std::min(p.low, most.high - wide + 1);
    const int64_t low = std::clamp(p.low - (p.low - least.low) % step, first, last);
    const int64_t high = low + wide - 1;
    if (low < p.low) p.within.push_back(least.load);
    if (high > p.high) p.within.push_back(most.load);
    p.low = low, p.high = high;
    return true;
  }

  const Kernel& kernel_;
  const int lanes_;
  const Blocks blocks_;
  LaneForms& forms_;
  std::map<std::pair<bool, int>, std::vector<Beside>> beside_;
};

// Those of loops inside too that run at least once, as far as their variables (`inner`) do not move
// them.
void add_loads_of(const Kernel& kernel, const std::vector<Stmt>& body, std::vector<Symbol>& inner,
                  std::vector<ExprId>& found) {
  std::vector<ExprId> roots;
  for (const Stmt& s : body) {
    const auto* loop = s.get_if<Loop>();
    if (loop && loop->kind == LoopKind::Serial && loop->extent.constant().value_or(0) > 0) {
      inner.push_back(loop->var);
      add_loads_of(kernel, loop->body, inner, found);
      inner.pop_back();
    }
    if (!body_of(s)) for_each_expression(s, [&](ExprId root) { roots.push_back(root); });
  }
  visit_below(kernel, roots, [&](ExprId id, const Expr& e) {
    const auto* load = e.get_if<Load>();
    const auto moves = [&](Symbol var) {
      return std::any_of(load->access.index.begin(), load->access.index.end(),
                         [&](const IntExpr& i) { return i.mentions(var); });
    };
    if (load && std::none_of(inner.begin(), inner.end(), moves)) found.push_back(id);
    return true;
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

}  // namespace

std::vector<ExprId> loads_of_every_step(const Kernel& kernel, const Loop& loop) {
  std::vector<ExprId> of_body, of_interior, both;
  std::vector<Symbol> inner;
  add_loads_of(kernel, loop.body, inner, of_body);
  if (!loop.interior) return of_body;
  add_loads_of(kernel, loop.interior->body, inner, of_interior);
  std::set_intersection(of_body.begin(), of_body.end(), of_interior.begin(), of_interior.end(),
                        std::back_inserter(both));
  return both;
}

void widen_pieces(const Kernel& kernel, const Loop& loop, LaneForms& forms) {
  PieceWidening(kernel, loop, forms).run();
  Dealing(kernel, loop, forms).run();
}

std::string fault_of_widening(const Kernel& kernel, const Loop& loop, const LaneForms& forms, ExprId load) {
  const LaneAccess& access = forms.loads.at(load);
  const bool any =
      std::any_of(access.pieces.begin(), access.pieces.end(), [](const LanePiece& p) { return !p.within.empty(); });
  if (!any) return "";
  const std::vector<ExprId> always = loads_of_every_step(kernel, loop);
  const Blocks blocks(kernel, loop);
  const auto is_made = [&](ExprId other) {
    return std::binary_search(always.begin(), always.end(), other) || blocks.beside(load, other);
  };
  const Access& at = kernel.at(load).get<Load>().access;
  for (const LanePiece& p : access.pieces) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    const auto reach = [&](int64_t first, int64_t last) { low = std::min(low, first), high = std::max(high, last); };
    for (const auto& [lane, number] : p.lanes) reach(number, number);
    for (const ExprId other : p.within) {
      const auto form = forms.loads.find(other);
      if (!is_made(other) || form == forms.loads.end() || !reads_always(kernel, other, forms))
        return fmt::format("a load that not every step makes bounds a piece {} .. {}", p.low, p.high);
      const Access& there = kernel.at(other).get<Load>().access;
      if (there.scratch != at.scratch || there.array != at.array || !all_among(form->second.holds, access))
        return fmt::format("a load of something else bounds a piece {} .. {}", p.low, p.high);
      const IntExpr distance = offset_of(kernel, other) - offset_of(kernel, load);
      for (const LaneReach& r : reaches_of(pieces_of(form->second, loop.lanes), distance, p, other))
        reach(r.low, r.high);
    }
    if (p.low < low || p.high > high) return fmt::format("nobody reads the ends of a piece {} .. {}", p.low, p.high);
  }
  return "";
}

}  // namespace smelt::kernel
