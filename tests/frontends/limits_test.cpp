// Text that nobody writes by hand: deep, long, or made to break things. An error or a graph, soon,
// and never a crash.
#include <gtest/gtest.h>

#include <chrono>

#include "run.hpp"
#include "support/symbols.hpp"

namespace smelt::lang {

static std::string repeated(const std::string& text, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i) result += text;
  return result;
}

static const std::vector<InputType> kInputs = {{"x", DType::F32, {sym("B"_size)}}};

// The message of the error, or "a graph"; checks that it comes soon.
static std::string outcome(const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  std::string result = "a graph";
  try {
    parse_program(text, "t", kInputs);
  } catch (const UserError& e) {
    result = e.what();
  }
  // Generous: a sanitizer and a loaded machine make it ten times slower.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << text.substr(0, 40);
  EXPECT_LT(result.size(), 2000u);
  return result;
}

static void expect_error(const std::string& text, const std::string& part) {
  const std::string message = outcome(text);
  EXPECT_NE(message.find(part), std::string::npos) << text.substr(0, 40) << "\n" << message;
}

TEST(Limits, Nesting) {
  const std::string deep = "nested more than 200 deep";
  expect_error(repeated("(", 100'000) + "x" + repeated(")", 100'000), deep);
  expect_error(repeated("-", 1'000'000) + "x", deep);
  expect_error(repeated("not ", 250'000) + "x", deep);
  expect_error("x" + repeated("**x", 300'000), deep);
  expect_error(repeated("x if x else ", 80'000) + "x", deep);
  expect_error(repeated("relu(", 100'000) + "x" + repeated(")", 100'000), deep);
  expect_error(repeated("[", 100'000) + repeated("]", 100'000), deep);
  expect_error(repeated("x[", 100'000) + "0" + repeated("]", 100'000), deep);
  expect_error(repeated("(", 1'000'000), "never closed");
  EXPECT_EQ(outcome(repeated("(", 190) + "x" + repeated(")", 190)), "a graph");
}

TEST(Limits, Length) {
  expect_error("x" + repeated("+x", 500'000), "more than 500000 expressions");
  expect_error("x" + repeated(".T", 600'000), "more than 500000 expressions");
  expect_error("x" + repeated("[0:]", 300'000), "more than 500000 expressions");
  EXPECT_EQ(outcome("x" + repeated("+x", 60'000)), "a graph");
  EXPECT_EQ(outcome("x" + repeated("<x", 60'000)), "a graph");
  EXPECT_EQ(outcome("x" + repeated("\n", 1'000'000)), "a graph");
  EXPECT_EQ(outcome("x #" + repeated("(", 1'000'000)), "a graph");
  expect_error(repeated("1", 1'000'000), "does not fit 64 bits");
  expect_error("1." + repeated("1", 1'000'000) + "e", "is not a number");
  expect_error(repeated("é", 500'000), "there is no");
  expect_error("x." + repeated("a", 1'000'000), "no attribute");
  expect_error(repeated("a", 1'000'000) + "(x)", "there is no function");
  expect_error("f32" + repeated("a", 1'000'000) + "(x)", "there is no function");
  expect_error("input y: f32[" + repeated("N", 1'000'000) + "]\nreturn y", "at most 64 bytes");
  expect_error("input y: f32[" + repeated("1,", 500'000) + "]\nreturn y", "at most 64 dimensions");
  expect_error("sum(x" + repeated(",x", 20'000) + ")", "at most 3 arguments");
  expect_error("x[" + repeated("None,", 20'000) + "]", "dimensions");
  expect_error(std::string(17 << 20, ' '), "at most");
}

TEST(Limits, SizesThatGrow) {
  expect_error("return " + repeated("B*", 10'000) + "B", "too long");
  std::string doubling = "s = B\n";
  for (int i = 0; i < 100; ++i) doubling += "s = s // 2 + s % 3\n";
  expect_error(doubling + "return s", "too long");
  std::string squares = "s = B\n";
  for (int i = 0; i < 100; ++i) squares += "s = s * s\n";
  expect_error(squares + "return s", "too long");
  std::string tuples = "t = (1, 2)\n";
  for (int i = 0; i < 64; ++i) tuples += "t = t + t\n";
  expect_error(tuples + "return x", "4096 items");
  std::string nested = "t = (x, x)\n";
  for (int i = 0; i < 1000; ++i) nested += "t = (t, t)\n";
  EXPECT_EQ(outcome(nested + "return x"), "a graph");
  expect_error(nested + "return x + t", "tuple");
}

TEST(Limits, HostileText) {
  for (const char* text : {"x;}asm(\"nop\")",
                           "x\"",
                           "x\x01",
                           "\x1b[2J",
                           "\xC0\xAF",
                           "\xED\xA0\x80",
                           "\xF4\x90\x80\x80",
                           "a\xE2\x80\xAE",
                           "$(rm)",
                           "%0",
                           "@x",
                           "x @",
                           "\\",
                           "`x`",
                           "x\x7f",
                           "\xFF\xFE",
                           "x?",
                           "'",
                           "\"\"\"",
                           "f'{x}'",
                           "x[",
                           "x(",
                           "]",
                           "=",
                           ":",
                           ",",
                           "x,,x",
                           "()",
                           "(,)",
                           "x..y",
                           "x.",
                           ".",
                           "..",
                           "...",
                           "None",
                           "True()",
                           "1(2)",
                           "x[:](:)",
                           "return",
                           "input",
                           "input x",
                           "input x:",
                           "input x: f32[B",
                           "if",
                           "else",
                           "return return",
                           "x if",
                           "not",
                           "and",
                           "~"})
    EXPECT_NE(outcome(text), "a graph") << text;
  // Errors show no byte that a terminal would obey.
  for (const char* text : {"a\x1b[31m", "\xC2\x9B", "'\x1b]0;x\x07'", "y\xE2\x80\xAEz"})
    for (char c : outcome(text)) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << text;
}

// Every prefix and every single-byte change of a program ends in a graph or in an error with a
// place.
TEST(Limits, BrokenPrograms) {
  const std::string text =
      "input y: f16[B, 4]\nt = y[::-1, None] * 2.5e-1 if B > 3 else softmax(y, axis=-1)[0:B]\n"
      "return t.T, sum(x, axis=(0,)) ** 2, x.reshape(-1, 1) // 'a'\n";
  for (size_t i = 0; i <= text.size(); ++i) outcome(text.substr(0, i));
  const std::string bytes = "()[]:,.=+-*/'#\n\\0aN~ \xC3\xFF";
  for (size_t i = 0; i < text.size(); ++i)
    for (char c : bytes) {
      std::string broken = text;
      broken[i] = c;
      outcome(broken);
      broken.erase(i, 1);
      outcome(broken);
    }
}

}  // namespace smelt::lang
