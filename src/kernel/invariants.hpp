// Which expressions are the same wherever a loop is.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kernel/walk.hpp"

namespace smelt::kernel {

// For each expression below `roots`, whether is_same(expression) holds for it and for all
// expressions below it.
template <class IsSame>
std::unordered_map<ExprId, bool> same_below(const Kernel& kernel, const std::vector<ExprId>& roots,
                                            const IsSame& is_same) {
  std::vector<ExprId> below;
  visit_below(kernel, roots, [&](ExprId id, const Expr&) {
    below.push_back(id);
    return true;
  });
  std::sort(below.begin(), below.end());  // operands before their users
  std::unordered_map<ExprId, bool> same;
  for (const ExprId id : below) {
    bool all = is_same(kernel.at(id));
    for_each_operand(kernel.at(id), [&](ExprId operand) { all = all && same.at(operand); });
    same[id] = all;
  }
  return same;
}

}  // namespace smelt::kernel
