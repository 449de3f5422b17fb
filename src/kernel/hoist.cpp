#include "kernel/hoist.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kernel/build.hpp"
#include "kernel/invariants.hpp"
#include "kernel/nest.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/share_divisors.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Operations on the value of a column that are worth a register for each lane, and what a load of
// it counts; registers for what is read.
constexpr int kWorthALane = 3, kLoad = 4;
constexpr size_t kMostRead = 16;
// Elements of a thread that are worth finding the inverse of what they are divided by.
constexpr int64_t kWorthInverse = 4;
constexpr int kMostDivided = 4;  // lanes that have such an inverse each

class Hoist {
 public:
  explicit Hoist(Kernel& kernel) : kernel_(kernel) {
    for (const Phase& phase : kernel.phases) find_lanes(phase.body, false);
    for (const LocalId id : combined_) in_lanes_.erase(id);
  }

  bool run() {
    for (Phase& phase : kernel_.phases) {
      stored_.clear();
      for_each_stmt(phase.body, [&](const Stmt& s) {
        visit_accesses(kernel_, s, [&](const Access& access, bool stored) {
          if (stored && !access.scratch) stored_.insert(access.array);
        });
      });
      block(phase.body, phase.team.threads);
    }
    return moved_;
  }

 private:
  // Locals that have a value for each lane, until they are combined to one.
  void find_lanes(const std::vector<Stmt>& body, bool in_vector) {
    for (const Stmt& s : body) {
      if (const auto local = given_by(s); in_vector && local) in_lanes_.insert(*local);
      if (const auto* c = s.get_if<Combine>(); c && !c->columns) combined_.insert({c->local, c->index_local});
      if (const auto* c = s.get_if<Combine>(); c && c->columns) {
        column_locals_.emplace(c->local, c->columns);
        column_locals_.emplace(c->index_local, c->columns);
      }
      if (const auto* inside = body_of(s)) find_lanes(*inside, in_vector || loop_of(s, LoopKind::Vector));
    }
  }

  void block(std::vector<Stmt>& body, int threads) {
    for (size_t i = 0; i < body.size(); ++i) {
      Loop* vector = loop_of(body[i], LoopKind::Vector);
      if (!vector) {
        if (auto* inside = body_of(body[i])) block(*inside, threads);
        continue;
      }
      std::vector<Stmt> before = out_of(*vector, threads);
      const size_t count = before.size();
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(before.begin()),
                  std::make_move_iterator(before.end()));
      i += count;
    }
  }

  // What goes before the loop, which then reads it: lets, and a loop over the columns.
  std::vector<Stmt> out_of(Loop& loop, int threads) {
    bool plain = true;
    std::unordered_set<LocalId> given;
    for_each_stmt(loop.body, [&](const Stmt& s) {
      plain = plain && !s.is<Loop>() && !s.is<Each>();
      if (const auto local = given_by(s)) given.insert(*local);
      if (const auto* scan = s.get_if<Scan>()) given.insert(scan->carry);
    });
    if (!plain) return {};
    std::vector<Stmt> lets;
    const auto known = loop.extent.constant();
    const int64_t of_thread = threads == 0 ? 0 : known ? (*known + threads - 1) / threads : loop.lanes * loop.unroll;
    std::unordered_map<ExprId, bool> same = same_in(loop, given, 0, nullptr);
    if (of_thread >= kWorthInverse && share_divisors(kernel_, loop, same)) {
      moved_ = true;
      same = same_in(loop, given, 0, nullptr);
    }
    hoist(loop, invariants(loop, same, nullptr),
          [&](LocalId local, ExprId value) { lets.push_back(let(local, value)); });
    const int64_t step = int64_t{threads} * loop.lanes;
    if (!loop.columns || threads == 0 || known.value_or(INT64_MAX) <= step) return lets;
    if (loop.lanes <= kMostDivided && known.value_or(INT64_MAX) / step >= kWorthInverse)
      moved_ |= share_divisors(kernel_, loop, same_in(loop, given, loop.columns, nullptr));
    // Nothing is stored meanwhile, and what is read is there whether there are elements or not.
    const Loop* reads = std::all_of(loop.body.begin(), loop.body.end(), computes) ? &loop : nullptr;
    std::vector<ExprId> of_columns = invariants(loop, same_in(loop, given, loop.columns, reads), reads);
    std::erase_if(of_columns, [&](ExprId id) { return operations(id) < kWorthALane; });
    if (of_columns.size() * static_cast<size_t>(loop.lanes) > kMostRead)
      std::erase_if(of_columns, [&](ExprId id) { return reads_arrays(id); });
    std::vector<Stmt> lanes;
    hoist(loop, of_columns, [&](LocalId local, ExprId value) {
      kernel_.locals[static_cast<size_t>(local)].is_mutable = true;
      column_locals_.emplace(local, loop.columns);
      in_lanes_.insert(local);
      const DType type = kernel_.at(value).dtype;
      lets.push_back(assign(local, static_cast<ExprId>(kernel_.exprs.size())));
      kernel_.exprs.push_back({type, Const{Scalar::of_int(type, 0)}});
      lanes.push_back(assign(local, value));
    });
    if (lanes.empty()) return lets;
    Loop once{LoopKind::Vector, loop.var, IntExpr(step), std::move(lanes), loop.lanes};
    once.columns = loop.columns;
    lets.push_back(std::move(once));
    return lets;
  }

  // Gives each value a local by give(local, value), and the loop reads that.
  template <class Give>
  void hoist(Loop& loop, const std::vector<ExprId>& values, const Give& give) {
    if (values.empty()) return;
    Rewriter rewrite(kernel_);
    for (const ExprId id : values) {
      const auto local = static_cast<LocalId>(kernel_.locals.size());
      kernel_.locals.push_back({kernel_.at(id).dtype});
      give(local, id);
      rewrite.replace(id, static_cast<ExprId>(kernel_.exprs.size()));
      kernel_.exprs.push_back({kernel_.at(id).dtype, ReadLocal{local}});
    }
    moved_ = true;
    for (Stmt& s : loop.body) rewrite(s);
  }

  int operations(ExprId root) const {
    int count = 0;
    visit_below(kernel_, {root}, [&](ExprId, const Expr& e) {
      count += !operands(e).empty() + (is_array(e) ? kLoad : 0);
      return true;
    });
    return count;
  }

  bool is_array(const Expr& e) const {
    const auto* load = e.get_if<Load>();
    return load &&
           (load->access.scratch || kernel_.params[static_cast<size_t>(load->access.array)].kind != ParamKind::Scalar);
  }
  bool reads_arrays(ExprId root) const {
    return any_below(kernel_, {root}, [&](const Expr& e) { return is_array(e); });
  }
  static bool computes(const Stmt& s) { return s.is<Let>() || s.is<Assign>(); }

  // Whether an index has one value for all elements of a column.
  static bool is_of_column(const IntExpr& e, const Loop& loop) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& a : term.atoms) {
        if (a->symbol) {
          if (a->symbol == loop.var || a->symbol->is_local()) return false;
          continue;
        }
        const bool is_column = a->kind == AtomKind::Mod && a->a.as_symbol() == loop.var && a->b.is(loop.columns);
        if (!is_column && !(is_of_column(a->a, loop) && is_of_column(a->b, loop))) return false;
      }
    return true;
  }

  static std::vector<ExprId> roots_of(const Loop& loop) {
    std::vector<ExprId> roots;
    for_each_stmt(loop.body,
                  [&](const Stmt& s) { for_each_expression(s, [&](ExprId root) { roots.push_back(root); }); });
    return roots;
  }

  // Whether `reads` has one value of it for all elements of a column.
  static bool is_read(const Expr& e, const Loop* reads) {
    const auto* load = e.get_if<Load>();
    return reads && load && load->mask == kNoExpr && !load->access.scratch &&
           std::all_of(load->access.index.begin(), load->access.index.end(),
                       [&](const IntExpr& i) { return is_of_column(i, *reads); });
  }

  // Which expressions are the same for all elements, or for those of a column. With `reads`, what
  // that loop reads at its columns from arrays counts too.
  std::unordered_map<ExprId, bool> same_in(const Loop& loop, const std::unordered_set<LocalId>& given, int columns,
                                           const Loop* reads) const {
    return same_below(kernel_, roots_of(loop), [&](const Expr& e) {
      return is_read(e, reads) || is_same(e, given, columns) || (columns == 0 && is_one_element(e, loop));
    });
  }

  // The largest of those, in order. Leaves stay.
  std::vector<ExprId> invariants(const Loop& loop, const std::unordered_map<ExprId, bool>& same,
                                 const Loop* reads) const {
    std::vector<ExprId> found;
    visit_below(kernel_, roots_of(loop), [&](ExprId id, const Expr& e) {
      if (!same.at(id)) return true;
      if (!operands(e).empty() || is_read(e, reads)) found.push_back(id);
      return false;
    });
    std::sort(found.begin(), found.end());
    return found;
  }

  // Whether all elements read one, of an array that nothing is stored to, which is there: always,
  // or as the loop has elements.
  bool is_one_element(const Expr& e, const Loop& loop) const {
    const auto* load = e.get_if<Load>();
    if (!load || load->mask != kNoExpr || load->access.scratch || stored_.count(load->access.array)) return false;
    if (!kernel_.fragments.empty()) return false;  // pipelines multiply what loops alone compute
    const Shape& dims = kernel_.params[static_cast<size_t>(load->access.array)].dims;
    const bool always = count(dims).constant().value_or(0) == 1 || loop.extent.constant().value_or(0) > 0;
    return always && std::none_of(load->access.index.begin(), load->access.index.end(), [&](const IntExpr& i) {
             return i.any_symbol([&](const Symbol& s) { return s == loop.var || s.is_local(); });
           });
  }

  // Constants, scalars, and locals of the team or of the columns; positions stay where they are.
  bool is_same(const Expr& e, const std::unordered_set<LocalId>& given, int columns) const {
    return e.match([](const Const&) { return true; }, [](const Cast&) { return true; },
                   [](const Bitcast&) { return true; }, [](const Apply&) { return true; },
                   [&](const ReadLocal& read) {
                     if (given.count(read.local)) return false;
                     const auto column = column_locals_.find(read.local);
                     return column != column_locals_.end() ? columns == column->second : !in_lanes_.count(read.local);
                   },
                   [](const Raw& raw) { return !is_from_thread(raw.op); },
                   [&](const Load& load) { return load.mask == kNoExpr && !is_array(e); },
                   [](const IndexValue&) { return false; }, [](const Random&) { return false; });
  }

  Kernel& kernel_;
  std::unordered_set<LocalId> in_lanes_, combined_;
  std::unordered_map<LocalId, int> column_locals_;  // that have a value for each of so many columns
  std::set<int> stored_;                            // arrays, by the phase at hand
  bool moved_ = false;
};

}  // namespace

bool hoist_invariants(Kernel& kernel) { return Hoist(kernel).run(); }

}  // namespace smelt::kernel
