#include "kernel/split_grids.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kernel/at_remainder.hpp"
#include "kernel/conditions.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Limits: rows of an iteration, and the expressions of all of them before most go away.
constexpr int64_t kMostRows = 8;
constexpr size_t kMostExprs = 4096;

// Rows that are taken together: so many, of each `period` iterations, or of all (0).
struct Turns {
  int64_t rows, period;
  friend bool operator<(const Turns& a, const Turns& b) {
    return std::pair(a.rows, a.period) < std::pair(b.rows, b.period);
  }
};

class SplitGrids {
 public:
  explicit SplitGrids(Kernel& kernel) : kernel_(kernel) {}

  bool run() {
    bool changed = false;
    for (Phase& phase : kernel_.phases) {
      auto* grid = phase.body.empty() ? nullptr : loop_of(phase.body.back(), LoopKind::Grid);
      if (grid && phase.body.size() == 1 && can_be_copied(grid->body)) changed = split(phase, *grid) || changed;
    }
    return changed;
  }

 private:
  bool can_be_copied(const std::vector<Stmt>& body) const {
    bool plain = true;
    for_each_stmt(body, [&](const Stmt& s) {
      const auto* loop = s.get_if<Loop>();
      const auto* let = s.get_if<Let>();
      plain = plain && (loop || let || s.is<Store>() || s.is<Assign>() || s.is<Combine>()) &&
              !(loop && loop->interior) && !(let && index_named_by(kernel_, let->local));
    });
    return plain;
  }

  bool split(Phase& phase, Loop& grid) {
    std::vector<ExprId> roots;
    Ranges ranges = ranges_of_sizes(kernel_);
    for_each_stmt(grid.body, [&](const Stmt& s) {
      for_each_expression(s, [&](ExprId id) { roots.push_back(id); });
      if (const auto* loop = s.get_if<Loop>()) widen(ranges, loop->var, loop->extent);
    });
    size_t exprs = 0;
    std::set<Turns> found;
    visit_below(kernel_, roots, [&](ExprId, const Expr& e) {
      ++exprs;
      if (const auto* apply = e.get_if<Apply>())
        if (const auto h = holds_where(kernel_, *apply)) collect_turns(*h, grid.var, found);
      return true;
    });
    return std::any_of(found.begin(), found.end(), [&](const Turns& turns) {
      return exprs * static_cast<size_t>(turns.rows) <= kMostExprs && split(phase, grid, turns, ranges);
    });
  }

  // Remainders of the iterations of the Grid loop alone, or of their place in each period: what
  // else a condition mentions differs within a row.
  static void collect_turns(const IntExpr& e, Symbol var, std::set<Turns>& into) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->symbol) continue;
        const auto by = atom->b.constant();
        if (atom->kind == AtomKind::Mod && by && *by >= 2 && *by <= kMostRows && atom->a.mentions(var))
          into.insert({*by, period_of(atom->a, var)});
        collect_turns(atom->a, var, into);
      }
  }

  // n, where e has the remainder of the variable by n.
  static int64_t period_of(const IntExpr& e, Symbol var) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms)
        if (atom->kind == AtomKind::Mod && atom->a.as_symbol() == var) return atom->b.constant().value_or(0);
    return 0;
  }

  bool split(Phase& phase, Loop& grid, const Turns& turns, Ranges ranges) {
    const size_t exprs = kernel_.exprs.size(), locals = kernel_.locals.size();
    const IntExpr var = IntExpr::symbol(grid.var);
    const int64_t rows = turns.rows, in_period = turns.period > 0 ? (turns.period + rows - 1) / rows : 0;
    const Division periods = turns.period > 0 ? divide_terms(grid.extent, turns.period) : Division{1, 0};
    if (!periods.remainder.is(0)) return false;
    const IntExpr extent = turns.period > 0 ? periods.quotient * in_period : ceildiv(grid.extent, rows);
    const IntExpr most = turns.period > 0 ? IntExpr(turns.period) : grid.extent;
    ranges[grid.var] = {0, extent - 1};
    std::vector<Stmt> body;
    for (int64_t r = 0; r < rows; ++r) {
      const IntExpr number = (turns.period > 0 ? mod(var, in_period) : var) * rows + r;
      const IntExpr before = turns.period > 0 ? floordiv(var, in_period) : IntExpr(0);
      AtRemainder row(kernel_, {grid.var, turns.period, before, number}, periods.quotient, ranges, r > 0);
      std::vector<Stmt> made = row.of(grid.body);
      if (row.decided() == 0) {
        kernel_.exprs.erase(kernel_.exprs.begin() + static_cast<std::ptrdiff_t>(exprs), kernel_.exprs.end());
        kernel_.locals.erase(kernel_.locals.begin() + static_cast<std::ptrdiff_t>(locals), kernel_.locals.end());
        kernel_.labels.erase(kernel_.labels.lower_bound(static_cast<ExprId>(exprs)), kernel_.labels.end());
        return false;
      }
      if (proves_nonnegative(most - 1 - number, ranges))
        std::move(made.begin(), made.end(), std::back_inserter(body));
      else
        body.push_back(If{is_below(kernel_, number, most), std::move(made)});
    }
    grid.extent = extent;
    grid.body = std::move(body);
    phase.work = phase.work * rows;
    return true;
  }

  Kernel& kernel_;
};

}  // namespace

bool split_grids(Kernel& kernel) { return SplitGrids(kernel).run(); }

}  // namespace smelt::kernel
