// Integer expressions, and how neighbouring lanes differ in them.
#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "kernel/conditions.hpp"
#include "kernel/multipliers.hpp"

namespace smelt::emit::c_like {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

bool PhasePrinter::varies(const IntExpr& e) const {
  if (!vector_.loop) return false;
  return e.any_symbol([&](Symbol s) {
    return s == vector_.loop->var ||
           (s.is_local() && locals_[static_cast<size_t>(s.local_id())].vectors.count(vector_.loop) > 0);
  });
}

std::string PhasePrinter::atom(const Atom& a) {
  if (a.symbol) {
    if (a.symbol->is_local()) return fmt::format("({}){}", index_type(), read_local(a.symbol->local_id()));
    if (vector_.loop && a.symbol == vector_.loop->var) return vector_.grouped ? "i0" : "i";
    const auto found = symbols_.find(*a.symbol);
    SMELT_CHECK(found != symbols_.end(), "the size {} is no parameter of the kernel", *a.symbol);
    return found->second;
  }
  const std::string x = integer(a.a), y = integer(a.b);
  const std::string type = index_type(), natural = variant_.wide ? std::string(as_.wide_unsigned) : "unsigned";
  switch (a.kind) {
    case AtomKind::Min: return helper(as_, "smaller", type, x, y);
    case AtomKind::Max: return helper(as_, "larger", type, x, y);
    case AtomKind::FloorDiv:
    case AtomKind::Mod: {
      const bool quotient = a.kind == AtomKind::FloorDiv;
      const bool natural_number = proves_nonnegative(a.a, ranges_);
      if (natural_number && !variant_.wide && !a.b.constant())
        if (const auto m = multipliers_.find(kernel::multiplier_of(a.b).str()); m != multipliers_.end())
          return quotient ? fmt::format("int_quotient({}, {})", x, m->second)
                          : fmt::format("int_remainder({}, {}, {})", x, y, m->second);
      // Unsigned division by a constant is a multiplication and a shift.
      if (natural_number) return fmt::format("({0})(({1}){2} {3} ({1}){4})", type, natural, x, quotient ? "/" : "%", y);
      return helper(as_, quotient ? "floor_div" : "floor_mod", type, x, y);
    }
    case AtomKind::Symbol: break;
  }
  return "";
}

std::string PhasePrinter::integer(const IntExpr& e) {
  const std::string suffix(variant_.wide ? as_.wide_suffix : "");
  std::string text;
  for (const Term& term : e.terms()) {
    int64_t c = term.coefficient;
    const bool minus = c < 0 && c != INT64_MIN;
    if (minus) c = -c;
    std::string part;
    for (const IntExpr::AtomPtr& a : term.atoms) part += (part.empty() ? "" : " * ") + atom(*a);
    if (part.empty())
      part = std::to_string(c) + suffix;
    else if (c != 1)
      part += " * " + std::to_string(c) + suffix;
    text += text.empty() ? (minus ? "-" : "") + part : (minus ? " - " : " + ") + part;
  }
  if (text.empty()) return "0";
  const bool simple = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

// A number that the expression never exceeds.
std::optional<int64_t> PhasePrinter::bound_of(const IntExpr& e) const {
  if (const auto c = e.constant()) return c;
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return std::nullopt;
  const Atom& a = *e.terms()[0].atoms[0];
  if (a.kind != AtomKind::Min) return std::nullopt;
  const auto x = bound_of(a.a), y = bound_of(a.b);
  return x && y ? std::min(*x, *y) : x ? x : y;
}

bool PhasePrinter::is_argument(Symbol symbol) const {
  return std::any_of(kernel_.params.begin(), kernel_.params.end(),
                     [&](const kernel::Param& p) { return p.symbol == symbol; });
}

bool PhasePrinter::divisible(const IntExpr& e, std::vector<IntExpr>& conditions) const {
  return divisible(e, vector_.lanes, vector_.loop->var, conditions);
}

bool PhasePrinter::divisible(const IntExpr& e, int64_t n, std::optional<Symbol> var,
                             std::vector<IntExpr>& conditions) const {
  for (const Term& term : e.terms()) {
    if (term.coefficient % n == 0) continue;
    bool good = false;
    std::optional<Symbol> size;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      if (a->symbol) {
        good = good || a->symbol == var;
        if (is_argument(*a->symbol)) size = a->symbol;
      } else if (a->kind != AtomKind::FloorDiv) {
        good = good || (divisible(a->a, n, var, conditions) && divisible(a->b, n, var, conditions));
      }
    }
    if (good) continue;
    if (!size) return false;
    conditions.push_back(-mod(IntExpr::symbol(*size), n));
  }
  return true;
}

// By how much the value grows from one lane of a group to the next: 0, 1, -1, or nothing that is the same for all.
std::optional<int> PhasePrinter::step_in_group(const IntExpr& e, std::vector<IntExpr>& conditions) const {
  if (!varies(e)) return 0;
  int64_t total = 0;
  for (const Term& term : e.terms()) {
    const IntExpr::AtomPtr* moving = nullptr;
    int64_t step = 0;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      const IntExpr alone = IntExpr::of_term({1, {a}});
      if (!varies(alone)) continue;
      std::optional<int> s;
      if (a->symbol) {
        if (a->symbol == vector_.loop->var) s = 1;
      } else if (a->kind == AtomKind::FloorDiv || a->kind == AtomKind::Mod) {
        const auto inner = step_in_group(a->a, conditions);
        if (inner == 0 && !varies(a->b)) s = 0;
        if (inner == 1 && !vector_.odd && !varies(a->b) && divisible(a->a, conditions) && divisible(a->b, conditions))
          s = a->kind == AtomKind::Mod ? 1 : 0;
      } else {
        if (step_in_group(a->a, conditions) == 0 && step_in_group(a->b, conditions) == 0) s = 0;
      }
      if (!s) return std::nullopt;
      if (*s == 0) continue;
      if (moving) return std::nullopt;
      moving = &a;
      step = *s;
    }
    if (!moving) continue;
    if (term.atoms.size() != 1) return std::nullopt;
    total += term.coefficient * step;
  }
  if (total < -1 || total > 1) return std::nullopt;
  return static_cast<int>(total);
}

// Whether all lanes of a group have the same value, whatever the sizes are.
bool PhasePrinter::same_in_group(ExprId id) const {
  const Expr& e = kernel_.at(id);
  std::vector<IntExpr> conditions;
  if (const auto* index = e.get_if<IndexValue>())
    return step_in_group(index->value, conditions) == 0 && conditions.empty();
  if (e.is<Const>()) return true;
  const auto* apply = e.get_if<Apply>();
  if (!apply) return false;
  if (const auto left = kernel::holds_where(kernel_, *apply)) {
    // Of neighbours between two multiples of the lanes all are at least 0, or none is.
    const auto step = step_in_group(*left, conditions);
    const bool same = step == 0 || (step == 1 && divisible(*left, conditions)) ||
                      (step == -1 && divisible(*left - (vector_.lanes - 1), conditions));
    return same && conditions.empty();
  }
  return std::all_of(apply->args.begin(), apply->args.end(), [&](ExprId a) { return same_in_group(a); });
}

}  // namespace smelt::emit::c_like
