// Numbers and operators among themselves: the values are those that Python prints for the same
// text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontends/lexer.hpp"
#include "run.hpp"

namespace smelt::lang {

using ::testing::HasSubstr;

struct Example {
  const char* text;
  double value;
};

static constexpr Example kPython[] = {
    {"1 + 2 * 3", 7.0},
    {"(1 + 2) * 3", 9.0},
    {"10 - 4 - 3", 3.0},
    {"2 ** 3 ** 2", 512.0},
    {"(2 ** 3) ** 2", 64.0},
    {"-2 ** 2", -4.0},
    {"(-2) ** 2", 4.0},
    {"2 ** -1", 0.5},
    {"-2 ** -2", -0.25},
    {"--3", 3.0},
    {"-+-3", 3.0},
    {"~5", -6.0},
    {"~-1", 0.0},
    {"-~5", 6.0},
    {"7 // 2", 3.0},
    {"-7 // 2", -4.0},
    {"7 // -2", -4.0},
    {"7 % 3", 1.0},
    {"-7 % 3", 2.0},
    {"7 % -3", -2.0},
    {"7.5 // 2", 3.0},
    {"-7.5 % 2", 0.5},
    {"1 / 4", 0.25},
    {"6 / 3", 2.0},
    {"1 / 3 * 3", 1.0},
    {"8 / 4 / 2", 1.0},
    {"2 * 3 % 4", 2.0},
    {"2 + 3 % 4 * 5", 17.0},
    {"1 << 2 + 1", 8.0},
    {"256 >> 2 << 1", 128.0},
    {"6 & 3 | 8", 10.0},
    {"6 & (3 | 8)", 2.0},
    {"6 ^ 3 & 1", 7.0},
    {"1 | 2 ^ 3 & 4", 3.0},
    {"5 & 3 == 3", 0.0},
    {"1 < 2", 1.0},
    {"1 < 2 < 3", 1.0},
    {"1 < 3 < 2", 0.0},
    {"3 > 2 >= 2 != 1", 1.0},
    {"1 == 1.0", 1.0},
    {"not 1 < 2", 0.0},
    {"not not True", 1.0},
    {"not False or False", 1.0},
    {"not (False or True)", 0.0},
    {"True or False and False", 1.0},
    {"(True or False) and False", 0.0},
    {"1 < 2 and 2 < 3", 1.0},
    {"1 if True else 2", 1.0},
    {"1 if False else 2 if False else 3", 3.0},
    {"1 if 1 < 2 else 2 + 5", 1.0},
    {"(1 if False else 2) + 5", 7.0},
    {"-1 if not True else -2", -2.0},
    {"True + True", 2.0},
    {"True * 2.5", 2.5},
    {"0x1F + 0b101 + 0o17", 51.0},
    {"1_000 * 1_0", 10000.0},
    {"1e3", 1000.0},
    {"1.5e-3", 0.0015},
    {".5 + 5.", 5.5},
    {"0_0", 0.0},
    {"1E+2", 100.0},
    {"2 ** 0.5", 1.4142135623730951},
    {"2 ** 62", 4.611686018427388e+18},
    {"-9223372036854775807 - 1", -9.223372036854776e+18},
    {"0.1 + 0.2", 0.30000000000000004},
    {"1e308 * 10", HUGE_VAL},
    {"-0.0", -0.0},
    {"0.0 * -1", -0.0},
    {"3 - -3", 6.0},
    {"2**2**0", 2.0},
    {"-2.0**0.5", -1.4142135623730951},
    {"4 ** 0.5 ** 2", 1.4142135623730951},
    {"10 % 3 ** 2", 1.0},
    {"True & False", 0.0},
    {"True | False", 1.0},
    {"True ^ True", 0.0},
    {"7 & ~2", 5.0},
    {"1 - 1 if 1 - 1 == 0 else 5", 0.0},
    {"5 // 2 * 2 + 5 % 2", 5.0},
};

TEST(Literals, HavePythonsPrecedenceAndValues) {
  for (const auto& [text, value] : kPython) {
    const double have = numbers(std::string("f64(") + text + ")").at(0);
    EXPECT_EQ(have, value) << text;
    EXPECT_EQ(std::signbit(have), std::signbit(value)) << text;
  }
}

// The same operators on arrays of rank 0 group and calculate alike.
TEST(Literals, AgreeWithArraysOfTheSameNumbers) {
  const NamedTensors inputs = {{"two", array(DType::F64, {}, {2})}, {"seven", array(DType::F64, {}, {7})}};
  EXPECT_EQ(numbers("-two ** two", inputs).at(0), -4);
  EXPECT_EQ(numbers("two ** two ** two", inputs).at(0), 16);
  EXPECT_EQ(numbers("-seven // two", inputs).at(0), -4);
  EXPECT_EQ(numbers("-seven % two", inputs).at(0), 1);
  EXPECT_EQ(numbers("two ** -two", inputs).at(0), 0.25);
  EXPECT_EQ(numbers("seven - two - two * two / two", inputs).at(0), 3);
  EXPECT_EQ(numbers("not seven < two or two > seven", inputs).at(0), 1);
}

TEST(Literals, CallsOfThemStayNumbers) {
  EXPECT_EQ(numbers("f64(sqrt(2) * sqrt(2 / pi))").at(0), std::sqrt(2.0) * std::sqrt(2 / M_PI));
  EXPECT_EQ(numbers("f64(exp(1))").at(0), std::exp(1.0));
  EXPECT_EQ(numbers("f64(maximum(3, 4.5))").at(0), 4.5);
  EXPECT_EQ(numbers("f64(abs(-3) + floor(2.5))").at(0), 5);
  // They take the dtype of what they meet, in full precision.
  const NamedTensors x = {{"x", array(DType::F64, {1}, {1})}};
  EXPECT_EQ(numbers("x * sqrt(2)", x).at(0), std::sqrt(2.0));
  EXPECT_EQ(numbers("x * (1 / 3)", x).at(0), 1.0 / 3.0);
}

TEST(Literals, HaveTheirDefaultTypesAlone) {
  const auto dtype = [](const std::string& text) {
    const Graph graph = graph_of(text, {});
    return std::string(name_of(graph.at(graph.outputs[0]).dtype));
  };
  EXPECT_EQ(dtype("1"), "i64");
  EXPECT_EQ(dtype("1.0"), "f32");
  EXPECT_EQ(dtype("1 / 2"), "f32");
  EXPECT_EQ(dtype("True"), "bool");
  EXPECT_EQ(dtype("1 < 2"), "bool");
  EXPECT_EQ(dtype("nan"), "f32");
  EXPECT_EQ(dtype("u8(3)"), "u8");
}

TEST(Literals, Tokens) {
  const Source source("x1 = 1.5e3  # y\n\nx.T[..., 0] ; 'te#xt'", "t");
  std::string all;
  for (const Token& token : tokenize(source)) all += std::string(token.text) + "|";
  EXPECT_EQ(all, "x1|=|1.5e3|||x|.|T|[|...|,|0|]|;|te#xt||");
}

TEST(Literals, UnderflowIsQuietOverflowIsNot) {
  EXPECT_EQ(numbers("f64(1e-400)").at(0), 0);
  EXPECT_EQ(numbers("f64(4.9e-324)").at(0), 4.9e-324);
  EXPECT_THAT(error_of("1e400"), HasSubstr("1e400 is larger than every float"));
  EXPECT_THAT(error_of("18446744073709551616"), HasSubstr("18446744073709551616 does not fit 64 bits"));
  EXPECT_EQ(numbers("f64(9223372036854775807 > 0)").at(0), 1);
  EXPECT_THAT(error_of("9223372036854775807 + 1"), HasSubstr("the result does not fit 64 bits"));
  EXPECT_THAT(error_of("2 ** 100"), HasSubstr("the result does not fit 64 bits"));
  EXPECT_THAT(error_of("1 << 64"), HasSubstr("the result does not fit 64 bits"));
  EXPECT_THAT(error_of("1 // 0"), HasSubstr("a division by zero"));
  EXPECT_THAT(error_of("1.0 % 0"), HasSubstr("a division by zero"));
  EXPECT_THAT(error_of("0.0 ** -1"), HasSubstr("a division by zero"));
}

}  // namespace smelt::lang
