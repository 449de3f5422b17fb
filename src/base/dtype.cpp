#include "base/dtype.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace smelt {

int size_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::I8:
    case DType::U8:
    case DType::F8E4M3:
    case DType::F8E5M2: return 1;
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
  constexpr std::string_view names[kDTypeCount] = {"bool", "i8",      "i16",     "i32", "i64",  "u8",  "u16", "u32",
                                                   "u64",  "f8_e4m3", "f8_e5m2", "f16", "bf16", "f32", "f64"};
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
    if (size_of(a) == size_of(b)) return DType::F32;
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

double FloatFormat::largest() const { return std::ldexp(2 - std::ldexp(has_infinity ? 1 : 2, -mantissa), most); }
double FloatFormat::tiny() const { return std::ldexp(1, least - mantissa); }
double FloatFormat::epsilon() const { return std::ldexp(1, -mantissa - 1); }
uint16_t FloatFormat::sign_bit() const {
  return static_cast<uint16_t>((most - least + (has_infinity ? 2 : 1) + 1) << mantissa);
}
uint16_t FloatFormat::too_large() const {
  return static_cast<uint16_t>(sign_bit() - (has_infinity ? 1 << mantissa : 1));
}
uint16_t FloatFormat::nan() const {
  return static_cast<uint16_t>(too_large() | (has_infinity ? 1 << (mantissa - 1) : 0));
}

uint16_t small_float_bits(DType small, double value) {
  const FloatFormat f = float_format(small);
  const uint16_t sign = std::signbit(value) ? f.sign_bit() : 0;
  if (std::isnan(value)) return static_cast<uint16_t>(sign | f.nan());
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return static_cast<uint16_t>(sign | f.too_large());
  int exponent;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, f.least);
  // nearbyint rounds half to even under the default rounding mode. A carry goes on into the
  // exponent by itself.
  const double steps = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
  if (std::ldexp(steps, exponent - f.mantissa) > f.largest()) return static_cast<uint16_t>(sign | f.too_large());
  return static_cast<uint16_t>(sign | (((exponent - f.least) << f.mantissa) + static_cast<int>(steps)));
}

float small_float_value(DType small, uint16_t bits) {
  const FloatFormat f = float_format(small);
  const int rest = bits & (f.sign_bit() - 1), exponent = rest >> f.mantissa;
  float magnitude;
  if (rest >= f.too_large()) {
    const bool infinite = f.has_infinity && rest == f.too_large();
    magnitude = infinite ? HUGE_VALF : std::numeric_limits<float>::quiet_NaN();
  } else {
    const int fraction = rest & ((1 << f.mantissa) - 1), whole = exponent ? fraction | 1 << f.mantissa : fraction;
    magnitude = std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - 1 + f.least - f.mantissa);
  }
  return std::copysign(magnitude, bits & f.sign_bit() ? -1.0f : 1.0f);
}

uint8_t f8_e4m3_from_float(float value) { return static_cast<uint8_t>(small_float_bits(DType::F8E4M3, value)); }
uint8_t f8_e5m2_from_float(float value) { return static_cast<uint8_t>(small_float_bits(DType::F8E5M2, value)); }
uint16_t f16_from_float(float value) { return small_float_bits(DType::F16, value); }
float float_from_f8_e4m3(uint8_t bits) { return small_float_value(DType::F8E4M3, bits); }
float float_from_f8_e5m2(uint8_t bits) { return small_float_value(DType::F8E5M2, bits); }

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
