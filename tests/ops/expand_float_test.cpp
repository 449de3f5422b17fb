// The expansions on floats against the host meaning: within the documented error, and right where
// values are special. The whole of f32 is swept by bench/ulp.
#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "columns.hpp"
#include "ops/ulp.hpp"

namespace smelt {
namespace {

template <class V>
const std::vector<V>& specials() {
  using L = std::numeric_limits<V>;
  static const std::vector<V> values = [] {
    std::vector<V> all = {0,
                          L::denorm_min(),
                          L::min(),
                          L::max(),
                          L::infinity(),
                          L::epsilon(),
                          V(1) - L::epsilon() / 2,
                          V(1) + L::epsilon(),
                          V(0.1),
                          V(0.25),
                          V(0.5),
                          V(1),
                          V(1.5),
                          V(2),
                          V(2.5),
                          V(3),
                          V(7),
                          V(10),
                          V(1e-30),
                          V(1e30),
                          V(89),
                          V(104),
                          V(127),
                          V(128),
                          V(149),
                          V(150),
                          V(709),
                          V(746),
                          V(1023),
                          V(1024),
                          V(1075),
                          V(1.5707964),
                          V(3.1415927),
                          V(16777216),
                          V(16777217),
                          V(9007199254740992),
                          V(9007199254740991),
                          V(2.2250738585072009e-308),
                          V(1.1754942e-38)};
    for (size_t i = all.size(); i-- > 0;) all.push_back(-all[i]);
    all.push_back(L::quiet_NaN());
    return all;
  }();
  return values;
}

template <class V, class Wide>
FloatFormat format_of() {
  return float_format(sizeof(V) == 4 ? DType::F32 : DType::F64);
}

// Counts what is out of bounds and prints the first few.
template <class V, class Wide>
class Checker {
 public:
  explicit Checker(const columns::Row<V, Wide>& row) : row_(row) {}

  void operator()(V a, V b = 0) {
    const V computed = row_.expansion(a, b, b);
    const Wide exact = row_.meaning(a, b, b);
    const double error = ulp_error<Wide>(float_format(sizeof(V) == 4 ? DType::F32 : DType::F64), computed, exact);
    if (error <= row_.max_ulp * 1.0001) return;
    if (++failures_ <= 5)
      ADD_FAILURE() << row_.name << "(" << a << (row_.arity > 1 ? ", " + std::to_string(b) : "")
                    << ") [a = " << std::hexfloat << a << ", b = " << b << std::defaultfloat << "] gives " << computed
                    << ", not " << exact << ": " << error << " ULP";
  }

 private:
  const columns::Row<V, Wide>& row_;
  int failures_ = 0;
};

template <class V>
V from_random_bits(std::mt19937_64& random) {
  if constexpr (sizeof(V) == 4)
    return std::bit_cast<float>(static_cast<uint32_t>(random()));
  else
    return std::bit_cast<double>(random());
}

// A number whose exponent is evenly spread over 2^-span .. 2^span.
template <class V>
V of_any_size(std::mt19937_64& random, int span) {
  const double fraction = std::ldexp(static_cast<double>(random() >> 11), -53) + 1;
  const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * span + 1)) - span;
  return static_cast<V>(std::ldexp(random() & 1 ? fraction : -fraction, exponent));
}

// Where an expansion changes its way, or its result its nature.
constexpr double kTurningPoints[] = {0.3465735902799726,
                                     0.5,
                                     0.6666666666666666,
                                     0.7071067811865476,
                                     0.7853981633974483,
                                     1,
                                     1.3333333333333333,
                                     1.4142135623730951,
                                     1.5707963267948966,
                                     2,
                                     2.356194490192345,
                                     3.141592653589793,
                                     3.93,
                                     4,
                                     5.95,
                                     6,
                                     6.283185307179586,
                                     9.01,
                                     10.06,
                                     10.2,
                                     17.33,
                                     18,
                                     20,
                                     26.54,
                                     27.3,
                                     40,
                                     86,
                                     87.33654475,
                                     88.72283905,
                                     89.4159862,
                                     89.5,
                                     103.97208,
                                     104,
                                     125,
                                     126,
                                     128,
                                     149,
                                     150,
                                     355,
                                     707,
                                     708.3964185,
                                     709.782712893384,
                                     710.4758600739439,
                                     710.6,
                                     745.1332191019412,
                                     746,
                                     1021,
                                     1022,
                                     1024,
                                     1074,
                                     1075,
                                     1e5,
                                     1125899906842624,
                                     7.555786372591432e22,
                                     5.070602400912918e30};

template <class V, class Wide>
void check_unary() {
  std::mt19937_64 random(20260101);
  for (const auto& row : columns::rows<V, Wide>()) {
    if (row.arity != 1) continue;
    Checker<V, Wide> check(row);
    for (V a : specials<V>()) check(a);
    for (double point : kTurningPoints)
      for (double sign : {1.0, -1.0}) {
        const V middle = static_cast<V>(sign * point);
        V up = middle, down = middle;
        for (int k = 0; k < 100; ++k) {
          check(up), check(down);
          up = std::nextafter(up, std::numeric_limits<V>::infinity());
          down = std::nextafter(down, -std::numeric_limits<V>::infinity());
        }
      }
    for (int k = 0; k < 20000; ++k) check(of_any_size<V>(random, 10));
    for (int k = 0; k < 5000; ++k) check(from_random_bits<V>(random));
  }
}

TEST(ExpandFloat, UnaryF32) { check_unary<float, double>(); }

TEST(ExpandFloat, UnaryF64) { check_unary<double, long double>(); }

TEST(ExpandFloat, UnaryF32Strided) {
  for (const auto& row : columns::rows<float, double>()) {
    if (row.arity != 1) continue;
    Checker<float, double> check(row);
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521)
      check(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
}

// All inputs of a half format, computed in f32 and rounded once more: half a unit, and what the
// error in f32 can add.
void check_all_inputs(DType dtype, float (*from_bits)(uint16_t)) {
  const FloatFormat format = float_format(dtype);
  for (const auto& row : columns::rows<float, double>()) {
    if (row.arity != 1) continue;
    const double bound = 0.5 + row.max_ulp * std::ldexp(1.0, format.mantissa - 23);
    int failures = 0;
    for (int bits = 0; bits < 65536 && failures < 5; ++bits) {
      const float a = from_bits(static_cast<uint16_t>(bits));
      const double computed = round_to(dtype, row.expansion(a, a, a)), exact = row.meaning(a, a, a);
      // Below the least subnormal of f32 what it loses is not small against the error in f32, but
      // is against that of f16.
      const double error = ulp_error(format, computed, exact);
      if (error > bound) {
        ++failures;
        ADD_FAILURE() << row.name << "(" << a << ") in " << name_of(dtype) << " gives " << computed << ", not " << exact
                      << ": " << error << " ULP, more than " << bound;
      }
    }
  }
}

TEST(ExpandFloat, EveryF16) { check_all_inputs(DType::F16, float_from_f16); }

TEST(ExpandFloat, EveryBf16) { check_all_inputs(DType::BF16, float_from_bf16); }

// Whether a quotient is past what the row says of fmod on f64.
template <class V>
bool quotient_too_large(std::string_view name, V a, V b) {
  return sizeof(V) == 8 && (name == "fmod" || name == "remainder") && !(std::abs(a) < std::abs(b) * 0x1p300) &&
         b != 0 && !std::isnan(a) && !std::isinf(a);
}

template <class V, class Wide>
void check_binary() {
  std::mt19937_64 random(20260102);
  for (const auto& row : columns::rows<V, Wide>()) {
    if (row.arity != 2) continue;
    Checker<V, Wide> all(row);
    const auto check = [&](V a, V b) {
      if (!quotient_too_large(row.name, a, b)) all(a, b);
    };
    for (V a : specials<V>())
      for (V b : specials<V>()) check(a, b);
    for (int k = 0; k < 20000; ++k) check(of_any_size<V>(random, 10), of_any_size<V>(random, 10));
    for (int k = 0; k < 20000; ++k) check(std::abs(of_any_size<V>(random, 3)), of_any_size<V>(random, 8));
    for (int k = 0; k < 5000; ++k) check(from_random_bits<V>(random), from_random_bits<V>(random));
    for (int a = -20; a <= 20; ++a)
      for (int b = -20; b <= 20; ++b) check(static_cast<V>(a), static_cast<V>(b));
  }
}

TEST(ExpandFloat, BinaryF32) { check_binary<float, double>(); }

TEST(ExpandFloat, BinaryF64) { check_binary<double, long double>(); }

TEST(ExpandFloat, FloorDivisionIsPythons) {
  const auto divide = [](double a, double b) { return expand::on_float::FloorDiv<double>(a, b, b); };
  const auto modulo = [](double a, double b) { return expand::on_float::Mod<double>(a, b, b); };
  EXPECT_EQ(divide(1.0, 0.1), 9);
  EXPECT_EQ(modulo(1.0, 0.1), 0.09999999999999995);
  EXPECT_EQ(divide(-1.0, 0.1), -10);
  EXPECT_EQ(divide(-1, HUGE_VAL), -1);
  EXPECT_TRUE(std::isnan(modulo(0x1p1000, 0x1p-1000)));
}

TEST(ExpandFloat, TestsOfNumbers) {
  for (float a : specials<float>()) {
    EXPECT_EQ(expand::on_float::IsInf<float>(a, a, a), std::isinf(a)) << a;
    EXPECT_EQ(expand::on_float::IsFinite<float>(a, a, a), std::isfinite(a)) << a;
  }
  for (double a : specials<double>()) {
    EXPECT_EQ(expand::on_float::IsInf<double>(a, a, a), std::isinf(a)) << a;
    EXPECT_EQ(expand::on_float::IsFinite<double>(a, a, a), std::isfinite(a)) << a;
  }
}

// Arguments that are nearest to a multiple of pi/2, where a reduction that is too short shows.
TEST(ExpandFloat, SineOfArgumentsNearItsZeros) {
  const auto sine = [](double a) { return expand::on_float::Sin<double>(a, a, a); };
  const auto cosine = [](double a) { return expand::on_float::Cos<double>(a, a, a); };
  for (double a : {3.141592653589793, 6.283185307179586, 355.0, 0x1.921fb54442d18p+21, 1e22, 0x1p1023, 1.7e308})
    EXPECT_LE(ulp_error<long double>(float_format(DType::F64), sine(a), sinl(a)), 4) << a;
  // The double that comes nearest of all to a multiple of pi/2.
  const double nearest = 6381956970095103.0 * 0x1p797;
  EXPECT_NEAR(cosine(nearest), std::cos(nearest), 0x1p-103);
  const float nearest_f32 = 0x1.6c59dp+101f;
  EXPECT_LE(ulp_error_f32(expand::on_float::Cos<float>(nearest_f32, 0, 0), std::cos(static_cast<double>(nearest_f32))),
            2);
}

// A result that is subnormal, or so far below that it is 0, takes a CPU 150 cycles: there is none
// on the way to one that is neither.
TEST(ExpandFloat, NoSubnormalNumbersOnTheWay) {
  using Function = float (*)(float, float, float);
  const std::pair<const char*, Function> functions[] = {
      {"exp", expand::on_float::Exp<float>},     {"exp2", expand::on_float::Exp2<float>},
      {"expm1", expand::on_float::Expm1<float>}, {"log1p", expand::on_float::Log1p<float>},
      {"sin", expand::on_float::Sin<float>},     {"cos", expand::on_float::Cos<float>},
      {"tan", expand::on_float::Tan<float>},     {"asin", expand::on_float::Asin<float>},
      {"acos", expand::on_float::Acos<float>},   {"atan", expand::on_float::Atan<float>},
      {"sinh", expand::on_float::Sinh<float>},   {"cosh", expand::on_float::Cosh<float>},
      {"tanh", expand::on_float::Tanh<float>},   {"asinh", expand::on_float::Asinh<float>},
      {"atanh", expand::on_float::Atanh<float>}, {"erf", expand::on_float::Erf<float>},
      {"erfc", expand::on_float::Erfc<float>}};
  for (const auto& [name, function] : functions)
    for (int exponent = -110; exponent < -1; ++exponent)
      for (const float of : {1.0F, 1.37F, -1.81F}) {
        volatile float x = std::ldexp(of, exponent);
        std::feclearexcept(FE_UNDERFLOW);
        volatile float y = function(x, 0, 0);
        EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0) << name << " of " << x << " is " << y;
      }
}

// Nor on the way to f32 that are subnormal.
TEST(ExpandFloat, SubnormalResultsAreCounted) {
  const auto check = [](const char* name, float (*function)(float, float, float), float from, float to, float y) {
    for (float x = from; x > to; x -= 0.0625F) {
      volatile float argument = x;
      std::feclearexcept(FE_UNDERFLOW);
      volatile float result = function(argument, y, y);
      EXPECT_EQ(std::fetestexcept(FE_UNDERFLOW), 0) << name << " of " << x << " is " << result;
    }
  };
  check("exp", expand::on_float::Exp<float>, -86, -200, 0);
  check("exp2", expand::on_float::Exp2<float>, -124, -300, 0);
  check(
      "pow", [](float x, float y, float) { return expand::on_float::Pow<float>(y, x, 0); }, -124, -300, 2);
}

// What clamps and select are for: no function leaves its range.
TEST(ExpandFloat, BoundedFunctionsStayInBounds) {
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 9973) {
    const float a = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(a) || std::isinf(a)) continue;
    ASSERT_LE(std::abs(expand::on_float::Tanh<float>(a, a, a)), 1) << a;
    ASSERT_LE(std::abs(expand::on_float::Erf<float>(a, a, a)), 1) << a;
    ASSERT_LE(std::abs(expand::on_float::Sin<float>(a, a, a)), 1) << a;
    ASSERT_LE(std::abs(expand::on_float::Cos<float>(a, a, a)), 1) << a;
    ASSERT_GE(expand::on_float::Exp<float>(a, a, a), 0) << a;
    ASSERT_GE(expand::on_float::Cosh<float>(a, a, a), 1) << a;
  }
}

}  // namespace
}  // namespace smelt
