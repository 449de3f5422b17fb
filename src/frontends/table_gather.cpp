// Rows by index, and parts of arrays.
#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

static GatherMode mode_of(Call& c) {
  constexpr GatherMode modes[] = {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap};
  return modes[c.choice("mode", {"raise", "clip", "wrap"})];
}

static size_t axis_of(Call& c, NodeId x) {
  return static_cast<size_t>(c.b.normalize_axis(c.axis("axis"), c.b.rank(x)));
}

// A number of equal parts, or the size of each.
static Value split(Call& c) {
  const NodeId x = c.array("x");
  Shape sizes = c.shape("parts");
  if (!c.value("parts").as<Tuple>()) {
    const int64_t n = c.integer("parts");
    if (n < 1 || n > 4096) c.fail("parts", fmt::format("split: {} parts", n), "give 1 to 4096, or a tuple of sizes");
    sizes = Shape(static_cast<size_t>(n), f::equal_part(c.b, x, n, static_cast<int>(axis_of(c, x))));
  }
  std::vector<Value> parts;
  for (NodeId part : f::split(c.b, x, sizes, c.axis("axis"))) parts.push_back(Value::array(part));
  return Value::tuple(std::move(parts));
}

static Value part(Call& c) {
  const NodeId x = c.array("x");
  const int64_t n = c.integer("parts"), i = c.integer("index");
  if (n < 1 || i < 0 || i >= n)
    c.fail("index", fmt::format("part: there is no part {} of {}", i, n), "parts are counted from 0");
  const size_t d = axis_of(c, x);
  Shape shape = c.b.shape(x);
  std::vector<IntExpr> starts(shape.size(), IntExpr(0));
  shape[d] = f::equal_part(c.b, x, n, static_cast<int>(d));
  starts[d] = shape[d] * i;
  return Value::array(c.b.slice(x, starts, std::vector<int64_t>(shape.size(), 1), shape));
}

static Value max_and_argmax(Call& c) {
  const NodeId x = c.array("x");
  const std::vector<int> axes{c.axis("axis")};
  const bool keep = c.flag("keepdims");
  return Value::tuple({Value::array(c.b.reduce(ReduceKind::Max, x, axes, keep)),
                       Value::array(c.b.reduce(ReduceKind::ArgMax, x, axes, keep))});
}

static constexpr Row kGatherRows[] = {
    {"one_hot", "", "indices, n, dtype=f32",
     "1 at the index along a new last axis of size n, else 0; out of range: zeros",
     [](Call& c) { return Value::array(f::one_hot(c.b, c.indices("indices"), c.size("n"), c.dtype("dtype"))); }},
    {"embedding", "", "table, ids, mode='raise'", "the rows of a table by index, as take(table, ids, axis=0)",
     [](Call& c) { return Value::array(f::embedding(c.b, c.array("table"), c.indices("ids"), mode_of(c))); }},
    {"rotary", "", "x, cos, sin, interleaved=False",
     "the pairs of the last axis rotated: (a cos - b sin, b cos + a sin); b is half the axis after a, or interleaved: "
     "next to it",
     [](Call& c) {
       return Value::array(f::rotary(c.b, c.array("x"), c.array("cos"), c.array("sin"), c.flag("interleaved")));
     }},
    {"rope", "", "x, positions, base=10000, interleaved=False",
     "rotary by positions * base**(-2i/n) for pair i of an axis of n",
     [](Call& c) {
       return Value::array(f::rope(c.b, c.array("x"), c.array("positions"), c.number("base"), c.flag("interleaved")));
     }},
    {"split", "chunk", "x, parts, axis=0",
     "a tuple of parts along an axis: that many equal ones, or parts of the sizes (m, n, ...)", split},
    {"part", "", "x, parts, index, axis=0", "one of the equal parts of an axis, counted from 0", part},
    {"max_and_argmax", "top1", "x, axis=-1, keepdims=False", "(max(x, axis), argmax(x, axis)), in one pass over x",
     max_and_argmax},
};

std::span<const Row> gather_rows() { return kGatherRows; }

}  // namespace smelt::lang
