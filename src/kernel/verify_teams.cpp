// How teams of threads run the Vector loops of a phase, in each of its variants.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Whether a value is never above a number.
bool stays_below(const IntExpr& e, const IntExpr& most, const Ranges& ranges) {
  if (proves_le(e, most, ranges)) return true;
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return false;
  const IntExpr::Atom& a = *e.terms()[0].atoms[0];
  return a.kind == AtomKind::Min && (stays_below(a.a, most, ranges) || stays_below(a.b, most, ranges));
}

class TeamVerifier {
 public:
  explicit TeamVerifier(const Kernel& kernel) : kernel_(kernel), around_(kernel) {}

  void phase(const Phase& phase) {
    phase_ = &phase;
    known_.clear();
    for (const Variant& v : phase.variants) known_.push_back(multiples_of(v));
    if (!phase.variants.empty()) takes_everything(phase);
    in_order_ = has_scans(phase.body) || has_each(phase.body);
    meets_as_workgroup(phase);
    block(phase.body);
  }

 private:
  // Several warps meet at the barriers of a workgroup, so they must be all of it.
  void meets_as_workgroup(const Phase& phase) const {
    constexpr int kWarp = 32;
    if (phase.team.threads <= kWarp || phase.team.iterations() == 1) return;
    for_each_stmt(phase.body, [&](const Stmt& s) {
      if (s.is<Combine>() || s.is<Scan>() || s.is<Barrier>())
        fail(kernel_, "{} of the {} threads of a workgroup meet", phase.team.threads, phase.team.workgroup);
    });
  }

  template <class... Args>
  void need(bool condition, const Loop& loop, const Variant& variant, fmt::format_string<Args...> format,
            Args&&... args) const {
    if (!condition)
      fail(kernel_, "loop {}, {}: {}", loop.var, name_of(variant), fmt::format(format, std::forward<Args>(args)...));
  }

  // The last variant that is a function of its own.
  void takes_everything(const Phase& phase) const {
    const auto last = std::find_if(phase.variants.rbegin(), phase.variants.rend(),
                                   [](const Variant& v) { return v.form != Variant::Form::Ending; });
    bool any = last != phase.variants.rend() && last->when.empty();
    for (size_t p = 0; any && p < kernel_.params.size(); ++p)
      any = last->alignment[p] <= size_of(kernel_.params[p].dtype);
    if (!any) fail(kernel_, "no variant of a phase takes every size and address");
  }

  void block(const std::vector<Stmt>& body) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const auto* loop = s.get_if<Loop>();
      if (loop) team(*loop);
      const SymbolsAround::Scope own(around_);
      around_.enter_body_of(s);
      if (const auto* inside = body_of(s)) block(*inside);
    }
  }

  void team(const Loop& loop) const {
    const size_t shapes = loop.team ? loop.team->shapes.size() : 0;
    const size_t expected = loop.kind == LoopKind::Vector ? phase_->variants.size() : 0;
    if (shapes != expected) fail(kernel_, "loop {} has {} shapes for {} variants", loop.var, shapes, expected);
    const size_t accesses = loop.team ? loop.team->accesses.size() : 0;
    if (accesses != 0 && accesses != phase_->variants.size())
      fail(kernel_, "loop {} has accesses of {} variants, not {}", loop.var, accesses, phase_->variants.size());
    for (size_t v = 0; v < shapes; ++v) shape(loop, loop.team->shapes[v], phase_->variants[v], known_[v]);
  }

  void shape(const Loop& loop, const LoopShape& shape, const Variant& variant, const Multiples& known) const {
    const int64_t threads = phase_->team.threads, step = threads * shape.count();
    const int64_t edges = shape.peeled ? shape.lanes - 1 : 0;
    if (feeds_units(kernel_, *phase_, loop))
      need(shape.lanes == loop.lanes && !shape.peeled && loop.extent.is(step), loop, variant,
           "{} lanes of {}, which units multiply", shape.lanes, loop.lanes);
    else
      need(shape.lanes == 1 || (shape.lanes == loop.lanes && variant.vectors), loop, variant, "groups of {} lanes",
           shape.lanes);
    need(shape.unroll >= 1 && (shape.unroll == 1 || !has_loops(loop) || kernel_.dialect == Dialect::PlainThread), loop,
         variant, "{} groups at once", shape.unroll);
    if (shape.lanes > 1 && !shape.peeled)
      need(is_multiple_of(loop.extent.substitute(known, around_.ranges()), shape.lanes), loop, variant,
           "an extent of {} is no multiple of {} lanes", loop.extent.str(), shape.lanes);
    if (shape.peeled) {
      need(!in_order_ && !has_loops(loop) && !loop.columns, loop, variant, "peeled, though groups begin at element 0");
      need(threads >= 2 * edges, loop, variant, "{} threads for the edges of {} lanes", threads, shape.lanes);
      need(!shape.origin.mentions(loop.var), loop, variant, "element 0 is at {}", shape.origin.str());
    }
    if (shape.one_step)
      need(stays_below(loop.extent, step + edges, around_.ranges()) || assumed(step + edges - loop.extent, variant),
           loop, variant, "one step of {} for an extent of {}", step, loop.extent.str());
    const auto exact = loop.extent.constant();
    need(shape.checked || (!shape.peeled && exact && *exact > 0 && *exact % step == 0), loop, variant,
         "steps of {}, unchecked, for an extent of {}", step, loop.extent.str());
    need(shape.inside == 0 || (shape.one_step && exact && shape.inside * threads * shape.lanes + edges <= *exact), loop,
         variant, "{} groups of every thread inside an extent of {}", shape.inside, loop.extent.str());
    need(!shape.last_apart || (shape.checked && !shape.one_step && !in_order_), loop, variant,
         "a last step apart, of steps that are alike");
    need(shape.one_step || !is_over_accumulators(loop), loop, variant,
         "steps over accumulators, which all threads have");
    need(!shape.by_element || (kernel_.dialect == Dialect::PlainThread && shape.count() == 1), loop, variant,
         "by element, in groups");
  }

  // Whether it assigns what each lane has of locals from these alone: a second step would do so
  // again.
  bool is_over_accumulators(const Loop& loop) const {
    if (!loop.extent.constant() || loop.columns) return false;
    bool found = !loop.body.empty();
    for (const Stmt& s : loop.body) {
      found = found && s.is<Assign>();
      for_each_expression(s, [&](ExprId root) {
        visit_below(kernel_, {root}, [&](ExprId, const Expr& e) {
          found = found && !e.is<Load>() && !e.is<IndexValue>();
          return found;
        });
      });
    }
    return found;
  }

  bool assumed(const IntExpr& h, const Variant& variant) const {
    return std::any_of(variant.when.begin(), variant.when.end(),
                       [&](const IntExpr& known) { return (h - known).constant().value_or(-1) >= 0; });
  }

  const Kernel& kernel_;
  SymbolsAround around_;
  const Phase* phase_ = nullptr;
  std::vector<Multiples> known_;  // by variant
  bool in_order_ = false;
};

}  // namespace

bool is_multiple_of(const IntExpr& e, int64_t n) {
  return std::all_of(e.terms().begin(), e.terms().end(), [&](const IntExpr::Term& term) {
    return term.coefficient % n == 0 ||
           std::any_of(term.atoms.begin(), term.atoms.end(), [&](const IntExpr::AtomPtr& a) {
             return !a->symbol && a->kind != AtomKind::FloorDiv && is_multiple_of(a->a, n) && is_multiple_of(a->b, n);
           });
  });
}

Multiples multiples_of(const Variant& variant) {
  Multiples known;
  std::map<Symbol, int64_t> most;
  for (const IntExpr& h : variant.when) {
    if (!is_multiple(h)) continue;
    const IntExpr::Atom& mod = *h.terms()[0].atoms[0];
    const auto size = mod.a.as_symbol();
    const auto n = mod.b.constant();
    if (!size || !n) continue;
    // Powers of two: the largest is a multiple of the others.
    most[*size] = std::max(most[*size], *n);
    known[*size] = most[*size] * IntExpr::symbol(*size);
  }
  return known;
}

void verify_teams(const Kernel& kernel) {
  TeamVerifier teams(kernel);
  for (const Phase& phase : kernel.phases) teams.phase(phase);
}

}  // namespace smelt::kernel
