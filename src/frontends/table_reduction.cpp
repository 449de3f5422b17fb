#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

// What is reduced, along which axes. axis=() names none, as in NumPy: every element is reduced
// alone, along a new axis of size 1.
struct Along {
  NodeId x;
  f::Axes axes;
  bool keep;

  explicit Along(Call& c) : x(c.array("x")), keep(c.flag("keepdims")) {
    if (c.no_axes("axis")) {
      x = f::expand_dims(c.b, x, {-1});
      axes = {-1}, keep = false;
    } else {
      axes = c.axes("axis");
    }
  }
};

template <ReduceKind kind>
static Value reduce(Call& c) {
  const Along a(c);
  return Value::array(c.b.reduce(kind, a.x, a.axes, a.keep));
}

template <NodeId (*function)(GraphBuilder&, NodeId, f::Axes, bool)>
static Value reduce_by(Call& c) {
  const Along a(c);
  return Value::array(function(c.b, a.x, a.axes, a.keep));
}

template <NodeId (*function)(GraphBuilder&, NodeId, f::Axes, int64_t, bool)>
static Value spread_by(Call& c) {
  const Along a(c);
  return Value::array(function(c.b, a.x, a.axes, c.integer("ddof"), a.keep));
}

template <ReduceKind kind>
static Value arg_reduce(Call& c) {
  const auto axis = c.optional_axis("axis");
  return Value::array(
      c.b.reduce(kind, c.array("x"), axis ? std::vector<int>{*axis} : std::vector<int>{}, c.flag("keepdims")));
}

// max(x, axis) reduces; max(x, y) of two arrays is their maximum, as in Python.
template <ReduceKind kind, Op op>
static Value extreme(Call& c) {
  const Value& second = c.value("axis");
  if (second.as<Array>()) return apply(c.b, op, {c.value("x"), second}, c.written());
  if (const auto number = as_number(second); number && !as_integer(second))
    c.fail("axis", fmt::format("{}: the second argument is an axis, or another array", c.written()),
           fmt::format("{}(x, {}) compares with a number", name_of(op), *number));
  return reduce<kind>(c);
}

static constexpr Row kReductionRows[] = {
    {"sum", "", "x, axis=None, keepdims=False", "sum; bools and integers below 64 bits add up in i64 or u64",
     reduce<ReduceKind::Sum>},
    {"prod", "", "x, axis=None, keepdims=False", "product; integers as in sum", reduce<ReduceKind::Prod>},
    {"max", "amax", "x, axis=None, keepdims=False", "largest element; nan if there is one. max(x, y) is maximum(x, y)",
     extreme<ReduceKind::Max, Op::Max>},
    {"min", "amin", "x, axis=None, keepdims=False", "smallest element; nan if there is one. min(x, y) is minimum(x, y)",
     extreme<ReduceKind::Min, Op::Min>},
    {"any", "", "x, axis=None, keepdims=False", "whether one element is true; numbers are true unless 0",
     reduce<ReduceKind::Any>},
    {"all", "", "x, axis=None, keepdims=False", "whether every element is true", reduce<ReduceKind::All>},
    {"argmax", "", "x, axis=None, keepdims=False",
     "index of the first largest element, i64; the first nan if there is one; axis=None: in the flattened array",
     arg_reduce<ReduceKind::ArgMax>},
    {"argmin", "", "x, axis=None, keepdims=False", "index of the first smallest element, i64",
     arg_reduce<ReduceKind::ArgMin>},
    {"mean", "", "x, axis=None, keepdims=False", "sum / count, of floats", reduce_by<f::mean>},
    {"var", "", "x, axis=None, ddof=0, keepdims=False", "sum((x - mean(x))**2) / (count - ddof), in two passes",
     spread_by<f::var>},
    {"std", "", "x, axis=None, ddof=0, keepdims=False", "sqrt(var(x))", spread_by<f::stddev>},
    {"logsumexp", "", "x, axis=None, keepdims=False", "log(sum(exp(x))), without overflow", reduce_by<f::logsumexp>},
    {"norm", "vector_norm", "x, ord=2, axis=None, keepdims=False",
     "sum(abs(x)**ord) ** (1/ord) of all elements or along axes; ord inf, -inf and 0 as in NumPy",
     [](Call& c) {
       const Along a(c);
       return Value::array(f::norm(c.b, a.x, c.number("ord"), a.axes, a.keep));
     }},
    {"l2norm", "", "x, axis=None, keepdims=False", "sqrt(sum(x * x))", reduce_by<f::l2norm>},
};

std::span<const Row> reduction_rows() { return kReductionRows; }

}  // namespace smelt::lang
