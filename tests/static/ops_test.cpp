// Every operation of ops.def in smelt/static on every dtype: integers and bools as the host meaning
// says, floats within the documented error, nan and the sign of zeros in the same places.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "ops/op.hpp"
#include "ops/ulp.hpp"
#include "smelt/static.hpp"

namespace smelt {
namespace {

namespace st = smelt::fixed;

// The exact result is known to a double: of f64 it errs by up to one itself.
double allowed_ulp(const OpInfo& info, DType dtype) {
  if (dtype != DType::F64) return info.max_ulp_f32;
  return info.max_ulp_f64 == 0 ? 0 : info.max_ulp_f64 + 1;
}

template <class T>
std::vector<T> values() {
  std::vector<T> all;
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_floating_point_v<T>) {
    for (double x : {0.0,   0.5,     1.0,        1.5,    2.0,    2.5,       3.0,       7.0,       0.1,
                     1e-30, 1e30,    89.0,       104.0,  150.0,  710.0,     746.0,     1.5707964, 65504.0,
                     1e-45, 1.2e-38, 16777217.0, 3.4e38, 0x1p60, 0.9999999, 1.0000001, HUGE_VAL})
      for (double sign : {1.0, -1.0}) all.push_back(static_cast<T>(sign * x));
    all.push_back(static_cast<T>(NAN));
  } else {
    for (int k = -4; k <= 4; ++k) all.push_back(static_cast<T>(k));
    for (unsigned bit = 3; bit < 8 * sizeof(T); bit += bit < 8 ? 1 : 7)
      for (int k = -1; k <= 1; ++k) all.push_back(static_cast<T>((uint64_t{1} << bit) + static_cast<uint64_t>(k)));
    all.push_back(st::detail::least<T>());
    all.push_back(st::detail::most<T>());
  }
  return all;
}

template <class T>
Scalar scalar_of(T x) {
  constexpr DType d = dtype_of<T>;
  if constexpr (std::is_floating_point_v<T>)
    return Scalar::of_float(d, x);
  else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>)
    return Scalar::of_uint(d, x);
  else
    return Scalar::of_int(d, static_cast<int64_t>(x));
}

template <class T>
void expect_same(const OpInfo& info, T got, const Scalar& meant, const std::string& where) {
  if constexpr (std::is_floating_point_v<T>) {
    const FloatFormat format = float_format(dtype_of<T>);
    const double error = ulp_error(format, static_cast<long double>(got), static_cast<long double>(meant.f));
    EXPECT_LE(error, allowed_ulp(info, dtype_of<T>)) << where << " gives " << got << ", not " << meant.str();
  } else {
    EXPECT_EQ(scalar_of(got), meant) << where;
  }
}

// The exact result: in double, not rounded to f32, so that errors are those of the computation.
template <class T>
Scalar meaning(Op op, const std::vector<Scalar>& args, DType result) {
  if (!std::is_floating_point_v<T> || is_bool(result)) return evaluate(op, args);
  std::array<double, 3> v{};
  for (size_t k = 0; k < args.size(); ++k) v[k] = args[k].as_double();
  Scalar s;
  s.dtype = result;
  s.f = evaluate_float(op, std::span(v.data(), args.size()));
  return s;
}

template <class Self, int arity, class T>
void check(Op op, T a, T b, T c) {
  const OpInfo& row = info(op);
  const auto x = st::detail::load_value(a), y = st::detail::load_value(b), z = st::detail::load_value(c);
  std::vector<Scalar> args = {scalar_of(a), scalar_of(b), scalar_of(c)};
  args.resize(static_cast<size_t>(row.arity));
  const Scalar meant = meaning<T>(op, args, result_type(op, dtype_of<T>));
  // Beyond what the expansions promise (ops.def).
  if constexpr (std::is_same_v<T, double>)
    if ((op == Op::Mod || op == Op::Fmod) && std::fabs(static_cast<double>(a / b)) >= 0x1p300) return;
  const std::string where = std::string(row.name) + "(" + args[0].str() + ", " + scalar_of(b).str() + ") of " +
                            std::string(name_of(dtype_of<T>));
  const auto expect = [&](auto got) { expect_same(row, st::detail::store_value(got), meant, where); };
  if constexpr (arity == 1) expect(Self::of(x));
  if constexpr (arity == 2) expect(Self::of(x, y));
  if constexpr (arity == 3) expect(Self::of(x, y, z));
}

constexpr bool takes(TypeRule rule, DType d) {
  if (is_bool(d)) return rule == TypeRule::Bits || rule == TypeRule::Compare;
  if (is_float(d)) return rule != TypeRule::Integer && rule != TypeRule::Bits && rule != TypeRule::Select;
  return rule != TypeRule::Float && rule != TypeRule::Select;
}

template <class Self, TypeRule rule, int arity, class T>
void sweep(Op op) {
  if constexpr (takes(rule, dtype_of<T>)) {
    const std::vector<T> all = values<T>();
    for (size_t i = 0; i < all.size() && !::testing::Test::HasFailure(); ++i) {
      const T third = all[(i * 5 + 1) % all.size()];
      if (arity == 1)
        check<Self, arity>(op, all[i], all[i], all[i]);
      else
        for (T b : all) check<Self, arity>(op, all[i], b, third);
    }
  }
}

template <class T>
void sweep_all() {
#define SMELT_OP(Id, name, arity, rule, ...) sweep<st::op::Id, TypeRule::rule, arity, T>(Op::Id);
#include "ops/ops.def"
#undef SMELT_OP
}

TEST(StaticOps, F32) { sweep_all<float>(); }
TEST(StaticOps, F64) { sweep_all<double>(); }
TEST(StaticOps, Bool) { sweep_all<bool>(); }
TEST(StaticOps, I8) { sweep_all<int8_t>(); }
TEST(StaticOps, I16) { sweep_all<int16_t>(); }
TEST(StaticOps, I32) { sweep_all<int32_t>(); }
TEST(StaticOps, I64) { sweep_all<int64_t>(); }
TEST(StaticOps, U8) { sweep_all<uint8_t>(); }
TEST(StaticOps, U16) { sweep_all<uint16_t>(); }
TEST(StaticOps, U32) { sweep_all<uint32_t>(); }
TEST(StaticOps, U64) { sweep_all<uint64_t>(); }

template <class To, class From>
void check_casts() {
  for (From x : values<From>()) {
    EXPECT_EQ(scalar_of(st::cast<To>(st::arg<0>)(x)), convert(scalar_of(x), dtype_of<To>))
        << scalar_of(x).str() << " of " << name_of(dtype_of<From>) << " as " << name_of(dtype_of<To>);
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From> && !std::is_same_v<To, bool> &&
                  !std::is_same_v<From, bool>) {
      EXPECT_EQ(scalar_of(st::wrap_cast<To>(st::arg<0>)(x)), convert(scalar_of(x), dtype_of<To>, true));
    }
    EXPECT_EQ(st::cast<st::f16>(st::arg<0>)(x).bits, [&] {
      uint16_t bits = 0;
      store_scalar(convert(scalar_of(x), DType::F16), &bits);
      return bits;
    }()) << scalar_of(x).str();
    EXPECT_EQ(st::cast<st::bf16>(st::arg<0>)(x).bits & 0xffbf, [&] {
      uint16_t bits = 0;
      store_scalar(convert(scalar_of(x), DType::BF16), &bits);
      return bits & 0xffbf;  // which quiet nan it is differs
    }()) << scalar_of(x).str();
  }
}
template <class From>
void check_all_casts() {
  check_casts<bool, From>(), check_casts<int8_t, From>(), check_casts<int16_t, From>(), check_casts<int32_t, From>();
  check_casts<int64_t, From>(), check_casts<uint8_t, From>(), check_casts<uint16_t, From>(),
      check_casts<uint32_t, From>();
  check_casts<uint64_t, From>(), check_casts<float, From>(), check_casts<double, From>();
}
TEST(StaticOps, Casts) {
  check_all_casts<float>(), check_all_casts<double>(), check_all_casts<bool>();
  check_all_casts<int8_t>(), check_all_casts<int16_t>(), check_all_casts<int32_t>(), check_all_casts<int64_t>();
  check_all_casts<uint8_t>(), check_all_casts<uint16_t>(), check_all_casts<uint32_t>(), check_all_casts<uint64_t>();
}

TEST(StaticOps, Halves) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const uint16_t raw = static_cast<uint16_t>(bits);
    const float half = st::to_float(st::f16{raw}), brain = st::to_float(st::bf16{raw});
    ASSERT_EQ(std::bit_cast<uint32_t>(half), std::bit_cast<uint32_t>(float_from_f16(raw))) << bits;
    ASSERT_EQ(std::bit_cast<uint32_t>(brain), std::bit_cast<uint32_t>(float_from_bf16(raw))) << bits;
    if (std::isnan(half) || std::isnan(brain)) continue;
    ASSERT_EQ(st::to_f16(half).bits, raw);
    ASSERT_EQ(st::to_bf16(brain).bits, raw);
  }
  std::mt19937 random(5);
  for (int k = 0; k < 200000; ++k) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(x)) continue;
    ASSERT_EQ(st::to_f16(x).bits, f16_from_float(x)) << x;
    ASSERT_EQ(st::to_f8_e4m3(x).bits, f8_e4m3_from_float(x)) << x;
    ASSERT_EQ(st::to_f8_e5m2(x).bits, f8_e5m2_from_float(x)) << x;
    ASSERT_EQ(st::to_bf16(x).bits, bf16_from_float(x)) << x;
  }
}

TEST(StaticOps, FloatsOf8Bits) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto raw = static_cast<uint8_t>(bits);
    const float fine = st::to_float(st::f8_e4m3{raw}), wide = st::to_float(st::f8_e5m2{raw});
    ASSERT_EQ(std::isnan(fine), std::isnan(float_from_f8_e4m3(raw))) << bits;
    ASSERT_EQ(std::isnan(wide), std::isnan(float_from_f8_e5m2(raw))) << bits;
    if (!std::isnan(fine)) ASSERT_EQ(fine, float_from_f8_e4m3(raw)) << bits;
    if (!std::isnan(wide)) ASSERT_EQ(wide, float_from_f8_e5m2(raw)) << bits;
    // Ties between two neighbours, and what is next to them.
    for (const float step : {0.0625f, 0.125f})
      for (const float x : {fine, wide})
        for (const float y : {x * (1 + step), std::nextafterf(x * (1 + step), 0), x + 0x1p-10f, x + 0x1p-17f}) {
          if (std::isnan(y)) continue;
          ASSERT_EQ(st::to_f8_e4m3(y).bits, f8_e4m3_from_float(y)) << y;
          ASSERT_EQ(st::to_f8_e5m2(y).bits, f8_e5m2_from_float(y)) << y;
        }
  }
}

// maximum and minimum with a number in the program go another way.
TEST(StaticOps, BoundsThatAreNumbers) {
  for (float x : values<float>())
    for (double c : {0.0, -0.0, 1.0, -3.5}) {
      const float n = static_cast<float>(c);
      const auto same = [](float a, float b) {
        return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
      };
      EXPECT_TRUE(same(st::maximum(st::arg<0>, c)(x), st::maximum(st::arg<0>, st::arg<1>)(x, n))) << x << " " << c;
      EXPECT_TRUE(same(st::minimum(c, st::arg<0>)(x), st::minimum(st::arg<0>, st::arg<1>)(x, n))) << x << " " << c;
    }
}

}  // namespace
}  // namespace smelt
