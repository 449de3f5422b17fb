#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

template <ReduceKind kind>
static Value scan(Call& c) {
  return Value::array(c.b.scan(kind, c.array("x"), c.axis("axis"), c.flag("reverse"), c.flag("exclusive"),
                               c.optional_array("restart")));
}

static constexpr Row kScanRows[] = {
    {"cumsum", "", "x, axis=-1, reverse=False, exclusive=False, restart=None",
     "running sum along an axis; integers as in sum. reverse: from the end. exclusive: of what comes before, from 0. "
     "restart: bools, true where the sum restarts",
     scan<ReduceKind::Sum>},
    {"cumprod", "", "x, axis=-1, reverse=False, exclusive=False, restart=None", "running product; exclusive: from 1",
     scan<ReduceKind::Prod>},
    {"cummax", "", "x, axis=-1, reverse=False, exclusive=False, restart=None",
     "largest element so far; nan from the first nan on; exclusive: from -inf or the smallest integer",
     scan<ReduceKind::Max>},
    {"cummin", "", "x, axis=-1, reverse=False, exclusive=False, restart=None",
     "smallest element so far; nan from the first nan on; exclusive: from inf or the largest integer",
     scan<ReduceKind::Min>},
    {"cummean", "", "x, axis=-1", "mean of the elements so far, of floats",
     [](Call& c) { return Value::array(f::cummean(c.b, c.array("x"), c.axis("axis"))); }},
    {"logcumsumexp", "", "x, axis=-1", "log(cumsum(exp(x))), computed relative to the maximum so far",
     [](Call& c) { return Value::array(f::logcumsumexp(c.b, c.array("x"), c.axis("axis"))); }},
};

std::span<const Row> scan_rows() { return kScanRows; }

}  // namespace smelt::lang
