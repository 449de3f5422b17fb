#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

// Several shifts go along several axes, one by one.
static Value roll(Call& c) {
  NodeId x = c.array("x");
  const Shape shifts = c.shape("shift");
  const std::vector<int> axes = c.axes("axis");
  if (axes.empty() && shifts.size() == 1) return Value::array(f::roll(c.b, x, shifts[0], std::nullopt));
  if (axes.size() != shifts.size())
    c.fail("shift", fmt::format("roll: {} shifts for {} axes", shifts.size(), axes.size()),
           "give one shift for each axis");
  for (size_t i = 0; i < axes.size(); ++i) x = f::roll(c.b, x, shifts[i], axes[i]);
  return Value::array(x);
}

// The elements before and after each axis: n, (before, after), or a pair for each axis.
static std::vector<Shape> widths(Call& c, size_t rank) {
  const auto* tuple = c.value("pad_width").as<Tuple>();
  const bool nested = tuple && !tuple->items->empty() && tuple->items->front().as<Tuple>();
  const auto pair_of = [&](Shape shape) {
    if (shape.size() == 1) shape.push_back(shape[0]);
    if (shape.size() != 2)
      c.fail_kind("pad_width", "n, (before, after), or a pair for each axis", "as in pad(x, ((0, 0), (1, 2)))");
    return shape;
  };
  if (!nested) return std::vector<Shape>(rank, pair_of(c.shape("pad_width")));
  if (tuple->items->size() != rank)
    c.fail("pad_width", fmt::format("pad: {} pairs for an array of rank {}", tuple->items->size(), rank),
           "give a pair for each axis");
  std::vector<Shape> result;
  for (const Value& item : *tuple->items) {
    const auto* pair = item.as<Tuple>();
    Shape sizes;
    for (const Value& width : pair ? *pair->items : std::vector<Value>{item}) {
      const auto size = as_size(width);
      if (!size)
        c.fail_kind("pad_width", "n, (before, after), or a pair for each axis", "widths are integers or sizes");
      sizes.push_back(*size);
    }
    result.push_back(pair_of(std::move(sizes)));
  }
  return result;
}

static Value pad(Call& c) {
  const NodeId x = c.array("x");
  std::vector<IntExpr> low, high;
  for (const Shape& pair : widths(c, c.b.shape(x).size())) low.push_back(pair[0]), high.push_back(pair[1]);
  if (const auto mode = c.pad_mode("mode")) return Value::array(c.b.extend(x, low, high, *mode));
  Operand value = c.operand("value");
  if (is_bool(c.b.dtype(x)) && as_integer(c.value("value")) == 0) value = Literal(false);  // the default
  return Value::array(c.b.pad(x, low, high, value));
}

static GatherMode gather_mode(Call& c) {
  constexpr GatherMode kModes[] = {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap};
  return kModes[c.choice("mode", {"raise", "clip", "wrap"})];
}

static Value take(Call& c) {
  return Value::array(f::take(c.b, c.array("x"), c.array("indices"), c.optional_axis("axis"), gather_mode(c)));
}

static Value take_along_axis(Call& c) {
  return Value::array(
      f::take_along_axis(c.b, c.array("x"), c.array("indices"), c.optional_axis("axis"), gather_mode(c)));
}

static constexpr Row kMovementRows[] = {
    {"reshape", "view", "x, *shape", "the same elements, row by row, in another shape; one size may be -1",
     [](Call& c) { return Value::array(c.b.reshape(c.array("x"), c.shape("shape"))); }},
    {"flatten", "ravel", "x", "reshape(x, -1)", [](Call& c) { return Value::array(f::flatten(c.b, c.array("x"))); }},
    {"transpose", "permute permute_dims", "x, *axes=None", "axes in another order; without axes: reversed, as x.T",
     [](Call& c) { return Value::array(f::transpose(c.b, c.array("x"), c.axes("axes"))); }},
    {"swapaxes", "", "x, axis1, axis2", "two axes change places",
     [](Call& c) { return Value::array(f::swapaxes(c.b, c.array("x"), c.axis("axis1"), c.axis("axis2"))); }},
    {"moveaxis", "movedim", "x, source, destination", "one axis moves, the others keep their order",
     [](Call& c) { return Value::array(f::moveaxis(c.b, c.array("x"), c.axis("source"), c.axis("destination"))); }},
    {"broadcast_to", "expand", "x, *shape", "axes of size 1, and new ones in front, repeated to the shape",
     [](Call& c) { return Value::array(c.b.broadcast_to(c.array("x"), c.shape("shape"))); }},
    {"expand_dims", "unsqueeze", "x, axis", "a new axis of size 1 at this place of the result",
     [](Call& c) { return Value::array(f::expand_dims(c.b, c.array("x"), c.axes("axis"))); }},
    {"squeeze", "", "x, axis=None", "drops axes of size 1: all, or those named",
     [](Call& c) { return Value::array(f::squeeze(c.b, c.array("x"), c.axes("axis"))); }},
    {"concat", "concatenate cat", "arrays, axis=0", "arrays one after the other along an axis",
     [](Call& c) {
       auto arrays = c.arrays("arrays");  // what is wrong with them is said first
       return Value::array(c.b.concat(std::move(arrays), c.axis("axis")));
     }},
    {"stack", "", "arrays, axis=0", "arrays of one shape along a new axis",
     [](Call& c) {
       const auto arrays = c.arrays("arrays");
       return Value::array(f::stack(c.b, arrays, c.axis("axis")));
     }},
    {"pad", "", "x, pad_width, value=0, mode='constant'",
     "value around x; pad_width: n, (before, after), or a pair for each axis; mode 'edge', 'reflect', 'symmetric' and "
     "'wrap' "
     "continue x itself, as numpy.pad does",
     pad},
    {"flip", "", "x, axis=None", "reversed along the axes, or all of them",
     [](Call& c) { return Value::array(f::flip(c.b, c.array("x"), c.axes("axis"))); }},
    {"roll", "", "x, shift, axis=None",
     "elements move up by shift, and around the end; without an axis as if flattened", roll},
    {"tile", "", "x, *reps", "the whole of x again and again: reps[d] times along axis d",
     [](Call& c) { return Value::array(f::tile(c.b, c.array("x"), c.shape("reps"))); }},
    {"repeat", "repeat_interleave", "x, repeats, axis=None", "each element again and again; without an axis flattened",
     [](Call& c) { return Value::array(f::repeat(c.b, c.array("x"), c.size("repeats"), c.optional_axis("axis"))); }},
    {"take", "gather", "x, indices, axis=None, mode='raise'",
     "x[indices] along the axis, or of the flattened x; out of range: mode 'raise' an error, 'clip' the nearest, "
     "'wrap' modulo",
     take},
    {"take_along_axis", "", "x, indices, axis=-1, mode='raise'",
     "x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are broadcast",
     take_along_axis},
    {"tril", "", "x, k=0", "zero above diagonal k of the last two axes",
     [](Call& c) { return Value::array(f::tril(c.b, c.array("x"), c.integer("k"))); }},
    {"triu", "", "x, k=0", "zero below diagonal k of the last two axes",
     [](Call& c) { return Value::array(f::triu(c.b, c.array("x"), c.integer("k"))); }},
};

std::span<const Row> movement_rows() { return kMovementRows; }

}  // namespace smelt::lang
