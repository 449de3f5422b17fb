// Cases 11 to 17: how large arrays are. Cases with 2^31 elements run over broadcasts and indices,
// which take no memory; those that need gigabytes run with SMELT_LARGE=1.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdlib>

#include "run.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"

namespace smelt::testing {
namespace {

using ::testing::HasSubstr;

TEST(Cases, C11_OddSizesAndGuardBytes) {
  NEEDS_LLVM();
  // One executable supports every size of its symbols.
  const std::vector<std::string> programs{
      "input x: f32[N]\nreturn x * 2 + 1, x[::-1]\n",
      "input x: f32[N]\nreturn sum(x), relu(x) - mean(x)\n",
      "input x: f32[N]\nreturn concat((x, x * 2)), pad(x, 1)\n",
      "input x: f32[N]\nreturn sum(broadcast_to(x, (3, N)), axis=0), broadcast_to(x, (3, N)).T * 2\n",
  };
  std::vector<Tensor> arrays;
  std::vector<std::vector<TensorView>> calls;
  for (const int64_t n : {0, 1, 31, 32, 33, 127, 128, 129, 1023, 1025}) {
    arrays.push_back(noise(DType::F32, {n}));
    calls.push_back({arrays.back()});
  }
  for (const std::string& program : programs) EXPECT_TRUE(right(program, calls));
  calls.clear();
  for (const int64_t rows : {1, 3, 33})
    for (const int64_t n : {1, 31, 32, 33, 127, 128, 129, 1023, 1025}) {
      arrays.push_back(noise(DType::F32, {rows, n}));
      calls.push_back({arrays.back()});
    }
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn layernorm(x), argmax(x, axis=1)\n", calls));
  EXPECT_TRUE(right("input x: f32[M, N]\nreturn x - max(x, axis=0), sum(x, axis=0)\n", calls));
  for (const int64_t n : {1, 31, 32, 33, 127, 128, 129}) {
    const std::string in = fmt::format("input x: f32[M, {}]\n", n);
    const Tensor x = noise(DType::F32, {33, n});
    EXPECT_TRUE(right(in + "return softmax(x), x * 2, sum(x, axis=0)\n", {x})) << n;
  }
}

// Sizes of 0 among others: nothing is divided by them, nothing is read from nothing.
TEST(Cases, C11_EmptyBesideFull) {
  NEEDS_LLVM();
  for (const Dims& dims : {Dims{0, 5}, Dims{5, 0}, Dims{0, 0}, Dims{3, 5}}) {
    const Tensor x = noise(DType::F32, dims), z = noise(DType::F32, {7});
    const std::string in = "input x: f32[M, N]\ninput z: f32[K]\nreturn ";
    EXPECT_TRUE(right(in + "concat((x.reshape(-1), z)), concat((z, x.T.reshape(-1) * 2))\n", {x, z}));
    EXPECT_TRUE(right(in + "pad(x, 2, value=1), pad(x.T, ((0, 1), (3, 0))), sum(pad(x, 1), axis=0)\n", {x, z}));
    EXPECT_TRUE(right(in + "sum(x) + z, sum(x, axis=0), sum(x, axis=1), any(bool(x))\n", {x, z}));
    EXPECT_TRUE(right(in + "stack((x, x * 2), axis=2).reshape(-1), tile(x, 2), flip(x)\n", {x, z}));
    EXPECT_TRUE(right(in + "layernorm(x), mean(x, axis=0), tril(x)\n", {x, z}));
  }
  const Tensor x = noise(DType::F32, {3, 1});
  EXPECT_TRUE(
      right("input x: f32[3, 1]\nreturn pad(x[:, 1:], 1), x[:, 1:].reshape(-1) * 2, concat((x[:0], x))\n", {x}));
  EXPECT_TRUE(right("input x: f32[3, 1]\nreturn concat((x[:0], x[3:]), axis=0), sum(x[:0], axis=0)\n", {x}));
}

TEST(Cases, C12_NothingToTake) {
  NEEDS_LLVM();
  const Tensor none = Tensor::empty(DType::F32, {0}), some = vector(DType::I64, {0, 1});
  for (const char* mode : {"raise", "clip", "wrap"}) {
    const std::string program =
        fmt::format("input x: f32[N]\ninput i: i64[K]\nreturn take(x, i, axis=0, mode='{}')\n", mode);
    EXPECT_THAT(message_of([&] {
                  run(program, {none, some});
                }),
                HasSubstr("cannot take from axis 0 of f32[N]: it has no elements"))
        << mode;
    // The axis has elements, the array has none: nothing is taken, and nothing is wrong.
    const std::string columns =
        fmt::format("input x: f32[M, N]\ninput i: i64[K]\nreturn take(x, i, axis=1, mode='{}') + 1\n", mode);
    EXPECT_EQ(run(columns, {Tensor::empty(DType::F32, {0, 5}), some}).dims, (Dims{0, 2})) << mode;
    EXPECT_THAT(message_of([&] {
                  run(columns, {Tensor::empty(DType::F32, {5, 0}), some});
                }),
                HasSubstr("cannot take from axis 1 of f32[M, N]: it has no elements"))
        << mode;
    // No indices: the array is not touched.
    EXPECT_EQ(run(columns, {noise(DType::F32, {3, 5}), Tensor::empty(DType::I64, {0})}).dims, (Dims{3, 0})) << mode;
  }
}

TEST(Cases, C12_ReductionsOfNothing) {
  NEEDS_LLVM();
  const Tensor none = Tensor::empty(DType::F32, {0}), ints = Tensor::empty(DType::I32, {0});
  EXPECT_EQ(number(run("input x: f32[N]\nreturn sum(x)\n", {none})), 0);
  EXPECT_EQ(number(run("input x: f32[N]\nreturn prod(x)\n", {none})), 1);
  EXPECT_EQ(number(run("input x: i32[N]\nreturn sum(x)\n", {ints})), 0);
  EXPECT_EQ(number(run("input x: i32[N]\nreturn prod(x)\n", {ints})), 1);
  EXPECT_EQ(number(run("input x: i32[N]\nreturn any(x)\n", {ints})), 0);
  EXPECT_EQ(number(run("input x: i32[N]\nreturn all(x)\n", {ints})), 1);
  EXPECT_TRUE(std::isnan(number(run("input x: f32[N]\nreturn mean(x)\n", {none}))));
  for (const char* name : {"max", "min", "argmax", "argmin"}) {
    EXPECT_THAT(message_of([&] { run(fmt::format("input x: f32[N]\nreturn {}(x)\n", name), {none}); }),
                HasSubstr("over axis 0 of f32[N] needs at least one element; here N is 0"))
        << name;
    EXPECT_THAT(message_of([&] { run(fmt::format("input x: f32[0]\nreturn {}(x)\n", name), {none}); }),
                HasSubstr("over axis 0 of f32[0] needs at least one element"))
        << name;
  }
  // Rows of nothing, and no rows.
  const Tensor wide = Tensor::empty(DType::F32, {3, 0}), tall = Tensor::empty(DType::F32, {0, 3});
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[M, N]\nreturn sum(x, axis=1)\n", {wide})), {0, 0, 0}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[M, N]\nreturn sum(x, axis=0)\n", {tall})), {0, 0, 0}));
  EXPECT_TRUE(same_numbers(numbers(run("input x: f32[M, N]\nreturn prod(x, axis=0)\n", {tall})), {1, 1, 1}));
  EXPECT_EQ(run("input x: f32[M, N]\nreturn layernorm(x)\n", {wide}).count(), 0);
  EXPECT_EQ(run("input x: f32[M, N]\nreturn max(x, axis=1)\n", {tall}).count(), 0);
}

TEST(Cases, C13_AroundTwoToThe31) {
  NEEDS_LLVM();
  for (const int64_t n : {(int64_t{1} << 31) - 1, int64_t{1} << 31, (int64_t{1} << 31) + 1}) {
    const std::string size = std::to_string(n);
    EXPECT_EQ(
        number(run(fmt::format("input x: u8\nreturn sum(broadcast_to(x, ({},)))\n", size), {scalar(DType::U8, 1)})),
        static_cast<double>(n));
    EXPECT_EQ(number(run(fmt::format("input x: i64\nreturn max(arange({}) + x)\n", size), {scalar(DType::I64, 5)})),
              static_cast<double>(n + 4));
  }
}

// Memory that costs nothing until it is touched.
struct Sparse {
  void* data;
  size_t bytes;
  explicit Sparse(int64_t n) : bytes(static_cast<size_t>(n)) {
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() { munmap(data, bytes); }
  Sparse(const Sparse&) = delete;
};

TEST(Cases, C13_ArraysOfMoreThanTwoToThe31Bytes) {
  NEEDS_LLVM();
  if (!std::getenv("SMELT_LARGE")) GTEST_SKIP() << "takes 5 GB: SMELT_LARGE=1 runs it";
  const int64_t n = (int64_t{1} << 31) + 1;
  Sparse in(n), out(n);
  auto* bytes = static_cast<uint8_t*>(in.data);
  bytes[0] = 3;
  bytes[n - 1] = 7;
  const TensorView x{DType::U8, {n}, {1}, in.data}, y{DType::U8, {n}, {1}, out.data};
  compiled("input x: u8[N]\nreturn x + 1\n").run_into({x}, {y});
  const auto* results = static_cast<const uint8_t*>(out.data);
  EXPECT_EQ(results[0], 4);
  EXPECT_EQ(results[n - 1], 8);
  EXPECT_EQ(results[n / 2], 1);
  EXPECT_EQ(number(run("input x: u8[N]\nreturn sum(x)\n", {x})), 10);
  EXPECT_EQ(number(run("input x: u8[N]\nreturn argmax(x)\n", {x})), static_cast<double>(n - 1));
}

TEST(Cases, C14_OffsetsBeyondTwoToThe31InASmallView) {
  NEEDS_LLVM();
  const int64_t pitch = (int64_t{1} << 31) + 12345;
  Sparse memory(3 * pitch);
  if (memory.data == MAP_FAILED) GTEST_SKIP() << "no address space";
  auto* bytes = static_cast<uint8_t*>(memory.data);
  for (int64_t r = 0; r < 3; ++r)
    for (int64_t c = 0; c < 5; ++c) bytes[r * pitch + pitch - 5 + c] = static_cast<uint8_t>(10 * r + c);
  std::vector<double> expected;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c) expected.push_back(10 * r + c);
  // The view is the caller's, then the program's.
  const TensorView part{DType::U8, {3, 5}, {pitch, 1}, bytes + pitch - 5};
  EXPECT_TRUE(same_numbers(numbers(run("input x: u8[M, N]\nreturn x + 0\n", {part})), expected));
  const TensorView whole{DType::U8, {3, pitch}, {pitch, 1}, bytes};
  EXPECT_TRUE(same_numbers(numbers(run("input x: u8[M, N]\nreturn x[:, -5:] + 0\n", {whole})), expected));
  const TensorView fixed = whole;
  EXPECT_TRUE(same_numbers(
      numbers(run(fmt::format("input x: u8[3, {}]\nreturn x[:, -5:] + 0, sum(x[:, -5:], axis=1)\n", pitch), {fixed})),
      expected));
}

TEST(Cases, C15_MoreThan65535Rows) {
  NEEDS_LLVM();
  for (const int64_t rows : {65535, 65536, 70001}) {
    const Tensor x = noise(DType::F32, {rows, 3});
    EXPECT_TRUE(right("input x: f32[M, N]\nreturn sum(x, axis=1), softmax(x)\n", {x}));
    EXPECT_TRUE(right("input x: f32[M, N]\nreturn sum(x, axis=0), x.T + 1\n", {x}));
  }
}

TEST(Cases, C16_SizesThatOverflowAreRefused) {
  NEEDS_LLVM();
  const Tensor x = scalar(DType::F32, 1);
  EXPECT_THAT(message_of([&] { run("input x: f32\nreturn broadcast_to(x, (4294967296, 4294967296)) + 1\n", {x}); }),
              HasSubstr("shape [4294967296, 4294967296] has more elements than 64 bits can address"));
  EXPECT_THAT(message_of([&] { run("input x: f32\nreturn sum(broadcast_to(x, (4294967296, 4294967296)))\n", {x}); }),
              HasSubstr("shape [4294967296, 4294967296] has more elements than 64 bits can address"));
  EXPECT_THAT(message_of([&] { run("input x: f32\nreturn broadcast_to(x, (1099511627776, 4194304)) + 1\n", {x}); }),
              HasSubstr("shape [1099511627776, 4194304] has more elements than 64 bits can address"));
  float value = 1;
  const TensorView huge{DType::F32, {int64_t{1} << 32, int64_t{1} << 32}, {0, 0}, &value};
  EXPECT_THAT(message_of([&] { run("input x: f32[M, N]\nreturn x + 1\n", {huge}); }),
              HasSubstr("shape [4294967296, 4294967296] has more elements than 64 bits can address"));
  const Tensor row = noise(DType::F32, {1024});
  EXPECT_THAT(message_of([&] { run("input x: f32[N]\nreturn broadcast_to(x, (9007199254740992, N)) + 1\n", {row}); }),
              HasSubstr(device().is_gpu ? "would need 4503599627370496 workgroups for these sizes"
                                        : "shape [9007199254740992, 1024] has more elements than 64 bits can address"));
}

TEST(Cases, C17_MaximaOfNegativeNumbers) {
  NEEDS_LLVM();
  std::vector<int64_t> sizes{100, 127, 129, 1000, 1025, 5000};
  for (int64_t n = 1; n < 70; ++n) sizes.push_back(n);
  for (const DType t : {DType::F32, DType::F16, DType::F64, DType::I8, DType::I32}) {
    const Executable rows =
        compiled(fmt::format("input x: {}[M, N]\nreturn max(x, axis=1), argmax(x, axis=1)\n", name_of(t)));
    const Executable columns =
        compiled(fmt::format("input x: {}[M, N]\nreturn max(x, axis=0), argmax(x, axis=0)\n", name_of(t)));
    for (const int64_t n : sizes) {
      const Tensor x = filled(t, {3, n}, -100), y = filled(t, {n, 3}, -100);
      for (int64_t r = 0; r < 3; ++r) {
        const int64_t at = (n - 1) * r / 2;
        store_scalar(convert(Scalar::of_float(DType::F64, -5), t),
                     static_cast<char*>(x.data) + (r * n + at) * size_of(t));
        store_scalar(convert(Scalar::of_float(DType::F64, -5), t),
                     static_cast<char*>(y.data) + (at * 3 + r) * size_of(t));
      }
      const std::vector<double> indices{0, static_cast<double>((n - 1) / 2), static_cast<double>(n - 1)};
      for (const auto& outputs : {rows.run({x}), columns.run({y})}) {
        EXPECT_TRUE(same_numbers(numbers(outputs[0]), {-5, -5, -5})) << name_of(t) << n;
        EXPECT_TRUE(same_numbers(numbers(outputs[1]), indices)) << name_of(t) << n;
      }
    }
  }
}

}  // namespace
}  // namespace smelt::testing
