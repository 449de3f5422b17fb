#include "kernel/in_place.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Loads = std::map<int, std::vector<ExprId>>;  // of each array

struct Stored {
  const Store* store;
  std::vector<const Loop*> around;
  Loads before = {};  // what its value is computed from
};

bool every_iteration_stores_its_own(const Stored& stored) {
  const std::vector<IntExpr>& index = stored.store->access.index;
  return std::all_of(stored.around.begin(), stored.around.end(), [&](const Loop* loop) {
    return loop->extent.is(1) ||
           std::any_of(index.begin(), index.end(), [&](const IntExpr& i) { return i.mentions(loop->var); });
  });
}

// The statements of a phase with either the bodies of its loops or their interiors: what is run for one element.
class OneForm {
 public:
  OneForm(const Kernel& kernel, const Phase& phase, bool interiors) : kernel_(kernel), interiors_(interiors) {
    std::vector<const Loop*> around;
    walk(phase.body, around);
    all_ = loads_below(roots_);
    for (auto& [output, stores] : stores_)
      for (Stored& stored : stores) stored.before = loads_below({stored.store->value, stored.store->mask});
  }

  // Whether each store of `output` is computed from all that is read of `input`, at its own index alone.
  bool reads_before(int input, int output) const {
    const auto loads = all_.find(input);
    const auto stores = stores_.find(output);
    if (loads == all_.end() || stores == stores_.end()) return false;
    return std::all_of(stores->second.begin(), stores->second.end(), [&](const Stored& stored) {
      if (stored.store->atomic || !every_iteration_stores_its_own(stored)) return false;
      const auto before = stored.before.find(input);
      return before != stored.before.end() && before->second.size() == loads->second.size() &&
             std::all_of(loads->second.begin(), loads->second.end(), [&](ExprId id) {
               return kernel_.at(id).get_if<Load>()->access.index == stored.store->access.index;
             });
    });
  }

 private:
  void walk(const std::vector<Stmt>& body, std::vector<const Loop*>& around) {
    for (const Stmt& s : body) {
      for_each_expression(s, [&](ExprId id) { roots_.push_back(id); });
      const std::optional<LocalId> given = given_by(s);
      if (given && !s.is<Scan>()) values_[*given].push_back(*value_of(s));
      const auto* store = s.get_if<Store>();
      if (store && !store->access.scratch) stores_[store->access.array].push_back({store, around});
      const auto* loop = s.get_if<Loop>();
      if (loop) around.push_back(loop);
      if (const auto* interior = interior_of(s); interior && interiors_)
        walk(interior->body, around);
      else if (const auto* inside = body_of(s))
        walk(*inside, around);
      if (loop) around.pop_back();
    }
  }

  // What these expressions read of arrays, through the locals on the way.
  Loads loads_below(std::vector<ExprId> roots) const {
    Loads loads;
    std::set<LocalId> locals;
    std::set<ExprId> seen;
    for (std::vector<ExprId> next; !roots.empty(); roots.swap(next), next.clear())
      visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
        if (!seen.insert(id).second) return false;
        const auto* load = e.get_if<Load>();
        if (load && !load->access.scratch) loads[load->access.array].push_back(id);
        const auto follow = [&](LocalId local) {
          const auto found = values_.find(local);
          if (found != values_.end() && locals.insert(local).second)
            next.insert(next.end(), found->second.begin(), found->second.end());
        };
        if (const auto* read = e.get_if<ReadLocal>()) follow(read->local);
        for_each_index(e, [&](const IntExpr& index) {
          for (const Symbol s : index.symbols())
            if (s.is_local()) follow(s.local_id());
        });
        return true;
      });
    return loads;
  }

  const Kernel& kernel_;
  const bool interiors_;
  std::vector<ExprId> roots_;
  Loads all_;
  std::map<int, std::vector<Stored>> stores_;
  std::map<LocalId, std::vector<ExprId>> values_;
};

}  // namespace

bool find_in_place(Kernel& kernel) {
  kernel.in_place.clear();
  if (kernel.phases.size() != 1 || kernel.clamped || kernel.phases[0].counter >= 0) return false;
  const OneForm bodies(kernel, kernel.phases[0], false), interiors(kernel, kernel.phases[0], true);
  for (size_t o = 0; o < kernel.params.size(); ++o)
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const Param &from = kernel.params[i], &to = kernel.params[o];
      if (from.kind != ParamKind::Input || to.kind != ParamKind::Output) continue;
      if (from.dtype != to.dtype || from.dims != to.dims || from.dims.empty()) continue;
      const auto input = static_cast<int>(i), output = static_cast<int>(o);
      if (bodies.reads_before(input, output) && interiors.reads_before(input, output))
        kernel.in_place.push_back({input, output});
    }
  return !kernel.in_place.empty();
}

}  // namespace smelt::kernel
