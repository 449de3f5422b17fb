// What the variants of a phase load early, hold and access at once: every lane is looked at for the
// sizes that a variant takes.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "kernel/barriers.hpp"
#include "kernel/conditions.hpp"
#include "kernel/offset.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The lanes of a group of a Vector loop, in one variant.
class GroupLanes {
 public:
  GroupLanes(const Kernel& kernel, const PhaseUses& uses, const Loop& loop, const LoopShape& shape,
             const Multiples& known)
      : kernel_(kernel), uses_(uses), loop_(loop), shape_(shape), known_(known) {
    if (!shape.peeled) known_[loop.var] = shape.lanes * IntExpr::symbol(Symbol::loop("group"));
  }

  // Whether the lanes are neighbours, upwards or downwards, that begin at a multiple of the lanes.
  bool are_neighbours(const IntExpr& offset, int step) const {
    const int last = shape_.lanes - 1;
    for (int l = 1; l <= last; ++l)
      if (beyond(offset, l) != l * step) return false;
    const IntExpr first = step > 0 ? offset : offset - last;
    if (!shape_.peeled) return is_multiple(first);
    // Groups begin where the origin and the variable together are a multiple.
    return step > 0 && is_multiple(offset - shape_.origin - IntExpr::symbol(loop_.var));
  }

  // Whether they begin at such a multiple, each so many elements from the one before.
  bool are_apart(const IntExpr& offset, int elements) const {
    const IntExpr begin = shape_.peeled ? offset - elements * (shape_.origin + IntExpr::symbol(loop_.var)) : offset;
    return all_beyond(offset, elements) && is_multiple(begin);
  }

  // Whether the lanes are at one place.
  bool are_one(const IntExpr& offset) const { return all_beyond(offset, 0); }

  // Whether a condition has the same value in all lanes.
  bool is_same(ExprId id) const {
    const Expr& e = kernel_.at(id);
    if (const auto* index = e.get_if<IndexValue>()) return all_beyond(index->value, 0);
    if (e.is<Const>()) return true;
    const auto* apply = e.get_if<Apply>();
    if (!apply) return false;
    const auto left = holds_where(kernel_, *apply);
    if (left && (all_beyond(*left, 0) || (!shape_.peeled && all_beyond(*left, 1) && is_multiple(*left)) ||
                 (!shape_.peeled && all_beyond(*left, -1) && is_multiple(*left - (shape_.lanes - 1)))))
      return true;
    return !left && std::all_of(apply->args.begin(), apply->args.end(), [&](ExprId a) { return is_same(a); });
  }

 private:
  bool is_same_local(LocalId id) const {
    const LocalUses& local = uses_.local(id);
    if (!local.per_column && !local.vectors.count(&loop_)) return true;
    const ExprId named = uses_.named[static_cast<size_t>(id)];
    return named != kNoExpr && is_one(named);
  }
  // Whether all lanes compute a value from the same ones.
  bool is_one(ExprId id) const {
    const Expr& e = kernel_.at(id);
    const auto* read = e.get_if<ReadLocal>();
    const auto* load = e.get_if<Load>();
    if ((read && !is_same_local(read->local)) || e.is<Random>() || (load && load->mask != kNoExpr)) return false;
    bool one = true;
    for_each_index(e, [&](const IntExpr& i) { one = one && are_one(i); });
    for_each_operand(e, [&](ExprId operand) { one = one && is_one(operand); });
    return one;
  }
  bool varies(const IntExpr& e) const {
    return e.any_symbol([&](Symbol s) {
      return s == loop_.var || (s.is_local() && uses_.local(s.local_id()).vectors.count(&loop_) > 0);
    });
  }
  bool all_beyond(const IntExpr& e, int step) const {
    for (int l = 1; l < shape_.lanes; ++l)
      if (beyond(e, l) != l * step) return false;
    return true;
  }
  // In lane 0.
  bool is_multiple(const IntExpr& e) const {
    return is_multiple_of(e.substitute(known_, Ranges::inside_loops()), shape_.lanes);
  }

  // How far the value of a lane is beyond that of lane 0.
  std::optional<int64_t> beyond(const IntExpr& e, int lane) const {
    int64_t sum = 0;
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& a : term.atoms) {
        const auto own = varies(IntExpr::of_term({1, {a}})) ? beyond(*a, lane) : 0;
        if (!own || (*own != 0 && term.atoms.size() > 1)) return std::nullopt;
        sum += term.coefficient * *own;
      }
    return sum;
  }
  std::optional<int64_t> beyond(const IntExpr::Atom& a, int lane) const {
    if (a.symbol == loop_.var) return lane;
    if (a.symbol)
      return a.symbol->is_local() && is_same_local(a.symbol->local_id()) ? std::optional<int64_t>(0) : std::nullopt;
    const auto here = beyond(a.a, lane), there = beyond(a.b, lane);
    if (!here || there != 0) return std::nullopt;
    if (here == 0) return 0;
    // Between two multiples of the lanes nothing wraps around.
    const bool divides = a.kind == AtomKind::Mod || a.kind == AtomKind::FloorDiv;
    const bool inside = divides && !shape_.peeled && *here > 0 && *here < shape_.lanes && !varies(a.b);
    if (!inside || !is_multiple(a.a) || !is_multiple(a.b)) return std::nullopt;
    return a.kind == AtomKind::Mod ? here : 0;
  }

  const Kernel& kernel_;
  const PhaseUses& uses_;
  const Loop& loop_;
  const LoopShape& shape_;
  Multiples known_;
};

class AccessVerifier {
 public:
  AccessVerifier(const Kernel& kernel, const Phase& phase, const PhaseUses& uses, size_t variant)
      : kernel_(kernel),
        variant_(phase.variants[variant]),
        number_(variant),
        uses_(uses),
        multiples_(multiples_of(variant_)),
        around_(kernel) {}

  void block(const std::vector<Stmt>& body, bool repeated = false) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const SymbolsAround::Scope own(around_);
      const auto* loop = s.get_if<Loop>();
      around_.enter_body_of(s);
      if (loop && loop->kind == LoopKind::Vector) {
        vector_loop(*loop, repeated);
        met_.insert(loop);
      } else if (const auto* inside = body_of(s)) {
        block(*inside, repeated || !loop || loop->kind != LoopKind::Grid);
      }
    }
  }

 private:
  using Roots = std::vector<ExprId>;
  using Block = std::vector<const Stmt*>;
  struct Vector {
    const Loop& loop;
    const LoopShape& shape;
    const GroupLanes lanes;
  };

  template <class... Args>
  void need(bool condition, ExprId id, const Loop& loop, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition)
      fail(kernel_, "loop {}, {}: {}: {}", loop.var, name_of(variant_), expr_text(kernel_, id),
           fmt::format(format, std::forward<Args>(args)...));
  }

  const LoopAccesses& accesses_of(const Loop& loop) const {
    if (!loop.team || loop.team->accesses.size() <= number_)
      fail(kernel_, "loop {} has no accesses as {}", loop.var, name_of(variant_));
    return loop.team->accesses[number_];
  }

  void vector_loop(const Loop& loop, bool repeated) {
    const LoopAccesses& accesses = accesses_of(loop);
    const LoopShape& shape = loop.team->shapes[number_];
    const Vector vector{loop, shape, {kernel_, uses_, loop, shape, multiples_}};
    const Roots all = expressions_of(loop.body);
    early(accesses.held, all, vector);
    for (const EarlyLoad& e : accesses.held) held(e.load, vector, repeated);
    early(accesses.early, all, vector);
    blocks(loop, vector);
  }

  void blocks(const Loop& loop, const Vector& vector) {
    const LoopAccesses& accesses = accesses_of(loop);
    const auto runs = blocks_of(kernel_, loop);
    if (runs.size() != accesses.blocks.size())
      fail(kernel_, "loop {} has accesses of {} blocks, not {}", loop.var, accesses.blocks.size(), runs.size());
    std::set<LocalId> places;  // that runs before have named
    for (size_t b = 0; b < runs.size(); ++b) {
      Roots roots;
      for (const Stmt* s : runs[b]) for_each_expression(*s, [&](ExprId root) { roots.push_back(root); });
      const BlockAccesses& block = accesses.blocks[b];
      early(block.early, roots, vector, places);
      for (const FromLane& from : block.from)
        from_lane(from, accesses.early.empty() ? block.early : accesses.early, vector);
      at_once(runs[b], roots, block, vector, places);
      if (accesses.batch.iterations > 1) at_once(runs[b], roots, accesses.batch.block, vector, places);
      for (const Stmt* s : runs[b])
        if (const auto* let = s->get_if<Let>()) places.insert(let->local);
    }
    batch(loop, accesses.batch, vector);
    for (const Stmt& s : loop.body) {
      const SymbolsAround::Scope own(around_);
      const auto* inner = s.get_if<Loop>();
      if (inner) around_.enter(inner->var, inner->extent), blocks(*inner, vector);
    }
  }

  void early(const std::vector<EarlyLoad>& loads, const Roots& roots, const Vector& vector,
             const std::set<LocalId>& places = {}) const {
    std::unordered_set<ExprId> below;
    if (!loads.empty()) visit_below(kernel_, roots, [&](ExprId id, const Expr&) { return below.insert(id).second; });
    for (const EarlyLoad& e : loads) {
      need(below.count(e.load) > 0, e.load, vector.loop, "made early for statements that do not use it");
      early_load(e, vector, places);
      if (e.from) from_lane(*e.from, loads, vector);
      if (e.follows)
        need(std::any_of(loads.begin(), loads.end(),
                         [&](const EarlyLoad& first) {
                           return std::find(first.next.begin(), first.next.end(), e.load) != first.next.end();
                         }),
             e.load, vector.loop, "made early with a load that there is not");
      if (!e.next.empty()) followed(e, vector);
    }
  }

  void followed(const EarlyLoad& first, const Vector& vector) const {
    Places places{&kernel_.at(first.load).get<Load>().access};
    for (const ExprId id : first.next) {
      const Load& load = unchanged(id, vector.loop);
      need(load.mask == kNoExpr && !load.access.scratch, id, vector.loop,
           "made early with another load, behind a mask");
      places.push_back(&load.access);
    }
    need(first.step >= 0 && !first.shared && kernel_.at(first.load).get<Load>().mask == kNoExpr, first.load,
         vector.loop, "made early with others, and no plain load");
    if (first.step == 0)
      adjacent(places, first.load, vector);
    else
      in_turn(places, first.load, vector);
  }

  void early_load(const EarlyLoad& early, const Vector& vector, const std::set<LocalId>& places = {}) const {
    const Loop& loop = vector.loop;
    const ExprId id = early.load;
    const Load& load = unchanged(id, loop);
    const std::vector<int>& on = uses_.dependencies_of(id);
    for (const int resource : on)
      need(!uses_.is_local(resource) || !uses_.local(resource).vectors.count(&loop) || places.count(resource), id, loop,
           "made early, though %v{} gets its value in the loop", resource);
    const int lanes = vector.shape.lanes;
    if (load.mask != kNoExpr) {
      need(kernel_.is_zero(load.other), id, loop, "made early with a value that is not 0 beside its mask");
      need(lanes == 1 || ((early.step == 1 || early.shared) && vector.lanes.is_same(load.mask)), id, loop,
           "made early behind a mask that differs between the lanes of a group");
    }
    const IntExpr offset = flat_offset(kernel_, load.access);
    if (early.shared)
      need(lanes > 1 && early.step == 0 && !early.from && vector.lanes.are_one(offset), id, loop,
           "read once for {} lanes, which read several elements", lanes);
    if (early.step == 0)
      return need(early.cached == Cached::Usual || (early.cached != Cached::Repeated && lanes == 1 && !early.from), id,
                  loop, "made for the caches as a group, which its {} lanes are not", lanes);
    need(lanes > 1 && std::abs(early.step) == 1 &&
             (early.next.empty() ? vector.lanes.are_neighbours(offset, early.step)
                                 : vector.lanes.are_apart(offset, early.apart())),
         id, loop, "one access for {} lanes that are no neighbours from a multiple on", lanes);
    if (!load.access.scratch) return aligned(id, load.access, lanes, loop);
    need(early.step == 1 && load.mask == kNoExpr && early.cached == Cached::Usual, id, loop,
         "a group of scratch that is no plain access");
  }

  // A load of an array that the phase does not store to, or of shared scratch that the loop does
  // not store to.
  const Load& unchanged(ExprId id, const Loop& loop) const {
    const auto* load = kernel_.at(id).get_if<Load>();
    if (load && load->access.scratch) {
      need(is_shared(kernel_, load->access) && !kernel_.buffers[static_cast<size_t>(load->access.array)].swizzled, id,
           loop, "made early from scratch{}, where neighbours do not lie beside each other", load->access.array);
      need(!stores_to_scratch(loop), id, loop, "made early from scratch{}, in a loop that stores to scratch",
           load->access.array);
      return *load;
    }
    need(load && !load->access.scratch, id, loop, "made early, but no load of an array");
    const auto array = static_cast<size_t>(load->access.array);
    need(!uses_.stored[array], id, loop, "made early from {}, which is stored to",
         param_name(kernel_, load->access.array));
    return *load;
  }

  // What a block accesses at once; `places` have been named before it.
  void at_once(const Block& block, const Roots& roots, const BlockAccesses& accesses, const Vector& vector,
               const std::set<LocalId>& places) const {
    for (const AdjacentLoads& run : accesses.loads) adjacent(run, block, roots, vector);
    for (const AdjacentStores& run : accesses.stores) {
      Places places;
      for (const int n : run.statements) {
        const Store& s = store_at(block, n, vector.loop);
        need(are_one(s.mask, run.mask, most_of(s.access)), s.value, vector.loop, "stored behind another mask");
        places.push_back(&s.access);
      }
      adjacent(places, store_at(block, run.statements.at(0), vector.loop).value, vector);
    }
    for (const GroupDraw& g : accesses.draws) drawn(g, vector);
    for (const GroupStore& g : accesses.group_stores) {
      const Store& s = store_at(block, g.statement, vector.loop);
      need(s.mask == kNoExpr || vector.lanes.is_same(s.mask), s.value, vector.loop,
           "stored at once behind a mask that differs between the lanes of a group");
      const IntExpr offset = flat_offset(kernel_, s.access);
      need(std::abs(g.step) == 1 && (g.next.empty() ? vector.lanes.are_neighbours(offset, g.step)
                                                    : g.step == 1 && vector.lanes.are_apart(offset, g.apart())),
           s.value, vector.loop, "stored at once to {}, whose lanes are no neighbours from a multiple on",
           access_text(kernel_, s.access));
      Places places_of_run{&s.access};
      for (const int n : g.next) {
        const Store& other = store_at(block, n, vector.loop);
        need(other.mask == kNoExpr && s.mask == kNoExpr, other.value, vector.loop, "stored with others behind a mask");
        places_of_run.push_back(&other.access);
      }
      in_turn(places_of_run, s.value, vector);
      if (g.copied) {
        need(g.step == 1 && s.later && s.mask == kNoExpr && block.size() == 1, s.value, vector.loop,
             "copied, though it need not come from memory alone");
        early_load({.load = s.value, .step = 1}, vector, places);
      }
      if (s.access.scratch)
        need(is_shared(kernel_, s.access), s.value, vector.loop, "stored at once to scratch of each thread");
      else
        aligned(s.value, s.access, vector.shape.lanes, vector.loop);
    }
  }

  // Every lane has the word that its element names.
  void drawn(const GroupDraw& group, const Vector& vector) const {
    const Loop& loop = vector.loop;
    const auto* random = kernel_.at(group.draw).get_if<Random>();
    const int lanes = std::max(vector.shape.lanes, vector.shape.draw_lanes);
    need(random && lanes > 1 && static_cast<int>(group.words.size()) == lanes, group.draw, loop,
         "words drawn for {} lanes", group.words.size());
    const IntExpr first = (vector.shape.peeled ? 1 : lanes) * IntExpr::symbol(Symbol::loop("group"));
    Ranges ranges = around_.ranges();
    ranges[Symbol::loop("group")] = {0, loop.extent - 1};
    const IntExpr base = group.base.substitute({{loop.var, first}}, ranges);
    for (int l = 0; l < lanes; ++l) {
      const int word = group.words[static_cast<size_t>(l)];
      need(word >= 0 && (random->element.substitute({{loop.var, first + l}}, ranges) - base).is(word), group.draw, loop,
           "lane {} does not take word {}", l, word);
    }
    need(!group.aligned || is_multiple_of(base.substitute(multiples_, Ranges::inside_loops()), 4), group.draw, loop,
         "blocks of words that begin between two of them");
  }

  // A store that may be made after its block: nothing there reads what it writes.
  const Store& store_at(const Block& block, int n, const Loop& loop) const {
    const auto* s =
        n >= 0 && static_cast<size_t>(n) < block.size() ? block[static_cast<size_t>(n)]->get_if<Store>() : nullptr;
    if (!s || s->atomic) fail(kernel_, "loop {}, {}: statement {} is no store", loop.var, name_of(variant_), n);
    for (size_t later = static_cast<size_t>(n) + 1; later < block.size(); ++later)
      visit_accesses(kernel_, *block[later], [&](const Access& access, bool stored) {
        const bool same = access.scratch == s->access.scratch && access.array == s->access.array;
        need(stored || !same, s->value, loop, "stored behind what reads {}", access_text(kernel_, access));
      });
    return *s;
  }

  int most_of(const Access& access) const { return 16 / size_of(kernel_.dtype_of(access)); }

  void adjacent(const AdjacentLoads& run, const Block& block, const Roots& roots, const Vector& vector) const {
    std::unordered_set<ExprId> below;
    visit_below(kernel_, roots, [&](ExprId id, const Expr&) { return below.insert(id).second; });
    std::set<int> given;
    for (const Stmt* s : block) {
      if (const auto local = given_by(*s)) given.insert(uses_.resource(*local));
      if (const auto* store = s->get_if<Store>()) given.insert(uses_.resource(store->access));
    }
    Places places;
    for (const ExprId id : run.loads) {
      const auto* load = kernel_.at(id).get_if<Load>();
      need(load && below.count(id), id, vector.loop, "loaded for statements that do not use it");
      for (const int resource : uses_.dependencies_of(id))
        need(!given.count(resource), id, vector.loop, "loaded before the block that changes it");
      const auto array = static_cast<size_t>(load->access.array);
      need(load->access.scratch ? kernel_.buffers[array].scope != Scope::Lane : !uses_.stored[array], id, vector.loop,
           "loaded at once from memory of single threads, or that is stored to");
      need(are_one(load->mask, run.mask, most_of(load->access)) && load->other == run.other, id, vector.loop,
           "loaded behind another mask");
      places.push_back(&load->access);
    }
    need(!places.empty(), run.loads.empty() ? 0 : run.loads[0], vector.loop, "no loads at once");
    adjacent(places, run.loads[0], vector);
  }

  using Places = std::vector<const Access*>;

  // Places of one array, each the element after the one before.
  void in_turn(const Places& places, ExprId id, const Vector& vector) const {
    const IntExpr first = flat_offset(kernel_, *places[0]);
    for (size_t k = 1; k < places.size(); ++k)
      need(places[k]->scratch == places[0]->scratch && places[k]->array == places[0]->array &&
               (flat_offset(kernel_, *places[k]) - first).is(static_cast<int64_t>(k)),
           id, vector.loop, "with {}, which is not the element after the one before", access_text(kernel_, *places[k]));
  }
  // Elements of one array that follow each other, from a multiple of their number on.
  void adjacent(const Places& places, ExprId id, const Vector& vector) const {
    const Access& first = *places[0];
    const auto count = static_cast<int64_t>(places.size());
    const IntExpr offset = flat_offset(kernel_, first);
    need(vector.shape.lanes == 1 && count > 1 && count <= most_of(first) && (count & (count - 1)) == 0, id, vector.loop,
         "{} elements at once", count);
    for (int64_t k = 1; k < count; ++k) {
      const Access& next = *places[static_cast<size_t>(k)];
      need(next.scratch == first.scratch && next.array == first.array && (flat_offset(kernel_, next) - offset).is(k),
           id, vector.loop, "{} does not follow {} after {} elements", access_text(kernel_, next),
           access_text(kernel_, first), k);
    }
    need(is_multiple_of(offset.substitute(multiples_, Ranges::inside_loops()), count), id, vector.loop,
         "{} elements at once from {}, which is no multiple", count, offset.str());
    if (!first.scratch) aligned(id, first, static_cast<int>(count), vector.loop);
  }

  // Whether two conditions hold in the same places: comparisons with a multiple of n, or of half of
  // it and so on, that differ by less.
  bool are_one(ExprId a, ExprId b, int n) const {
    if (a == b) return true;
    if (a == kNoExpr || b == kNoExpr) return false;
    Roots left, right;
    conjuncts(a, left);
    conjuncts(b, right);
    const auto has = [&](const Roots& all, ExprId id) {
      return std::any_of(all.begin(), all.end(), [&](ExprId other) { return is_one(id, other, n); });
    };
    return std::all_of(left.begin(), left.end(), [&](ExprId id) { return has(right, id); }) &&
           std::all_of(right.begin(), right.end(), [&](ExprId id) { return has(left, id); });
  }

  void conjuncts(ExprId id, Roots& all) const {
    const Apply* both = kernel_.at(id).as_apply(Op::And);
    if (!both) return all.push_back(id);
    for (const ExprId arg : both->args) conjuncts(arg, all);
  }

  // The same of conditions without an and.
  bool is_one(ExprId a, ExprId b, int n) const {
    if (a == b) return true;
    const auto *x = kernel_.at(a).get_if<Apply>(), *y = kernel_.at(b).get_if<Apply>();
    if (!x || !y || x->args.size() != 2 || y->args.size() != 2) return false;
    const auto left = holds_where(kernel_, *x), right = holds_where(kernel_, *y);
    if (!left || !right) return false;
    const int64_t here = constant_term(*left), there = constant_term(*right);
    if (!(*left - here == *right - there)) return false;
    const IntExpr rest = (*left - here).substitute(multiples_, Ranges::inside_loops());
    for (; n > 1; n /= 2)
      if (is_multiple_of(rest, n)) return floor_div(here, n) == floor_div(there, n);
    return here == there;
  }
  static int64_t floor_div(int64_t a, int64_t n) { return a >= 0 ? a / n : -((-a + n - 1) / n); }

  void aligned(ExprId id, const Access& access, int elements, const Loop& loop) const {
    const auto array = static_cast<size_t>(access.array);
    const int bytes = std::min(16, elements * size_of(kernel_.params[array].dtype));
    need(variant_.alignment[array] >= bytes, id, loop, "{} bytes at once from an address that is a multiple of {}",
         bytes, variant_.alignment[array]);
  }

  void from_lane(const FromLane& from, const std::vector<EarlyLoad>& early, const Vector& vector) const {
    const auto group =
        std::find_if(early.begin(), early.end(), [&](const EarlyLoad& e) { return e.load == from.group; });
    const auto* load = kernel_.at(from.load).get_if<Load>();
    const bool loaded = group != early.end() && group->step == 1;
    need(load && loaded, from.load, vector.loop, "taken from a group that is not loaded early");
    const auto& other = kernel_.at(from.group).get<Load>();
    const IntExpr apart = flat_offset(kernel_, load->access) - flat_offset(kernel_, other.access);
    need(other.mask == kNoExpr && !load->access.scratch && load->access.array == other.access.array &&
             apart.is(from.distance) && std::abs(from.distance) < vector.shape.lanes,
         from.load, vector.loop, "taken from {} elements further in {}", from.distance, expr_text(kernel_, from.group));
  }

  // Its value is that of all loops that use it.
  void held(ExprId id, const Vector& vector, bool repeated) const {
    const Loop& here = vector.loop;
    need(vector.shape.one_step && !repeated, id, here, "held, though the loop runs again, or in several steps");
    for (const Loop* loop : uses_.loops_of[static_cast<size_t>(id)]) {
      const bool alike = loop && loop->var == here.var && loop->extent == here.extent && !has_loops(*loop) &&
                         loop->team && loop->team->shapes.size() > number_ &&
                         loop->team->shapes[number_] == vector.shape;
      need(alike, id, here, "held for a loop that deals out its elements in another way");
      need(loop == &here || !met_.count(loop), id, here, "held behind a loop that uses it");
    }
  }

  void batch(const Loop& loop, const IterationLoads& batch, const Vector& vector) const {
    if (batch.iterations == 1) return;
    if (loop.kind != LoopKind::Serial || vector.shape.count() != 1)
      fail(kernel_, "loop {}, {}: loads of {} iterations at once", loop.var, name_of(variant_), batch.iterations);
    std::set<int> given;
    for_each_stmt(loop.body, [&](const Stmt& s) {
      if (const auto local = given_by(s)) given.insert(uses_.resource(*local));
    });
    for (const ExprId id : batch.loads) {
      const Load& load = unchanged(id, loop);
      need(load.mask == kNoExpr || kernel_.is_zero(load.other), id, loop, "made before its iteration, or not 0");
      for (const int resource : uses_.dependencies_of(id))
        need(!given.count(resource), id, loop, "made before its iteration, which gives %v{} its value", resource);
    }
  }

  const Kernel& kernel_;
  const Variant& variant_;
  const size_t number_;
  const PhaseUses& uses_;
  const Multiples multiples_;
  SymbolsAround around_;
  std::set<const Loop*> met_;
};

}  // namespace

void verify_team_accesses(const Kernel& kernel) {
  for (const Phase& phase : kernel.phases) {
    if (phase.variants.empty()) continue;
    const PhaseUses uses(kernel, phase);
    for (size_t v = 0; v < phase.variants.size(); ++v) AccessVerifier(kernel, phase, uses, v).block(phase.body);
  }
}

}  // namespace smelt::kernel
