// Values that one pass over a row computes and a later pass needs again: kept in scratch when
// computing them twice costs more than writing and reading them once.
//
//   pass 1:  s += exp(x[i] - m)            pass 1:  t = exp(x[i] - m); kept[i] = t; s += t
//   pass 2:  y[i] = exp(x[i] - m) / s  ->  pass 2:  y[i] = kept[i] / s
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Operations that cost less than a round trip through the first-level cache are done again.
constexpr int kWorthKeeping = 8;
constexpr int kDrawCost = 20;

class Reuse {
 public:
  Reuse(Builder& builder, std::optional<Symbol> innermost) : builder_(builder), innermost_(innermost) {}

  void collect(ExprId id, std::set<ExprId>& into) const {
    if (id == kNoExpr || !into.insert(id).second) return;
    for_each_operand(builder_.at(id), [&](ExprId operand) { collect(operand, into); });
  }

  // Depends on the innermost loop, and on nothing that changes from pass to pass.
  bool keepable(ExprId id) {
    auto it = keepable_.find(id);
    if (it != keepable_.end()) return it->second;
    return keepable_[id] = varies(id) && !mutable_inside(id);
  }

  // The expression with kept parts replaced by loads. `kept` grows by what is worth keeping.
  ExprId rewrite(ExprId id, const std::set<ExprId>& earlier, std::map<ExprId, ExprId>& kept,
                 const std::function<ExprId(ExprId)>& keep) {
    if (id == kNoExpr) return id;
    auto done = kept.find(id);
    if (done != kept.end()) return done->second;
    if (earlier.count(id) && keepable(id) && is_worth_keeping(id, kept)) {
      const ExprId load = keep(id);
      if (load != kNoExpr) return kept[id] = load;
    }
    auto seen = rewritten_.back().find(id);
    if (seen != rewritten_.back().end()) return seen->second;
    Expr e = builder_.at(id);
    bool changed = false;
    if (!e.is<Load>())
      for_each_operand(e, [&](ExprId& a) {
        const ExprId next = rewrite(a, earlier, kept, keep);
        changed = changed || next != a;
        a = next;
      });
    return rewritten_.back()[id] = changed ? made_again(e, id) : id;
  }

  void next_stage() { rewritten_.emplace_back(); }

  // What an expression became in a stage that has been rewritten.
  ExprId in_stage(size_t stage, ExprId id) const {
    const auto found = rewritten_[stage].find(id);
    return found == rewritten_[stage].end() ? id : found->second;
  }

 private:
  // An expression with other operands in place of `old`.
  ExprId made_again(const Expr& e, ExprId old) {
    return e.match([&](const Apply& apply) { return builder_.apply(apply.op, apply.args); },
                   [&](const Cast& cast) {
                     return is_small_float(e.dtype) ? builder_.to_small(cast.x, e.dtype)
                                                    : builder_.cast(cast.x, e.dtype, cast.wrap);
                   },
                   [&](const Bitcast& cast) { return builder_.bitcast(cast.x, e.dtype); },
                   [&](const Raw& raw) { return builder_.raw(raw.op, e.dtype, raw.args); },
                   [&](const Random& r) { return builder_.random(r.draw, r.args, r.element, r.extent); },
                   [&](const Const&) { return old; }, [&](const ReadLocal&) { return old; },
                   [&](const IndexValue&) { return old; }, [&](const Load&) { return old; });
  }
  bool varies(ExprId id) const {
    std::set<ExprId> all;
    collect(id, all);
    return std::any_of(all.begin(), all.end(), [&](ExprId i) {
      return any_index(builder_.at(i), [&](const IntExpr& x) { return innermost_ && x.mentions(*innermost_); });
    });
  }
  // A gathered index is a local of its own pass.
  bool mutable_inside(ExprId id) const {
    std::set<ExprId> all;
    collect(id, all);
    const auto is_local = [](const IntExpr& x) { return x.any_symbol([](Symbol s) { return s.is_local(); }); };
    return std::any_of(all.begin(), all.end(), [&](ExprId i) { return any_index(builder_.at(i), is_local); });
  }
  // What is kept already costs nothing.
  bool is_worth_keeping(ExprId id, const std::map<ExprId, ExprId>& kept) const {
    std::set<ExprId> seen{id};
    std::vector<ExprId> todo{id};
    int total = 0;
    while (!todo.empty() && total < kWorthKeeping) {
      const ExprId next = todo.back();
      todo.pop_back();
      const Expr& e = builder_.at(next);
      const auto* cast = e.get_if<Cast>();
      if (e.is<Apply>() || e.is<Raw>() || (cast && !builder_.loaded(next))) ++total;
      if (e.is<Random>()) total += kDrawCost;
      for_each_operand(e, [&](ExprId operand) {
        if (operand != kNoExpr && !kept.count(operand) && seen.insert(operand).second) todo.push_back(operand);
      });
    }
    return total >= kWorthKeeping;
  }

  Builder& builder_;
  std::optional<Symbol> innermost_;
  std::map<ExprId, bool> keepable_;
  std::vector<std::map<ExprId, ExprId>> rewritten_;  // by stage
};

// What reads a local that its own pass still assigns (an accumulator on its way) is another value
// once the pass is done.
void drop_unfinished(const Builder& builder, const std::vector<Stmt>& body, std::set<ExprId>& used) {
  std::set<LocalId> assigned;
  for (const Stmt& s : body)
    if (const auto local = given_by(s)) assigned.insert(*local);
  std::map<ExprId, bool> known;
  const std::function<bool(ExprId)> unfinished = [&](ExprId id) {
    if (auto it = known.find(id); it != known.end()) return it->second;
    const auto* read = builder.at(id).get_if<ReadLocal>();
    bool result = read && assigned.count(read->local);
    for_each_operand(builder.at(id), [&](ExprId operand) { result = result || unfinished(operand); });
    return known[id] = result;
  };
  for (auto it = used.begin(); it != used.end();) it = unfinished(*it) ? used.erase(it) : std::next(it);
}

}  // namespace

void ReductionLowering::keep_values(std::vector<std::vector<Stmt>>& stages, const Keep& where) {
  Reuse reuse(builder_, where.innermost);
  std::vector<std::set<ExprId>> used(stages.size());
  for (size_t s = 0; s < stages.size(); ++s) {
    for (const Stmt& stmt : stages[s]) for_each_expression(stmt, [&](ExprId id) { reuse.collect(id, used[s]); });
    drop_unfinished(builder_, stages[s], used[s]);
  }
  std::set<ExprId> earlier;
  std::map<ExprId, ExprId> kept;
  int64_t bytes = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    auto keep = [&](ExprId id) {
      const DType t = builder_.dtype(id);
      if ((bytes += where.points * size_of(t)) > schedule_.keep_bytes) return kNoExpr;
      const Access at{true, add_scratch(t, where.dims), where.index};
      for (size_t first = 0; first < s; ++first)
        if (used[first].count(id)) {
          stages[first].push_back(builder_.store(at, reuse.in_stage(first, id)));
          break;
        }
      return builder_.load(at);
    };
    reuse.next_stage();
    if (s > 0)
      for (Stmt& stmt : stages[s])
        if (ExprId* value = value_of(stmt)) *value = reuse.rewrite(*value, earlier, kept, keep);
    earlier.insert(used[s].begin(), used[s].end());
  }
}

}  // namespace smelt::kernel
