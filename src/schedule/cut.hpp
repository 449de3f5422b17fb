// Where a pointwise kernel writes what several arrays are joined to, each of them has a range of an
// axis: the loops go over the ranges one by one, and compute in each only what lies there.
#pragma once

#include <optional>
#include <vector>

#include "schedule/domain.hpp"

namespace smelt::schedule {

struct Cut {
  int axis = -1;                // of the domain
  std::vector<IntExpr> starts;  // of the ranges along it, ascending; the first is 0
  bool by_rows = false;         // lanes are those of the last axis alone
};

// Elements between lanes that stores of all of them fill together, whose values are interleaved.
inline constexpr int64_t kMostJoined = 16;

// Elements from a lane to the next up to which they are read one by one, at addresses that the
// first one's gives; a gather takes each from anywhere.
inline constexpr int64_t kMostApart = 32;

// Elements of a range that lie together where it is a loop of its own.
inline constexpr int64_t kLeastRun = 64;

// Nothing where nothing is joined, or where a range has fewer elements that lie together than
// `least`.
std::optional<Cut> find_cut(const Graph& graph, const Group& group, const Domain& domain, const SizeBinding& sizes,
                            int64_t least = kLeastRun);

// Where the ranges are equally long and few: loops over one of them, in which all are computed side
// by side, so that what several of them read is read once. Whether it was done.
bool join_ranges(const Graph& graph, const Cut& cut, const SizeBinding& sizes, Domain& domain);

// A short axis of a pointwise domain that a thread may have the whole of: the last one, as the
// colours of a pixel, or one along which something is read that is stored apart.
std::optional<int> short_axis(const Graph& graph, const Domain& domain);
// A short last axis whose places a vector of lanes over the axis before computes one after another,
// since other arrays are joined in each, or since they share most of what is computed: what is
// stored is interleaved. That axis is at least `least` long.
std::optional<int> axis_between_lanes(const Graph& graph, const Group& group, const Domain& domain, int64_t least);
// The elements from a lane along `axis` to the next that whole vectors are read or stored for, as a
// power of two; 1: there are no such. Lanes that are read further apart count as the most: more
// lines of the cache than there are in one vector arrive later than those of the next.
int between_lanes(const Graph& graph, const Domain& domain, int axis);
// Takes the axis away: what was at each of its places is computed side by side, what they share
// once.
void write_out(const Graph& graph, int axis, Domain& domain);

struct Schedule;
// Gives a pointwise schedule its ranges, if there are any, and names them in its note.
void take_cut(Schedule& schedule, std::optional<Cut> cut);

}  // namespace smelt::schedule
