#include "kernel/split_lanes.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kernel/at_remainder.hpp"
#include "kernel/conditions.hpp"
#include "kernel/offset.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Limits: vectors of a step, and the expressions of all of them before most go away: each remainder
// has its own share of what is read. Lanes of a vector.
constexpr int64_t kMostVectors = 8;
constexpr size_t kMostExprsOfAll = 4096;
constexpr int kFewestLanes = 8;
// Limits of ranges: their number, their length, and the expressions of all of them.
constexpr size_t kMostRanges = 4;
constexpr int64_t kShortestRange = 16;
constexpr size_t kMostExprsOfRanges = 512;

class SplitLanes {
 public:
  explicit SplitLanes(Kernel& kernel) : kernel_(kernel), around_(kernel) {}

  bool run() {
    for (Phase& phase : kernel_.phases) block(phase.body);
    return changed_;
  }

 private:
  void block(std::vector<Stmt>& body) {
    const SymbolsAround::Scope scope(around_);
    std::vector<Stmt> made;
    for (Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const Loop* loop = loop_of(s, LoopKind::Vector);
      if (loop && loop->lanes > 1 && (split(*loop, made) || split_at_joints(*loop, made))) continue;
      if (!loop) {
        const SymbolsAround::Scope own(around_);
        around_.enter_body_of(s);
        if (auto* inside = body_of(s)) block(*inside);
      }
      made.push_back(std::move(s));
    }
    body = std::move(made);
  }

  // Whether each iteration computes elements of its own, and stores them to outputs.
  bool can_be_split(const Loop& loop) const {
    std::set<LocalId> own;
    bool plain = (loop.lanes & (loop.lanes - 1)) == 0 && !loop.interior;
    for_each_stmt(loop.body, [&](const Stmt& s) {
      const auto* store = s.get_if<Store>();
      const auto* inside = s.get_if<Loop>();
      if (const auto* let = s.get_if<Let>()) own.insert(let->local);
      if (const auto* assign = s.get_if<Assign>()) own.insert(assign->local);
      plain = plain && ((store && !store->access.scratch && !store->atomic) || s.is<Let>() || s.is<Assign>() ||
                        (inside && !inside->extent.mentions(loop.var) && inside->kind != LoopKind::Vector));
    });
    bool stores = false;
    for (const Stmt& s : loop.body) {
      stores = stores || s.is<Store>();
      if (const auto* inside = body_of(s))
        for_each_stmt(*inside, [&](const Stmt& below) { plain = plain && !below.is<Store>(); });
    }
    const auto names_index = [&](LocalId local) { return index_named_by(kernel_, local) != nullptr; };
    return plain && stores && !lives_outside(loop, own) && std::none_of(own.begin(), own.end(), names_index);
  }

  // Whether each iteration stores one element of each array, next to that of its neighbour.
  bool stores_neighbours(const Loop& loop) const {
    return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& s) {
      const auto* store = s.get_if<Store>();
      if (!store) return true;
      const auto step = flat_offset(kernel_, store->access).coefficient_of(loop.var);
      return step && step->is(1) && store->mask == kNoExpr;
    });
  }

  // Whether one of these locals has a value before or after the loop.
  bool lives_outside(const Loop& loop, const std::set<LocalId>& locals) const {
    if (locals.empty()) return false;
    bool found = false;
    const auto look = [&](const Stmt& s) {
      const auto* assign = s.get_if<Assign>();
      const auto* combine = s.get_if<Combine>();
      found = found || (assign && locals.count(assign->local)) || (combine && locals.count(combine->local)) ||
              any_below(kernel_, expressions(s), [&](const Expr& e) {
                const auto* read = e.get_if<ReadLocal>();
                return read && locals.count(read->local) > 0;
              });
    };
    for (const Phase& phase : kernel_.phases) outside(phase.body, loop, look);
    return found;
  }

  template <class Look>
  static void outside(const std::vector<Stmt>& body, const Loop& loop, const Look& look) {
    for (const Stmt& s : body) {
      if (s.get_if<Loop>() == &loop) continue;
      look(s);
      if (const auto* inside = body_of(s)) outside(*inside, loop, look);
    }
  }

  // Remainders of the number of an element that decide whether something is read.
  std::set<int64_t> remainders(const Loop& loop, size_t& exprs) const {
    std::set<int64_t> found;
    visit_below(kernel_, expressions_of(loop.body), [&](ExprId, const Expr& e) {
      ++exprs;
      if (const auto* load = e.get_if<Load>(); load && load->mask != kNoExpr)
        visit_below(kernel_, {load->mask}, [&](ExprId, const Expr& condition) {
          if (const auto* apply = condition.get_if<Apply>())
            if (const auto h = holds_where(kernel_, *apply)) collect(*h, loop.var, found);
          return true;
        });
      return true;
    });
    return found;
  }

  static void collect(const IntExpr& e, Symbol var, std::set<int64_t>& into) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->symbol || atom->kind != AtomKind::Mod) continue;
        const auto by = atom->b.constant();
        const auto step = atom->a.coefficient_of(var);
        if (by && *by >= 2 && *by <= kMostVectors && step && step->is(1)) into.insert(*by);
      }
  }

  bool split(const Loop& loop, std::vector<Stmt>& into) {
    size_t exprs = 0;
    const std::set<int64_t> found = remainders(loop, exprs);
    if (loop.lanes <= kFewestLanes || found.size() != 1 ||
        exprs * static_cast<size_t>(*found.begin()) > kMostExprsOfAll || !can_be_split(loop) ||
        !stores_neighbours(loop))
      return false;
    const int64_t parts = *found.begin();
    const SymbolsAround::Scope scope(around_);
    const IntExpr whole = floordiv(loop.extent, parts, around_.ranges()), rest = loop.extent - whole * parts;
    around_.enter(loop.var, whole);
    Loop made = loop;
    made.extent = whole;
    made.lanes = lanes_for(loop.lanes / parts, whole);
    made.body.clear();
    std::vector<Stmt> stores;
    const IntExpr var = IntExpr::symbol(loop.var);
    for (int64_t p = 0; p < parts; ++p)
      for (Stmt& s : at(loop, var * parts + p, p > 0)) (s.is<Store>() ? stores : made.body).push_back(std::move(s));
    std::move(stores.begin(), stores.end(), std::back_inserter(made.body));
    into.push_back(std::move(made));
    for (int64_t p = 0; p + 1 < parts; ++p) {
      const auto left = rest.constant();
      if (left && *left <= p) break;
      std::vector<Stmt> last = at(loop, whole * parts + p, true);
      if (left)
        std::move(last.begin(), last.end(), std::back_inserter(into));
      else
        into.push_back(If{is_below(kernel_, p, rest), std::move(last)});
    }
    return changed_ = true;
  }

  std::vector<Stmt> at(const Loop& loop, const IntExpr& number, bool own_locals) {
    return AtRemainder(kernel_, {loop.var, 0, 0, number}, 1, around_.ranges(), own_locals).of(loop.body);
  }

  // Where masks of loads begin or cease to hold within the row, as where one array of a concat
  // ends.
  std::set<int64_t> joints(const Loop& loop, int64_t count, size_t& exprs) const {
    std::set<int64_t> found;
    visit_below(kernel_, expressions_of(loop.body), [&](ExprId, const Expr& e) {
      ++exprs;
      if (const auto* load = e.get_if<Load>(); load && load->mask != kNoExpr)
        visit_below(kernel_, {load->mask}, [&](ExprId, const Expr& condition) {
          const auto* apply = condition.get_if<Apply>();
          const auto h = apply ? holds_where(kernel_, *apply) : std::nullopt;
          const auto step = h ? h->coefficient_of(loop.var) : std::nullopt;
          if (!step || (!step->is(1) && !step->is(-1))) return true;
          const auto rest = (*h - *step * IntExpr::symbol(loop.var)).constant();
          const int64_t at = !rest ? 0 : step->is(1) ? -*rest : *rest + 1;
          if (at > 0 && at < count) found.insert(at);
          return true;
        });
      return true;
    });
    return found;
  }

  // Ranges of equal length share what they read: one loop goes through all of them.
  bool split_at_joints(const Loop& loop, std::vector<Stmt>& into) {
    const auto count = loop.extent.constant();
    if (!count) return false;
    size_t exprs = 0;
    std::set<int64_t> begins = joints(loop, *count, exprs);
    if (begins.empty() || begins.size() >= kMostRanges || exprs * (begins.size() + 1) > kMostExprsOfRanges ||
        !can_be_split(loop))
      return false;
    begins.insert(0);
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
      const auto end = std::next(begin);
      ranges.emplace_back(*begin, (end == begins.end() ? *count : *end) - *begin);
    }
    const auto is_short = [](const auto& range) { return range.second < kShortestRange; };
    if (std::any_of(ranges.begin(), ranges.end(), is_short)) return false;
    const bool alike =
        std::all_of(ranges.begin(), ranges.end(), [&](const auto& r) { return r.second == ranges[0].second; });
    std::vector<Stmt> stores;
    for (const auto& [begin, length] : ranges) {
      const SymbolsAround::Scope scope(around_);
      around_.enter(loop.var, length);
      if (begin == 0 || !alike) {
        Loop made = loop;
        made.extent = length;
        made.lanes = lanes_for(alike ? loop.lanes / static_cast<int64_t>(ranges.size()) : loop.lanes, length);
        made.body.clear();
        into.push_back(std::move(made));
      }
      auto& body = into.back().get<Loop>().body;
      for (Stmt& s : at(loop, IntExpr::symbol(loop.var) + begin, begin > 0))
        (alike && s.is<Store>() ? stores : body).push_back(std::move(s));
    }
    auto& body = into.back().get<Loop>().body;
    std::move(stores.begin(), stores.end(), std::back_inserter(body));
    return changed_ = true;
  }

  // At most these, a power of two of which most have an element.
  static int lanes_for(int64_t most, const IntExpr& extent) {
    int lanes = kFewestLanes;
    while (2 * lanes <= most) lanes *= 2;
    const int64_t count = extent.constant().value_or(lanes);
    while (lanes > kFewestLanes && (count + lanes - 1) / lanes * lanes - count > count / 4) lanes /= 2;
    return lanes;
  }

  Kernel& kernel_;
  SymbolsAround around_;
  bool changed_ = false;
};

}  // namespace

bool split_lanes(Kernel& kernel) { return SplitLanes(kernel).run(); }

}  // namespace smelt::kernel
