#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

// An array of one number, which every dtype holds.
static Value filled(Call& c, Shape shape, int64_t number, DType dtype) {
  return Value::array(
      c.b.broadcast_to(c.b.constant(convert(Scalar::of_int(DType::I64, number), dtype)), std::move(shape)));
}

static Value filled_like(Call& c, int64_t number) {
  const NodeId x = c.array("x");
  return filled(c, c.b.shape(x), number, c.optional_dtype("dtype").value_or(c.b.dtype(x)));
}

static bool is_float_literal(const Value& v) { return as_number(v) && !as_integer(v); }

// Integers and sizes give i64; a float among the arguments gives f32.
static Value arange(Call& c) {
  const bool one = !c.given("stop");
  const Value start = one ? Value::integer(0) : c.value("start");
  const Value stop = c.value(one ? "start" : "stop");
  if (is_float_literal(start) || is_float_literal(stop) || is_float_literal(c.value("step"))) {
    const auto from = as_number(start), to = as_number(stop);
    if (!from || !to)
      c.fail("start", "arange: floats and sizes do not mix", "calculate from integers: 0.5 * arange(N)");
    return Value::array(f::arange(c.b, *from, *to, c.number("step"), c.optional_dtype("dtype").value_or(DType::F32)));
  }
  const IntExpr to = c.size(one ? "start" : "stop"), from = one ? IntExpr(0) : c.size("start");
  return Value::array(f::arange(c.b, from, to, c.integer("step"), c.optional_dtype("dtype").value_or(DType::I64)));
}

// The numbers are known at compile time, unlike those of arange.
static Value range(Call& c) {
  constexpr size_t kMost = 1 << 16;
  const auto* given = c.value("bounds").as<Tuple>();
  std::vector<int64_t> bounds;
  for (const Value& v : given ? *given->items : std::vector<Value>{c.value("bounds")}) {
    const auto i = as_integer(v);
    if (!i)
      c.fail("bounds", fmt::format("range: {} is not an integer that the program contains", describe(c.b, v)),
             "arange(n) is the array of 0 to n - 1 for every size n");
    bounds.push_back(*i);
  }
  if (bounds.empty() || bounds.size() > 3)
    c.fail("bounds", fmt::format("range: {} arguments", bounds.size()),
           "as in range(8), range(1, 8) or range(7, -1, -1)");
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  const int64_t step = bounds.size() == 3 ? bounds[2] : 1;
  if (step == 0) c.fail("bounds", "range: the step is 0", "take a step that leads from start to stop");
  std::vector<Value> items;
  for (__int128 i = bounds[0]; step > 0 ? i < bounds[1] : i > bounds[1]; i += step) {
    if (items.size() == kMost)
      c.fail("bounds", fmt::format("range: more than {} numbers", kMost), "arange makes long arrays of numbers");
    items.push_back(Value::integer(static_cast<int64_t>(i)));
  }
  return Value::tuple(std::move(items));
}

static Value full_like(Call& c) {
  const NodeId x = c.array("x");
  const DType dtype = c.optional_dtype("dtype").value_or(c.b.dtype(x));
  return Value::array(f::full(c.b, c.b.shape(x), c.operand("value"), dtype));
}

static constexpr Row kCreationRows[] = {
    {"arange", "", "start, stop=None, step=1, dtype=None", "start, start + step, ... below stop; arange(n) starts at 0",
     arange},
    {"range", "", "*bounds",
     "stop, (start, stop) or (start, stop, step): the tuple of these integers, which are known at compile time: "
     "[x[:, k:] for k in range(3)]",
     range},
    {"eye", "", "n, m=None, k=0, dtype=f32", "[n, m] with ones on diagonal k, else zeros",
     [](Call& c) {
       const IntExpr n = c.size("n");
       return Value::array(f::eye(c.b, n, c.given("m") ? c.size("m") : n, c.integer("k"), c.dtype("dtype")));
     }},
    {"full", "", "shape, value, dtype=None", "an array of one value",
     [](Call& c) {
       return Value::array(f::full(c.b, c.shape("shape"), c.operand("value"), c.optional_dtype("dtype")));
     }},
    {"zeros", "", "shape, dtype=f32", "an array of 0",
     [](Call& c) { return filled(c, c.shape("shape"), 0, c.dtype("dtype")); }},
    {"ones", "", "shape, dtype=f32", "an array of 1",
     [](Call& c) { return filled(c, c.shape("shape"), 1, c.dtype("dtype")); }},
    {"full_like", "", "x, value, dtype=None", "an array of one value in the shape and dtype of x", full_like},
    {"zeros_like", "", "x, dtype=None", "0 in the shape and dtype of x", [](Call& c) { return filled_like(c, 0); }},
    {"ones_like", "", "x, dtype=None", "1 in the shape and dtype of x", [](Call& c) { return filled_like(c, 1); }},
    {"astype", "cast", "x, dtype", "saturating cast, as dtype(x): f32(x), x.astype(i8)",
     [](Call& c) { return cast(c.b, c.value("x"), c.dtype("dtype")); }},
    {"wrap_cast", "", "x, dtype", "integers to integers, keeping the low bits",
     [](Call& c) { return Value::array(c.b.cast(c.array("x"), c.dtype("dtype"), true)); }},
};

std::span<const Row> creation_rows() { return kCreationRows; }

}  // namespace smelt::lang
