/// \file
/// Element types, and the promotion rules of the Array API standard.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "smelt/export.hpp"

namespace smelt {

/// The type of an array's elements. A Bool is one byte, 0 or 1; floats are IEEE 754, F16 and BF16
/// among them, and those of 8 bits are as the OCP defines them: F8E4M3 has no infinities.
enum class DType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64 };

/// Bytes of one element.
SMELT_API int size_of(DType dtype);
/// "f32", "bool", "i64", ..., as the expression language calls it.
SMELT_API std::string_view name_of(DType dtype);
/// The dtype of such a name; nothing for another text.
SMELT_API std::optional<DType> dtype_from_name(std::string_view name);

/// Whether it is Bool.
constexpr bool is_bool(DType t) { return t == DType::Bool; }
/// I8 to I64.
constexpr bool is_signed_int(DType t) { return t >= DType::I8 && t <= DType::I64; }
/// U8 to U64.
constexpr bool is_unsigned_int(DType t) { return t >= DType::U8 && t <= DType::U64; }
/// I8 to U64.
constexpr bool is_int(DType t) { return t >= DType::I8 && t <= DType::U64; }
/// F8E4M3 to F64.
constexpr bool is_float(DType t) { return t >= DType::F8E4M3; }

/// The dtype that arithmetic on a and b has; nothing where the Array API standard leaves the mix
/// undefined: bool with numbers, integers with floats, u64 with signed integers. f16 with bf16
/// gives f32, and so
/// does f8_e4m3 with f8_e5m2.
SMELT_API std::optional<DType> promote(DType a, DType b);

/// The bits of an f16 or bf16 from a float, rounded half to even: subnormals are kept, what is too
/// large becomes infinity, NaN stays NaN.
SMELT_API uint16_t f16_from_float(float value);
SMELT_API uint16_t bf16_from_float(float value);  ///< as f16_from_float
/// The bits of an f8_e4m3, rounded half to even: what would be rounded to more than 448 becomes
/// NaN, as infinities do.
SMELT_API uint8_t f8_e4m3_from_float(float value);
SMELT_API uint8_t f8_e5m2_from_float(float value);  ///< as f16_from_float
/// The float that the bits stand for, exactly.
SMELT_API float float_from_f16(uint16_t bits);
SMELT_API float float_from_bf16(uint16_t bits);    ///< as float_from_f16
SMELT_API float float_from_f8_e4m3(uint8_t bits);  ///< as float_from_f16
SMELT_API float float_from_f8_e5m2(uint8_t bits);  ///< as float_from_f16

/// An IEEE 754 half: 1 sign, 5 exponent and 10 fraction bits. It is a storage type: convert it to
/// float to calculate.
struct f16 {
  uint16_t bits = 0;  ///< as in memory
  f16() = default;
  /// Rounds half to even.
  explicit f16(float value) : bits(f16_from_float(value)) {}
  /// Exact.
  operator float() const { return float_from_f16(bits); }
};

/// The upper half of an IEEE 754 float: 1 sign, 8 exponent and 7 fraction bits. It is a storage
/// type too.
struct bf16 {
  uint16_t bits = 0;  ///< as in memory
  bf16() = default;
  /// Rounds half to even.
  explicit bf16(float value) : bits(bf16_from_float(value)) {}
  /// Exact.
  operator float() const { return float_from_bf16(bits); }
};

/// The OCP's E4M3: 1 sign, 4 exponent and 3 fraction bits, up to 448, no infinities, NaN only where
/// all others are set. The same bytes as torch.float8_e4m3fn. It is a storage type too.
struct f8_e4m3 {
  uint8_t bits = 0;  ///< as in memory
  f8_e4m3() = default;
  /// Rounds half to even; what is too large becomes NaN.
  explicit f8_e4m3(float value) : bits(f8_e4m3_from_float(value)) {}
  /// Exact.
  operator float() const { return float_from_f8_e4m3(bits); }
};

/// The OCP's E5M2, which is the upper half of an f16: 1 sign, 5 exponent and 2 fraction bits. The
/// same bytes as torch.float8_e5m2. It is a storage type too.
struct f8_e5m2 {
  uint8_t bits = 0;  ///< as in memory
  f8_e5m2() = default;
  /// Rounds half to even.
  explicit f8_e5m2(float value) : bits(f8_e5m2_from_float(value)) {}
  /// Exact.
  operator float() const { return float_from_f8_e5m2(bits); }
};
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2 && sizeof(f8_e4m3) == 1 && sizeof(f8_e5m2) == 1 &&
              sizeof(bool) == 1);

namespace detail {
template <class T>
constexpr std::optional<DType> find_dtype() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  if constexpr (std::is_same_v<T, f8_e4m3>) return DType::F8E4M3;
  if constexpr (std::is_same_v<T, f8_e5m2>) return DType::F8E5M2;
  if constexpr (std::is_same_v<T, f16>) return DType::F16;
  if constexpr (std::is_same_v<T, bf16>) return DType::BF16;
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, double>) return DType::F64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr bool s = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return s ? DType::I8 : DType::U8;
    if constexpr (sizeof(T) == 2) return s ? DType::I16 : DType::U16;
    if constexpr (sizeof(T) == 4) return s ? DType::I32 : DType::U32;
    if constexpr (sizeof(T) == 8) return s ? DType::I64 : DType::U64;
  }
  return std::nullopt;
}
}  // namespace detail

/// A C++ type that an array may have as elements: bool, the integers of 8 to 64 bits,
/// smelt::f8_e4m3, smelt::f8_e5m2, smelt::f16, smelt::bf16, float, double.
template <class T>
concept Element = detail::find_dtype<T>()
.has_value();

/// The dtype of a C++ type: dtype_of<float> is DType::F32.
template <Element T>
inline constexpr DType dtype_of = *detail::find_dtype<T>();

}  // namespace smelt
