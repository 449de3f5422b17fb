// Statements, names, inputs, sizes, and what the graph remembers of the text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontends/function_table.hpp"
#include "run.hpp"
#include "support/message_of.hpp"

namespace smelt::lang {

using ::testing::HasSubstr;
using testing::message_of;

static const NamedTensors kX = {{"x", array(DType::F32, {4}, {1, -2, 3, -4})}};

static std::vector<double> list(std::initializer_list<double> values) { return values; }

static std::string output_types(const Graph& graph) {
  std::string text;
  for (NodeId id : graph.outputs) text += std::string(name_of(graph.at(id).dtype)) + str(graph.at(id).shape) + " ";
  return text;
}

TEST(Program, StatementsAndSeveralOutputs) {
  const auto results = run("input x: f32[N]   # the data\n\n  y = x * 2\n  y = y + 1 ; z = -y\nreturn y, z, x\n", kX);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(numbers_of(results[0]), list({3, -3, 7, -7}));
  EXPECT_EQ(numbers_of(results[1]), list({-3, 3, -7, 7}));
  EXPECT_EQ(numbers_of(results[2]), list({1, -2, 3, -4}));
}

TEST(Program, LinesGoOnInsideBracketsAndEndInManyWays) {
  EXPECT_EQ(numbers("input x: f32[N]\r\nreturn (x +\r\n  1  # one\r\n\r\n  + 1)\r\n", kX), list({3, 0, 5, -2}));
  EXPECT_EQ(numbers("\xEF\xBB\xBFinput x: f32[N]\nreturn where(\n  x > 0,\n  x,\n  0,\n)", kX), list({1, 0, 3, 0}));
  EXPECT_EQ(numbers("input x: f32[\n  N,\n]\nreturn x[\n1:\n]", kX), list({-2, 3, -4}));
  EXPECT_EQ(numbers("# only a comment first\nx", kX), list({1, -2, 3, -4}));
}

TEST(Program, ABareExpressionTakesItsInputsInTheOrderGiven) {
  const NamedTensors inputs = {{"b", array(DType::F32, {}, {2})}, {"a", array(DType::F32, {}, {8})}};
  const Graph graph = graph_of("a / b", inputs);
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.at(graph.inputs[0]).name, "b");
  EXPECT_EQ(graph.at(graph.inputs[1]).name, "a");
  EXPECT_EQ(numbers("a / b", inputs), list({4}));
  EXPECT_EQ(run("a + b, a - b", inputs).size(), 2u);
  EXPECT_EQ(numbers("t = a * b\nt + 1", inputs), list({17}));
  EXPECT_EQ(numbers("t = a * b\nreturn t + 1", inputs), list({17}));
}

TEST(Program, TuplesAndUnpacking) {
  const NamedTensors m = {{"m", array(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
  EXPECT_EQ(numbers("r, c = m.shape\nreturn m.reshape(c, r)[1]", m), list({3, 4}));
  EXPECT_EQ(run("t = m + 1, m - 1\nreturn t", m).size(), 2u);
  EXPECT_EQ(numbers("m.reshape(m.shape[::-1])[0]", m), list({1, 2}));
  EXPECT_EQ(numbers("m.reshape((1,) + m.shape + (1,)).ndim", m), list({4}));
  EXPECT_EQ(numbers("a, b = m\nreturn b - a", m), list({3, 3, 3}));
  EXPECT_EQ(numbers("def f(t):\n  a, b, c = t.T\n  return c * b - a\nreturn f(m)", m), list({5, 26}));
  EXPECT_EQ(numbers("input m: f32[2, N]\na, b = m\nreturn a * b", m), list({4, 10, 18}));
  EXPECT_EQ(numbers("a, b = m[:1], m[1:]\nreturn b - a", m), list({3, 3, 3}));
  EXPECT_EQ(numbers("m.reshape(m.shape[:-1] + (3, 1)).sum(axis=(0, 1, 2))", m), list({21}));
}

TEST(Program, RangesAreTuplesOfNumbers) {
  const NamedTensors m = {{"m", array(DType::F32, {2, 3}, {1, 2, 3, 4, 5, 6})}};
  EXPECT_EQ(numbers("stack([m[0, k] * k for k in range(3)])", m), list({0, 2, 6}));
  EXPECT_EQ(numbers("stack([m[:, k] for k in range(2, -1, -2)], axis=1)", m), list({3, 1, 6, 4}));
  EXPECT_EQ(numbers("stack([m.size * k for k in range(-3, m.shape[1], 2)])", m), list({-18, -6, 6}));
  EXPECT_EQ(numbers("stack(range(3, 0, -1) + range(5, 5))", m), list({3, 2, 1}));
  EXPECT_EQ(numbers("return [m[i, j] for i, j in zip(range(2), range(1, 3))]", m).at(0), 2);
  EXPECT_EQ(numbers("stack(range(9223372036854775806, 9223372036854775807, 9223372036854775807)) % 10", m), list({6}));
}

TEST(Program, NamesOfEveryAlphabetAndHidingOfFunctions) {
  EXPECT_EQ(numbers("größe = x * 2\n_π2 = größe + 1\nreturn _π2", kX), list({3, -3, 7, -7}));
  EXPECT_EQ(numbers("sum = x.sum()\nreturn x - sum", kX), list({3, 0, 5, -2}));
  EXPECT_EQ(numbers("pi = 3\nreturn x * pi", kX), list({3, -6, 9, -12}));
  EXPECT_NE(error_of("sum = x.sum()\nreturn sum(x)", kX).find("is not a function"), std::string::npos);
  const NamedTensors input = {{"input", array(DType::F32, {1}, {3})}};
  EXPECT_EQ(numbers("input = input * 2\nreturn input", input), list({6}));
}

// What a user writes as a name must stay a name.
TEST(Program, NamesDoNotReachLabels) {
  const std::string name(1'000'000, 'n');
  const NamedTensors inputs = {{name, array(DType::F32, {1}, {3})}};
  EXPECT_EQ(numbers("y" + name + " = relu(" + name + ")\nreturn y" + name, inputs), list({3}));
  const Graph graph = graph_of("relu(" + name + ")", inputs);
  for (const Node& node : graph.nodes) EXPECT_LT(node.label.size(), 20u);
  EXPECT_LT(error_of("z" + name).size(), 1000u);
}

TEST(Program, GivenTypesAreCheckedAgainstDeclaredOnes) {
  const auto message = [](const std::string& text, const Dims& dims, DType dtype = DType::F32) {
    return error_of(text, {{"x", Tensor::zeros(dtype, dims)}});
  };
  EXPECT_EQ(message("input x: f32[B, 8]\nreturn x", {3, 8}), "");
  EXPECT_EQ(
      message("input x: f32[B, 8]\nreturn x", {3, 9}),
      "<test>:1:10: error: the input 'x' is declared f32[B, 8], but given f32[3, 9]\n  input x: f32[B, 8]\n"
      "           ^~~~~~~~~\n  help: give an array of this shape, or use a name for a size that varies: f32[B, 1024]");
  EXPECT_NE(message("input x: f32[B, 8]\nreturn x", {8}).find("given f32[8]"), std::string::npos);
  EXPECT_NE(message("input x: f32[B]\nreturn x", {8}, DType::F64).find("declare it x: f64[8]"), std::string::npos);
  EXPECT_EQ(message("input xs: f32[B]\nreturn xs", {8}),
            "error: the program has no input 'x'\n  help: did you mean xs? it has xs");
}

TEST(Program, OpenShapesAreThoseOfTheCaller) {
  const std::string text = "input x: f32[...]\ninput y: f32[..., 3]\nreturn x + y";
  EXPECT_EQ(
      output_types(graph_of(text, {{"x", Tensor::zeros(DType::F32, {2, 3})}, {"y", Tensor::zeros(DType::F32, {3})}})),
      "f32[2, 3] ");
  EXPECT_EQ(
      output_types(graph_of(text, {{"x", Tensor::zeros(DType::F32, {})}, {"y", Tensor::zeros(DType::F32, {4, 5, 3})}})),
      "f32[4, 5, 3] ");
  EXPECT_THAT(error_of(text, {{"x", Tensor::zeros(DType::F32, {2, 3})}, {"y", Tensor::zeros(DType::F32, {4})}}),
              HasSubstr("the input 'y' is declared f32[..., 3], but given f32[4]"));
  EXPECT_THAT(error_of(text, {{"x", Tensor::zeros(DType::F32, {2, 3})}, {"y", Tensor::zeros(DType::F32, {})}}),
              HasSubstr("the input 'y' is declared f32[..., 3], but given f32\n"));
  // Without a caller: one dimension.
  EXPECT_EQ(output_types(parse_program("input x: f32[...]\ninput y: f32[...]\nreturn x + y", "t")), "f32[...] ");
}

TEST(Program, TypesOfInputs) {
  EXPECT_EQ(str(parse_type("f32[B, 1024]", "-i x").shape), "[B, 1024]");
  EXPECT_EQ(parse_type("bfloat16", "-i x").dtype, DType::BF16);
  EXPECT_EQ(parse_type(" u8 [ ] ", "-i x").shape.size(), 0u);
  EXPECT_EQ(parse_type("i64[0]", "-i x").shape.size(), 1u);
  for (const auto& [bad, says] :
       {std::pair{"", "1:1: error: expected a type, but found the end of the program"},
        {"f32[", "1:4: error: '[' is never closed"},
        {"f32]", "1:4: error: ']' closes nothing"},
        {"f32[-1]", "1:5: error: a size is 0 or more"},
        {"f32[B/2]", "1:5: error: a size in a type is made of numbers and names by + - * // %"},
        {"f32[B*]", "1:7: error: expected a size, but found ']'"},
        {"f32[(B]", "1:7: error: ']' does not close '('"},
        {"f32[B//0]", "1:8: error: in a type, sizes are divided by numbers above 0"},
        {"f32[2-3]", "1:5: error: a size is 0 or more"},
        {"f32[1.5]", "1:5: error: a size is an integer, not 1.5"},
        {"f32[...]", "1:5: error: '...' is for the first dimensions of an input only"},
        {"f32[B] y", "1:8: error: unexpected 'y' after the type"},
        {"32", "1:1: error: expected a type, but found '32'"},
        {"f32[B C]", "1:5: error: a size in a type is made of numbers and names by + - * // %"},
        {"f32[9223372036854775807]", "1:1: error: an array of 9.223372036854776e+18 elements is too large"},
        {"f32[B,,C]", "1:7: error: expected a size, but found ','"},
        {"float", "1:1: error: there is no type 'float'"}})
    EXPECT_THAT(message_of([text = bad] { parse_type(text, "-i x"); }), HasSubstr(std::string("-i x:") + says)) << bad;
  try {
    parse_type("f23[4]", "-i x");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("-i x:1:1: error: there is no type 'f23'\n  f23[4]\n  ^~~\n"))
        << e.what();
  }
}

// ---- sizes

static NamedTensors matrix(int64_t rows, int64_t columns) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows * columns; ++i) values.push_back(static_cast<double>(i));
  return {{"x", array(DType::F32, {rows, columns}, values)}};
}

static std::vector<double> symbolic(const std::string& text, int64_t rows, int64_t columns) {
  return numbers("input x: f32[B, C]\n" + text, matrix(rows, columns));
}

TEST(Sizes, AreNumbersThatTakeTheDtypeOfWhatTheyMeet) {
  EXPECT_EQ(symbolic("return x.sum(axis=1) / C", 2, 4), list({1.5, 5.5}));
  EXPECT_EQ(symbolic("return x.sum(axis=1) / x.shape[1]", 2, 4), list({1.5, 5.5}));
  EXPECT_EQ(symbolic("return x[0] * (C - 1) / (B + 0.5)", 2, 2), list({0, 0.4}));
  EXPECT_EQ(symbolic("return i8(x[0]) + B", 2, 2), list({2, 3}));
  EXPECT_EQ(symbolic("return x[0] * sqrt(C)", 1, 4), list({0, 2, 4, 6}));
  EXPECT_EQ(symbolic("return B * C // 2 % 7, B", 5, 3), list({0}));
  EXPECT_EQ(symbolic("return C / 2", 1, 3), list({1.5}));
  EXPECT_EQ(symbolic("return 1.0 if B > 4 else 2.0", 5, 1), list({1}));
  EXPECT_EQ(symbolic("return x.size + x.ndim", 5, 3), list({17}));
  const auto type = [](const std::string& text) {
    return output_types(parse_program("input x: f16[B, C]\n" + text, "t"));
  };
  EXPECT_EQ(type("return x / C, x * B, B, B / C, sqrt(B), B < C"), "f16[B, C] f16[B, C] i64[] f32[] f32[] bool[] ");
}

TEST(Sizes, StandInShapes) {
  EXPECT_EQ(symbolic("return x.reshape(C, B)[1]", 2, 3), list({2, 3}));
  EXPECT_EQ(symbolic("return reshape(x, (B * C,))[B:]", 2, 2), list({2, 3}));
  EXPECT_EQ(symbolic("return x.reshape(B, C // 2, 2)[:, :, 0]", 1, 4), list({0, 2}));
  EXPECT_EQ(symbolic("return x.reshape(-1)[C:-C]", 3, 2), list({2, 3}));
  EXPECT_EQ(symbolic("return zeros((C, 1)) + 1", 3, 2), list({1, 1}));
  EXPECT_EQ(symbolic("return full(B, C)", 3, 2), list({2, 2, 2}));
  EXPECT_EQ(symbolic("return arange(B)", 3, 2), list({0, 1, 2}));
  EXPECT_EQ(symbolic("return eye(B, dtype=i32)", 2, 2), list({1, 0, 0, 1}));
}

TEST(Sizes, SliceLikeNumPyInsideTheArray) {
  EXPECT_EQ(symbolic("return x[0, 1:] - x[0, :-1]", 1, 4), list({1, 1, 1}));
  EXPECT_EQ(symbolic("return x[0, ::-1]", 1, 3), list({2, 1, 0}));
  EXPECT_EQ(symbolic("return x[0, ::2]", 1, 5), list({0, 2, 4}));
  EXPECT_EQ(symbolic("return x[0, 1::2]", 1, 5), list({1, 3}));
  EXPECT_EQ(symbolic("return x[0, 1::2]", 1, 4), list({1, 3}));
  EXPECT_EQ(symbolic("return x[0, ::-2]", 1, 4), list({3, 1}));
  EXPECT_EQ(symbolic("return x[0, -2:]", 1, 5), list({3, 4}));
  EXPECT_EQ(symbolic("return x[0, C // 2:]", 1, 5), list({2, 3, 4}));
  EXPECT_EQ(symbolic("return x[0, :C // 2]", 1, 5), list({0, 1}));
  EXPECT_EQ(symbolic("return x[B - 1, -1], x", 3, 2), list({5}));
  EXPECT_EQ(symbolic("return x[0, -C]", 1, 3), list({0}));
  // Outside it the call is refused, where NumPy would shorten the result.
  EXPECT_EQ(symbolic("return x[0, :3]", 1, 3), list({0, 1, 2}));
  EXPECT_EQ(message_of([&] { symbolic("return x[0, :3]", 1, 2); }),
            "a slice of axis 1 of f32[B, C] reaches index 2, past the array; here C is 2 (axis 1 of input x)");
  EXPECT_EQ(message_of([&] { symbolic("return x[0, 5:]", 1, 4); }),
            "a slice of axis 1 of f32[B, C] cannot have the negative size C - 5; here C is 4 (axis 1 of input x)");
  EXPECT_EQ(message_of([&] { symbolic("return x[3]", 3, 1); }),
            "index 3 is out of range for axis 0 of f32[B, C]; here B is 3 (axis 0 of input x)");
  EXPECT_EQ(message_of([&] { symbolic("return x[-4]", 3, 1); }),
            "index -4 is out of range for axis 0 of f32[B, C]; here B is 3 (axis 0 of input x)");
}

TEST(Sizes, FunctionsOnSymbolicShapes) {
  EXPECT_EQ(symbolic("return mean(x, axis=0)", 2, 2), list({1, 2}));
  EXPECT_EQ(symbolic("return var(x, axis=1, ddof=1)", 2, 3), list({1, 1}));
  EXPECT_TRUE(std::isnan(symbolic("return var(x, axis=1, ddof=1)", 1, 1).at(0)));
  EXPECT_TRUE(std::isnan(symbolic("return var(x, axis=1, ddof=2)", 1, 1).at(0)));
  EXPECT_TRUE(std::isnan(symbolic("return mean(x, axis=1)", 1, 0).at(0)));
  EXPECT_EQ(symbolic("return roll(x[0], 1)", 1, 3), list({2, 0, 1}));
  EXPECT_EQ(symbolic("return roll(x[0], -1)", 1, 3), list({1, 2, 0}));
  EXPECT_EQ(symbolic("return roll(x[0], 7)", 1, 3), list({2, 0, 1}));
  EXPECT_EQ(symbolic("return roll(x[0], 3)", 1, 3), list({0, 1, 2}));
  EXPECT_EQ(symbolic("return tile(x[0], 2)", 1, 2), list({0, 1, 0, 1}));
  EXPECT_EQ(symbolic("return repeat(x, B, axis=1)", 2, 1), list({0, 0, 1, 1}));
  EXPECT_EQ(symbolic("return flip(x)", 2, 2), list({3, 2, 1, 0}));
  EXPECT_EQ(symbolic("return tril(x)", 2, 2), list({0, 0, 2, 3}));
  EXPECT_EQ(symbolic("return pad(x, (0, C))[0]", 1, 2), list({0, 1, 0, 0}));
  EXPECT_EQ(symbolic("return concat((x, x[:, ::-1]), axis=1)", 1, 2), list({0, 1, 1, 0}));
  EXPECT_EQ(symbolic("return argmax(x)", 3, 2), list({5}));
  EXPECT_EQ(message_of([&] { symbolic("return max(x, axis=0)", 0, 2); }),
            "max over axis 0 of f32[B, C] needs at least one element; here B is 0 (axis 0 of input x)");
  EXPECT_EQ(symbolic("return take(x, i64(x[0]) - 1, axis=1)", 1, 3), list({2, 0, 1}));
  EXPECT_EQ(symbolic("return groupnorm(x, C, eps=0)[0]", 1, 2).size(), 2u);
  EXPECT_EQ(symbolic("return groupnorm(x, 2, eps=0)", 1, 4), list({-1, 1, -1, 1}));
  EXPECT_EQ(message_of([&] { symbolic("return groupnorm(x, 2)", 1, 3); }),
            "groupnorm: the channels (C) must be a multiple of the groups (2); here C is 3 (axis 1 of input x)");
}

// What a call on these arrays is told.
static std::string refusal(const std::string& text, const NamedTensors& inputs) {
  try {
    run(text, inputs);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Sizes, RegionsAreReplaced) {
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(1, None)), 9)", 1, 4), list({0, 9, 9, 9}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(1, None)), x[0, :-1])", 1, 4), list({0, 0, 1, 2}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, -1)), x[0])", 1, 4), list({3, 2, 1, 0}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, 2)), -x[0, ::2])", 1, 5), list({-0., 1, -2, 3, -4}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, 2)), -x[0, ::2])", 1, 4), list({-0., 1, -2, 3}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, -3)), x[0, ::3])", 1, 5), list({0, 3, 2, 3, 0}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, -2)), 7)", 1, 0), list({}));
  EXPECT_EQ(symbolic("return slice_update(x, (0, slice(None, None, 3)), 7)", 1, 1), list({7}));
  EXPECT_EQ(symbolic("return slice_update(x, (B - 1, -1), 7)", 2, 2), list({0, 1, 2, 7}));
  EXPECT_EQ(symbolic("return slice_update(x, (..., C // 2), 7)", 2, 3), list({0, 7, 2, 3, 7, 5}));
  EXPECT_EQ(symbolic("return slice_update(x, slice(B // 2, None), x[:B - B // 2] * 2)", 3, 1), list({0, 0, 2}));
  EXPECT_EQ(refusal("input x: f32[B, C]\nreturn slice_update(x, (0, slice(0, 3)), 1)", matrix(1, 2)),
            "a slice of axis 1 of f32[B, C] reaches index 2, past the array; here C is 2 (axis 1 of input x)");
  EXPECT_THAT(
      refusal("input x: f32[B, C]\nreturn slice_update(x, slice(1, None), x)", matrix(3, 2)),
      HasSubstr("a value of shape [B, C] does not fit the region of f32[B, C], which has the shape [B - 1, C]"));
}

TEST(Sizes, OfInputsAreCalculatedFromOthers) {
  const auto run_on = [](const std::string& text, const Dims& weight, const Dims& state) {
    return refusal(text, {{"w", array(DType::F32, weight, std::vector<double>(4, 1))},
                          {"h", array(DType::F32, state, std::vector<double>(2, 1))}});
  };
  const std::string lstm = "input w: f32[I, 4*H]\ninput h: f32[B, H]\nreturn w.reshape(I, 4, H)[0, 0], h";
  EXPECT_EQ(run_on(lstm, {1, 4}, {2, 1}), "");
  EXPECT_EQ(run_on(lstm, {2, 2}, {1, 2}),
            "input w is f32[I, 4*H], but axis 1 of the array has size 2, not 8: H is 2 (axis 1 of input h)");
  const NamedTensors eight = {{"x", array(DType::F32, {8}, {0, 1, 2, 3, 4, 5, 6, 7})}};
  EXPECT_EQ(numbers("input x: f32[4*H]\nreturn x.reshape(4, H)[:, 0] + H", eight), list({2, 4, 6, 8}));
  EXPECT_EQ(numbers("input x: f32[2*(H + 1) - 2]\nreturn arange(H) + 0 * H", eight), list({0, 1, 2, 3}));
  EXPECT_EQ(refusal("input x: f32[3*H]\nreturn x", eight),
            "input x is f32[3*H], but axis 0 of the array has size 8: no H of 0 or more makes 3*H that");
  EXPECT_EQ(
      refusal("input x: f32[A + B]\nreturn x", eight),
      "input x is f32[A + B], but axis 0 of the array has size 8: A cannot be found from it: declare an input with "
      "a size A alone");
  EXPECT_EQ(numbers("input x: f32[16 // 2]\nreturn x[7]", eight), list({7}));
}

TEST(Sizes, ParametersMayHaveTheirNames) {
  EXPECT_EQ(symbolic("def scaled(B, C=2):\n  B = B * C\n  return B + 1\nreturn scaled(x[0]) + B", 1, 2), list({2, 4}));
}

// ---- numbers

TEST(Numbers, HalvesAreCalculatedInSingle) {
  const NamedTensors ones = {{"h", array(DType::F16, {100000}, std::vector<double>(100000, 1))}};
  EXPECT_EQ(numbers("mean(h)", ones), list({1}));
  EXPECT_EQ(numbers("input h: f16[N]\nreturn mean(h)", ones), list({1}));
  const NamedTensors h = {{"h", array(DType::F16, {2}, {0, 0})}};
  EXPECT_EQ(numbers("layernorm(h, eps=1e-7)", h), list({0, 0}));  // not 0 / 0
  const NamedTensors big = {{"h", array(DType::BF16, {4}, {3e38, 3e38, -3e38, -3e38})}};
  for (double value : numbers("softmax(h)", big)) EXPECT_TRUE(std::isfinite(value));
  for (const char* text :
       {"mean(h)", "var(h)", "softmax(h)", "layernorm(h)", "gelu(h)", "silu(h)", "norm(h)", "logsumexp(h)"})
    EXPECT_EQ(output_types(graph_of(text, h)).substr(0, 3), "f16") << text;
}

TEST(Numbers, SpecialValues) {
  const auto f64 = [](const std::string& text, std::initializer_list<double> values) {
    return numbers(text, {{"x", array(DType::F64, {static_cast<int64_t>(values.size())}, values)}});
  };
  for (double value : f64("softmax(x)", {-INFINITY, -INFINITY})) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(f64("softmax(x)", {-INFINITY, 1}), list({0, 1}));
  EXPECT_EQ(f64("logsumexp(x)", {-INFINITY, -INFINITY}), list({-INFINITY}));
  EXPECT_EQ(f64("logsumexp(x)", {INFINITY, 1}), list({INFINITY}));
  EXPECT_TRUE(std::isnan(f64("logsumexp(x)", {NAN, 1}).at(0)));
  EXPECT_TRUE(std::isnan(f64("relu(x)", {NAN}).at(0)));
  EXPECT_TRUE(std::isnan(f64("clamp(x, 0, 1)", {NAN}).at(0)));
  EXPECT_EQ(f64("quantize_int8(x, 1)", {NAN, INFINITY, -INFINITY, 0.5, 1.5, -0.5}), list({0, 127, -128, 0, 2, 0}));
  EXPECT_EQ(f64("1.0 // x", {0.1}), list({9}));
  EXPECT_EQ(f64("sigmoid(x)", {-1e4, 1e4, -INFINITY, INFINITY}), list({0, 1, 0, 1}));
  EXPECT_EQ(f64("softplus(x)", {-1e4, 1e4, -INFINITY, INFINITY}), list({0, 1e4, 0, INFINITY}));
}

TEST(Numbers, FromTwoToThe63AreU64) {
  const NamedTensors x = {{"x", array(DType::U64, {2}, {0, 3})}};
  EXPECT_EQ(numbers("x ^ 0x9E3779B97F4A7C15 ^ 0x9E3779B97F4A7C10", x), list({5, 6}));
  EXPECT_EQ(numbers("x * 9223372036854775809 >> 63", x), list({0, 1}));
  EXPECT_EQ(numbers("x < 18446744073709551615 and x == x & 0xffff_ffff_ffff_ffff", x), list({1, 1}));
  EXPECT_EQ(numbers("u32(x) + (0xFFFFFFFFFFFFFFFF >> 60)", x), list({15, 18}));
  EXPECT_EQ(run("return 0x8000000000000000 | x", x).at(0).dtype, DType::U64);
}

TEST(Numbers, IndicesOutOfRange) {
  const NamedTensors inputs = {{"x", array(DType::F32, {4}, {1, 2, 3, 4})}, {"k", array(DType::I64, {}, {-5})}};
  EXPECT_EQ(message_of([&] { run("x[k]", inputs); }),
            "index -5 is out of range for axis 0 of size 4 in [] (line 1)\nhelp: indices go from -4 to 3");
  EXPECT_EQ(message_of([&] { run("take(x, k)", inputs); }),
            "index -5 is out of range for axis 0 of size 4 in take (line 1)\nhelp: indices go from -4 to 3");
  EXPECT_EQ(message_of([&] { run("x[i8(k + 9)]", inputs); }),
            "index 4 is out of range for axis 0 of size 4 in [] (line 1)\nhelp: indices go from -4 to 3");
  EXPECT_EQ(numbers("x[k + 1]", inputs), list({1}));
  EXPECT_EQ(numbers("take(x, k, mode='clip')", inputs), list({1}));
  EXPECT_EQ(numbers("take(x, k, mode='wrap')", inputs), list({4}));
}

// ---- what the graph remembers

TEST(Origins, NameTheInnermostCallOrOperator) {
  const Graph graph = parse_program("input x: f32[B, C]\nreturn layernorm(relu(x)) + x.T.swish().T\n", "t.smelt");
  std::map<std::string, Origin> seen;
  for (const Node& node : graph.nodes)
    if (node.kind != NodeKind::Input) seen[node.label] = node.origin;
  ASSERT_EQ(seen.count("layernorm") + seen.count("relu") + seen.count("+") + seen.count("swish") + seen.count(".T"),
            5u);
  EXPECT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen["relu"].line, 2);
  EXPECT_EQ(seen["relu"].column, 18);
  EXPECT_EQ(seen["relu"].length, 7);
  EXPECT_EQ(seen["layernorm"].column, 8);
  EXPECT_EQ(seen["layernorm"].length, 18);
  EXPECT_EQ(seen["+"].length, 34);
  EXPECT_EQ(graph.source.substr(0, 7), "input x");
}

TEST(Origins, CountCharactersNotBytes) {
  const Graph graph = parse_program("input größe: f32[B]\nreturn größe * größe", "t");
  EXPECT_EQ(graph.at(graph.outputs[0]).origin.length, 13);
}

// ---- every function

TEST(Functions, AliasesAreTheSameFunction) {
  for (const Function& f : functions())
    for (std::string_view name : f.names) EXPECT_EQ(function_named(name), &f) << name;
  for (int i = 0; i < kOpCount; ++i) {
    const Function* f = function_named(info(static_cast<Op>(i)).name);
    ASSERT_NE(f, nullptr) << info(static_cast<Op>(i)).name;
    EXPECT_EQ(f->op, static_cast<Op>(i));
  }
}

TEST(Functions, KeywordsOfOtherLibraries) {
  const NamedTensors m = {{"m", array(DType::F32, {2, 2}, {1, 2, 3, 4})}};
  EXPECT_EQ(numbers("m.sum(dim=1)", m), list({3, 7}));
  EXPECT_EQ(numbers("var(m, dim=0, correction=1, keepdim=True)", m), list({2, 2}));
  EXPECT_EQ(numbers("m.clamp(min=2, max=3)", m), list({2, 2, 3, 3}));
  EXPECT_EQ(numbers("clip(m, a_min=2, a_max=3)", m), list({2, 2, 3, 3}));
  EXPECT_EQ(numbers("roll(m, shifts=1, dims=0)", m), list({3, 4, 1, 2}));
  EXPECT_EQ(numbers("one_hot(i32(m[0]), num_classes=2)", m), list({0, 1, 0, 0}));
  EXPECT_EQ(numbers("attention(m, m, m, attn_mask=m < 0, is_causal=True).size", m), list({4}));
  EXPECT_EQ(numbers("take_along_axis(m, i32(m[:1] - 1), dim=1)", m), list({1, 2, 3, 4}));
  EXPECT_EQ(numbers("m.flip(dims=(1,))", m), list({2, 1, 4, 3}));
  EXPECT_EQ(numbers("power(m, 2)", m), list({1, 4, 9, 16}));
  EXPECT_EQ(numbers("m.permute(1, 0)", m), list({1, 3, 2, 4}));
  EXPECT_EQ(numbers("max(m, -m + 5)", m), list({4, 3, 3, 4}));
  EXPECT_EQ(numbers("max(m, 1)", m), list({2, 4}));
  EXPECT_EQ(numbers("m.astype(int8) + int8(1)", m), list({2, 3, 4, 5}));
}

// The manual's list of functions is the table's; SMELT_UPDATE_GOLDENS=1 writes it again.
TEST(Functions, StandInTheManual) {
  const std::string path = std::string(SMELT_SOURCE_DIR) + "/docs/language.md";
  std::ifstream in(path, std::ios::binary);
  std::stringstream contents;
  contents << in.rdbuf();
  std::string text = contents.str();
  const std::string begin = "<!-- functions: written by test_frontends -->\n", end = "<!-- end of functions -->";
  const size_t from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const size_t first = from + begin.size();
  if (std::getenv("SMELT_UPDATE_GOLDENS")) {
    text.replace(first, to - first, "\n" + function_reference() + "\n");
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text.substr(first, to - first), "\n" + function_reference() + "\n");
}

static std::string example(const std::string& name) {
  std::ifstream in(std::string(SMELT_SOURCE_DIR) + "/examples/" + name + ".smelt");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Examples, HaveTheirValues) {
  const auto f32 = [](const Dims& dims, const std::vector<double>& values) { return array(DType::F32, dims, values); };
  // Hull, Options, Futures, and Other Derivatives: a call of 4.76 and a put of 0.81.
  const auto prices = run(example("black_scholes"), {{"spot", f32({1}, {42})},
                                                     {"strike", f32({1}, {40})},
                                                     {"years", f32({1}, {0.5})},
                                                     {"rate", f32({}, {0.1})},
                                                     {"volatility", f32({}, {0.2})}});
  EXPECT_NEAR(numbers_of(prices.at(0)).at(0), 4.7594, 5e-5);
  EXPECT_NEAR(numbers_of(prices.at(1)).at(0), 0.8086, 5e-5);
  const NamedTensors x = {{"x", f32({2, 3}, {-1e4, 0, 4.2, 8.4, 600, NAN})}};
  EXPECT_EQ(numbers(example("quantize_int8"), x), list({-128, 1, 2, 3, 127, 0}));
  EXPECT_EQ(numbers(example("add_mul_exp"), {{"x", f32({2}, {1, 2})}, {"y", f32({2}, {-1, -2})}}), list({1, 1}));
  const NamedTensors logits = {{"logits", f32({2, 2}, {0, 0, 5, 5})}, {"targets", array(DType::I64, {2}, {0, 1})}};
  EXPECT_NEAR(numbers(example("cross_entropy"), logits).at(0), std::log(2.0), 1e-12);
}

// Each example says what it is in its first line, parses, and has a plain graph.
TEST(Examples, AllBuild) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(SMELT_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() != ".smelt") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    EXPECT_EQ(text.str()[0], '#') << entry.path();
    EXPECT_NO_THROW(verify(parse_program(text.str(), entry.path().filename()))) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 8);
}

}  // namespace smelt::lang
