#include "kernel/load_early.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "kernel/conditions.hpp"
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

constexpr int64_t kMostHeldBytes = 128;                          // of an array, in the registers of a thread
constexpr int64_t kMostBatchBytes = 256, kMostMaskedBytes = 64;  // of several iterations of a loop
constexpr int kFewValues = 8;                                    // that a thread loads before anything else
constexpr int kOperationsPerByte = 8;                            // of a phase that is bound by its instructions

// Whether a phase is bound by its instructions: it gains nothing from how the caches treat what it
// reads, and loses a little (a chain of five tanh 2 % on an H200).
bool computes_much(const Kernel& kernel, const PhaseUses& uses) {
  int operations = 0, bytes = 0;
  for (size_t id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    if (uses.uses[id] == 0) continue;
    operations += e.is<Apply>() || e.is<Raw>();
    if (const auto* load = e.get_if<Load>(); load && !load->access.scratch)
      bytes += size_of(kernel.params[static_cast<size_t>(load->access.array)].dtype);
  }
  for (size_t k = 0; k < kernel.params.size(); ++k)
    if (uses.stored[k]) bytes += size_of(kernel.params[k].dtype);
  return operations > kOperationsPerByte * bytes;
}

// What all variants of a phase have in common, once it was found.
struct Found {
  explicit Found(const Kernel& kernel) : offsets(kernel) {}
  Offsets offsets;
  std::map<std::pair<const Loop*, ExprId>, bool> of_columns;
};

// The loads of one variant of a phase, in the order of its statements.
class EarlyLoads {
 public:
  EarlyLoads(const Kernel& kernel, const Phase& phase, const PhaseUses& uses, Found& found, size_t variant)
      : kernel_(kernel),
        phase_(phase),
        uses_(uses),
        found_(found),
        number_(variant),
        variant_(phase.variants[variant]),
        looped_(kernel.dialect == Dialect::PlainThread),
        in_order_(has_scans(phase.body) || has_each(phase.body)),
        computes_much_(computes_much(kernel, uses)),
        of_warps_(!factors_of_warps(kernel, phase).empty()),
        around_(kernel) {}

  void run() { block(phase_.body); }
  Variant take_variant() { return std::move(variant_); }
  Forms take_forms() { return std::move(forms_); }

 private:
  // The Vector loop at hand.
  struct Vector {
    const Loop& loop;
    const LoopShape& shape;
    const LaneGroups groups;
  };

  void block(const std::vector<Stmt>& body) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const SymbolsAround::Scope own(around_);
      const auto* loop = s.get_if<Loop>();
      around_.enter_body_of(s);
      const auto* inside = body_of(s);
      if (loop && loop->kind == LoopKind::Vector) {
        vector_loop(*loop);
      } else if (inside) {
        const bool once = loop && loop->kind == LoopKind::Grid;
        depth_ += once ? 0 : 1;
        block(*inside);
        depth_ -= once ? 0 : 1;
      }
    }
  }

  void vector_loop(const Loop& loop) {
    const LoopShape& shape = loop.team->shapes[number_];
    const Vector vector{loop, shape, {kernel_, uses_, &loop, shape.lanes, shape.peeled}};
    LoopAccesses& made = forms_[&loop];
    Block all;
    for (const Stmt& s : loop.body) all.push_back(&s);
    if (shape.one_step && !has_loops(loop)) {
      const std::vector<ExprId> held =
          early_loads(all, vector, [&](ExprId id, const Load& load) { return is_held(id, load, vector); });
      made.held = formed(held, vector);
      held_.insert(held.begin(), held.end());
    }
    if (!has_scans(loop.body)) return nested(loop, vector);
    // What a scan needs, and what only follows it: all under way together.
    made.early = formed(early_loads(all, vector), vector);
    for (const Block& run : blocks_of(kernel_, loop)) made.blocks.push_back({{}, from_lanes(run, made.early, vector)});
  }

  // A Vector loop without scans, or a loop inside of one.
  void nested(const Loop& loop, const Vector& vector) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : loop.body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const auto* inner = s.get_if<Loop>();
      if (!inner) continue;
      const SymbolsAround::Scope own(around_);
      around_.enter(inner->var, inner->extent);
      serial_.push_back(inner->var);
      nested(*inner, vector);
      serial_.pop_back();
      if (vector.shape.count() == 1) forms_[inner].batch = batch_of(*inner);
    }
    LoopAccesses& made = forms_[&loop];
    std::set<ExprId> before;  // loads that a later run has from an earlier one
    for (const Block& run : blocks_of(kernel_, loop)) {
      const auto is_new = [&](ExprId id, const Load&) { return before.count(id) == 0; };
      std::vector<EarlyLoad> early = formed(early_loads(run, vector, is_new), vector);
      if (!places_.empty() && !fits(early, vector)) early.clear();
      for (const EarlyLoad& e : early) before.insert(e.load);
      std::vector<FromLane> from = from_lanes(run, early, vector);
      made.blocks.push_back({std::move(early), std::move(from)});
      for (const Stmt* s : run)
        if (const auto* let = s->get_if<Let>()) places_.insert(let->local);
    }
    places_.clear();
  }

  // What is read at places that the data names, of all elements of a thread: as much as its
  // registers take.
  bool fits(const std::vector<EarlyLoad>& early, const Vector& vector) const {
    constexpr int64_t kMostBytes = 256;
    int64_t bytes = 0;
    for (const EarlyLoad& e : early)
      bytes += vector.shape.count() * std::max(1, size_of(kernel_.dtype_of(kernel_.at(e.load).get<Load>().access)));
    return !vector.shape.peeled && bytes <= kMostBytes;
  }

  // A loop that stores on the way: what many of its iterations read is loaded first. The compiler
  // itself has few loads under way across stores.
  IterationLoads batch_of(const Loop& loop) const {
    const bool stores = std::any_of(loop.body.begin(), loop.body.end(), [](const Stmt& s) { return s.is<Store>(); });
    if (loop.kind != LoopKind::Serial || loop.unroll < 2 || !stores) return {};
    IterationLoads batch{1, iteration_loads(loop)};
    int64_t bytes = 0;
    bool masked = false;
    for (const ExprId id : batch.loads) {
      const auto& load = kernel_.at(id).get<Load>();
      bytes += std::max(4, size_of(kernel_.dtype_of(load.access)));
      masked = masked || load.mask != kNoExpr;
    }
    // Masks come with stencils, whose rows are in registers already.
    const int64_t most = masked ? kMostMaskedBytes : kMostBatchBytes;
    if (bytes > 0 && loop.unroll * bytes <= most) batch.iterations = loop.unroll;
    while (bytes > 0 && 2 * batch.iterations * bytes <= most && 2 * batch.iterations <= loop.unroll)
      batch.iterations *= 2;
    return batch.iterations > 1 ? batch : IterationLoads{};
  }

  // What differs between iterations and does not depend on the ones before.
  std::vector<ExprId> iteration_loads(const Loop& loop) const {
    std::vector<ExprId> found, roots;
    std::set<int> given;
    for (const Stmt& s : loop.body) {
      if (!s.is<Let>() && !s.is<Assign>() && !s.is<Store>()) return {};
      if (const auto local = given_by(s)) given.insert(*local);
      roots.push_back(*value_of(s));
    }
    visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
      const auto* load = e.get_if<Load>();
      if (!load || load->access.scratch) return true;
      const bool wide = size_of(kernel_.dtype_of(load->access)) > 4;
      if (load->mask != kNoExpr && (wide || !kernel_.is_zero(load->other))) return true;
      const std::vector<int>& on = uses_.dependencies_of(id);
      const bool moves = any_index(e, [&](const IntExpr& x) { return x.mentions(loop.var); });
      const bool waits = std::any_of(on.begin(), on.end(), [&](int resource) { return given.count(resource) > 0; });
      if (moves && !waits && !uses_.stored[static_cast<size_t>(load->access.array)]) found.push_back(id);
      return true;
    });
    std::sort(found.begin(), found.end());
    return found;
  }

  // What they read, and where, does not depend on anything of the block.
  template <class Condition>
  std::vector<ExprId> early_loads(const Block& block, const Vector& vector, const Condition& condition) {
    std::vector<ExprId> found;
    if (vector.shape.count() == 1 || looped_) return found;
    visit_below(kernel_, roots_of(block), [&](ExprId id, const Expr& e) {
      const auto* load = e.get_if<Load>();
      if (load && condition(id, *load) && is_early(id, *load, vector)) found.push_back(id);
      return true;
    });
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<ExprId> early_loads(const Block& block, const Vector& vector) {
    return early_loads(block, vector, [](ExprId, const Load&) { return true; });
  }

  static std::vector<ExprId> roots_of(const Block& block) {
    std::vector<ExprId> roots;
    for (const Stmt* s : block) for_each_expression(*s, [&](ExprId root) { roots.push_back(root); });
    return roots;
  }

  bool is_early(ExprId id, const Load& load, const Vector& vector) {
    if (load.access.scratch) return is_group_of_scratch(id, load, vector);
    if (held_.count(id)) return false;
    if (load.mask != kNoExpr && !groups_are_inside_or_outside(id, load, vector)) return false;
    const auto array = static_cast<size_t>(load.access.array);
    if (uses_.stored[array] || kernel_.params[array].kind == ParamKind::Scalar) return false;
    const std::vector<int>& on = uses_.dependencies_of(id);
    const bool depends = std::any_of(on.begin(), on.end(), [&](int resource) {
      return uses_.is_local(resource) && uses_.local(resource).vectors.count(&vector.loop) && !places_.count(resource);
    });
    return !depends && vector.groups.varies(id) && !is_of_column(id, vector);
  }

  // What neighbours take from shared scratch: one by one, words would come from a quarter of its
  // banks, and bytes take an instruction each.
  bool is_group_of_scratch(ExprId id, const Load& load, const Vector& vector) {
    const ScratchBuffer& buffer = kernel_.buffers[static_cast<size_t>(load.access.array)];
    return (!kernel_.fragments.empty() || size_of(buffer.dtype) < 4) && vector.shape.lanes > 1 &&
           !vector.shape.peeled && load.mask == kNoExpr && buffer.scope != Scope::Lane && !buffer.swizzled &&
           !stores_to_scratch(vector.loop) && step_of(id, vector) > 0;
  }

  // A load under a mask that holds for all lanes of a group or for none, and gives 0 there, as
  // around a padded array.
  bool groups_are_inside_or_outside(ExprId id, const Load& load, const Vector& vector) {
    const LoopShape& shape = vector.shape;
    if (!kernel_.is_zero(load.other)) return false;
    // A group is one element; in columns, tiles, or of few bytes, which leave too little under way.
    if (shape.lanes == 1)
      return vector.loop.columns > 0 || stores_to_scratch(vector.loop) || size_of(kernel_.dtype_of(load.access)) < 4;
    std::vector<IntExpr> when;
    if (shape.peeled || !may_require(vector.groups.same(load.mask, when), when, variant_)) return false;
    if (step_of(id, vector) <= 0 && !lanes_read_one(id, vector)) return false;
    require(when, variant_);
    return true;
  }

  // Whether an expression of a loop over columns depends on the column alone. The compiler sees
  // that it is the same in all steps, unless it is loaded into the registers of each.
  bool is_of_column(ExprId root, const Vector& vector) {
    if (vector.loop.columns == 0) return false;
    const auto [known, fresh] = found_.of_columns.try_emplace({&vector.loop, root}, false);
    if (fresh) known->second = finds_of_column(root, vector);
    return known->second;
  }
  bool finds_of_column(ExprId root, const Vector& vector) const {
    const int columns = vector.loop.columns;
    const std::map<Symbol, IntExpr> next_row{{vector.loop.var, IntExpr::symbol(vector.loop.var) + columns}};
    const auto moves = [&](const IntExpr& e) { return !(e.substitute(next_row, around_.ranges()) == e); };
    return !any_below(kernel_, {root}, [&](const Expr& e) {
      const auto* read = e.get_if<ReadLocal>();
      return (read && !uses_.local(read->local).per_column) || any_index(e, moves);
    });
  }

  // What several passes over a row read stays in registers between them, as it was in memory.
  bool is_held(ExprId id, const Load& load, const Vector& vector) const {
    const std::set<const Loop*>& loops = uses_.loops_of[static_cast<size_t>(id)];
    // The other loops may run at other times, or not at all.
    if (loops.size() < 2 || depth_ > 0 || load.access.scratch) return false;
    const Loop& here = vector.loop;
    return int64_t{vector.shape.count()} * size_of(kernel_.dtype_of(load.access)) <= kMostHeldBytes &&
           std::all_of(loops.begin(), loops.end(), [&](const Loop* loop) {
             return loop && loop->var == here.var && loop->extent == here.extent && loop->lanes == here.lanes &&
                    loop->unroll == here.unroll && !has_loops(*loop);
           });
  }

  std::vector<EarlyLoad> formed(const std::vector<ExprId>& loads, const Vector& vector) {
    std::vector<EarlyLoad> made;
    for (const ExprId id : loads) {
      const Access& access = kernel_.at(id).get<Load>().access;
      EarlyLoad early{.load = id, .step = step_of(id, vector)};
      // The compiler takes a load out of a loop that it does not change in, but no inline assembly.
      const bool stays = !serial_.empty() && !found_.offsets.of(id).mentions(serial_.back());
      if (early.step > 0 && !access.scratch && places_.empty() && !stays) early.cached = cached(id, vector);
      if (early.step == 0) early.from = from_lane(id, made, vector);
      const int bytes = size_of(kernel_.dtype_of(access));
      if (vector.shape.lanes == 1 && passes(access) && bytes >= 4) early.cached = Cached::Passing;
      // The compiler moves no loads that say how they are cached: few of them, as they take
      // registers.
      const bool few = vector.shape.count() * static_cast<int>(loads.size()) <= kFewValues;
      const bool single = vector.shape.lanes == 1 && bytes >= 4 && early.cached == Cached::Usual;
      if (single && few && lasts(access) && serial_.empty()) early.cached = Cached::Lasting;
      early.shared = early.step == 0 && !early.from && lanes_read_one(id, vector);
      made.push_back(early);
    }
    interleave(made, vector);
    return made;
  }

  // Loads whose lanes lie between each other's are a run of groups.
  void interleave(std::vector<EarlyLoad>& made, const Vector& vector) {
    std::vector<EarlyLoad*> apart;
    std::vector<GroupAccess> accesses;
    for (EarlyLoad& e : made) {
      const auto& load = kernel_.at(e.load).get<Load>();
      if (e.step != 0 || e.from || e.shared || load.mask != kNoExpr || load.access.scratch) continue;
      apart.push_back(&e);
      accesses.push_back({load.access.array, kernel_.dtype_of(load.access), found_.offsets.of(e.load)});
    }
    for (const std::vector<size_t>& run : interleaved_groups(vector.groups, vector.shape, accesses, variant_)) {
      apart[run[0]]->step = 1;
      for (size_t k = 1; k < run.size(); ++k) {
        apart[run[0]]->next.push_back(apart[run[k]]->load);
        apart[run[k]]->follows = true;
      }
    }
  }

  // Whether the L2 cache had better evict even single elements of it last.
  bool lasts(const Access& access) const {
    return !access.scratch && !computes_much_ && kernel_.params[static_cast<size_t>(access.array)].lasts;
  }

  bool passes(const Access& access) const {
    return !access.scratch && kernel_.params[static_cast<size_t>(access.array)].passes;
  }

  // What warps read for their matrix units: rows again and again, which are fast from the L1 cache
  // if the columns leave it to them. Where a lane takes more than one access, the second one is for
  // what the first one has brought there.
  Cached cached(ExprId id, const Vector& vector) const {
    const Access& access = kernel_.at(id).get<Load>().access;
    const int bytes = vector.shape.lanes * size_of(kernel_.dtype_of(access));
    if (passes(access) && (bytes == 8 || bytes == 16)) return Cached::Passing;
    if (of_warps_) {
      const bool once = found_.offsets.of(id).mentions(phase_.body.front().get<Loop>().var);
      if (once && (bytes == 8 || bytes == 16)) return Cached::Passing;
      if (!once && bytes >= 16) return Cached::Repeated;
    }
    return (bytes >= 16 && !computes_much_) || (bytes >= 4 && lasts(access)) ? Cached::Lasting : Cached::Usual;
  }

  // As of a factor for each channel, where a channel is many groups: the compiler does not see it
  // in the quotient.
  bool lanes_read_one(ExprId id, const Vector& vector) {
    std::vector<IntExpr> when;
    return vector.shape.lanes > 1 && vector.groups.step(found_.offsets.of(id), when) == 0 && when.empty();
  }

  int step_of(ExprId id, const Vector& vector) {
    const Access& access = kernel_.at(id).get<Load>().access;
    return step_of_group(vector.groups, vector.shape,
                         {access.scratch ? -1 : access.array, kernel_.dtype_of(access), found_.offsets.of(id)},
                         in_order_, variant_);
  }

  // The first group that has the element of a load in another lane.
  std::optional<FromLane> from_lane(ExprId id, const std::vector<EarlyLoad>& early, const Vector& vector) {
    const Access& access = kernel_.at(id).get<Load>().access;
    if (access.scratch) return std::nullopt;
    for (const EarlyLoad& e : early) {
      const auto& group = kernel_.at(e.load).get<Load>();
      if (e.step <= 0 || e.apart() > 1 || group.mask != kNoExpr || group.access.array != access.array) continue;
      const auto away = (found_.offsets.of(id) - found_.offsets.of(e.load)).constant();
      if (away && std::abs(*away) < vector.shape.lanes) return FromLane{id, e.load, static_cast<int>(*away)};
    }
    return std::nullopt;
  }

  // Loads of a block that are not made early themselves.
  std::vector<FromLane> from_lanes(const Block& block, const std::vector<EarlyLoad>& early, const Vector& vector) {
    std::vector<FromLane> made;
    if (std::none_of(early.begin(), early.end(), [](const EarlyLoad& e) { return e.step > 0; })) return made;
    visit_below(kernel_, roots_of(block), [&](ExprId id, const Expr& e) {
      const auto is_it = [&](const EarlyLoad& l) { return l.load == id; };
      if (held_.count(id) || std::any_of(early.begin(), early.end(), is_it)) return false;
      if (!e.is<Load>()) return true;
      if (const auto from = from_lane(id, early, vector)) made.push_back(*from);
      return true;
    });
    std::sort(made.begin(), made.end(), [](const FromLane& a, const FromLane& b) { return a.load < b.load; });
    return made;
  }

  const Kernel& kernel_;
  const Phase& phase_;
  const PhaseUses& uses_;
  Found& found_;
  const size_t number_;
  Variant variant_;
  const bool looped_;         // the compiler of the device finds neighbours and orders loads
  const bool in_order_;       // the phase has scans or Each
  const bool computes_much_;  // nothing is gained from how caches treat what is read
  const bool of_warps_;       // matrix units multiply what warps read
  SymbolsAround around_;
  std::set<ExprId> held_;       // so far
  std::set<int> places_;        // locals that the runs before of the loop at hand have named
  std::vector<Symbol> serial_;  // variables of the loops inside of the Vector loop at hand
  int depth_ = 0;               // of loops and conditions around Vector loops
  Forms forms_;
};

}  // namespace

bool load_early(Kernel& kernel) {
  bool changed = false;
  for (Phase& phase : kernel.phases) {
    const PhaseUses uses(kernel, phase);
    Found found(kernel);
    std::map<const Loop*, TeamForms> made;
    for (size_t v = 0; v < phase.variants.size(); ++v) {
      EarlyLoads loads(kernel, phase, uses, found, v);
      loads.run();
      for (auto& [loop, accesses] : loads.take_forms()) made[loop].accesses.push_back(std::move(accesses));
      phase.variants[v] = loads.take_variant();
    }
    for_each_stmt(phase.body, [&](Stmt& s) {
      auto* loop = s.get_if<Loop>();
      const auto at = made.find(loop);
      if (at == made.end()) return;
      if (loop->team) at->second.shapes = loop->team->shapes;
      loop->team = std::make_shared<const TeamForms>(std::move(at->second));
      changed = true;
    });
  }
  return changed;
}

}  // namespace smelt::kernel
