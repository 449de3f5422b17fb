#include "kernel/hoist.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernel/build.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

bool gives_value(const Stmt& s) {
  return s.kind == StmtKind::Let || s.kind == StmtKind::Assign || s.kind == StmtKind::Scan;
}

class Hoist {
 public:
  explicit Hoist(Kernel& kernel) : kernel_(kernel) {
    for (const Phase& phase : kernel.phases) find_lanes(phase.body, false);
    for (const LocalId id : combined_) in_lanes_.erase(id);
  }

  bool run() {
    for (Phase& phase : kernel_.phases) block(phase.body);
    return moved_;
  }

 private:
  // Locals that have a value for each lane, until they are combined to one.
  void find_lanes(const std::vector<Stmt>& body, bool in_vector) {
    for (const Stmt& s : body) {
      if (in_vector && gives_value(s)) in_lanes_.insert(s.local);
      if (s.kind == StmtKind::Combine && !s.columns) combined_.insert({s.local, s.index_local});
      find_lanes(s.body, in_vector || (s.kind == StmtKind::Loop && s.loop == LoopKind::Vector));
    }
  }

  void block(std::vector<Stmt>& body) {
    for (size_t i = 0; i < body.size(); ++i) {
      Stmt& s = body[i];
      if (s.kind != StmtKind::Loop || s.loop != LoopKind::Vector) {
        block(s.body);
        continue;
      }
      std::vector<Stmt> before = out_of(s);
      const size_t count = before.size();
      body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), std::make_move_iterator(before.begin()),
                  std::make_move_iterator(before.end()));
      i += count;
    }
  }

  // The lets that go before the loop, which then reads them.
  std::vector<Stmt> out_of(Stmt& loop) {
    bool plain = true;
    std::unordered_set<LocalId> given;
    std::vector<ExprId> roots;
    for_each_stmt(loop.body, [&](const Stmt& s) {
      plain = plain && s.kind != StmtKind::Loop && s.kind != StmtKind::Scan && s.kind != StmtKind::Each;
      if (gives_value(s)) given.insert(s.local);
      for (const ExprId root : expressions(s)) roots.push_back(root);
    });
    std::vector<Stmt> lets;
    if (!plain) return lets;
    Rewriter rewrite(kernel_);
    for (const ExprId id : invariants(roots, given)) {
      const auto local = static_cast<LocalId>(kernel_.locals.size());
      kernel_.locals.push_back({kernel_.at(id).dtype});
      lets.push_back(let(local, id));
      rewrite.replace(id, static_cast<ExprId>(kernel_.exprs.size()));
      kernel_.exprs.push_back({kernel_.at(id).dtype, ReadLocal{local}});
    }
    if (lets.empty()) return lets;
    moved_ = true;
    for (Stmt& s : loop.body) rewrite(s);
    return lets;
  }

  // The largest expressions that are the same for all elements, in order. Leaves stay.
  std::vector<ExprId> invariants(const std::vector<ExprId>& roots, const std::unordered_set<LocalId>& given) const {
    std::vector<ExprId> below;
    visit_below(kernel_, roots, [&](ExprId id, const Expr&) {
      below.push_back(id);
      return true;
    });
    std::sort(below.begin(), below.end());  // operands before their users
    std::unordered_map<ExprId, bool> same;
    for (const ExprId id : below) {
      bool all = is_same(kernel_.at(id), given);
      for_each_operand(kernel_.at(id), [&](ExprId operand) { all = all && same.at(operand); });
      same[id] = all;
    }
    std::vector<ExprId> found;
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (!same.at(id)) return true;
      if (!operands(e).empty()) found.push_back(id);
      return false;
    });
    std::sort(found.begin(), found.end());
    return found;
  }

  // Constants, scalars, and locals of the team; positions and what is read from arrays stay where they are.
  bool is_same(const Expr& e, const std::unordered_set<LocalId>& given) const {
    return e.match([](const Const&) { return true; }, [](const Cast&) { return true; },
                   [](const Bitcast&) { return true; }, [](const Apply&) { return true; },
                   [&](const ReadLocal& read) { return !given.count(read.local) && !in_lanes_.count(read.local); },
                   [](const Raw& raw) { return raw.op != RawOp::FromThread; },
                   [&](const Load& load) {
                     return load.mask == kNoExpr && !load.access.scratch &&
                            kernel_.params[static_cast<size_t>(load.access.array)].kind == ParamKind::Scalar;
                   },
                   [](const IndexValue&) { return false; }, [](const Random&) { return false; });
  }

  Kernel& kernel_;
  std::unordered_set<LocalId> in_lanes_, combined_;
  bool moved_ = false;
};

}  // namespace

bool hoist_invariants(Kernel& kernel) { return Hoist(kernel).run(); }

}  // namespace smelt::kernel
