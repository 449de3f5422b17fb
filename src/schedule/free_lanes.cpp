// Lanes along a kept axis whose operands no reduced axis changes: each has its own in registers.
#include <algorithm>

#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {

int free_axis(const Domain& domain) {
  int longest = -1;
  for (size_t d = 0; d < domain.axes.size(); ++d) {
    const Axis& axis = domain.axes[d];
    const auto moves = [&](const Read& read) { return mentions(read.index, axis.var); };
    const auto reduces = [&](const Read& read) {
      return std::any_of(domain.axes.begin(), domain.axes.end(),
                         [&](const Axis& a) { return a.reduced && mentions(read.index, a.var); });
    };
    if (axis.reduced || std::none_of(domain.reads.begin(), domain.reads.end(), moves) ||
        std::any_of(domain.reads.begin(), domain.reads.end(), [&](const Read& r) { return moves(r) && reduces(r); }))
      continue;
    if (longest < 0 || axis.estimate > domain.axes[static_cast<size_t>(longest)].estimate)
      longest = static_cast<int>(d);
  }
  return longest;
}

int lanes_that_hold(const Domain& domain, int lanes, const Target& target) {
  const int64_t most = target.vector_bits >= 512 ? 16 : 8, natural = natural_lanes(target);
  int64_t held = 0;
  for (const Read& read : domain.reads)
    if (moves_along(domain, read, false) && !moves_along(domain, read, true))
      held += window_elements(domain, read.index);
  while (lanes > natural && held * lanes > most * natural) lanes /= 2;
  return lanes;
}

}  // namespace smelt::schedule
