// Random numbers, each a function of the seed, the offset, the stream and the place of its element:
// formulas over random words.
#include <fmt/format.h>

#include <cmath>

#include "graph/term.hpp"

namespace smelt::functions {

using philox::Draw;

// The words of an array of the given shape; `last` of them to an element, in an axis of their own.
static NodeId words(GraphBuilder& b, Shape shape, const Key& key, Draw draw = Draw::Words, int64_t last = 0) {
  if (last) shape.push_back(last);
  return b.random(std::move(shape), key.seed, key.offset, key.stream, draw);
}

// Word `k` of each element.
static NodeId word_of(GraphBuilder& b, NodeId words, int64_t k) {
  Shape shape = b.shape(words), one = shape;
  std::vector<IntExpr> starts(shape.size(), IntExpr(0));
  shape.pop_back();
  one.back() = 1;
  starts.back() = k;
  return b.reshape(b.slice(words, starts, std::vector<int64_t>(one.size(), 1), one), shape);
}

static Term shifted(GraphBuilder& b, NodeId word, int64_t by) {
  return Term(b, b.elementwise(Op::ShiftRight, {Operand(word), Operand(Literal(by))}));
}

// Words below 2^31 as floats, by way of i32: from that every processor converts.
static Term as_float(const Term& word, DType to) {
  GraphBuilder& b = *word.b;
  return Term(b, b.cast(b.cast(word.id(), DType::I32, true), to));
}

// 53 bits of two words, as a whole number.
static Term wide_number(GraphBuilder& b, NodeId words, int64_t first) {
  const Term high = as_float(shifted(b, word_of(b, words, first), 5), DType::F64);
  return high * 0x1p26 + as_float(shifted(b, word_of(b, words, first + 1), 6), DType::F64);
}

static DType float_type(const char* function, DType dtype) {
  if (!is_float(dtype))
    throw UserBuildError({fmt::format("{} gives floats, not {}", function, name_of(dtype)),
                          "take random_bits for integers, or cast what it gives"});
  return dtype;
}

NodeId random_bits(GraphBuilder& b, Shape shape, const Key& key) { return words(b, std::move(shape), key); }

// As many bits as the format has, so that nothing is rounded, and never up to 1.
NodeId uniform(GraphBuilder& b, Shape shape, const Key& key, DType dtype) {
  switch (float_type("uniform", dtype)) {
    case DType::F64: return (wide_number(b, words(b, std::move(shape), key, Draw::Words, 2), 0) * 0x1p-53).id();
    case DType::F32: return (as_float(shifted(b, words(b, std::move(shape), key), 8), dtype) * 0x1p-24).id();
    default: {
      const int bits = float_format(dtype).mantissa + 1;
      const Term number = as_float(shifted(b, words(b, std::move(shape), key), 32 - bits), DType::F32);
      return narrowed(number * std::ldexp(1.0, -bits), dtype);
    }
  }
}

// sin(pi/2 * y) for -1 <= y <= 1, to 7e-9 of its value.
static Term sine_of_quarters(const Term& y) {
  constexpr double c[] = {0x1.921fb5273e319p+0, -0x1.4abbc30ba0021p-1, 0x1.4668ef90b4bebp-4, -0x1.32531eebf5b27p-8,
                          0x1.3e14203945b11p-13};
  const Term t = y * y;
  Term sum(c[4]);
  for (int k = 4; k-- > 0;) sum = apply(Op::Fma, {sum, t, Term(c[k])});
  return y * sum;
}

// Box & Muller 1958: a radius and an angle make two numbers, of neighbouring elements; the angle as
// a fraction of a turn that integers hold exactly. cos(a) is sin(pi/2 - |a|).
static Term normal_f32(GraphBuilder& b, const Shape& shape, const Key& key) {
  const Term uniform = as_float(shifted(b, words(b, shape, key, Draw::Radii), 1), DType::F32) * 0x1p-31 + 0x1p-32;
  const Term radius = sqrt(log(uniform) * -2.0);
  const Term turn(b, b.cast(words(b, shape, key, Draw::Turns), DType::I32, true));
  const Term from_side(b, b.cast((integer(1 << 30) - abs(turn)).id(), DType::F32));
  return radius * sine_of_quarters(from_side * 0x1p-30);
}

// Four words to an element: 53 bits of a radius and 53 of an angle.
static Term normal_f64(GraphBuilder& b, const Shape& shape, const Key& key) {
  const NodeId drawn = words(b, shape, key, Draw::Words, 4);
  const Term radius = sqrt(log(wide_number(b, drawn, 0) * 0x1p-53 + 0x1p-54) * -2.0);
  const Term from_half = abs(wide_number(b, drawn, 2) * 0x1p-53 - 0.5);
  return radius * apply(Op::Sin, {(from_half - 0.25) * (2 * M_PI)});
}

NodeId normal(GraphBuilder& b, Shape shape, const Key& key, DType dtype) {
  if (float_type("normal", dtype) == DType::F64) return normal_f64(b, shape, key).id();
  return narrowed(normal_f32(b, shape, key), dtype);
}

// A word is below p * 2^32 when it is at most the whole number below that.
NodeId bernoulli(GraphBuilder& b, Shape shape, const Operand& p, const Key& key) {
  const Term word(b, words(b, shape, key));
  if (!p.is_literal()) {
    if (!is_float(b.dtype(p.node)))
      throw UserBuildError({fmt::format("a probability is a float, not {}", describe(b.at(p.node))), ""});
    const Shape shapes[] = {shape, b.shape(p.node)};
    if (!(b.broadcast_shapes(shapes) == shape))
      throw UserBuildError({fmt::format("probabilities of shape {} do not fit {}", str(b.shape(p.node)), str(shape)),
                            "give one number, or an array that broadcasts to the shape"});
    const Term wide(b, b.cast(p.node, DType::F64));
    const Term last = apply(Op::Ceil, {wide * 0x1p32}) - 1.0;
    return ((word <= Term(b, b.cast(last.id(), DType::U32))) & (wide > 0.0)).id();
  }
  const double number = std::holds_alternative<double>(p.literal)    ? std::get<double>(p.literal)
                        : std::holds_alternative<int64_t>(p.literal) ? static_cast<double>(std::get<int64_t>(p.literal))
                                                                     : std::get<bool>(p.literal);
  if (!(number >= 0 && number <= 1))
    throw UserBuildError({fmt::format("a probability lies between 0 and 1, not at {}", number), ""});
  const double last = std::ceil(number * 0x1p32) - 1;
  if (last < 0) return b.broadcast_to(b.constant(Scalar::of_bool(false)), std::move(shape));
  return (word <= integer(static_cast<int64_t>(last))).id();
}

NodeId dropout(GraphBuilder& b, NodeId x, const Operand& p, const Key& key) {
  const Term value = widened(b, x, "dropout");
  const Term drop(b, bernoulli(b, b.shape(x), p, key));
  const Term rate = widened_to(b, p, dtype_of(value));
  Term scaled = value;
  if (const auto* literal = std::get_if<double>(&p.literal); p.is_literal() && literal)
    scaled = value * (*literal < 1 ? 1 / (1 - *literal) : 0.0);
  else if (!p.is_literal())
    scaled = value * (Term(1.0) / (Term(1.0) - rate));
  return narrowed(where(drop, zero_of(b, dtype_of(value)), scaled), b.dtype(x));
}

}  // namespace smelt::functions
