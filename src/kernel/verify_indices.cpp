// The words that lanes draw together, and how their indices differ, lane by lane.
#include <string>

#include "kernel/conditions.hpp"
#include "kernel/lane_facts.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/lanes.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class IndexVerifier {
 public:
  // `unit`: steps begin at multiples of it.
  IndexVerifier(const Kernel& kernel, const LaneFacts& facts, int unit)
      : kernel_(kernel), facts_(facts), lanes_(facts.steps.var, facts.in_lanes), unit_(unit) {}

  void forms(const LaneForms& forms) const {
    for (const auto& [id, draw] : forms.draws) drawn(id, draw);
    for (const auto& [e, table] : forms.tables) tabulated(e, table);
    for (const auto& [key, division] : forms.divisions) divided(key, division);
    for (const auto& [id, comparison] : forms.comparisons) compared(id, comparison);
  }

 private:
  template <class... Args>
  void need(bool condition, const std::string& what, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(kernel_, "{}: {}", what, fmt::format(format, std::forward<Args>(args)...));
  }

  // A lane of a step whose first is at a multiple of `unit`, or at 0.
  IntExpr in_lane(const IntExpr& e, int unit, int lane, bool once = false) const {
    const Symbol number = Symbol::loop("number");
    Ranges ranges = facts_.ranges;
    ranges[number] = {0, IntExpr::symbol(Symbol::loop("numbers"))};
    const IntExpr first = once ? IntExpr(0) : IntExpr::symbol(number) * unit;
    return e.substitute({{facts_.steps.var, first + lane}}, ranges);
  }

  bool from_data(const IntExpr& e) const {
    return e.any_symbol([&](Symbol s) { return s.is_local() && facts_.in_lanes[static_cast<size_t>(s.local_id())]; });
  }

  void drawn(ExprId id, const LaneDraw& draw) const {
    const std::string what = expr_text(kernel_, id);
    const auto* random = kernel_.at(id).get_if<Random>();
    need(random && static_cast<int>(draw.words.size()) <= facts_.steps.lanes && !draw.words.empty(), what,
         "words drawn for {} of {} lanes", draw.words.size(), facts_.steps.lanes);
    need(unit_ % 4 == 0 && !from_data(random->element), what, "lane 0 is at any element");
    const IntExpr base = in_lane(draw.base, 4, 0);
    for (size_t l = 0; l < draw.words.size(); ++l) {
      const int word = draw.words[l];
      need(word >= draw.words[0] && word >= 0 && (in_lane(random->element, 4, static_cast<int>(l)) - base).is(word),
           what, "lane {} does not take word {}", l, word);
    }
    need(!draw.aligned || is_multiple_of(base, 4), what, "blocks of words that begin between two of them");
  }

  void tabulated(const IntExpr& e, const std::vector<int64_t>& table) const {
    const LaneSteps& steps = facts_.steps;
    need(steps.even && static_cast<int>(table.size()) == steps.lanes && !from_data(e), e.str(),
         "no table of {} lanes is the same in all steps", table.size());
    const IntExpr first = in_lane(e, steps.lanes, 0, steps.once);
    for (int l = 0; l < steps.lanes; ++l) {
      const IntExpr beyond = in_lane(e, steps.lanes, l, steps.once) - first;
      const int64_t said = table[static_cast<size_t>(l)];
      need(beyond.is(said), e.str(), "lane {} is {} beyond lane 0, not {}", l, beyond.str(), said);
    }
  }

  bool grows(const IntExpr& e, int64_t step) const {
    const Symbol var = facts_.steps.var;
    const auto slope = e.coefficient_of(var);
    return slope && slope->is(step) && !lanes_.vary(e - step * IntExpr::symbol(var));
  }

  void divided(const std::string& key, const LaneDivision& division) const {
    const IntExpr::Atom& a = *division.atom;
    need(a.key == key && (a.kind == AtomKind::FloorDiv || a.kind == AtomKind::Mod), key, "no division is this one");
    need(division.step > 0 && grows(a.a, division.step) && !lanes_.vary(a.b), key,
         "the numerator does not grow by {} from lane to lane", division.step);
    need(division.quotient == floordiv(a.a, a.b, facts_.ranges), key, "{} is not the quotient of lane 0",
         division.quotient.str());
    need(division.remainder == mod(a.a, a.b, facts_.ranges), key, "{} is not the remainder of lane 0",
         division.remainder.str());
  }

  void compared(ExprId id, const LaneComparison& comparison) const {
    const std::string what = expr_text(kernel_, id);
    const auto* e = kernel_.at(id).get_if<Apply>();
    need(e && e->args.size() == 2 && info(e->op).rule == TypeRule::Compare, what, "it is no comparison");
    const auto left = index_of(kernel_, e->args[0]), right = index_of(kernel_, e->args[1]);
    need(left && right, what, "it compares no indices");
    const auto least = comparison.at_least ? holds_where(kernel_, *e) : *left - *right;
    need(least && comparison.difference == (comparison.at_least ? undivided(*least) : *least), what,
         "{} compared with 0 says something else", comparison.difference.str());
    need(comparison.step != 0 && grows(comparison.difference, comparison.step), what,
         "{} does not grow by {} from lane to lane", comparison.difference.str(), comparison.step);
  }

  const Kernel& kernel_;
  const LaneFacts& facts_;
  const Lanes lanes_;
  const int unit_;
};

}  // namespace

void verify_indices(const Kernel& kernel) {
  LaneWalk walk(kernel);
  for (const Phase& phase : kernel.phases)
    walk.block(phase.body, [&](const LaneFacts& facts, const Stmt& s) {
      const auto* loop = s.get_if<Loop>();
      const bool anywhere = loop && loop->begins != 0;
      IndexVerifier(kernel, facts, anywhere ? loop->begins : facts.steps.lanes)
          .forms(loop ? *loop->forms : *s.get<Each>().forms);
    });
}

}  // namespace smelt::kernel
