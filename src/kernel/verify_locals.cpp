// The flow of values through locals and scratch: what is read has a value, and one value where one
// is needed.
//
// A local that is assigned inside a Vector (or Thread) loop and declared outside of it differs from
// lane to lane (from thread to thread) until Combine; it may then be read in such a loop only. What
// a block declares ends with the block.
#include <map>
#include <set>

#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Sets of loops that a value differs over.
using Over = unsigned;
constexpr Over kNothing = 0, kLanes = 1, kThreadLoop = 2;

Over over(LoopKind kind) {
  return kind == LoopKind::Vector ? kLanes : kind == LoopKind::Thread ? kThreadLoop : kNothing;
}

struct Value {
  Over differs = kNothing;   // over what its values differ
  Over declared = kNothing;  // the loops around its declaration
  int lanes = 0;             // of the Vector loop that it differs over
  int columns = 0;           // of those lanes, when each has the value of its column
};

struct State {
  std::map<LocalId, Value> locals;
  std::set<int> scratch;
};

class Flow {
 public:
  explicit Flow(const Kernel& kernel) : kernel_(kernel) {}

  void run() {
    for (const Phase& phase : kernel_.phases) {
      state_ = {};
      on_gpu_ = phase.team.threads > 0;
      team_threads_ = phase.team.threads;
      block(phase.body);
    }
  }

 private:
  // What a block leaves behind: nothing new, but changes to what was there.
  void block(const std::vector<Stmt>& body) {
    const State before = state_;
    for (const Stmt& s : body) statement(s);
    for (auto it = state_.locals.begin(); it != state_.locals.end();)
      it = before.locals.count(it->first) ? std::next(it) : state_.locals.erase(it);
    state_.scratch = before.scratch;
  }

  // A block that runs any number of times, or not at all.
  void maybe(const std::vector<Stmt>& body) {
    const State before = state_;
    block(body);
    for (auto& [id, value] : state_.locals) {
      const Value& old = before.locals.at(id);
      value.differs |= old.differs;
      value.lanes = std::max(value.lanes, old.lanes);
      value.columns = std::max(value.columns, old.columns);
    }
  }

  void statement(const Stmt& s) {
    s.match([&](const Loop& around) { loop(around); },
            [&](const If& branch) {
              if (differs_over_lanes(branch.condition))
                fail(kernel_, "the condition {} differs from lane to lane", expr_text(kernel_, branch.condition));
              read(branch.condition);
              maybe(branch.body);
            },
            [&](const Each& each) {
              read_indices({each.extent}, "each " + each.var.str());
              read(each.condition);
              maybe(each.body);
              maybe(each.body);
            },
            [&](const Let& let) {
              read(let.value);
              state_.locals[let.local] = {differs_over_lanes(let.value) ? kLanes : kNothing, around_, lanes_, columns_};
            },
            [&](const Assign& assigned) { assign(assigned); },
            [&](const Combine& combined) {
              if (on_gpu_ && (team_threads_ & (team_threads_ - 1)) != 0)
                fail(kernel_, "{} threads join what they have, which takes a power of two", team_threads_);
              combine(combined.local, combined.columns);
              if (combined.index_local >= 0) combine(combined.index_local, combined.columns);
            },
            [&](const Scan& scanned) { scan(scanned); },
            [&](const Alloc& alloc) {
              if (!state_.scratch.insert(alloc.buffer).second)
                fail(kernel_, "scratch{} is allocated twice", alloc.buffer);
            },
            [&](const Turn& turn) {
              for (const Access* a : {&turn.into, &turn.from}) {
                need_scratch(*a);
                read_indices(a->index, "a turned block");
              }
            },
            [&](const TileProduct& tiles) {
              for (const Access* a : {&tiles.rows, &tiles.columns, &tiles.into}) {
                need_scratch(*a);
                read_indices(a->index, "a product of tiles");
              }
            },
            [&](const Matrix& matrix) {
              for (const int b : {matrix.rows, matrix.columns, matrix.into})
                if (b >= 0) need_scratch({true, b, {}});
              for (const int f : {matrix.fragment, matrix.by})
                if (f >= 0 && kernel_.fragments[static_cast<size_t>(f)].registers >= 0)
                  need_scratch({true, kernel_.fragments[static_cast<size_t>(f)].registers, {}});
            },
            [](const Barrier&) {}, [&](const Prefetch& prefetch) { read_indices({prefetch.offset}, "a prefetch"); },
            [&](const Store& store) {
              read(store.value);
              if (store.mask != kNoExpr) read(store.mask);
              need_scratch(store.access);
              read_indices(store.access.index, "store " + access_text(kernel_, store.access));
              if (store.cursor) read_indices(store.cursor->index, "append by " + access_text(kernel_, *store.cursor));
            });
  }

  void loop(const Loop& s) {
    read_indices({s.extent}, "loop " + s.var.str());
    const Over around = around_;
    const int lanes = lanes_;
    const int columns = columns_;
    const std::optional<Symbol> vector = vector_;
    around_ |= over(s.kind);
    if (s.kind == LoopKind::Vector) {
      if (s.columns) check_columns(s);
      lanes_ = on_gpu_ ? 1 : s.lanes, columns_ = s.columns, vector_ = s.var;
    }
    maybe(s.body);
    maybe(s.body);  // again: a later iteration begins with what an earlier one left
    if (s.interior) maybe(s.interior->body);
    around_ = around, lanes_ = lanes, columns_ = columns, vector_ = vector;
  }

  // A step of the team takes whole rows, with as many lanes to a thread as the loop says and with
  // one.
  void check_columns(const Loop& s) const {
    if (!on_gpu_ || s.columns % s.lanes != 0 || team_threads_ % s.columns != 0)
      fail(kernel_, "{} threads of {} lanes do not take whole rows of {} columns", team_threads_, s.lanes, s.columns);
    for (const Stmt& inner : s.body)
      if (inner.is<Loop>() || inner.is<Scan>() || inner.is<Each>())
        fail(kernel_, "a loop or scan inside of a Vector loop over columns");
  }

  void assign(const Assign& s) {
    read(s.value);
    auto [it, fresh] = state_.locals.try_emplace(s.local);
    Value& value = it->second;
    if (fresh) value.declared = around_;
    value.differs = around_ & ~value.declared;
    if (differs_over_lanes(s.value)) value.differs |= kLanes;
    if (value.differs & kLanes) value.lanes = lanes_;
    value.columns = columns_;
  }

  void scan(const Scan& s) {
    read(s.value);
    if (s.restarts != kNoExpr) read(s.restarts);
    if (s.factor != kNoExpr) read(s.factor);
    auto carry = state_.locals.find(s.carry);
    if (carry == state_.locals.end()) fail(kernel_, "scan %v{}: %v{} has no value to go on from", s.local, s.carry);
    if (carry->second.declared & kLanes) fail(kernel_, "scan %v{}: %v{} ends with the loop", s.local, s.carry);
    if (carry->second.differs) fail(kernel_, "scan %v{}: %v{} differs from lane to lane", s.local, s.carry);
    state_.locals[s.local] = {kLanes, around_, lanes_};
  }

  void combine(LocalId id, int columns) {
    auto it = state_.locals.find(id);
    if (it == state_.locals.end()) fail(kernel_, "combine of %v{} before it has a value", id);
    if (!(it->second.differs & kLanes)) fail(kernel_, "combine of %v{}: it has one value already", id);
    if (around_ & kLanes) fail(kernel_, "combine of %v{} inside the loop that it combines", id);
    if (columns != it->second.columns)
      fail(kernel_, "combine of %v{} over {} columns, of which its loop has {}", id, columns, it->second.columns);
    if (!columns) it->second.differs &= ~kLanes;
  }

  // Checks all that the value of `id` reads.
  void read(ExprId root) {
    visit_below(kernel_, {root}, [&](ExprId id, const Expr& e) {
      if (const auto* read = e.get_if<ReadLocal>()) read_local(read->local, expr_text(kernel_, id));
      if (const auto* load = e.get_if<Load>()) {
        need_scratch(load->access);
        read_indices(load->access.index, "load " + access_text(kernel_, load->access));
      } else {
        for_each_index(e, [&](const IntExpr& i) { read_indices({i}, "index " + i.str()); });
      }
      return true;
    });
  }

  void read_local(LocalId id, const std::string& where) const {
    auto it = state_.locals.find(id);
    if (it == state_.locals.end()) fail(kernel_, "{}: %v{} is read before it has a value", where, id);
    const Value& value = it->second;
    if (value.differs & ~around_)
      fail(kernel_, "{}: %v{} has one value per {} here; combine it first", where, id,
           value.differs & ~around_ & kLanes ? "lane" : "thread");
    if ((value.differs & kLanes) && value.lanes != lanes_)
      fail(kernel_, "{}: %v{} has {} lanes, but the vector loop here has {}", where, id, value.lanes, lanes_);
    if ((value.differs & kLanes) && value.columns != columns_)
      fail(kernel_, "{}: %v{} has {} columns, but the vector loop here has {}", where, id, value.columns, columns_);
  }

  // Index expressions may name locals.
  void read_indices(const std::vector<IntExpr>& indices, const std::string& where) const {
    if (kernel_.index_locals.empty()) return;
    for (const IntExpr& i : indices)
      for (const Symbol s : i.symbols())
        if (s.is_local()) read_local(s.local_id(), where);
  }

  void need_scratch(const Access& a) const {
    if (a.scratch && !state_.scratch.count(a.array))
      fail(kernel_, "{}: scratch{} is used before it is allocated", access_text(kernel_, a), a.array);
  }

  // Whether the value of `id` may differ between the lanes of the Vector loop around.
  bool differs_over_lanes(ExprId id) const {
    if (!(around_ & kLanes)) return false;
    const auto differs = [&](const IntExpr& i) { return differs_over_lanes(i); };
    return any_below(kernel_, {id}, [&](const Expr& e) {
      const auto* read = e.get_if<ReadLocal>();
      return (read && differs_over_lanes_local(read->local)) || any_index(e, differs);
    });
  }
  bool differs_over_lanes_local(LocalId id) const {
    auto it = state_.locals.find(id);
    return it != state_.locals.end() && (it->second.differs & kLanes);
  }
  bool differs_over_lanes(const IntExpr& e) const {
    return e.any_symbol(
        [&](Symbol s) { return s == vector_ || (s.is_local() && differs_over_lanes_local(s.local_id())); });
  }

  const Kernel& kernel_;
  State state_;
  Over around_ = kNothing;  // the loops around this place
  int lanes_ = 0;           // of the Vector loop around; a GPU keeps lanes in the same threads, however it takes them
  int columns_ = 0;         // of the Vector loop around
  bool on_gpu_ = false;
  int team_threads_ = 0;
  std::optional<Symbol> vector_;  // its variable
};

}  // namespace

void verify_locals(const Kernel& kernel) { Flow(kernel).run(); }

}  // namespace smelt::kernel
