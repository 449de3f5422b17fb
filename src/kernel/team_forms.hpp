// How the team of threads of a GPU runs a loop, in each variant of its phase.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// How a Vector loop is spread over the threads t of a team. Each takes groups of `lanes`
// neighbouring elements, one access of up to 16 bytes, and `unroll` groups in a step, whose loads
// are all under way before the first is used:
//
//   element = ((step * unroll + u) * threads + t) * lanes + l
//
// Rows whose length is no multiple of the lanes begin at another place of a 16-byte word each. A
// peeled loop takes the whole words of a row as groups; what is left at both ends, fewer than 2 *
// lanes elements, is one more element of the first threads.
struct LoopShape {
  int lanes = 1, unroll = 1;
  bool one_step = false;  // covers the extent
  bool checked = true;    // groups may lie outside of the extent
  // Checked, of several steps: those that lie inside for the thread check nothing, and its last one
  // is written out again, with checks. A thread has seven predicates: with the checks of 16 loads
  // the compiler lets it wait for the first ones before it makes the last.
  bool last_apart = false;
  int inside = 0;  // checked, of one step: the first groups, which lie inside for every thread
  bool peeled = false;
  IntExpr origin = 0;       // peeled: the offset of element 0 in the arrays whose words the groups are
  bool by_element = false;  // PlainThread: one loop over all elements, since nothing of one step is kept
  int draw_lanes = 1;       // by_element: elements that draw a block of random words together
  int count() const { return lanes * unroll; }
  bool operator==(const LoopShape&) const = default;
};

// The element of a load is in a register of its thread if it is in its group: `distance` elements
// further in one that is loaded early.
struct FromLane {
  ExprId load, group;
  int distance = 0;
};

// How caches treat a load.
enum class Cached : uint8_t {
  Usual,
  Lasting,   // 16 bytes that the L2 cache evicts last, or fewer of what is read once: docs/decisions/007
  Passing,   // 8 or 16 that the L1 cache does not keep; single elements too, of 4 or 8
  Repeated,  // 16 that other workgroups read too, where what passes leaves them in the L1 cache
};
std::string_view name_of(Cached cached);  // "" for the usual one

// A load that is made for all groups of a step before anything is computed.
struct EarlyLoad {
  ExprId load;
  int step = 0;  // the lanes of a group are one access: 1: upwards, -1: downwards; 0: an access each
  Cached cached = Cached::Usual;
  std::optional<FromLane> from = {};  // of an access each
  bool shared = false;                // the lanes of a group read one element
  // Loads that follow this one by address and come with it: those of single elements as one access,
  // those of groups as a run of as many accesses, in which the lanes of each lie between the lanes
  // of the others. And whether it comes with another one.
  std::vector<ExprId> next = {};
  bool follows = false;
  // Elements from a lane of a group to the next.
  int apart() const { return step == 0 ? 1 : static_cast<int>(next.size()) + 1; }
};

// A store whose lanes are one access, after all else that the group does.
struct GroupStore {
  int statement = 0;    // of the block
  int step = 0;         // 1: upwards, -1: downwards
  bool copied = false;  // from an array, lane by lane the same: nothing goes through registers
  // Stores that follow it by address, whose lanes lie between its own: together they are a run of
  // as many accesses.
  std::vector<int> next = {};
  int apart() const { return static_cast<int>(next.size()) + 1; }  // elements from a lane to the next
};

// Elements that follow each other, by address, which a thread takes as one access of up to 16 bytes
// under one mask.
struct AdjacentLoads {
  std::vector<ExprId> loads;
  ExprId mask = kNoExpr, other = kNoExpr;
};
struct AdjacentStores {
  std::vector<int> statements;  // of the block
  ExprId mask = kNoExpr;
};

// The random words of a group's lanes: lane l has word words[l] of those from `base` on, which are
// drawn in blocks of four before the lanes are gone through.
struct GroupDraw {
  ExprId draw;
  IntExpr base;
  std::vector<int> words;
  bool aligned = false;  // the blocks begin at `base`
  int count() const { return (*std::max_element(words.begin(), words.end()) / 4 + 1) * 4; }
};

// Statements of a Vector loop, or of a loop inside of one, between loops and scans.
struct BlockAccesses {
  std::vector<EarlyLoad> early;
  std::vector<FromLane> from;  // of the other loads
  std::vector<GroupStore> group_stores;
  std::vector<GroupDraw> draws;
  std::vector<AdjacentLoads> loads;    // before the block
  std::vector<AdjacentStores> stores;  // after the block
};

// A Serial loop inside of a Vector loop: loads of as many iterations, made before the first of
// them.
struct IterationLoads {
  int iterations = 1;
  std::vector<ExprId> loads;
  BlockAccesses block;  // of the body, where they have been made
};

struct LoopAccesses {
  std::vector<EarlyLoad> held;   // made before the loop, for all alike loops after it too
  std::vector<EarlyLoad> early;  // made for all blocks, where scans are between them
  std::vector<BlockAccesses> blocks;
  IterationLoads batch;
};

// Each: one for each variant of the phase.
struct TeamForms {
  std::vector<LoopShape> shapes;       // of a Vector loop
  std::vector<LoopAccesses> accesses;  // once they are known
};

}  // namespace smelt::kernel
