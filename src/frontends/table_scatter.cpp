// What goes to places that the data names.
#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

template <ScatterKind kind>
static Value scatter(Call& c) {
  constexpr GatherMode modes[] = {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap, GatherMode::Drop};
  const GatherMode mode = modes[c.choice("mode", {"raise", "clip", "wrap", "drop"})];
  const bool atomic = kind == ScatterKind::Add && !c.flag("deterministic");
  return Value::array(
      f::scatter(c.b, kind, c.array("x"), c.indices("indices"), c.operand("updates"), c.axis("axis"), mode, atomic));
}

static constexpr Row kScatterRows[] = {
    {"scatter", "", "x, indices, updates, axis=0, mode='raise'",
     "x with x[indices] = updates along the axis; of several updates of one element the last wins. mode as in take, or "
     "'drop': updates out of range are discarded",
     scatter<ScatterKind::Set>},
    {"scatter_add", "index_add", "x, indices, updates, axis=0, mode='raise', deterministic=True",
     "x with x[indices] += updates along the axis, with every duplicate, as numpy.add.at. Not deterministic: on a GPU "
     "floats are added in any order, which is faster",
     scatter<ScatterKind::Add>},
    {"scatter_mul", "", "x, indices, updates, axis=0, mode='raise'",
     "as scatter_add, with *=", scatter<ScatterKind::Mul>},
    {"scatter_max", "", "x, indices, updates, axis=0, mode='raise'", "as scatter_add, with maximum; nan wins",
     scatter<ScatterKind::Max>},
    {"scatter_min", "", "x, indices, updates, axis=0, mode='raise'", "as scatter_add, with minimum; nan wins",
     scatter<ScatterKind::Min>},
    {"segment_sum", "", "x, segments, n, deterministic=True",
     "[n, ..]: the sum of the rows of x that belong to each segment; rows of no segment 0 .. n-1 are left out",
     [](Call& c) {
       return Value::array(
           f::segment_sum(c.b, c.array("x"), c.indices("segments"), c.size("n"), !c.flag("deterministic")));
     }},
    {"bincount", "", "x, n, weights=None, deterministic=True",
     "how often each of 0 .. n-1 is in x, as i64, or the sum of their weights; others are left out",
     [](Call& c) {
       return Value::array(
           f::bincount(c.b, c.array("x"), c.size("n"), c.optional_array("weights"), !c.flag("deterministic")));
     }},
    {"histogram", "", "x, bins, low, high",
     "how many elements lie in each of the bins of equal width from low to high, as i64; nan and what is outside are "
     "left out",
     [](Call& c) {
       return Value::array(f::histogram(c.b, c.array("x"), c.integer("bins"), c.number("low"), c.number("high")));
     }},
};

std::span<const Row> scatter_rows() { return kScatterRows; }

}  // namespace smelt::lang
