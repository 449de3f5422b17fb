#include "kernel/narrow_sums.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/integer_ranges.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The bytes of the widest lanes that a value comes from.
int width_of(const Kernel& kernel, ExprId id, int depth = 0) {
  constexpr int kDeepest = 12;
  const Expr& e = kernel.at(id);
  if (e.is<Const>()) return 1;
  int widest = is_bool(e.dtype) ? 1 : size_of(e.dtype);
  if (depth == kDeepest) return widest;
  const auto* cast = e.get_if<Cast>();
  if (cast && !is_float(kernel.at(cast->x).dtype)) return width_of(kernel, cast->x, depth + 1);
  if (const auto* apply = e.get_if<Apply>()) {
    widest = 1;
    for (const ExprId arg : apply->args) widest = std::max(widest, width_of(kernel, arg, depth + 1));
  }
  return widest;
}

// The sums of a phase: integer locals that start from 0 and are added to, and the scratch buffers
// that these are kept in between.
class SumsOfPhase {
 public:
  // `elsewhere`: locals that other phases use too.
  SumsOfPhase(Kernel& kernel, Phase& phase, std::set<LocalId> elsewhere)
      : kernel_(kernel),
        phase_(phase),
        on_gpu_(kernel.dialect != Dialect::Portable),
        elsewhere_(std::move(elsewhere)),
        around_(kernel),
        ranges_(kernel),
        rewriter_(kernel) {}

  bool run() {
    for (const IndexLocal& l : kernel_.index_locals) faulty_.insert(l.local);
    look(phase_.body);
    std::set<Key> tried;
    for (const Add& add : adds_)
      if (const Key sum = root(add.sum); tried.insert(sum).second) narrow(sum);
    if (types_.empty()) return false;
    replace_reads();
    rewrite(phase_.body);
    return true;
  }

 private:
  using Key = int;                   // of a local; of a buffer, ~buffer
  using Path = std::vector<size_t>;  // places in loops_, outermost first
  struct Around {
    Symbol var;
    double times;  // at most
    bool vector;
  };
  struct Start {
    Key sum;
    Path path;
    int when;
    bool comes_before(const Path& other, int then) const {
      return when < then && path.size() <= other.size() && std::equal(path.begin(), path.end(), other.begin());
    }
  };
  struct Add {
    Key sum;
    Path path;
    int when;
    ExprId value;
    bool own;  // each lane of the innermost loop has an element of its own
  };
  // What a local holds, from a load to a store in the same loop.
  struct Element {
    size_t loop;
    Access access;
  };

  Key root(Key key) const {
    for (auto found = parent_.find(key); found != parent_.end(); found = parent_.find(key)) key = found->second;
    return key;
  }
  void link(Key a, Key b) {
    if (a = root(a), b = root(b); a != b) parent_[a] = b;
  }

  void look(const std::vector<Stmt>& body) {
    const SymbolsAround::Scope scope(around_);
    for (const Stmt& s : body) {
      ++now_;
      statement(s);
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const auto* below = body_of(s);
      if (!below) continue;
      const SymbolsAround::Scope own(around_);
      const auto* loop = s.get_if<Loop>();
      const auto* each = s.get_if<Each>();
      if (!loop && !each) {
        ++conditions_;
        look(*below);
        --conditions_;
        continue;
      }
      path_.push_back(loops_.size());
      loops_.push_back(
          {*variable_of(s), most(loop ? loop->extent : each->extent), loop && loop->kind == LoopKind::Vector});
      around_.enter_body_of(s);
      look(*below);
      path_.pop_back();
    }
  }

  // At most so many iterations; a power of 4 where that is no number.
  double most(const IntExpr& extent) const {
    if (const auto count = extent.constant()) return static_cast<double>(*count);
    for (int64_t count = 16; count <= kMostIterations; count *= 4)
      if (proves_le(extent, count, around_.ranges())) return static_cast<double>(count);
    return HUGE_VAL;
  }

  void statement(const Stmt& s) {
    if (const auto* let = s.get_if<Let>()) faulty_.insert(let->local);
    if (const auto* assigned = s.get_if<Assign>()) assign(*assigned);
    if (const auto* stored = s.get_if<Store>(); stored && stored->access.scratch) store(*stored);
    if (const auto* scanned = s.get_if<Scan>()) scan(*scanned);
    if (const auto* turn = s.get_if<Turn>()) faulty_.insert({~turn->into.array, ~turn->from.array});
    if (const auto* tiles = s.get_if<TileProduct>()) faulty_.insert(~tiles->into.array);
    if (const auto* combined = s.get_if<Combine>()) {
      if (combined->op != Op::Add || combined->index_local >= 0)
        faulty_.insert({combined->local, combined->index_local});
      shared_.insert(combined->local);
    }
    visit_accesses(kernel_, s, [&](const Access& access, bool stored) {
      if (access.scratch && !stored && is_masked(s)) faulty_.insert(~access.array);
    });
  }

  // On a GPU, whose threads exchange the sums; lanes of a CPU would be widened one by one.
  void scan(const Scan& s) {
    if (!on_gpu_ || s.op != Op::Add || s.factor != kNoExpr || s.over_grid || !kernel_.is_zero(s.start)) {
      faulty_.insert({s.local, s.carry});
      return;
    }
    link(s.local, s.carry);
    shared_.insert(s.carry);
    adds_.push_back({s.carry, path_, now_, s.value, false});
  }

  // Whether something that it loads from scratch has a mask, and so another value.
  bool is_masked(const Stmt& s) const {
    return any_below(kernel_, expressions(s), [](const Expr& e) {
      const auto* load = e.get_if<Load>();
      return load && load->access.scratch && load->mask != kNoExpr;
    });
  }

  void start(Key sum, Path path) {
    if (conditions_ > 0) faulty_.insert(sum);
    starts_.push_back({sum, std::move(path), now_});
  }

  void assign(const Assign& s) {
    const Expr& value = kernel_.at(s.value);
    if (const auto added = added_by(s)) {
      const auto held = held_.find(s.local);
      adds_.push_back({s.local, path_, now_, *added, held != held_.end() && is_own(held->second)});
      return;
    }
    held_.erase(s.local);
    if (kernel_.is_zero(s.value)) return start(s.local, path_);
    const auto* load = value.get_if<Load>();
    if (!load || !load->access.scratch || path_.empty()) return void(faulty_.insert(s.local));
    link(s.local, ~load->access.array);
    loaded_.insert(~load->access.array);
    held_.insert_or_assign(s.local, Element{path_.back(), load->access});
  }

  // What an assignment adds to its local, if it does that.
  std::optional<ExprId> added_by(const Assign& s) const {
    const auto* sum = kernel_.at(s.value).as_apply(Op::Add);
    for (size_t n = 0; sum && n < 2; ++n)
      if (reads(sum->args[n], s.local)) return sum->args[1 - n];
    return std::nullopt;
  }
  bool reads(ExprId id, LocalId local) const {
    const auto* read = kernel_.at(id).get_if<ReadLocal>();
    return read && read->local == local;
  }

  bool is_own(const Element& held) const {
    if (held.loop != path_.back() || !loops_[held.loop].vector) return false;
    const auto apart = [&](const IntExpr& i) {
      const auto step = i.coefficient_of(loops_[held.loop].var);
      return step && step->constant().value_or(0) != 0;
    };
    return std::any_of(held.access.index.begin(), held.access.index.end(), apart);
  }

  void store(const Store& s) {
    const Key buffer = ~s.access.array;
    if (s.mask != kNoExpr || s.atomic || s.cursor) return void(faulty_.insert(buffer));
    if (kernel_.is_zero(s.value)) {
      Path path = path_;
      if (!path.empty() && loops_[path.back()].vector) path.pop_back();
      return start(buffer, std::move(path));
    }
    const auto* read = kernel_.at(s.value).get_if<ReadLocal>();
    if (!read) return void(faulty_.insert(buffer));
    link(read->local, buffer);
    const auto held = held_.find(read->local);
    const bool back = held != held_.end() && held->second.loop == path_.back() &&
                      held->second.access.array == s.access.array && held->second.access.index == s.access.index;
    if (!back) shared_.insert(buffer);
  }

  DType type_of(Key key) const {
    return key < 0 ? kernel_.buffers[static_cast<size_t>(~key)].dtype : kernel_.locals[static_cast<size_t>(key)].dtype;
  }
  bool is_of(Key key, Key sum) const { return root(key) == sum; }

  // Gives what belongs to a sum a narrower type, where it fits one.
  void narrow(Key sum) {
    std::set<Key> members{sum};
    for (const auto& [key, parent] : parent_)
      if (is_of(key, sum)) members.insert(key);
    for (const Add& add : adds_)
      if (is_of(add.sum, sum)) members.insert(add.sum);
    const DType wide = type_of(sum);
    const auto fits = [&](Key key) { return !faulty_.count(key) && type_of(key) == wide; };
    if (!is_int(wide) || !std::all_of(members.begin(), members.end(), fits)) return;
    if (const auto type = narrowest(sum, members, size_of(wide)))
      for (const Key key : members) types_[key] = *type;
  }

  std::optional<DType> narrowest(Key sum, const std::set<Key>& members, int below) {
    const bool shared = std::any_of(members.begin(), members.end(), [&](Key key) { return shared_.count(key) > 0; });
    Between total;
    int width = on_gpu_ ? 4 : 1;  // registers have 32 bits there
    for (const Add& add : adds_) {
      if (!is_of(add.sum, sum)) continue;
      const auto begins = first_path(add, sum, members);
      if (!begins) return std::nullopt;
      double times = 1;
      for (size_t n = *begins; n < add.path.size(); ++n)
        if (n + 1 < add.path.size() || !add.own || shared) times *= loops_[add.path[n]].times;
      const Between value = ranges_.of(add.value);
      total.low += times * std::min(0., value.low);
      total.high += times * std::max(0., value.high);
      width = std::max(width, std::min(width_of(kernel_, add.value), 4));
    }
    for (const auto& [narrow, natural] :
         {std::pair{DType::I8, DType::U8}, {DType::I16, DType::U16}, {DType::I32, DType::U32}}) {
      const DType type = total.low < 0 ? narrow : natural;
      if (size_of(type) >= width && size_of(type) < below && total.within(all_of(type))) return type;
    }
    return std::nullopt;
  }

  // How many loops are around the start of a sum, at least; nothing where that is not known.
  // What is loaded from a buffer was put there since that started.
  std::optional<size_t> first_path(const Add& add, Key sum, const std::set<Key>& members) const {
    std::optional<size_t> first;
    std::set<Key> started;
    for (const Start& s : starts_) {
      if (!is_of(s.sum, sum) || !s.comes_before(add.path, add.when)) continue;
      first = std::min(first.value_or(s.path.size()), s.path.size());
      started.insert(s.sum);
    }
    for (const Key key : members)
      if (key < 0 && loaded_.count(key) && !started.count(key)) return std::nullopt;
    return first;
  }

  ExprId made(Expr e) {
    kernel_.exprs.push_back(std::move(e));
    return static_cast<ExprId>(kernel_.exprs.size()) - 1;
  }

  // Whatever else reads them gets the wide value.
  void replace_reads() {
    for (const auto& [key, type] : types_) {
      if (key < 0) {
        kernel_.buffers[static_cast<size_t>(~key)].dtype = type;
        continue;
      }
      locals_[key] = key;
      if (elsewhere_.count(key)) {
        locals_[key] = static_cast<LocalId>(kernel_.locals.size());
        kernel_.locals.push_back({type, true});
      } else {
        kernel_.locals[static_cast<size_t>(key)].dtype = type;
      }
    }
    const auto before = static_cast<ExprId>(kernel_.exprs.size());
    for (ExprId id = 0; id < before; ++id) {
      const Expr e = kernel_.at(id);
      const auto* load = e.get_if<Load>();
      const auto* read = e.get_if<ReadLocal>();
      if (!read && (!load || !load->access.scratch)) continue;
      const auto type = types_.find(read ? read->local : ~load->access.array);
      if (type == types_.end()) continue;
      narrow_[id] = read ? made({type->second, ReadLocal{locals_.at(read->local)}}) : made({type->second, *load});
      rewriter_.replace(id, made({e.dtype, Cast{narrow_.at(id), true}}));
    }
  }

  void rewrite(std::vector<Stmt>& body) {
    for (Stmt& s : body) {
      auto* assigned = s.get_if<Assign>();
      auto* stored = s.get_if<Store>();
      auto* combined = s.get_if<Combine>();
      auto* scanned = s.get_if<Scan>();
      if (assigned && types_.count(assigned->local)) {
        assigned->value = narrowed(*assigned, types_.at(assigned->local));
        assigned->local = locals_.at(assigned->local);
      } else if (stored && stored->access.scratch && types_.count(~stored->access.array)) {
        stored->value = narrowed(stored->value, types_.at(~stored->access.array));
      } else if (scanned && types_.count(scanned->carry)) {
        const DType type = types_.at(scanned->carry);
        scanned->value = narrowed(scanned->value, type);
        scanned->start = narrowed(scanned->start, type);
        if (scanned->restarts != kNoExpr) scanned->restarts = rewriter_(scanned->restarts);
        scanned->local = locals_.at(scanned->local);
        scanned->carry = locals_.at(scanned->carry);
      } else {
        if (combined && types_.count(combined->local)) combined->local = locals_.at(combined->local);
        for_each_expression(s, [&](ExprId& id) { id = rewriter_(id); });
      }
      if (auto* below = body_of(s)) rewrite(*below);
    }
  }

  ExprId narrowed(const Assign& s, DType type) {
    const auto added = added_by(s);
    if (!added) return narrowed(s.value, type);
    const auto& args = kernel_.at(s.value).as_apply(Op::Add)->args;
    const ExprId sum = narrow_.at(args[reads(args[0], s.local) ? 0 : 1]);
    const ExprId result = made({type, Apply{Op::Add, {sum, narrowed(*added, type)}}});
    if (const auto label = kernel_.labels.find(s.value); label != kernel_.labels.end())
      kernel_.labels[result] = std::string(label->second);
    return result;
  }

  ExprId narrowed(ExprId value, DType type) {
    if (const Scalar* known = kernel_.constant_at(value)) return made({type, Const{convert(*known, type)}});
    const auto found = narrow_.find(value);
    value = found != narrow_.end() ? found->second : rewriter_(value);
    const auto* cast = kernel_.at(value).get_if<Cast>();
    const bool is_same =
        cast && !is_float(kernel_.at(cast->x).dtype) && ranges_.of(cast->x).within(all_of(kernel_.at(value).dtype));
    if (is_same) value = cast->x;
    return kernel_.at(value).dtype == type ? value : made({type, Cast{value, true}});
  }

  static constexpr int64_t kMostIterations = int64_t{1} << 30;

  Kernel& kernel_;
  Phase& phase_;
  const bool on_gpu_;
  const std::set<LocalId> elsewhere_;
  SymbolsAround around_;
  IntegerRanges ranges_;
  Rewriter rewriter_;
  Path path_;
  std::vector<Around> loops_;
  int now_ = 0, conditions_ = 0;
  std::vector<Start> starts_;
  std::vector<Add> adds_;
  std::map<LocalId, Element> held_;
  std::map<Key, Key> parent_;  // of what holds parts of one sum
  std::set<Key> faulty_;       // not only added to
  std::set<Key> shared_;       // lanes add to one another's
  std::set<Key> loaded_;       // buffers that sums are continued from
  std::map<Key, DType> types_;
  std::map<LocalId, LocalId> locals_;  // the narrow ones
  std::map<ExprId, ExprId> narrow_;    // of reads of these
};

// How many phases use each local.
std::map<LocalId, int> phases_of_locals(const Kernel& kernel) {
  std::map<LocalId, int> phases;
  for (const Phase& phase : kernel.phases) {
    std::set<LocalId> here;
    for_each_stmt(phase.body, [&](const Stmt& s) {
      if (const auto local = given_by(s)) here.insert(*local);
    });
    for (const LocalId local : here) ++phases[local];
  }
  return phases;
}

}  // namespace

bool narrow_sums(Kernel& kernel) {
  std::set<LocalId> elsewhere;
  for (const auto& [local, phases] : phases_of_locals(kernel))
    if (phases > 1) elsewhere.insert(local);
  bool changed = false;
  for (Phase& phase : kernel.phases) changed = SumsOfPhase(kernel, phase, elsewhere).run() || changed;
  if (changed) remove_dead_code(kernel);  // which has the wide types
  return changed;
}

}  // namespace smelt::kernel
