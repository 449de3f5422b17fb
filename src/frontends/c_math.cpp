// math.h, in operations of the graph.
#include <cfloat>
#include <climits>
#include <cmath>
#include <numbers>

#include "base/check.hpp"
#include "base/nearest.hpp"
#include "frontends/c_value.hpp"
#include "frontends/diagnostics.hpp"

namespace smelt::lang {

namespace {

struct MathRow {
  std::string_view name;
  int arity;
  std::optional<Op> op;  // none: composed below
};

constexpr MathRow kMathRows[] = {
    {"sqrt", 1, Op::Sqrt},   {"cbrt", 1, Op::Cbrt},         {"exp", 1, Op::Exp},     {"exp2", 1, Op::Exp2},
    {"expm1", 1, Op::Expm1}, {"log", 1, Op::Log},           {"log2", 1, Op::Log2},   {"log10", 1, Op::Log10},
    {"log1p", 1, Op::Log1p}, {"sin", 1, Op::Sin},           {"cos", 1, Op::Cos},     {"tan", 1, Op::Tan},
    {"asin", 1, Op::Asin},   {"acos", 1, Op::Acos},         {"atan", 1, Op::Atan},   {"sinh", 1, Op::Sinh},
    {"cosh", 1, Op::Cosh},   {"tanh", 1, Op::Tanh},         {"asinh", 1, Op::Asinh}, {"acosh", 1, Op::Acosh},
    {"atanh", 1, Op::Atanh}, {"erf", 1, Op::Erf},           {"erfc", 1, Op::Erfc},   {"fabs", 1, Op::Abs},
    {"floor", 1, Op::Floor}, {"ceil", 1, Op::Ceil},         {"trunc", 1, Op::Trunc}, {"rint", 1, Op::Round},
    {"round", 1, {}},        {"nearbyint", 1, Op::Round},   {"atan2", 2, Op::Atan2}, {"pow", 2, Op::Pow},
    {"hypot", 2, Op::Hypot}, {"fmod", 2, Op::Fmod},         {"fmin", 2, {}},         {"fmax", 2, {}},
    {"fdim", 2, {}},         {"copysign", 2, Op::Copysign}, {"fma", 3, Op::Fma},     {"rsqrt", 1, Op::Rsqrt}};

// Tests of any float; they are macros in C, and have no form with an f.
constexpr MathRow kTests[] = {
    {"isnan", 1, Op::IsNan}, {"isinf", 1, Op::IsInf}, {"isfinite", 1, Op::IsFinite}, {"signbit", 1, {}}};

const MathRow* row_of(std::string_view name) {
  for (const MathRow& row : kMathRows)
    if (row.name == name) return &row;
  return nullptr;
}
const MathRow* test_of(std::string_view name) {
  for (const MathRow& row : kTests)
    if (row.name == name) return &row;
  return nullptr;
}

CValue number(double value, DType dtype) { return CValue::of(Scalar::of_float(dtype, value)); }

// C's fmin and fmax take the other one where one is nan.
CValue extreme(CArithmetic& a, Op op, const CValue& x, const CValue& y) {
  const CValue both = a.apply(op, {x, y});
  return a.select(a.apply(Op::IsNan, {x}), y, a.select(a.apply(Op::IsNan, {y}), x, both));
}

// Halves away from zero; Op::Round takes them to even.
CValue round_away(CArithmetic& a, const CValue& x) {
  const CValue whole = a.apply(Op::Trunc, {x});
  const CValue far = a.apply(Op::Ge, {a.apply(Op::Abs, {a.apply(Op::Sub, {x, whole})}), number(0.5, x.dtype)});
  return a.select(far, a.apply(Op::Add, {whole, a.apply(Op::Copysign, {number(1, x.dtype), x})}), whole);
}

}  // namespace

std::optional<CMathFunction> c_math_function(std::string_view name) {
  if (name == "abs" || name == "labs" || name == "llabs")
    return CMathFunction{name, 1, name == "abs" ? DType::I32 : DType::I64};
  if (const MathRow* row = test_of(name)) return CMathFunction{row->name, row->arity, DType::F64};
  if (const MathRow* row = row_of(name)) return CMathFunction{row->name, row->arity, DType::F64};
  if (name.ends_with('f'))
    if (const MathRow* row = row_of(name.substr(0, name.size() - 1)))
      return CMathFunction{row->name, row->arity, DType::F32};
  return std::nullopt;
}

CValue call_math(CArithmetic& a, const CMathFunction& function, std::span<const CValue> arguments) {
  if (const MathRow* test = test_of(function.name)) {
    const CValue x = is_float(arguments[0].dtype) ? arguments[0] : a.convert(arguments[0], DType::F64);
    if (test->op) return a.apply(*test->op, {x});
    return a.apply(Op::Lt, {a.apply(Op::Copysign, {number(1, x.dtype), x}), number(0, x.dtype)});
  }
  const CValue x = a.convert(arguments[0], function.dtype);
  if (!is_float(function.dtype)) return a.apply(Op::Abs, {x});
  const MathRow& row = *row_of(function.name);
  if (row.arity == 1) return row.op ? a.apply(*row.op, {x}) : round_away(a, x);
  const CValue y = a.convert(arguments[1], function.dtype);
  if (row.arity == 3) return a.apply(*row.op, {x, y, a.convert(arguments[2], function.dtype)});
  if (row.op) return a.apply(*row.op, {x, y});
  if (row.name == "fmin") return extreme(a, Op::Min, x, y);
  if (row.name == "fmax") return extreme(a, Op::Max, x, y);
  SMELT_CHECK(row.name == "fdim", "no meaning for {}", row.name);
  return a.select(a.apply(Op::Le, {x, y}), number(0, x.dtype), a.apply(Op::Sub, {x, y}));
}

std::string similar_math_function(std::string_view name) {
  if (name == "max" || name == "fmaximum") return "fmaxf";
  if (name == "min" || name == "fminimum") return "fminf";
  std::vector<std::string> known;
  for (const MathRow& row : kMathRows) known.push_back(std::string(row.name) + "f");
  for (const MathRow& row : kTests) known.emplace_back(row.name);
  return nearest(name, known);
}

std::optional<Scalar> c_constant(std::string_view name) {
  const auto f32 = [](double v) { return Scalar::of_float(DType::F32, v); };
  const auto f64 = [](double v) { return Scalar::of_float(DType::F64, v); };
  if (name == "INFINITY" || name == "HUGE_VALF") return f32(HUGE_VAL);
  if (name == "NAN") return f32(std::nan(""));
  if (name == "HUGE_VAL") return f64(HUGE_VAL);
  if (name == "M_PI") return f64(std::numbers::pi);
  if (name == "M_E") return f64(std::numbers::e);
  if (name == "M_SQRT2") return f64(std::numbers::sqrt2);
  if (name == "M_LN2") return f64(std::numbers::ln2);
  if (name == "FLT_MAX") return f32(FLT_MAX);
  if (name == "FLT_MIN") return f32(FLT_MIN);
  if (name == "FLT_EPSILON") return f32(FLT_EPSILON);
  if (name == "DBL_MAX") return f64(DBL_MAX);
  if (name == "DBL_MIN") return f64(DBL_MIN);
  if (name == "DBL_EPSILON") return f64(DBL_EPSILON);
  if (name == "INT_MAX") return Scalar::of_int(DType::I32, INT_MAX);
  if (name == "INT_MIN") return Scalar::of_int(DType::I32, INT_MIN);
  if (name == "true") return Scalar::of_bool(true);
  if (name == "false") return Scalar::of_bool(false);
  return std::nullopt;
}

}  // namespace smelt::lang
