// Explanations from plans.
#pragma once

#include "api/specialize.hpp"
#include "smelt/explain.hpp"

namespace smelt::detail {

// The arrays of a call in memory of the host, as the executable takes them; none: it is of no call.
using HostInputs = std::function<std::vector<Tensor>()>;

Explanation explain_special(const Special& special, const SizeBinding& sizes, const std::string& name,
                            HostInputs inputs = nullptr);
// Throws UserError with the decisions against fusion unless there are exactly `count` kernels.
void check_kernels(const Explanation& e, int count);

}  // namespace smelt::detail
