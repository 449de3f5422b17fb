#include "kernel/prefetch.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "kernel/build.hpp"
#include "kernel/conditions.hpp"
#include "kernel/invariants.hpp"
#include "kernel/offset.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The processor's own prefetcher finds shorter rows; longer ones would push out the row at hand. It
// does not find the next row where elements and rows go opposite ways in memory.
constexpr int64_t kLeastBytes = 2048, kLeastBackwards = 512, kMostBytes = 256 << 10;
// Reads of columns no further apart are served by one of them, and rows that the same loop reads
// later are at most so many apart.
constexpr int64_t kNeighbours = 64, kMostRowsApart = 8;
constexpr int64_t kMostParts = 4;          // of a row, each fetched by another loop
constexpr int64_t kMostOutside = 512;      // elements that a masked read is outside of its array along an axis
constexpr int64_t kFirstLevel = 32 << 10;  // rows up to this go to the first-level cache, others to the second
// Along a loop: so many bytes ahead, of larger arrays than this, at most so many of them.
constexpr int64_t kAhead = 3072, kNear = 1 << 20;
constexpr size_t kMostStreams = 6;

Loop* vector_loop(Stmt& s) {
  Loop* loop = loop_of(s, LoopKind::Vector);
  return loop && loop->lanes > 1 ? loop : nullptr;
}

void collect_vector_loops(std::vector<Stmt>& body, std::vector<Loop*>& into) {
  for (Stmt& s : body) {
    if (Loop* loop = vector_loop(s))
      into.push_back(loop);
    else if (auto* inside = body_of(s))
      collect_vector_loops(*inside, into);
  }
}

std::vector<ExprId> values_of(const Loop& loop) {
  std::vector<ExprId> roots;
  for (const Stmt& s : loop.body)
    if (const ExprId* value = value_of(s)) roots.push_back(*value);
  return roots;
}

// How many operations an element of a loop takes, without those that all elements share.
int64_t operations(const Kernel& kernel, const Loop& loop) {
  std::set<LocalId> given;
  for_each_stmt(loop.body, [&](const Stmt& s) {
    if (const auto local = given_by(s)) given.insert(*local);
  });
  const auto moves = [&](const IntExpr& index) { return index.mentions(loop.var); };
  const auto is_same = [&](const Expr& e) {
    if (const auto* read = e.get_if<ReadLocal>()) return given.count(read->local) == 0;
    if (const auto* load = e.get_if<Load>())
      return std::none_of(load->access.index.begin(), load->access.index.end(), moves);
    if (const auto* index = e.get_if<IndexValue>()) return !moves(index->value);
    return !e.is<Random>();
  };
  const auto same = same_below(kernel, values_of(loop), is_same);
  return std::count_if(same.begin(), same.end(),
                       [&](const auto& found) { return !found.second && kernel.at(found.first).template is<Apply>(); });
}

// `e` where every minimum and maximum of `symbol` is the side that goes with it, as in the middle
// of an array.
IntExpr stepping(const IntExpr& e, Symbol symbol) {
  IntExpr result;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      const bool clamp = a->kind == AtomKind::Min || a->kind == AtomKind::Max;
      const bool one = clamp && a->a.mentions(symbol) != a->b.mentions(symbol);
      product = product * (one ? stepping(a->a.mentions(symbol) ? a->a : a->b, symbol) : IntExpr::of_term({1, {a}}));
    }
    result = result + product;
  }
  return result;
}

// Neighbouring elements of the loop are neighbours in memory.
bool is_contiguous(const IntExpr& offset, Symbol var) {
  const auto step = offset.coefficient_of(var);
  return step && step->is(1) && !(offset - IntExpr::symbol(var)).mentions(var);
}

// -1 or 1 where every term has this sign; sizes are never negative.
int sign_of(const IntExpr& e) {
  int sign = 0;
  for (const IntExpr::Term& term : e.terms()) {
    const int own = term.coefficient < 0 ? -1 : 1;
    if (sign == -own) return 0;
    sign = own;
  }
  return sign;
}

using Known = std::set<Symbol>;  // symbols with a value

bool knows(const Known& known, const IntExpr& e) {
  return !e.any_symbol([&](Symbol s) { return known.count(s) == 0; });
}

// The variables of the loops around `loop`; whether it is inside the body at all.
bool collect_around(const std::vector<Stmt>& body, const Loop* loop, Known& into) {
  for (const Stmt& s : body) {
    if (s.get_if<Loop>() == loop) return true;
    const auto* inside = body_of(s);
    if (!inside || !collect_around(*inside, loop, into)) continue;
    if (const auto var = variable_of(s)) into.insert(*var);
    return true;
  }
  return false;
}

// The Serial loop around whose Vector loops fetch what they read in later iterations of it.
struct Rows {
  const Loop* loop;
  std::vector<const Loop*> inside;
};

class Prefetches {
 public:
  explicit Prefetches(Kernel& kernel) : kernel_(kernel), around_(kernel) {
    for (const Param& p : kernel.params)
      if (p.symbol) sizes_.insert(*p.symbol);
  }

  bool run() {
    for (Phase& phase : kernel_.phases)
      for (Stmt& grid : phase.body)
        if (Loop* loop = loop_of(grid, LoopKind::Grid)) between_passes(*loop);
    for (Phase& phase : kernel_.phases) down_rows(phase.body, sizes_, nullptr);
    for (Phase& phase : kernel_.phases)
      for (Stmt& grid : phase.body)
        if (Loop* loop = loop_of(grid, LoopKind::Grid)) {
          std::vector<Loop*> inside;
          collect_vector_loops(loop->body, inside);
          if (std::any_of(inside.begin(), inside.end(), [&](Loop* l) { return found_.contains(l); })) continue;
          Known known = sizes_;
          known.insert(loop->var);
          std::vector<Stream> before;
          along_loops(loop->body, {known, loop, before});
        }
    for (auto& [loop, fetches] : found_)
      loop->body.insert(loop->body.begin(), std::make_move_iterator(fetches.begin()),
                        std::make_move_iterator(fetches.end()));
    return !found_.empty();
  }

 private:
  int64_t element_bytes(int param) const { return size_of(kernel_.params[static_cast<size_t>(param)].dtype); }

  static int level_of(int64_t bytes) { return bytes <= kFirstLevel ? 1 : 2; }

  // A part of the elements of a step of the loop, from `offset` on.
  void add(Loop& loop, int param, const IntExpr& offset, int64_t parts, int level) {
    found_[&loop].push_back(Prefetch{param, offset, std::max<int64_t>(1, loop.lanes / parts), level});
  }

  void between_passes(Loop& grid) {
    std::vector<Loop*> loops;
    collect_vector_loops(grid.body, loops);
    if (loops.empty()) return;
    Loop* target = loops.back();
    for (size_t i = 1; i + 1 < loops.size(); ++i)
      if (operations(kernel_, *loops[i]) > 2 * operations(kernel_, *target)) target = loops[i];
    Known around = sizes_;
    around.insert({grid.var, target->var});
    collect_around(grid.body, target, around);
    visit_below(kernel_, values_of(*loops.front()), [&](ExprId, const Expr& e) {
      if (const auto* load = e.get_if<Load>(); load && !load->access.scratch && load->mask == kNoExpr)
        of_next_row(*target, grid.var, around, load->access, loops.size() > 1);
      return true;
    });
  }

  // The next row in the order of memory, also where the loop reads rows from their ends.
  void of_next_row(Loop& loop, Symbol row, const Known& around, const Access& access, bool several_passes) {
    IntExpr offset = flat_offset(kernel_, access);
    const bool mirrored = is_contiguous(-1 * offset, loop.var);
    if (mirrored) offset = offset.substitute({{loop.var, loop.extent - 1 - IntExpr::symbol(loop.var)}}, {});
    if (!is_contiguous(offset, loop.var)) return;
    const IntExpr next = offset.substitute({{row, IntExpr::symbol(row) + 1}}, {});
    const IntExpr distance = next - offset;
    const int way = sign_of(distance);
    if (way == 0 || distance.mentions(row) || distance.mentions(loop.var) || !knows(around, next)) return;
    const bool backwards = mirrored == (way > 0);
    if (!several_passes && !backwards) return;
    const int64_t size = element_bytes(access.array);
    const int64_t bytes = std::abs(distance.constant().value_or(kFirstLevel / size + 1)) * size;
    if (bytes < (backwards ? kLeastBackwards : kLeastBytes) || bytes > kMostBytes) return;
    // Beside rows that go the other way, the first level would wait for memory.
    add(loop, access.array, next, 1, mirrored || several_passes ? level_of(bytes) : 2);
  }

  void down_rows(std::vector<Stmt>& body, const Known& known, const Rows* rows) {
    const SymbolsAround::Scope scope(around_);
    for (Stmt& s : body) {
      if (const auto* let = s.get_if<Let>()) around_.enter(*let);
      const SymbolsAround::Scope own_symbols(around_);
      around_.enter_body_of(s);
      Known inside = known;
      if (const auto var = variable_of(s)) inside.insert(*var);
      if (Loop* vector = vector_loop(s)) {
        if (rows) share_rows(*vector, *rows, inside);
        continue;
      }
      const auto* around = s.get_if<Loop>();
      const bool fetches = around && around->ahead > 0;
      Rows own{around, {}};
      if (fetches)
        for (const Stmt& inner : around->body)
          if (const Loop* loop = loop_of(inner, LoopKind::Vector)) own.inside.push_back(loop);
      if (auto* body = body_of(s)) down_rows(*body, inside, fetches ? &own : rows);
    }
  }

  // Each loop fetches a part of what all of them read: memory would be idle while the others
  // compute, and could not follow while the first fetches all.
  void share_rows(Loop& s, const Rows& rows, const Known& known) {
    const auto& loops = rows.inside;
    const auto number = std::find(loops.begin(), loops.end(), &s) - loops.begin();
    const auto count = static_cast<int64_t>(loops.size());
    const bool alike = std::all_of(loops.begin(), loops.end(), [&](const Loop* loop) { return loop->var == s.var; });
    if (count == 1 || !alike || number == count) return of_later_rows(s, s, rows, known, 1, 0);
    int64_t parts = 1;
    while (2 * parts <= std::min(kMostParts, count)) parts *= 2;
    if (number >= parts) return;
    for (const Loop* loop : loops) of_later_rows(s, *loop, rows, known, parts, number);
  }

  // One of several parts of the rows that `reader` reads, fetched by `loop`.
  void of_later_rows(Loop& loop, const Loop& reader, const Rows& rows, const Known& known, int64_t parts,
                     int64_t part) {
    Symbol row = rows.loop->var;
    std::map<int, std::vector<IntExpr>> offsets;  // by param
    visit_below(kernel_, values_of(reader), [&](ExprId, const Expr& e) {
      const auto* load = e.get_if<Load>();
      if (!load || load->access.scratch || mostly_outside(*load)) return true;
      const IntExpr offset = stepping(stepping(flat_offset(kernel_, load->access), row), reader.var);
      if (knows(known, offset) && is_contiguous(offset, reader.var) && offset.mentions(row))
        offsets[load->access.array].push_back(offset);
      return true;
    });
    const Ranges ranges{{reader.var, {0, reader.extent - 1}}};
    const IntExpr symbol = IntExpr::symbol(reader.var);
    const IntExpr here =
        parts == 1 ? symbol : floordiv(symbol, parts, ranges) + part * floordiv(reader.extent, parts, ranges);
    for (const auto& [array, reads] : offsets)
      for (const IntExpr& read : newest(reads, row, reader.var)) {
        const int64_t size = element_bytes(array), ahead = rows.loop->ahead;
        const IntExpr step = row_step(read, row);
        const int64_t bytes = step.constant().value_or(kFirstLevel / size + 1) * size * ahead;
        add(loop, array, (read + ahead * step).substitute({{reader.var, here}}, {}), parts, level_of(bytes));
      }
  }

  // What a loop reads in order: elements of an array from `first` on.
  struct Stream {
    int array;
    IntExpr first;
  };
  // A loop in a nest: what is known there, the loop around it, and what the nest reads before.
  struct InNest {
    Known known;
    const Loop* around;
    std::vector<Stream>& before;
  };

  void along_loops(std::vector<Stmt>& body, const InNest& nest) {
    for (Stmt& s : body) {
      InNest inside = nest;
      if (const auto var = variable_of(s)) inside.known.insert(*var);
      if (Loop* vector = vector_loop(s)) {
        of_later_steps(*vector, inside);
        continue;
      }
      if (const auto* loop = s.get_if<Loop>()) inside.around = loop;
      if (auto* below = body_of(s)) along_loops(*below, inside);
    }
  }

  // What a loop is the first to read, in order, from arrays that no near cache holds. The processor
  // fetches ahead too, but by less than memory takes, and not across pages.
  void of_later_steps(Loop& loop, const InNest& nest) {
    std::vector<Stream> found;
    visit_below(kernel_, values_of(loop), [&](ExprId, const Expr& e) {
      const auto* load = e.get_if<Load>();
      if (!load || load->access.scratch || load->mask != kNoExpr || is_small(load->access.array)) return true;
      const IntExpr offset = flat_offset(kernel_, load->access);
      if (!knows(nest.known, offset) || !is_contiguous(offset, loop.var)) return true;
      const Stream stream{load->access.array, offset - IntExpr::symbol(loop.var)};
      const auto is_it = [&](const Stream& other) {
        return other.array == stream.array && are_near(other.first - stream.first);
      };
      if (std::none_of(found.begin(), found.end(), is_it) &&
          std::none_of(nest.before.begin(), nest.before.end(), is_it))
        found.push_back(stream);
      return true;
    });
    nest.before.insert(nest.before.end(), found.begin(), found.end());
    if (found.size() > kMostStreams) return;
    for (const Stream& s : found) {
      const int64_t size = element_bytes(s.array);
      // Nothing beyond the array, which may be no memory of the process, and of rows that others
      // follow than the next, nothing beyond the row.
      const bool followed = is_followed(loop, s.first, *nest.around);
      if (!followed && most_of(loop.extent) * size < 2 * kAhead) continue;
      const IntExpr end = followed ? count_of(s.array) : s.first + loop.extent;
      const IntExpr ahead = s.first + IntExpr::symbol(loop.var) + kAhead / size;
      add(loop, s.array, min(ahead, end - loop.lanes), 1, 1);
    }
  }

  // Whether the next iteration of the loop around goes on where this one ends.
  static bool is_followed(const Loop& loop, const IntExpr& first_read, const Loop& around) {
    const IntExpr step = row_step(first_read, around.var);
    if (around.kind != LoopKind::Grid) return step == loop.extent;
    const IntExpr first = loop.extent.substitute({{around.var, 0}}, {});  // the last piece may be shorter
    return step == first || (!first.constant() && min(step, first) == first);
  }

  // What an extent is at most, as far as it says; 0: it does not.
  static int64_t most_of(const IntExpr& extent) {
    if (const auto known = extent.constant()) return *known;
    if (extent.terms().size() != 1 || extent.terms()[0].coefficient != 1 || extent.terms()[0].atoms.size() != 1)
      return 0;
    const IntExpr::AtomPtr& atom = extent.terms()[0].atoms[0];
    if (atom->symbol || atom->kind != AtomKind::Min) return 0;
    return std::max(atom->a.constant().value_or(0), atom->b.constant().value_or(0));
  }

  IntExpr count_of(int param) const { return count(kernel_.params[static_cast<size_t>(param)].dims); }
  bool is_small(int param) const {
    const auto elements = count_of(param).constant();
    return elements && *elements * element_bytes(param) < kNear;
  }

  // A read that only few rows make, as a roll does of those at the other end. For the others its
  // place may be no memory of the process, which processors look for every time.
  bool mostly_outside(const Load& load) const {
    if (load.mask == kNoExpr) return false;
    const Shape& dims = kernel_.params[static_cast<size_t>(load.access.array)].dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      const IntExpr& at = load.access.index[d];
      if (!proves_nonnegative(at + kMostOutside, around_.ranges()) ||
          !proves_nonnegative(dims[d] - 1 - at + kMostOutside, around_.ranges()))
        return true;
    }
    return false;
  }

  static bool are_near(const IntExpr& difference) {
    const int64_t elements = difference.constant().value_or(INT64_MAX);
    return -kNeighbours <= elements && elements <= kNeighbours;
  }

  static IntExpr row_step(const IntExpr& read, Symbol row) {
    return read.substitute({{row, IntExpr::symbol(row) + 1}}, {}) - read;
  }

  // The reads that no later iteration repeats, one for neighbouring columns.
  static std::vector<IntExpr> newest(const std::vector<IntExpr>& reads, Symbol row, Symbol column) {
    std::vector<IntExpr> found;
    for (const IntExpr& read : reads) {
      const IntExpr step = row_step(read, row);
      if (step.mentions(row) || step.mentions(column)) continue;
      const bool again = std::any_of(reads.begin(), reads.end(), [&](const IntExpr& other) {
        for (int64_t rows = 1; rows <= kMostRowsApart; ++rows)
          if (are_near(other - read - rows * step)) return true;
        return false;
      });
      if (!again && std::none_of(found.begin(), found.end(), [&](const IntExpr& f) { return are_near(f - read); }))
        found.push_back(read);
    }
    return found;
  }

  Kernel& kernel_;
  SymbolsAround around_;
  Known sizes_;
  std::map<Loop*, std::vector<Stmt>> found_;
};

}  // namespace

bool add_prefetches(Kernel& kernel) { return Prefetches(kernel).run(); }

}  // namespace smelt::kernel
