#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

// Shifts and axes broadcast: one shift along several axes, several along one. Without an axis x is
// flattened.
static Value roll(Call& c) {
  NodeId x = c.array("x");
  if (c.no_axes("axis")) return Value::array(x);
  const Shape shifts = c.shape("shift");
  const std::vector<int> axes = c.axes("axis");
  if (axes.empty()) {
    IntExpr all = 0;
    for (const IntExpr& shift : shifts) all = all + shift;
    return Value::array(f::roll(c.b, x, all, std::nullopt));
  }
  const size_t n = std::max(axes.size(), shifts.size());
  if ((axes.size() != 1 && axes.size() != n) || (shifts.size() != 1 && shifts.size() != n))
    c.fail("shift", fmt::format("roll: {} shifts for {} axes", shifts.size(), axes.size()),
           "give one shift for each axis, or one for all");
  for (size_t i = 0; i < n; ++i)
    x = f::roll(c.b, x, shifts[shifts.size() == 1 ? 0 : i], axes[axes.size() == 1 ? 0 : i]);
  return Value::array(x);
}

// A function of axes of which () names none, so that nothing happens.
template <NodeId (*function)(GraphBuilder&, NodeId, f::Axes)>
static Value along(Call& c) {
  const NodeId x = c.array("x");
  return Value::array(c.no_axes("axis") ? x : function(c.b, x, c.axes("axis")));
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

// start:stop:step as a value; as in Python, one argument is where it stops.
static Value slice(Call& c) {
  const auto* given = c.value("bounds").as<Tuple>();
  std::vector<Value> items = given ? *given->items : std::vector<Value>{Value(), c.value("bounds")};
  if (items.size() < 2 || items.size() > 3)
    c.fail("bounds", fmt::format("slice: {} arguments", items.size()),
           "as in slice(8), slice(1, -1) or slice(None, None, 2)");
  items.resize(3);
  return Value(Bounds{std::make_shared<const std::vector<Value>>(std::move(items))});
}

static GatherMode gather_mode(Call& c) {
  constexpr GatherMode kModes[] = {GatherMode::Check, GatherMode::Clamp, GatherMode::Wrap};
  return kModes[c.choice("mode", {"raise", "clip", "wrap"})];
}

static Value take(Call& c) {
  const NodeId x = c.array("x");
  const auto axis = c.optional_axis("axis");
  if (const auto known = c.known_indices("indices")) return Value::array(f::take(c.b, x, *known, axis, gather_mode(c)));
  return Value::array(f::take(c.b, x, c.array("indices"), axis, gather_mode(c)));
}

static Value take_along_axis(Call& c) {
  return Value::array(
      f::take_along_axis(c.b, c.array("x"), c.indices("indices"), c.optional_axis("axis"), gather_mode(c)));
}

static constexpr Row kMovementRows[] = {
    {"reshape", "view", "x, *shape", "the same elements, row by row, in another shape; one size may be -1",
     [](Call& c) { return Value::array(c.b.reshape(c.array("x"), c.shape("shape"))); }},
    {"flatten", "ravel", "x", "reshape(x, -1)", [](Call& c) { return Value::array(f::flatten(c.b, c.array("x"))); }},
    {"transpose", "permute permute_dims", "x, *axes=None", "axes in another order; without axes: reversed, as x.T",
     [](Call& c) { return Value::array(f::transpose(c.b, c.array("x"), c.axes("axes"))); }},
    {"swapaxes", "", "x, axis1, axis2", "two axes change places",
     [](Call& c) { return Value::array(f::swapaxes(c.b, c.array("x"), c.axis("axis1"), c.axis("axis2"))); }},
    {"moveaxis", "movedim", "x, source, destination", "axes move to these positions, the others keep their order",
     [](Call& c) {
       const auto axes = [&](std::string_view name) { return c.no_axes(name) ? f::Axes{} : c.axes(name); };
       return Value::array(f::moveaxis(c.b, c.array("x"), axes("source"), axes("destination")));
     }},
    {"broadcast_to", "expand", "x, *shape", "axes of size 1, and new ones in front, repeated to the shape",
     [](Call& c) { return Value::array(c.b.broadcast_to(c.array("x"), c.shape("shape"))); }},
    {"expand_dims", "unsqueeze", "x, axis", "a new axis of size 1 at this position of the result",
     along<f::expand_dims>},
    {"squeeze", "", "x, axis=None", "drops axes of size 1: all, or those named", along<f::squeeze>},
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
     "'wrap' extend x itself, as numpy.pad does; 'replicate' and 'circular' are PyTorch's 'edge' and 'wrap'",
     pad},
    {"flip", "", "x, axis=None", "reversed along the axes, or all of them", along<f::flip>},
    {"roll", "", "x, shift, axis=None",
     "elements move up by shift and wrap around; one shift for each axis, or one for all; without an axis as if "
     "flattened",
     roll},
    {"tile", "", "x, *reps", "x repeated as a whole: reps[d] times along axis d",
     [](Call& c) { return Value::array(f::tile(c.b, c.array("x"), c.shape("reps"))); }},
    {"repeat", "repeat_interleave", "x, repeats, axis=None", "each element repeated; without an axis flattened",
     [](Call& c) { return Value::array(f::repeat(c.b, c.array("x"), c.size("repeats"), c.optional_axis("axis"))); }},
    {"take", "gather", "x, indices, axis=None, mode='raise'",
     "x[indices] along the axis, or of the flattened x; out of range: mode 'raise' an error, 'clip' the nearest, "
     "'wrap' modulo",
     take},
    {"take_along_axis", "", "x, indices, axis=-1, mode='raise'",
     "x[.., indices[.., i, ..], ..]: each index picks along the axis in its own row; other axes are broadcast",
     take_along_axis},
    {"slice_update", "", "x, index, value",
     "x in which x[index] is the value, which broadcasts to it; index: the content of the brackets of a subscript "
     "without arrays, as in slice_update(x, (slice(1, -1), 0), v)",
     [](Call& c) { return Value::array(slice_update(c.b, c.array("x"), c.value("index"), c.operand("value"))); }},
    {"slice", "", "*bounds", "stop, (start, stop) or (start, stop, step): start:stop:step of a subscript as a value",
     slice},
    {"tril", "", "x, k=0", "zero above diagonal k of the last two axes",
     [](Call& c) { return Value::array(f::tril(c.b, c.array("x"), c.integer("k"))); }},
    {"triu", "", "x, k=0", "zero below diagonal k of the last two axes",
     [](Call& c) { return Value::array(f::triu(c.b, c.array("x"), c.integer("k"))); }},
};

std::span<const Row> movement_rows() { return kMovementRows; }

}  // namespace smelt::lang
