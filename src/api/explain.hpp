// Explanations from plans.
#pragma once

#include "api/specialize.hpp"
#include "smelt/explain.hpp"

namespace smelt::detail {

Explanation explain_special(const Special& special, const SizeBinding& sizes, const std::string& name);
// Throws UserError with the decisions against fusion unless there are exactly `count` kernels.
void check_kernels(const Explanation& e, int count);

}  // namespace smelt::detail
