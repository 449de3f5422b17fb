// Going through a kernel: statements, the expressions below them, and the operands of each. Whoever looks for something in
// a kernel starts here.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// What an expression is computed from.
inline std::vector<ExprId> operands(const Expr& e) {
  std::vector<ExprId> ids = e.args;
  if (e.mask != kNoExpr) ids.push_back(e.mask);
  if (e.other != kNoExpr) ids.push_back(e.other);
  return ids;
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
  if ((e.kind == ExprKind::Index || e.kind == ExprKind::Random) && condition(e.index)) return true;
  for (const IntExpr& i : e.access.index)
    if (condition(i)) return true;
  return false;
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
    if (!enter(id, e)) continue;
    roots.insert(roots.end(), e.args.begin(), e.args.end());
    roots.insert(roots.end(), {e.mask, e.other});
  }
}

// Visits the accesses of a statement itself, not of its body: visit(access, stored).
template <class Visit>
void visit_accesses(const Kernel& kernel, const Stmt& s, const Visit& visit) {
  visit_below(kernel, expressions(s), [&](ExprId, const Expr& e) {
    if (e.kind == ExprKind::Load) visit(e.access, false);
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
