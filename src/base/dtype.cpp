#include "base/dtype.hpp"

#include <bit>
#include <cmath>

namespace smelt {

int size_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::I8:
    case DType::U8: return 1;
    case DType::I16:
    case DType::U16:
    case DType::F16:
    case DType::BF16: return 2;
    case DType::I32:
    case DType::U32:
    case DType::F32: return 4;
    case DType::I64:
    case DType::U64:
    case DType::F64: return 8;
  }
  return 0;
}

std::string_view name_of(DType dtype) {
  constexpr std::string_view names[kDTypeCount] = {"bool", "i8",  "i16", "i32",  "i64", "u8", "u16",
                                                   "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(dtype)];
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (DType t : kAllDTypes)
    if (name_of(t) == name) return t;
  return std::nullopt;
}

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (is_float(a) && is_float(b)) {
    if (size_of(a) == 2 && size_of(b) == 2) return DType::F32;
    return size_of(a) > size_of(b) ? a : b;
  }
  if (is_signed_int(a) && is_signed_int(b)) return size_of(a) > size_of(b) ? a : b;
  if (is_unsigned_int(a) && is_unsigned_int(b)) return size_of(a) > size_of(b) ? a : b;
  if (is_int(a) && is_int(b)) {
    DType s = is_signed_int(a) ? a : b, u = is_signed_int(a) ? b : a;
    if (size_of(s) > size_of(u)) return s;
    switch (size_of(u)) {
      case 1: return DType::I16;
      case 2: return DType::I32;
      case 4: return DType::I64;
      default: return std::nullopt;
    }
  }
  return std::nullopt;
}

// Rounds a double to a binary format with `mantissa` explicit bits, smallest normal exponent `min_exponent`,
// whose bits are returned; the arithmetic is exact in double, so there is one rounding.
static uint16_t small_float_from_double(double value, int mantissa, int min_exponent, int max_exponent) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int exponent_bits = 15 - mantissa;
  const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | (1 << (mantissa - 1)));
  double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | infinity);
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, min_exponent);
  // nearbyint rounds half to even under the default rounding mode.
  double steps = std::nearbyint(std::ldexp(magnitude, mantissa - exponent));
  if (steps >= std::ldexp(1.0, mantissa + 1)) {
    steps = std::ldexp(1.0, mantissa);
    ++exponent;
  }
  if (exponent > max_exponent) return static_cast<uint16_t>(sign | infinity);
  const int whole = static_cast<int>(steps);
  const int biased = whole < (1 << mantissa) ? 0 : exponent - min_exponent + 1;
  return static_cast<uint16_t>(sign | (biased << mantissa) | (whole & ((1 << mantissa) - 1)));
}

uint16_t f16_from_double(double value) { return small_float_from_double(value, 10, -14, 15); }
uint16_t bf16_from_double(double value) { return small_float_from_double(value, 7, -126, 127); }
uint16_t f16_from_float(float value) { return f16_from_double(value); }

uint16_t bf16_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float float_from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float float_from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace smelt
