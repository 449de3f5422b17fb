// Cases 1 to 10: where arrays lie in memory.
#include <fmt/format.h>

#include <gmock/gmock.h>
#include <cstring>

#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

// A view into a block of memory of its own, `offset` elements (and `bytes` bytes) from an aligned
// address.
struct Block {
  std::vector<char> memory;
  TensorView view;
  Block(DType dtype, Dims dims, Dims strides, int64_t offset, int64_t elements, int64_t bytes = 0) {
    memory.assign(static_cast<size_t>(elements * size_of(dtype) + 128), char(0x5A));
    auto base = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
    view = {dtype, std::move(dims), std::move(strides),
            reinterpret_cast<char*>(base) + offset * size_of(dtype) + bytes};
  }
};

// Copies the elements of `from` to where `to` has them.
void copy(const TensorView& from, const TensorView& to) {
  const Tensor values = contiguous_copy(from);
  Dims index(to.dims.size(), 0);
  const int size = size_of(to.dtype);
  for (int64_t i = 0, n = values.count(); i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * to.strides[d];
    std::memcpy(static_cast<char*>(to.data) + offset * size, static_cast<const char*>(values.data) + i * size,
                static_cast<size_t>(size));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < to.dims[d]) break;
      index[d] = 0;
    }
  }
}

const char* kPrograms[] = {
    "input x: f32[A, B]\nreturn x * 2 + 1\n",
    "input x: f32[A, B]\nreturn relu(x) - mean(x, axis=1, keepdims=True)\n",
    "input x: f32[A, B]\nreturn x - sum(x, axis=0)\n",
};

TEST(Cases, C01_OutputInItsInput) {
  NEEDS_LLVM();
  for (const char* program : kPrograms) {
    const Tensor x = noise(DType::F32, {70, 33});
    const Tensor expected = run(program, {x});
    const Tensor place = contiguous_copy(x);
    compiled(program).run_into({place}, {place});
    EXPECT_TRUE(same_numbers(numbers(place), numbers(expected))) << program;
  }
}

TEST(Cases, C02_OutputShiftedAgainstItsInput) {
  NEEDS_LLVM();
  for (const char* program : kPrograms)
    for (const int64_t shift : {1, -1, 33, 5}) {
      const Tensor x = noise(DType::F32, {70, 33});
      Block block(DType::F32, {70, 33}, {33, 1}, 64, 70 * 33 + 128);
      copy(x, block.view);
      TensorView out = block.view;
      out.data = static_cast<float*>(out.data) + shift;
      compiled(program).run_into({block.view}, {out});
      EXPECT_TRUE(same_numbers(numbers(out), numbers(run(program, {x})))) << program << shift;
    }
}

TEST(Cases, C03_OneOutputTwiceAndOneInputTwice) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {5, 7});
  EXPECT_TRUE(right("input a: f32[M, N]\ninput b: f32[M, N]\ny = a * b + a\nreturn y, y, a, y\n", {x, x}));
  const auto outputs = run_all("input a: f32[M, N]\ninput b: f32[M, N]\ny = a - b\nreturn y, y\n", {x, x});
  EXPECT_NE(outputs[0].data, outputs[1].data);
  EXPECT_TRUE(same_numbers(numbers(outputs[1]), std::vector<double>(35, 0.0)));
}

TEST(Cases, C04_InputOfStrideZero) {
  NEEDS_LLVM();
  float value = 1.5;
  const TensorView all{DType::F32, {40, 65}, {0, 0}, &value};
  float row[65];
  for (int i = 0; i < 65; ++i) row[i] = static_cast<float>(i) - 30;
  const TensorView rows{DType::F32, {40, 65}, {0, 1}, row}, columns{DType::F32, {65, 40}, {1, 0}, row};
  for (const TensorView& x : {all, rows, columns}) {
    EXPECT_TRUE(right("input x: f32[M, N]\nreturn x + 1, sum(x, axis=0), sum(x, axis=1)\n", {x}));
    EXPECT_TRUE(right("input x: f32[M, N]\nreturn x.T * 2, softmax(x)\n", {x}));
  }
}

TEST(Cases, C05_OutputOfStrideZeroIsRefused) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {4, 8});
  float memory[32] = {};
  const Executable e = compiled("input x: f32[M, N]\nreturn x + 1\n");
  EXPECT_THAT(message_of([&] {
                e.run_into({x}, {{DType::F32, {4, 8}, {0, 1}, memory}});
              }),
              HasSubstr("output 0 has stride 0 along axis 0: its elements would share memory"));
  EXPECT_THAT(message_of([&] {
                e.run_into({x}, {{DType::F32, {4, 8}, {8, 0}, memory}});
              }),
              HasSubstr("output 0 has stride 0 along axis 1: its elements would share memory"));
  EXPECT_THAT(message_of([&] {
                e.run_into({x}, {{DType::F32, {4, 7}, {7, 1}, memory}});
              }),
              HasSubstr("output 0 is f32[4, 8], but the memory given for it is f32[4, 7]"));
  EXPECT_THAT(message_of([&] {
                e.run_into({x}, {{DType::F64, {4, 8}, {8, 1}, memory}});
              }),
              HasSubstr("output 0 is f32[4, 8], but the memory given for it is f64[4, 8]"));
  for (const float f : memory) EXPECT_EQ(f, 0);
  // Arrays without elements have strides of 0 in NumPy.
  for (const Dims& dims : {Dims{4, 0}, Dims{0, 4}})
    EXPECT_EQ(message_of([&] {
                e.run_into({TensorView{DType::F32, dims, {0, 0}, memory}}, {{DType::F32, dims, {0, 0}, memory}});
              }),
              "nothing thrown");
}

TEST(Cases, C06_SizeOneWithAnyStride) {
  NEEDS_LLVM();
  for (const int64_t stride : {int64_t{0}, int64_t{-7}, int64_t{1} << 40}) {
    Block in(DType::F32, {1, 9, 1}, {stride, 1, stride}, 0, 9), out = in;
    const Tensor x = noise(DType::F32, {1, 9, 1});
    copy(x, in.view);
    out = Block(DType::F32, {1, 9, 1}, {stride, 1, stride}, 0, 9);
    compiled("input x: f32[A, N, B]\nreturn x * x\n").run_into({in.view}, {out.view});
    EXPECT_TRUE(same_numbers(numbers(out.view), numbers(run("input x: f32[A, N, B]\nreturn x * x\n", {x}))));
  }
}

TEST(Cases, C07_NegativeStrides) {
  NEEDS_LLVM();
  const Tensor x = noise(DType::F32, {6, 35});
  for (const Dims& signs : {Dims{-1, 1}, Dims{1, -1}, Dims{-1, -1}})
    for (const char* program : kPrograms) {
      const Dims strides{35 * signs[0], signs[1]};
      const int64_t first = (signs[0] < 0 ? 5 * 35 : 0) + (signs[1] < 0 ? 34 : 0);
      Block in(DType::F32, {6, 35}, strides, first, 6 * 35), out(DType::F32, {6, 35}, strides, first, 6 * 35);
      copy(x, in.view);
      compiled(program).run_into({in.view}, {out.view});
      EXPECT_TRUE(same_numbers(numbers(out.view), numbers(run(program, {x})))) << program;
    }
}

TEST(Cases, C08_MisalignedByOneElementOrByOneByte) {
  NEEDS_LLVM();
  for (const DType t : kAllDTypes) {
    const std::string program =
        fmt::format("input x: {}[M, N]\nreturn {}, max(x, axis=1), x.T\n", name_of(t), is_bool(t) ? "~x" : "x * x");
    const Tensor x = noise(t, {9, 67});
    const Executable e =
        compiled(is_bool(t) ? fmt::format("input x: {}[M, N]\nreturn ~x, any(x, axis=1), x.T\n", name_of(t)) : program);
    const std::vector<Tensor> expected = e.run({x});
    for (const auto& [elements, bytes] : std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {0, 1}, {3, 1}}) {
      Block in(t, {9, 67}, {67, 1}, elements, 9 * 67 + 8, bytes);
      copy(x, in.view);
      std::vector<Block> blocks;
      std::vector<TensorView> outputs;
      for (const Tensor& o : expected) {
        blocks.emplace_back(o.dtype, o.dims, o.strides, elements, o.count() + 8, bytes);
        outputs.push_back(blocks.back().view);
      }
      e.run_into({in.view}, outputs);
      for (size_t o = 0; o < outputs.size(); ++o)
        EXPECT_TRUE(same_numbers(numbers(outputs[o]), numbers(expected[o]))) << name_of(t) << " " << o;
    }
  }
}

TEST(Cases, C09_SliceWithOddRowPitch) {
  NEEDS_LLVM();
  const Tensor wide = noise(DType::F32, {12, 131});
  TensorView part = wide;
  part.dims = {11, 130};
  part.data = static_cast<float*>(wide.data) + 131 + 1;
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn layernorm(x), sum(x, axis=0)\n", {part}));
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn layernorm(x[1:, 1:]), sum(x[1:, 1:], axis=0)\n", {wide}));
  // And an output with a pitch: what lies between its rows stays.
  Block out(DType::F32, {11, 130}, {137, 1}, 3, 11 * 137 + 8);
  compiled("input x: f32[M, N]\nreturn x + 1\n").run_into({part}, {out.view});
  EXPECT_TRUE(same_numbers(numbers(out.view), numbers(run("input x: f32[M, N]\nreturn x + 1\n", {part}))));
  for (int64_t r = 0; r < 10; ++r)
    for (int64_t c = 130; c < 137; ++c) {
      char gap[4];
      std::memcpy(gap, static_cast<float*>(out.view.data) + r * 137 + c, 4);
      EXPECT_EQ(std::memcmp(gap, "\x5A\x5A\x5A\x5A", 4), 0);
    }
}

TEST(Cases, C10_RankZeroAndRankEight) {
  NEEDS_LLVM();
  const Tensor s = scalar(DType::F32, 2.5);
  EXPECT_TRUE(right("input x: f32\nreturn x * x - 1, sum(x), x.reshape(1, 1)\n", {s}));
  const Tensor x = noise(DType::F32, {2, 3, 1, 2, 3, 2, 1, 5});
  const std::string in = "input x: f32[A, B, C, D, E, F, G, H]\n";
  EXPECT_TRUE(right(in + "return x + 1, x.T * 2\n", {x}));
  EXPECT_TRUE(right(in + "return sum(x, axis=(1, 3, 6)), max(x, axis=(0, 2, 4, 6), keepdims=True)\n", {x}));
  EXPECT_TRUE(right(in + "return transpose(x, (7, 0, 6, 1, 5, 2, 4, 3)), softmax(x, axis=4)\n", {x}));
  EXPECT_TRUE(right(in + "return softmax(transpose(x, (7, 0, 6, 1, 5, 2, 4, 3)), axis=(0, 5))\n", {x}));
  EXPECT_TRUE(right(in + "return transpose(x, (1, 0, 3, 2, 5, 4, 7, 6))[::2, 1:, ::-1, :, ::3, :-1, ::-2]\n", {x}));
}

// Rows in the order in which they are read, which is not that of the result.
TEST(Layout, RowsInTheOrderOfTheirArray) {
  NEEDS_LLVM();
  Machine machine = Machine::cpu();
  machine.facts.l2_bytes = 0;  // nothing stays there, so that the order matters
  const RunOn here(machine);
  for (const auto& [t, length] : {std::pair{DType::F32, 33}, {DType::BF16, 70}, {DType::U8, 201}, {DType::F64, 64}}) {
    const Tensor x = noise(t, {3, 29, 7, length}), y = noise(t, {7, length}, 2);
    const std::string inputs =
        fmt::format("input x: {0}[A, B, C, {1}]\ninput y: {0}[C, {1}]\nz = ", name_of(t), length);
    for (const char* order : {"(0, 2, 1, 3)", "(2, 1, 0, 3)", "(1, 2, 0, 3)"})
      EXPECT_TRUE(right(inputs + fmt::format("permute(x + y, {})\nreturn z, z * 2", order), {x, y})) << order;
  }
}

}  // namespace
}  // namespace smelt::testing
