#include "kernel/index_forms.hpp"

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/lane_facts.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using AccessForm = LaneAccess::Form;

// The forms of one loop that a printer of vectors looks up.
class IndexForms {
 public:
  IndexForms(const Kernel& kernel, const LaneFacts& facts, LaneForms& forms)
      : kernel_(kernel), facts_(facts), lanes_(facts.steps.var, facts.in_lanes), forms_(forms) {}

  bool changed() const { return changed_; }

  void expressions(const std::vector<ExprId>& roots) {
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (const auto* apply = e.get_if<Apply>()) compared(id, *apply);
      if (const auto* index = e.get_if<IndexValue>()) each_lane(index->value, true);
      if (const auto* random = e.get_if<Random>()) each_lane(random->element, true);
      if (const auto* load = e.get_if<Load>()) loaded(id, *load);
      return true;
    });
  }

  void stored(const Store& store) {
    if (!store.step) addresses(flat_offset(kernel_, store.access), true);
  }

 private:
  void loaded(ExprId id, const Load& load) {
    const LaneAccess& access = forms_.loads.at(id);
    const bool always = access.holds.empty();
    const bool neighbours = access.form == AccessForm::Strided && (access.step == 1 || access.step == -1);
    if (always && (neighbours || access.form == AccessForm::Broadcast)) return;
    // Other forms have addresses of their own for each lane in the last step, which no table is of.
    addresses(flat_offset(kernel_, load.access), !always || access.form == AccessForm::Gather);
  }

  // The distances of the lanes from what is the same for all.
  void addresses(const IntExpr& offset, bool in_whole_steps) {
    if (linear(offset)) return;
    IntExpr varying;
    for (const IntExpr::Term& term : offset.terms())
      if (const IntExpr part = IntExpr::of_term(term); lanes_.vary(part)) varying = varying + part;
    each_lane(varying, in_whole_steps);
  }

  void compared(ExprId id, const Apply& e) {
    if (e.args.size() != 2 || info(e.op).rule != TypeRule::Compare) return;
    const auto left = index_of(kernel_, e.args[0]), right = index_of(kernel_, e.args[1]);
    const auto form = left && right ? comparison(e, *left - *right) : std::nullopt;
    if (!form) return;
    changed_ = true;
    forms_.comparisons[id] = *form;
  }

  std::optional<LaneComparison> comparison(const Apply& e, const IntExpr& difference) const {
    LaneComparison made{difference, lanes_.step(difference).value_or(0)};
    if (!lanes_.step(difference)) {
      const auto least = holds_where(kernel_, e);
      if (!least) return std::nullopt;
      made = {undivided(*least), 0, true};
      made.step = lanes_.step(made.difference).value_or(0);
    }
    return made.step != 0 ? std::optional(made) : std::nullopt;
  }

  // The value of each lane. A table needs nothing of what the expression is made of.
  void each_lane(const IntExpr& e, bool in_whole_steps) {
    if (!lanes_.vary(e) || linear(e) || !seen_.insert({e, in_whole_steps}).second) return;
    const bool parts = in_whole_steps && !tabulate(e);
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& a : term.atoms) {
        if (a->symbol || !lanes_.vary(IntExpr::of_term({1, {a}})) || divide(a)) continue;
        each_lane(a->a, parts);
        each_lane(a->b, parts);
      }
  }

  bool linear(const IntExpr& e) const {
    const Symbol var = facts_.steps.var;
    const auto step = e.coefficient_of(var);
    return step && !lanes_.vary(*step) && !lanes_.vary(e - *step * IntExpr::symbol(var));
  }

  bool tabulate(const IntExpr& e) {
    const LaneSteps& steps = facts_.steps;
    const auto beyond = steps.even ? lanes_.beyond_first(e, steps.lanes, steps.once, facts_.ranges) : std::nullopt;
    if (!beyond) return false;
    std::vector<int64_t> table;
    for (const IntExpr& lane : *beyond) {
      const auto number = lane.constant();
      if (!number) return false;
      table.push_back(*number);
    }
    changed_ = true;
    forms_.tables[e] = std::move(table);
    return true;
  }

  bool divide(const IntExpr::AtomPtr& a) {
    if (a->kind != AtomKind::FloorDiv && a->kind != AtomKind::Mod) return false;
    const auto step = lanes_.step(a->a);
    if (!step || *step <= 0 || lanes_.vary(a->b)) return false;
    if (a->b.constant().value_or(0) > kMostLaneStep * facts_.steps.lanes) return false;
    if (forms_.divisions.count(a->key)) return true;
    changed_ = true;
    forms_.divisions[a->key] = {a, *step, floordiv(a->a, a->b, facts_.ranges), mod(a->a, a->b, facts_.ranges)};
    return true;
  }

  const Kernel& kernel_;
  const LaneFacts& facts_;
  const Lanes lanes_;
  LaneForms& forms_;
  std::set<std::pair<IntExpr, bool>> seen_;
  bool changed_ = false;
};

void add_stores(const std::vector<Stmt>& body, IndexForms& found) {
  for_each_stmt(body, [&](const Stmt& s) {
    if (const auto* store = s.get_if<Store>()) found.stored(*store);
  });
}

}  // namespace

bool classify_indices(Kernel& kernel) {
  bool changed = false;
  LaneWalk walk(kernel);
  const auto visit = [&](const LaneFacts& facts, Stmt& s) {
    auto* loop = s.get_if<Loop>();
    std::shared_ptr<const LaneForms>& forms = loop ? loop->forms : s.get<Each>().forms;
    LaneForms added = *forms;
    IndexForms found(kernel, facts, added);
    if (!loop) {
      found.expressions({s.get<Each>().condition});
    } else {
      found.expressions(expressions_of(loop->body));
      add_stores(loop->body, found);
      if (loop->interior) {
        found.expressions(expressions_of(loop->interior->body));
        add_stores(loop->interior->body, found);
      }
    }
    if (!found.changed()) return;
    changed = true;
    forms = std::make_shared<const LaneForms>(std::move(added));
  };
  for (Phase& phase : kernel.phases) walk.block(phase.body, visit);
  return changed;
}

}  // namespace smelt::kernel
