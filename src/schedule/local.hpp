// Local reductions: over the elements of windows. They are evaluated wherever they are needed, at
// any index, and so run in every schedule; what that costs is what windows that overlap compute
// more than once.
#pragma once

#include "schedule/domain.hpp"

namespace smelt::schedule {

// Operations that a machine does in the time in which a byte comes from memory, roughly: 16 lanes
// twice a cycle against 8 bytes a nanosecond of a core of a CPU, and much the same of a GPU.
inline constexpr double kOperationsPerByte = 6;

// Elements of a window that are written out at most, of one and of windows inside of each other:
// longer ones are loops.
inline constexpr int64_t kMostWrittenOut = 32, kMostWrittenOutInside = 64;

bool mentions(const Index& index, Symbol symbol);
// Whether an index goes through a window, and through how many elements at one point of the domain.
bool reads_windows(const Index& index);
int64_t window_elements(const Domain& domain, const Index& index);
// Whether a place is one that the data names, which is not known before the loop.
bool reads_gathered(const Index& index);

// Where the argument of a local reduction is evaluated for a result at `index`: loops over the
// window are in it, whose ranges are added.
Index window_index(const Graph& graph, NodeId reduce, const Index& index, Ranges& ranges);
// The same of each element of the window, in order.
std::vector<Index> elements_of_window(const Graph& graph, NodeId reduce, const Index& index);

// How a node is reached by the walk through a group.
struct Overlap {
  int64_t times = 1;  // evaluations for each point of the domain
  enum : uint8_t { Outside, JustInside, Inside } place = Outside;
  Overlap through_window() const { return {times, JustInside}; }
};

// What overlapping windows of a group compute again, against the memory traffic of what they would
// read instead.
class WindowWork {
 public:
  explicit WindowWork(const SizeBinding& sizes) : sizes_(sizes) {}
  // Counts one node; how its arguments are reached.
  Overlap evaluated(const Graph& graph, NodeId id, const Overlap& overlap, const Domain& domain);
  double excess() const { return repeated_ - allowed_; }
  Refusal refusal(const Graph& graph) const;

 private:
  const SizeBinding& sizes_;
  double repeated_ = 0, allowed_ = 0;  // operations
  NodeId worst_ = -1;
  double worst_times_ = 0, worst_cost_ = 0;
};

}  // namespace smelt::schedule
