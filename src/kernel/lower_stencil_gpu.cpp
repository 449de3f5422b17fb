// Stencil on a GPU: a warp goes down the rows of a strip, each thread with `lanes` neighbouring
// columns. Rings are registers, of the thread's own columns; what is in columns of its neighbours
// it has from them by shuffles. The first and the last threads of the warp compute what others need
// of columns beyond the strip, which the next warp computes too; so warps never wait for each
// other.
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
  std::map<int64_t, Beside> beside;         // by column

  LocalId own(int64_t back, int64_t column) const {
    const auto c = static_cast<size_t>(column);
    return back == 0 ? newest[c] : older[static_cast<size_t>(back - 1)][c];
  }
};

// Columns of neighbours that are needed in several rows, and in which.
std::map<int64_t, std::pair<int64_t, int64_t>> shared_columns(const Ring& ring, int64_t lanes) {
  std::map<int64_t, std::pair<int64_t, int64_t>> rows;
  for (const RingPlace& place : ring.places)
    for (int64_t c = 0; c < lanes; ++c) {
      const int64_t column = c + place.right;
      if (column >= 0 && column < lanes) continue;
      const auto [at, fresh] = rows.try_emplace(column, place.back, place.back);
      at->second = {std::min(at->second.first, place.back), std::max(at->second.second, place.back)};
    }
  std::erase_if(rows, [](const auto& r) { return r.second.first == r.second.second; });
  return rows;
}

// The loop down the rows: what holds the rings starts before it, is evaluated in a step, and moves
// on at its end.
class RowsInRegisters {
 public:
  explicit RowsInRegisters(Builder& builder) : builder_(builder) {}

  std::vector<Stmt> before, step, moves;

  LocalId named(DType dtype, ExprId value) {
    const LocalId local = builder_.new_local(dtype, false);
    step.push_back(let(local, value));
    return local;
  }
  ExprId from_neighbour(const Registers& ring, int64_t back, int64_t at, int64_t lanes) {
    const int64_t threads = floor_div(at, lanes);
    return builder_.raw(
        RawOp::FromThread, ring.dtype,
        {builder_.local(ring.own(back, at - threads * lanes)), builder_.constant(Scalar::of_int(DType::I32, threads))});
  }
  // Keeps the rows of a ring behind its newest, and of its neighbours the columns that are needed
  // in several rows.
  void keep_older(const Ring& ring, int64_t lanes, Registers& registers) {
    registers.older.resize(static_cast<size_t>(ring.rows - 1));
    for (std::vector<LocalId>& row : registers.older)
      for (int64_t c = 0; c < lanes; ++c) row.push_back(kept(registers.dtype));
    for (const auto& [at, range] : shared_columns(ring, lanes)) {
      Beside& beside = registers.beside[at];
      beside.from = range.first;
      beside.newest = named(registers.dtype, from_neighbour(registers, beside.from, at, lanes));
      for (int64_t age = range.first; age < range.second; ++age) beside.older.push_back(kept(registers.dtype));
      moved(beside.older, beside.newest);
    }
    for (int64_t c = 0; c < lanes; ++c) {
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
};

}  // namespace

void StencilLowering::registers() {
  const Stencil& stencil = *schedule_.stencil;
  const int64_t lanes = schedule_.lanes, strip = schedule_.tile;
  const IntExpr columns = vector_axis().extent, t = IntExpr::symbol(Symbol::loop("t")), i = IntExpr::symbol(kLane);
  StencilStep step;
  Placement& placement = step.placement;
  Piece rows, of_strip;
  const Grid grid = stencil_grid(placement, rows, of_strip);
  const IntExpr thread = i - stencil.before, column = of_strip.first + thread * lanes;
  placement.ranges[kLane] = {0, kWarp - 1};
  placement.ranges[Symbol::loop("t")] = {0, rows.length + stencil.warm_up - 1};
  if (stencil.row_axis >= 0)
    placement.place(domain().axes[static_cast<size_t>(stencil.row_axis)].var, rows.first + t - stencil.warm_up);

  RowsInRegisters held(builder_);
  std::vector<Registers> rings(stencil.rings.size());
  // Evaluates what is in column `c` of the thread.
  const auto at_column = [&](int64_t c) {
    placement.place(vector_axis().var, column + c);
    read_rings(step, [&rings, &builder = builder_, &held, lanes, c](size_t r, const RingPlace& place) {
      const Registers& ring = rings[r];
      const int64_t at = c + place.right;
      if (at >= 0 && at < lanes) return builder.local(ring.own(place.back, at));
      const auto beside = ring.beside.find(at);
      if (beside == ring.beside.end()) return held.from_neighbour(ring, place.back, at, lanes);
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
    for (int64_t c = 0; c < lanes; ++c) {
      at_column(c);
      newest.push_back(held.named(registers.dtype, evaluator_.value_or_anything(ring.node, placement.at(ring.index))));
    }
    registers.newest = std::move(newest);
    held.keep_older(ring, lanes, registers);
  }
  step.left = step.right = step.start = 0;
  std::vector<Stmt> written;
  for (const StoredOutput& o : domain().outputs)
    for (int64_t c = 0; c < lanes; ++c) {
      at_column(c);
      const ExprId inside = evaluator_.only_where({{thread, kWarp - stencil.before - stencil.behind},
                                                   {column + c, columns},
                                                   {t - stencil.warm_up, rows.length}});
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
