#include "kernel/conditions.hpp"

#include <algorithm>
#include <cstdint>

namespace smelt::kernel {

constexpr int64_t kLargest = int64_t{1} << 56;  // no size or stride is greater

// Extents are computed for empty arrays too, where a size is 0. Strides may be anything.
Ranges ranges_of_sizes(const Kernel& kernel) {
  Ranges ranges;
  for (const Param& p : kernel.params)
    if (p.symbol) ranges[*p.symbol] = {p.symbol->kind() == Symbol::Kind::Stride ? -kLargest : 0, kLargest};
  return ranges;
}

void widen(Ranges& ranges, Symbol symbol, const IntExpr& extent) {
  const IntExpr last = extent - 1;
  if (!ranges.has(symbol))
    ranges[symbol] = {0, last};
  else if (!(ranges.at(symbol).high == last))
    ranges.at(symbol).high = max(ranges.at(symbol).high, last);
}

void SymbolsAround::enter(Symbol symbol, const IntExpr& extent) {
  ranges_[symbol] = {0, extent - 1};
  entered_.push_back(symbol);
}

void SymbolsAround::enter(const Let& let) {
  if (const IndexLocal* l = index_named_by(kernel_, let.local)) enter(Symbol::local(l->local), l->extent);
}

void SymbolsAround::enter_body_of(const Stmt& stmt) {
  if (const auto* loop = stmt.get_if<Loop>()) enter(loop->var, loop->extent);
  if (const auto* each = stmt.get_if<Each>()) enter(each->var, each->extent);
}

SymbolsAround::Scope::~Scope() {
  for (; around_.entered_.size() > before_; around_.entered_.pop_back()) around_.ranges_.erase(around_.entered_.back());
}

const IndexLocal* index_named_by(const Kernel& kernel, LocalId local) {
  const auto found = std::find_if(kernel.index_locals.begin(), kernel.index_locals.end(),
                                  [&](const IndexLocal& l) { return l.local == local; });
  return found == kernel.index_locals.end() ? nullptr : &*found;
}

bool is_named_index(const Kernel& kernel, Symbol symbol) {
  return symbol.is_local() && index_named_by(kernel, symbol.local_id());
}

std::optional<IntExpr> index_of(const Kernel& kernel, ExprId id) {
  if (const auto* index = kernel.at(id).get_if<IndexValue>()) return index->value;
  const Scalar* known = kernel.constant_at(id);
  return known && known->dtype == DType::I64 ? std::optional(IntExpr(known->i)) : std::nullopt;
}

ExprId is_below(Kernel& kernel, const IntExpr& index, const IntExpr& extent) {
  const auto add = [&](Expr e) {
    kernel.exprs.push_back(std::move(e));
    return static_cast<ExprId>(kernel.exprs.size() - 1);
  };
  const ExprId n = add({DType::I64, IndexValue{index}}), m = add({DType::I64, IndexValue{extent}});
  return add({DType::Bool, Apply{Op::Lt, {n, m}}});
}

std::optional<IntExpr> holds_where(const Kernel& kernel, const Apply& e) {
  if (e.args.size() != 2) return std::nullopt;
  const auto left = index_of(kernel, e.args[0]), right = index_of(kernel, e.args[1]);
  if (!left || !right) return std::nullopt;
  switch (e.op) {
    case Op::Ge: return *left - *right;
    case Op::Gt: return *left - *right - 1;
    case Op::Le: return *right - *left;
    case Op::Lt: return *right - *left - 1;
    default: return std::nullopt;
  }
}

IntExpr undivided(const IntExpr& h) {
  for (const IntExpr::Term& term : h.terms()) {
    if (term.atoms.size() != 1 || term.atoms[0]->kind != AtomKind::FloorDiv) continue;
    const IntExpr x = term.atoms[0]->a, c = term.atoms[0]->b, k = h - IntExpr::of_term(term);
    if (c.constant().value_or(0) <= 0) continue;
    if (term.coefficient == 1) return x + c * k;
    if (term.coefficient == -1) return c * k + c - 1 - x;
  }
  return h;
}

}  // namespace smelt::kernel
