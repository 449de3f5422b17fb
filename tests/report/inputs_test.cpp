#include "report/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::report {
namespace {

using testing::message_of;

std::string failure(const std::string& text) {
  try {
    parse_input(text);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(InputSpec, Files) {
  const InputSpec spec = parse_input("x=@a=b.npy");
  EXPECT_EQ(spec.kind, InputSpec::File);
  EXPECT_EQ(spec.name, "x");
  EXPECT_EQ(spec.path, "a=b.npy");
}

TEST(InputSpec, Types) {
  const InputSpec plain = parse_input("x = f32[4096, B]");
  EXPECT_EQ(plain.kind, InputSpec::Array);
  EXPECT_EQ(plain.filler, Filler::Normal);
  EXPECT_EQ(plain.type, "f32[4096, B]");
  for (const Filler filler : {Filler::Normal, Filler::Uniform, Filler::Zeros, Filler::Ones, Filler::Iota}) {
    const InputSpec spec = parse_input("weights_2=" + std::string(name_of(filler)) + ":i8[3]");
    EXPECT_EQ(spec.filler, filler);
    EXPECT_EQ(spec.type, "i8[3]");
  }
  EXPECT_EQ(parse_input("s=f16").type, "f16");
}

TEST(InputSpec, Numbers) {
  const auto number = [](const std::string& text) { return parse_input("s=" + text).number; };
  EXPECT_EQ(number("4.2"), Scalar::of_float(DType::F64, 4.2));
  EXPECT_EQ(number("-7"), Scalar::of_int(DType::I64, -7));
  EXPECT_EQ(number("1e3"), Scalar::of_float(DType::F64, 1000));
  EXPECT_EQ(number("18446744073709551615"), Scalar::of_uint(DType::U64, UINT64_MAX));
  EXPECT_EQ(number("true"), Scalar::of_bool(true));
  EXPECT_EQ(number("-inf").f, -INFINITY);
  EXPECT_TRUE(std::isnan(number("nan").f));
  EXPECT_EQ(number("i8(-128)"), Scalar::of_int(DType::I8, -128));
  EXPECT_EQ(number("f16(0.1)"), Scalar::of_float(DType::F16, 0.1));
  EXPECT_EQ(parse_input("s=bf16(2)").dtype, DType::BF16);
}

TEST(InputSpec, WhatIsNoNumber) {
  for (const char* text : {"", "-", ".", "e5", "0x10", "1_000", "1..2", " 1", "1 ", "nan(1)", "infinity", "1e", "--1",
                           "-18446744073709551615"})
    EXPECT_FALSE(parse_number(text)) << text;
}

TEST(InputSpec, NumbersInADtype) {
  const auto as = [](const std::string& text, DType dtype) { return number_as(parse_input("s=" + text), dtype); };
  EXPECT_EQ(as("3", DType::F32), Scalar::of_float(DType::F32, 3));
  EXPECT_EQ(as("255", DType::U8), Scalar::of_int(DType::U8, 255));
  EXPECT_EQ(as("false", DType::Bool), Scalar::of_bool(false));
  EXPECT_EQ(as("1e300", DType::F32).f, INFINITY);
  struct Misfit {
    const char* text;
    DType dtype;
    const char* says;
  };
  for (const auto& [text, dtype, says] :
       {Misfit{"256", DType::U8, "-i s=256: u8 cannot hold this number, only 0 to 255"},
        {"-1", DType::U64, "-i s=-1: u64 cannot hold this number, only 0 to 18446744073709551615"},
        {"-129", DType::I8, "-i s=-129: i8 cannot hold this number, only -128 to 127"},
        {"128", DType::I8, "-i s=128: i8 cannot hold this number, only -128 to 127"},
        {"18446744073709551615", DType::I64,
         "-i s=18446744073709551615: i64 cannot hold this number, only -9223372036854775808 to 9223372036854775807"},
        {"1.0", DType::I32, "-i s=1.0: i32 takes whole numbers"},
        {"1", DType::Bool, "-i s=1: bool takes true or false"},
        {"nan", DType::I8, "-i s=nan: i8 takes whole numbers"}}) {
    const std::string given = text;
    const DType to = dtype;
    EXPECT_EQ(message_of([&] { as(given, to); }), says);
  }
}

TEST(InputSpec, MistakesSayWhatToWrite) {
  EXPECT_NE(failure("f32[4]").find("does not begin with NAME="), std::string::npos);
  EXPECT_NE(failure("=f32[4]").find("does not begin with NAME="), std::string::npos);
  EXPECT_NE(failure("3x=f32[4]").find("does not begin with NAME="), std::string::npos);
  EXPECT_NE(failure("x=").find("nothing follows"), std::string::npos);
  EXPECT_NE(failure("x=@").find("no file name follows"), std::string::npos);
  EXPECT_NE(failure("x=4.2.1").find("\"4.2.1\" is neither a file (@), nor a type, nor a number"), std::string::npos);
  EXPECT_EQ(parse_input("x=f31[4]").type, "f31[4]") << "which types there are is for the language to say";
  EXPECT_NE(failure("x=random:f32[4]").find("there is no filler \"random\""), std::string::npos);
  EXPECT_NE(failure("x=i8(300)").find("cannot hold"), std::string::npos);
  EXPECT_NE(failure("x=i8(x)").find("is not a number"), std::string::npos);
  EXPECT_NE(failure("x=nornal:f32[4]").find("did you mean normal?"), std::string::npos);
  EXPECT_NE(failure("x=data.npy").find("help: a file name follows an @: -i x=@data.npy"), std::string::npos);
}

TEST(Sizes, AreParsed) {
  EXPECT_EQ(parse_size("B=4096").size, 4096);
  EXPECT_EQ(parse_size("B=0").size, 0);
  EXPECT_EQ(parse_sweep("B=1024, 4096,16384").sizes, (std::vector<int64_t>{1024, 4096, 16384}));
  const auto no_size = [](const std::string& option, const std::string& whole, const std::string& text) {
    return option + " \"" + whole + "\": \"" + text + "\" is not a size (a whole number, 0 or more)";
  };
  EXPECT_EQ(message_of([&] { parse_size("B"); }), "--size \"B\" does not begin with NAME=\nhelp: write --size B=4096");
  EXPECT_EQ(message_of([&] { parse_size("=1"); }),
            "--size \"=1\" does not begin with NAME=\nhelp: write --size B=4096");
  for (const char* text : {"", "-1", "1.5", "x", "9223372036854775808"}) {
    const std::string whole = "B=" + std::string(text);
    EXPECT_EQ(message_of([&] { parse_size(whole); }), no_size("--size", whole, text));
  }
  EXPECT_EQ(message_of([&] { parse_sweep("1,2"); }),
            "--sweep \"1,2\" does not begin with NAME=\nhelp: write --sweep B=1024,4096,16384");
  for (const char* whole : {"B=", "B=1,", "B=1,,2", "B=,1"})
    EXPECT_EQ(message_of([&, text = std::string(whole)] { parse_sweep(text); }), no_size("--sweep", whole, ""));
}

double value(const Tensor& t, int64_t i) {
  return load_scalar(t.dtype, static_cast<char*>(t.data) + i * size_of(t.dtype)).as_double();
}

TEST(Fill, EveryFillerAndDtype) {
  for (const DType dtype : kAllDTypes) {
    const Tensor zeros = fill(Filler::Zeros, dtype, {3, 5}, 1), ones = fill(Filler::Ones, dtype, {15}, 1);
    const Tensor iota = fill(Filler::Iota, dtype, {300}, 1), uniform = fill(Filler::Uniform, dtype, {300}, 1);
    for (int i = 0; i < 15; ++i) {
      EXPECT_EQ(value(zeros, i), 0) << name_of(dtype);
      EXPECT_EQ(value(ones, i), 1) << name_of(dtype);
      EXPECT_EQ(value(iota, i), dtype == DType::Bool ? i > 0 : round_to(dtype, i)) << name_of(dtype);
    }
    for (int i = 0; i < 300; ++i) {
      EXPECT_GE(value(uniform, i), 0);
      EXPECT_LE(value(uniform, i), is_float(dtype) || is_bool(dtype) ? 1 : 99);
    }
    EXPECT_EQ(fill(Filler::Normal, dtype, {0, 7}, 1).count(), 0);
  }
  EXPECT_EQ(value(fill(Filler::Iota, DType::U8, {300}, 1), 299), 43);  // wraps
}

TEST(Fill, NormalNumbersAreNormal) {
  const int64_t n = 100001;  // odd: the last pair is cut
  for (const DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3, DType::I32}) {
    const Tensor t = fill(Filler::Normal, dtype, {n}, 42);
    double sum = 0, squares = 0, cubes = 0;
    const double scale = dtype == DType::I32 ? 10 : 1;
    for (int64_t i = 0; i < n; ++i) {
      const double x = value(t, i) / scale;
      ASSERT_TRUE(std::isfinite(x));
      sum += x;
      squares += x * x;
      cubes += x * x * x;
    }
    EXPECT_NEAR(sum / n, 0, 0.02) << name_of(dtype);
    EXPECT_NEAR(squares / n, 1, 0.03) << name_of(dtype);
    EXPECT_NEAR(cubes / n, 0, 0.06) << name_of(dtype);
  }
  const Tensor coins = fill(Filler::Normal, DType::Bool, {n}, 42);
  double heads = 0;
  for (int64_t i = 0; i < n; ++i) heads += value(coins, i);
  EXPECT_NEAR(heads / n, 0.5, 0.01);
}

TEST(Fill, TheSeedDecides) {
  const Tensor a = fill(Filler::Normal, DType::F32, {10000}, 7), b = fill(Filler::Normal, DType::F32, {10000}, 7);
  const Tensor c = fill(Filler::Normal, DType::F32, {10000}, 8);
  EXPECT_EQ(std::memcmp(a.data, b.data, 40000), 0);
  EXPECT_NE(std::memcmp(a.data, c.data, 40000), 0);
  std::set<double> distinct;
  for (int i = 0; i < 10000; ++i) distinct.insert(value(a, i));
  EXPECT_GT(distinct.size(), 9900u);
}

}  // namespace
}  // namespace smelt::report
