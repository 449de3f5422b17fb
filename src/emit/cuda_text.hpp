// How CUDA C++ spells dtypes, constants and operations, and the few functions that every module may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/scalar.hpp"
#include "emit/cuda.hpp"
#include "kernel/kernel.hpp"

namespace smelt::emit::cuda {

std::string type_of(DType dtype);      // in registers: "float", "bool"
std::string memory_type(DType dtype);  // in memory: "unsigned char" for bool, "unsigned short" for f16 and bf16
std::string literal(const Scalar& constant);

// An operation on operands in registers. Integers wrap; floats are never contracted.
std::string apply(Op op, DType operand, const std::vector<std::string>& args);
std::string raw(kernel::RawOp op, DType from, DType to, const std::vector<std::string>& args);
std::string cast(const std::string& x, DType from, DType to, bool wrap);
std::string bitcast(const std::string& x, DType from, DType to);

std::string from_memory(DType dtype, const std::string& x);  // memory_type -> register
std::string to_memory(DType dtype, const std::string& x);    // rounds half precision

// The text in front of every module's functions.
std::string random_functions(const kernel::Kernel& kernel);  // what draws call; empty where there are none
std::string prelude(const CudaTarget& target);
// Of such functions, each of which calls only those before it, the ones that `code` needs.
std::string only_used(const std::string& functions, const std::string& code);

}  // namespace smelt::emit::cuda
