// What the compiler knows of element types beyond the public smelt/dtype.hpp.
#pragma once

#include "smelt/dtype.hpp"

namespace smelt {

inline constexpr int kDTypeCount = 15;
inline constexpr DType kAllDTypes[kDTypeCount] = {DType::Bool,   DType::I8,  DType::I16,  DType::I32, DType::I64,
                                                  DType::U8,     DType::U16, DType::U32,  DType::U64, DType::F8E4M3,
                                                  DType::F8E5M2, DType::F16, DType::BF16, DType::F32, DType::F64};

// A binary format of floats. Bits: a sign, exponents from least - 1 (0 and subnormal numbers), the
// mantissa without its leading 1.
struct FloatFormat {
  int mantissa, least, most;   // explicit bits; the exponents of normal numbers
  bool has_infinity = true;    // no infinity: the largest exponent has numbers, and NaN only where all bits are set
  double largest() const;      // a number
  double tiny() const;         // the step of subnormal numbers
  double epsilon() const;      // how far rounding goes, of normal numbers and relative to them
  uint16_t sign_bit() const;   // the three are of formats of up to 16 bits
  uint16_t too_large() const;  // what is rounded past the largest number: infinity, or NaN
  uint16_t nan() const;
};
constexpr FloatFormat float_format(DType t) {
  switch (t) {
    case DType::F8E4M3: return {3, -6, 8, false};
    case DType::F8E5M2: return {2, -14, 15};
    case DType::F16: return {10, -14, 15};
    case DType::BF16: return {7, -126, 127};
    case DType::F64: return {52, -1022, 1023};
    default: return {23, -126, 127};
  }
}

// What matrix units take.
constexpr bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }
constexpr bool is_f8(DType t) { return t == DType::F8E4M3 || t == DType::F8E5M2; }
// Floats that are bits in memory and f32 in registers.
constexpr bool is_small_float(DType t) { return t >= DType::F8E4M3 && t <= DType::BF16; }
// The dtype that a value of type t is computed in: small floats compute in f32, everything else as
// itself.
constexpr DType compute_type(DType t) { return is_small_float(t) ? DType::F32 : t; }
// The dtype that a sum or product of t accumulates in.
constexpr DType accumulator_type(DType t) { return compute_type(t); }

// The bits of a small float, rounded half to even with one rounding, and their value.
uint16_t small_float_bits(DType small, double value);
float small_float_value(DType small, uint16_t bits);

}  // namespace smelt
