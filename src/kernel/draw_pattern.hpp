// Which random words neighbouring lanes need. One block of Philox has four, so that lanes whose
// words lie side by side share blocks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/lane_forms.hpp"

namespace smelt::kernel {

// Lane l needs what element words[l] is, counted from `base`.
struct DrawPattern {
  IntExpr base;      // of lane 0, in terms of the loop's variable
  IntExpr quarters;  // the same where the variable is unit * %q
  std::vector<int> words;
  int count() const;  // of the words from base on, a multiple of 4
};

// The loop's variable in lane 0 is a multiple of `unit`. Nothing where the lanes do not differ by
// constants, or lie far apart.
std::optional<DrawPattern> draw_pattern(const IntExpr& element, const Loop& loop, int lanes, int unit,
                                        const Ranges& ranges);

// The same of a Vector loop on a CPU, whose last steps may take fewer lanes: of as many of its
// lanes as share blocks. Nothing where none do, or where lane 0 is not at a multiple of four.
std::optional<LaneDraw> lane_draw(const IntExpr& element, const Loop& loop, const Ranges& ranges);

}  // namespace smelt::kernel
