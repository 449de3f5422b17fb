#include "kernel/split_grids.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Limits: rows of an iteration, and the expressions of all of them.
constexpr int64_t kMostRows = 4;
constexpr size_t kMostExprs = 512;

// The statements of one of the rows of an iteration.
class Row : public AtValue {
 public:
  Row(Kernel& kernel, Symbol var, IntExpr number, const Ranges& ranges, bool own_locals)
      : AtValue(kernel, var, std::move(number), ranges), own_locals_(own_locals) {}

  int decided() const { return decided_; }

  std::vector<Stmt> of(const std::vector<Stmt>& body) {
    std::vector<Stmt> made;
    for (Stmt s : body) {
      if (auto* loop = s.get_if<Loop>()) {
        loop->extent = placed(loop->extent);
        loop->body = of(loop->body);
      }
      for_each_expression(s, [&](ExprId& id) { id = (*this)(id); });
      if (auto* store = s.get_if<Store>()) place(store->access);
      if (auto* let = s.get_if<Let>()) let->local = own(let->local);
      if (auto* assign = s.get_if<Assign>()) assign->local = own(assign->local);
      if (auto* combine = s.get_if<Combine>()) {
        combine->local = own(combine->local);
        if (combine->index_local >= 0) combine->index_local = own(combine->index_local);
      }
      made.push_back(std::move(s));
    }
    return made;
  }

 private:
  bool changes(const Expr& e) override { return AtValue::changes(e) || (own_locals_ && e.is<ReadLocal>()); }
  void change(Expr& e) override {
    AtValue::change(e);
    if (auto* read = e.get_if<ReadLocal>()) read->local = own(read->local);
  }

  // What an expression is where a condition of it is known.
  std::optional<ExprId> instead(Expr& e) override {
    if (auto* load = e.get_if<Load>()) {
      const auto holds = truth(load->mask);
      if (!holds) return std::nullopt;
      if (!*holds) return load->other;
      load->mask = load->other = kNoExpr;
      return std::nullopt;
    }
    const auto* apply = e.get_if<Apply>();
    if (!apply) return std::nullopt;
    if (apply->op == Op::Where) {
      const auto holds = truth(apply->args[0]);
      return holds ? std::optional(apply->args[*holds ? 1 : 2]) : std::nullopt;
    }
    if (e.dtype != DType::Bool) return std::nullopt;
    if (apply->op == Op::And || apply->op == Op::Or)
      for (const size_t a : {0, 1})
        if (const auto holds = truth(apply->args[a]))
          return *holds == (apply->op == Op::And) ? apply->args[1 - a] : apply->args[a];
    const auto h = holds_where(kernel_, *apply);
    if (!h) return std::nullopt;
    const auto value = h->constant();
    if (!value && !proves_nonnegative(*h, ranges_)) return std::nullopt;
    if (value) ++decided_;
    return add({DType::Bool, Const{Scalar::of_bool(value.value_or(0) >= 0)}}, kNoExpr);
  }

  std::optional<bool> truth(ExprId id) const {
    const Scalar* known = id == kNoExpr ? nullptr : kernel_.constant_at(id);
    return known ? std::optional(known->as_bool()) : std::nullopt;
  }

  LocalId own(LocalId id) {
    if (!own_locals_) return id;
    const auto [known, fresh] = locals_.try_emplace(id, static_cast<LocalId>(kernel_.locals.size()));
    if (fresh) kernel_.locals.push_back(Local(kernel_.locals[static_cast<size_t>(id)]));
    return known->second;
  }

  const bool own_locals_;  // the first row has those that are there
  int decided_ = 0;        // conditions
  std::unordered_map<LocalId, LocalId> locals_;
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
      const auto names_index = [&](const IndexLocal& l) { return l.local == let->local; };
      plain = plain && (loop || let || s.is<Store>() || s.is<Assign>() || s.is<Combine>()) &&
              !(loop && loop->interior) &&
              !(let && std::any_of(kernel_.index_locals.begin(), kernel_.index_locals.end(), names_index));
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
    std::set<int64_t> remainders;
    visit_below(kernel_, roots, [&](ExprId, const Expr& e) {
      ++exprs;
      if (const auto* apply = e.get_if<Apply>())
        if (const auto h = holds_where(kernel_, *apply)) collect_remainders(*h, grid.var, remainders);
      return true;
    });
    return std::any_of(remainders.begin(), remainders.end(), [&](int64_t rows) {
      return exprs * static_cast<size_t>(rows) <= kMostExprs && split(phase, grid, rows, ranges);
    });
  }

  // Remainders of the iterations of the Grid loop alone: what else a condition mentions differs
  // within a row.
  static void collect_remainders(const IntExpr& e, Symbol var, std::set<int64_t>& into) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->symbol) continue;
        const auto by = atom->b.constant();
        if (atom->kind == AtomKind::Mod && by && *by >= 2 && *by <= kMostRows && atom->a.mentions(var))
          into.insert(*by);
        collect_remainders(atom->a, var, into);
      }
  }

  bool split(Phase& phase, Loop& grid, int64_t rows, Ranges ranges) {
    const size_t exprs = kernel_.exprs.size(), locals = kernel_.locals.size();
    const IntExpr var = IntExpr::symbol(grid.var), extent = ceildiv(grid.extent, rows);
    ranges[grid.var] = {0, extent - 1};
    std::vector<Stmt> body;
    for (int64_t r = 0; r < rows; ++r) {
      const IntExpr number = var * rows + r;
      Row row(kernel_, grid.var, number, ranges, r > 0);
      std::vector<Stmt> made = row.of(grid.body);
      if (row.decided() == 0) {
        kernel_.exprs.erase(kernel_.exprs.begin() + static_cast<std::ptrdiff_t>(exprs), kernel_.exprs.end());
        kernel_.locals.erase(kernel_.locals.begin() + static_cast<std::ptrdiff_t>(locals), kernel_.locals.end());
        kernel_.labels.erase(kernel_.labels.lower_bound(static_cast<ExprId>(exprs)), kernel_.labels.end());
        return false;
      }
      if (proves_nonnegative(grid.extent - 1 - number, ranges))
        std::move(made.begin(), made.end(), std::back_inserter(body));
      else
        body.push_back(If{below(number, grid.extent), std::move(made)});
    }
    grid.extent = extent;
    grid.body = std::move(body);
    phase.work = phase.work * rows;
    return true;
  }

  ExprId below(const IntExpr& number, const IntExpr& extent) {
    const auto add = [&](Expr e) {
      kernel_.exprs.push_back(std::move(e));
      return static_cast<ExprId>(kernel_.exprs.size() - 1);
    };
    const ExprId n = add({DType::I64, IndexValue{number}}), m = add({DType::I64, IndexValue{extent}});
    return add({DType::Bool, Apply{Op::Lt, {n, m}}});
  }

  Kernel& kernel_;
};

}  // namespace

bool split_grids(Kernel& kernel) { return SplitGrids(kernel).run(); }

}  // namespace smelt::kernel
