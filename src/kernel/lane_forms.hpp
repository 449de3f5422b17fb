// What the lanes of a Vector loop on a CPU do together: how they lie in the arrays that they
// access, and how their indices differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

inline constexpr int64_t kLineBytes = 64;  // of the cache
// Elements of a line, of 4 bytes: a multiple of those of longer ones.
inline constexpr int64_t kLineElements = 16;

// Steps from a lane to the next up to which lanes are computed in narrow numbers.
inline constexpr int64_t kMostLaneStep = int64_t{1} << 20;

// How the lanes of a whole step lie in the array that they read.
struct LaneAccess {
  // Strided lanes are read in whole vectors with what lies between them, lanes Apart one by one at
  // one distance, those of a Gather each anywhere. Pieces are contiguous reads that are distributed
  // to the lanes.
  enum class Form : uint8_t { Broadcast, Strided, Apart, Pieces, Gather };
  // Elements that follow each other: from `low` to `high` beyond the place that is `apart` from
  // lane 0's. Some lane reads the first, some lane the last, unless another load of every step, one
  // of `within`, reads it or what is beyond it.
  struct Piece {
    IntExpr apart;
    int64_t low = 0, high = 0;
    std::vector<std::pair<int, int64_t>> lanes;  // those that read of it, and which element
    std::vector<ExprId> within = {};
  };
  Form form = Form::Gather;
  int64_t step = 0;           // Strided, Apart: elements from a lane to the next
  std::vector<Piece> pieces;  // for every lane that reads
  // It has this form where each is at least 0 in lane 0, and is a Gather elsewhere.
  std::vector<IntExpr> holds;
  // Strided by 1, of scratch: elements after a line of the cache when the step begins at one.
  // 0: aligned, or not worth reading in whole lines.
  int64_t behind = 0;
};

// The random words of neighbouring lanes, which are drawn in blocks of four: lane l has word
// words[l] of those from `base` on, in steps that begin at multiples of four.
struct LaneDraw {
  IntExpr base;            // in terms of the loop's variable in lane 0
  std::vector<int> words;  // of the first lanes, as many as are known
  bool aligned = false;    // a block begins at `base`
  // Whether the first `lanes` are known and near each other, so that they share blocks.
  bool shared_by(int lanes) const;
  int count(int lanes) const;  // of the words from `base` on that they need, a multiple of four
};

// A quotient or a remainder whose numerator grows by `step` from a lane to the next, and both of
// lane 0, as simple as the ranges of symbols make them.
struct LaneDivision {
  IntExpr::AtomPtr atom;
  int64_t step = 0;
  IntExpr quotient, remainder;
};

// A comparison of indices, as one of what grows by `step` from a lane to the next with 0.
struct LaneComparison {
  IntExpr difference;
  int64_t step = 0;
  bool at_least = false;  // it holds where the difference is at least 0; else as of the indices
};

struct LaneForms {
  std::map<ExprId, LaneAccess> loads;
  // That are the same in all whole steps: what each lane has.
  std::map<ExprId, std::vector<bool>> conditions;
  std::map<ExprId, LaneDraw> draws;
  // Offsets of the lanes' indices from lane 0, in all whole steps.
  std::map<IntExpr, std::vector<int64_t>> tables;
  std::map<std::string, LaneDivision> divisions;  // by the key of the atom
  std::map<ExprId, LaneComparison> comparisons;
};

}  // namespace smelt::kernel
