// What every element of a loop computes alike is computed before the loop. The compiler would find most of it, but late: first it unrolls
// the loop, instructions in assembler among them, of which it moves none.
#include <algorithm>
#include <map>

#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

using kernel::Expr;
using kernel::ExprId;
using kernel::ExprKind;
using kernel::kNoExpr;
using kernel::Stmt;

// Constants, scalars and locals of the team are the same for all elements, and so is what is computed from them. Positions and what is
// read from arrays stay where they are.
bool PhasePrinter::is_same_for_all(const Expr& e, const Stmt& loop) const {
  switch (e.kind) {
    case ExprKind::Const: return true;
    case ExprKind::Local: {
      const LocalInfo& info = locals_[static_cast<size_t>(e.local)];
      return !info.vectors.count(&loop) && (!info.slots || (info.combined && !info.per_column));
    }
    case ExprKind::Load:
      return e.mask == kNoExpr && !e.access.scratch &&
             kernel_.params[static_cast<size_t>(e.access.array)].kind == kernel::ParamKind::Scalar;
    case ExprKind::Cast:
    case ExprKind::Bitcast:
    case ExprKind::Apply: return true;
    case ExprKind::Raw: return e.raw != kernel::RawOp::FromThread;
    case ExprKind::Index:
    case ExprKind::Random: return false;
  }
  return false;
}

// The largest expressions of the loop that are the same for all its elements, and no leaves.
std::vector<ExprId> PhasePrinter::same_for_all(const Stmt& loop) const {
  std::map<ExprId, bool> same;
  const auto is_same = [&](ExprId root) {
    std::vector<ExprId> open{root};
    while (!open.empty()) {
      const ExprId id = open.back();
      if (same.count(id)) {
        open.pop_back();
        continue;
      }
      const size_t depth = open.size();
      const std::vector<ExprId> needed = operands(kernel_.at(id));
      for (const ExprId operand : needed)
        if (!same.count(operand)) open.push_back(operand);
      if (open.size() > depth) continue;
      open.pop_back();
      same[id] = is_same_for_all(kernel_.at(id), loop) &&
                 std::all_of(needed.begin(), needed.end(), [&](ExprId operand) { return same.at(operand); });
    }
    return same.at(root);
  };
  std::vector<ExprId> roots, found;
  for (const Stmt& s : loop.body) roots.insert(roots.end(), {s.value, s.mask, s.anew});
  visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
    if (known_[static_cast<size_t>(id)]) return false;
    if (!is_same(id)) return true;
    if (!e.args.empty()) found.push_back(id);
    return false;
  });
  std::sort(found.begin(), found.end());
  return found;
}

void PhasePrinter::hoist(const Stmt& loop) {
  for (const ExprId id : same_for_all(loop)) {
    const std::string text = value(id);
    if (text.find_first_of("( ") == std::string::npos) continue;  // a name
    const std::string name = fmt::format("e{}", names_++);
    line("const {} {} = {};", type_of(kernel_.at(id).dtype), name, text);
    known_[static_cast<size_t>(id)] = name;
  }
}

}  // namespace smelt::emit::c_like
