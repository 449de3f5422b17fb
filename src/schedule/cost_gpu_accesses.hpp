// Where the accesses of a GPU's kernel are: what neighbouring lanes, windows and blocks share.
// Internal to this folder.
#pragma once

#include "schedule/cost_parts.hpp"

namespace smelt::schedule {

constexpr int kSector = 32, kLine = 128;  // bytes

class GpuAccesses {
 public:
  GpuAccesses(const Graph& graph, const Schedule& schedule, const SizeBinding& sizes)
      : graph_(graph), s_(schedule), sizes_(sizes) {
    if (s_.lanes > 1) find_begin();
  }

  // Elements from a lane to the next; 0 where all have the same.
  double step_along(NodeId node, const Index& index) const;
  // The number of cache lines of a window: neighbours share them.
  double lines_of_window(NodeId node, const Index& index) const;
  // Neighbours of a window that are one access: threads that take several elements load them one by
  // one.
  double word_of_window(NodeId node, const Index& index) const;
  // The most elements of a window along one axis; 1: it is none.
  double longest_side(const Index& index) const;
  // The share of a window's reads that neighbours of a thread do not make too.
  double shared_of_lanes(NodeId node, const Index& index) const;
  // The share of a block's reads along the lanes that neighbouring blocks do not read too.
  double shared_of_blocks(NodeId node, const Index& index) const;
  // Reads of one array that fill the elements between those of neighbouring lanes: the first of
  // them brings what the others find in the first-level cache.
  double reads_between_lanes(const Read& read) const;
  // Whether reads, or stores, of one array have all elements between the lanes of a thread, which
  // are then accessed as words that follow each other: the bytes of pixels of three channels.
  bool in_turn(const Read& read) const;
  bool in_turn(const Output& output) const;
  // Whether neighbours that a thread takes at a time are accessed one by one, since they do not
  // begin at a multiple of their number. Threads begin where most arrays have one.
  bool taken_singly(NodeId node, const Index& index) const;

 private:
  // Whether the points of all axes follow each other in memory, so many elements apart.
  bool goes_on(const IntExpr& flat, int64_t apart) const;
  template <class Access>
  bool fill_steps(NodeId node, const Index& index, const std::vector<Access>& all) const;
  const Graph& graph_;
  const Schedule& s_;
  double step_within_row(NodeId node, const Index& index) const;
  int64_t extent_of(Symbol window) const;  // its elements along an axis
  IntExpr lane() const;                    // the variable of the vector axis, which there is
  // The place of an access, less the lanes' own variable, where neighbours follow each other.
  std::optional<IntExpr> origin_of(NodeId node, const Index& index) const;
  bool is_multiple_of_lanes(const IntExpr& origin) const;
  void find_begin();

  const SizeBinding& sizes_;
  IntExpr begin_ = 0;  // that threads begin at multiples from
};

}  // namespace smelt::schedule
