// Local reductions: over the elements of windows. They are evaluated wherever they are needed, at
// any index, and so run in every schedule; what that costs is what windows that overlap compute
// more than once.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "schedule/domain.hpp"

namespace smelt::schedule {

// Operations that a machine does in the time in which a byte comes from memory, roughly: 16 lanes
// twice a cycle against 8 bytes a nanosecond of a core of a CPU, and much the same of a GPU.
inline constexpr double kOperationsPerByte = 6;

// Elements of a window that are written out at most, of one and of windows inside of each other:
// longer ones are loops.
inline constexpr int64_t kMostWrittenOut = 32, kMostWrittenOutInside = 64;

// The axes of a local reduction from which on its elements are written out, where what it is in is
// written out `around` times; the others are loops.
size_t first_written_out(const Graph& graph, const Node& reduce, int64_t around);

bool mentions(const Index& index, Symbol symbol);
// These symbols, and those of the indices at which places among them are read.
std::set<Symbol> symbols_behind(const Domain& domain, std::vector<Symbol> symbols);
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
  // JustInside: a value that windows see, or that is broadcast inside of one: what a store would
  // keep.
  enum : uint8_t { Outside, JustInside, Inside } place = Outside;
  double share = 1;    // of the evaluations that no pad or concat answers
  int64_t copies = 1;  // of its code
  Overlap through_window() const { return {times, JustInside, share, copies}; }
  Overlap through_broadcast() const { return {times, place == Outside ? Outside : JustInside, share, copies}; }
  Overlap guarded(double inside) const { return {times, place, share * inside, copies}; }
};

// What a group computes again where windows overlap, and where results of local reductions are
// broadcast, against the memory traffic of storing the value that costs most so.
class WindowWork {
 public:
  WindowWork(const Graph& graph, const std::unordered_set<NodeId>& members, const SizeBinding& sizes)
      : graph_(graph), members_(members), sizes_(sizes) {}
  // Counts one node; how its arguments are reached.
  Overlap evaluated(NodeId id, const Index& index, const Overlap& overlap, const Domain& domain);
  // What is computed again that windows see; results of local reductions that are broadcast.
  std::optional<Refusal> overlap() const { return refusal(seen_, "overlapping windows"); }
  std::optional<Refusal> broadcast() const { return refusal(broadcast_, "what it is broadcast to"); }

 private:
  // A value, by the operations that storing it saves.
  struct Worst {
    NodeId node = -1;
    double times = 0, saved = 0;
  };
  std::optional<Refusal> refusal(const Worst& worst, std::string_view why) const;
  // Operations of one evaluation, with all that the group computes for it.
  double operations_behind(NodeId id);

  const Graph& graph_;
  const std::unordered_set<NodeId>& members_;
  const SizeBinding& sizes_;
  std::unordered_map<NodeId, double> behind_;
  Worst seen_, broadcast_;
};

}  // namespace smelt::schedule
