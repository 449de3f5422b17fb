// Chains of stencils: a group without reductions in which values are read at several neighbouring
// places.
//
// The kernel goes down the rows of a strip of columns. A value that is needed at several places is
// evaluated once a row, ahead of what needs it, for the columns of the strip and some beyond (its
// halo), and its last rows are kept: a ring.
//
//   blur = rows[y-1] + rows[y] + rows[y+1]     rows: evaluated at y+1, 3 rows kept
//
// Only offsets of indices count, wherever they come from: slices, pads, views.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schedule/domain.hpp"

namespace smelt::schedule {

// Smaller arrays are done by the time that rings begin to pay.
constexpr int64_t kSmallStencil = 1 << 10;
// Operations of a point that take about as long as storing a value and reading it again.
constexpr double kRoundTrip = 60;
// How often an operation may be done for the sake of neighbours, on the average.
constexpr double kMostRepeated = 2.5;

// Whether these loops have no reductions, and enough points.
bool may_have_rings(const Domain& domain);

// How a ring's value at an index is found: `back` rows behind the newest, `right` columns to the
// right of the point.
struct RingPlace {
  int64_t back = 0, right = 0;
  std::set<size_t> readers;  // the steps that read it there: numbers of rings; what is after the last: the outputs
};

// A value that is kept.
struct Ring {
  NodeId node = -1;
  Index index;                  // of its newest row, by the variables of the domain; the column is that of the point
  int64_t rows = 1;             // that are kept, the newest among them
  int64_t left = 0, right = 0;  // columns evaluated beyond those of the strip
  int64_t start = 0;            // steps before the first row of outputs at which it is evaluated first
  int row_dim = -1, column_dim = -1;  // of its index; -1: it is the same along that axis
  int64_t column_step = 1;            // columns of the domain for each element of that dimension
  std::optional<int64_t>
      memory;  // read from an array, and nothing but padded or converted on the way: its column, less the point's
  std::vector<RingPlace> places;  // at which it is read
  // CPU: the loop over the columns of a row that evaluates it, and how many rows there is memory
  // for: one less, where whoever reads the oldest row does that in this loop, at the column of the
  // newest, which then takes its place.
  size_t loop = 0;
  int64_t lines = 0;
  int64_t halo() const { return left + right; }
};

struct Stencil {
  int row_axis = -1, column_axis = -1;  // of the domain; no row axis: one row
  std::vector<Ring> rings;              // producers first
  int64_t warm_up = 0;                  // steps before the first row of outputs
  int64_t ahead = 0;                    // CPU: rows by which arrays are read ahead
  int64_t chunk = 0;                    // rows of outputs in one iteration of the grid
  size_t output_loop = 0;               // CPU: the last of the loops over the columns of a row
  // GPU: columns of a thread are a warp's width apart, so that neighbouring threads have neighbours
  // in memory; else side by side.
  bool apart = false;
  int64_t before = 0, behind = 0;  // GPU: threads of a warp, apart its columns, that are of its halo, not its strip
  double repeated = 1;             // operations done, by those that are needed
};

// `newest`: the index of the newest row, in the terms that `index` is in.
std::optional<RingPlace> place_in_ring(const Ring& ring, const Index& newest, const Index& index);

// Places that agree in this differ by constants.
IntExpr without_constant(const IntExpr& e);

struct StencilNeeds {
  int64_t columns = 1;           // neighbouring points that are computed together
  bool rings_of_inputs = false;  // rows of arrays are kept too
  int64_t lanes = 1;             // arrays are read from columns that are multiples of this on
  int64_t ahead = 0;             // rows by which memory is read before it is needed
  double ring_cost = 0;          // of keeping one value, in operations
  double guard_cost = 2;         // of asking whether an index lies inside
  bool pixels = false;           // a column may be an element of a pixel
  double idle = 1;               // lanes of a step, by those that have a column where these are few
};

// What rings do for a pointwise domain: operations and reads of one point, where every value is
// computed at each place at which it is needed, and where it is computed once.
struct StencilSearch {
  std::optional<Stencil>
      stencil;  // nothing where no value is needed at several places, or where computing it again is cheaper
  std::optional<Stencil>
      rows;  // without rings, where none pays but rows of arrays are read for several rows of outputs
  std::optional<double> again;  // nothing: too many places to count
  double once = 0;
};
StencilSearch find_stencil(const Graph& graph, const Group& group, const Domain& domain, const StencilNeeds& needs);
// Operations and reads of one point, where every value is computed at each place at which it is
// needed; nothing: too many places to count.
std::optional<double> operations_of_point(const Graph& graph, const Group& group, const Domain& domain);

// Which rings are evaluated in one loop over the columns of a row, so that what is newest stays in
// a register (stencil_loops.cpp).
void plan_loops(Stencil& stencil);

// "kept in a ring of 3 rows, halo 1"
std::string text_of(const Ring& ring);

// The ranges of the domain's variables with the rows and columns that are evaluated beyond it.
Ranges widened(const Domain& domain, const Stencil& stencil);

}  // namespace smelt::schedule
