// Stencil on a GPU: a thread goes down the rows of `lanes` neighbouring columns. Rings are registers, of the thread's own columns and of
// those beside them that it needs, which its neighbours compute too; so threads never wait for each other.
//
//   grid %g over the outer axes, the chunks of rows, and the strips
//     vector %i over the groups of columns of a strip
//       rings = 0
//       serial %w over the warm-up:             each ring, producers first: its newest row; rings move on
//       serial %t over the rows of the chunk:   the same, and the outputs
#include <numeric>

#include "base/check.hpp"
#include "kernel/lowering.hpp"

namespace smelt::kernel {

using schedule::Ring;
using schedule::RingPlace;
using schedule::Stencil;

namespace {

// The values of a ring in one thread. Columns count from the first that is evaluated.
struct Registers {
  DType dtype{};
  int64_t columns = 0;
  std::vector<std::vector<LocalId>> older;  // by rows behind the newest, less one
  std::vector<LocalId> newest;              // of this step
};

// Rows after which every register of every ring has its first name again, if they are few: a loop unrolled so often moves nothing.
int unroll_of(const Stencil& stencil) {
  int64_t all = 1;
  for (const Ring& ring : stencil.rings) all = std::lcm(all, ring.rows);
  return static_cast<int>(all <= 6 ? all : 2);
}

}  // namespace

void Lowering::stencil_gpu() {
  const Stencil& stencil = *schedule_.stencil;
  const int64_t lanes = schedule_.lanes;
  const IntExpr columns = vector_axis().extent, groups = ceildiv(columns, lanes), team = schedule_.tile;
  const auto constant = groups.constant();
  const bool one_strip = constant && *constant <= schedule_.tile;
  Placement placement;
  IntExpr first_row, rows;
  const Grid grid = stencil_grid(one_strip ? IntExpr(1) : ceildiv(groups, team), placement, first_row, rows);
  const IntExpr first = one_strip ? IntExpr(0) : placement.value_of.at("%strip") * team;
  const IntExpr here = one_strip ? groups : min(team, groups - first);
  placement.ranges["%i"] = {0, here - 1};
  const IntExpr column = (first + IntExpr::symbol("%i")) * lanes;

  std::vector<Stmt> body;
  std::vector<Registers> rings(stencil.rings.size());
  for (size_t r = 0; r < rings.size(); ++r) {
    const Ring& ring = stencil.rings[r];
    rings[r].dtype = compute_type(graph_.at(ring.node).dtype);
    rings[r].columns = lanes + ring.halo();
    rings[r].older.resize(static_cast<size_t>(ring.rows - 1));
    for (std::vector<LocalId>& row : rings[r].older)
      for (int64_t c = 0; c < rings[r].columns; ++c) {
        row.push_back(builder_.new_local(rings[r].dtype, true));
        body.push_back(assign(row.back(), builder_.constant(Scalar::of_int(rings[r].dtype, 0))));
      }
  }

  // One loop down: `from` is the row that its first step is at.
  const auto go_down = [&](const std::string& var, const IntExpr& steps, const IntExpr& from, bool stores) {
    std::vector<Stmt> down;
    StencilStep step;
    step.placement = placement;
    step.placement.ranges[var] = {0, steps - 1};
    if (stencil.row_axis >= 0)
      step.placement.place(domain().axes[static_cast<size_t>(stencil.row_axis)].var, from + IntExpr::symbol(var));
    evaluator_.enter(&down, &step.placement.ranges);
    // Evaluates what stands in column `c` of the thread.
    const auto at_column = [&](int64_t c, int64_t start) {
      step.left = -c, step.right = c - (lanes - 1), step.start = start;
      step.placement.place(vector_axis().var, column + c);
      read_rings(step, [&rings, &stencil, this, c](size_t r, const RingPlace& place) {
        const auto at = static_cast<size_t>(c + place.right + stencil.rings[r].left);
        const Registers& ring = rings[r];
        return builder_.local(place.back == 0 ? ring.newest[at] : ring.older[static_cast<size_t>(place.back - 1)][at]);
      });
    };
    for (size_t r = 0; r < rings.size(); ++r) {
      const Ring& ring = stencil.rings[r];
      rings[r].newest.clear();
      std::vector<LocalId> newest;
      for (int64_t c = -ring.left; c < lanes + ring.right; ++c) {
        at_column(c, ring.start);
        const ExprId value = evaluator_.value_or_anything(ring.node, step.placement.at(ring.index));
        newest.push_back(builder_.new_local(rings[r].dtype, false));
        down.push_back(let(newest.back(), value));
      }
      rings[r].newest = std::move(newest);
    }
    std::vector<Stmt> written;
    for (const StoredOutput& o : domain().outputs)
      for (int64_t c = 0; c < lanes && stores; ++c) {
        at_column(c, 0);
        const ExprId inside = evaluator_.only_where({{column + c, columns}});
        const ExprId value = evaluator_.value_to_store(o.base, step.placement.at(o.base_index));
        written.push_back(store_output(o, step.placement, value));
        written.back().mask = inside;
        evaluator_.only_where({});
      }
    for (Stmt& s : written) down.push_back(std::move(s));
    for (const Registers& ring : rings)
      for (size_t age = ring.older.size(); age-- > 0;)
        for (size_t c = 0; c < ring.older[age].size(); ++c)
          down.push_back(
              assign(ring.older[age][c], builder_.local(age == 0 ? ring.newest[c] : ring.older[age - 1][c])));
    body.push_back(loop(LoopKind::Serial, var, steps, std::move(down), 1, unroll_of(stencil)));
  };
  if (stencil.warm_up > 0) go_down("%w", stencil.warm_up, first_row - stencil.warm_up, false);
  go_down("%t", rows, first_row, true);
  evaluator_.set_known({});

  std::vector<Stmt> grid_body;
  grid_body.push_back(loop(LoopKind::Vector, "%i", here, std::move(body)));
  add_phase(grid.extent(), std::move(grid_body), team * lanes * stencil.chunk);
}

}  // namespace smelt::kernel
