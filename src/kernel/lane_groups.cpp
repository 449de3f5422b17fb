#include "kernel/lane_groups.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>

#include "kernel/conditions.hpp"
#include "kernel/offset.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

bool is_argument(const Kernel& kernel, Symbol symbol) {
  return std::any_of(kernel.params.begin(), kernel.params.end(), [&](const Param& p) { return p.symbol == symbol; });
}

bool over_sizes(const Kernel& kernel, const IntExpr& e) {
  return !e.any_symbol([&](Symbol s) { return !is_argument(kernel, s); });
}

const IntExpr& Offsets::of(ExprId load) {
  auto& known = of_loads_[static_cast<size_t>(load)];
  if (!known) known = flat_offset(kernel_, kernel_.at(load).get<Load>().access);
  return *known;
}

bool LaneGroups::varies(const IntExpr& e) const {
  if (!loop_) return false;
  return e.any_symbol([&](Symbol s) {
    return s == loop_->var || (s.is_local() && uses_.local(s.local_id()).vectors.count(loop_) > 0);
  });
}

bool LaneGroups::varies(ExprId root) const {
  return any_below(kernel_, {root}, [&](const Expr& e) {
    if (const auto* read = e.get_if<ReadLocal>()) {
      const LocalUses& local = uses_.local(read->local);
      if (local.per_column || local.vectors.count(loop_)) return true;
    }
    return any_index(e, [&](const IntExpr& x) { return varies(x); });
  });
}

bool LaneGroups::divisible(const IntExpr& e, std::vector<IntExpr>& when) const {
  return divisible(e, lanes_, loop_->var, when);
}

bool LaneGroups::divisible(const IntExpr& e, int64_t n, std::optional<Symbol> var, std::vector<IntExpr>& when) const {
  for (const IntExpr::Term& term : e.terms()) {
    if (term.coefficient % n == 0) continue;
    bool good = false;
    std::optional<Symbol> size;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      if (a->symbol) {
        good = good || a->symbol == var;
        if (is_argument(kernel_, *a->symbol)) size = a->symbol;
      } else if (a->kind != AtomKind::FloorDiv) {
        good = good || (divisible(a->a, n, var, when) && divisible(a->b, n, var, when));
      }
    }
    if (good) continue;
    if (!size) return false;
    when.push_back(-mod(IntExpr::symbol(*size), n));
  }
  return true;
}

std::optional<int> LaneGroups::step(const IntExpr::Atom& a, std::vector<IntExpr>& when) const {
  if (a.symbol == loop_->var) return 1;
  if (a.symbol) return a.symbol->is_local() && is_same(a.symbol->local_id(), when) ? std::optional(0) : std::nullopt;
  const auto inner = step(a.a, when);
  if (a.kind == AtomKind::Min || a.kind == AtomKind::Max)
    return inner == 0 && step(a.b, when) == 0 ? std::optional(0) : std::nullopt;
  if (varies(a.b)) return std::nullopt;
  if (inner == 0) return 0;
  // The remainders of a group stay between two multiples of the lanes.
  if (inner != 1 || peeled_ || !divisible(a.a, when) || !divisible(a.b, when)) return std::nullopt;
  return a.kind == AtomKind::Mod ? 1 : 0;
}

std::optional<int64_t> LaneGroups::distance(const IntExpr& e, std::vector<IntExpr>& when) const {
  if (!varies(e)) return 0;
  int64_t total = 0;
  for (const IntExpr::Term& term : e.terms()) {
    bool moves = false;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      if (!varies(IntExpr::of_term({1, {a}}))) continue;
      const auto own = step(*a, when);
      if (!own || (*own != 0 && moves)) return std::nullopt;
      if (*own == 0) continue;
      moves = true;
      if (term.atoms.size() != 1) return std::nullopt;
      total += term.coefficient * *own;
    }
  }
  return total;
}

std::optional<int> LaneGroups::step(const IntExpr& e, std::vector<IntExpr>& when) const {
  const auto total = distance(e, when);
  if (!total || std::abs(*total) > 1) return std::nullopt;
  return static_cast<int>(*total);
}

bool LaneGroups::is_same(LocalId id, std::vector<IntExpr>& when) const {
  const LocalUses& local = uses_.local(id);
  if (!local.per_column && !local.vectors.count(loop_)) return true;
  const ExprId named = uses_.named[static_cast<size_t>(id)];
  return named != kNoExpr && is_one(named, when);
}

bool LaneGroups::is_one(ExprId id, std::vector<IntExpr>& when) const {
  const Expr& e = kernel_.at(id);
  const auto* read = e.get_if<ReadLocal>();
  const auto* load = e.get_if<Load>();
  if (read && !is_same(read->local, when)) return false;
  bool one = !e.is<Random>() && !(load && load->mask != kNoExpr);
  for_each_index(e, [&](const IntExpr& i) { one = one && step(i, when) == 0; });
  for_each_operand(e, [&](ExprId operand) { one = one && is_one(operand, when); });
  return one;
}

bool LaneGroups::same(ExprId id, std::vector<IntExpr>& when) const {
  const Expr& e = kernel_.at(id);
  if (const auto* index = e.get_if<IndexValue>()) return step(index->value, when) == 0;
  if (e.is<Const>()) return true;
  const auto* apply = e.get_if<Apply>();
  if (!apply) return false;
  if (const auto left = holds_where(kernel_, *apply)) {
    // Neighbours between two multiples of the lanes are all at least 0, or none is. Groups of a
    // peeled loop begin anywhere.
    const auto grows = step(*left, when);
    return grows == 0 || (!peeled_ && ((grows == 1 && divisible(*left, when)) ||
                                       (grows == -1 && divisible(*left - (lanes_ - 1), when))));
  }
  return std::all_of(apply->args.begin(), apply->args.end(), [&](ExprId a) { return same(a, when); });
}

bool may_require(bool holds, const std::vector<IntExpr>& when, const Variant& variant) {
  return holds && (when.empty() || variant.form == Variant::Form::Fast);
}

int step_of_group(const LaneGroups& groups, const LoopShape& shape, const GroupAccess& access, bool downwards,
                  Variant& variant) {
  if (shape.lanes == 1 || !variant.vectors) return 0;
  std::vector<IntExpr> when;
  const int step = groups.step(access.offset, when).value_or(0);
  if (step == 0 || (step < 0 && !downwards)) return 0;
  const IntExpr first = (step > 0 ? access.offset : access.offset - (shape.lanes - 1)) - shape.origin;
  if (!groups.divisible(first, when) || (shape.peeled && !when.empty())) return 0;
  require(when, variant);
  if (access.param >= 0) align(access.param, shape.lanes * size_of(access.dtype), variant);
  return step;
}

std::vector<std::vector<size_t>> interleaved_groups(const LaneGroups& groups, const LoopShape& shape,
                                                    const std::vector<GroupAccess>& accesses, Variant& variant) {
  constexpr int64_t kMostApart = 8;
  std::vector<std::vector<size_t>> runs;
  std::set<size_t> taken;
  if (shape.lanes == 1 || !variant.vectors) return runs;
  for (size_t first = 0; first < accesses.size(); ++first) {
    const GroupAccess& begin = accesses[first];
    std::vector<IntExpr> when;
    const auto apart = groups.distance(begin.offset, when);
    const int bytes = size_of(begin.dtype);
    if (!apart || *apart < 2 || *apart > kMostApart || bytes >= 4) continue;
    // One lane alone has a wider word.
    if (bytes * shape.lanes < 4 && std::has_single_bit(static_cast<uint64_t>(*apart * bytes))) continue;
    if (!groups.divisible(begin.offset - *apart * shape.origin, when) || (shape.peeled && !when.empty())) continue;
    std::map<int64_t, size_t> found;
    for (size_t other = 0; other < accesses.size(); ++other) {
      if (taken.count(other)) continue;
      const GroupAccess& it = accesses[other];
      const auto beyond = it.param == begin.param ? (it.offset - begin.offset).constant() : std::nullopt;
      if (beyond && *beyond >= 0 && *beyond < *apart) found.emplace(*beyond, other);
    }
    if (static_cast<int64_t>(found.size()) < *apart || !may_require(true, when, variant)) continue;
    require(when, variant);
    align(begin.param, shape.lanes * size_of(begin.dtype), variant);
    std::vector<size_t>& run = runs.emplace_back();
    for (const auto& [beyond, access] : found) run.push_back(access), taken.insert(access);
  }
  return runs;
}

}  // namespace smelt::kernel
