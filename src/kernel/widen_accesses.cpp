#include "kernel/widen_accesses.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/draw_pattern.hpp"
#include "kernel/lane_groups.hpp"
#include "kernel/offset.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Block = std::vector<const Stmt*>;
using Forms = std::map<const Loop*, LoopAccesses>;

constexpr int kWidestAccess = 16;  // bytes of an access

// Values that the team has computed before a Vector loop, and that nothing has changed since: their
// loads are made.
class Computed {
 public:
  Computed(const Kernel& kernel, const PhaseUses& uses)
      : kernel_(kernel), uses_(uses), known_(kernel.exprs.size(), false), scopes_(1) {}

  bool has(ExprId id) const { return known_[static_cast<size_t>(id)]; }
  void add(ExprId root) {
    visit_below(kernel_, {root}, [&](ExprId id, const Expr&) {
      if (has(id)) return false;
      known_[static_cast<size_t>(id)] = true;
      scopes_.back().push_back(id);
      return true;
    });
  }
  void forget(int resource) {
    for (std::vector<ExprId>& scope : scopes_)
      std::erase_if(scope, [&](ExprId id) {
        const std::vector<int>& on = uses_.dependencies_of(id);
        if (!std::binary_search(on.begin(), on.end(), resource)) return false;
        known_[static_cast<size_t>(id)] = false;
        return true;
      });
  }
  void push() { scopes_.emplace_back(); }
  void pop() {
    for (const ExprId id : scopes_.back()) known_[static_cast<size_t>(id)] = false;
    scopes_.pop_back();
  }

 private:
  const Kernel& kernel_;
  const PhaseUses& uses_;
  std::vector<bool> known_;
  std::vector<std::vector<ExprId>> scopes_;
};

// Accesses under conditions that are one where each of `when` is at least 0.
template <class T>
struct Alike {
  std::vector<T> members;
  std::vector<IntExpr> when;
  void add(T member, const std::vector<IntExpr>& more) {
    members.push_back(member);
    when.insert(when.end(), more.begin(), more.end());
  }
};

// The accesses of one variant of a phase.
class Widening {
 public:
  Widening(const Kernel& kernel, const Phase& phase, const PhaseUses& uses, size_t variant)
      : kernel_(kernel),
        uses_(uses),
        number_(variant),
        variant_(phase.variants[variant]),
        in_order_(has_scans(phase.body) || has_each(phase.body)),
        looped_(kernel.dialect == Dialect::PlainThread),
        computed_(kernel, uses),
        around_(kernel) {}

  void run(const Phase& phase) { team(phase.body); }
  Variant take_variant() { return std::move(variant_); }
  Forms take_forms() { return std::move(forms_); }

 private:
  struct Vector {
    const Loop& loop;
    const LoopShape& shape;
    const LaneGroups groups;
  };

  // Statements that every thread of the team runs alike.
  void team(const std::vector<Stmt>& body) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const SymbolsAround::Scope own(around_);
      const auto* loop = s.get_if<Loop>();
      around_.enter_body_of(s);
      if (loop && loop->kind == LoopKind::Vector) {
        const LoopShape& shape = loop->team->shapes[number_];
        vector_loop(*loop, {*loop, shape, {kernel_, uses_, loop, shape.lanes, shape.peeled}});
        continue;
      }
      // Threads evaluate the condition of an Each for other elements than those of the body.
      if (!s.is<Each>()) for_each_expression(s, [&](ExprId id) { computed_.add(id); });
      if (const auto* inside = body_of(s)) {
        computed_.push();
        team(*inside);
        computed_.pop();
      }
      change(s);
    }
  }

  void change(const Stmt& s) {
    if (const auto local = given_by(s)) computed_.forget(uses_.resource(*local));
    if (const auto* scan = s.get_if<Scan>()) computed_.forget(uses_.resource(scan->carry));
    if (const auto* store = s.get_if<Store>()) computed_.forget(uses_.resource(store->access));
    if (const auto* combine = s.get_if<Combine>())
      for (const LocalId id : {combine->local, combine->index_local})
        if (id >= 0) computed_.forget(uses_.resource(id));
  }

  // A Vector loop, or a loop inside of one.
  void vector_loop(const Loop& loop, const Vector& vector) {
    LoopAccesses accesses = loop.team->accesses[number_];
    const std::vector<Block> blocks = blocks_of(kernel_, loop);
    size_t next = 0;
    const auto block_before = [&](const Stmt* end) {
      if (next == blocks.size() || (end && !blocks[next].empty() && blocks[next].front() > end)) return;
      widen(blocks[next], vector, {}, accesses.blocks[next]);
      if (accesses.batch.iterations > 1) {
        leave_wide(accesses.blocks[next].loads, accesses.batch);
        widen(blocks[next], vector, accesses.batch.loads, accesses.batch.block);
      }
      change_by(blocks[next], vector, accesses.blocks[next]);
      ++next;
    };
    for (const Stmt& s : loop.body) {
      const auto* inner = s.get_if<Loop>();
      if (inner || s.is<Scan>()) block_before(&s);
      const SymbolsAround::Scope own(around_);
      if (inner) around_.enter(inner->var, inner->extent), vector_loop(*inner, vector);
      if (s.is<Scan>()) change(s);
    }
    while (next < blocks.size()) block_before(nullptr);
    forms_[&loop] = std::move(accesses);
  }

  // The compiler has wide accesses under way itself, across stores too, if their masks are not
  // many.
  void leave_wide(const std::vector<AdjacentLoads>& wide, IterationLoads& batch) const {
    const auto is_masked = [&](ExprId id) { return kernel_.at(id).get<Load>().mask != kNoExpr; };
    const bool any = std::any_of(wide.begin(), wide.end(), [&](const AdjacentLoads& run) {
      return std::find(batch.loads.begin(), batch.loads.end(), run.loads[0]) != batch.loads.end() &&
             is_masked(run.loads[0]);
    });
    if (!any) return;
    std::erase_if(batch.loads, is_masked);
    if (batch.loads.empty()) batch = {};
  }

  // Stores that are made at once come after the block; the edges of a peeled loop make each by
  // itself.
  void change_by(const Block& block, const Vector& vector, const BlockAccesses& accesses) {
    std::set<int> later;
    if (!vector.shape.peeled) {
      for (const GroupStore& g : accesses.group_stores) {
        later.insert(g.statement);
        later.insert(g.next.begin(), g.next.end());
      }
      for (const AdjacentStores& a : accesses.stores) later.insert(a.statements.begin(), a.statements.end());
    }
    for (size_t n = 0; n < block.size(); ++n)
      if (!later.count(static_cast<int>(n))) change(*block[n]);
  }

  // `made`: loads that have been made before.
  void widen(const Block& block, const Vector& vector, const std::vector<ExprId>& made, BlockAccesses& accesses) {
    group_draws(block, vector, accesses);
    if (vector.shape.lanes > 1) group_stores(block, vector, accesses);
    if (!variant_.vectors || vector.shape.lanes != 1) return;
    // Several elements of a thread: what each of them reads of a short row.
    if (vector.shape.unroll != 1 && kernel_.fragments.empty()) return join_early(accesses.early);
    adjacent_loads(block, made, accesses);
    adjacent_stores(block, accesses);
  }

  // Early loads of single elements that follow each other: one access.
  void join_early(std::vector<EarlyLoad>& early) {
    std::vector<EarlyLoad*> single;
    std::vector<const Access*> places;
    for (EarlyLoad& e : early) {
      const auto& load = kernel_.at(e.load).get<Load>();
      if (e.step != 0 || e.shared || load.mask != kNoExpr || load.access.scratch) continue;
      single.push_back(&e);
      places.push_back(&load.access);
    }
    for (const std::vector<size_t>& run : runs_of(places))
      for (size_t k = 1; k < run.size(); ++k) {
        single[run[0]]->next.push_back(single[run[k]]->load);
        single[run[k]]->follows = true;
      }
  }

  // Words that nothing computed in the block decides over.
  void group_draws(const Block& block, const Vector& vector, BlockAccesses& accesses) {
    const int lanes = std::max(vector.shape.lanes, vector.shape.draw_lanes);
    if (lanes == 1) return;
    std::vector<ExprId> roots, found;
    for (const Stmt* s : block) for_each_expression(*s, [&](ExprId root) { roots.push_back(root); });
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (const auto* random = e.get_if<Random>(); random && is_early(id, *random, vector)) found.push_back(id);
      return true;
    });
    std::sort(found.begin(), found.end());
    for (const ExprId id : found) {
      // The groups of a peeled loop begin anywhere.
      const int unit = vector.shape.peeled ? 1 : lanes;
      const auto pattern =
          draw_pattern(kernel_.at(id).get<Random>().element, vector.loop, lanes, unit, around_.ranges());
      if (!pattern || (looped_ && pattern->count() != lanes)) continue;
      std::vector<IntExpr> when;
      bool aligned = vector.groups.divisible(pattern->quarters, 4, std::nullopt, when);
      if ((vector.shape.peeled || looped_) && !when.empty()) aligned = false;
      if (aligned) require(when, variant_);
      accesses.draws.push_back({id, pattern->base, pattern->words, aligned});
    }
  }

  bool is_early(ExprId id, const Random& random, const Vector& vector) const {
    const std::vector<int>& on = uses_.dependencies_of(id);
    return vector.groups.varies(random.element) &&
           std::none_of(on.begin(), on.end(),
                        [&](int resource) {
                          return !uses_.is_local(resource) || uses_.local(resource).vectors.count(&vector.loop);
                        }) &&
           std::none_of(random.args.begin(), random.args.end(), [&](ExprId a) { return vector.groups.varies(a); });
  }

  static const Store* store_to_array(const Stmt& s) {
    const auto* store = s.get_if<Store>();
    return store && !store->access.scratch && !store->atomic ? store : nullptr;
  }

  // Scratch that threads share begins at a multiple of the widest access.
  const Store* store_of_group(const Stmt& s) const {
    if (const Store* to_array = store_to_array(s)) return to_array;
    const auto* store = s.get_if<Store>();
    const bool shared = store && store->access.scratch && !store->atomic && variant_.vectors &&
                        kernel_.buffers[static_cast<size_t>(store->access.array)].scope != Scope::Lane;
    return shared && kernel_.dialect != Dialect::PlainThread && kernel_.dialect != Dialect::PlainTeam ? store : nullptr;
  }

  void group_stores(const Block& block, const Vector& vector, BlockAccesses& accesses) {
    std::vector<int> apart;  // statements whose lanes are no neighbours
    std::vector<GroupAccess> places;
    for (size_t n = 0; n < block.size(); ++n) {
      const Store* s = store_of_group(*block[n]);
      if (!s) continue;
      std::vector<IntExpr> when;
      if (s->mask != kNoExpr && !may_require(vector.groups.same(s->mask, when), when, variant_)) continue;
      const GroupAccess access{s->access.scratch ? -1 : s->access.array, kernel_.dtype_of(s->access),
                               flat_offset(kernel_, s->access)};
      const int step = step_of_group(vector.groups, vector.shape, access, in_order_, variant_);
      if (step == 0 && s->mask == kNoExpr && !s->access.scratch)
        apart.push_back(static_cast<int>(n)), places.push_back(access);
      if (step == 0) continue;
      require(when, variant_);
      accesses.group_stores.push_back({static_cast<int>(n), step});
      if (s->later && step > 0 && block.size() == 1) copy_group(*s, vector, accesses);
    }
    for (const std::vector<size_t>& run : interleaved_groups(vector.groups, vector.shape, places, variant_)) {
      GroupStore& group = accesses.group_stores.emplace_back(GroupStore{apart[run[0]], 1});
      for (size_t k = 1; k < run.size(); ++k) group.next.push_back(apart[run[k]]);
    }
  }

  // A group that is loaded at once only to be stored: of as many bytes as may be copied on their
  // own.
  void copy_group(const Store& s, const Vector& vector, BlockAccesses& accesses) const {
    const int bytes = vector.shape.lanes * size_of(kernel_.dtype_of(s.access));
    const auto early = std::find_if(accesses.early.begin(), accesses.early.end(),
                                    [&](const EarlyLoad& e) { return e.load == s.value && e.step > 0; });
    if (early == accesses.early.end() || (bytes != 4 && bytes != 8 && bytes != 16)) return;
    accesses.early.erase(early);
    accesses.group_stores.back().copied = true;
  }

  // Loads that follow each other, under one mask.
  void adjacent_loads(const Block& block, const std::vector<ExprId>& made, BlockAccesses& accesses) {
    std::set<int> given;  // locals and arrays that get values in the block
    std::vector<ExprId> roots;
    for (const Stmt* s : block) {
      if (const auto local = given_by(*s)) given.insert(uses_.resource(*local));
      if (const auto* store = s->get_if<Store>()) given.insert(uses_.resource(store->access));
      for_each_expression(*s, [&](ExprId root) { roots.push_back(root); });
    }
    std::map<std::pair<std::string, ExprId>, Alike<ExprId>> by_mask;
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      if (computed_.has(id)) return false;
      const auto* load = e.get_if<Load>();
      if (!load || std::find(made.begin(), made.end(), id) != made.end() || !may_be_wide(load->access)) return true;
      const std::vector<int>& on = uses_.dependencies_of(id);
      const bool waits = std::any_of(on.begin(), on.end(), [&](int resource) { return given.count(resource) > 0; });
      if (waits || (load->other != kNoExpr && !kernel_.constant_at(load->other))) return true;
      std::vector<IntExpr> when;
      const std::string mask = condition_key(load->mask, kWidestAccess / size_of(kernel_.dtype_of(load->access)), when);
      by_mask[{mask, load->other}].add(id, when);
      return true;
    });
    for (auto& [key, alike] : by_mask) {
      std::vector<ExprId>& loads = alike.members;
      std::sort(loads.begin(), loads.end());
      std::vector<const Access*> places;
      for (const ExprId id : loads) places.push_back(&kernel_.at(id).get<Load>().access);
      for (const std::vector<size_t>& run : runs_of(places)) {
        require(alike.when, variant_);
        AdjacentLoads adjacent{{}, kernel_.at(loads[0]).get<Load>().mask, key.second};
        for (const size_t n : run) adjacent.loads.push_back(loads[n]);
        accesses.loads.push_back(std::move(adjacent));
      }
    }
  }

  bool may_be_wide(const Access& access) const {
    const auto array = static_cast<size_t>(access.array);
    if (access.scratch) return kernel_.buffers[array].scope != Scope::Lane && !kernel_.buffers[array].swizzled;
    return !uses_.stored[array] && kernel_.params[array].kind != ParamKind::Scalar;
  }

  void adjacent_stores(const Block& block, BlockAccesses& accesses) {
    std::map<std::string, Alike<int>> by_mask;
    for (size_t n = 0; n < block.size(); ++n) {
      const Store* s = store_to_array(*block[n]);
      if (!s) continue;
      std::vector<IntExpr> when;
      const std::string mask = condition_key(s->mask, kWidestAccess / size_of(kernel_.dtype_of(s->access)), when);
      by_mask[mask].add(static_cast<int>(n), when);
    }
    for (const auto& [key, alike] : by_mask) {
      std::vector<const Store*> stores;
      std::vector<const Access*> places;
      for (const int n : alike.members) stores.push_back(block[static_cast<size_t>(n)]->get_if<Store>());
      for (const Store* s : stores) places.push_back(&s->access);
      for (const std::vector<size_t>& run : runs_of(places)) {
        require(alike.when, variant_);
        AdjacentStores adjacent{{}, stores[0]->mask};
        for (const size_t n : run) adjacent.statements.push_back(alike.members[n]);
        accesses.stores.push_back(std::move(adjacent));
      }
    }
  }

  // Whether the value is always a multiple of n, where each of `when` is at least 0.
  bool multiple_of(const IntExpr& e, int64_t n, std::vector<IntExpr>& when) const {
    for (const IntExpr::Term& term : e.terms()) {
      if (term.coefficient % n == 0) continue;
      const auto size = std::find_if(term.atoms.begin(), term.atoms.end(), [&](const IntExpr::AtomPtr& a) {
        return a->symbol && is_argument(kernel_, *a->symbol);
      });
      if (size == term.atoms.end() || variant_.form == Variant::Form::Odd) return false;
      when.push_back(-mod(IntExpr::symbol(*(*size)->symbol), n));
    }
    return true;
  }

  // Runs of places that follow each other in one array, as many as an access may have and beginning
  // at a multiple of that: each as positions in `places`. The variant then requires what that
  // takes.
  std::vector<std::vector<size_t>> runs_of(const std::vector<const Access*>& places) {
    struct Row {
      const Access* first;
      IntExpr start;
      std::map<int64_t, size_t> at;  // by offset from the start
    };
    std::vector<Row> rows;
    std::vector<IntExpr> offsets;
    for (const Access* access : places) offsets.push_back(flat_offset(kernel_, *access));
    for (size_t i = 0; i < places.size(); ++i) {
      std::optional<int64_t> offset;
      auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) {
        if (r.first->scratch != places[i]->scratch || r.first->array != places[i]->array) return false;
        offset = (offsets[i] - r.start).constant();
        return offset.has_value();
      });
      if (row == rows.end()) row = rows.insert(rows.end(), {places[i], offsets[i], {}}), offset = 0;
      row->at.try_emplace(*offset, i);
    }
    std::vector<std::vector<size_t>> runs;
    for (const Row& row : rows)
      for (auto it = row.at.begin(); it != row.at.end();) {
        std::vector<size_t> run = run_from(it, row.at, offsets[it->second], size_of(kernel_.dtype_of(*row.first)));
        if (run.empty()) {
          ++it;
          continue;
        }
        if (!row.first->scratch)
          align(row.first->array, static_cast<int>(run.size()) * size_of(kernel_.dtype_of(*row.first)), variant_);
        std::advance(it, run.size());
        runs.push_back(std::move(run));
      }
    return runs;
  }

  std::vector<size_t> run_from(std::map<int64_t, size_t>::const_iterator first, const std::map<int64_t, size_t>& at,
                               const IntExpr& offset, int bytes) {
    for (int most = kWidestAccess / bytes; most > 1; most /= 2) {
      std::vector<IntExpr> when;
      if (!multiple_of(offset, most, when)) continue;
      std::vector<size_t> run;
      for (int k = 0; k < most; ++k)
        if (const auto next = at.find(first->first + k); next != at.end()) run.push_back(next->second);
      if (static_cast<int>(run.size()) < most) continue;
      require(when, variant_);
      return run;
    }
    return {};
  }

  // A text that two conditions have in common only when both hold or neither does. Of neighbours
  // between the same multiples of n (or of half of it): 4 * i + 2 < W and 4 * i + 3 < W are one
  // where W is a multiple of 4, which `when` then says.
  std::string condition_key(ExprId id, int n, std::vector<IntExpr>& when) const {
    if (id == kNoExpr) return "";
    const std::string itself = "#" + std::to_string(id);
    const auto* e = kernel_.at(id).get_if<Apply>();
    if (!e || e->args.size() != 2) return itself;
    if (e->op == Op::And) {
      std::string a = condition_key(e->args[0], n, when), b = condition_key(e->args[1], n, when);
      if (b < a) std::swap(a, b);
      return a == b ? a : a + " & " + b;
    }
    const auto left = holds_where(kernel_, *e);
    if (!left) return itself;
    const int64_t constant = constant_term(*left);
    for (; n > 1; n /= 2) {
      std::vector<IntExpr> more;
      if (!multiple_of(*left - constant, n, more)) continue;
      when.insert(when.end(), more.begin(), more.end());
      return (*left - ((constant % n) + n) % n).str();
    }
    return left->str();
  }

  const Kernel& kernel_;
  const PhaseUses& uses_;
  const size_t number_;
  Variant variant_;
  const bool in_order_;  // the phase has scans or Each
  const bool looped_;    // the compiler of the device vectorizes
  Computed computed_;
  SymbolsAround around_;
  Forms forms_;
};

}  // namespace

bool widen_accesses(Kernel& kernel) {
  bool changed = false;
  for (Phase& phase : kernel.phases) {
    const PhaseUses uses(kernel, phase);
    std::map<const Loop*, std::vector<LoopAccesses>> made;
    for (size_t v = 0; v < phase.variants.size(); ++v) {
      Widening widening(kernel, phase, uses, v);
      widening.run(phase);
      for (auto& [loop, accesses] : widening.take_forms()) made[loop].push_back(std::move(accesses));
      phase.variants[v] = widening.take_variant();
    }
    for_each_stmt(phase.body, [&](Stmt& s) {
      auto* loop = s.get_if<Loop>();
      const auto found = made.find(loop);
      if (found == made.end()) return;
      loop->team = std::make_shared<const TeamForms>(TeamForms{loop->team->shapes, std::move(found->second)});
      changed = true;
    });
  }
  return changed;
}

}  // namespace smelt::kernel
