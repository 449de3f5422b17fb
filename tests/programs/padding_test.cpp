// Padded and shifted arrays: groups of lanes that lie inside of an array, outside, or across its
// edge, and lanes that need what another lane has read.
#include <fmt/format.h>

#include "run.hpp"

namespace smelt::testing {
namespace {

Tensor with_nan(DType t, const Dims& dims) {
  Tensor x = noise(t, dims, 3);
  if (!is_float(t)) return x;
  std::vector<double> v = numbers(x);
  for (size_t i = 5; i < v.size(); i += 97) v[i] = i % 2 ? kNan : kInf;
  return array(t, dims, v);
}

// Threads of a GPU take groups of lanes where there is work for all of them.
int64_t rows_of(int64_t width) { return device().is_gpu ? (1 << 19) / width : 33; }

// What is padded by whole groups of lanes, by parts of one, on one side, by something other than 0,
// and read backwards.
TEST(Padding, AroundRowsOfEveryWidth) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::BF16, DType::I8, DType::F64})
    for (const int64_t width : {64, 256, 31, 4})
      for (const char* call : {"pad(x, 8) + x[0, 0]", "pad(x, ((0, 0), (4, 0)))", "pad(x, ((1, 2), (16, 4)))",
                               "pad(x, 3)", "pad(x, 8, 1)", "pad(flip(x, 1), ((0, 0), (8, 8)))", "flip(pad(x, 4), 1)"})
        EXPECT_TRUE(right(fmt::format("input x: {}[{}, {}]\nreturn {}\n", name_of(t), rows_of(width), width, call),
                          {with_nan(t, {rows_of(width), width})}))
            << name_of(t) << " " << width << " " << call;
}

TEST(Padding, NeighboursInThreeDimensions) {
  NEEDS_LLVM();
  for (const DType t : {DType::F32, DType::F16})
    for (const int64_t width : {32, 30, 7}) {
      const std::string program = fmt::format(
          "input x: {}[{}, 12, {}]\np = pad(x, 1)\n"
          "a = p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]\n"
          "return a + p[1:-1, 1:-1, :-2] + 2 * p[1:-1, 1:-1, 2:] + x\n",
          name_of(t), rows_of(12 * width), width);
      EXPECT_TRUE(right(program, {with_nan(t, {rows_of(12 * width), 12, width})})) << program;
    }
}

TEST(Padding, LanesThatAnotherLaneHasRead) {
  NEEDS_LLVM();
  for (const char* call :
       {"x + shifted[:, :-2] - 3 * shifted[:, 2:]", "x[:, :-1] - x[:, 1:]", "x[:, 3:-1] * x[:, 4:] + x[:, :-4]",
        "where(x > 0, shifted[:, :-2], x)", "sum(x * shifted[:, 2:], axis=1, keepdims=True) + x"})
    for (const int64_t width : {1024, 100, 37})
      EXPECT_TRUE(right(fmt::format("input x: f32[{}, {}]\nshifted = pad(x, ((0, 0), (1, 1)))\nreturn {}\n",
                                    rows_of(width), width, call),
                        {with_nan(DType::F32, {rows_of(width), width})}))
          << width << " " << call;
}

#if defined(__x86_64__)
// Vectors of 128 and of 256 bits: masks are vectors there, of some types or of none.
template <class Body>
void on_processors_without_mask_registers(const Body& body) {
  for (const char* level : {"x86-64-v2", "x86-64-v3"}) {
    if (std::string(level) == "x86-64-v3" && !__builtin_cpu_supports("avx2")) continue;
    SCOPED_TRACE(level);
    Machine machine = Machine::cpu_level(level);
    machine.cache = nullptr;
    const RunOn here(machine);
    body();
  }
}

TEST(Padding, OnProcessorsWithoutMaskRegisters) {
  NEEDS_LLVM();
  on_processors_without_mask_registers([] {
    for (const DType t : {DType::F32, DType::F16, DType::U8, DType::F64})
      for (const int64_t width : {17, 3, 40, 100})
        for (const char* call : {"pad(x[:, :, 1:], ((0, 0), (5, 5), (5, 5)))", "pad(x, ((0, 0), (2, 2), (9, 0)), 1)",
                                 "pad(x[:, :, ::2], ((0, 0), (1, 1), (3, 20)))", "pad(flip(x, 2), 4)"})
          EXPECT_TRUE(right(fmt::format("input x: {}[4, 9, {}]\nreturn {}\n", name_of(t), width, call),
                            {with_nan(t, {4, 9, width})}))
              << name_of(t) << " " << width << " " << call;
  });
}

// The last lanes of rows, of which it is known how many they are.
TEST(Padding, LastLanesOfKnownRows) {
  NEEDS_LLVM();
  on_processors_without_mask_registers([] {
    for (const DType t : {DType::F32, DType::BF16, DType::I8, DType::F64})
      for (const int64_t width : {2, 3, 4, 6, 8, 9, 16, 20, 30, 32, 33, 64, 66})
        for (const char* call : {"cumsum(x, axis=0)", "x[:, 1:] - x[:, :-1]", "maximum(x, x[:, :1]), max(x, axis=0)"})
          EXPECT_TRUE(
              right(fmt::format("input x: {}[7, {}]\nreturn {}\n", name_of(t), width, call), {with_nan(t, {7, width})}))
              << name_of(t) << " " << width << " " << call;
  });
}
#endif

}  // namespace
}  // namespace smelt::testing
