// Transposed convolutions and gradients of convolutions in other forms.
#include "plan/phases.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/phase_forms.hpp"
#include "planning.hpp"
#include "support/arrays.hpp"

namespace smelt::plan {
namespace {

// One transposed convolution of x: [N, C, ..] with w: [C, O, ..].
struct Case {
  Dims x, w, stride, padding, more;  // more: of the result, at the ends
  Dims dilation;
  DType dtype = DType::F64;
};

std::string list(const Dims& numbers) { return fmt::format("({},)", fmt::join(numbers, ", ")); }

Dims result_of(const Case& c) {
  Dims result{c.x[0], c.w[1]};
  for (size_t a = 0; a < c.stride.size(); ++a)
    result.push_back((c.x[a + 2] - 1) * c.stride[a] - 2 * c.padding[a] + c.dilation[a] * (c.w[a + 2] - 1) + 1 +
                     c.more[a]);
  return result;
}

std::string inputs_of(const Case& c) {
  return fmt::format("input x: {0}{1}\ninput w: {0}{2}\ninput z: {0}{3}\n", name_of(c.dtype), str(c.x), str(c.w),
                     str(result_of(c)));
}

// As a convolution of x with zeros between its elements.
std::string spread(const Case& c) {
  std::string apart = ":, :", between = "(0, 0), (0, 0)", whole = ":, :", around = between, axes;
  Dims wide{c.x[0], c.x[1]};
  const Dims result = result_of(c);
  for (size_t a = 0; a < c.stride.size(); ++a) {
    apart += ", :, None";
    between += fmt::format(", (0, 0), (0, {})", c.stride[a] - 1);
    wide.push_back(c.x[a + 2] * c.stride[a]);
    const int64_t length = (c.x[a + 2] - 1) * c.stride[a] + 1, reach = c.dilation[a] * (c.w[a + 2] - 1);
    whole += fmt::format(", :{}", length);
    around += fmt::format(", ({}, {})", reach - c.padding[a], result[a + 2] - length + c.padding[a]);
    axes += fmt::format("{}, ", a + 2);
  }
  return inputs_of(c) + fmt::format(
                            "s = pad(x[{}], ({})).reshape{}\n"
                            "return conv(pad(s[{}], ({})), flip(swapaxes(w, 0, 1), axis=({})), dilation={})\n",
                            apart, between, list(wide), whole, around, axes, list(c.dilation));
}

// As the gradient of a convolution by its input.
std::string gradient(const Case& c) {
  return inputs_of(c) + fmt::format("return vjp(conv(z, w, stride={}, padding={}, dilation={}), z, x)\n",
                                    list(c.stride), list(c.padding), list(c.dilation));
}

std::vector<Graph> forms(const Graph& graph) {
  const auto found = find_transposed_sums(graph);
  EXPECT_EQ(found.size(), 1U);
  if (found.size() != 1) return {};
  EXPECT_EQ(graph.at(found[0].second.image.array).name, "x");
  EXPECT_EQ(graph.at(found[0].second.weights.array).name, "w");
  return forms_of(graph, found[0].first, found[0].second);
}

double at(const Tensor& t, int64_t i) {
  return load_scalar(t.dtype, static_cast<const char*>(t.data) + i * size_of(t.dtype)).as_double();
}

// Every form of a program computes what the program does.
void check(const std::string& program, const std::vector<Tensor>& inputs, size_t expected) {
  const Graph graph = graph_of(program);
  const std::vector<Graph> all = forms(graph);
  EXPECT_EQ(all.size(), expected) << program;
  const Tensor right = interpret(graph, {inputs.begin(), inputs.end()})[0];
  // Small floats are rounded where the program ends.
  const DType t = inputs[0].dtype;
  const double near = t == DType::BF16 ? 0x1p-7 : t == DType::F16 ? 0x1p-10 : 1e-9;
  for (const Graph& form : all) {
    verify(form);
    const Graph simple = simplify(form);
    verify(simple);
    const Tensor got = interpret(simple, {inputs[0], inputs[1]})[0];
    ASSERT_EQ(got.dims, right.dims) << program;
    for (int64_t i = 0, n = right.count(); i < n; ++i) {
      const double a = at(right, i), b = at(got, i);
      ASSERT_TRUE((std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= near * (1 + std::abs(a)))
          << program << print(simple) << "element " << i << ": " << a << " and " << b;
    }
  }
}

std::vector<Tensor> inputs_for(const Case& c, bool nasty = false) {
  std::mt19937_64 random(3);
  std::vector<Tensor> made{noise(c.dtype, c.x, random, 9), noise(c.dtype, c.w, random, 9),
                           noise(c.dtype, result_of(c), random, 9)};
  if (!nasty) return made;
  const double odd[] = {kNan, kInf, -0.0, -kInf};
  for (int64_t i = 0, k = 0; i < made[0].count(); i += 7, ++k)
    store_scalar(convert(Scalar::of_float(DType::F64, odd[k % 4]), c.dtype),
                 static_cast<char*>(made[0].data) + i * size_of(c.dtype));
  return made;
}

// Strides that divide the taps: phases, also counted from another place where that makes all of
// them read the same elements, and columns.
TEST(Phases, OfWholeStrides) {
  const std::pair<Case, size_t> cases[] = {
      {{{2, 3, 5, 7}, {3, 4, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}}, 3},
      {{{2, 3, 5, 7}, {3, 4, 4, 4}, {2, 2}, {0, 3}, {0, 1}, {1, 1}}, 3},
      {{{2, 3, 5, 7}, {3, 4, 2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}}, 2},
      {{{1, 2, 6}, {2, 3, 16}, {8}, {4}, {0}, {1}}, 3},
      {{{1, 2, 6}, {2, 3, 16}, {8}, {15}, {7}, {1}}, 3},
      {{{2, 2, 9}, {2, 5, 6}, {3}, {2}, {1}, {1}}, 3},
      {{{2, 2, 9}, {2, 5, 3}, {3}, {1}, {2}, {1}}, 3},
      {{{1, 3, 4, 5, 3}, {3, 2, 4, 2, 6}, {2, 2, 3}, {1, 0, 2}, {0, 1, 2}, {1, 1, 1}}, 3},
      {{{1, 3, 4, 5}, {3, 2, 4, 3}, {2, 1}, {1, 1}, {0, 0}, {1, 2}}, 3},  // along one axis alone
  };
  for (const auto& [c, expected] : cases) {
    check(spread(c), inputs_for(c), expected);
    check(spread(c), inputs_for(c, true), expected);
  }
}

// Other taps would take part with weights that are not there: columns alone.
TEST(Phases, OfOtherStrides) {
  const Case cases[] = {
      {{2, 3, 5, 7}, {3, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 3, 5, 7}, {3, 4, 7, 5}, {2, 3}, {3, 1}, {0, 2}, {1, 1}},
      {{2, 3, 5, 7}, {3, 4, 2, 3}, {3, 4}, {0, 1}, {2, 3}, {1, 1}},  // fewer taps than the stride
      {{2, 3, 9}, {3, 4, 4}, {2}, {2}, {1}, {2}},                    // with a dilation
      {{2, 3, 9}, {3, 4, 4}, {2}, {2}, {1}, {3}},
  };
  for (const Case& c : cases) {
    check(spread(c), inputs_for(c), 1);
    check(spread(c), inputs_for(c, true), 1);
  }
}

TEST(Phases, OfGradients) {
  const std::pair<Case, size_t> cases[] = {
      {{{2, 3, 5, 7}, {3, 4, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}}, 3},
      {{{2, 3, 5, 7}, {3, 4, 3, 5}, {1, 1}, {1, 2}, {0, 0}, {1, 1}}, 1},  // of a dense one
      {{{2, 3, 9, 7}, {3, 4, 3, 3}, {1, 1}, {2, 0}, {0, 0}, {2, 3}}, 1},
      {{{1, 2, 6}, {2, 3, 16}, {8}, {4}, {0}, {1}}, 3},
      {{{1, 2, 6}, {2, 3, 6}, {3}, {0}, {2}, {1}}, 2},
      {{{2, 3, 5, 7}, {3, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}, 1},
  };
  for (const auto& [c, expected] : cases) check(gradient(c), inputs_for(c), expected);
  // In groups: x has the channels of the results, w those of a group.
  Case groups{{2, 6, 5, 7}, {6, 2, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}};
  const std::string program =
      "input x: f64[2, 6, 5, 7]\ninput w: f64[6, 2, 4, 4]\ninput z: f64[2, 4, 10, 14]\n"
      "return vjp(conv(z, w, stride=2, padding=1, groups=2), z, x)\n";
  std::vector<Tensor> inputs = inputs_for(groups);
  std::mt19937_64 random(5);
  inputs[2] = noise(DType::F64, {2, 4, 10, 14}, random, 9);
  check(program, inputs, 3);
}

TEST(Phases, OfEveryDtype) {
  for (const DType t : {DType::F16, DType::BF16, DType::F32}) {
    const Case c{{2, 3, 5, 7}, {3, 4, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, t};
    check(spread(c), inputs_for(c, true), 3);
    check(gradient(c), inputs_for(c), 3);
  }
  // Integers, without channels.
  const std::string program =
      "input x: i32[3, 5]\ninput w: i32[4]\n"
      "return correlate(pad(pad(x[:, :, None], ((0, 0), (0, 0), (0, 1))).reshape(3, 10), ((0, 0), (2, 1))), w)\n";
  std::mt19937_64 random(3);
  check(program, {noise(DType::I32, {3, 5}, random, 9), noise(DType::I32, {4}, random, 9)}, 3);
}

// Other spellings of zeros between elements, and channels last.
TEST(Phases, OfOtherSpellings) {
  std::mt19937_64 random(3);
  const Tensor x = noise(DType::F64, {2, 6, 3}, random, 9), w = noise(DType::F64, {4, 3, 5}, random, 9);
  const std::string inputs = "input x: f64[2, 6, 3]\ninput w: f64[4, 3, 5]\n";
  const std::string sum = "return einsum('nhck,kco->nho', window(pad(z, ((0, 0), (2, 2), (0, 0))), 4, axis=1), w)\n";
  check(inputs + "z = stack([x, zeros((2, 6, 3))], axis=2).reshape(2, 12, 3)\n" + sum, {x, w}, 3);
  check(inputs + "z = concat([zeros((2, 6, 1, 3)), x[:, :, None]], axis=2).reshape(2, 12, 3)\n" + sum, {x, w}, 2);
  check(inputs + "z = pad(x[:, :, None], ((0, 0), (0, 0), (0, 1), (0, 0))).reshape(2, 12, 3)[:, 3:9]\n" + sum, {x, w},
        2);
}

TEST(Phases, OthersStay) {
  const auto none = [](const std::string& program) { return find_transposed_sums(graph_of(program)).empty(); };
  EXPECT_TRUE(none("input x: f32[2, 3, 9]\ninput w: f32[4, 3]\nreturn einsum('nch,oc->noh', x, w)\n"));
  // Ones between the elements.
  EXPECT_TRUE(
      none("input x: f32[2, 3, 9]\ninput w: f32[4, 3, 4]\n"
           "z = pad(x[:, :, :, None], ((0, 0), (0, 0), (0, 0), (0, 1)), value=1).reshape(2, 3, 18)\n"
           "return conv1d(z, w)\n"));
  // The sums over channels are read elsewhere.
  EXPECT_TRUE(
      none("input x: f32[2, 3, 9]\ninput w: f32[3, 4, 3]\ns = einsum('nch,cok->nohk', x, w)\n"
           "return s, sum(window(pad(s, 1), 3, axis=2)[..., 0], axis=-1)\n"));
  const Graph dense = graph_of("input x: f32[2, 8, 9, 9]\ninput w: f32[8, 8, 3, 3]\nreturn conv(x, w, padding=1)\n");
  for (const auto& [id, sum] : find_transposed_sums(dense)) EXPECT_TRUE(forms_of(dense, id, sum).empty());
  // They are read elsewhere through the same view.
  const Graph norm = graph_of(
      "input x: f32[2, 3, 9]\ninput w: f32[3, 1, 3]\nh = moveaxis(conv1d(x, w, padding=1, groups=3), 1, -1)\n"
      "return h - mean(h, axis=-1, keepdims=True)\n");
  for (const auto& [id, sum] : find_transposed_sums(norm)) EXPECT_FALSE(sum.of_sums);
}

// A program with several of them, some alike: each is in the form that takes least, also where the
// batch is a symbol.
TEST(Phases, OfLargePrograms) {
  const std::string program =
      "input x: f32[B, 32, 64, 64]\ninput w: f32[32, 32, 4, 4]\ninput b: f32[32]\n"
      "def up(x, w, b): return conv(pad(pad(x[:, :, :, None, :, None], ((0, 0), (0, 0), (0, 0), (0, 1), (0, 0), (0, "
      "1)))"
      ".reshape(x.shape[0], 32, 2 * x.shape[2], 2 * x.shape[3])[:, :, :-1, :-1], ((0, 0), (0, 0), (2, 2), (2, 2))), "
      "flip(swapaxes(w, 0, 1), axis=(2, 3)), b)\n"
      "return relu(up(relu(up(x, w, b)), w, b))\n";
  const Graph graph = graph_of(program);
  EXPECT_EQ(find_transposed_sums(graph).size(), 2U);
  for (Options options : {for_gpu(), Options{}}) {
    options.sizes = {{Symbol::size("B"), 16}};
    const auto finished = [&](Graph made) {
      return with_local_reductions(std::move(made), options.target.gpu ? 64 : 8, !options.target.gpu, false);
    };
    const auto made = with_phases(graph, options, finished);
    ASSERT_TRUE(made);
    verify(*made);
    EXPECT_TRUE(find_transposed_sums(*made).empty());
    EXPECT_FALSE(with_phases(*made, options, finished));
  }
}

}  // namespace
}  // namespace smelt::plan
