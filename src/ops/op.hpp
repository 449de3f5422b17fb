// Scalar operations. ops.def is the one table: the enum, host meaning, LLVM spelling, expansions,
// language names, docs table and the sweep test all come from its rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/dtype.hpp"
#include "base/scalar.hpp"

namespace smelt {

enum class Op : uint8_t {
#define SMELT_OP(id, ...) id,
#include "ops/ops.def"
#undef SMELT_OP
};

// Which dtypes an operation takes and gives. All arguments have one dtype unless it says otherwise.
enum class TypeRule : uint8_t {
  Numeric,  // integers and floats -> the same
  Float,    // floats -> the same
  Integer,  // integers -> the same
  Bits,     // integers and bool -> the same
  Any,      // every dtype -> the same
  Compare,  // every dtype -> bool
  Test,     // integers and floats -> bool
  Select,   // bool, T, T -> T
};

// The type of NONE, which is in a row of ops.def where the operation has no such form.
struct None {};
inline constexpr None NONE;

struct OpInfo {
  Op op;
  std::string_view id;    // "FloorDiv"
  std::string_view name;  // as the language calls it: "floor_divide"
  int arity;
  TypeRule rule;
  std::string_view llvm_float;      // how LLVM spells it on floats; empty: expanded. Placeholders: see emit/llvm.hpp
  std::string_view llvm_int;        // the same on integers and bools
  std::string_view c_float, c_int;  // how C-like targets spell it; empty: none has it
  bool on_float, on_int;            // has a meaning on floats / on integers
  double max_ulp_f32, max_ulp_f64;  // documented error in units in the last place; 0: exact, 0.5: correctly rounded
  std::string_view doc;
};

inline constexpr int kOpCount = 0
#define SMELT_OP(...) +1
#include "ops/ops.def"
#undef SMELT_OP
    ;

const OpInfo& info(Op op);
std::optional<Op> op_from_name(std::string_view name);
inline std::string_view name_of(Op op) { return info(op).name; }

// Whether the op takes this dtype (of its last argument), and what it gives.
bool accepts(Op op, DType argument);
DType result_type(Op op, DType argument);

// Host meaning. On floats it computes in double, comparisons and tests give 0 or 1. On integers and
// bool, arguments and result are the dtype's values as 64 bits (sign-extended if signed), already
// inside the dtype's range.
double evaluate_float(Op op, std::span<const double> args);
uint64_t evaluate_int(Op op, DType dtype, std::span<const uint64_t> args);
// Either, on Scalars; the result is rounded to its dtype.
Scalar evaluate(Op op, std::span<const Scalar> args);

}  // namespace smelt
