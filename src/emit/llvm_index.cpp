// Integer expressions as i64: scalars, or one per lane. Sums go from the outermost scope inward, so
// that each partial sum is computed where its last operand becomes known.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/is_natural.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

bool PhasePrinter::varies(const IntExpr& e) const {
  return vector_.loop && e.any_symbol([&](Symbol s) {
    return s == vector_.var || (s.is_local() && in_lanes_[static_cast<size_t>(s.local_id())]);
  });
}

int PhasePrinter::scope_of(const IntExpr& e) const {
  int scope = 0;
  e.any_symbol([&](Symbol s) {
    if (vector_.loop && s == vector_.var) {
      scope = std::max(scope, vector_.start.scope);
    } else if (s.is_local()) {
      const auto& bound = bindings_[static_cast<size_t>(s.local_id())];
      scope = std::max(scope, bound ? bound->scope : changing_scope(s.local_id()));
    } else if (const auto found = symbols_.find(s); found != symbols_.end()) {
      scope = std::max(scope, found->second.scope);
    }
    return false;
  });
  return scope;
}

bool PhasePrinter::stands_still(const IntExpr& e) const {
  return !e.any_symbol(
      [&](Symbol s) { return s.is_local() && kernel_.locals[static_cast<size_t>(s.local_id())].is_mutable; });
}

Value PhasePrinter::symbol(Symbol symbol, bool lanes) {
  if (vector_.loop && symbol == vector_.var) {
    if (!lanes) return vector_.start;
    return op("add $T $a, $b", DType::I64, {vector_.start, iota(vector_.lanes, DType::I64)});
  }
  if (symbol.is_local()) return read_local(symbol.local_id());
  const auto found = symbols_.find(symbol);
  SMELT_CHECK(found != symbols_.end(), "the size {} is no parameter of the kernel", symbol);
  return found->second;
}

// Rounds down. The divisor is positive in every iteration that runs, but a hoisted division also
// runs where none does.
Value PhasePrinter::divide(const Atom& a, bool lanes) {
  const DType t = DType::I64;
  const bool quotient = a.kind == AtomKind::FloorDiv;
  const Value x = lanes ? integer_lanes(a.a) : integer(a.a);
  Value y = lanes ? integer_lanes(a.b) : integer(a.b);
  const auto constant_divisor = a.b.constant();
  SMELT_CHECK(!constant_divisor || *constant_divisor > 0, "an index is divided by {}", a.b.str());
  if (!constant_divisor) y = op("call $T @llvm.smax.$V($T $a, $T $b)", t, {y, constant(t, 1)});
  if (is_natural(kernel_.phases[static_cast<size_t>(phase_)], a.a))
    return op(quotient ? "udiv $T $a, $b" : "urem $T $a, $b", t, {x, y});
  const Value remainder = op("srem $T $a, $b", t, {x, y});
  const Value below = op("icmp slt $T $a, $b", DType::Bool, {remainder, constant(t, 0)});
  if (!quotient) return op("select $C $a, $T $b, $T $c", t, {below, op("add $T $a, $b", t, {remainder, y}), remainder});
  const Value whole = op("sdiv $T $a, $b", t, {x, y});
  return op("select $C $a, $T $b, $T $c", t, {below, op("sub $T $a, $b", t, {whole, constant(t, 1)}), whole});
}

Value PhasePrinter::atom(const Atom& a, bool lanes) {
  if (a.symbol) return symbol(*a.symbol, lanes);
  IntExpr whole = IntExpr::of_term({1, {std::make_shared<const Atom>(a)}});
  const std::string key = (lanes ? "atoms " : "atom ") + a.key;
  if (const Value* known = recall(key)) return *known;
  Value value;
  if (a.kind == AtomKind::Min || a.kind == AtomKind::Max) {
    const Value x = lanes ? integer_lanes(a.a) : integer(a.a), y = lanes ? integer_lanes(a.b) : integer(a.b);
    value = op(a.kind == AtomKind::Min ? "call $T @llvm.smin.$V($T $a, $T $b)" : "call $T @llvm.smax.$V($T $a, $T $b)",
               DType::I64, {x, y});
  } else {
    const std::optional<Value> near = lanes ? divide_neighbours(a) : std::nullopt;
    value = near ? *near : divide(a, lanes);
  }
  if (stands_still(whole)) remember(key, value);
  return value;
}

// The terms of `e`, each computed and added, outermost first.
Value PhasePrinter::integer_sum(const IntExpr& e, bool lanes) {
  std::vector<std::pair<int, const Term*>> terms;
  int64_t offset = 0;
  for (const Term& term : e.terms()) {
    if (term.atoms.empty()) {
      offset = term.coefficient;
      continue;
    }
    terms.emplace_back(scope_of(IntExpr::of_term(term)), &term);
  }
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::optional<Value> sum;
  const DType t = DType::I64;
  for (const auto& [scope, term] : terms) {
    std::vector<Value> factors;
    for (const IntExpr::AtomPtr& a : term->atoms)
      factors.push_back(atom(*a, lanes && varies(IntExpr::of_term({1, {a}}))));
    std::stable_sort(factors.begin(), factors.end(), [](const Value& a, const Value& b) { return a.scope < b.scope; });
    Value product = factors[0];
    for (size_t i = 1; i < factors.size(); ++i) product = op("mul $T $a, $b", t, {product, factors[i]});
    const bool subtract = sum && term->coefficient == -1;
    if (term->coefficient != 1 && !subtract)
      product = op("mul $T $a, $b", t, {product, constant(t, term->coefficient)});
    sum = !sum ? product : op(subtract ? "sub $T $a, $b" : "add $T $a, $b", t, {*sum, product});
  }
  if (!sum) return constant(t, offset);
  return offset ? op("add $T $a, $b", t, {*sum, constant(t, offset)}) : *sum;
}

Value PhasePrinter::integer(const IntExpr& e) {
  if (const auto value = e.constant()) return constant(DType::I64, *value);
  const std::string key = "int " + e.str();
  if (const Value* known = recall(key)) return *known;
  const Value value = integer_sum(e, false);
  SMELT_CHECK(value.lanes == 0, "the index {} differs between lanes", e.str());
  if (stands_still(e)) remember(key, value);
  return value;
}

Value PhasePrinter::integer_lanes(const IntExpr& e) {
  if (!varies(e)) return integer(e);
  const std::string key = "ints " + e.str();
  if (const Value* known = recall(key)) return *known;
  const auto step = e.coefficient_of(*vector_.var);
  Value value;
  if (step && !varies(*step) && !varies(e - *step * IntExpr::symbol(*vector_.var))) {
    const Value steps = op("mul $T $a, $b", DType::I64, {iota(vector_.lanes, DType::I64), integer(*step)});
    value = op("add $T $a, $b", DType::I64, {integer(e), step->is(1) ? iota(vector_.lanes, DType::I64) : steps});
  } else {
    const std::optional<Value> known_lanes = tabulated(e);
    value = known_lanes ? *known_lanes : integer_sum(e, true);
  }
  if (stands_still(e)) remember(key, value);
  return value;
}

}  // namespace smelt::emit
