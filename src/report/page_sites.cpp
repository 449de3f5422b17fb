#include "report/page_sites.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernel/offset.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/walk.hpp"

namespace smelt::report {
namespace {

using kernel::EarlyLoad;
using kernel::ExprId;
using kernel::Kernel;
using kernel::kNoExpr;
using kernel::Loop;
using kernel::LoopKind;
using kernel::Stmt;

// What the passes decided about the accesses of a Vector loop and of the loops inside of it.
struct Forms {
  const Loop* loop = nullptr;
  kernel::LoopShape shape;
  std::map<ExprId, int> grouped;   // the step of loads whose group is one access
  std::map<ExprId, int> distance;  // of loads whose elements other lanes of the group have
  std::map<ExprId, int> runs;      // elements of the access that begins with a load
  std::set<ExprId> shared, made;   // one for a group; parts of other accesses
  std::map<const Stmt*, int> grouped_stores, runs_of_stores;
  std::set<const Stmt*> made_stores;
  std::set<ExprId> held;       // in registers for all alike loops after it too
  std::set<ExprId> invariant;  // the compiler takes them out of the loop, and has them in all loops after it
};

class Finder {
 public:
  Finder(const Kernel& kernel, size_t variant, bool gpu, PageIndices& indices)
      : kernel_(kernel), variant_(variant), gpu_(gpu), indices_(indices) {}

  std::vector<AccessSite> run(const kernel::Phase& phase) {
    block(phase.body, {}, nullptr);
    return std::move(sites_);
  }

 private:
  // `seen`: loads whose values are there; a copy, since what is loaded inside is not there
  // afterwards.
  void block(const std::vector<Stmt>& body, std::set<ExprId> seen, Forms* forms) {
    for (const Stmt& s : body) statement(s, seen, forms);
  }

  void statement(const Stmt& s, std::set<ExprId>& seen, Forms* forms) {
    if (const auto* let = s.get_if<kernel::Let>()) indices_.define(let->local, let->value);
    kernel::visit_below(kernel_, kernel::expressions(s), [&](ExprId id, const kernel::Expr& e) {
      const auto* load = e.get_if<kernel::Load>();
      if (load && !load->access.scratch && !held_.count(id) && seen.insert(id).second) add_load(id, *load, forms);
      return true;
    });
    if (const auto* store = s.get_if<kernel::Store>(); store && !store->access.scratch) add_store(s, *store, forms);
    const auto* inside = kernel::body_of(s);
    if (!inside) return;
    around_.push_back(&s);
    const auto* loop = s.get_if<Loop>();
    if (loop && loop->kind == LoopKind::Vector) {
      Forms own;
      own.loop = loop;
      own.shape.lanes = loop->lanes;
      if (gpu_ && loop->team) own.shape = loop->team->shapes[std::min(variant_, loop->team->shapes.size() - 1)];
      note(*loop, own);
      block(loop->interior && !gpu_ ? loop->interior->body : *inside, seen, &own);
      held_.insert(own.held.begin(), own.held.end());
      seen.insert(own.invariant.begin(), own.invariant.end());
    } else {
      if (loop && forms) note(*loop, *forms);
      block(*inside, seen, forms);
    }
    around_.pop_back();
  }

  void note(const Loop& loop, Forms& forms) const {
    if (!gpu_ || !loop.team || variant_ >= loop.team->accesses.size()) return;
    const kernel::LoopAccesses& accesses = loop.team->accesses[variant_];
    note(accesses.held, forms);
    note(accesses.early, forms);
    for (const EarlyLoad& early : accesses.held) forms.held.insert(early.load);
    const auto blocks = kernel::blocks_of(kernel_, loop);
    for (size_t b = 0; b < std::min(blocks.size(), accesses.blocks.size()); ++b)
      note(accesses.blocks[b], blocks[b], forms);
  }
  static void note(const std::vector<EarlyLoad>& loads, Forms& forms) {
    for (const EarlyLoad& early : loads) {
      if (early.step != 0) forms.grouped[early.load] = early.step;
      if (early.shared) forms.shared.insert(early.load);
      if (early.from) forms.distance[early.load] = early.from->distance;
      if (!early.next.empty()) forms.runs[early.load] = static_cast<int>(early.next.size()) + 1;
      if (early.follows) forms.made.insert(early.load);
    }
  }
  static void note(const kernel::BlockAccesses& accesses, const std::vector<const Stmt*>& statements, Forms& forms) {
    note(accesses.early, forms);
    for (const kernel::FromLane& from : accesses.from) forms.distance[from.load] = from.distance;
    for (const kernel::GroupStore& g : accesses.group_stores) {
      const Stmt* const s = statements[static_cast<size_t>(g.statement)];
      forms.grouped_stores[s] = g.step;
      if (g.copied) forms.grouped[s->get<kernel::Store>().value] = g.step;
    }
    for (const kernel::AdjacentLoads& a : accesses.loads) {
      forms.runs[a.loads[0]] = static_cast<int>(a.loads.size());
      forms.made.insert(a.loads.begin() + 1, a.loads.end());
    }
    for (const kernel::AdjacentStores& a : accesses.stores)
      for (const int n : a.statements) {
        const Stmt* s = statements[static_cast<size_t>(n)];
        if (n == a.statements[0])
          forms.runs_of_stores[s] = static_cast<int>(a.statements.size());
        else
          forms.made_stores.insert(s);
      }
  }

  AccessSite site(const kernel::Access& access, ExprId mask, const Forms* forms) const {
    AccessSite made{.access = &access, .mask = mask, .around = around_};
    if (!forms) return made;
    made.vector = forms->loop;
    made.shape = forms->shape;
    return made;
  }

  // Arrays of the caller and between phases; not the words that say where an index was out of
  // range, nor counters of workgroups.
  bool counts(const kernel::Access& access) const {
    const kernel::ParamKind kind = kernel_.params[static_cast<size_t>(access.array)].kind;
    return kind != kernel::ParamKind::Scalar && kind != kernel::ParamKind::Size &&
           access.array != kernel_.error_param && access.array != kernel_.counter_param;
  }

  void add_load(ExprId id, const kernel::Load& load, Forms* forms) {
    if (!counts(load.access)) return;
    AccessSite made = site(load.access, load.mask, forms);
    if (forms) {
      if (forms->made.count(id)) return;
      const auto find = [&](const std::map<ExprId, int>& map, int& into) {
        const auto at = map.find(id);
        if (at != map.end()) into = at->second;
        return at != map.end();
      };
      if (find(forms->grouped, made.step))
        made.form = AccessForm::Group;
      else if (find(forms->runs, made.run))
        made.form = AccessForm::Run;
      else if (forms->shared.count(id))
        made.form = AccessForm::Shared;
      if (made.form != AccessForm::Group && gpu_ && !varies(load.access, load.mask, *forms->loop))
        made.form = AccessForm::Invariant, forms->invariant.insert(id);
      else if (made.form == AccessForm::Single && find(forms->distance, made.distance) && made.distance == 0)
        return;
    }
    sites_.push_back(std::move(made));
  }

  void add_store(const Stmt& s, const kernel::Store& store, const Forms* forms) {
    if (!counts(store.access)) return;
    AccessSite made = site(store.access, store.mask, forms);
    made.stored = true;
    made.atomic = store.atomic.has_value();
    if (forms) {
      if (forms->made_stores.count(&s)) return;
      if (const auto at = forms->grouped_stores.find(&s); at != forms->grouped_stores.end())
        made.form = AccessForm::Group, made.step = at->second;
      else if (const auto run = forms->runs_of_stores.find(&s); run != forms->runs_of_stores.end())
        made.form = AccessForm::Run, made.run = run->second;
    }
    sites_.push_back(std::move(made));
  }

  // Whether an access differs between the elements of a Vector loop; else the compiler takes it out
  // of the loop.
  bool varies(const kernel::Access& access, ExprId mask, const Loop& loop) const {
    bool found = mask != kNoExpr;
    for (const IntExpr& index : access.index)
      found = found || index.any_symbol([&](Symbol s) { return s == loop.var || s.is_local() || is_inside(s, loop); });
    return found;
  }
  // A variable of a loop inside of the Vector loop.
  bool is_inside(Symbol symbol, const Loop& loop) const {
    bool inside = false;
    for (const Stmt* s : around_) {
      const auto* l = s->get_if<Loop>();
      if (inside && kernel::variable_of(*s) == symbol) return true;
      inside = inside || l == &loop;
    }
    return false;
  }

  const Kernel& kernel_;
  const size_t variant_;
  const bool gpu_;
  PageIndices& indices_;
  std::vector<const Stmt*> around_;
  std::set<ExprId> held_;
  std::vector<AccessSite> sites_;
};

}  // namespace

std::vector<AccessSite> access_sites(const Kernel& kernel, const kernel::Phase& phase, size_t variant, bool gpu,
                                     PageIndices& indices) {
  return Finder(kernel, variant, gpu, indices).run(phase);
}

}  // namespace smelt::report
