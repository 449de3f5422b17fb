#include "kernel/in_place.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Loads = std::map<int, std::set<ExprId>>;  // of each array

// A statement, its number among runs of simple statements in the order of the program, and what it
// loads itself. What a run loads, it loads once.
struct ArrayUse {
  const Stmt* statement;
  int run;
  Loads loads;
};

struct Stored {
  const Store* store;
  std::vector<const Loop*> around;
  int run;
};

// What a value is computed from.
struct Below {
  Loads loads;
  std::set<LocalId> locals;
};

bool every_iteration_stores_its_own(const Stored& stored) {
  const std::vector<IntExpr>& index = stored.store->access.index;
  return std::all_of(stored.around.begin(), stored.around.end(), [&](const Loop* loop) {
    return loop->extent.is(1) ||
           std::any_of(index.begin(), index.end(), [&](const IntExpr& i) { return i.mentions(loop->var); });
  });
}

// The statements of a phase with either the bodies of its loops or their interiors: what is run for
// one element.
class OneForm {
 public:
  OneForm(const Kernel& kernel, const Phase& phase, bool interiors) : kernel_(kernel), interiors_(interiors) {
    teams_ = kernel.dialect != Dialect::Portable && kernel.dialect != Dialect::PlainThread;
    std::vector<const Loop*> around;
    walk(phase.body, around);
  }

  // Whether all that is read of `input` is read at the index of the element of `output` that takes
  // its place, before that is stored.
  bool reads_before(int input, int output) const {
    const auto stores = stores_.find(output);
    if (stores == stores_.end() || by_tiles_.count(input) > 0) return false;
    return std::all_of(stores->second.begin(), stores->second.end(), [&](const Stored& stored) {
      if (stored.store->atomic || !every_iteration_stores_its_own(stored)) return false;
      const Below here = below(*stored.store, stored.run), all = below(*stored.store, {});
      return std::all_of(uses_.begin(), uses_.end(), [&](const ArrayUse& use) {
        const auto loads = use.loads.find(input);
        if (loads == use.loads.end()) return true;
        return std::all_of(loads->second.begin(), loads->second.end(), [&](ExprId load) {
          if (kernel_.at(load).get_if<Load>()->access.index != stored.store->access.index) return false;
          if (use.run == stored.run) return here.loads.count(input) > 0 && here.loads.at(input).count(load) > 0;
          return use.run < stored.run && (!teams_ || is_waited_for(load, input, use.run, all.locals));
        });
      });
    });
  }

  bool loads(int input) const {
    return by_tiles_.count(input) > 0 ||
           std::any_of(uses_.begin(), uses_.end(), [&](const ArrayUse& use) { return use.loads.count(input) > 0; });
  }

 private:
  void walk(const std::vector<Stmt>& body, std::vector<const Loop*>& around) {
    ++run_;
    for (const Stmt& s : body) {
      const bool simple = s.is<Let>() || s.is<Assign>() || s.is<Store>();
      if (!simple) ++run_;
      ArrayUse use{&s, run_, {}};
      collect(expressions(s), use.loads, [](LocalId) {});
      uses_.push_back(std::move(use));
      const std::optional<LocalId> given = given_by(s);
      if (given && !s.is<Scan>()) values_[*given].push_back({run_, *value_of(s)});
      if (const auto* combine = s.get_if<Combine>()) combined_.insert(combine->local);
      if (const auto* tiles = s.get_if<TileProduct>(); tiles && !tiles->rows.scratch)
        by_tiles_.insert(tiles->rows.array);
      const auto* store = s.get_if<Store>();
      if (store && !store->access.scratch) stores_[store->access.array].push_back({store, around, run_});
      const auto* loop = s.get_if<Loop>();
      if (loop) around.push_back(loop);
      if (const auto* interior = interior_of(s); interior && interiors_)
        walk(interior->body, around);
      else if (const auto* inside = body_of(s))
        walk(*inside, around);
      if (loop) around.pop_back();
      if (!simple) ++run_;
    }
  }

  template <class Follow>
  void collect(const std::vector<ExprId>& roots, Loads& loads, const Follow& follow) const {
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (const auto* load = e.get_if<Load>(); load && !load->access.scratch) loads[load->access.array].insert(id);
      if (const auto* read = e.get_if<ReadLocal>()) follow(read->local);
      for_each_index(e, [&](const IntExpr& index) {
        for (const Symbol s : index.symbols())
          if (s.is_local()) follow(s.local_id());
      });
      return true;
    });
  }

  // Through the locals that this run gives their values, or all of them.
  Below below(const Store& store, std::optional<int> run) const {
    Below found;
    std::vector<ExprId> roots{store.value, store.mask}, next;
    while (!roots.empty()) {
      next.clear();
      collect(roots, found.loads, [&](LocalId local) {
        if (!found.locals.insert(local).second) return;
        if (const auto given = values_.find(local); given != values_.end())
          for (const auto& [in, value] : given->second)
            if (!run || in == *run) next.push_back(value);
      });
      roots.swap(next);
    }
    return found;
  }

  // Whether this run adds what it loads to what all threads join, and somebody waits for: one of
  // these locals.
  bool is_waited_for(ExprId load, int input, int run, const std::set<LocalId>& waited) const {
    return std::any_of(uses_.begin(), uses_.end(), [&](const ArrayUse& use) {
      const auto* assign = use.statement->get_if<Assign>();
      const auto loads = use.loads.find(input);
      return assign && use.run == run && combined_.count(assign->local) && waited.count(assign->local) &&
             loads != use.loads.end() && loads->second.count(load) > 0;
    });
  }

  const Kernel& kernel_;
  const bool interiors_;
  bool teams_ = false;  // threads share an iteration
  int run_ = 0;
  std::vector<ArrayUse> uses_;
  std::map<int, std::vector<Stored>> stores_;
  std::map<LocalId, std::vector<std::pair<int, ExprId>>> values_;  // with the run that gives it
  std::set<LocalId> combined_;
  std::set<int> by_tiles_;  // arrays whose rows are multiplied, again and again
};

}  // namespace

// A kernel that copies an input and then changes some of the copy: the others of its phases do
// not read the input.
static bool find_behind_a_copy(Kernel& kernel) {
  const std::optional<InPlace> copied = kernel.phases.empty() ? std::nullopt : kernel.phases[0].copies;
  if (!copied) return false;
  const Param &from = kernel.params[static_cast<size_t>(copied->input)],
              &to = kernel.params[static_cast<size_t>(copied->output)];
  if (from.dtype != to.dtype || from.dims != to.dims || to.kind != ParamKind::Output) return false;
  for (size_t p = 1; p < kernel.phases.size(); ++p)
    for (const bool interiors : {false, true})
      if (OneForm(kernel, kernel.phases[p], interiors).loads(copied->input)) return false;
  kernel.in_place.push_back(*copied);
  return true;
}

bool find_in_place(Kernel& kernel) {
  kernel.in_place.clear();
  if (kernel.clamped) return false;
  if (kernel.phases.size() != 1) return find_behind_a_copy(kernel);
  if (kernel.phases[0].counter >= 0) return false;
  const OneForm bodies(kernel, kernel.phases[0], false), interiors(kernel, kernel.phases[0], true);
  for (size_t o = 0; o < kernel.params.size(); ++o)
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const Param &from = kernel.params[i], &to = kernel.params[o];
      if (from.kind != ParamKind::Input || to.kind != ParamKind::Output) continue;
      if (from.dtype != to.dtype || from.dims != to.dims || from.dims.empty()) continue;
      if (!bodies.loads(static_cast<int>(i))) continue;
      const auto input = static_cast<int>(i), output = static_cast<int>(o);
      if (bodies.reads_before(input, output) && interiors.reads_before(input, output))
        kernel.in_place.push_back({input, output});
    }
  return !kernel.in_place.empty();
}

}  // namespace smelt::kernel
