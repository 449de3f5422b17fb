// def: functions of the user's in the language.
#include <gtest/gtest.h>

#include "run.hpp"

namespace smelt::lang {

static const NamedTensors kX = {{"x", array(DType::F32, {3}, {-1, 0, 2})}};

TEST(Definition, IsWrittenOutWhereItIsCalled) {
  EXPECT_EQ(numbers("def f(x, lo=0, hi=1): return clamp(x, lo, hi) * 2\nreturn f(x, hi=0.5)", kX),
            (std::vector<double>{0, 0, 1}));
  EXPECT_EQ(numbers("def f(a):\n  t = a * 3\n  return t + a\n\ndef g(a, b): return f(a) - b\nreturn g(x, 1)", kX),
            (std::vector<double>{-5, -1, 7}));
  EXPECT_EQ(numbers("def f(a): b = a + 1; return b * b\nreturn x.f() + f(a=1)", kX), (std::vector<double>{4, 5, 13}));
  EXPECT_EQ(numbers("def f(a): return a, a + 1\nb, c = f(x)\nreturn b * c", kX), (std::vector<double>{0, 0, 6}));
}

TEST(Definition, LiteralsStayWeak) {
  const Graph graph =
      graph_of("def f(a, b): return a * b + 0.5\nreturn f(x, 2)", {{"x", array(DType::F16, {3}, {1, 2, 3})}});
  EXPECT_EQ(graph.at(graph.outputs[0]).dtype, DType::F16);
  EXPECT_EQ(numbers("def half(n): return n // 2\nreturn x.reshape(half(2), 3)", kX).size(), 3u);
}

TEST(Definition, NodesHaveItsName) {
  const Graph graph = graph_of("def inner(a): return exp(a)\ndef twice(a): return inner(a) + 1\nreturn -twice(x)", kX);
  std::vector<std::string> labels;
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::Elementwise) labels.push_back(node.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"twice", "twice", "-"}));
}

TEST(Definition, CannotGrowWithoutEnd) {
  std::string text = "def step0(x): return x + x\n";
  for (int i = 1; i < 60; ++i) {
    const std::string n = std::to_string(i), last = std::to_string(i - 1);
    text += "def step" + n + "(x): return step" + last + "(x) + step" + last + "(x)\n";
  }
  EXPECT_NE(error_of(text + "return step59(x)", kX).find("more than 500000 expressions"), std::string::npos);
  text = "def step0(x): return x + x\n";
  for (int i = 1; i < 200; ++i)
    text += "def step" + std::to_string(i) + "(x): return step" + std::to_string(i - 1) + "(x)\n";
  const std::string message = error_of(text + "return step199(x)", kX);
  EXPECT_NE(message.find("more than 64 deep"), std::string::npos) << message;
  EXPECT_LT(message.size(), 2000u);
}

}  // namespace smelt::lang
