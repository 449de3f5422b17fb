// Products on matrix units whose factors are less than f32: parts in bf16, and floats of 8 bits.
#include <fmt/format.h>

#include <tuple>

#include "emulated_gpu.hpp"

namespace smelt::testing {
namespace {

class EmulatedPrecision : public EmulatedGpu {};

// Products of f32 that may be less exact: parts in bf16 on matrix units, made for sizes where those
// pay.
TEST_F(EmulatedPrecision, PartsInBf16) {
  for (const char* last :
       {"matmul(a, b, precision='bf16x3')", "relu(linear(at.T, bt, c, precision='tf32'))",
        "einsum('km,nk->nm', at, bt, precision='bf16x3')", "matmul(a, f8_e4m3(b), precision='tf32')"}) {
    const std::string program = fmt::format(
        "input a: f32[M, K]\ninput b: f32[K, N]\ninput at: f32[K, M]\ninput bt: f32[N, K]\ninput c: f32[N]\nreturn "
        "{}\n",
        last);
    std::vector<std::vector<Tensor>> keep;
    std::vector<std::vector<TensorView>> calls;
    for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{33, 40, 66}, {130, 35, 8}})
      keep.push_back({noise(DType::F32, {m, k}, 1), noise(DType::F32, {k, n}, 2), noise(DType::F32, {k, m}, 3),
                      noise(DType::F32, {n, k}, 4), noise(DType::F32, {n}, 5)});
    for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3], k[4]});
    check_calls(program, calls, {{"M"_size, 5000}, {"K"_size, 512}, {"N"_size, 5000}});
  }
}

// Floats of 8 bits become halves where they are staged.
TEST_F(EmulatedPrecision, FloatsOf8Bits) {
  for (const char* last : {"f32(a) @ f32(b)", "f32(at).T @ f32(h).T", "a @ b", "f32(relu(a)) @ f32(b)"})
    for (const DType t : {DType::F8E4M3, DType::F8E5M2}) {
      const std::string program =
          fmt::format("input a: {0}[M, K]\ninput b: {0}[K, N]\ninput at: {0}[K, M]\ninput h: bf16[N, K]\nreturn {1}\n",
                      name_of(t), last);
      std::vector<std::vector<Tensor>> keep;
      std::vector<std::vector<TensorView>> calls;
      for (const auto& [m, k, n] : {std::tuple<int64_t, int64_t, int64_t>{33, 40, 66}, {130, 35, 8}})
        keep.push_back({noise(t, {m, k}, 1), noise(t, {k, n}, 2), noise(t, {k, m}, 3), noise(DType::BF16, {n, k}, 4)});
      for (const auto& k : keep) calls.push_back({k[0], k[1], k[2], k[3]});
      const int64_t estimate = t == DType::F8E4M3 ? 5000 : 40;
      check_calls(program, calls, {{"M"_size, estimate}, {"K"_size, 64}, {"N"_size, estimate}});
    }
}

}  // namespace
}  // namespace smelt::testing
