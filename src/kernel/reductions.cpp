// Accumulators: how each kind of reduction starts, takes a value, and ends.
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"
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
  t = compute_type(t);
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

ExprId AccumulatorLowering::initial(const Accumulator& a) { return builder_.constant(neutral(a.kind, a.value_type)); }

// Indices count in lanes no wider than they must be: from the first position of a block on, or
// along all of what is known to be short.
std::vector<Accumulator> AccumulatorLowering::accumulators(int level, const std::optional<IntExpr>& block) {
  std::vector<Accumulator> result;
  for (const Reduction& r : domain().reductions) {
    if (r.level != level) continue;
    const Node& node = graph_.at(r.node);
    Accumulator a{&r, node.reduce};
    a.value_type = accumulator_type(graph_.at(node.args[0]).dtype);
    a.value = builder_.new_local(a.value_type, true);
    if (a.with_index()) {
      if (block) {
        a.first_position = *block;
        a.index_type = size_of(a.value_type) > 2 ? DType::I32 : DType::I16;
      } else if (has_few_positions()) {
        a.index_type = DType::I32;
      }
      a.index = builder_.new_local(a.index_type, true);
    }
    result.push_back(a);
  }
  pair_online(result);
  add_moments(result);
  return result;
}

// What nothing was taken into has position 0: it is the result only where no element differs from
// the neutral value, and then the first is.
std::vector<Stmt> AccumulatorLowering::start(const std::vector<Accumulator>& accs) {
  std::vector<Stmt> stmts;
  for (const Accumulator& a : accs) {
    stmts.push_back(assign(a.value, initial(a)));
    if (a.with_index()) stmts.push_back(assign(a.index, builder_.constant(Scalar::of_int(a.index_type, 0))));
  }
  return stmts;
}

ExprId AccumulatorLowering::merged(const Accumulator& a, ExprId current, ExprId next) {
  return builder_.apply(op_of(a.kind), {current, next});
}

// A product that something else uses too is made for that anyway.
bool AccumulatorLowering::adds_products(const Accumulator& a) const {
  const NodeId product = graph_.at(a.reduction->node).args[0];
  const Node& node = graph_.at(product);
  if (a.kind != ReduceKind::Sum || node.kind != NodeKind::Elementwise || !is_float(node.dtype)) return false;
  if (node.op != Op::Mul && node.op != Op::Square) return false;
  int64_t uses = std::count(group_.outputs.begin(), group_.outputs.end(), product);
  for (const NodeId id : group_.nodes) {
    const auto& args = graph_.at(id).args;
    uses += std::count(args.begin(), args.end(), product);
  }
  return uses == 1;
}

std::vector<Stmt> AccumulatorLowering::take_element(const Accumulator& a, ExprId element, const IntExpr& position) {
  const ExprId current = builder_.local(a.value);
  if (!a.with_index()) {
    const Apply* product = builder_.at(element).as_apply(Op::Mul);
    if (!adds_products(a) || !product) return {assign(a.value, merged(a, current, element))};
    // With one rounding: more exact, and one instruction in place of two.
    return {assign(a.value, builder_.apply(Op::Fma, {product->args[0], product->args[1], current}))};
  }
  const ExprId here = builder_.cast(builder_.index(position - a.first_position), a.index_type, true);
  if (!a.in_order || !positions_ascend()) return take_part(a, element, here);
  // The first of equal elements stays, and so does a NaN.
  const Val x{&builder_, element}, best{&builder_, current};
  const bool largest = a.kind == ReduceKind::ArgMax;
  if (!is_float(a.value_type)) return take_if(a, largest ? x > best : x < best, x, {&builder_, here});
  return take_if(a, (!(largest ? x <= best : x >= best)) & (best == best), x, {&builder_, here});
}

std::vector<Stmt> AccumulatorLowering::take_part(const Accumulator& a, const Accumulator& part) {
  ExprId index = kNoExpr;
  if (part.with_index()) {
    index = result(part);
    if (!part.first_position.is(0)) index = builder_.apply(Op::Add, {builder_.index(part.first_position), index});
  }
  return take_part(a, builder_.local(part.value), index);
}

// Sets each accumulator to its own part.
std::vector<Stmt> AccumulatorLowering::take_parts(const std::vector<Accumulator>& accs,
                                                  const std::vector<Accumulator>& parts) {
  std::vector<Stmt> stmts;
  std::vector<ExprId> held_by_part;
  for (size_t i = 0; i < accs.size(); ++i) {
    held_by_part.push_back(held(parts, i));
    if (!accs[i].of_moments()) append(stmts, take_part(accs[i], parts[i]));
  }
  append(stmts, take_moments(accs, held_by_part));
  return stmts;
}

// In whatever order they come: a strictly better value, a NaN over a number, and of equals the
// smaller index.
std::vector<Stmt> AccumulatorLowering::take_part(const Accumulator& a, ExprId value, ExprId index) {
  if (!a.with_index()) return {assign(a.value, merged(a, builder_.local(a.value), value))};
  const Val x{&builder_, value}, best{&builder_, builder_.local(a.value)},
      at{&builder_, builder_.cast(index, a.index_type, true)}, best_at{&builder_, builder_.local(a.index)};
  Val better = a.kind == ReduceKind::ArgMax ? x > best : x < best;
  Val tie = x == best;
  if (is_float(a.value_type)) {
    better = better | ((x != x) & (best == best));
    tie = tie | ((x != x) & (best != best));
  }
  return take_if(a, better | (tie & (at < best_at)), x, at);
}

std::vector<Stmt> AccumulatorLowering::take_if(const Accumulator& a, Val better, Val value, Val index) {
  const LocalId take = builder_.new_local(DType::Bool, false);
  const Val taken{&builder_, builder_.local(take)};
  return {let(take, better.id), assign(a.value, select(taken, value, {&builder_, builder_.local(a.value)}).id),
          assign(a.index, select(taken, index, {&builder_, builder_.local(a.index)}).id)};
}

Stmt AccumulatorLowering::combine_lanes(const Accumulator& a) {
  return combine(a.value, op_of(a.kind), a.index, schedule_.columns);
}

ExprId AccumulatorLowering::result(const Accumulator& a) {
  return a.with_index() ? builder_.cast(builder_.local(a.index), DType::I64) : builder_.local(a.value);
}

IntExpr AccumulatorLowering::position(const Placement& placement) const {
  IntExpr flat = 0;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) flat = flat * axis.extent + axis.value();
  return flat.substitute(placement.value_of, placement.ranges);
}

bool AccumulatorLowering::has_few_positions() const {
  const auto elements = domain().reduced_count().constant();
  return elements && *elements <= INT32_MAX;
}

// Whether it adds integers of up to 16 bits or bools in wider ones.
bool AccumulatorLowering::adds_small_integers(NodeId reduce) const {
  NodeId from = graph_.at(reduce).args[0];
  if (graph_.at(reduce).reduce != ReduceKind::Sum || !is_int(graph_.at(from).dtype)) return false;
  while (graph_.at(from).kind == NodeKind::Cast) from = graph_.at(from).args[0];
  const DType t = graph_.at(from).dtype;
  return is_bool(t) || (is_int(t) && size_of(t) <= 2);
}

// Rows of a length that is not known are counted in blocks, which are short, and small integers
// added: narrow lanes hold a block's sum (narrow_sums.hpp).
bool AccumulatorLowering::counts_in_blocks() const {
  bool finds = false;
  for (const Reduction& r : domain().reductions) {
    if (r.online) return false;
    const ReduceKind kind = graph_.at(r.node).reduce;
    finds = finds || kind == ReduceKind::ArgMax || kind == ReduceKind::ArgMin || adds_small_integers(r.node);
  }
  return finds && !has_few_positions();
}

// What a thread of a GPU takes from the ends of a row, after what lies between them, has an
// accumulator of its own.
bool AccumulatorLowering::positions_ascend() const {
  if (domain().reversed) return false;
  const Axis* last = nullptr;
  for (const Axis& axis : domain().axes)
    if (axis.reduced) last = &axis;
  return schedule_.vector_axis < 0 || !vector_axis().reduced || last == &vector_axis();
}

}  // namespace smelt::kernel
