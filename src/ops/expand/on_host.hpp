// The expansion columns of ops.def on host values: on_float::Exp<float>(a, b, c) is the expansion of Op::Exp in f32. Rows
// without an expansion return NONE. For tests and measurements.
#pragma once

#include <type_traits>

#include "ops/expand/all.hpp"
#include "ops/op.hpp"

// In the namespace of the overloads for host values, so that like, select and the rest of algebra.hpp are found.
namespace smelt::expand {

namespace on_float {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, ulp_f32, ulp_f64, doc, host_float, host_int, \
                 expand_float, ...)                                                                        \
  template <class V>                                                                                       \
  auto id([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {                              \
    return expand_float;                                                                                   \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_float

namespace on_int {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, ulp_f32, ulp_f64, doc, host_float, host_int, \
                 expand_float, expand_int)                                                                 \
  template <class V>                                                                                       \
  auto id([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {                              \
    return expand_int;                                                                                     \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_int

}  // namespace smelt::expand
