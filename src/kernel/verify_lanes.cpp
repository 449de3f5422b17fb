// The forms of accesses in Vector loops, and the conditions that all steps share.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/classify_accesses.hpp"
#include "kernel/conditions.hpp"
#include "kernel/join_stores.hpp"
#include "kernel/lane_faults.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"
#include "kernel/widen_pieces.hpp"

namespace smelt::kernel {
namespace {

class LaneForm {
 public:
  explicit LaneForm(const Kernel& kernel) : kernel_(kernel), in_lanes_(locals_in_lanes(kernel)) {}

  // `steps`: of the Vector loop around, if there is one whose forms are known.
  void block(const std::vector<Stmt>& body, const LaneSteps* steps = nullptr) {
    for (const Stmt& s : body) {
      if (const auto* store = s.get_if<Store>(); store && steps) stored(*store, *steps);
      if (const auto* let = s.get_if<Let>()) named(*let, steps);
      const auto* each = s.get_if<Each>();
      if (each && each->forms) {
        const LaneSteps asked{each->var, each->lanes, false, false};
        Forms forms{*each->forms, asked, {}};
        check(forms, {each->condition});
        settle(forms);
      }
      const auto* loop = s.get_if<Loop>();
      if (loop && loop->forms)
        vector_loop(*loop);
      else if (const auto* below = body_of(s))
        block(*below, steps);
    }
    const std::string fault = steps ? fault_of_joined_stores(kernel_, body) : "";
    if (!fault.empty()) fail(kernel_, "{}", fault);
  }

 private:
  struct Forms {
    const LaneForms& forms;
    const LaneSteps steps;
    std::set<ExprId> checked;  // loads
  };

  template <class... Args>
  void need(bool condition, ExprId id, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(kernel_, "{}: {}", expr_text(kernel_, id), fmt::format(format, std::forward<Args>(args)...));
  }

  // In an interior, which asks fewer conditions, a local may be one value for all lanes.
  void named(const Let& let, const LaneSteps* steps) {
    lets_[let.local] = let.value;
    if (!steps) return;
    in_lanes_[static_cast<size_t>(let.local)] =
        differs_in_lanes(kernel_, let.value, Lanes(steps->var, in_lanes_), in_lanes_);
  }

  void vector_loop(const Loop& loop) {
    Forms forms{*loop.forms, steps_of(loop), {}};
    const std::vector<bool> outside = in_lanes_;
    note_assigned(loop, in_lanes_);
    block(loop.body, &forms.steps);
    conditions(forms);
    check(forms, expressions_of(loop.body));
    if (loop.interior) {
      block(loop.interior->body, &forms.steps);
      check(forms, expressions_of(loop.interior->body));
    }
    settle(forms);
    for (const auto& [id, access] : forms.forms.loads) {
      const std::string fault = fault_of_widening(kernel_, loop, forms.forms, id);
      need(fault.empty(), id, "{}", fault);
    }
    in_lanes_ = outside;
  }

  void conditions(const Forms& in) const {
    for (const auto& [id, truths] : in.forms.conditions) {
      need(in.steps.even && static_cast<int>(truths.size()) == in.steps.lanes, id, "the same in all steps, of {} lanes",
           truths.size());
      for (int lane = 0; lane < in.steps.lanes; ++lane)
        need(truth(id, lane, in.steps) == truths[static_cast<size_t>(lane)], id, "lane {} is not always {}", lane,
             static_cast<bool>(truths[static_cast<size_t>(lane)]));
    }
  }

  // The loads below these expressions that no body before has.
  void check(Forms& in, const std::vector<ExprId>& roots) const {
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      const auto form = in.forms.loads.find(id);
      const auto* load = e.get_if<Load>();
      if (load && form != in.forms.loads.end() && in.checked.insert(id).second) loaded(id, *load, form->second, in);
      return true;
    });
  }
  void settle(const Forms& in) const {
    if (in.checked.size() != in.forms.loads.size())
      fail(kernel_, "loop {} has forms of {} loads, of which {} are its own", in.steps.var, in.forms.loads.size(),
           in.checked.size());
  }

  void loaded(ExprId id, const Load& load, const LaneAccess& access, const Forms& in) const {
    const auto known = in.forms.conditions.find(load.mask);
    const std::vector<bool>* active = known == in.forms.conditions.end() ? nullptr : &known->second;
    need(load.mask == kNoExpr || active || access.holds.empty(), id, "a mask, and places where it has another form");
    const IntExpr offset = flat_offset(kernel_, load.access);
    need(access.form == LaneAccess::Form::Gather || !from_data(offset), id,
         "the place of a lane is what the data says");
    need(access.behind == 0 || behind(load, in.steps) == access.behind, id, "{} elements behind a line", access.behind);
    const std::string fault = lane_fault(in.steps, access, offset, active);
    need(fault.empty(), id, "{}", fault);
  }

  bool from_data(const IntExpr& offset) const {
    return offset.any_symbol([&](Symbol s) { return s.is_local() && in_lanes_[static_cast<size_t>(s.local_id())]; });
  }

  // Elements after a line in steps that begin at one; nothing where the lanes are in no row of
  // lines.
  std::optional<int64_t> behind(const Load& load, const LaneSteps& steps) const {
    const auto row = load.mask == kNoExpr && !steps.even ? line_row(kernel_, load.access, steps) : std::nullopt;
    if (!row) return std::nullopt;
    const int64_t line = kLineBytes / size_of(kernel_.buffers[static_cast<size_t>(load.access.array)].dtype);
    return (row->column % line + line) % line;
  }

  void stored(const Store& store, const LaneSteps& steps) const {
    if (!store.step) return;
    const IntExpr offset = flat_offset(kernel_, store.access);
    const auto form = *store.step == 0 ? LaneAccess::Form::Broadcast : LaneAccess::Form::Strided;
    const std::string fault = from_data(offset)
                                  ? "the place of a lane is what the data says"
                                  : lane_fault(steps, {.form = form, .step = *store.step}, offset, nullptr);
    if (!fault.empty()) fail(kernel_, "store {}: {}", access_text(kernel_, store.access), fault);
  }

  // A condition on indices in one lane; nothing where that is not known.
  std::optional<bool> truth(ExprId id, int lane, const LaneSteps& steps) const {
    if (const auto* read = kernel_.at(id).get_if<ReadLocal>()) {
      const auto let = lets_.find(read->local);
      return let == lets_.end() ? std::nullopt : truth(let->second, lane, steps);
    }
    const auto* e = kernel_.at(id).get_if<Apply>();
    if (!e) return std::nullopt;
    const auto side = [&](size_t i) { return truth(e->args[i], lane, steps); };
    if (e->op == Op::Not && side(0)) return !*side(0);
    if (e->op == Op::And && side(0) && side(1)) return *side(0) && *side(1);
    if (e->op == Op::Or && side(0) && side(1)) return *side(0) || *side(1);
    if (e->args.size() != 2) return std::nullopt;
    const auto a = index_of(kernel_, e->args[0]), b = index_of(kernel_, e->args[1]);
    const auto left = a && b ? in_lane(steps, *a - *b, lane).constant() : std::nullopt;
    if (!left) return std::nullopt;
    const std::map<Op, bool> compared{{Op::Lt, *left < 0},  {Op::Le, *left <= 0}, {Op::Gt, *left > 0},
                                      {Op::Ge, *left >= 0}, {Op::Eq, *left == 0}, {Op::Ne, *left != 0}};
    const auto known = compared.find(e->op);
    return known == compared.end() ? std::nullopt : std::optional(known->second);
  }

  const Kernel& kernel_;
  std::vector<bool> in_lanes_;  // locals, at the place at hand
  std::map<LocalId, ExprId> lets_;
};

}  // namespace

void verify_lanes(const Kernel& kernel) {
  bool any = false;  // before the last pass nothing has a form
  for (const Phase& phase : kernel.phases)
    for_each_stmt(phase.body, [&](const Stmt& s) {
      const auto* loop = s.get_if<Loop>();
      const auto* each = s.get_if<Each>();
      any = any || (loop && loop->forms) || (each && each->forms);
    });
  if (!any) return;
  LaneForm lanes(kernel);
  for (const Phase& phase : kernel.phases) lanes.block(phase.body);
}

}  // namespace smelt::kernel
