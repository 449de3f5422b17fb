#include "kernel/unroll_short.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "kernel/classify_accesses.hpp"
#include "kernel/conditions.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// A limit for all iterations together.
constexpr size_t kMostUnrolledExprs = 256;

// The expressions of a loop's body in one of its iterations.
class Iteration : public AtValue {
 public:
  using AtValue::AtValue;

  Stmt of(const Stmt& s) {
    Stmt copy = s;
    for_each_expression(copy, [&](ExprId& id) { id = (*this)(id); });
    if (auto* store = copy.get_if<Store>()) {
      place(store->access);
      if (store->cursor) place(*store->cursor);
    }
    return copy;
  }
};

class ShortLoops {
 public:
  explicit ShortLoops(Kernel& kernel) : kernel_(kernel), around_(kernel), locals_(locals_in_lanes(kernel)) {}

  bool run() {
    for (Phase& phase : kernel_.phases) block(phase.body, nullptr);
    return changed_;
  }

 private:
  void block(std::vector<Stmt>& body, const Loop* vector) {
    const SymbolsAround::Scope scope(around_);
    std::vector<Stmt> made;
    for (Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const auto* loop = s.get_if<Loop>();
      if (vector && loop && unrolls(*loop, *vector)) {
        unroll(*loop, made);
        continue;
      }
      if (const int64_t turns = vector && loop ? iterations_between(*loop, *vector) : 0) {
        unroll_by(*loop, turns, made);
        continue;
      }
      {
        const SymbolsAround::Scope own(around_);
        around_.enter_body_of(s);
        const bool lanes = loop && loop->kind == LoopKind::Vector && loop->lanes > 1;
        if (auto* below = body_of(s)) block(*below, lanes ? loop : vector);
      }
      made.push_back(std::move(s));
    }
    body = std::move(made);
  }

  static bool is_plain(const Loop& loop) {
    return (loop.kind == LoopKind::Serial || loop.kind == LoopKind::Unrolled) &&
           std::all_of(loop.body.begin(), loop.body.end(),
                       [](const Stmt& s) { return s.is<Store>() || s.is<Assign>(); });
  }

  bool unrolls(const Loop& loop, const Loop& vector) const {
    const auto count = loop.extent.constant();
    return count && *count >= 2 && reads_between(*count, vector.lanes) && is_plain(loop) &&
           filling(loop, vector, *count) > 0;
  }

  // The iterations of a longer loop that together read what lies between lanes, as those of a
  // window that moves by steps do; 0: none.
  int64_t iterations_between(const Loop& loop, const Loop& vector) const {
    const auto count = loop.extent.constant();
    if (!count || loop.kind != LoopKind::Serial || !is_plain(loop) || loop.stages > 0 || loop.ahead > 0) return 0;
    const int64_t iterations = filling(loop, vector, 2);
    return iterations >= 2 && *count >= 2 * iterations && filling(loop, vector, iterations) > 0 ? iterations : 0;
  }

  // The most iterations that lie between the lanes of an access; 0: none do, or so many iterations
  // have too many expressions.
  int64_t filling(const Loop& loop, const Loop& vector, int64_t unrolled) const {
    size_t expressions = 0;
    int64_t most = 0;
    const auto look = [&](const Access& access) { most = std::max(most, between(access, loop, vector)); };
    visit_below(kernel_, expressions_of(loop.body), [&](ExprId, const Expr& e) {
      ++expressions;
      if (const auto* load = e.get_if<Load>()) look(load->access);
      return true;
    });
    for (const Stmt& s : loop.body)
      if (const auto* store = s.get_if<Store>()) look(store->access);
    return expressions * static_cast<size_t>(unrolled) <= kMostUnrolledExprs ? most : 0;
  }

  // Iterations between the lanes of an access, where these are at a distance; else 0.
  int64_t between(const Access& access, const Loop& loop, const Loop& vector) const {
    const IntExpr offset = flat_offset(kernel_, access);
    const auto step = Lanes(vector.var, locals_).step(offset);
    const auto next = offset.coefficient_of(loop.var);
    const int64_t apart = next ? std::abs(next->constant().value_or(0)) : 0;
    if (!step || !reads_between(*step, vector.lanes) || apart == 0 || apart >= std::abs(*step)) return 0;
    return (std::abs(*step) + apart - 1) / apart;
  }

  void unroll(const Loop& loop, std::vector<Stmt>& into) {
    for (int64_t n = 0; n < *loop.extent.constant(); ++n) {
      Iteration iteration(kernel_, loop.var, n, around_.ranges());
      for (const Stmt& s : loop.body) into.push_back(iteration.of(s));
    }
    changed_ = true;
  }

  // So many iterations in one, and the rest after the loop.
  void unroll_by(const Loop& loop, int64_t iterations, std::vector<Stmt>& into) {
    const int64_t count = *loop.extent.constant(), whole = count / iterations;
    Loop blocks = loop;
    blocks.extent = whole;
    blocks.body.clear();
    {
      const SymbolsAround::Scope own(around_);
      around_.enter(loop.var, blocks.extent);
      for (int64_t n = 0; n < iterations; ++n) {
        Iteration iteration(kernel_, loop.var, IntExpr::symbol(loop.var) * iterations + n, around_.ranges());
        for (const Stmt& s : loop.body) blocks.body.push_back(iteration.of(s));
      }
    }
    into.push_back(std::move(blocks));
    for (int64_t n = whole * iterations; n < count; ++n) {
      Iteration iteration(kernel_, loop.var, n, around_.ranges());
      for (const Stmt& s : loop.body) into.push_back(iteration.of(s));
    }
    changed_ = true;
  }

  Kernel& kernel_;
  SymbolsAround around_;
  const std::vector<bool> locals_;  // that have a value for each lane
  bool changed_ = false;
};

}  // namespace

bool unroll_short_loops(Kernel& kernel) { return ShortLoops(kernel).run(); }

}  // namespace smelt::kernel
