#include "kernel/naturals.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class Naturals {
 public:
  Naturals(const Kernel& kernel, const Phase& phase) : ranges_(ranges_in(kernel, phase)) {
    for_each_stmt(phase.body, [&](const Stmt& s) { statement(s); });
    visit_below(kernel, expressions_of(phase.body), [&](ExprId, const Expr& e) {
      for_each_index(e, [&](const IntExpr& i) { index(i); });
      return true;
    });
    for (const Param& p : kernel.params)
      for (const IntExpr& stride : p.strides) index(stride);
    for (const ScratchBuffer& b : kernel.buffers)
      for (const IntExpr& dim : b.dims) index(dim);
  }

  std::set<IntExpr> take() {
    std::set<IntExpr> found;
    for (const auto& [numerator, natural] : known_)
      if (natural) found.insert(numerator);
    return found;
  }

 private:
  void index(const IntExpr& e) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& a : term.atoms) {
        if (a->symbol) continue;
        if (a->kind == AtomKind::FloorDiv || a->kind == AtomKind::Mod) {
          const auto [at, first] = known_.emplace(a->a, false);
          if (!first) continue;
          at->second = proves_nonnegative(a->a, ranges_);
        }
        index(a->a);
        index(a->b);
      }
  }

  void statement(const Stmt& s) {
    for_each_index(s, [&](const IntExpr& i) { index(i); });
    if (const auto* each = s.get_if<Each>(); each && each->forms) lanes(*each->forms);
    const auto* loop = s.get_if<Loop>();
    if (loop && loop->forms) lanes(*loop->forms);
    if (loop && loop->team) team(*loop->team);
    if (loop && loop->box)
      for (const Box::Side& side : loop->box->sides) index(side.first), index(side.extent);
  }

  void lanes(const LaneForms& forms) {
    for (const auto& [id, access] : forms.loads) {
      for (const LaneAccess::Piece& p : access.pieces) index(p.apart);
      for (const IntExpr& h : access.holds) index(h);
    }
    for (const auto& [id, draw] : forms.draws) index(draw.base);
    for (const auto& [key, division] : forms.divisions) index(division.quotient), index(division.remainder);
    for (const auto& [id, comparison] : forms.comparisons) index(comparison.difference);
  }

  void team(const TeamForms& forms) {
    const auto draws = [&](const BlockAccesses& block) {
      for (const GroupDraw& d : block.draws) index(d.base);
    };
    for (const LoopShape& shape : forms.shapes) index(shape.origin);
    for (const LoopAccesses& accesses : forms.accesses) {
      for (const BlockAccesses& block : accesses.blocks) draws(block);
      draws(accesses.batch.block);
    }
  }

  const Ranges ranges_;
  std::map<IntExpr, bool> known_;  // numerators
};

}  // namespace

Ranges ranges_in(const Kernel& kernel, const Phase& phase) {
  Ranges ranges = ranges_of_sizes(kernel);
  for_each_stmt(phase.body, [&](const Stmt& s) {
    if (const auto* loop = s.get_if<Loop>()) widen(ranges, loop->var, loop->extent);
    if (const auto* each = s.get_if<Each>()) widen(ranges, each->var, each->extent);
  });
  for (const IndexLocal& l : kernel.index_locals) widen(ranges, Symbol::local(l.local), l.extent);
  return ranges;
}

bool find_naturals(Kernel& kernel) {
  bool any = false;
  for (Phase& phase : kernel.phases) {
    phase.naturals = Naturals(kernel, phase).take();
    any = any || !phase.naturals.empty();
  }
  return any;
}

void verify_naturals(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    if (phase.naturals.empty()) continue;
    const Ranges ranges = ranges_in(kernel, phase);
    for (const IntExpr& e : phase.naturals)
      if (!proves_nonnegative(e, ranges)) fail(kernel, "{} may be below 0, and is divided as if it were not", e.str());
  }
}

}  // namespace smelt::kernel
