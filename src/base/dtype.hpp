// Element types, and the promotion rules of the Array API standard.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smelt {

enum class DType : uint8_t { Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64 };
inline constexpr int kDTypeCount = 13;
inline constexpr DType kAllDTypes[kDTypeCount] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                                                  DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                                                  DType::BF16, DType::F32, DType::F64};

int size_of(DType dtype);               // bytes of one element; a bool is one byte, 0 or 1
std::string_view name_of(DType dtype);  // "f32", "bool", ...
std::optional<DType> dtype_from_name(std::string_view name);

inline bool is_bool(DType t) { return t == DType::Bool; }
inline bool is_signed_int(DType t) { return t >= DType::I8 && t <= DType::I64; }
inline bool is_unsigned_int(DType t) { return t >= DType::U8 && t <= DType::U64; }
inline bool is_int(DType t) { return t >= DType::I8 && t <= DType::U64; }
inline bool is_float(DType t) { return t >= DType::F16; }

// The dtype that arithmetic on a and b has; nothing where the standard leaves the mix undefined
// (bool with numbers, integers with floats, u64 with signed integers, f16 with bf16 gives f32).
std::optional<DType> promote(DType a, DType b);

// The dtype that a value of type t is computed in: f16 and bf16 compute in f32, everything else as itself.
inline DType compute_type(DType t) { return t == DType::F16 || t == DType::BF16 ? DType::F32 : t; }
// The dtype that a sum or product of t accumulates in.
inline DType accumulator_type(DType t) { return compute_type(t); }

// Bits of an f16 or bf16 from a float, rounded half to even (subnormals kept, overflow to infinity, NaN stays
// NaN).
uint16_t f16_from_float(float value);
uint16_t bf16_from_float(float value);
uint16_t f16_from_double(double value);  // one rounding, not two
uint16_t bf16_from_double(double value);
float float_from_f16(uint16_t bits);
float float_from_bf16(uint16_t bits);

}  // namespace smelt
