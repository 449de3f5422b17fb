#include "kernel/partition_loops.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Elements near either end of a row at which conditions may fail.
constexpr int64_t kMostAtEnds = 512;
constexpr int kWordsAtOnce = 4;  // random words come in fours

using Inside = std::map<Symbol, IntExpr>;  // loops inside of a body, and their extents

// Two conditions of which both must hold.
const Apply* and_of(const Expr& e) { return e.dtype == DType::Bool ? e.as_apply(Op::And) : nullptr; }

// The conditions between `and`s.
void collect_leaves(const Kernel& kernel, ExprId root, std::set<ExprId>& into) {
  if (const Apply* both = and_of(kernel.at(root)))
    for (const ExprId a : both->args) collect_leaves(kernel, a, into);
  else
    into.insert(root);
}

// Conditions that decide what is read or taken.
std::set<ExprId> conditions_of(const Kernel& kernel, const std::vector<ExprId>& used) {
  std::set<ExprId> leaves;
  for (const ExprId id : used) {
    const Expr& e = kernel.at(id);
    const auto* load = e.get_if<Load>();
    if (load && load->mask != kNoExpr) collect_leaves(kernel, load->mask, leaves);
    if (const Apply* where = e.as_apply(Op::Where)) collect_leaves(kernel, where->args[0], leaves);
  }
  return leaves;
}

// The least value of h over the loops inside; nothing where that cannot be said.
std::optional<IntExpr> least(IntExpr h, const Inside& inside) {
  for (const auto& [var, length] : inside) {
    if (!h.mentions(var)) continue;
    const auto step = h.coefficient_of(var);
    const auto by = step ? step->constant() : std::nullopt;
    if (!by) return std::nullopt;
    h = h - *by * IntExpr::symbol(var) + (*by < 0 ? *by * (length - 1) : IntExpr(0));
  }
  return h;
}

// Numbers that an extent is at most: itself, and both sides of a minimum, as the length of a piece
// of a row is.
std::vector<IntExpr> bounds_of(const IntExpr& extent) {
  std::vector<IntExpr> bounds{extent};
  const auto& terms = extent.terms();
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1) return bounds;
  const IntExpr::Atom& atom = *terms[0].atoms[0];
  if (atom.kind != AtomKind::Min) return bounds;
  for (const IntExpr& side : {atom.a, atom.b})
    for (const IntExpr& bound : bounds_of(side)) bounds.push_back(bound);
  return bounds;
}

// Finds the interior of one Vector loop.
class Interiors {
 public:
  Interiors(Kernel& kernel, const Loop& loop, const std::vector<bool>& in_lanes, const Ranges& ranges)
      : kernel_(kernel), loop_(loop), lanes_(loop.var, in_lanes), ranges_(ranges) {}

  std::optional<Interior> find() {
    std::vector<ExprId> roots;
    collect_inside(loop_.body, roots);
    visit_below(kernel_, roots, [&](ExprId id, const Expr&) {
      used_.push_back(id);
      return true;
    });
    std::sort(used_.begin(), used_.end());
    find_clamps();
    find_conditions();
    if (!any_) return std::nullopt;
    made_.body = loop_.body;
    Rewriter rewrite(kernel_);
    simplify(rewrite);
    for (Stmt& s : made_.body) rewrite(s);
    return std::move(made_);
  }

 private:
  // What must be at least 0, by what it is made of.
  struct Condition {
    IntExpr whole, rest;
    int64_t step = 0;
  };

  // The loops inside of a body, and the expressions that its statements use.
  void collect_inside(const std::vector<Stmt>& body, std::vector<ExprId>& roots) {
    for (const Stmt& s : body) {
      if (const auto* loop = s.get_if<Loop>()) note_inside(loop->var, loop->extent);
      if (const auto* each = s.get_if<Each>()) note_inside(each->var, each->extent);
      for_each_expression(s, [&](ExprId id) { roots.push_back(id); });
      if (const auto* body_inside = body_of(s)) collect_inside(*body_inside, roots);
    }
  }

  void note_inside(Symbol var, const IntExpr& extent) {
    const auto [known, fresh] = inside_.try_emplace(var, extent);
    if (!fresh && !(known->second == extent)) of_several_lengths_.insert(var);
  }

  bool is_known(const IntExpr& e) const {
    return !e.any_symbol([&](Symbol s) { return s != loop_.var && (!ranges_.has(s) || inside_.count(s) > 0); });
  }

  // Nothing where h fails elsewhere than near the ends, or where that cannot be said.
  std::optional<Condition> condition(const IntExpr& from) const {
    if (from.any_symbol([&](Symbol s) { return of_several_lengths_.count(s) > 0; })) return std::nullopt;
    const auto h = least(from, inside_);
    if (!h) return std::nullopt;
    const auto coefficient = h->coefficient_of(loop_.var);
    const auto step = coefficient ? coefficient->constant() : std::nullopt;
    if (!step || !is_known(*h)) return std::nullopt;
    const Condition c{*h, *h - *step * IntExpr::symbol(loop_.var), *step};
    if (const auto always = h->constant(); always && *always < 0) return std::nullopt;
    return *step == 0 || holds_between_ends(c) ? std::optional(c) : std::nullopt;
  }

  // But for `ends` elements near either end.
  bool holds_between_ends(const Condition& c, int64_t ends = kMostAtEnds) const {
    if (c.step == 0) return proves_nonnegative(c.rest + ends, ranges_);
    if (c.step > 0) return proves_nonnegative(c.rest + c.step * ends, ranges_);
    const std::vector<IntExpr> extents = bounds_of(loop_.extent);
    return std::any_of(extents.begin(), extents.end(), [&](const IntExpr& extent) {
      return proves_nonnegative(c.rest + c.step * (extent - 1 - ends), ranges_);
    });
  }

  // Whether the condition mostly fails: of the rows before the first, which a roll takes from the
  // other end.
  bool is_rare(const Condition& holds, const Condition& fails) const {
    for (int64_t ends = kMostAtEnds; ends > 0; ends /= 8) {
      const bool mostly_holds = holds_between_ends(holds, ends), mostly_fails = holds_between_ends(fails, ends);
      if (mostly_holds != mostly_fails) return mostly_fails;
      if (!mostly_holds) return false;
    }
    return false;
  }

  void require(const Condition& c) {
    if (c.whole.constant() || !met_.insert(c.whole).second) return;
    if (c.step > 0)
      made_.first = max(made_.first, -floordiv(c.rest, c.step, ranges_), ranges_);
    else if (c.step < 0)
      made_.last = min(made_.last, floordiv(c.rest, -c.step, ranges_) + 1, ranges_);
    else
      made_.holds.push_back(c.whole);
    any_ = any_ || c.step != 0;
  }

  // The conditions for all of these; nothing if one of them has none.
  std::optional<std::vector<Condition>> conditions(const std::vector<IntExpr>& all) const {
    std::vector<Condition> found;
    for (const IntExpr& h : all) {
      const auto c = condition(h);
      if (!c) return std::nullopt;
      found.push_back(*c);
    }
    return found;
  }

  void find_conditions() {
    for (const ExprId leaf : conditions_of(kernel_, used_)) {
      const auto* apply = kernel_.at(leaf).get_if<Apply>();
      const auto h = apply ? holds_where(kernel_, *apply) : std::nullopt;
      if (!h) continue;
      // As it is, if it can be: from it the accesses that it guards were proved.
      auto found = conditions({*h});
      if (const auto fails = condition(IntExpr(-1) - *h); fails && (!found || is_rare(found->front(), *fails))) {
        fails_.insert(leaf);
        require(*fails);
        continue;
      }
      if (!found) found = conditions({undivided(*h)});
      if (!found) {
        std::vector<IntExpr> all;
        const IntExpr unclamped = lanes_.without_clamps(*h, all);
        all.push_back(undivided(unclamped));
        found = conditions(all);
      }
      if (!found) continue;
      holds_.insert(leaf);
      for (const Condition& c : *found) require(c);
    }
  }

  // Loads whose lanes would be neighbours if no clamp held.
  void find_clamps() {
    for (const ExprId id : used_) {
      const auto* load = kernel_.at(id).get_if<Load>();
      if (!load) continue;
      const IntExpr clamped = flat_offset(kernel_, load->access);
      if (!lanes_.vary(clamped) || lanes_.step(clamped)) continue;
      std::vector<IntExpr> holds;
      Access access = load->access;
      for (IntExpr& i : access.index) i = lanes_.without_clamps(i, holds);
      const auto found = conditions(holds);
      if (holds.empty() || !found || !lanes_.step(flat_offset(kernel_, access))) continue;
      unclamped_.emplace(id, std::move(access));
      for (const Condition& c : *found) require(c);
    }
  }

  // Whether a condition, or several joined by `and`, hold inside.
  bool holds(ExprId id) const {
    if (id == kNoExpr) return false;
    if (holds_.count(id)) return true;
    const Apply* both = and_of(kernel_.at(id));
    return both && std::all_of(both->args.begin(), both->args.end(), [&](ExprId a) { return holds(a); });
  }

  // Whether a condition, or one of several joined by `and`, fails inside.
  bool fails(ExprId id) const {
    if (id == kNoExpr) return false;
    if (fails_.count(id)) return true;
    const Apply* both = and_of(kernel_.at(id));
    return both && std::any_of(both->args.begin(), both->args.end(), [&](ExprId a) { return fails(a); });
  }

  // A position without clamps, where none of them binds inside.
  std::optional<IntExpr> unclamped(const IndexValue& index) const {
    std::vector<IntExpr> clamps;
    const IntExpr plain = lanes_.without_clamps(index.value, clamps);
    const auto holds_inside = [&](const IntExpr& h) {
      const auto lowest = least(h, inside_);
      return lowest && (met_.count(*lowest) || lowest->constant().value_or(-1) >= 0);
    };
    if (clamps.empty() || !std::all_of(clamps.begin(), clamps.end(), holds_inside)) return std::nullopt;
    return plain;
  }

  void simplify(Rewriter& rewrite) {
    for (const ExprId id : used_) {
      const Expr& e = kernel_.at(id);
      if (const auto* index = e.get_if<IndexValue>()) {
        const auto plain = unclamped(*index);
        if (!plain) continue;
        rewrite.replace(id, static_cast<ExprId>(kernel_.exprs.size()));
        kernel_.exprs.push_back({e.dtype, IndexValue{*plain}});
        continue;
      }
      if (const Apply* both = and_of(e); both && !holds(id)) {
        const bool first = holds(both->args[0]);
        if (first || holds(both->args[1])) rewrite.replace(id, rewrite(both->args[first ? 1 : 0]));
        continue;
      }
      if (const Apply* where = e.as_apply(Op::Where)) {
        const bool first = holds(where->args[0]);
        if (first || fails(where->args[0])) {
          rewrite.replace(id, rewrite(where->args[first ? 1 : 2]));
          continue;
        }
      }
      const auto unclamped = unclamped_.find(id);
      const auto* load = e.get_if<Load>();
      if (load && fails(load->mask)) {
        rewrite.replace(id, rewrite(load->other));
        continue;
      }
      if (!load || (unclamped == unclamped_.end() && !holds(load->mask))) continue;
      Load plain = *load;
      const DType dtype = e.dtype;
      if (unclamped != unclamped_.end()) plain.access = unclamped->second;
      const bool always = holds(plain.mask);
      plain.mask = always ? kNoExpr : rewrite(plain.mask);
      plain.other = always ? kNoExpr : rewrite(plain.other);
      rewrite.replace(id, static_cast<ExprId>(kernel_.exprs.size()));
      kernel_.exprs.push_back({dtype, std::move(plain)});
    }
  }

  Kernel& kernel_;
  const Loop& loop_;
  const Lanes lanes_;
  const Ranges& ranges_;  // of what is known before the loop
  Interior made_{0, loop_.extent, {}, {}};
  Inside inside_;
  std::set<Symbol> of_several_lengths_;       // variables of several loops inside
  std::vector<ExprId> used_;                  // operands before their users
  std::unordered_set<ExprId> holds_, fails_;  // conditions
  std::unordered_map<ExprId, Access> unclamped_;
  std::set<IntExpr> met_;
  bool any_ = false;
};

class Partition {
 public:
  explicit Partition(Kernel& kernel) : kernel_(kernel), in_lanes_(locals_in_lanes(kernel)), around_(kernel) {}

  bool run() {
    for (Phase& phase : kernel_.phases) find_first_assigned(phase.body, nullptr);
    for (Phase& phase : kernel_.phases) block(phase.body, false);
    return changed_;
  }

 private:
  // The Vector loop, if any, in which a local gets its first value.
  void find_first_assigned(const std::vector<Stmt>& body, const Loop* vector) {
    for (const Stmt& s : body) {
      const Loop* own = loop_of(s, LoopKind::Vector);
      if (const auto* assign = s.get_if<Assign>()) first_in_.try_emplace(assign->local, vector);
      if (const auto* inside = body_of(s)) find_first_assigned(*inside, own && own->lanes > 1 ? own : vector);
    }
  }

  void block(std::vector<Stmt>& body, bool rare) {
    const SymbolsAround::Scope scope(around_);
    for (Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      auto* loop = s.get_if<Loop>();
      if (loop && loop->kind == LoopKind::Vector && loop->lanes > 1) {
        vector_loop(*loop, rare);
        continue;
      }
      const SymbolsAround::Scope own(around_);
      around_.enter_body_of(s);
      if (auto* inside = body_of(s)) block(*inside, rare || (loop && loop->rare));
    }
  }

  void vector_loop(Loop& loop, bool rare) {
    const bool in_order = accumulates(loop.body, loop) || (loop.lanes & (loop.lanes - 1)) != 0;
    const bool by_tables = !in_order && reads_tables(kernel_, loop), random = draws(kernel_, loop);
    loop.begins = in_order || by_tables ? loop.lanes : random ? kWordsAtOnce : 1;
    changed_ = true;
    const auto count = loop.extent.constant();
    if (in_order || random || rare || (count && *count < loop.lanes)) return;
    const SymbolsAround::Scope scope(around_);
    around_.enter(loop.var, loop.extent);
    loop.interior = Interiors(kernel_, loop, in_lanes_, around_.ranges()).find();
  }

  // Whether it leaves something in the lanes of a local: sums, whose order must not depend on
  // addresses.
  bool accumulates(const std::vector<Stmt>& body, const Loop& loop) const {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& s) {
      if (const auto* inside = body_of(s)) return accumulates(*inside, loop);
      const auto* assign = s.get_if<Assign>();
      return s.is<Scan>() || (assign && first_in_.at(assign->local) != &loop);
    });
  }

  Kernel& kernel_;
  const std::vector<bool> in_lanes_;
  std::map<LocalId, const Loop*> first_in_;
  SymbolsAround around_;
  bool changed_ = false;
};

}  // namespace

bool partition_loops(Kernel& kernel) { return Partition(kernel).run(); }

}  // namespace smelt::kernel
