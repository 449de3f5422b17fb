#include "ops/op.hpp"

#include <array>
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "ops/host.hpp"

namespace smelt {

namespace {

// One function a row and column: the host meaning, whose type is None where there is none.
namespace on_double {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, ...) \
  [[maybe_unused]] auto id([[maybe_unused]] double a, [[maybe_unused]] double b, [[maybe_unused]] double c) {         \
    return host_float;                                                                                                \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_double

namespace on_integer {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, host_float, \
                 host_int, ...)                                                                                  \
  template <class T>                                                                                             \
  auto id([[maybe_unused]] T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {                                    \
    return host_int;                                                                                             \
  }
#include "ops/ops.def"
#undef SMELT_OP
}  // namespace on_integer

template <class T>
constexpr bool has_meaning = !std::is_same_v<T, None>;

constexpr OpInfo kTable[kOpCount] = {
#define SMELT_OP(id, name, arity, rule, llvm_float, llvm_int, c_float, c_int, ulp_f32, ulp_f64, doc, ...) \
  {Op::id,                                                                                                \
   #id,                                                                                                   \
   name,                                                                                                  \
   arity,                                                                                                 \
   TypeRule::rule,                                                                                        \
   llvm_float,                                                                                            \
   llvm_int,                                                                                              \
   c_float,                                                                                               \
   c_int,                                                                                                 \
   has_meaning<decltype(on_double::id(0, 0, 0))>,                                                         \
   has_meaning<decltype(on_integer::id<int64_t>(0, 0, 0))>,                                               \
   ulp_f32,                                                                                               \
   ulp_f64,                                                                                               \
   doc},
#include "ops/ops.def"
#undef SMELT_OP
};

constexpr bool rule_takes_bool(TypeRule rule) {
  return rule == TypeRule::Bits || rule == TypeRule::Any || rule == TypeRule::Compare || rule == TypeRule::Select;
}

constexpr bool rule_takes_int(TypeRule rule) { return rule != TypeRule::Float; }

constexpr bool rule_takes_float(TypeRule rule) { return rule != TypeRule::Integer && rule != TypeRule::Bits; }

template <class R>
double as_double(Op op, R result) {
  if constexpr (has_meaning<R>)
    return static_cast<double>(result);
  else
    throw InternalError(fmt::format("{} has no meaning on floats", name_of(op)));
}

template <class R>
uint64_t as_bits(Op op, R result) {
  if constexpr (!has_meaning<R>)
    throw InternalError(fmt::format("{} has no meaning on integers", name_of(op)));
  else if constexpr (std::is_signed_v<R>)
    return static_cast<uint64_t>(static_cast<int64_t>(result));
  else
    return static_cast<uint64_t>(result);
}

template <class T>
uint64_t evaluate_on(Op op, T a, T b, T c) {
  switch (op) {
#define SMELT_OP(id, name, arity, rule, ...)                                                                  \
  case Op::id:                                                                                                \
    if constexpr (std::is_same_v<T, bool> ? rule_takes_bool(TypeRule::rule) : rule_takes_int(TypeRule::rule)) \
      return as_bits(op, on_integer::id<T>(a, b, c));                                                         \
    break;
#include "ops/ops.def"
#undef SMELT_OP
  }
  throw InternalError(fmt::format("{} has no meaning on integers of {} bytes", name_of(op), sizeof(T)));
}

template <class T>
uint64_t evaluate_as(Op op, const std::array<uint64_t, 3>& args) {
  return evaluate_on<T>(op, static_cast<T>(args[0]), static_cast<T>(args[1]), static_cast<T>(args[2]));
}

// What stands for a value in evaluate_int.
uint64_t bits_of(const Scalar& s) { return is_unsigned_int(s.dtype) ? s.u : static_cast<uint64_t>(s.i); }

}  // namespace

const OpInfo& info(Op op) {
  SMELT_CHECK(static_cast<int>(op) < kOpCount, "there is no operation {}", static_cast<int>(op));
  return kTable[static_cast<size_t>(op)];
}

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& row : kTable)
    if (row.name == name) return row.op;
  return std::nullopt;
}

bool accepts(Op op, DType argument) {
  const TypeRule rule = info(op).rule;
  if (is_bool(argument)) return rule_takes_bool(rule);
  return is_float(argument) ? rule_takes_float(rule) : rule_takes_int(rule);
}

DType result_type(Op op, DType argument) {
  SMELT_CHECK(accepts(op, argument), "{} does not take {}", name_of(op), name_of(argument));
  const TypeRule rule = info(op).rule;
  return rule == TypeRule::Compare || rule == TypeRule::Test ? DType::Bool : argument;
}

double evaluate_float(Op op, std::span<const double> args) {
  SMELT_CHECK(static_cast<int>(args.size()) == info(op).arity, "{} takes {} arguments, not {}", name_of(op),
              info(op).arity, args.size());
  const double a = args[0], b = args.size() > 1 ? args[1] : 0, c = args.size() > 2 ? args[2] : 0;
  switch (op) {
#define SMELT_OP(id, ...) \
  case Op::id:            \
    return as_double(op, on_double::id(a, b, c));
#include "ops/ops.def"
#undef SMELT_OP
  }
  throw InternalError(fmt::format("there is no operation {}", static_cast<int>(op)));
}

uint64_t evaluate_int(Op op, DType dtype, std::span<const uint64_t> args) {
  SMELT_CHECK(static_cast<int>(args.size()) == info(op).arity, "{} takes {} arguments, not {}", name_of(op),
              info(op).arity, args.size());
  SMELT_CHECK(accepts(op, dtype) && !is_float(dtype), "{} does not take {}", name_of(op), name_of(dtype));
  std::array<uint64_t, 3> abc{};
  for (size_t i = 0; i < args.size(); ++i) abc[i] = args[i];
  switch (dtype) {
    case DType::Bool: return evaluate_as<bool>(op, abc);
    case DType::I8: return evaluate_as<int8_t>(op, abc);
    case DType::I16: return evaluate_as<int16_t>(op, abc);
    case DType::I32: return evaluate_as<int32_t>(op, abc);
    case DType::I64: return evaluate_as<int64_t>(op, abc);
    case DType::U8: return evaluate_as<uint8_t>(op, abc);
    case DType::U16: return evaluate_as<uint16_t>(op, abc);
    case DType::U32: return evaluate_as<uint32_t>(op, abc);
    case DType::U64: return evaluate_as<uint64_t>(op, abc);
    default: break;
  }
  throw InternalError(fmt::format("{} is not an integer dtype", name_of(dtype)));
}

Scalar evaluate(Op op, std::span<const Scalar> args) {
  SMELT_CHECK(static_cast<int>(args.size()) == info(op).arity, "{} takes {} arguments, not {}", name_of(op),
              info(op).arity, args.size());
  const DType dtype = args.back().dtype;
  const DType result = result_type(op, dtype);
  for (size_t i = 0; i < args.size(); ++i) {
    const DType expected = info(op).rule == TypeRule::Select && i == 0 ? DType::Bool : dtype;
    SMELT_CHECK(args[i].dtype == expected, "argument {} of {} is {}, not {}", i, name_of(op), name_of(args[i].dtype),
                name_of(expected));
  }
  if (is_float(dtype)) {
    std::array<double, 3> values{};
    for (size_t i = 0; i < args.size(); ++i) values[i] = args[i].as_double();
    const double value = evaluate_float(op, std::span(values.data(), args.size()));
    return is_bool(result) ? Scalar::of_bool(value != 0) : Scalar::of_float(result, value);
  }
  std::array<uint64_t, 3> values{};
  for (size_t i = 0; i < args.size(); ++i) values[i] = bits_of(args[i]);
  const uint64_t value = evaluate_int(op, dtype, std::span(values.data(), args.size()));
  return is_unsigned_int(result) ? Scalar::of_uint(result, value) : Scalar::of_int(result, static_cast<int64_t>(value));
}

}  // namespace smelt
