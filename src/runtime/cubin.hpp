// What a cubin says of its functions: what the driver would say once it has loaded it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/gpu.hpp"

namespace smelt::runtime {

// Registers, local and static shared memory; max_threads stays 0. Nothing where the file is no
// cubin, or says it in another way.
std::optional<FunctionFacts> facts_of_cubin(std::string_view cubin, const std::string& function);

}  // namespace smelt::runtime
