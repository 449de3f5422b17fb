// Rows by index, parts and pairs: formulas over slices and gathers that must be one kernel, and
// right at the edges.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

TEST(Gathers, OneHot) {
  NEEDS_LLVM();
  const Tensor i = vector(DType::I32, {0, 2, -1, 3, 4, 1});
  EXPECT_EQ(numbers(run("input i: i32[N]\nreturn one_hot(i, 4, i8)\n", {i})),
            (std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0}));
  EXPECT_TRUE(right("input i: u64[A, B]\nreturn one_hot(i, 7), one_hot(i % 3, 3, bool).sum(axis=(0, 1))\n",
                    {noise(DType::U64, {5, 9})}));
  EXPECT_TRUE(right("input i: i32[N]\ninput w: f32[7, 5]\nreturn sum(one_hot(i, 7)[:, :, None] * w, axis=1)\n",
                    {i, noise(DType::F32, {7, 5})}));
}

TEST(Gathers, Embedding) {
  NEEDS_LLVM();
  const Tensor table = noise(DType::BF16, {11, 48}), ids = array(DType::I32, {2, 3}, {0, 10, 5, 5, -1, -11});
  const std::string inputs = "input t: bf16[V, D]\ninput i: i32[B, S]\n";
  EXPECT_TRUE(right(inputs + "return embedding(t, i), embedding(t, i) * 2 + 1, sum(f32(embedding(t, i)), axis=1)\n",
                    {table, ids}));
  EXPECT_TRUE(right(inputs + "return embedding(t, i * 9, 'clip'), embedding(t, i * 9, 'wrap')\n", {table, ids}));
  EXPECT_TRUE(right(inputs + "return embedding(t, i)\n", {table, array(DType::I32, {0, 4}, {})}));
  const Tensor outside = array(DType::I32, {1, 3}, {0, 11, 1});
  EXPECT_THAT(message_of([&] {
                run(inputs + "return embedding(t, i)\n", {table, outside});
              }),
              HasSubstr(fmt::format("embedding met an index out of range: axis 0 of bf16[V, D] has no such element{} "
                                    "(line 3)",
                                    device().is_gpu ? "" : ": index 11 of 11 elements")));
}

std::string error_of(const Executable& executable, const std::vector<TensorView>& inputs) {
  try {
    executable.run(inputs);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Gathers, TheOneThatMetAnIndexOutOfRangeIsNamed) {
  NEEDS_LLVM();
  const Tensor five = noise(DType::F32, {5}), seven = noise(DType::F32, {7});
  const Tensor fits = vector(DType::I64, {0, 4, 2}), outside = vector(DType::I64, {0, 9, 2});
  const auto says = [](const std::string& message, const char* part) {
    return message.find(part) != std::string::npos;
  };
  // Two checks of one kernel.
  const std::string inputs = "input x: f32[5]\ninput y: f32[7]\ninput i: i64[N]\ninput j: i64[N]\n";
  const Executable one = compiled(inputs + "return take(x, i) + take(y, j)\n");
  ASSERT_EQ(one.kernels().size(), 1u);
  EXPECT_EQ(error_of(one, {five, seven, fits, fits}), "");
  EXPECT_TRUE(says(error_of(one, {five, seven, outside, fits}), "axis 0 of f32[5]"));
  EXPECT_TRUE(says(error_of(one, {five, seven, fits, outside}), "axis 0 of f32[7]"));
  // Kernels that share their code.
  const Executable two = compiled(
      "input x: f32[5]\ninput i: i64[N]\ninput j: i64[N]\na = take(x, i)\nb = take(x, j)\nreturn a, b\n", false);
  ASSERT_EQ(two.kernels().size(), 2u);
  EXPECT_EQ(error_of(two, {five, fits, fits}), "");
  EXPECT_TRUE(says(error_of(two, {five, outside, fits}), "(line 4)"));
  EXPECT_TRUE(says(error_of(two, {five, fits, outside}), "(line 5)"));
}

TEST(Gathers, ListsOfIndicesAreConstants) {
  NEEDS_LLVM();
  const std::string inputs = "input x: f32[N, M]\n";
  for (const auto& [rows, columns] : {std::pair{3, 1}, {4, 33}, {31, 5}, {3, 0}}) {
    const Tensor x = noise(DType::F32, {rows, columns});
    EXPECT_TRUE(right(inputs + "return take(x, [2, 1, 0], axis=0), x[[0, -3, 2, 2]], x[[[1, 0], [-1, 2]]] * 2\n", {x}));
    EXPECT_TRUE(right(inputs + "return take(x, [-9, 1, 99, -1], axis=0, mode='clip')\n", {x}));
    EXPECT_TRUE(right(inputs + "return take(x, [-9, 1, 99, -1], axis=0, mode='wrap')\n", {x}));
    EXPECT_TRUE(
        right(inputs + "return scatter_add(x, [0, 2, 0], x[:3]), take_along_axis(x, [[1], [0]], axis=0)\n", {x}));
    EXPECT_TRUE(right(inputs + "return take(x, [], axis=0), x[[]] + 1, take(x, [], axis=0, mode='wrap')\n", {x}));
  }
  // Slices, which move nothing by themselves.
  EXPECT_EQ(print(compiled(inputs + "return take(x, [4, 2, 0], axis=0) + 1\n").graph()),
            print(compiled(inputs + "return x[4::-2] + 1\n").graph()));
  EXPECT_EQ(message_of([&] {
              run(inputs + "return take(x, [0, 5, -3], axis=0)\n", {noise(DType::F32, {4, 2})});
            }),
            "index 5 is out of range for axis 0 of f32[N, M]; here N is 4 (axis 0 of input x)");
  EXPECT_EQ(message_of([&] {
              run(inputs + "return x[[0, 1, -3]]\n", {noise(DType::F32, {2, 2})});
            }),
            "index -3 is out of range for axis 0 of f32[N, M]; here N is 2 (axis 0 of input x)");
}

TEST(Gathers, RotaryTurnsPairs) {
  NEEDS_LLVM();
  for (const char* dtype : {"f32", "bf16", "f64", "f8_e4m3"}) {
    const DType t = dtype_from_name(dtype).value();
    for (const int64_t d : {2, 8, 64, 130}) {
      const std::string inputs =
          fmt::format("input x: {0}[B, H, S, {1}]\ninput c: f32[S, {2}]\ninput s: f32[S, {2}]\n", dtype, d, d / 2);
      const Tensor x = noise(t, {2, 3, 5, d}), c = noise(DType::F32, {5, d / 2}, 2),
                   s = noise(DType::F32, {5, d / 2}, 3);
      EXPECT_TRUE(right(inputs + "return rotary(x, c, s), rotary(x, c, s, True)\n", {x, c, s}));
    }
  }
  // A quarter turn takes (a, b) to (-b, a).
  const Tensor x = vector(DType::F32, {1, 2, 3, 4});
  const std::string program =
      "input x: f32[4]\nz = zeros(2)\no = ones(2)\nreturn rotary(x, z, o), rotary(x, z, o, True)\n";
  const auto got = run_all(program, {x});
  EXPECT_EQ(numbers(got[0]), (std::vector<double>{-3, -4, 1, 2}));
  EXPECT_EQ(numbers(got[1]), (std::vector<double>{-2, 1, -4, 3}));
}

TEST(Gathers, RotaryByPositions) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {2, 7, 32}), p = vector(DType::I64, {0, 1, 2, 3, 100, 1000, -5});
  EXPECT_TRUE(
      right("input x: f32[B, S, 32]\ninput p: i64[S]\nreturn rope(x, p), rope(x, p, base=500000, interleaved=True)\n",
            {x, p}));
  EXPECT_TRUE(right(
      "input x: f32[B, S, 32]\nreturn rope(x, arange(x.shape[1])), sum(square(rope(x, arange(x.shape[1]))))\n", {x}));
}

TEST(Gathers, SplitAndJoin) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {6, 12});
  EXPECT_TRUE(
      right("input x: f32[B, C]\na, b = split(x, 2, axis=1)\nreturn a * sigmoid(b), concat((b, a), axis=1)\n", {x}));
  EXPECT_TRUE(
      right("input x: f32[B, 12]\na, b, c = split(x, (3, 4, 5), -1)\nreturn a, b + 1, c * 2, sum(b, axis=0)\n", {x}));
  EXPECT_TRUE(right("input x: f32[6, C]\na, b, c = split(x, 3)\nreturn a + b - c, part(x, 3, 2) - c\n", {x}));
  EXPECT_THAT(message_of([&] { compiled("input x: f32[7, 3]\na, b = split(x, 2)\nreturn a\n"); }),
              HasSubstr("axis 0 of f32[7, 3] cannot be split into 2 equal parts"));
  EXPECT_THAT(message_of([&] { compiled("input x: f32[7, 3]\na, b = split(x, (3, 5))\nreturn a\n"); }),
              HasSubstr("split: parts of 8 in all, of axis 0 of f32[7, 3]"));
}

// Both results from one reading, in one kernel.
TEST(Gathers, MaxAndArgmax) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f32[B, C]\nm, i = max_and_argmax(x)\nreturn m, i, max_and_argmax(x * 2, 0)[1]\n";
  Tensor x = noise(DType::F32, {33, 129});
  static_cast<float*>(x.data)[5] = static_cast<float>(kNan);
  EXPECT_TRUE(right(program, {x}));
  const Executable executable = compiled("input x: f32[B, C]\nm, i = top1(relu(x))\nreturn m, i\n");
  EXPECT_EQ(executable.kernels().size(), 1u);
}

}  // namespace
}  // namespace smelt::testing
