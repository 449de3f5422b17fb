// Computes the offset of every lane by itself and compares it with what the form of the access says.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "kernel/classify_accesses.hpp"
#include "kernel/conditions.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Form = LaneAccess::Form;

// Offsets of the lanes of one access, as differences from that of lane 0.
class LaneOffsets {
 public:
  // `even`: steps begin at multiples of the lanes. Each of `holds` is at least 0 in lane 0.
  LaneOffsets(Symbol var, int lanes, bool even, bool once, const std::vector<IntExpr>& holds, const Ranges& ranges)
      : var_(var), lanes_(lanes), first_(even ? first_lane(lanes, once) : IntExpr::symbol(var)), ranges_(ranges) {
    for (const IntExpr& h : holds) holds_.push_back(at(h, 0));
  }

  IntExpr beyond_first(const IntExpr& offset, int lane) { return of_lane(offset, lane) - of_lane(offset, 0); }
  // As it is where lane 0 is.
  IntExpr at(const IntExpr& e, int lane) const { return e.substitute({{var_, first_ + lane}}, ranges_); }

 private:
  bool holds(const IntExpr& h) const {
    return std::any_of(holds_.begin(), holds_.end(),
                       [&](const IntExpr& known) { return (h - known).constant().value_or(-1) >= 0; });
  }

  IntExpr of_lane(const IntExpr& e, int lane) {
    IntExpr sum;
    for (const IntExpr::Term& term : e.terms()) {
      IntExpr product = term.coefficient;
      for (const IntExpr::AtomPtr& a : term.atoms) product = product * atom(*a, IntExpr::of_term({1, {a}}), lane);
      sum = sum + product;
    }
    return sum;
  }

  IntExpr atom(const IntExpr::Atom& a, const IntExpr& whole, int lane) {
    if (a.symbol || !whole.mentions(var_)) return at(whole, lane);
    const IntExpr here = of_lane(a.a, lane), there = of_lane(a.b, lane);
    if (a.kind == AtomKind::Min || a.kind == AtomKind::Max) {
      const bool least = a.kind == AtomKind::Min;
      if (binds(least ? a.b - a.a : a.a - a.b)) return here;
      if (binds(least ? a.a - a.b : a.b - a.a)) return there;
      return least ? min(here, there, ranges_) : max(here, there, ranges_);
    }
    const bool quotient = a.kind == AtomKind::FloorDiv;
    const IntExpr first = of_lane(a.a, 0), moved = here - first;
    // The remainder of lane 0 and what the lane adds stay below the divisor.
    if (moved.constant().value_or(0) > 0 && holds(there - 1 - mod(first, there, ranges_) - moved))
      return quotient ? floordiv(first, there, ranges_) : mod(first, there, ranges_) + moved;
    return quotient ? floordiv(here, there, ranges_) : mod(here, there, ranges_);
  }

  // Whether a difference that is linear in the lanes is known to be at least 0 in the first and in the last.
  bool binds(const IntExpr& difference) const {
    return difference.coefficient_of(var_) && holds(at(difference, 0)) && holds(at(difference, lanes_ - 1));
  }

  const Symbol var_;
  const int lanes_;
  const IntExpr first_;
  const Ranges& ranges_;
  std::vector<IntExpr> holds_;
};

class LaneForm {
 public:
  explicit LaneForm(const Kernel& kernel)
      : kernel_(kernel), ranges_(ranges_of_sizes(kernel)), in_lanes_(locals_in_lanes(kernel)) {
    for (const IndexLocal& l : kernel.index_locals) ranges_[Symbol::local(l.local)] = {0, l.extent - 1};
  }

  void block(const std::vector<Stmt>& body) {
    for (const Stmt& s : body) {
      const auto* each = s.get_if<Each>();
      const auto* loop = s.get_if<Loop>();
      if (const auto* let = s.get_if<Let>()) lets_[let->local] = let->value;
      if (const auto var = variable_of(s)) ranges_[*var] = {0, (loop ? loop->extent : each->extent) - 1};
      if (each && each->forms) forms(*each->forms, each->var, each->lanes, false, false);
      if (const auto* below = body_of(s)) block(*below);
      if (const auto* interior = interior_of(s)) block(interior->body);
      // Variables of loops inside have their ranges now.
      if (loop && loop->forms)
        forms(*loop->forms, loop->var, loop->lanes, loop->begins == 0 || loop->begins == loop->lanes,
              loop->extent.is(loop->lanes));
    }
  }

 private:
  template <class... Args>
  void need(bool condition, ExprId id, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail(kernel_, "{}: {}", expr_text(kernel_, id), fmt::format(format, std::forward<Args>(args)...));
  }

  void forms(const LaneForms& forms, Symbol var, int lanes, bool even, bool once) {
    for (const auto& [id, truths] : forms.conditions) {
      const LaneOffsets offsets(var, lanes, even, once, {}, ranges_);
      need(even && static_cast<int>(truths.size()) == lanes, id, "the same in all steps, of {} lanes", truths.size());
      for (int lane = 0; lane < lanes; ++lane)
        need(truth(id, lane, offsets) == truths[static_cast<size_t>(lane)], id, "lane {} is not always {}", lane,
             static_cast<bool>(truths[static_cast<size_t>(lane)]));
    }
    for (const auto& [id, access] : forms.loads) {
      const bool exists = id >= 0 && static_cast<size_t>(id) < kernel_.exprs.size();
      if (!exists) fail(kernel_, "expression {} has a form, but does not exist", id);
      const auto* load = kernel_.at(id).get_if<Load>();
      need(load, id, "only loads have a form");
      const std::vector<bool>* active = nullptr;
      if (const auto known = forms.conditions.find(load->mask); known != forms.conditions.end())
        active = &known->second;
      need(!active || static_cast<int>(active->size()) == lanes, id, "its mask has {} lanes",
           active ? active->size() : 0);
      need(load->mask == kNoExpr || active || access.holds.empty(), id, "a mask, and places where it has another form");
      LaneOffsets offsets(var, lanes, even, once, access.holds, ranges_);
      check(id, access, flat_offset(kernel_, load->access), lanes, active, offsets);
    }
  }

  void check(ExprId id, const LaneAccess& access, const IntExpr& offset, int lanes, const std::vector<bool>* active,
             LaneOffsets& offsets) const {
    if (access.form == Form::Gather) return;
    const bool from_data =
        offset.any_symbol([&](Symbol s) { return s.is_local() && in_lanes_[static_cast<size_t>(s.local_id())]; });
    need(!from_data, id, "the place of a lane is what the data says");
    if (access.form == Form::Pieces) return pieces(id, access, offset, lanes, active, offsets);
    const int64_t step = access.form == Form::Broadcast ? 0 : access.step;
    need(access.form == Form::Broadcast || std::abs(step) == 1 || reads_between(step, lanes), id,
         "a distance of {} elements from lane to lane", step);
    need(access.behind == 0 || step == 1, id, "lanes at a distance are read from lines");
    // What is linear in the lanes is right in all of them when it is in the first two and the last.
    for (const int lane : {1, lanes / 2, lanes - 1})
      need((offsets.beyond_first(offset, lane) - step * lane).is(0), id, "lane {} is {} elements from lane 0, not {}",
           lane, offsets.beyond_first(offset, lane).str(), step * lane);
  }

  void pieces(ExprId id, const LaneAccess& access, const IntExpr& offset, int lanes, const std::vector<bool>* active,
              LaneOffsets& offsets) const {
    std::vector<int> times(static_cast<size_t>(lanes), 0);
    for (const LaneAccess::Piece& p : access.pieces) {
      bool low = false, high = false;  // what is read lies between what lanes read
      for (const auto& [lane, number] : p.lanes) {
        need(lane >= 0 && lane < lanes && number >= p.low && number <= p.high, id,
             "lane {} reads {} of a piece {} .. {}", lane, number, p.low, p.high);
        ++times[static_cast<size_t>(lane)];
        low = low || number == p.low, high = high || number == p.high;
        const IntExpr beyond = offsets.beyond_first(offset, lane), said = offsets.at(p.apart, 0) + number;
        need(beyond == said, id, "lane {} is {} elements from lane 0, not {}", lane, beyond.str(), said.str());
      }
      need(low && high, id, "no lane reads the ends of a piece {} .. {}", p.low, p.high);
    }
    for (int lane = 0; lane < lanes; ++lane)
      need(times[static_cast<size_t>(lane)] == (!active || (*active)[static_cast<size_t>(lane)] ? 1 : 0), id,
           "lane {} reads {} times", lane, times[static_cast<size_t>(lane)]);
  }

  // A condition on indices in one lane; nothing where that is not known.
  std::optional<bool> truth(ExprId id, int lane, const LaneOffsets& offsets) const {
    if (const auto* read = kernel_.at(id).get_if<ReadLocal>()) {
      const auto let = lets_.find(read->local);
      return let == lets_.end() ? std::nullopt : truth(let->second, lane, offsets);
    }
    const auto* e = kernel_.at(id).get_if<Apply>();
    if (!e) return std::nullopt;
    const auto side = [&](size_t i) { return truth(e->args[i], lane, offsets); };
    if (e->op == Op::Not && side(0)) return !*side(0);
    if (e->op == Op::And && side(0) && side(1)) return *side(0) && *side(1);
    if (e->op == Op::Or && side(0) && side(1)) return *side(0) || *side(1);
    if (e->args.size() != 2) return std::nullopt;
    const auto a = index_of(kernel_, e->args[0]), b = index_of(kernel_, e->args[1]);
    const auto left = a && b ? offsets.at(*a - *b, lane).constant() : std::nullopt;
    if (!left) return std::nullopt;
    const std::map<Op, bool> compared{{Op::Lt, *left < 0},  {Op::Le, *left <= 0}, {Op::Gt, *left > 0},
                                      {Op::Ge, *left >= 0}, {Op::Eq, *left == 0}, {Op::Ne, *left != 0}};
    const auto known = compared.find(e->op);
    return known == compared.end() ? std::nullopt : std::optional(known->second);
  }

  const Kernel& kernel_;
  Ranges ranges_;
  const std::vector<bool> in_lanes_;
  std::map<LocalId, ExprId> lets_;
};

}  // namespace

void verify_lanes(const Kernel& kernel) {
  if (kernel.dialect != Dialect::Portable) return;
  LaneForm lanes(kernel);
  for (const Phase& phase : kernel.phases) lanes.block(phase.body);
}

}  // namespace smelt::kernel
