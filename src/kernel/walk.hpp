// Going through a kernel: statements, the expressions below them, and the operands of each. Whoever looks for something in
// a kernel starts here.
#pragma once

#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Calls visit(operand) for what an expression is computed from, by reference: an Expr& may be given other operands.
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
  if (const auto* index = e.get_if<IndexValue>()) visit(index->value);
  if (const auto* random = e.get_if<Random>()) visit(random->element);
  if (const auto* load = e.get_if<Load>())
    for (const IntExpr& i : load->access.index) visit(i);
}

// The fields of a statement that hold its expressions; kNoExpr where it has none.
inline constexpr ExprId Stmt::*kExpressionFields[] = {&Stmt::value, &Stmt::mask, &Stmt::anew, &Stmt::start};

// The expressions of a statement itself, not of its body; some may be kNoExpr.
inline std::vector<ExprId> expressions(const Stmt& s) {
  std::vector<ExprId> ids;
  for (const auto field : kExpressionFields) ids.push_back(s.*field);
  return ids;
}

// Whether some index that the expression itself has meets a condition on IntExpr.
template <class Condition>
bool any_index(const Expr& e, const Condition& condition) {
  bool found = false;
  for_each_index(e, [&](const IntExpr& i) { found = found || condition(i); });
  return found;
}

// Visits each expression that `roots` are computed from once, first from a user of it. `enter(id, e)` returns whether
// the operands of e are visited too. Roots may be kNoExpr.
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
  if (s.kind == StmtKind::Store) visit(s.access, true);
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

// Visits every statement of a body, those around before those inside.
template <class Body, class Visit>
void for_each_stmt(Body& body, const Visit& visit) {
  for (auto& s : body) {
    visit(s);
    for_each_stmt(s.body, visit);
  }
}

}  // namespace smelt::kernel
