// Element types, half precision, conversions.
#include "base/scalar.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/dtype.hpp"

namespace smelt {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(DType, Names) {
  for (DType t : kAllDTypes) EXPECT_EQ(dtype_from_name(name_of(t)), t);
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_FALSE(dtype_from_name(""));
}

TEST(DType, PromotionIsThatOfTheArrayStandard) {
  for (DType a : kAllDTypes)
    for (DType b : kAllDTypes) {
      EXPECT_EQ(promote(a, b), promote(b, a));
      const auto t = promote(a, b);
      if (a == b) {
        EXPECT_EQ(t, a);
      }
      if (is_bool(a) != is_bool(b) || is_float(a) != is_float(b)) {
        EXPECT_FALSE(t) << name_of(a) << " with " << name_of(b);
      }
      if (!t || is_float(a)) continue;
      // Every value of either fits.
      EXPECT_LE(min_int(*t), min_int(a));
      EXPECT_GE(max_int(*t), max_int(a));
    }
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::U32, DType::I8), DType::I64);
  EXPECT_FALSE(promote(DType::U64, DType::I64));
  EXPECT_EQ(promote(DType::F16, DType::BF16), DType::F32);
  EXPECT_EQ(promote(DType::BF16, DType::F64), DType::F64);
  EXPECT_EQ(promote(DType::F8E4M3, DType::F8E5M2), DType::F32);
  EXPECT_EQ(promote(DType::F8E4M3, DType::BF16), DType::BF16);
}

// The value of f16 bits by definition.
double f16_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? kNan : sign * kInf;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

TEST(Half, EveryValueIsReadAndWrittenExactly) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double value = f16_value(half);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(float_from_f16(half)));
      ASSERT_TRUE(std::isnan(f16_value(f16_from_float(float_from_f16(half)))));
      continue;
    }
    ASSERT_EQ(std::bit_cast<uint32_t>(float_from_f16(half)), std::bit_cast<uint32_t>(static_cast<float>(value)));
    ASSERT_EQ(f16_from_float(static_cast<float>(value)), half);
    ASSERT_EQ(small_float_bits(DType::F16, value), half);
  }
}

TEST(Half, EveryBf16ValueIsReadAndWrittenExactly) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = float_from_bf16(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<uint32_t>(value), bits << 16);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(float_from_bf16(bf16_from_float(value))));
    } else {
      ASSERT_EQ(bf16_from_float(value), bits);
    }
  }
}

// Between two neighbours the nearer, and exactly halfway the one with an even last bit.
TEST(Half, RoundsHalfToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = f16_value(static_cast<uint16_t>(bits)), high = f16_value(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    const uint32_t even = bits % 2 ? bits + 1 : bits;
    ASSERT_EQ(small_float_bits(DType::F16, middle), even);
    ASSERT_EQ(small_float_bits(DType::F16, -middle), even | 0x8000);
    ASSERT_EQ(small_float_bits(DType::F16, std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(small_float_bits(DType::F16, std::nextafter(middle, kInf)), bits + 1);
    ASSERT_EQ(f16_from_float(std::nextafterf(static_cast<float>(middle), 0.0f)), bits);
  }
  EXPECT_EQ(small_float_bits(DType::F16, 65519.99), 0x7bff);
  EXPECT_EQ(small_float_bits(DType::F16, 65520), 0x7c00) << "overflow to infinity";
  EXPECT_EQ(small_float_bits(DType::F16, -1e300), 0xfc00);
  EXPECT_EQ(small_float_bits(DType::F16, 0x1p-25), 0) << "half of the smallest: to even";
  EXPECT_EQ(small_float_bits(DType::F16, -0x1p-25), 0x8000);
  EXPECT_EQ(small_float_bits(DType::BF16, 0x1.ffp127), 0x7f80);
  // Just above a tie, by less than a float shows: two roundings would go wrong.
  EXPECT_EQ(small_float_bits(DType::F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(small_float_bits(DType::BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

// The value of bits of a float of 8 bits by its definition.
double f8_value(DType t, int bits) {
  const bool wide = t == DType::F8E5M2;
  const int digits = wide ? 2 : 3, exponent = (bits & 127) >> digits, fraction = bits & ((1 << digits) - 1);
  const double sign = bits >> 7 ? -1 : 1;
  if (wide && exponent == 31) return fraction ? kNan : sign * kInf;
  if (!wide && (bits & 127) == 127) return kNan;
  const int lowest = wide ? -16 : -9;
  return sign * (exponent ? std::ldexp((1 << digits) + fraction, exponent - 1 + lowest) : std::ldexp(fraction, lowest));
}

TEST(F8, EveryValueIsReadAndWrittenExactly) {
  for (const DType t : {DType::F8E4M3, DType::F8E5M2})
    for (int bits = 0; bits < 256; ++bits) {
      const double value = f8_value(t, bits);
      const float read = small_float_value(t, static_cast<uint16_t>(bits));
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(read)) << name_of(t) << bits;
        ASSERT_TRUE(std::isnan(f8_value(t, small_float_bits(t, read))));
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(read), std::bit_cast<uint32_t>(static_cast<float>(value)))
          << name_of(t) << bits;
      ASSERT_EQ(small_float_bits(t, value), bits) << name_of(t);
    }
}

TEST(F8, RoundsHalfToEven) {
  for (const DType t : {DType::F8E4M3, DType::F8E5M2})
    for (int bits = 0; bits < (t == DType::F8E5M2 ? 0x7b : 0x7e); ++bits) {
      const double middle = (f8_value(t, bits) + f8_value(t, bits + 1)) / 2;
      const int even = bits % 2 ? bits + 1 : bits;
      ASSERT_EQ(small_float_bits(t, middle), even) << name_of(t);
      ASSERT_EQ(small_float_bits(t, -middle), even | 0x80);
      ASSERT_EQ(small_float_bits(t, std::nextafter(middle, 0.0)), bits);
      ASSERT_EQ(small_float_bits(t, std::nextafter(middle, kInf)), bits + 1);
    }
  // As torch, JAX and ml_dtypes: no saturation.
  EXPECT_EQ(f8_e4m3_from_float(464), 0x7e) << "halfway between 448 and what would be 480: to even";
  EXPECT_EQ(f8_e4m3_from_float(std::nextafterf(464, 500)), 0x7f);
  EXPECT_EQ(f8_e4m3_from_float(static_cast<float>(-kInf)), 0xff);
  EXPECT_EQ(f8_e5m2_from_float(std::nextafterf(61440, 0)), 0x7b);
  EXPECT_EQ(f8_e5m2_from_float(61440), 0x7c) << "halfway between the largest number and infinity: to infinity";
  EXPECT_EQ(f8_e5m2_from_float(static_cast<float>(-kInf)), 0xfc);
}

TEST(F8, Formats) {
  EXPECT_EQ(float_format(DType::F8E4M3).largest(), 448);
  EXPECT_EQ(float_format(DType::F8E5M2).largest(), 57344);
  EXPECT_EQ(float_format(DType::F16).largest(), 65504);
  EXPECT_EQ(float_format(DType::BF16).largest(), 0x1.fep127);
  EXPECT_EQ(float_format(DType::F32).largest(), std::numeric_limits<float>::max());
  EXPECT_EQ(float_format(DType::F64).largest(), std::numeric_limits<double>::max());
  EXPECT_EQ(float_format(DType::F8E4M3).tiny(), 0x1p-9);
  EXPECT_EQ(float_format(DType::F8E5M2).tiny(), 0x1p-16);
  EXPECT_EQ(float_format(DType::F64).tiny(), 0x1p-1074);
}

TEST(Scalar, IntegersWrapOrSaturate) {
  const Scalar big = Scalar::of_int(DType::I32, 300), negative = Scalar::of_int(DType::I32, -1);
  EXPECT_EQ(convert(big, DType::U8).u, 255u);
  EXPECT_EQ(convert(big, DType::U8, true).u, 44u);
  EXPECT_EQ(convert(big, DType::I8).i, 127);
  EXPECT_EQ(convert(big, DType::I8, true).i, 44);
  EXPECT_EQ(convert(negative, DType::U64).u, 0u);
  EXPECT_EQ(convert(negative, DType::U64, true).u, UINT64_MAX);
  EXPECT_EQ(convert(Scalar::of_uint(DType::U64, UINT64_MAX), DType::I64).i, INT64_MAX);
  EXPECT_EQ(convert(Scalar::of_uint(DType::U64, UINT64_MAX), DType::I64, true).i, -1);
  EXPECT_EQ(convert(Scalar::of_int(DType::I64, INT64_MIN), DType::I8).i, -128);
}

TEST(Scalar, FloatsToIntegersSaturateAndNanIsZero) {
  for (DType t : kAllDTypes) {
    if (!is_int(t)) continue;
    for (DType from : {DType::F32, DType::F64}) {
      EXPECT_EQ(convert(Scalar::of_float(from, kNan), t), Scalar::of_int(t, 0));
      EXPECT_EQ(convert(Scalar::of_float(from, kInf), t), Scalar::of_uint(t, max_int(t)));
      EXPECT_EQ(convert(Scalar::of_float(from, -kInf), t), Scalar::of_int(t, min_int(t)));
      EXPECT_EQ(convert(Scalar::of_float(from, 0x1p64), t), Scalar::of_uint(t, max_int(t)));
      EXPECT_EQ(convert(Scalar::of_float(from, -0x1p64), t), Scalar::of_int(t, min_int(t)));
      EXPECT_EQ(convert(Scalar::of_float(from, 2.99), t), Scalar::of_int(t, 2));
      EXPECT_EQ(convert(Scalar::of_float(from, -0.99), t), Scalar::of_int(t, 0));
    }
  }
  EXPECT_EQ(convert(Scalar::of_float(DType::F64, -2.99), DType::I8).i, -2);
  EXPECT_EQ(convert(Scalar::of_float(DType::F64, 0x1p63), DType::I64).i, INT64_MAX);
  EXPECT_EQ(convert(Scalar::of_float(DType::F64, -0x1p63), DType::I64).i, INT64_MIN);
  EXPECT_EQ(convert(Scalar::of_float(DType::F64, 0x1p63), DType::U64).u, uint64_t{1} << 63);
}

TEST(Scalar, TruthOfOddValues) {
  EXPECT_TRUE(convert(Scalar::of_int(DType::I8, 2), DType::Bool).as_bool());
  EXPECT_TRUE(convert(Scalar::of_int(DType::I8, -1), DType::Bool).as_bool());
  EXPECT_TRUE(convert(Scalar::of_float(DType::F32, kNan), DType::Bool).as_bool());
  EXPECT_FALSE(convert(Scalar::of_float(DType::F32, -0.0), DType::Bool).as_bool());
  EXPECT_EQ(convert(Scalar::of_int(DType::I8, 2), DType::Bool).i, 1);
}

TEST(Scalar, FloatsKeepTheirWidth) {
  EXPECT_EQ(Scalar::of_float(DType::F32, 0.1).f, 0.1f);
  EXPECT_EQ(Scalar::of_float(DType::F16, 0.1).f, 0.0999755859375);
  EXPECT_EQ(convert(Scalar::of_int(DType::I64, (int64_t{1} << 24) + 1), DType::F32).f, 16777216.0);
  EXPECT_TRUE(std::signbit(convert(Scalar::of_float(DType::F64, -1e-300), DType::F32).f));
  EXPECT_EQ(convert(Scalar::of_uint(DType::U64, UINT64_MAX), DType::F64).f, 0x1p64);
  // One rounding: through a double it would be two.
  EXPECT_EQ(convert(Scalar::of_int(DType::I64, (int64_t{1} << 62) + (int64_t{1} << 38) + 1), DType::F32).f,
            0x1p62 + 0x1p39);
}

TEST(Scalar, EqualityIsOfBits) {
  auto f = [](double v) { return Scalar::of_float(DType::F32, v); };
  EXPECT_TRUE(f(kNan) == f(-kNan));
  EXPECT_FALSE(f(0.0) == f(-0.0));
  EXPECT_FALSE(f(1) == Scalar::of_float(DType::F64, 1));
}

TEST(Scalar, Text) {
  EXPECT_EQ(Scalar::of_float(DType::F32, 0.1).str(), "0.1");
  EXPECT_EQ(Scalar::of_float(DType::F64, 0.1).str(), "0.1");
  EXPECT_EQ(Scalar::of_float(DType::F32, kNan).str(), "nan");
  EXPECT_EQ(Scalar::of_float(DType::F64, -kInf).str(), "-inf");
  EXPECT_EQ(Scalar::of_bool(true).str(), "true");
  EXPECT_EQ(Scalar::of_uint(DType::U64, UINT64_MAX).str(), "18446744073709551615");
  EXPECT_EQ(Scalar::of_int(DType::I64, INT64_MIN).str(), "-9223372036854775808");
}

TEST(Scalar, MemoryKeepsEveryValue) {
  alignas(8) char memory[17];
  for (DType t : kAllDTypes)
    for (int at : {0, 1}) {  // misaligned too
      for (const Scalar& s : {Scalar::of_int(t, 1), Scalar::of_int(t, -3), Scalar::of_int(t, 0)}) {
        store_scalar(s, memory + at);
        EXPECT_EQ(load_scalar(t, memory + at), s) << name_of(t);
      }
    }
  memory[0] = 2;  // a bool that is neither 0 nor 1
  EXPECT_EQ(load_scalar(DType::Bool, memory), Scalar::of_bool(true));
}

}  // namespace
}  // namespace smelt
