// Random scalar functions in C.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace smelt::testing {

struct CText {
  std::string text;
  std::vector<std::string> parameter_types;
};

CText random_c_function(const std::string& name, std::mt19937_64& random);

}  // namespace smelt::testing
