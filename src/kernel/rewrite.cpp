#include "kernel/rewrite.hpp"

#include <algorithm>
#include <utility>

#include "kernel/walk.hpp"

namespace smelt::kernel {

// Chains may be longer than the stack is deep.
ExprId Rewriter::operator()(ExprId root) {
  if (root == kNoExpr) return root;
  std::vector<ExprId> open{root};
  while (!open.empty()) {
    const ExprId id = open.back();
    if (known_.count(id)) {
      open.pop_back();
      continue;
    }
    const size_t depth = open.size();
    for_each_operand(kernel_.at(id), [&](ExprId operand) {
      if (!known_.count(operand)) open.push_back(operand);
    });
    if (open.size() > depth) continue;
    known_[id] = rebuilt(id);
  }
  return known_.at(root);
}

ExprId Rewriter::rebuilt(ExprId id) {
  const bool own = changes(kernel_.at(id));
  bool same = !own;
  for_each_operand(kernel_.at(id), [&](ExprId operand) { same = same && known_.at(operand) == operand; });
  if (same) return id;
  Expr copy = kernel_.at(id);
  for_each_operand(copy, [&](ExprId& operand) { operand = known_.at(operand); });
  if (own) change(copy);
  if (const auto other = instead(copy)) return *other;
  return add(std::move(copy), id);
}

ExprId Rewriter::add(Expr e, ExprId from) {
  const auto made = static_cast<ExprId>(kernel_.exprs.size());
  kernel_.exprs.push_back(std::move(e));
  if (const auto label = kernel_.labels.find(from); label != kernel_.labels.end()) kernel_.labels[made] = label->second;
  return made;
}

void Rewriter::operator()(Stmt& s) {
  for_each_expression(s, [&](ExprId& id) { id = (*this)(id); });
  if (auto* body = body_of(s))
    for (Stmt& inner : *body) (*this)(inner);
  if (auto* interior = interior_of(s))
    for (Stmt& inner : interior->body) (*this)(inner);
}

bool AtValue::changes(const Expr& e) {
  return any_index(e, [&](const IntExpr& i) { return i.mentions(at_.begin()->first); });
}

void AtValue::change(Expr& e) {
  if (auto* index = e.get_if<IndexValue>()) index->value = placed(index->value);
  if (auto* load = e.get_if<Load>()) place(load->access);
  if (auto* random = e.get_if<Random>()) random->element = placed(random->element);
}

void AtValue::place(Access& access) const {
  for (IntExpr& i : access.index) i = placed(i);
}

bool remove_dead_code(Kernel& kernel) {
  std::vector<ExprId> roots;
  for (const Phase& phase : kernel.phases)
    for_each_stmt(phase.body,
                  [&](const Stmt& s) { for_each_expression(s, [&](ExprId root) { roots.push_back(root); }); });
  std::vector<bool> used(kernel.exprs.size(), false);
  visit_below(kernel, std::move(roots), [&](ExprId id, const Expr&) { return used[static_cast<size_t>(id)] = true; });
  if (std::find(used.begin(), used.end(), false) == used.end()) return false;
  std::vector<ExprId> moved(kernel.exprs.size(), kNoExpr);
  const auto move = [&](ExprId& id) { id = moved[static_cast<size_t>(id)]; };
  std::vector<Expr> kept;
  std::map<ExprId, std::string> labels;
  for (size_t id = 0; id < used.size(); ++id) {
    if (!used[id]) continue;
    Expr& e = kernel.exprs[id];
    for_each_operand(e, move);
    moved[id] = static_cast<ExprId>(kept.size());
    if (const auto label = kernel.labels.find(static_cast<ExprId>(id)); label != kernel.labels.end())
      labels[moved[id]] = label->second;
    kept.push_back(std::move(e));
  }
  kernel.exprs = std::move(kept);
  kernel.labels = std::move(labels);
  for (Phase& phase : kernel.phases) for_each_stmt(phase.body, [&](Stmt& s) { for_each_expression(s, move); });
  return true;
}

}  // namespace smelt::kernel
