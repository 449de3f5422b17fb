// Steps in which conditions of indices hold for all lanes, as those of padding do everywhere but at the ends of a row. In them nothing is
// asked and no load is masked; the others share one body under a mask, which asks.
//
//     br nonempty, pre, exit
//   pre:    hoisted; `first` and `last`: where such steps begin and end;   br elements before the first, edge, middle
//   edge:   body under a mask, for the lanes of start .. stop;             br more of them, edge, edged
//   edged:                                                                 br at the end of the extent, exit, middle
//   middle:                                                                br streaming stores wanted, stream, loop
//   loop:   body;                                                          br loop or rest
//   stream: body with streaming stores;                                    br stream or rest
//   rest:   start .. stop are the elements left;                           br any, edge, exit
//   exit:
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Apply;
using kernel::Expr;
using kernel::ExprId;
using kernel::Load;
using kernel::Loop;
using kernel::Stmt;

namespace {

// Elements at either end of a row at which conditions may fail. Where they fail at more, they are no matter of ends.
constexpr int64_t kMostAtEnds = 512;

// The loops inside of a body, and the expressions that its statements use.
void collect_inside(const std::vector<Stmt>& body, std::map<Symbol, IntExpr>& loops, std::vector<ExprId>& roots) {
  for (const Stmt& s : body) {
    if (const auto* loop = s.get_if<Loop>()) loops[loop->var] = loop->extent;
    if (const auto* each = s.get_if<kernel::Each>()) loops[each->var] = each->extent;
    for_each_expression(s, [&](ExprId id) { roots.push_back(id); });
    if (const auto* inside = kernel::body_of(s)) collect_inside(*inside, loops, roots);
  }
}

// Two conditions of which both must hold.
const Apply* and_of(const Expr& e) { return e.dtype == DType::Bool ? e.as_apply(Op::And) : nullptr; }

// What stands between `and`s.
void collect_leaves(const kernel::Kernel& kernel, ExprId root, std::vector<ExprId>& into) {
  if (const Apply* both = and_of(kernel.at(root)))
    for (const ExprId a : both->args) collect_leaves(kernel, a, into);
  else
    into.push_back(root);
}

// All expressions under these.
std::vector<ExprId> used_by(const kernel::Kernel& kernel, std::vector<ExprId> roots) {
  std::vector<ExprId> used;
  visit_below(kernel, std::move(roots), [&](ExprId id, const Expr&) {
    used.push_back(id);
    return true;
  });
  std::sort(used.begin(), used.end());
  return used;
}

// Conditions that decide what is read or taken.
std::vector<ExprId> conditions_of(const kernel::Kernel& kernel, const std::vector<ExprId>& used) {
  std::vector<ExprId> leaves;
  for (const ExprId id : used) {
    const Expr& e = kernel.at(id);
    const auto* load = e.get_if<Load>();
    if (load && load->mask != kernel::kNoExpr) collect_leaves(kernel, load->mask, leaves);
    if (const Apply* where = e.as_apply(Op::Where)) collect_leaves(kernel, where->args[0], leaves);
  }
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace

// What is at least 0 where h is. x // c + k >= 0 says of x what x + c k >= 0 says, and k - x // c >= 0 what c k + c - 1 - x >= 0 says.
static IntExpr undivided(const IntExpr& h) {
  for (const IntExpr::Term& term : h.terms()) {
    if (term.atoms.size() != 1 || term.atoms[0]->kind != AtomKind::FloorDiv) continue;
    const IntExpr x = term.atoms[0]->a, c = term.atoms[0]->b, k = h - IntExpr::of_term(term);
    if (c.constant().value_or(0) <= 0) continue;
    if (term.coefficient == 1) return x + c * k;
    if (term.coefficient == -1) return c * k + c - 1 - x;
  }
  return h;
}

// What is at least 0 where this comparison of indices holds.
std::optional<IntExpr> PhasePrinter::holds_where(const Apply& e) const {
  if (e.args.size() != 2) return std::nullopt;
  const auto left = index_of(e.args[0]), right = index_of(e.args[1]);
  if (!left || !right) return std::nullopt;
  switch (e.op) {
    case Op::Ge: return undivided(*left - *right);
    case Op::Gt: return undivided(*left - *right - 1);
    case Op::Le: return undivided(*right - *left);
    case Op::Lt: return undivided(*right - *left - 1);
    default: return std::nullopt;
  }
}

// Loads whose lanes would be neighbours if no clamp held.
std::vector<ExprId> PhasePrinter::clamped_loads(const std::vector<ExprId>& used) const {
  std::vector<ExprId> loads;
  for (const ExprId id : used) {
    const auto* load = kernel_.at(id).get_if<Load>();
    int64_t step = 0;
    if (load && pattern(place(load->access).offset, step) == Pattern::Scattered) loads.push_back(id);
  }
  return loads;
}

namespace {

// Finds the elements between which conditions hold.
struct Ends {
  std::map<Symbol, IntExpr> inside;  // loops in the body, and their extents

  // What is least, over these loops; nothing where that cannot be said.
  std::optional<IntExpr> least(IntExpr h) const {
    for (const auto& [var, length] : inside) {
      if (!h.mentions(var)) continue;
      const auto step = h.coefficient_of(var);
      const auto by = step ? step->constant() : std::nullopt;
      if (!by) return std::nullopt;
      h = h - *by * IntExpr::symbol(var) + (*by < 0 ? *by * (length - 1) : IntExpr(0));
    }
    return h;
  }
};

}  // namespace

std::optional<PhasePrinter::Peel> PhasePrinter::find_peel(const Loop& s, const Value& extent) {
  Ends ends;
  std::vector<ExprId> roots;
  collect_inside(s.body, ends.inside, roots);
  const std::vector<ExprId> used = used_by(kernel_, std::move(roots));
  const DType t = DType::I64;
  Peel peel{{}, {}, constant(t, 0), extent, std::nullopt};
  const auto known_here = [&](const IntExpr& e) {
    return !e.any_symbol([&](Symbol symbol) {
      return symbol != s.var && (symbols_.count(symbol) == 0 || ends.inside.count(symbol) > 0);
    });
  };
  // What must be at least 0, by what it is made of; and whether that is so but for the ends of the extent.
  struct Condition {
    IntExpr whole, rest;
    int64_t step = 0;
  };
  const auto condition = [&](const IntExpr& from) -> std::optional<Condition> {
    const auto h = ends.least(from);
    if (!h) return std::nullopt;
    const auto coefficient = h->coefficient_of(s.var);
    const auto step = coefficient ? coefficient->constant() : std::nullopt;
    if (!step || !known_here(*h)) return std::nullopt;
    const Condition c{*h, *h - *step * IntExpr::symbol(s.var), *step};
    if (const auto always = h->constant(); always && *always < 0) return std::nullopt;
    const IntExpr inner = c.rest + *step * (*step < 0 ? s.extent - 1 - kMostAtEnds : IntExpr(kMostAtEnds));
    if (*step != 0 && !proves_nonnegative(inner, ranges_)) return std::nullopt;
    return c;
  };
  bool any = false;
  std::set<IntExpr> met;
  const auto require = [&](const Condition& c) {
    if (c.whole.constant() || !met.insert(c.whole).second) return;
    if (c.step > 0) {
      const Value from = integer(-floordiv(c.rest, c.step, ranges_));
      peel.first = op("call $T @llvm.smax.$V($T $a, $T $b)", t, {peel.first, from});
    } else if (c.step < 0) {
      const Value behind = integer(floordiv(c.rest, -c.step, ranges_) + 1);
      peel.last = op("call $T @llvm.smin.$V($T $a, $T $b)", t, {peel.last, behind});
    } else {
      const Value holds = op("icmp sge $T $a, $b", DType::Bool, {integer(c.whole), constant(t, 0)});
      peel.everywhere = peel.everywhere ? op("and $T $a, $b", DType::Bool, {*peel.everywhere, holds}) : holds;
    }
    any = any || c.step != 0;
  };
  for (const ExprId leaf : conditions_of(kernel_, used)) {
    const auto* apply = kernel_.at(leaf).get_if<Apply>();
    const auto h = apply ? holds_where(*apply) : std::nullopt;
    if (const auto c = h ? condition(*h) : std::nullopt) {
      peel.holds.insert(leaf);
      require(*c);
    }
  }
  for (const ExprId load : clamped_loads(used)) {
    std::vector<IntExpr> holds;
    const IntExpr offset = without_clamps(place(kernel_.at(load).get<Load>().access).offset, holds);
    std::vector<Condition> all;
    for (const IntExpr& h : holds)
      if (const auto c = condition(h)) all.push_back(*c);
    if (holds.empty() || all.size() < holds.size() || !lane_step(offset)) continue;
    peel.unclamped.emplace(load, offset);
    for (const Condition& c : all) require(c);
  }
  if (!any) return std::nullopt;
  return peel;
}

// In the steps where they hold: a condition, or several joined by `and`.
bool PhasePrinter::holds(ExprId id) const {
  if (!vector_.inner || id == kernel::kNoExpr) return false;
  if (vector_.inner->holds.count(id)) return true;
  const Apply* both = and_of(kernel_.at(id));
  return both && std::all_of(both->args.begin(), both->args.end(), [&](ExprId a) { return holds(a); });
}

bool PhasePrinter::chooses(const Apply& e) const { return e.op == Op::Where && holds(e.args[0]); }

// Ends are short, so narrow vectors do, unless the body leaves something in wide ones.
int PhasePrinter::edge_lanes(const Loop& s) const {
  const std::function<bool(const std::vector<Stmt>&)> assigns = [&](const std::vector<Stmt>& body) {
    return std::any_of(body.begin(), body.end(), [&](const Stmt& inner) {
      const auto* inside = kernel::body_of(inner);
      return inner.is<kernel::Assign>() || inner.is<kernel::Each>() || (inside && assigns(*inside));
    });
  };
  return assigns(s.body) ? s.lanes : std::min(s.lanes, std::max(4, target_.vector_bits / 32));
}

// The body under a mask from the label edge on, which leads to the label `after`: for the elements from start to stop.
std::string PhasePrinter::edge_steps(const Loop& s, int label, const std::string& after) {
  const DType t = DType::I64;
  const std::string L = std::to_string(label), start = "%start" + L;
  const Value from{fmt::format("%edge{}.start", L), t, 0, 0}, to{fmt::format("%edge{}.stop", L), t, 0, top()};
  const int lanes = vector_.lanes = edge_lanes(s);
  std::string text = fmt::format(
      "edge{0}:\n  {1} = load i64, ptr {2}\n  {3}.all = load i64, ptr %stop{0}\n  {1}.next = add i64 {1}, {4}\n"
      "  {3}.less = icmp slt i64 {1}.next, {3}.all\n  {3} = select i1 {3}.less, i64 {1}.next, i64 {3}.all\n"
      "  store i64 {1}.next, ptr {2}\n",
      L, from.text, start, to.text, lanes);
  text += vector_body(s, from, &to, false);
  vector_.lanes = s.lanes;
  return text + fmt::format("  br i1 {}.less, label %edge{}, label %{}\n", to.text, L, after);
}

// All of it under a mask.
std::string PhasePrinter::short_steps(const Loop& s, const Value& extent, int label) {
  const std::string L = std::to_string(label);
  define_stack("%start" + L, "i64");
  define_stack("%stop" + L, "i64");
  return fmt::format("  store i64 0, ptr %start{0}\n  store i64 {1}, ptr %stop{0}\n  br label %edge{0}\n", L,
                     extent.text) +
         edge_steps(s, label, "exit" + L);
}

std::string PhasePrinter::peeled_steps(const Loop& s, const Value& extent, const Peel& peel,
                                       const std::optional<Stream>& stream, int label) {
  const DType t = DType::I64;
  const std::string L = std::to_string(label), start = "%start" + L, stop = "%stop" + L;
  define_stack(start, "i64");
  define_stack(stop, "i64");
  const auto rounded = [&](const Value& x, int64_t to) {  // up
    return op("and $T $a, $b", t, {op("add $T $a, $b", t, {x, constant(t, to - 1)}), constant(t, -to)});
  };
  Value first = rounded(peel.first, edge_lanes(s));
  if (stream) {  // with a line of the streaming stores
    const Value beyond = op("sub $T $a, $b", t, {peel.first, stream->head});
    const Value none = op("call $T @llvm.smax.$V($T $a, $T $b)", t, {beyond, constant(t, 0)});
    const Value there = op("add $T $a, $b", t, {stream->head, rounded(none, stream->line)});
    first = op("select $C $a, $T $b, $T $c", t, {stream->wanted, there, first});
  }
  const Value length = op("sub $T $a, $b", t, {peel.last, first});
  Value any = op("icmp sge $T $a, $b", DType::Bool, {length, constant(t, s.lanes)});
  if (peel.everywhere) any = op("and $T $a, $b", DType::Bool, {any, *peel.everywhere});
  const Value last = op("add $T $a, $b", t, {first, op("and $T $a, $b", t, {length, constant(t, -s.lanes)})});
  first = op("select $C $a, $T $b, $T $c", t, {any, first, extent});

  std::string text = fmt::format(
      "  store i64 0, ptr {1}\n  store i64 {2}, ptr {3}\n  %before{0} = icmp sgt i64 {2}, 0\n"
      "  br i1 %before{0}, label %edge{0}, label %middle{0}\n",
      L, start, first.text, stop);
  text += edge_steps(s, label, "edged" + L);
  text += fmt::format(
      "edged{0}:\n  %done{0} = icmp eq i64 %edge{0}.stop.all, {1}\n  br i1 %done{0}, label %exit{0}, label "
      "%middle{0}\n",
      L, extent.text);
  vector_.inner = &peel;
  const std::string loop = full_steps(s, "loop", label, {first.text, "middle", last.text, "rest"});
  const bool streams = stream && std::count(loop.begin(), loop.end(), '\n') < kMostStreamedLines;
  if (streams) {
    text += fmt::format("middle{0}:\n  br i1 {1}, label %stream{0}, label %loop{0}\n", L, stream->wanted.text) + loop;
    text += stream_steps(s, label, {first.text, "middle", last.text, "rest"});
    streams_ = true;
  } else {
    text += fmt::format("middle{0}:\n  br label %loop{0}\n", L) + loop;
  }
  vector_.inner = nullptr;
  return text + fmt::format(
                    "rest{0}:\n  store i64 {1}, ptr {2}\n  store i64 {3}, ptr {4}\n"
                    "  %behind{0} = icmp slt i64 {1}, {3}\n  br i1 %behind{0}, label %edge{0}, label %exit{0}\n",
                    L, last.text, start, extent.text, stop);
}

}  // namespace smelt::emit
