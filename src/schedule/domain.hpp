// The loops that a group of nodes shares: its iteration domain, the position of each reduction and
// output in it, and the reads of the group. This walk decides whether a merge is legal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "schedule/common_points.hpp"
#include "schedule/group.hpp"
#include "schedule/moments.hpp"
#include "schedule/online.hpp"
#include "schedule/views.hpp"

namespace smelt::schedule {

// One dimension of the domain. The value of the loop is the symbol `var`, or 0 when the extent is
// 1.
struct Axis {
  Symbol var;
  IntExpr extent;
  bool reduced = false;
  int64_t estimate = 1;  // extent for the sizes at hand
  IntExpr value() const { return extent.is(1) ? IntExpr(0) : IntExpr::symbol(var); }
};

// A reduction of the group: its argument is evaluated at `argument_index`, its result lives at
// `result_index`.
struct Reduction {
  NodeId node;
  int level = 0;  // 0: needs no other reduction of the group; n: needs one of level n-1
  Index argument_index, result_index;
  std::optional<OnlineSum> online;  // runs in one pass with its maximum, which is of the same level
  std::optional<Moment> moment;     // runs in one pass with the value that it subtracts
};

// A scan of the group: it runs along the reduced axes, in order, in every pass that needs it.
struct Scan {
  NodeId node;
  Index index;  // of its argument and of its result
};

// Something that the group stores. `base` is the value computed, `node` is what is stored: a view
// of it, or itself.
struct Output {
  NodeId node, base;
  bool per_row = false;  // one element for each point of the kept axes; else one for each point of the domain
  int level = 0;         // the number of reduction levels that must be done before
  Index base_index, store_index;
};

struct Read {
  NodeId node;
  Index index;
  int level = 0;  // of the first stage that reads it
};

struct Domain {
  std::vector<Axis> axes;  // outermost first
  Ranges ranges;           // of the axes' variables
  std::vector<Reduction> reductions;
  int levels = 0;  // of reductions; 0: pointwise
  std::vector<Scan> scans;
  bool reversed = false;  // the reduced axes are gone through from their ends
  std::vector<Output> outputs;
  std::vector<Read> reads;          // distinct (node, index) pairs
  std::vector<Read> draws;          // the same of random numbers, which are read from nowhere
  std::map<Symbol, Index> gathers;  // what stands for an index that is read, and where its array is read
  std::set<Symbol> pinned;          // variables used as values or in guards: their axes are not merged with others

  // Operations of one point, with what is read: every value computed at each index at which it is
  // needed, and if each were computed once.
  double again = 0, once = 0;
  double work = 0;           // those of `again`, in windows as often as these have elements
  std::vector<NodeId> here;  // members that are evaluated at the index of the outputs of their shape

  // Why overlapping windows would compute too much again, if each result computed all that its own
  // window sees.
  std::optional<Refusal> overlap;
  // The same where results of local reductions are broadcast along axes of the domain. A GPU takes
  // such operations as they are: they come from what its caches hold.
  std::optional<Refusal> broadcast;

  int64_t estimate(bool reduced) const;  // points of the reduced (or the kept) axes, for the sizes at hand
  IntExpr reduced_count() const;         // points of the reduced axes
  Index values() const;
  bool pointwise() const { return levels == 0 && scans.empty(); }
  bool stores_components() const;  // of some output several elements for each point
};

// Reductions that need others of the same rows, but can run in one pass with them.
enum class Online : uint8_t {
  Nothing,
  Moments,  // sums of products of differences from a value of the row, such as the mean (moments.hpp)
  All,      // and sums of exponentials below a maximum (online.hpp)
};

// What the group has in common with its readers' loops, or why it cannot share loops. Of the loops
// of a pointwise group, those over the axes of `apart` go away: each point has all elements along
// them.
std::variant<Domain, Refusal> find_domain(const Graph& graph, const Group& group, const SizeBinding& sizes,
                                          Online online = Online::Nothing, ShortAxes apart = 0);

// Orders the axes of reductions and scans as in memory, if reads and stores agree: the columns of
// x.T are rows.
void follow_memory(const Graph& graph, Domain& domain, const SizeBinding& sizes);

// Reverses an axis if most reads and stores have a negative stride along it.
void follow_direction(const Graph& graph, Domain& domain, const SizeBinding& sizes);

// Merges neighbouring axes wherever every read and output steps through them as through one.
void merge_axes(const Graph& graph, Domain& domain);

// Merges a last axis shorter than `least` with the one before, also where guards read a place along
// that one: as colours with the columns of a picture that is padded. Of a pointwise domain.
void merge_short_axis(const Graph& graph, Domain& domain, int64_t least);

// Row-major offset of an element.
IntExpr flat_offset(const Shape& shape, const Index& index);
IntExpr flat_offset(const Node& node, const Index& index);  // where the value lies in memory

}  // namespace smelt::schedule
