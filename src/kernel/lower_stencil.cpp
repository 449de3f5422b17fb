// Stencil on a CPU: down the rows of a strip of columns; what is needed at several places is kept
// in rings of lines, which stay in the caches.
//
//   grid %g over the outer axes, the chunks of rows, and the strips
//     serial %w over the rows before the first of the outputs: what rings of these rows are needed
//     serial %t over the rows of the chunk
//       vector %i over the columns of the strip and a halo, once for each loop of the stencil:
//         each ring of this loop, producers first: its value here, and ring[row][%i] = that
//         in the last loop: out[...] = ...
#include <algorithm>
#include <iterator>
#include <set>

#include "base/check.hpp"
#include "kernel/lane_forms.hpp"
#include "kernel/lower_stencil.hpp"

namespace smelt::kernel {

using schedule::Ring;
using schedule::RingPlace;
using schedule::Stencil;

// Elements of a page, of 4 bytes: a multiple of those of longer ones.
static constexpr int64_t kPage = 1024;

static int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// From here on, values of rings are read where they are: by `read`, from a ring by number. What no
// ring holds is computed.
void StencilLowering::read_rings(const StencilStep& step, const std::function<ExprId(size_t, const RingPlace&)>& read) {
  const Stencil& stencil = *schedule_.stencil;
  std::multimap<NodeId, std::pair<size_t, Index>> newest;
  for (size_t r = 0; r < stencil.rings.size(); ++r)
    newest.insert({stencil.rings[r].node, {r, step.placement.at(stencil.rings[r].index)}});
  evaluator_.set_known([&stencil, newest, read, left = step.left, right = step.right, start = step.start](
                           NodeId id, const Index& index) -> ExprId {
    const auto [first, end] = newest.equal_range(id);
    for (auto it = first; it != end; ++it) {
      const auto& [r, at] = it->second;
      const Ring& ring = stencil.rings[r];
      const auto place = schedule::place_in_ring(ring, at, index);
      if (!place || left - place->right > ring.left || right + place->right > ring.right ||
          start + place->back > ring.start)
        continue;
      if (const ExprId kept = read(r, *place); kept != kNoExpr) return kept;
    }
    return kNoExpr;
  });
}

// The iterations: outer axes, chunks of rows, strips. Sets the rows of the chunk and the columns of
// the strip.
Grid StencilLowering::stencil_grid(Placement& placement, Piece& rows, Piece& columns) const {
  const Stencil& stencil = *schedule_.stencil;
  const auto& axes = domain().axes;
  Grid grid;
  const auto add_outer = [&] {
    for (size_t d = 0; d < axes.size(); ++d)
      if (static_cast<int>(d) != stencil.row_axis && static_cast<int>(d) != stencil.column_axis)
        grid.add(axes[d].var, axes[d].extent);
  };
  // Warps of one workgroup take neighbouring planes, of which they read the same rows.
  if (!on_gpu()) add_outer();
  const Symbol chunk = Symbol::loop("chunk"), strip = Symbol::loop("strip");
  const IntExpr height = stencil.row_axis < 0 ? IntExpr(1) : axes[static_cast<size_t>(stencil.row_axis)].extent;
  grid.add_pieces(chunk, height, stencil.chunk);
  grid.add_pieces(strip, vector_axis().extent, schedule_.tile);
  if (on_gpu()) add_outer();
  grid.decode(placement);
  rows = piece_at(placement, chunk, height, stencil.chunk);
  columns = piece_at(placement, strip, vector_axis().extent, schedule_.tile);
  return grid;
}

// Columns that a step evaluates on either side of the strip. Those of rings are whole lines of the
// cache and whole steps, more than are needed: what is computed of what no one has written is not
// read, but no step has to be a short one, under a mask. An index must not be made of such values.
StencilLowering::Columns StencilLowering::columns_of(const Ring* ring) const {
  if (!ring) return {};
  const auto gathers = [&](NodeId id) { return graph_.at(id).kind == NodeKind::Gather; };
  if (ring->halo() == 0 || std::any_of(group_.nodes.begin(), group_.nodes.end(), gathers))
    return {ring->left, ring->right};
  const int64_t left = rounded_up(std::max<int64_t>(0, ring->left), kLineElements);
  return {
      left,
      rounded_up(left + std::max<int64_t>(0, ring->right), std::max<int64_t>(kLineElements, schedule_.lanes)) - left};
}

// Elements of a ring's lines before the first column of the strip: whole lines of the cache, one
// more than its readers begin at.
static int64_t origin_of(const Ring& ring) {
  return rounded_up(std::max<int64_t>(0, ring.left), kLineElements) + kLineElements;
}

// Lines begin at whole lines of the cache, and not all at the same place of a page: those of one
// column would push each other out. The strip begins at a line in all of them.
std::vector<int> StencilLowering::ring_buffers(const IntExpr& strip) {
  std::vector<int> buffers;
  for (const Ring& ring : schedule_.stencil->rings) {
    const DType dtype = compute_type(graph_.at(ring.node).dtype);
    const int64_t beyond =
        origin_of(ring) + rounded_up(std::max<int64_t>(0, ring.right), kLineElements) + schedule_.lanes + kLineElements;
    IntExpr length = ceildiv(strip + beyond, kLineElements) * kLineElements;
    if (const auto elements = length.constant(); elements && *elements % kPage < kLineElements)
      length = length + kLineElements;
    buffers.push_back(add_scratch(dtype, {ring.lines, length}));
  }
  return buffers;
}

// One loop over columns, for those of its steps that are `active`: rings by number, and the outputs
// after the last. What one of them has computed at a column the others take from there. Rings are
// written last, since a newest row may take the place of the oldest.
std::vector<Stmt> StencilLowering::stencil_loop(const StencilRow& row, size_t loop, const std::vector<size_t>& active) {
  const Stencil& stencil = *schedule_.stencil;
  const IntExpr i = IntExpr::symbol(kLane);
  std::map<size_t, LocalId> newest;
  std::vector<Stmt> body, stores;
  int64_t halo = 0;
  for (const size_t number : active) {
    const Ring* own = number < stencil.rings.size() ? &stencil.rings[number] : nullptr;
    StencilStep step = row.outputs;
    if (own) step.left = own->left, step.right = own->right, step.start = own->start;
    const Columns columns = columns_of(own);
    halo = columns.left + columns.right;
    step.placement.ranges[kLane] = {0, row.width + halo - 1};
    step.placement.place(vector_axis().var, row.first + i - columns.left);
    const Ranges& ranges = step.placement.ranges;
    read_rings(step, [&](size_t r, const RingPlace& place) {
      const Ring& ring = stencil.rings[r];
      const bool beside = place.right + ring.left != step.left;
      if (const auto here = newest.find(r); here != newest.end() && place.back == 0 && !beside)
        return builder_.local(here->second);
      // Whether that row is in its line before, after, or while this loop runs.
      if (place.back == 0 && ring.loop >= loop) return kNoExpr;
      if (place.back == ring.lines && (ring.loop < loop || (ring.loop == loop && beside))) return kNoExpr;
      const IntExpr line =
          ring.lines == 1 ? IntExpr(0) : mod(row.t - place.back + ring.rows * ring.lines, ring.lines, ranges);
      const int buffer = row.buffers[r];
      return builder_.load({true, buffer, {line, i + (origin_of(ring) + place.right - columns.left)}});
    });
    evaluator_.enter(&body, &ranges);
    if (own) {
      const ExprId value = evaluator_.value_or_anything(own->node, step.placement.at(own->index));
      newest[number] = builder_.new_local(builder_.dtype(value), false);
      body.push_back(let(newest[number], value));
      const IntExpr line = own->lines == 1 ? IntExpr(0) : mod(row.t, own->lines, ranges);
      stores.push_back(builder_.store({true, row.buffers[number], {line, i + (origin_of(*own) - columns.left)}},
                                      builder_.local(newest[number])));
    } else {
      std::vector<Stmt> written;
      for (const StoredOutput& o : domain().outputs)
        written.push_back(
            store_output(o, step.placement, evaluator_.value_to_store(o.base, step.placement.at(o.base_index))));
      append(body, std::move(written));
    }
    evaluator_.set_known({});
  }
  append(body, std::move(stores));
  std::vector<Stmt> loops;
  loops.push_back(vector(row.width + halo, std::move(body)));
  return loops;
}

// All loops of a row, and before the first row of outputs those of what has begun by then.
std::vector<Stmt> StencilLowering::stencil_row(const StencilRow& row) {
  const Stencil& stencil = *schedule_.stencil;
  std::vector<Stmt> loops;
  for (size_t l = 0; l <= stencil.output_loop; ++l) {
    std::vector<size_t> active;
    for (size_t r = 0; r < stencil.rings.size(); ++r)
      if (stencil.rings[r].loop == l) active.push_back(r);
    if (l == stencil.output_loop) active.push_back(stencil.rings.size());
    append(loops, stencil_loop(row, l, active));
  }
  return loops;
}

std::vector<Stmt> StencilLowering::stencil_warm_up(const StencilRow& row) {
  const Stencil& stencil = *schedule_.stencil;
  std::vector<Stmt> loops;
  for (size_t l = 0; l <= stencil.output_loop; ++l) {
    std::set<int64_t> starts;  // steps before the first row of outputs
    for (const Ring& ring : stencil.rings)
      if (ring.loop == l && ring.start > 0) starts.insert(ring.start);
    for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
      std::vector<size_t> active;
      for (size_t r = 0; r < stencil.rings.size(); ++r)
        if (stencil.rings[r].loop == l && stencil.rings[r].start >= *start) active.push_back(r);
      const int64_t from = stencil.warm_up - *start;
      const int64_t to = stencil.warm_up - (std::next(start) == starts.rend() ? 0 : *std::next(start));
      StencilRow here = row;
      here.outputs.placement.ranges[Symbol::loop("w")] = {from, to - 1};
      std::vector<Stmt> loop = stencil_loop(here, l, active);
      if (from == 0 && to == stencil.warm_up) {
        loops.insert(loops.end(), loop.begin(), loop.end());
        continue;
      }
      std::vector<ExprId> conditions;
      if (from > 0) conditions.push_back(builder_.apply(Op::Ge, {builder_.index(row.t), builder_.index(from)}));
      if (to < stencil.warm_up)
        conditions.push_back(builder_.apply(Op::Lt, {builder_.index(row.t), builder_.index(to)}));
      loops.push_back(
          If{conditions.size() == 1 ? conditions[0] : builder_.apply(Op::And, conditions), std::move(loop)});
    }
  }
  return loops;
}

// Rows of a piece to each one that only fills the rings, from where on those are rare.
static constexpr int64_t kRowsToARareOne = 16;

void StencilLowering::phases() { on_gpu() ? registers() : lines(); }

void StencilLowering::lines() {
  const Stencil& stencil = *schedule_.stencil;
  const IntExpr columns = vector_axis().extent;
  StencilRow row;
  Piece rows, strip;
  row.strip = columns.constant() ? min(schedule_.tile, columns) : schedule_.tile;
  const Grid grid = stencil_grid(row.outputs.placement, rows, strip);
  row.first = strip.first, row.width = strip.length;
  row.buffers = ring_buffers(row.strip);

  const auto down = [&](Symbol var, const IntExpr& from, const IntExpr& count, auto loops_of) {
    StencilRow here = row;
    here.t = IntExpr::symbol(var) + from;
    here.outputs.placement.ranges[var] = {0, count - 1};
    if (stencil.row_axis >= 0)
      here.outputs.placement.place(domain().axes[static_cast<size_t>(stencil.row_axis)].var,
                                   rows.first + here.t - stencil.warm_up);
    return loop(LoopKind::Serial, var, count, (this->*loops_of)(here));
  };
  std::vector<Stmt> body;
  if (stencil.warm_up > 0) {
    Loop warm_up = down(Symbol::loop("w"), 0, stencil.warm_up, &StencilLowering::stencil_warm_up);
    warm_up.rare = stencil.chunk >= kRowsToARareOne * stencil.warm_up;
    body.push_back(std::move(warm_up));
  }
  Loop down_rows = down(Symbol::loop("t"), stencil.warm_up, rows.length, &StencilLowering::stencil_row);
  down_rows.ahead = static_cast<int>(schedule_.stencil->ahead);
  body.push_back(std::move(down_rows));
  add_phase(grid.extent(), std::move(body), row.strip * stencil.chunk);
}

}  // namespace smelt::kernel
