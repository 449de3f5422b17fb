// Shapes of arrays in a program: every size is an IntExpr over the program's size symbols.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/int_expr.hpp"
#include "base/tensor.hpp"

namespace smelt {

using Shape = std::vector<IntExpr>;
using SizeBinding = std::map<Symbol, int64_t>;  // their values in this call

std::string str(const Shape& shape);                          // "[B, 1024]"
Shape row_major_strides(const Shape& shape);                  // in elements
IntExpr count(const Shape& shape);                            // product of the sizes
Dims evaluate(const Shape& shape, const SizeBinding& sizes);  // numbers

}  // namespace smelt
