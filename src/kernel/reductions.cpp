// Accumulators: how each kind of reduction starts, takes a value, and ends.
#include "base/check.hpp"
#include "kernel/lowering.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {

Op op_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return Op::Add;
    case ReduceKind::Prod: return Op::Mul;
    case ReduceKind::Max:
    case ReduceKind::ArgMax: return Op::Max;
    case ReduceKind::Min:
    case ReduceKind::ArgMin: return Op::Min;
    case ReduceKind::Any: return Op::Or;
    case ReduceKind::All: return Op::And;
  }
  throw InternalError("unknown kind of reduction");
}

Scalar neutral(ReduceKind kind, DType t) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Any: return Scalar::of_int(t, 0);
    case ReduceKind::Prod:
    case ReduceKind::All: return Scalar::of_int(t, 1);
    case ReduceKind::Max:
    case ReduceKind::ArgMax: return is_float(t) ? Scalar::of_float(t, -HUGE_VAL) : Scalar::of_int(t, min_int(t));
    case ReduceKind::Min:
    case ReduceKind::ArgMin: return is_float(t) ? Scalar::of_float(t, HUGE_VAL) : Scalar::of_uint(t, max_int(t));
  }
  throw InternalError("unknown kind of reduction");
}

ExprId Lowering::initial(const Accumulator& a) { return builder_.constant(neutral(a.kind, a.value_type)); }

DType Accumulator::dtype() const { return value_type; }

std::vector<Accumulator> Lowering::accumulators(int level) {
  std::vector<Accumulator> result;
  for (const Reduction& r : domain().reductions) {
    if (r.level != level) continue;
    const Node& node = graph_.at(r.node);
    Accumulator a{&r, node.reduce};
    a.value_type = accumulator_type(graph_.at(node.args[0]).dtype);
    a.value = builder_.new_local(a.value_type, true);
    if (a.with_index()) a.index = builder_.new_local(DType::I64, true);
    result.push_back(a);
  }
  pair_online(result);
  return result;
}

std::vector<Stmt> Lowering::start(const std::vector<Accumulator>& accs) {
  std::vector<Stmt> stmts;
  for (const Accumulator& a : accs) {
    stmts.push_back(assign(a.value, initial(a)));
    if (a.with_index()) stmts.push_back(assign(a.index, builder_.constant(Scalar::of_int(DType::I64, INT64_MAX))));
  }
  return stmts;
}

ExprId Lowering::merged(const Accumulator& a, ExprId current, ExprId next) {
  return builder_.apply(op_of(a.kind), {current, next});
}

std::vector<Stmt> Lowering::update(const Accumulator& a, ExprId value, const IntExpr& position) {
  return update(a, value, a.with_index() ? builder_.index(position) : kNoExpr);
}

// argmax takes a strictly better value, a NaN over a number, and of equals the smaller index; before anything was taken the
// index is INT64_MAX, and then everything is taken.
std::vector<Stmt> Lowering::update(const Accumulator& a, ExprId value, ExprId position) {
  const ExprId current = builder_.local(a.value);
  if (!a.with_index()) return {assign(a.value, merged(a, current, value))};
  const Val x{&builder_, value}, best{&builder_, current}, at{&builder_, position},
      best_at{&builder_, builder_.local(a.index)};
  Val better = a.kind == ReduceKind::ArgMax ? x > best : x < best;
  Val tie = x == best;
  if (is_float(a.value_type)) {
    better = better | ((x != x) & (best == best));
    tie = tie | ((x != x) & (best != best));
  }
  const LocalId take = builder_.new_local(DType::Bool, false);
  const Val taken{&builder_, builder_.local(take)};
  return {let(take, (better | (tie & (at < best_at))).id), assign(a.value, select(taken, x, best).id),
          assign(a.index, select(taken, at, best_at).id)};
}

Stmt Lowering::combine_lanes(const Accumulator& a) { return combine(a.value, op_of(a.kind), a.index); }

ExprId Lowering::result(const Accumulator& a) { return builder_.local(a.with_index() ? a.index : a.value); }

IntExpr Lowering::position(const Placement& placement) const {
  IntExpr flat = 0;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) flat = flat * axis.extent + axis.value();
  return flat.substitute(placement.value_of, placement.ranges);
}

}  // namespace smelt::kernel
