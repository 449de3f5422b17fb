// include/smelt/functions.hpp as it follows from the language's table of functions.
#pragma once

#include <string>

namespace smelt::api_test {

std::string function_header();

}  // namespace smelt::api_test
