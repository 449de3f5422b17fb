// Blocked local reductions: a convolution and what is like it, sums over a window of products of
// which one factor is the same for many results.
//
//   y[n, o, h, w] = sum over c, i, j of  x[n, c, h + i, w + j] * k[o, c, i, j]
//
// Each thread of a GPU has a block of results, several along some of the axes: an element of x that
// it has loaded serves all o of the block, and those h and w whose windows see it; one of k serves
// all h and w. A factor that is no other for neighbouring lanes (k) is staged: made once, with all
// that leads to it, in shared memory, for all threads of a workgroup.
#pragma once

#include <optional>
#include <vector>

#include "schedule/domain.hpp"

namespace smelt::schedule {

// What an element of a local reduction is computed from: where elementwise operations on elements
// of windows begin.
struct Operand {
  NodeId top = -1;   // what these operations take
  NodeId base = -1;  // the array under the views
  Index index;       // of `base`, by variables of the domain and of the window
  bool staged = false;
};

struct BlockedSum {
  NodeId node = -1;
  std::vector<Operand> operands;
  int64_t chunk =
      0;  // of the first axis of the window that is longer than 1: how much of it is staged at a time; 0: all
  size_t unrolled = 0;  // the last so many of its axes are written out
};

struct Blocking {
  std::vector<BlockedSum> sums;
  std::vector<int64_t> block;  // of each axis of the domain, results that a thread has along it
  std::vector<bool> shared;    // all threads of a workgroup have the same of this axis; a staged factor depends on it
  int64_t results() const;     // of a thread
  bool staged() const;         // whether some operand is; else threads share what windows have in common
};

// How often a thread evaluates an operand: at so many places in one run of what is written out,
// times the runs of the loops around it.
struct Evaluations {
  int64_t places = 1, runs = 1;
};
Evaluations evaluations_of(const Graph& graph, const Domain& domain, const Blocking& blocking, const BlockedSum& sum,
                           const Operand& operand);

// The axis of the window that may be staged a part at a time, as a place in node.axes; -1: none.
int chunked_axis(const Graph& graph, const BlockedSum& sum);
// Elements of a staged operand, by dimension: axes of the window (as places in the argument's
// shape), then, last, the block along a shared axis.
struct StagedShape {
  std::vector<int> window;
  int axis = -1;  // of the domain; -1: its blocks do not differ in this operand
};
StagedShape staged_shape(const Graph& graph, const Domain& domain, const Blocking& blocking, const BlockedSum& sum,
                         const Operand& operand);

// The sums over windows of a group; nothing where one is needed at other elements than the one at
// hand, or finds a position, or windows are inside each other.
std::optional<std::vector<BlockedSum>> find_sums(const Graph& graph, const Group& group, const Domain& domain);

// How a GPU that runs so many threads at once should block the results, if it should. `most` bounds
// the results of a thread.
struct BlockNeeds {
  int64_t results = 64;                       // of a thread, at most
  int64_t registers = 92;                     // for results and what is read for them
  int64_t threads = 1;                        // wanted
  int64_t columns = 0, rows = 0, shared = 0;  // along each kind of axis; 0: whatever is best
  int64_t staged_bytes = 0;
};
std::optional<Blocking> find_blocking(const Graph& graph, const Group& group, const Domain& domain,
                                      const BlockNeeds& needs);

}  // namespace smelt::schedule
