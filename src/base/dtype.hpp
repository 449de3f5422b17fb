// What the compiler knows of element types beyond the public smelt/dtype.hpp.
#pragma once

#include "smelt/dtype.hpp"

namespace smelt {

inline constexpr int kDTypeCount = 13;
inline constexpr DType kAllDTypes[kDTypeCount] = {DType::Bool, DType::I8,  DType::I16, DType::I32, DType::I64,
                                                  DType::U8,   DType::U16, DType::U32, DType::U64, DType::F16,
                                                  DType::BF16, DType::F32, DType::F64};

inline bool is_half(DType t) { return t == DType::F16 || t == DType::BF16; }
// The dtype that a value of type t is computed in: f16 and bf16 compute in f32, everything else as itself.
inline DType compute_type(DType t) { return is_half(t) ? DType::F32 : t; }
// The dtype that a sum or product of t accumulates in.
inline DType accumulator_type(DType t) { return compute_type(t); }

uint16_t f16_from_double(double value);  // one rounding, not two
uint16_t bf16_from_double(double value);

}  // namespace smelt
