// The table itself: names, type rules, and the host meaning at the values where languages and
// machines differ.
#include "ops/op.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using testing::message_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double f(Op op, double a) { return evaluate_float(op, std::span<const double>(&a, 1)); }

double f(Op op, double a, double b) {
  const double args[] = {a, b};
  return evaluate_float(op, args);
}

int64_t i(Op op, DType dtype, int64_t a, int64_t b) {
  const uint64_t args[] = {static_cast<uint64_t>(a), static_cast<uint64_t>(b)};
  return static_cast<int64_t>(evaluate_int(op, dtype, args));
}

int64_t i(Op op, DType dtype, int64_t a) {
  const uint64_t bits = static_cast<uint64_t>(a);
  return static_cast<int64_t>(evaluate_int(op, dtype, std::span<const uint64_t>(&bits, 1)));
}

TEST(OpTable, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (int k = 0; k < kOpCount; ++k) {
    const OpInfo& row = info(static_cast<Op>(k));
    EXPECT_EQ(row.op, static_cast<Op>(k));
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_EQ(op_from_name(row.name), row.op);
    EXPECT_GE(row.arity, 1);
    EXPECT_LE(row.arity, 3);
  }
  EXPECT_EQ(op_from_name("no_such_operation"), std::nullopt);
  EXPECT_EQ(op_from_name(""), std::nullopt);
}

// Every dtype that the rule takes has a meaning, and no other can be evaluated.
TEST(OpTable, WhatIsAcceptedCanBeEvaluated) {
  for (int k = 0; k < kOpCount; ++k) {
    const Op op = static_cast<Op>(k);
    for (DType dtype : kAllDTypes) {
      std::vector<Scalar> args(static_cast<size_t>(info(op).arity), Scalar::of_int(dtype, 1));
      if (info(op).rule == TypeRule::Select) args[0] = Scalar::of_bool(true);
      if (accepts(op, dtype)) {
        EXPECT_EQ(evaluate(op, args).dtype, result_type(op, dtype)) << name_of(op) << " " << name_of(dtype);
      } else {
        const std::string refused =
            fmt::format("internal error in smelt: {} does not take {}", name_of(op), name_of(dtype));
        EXPECT_EQ(message_of<InternalError>([&] { evaluate(op, args); }), refused);
        EXPECT_EQ(message_of<InternalError>([&] { result_type(op, dtype); }), refused);
      }
    }
  }
}

TEST(OpTable, FormsThatDoNotExistThrow) {
  EXPECT_FALSE(info(Op::And).on_float);
  EXPECT_TRUE(info(Op::And).on_int);
  EXPECT_FALSE(info(Op::Exp).on_int);
  EXPECT_EQ(message_of<InternalError>([&] { f(Op::And, 1, 1); }),
            "internal error in smelt: bitwise_and has no meaning on floats");
  EXPECT_EQ(message_of<InternalError>([&] { i(Op::Div, DType::I32, 4, 2); }),
            "internal error in smelt: divide does not take i32");
  EXPECT_EQ(message_of<InternalError>([&] { i(Op::Add, DType::Bool, 1, 1); }),
            "internal error in smelt: add does not take bool");
  EXPECT_EQ(message_of<InternalError>([&] { f(Op::Add, 1); }), "internal error in smelt: add takes 2 arguments, not 1");
}

TEST(HostMeaning, FloorDivisionIsPythons) {
  EXPECT_EQ(f(Op::FloorDiv, 1.0, 0.1), 9);
  EXPECT_EQ(f(Op::FloorDiv, -1.0, 0.1), -10);
  EXPECT_EQ(f(Op::FloorDiv, 7, 2), 3);
  EXPECT_EQ(f(Op::FloorDiv, -7, 2), -4);
  EXPECT_EQ(f(Op::FloorDiv, 7, -2), -4);
  EXPECT_EQ(f(Op::FloorDiv, 1, kInf), 0);
  EXPECT_EQ(f(Op::FloorDiv, -1, kInf), -1);
  EXPECT_EQ(f(Op::FloorDiv, 1, 0.0), kInf);
  EXPECT_EQ(f(Op::FloorDiv, 1, -0.0), -kInf);
  EXPECT_TRUE(std::isnan(f(Op::FloorDiv, 0.0, 0.0)));
  EXPECT_TRUE(std::isnan(f(Op::FloorDiv, kInf, 2.0)));
  EXPECT_TRUE(std::signbit(f(Op::FloorDiv, -0.0, 2.0)));
}

TEST(HostMeaning, RemainderTakesTheSignOfTheDivisor) {
  EXPECT_DOUBLE_EQ(f(Op::Mod, 1.0, 0.1), 0.09999999999999995);
  EXPECT_EQ(f(Op::Mod, -7, 3), 2);
  EXPECT_EQ(f(Op::Mod, 7, -3), -2);
  EXPECT_EQ(f(Op::Mod, -1, kInf), kInf);
  EXPECT_EQ(f(Op::Mod, 1, kInf), 1);
  EXPECT_TRUE(std::signbit(f(Op::Mod, 6, -3)));
  EXPECT_FALSE(std::signbit(f(Op::Mod, -6, 3)));
  EXPECT_TRUE(std::isnan(f(Op::Mod, 1, 0.0)));
  EXPECT_EQ(f(Op::Fmod, -7, 3), -1);
  EXPECT_EQ(f(Op::Fmod, 7, -3), 1);
}

TEST(HostMeaning, MaximumAndMinimumPropagateNanAndOrderZeros) {
  EXPECT_TRUE(std::isnan(f(Op::Max, kNan, 1)));
  EXPECT_TRUE(std::isnan(f(Op::Max, 1, kNan)));
  EXPECT_TRUE(std::isnan(f(Op::Min, kNan, -kInf)));
  EXPECT_FALSE(std::signbit(f(Op::Max, -0.0, 0.0)));
  EXPECT_FALSE(std::signbit(f(Op::Max, 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(f(Op::Min, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(f(Op::Min, 0.0, -0.0)));
}

TEST(HostMeaning, RoundsHalvesToEvenAndKeepsTheSignOfZero) {
  EXPECT_EQ(f(Op::Round, 0.5), 0);
  EXPECT_EQ(f(Op::Round, 1.5), 2);
  EXPECT_EQ(f(Op::Round, 2.5), 2);
  EXPECT_EQ(f(Op::Round, -1.5), -2);
  EXPECT_TRUE(std::signbit(f(Op::Round, -0.5)));
  EXPECT_TRUE(std::signbit(f(Op::Sign, -0.0)));
  EXPECT_TRUE(std::isnan(f(Op::Sign, kNan)));
  EXPECT_EQ(f(Op::Sign, -kInf), -1);
}

TEST(HostMeaning, IntegerDivisionIsDefinedEverywhere) {
  for (DType dtype : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    const int64_t least = min_int(dtype);
    EXPECT_EQ(i(Op::FloorDiv, dtype, least, -1), least);
    EXPECT_EQ(i(Op::Mod, dtype, least, -1), 0);
    EXPECT_EQ(i(Op::Fmod, dtype, least, -1), 0);
    EXPECT_EQ(i(Op::FloorDiv, dtype, least, 0), 0);
    EXPECT_EQ(i(Op::Mod, dtype, 5, 0), 0);
    EXPECT_EQ(i(Op::Fmod, dtype, 5, 0), 0);
    EXPECT_EQ(i(Op::FloorDiv, dtype, -7, 2), -4);
    EXPECT_EQ(i(Op::Mod, dtype, -7, 2), 1);
    EXPECT_EQ(i(Op::Mod, dtype, 7, -2), -1);
    EXPECT_EQ(i(Op::Fmod, dtype, -7, 2), -1);
    EXPECT_EQ(i(Op::Neg, dtype, least), least);
    EXPECT_EQ(i(Op::Abs, dtype, least), least);
  }
}

TEST(HostMeaning, IntegersWrap) {
  EXPECT_EQ(i(Op::Sub, DType::U8, 3, 5), 254);
  EXPECT_EQ(i(Op::Mul, DType::I8, 100, 3), 44);
  EXPECT_EQ(i(Op::Mul, DType::U16, 65535, 65535), 1);
  EXPECT_EQ(i(Op::Mul, DType::I64, INT64_MAX, 2), -2);
  EXPECT_EQ(i(Op::Add, DType::I32, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(i(Op::Square, DType::I16, 300), 24464);
  EXPECT_EQ(i(Op::Neg, DType::U8, 1), 255);
}

TEST(HostMeaning, IntegerPowers) {
  EXPECT_EQ(i(Op::Pow, DType::I32, 3, 5), 243);
  EXPECT_EQ(i(Op::Pow, DType::I32, 0, 0), 1);
  EXPECT_EQ(i(Op::Pow, DType::I32, 2, -1), 0);
  EXPECT_EQ(i(Op::Pow, DType::I32, 0, -1), 0);
  EXPECT_EQ(i(Op::Pow, DType::I32, 1, -5), 1);
  EXPECT_EQ(i(Op::Pow, DType::I32, -1, -5), -1);
  EXPECT_EQ(i(Op::Pow, DType::I32, -1, INT32_MIN), 1);
  EXPECT_EQ(i(Op::Pow, DType::U8, 3, 255), 171);  // 3^255 mod 256, by pow(3, 255, 256)
  EXPECT_EQ(i(Op::Pow, DType::I8, -2, 7), -128);
}

TEST(HostMeaning, ShiftsPastTheWidth) {
  for (int64_t count : {-1, 8, 100}) {
    EXPECT_EQ(i(Op::ShiftLeft, DType::I8, 1, count), 0);
    EXPECT_EQ(i(Op::ShiftRight, DType::I8, 100, count), 0);
    EXPECT_EQ(i(Op::ShiftRight, DType::I8, -100, count), -1);
  }
  EXPECT_EQ(i(Op::ShiftLeft, DType::U8, 1, 255), 0);
  EXPECT_EQ(i(Op::ShiftRight, DType::U8, 255, 8), 0);
  EXPECT_EQ(i(Op::ShiftLeft, DType::I8, 1, 7), -128);
  EXPECT_EQ(i(Op::ShiftRight, DType::I8, -128, 7), -1);
  EXPECT_EQ(i(Op::ShiftLeft, DType::I64, 1, 63), INT64_MIN);
  EXPECT_EQ(i(Op::ShiftRight, DType::U64, -1, 63), 1);
}

TEST(HostMeaning, BitsOfBoolAreLogical) {
  EXPECT_EQ(i(Op::Not, DType::Bool, 1), 0);
  EXPECT_EQ(i(Op::Not, DType::Bool, 0), 1);
  EXPECT_EQ(i(Op::Xor, DType::Bool, 1, 1), 0);
  EXPECT_EQ(i(Op::And, DType::Bool, 1, 1), 1);
  EXPECT_EQ(i(Op::Not, DType::U8, 1), 254);
  EXPECT_EQ(i(Op::Not, DType::I8, 0), -1);
}

TEST(HostMeaning, ResultsRoundToTheirDtype) {
  const Scalar third[] = {Scalar::of_float(DType::F16, 1), Scalar::of_float(DType::F16, 3)};
  EXPECT_EQ(evaluate(Op::Div, third), Scalar::of_float(DType::F16, 1.0 / 3));
  const Scalar big[] = {Scalar::of_float(DType::F16, 65504), Scalar::of_float(DType::F16, 65504)};
  EXPECT_EQ(evaluate(Op::Add, big).f, kInf);
  const Scalar nan[] = {Scalar::of_float(DType::F32, kNan), Scalar::of_float(DType::F32, kNan)};
  EXPECT_EQ(evaluate(Op::Ne, nan), Scalar::of_bool(true));
  EXPECT_EQ(evaluate(Op::Eq, nan), Scalar::of_bool(false));
  const Scalar where[] = {Scalar::of_bool(false), Scalar::of_int(DType::U8, 1), Scalar::of_int(DType::U8, 200)};
  EXPECT_EQ(evaluate(Op::Where, where), Scalar::of_uint(DType::U8, 200));
}

}  // namespace
}  // namespace smelt
