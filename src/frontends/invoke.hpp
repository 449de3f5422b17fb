// Calls of the language's functions that are in no text.
#pragma once

#include <string_view>
#include <vector>

#include "frontends/function_table.hpp"

namespace smelt::lang {

// The function on arguments by position. Throws UserBuildError for what does not fit.
Value invoke(GraphBuilder& builder, const Function& function, std::string_view written,
             const std::vector<Value>& arguments);

}  // namespace smelt::lang
