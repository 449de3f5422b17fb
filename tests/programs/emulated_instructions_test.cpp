// Programs whose kernels for a GPU are spelled in fewer instructions than their operations would
// take one by one, on an emulated GPU against the reference.
#include <fmt/format.h>

#include <algorithm>

#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

// Few values, so that many are equal, and NaN behind the middle.
Tensor few_values(DType t, const Dims& dims) {
  std::vector<double> values;
  for (int64_t k = 0; k < element_count(dims); ++k)
    values.push_back(is_float(t) && k % 1009 == 700 ? NAN : static_cast<double>(k * 37 % 11 - 5));
  return array(t, dims, values);
}

// Threads take the ends of rows that begin anywhere after all else.
TEST_F(EmulatedGpu, PositionsOfEqualElements) {
  for (const DType t : {DType::F32, DType::BF16, DType::I8, DType::I32})
    for (const int64_t length : {5, 301, 1003, 6001}) {
      const std::string x = fmt::format("input x: {}[7, {}]\n", name_of(t), length);
      check(x + "return argmax(x, axis=1), argmin(x, axis=1), max(x, axis=1), min(x, axis=1)\n",
            {few_values(t, {7, length})});
      check(x + "return argmax(x), argmin(x[:, ::-1], axis=1), argmax(x, axis=0)\n", {few_values(t, {7, length})});
    }
}

TEST_F(EmulatedGpu, TilesThatEndEarly) {
  for (const Dims& dims : {Dims{3, 173, 83}, Dims{2, 65, 64}, Dims{1, 33, 200}, Dims{2, 129, 47}}) {
    const std::string d = fmt::format("[{}]\n", fmt::join(dims, ", "));
    check("input x: f32" + d + "return x.mT\n", {noise(DType::F32, dims)});
    check("input x: f16" + d + "return pad(x, ((0, 0), (1, 1), (0, 0))).mT * 2\n", {noise(DType::F16, dims)});
    check("input x: u8" + d + "input y: u8" + fmt::format("[{}, {}, {}]\n", dims[0], dims[2], dims[1]) +
              "return concat([x.mT, y], axis=1)\n",
          {noise(DType::U8, dims), noise(DType::U8, {dims[0], dims[2], dims[1]})});
  }
}

TEST_F(EmulatedGpu, IndicesFromBothEnds) {
  const Tensor table = noise(DType::F32, {103, 37});
  for (const DType t : {DType::I64, DType::I32}) {
    std::vector<double> values;
    for (int k = 0; k < 501; ++k) values.push_back(k * 17 % 206 - 103);
    const std::string program =
        fmt::format("input table: f32[103, 37]\ninput ids: {}[501]\nreturn embedding(table, ids)\n", name_of(t));
    check(program, {table, array(t, {501}, values)});
    for (const double wrong : {103., -104., 2147483647., -2147483648., 4294967296., -9e18}) {
      if (t == DType::I32 && std::abs(wrong) > 2147483648.) continue;
      values[77] = wrong;
      const Tensor ids = array(t, {501}, values);
      CompileOptions options;
      const Executable executable = compile(lang::parse_program(program, "emulated.smelt"), gpu_.machine, options);
      EXPECT_THROW(executable.run({table, ids}), UserError) << wrong;
    }
  }
}

TEST_F(EmulatedGpu, CountsOfWhatIsSmall) {
  for (const int64_t length : {7, 907, 4001}) {
    const std::string x = fmt::format("input x: u8[5, {}]\n", length);
    const Tensor in = noise(DType::U8, {5, length});
    check(x + "return cumsum(x > 3, axis=1), cumsum(i32(x), axis=1, exclusive=True)\n", {in});
    check(x + "return sum(x > 3, axis=1), sum(i16(x) - 100, axis=1), sum(x), cumsum(x, axis=1, reverse=True)\n", {in});
  }
}

// Lanes of whole words and what is left of rows, forwards and backwards.
TEST_F(EmulatedGpu, BitsOfBytesAsFloats) {
  for (const int64_t length : {3, 64, 301, 4096}) {
    const std::string x = fmt::format("input x: u8[5, {0}]\ninput y: i8[5, {0}]\n", length);
    const Tensor bytes = noise(DType::U8, {5, length}), signed_bytes = noise(DType::I8, {5, length});
    const std::vector<TensorView> in{bytes, signed_bytes};
    check(x + "return f32(x) / 3, f32(y) / 3, f16(x & 15) * 0.5, f32(x >> 4) - 7, f32((x >> 2) & 7), bf16(y >> 3)\n",
          in);
    check(x + "return f32(x[:, ::-1] & 3), f32(i32(x) & 31) + f32(y[:, ::-1]), f32(x & 0) + f32(x >> 7), f32(x & 6)\n",
          in);
    check(x + "return f32(stack((x & 15, x >> 4), axis=-1).reshape(5, -1)) * 0.25, f64(x), f32((x & 15) >> 1)\n", in);
  }
}

TEST_F(EmulatedGpu, CastsOfClamps) {
  for (const DType t : {DType::F32, DType::F64, DType::F16, DType::I32}) {
    const std::string x = fmt::format("input x: {}[3001]\n", name_of(t));
    const Tensor in = is_float(t) ? special_noise(t, {3001}, 40) : noise(t, {3001});
    check(x + "return u8(clamp(x, 0, 255)), i8(clamp(x, -128, 127)), u8(clamp(x, 1, 254)), i16(minimum(x, 32767))\n",
          {in});
    check(x + "return u8(maximum(x, 0)), i8(maximum(x, -127)), i32(clamp(x, -100, 100))\n", {in});
  }
}

TEST_F(EmulatedGpu, QuotientsByAStatistic) {
  for (const DType t : {DType::F32, DType::F64, DType::BF16})
    for (const int64_t length : {61, 1200, 5003}) {
      const std::string x = fmt::format("input x: {}[5, {}]\n", name_of(t), length);
      check(x + "return x / sum(abs(x), axis=1, keepdims=True), x / max(x, axis=0)\n", {noise(t, {5, length})});
      check(x + "return x / max(x), x / min(x, axis=1, keepdims=True)\n", {special_noise(t, {5, length})});
    }
  check("input x: f32[40009]\ninput s: f32\nreturn clamp(round(x / s), -128, 127) * s\n",
        {noise(DType::F32, {40009}), array(DType::F32, {}, {0.37})});
}

}  // namespace
}  // namespace smelt::testing
