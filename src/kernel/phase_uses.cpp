#include "kernel/phase_uses.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "kernel/barriers.hpp"
#include "kernel/conditions.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

template <class Kind>
bool has(const std::vector<Stmt>& body) {
  bool found = false;
  for_each_stmt(body, [&](const Stmt& s) { found = found || s.is<Kind>(); });
  return found;
}

}  // namespace

bool has_loops(const Loop& loop) {
  return std::any_of(loop.body.begin(), loop.body.end(), [](const Stmt& s) { return s.is<Loop>() || s.is<If>(); });
}
bool stores_to_scratch(const Loop& loop) {
  bool found = false;
  for_each_stmt(loop.body, [&](const Stmt& s) {
    const auto* store = s.get_if<Store>();
    found = found || (store && store->access.scratch);
  });
  return found;
}
bool has_scans(const std::vector<Stmt>& body) { return has<Scan>(body); }
bool has_each(const std::vector<Stmt>& body) { return has<Each>(body); }

// Whether neighbours of a Vector loop read neighbours at a place that the data names: elements of a
// row.
static bool reads_rows_there(const Kernel& kernel, const Loop& loop) {
  const auto is_named = [&](Symbol s) { return is_named_index(kernel, s); };
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Stmt& s) {
    return any_below(kernel, expressions(s), [&](const Expr& e) {
      const auto* load = e.get_if<Load>();
      return load && load->mask == kNoExpr && !load->access.index.empty() &&
             load->access.index.back().mentions(loop.var) &&
             any_index(e, [&](const IntExpr& i) { return i.any_symbol(is_named); });
    });
  });
}

// Where statements read at indices that ones of the same run name: those before that.
static std::vector<std::vector<const Stmt*>> runs_of_places(const Kernel& kernel, const Loop& loop) {
  std::vector<std::vector<const Stmt*>> runs(1);
  std::set<Symbol> named;
  const auto reads_there = [&](const Stmt& s) {
    return any_below(kernel, expressions(s), [&](const Expr& e) {
      return e.is<Load>() && any_index(e, [&](const IntExpr& i) {
               return i.any_symbol([&](Symbol symbol) { return named.count(symbol) > 0; });
             });
    });
  };
  for (const Stmt& s : loop.body) {
    if (!named.empty() && reads_there(s)) {
      runs.emplace_back();
      named.clear();
    }
    runs.back().push_back(&s);
    const auto* let = s.get_if<Let>();
    if (let && index_named_by(kernel, let->local)) named.insert(Symbol::local(let->local));
  }
  return runs;
}

std::vector<std::vector<const Stmt*>> blocks_of(const Kernel& kernel, const Loop& loop) {
  const auto is_simple = [](const Stmt& s) { return s.is<Let>() || s.is<Assign>() || s.is<Store>(); };
  if (loop.lanes > 1 && !kernel.index_locals.empty() && kernel.dialect != Dialect::PlainThread &&
      std::all_of(loop.body.begin(), loop.body.end(), is_simple) && reads_rows_there(kernel, loop))
    return runs_of_places(kernel, loop);
  std::vector<std::vector<const Stmt*>> blocks;
  std::vector<const Stmt*> run;
  for (const Stmt& s : loop.body) {
    if (s.is<Scan>() || (s.is<Loop>() && !run.empty())) {
      blocks.push_back(std::move(run));
      run = {};
    }
    if (!s.is<Scan>() && !s.is<Loop>()) run.push_back(&s);
  }
  if (!run.empty() || loop.body.empty()) blocks.push_back(std::move(run));
  return blocks;
}

std::map<int, DType> factors_of_warps(const Kernel& kernel, const Phase& phase) {
  std::map<int, DType> found;
  const auto of_warps = [](const Fragment& f) { return f.of_warps; };
  if (std::none_of(kernel.fragments.begin(), kernel.fragments.end(), of_warps)) return found;
  for_each_stmt(phase.body, [&](const Stmt& s) {
    const auto* matrix = s.get_if<Matrix>();
    if (!matrix || matrix->step != Matrix::Step::Multiply) return;
    const Fragment& f = kernel.fragments[static_cast<size_t>(matrix->fragment)];
    if (of_warps(f)) found[matrix->rows] = found[matrix->columns] = f.factors;
  });
  return found;
}

bool feeds_units(const Kernel& kernel, const Phase& phase, const Loop& loop) {
  const std::map<int, DType> factors = factors_of_warps(kernel, phase);
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Stmt& s) {
    const auto* store = s.get_if<Store>();
    return store && store->access.scratch && factors.count(store->access.array) > 0;
  });
}

PhaseUses::PhaseUses(const Kernel& kernel, const Phase& phase)
    : locals(kernel.locals.size()),
      named(kernel.locals.size(), kNoExpr),
      buffers(kernel.buffers.size()),
      stored(kernel.params.size(), false),
      uses(kernel.exprs.size(), 0),
      dependencies(kernel.exprs.size()),
      loops_of(kernel.exprs.size()),
      kernel_(kernel) {
  block(phase.body, nullptr);
  if (phase.counter >= 0) stored[static_cast<size_t>(phase.counter)] = true;
  find_dependencies();
  // Lanes of columns keep theirs from loop to loop, also where nothing combines it.
  for (LocalUses& local : locals)
    local.per_column = local.per_column || (!local.combined && local.used_outside && !local.vectors.empty() &&
                                            std::all_of(local.vectors.begin(), local.vectors.end(),
                                                        [](const Loop* l) { return l->columns > 0; }));
  if (kernel.dialect != Dialect::PlainThread) return;
  std::set<LocalId> kept;
  find_kept(phase.body, kept);
  for (size_t id = 0; id < locals.size(); ++id)
    locals[id].of_element =
        kernel.locals[id].is_mutable && !locals[id].vectors.empty() && !kept.count(static_cast<int>(id));
}

void PhaseUses::note_access(const Access& access, const Loop* vector) {
  if (!access.scratch) return;
  const auto buffer = static_cast<size_t>(access.array);
  ScratchUses& found = buffers[buffer];
  const bool first = !found.used;
  found.used = true;
  if (!first || kernel_.buffers[buffer].scope != Scope::Lane) return;
  const auto axis = axis_along(access, vector->var);
  SMELT_CHECK(axis, "no axis of scratch buffer {} is dealt out to the threads", access.array);
  found.vector = vector, found.access = &access, found.axis = *axis;
}

void PhaseUses::note_local(LocalId id, const Loop* vector) {
  LocalUses& found = locals[static_cast<size_t>(id)];
  if (vector)
    found.blocks.insert(block_);
  else
    found.used_outside = true;
}

void PhaseUses::note_locals(const IntExpr& index, const Loop* vector) {
  for (const Symbol s : index.symbols())
    if (s.is_local()) note_local(s.local_id(), vector);
}

void PhaseUses::expression(ExprId root, const Loop* vector) {
  std::vector<ExprId> waiting{root};
  std::set<ExprId> seen;
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    waiting.pop_back();
    ++uses[static_cast<size_t>(id)];
    if (!seen.insert(id).second) continue;
    const Expr& e = kernel_.at(id);
    if (const auto* read = e.get_if<ReadLocal>()) {
      note_local(read->local, vector);
      if (vector) locals[static_cast<size_t>(read->local)].readers.insert(vector);
    }
    for_each_index(e, [&](const IntExpr& x) { note_locals(x, vector); });
    if (const auto* load = e.get_if<Load>()) {
      note_access(load->access, vector);
      loops_of[static_cast<size_t>(id)].insert(vector);
    }
    for_each_operand(e, [&](ExprId operand) { waiting.push_back(operand); });
  }
}

void PhaseUses::block(const std::vector<Stmt>& body, const Loop* vector) {
  ++block_;
  const auto at = [&](LocalId id) -> LocalUses& { return locals[static_cast<size_t>(id)]; };
  std::set<const Stmt*> first;  // of runs
  if (vector && &vector->body == &body)
    for (const auto& run : blocks_of(kernel_, *vector))
      if (!run.empty()) first.insert(run.front());
  for (const Stmt& s : body) {
    if (first.count(&s)) ++block_;
    for_each_expression(s, [&](ExprId id) { expression(id, vector); });
    const auto given = [&](LocalId id) {
      note_local(id, vector);
      if (vector) at(id).vectors.insert(vector);
    };
    s.match(
        [&](const Loop& loop) {
          block(loop.body, loop.kind == LoopKind::Vector ? &loop : vector);
          ++block_;
        },
        [&](const If& branch) { block(branch.body, vector); }, [&](const Each& each) { block(each.body, vector); },
        [&](const Let& let) { given(let.local), named[static_cast<size_t>(let.local)] = let.value; },
        [&](const Assign& assign) { given(assign.local); },
        [&](const Store& store) {
          for (const Access* to : {&store.access, store.cursor ? &*store.cursor : nullptr}) {
            if (!to) continue;
            if (!to->scratch) stored[static_cast<size_t>(to->array)] = true;
            note_access(*to, vector);
            for (const IntExpr& x : to->index) note_locals(x, vector);
          }
        },
        [&](const Combine& combine) {
          for (const LocalId id : {combine.local, combine.index_local})
            if (id >= 0)
              at(id).combined = true, at(id).per_column = combine.columns > 0, at(id).finds = combine.index_local >= 0;
        },
        [&](const Scan& scan) {
          note_local(scan.local, vector);
          note_local(scan.carry, nullptr);
          if (scan.over_grid) stored[static_cast<size_t>(scan.over_grid->meet.array)] = true;
          at(scan.local).vectors.insert(vector);
          ++block_;  // it is between two, and leaves its results to the second, which may not want them
          note_local(scan.local, vector);
        },
        [](const Barrier&) {}, [](const Prefetch&) {}, [](const Turn&) {}, [](const TileProduct&) {},
        [](const Matrix&) {}, [](const Alloc&) {});
  }
}

void PhaseUses::find_dependencies() {
  std::vector<Symbol> symbols;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    std::vector<int>& found = dependencies[id];
    symbols.clear();
    for_each_index(e, [&](const IntExpr& index) { index.collect_symbols(symbols); });
    for (const Symbol s : symbols)
      if (s.is_local()) found.push_back(resource(s.local_id()));
    if (const auto* read = e.get_if<ReadLocal>()) found.push_back(resource(read->local));
    const auto* load = e.get_if<Load>();
    if (load && (load->access.scratch || stored[static_cast<size_t>(load->access.array)]))
      found.push_back(resource(load->access));
    for_each_operand(e, [&](ExprId operand) {
      const std::vector<int>& more = dependencies_of(operand);
      found.insert(found.end(), more.begin(), more.end());
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
}

void PhaseUses::find_kept(const std::vector<Stmt>& body, std::set<LocalId>& kept) const {
  const auto is_simple = [](const Stmt& s) { return s.is<Let>() || s.is<Assign>() || s.is<Store>(); };
  std::set<LocalId> given;
  const auto read = [&](int on) {
    if (is_local(on) && !given.count(on)) kept.insert(on);
  };
  const auto read_by = [&](const Stmt& s) {
    for_each_expression(s, [&](ExprId id) {
      for (const int on : dependencies_of(id)) read(on);
    });
    if (s.is<Store>())
      for_each_index(s, [&](const IntExpr& x) {
        for (const Symbol symbol : x.symbols())
          if (symbol.is_local()) read(symbol.local_id());
      });
  };
  for (const Stmt& s : body) {
    given.clear();
    const Loop* vector = loop_of(s, LoopKind::Vector);
    if (vector && std::all_of(vector->body.begin(), vector->body.end(), is_simple)) {
      for (const Stmt& inner : vector->body) {
        read_by(inner);
        if (const auto local = given_by(inner)) given.insert(*local);
      }
      continue;
    }
    read_by(s);
    if (const auto local = given_by(s)) kept.insert(*local);
    if (const auto* combine = s.get_if<Combine>()) kept.insert({combine->local, combine->index_local});
    if (const auto* scan = s.get_if<Scan>()) kept.insert({scan->local, scan->carry});
    if (const auto* inside = body_of(s)) find_kept(*inside, kept);
  }
}

bool PhaseUses::keeps_nothing(const Loop& loop) const {
  std::set<int> here;
  const auto is_own = [&](int on) {
    if (!is_local(on) || here.count(on)) return true;
    const LocalUses& found = local(on);
    return found.of_element || found.vectors.empty() || (found.combined && !found.vectors.count(&loop));
  };
  return std::all_of(loop.body.begin(), loop.body.end(), [&](const Stmt& s) {
    bool alone = true;
    for_each_expression(s, [&](ExprId id) {
      const auto& on = dependencies_of(id);
      alone = alone && std::all_of(on.begin(), on.end(), is_own);
    });
    if (const auto* let = s.get_if<Let>()) here.insert(let->local);
    const auto* assign = s.get_if<Assign>();
    return alone && (s.is<Let>() || s.is<Store>() || (assign && local(assign->local).of_element));
  });
}

}  // namespace smelt::kernel
