// The rows of ops.def with an expansion on floats, as function pointers: the expansion on host
// values, and the host meaning in a type with far more precision.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "ops/expand/on_host.hpp"
#include "ops/host.hpp"

namespace smelt::columns {

// V: float or double; Wide: double or long double.
template <class V, class Wide>
struct Row {
  std::string_view name;
  int arity;
  double max_ulp;
  V (*expansion)(V a, V b, V c);
  Wide (*meaning)(Wide a, Wide b, Wide c);
};

namespace wide {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, ...) \
  template <class T>                                                                                                  \
  auto id([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {                                         \
    return host_float;                                                                                                \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace wide

template <class V, class Wide, class Expansion, class Meaning>
void add_row(std::vector<Row<V, Wide>>& rows, const OpInfo& info, Expansion expansion, Meaning meaning) {
  // A comparison or a test gives a condition; those are compared in their own test.
  if constexpr (std::is_same_v<decltype(expansion(V(), V(), V())), V>)
    rows.push_back({info.name, info.arity, sizeof(V) == 4 ? info.max_ulp_f32 : info.max_ulp_f64, expansion,
                    [](Wide a, Wide b, Wide c) { return static_cast<Wide>(Meaning()(a, b, c)); }});
  (void)meaning;
}

template <class V, class Wide>
std::vector<Row<V, Wide>> rows() {
  std::vector<Row<V, Wide>> result;
#define SMELT_OP(id, ...)                                          \
  add_row<V, Wide>(result, info(Op::id), &expand::on_float::id<V>, \
                   [](auto a, auto b, auto c) { return wide::id(a, b, c); });
#include "ops/ops.def"
#undef SMELT_OP
  return result;
}

}  // namespace smelt::columns
