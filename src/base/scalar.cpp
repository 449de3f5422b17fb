#include "base/scalar.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace smelt {

int64_t min_int(DType dtype) {
  return is_signed_int(dtype) ? (size_of(dtype) == 8 ? INT64_MIN : -(int64_t{1} << (8 * size_of(dtype) - 1))) : 0;
}

uint64_t max_int(DType dtype) {
  if (is_bool(dtype)) return 1;
  const int bits = 8 * size_of(dtype) - (is_signed_int(dtype) ? 1 : 0);
  return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

double round_to(DType dtype, double value) {
  switch (dtype) {
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F16:
    case DType::BF16: return small_float_value(dtype, small_float_bits(dtype, value));
    case DType::F32: return static_cast<float>(value);
    default: return value;
  }
}

// Keeps the low bits that the integer dtype holds.
static Scalar wrapped(DType dtype, uint64_t bits) {
  Scalar s;
  s.dtype = dtype;
  const int width = 8 * size_of(dtype);
  if (is_unsigned_int(dtype)) {
    s.u = width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
  } else {
    s.i = static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
  }
  return s;
}

Scalar Scalar::of_bool(bool value) {
  Scalar s;
  s.dtype = DType::Bool;
  s.i = value;
  return s;
}

Scalar Scalar::of_float(DType dtype, double value) {
  Scalar s;
  s.dtype = dtype;
  s.f = round_to(dtype, value);
  return s;
}

Scalar Scalar::of_int(DType dtype, int64_t value) {
  if (is_bool(dtype)) return of_bool(value != 0);
  if (dtype == DType::F32) return of_float(dtype, static_cast<float>(value));
  if (is_float(dtype)) return of_float(dtype, static_cast<double>(value));
  return wrapped(dtype, static_cast<uint64_t>(value));
}

Scalar Scalar::of_uint(DType dtype, uint64_t value) {
  if (is_bool(dtype)) return of_bool(value != 0);
  if (dtype == DType::F32) return of_float(dtype, static_cast<float>(value));
  if (is_float(dtype)) return of_float(dtype, static_cast<double>(value));
  return wrapped(dtype, value);
}

double Scalar::as_double() const {
  if (is_float(dtype)) return f;
  return is_unsigned_int(dtype) ? static_cast<double>(u) : static_cast<double>(i);
}

int64_t Scalar::as_int() const { return is_unsigned_int(dtype) ? static_cast<int64_t>(u) : i; }

bool Scalar::as_bool() const {
  if (is_float(dtype)) return !(f == 0);
  return is_unsigned_int(dtype) ? u != 0 : i != 0;
}

std::string Scalar::str() const {
  if (is_bool(dtype)) return i ? "true" : "false";
  if (is_unsigned_int(dtype)) return fmt::format("{}", u);
  if (!is_float(dtype)) return fmt::format("{}", i);
  if (std::isnan(f)) return "nan";
  return dtype == DType::F64 ? fmt::format("{}", f) : fmt::format("{}", static_cast<float>(f));
}

bool operator==(const Scalar& a, const Scalar& b) {
  if (a.dtype != b.dtype) return false;
  if (is_float(a.dtype))
    return (std::isnan(a.f) && std::isnan(b.f)) || std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f);
  return is_unsigned_int(a.dtype) ? a.u == b.u : a.i == b.i;
}

static Scalar saturated_from_float(double value, DType to) {
  if (std::isnan(value)) return Scalar::of_int(to, 0);
  // 2^63 and 2^64 are exact in double, so comparing against the power of two is exact for every
  // width.
  const double above = std::ldexp(1.0, 8 * size_of(to) - (is_signed_int(to) ? 1 : 0));
  if (value >= above) return Scalar::of_uint(to, max_int(to));
  if (is_signed_int(to)) {
    if (value <= -above) return Scalar::of_int(to, min_int(to));
    return Scalar::of_int(to, static_cast<int64_t>(value));
  }
  return value <= 0 ? Scalar::of_int(to, 0) : Scalar::of_uint(to, static_cast<uint64_t>(value));
}

Scalar convert(const Scalar& value, DType to, bool wrap) {
  if (is_bool(to)) return Scalar::of_bool(value.as_bool());
  if (is_float(to)) {
    if (is_float(value.dtype)) return Scalar::of_float(to, value.f);
    return is_unsigned_int(value.dtype) ? Scalar::of_uint(to, value.u) : Scalar::of_int(to, value.i);
  }
  if (is_float(value.dtype)) return saturated_from_float(value.f, to);
  if (is_unsigned_int(value.dtype)) {
    if (!wrap && value.u > max_int(to)) return Scalar::of_uint(to, max_int(to));
    return Scalar::of_uint(to, value.u);
  }
  if (!wrap) {
    if (value.i < min_int(to)) return Scalar::of_int(to, min_int(to));
    if (value.i > 0 && static_cast<uint64_t>(value.i) > max_int(to)) return Scalar::of_uint(to, max_int(to));
  }
  return Scalar::of_int(to, value.i);
}

template <class T>
static T read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Scalar load_scalar(DType dtype, const void* at) {
  switch (dtype) {
    case DType::Bool: return Scalar::of_bool(read<uint8_t>(at) != 0);
    case DType::I8: return Scalar::of_int(dtype, read<int8_t>(at));
    case DType::I16: return Scalar::of_int(dtype, read<int16_t>(at));
    case DType::I32: return Scalar::of_int(dtype, read<int32_t>(at));
    case DType::I64: return Scalar::of_int(dtype, read<int64_t>(at));
    case DType::U8: return Scalar::of_uint(dtype, read<uint8_t>(at));
    case DType::U16: return Scalar::of_uint(dtype, read<uint16_t>(at));
    case DType::U32: return Scalar::of_uint(dtype, read<uint32_t>(at));
    case DType::U64: return Scalar::of_uint(dtype, read<uint64_t>(at));
    case DType::F8E4M3:
    case DType::F8E5M2: return Scalar::of_float(dtype, small_float_value(dtype, read<uint8_t>(at)));
    case DType::F16:
    case DType::BF16: return Scalar::of_float(dtype, small_float_value(dtype, read<uint16_t>(at)));
    case DType::F32: return Scalar::of_float(dtype, read<float>(at));
    case DType::F64: return Scalar::of_float(dtype, read<double>(at));
  }
  return {};
}

void store_scalar(const Scalar& value, void* at) {
  switch (value.dtype) {
    case DType::F8E4M3:
    case DType::F8E5M2:
    case DType::F16:
    case DType::BF16: {
      // Little endian, as integers below.
      const uint16_t bits = small_float_bits(value.dtype, value.f);
      std::memcpy(at, &bits, static_cast<size_t>(size_of(value.dtype)));
      return;
    }
    case DType::F32: {
      float narrow = static_cast<float>(value.f);
      std::memcpy(at, &narrow, 4);
      return;
    }
    case DType::F64: std::memcpy(at, &value.f, 8); return;
    default: {
      // Little endian: the low bytes of the 64-bit form are the narrow integer.
      uint64_t bits = is_unsigned_int(value.dtype) ? value.u : static_cast<uint64_t>(value.i);
      std::memcpy(at, &bits, static_cast<size_t>(size_of(value.dtype)));
    }
  }
}

}  // namespace smelt
