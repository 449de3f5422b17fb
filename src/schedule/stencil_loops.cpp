// Which values of a row are evaluated in one loop over its columns. What a value needs of the
// newest row of another at the same column it then has in a register; other columns of that row
// must be in memory, so they need a loop before.
#include <algorithm>

#include "schedule/stencil.hpp"

namespace smelt::schedule {
namespace {

// The columns that a step evaluates beyond those of the strip.
struct Columns {
  int64_t left = 0, right = 0;
  friend bool operator==(const Columns&, const Columns&) = default;
};

}  // namespace

void plan_loops(Stencil& stencil) {
  const size_t outputs = stencil.rings.size();
  std::vector<size_t> loop_of(outputs + 1);
  std::vector<Columns> loops;
  const auto columns_of = [&](size_t step) {
    return step == outputs ? Columns{} : Columns{stencil.rings[step].left, stencil.rings[step].right};
  };
  for (size_t step = 0; step <= outputs; ++step) {
    const Columns columns = columns_of(step);
    size_t first = 0;  // loop that may have it
    for (size_t r = 0; r < step; ++r)
      for (const RingPlace& place : stencil.rings[r].places) {
        if (place.readers.count(step) == 0) continue;
        const bool beside = columns_of(r) == columns && (place.back > 0 || place.right == 0);
        first = std::max(first, loop_of[r] + (beside ? 0 : 1));
      }
    if (step == outputs && !loops.empty()) first = std::max(first, loops.size() - 1);
    while (first < loops.size() && !(loops[first] == columns)) ++first;
    if (first == loops.size()) loops.push_back(columns);
    loop_of[step] = first;
  }
  stencil.output_loop = loop_of[outputs];
  for (size_t r = 0; r < outputs; ++r) {
    Ring& ring = stencil.rings[r];
    ring.loop = loop_of[r];
    const auto in_place = [&](const RingPlace& place) {
      return place.back < ring.rows - 1 ||
             (place.right == 0 && std::all_of(place.readers.begin(), place.readers.end(), [&](size_t reader) {
                return loop_of[reader] == ring.loop && columns_of(reader) == columns_of(r);
              }));
    };
    const bool replaces = ring.rows > 1 && std::all_of(ring.places.begin(), ring.places.end(), in_place);
    ring.lines = replaces ? ring.rows - 1 : ring.rows;
  }
}

}  // namespace smelt::schedule
