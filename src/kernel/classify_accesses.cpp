#include "kernel/classify_accesses.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/draw_pattern.hpp"
#include "kernel/join_stores.hpp"
#include "kernel/lane_faults.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/walk.hpp"
#include "kernel/widen_pieces.hpp"
#include "schedule/cut.hpp"

namespace smelt::kernel {
namespace {

using AccessForm = LaneAccess::Form;
using LanePiece = LaneAccess::Piece;

constexpr int64_t kMostBetween = 8;
// Pieces that are read side by side, and what may lie between two elements of one, in vectors.
constexpr size_t kMostPieces = 8;
constexpr int64_t kWidestPieces = 8;

// How the lanes lie in one access.
class Classifier {
 public:
  Classifier(const LaneSteps& steps, const std::vector<bool>& in_lanes, const Ranges& ranges)
      : steps_(steps), lanes_(steps.var, in_lanes), ranges_(ranges) {}

  const Lanes& lanes() const { return lanes_; }

  std::optional<std::vector<IntExpr>> table_of(const IntExpr& e) const {
    return steps_.even ? lanes_.beyond_first(e, steps_.lanes, steps_.once, ranges_) : std::nullopt;
  }

  // The value of each lane, where it is the same in all whole steps.
  std::optional<std::vector<int64_t>> numbers(const IntExpr& e) const {
    const auto table = table_of(e);
    if (!table) return std::nullopt;
    const IntExpr first = e.substitute({{steps_.var, first_lane(steps_.lanes, steps_.once)}}, ranges_);
    std::vector<int64_t> values;
    for (const IntExpr& beyond : *table) {
      const auto value = (first + beyond).constant();
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  // What cannot be proved, or holds nowhere, is a gather.
  LaneAccess load(const IntExpr& given, bool masked, const std::vector<bool>* active) const {
    const IntExpr offset = merged_quotients(given);
    LaneAccess made = likely(offset, masked, active);
    const bool nowhere = std::any_of(made.holds.begin(), made.holds.end(),
                                     [&](const IntExpr& h) { return proves_nonnegative(-h - 1, ranges_); });
    if (nowhere || !lane_fault(steps_, made, offset, active).empty()) return {};
    return made;
  }

 private:
  // Under a mask that is the same in all whole steps, `active` lanes read.
  LaneAccess likely(const IntExpr& offset, bool masked, const std::vector<bool>* active) const {
    if (!lanes_.vary(offset)) return {.form = AccessForm::Broadcast};
    const int64_t step = lanes_.step(offset).value_or(0);
    if (step == 1 || step == -1) return {.form = AccessForm::Strided, .step = step};
    if (masked && !active) return {};
    LaneAccess made{.form = AccessForm::Pieces, .step = masked ? 0 : step};
    if (const auto differences = steps_.even ? unwrapped(offset, made.holds) : std::nullopt)
      if (const auto table = table_of(*differences)) made.pieces = pieces_of(*table, active);
    if (!made.pieces.empty()) return made;
    if (masked) return {};
    if (step != 0 && std::abs(step) <= schedule::kMostApart) return {.form = form_of(step), .step = step};
    return mostly_regular(offset);
  }

  AccessForm form_of(int64_t step) const {
    if (step == 0) return AccessForm::Broadcast;
    return step == 1 || reads_between(step, steps_.lanes) ? AccessForm::Strided : AccessForm::Apart;
  }

  // Neighbours at one distance as long as no floordiv or mod wraps around between the lanes, and no
  // clamp holds.
  LaneAccess mostly_regular(const IntExpr& given) const {
    LaneAccess made;
    std::vector<IntExpr> clamps;
    const IntExpr e = lanes_.without_clamps(given, clamps);
    std::vector<IntExpr::AtomPtr> wrapping;
    IntExpr total;
    for (const IntExpr::Term& term : e.terms()) {
      const auto slope = slope_of(term, wrapping);
      if (!slope) return {};
      total = total + *slope;
    }
    const auto step = total.constant();
    if (!step || *step < 0 || *step > schedule::kMostApart || (wrapping.empty() && clamps.empty())) return {};
    made.form = form_of(*step);
    made.step = *step;
    const int last = steps_.lanes - 1;
    // What is linear in the lanes holds for all of them when it does for the first and the last.
    for (const IntExpr& h : clamps)
      for (const IntExpr& end : {h, h + lanes_.step(h).value_or(0) * last}) require(end, made.holds);
    for (const IntExpr::AtomPtr& a : wrapping)
      require(a->b - 1 - mod(a->a, a->b, ranges_) - *lanes_.step(a->a) * last, made.holds);
    return made;
  }

  static void require(const IntExpr& h, std::vector<IntExpr>& holds) {
    if (std::find(holds.begin(), holds.end(), h) == holds.end()) holds.push_back(h);
  }

  // What a lane adds to a term, of which one factor varies at most.
  std::optional<IntExpr> slope_of(const IntExpr::Term& term, std::vector<IntExpr::AtomPtr>& wrapping) const {
    IntExpr slope;
    IntExpr::Term rest{term.coefficient, {}};
    bool found = false;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      if (!lanes_.vary(IntExpr::of_term({1, {a}}))) {
        rest.atoms.push_back(a);
        continue;
      }
      if (found) return std::nullopt;
      found = true;
      if (a->symbol && a->symbol == steps_.var) {
        slope = 1;
        continue;
      }
      if (a->kind != AtomKind::FloorDiv && a->kind != AtomKind::Mod) return std::nullopt;
      const int64_t step = lanes_.step(a->a).value_or(0);
      // A small divisor wraps in nearly every step.
      const int64_t divisor = a->b.constant().value_or(INT64_MAX);
      if (step <= 0 || lanes_.vary(a->b) || divisor < 2 * step * steps_.lanes) return std::nullopt;
      wrapping.push_back(a);
      slope = a->kind == AtomKind::Mod ? step : 0;
    }
    return slope * IntExpr::of_term(rest);
  }

  // `e` as far as lanes differ in it, as long as no quotient or remainder in it wraps around
  // between lane 0 and the others: each of `holds` is then at least 0 in lane 0. Nothing where
  // lanes differ in other ways.
  std::optional<IntExpr> unwrapped(const IntExpr& e, std::vector<IntExpr>& holds) const {
    IntExpr result;
    for (const IntExpr::Term& term : e.terms()) {
      IntExpr product = term.coefficient;
      int varying = 0;
      for (const IntExpr::AtomPtr& a : term.atoms) {
        const bool varies = lanes_.vary(IntExpr::of_term({1, {a}}));
        const auto factor = varies ? unwrapped_atom(a, holds) : IntExpr::of_term({1, {a}});
        if (!factor || (varies && ++varying > 1)) return std::nullopt;
        product = product * *factor;
      }
      result = result + product;
    }
    return result;
  }

  std::optional<IntExpr> unwrapped_atom(const IntExpr::AtomPtr& a, std::vector<IntExpr>& holds) const {
    const IntExpr whole = IntExpr::of_term({1, {a}});
    if (a->symbol) return whole;
    if ((a->kind != AtomKind::FloorDiv && a->kind != AtomKind::Mod) || lanes_.vary(a->b)) return std::nullopt;
    const auto numerator = unwrapped(a->a, holds);
    if (!numerator) return std::nullopt;
    const auto divisor = a->b.constant();
    // Not so where the numerator is a quotient itself, which takes several steps to the next
    // multiple of the divisor.
    if (divisor && *divisor > 0 && (steps_.once || steps_.lanes % *divisor == 0) && *numerator == a->a &&
        table_of(whole))
      return whole;
    const auto table = table_of(*numerator);
    if (!table) return std::nullopt;
    int64_t furthest = 0;
    for (const IntExpr& beyond : *table) {
      const int64_t lane = beyond.constant().value_or(-1);
      if (lane < 0) return std::nullopt;
      furthest = std::max(furthest, lane);
    }
    if (furthest > 0) require(a->b - 1 - mod(a->a, a->b, ranges_) - furthest, holds);
    return a->kind == AtomKind::Mod && furthest > 0 ? *numerator : IntExpr(0);
  }

  // Nothing when these are too many, or too far apart. What is less than a vector apart is read
  // together; what is more, as the colours of a picture are, is read together only where there
  // would be too many pieces.
  std::vector<LanePiece> pieces_of(const std::vector<IntExpr>& table, const std::vector<bool>* active) const {
    const int64_t widest = kWidestPieces * steps_.lanes;
    for (const int64_t most : {int64_t{steps_.lanes}, widest}) {
      std::vector<LanePiece> pieces;
      for (int lane = 0; lane < steps_.lanes && pieces.size() <= kMostPieces; ++lane) {
        if (active && !(*active)[static_cast<size_t>(lane)]) continue;
        const IntExpr& beyond = table[static_cast<size_t>(lane)];
        const int64_t number = constant_term(beyond);
        const IntExpr apart = beyond - number;
        const auto near = [&](const LanePiece& p) {
          return p.apart == apart && number - p.low < widest && p.high - number < widest && number - p.high <= most &&
                 p.low - number <= most;
        };
        auto p = std::find_if(pieces.begin(), pieces.end(), near);
        if (p == pieces.end()) p = pieces.insert(pieces.end(), {apart, number, number, {}});
        p->low = std::min(p->low, number), p->high = std::max(p->high, number);
        p->lanes.emplace_back(lane, number);
      }
      if (pieces.size() <= kMostPieces) return pieces;
    }
    return {};
  }

  const LaneSteps steps_;
  const Lanes lanes_;
  const Ranges& ranges_;  // of all symbols that are known at the place
};

class Classification {
 public:
  explicit Classification(Kernel& kernel) : kernel_(kernel), in_lanes_(locals_in_lanes(kernel)), around_(kernel) {}

  bool run() {
    for (Phase& phase : kernel_.phases) block(phase.body, nullptr, false);
    return changed_;
  }

 private:
  // What is found of one Vector loop.
  struct Found {
    const Loop& loop;
    LaneSteps steps;
    LaneForms forms;
    std::unordered_set<ExprId> seen;
  };

  void block(std::vector<Stmt>& body, Found* found, bool rare) {
    const SymbolsAround::Scope scope(around_);
    for (Stmt& s : body) {
      if (auto* each = s.get_if<Each>()) condition(*each);
      if (found) inside(s, *found);
      if (const auto* let = s.get_if<Let>()) {
        lets_[let->local] = let->value;
        around_.enter(*let);
      }
      auto* loop = s.get_if<Loop>();
      if (loop && loop->kind == LoopKind::Vector && loop->lanes > 1) {
        vector_loop(*loop, rare);
        continue;
      }
      const SymbolsAround::Scope own(around_);
      around_.enter_body_of(s);
      if (auto* below = body_of(s)) block(*below, found, rare || (loop && loop->rare));
    }
    if (found) join_stores(kernel_, body);
  }

  // A statement of a Vector loop.
  void inside(Stmt& s, Found& found) {
    const Classifier classify(found.steps, in_lanes_, around_.ranges());
    for_each_expression(s, [&](ExprId root) { expressions(root, found, classify); });
    if (const auto* let = s.get_if<Let>())
      in_lanes_[static_cast<size_t>(let->local)] = differs_in_lanes(kernel_, let->value, classify.lanes(), in_lanes_);
    if (auto* store = s.get_if<Store>()) store->step = step_of(*store, found.steps, classify.lanes());
  }

  std::optional<int64_t> step_of(const Store& store, const LaneSteps& steps, const Lanes& lanes) const {
    const IntExpr offset = flat_offset(kernel_, store.access);
    if (!lanes.vary(offset)) return 0;
    const auto step = lanes.step(offset);
    const int64_t apart = std::abs(step.value_or(0));
    const bool joins = apart >= 2 && apart <= schedule::kMostJoined && steps.lanes >= 8;
    return apart == 1 || joins ? step : std::nullopt;
  }

  void expressions(ExprId root, Found& found, const Classifier& classify) {
    visit_below(kernel_, {root}, [&](ExprId id, const Expr& e) {
      if (!found.seen.insert(id).second) return false;
      const auto* load = e.get_if<Load>();
      const ExprId condition = load ? load->mask : e.is<Apply>() ? id : kNoExpr;
      std::optional<std::vector<bool>> active;
      if (condition != kNoExpr && found.steps.even) active = truths_of(condition, classify);
      if (active) found.forms.conditions[condition] = *active;
      if (load) found.forms.loads[id] = form_of(*load, active ? &*active : nullptr, classify);
      if (const auto* random = e.get_if<Random>())
        if (const auto draw = lane_draw(random->element, found.loop, around_.ranges())) found.forms.draws[id] = *draw;
      return true;
    });
  }

  // Under a mask that is one for all lanes they lie as they do without one; the step asks it
  // before it reads.
  LaneAccess form_of(const Load& load, const std::vector<bool>* active, const Classifier& classify) const {
    const IntExpr offset = flat_offset(kernel_, load.access);
    const bool masked = load.mask != kNoExpr;
    if (!masked || active || differs_in_lanes(kernel_, load.mask, classify.lanes(), in_lanes_))
      return classify.load(offset, masked, active);
    LaneAccess made = classify.load(offset, false, nullptr);
    return made.holds.empty() ? made : classify.load(offset, true, nullptr);
  }

  // A condition on indices that every lane knows of itself.
  std::optional<std::vector<bool>> truths_of(ExprId id, const Classifier& classify) const {
    if (const auto* read = kernel_.at(id).get_if<ReadLocal>()) {
      const auto let = lets_.find(read->local);
      return let == lets_.end() ? std::nullopt : truths_of(let->second, classify);
    }
    const auto* e = kernel_.at(id).get_if<Apply>();
    if (!e) return std::nullopt;
    if (e->op != Op::Not && e->op != Op::And && e->op != Op::Or) return compared(*e, classify);
    auto left = truths_of(e->args[0], classify);
    if (!left) return std::nullopt;
    if (e->op == Op::Not) {
      left->flip();
      return left;
    }
    const auto right = truths_of(e->args[1], classify);
    if (!right) return std::nullopt;
    for (size_t l = 0; l < left->size(); ++l)
      (*left)[l] = e->op == Op::And ? (*left)[l] && (*right)[l] : (*left)[l] || (*right)[l];
    return left;
  }

  std::optional<std::vector<bool>> compared(const Apply& e, const Classifier& classify) const {
    if (e.args.size() != 2 || info(e.op).rule != TypeRule::Compare) return std::nullopt;
    const auto a = index_of(kernel_, e.args[0]), b = index_of(kernel_, e.args[1]);
    if (!a || !b) return std::nullopt;
    const auto values = classify.numbers(*a - *b);
    if (!values) return std::nullopt;
    std::vector<bool> truths;
    for (const int64_t value : *values) truths.push_back(holds(e.op, value));
    return truths;
  }

  // `difference` against 0.
  static bool holds(Op op, int64_t difference) {
    switch (op) {
      case Op::Lt: return difference < 0;
      case Op::Le: return difference <= 0;
      case Op::Gt: return difference > 0;
      case Op::Ge: return difference >= 0;
      case Op::Eq: return difference == 0;
      default: return difference != 0;
    }
  }

  void vector_loop(Loop& loop, bool rare) {
    const std::vector<bool> outside = in_lanes_;
    note_assigned(loop, in_lanes_);
    Found found{loop, steps_of(loop), {}, {}};
    const SymbolsAround::Scope scope(around_);
    around_.enter(loop.var, loop.extent);
    block(loop.body, &found, rare);
    if (loop.interior) block(loop.interior->body, &found, rare);
    const auto count = loop.extent.constant();
    if (!rare && loop.begins == 1 && (!count || *count >= loop.lanes)) find_lines(loop, found);
    widen_pieces(kernel_, loop, found.forms);
    in_lanes_ = outside;
    give(loop.forms, found);
  }

  void condition(Each& each) {
    if (each.lanes < 2) return;
    const Loop asked{LoopKind::Vector, each.var, each.extent, {}, each.lanes};
    Found found{asked, {each.var, each.lanes, false, false}, {}, {}};
    const SymbolsAround::Scope scope(around_);
    around_.enter(each.var, each.extent);
    expressions(each.condition, found, Classifier(found.steps, in_lanes_, around_.ranges()));
    give(each.forms, found);
  }

  void give(std::shared_ptr<const LaneForms>& forms, Found& found) {
    forms = std::make_shared<const LaneForms>(std::move(found.forms));
    changed_ = true;
  }

  // Rows of scratch that a loop reads at neighbouring columns, as rings of stencils are. A load
  // that crosses from one line of the cache into the next takes twice the time of one that does
  // not, and where vectors are as wide as lines every load at a neighbouring column does. So whole
  // steps begin where the loop's stores to scratch meet lines, rows are read in whole lines, and
  // neighbouring columns come by shuffles.
  void find_lines(const Loop& loop, Found& found) const {
    std::map<std::pair<int, std::string>, std::set<int64_t>> columns;
    for (const Stmt& s : loop.body) {
      if (s.is<Loop>() || s.is<Each>()) return;
      const auto* store = s.get_if<Store>();
      if (!store || !store->access.scratch) continue;
      const auto row = line_row(kernel_, store->access, found.steps);
      if (!row || row->column % kLineElements != 0) return;
    }
    std::vector<ExprId> roots;
    for (const Stmt& s : loop.body)
      if (const ExprId* value = value_of(s)) roots.push_back(*value);
    visit_below(kernel_, roots, [&](ExprId, const Expr& e) {
      if (const auto row = row_read(e, found.steps)) columns[row->row].insert(row->column);
      return true;
    });
    for (auto& [id, access] : found.forms.loads) {
      const auto row = row_read(kernel_.at(id), found.steps);
      const auto at = row ? columns.find(row->row) : columns.end();
      if (at == columns.end() || at->second.size() < 2) continue;
      const int64_t line = kLineBytes / size_of(kernel_.at(id).dtype);
      access.behind = (row->column % line + line) % line;
    }
  }

  std::optional<LineRow> row_read(const Expr& e, const LaneSteps& steps) const {
    const auto* load = e.get_if<Load>();
    return load && load->access.scratch && load->mask == kNoExpr ? line_row(kernel_, load->access, steps)
                                                                 : std::nullopt;
  }

  Kernel& kernel_;
  std::vector<bool> in_lanes_;  // locals, at the place at hand
  SymbolsAround around_;
  std::map<LocalId, ExprId> lets_;
  bool changed_ = false;
};

}  // namespace

bool reads_between(int64_t step, int lanes) {
  const int64_t apart = step < 0 ? -step : step;
  return apart >= 2 && apart <= kMostBetween && lanes >= 8;
}

bool classify_accesses(Kernel& kernel) { return Classification(kernel).run(); }

}  // namespace smelt::kernel
