// Integers whose values are known to be small, whatever their dtype: each program beside one array
// with every value that is an end of a range somewhere.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "emulated_gpu.hpp"
#include "smelt/error.hpp"
#include "support/message_of.hpp"
#include "support/programs.hpp"

namespace smelt::testing {
namespace {

// Ends of the dtype, of narrower ones, and what is next to them.
Tensor ends(DType t) {
  std::vector<double> values;
  for (int64_t k = -70; k < 70; ++k) values.push_back(static_cast<double>(is_unsigned_int(t) ? k + 70 : k));
  for (const int bits : {7, 8, 15, 16, 24, 31, 32, 33}) {
    if (bits >= 8 * size_of(t)) continue;
    for (const double near : {-1., 0., 1.}) {
      values.push_back(std::ldexp(1, bits) + near);
      if (!is_unsigned_int(t)) values.push_back(-std::ldexp(1, bits) + near);
    }
  }
  values.push_back(static_cast<double>(min_int(t)));
  if (size_of(t) < 8) values.push_back(static_cast<double>(max_int(t)));
  return array(t, {static_cast<int64_t>(values.size())}, values);
}

constexpr const char* kPrograms[] = {
    // quotients that round down, of what is never below 0 and of what may be
    "w = i64(x)\nreturn x // 7, x % 7, x // 1, w % 1000003, (w & 255) // 3, (w & 1023) % 60 // 7, (x & 127) // 3",
    "s = i64(x) * 100003\nday = s // 86400; sec = s % 86400\nreturn day, i8(sec // 3600), i8(sec // 60 % 60), sec % 60",
    "z = abs(i64(x)) + 719468\nera = z // 146097; doe = z - era * 146097\n"
    "return (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365, era",
    "return fmod(i64(x), 9), i64(x) // -5, i64(x) % -5, abs(i64(x)) // 9223372036854775807",
    // what is between 0 and the width of a number
    "n = where(i64(x) > 9, 8, 0) + where(x % 2 == 1, 1, 0)\nreturn u8(15 - n), f32(n), n * 1000000007, 1 << n, n >> 1",
    "b = i64(x) & 15\nreturn b << 3 | b, b ^ 5, ~b, -b, b * b, abs(b - 7), sign(b - 7), b - 16 < 0, maximum(b, -1)",
    "b = i64(x > 3)\nreturn b, b * 4294967296, b - 1, u64(b), i8(b), f16(b), bf16(b * 257), f64(b), bool(b)",
    // dtypes that others do not hold
    "return u64(x), i64(u64(x)), u32(x), f32(u64(x)), u8(x), wrap_cast(x, u64) > 5, f32(wrap_cast(x, u64))",
    "return f32(i64(u64(wrap_cast(x, u32)))), i32(i64(x) + 1), u32(i64(x) - 1), i64(wrap_cast(x, u8)) - 256",
    "return bf16(x), f16(x), bf16(i64(x) & 4095), f16(i64(x) & 65535), f8_e4m3(x & 31)",
    "return clamp(x, 0, 100), maximum(i64(x), 5) >= 5, minimum(x, 3) == 4, (x & 7) <= 7, clamp(i64(x), -3, 3) // 2",
};

// Floats beside the ends of integers, and what is none.
Tensor floats(DType t) {
  std::vector<double> values = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 0.5, -0.5, 718.9, 719, 719.1, 254.6, 255.5, 256};
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64})
    for (const double near : {-1.5, -1., 0., 1., 1.5})
      for (const double sign : {-1., 1.}) values.push_back(sign * (std::ldexp(1, bits) + near));
  for (int k = -40; k < 40; ++k) values.push_back(k * 17.3);
  return array(t, {static_cast<int64_t>(values.size())}, values);
}

constexpr const char* kOfFloats[] = {
    "return i64(x), u64(x), i32(x), u32(x), i16(x), u16(x), i8(x), u8(x), bool(x)",
    "return i64(f64(x)), u64(f64(x)), i32(f64(x)), u32(f64(x)), i16(f64(x)), i8(f64(x)), u8(f64(x))",
    // known to be small
    "a = clamp(floor(x), 0, 719); b = clamp(round(x), -4, 3)\n"
    "return i64(a), i64(a) * 1281 + i64(b), i64(b) // 2, i64(maximum(x, 0) * 0), i64(-a) % 7, u64(a) + 1, u64(b)",
    "k = clamp(x, -1000, 1000) / 16 + f32(arange(x.shape[0]) % 50)\n"
    "return i64(k), i64(abs(k)) % 100, i64(floor(k) - 3), i64(where(k > 0, k, -k)) // 3, i64(k * k)",
};

std::string program_of(DType t, const char* body) { return fmt::format("input x: {}[N]\n{}\n", name_of(t), body); }

constexpr DType kIntegers[] = {DType::I8, DType::I16, DType::I32, DType::I64,
                               DType::U8, DType::U16, DType::U32, DType::U64};

TEST(Integers, OfEveryDtypeAtTheEndsOfRanges) {
  NEEDS_LLVM();
  // The compiler of an OpenCL device takes a second for each.
  const bool few = std::getenv("SMELT_PROGRAMS") != nullptr;
  for (const DType t : kIntegers)
    for (const char* body : kPrograms) {
      if (few && t != DType::I64 && t != DType::I8) continue;
      const std::string program = program_of(t, body);
      EXPECT_TRUE(right(program, {ends(t)})) << program;
    }
}

TEST(Integers, OfFloats) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F64, DType::F16})
    for (const char* body : kOfFloats) {
      const std::string program = program_of(t, body);
      EXPECT_TRUE(right(program, {floats(t)})) << program;
    }
}

// Sums of what a cast to a natural number made 0 of.
TEST(Integers, SumsOfNumbersThatWereBelowZero) {
  NEEDS_LLVM();
  for (const DType t : {DType::I8, DType::I16, DType::I32}) {
    const std::string program = fmt::format(
        "input x: {}[R, C]\nreturn sum(u64(x), axis=1), sum(u64(x), axis=0), sum(u32(x)), cumsum(u8(x), axis=1)\n",
        name_of(t));
    EXPECT_TRUE(right(program, {noise(t, {33, 70})})) << program;
  }
}

// arange and the places of a gather are known by their extents.
TEST(Integers, Indices) {
  NEEDS_LLVM();
  const std::string program =
      "input x: f32[R, 37]\ninput t: f32[256]\ninput i: u8[R]\ninput j: i64[R]\n"
      "k = arange(37)\nweek = (k * 3 + 4) % 7\n"
      "return x + f32(week // 2), t[i], t[i // 2], t[j & 255], where((k - 5) % 6 < 2, x, 0), t[(i64(i) * 7) % 256]\n";
  for (const int64_t rows : {1, 33, 1000}) {
    std::vector<double> bytes, wide;
    for (int64_t r = 0; r < rows; ++r) {
      bytes.push_back(static_cast<double>(r * 77 % 256));
      wide.push_back(static_cast<double>((r - 20) * 1000003));
    }
    EXPECT_TRUE(right(program, {noise(DType::F32, {rows, 37}), noise(DType::F32, {256}),
                                array(DType::U8, {rows}, bytes), array(DType::I64, {rows}, wide)}));
  }
}

TEST_F(EmulatedGpu, IntegersAtTheEndsOfRanges) {
  for (const DType t : {DType::I8, DType::I32, DType::I64, DType::U32, DType::U64})
    for (const char* body : kPrograms) check(program_of(t, body), {ends(t)});
}

TEST_F(EmulatedGpu, IntegersOfFloats) {
  for (const DType t : {DType::F32, DType::F64, DType::F16})
    for (const char* body : kOfFloats) check(program_of(t, body), {floats(t)});
  check("input t: f32[256]\ninput x: f32[N]\nreturn t[i64(clamp(x, 0, 255))]\n",
        {noise(DType::F32, {256}), floats(DType::F32)});
}

// Places in groups of elements that are found from those of the group, in flat loops over odd
// numbers of elements.
TEST_F(EmulatedGpu, QuotientsOfElements) {
  const char* programs[] = {
      "input x: u8[N]\nreturn (x[:, None] >> u8(arange(8))) & 1\n",
      "input x: u8[N]\nreturn x[:, None] + u8(arange(48)), i32(x)[:, None] * arange(12)\n",
      "input x: f32[N]\nreturn x[:, None] * f32(arange(20)), repeat(repeat(x, 2), 3)\n",
  };
  for (const char* program : programs) {
    const DType t = program[9] == 'f' ? DType::F32 : DType::U8;
    for (const int64_t n : {1, 3, 8, 1001, 4099}) check(program, {noise(t, {n})}, {{"N"_size, n}});
    std::string fixed = program;
    fixed.replace(fixed.find('N'), 1, "4099");
    check(fixed, {noise(t, {4099})});
  }
}

// Pixels change places; their channels do not.
TEST_F(EmulatedGpu, UnitsOfTiles) {
  for (const auto& [t, channels] : {std::pair{DType::U8, 4},
                                    {DType::U8, 3},
                                    {DType::U8, 2},
                                    {DType::F16, 4},
                                    {DType::F16, 3},
                                    {DType::F32, 2},
                                    {DType::F32, 4},
                                    {DType::F64, 2}}) {
    const std::string program = fmt::format(
        "input x: {}[B, H, W, {}]\n"
        "return flip(swapaxes(x, 1, 2), axis=1), x[:, :, ::-1], swapaxes(x, 1, 2) + swapaxes(flip(x, axis=1), 1, 2)\n",
        name_of(t), channels);
    std::vector<Tensor> images;
    for (const auto& [height, width] : {std::pair{70, 130}, {64, 64}, {9, 200}, {1, 65}})
      images.push_back(noise(t, {2, height, width, channels}));
    std::vector<std::vector<TensorView>> calls;
    for (const Tensor& image : images) calls.push_back({image});
    check_calls(program, calls, {{"B"_size, 2}, {"H"_size, 130}, {"W"_size, 130}});
    // Sizes that are known: whole tiles, and tiles that end early.
    for (const int side : {64, 72})
      check(fmt::format("input x: {}[3, {}, 128, {}]\nreturn f32(swapaxes(x, 1, 2)) * 2\n", name_of(t), side, channels),
            {noise(t, {3, side, 128, channels})});
  }
}

// Rows at places that the data names are read in words, where their length allows that.
TEST_F(EmulatedGpu, RowsAtPlacesThatTheDataNames) {
  for (const char* dtype : {"f32", "f16"})
    for (const char* length : {"64", "33", "C"}) {
      const int64_t columns = length[0] == '3' ? 33 : 64;
      const DType t = dtype[1] == '3' ? DType::F32 : DType::F16;
      const std::string program = fmt::format(
          "input w: {0}[50, {1}]\ninput p: {0}[N, {1}]\ninput i: i32[N]\ninput j: i64[N]\n"
          "return w[i] + p, sum(w[i] * (w[j] - p), axis=1), w[j % 50 // 2] * 2\n",
          dtype, length);
      std::vector<double> near, far;
      for (int64_t n = 0; n < 700; ++n)
        near.push_back(static_cast<double>(n * 31 % 100 - 50)), far.push_back(static_cast<double>(n * 7 % 50));
      check(program,
            {noise(t, {50, columns}), noise(t, {700, columns}), array(DType::I32, {700}, near),
             array(DType::I64, {700}, far)},
            length[0] == 'C' ? SizeBinding{{"N"_size, 700}, {"C"_size, 64}} : SizeBinding{{"N"_size, 700}});
    }
}

TEST_F(EmulatedGpu, RowsThatAreNotThereAreReported) {
  const Executable executable =
      compile(lang::parse_program("input w: f32[50, 64]\ninput i: i32[40]\nreturn w[i] * 2\n", "emulated.smelt"),
              gpu_.machine, {});
  std::vector<double> places(40, 3);
  const Tensor table = noise(DType::F32, {50, 64});
  for (const int64_t wrong : {50, -51}) {
    places[17] = static_cast<double>(wrong);
    const Tensor indices = array(DType::I32, {40}, places);
    EXPECT_THAT(message_of<Error>([&] { executable.run({table, indices}); }), ::testing::HasSubstr("50"));
  }
}

}  // namespace
}  // namespace smelt::testing
