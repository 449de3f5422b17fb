// Expressions, computed when first needed, in the outermost scope that can.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Expr;
using kernel::ExprId;
using kernel::ExprKind;

std::vector<ExprId> PhasePrinter::operands(const Expr& e) const {
  if (chooses(e)) return {e.args[1]};
  std::vector<ExprId> ids = e.args;
  if (holds(e.mask)) return ids;
  if (e.mask != kernel::kNoExpr) ids.push_back(e.mask);
  if (e.other != kernel::kNoExpr) ids.push_back(e.other);
  return ids;
}

// The mutable locals, and the arrays that this phase stores to, whose contents each expression depends on. Arguments come before
// their users, so one pass in order finds them all.
void PhasePrinter::find_dependencies() {
  std::vector<Symbol> symbols;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    std::vector<int>& found = dependencies_[id];
    symbols.clear();
    if (e.kind == ExprKind::Index || e.kind == ExprKind::Random) e.index.collect_symbols(symbols);
    for (const IntExpr& index : e.access.index) index.collect_symbols(symbols);
    for (const Symbol s : symbols)
      if (s.is_local() && kernel_.locals[static_cast<size_t>(s.local_id())].is_mutable) found.push_back(s.local_id());
    if (e.kind == ExprKind::Local && kernel_.locals[static_cast<size_t>(e.local)].is_mutable) found.push_back(e.local);
    if (e.kind == ExprKind::Load && stored_[static_cast<size_t>(resource_of(e.access))])
      found.push_back(resource_of(e.access));
    for (ExprId operand : operands(e)) {
      const std::vector<int>& more = dependencies_[static_cast<size_t>(operand)];
      found.insert(found.end(), more.begin(), more.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
}

// Depth first with a stack of its own: chains of thousands of operations are ordinary.
Value PhasePrinter::value_of(ExprId root) {
  std::vector<ExprId> waiting{root};
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    const Expr& e = kernel_.at(id);
    // Immutable locals are bound, not remembered: an unrolled loop binds them again.
    const bool is_bound = e.kind == ExprKind::Local && !kernel_.locals[static_cast<size_t>(e.local)].is_mutable;
    SMELT_CHECK(!is_bound || bindings_[static_cast<size_t>(e.local)], "local {} is read before its Let", e.local);
    if (is_bound || known_[static_cast<size_t>(id)]) {
      waiting.pop_back();
      continue;
    }
    const size_t depth = waiting.size();
    for (ExprId operand : operands(e)) {
      const Expr& o = kernel_.at(operand);
      const bool ready = known_[static_cast<size_t>(operand)].has_value() ||
                         (o.kind == ExprKind::Local && bindings_[static_cast<size_t>(o.local)]);
      if (!ready) waiting.push_back(operand);
    }
    if (waiting.size() > depth) continue;
    waiting.pop_back();
    remember(id, compute(e));
  }
  const Expr& e = kernel_.at(root);
  const auto& known = known_[static_cast<size_t>(root)];
  return known ? *known : read_local(e.local);
}

Value PhasePrinter::compute(const Expr& e) {
  auto argument = [&](size_t i) { return value_of(e.args[i]); };
  switch (e.kind) {
    case ExprKind::Const: return {literal(e.constant), e.dtype, 0, 0};
    case ExprKind::Local: return read_local(e.local);
    case ExprKind::Index: return integer_lanes(e.index);
    case ExprKind::Cast: return cast(argument(0), e.dtype, e.wrap);
    case ExprKind::Bitcast: return bitcast(argument(0), e.dtype);
    case ExprKind::Raw: return raw(e);
    case ExprKind::Random: return random(e);
    case ExprKind::Load: return load(e);
    case ExprKind::Apply: break;
  }
  if (chooses(e)) {
    Value chosen = argument(1);
    chosen.scope = std::max(chosen.scope, vector_.scope);
    return chosen;
  }
  if (const auto mask = compare_indices(e)) return *mask;
  if (const auto quotient = divide_by_constant(e)) return *quotient;
  std::vector<Value> args;
  for (ExprId id : e.args) args.push_back(value_of(id));
  const OpInfo& row = info(e.op);
  const std::string_view spelling = is_float(args.back().dtype) ? row.llvm_float : row.llvm_int;
  SMELT_CHECK(!spelling.empty(), "{} of {} reached the printer unexpanded", row.name, name_of(args.back().dtype));
  return op(spelling, e.dtype, args);
}

Value PhasePrinter::raw(const Expr& e) {
  std::vector<Value> args;
  for (ExprId id : e.args) args.push_back(value_of(id));
  switch (e.raw) {
    case kernel::RawOp::TruncDiv: return op("$sdiv $T $a, $b", e.dtype, args);
    case kernel::RawOp::TruncRem: return op("$srem $T $a, $b", e.dtype, args);
    case kernel::RawOp::Shl: return op("shl $T $a, $b", e.dtype, args);
    case kernel::RawOp::Shr: return op("$shr $T $a, $b", e.dtype, args);
    case kernel::RawOp::ToInt: {
      // Frozen, because what does not fit would otherwise make everything that it touches undefined.
      const Value x = convert("fptosi", args[0], e.dtype);
      return define(x.scope, e.dtype, x.lanes, fmt::format("freeze {} {}", type_of(x), x.text));
    }
    default: throw InternalError("an operation of GPUs reached the LLVM printer");
  }
}

Value PhasePrinter::read_local(kernel::LocalId id) {
  const kernel::Local& local = kernel_.locals[static_cast<size_t>(id)];
  if (!local.is_mutable) {
    SMELT_CHECK(bindings_[static_cast<size_t>(id)], "local {} is read before its Let", id);
    return *bindings_[static_cast<size_t>(id)];
  }
  const Slot& slot = slots_[static_cast<size_t>(id)];
  SMELT_CHECK(slot.declared, "local {} is read but never assigned", id);
  const bool as_lanes =
      vector_.loop && slot.lanes && (slot.declared_in || slot.in_lanes || vector_.changes[static_cast<size_t>(id)]);
  SMELT_CHECK(as_lanes || !slot.in_lanes, "local {} is read before the Combine of its lanes", id);
  SMELT_CHECK(!as_lanes || slot.lanes == vector_.lanes, "local {} has {} lanes, its loop {}", id, slot.lanes,
              vector_.lanes);
  const int lanes = as_lanes ? slot.lanes : 0;
  return define(
      changing_scope(id), local.dtype, lanes,
      fmt::format("load {}, ptr %l{}{}", vector_of(lane_type(local.dtype), lanes), id, lanes ? ".lanes" : ""));
}

}  // namespace smelt::emit
