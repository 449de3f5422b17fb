// Calls as source files.
#pragma once

#include <string>

#include "api/specialize.hpp"

namespace smelt::detail {

std::string source_of(const Special& special, const std::string& target, const SourceOptions& options);

}  // namespace smelt::detail
