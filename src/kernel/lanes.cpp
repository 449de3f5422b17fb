#include "kernel/lanes.hpp"

#include <algorithm>
#include <utility>

#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class InLanes {
 public:
  explicit InLanes(const Kernel& kernel) : kernel_(kernel), found_(kernel.locals.size(), false) {
    for (const Phase& phase : kernel.phases) block(phase.body, nullptr);
    for (const Phase& phase : kernel.phases)
      for_each_stmt(phase.body, [&](const Stmt& s) {
        const auto* combine = s.get_if<Combine>();
        if (!combine) return;
        set(combine->local, false);
        if (combine->index_local >= 0) set(combine->index_local, false);
      });
    lets_ = true;
    for (const Phase& phase : kernel.phases) block(phase.body, nullptr);
  }
  std::vector<bool> take() { return std::move(found_); }

 private:
  void set(LocalId local, bool in_lanes) { found_[static_cast<size_t>(local)] = in_lanes; }

  // First what is assigned, then what is named by means of it.
  void block(const std::vector<Stmt>& body, const Loop* vector) {
    for (const Stmt& s : body) {
      const Loop* own = loop_of(s, LoopKind::Vector);
      const auto* let = s.get_if<Let>();
      const auto local = given_by(s);
      if (vector && let && lets_) set(let->local, differs(let->value, *vector));
      if (vector && local && !let && !lets_) set(*local, true);
      if (const auto* inside = body_of(s)) block(*inside, own && own->lanes > 1 ? own : vector);
    }
  }

  bool differs(ExprId value, const Loop& loop) const {
    return differs_in_lanes(kernel_, value, Lanes(loop.var, found_), found_);
  }

  const Kernel& kernel_;
  std::vector<bool> found_;
  bool lets_ = false;
};

// Steps begin at multiples of `lanes`; those of a loop of one step at all multiples, which is 0.
bool divides_lanes(const IntExpr& e, Symbol var, int lanes, bool once) {
  return std::any_of(e.terms().begin(), e.terms().end(), [&](const IntExpr::Term& t) {
    return std::any_of(t.atoms.begin(), t.atoms.end(), [&](const IntExpr::AtomPtr& a) {
      if (a->symbol) return false;
      const auto divisor = a->b.constant();
      const bool here = (a->kind == AtomKind::FloorDiv || a->kind == AtomKind::Mod) && divisor && *divisor > 0 &&
                        (once || lanes % *divisor == 0) && a->a.mentions(var);
      return here || divides_lanes(a->a, var, lanes, once) || divides_lanes(a->b, var, lanes, once);
    });
  });
}

const Symbol kStep = Symbol::loop("step");  // its number

}  // namespace

IntExpr first_lane(int lanes, bool once) { return once ? IntExpr(0) : IntExpr::symbol(kStep) * lanes; }

bool differs_in_lanes(const Kernel& kernel, ExprId value, const Lanes& lanes, const std::vector<bool>& locals) {
  return any_below(kernel, {value}, [&](const Expr& e) {
    const auto* read = e.get_if<ReadLocal>();
    return (read && locals[static_cast<size_t>(read->local)]) ||
           any_index(e, [&](const IntExpr& i) { return lanes.vary(i); });
  });
}

std::vector<bool> locals_in_lanes(const Kernel& kernel) { return InLanes(kernel).take(); }

void note_assigned(const Loop& loop, std::vector<bool>& locals) {
  for_each_stmt(loop.body, [&](const Stmt& s) {
    if (const auto local = given_by(s); local && !s.is<Let>()) locals[static_cast<size_t>(*local)] = true;
  });
}

bool Lanes::vary(const IntExpr& e) const {
  return e.any_symbol(
      [&](Symbol s) { return s == var_ || (s.is_local() && locals_[static_cast<size_t>(s.local_id())]); });
}

std::optional<int64_t> Lanes::step(const IntExpr& e) const {
  const auto coefficient = e.coefficient_of(var_);
  if (!coefficient || vary(e - *coefficient * IntExpr::symbol(var_))) return std::nullopt;
  const auto step = coefficient->constant();
  return step && *step >= -kMostLaneStep && *step <= kMostLaneStep ? step : std::nullopt;
}

IntExpr Lanes::without_clamps(const IntExpr& e, std::vector<IntExpr>& holds) const {
  IntExpr result;
  std::vector<IntExpr> found;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      const IntExpr whole = IntExpr::of_term({1, {a}});
      if ((a->kind != AtomKind::Min && a->kind != AtomKind::Max) || !vary(whole)) {
        product = product * whole;
        continue;
      }
      IntExpr side = without_clamps(a->a, found), other = without_clamps(a->b, found);
      if (step(side).value_or(0) <= 0) std::swap(side, other);
      if (step(side).value_or(0) <= 0 || !step(other)) return e;
      found.push_back(a->kind == AtomKind::Min ? other - side : side - other);
      product = product * side;
    }
    result = result + product;
  }
  holds.insert(holds.end(), found.begin(), found.end());
  return result;
}

std::optional<std::vector<IntExpr>> Lanes::beyond_first(const IntExpr& e, int lanes, bool once,
                                                        const Ranges& ranges) const {
  Ranges known = ranges;
  known[kStep] = {0, IntExpr::symbol(Symbol::loop("steps"))};
  std::vector<IntExpr> beyond;
  IntExpr first;
  for (int lane = 0; lane < lanes; ++lane) {
    const IntExpr value = e.substitute({{var_, first_lane(lanes, once) + lane}}, known);
    if (vary(value)) return std::nullopt;  // what the data says
    if (lane == 0) first = value;
    beyond.push_back(value - first);
    if (beyond.back().mentions(kStep)) return std::nullopt;
  }
  return beyond;
}

bool draws(const Kernel& kernel, const Loop& loop) {
  return any_below(kernel, expressions_of(loop.body), [](const Expr& e) { return e.is<Random>(); });
}

bool reads_tables(const Kernel& kernel, const Loop& loop) {
  std::vector<ExprId> roots;
  for (const Stmt& s : loop.body)
    if (const ExprId* value = value_of(s)) roots.push_back(*value);
  const auto divided = [&](const IntExpr& i) {
    return divides_lanes(i, loop.var, loop.lanes, loop.extent.is(loop.lanes));
  };
  return loop.lanes > 1 &&
         any_below(kernel, std::move(roots), [&](const Expr& e) { return e.is<Load>() && any_index(e, divided); });
}

}  // namespace smelt::kernel
