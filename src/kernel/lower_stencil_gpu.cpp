// Stencil on a GPU: a warp goes down the rows of a strip, each thread with `lanes` columns: side by
// side, or a warp's width apart where rows begin between words. Rings are registers, of the
// thread's own columns; what is in columns of its neighbours it has from them by shuffles. The
// first and the last columns of the warp are those that others need beyond the strip, which the
// next warp computes too; so warps never wait for each other.
//
//   grid %g over the outer axes, the chunks of rows, and the strips
//     vector %i over the threads
//       rings = 0
//       serial %t over the warm-up and the rows of the chunk:
//         each ring, producers first: its newest row
//         past the warm-up, and within the strip: the outputs
//         rings move on
#include <algorithm>

#include "base/check.hpp"
#include "kernel/lower_stencil.hpp"

namespace smelt::kernel {

using schedule::Ring;
using schedule::RingPlace;
using schedule::Stencil;

namespace {

constexpr int kWarp = 32;
// Expressions that a loop may have when it is unrolled; what is longer than that takes long to
// compile.
constexpr size_t kMostUnrolled = 3000;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// Where the value beside one of a thread's columns is: so many threads to the right, in their
// column `own`; of columns apart in their column `wrapped`, for threads that look beyond the warp's
// last thread, or its first.
struct Source {
  int64_t threads = 0, own = 0, wrapped = 0;
  auto operator<=>(const Source&) const = default;
};

// The columns of a thread.
struct ThreadColumns {
  int64_t count = 1;
  bool apart = false;

  // The place of its first column.
  IntExpr first(const IntExpr& thread) const { return apart ? thread : thread * count; }
  int64_t offset(int64_t column) const { return apart ? column * kWarp : column; }
  Source source(int64_t column, int64_t right) const {
    if (apart) {
      const int64_t wrapped = column + (right > 0 ? 1 : right < 0 ? -1 : 0);
      return {right, column, wrapped < 0 || wrapped >= count ? column : wrapped};
    }
    const int64_t threads = floor_div(column + right, count), own = column + right - threads * count;
    return {threads, own, own};
  }
};

// A column of a neighbour that is needed in several rows: it moves on with the thread's own, from
// the row on in which it is needed first.
struct Beside {
  int64_t from = 0;  // rows behind the newest
  LocalId newest = -1;
  std::vector<LocalId> older;
};

// The values of a ring in one thread.
struct Registers {
  DType dtype{};
  std::vector<std::vector<LocalId>> older;  // by rows behind the newest, less one, and column
  std::vector<LocalId> newest;              // of this step
  std::map<Source, Beside> beside;

  LocalId own(int64_t back, int64_t column) const {
    const auto c = static_cast<size_t>(column);
    return back == 0 ? newest[c] : older[static_cast<size_t>(back - 1)][c];
  }
};

// Columns of neighbours that are needed in several rows, and in which; none where they would take
// too many registers.
std::map<Source, std::pair<int64_t, int64_t>> shared_columns(const Ring& ring, const ThreadColumns& columns) {
  constexpr int64_t kMostApart = 32;
  std::map<Source, std::pair<int64_t, int64_t>> rows;
  for (const RingPlace& place : ring.places)
    for (int64_t c = 0; c < columns.count; ++c) {
      const Source source = columns.source(c, place.right);
      if (source.threads == 0) continue;
      const auto [at, fresh] = rows.try_emplace(source, place.back, place.back);
      at->second = {std::min(at->second.first, place.back), std::max(at->second.second, place.back)};
    }
  std::erase_if(rows, [](const auto& r) { return r.second.first == r.second.second; });
  int64_t registers = 0;
  for (const auto& [source, range] : rows) registers += range.second - range.first;
  if (columns.apart && registers > kMostApart) rows.clear();
  return rows;
}

// The loop down the rows: what holds the rings starts before it, is evaluated in a step, and moves
// on at its end.
class RowsInRegisters {
 public:
  RowsInRegisters(Builder& builder, const ThreadColumns& columns) : builder_(builder), columns_(columns) {}

  std::vector<Stmt> before, step, moves;

  LocalId named(DType dtype, ExprId value) {
    const LocalId local = builder_.new_local(dtype, false);
    step.push_back(let(local, value));
    return local;
  }
  // The value beside a column of this thread. Where columns are apart, threads that others look for
  // beyond the warp give them their other column.
  ExprId from_neighbour(const Registers& ring, int64_t back, const Source& source) {
    ExprId given = builder_.local(ring.own(back, source.own));
    if (source.wrapped != source.own) {
      const IntExpr thread = IntExpr::symbol(kLane);
      const ExprId wraps =
          source.threads > 0 ? builder_.apply(Op::Lt, {builder_.index(thread), builder_.index(source.threads)})
                             : builder_.apply(Op::Ge, {builder_.index(thread), builder_.index(kWarp + source.threads)});
      given = builder_.apply(Op::Where, {wraps, builder_.local(ring.own(back, source.wrapped)), given});
    }
    return builder_.raw(columns_.apart ? RawOp::FromThreadAround : RawOp::FromThread, ring.dtype,
                        {given, builder_.constant(Scalar::of_int(DType::I32, source.threads))});
  }
  // Keeps the rows of a ring behind its newest, and of its neighbours the columns that are needed
  // in several rows.
  void keep_older(const Ring& ring, Registers& registers) {
    registers.older.resize(static_cast<size_t>(ring.rows - 1));
    for (std::vector<LocalId>& row : registers.older)
      for (int64_t c = 0; c < columns_.count; ++c) row.push_back(kept(registers.dtype));
    for (const auto& [source, range] : shared_columns(ring, columns_)) {
      Beside& beside = registers.beside[source];
      beside.from = range.first;
      beside.newest = named(registers.dtype, from_neighbour(registers, beside.from, source));
      for (int64_t age = range.first; age < range.second; ++age) beside.older.push_back(kept(registers.dtype));
      moved(beside.older, beside.newest);
    }
    for (int64_t c = 0; c < columns_.count; ++c) {
      std::vector<LocalId> older;
      for (const std::vector<LocalId>& row : registers.older) older.push_back(row[static_cast<size_t>(c)]);
      moved(older, registers.newest[static_cast<size_t>(c)]);
    }
  }

 private:
  LocalId kept(DType dtype) {
    const LocalId local = builder_.new_local(dtype, true);
    before.push_back(assign(local, builder_.constant(Scalar::of_int(dtype, 0))));
    return local;
  }
  void moved(const std::vector<LocalId>& older, LocalId newest) {
    for (size_t age = older.size(); age-- > 0;)
      moves.push_back(assign(older[age], builder_.local(age == 0 ? newest : older[age - 1])));
  }

  Builder& builder_;
  const ThreadColumns columns_;
};

}  // namespace

void StencilLowering::registers() {
  const Stencil& stencil = *schedule_.stencil;
  const ThreadColumns of_thread{schedule_.lanes, stencil.apart};
  const int64_t strip = schedule_.tile;
  const IntExpr columns = vector_axis().extent, t = IntExpr::symbol(Symbol::loop("t")), i = IntExpr::symbol(kLane);
  StencilStep step;
  Placement& placement = step.placement;
  Piece rows, of_strip;
  const Grid grid = stencil_grid(placement, rows, of_strip);
  const IntExpr in_strip = of_thread.first(i - stencil.before), column = of_strip.first + in_strip;
  placement.ranges[kLane] = {0, kWarp - 1};
  placement.ranges[Symbol::loop("t")] = {0, rows.length + stencil.warm_up - 1};
  if (stencil.row_axis >= 0)
    placement.place(domain().axes[static_cast<size_t>(stencil.row_axis)].var, rows.first + t - stencil.warm_up);

  RowsInRegisters held(builder_, of_thread);
  std::vector<Registers> rings(stencil.rings.size());
  // Evaluates what is in column `c` of the thread.
  const auto at_column = [&](int64_t c) {
    placement.place(vector_axis().var, column + of_thread.offset(c));
    read_rings(step, [&rings, &builder = builder_, &held, of_thread, c](size_t r, const RingPlace& place) {
      const Registers& ring = rings[r];
      const Source source = of_thread.source(c, place.right);
      if (source.threads == 0) return builder.local(ring.own(place.back, source.own));
      const auto beside = ring.beside.find(source);
      if (beside == ring.beside.end()) return held.from_neighbour(ring, place.back, source);
      const int64_t age = place.back - beside->second.from;
      return builder.local(age == 0 ? beside->second.newest : beside->second.older[static_cast<size_t>(age - 1)]);
    });
  };

  const size_t expressions = kernel_.exprs.size();
  evaluator_.enter(&held.step, &placement.ranges);
  for (size_t r = 0; r < rings.size(); ++r) {
    const Ring& ring = stencil.rings[r];
    Registers& registers = rings[r];
    registers.dtype = compute_type(graph_.at(ring.node).dtype);
    // What was evaluated for fewer columns and rows may come from rings that do not reach as far as
    // this one.
    if (ring.left > step.left || ring.right > step.right || ring.start > step.start)
      evaluator_.enter(&held.step, &placement.ranges);
    step.left = ring.left, step.right = ring.right, step.start = ring.start;
    std::vector<LocalId> newest;
    for (int64_t c = 0; c < of_thread.count; ++c) {
      at_column(c);
      newest.push_back(held.named(registers.dtype, evaluator_.value_or_anything(ring.node, placement.at(ring.index))));
    }
    registers.newest = std::move(newest);
    held.keep_older(ring, registers);
  }
  step.left = step.right = step.start = 0;
  std::vector<Stmt> written;
  for (const StoredOutput& o : domain().outputs)
    for (int64_t c = 0; c < of_thread.count; ++c) {
      at_column(c);
      const IntExpr place = of_thread.apart ? in_strip + of_thread.offset(c) : i - stencil.before;
      const int64_t places = of_thread.apart ? strip : kWarp - stencil.before - stencil.behind;
      const ExprId inside = evaluator_.only_where(
          {{place, places}, {column + of_thread.offset(c), columns}, {t - stencil.warm_up, rows.length}});
      const ExprId value = evaluator_.value_to_store(o.base, placement.at(o.base_index));
      written.push_back(store_output(o, placement, value, inside));
      evaluator_.only_where(kNoExpr);
    }
  evaluator_.set_known({});
  append(held.step, std::move(written));
  append(held.step, std::move(held.moves));
  const auto most = static_cast<int>(kMostUnrolled / std::max<size_t>(1, kernel_.exprs.size() - expressions));
  const int unroll = std::min(most, schedule_.unroll);
  std::vector<Stmt> body = std::move(held.before);
  body.push_back(loop(LoopKind::Serial, Symbol::loop("t"), rows.length + stencil.warm_up, std::move(held.step), 1,
                      unroll > 1 ? unroll : 0));

  std::vector<Stmt> grid_body;
  grid_body.push_back(loop(LoopKind::Vector, kLane, kWarp, std::move(body)));
  add_phase(grid.extent(), std::move(grid_body), strip * stencil.chunk);
}

}  // namespace smelt::kernel
