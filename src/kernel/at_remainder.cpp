#include "kernel/at_remainder.hpp"

#include <utility>

#include "kernel/conditions.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The period that an iteration is in, and its place there.
const Symbol& period_symbol() {
  static const Symbol symbol = Symbol::proof("period");
  return symbol;
}
const Symbol& place_symbol() {
  static const Symbol symbol = Symbol::proof("place");
  return symbol;
}

IntExpr value_of(const Iterations& i) {
  return i.period > 0 ? IntExpr::symbol(period_symbol()) * i.period + IntExpr::symbol(place_symbol()) : i.number;
}

std::map<Symbol, IntExpr> parts_of(const Iterations& i) {
  if (i.period == 0) return {};
  return {{period_symbol(), i.before}, {place_symbol(), i.number}};
}

}  // namespace

AtRemainder::AtRemainder(Kernel& kernel, const Iterations& iterations, const IntExpr& periods, const Ranges& ranges,
                         bool own_locals)
    : AtValue(kernel, iterations.var, value_of(iterations), ranges),
      own_locals_(own_locals),
      in_period_(parts_of(iterations)),
      known_(ranges) {
  if (in_period_.empty()) return;
  known_[period_symbol()] = {0, periods - 1};
  known_[place_symbol()] = {0, iterations.period - 1};
}

IntExpr AtRemainder::placed(const IntExpr& e) const {
  return in_period_.empty() ? AtValue::placed(e) : e.substitute(at_, known_).substitute(in_period_, ranges_);
}

std::vector<Stmt> AtRemainder::of(const std::vector<Stmt>& body) {
  if (own_locals_)
    for_each_stmt(body, [&](const Stmt& s) {
      if (const auto* let = s.get_if<Let>()) add_own(let->local);
      if (const auto* assign = s.get_if<Assign>()) add_own(assign->local);
      if (const auto* combine = s.get_if<Combine>()) {
        add_own(combine->local);
        if (combine->index_local >= 0) add_own(combine->index_local);
      }
    });
  std::vector<Stmt> made;
  for (Stmt s : body) {
    if (auto* loop = s.get_if<Loop>()) {
      loop->extent = placed(loop->extent);
      loop->body = of(loop->body);
    }
    for_each_expression(s, [&](ExprId& id) { id = (*this)(id); });
    if (auto* store = s.get_if<Store>()) place(store->access);
    if (auto* let = s.get_if<Let>()) let->local = own(let->local);
    if (auto* assign = s.get_if<Assign>()) assign->local = own(assign->local);
    if (auto* combine = s.get_if<Combine>()) {
      combine->local = own(combine->local);
      if (combine->index_local >= 0) combine->index_local = own(combine->index_local);
    }
    made.push_back(std::move(s));
  }
  return made;
}

bool AtRemainder::changes(const Expr& e) {
  const auto* read = e.get_if<ReadLocal>();
  return AtValue::changes(e) || (read && locals_.count(read->local) > 0);
}

void AtRemainder::change(Expr& e) {
  AtValue::change(e);
  if (auto* read = e.get_if<ReadLocal>()) read->local = own(read->local);
}

// What an expression is where a condition of it is known.
std::optional<ExprId> AtRemainder::instead(Expr& e) {
  if (auto* load = e.get_if<Load>()) {
    const auto holds = truth(load->mask);
    if (!holds) return std::nullopt;
    if (!*holds) return load->other;
    load->mask = load->other = kNoExpr;
    return std::nullopt;
  }
  const auto* apply = e.get_if<Apply>();
  if (!apply) return std::nullopt;
  if (apply->op == Op::Where) {
    if (apply->args[1] == apply->args[2]) return apply->args[1];
    const auto holds = truth(apply->args[0]);
    return holds ? std::optional(apply->args[*holds ? 1 : 2]) : std::nullopt;
  }
  if (apply->op == Op::Add && is_float(e.dtype))
    for (const size_t a : {0, 1})
      if (kernel_.is_zero(apply->args[a]) && is_never_minus_0(apply->args[1 - a])) return apply->args[1 - a];
  if (e.dtype != DType::Bool) return std::nullopt;
  if (apply->op == Op::And || apply->op == Op::Or)
    for (const size_t a : {0, 1})
      if (const auto holds = truth(apply->args[a]))
        return *holds == (apply->op == Op::And) ? apply->args[1 - a] : apply->args[a];
  const auto h = holds_where(kernel_, *apply);
  if (!h) return std::nullopt;
  const auto value = h->constant();
  const bool holds = value ? *value >= 0 : proves_nonnegative(*h, ranges_);
  if (!value && !holds && !proves_nonnegative(IntExpr(-1) - *h, ranges_)) return std::nullopt;
  if (value) ++decided_;
  return add({DType::Bool, Const{Scalar::of_bool(holds)}}, kNoExpr);
}

// A sum is -0 where both of its sides are.
bool AtRemainder::is_never_minus_0(ExprId id) const {
  while (const Apply* sum = kernel_.at(id).as_apply(Op::Add)) {
    if (kernel_.is_zero(sum->args[0]) || kernel_.is_zero(sum->args[1])) return true;
    id = sum->args[0];
  }
  return kernel_.is_zero(id);
}

std::optional<bool> AtRemainder::truth(ExprId id) const {
  const Scalar* known = id == kNoExpr ? nullptr : kernel_.constant_at(id);
  return known ? std::optional(known->as_bool()) : std::nullopt;
}

void AtRemainder::add_own(LocalId id) {
  const auto [known, fresh] = locals_.try_emplace(id, static_cast<LocalId>(kernel_.locals.size()));
  if (fresh) kernel_.locals.push_back(Local(kernel_.locals[static_cast<size_t>(id)]));
}

LocalId AtRemainder::own(LocalId id) const {
  const auto known = locals_.find(id);
  return known == locals_.end() ? id : known->second;
}

}  // namespace smelt::kernel
