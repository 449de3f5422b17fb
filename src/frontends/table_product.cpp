#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

static Value einsum(Call& c) {
  const auto* text = c.value("subscripts").as<Text>();
  if (!text) c.fail_kind("subscripts", "a text", "as in einsum('ij,jk->ik', a, b)");
  // One array stands for itself.
  const std::vector<NodeId> arrays =
      c.value("operands").as<Array>() ? std::vector<NodeId>{c.array("operands")} : c.arrays("operands");
  return Value::array(f::einsum(c.b, text->text, arrays, c.precision()));
}

static f::Axes axes_in(const Call& c, const Value& value) {
  if (const auto one = as_integer(value)) return {static_cast<int>(*one)};
  f::Axes axes;
  if (const auto* tuple = value.as<Tuple>())
    for (const Value& item : *tuple->items) {
      const auto axis = as_integer(item);
      if (!axis) break;
      axes.push_back(static_cast<int>(*axis));
    }
  const auto* tuple = value.as<Tuple>();
  if (!tuple || axes.size() != tuple->items->size())
    c.fail("axes", "tensordot: axes are integers",
           "axes=((1, 0), (0, 1)) pairs axis 1 of x with axis 0 of y, and 0 with 1");
  return axes;
}

static Value tensordot(Call& c) {
  const NodeId x = c.array("x"), y = c.array("y");
  const Value& axes = c.value("axes");
  if (const auto count = as_integer(axes)) {
    const int n = static_cast<int>(*count);
    if (n < 0 || n > c.b.rank(x) || n > c.b.rank(y))
      c.fail("axes", fmt::format("tensordot: {} axes of arrays with {} and {}", n, c.b.rank(x), c.b.rank(y)),
             "a number n stands for the last n of x and the first n of y");
    f::Axes of_x, of_y;
    for (int i = 0; i < n; ++i) of_x.push_back(i - n), of_y.push_back(i);
    return Value::array(f::tensordot(c.b, x, y, of_x, of_y, c.precision()));
  }
  const auto* pair = axes.as<Tuple>();
  if (!pair || pair->items->size() != 2)
    c.fail("axes", "tensordot: axes are a number, or those of x and those of y", "as in axes=((1, 0), (0, 1))");
  return Value::array(
      f::tensordot(c.b, x, y, axes_in(c, (*pair->items)[0]), axes_in(c, (*pair->items)[1]), c.precision()));
}

static constexpr Row kProductRows[] = {
    {"matmul", "mm bmm", "x, y, precision='full'",
     "x @ y: sums of products over the last axis of x and the last but one of y; axes in front broadcast. f16 and bf16 "
     "add up in f32 and are rounded once; integers wrap; precision 'tf32' or 'bf16x3': products of f32 may be off by "
     "2^-10 or 2^-14",
     [](Call& c) { return Value::array(f::matmul(c.b, c.array("x"), c.array("y"), c.written(), c.precision())); }},
    {"linear", "", "x, weight, bias=None, precision='full'", "x @ weight.T + bias; weight: [out, in]",
     [](Call& c) {
       return Value::array(f::linear(c.b, c.array("x"), c.array("weight"), c.optional_array("bias"), c.precision()));
     }},
    {"einsum", "", "subscripts, *operands, precision='full'",
     "letters name axes: those that two arrays share are multiplied, those that the result lacks are summed, as in "
     "einsum('bij,bjk->bik', x, y); ... broadcasts",
     einsum},
    {"dot", "", "x, y, precision='full'",
     "sums of products over the last axis of x and the last but one of y, or its only one",
     [](Call& c) { return Value::array(f::dot(c.b, c.array("x"), c.array("y"), c.precision())); }},
    {"vecdot", "", "x, y, axis=-1", "sum(x * y, axis)",
     [](Call& c) { return Value::array(f::vecdot(c.b, c.array("x"), c.array("y"), c.axis("axis"))); }},
    {"outer", "", "x, y", "every product of an element of x and one of y, both flattened",
     [](Call& c) { return Value::array(f::outer(c.b, c.array("x"), c.array("y"))); }},
    {"tensordot", "", "x, y, axes=2, precision='full'",
     "sums of products over pairs of axes: a number n pairs the last n of x with the first n of y, and ((1, 0), (0, "
     "1)) names them",
     tensordot},
    {"scaled_dot_product_attention", "attention", "q, k, v, mask=None, causal=False, scale=None, precision='full'",
     "softmax(q @ k.mT * scale + mask) @ v; a bool mask says which keys are seen, causal those up to the row; without "
     "scale 1 / sqrt "
     "of the last axis; more heads of q than of k share theirs",
     [](Call& c) {
       return Value::array(f::attention(c.b, c.array("q"), c.array("k"), c.array("v"), c.optional_array("mask"),
                                        c.flag("causal"), c.optional_operand("scale"), c.precision()));
     }},
};

std::span<const Row> product_rows() { return kProductRows; }

}  // namespace smelt::lang
