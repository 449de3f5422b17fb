// How C++ spells dtypes, constants and operations on a host.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::emit::cpp {

std::string type_of(DType dtype);
std::string memory_type(DType dtype);
std::string literal(const Scalar& constant);
std::string apply(Op op, DType operand, const std::vector<std::string>& args);
std::string raw(kernel::RawOp op, DType from, DType to, const std::vector<std::string>& args);
std::string cast(const std::string& x, DType from, DType to, bool wrap);
std::string bitcast(const std::string& x, DType from, DType to);
std::string maximum(const std::string& a, const std::string& b, DType dtype, bool smaller);

}  // namespace smelt::emit::cpp
