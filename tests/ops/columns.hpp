// The columns of ops.def that the tests compare with the host meaning: the expansions and what LLVM is asked to do, on host
// values.
#pragma once

#include "ops/expand/all.hpp"
#include "ops/op.hpp"

namespace smelt::expand {

// In this namespace, so that like, select and the rest are the overloads for host values.
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
