#pragma once

#include <random>
#include <string>

#include "base/dtype.hpp"

namespace smelt::testing {

struct ScanOf {
  std::string name;
  DType dtype;
  size_t rank = 0;
  std::string condition;  // bools that broadcast to it, as an expression
};

// An expression with a scan of this array in it.
std::string scan_expression(const ScanOf& of, std::mt19937_64& random);

}  // namespace smelt::testing
