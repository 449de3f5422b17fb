// Loop nests: the value of each axis of a domain in the loops of a kernel, and the loops around a
// body. Internal to this folder.
//
//   grid %g over pieces of axes          Grid, piece_at()
//     serial over others                 in_loops()
//       vector %i                        kLane
//         body, at a Placement
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "kernel/build.hpp"
#include "schedule/domain.hpp"

namespace smelt::kernel {

// The variable of the Vector loops, that of the Grid loop, and that of parts of reduced axes which
// the grid goes over.
inline const Symbol kLane = Symbol::loop("i"), kGrid = Symbol::loop("g"), kSplit = Symbol::loop("s");

// How the axes of the domain are reached: each axis variable as an expression over loop variables.
struct Placement {
  std::map<Symbol, IntExpr> value_of;
  Ranges ranges;
  void place(Symbol var, const IntExpr& value) { value_of[var] = value; }
  // The axes, merged row-major, at a position; the first one has whatever the others leave.
  void unravel(std::span<const schedule::Axis> axes, IntExpr position);
  schedule::Index at(const schedule::Index& index) const;
};

using LoopExtents = std::vector<std::pair<Symbol, IntExpr>>;  // variables and extents, outermost first

// The grid: a list of dimensions run as one flat loop "%g".
struct Grid {
  LoopExtents dims;
  void add(Symbol var, IntExpr extent) { dims.emplace_back(var, std::move(extent)); }
  // Over pieces of `size` points; nothing where one piece is all, as the empty one of an axis of no
  // points is.
  void add_pieces(Symbol var, const IntExpr& extent, const IntExpr& size);
  IntExpr extent() const;
  void decode(Placement& placement) const;  // var -> its part of %g
  void decode(Placement& placement, IntExpr position) const;
};

// One of the pieces of `size` points of an axis: `length` points from `first` on; the last one may
// be shorter.
struct Piece {
  IntExpr first, length;
};

// The piece whose number stands for `var`.
Piece piece_at(const Placement& placement, Symbol var, const IntExpr& extent, const IntExpr& size);

// The points of these axes, row-major, in pieces: where lane kLane of an iteration is, iterations,
// and lanes.
struct InPieces {
  Placement placement;
  IntExpr grid, length;
};
InPieces in_pieces(const std::vector<schedule::Axis>& axes, int64_t size);

// `body` inside of serial loops; the innermost takes `together` steps at once.
std::vector<Stmt> in_loops(const LoopExtents& loops, std::vector<Stmt> body, int together = 1);

void append(std::vector<Stmt>& to, std::vector<Stmt> from);
// Braces around a statement would copy it.
std::vector<Stmt> single(Stmt s);

}  // namespace smelt::kernel
