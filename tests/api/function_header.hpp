// The functions and methods of C++ as they follow from the language's table of functions.
#pragma once

#include <map>
#include <string>

namespace smelt::api_test {

// By their paths.
std::map<std::string, std::string> function_files();

}  // namespace smelt::api_test
