// The words that lanes draw together, lane by lane.
#include <string>

#include "kernel/lane_facts.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class IndexVerifier {
 public:
  // `unit`: steps begin at multiples of it.
  IndexVerifier(const Kernel& kernel, const LaneFacts& facts, int unit) : kernel_(kernel), facts_(facts), unit_(unit) {}

  void forms(const LaneForms& forms) const {
    for (const auto& [id, draw] : forms.draws) drawn(id, draw);
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

  const Kernel& kernel_;
  const LaneFacts& facts_;
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
