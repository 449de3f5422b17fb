#include "kernel/nest.hpp"

#include <iterator>

namespace smelt::kernel {

schedule::Index Placement::at(const schedule::Index& index) const {
  schedule::Index result;
  for (const IntExpr& i : index) result.push_back(i.substitute(value_of, ranges));
  return result;
}

void Placement::unravel(std::span<const schedule::Axis> axes, IntExpr position) {
  for (size_t d = axes.size(); d-- > 1;) {
    place(axes[d].var, mod(position, axes[d].extent, ranges));
    position = floordiv(position, axes[d].extent, ranges);
  }
  if (!axes.empty()) place(axes[0].var, position);
}

IntExpr Grid::extent() const {
  IntExpr product = 1;
  for (const auto& [var, extent] : dims) product = product * extent;
  return product;
}

void Grid::decode(Placement& placement) const { decode(placement, IntExpr::symbol(kGrid)); }

void Grid::decode(Placement& placement, IntExpr rest) const {
  if (const auto symbol = rest.as_symbol()) placement.ranges.add(*symbol, {0, extent() - 1});
  for (size_t d = dims.size(); d-- > 0;) {
    const auto& [var, extent] = dims[d];
    if (extent.is(1)) {
      placement.place(var, 0);
    } else if (d == 0) {
      placement.place(var, rest);
    } else {
      placement.place(var, mod(rest, extent, placement.ranges));
      rest = floordiv(rest, extent, placement.ranges);
    }
  }
}

// Whether one piece is all.
static bool is_whole(const IntExpr& extent, const IntExpr& size) {
  const auto all = extent.constant(), each = size.constant();
  return all && each && *all <= *each;
}

void Grid::add_pieces(Symbol var, const IntExpr& extent, const IntExpr& size) {
  if (!is_whole(extent, size)) add(var, ceildiv(extent, size));
}

Piece piece_at(const Placement& placement, Symbol var, const IntExpr& extent, const IntExpr& size) {
  if (is_whole(extent, size)) return {0, extent};
  const IntExpr first = placement.value_of.at(var) * size;
  const auto all = extent.constant(), each = size.constant();
  if (all && each && *all % *each == 0) return {first, size};  // every piece is full
  return {first, min(size, extent - first, placement.ranges)};
}

InPieces in_pieces(const std::vector<schedule::Axis>& axes, int64_t size) {
  IntExpr points = 1;
  for (const schedule::Axis& axis : axes) points = points * axis.extent;
  const Symbol chunk = Symbol::loop("c");
  Grid grid;
  grid.add_pieces(chunk, points, size);
  Placement placement;
  grid.decode(placement);
  const Piece piece = piece_at(placement, chunk, points, size);
  placement.ranges[kLane] = {0, piece.length - 1};
  placement.unravel(axes, piece.first + IntExpr::symbol(kLane));
  return {std::move(placement), grid.extent(), piece.length};
}

std::vector<Stmt> in_loops(const LoopExtents& loops, std::vector<Stmt> body, int together) {
  for (size_t d = loops.size(); d-- > 0;) {
    const auto& [var, extent] = loops[d];
    body = single(loop(LoopKind::Serial, var, extent, std::move(body), 1, d + 1 == loops.size() ? together : 1));
  }
  return body;
}

void append(std::vector<Stmt>& to, std::vector<Stmt> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::vector<Stmt> single(Stmt s) {
  std::vector<Stmt> list;
  list.push_back(std::move(s));
  return list;
}

}  // namespace smelt::kernel
