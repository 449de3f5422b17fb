// The expansion columns of ops.def on host values: on_float::Exp<float>(a, b, c) is the expansion
// of Op::Exp in f32. Rows without an expansion return NONE. For tests and measurements.
#pragma once

#include <type_traits>

#include "ops/op.hpp"
#include "smelt/static/expand/all.hpp"
#include "smelt/static/values.hpp"

namespace smelt::expand {

// What a user of the columns below sees of a value.
template <class F>
F plain(Real<F> a) {
  return a.value;
}
inline bool plain(Truth a) { return a.value; }
inline None plain(None a) { return a; }

namespace on_float {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, \
                 host_int, expand_float, ...)                                                                    \
  template <class F>                                                                                             \
  auto id(F of_a, F of_b, F of_c) {                                                                              \
    [[maybe_unused]] const Real<F> a{of_a}, b{of_b}, c{of_c};                                                    \
    return plain(expand_float);                                                                                  \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_float

namespace on_int {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, \
                 host_int, expand_float, expand_int, ...)                                                        \
  template <class V>                                                                                             \
  auto id([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c) {                                    \
    return expand_int;                                                                                           \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_int

}  // namespace smelt::expand
