// Where the accesses of a GPU's kernel are: what neighbouring lanes, windows and blocks share.
// Internal to this folder.
#pragma once

#include "schedule/cost_parts.hpp"

namespace smelt::schedule {

constexpr int kSector = 32, kLine = 128;  // bytes

class GpuAccesses {
 public:
  GpuAccesses(const Graph& graph, const Schedule& schedule, const SizeBinding& sizes)
      : graph_(graph), s_(schedule), sizes_(sizes) {}

  // Elements from a lane to the next; 0 where all have the same.
  double step_along(NodeId node, const Index& index) const;
  // The number of cache lines of a window: neighbours share them.
  double lines_of_window(NodeId node, const Index& index) const;
  // Neighbours of a window that are one access: threads that take several elements load them one by
  // one.
  double word_of_window(NodeId node, const Index& index) const;
  // The share of a block's reads along the lanes that neighbouring blocks do not read too.
  double shared_of_blocks(NodeId node, const Index& index) const;
  // Reads of one array that fill the elements between those of neighbouring lanes: the first of
  // them brings what the others find in the first-level cache.
  double reads_between_lanes(const Read& read) const;

 private:
  const Graph& graph_;
  const Schedule& s_;
  const SizeBinding& sizes_;
};

}  // namespace smelt::schedule
