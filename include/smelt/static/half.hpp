/// \file
/// f16 and bf16 as they lie in memory. They are computed in f32 and rounded where they are stored.
#pragma once

#include "smelt/static/values.hpp"

namespace smelt::fixed {

using expand::Int;
using expand::Real;
using expand::Real32;
using expand::Real64;
using expand::Truth;

/// An IEEE 754 half: 1 sign, 5 exponent and 10 fraction bits; the same bytes as CUDA's __half and as smelt::f16.
struct f16 {
  uint16_t bits;  ///< sign, exponent, fraction, from the highest down
};
/// The upper half of a float; the same bytes as CUDA's __nv_bfloat16 and as smelt::bf16.
struct bf16 {
  uint16_t bits;  ///< sign, 8 exponent and 7 fraction bits, from the highest down
};

namespace detail {

using Bits32 = Int<uint32_t>;
SMELT_HD Bits32 raw_bits(Real32 x) { return as_unsigned(bits(x)); }
SMELT_HD Real32 from_raw(Bits32 raw) { return from_bits(as_signed(raw)); }

// To the nearest f16 or bf16, halves to even, kept as f32. By bit arithmetic: the same everywhere, and it vectorises.
SMELT_HD Real32 rounded(bf16, Real32 x) {
  const Bits32 raw = raw_bits(x), odd = (raw >> like(raw, 16)) & like(raw, 1);
  const Bits32 near = (raw + like(raw, 0x7fff) + odd) & like(raw, 0xffff0000u);
  return select(x != x, x, from_raw(near));
}
SMELT_HD Real32 rounded(f16, Real32 x) {
  // Normal f16: drop 13 bits of the fraction. Subnormal f16, below 2^-14: adding and taking away 0.5 leaves multiples of 2^-24.
  const Bits32 raw = raw_bits(x), odd = (raw >> like(raw, 13)) & like(raw, 1);
  const Real32 normal = from_raw((raw + like(raw, 0xfff) + odd) & like(raw, 0xffffe000u));
  const Real32 magnitude = abs(x), small = (magnitude + like(x, 0.5)) - like(x, 0.5);
  const Real32 finite = select(magnitude < like(x, 0x1p-14), copysign(small, x), normal);
  const Real32 limited = select(magnitude >= like(x, 65520.0), copysign(like(x, expand::kInfinity), x), finite);
  return select(x != x, x, limited);
}

// The bits of a value that rounded() gave; nan stays nan.
SMELT_HD bf16 stored(bf16, Real32 x) {
  const Bits32 upper = raw_bits(x) >> like(raw_bits(x), 16);
  return {static_cast<uint16_t>(select(x != x, upper | like(upper, 0x40), upper).value)};
}
SMELT_HD f16 stored(f16, Real32 x) {
  const Bits32 raw = raw_bits(x), sign = (raw >> like(raw, 16)) & like(raw, 0x8000u);
  const Bits32 magnitude = raw & like(raw, 0x7fffffffu);
  // Subnormal: x * 2^24 is an integer. Adding 2^23 puts it into the lowest bits.
  const Bits32 small = raw_bits(abs(x) * like(x, 0x1p24) + like(x, 0x1p23)) & like(raw, 0x7ff);
  const Bits32 normal = (magnitude >> like(raw, 13)) - like(raw, 112u << 10);
  const Bits32 finite = select(magnitude < like(raw, 113u << 23), small, normal);
  const Bits32 limited = select(magnitude >= like(raw, 0x7f800000u), like(raw, 0x7c00), finite);
  const Bits32 result = sign | select(x != x, like(raw, 0x7e00), limited);
  return {static_cast<uint16_t>(result.value)};
}

SMELT_HD Real32 loaded(bf16 x) { return from_raw({static_cast<uint32_t>(x.bits) << 16}); }
SMELT_HD Real32 loaded(f16 x) {
  const Bits32 raw{x.bits}, sign = (raw & like(raw, 0x8000)) << like(raw, 16), rest = raw & like(raw, 0x7fff);
  const Bits32 shifted = rest << like(raw, 13);
  const Real32 small = to_float(as_signed(rest)) * like(Real32{}, 0x1p-24);
  const Bits32 normal = shifted + select(rest >= like(raw, 0x7c00), like(raw, 224u << 23), like(raw, 112u << 23));
  return from_raw(sign | select(rest < like(raw, 0x400), raw_bits(small), normal));
}

}  // namespace detail

/// The nearest f16, halves to even; what is too large becomes infinity.
SMELT_HD f16 to_f16(float x) { return detail::stored(f16{}, detail::rounded(f16{}, {x})); }
/// The nearest bf16, halves to even; what is too large becomes infinity.
SMELT_HD bf16 to_bf16(float x) { return detail::stored(bf16{}, detail::rounded(bf16{}, {x})); }
/// The float that it stands for, exactly.
SMELT_HD float to_float(f16 x) { return detail::loaded(x).value; }
/// \overload
SMELT_HD float to_float(bf16 x) { return detail::loaded(x).value; }

}  // namespace smelt::fixed
