// Random numbers. What a draw gives depends on its seed, offset and stream alone, and on the place
// of each element.
#include <fmt/format.h>

#include "frontends/call.hpp"

namespace smelt::lang {

namespace f = functions;

static NodeId counter(Call& c, std::string_view parameter) {
  const Value& v = c.value(parameter);
  if (const auto number = as_integer(v))
    return c.b.constant(Scalar::of_uint(DType::U64, static_cast<uint64_t>(*number)));
  const NodeId node = c.array(parameter);
  if (!is_int(c.b.dtype(node)) || c.b.rank(node) != 0)
    c.fail_kind(parameter, "an integer", "give a number, or an input of type u64 without axes");
  return node;
}

static f::Key key(Call& c) { return {counter(c, "seed"), counter(c, "offset"), counter(c, "stream")}; }

static constexpr Row kRandomRows[] = {
    {"random_bits", "", "shape, seed, offset=0, stream=0",
     "random words of 32 bits, u32: Philox4x32-10 of the counter offset + i // 4, stream and the key seed",
     [](Call& c) { return Value::array(f::random_bits(c.b, c.shape("shape"), key(c))); }},
    {"uniform", "rand", "shape, seed, offset=0, stream=0, dtype=f32",
     "uniformly distributed from 0 to below 1, with as many random bits as the dtype holds",
     [](Call& c) { return Value::array(f::uniform(c.b, c.shape("shape"), key(c), c.dtype("dtype"))); }},
    {"normal", "randn", "shape, seed, offset=0, stream=0, dtype=f32", "normally distributed: mean 0, deviation 1",
     [](Call& c) { return Value::array(f::normal(c.b, c.shape("shape"), key(c), c.dtype("dtype"))); }},
    {"bernoulli", "", "shape, p, seed, offset=0, stream=0", "true with probability p, exact to 2**-32",
     [](Call& c) { return Value::array(f::bernoulli(c.b, c.shape("shape"), c.operand("p"), key(c))); }},
    {"dropout", "", "x, p, seed, offset=0, stream=0",
     "0 where bernoulli(x.shape, p, seed, offset, stream) is true, else x / (1 - p)",
     [](Call& c) { return Value::array(f::dropout(c.b, c.array("x"), c.operand("p"), key(c))); }},
};

std::span<const Row> random_rows() { return kRandomRows; }

}  // namespace smelt::lang
