// Going through a kernel: statements, the expressions below them, and the operands of each. Whoever
// looks for something in a kernel starts here.
#pragma once

#include <optional>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Calls visit(operand) for what an expression is computed from, by reference: an Expr& may be given
// other operands.
template <class E, class Visit>
void for_each_operand(E& e, const Visit& visit) {
  std::visit(
      [&]<class K>(K& kind) {
        using Kind = std::remove_const_t<K>;
        if constexpr (is_one_of<Kind, Apply, Raw, Random>) {
          for (auto& arg : kind.args) visit(arg);
        } else if constexpr (is_one_of<Kind, Cast, Bitcast>) {
          visit(kind.x);
        } else if constexpr (is_one_of<Kind, Load>) {
          if (kind.mask != kNoExpr) visit(kind.mask);
          if (kind.other != kNoExpr) visit(kind.other);
        } else {
          static_assert(is_one_of<Kind, Const, ReadLocal, IndexValue>);
        }
      },
      e.as);
}

inline std::vector<ExprId> operands(const Expr& e) {
  std::vector<ExprId> ids;
  for_each_operand(e, [&](ExprId id) { ids.push_back(id); });
  return ids;
}

// Calls visit(index) for the index expressions of an expression itself.
template <class Visit>
void for_each_index(const Expr& e, const Visit& visit) {
  std::visit(
      [&]<class Kind>(const Kind& kind) {
        if constexpr (is_one_of<Kind, IndexValue>) {
          visit(kind.value);
        } else if constexpr (is_one_of<Kind, Random>) {
          visit(kind.element);
        } else if constexpr (is_one_of<Kind, Load>) {
          for (const IntExpr& i : kind.access.index) visit(i);
        } else {
          static_assert(is_one_of<Kind, Const, ReadLocal, Apply, Cast, Bitcast, Raw>);
        }
      },
      e.as);
}

// What a statement computes, or its condition; nullptr where it has neither.
template <class S>
auto* value_of(S& s) {
  using Id = std::conditional_t<std::is_const_v<S>, const ExprId, ExprId>;
  return std::visit(
      []<class K>(K& kind) -> Id* {
        using Kind = std::remove_const_t<K>;
        if constexpr (is_one_of<Kind, Let, Assign, Scan, Store>) {
          return &kind.value;
        } else if constexpr (is_one_of<Kind, If, Each>) {
          return &kind.condition;
        } else {
          static_assert(is_one_of<Kind, Loop, Combine, Turn, TileProduct, Matrix, Alloc, Prefetch, Barrier>);
          return nullptr;
        }
      },
      s.as);
}

// Calls visit(expression) for those of a statement itself, not of its body, by reference.
template <class S, class Visit>
void for_each_expression(S& s, const Visit& visit) {
  if (auto* value = value_of(s)) visit(*value);
  if (auto* store = s.template get_if<Store>(); store && store->mask != kNoExpr) visit(store->mask);
  if (auto* scan = s.template get_if<Scan>()) {
    if (scan->restarts != kNoExpr) visit(scan->restarts);
    if (scan->factor != kNoExpr) visit(scan->factor);
    visit(scan->start);
  }
}

inline std::vector<ExprId> expressions(const Stmt& s) {
  std::vector<ExprId> ids;
  for_each_expression(s, [&](ExprId id) { ids.push_back(id); });
  return ids;
}

// The statements inside of one; nullptr where there cannot be any.
template <class S>
auto* body_of(S& s) {
  using Body = std::conditional_t<std::is_const_v<S>, const std::vector<Stmt>, std::vector<Stmt>>;
  return std::visit(
      []<class K>(K& kind) -> Body* {
        using Kind = std::remove_const_t<K>;
        if constexpr (is_one_of<Kind, Loop, If, Each>) {
          return &kind.body;
        } else {
          static_assert(
              is_one_of<Kind, Let, Assign, Combine, Scan, Turn, TileProduct, Matrix, Alloc, Store, Prefetch, Barrier>);
          return nullptr;
        }
      },
      s.as);
}

// A statement as a loop of that kind, if it is one.
template <class S>
auto* loop_of(S& s, LoopKind kind) {
  auto* loop = s.template get_if<Loop>();
  return loop && loop->kind == kind ? loop : nullptr;
}

// The interior of a Vector loop, if it has one.
template <class S>
auto* interior_of(S& s) {
  auto* loop = s.template get_if<Loop>();
  return loop && loop->interior ? &*loop->interior : nullptr;
}

// The variable of a Loop or an Each.
inline std::optional<Symbol> variable_of(const Stmt& s) {
  if (const auto* loop = s.get_if<Loop>()) return loop->var;
  if (const auto* each = s.get_if<Each>()) return each->var;
  return std::nullopt;
}

// The local that a Let, an Assign or a Scan gives a value.
inline std::optional<LocalId> given_by(const Stmt& s) {
  if (const auto* let = s.get_if<Let>()) return let->local;
  if (const auto* assign = s.get_if<Assign>()) return assign->local;
  if (const auto* scan = s.get_if<Scan>()) return scan->local;
  return std::nullopt;
}

// Calls visit(index) for the index expressions of a statement itself: extents, and where it
// accesses arrays.
template <class Visit>
void for_each_index(const Stmt& s, const Visit& visit) {
  const auto visit_all = [&](const Access& access) {
    for (const IntExpr& i : access.index) visit(i);
  };
  std::visit(
      [&]<class Kind>(const Kind& kind) {
        if constexpr (is_one_of<Kind, Loop>) {
          visit(kind.extent);
          if (!kind.interior) return;
          visit(kind.interior->first), visit(kind.interior->last);
          for (const IntExpr& h : kind.interior->holds) visit(h);
        } else if constexpr (is_one_of<Kind, Each>) {
          visit(kind.extent);
        } else if constexpr (is_one_of<Kind, Prefetch>) {
          visit(kind.elements), visit(kind.offset);
        } else if constexpr (is_one_of<Kind, Store>) {
          visit_all(kind.access);
          if (kind.cursor) visit_all(*kind.cursor);
        } else if constexpr (is_one_of<Kind, Turn>) {
          visit(kind.rows), visit(kind.columns);
          visit_all(kind.into), visit_all(kind.from);
        } else if constexpr (is_one_of<Kind, TileProduct>) {
          visit(kind.words);
          visit_all(kind.into), visit_all(kind.rows), visit_all(kind.columns);
        } else if constexpr (is_one_of<Kind, Scan>) {
          if (!kind.over_grid) return;
          visit(kind.over_grid->parts);
          visit_all(kind.over_grid->meet);
          visit(kind.over_grid->part);
        } else {
          static_assert(is_one_of<Kind, Let, Assign, Combine, Matrix, Alloc, If, Barrier>);
        }
      },
      s.as);
}

// Whether some index that the expression itself has meets a condition on IntExpr.
template <class Condition>
bool any_index(const Expr& e, const Condition& condition) {
  bool found = false;
  for_each_index(e, [&](const IntExpr& i) { found = found || condition(i); });
  return found;
}

// Visits each expression that `roots` are computed from once, first from a user of it. `enter(id,
// e)` returns whether the operands of e are visited too. Roots may be kNoExpr.
template <class Enter>
void visit_below(const Kernel& kernel, std::vector<ExprId> roots, const Enter& enter) {
  std::unordered_set<ExprId> seen;
  while (!roots.empty()) {
    const ExprId id = roots.back();
    roots.pop_back();
    if (id == kNoExpr || !seen.insert(id).second) continue;
    const Expr& e = kernel.at(id);
    if (enter(id, e)) for_each_operand(e, [&](ExprId operand) { roots.push_back(operand); });
  }
}

// Visits the accesses of a statement itself, not of its body: visit(access, stored).
template <class Visit>
void visit_accesses(const Kernel& kernel, const Stmt& s, const Visit& visit) {
  visit_below(kernel, expressions(s), [&](ExprId, const Expr& e) {
    if (const auto* load = e.get_if<Load>()) visit(load->access, false);
    return true;
  });
  if (const auto* store = s.get_if<Store>()) {
    visit(store->access, true);
    if (store->cursor) visit(*store->cursor, true);
  }
  if (const auto* turn = s.get_if<Turn>()) {
    visit(turn->from, false);
    visit(turn->into, true);
  }
  if (const auto* tiles = s.get_if<TileProduct>()) {
    visit(tiles->rows, false), visit(tiles->columns, false);
    visit(tiles->into, true);
  }
  if (const auto* matrix = s.get_if<Matrix>()) {
    for (const int b : {matrix->rows, matrix->columns})
      if (b >= 0) visit(Access{true, b, {}}, false);
    if (matrix->into >= 0) visit(Access{true, matrix->into, {}}, true);
    for (const int f : {matrix->fragment, matrix->by})
      if (const int b = f < 0 ? -1 : kernel.fragments[static_cast<size_t>(f)].registers; b >= 0)
        visit(Access{true, b, {}}, true);
  }
}

// Whether an expression that `roots` are computed from, or one of them, meets the condition.
template <class Condition>
bool any_below(const Kernel& kernel, std::vector<ExprId> roots, const Condition& condition) {
  bool found = false;
  visit_below(kernel, std::move(roots), [&](ExprId, const Expr& e) {
    found = found || condition(e);
    return !found;
  });
  return found;
}

// Visits every statement of a body, those around before those inside, and those of interiors.
template <class Body, class Visit>
void for_each_stmt(Body& body, const Visit& visit) {
  for (auto& s : body) {
    visit(s);
    if (auto* inside = body_of(s)) for_each_stmt(*inside, visit);
    if (auto* interior = interior_of(s)) for_each_stmt(interior->body, visit);
  }
}

// The expressions of all statements of a body.
template <class Body>
std::vector<ExprId> expressions_of(const Body& body) {
  std::vector<ExprId> ids;
  for_each_stmt(body, [&](const Stmt& s) { for_each_expression(s, [&](ExprId id) { ids.push_back(id); }); });
  return ids;
}

}  // namespace smelt::kernel
