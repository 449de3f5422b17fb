#include "frontends/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "graph/build_detail.hpp"

namespace smelt::lang {

namespace {

bool is_bool(const Literal& x) { return std::holds_alternative<bool>(x); }
bool is_double(const Literal& x) { return std::holds_alternative<double>(x); }
double as_double(const Literal& x) {
  return std::visit([](auto value) { return static_cast<double>(value); }, x);
}
int64_t as_int(const Literal& x) { return is_bool(x) ? std::get<bool>(x) : std::get<int64_t>(x); }

[[noreturn]] void fail_overflow() {
  fail("the result does not fit 64 bits", "write one of the numbers as a float, as in 2.0");
}

int64_t fitting(__int128 value) {
  if (value < INT64_MIN || value > INT64_MAX) fail_overflow();
  return static_cast<int64_t>(value);
}

int64_t integer_power(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 ? -1 : 1;
  if (exponent > 63) fail_overflow();
  int64_t result = 1;
  while (exponent-- > 0) result = fitting(static_cast<__int128>(result) * base);
  return result;
}

// Integers, which Python would not let overflow.
std::optional<int64_t> exact(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::Add: return fitting(static_cast<__int128>(a) + b);
    case Op::Sub: return fitting(static_cast<__int128>(a) - b);
    case Op::Mul: return fitting(static_cast<__int128>(a) * b);
    case Op::Square: return fitting(static_cast<__int128>(a) * a);
    case Op::Neg: return fitting(-static_cast<__int128>(a));
    case Op::Pow: return integer_power(a, b);
    case Op::ShiftLeft:
      if (b < 0) fail("a shift by a negative number", "shift the other way");
      return a == 0 ? 0 : b > 63 ? (fail_overflow(), 0) : fitting(static_cast<__int128>(a) << b);
    default: return std::nullopt;
  }
}

Literal of_floats(Op op, std::span<const Literal> args) {
  std::vector<double> values;
  for (const Literal& arg : args) values.push_back(as_double(arg));
  const double result = evaluate_float(op, values);
  const TypeRule rule = info(op).rule;
  if (rule == TypeRule::Compare || rule == TypeRule::Test) return result != 0;
  return result;
}

Literal of_integers(Op op, std::span<const Literal> args) {
  if (const auto value = exact(op, as_int(args[0]), args.size() > 1 ? as_int(args[1]) : 0)) return *value;
  std::vector<uint64_t> values;
  for (const Literal& arg : args) values.push_back(static_cast<uint64_t>(as_int(arg)));
  const uint64_t result = evaluate_int(op, DType::I64, values);
  const TypeRule rule = info(op).rule;
  if (rule == TypeRule::Compare || rule == TypeRule::Test) return result != 0;
  return static_cast<int64_t>(result);
}

}  // namespace

std::optional<Literal> fold(Op op, std::span<const Literal> args) {
  const OpInfo& row = info(op);
  if (row.rule == TypeRule::Select)
    return is_bool(args[0]) ? std::optional(std::get<bool>(args[0]) ? args[1] : args[2]) : std::nullopt;
  const bool divides = op == Op::Div || op == Op::FloorDiv || op == Op::Mod;
  if (divides && as_double(args[1]) == 0) fail("a division by zero", "write inf or nan if that is meant");
  if (op == Op::Pow && as_double(args[0]) == 0 && as_double(args[1]) < 0)
    fail("a division by zero", "write inf if that is meant");
  if (std::all_of(args.begin(), args.end(), is_bool) && (row.rule == TypeRule::Bits || row.rule == TypeRule::Compare)) {
    std::vector<uint64_t> values;
    for (const Literal& arg : args) values.push_back(std::get<bool>(arg));
    return evaluate_int(op, DType::Bool, values) != 0;
  }
  const bool floats = std::any_of(args.begin(), args.end(), is_double) || row.rule == TypeRule::Float ||
                      (op == Op::Pow && as_double(args[1]) < 0);
  if (floats ? !row.on_float : !row.on_int) return std::nullopt;
  return floats ? of_floats(op, args) : of_integers(op, args);
}

}  // namespace smelt::lang
