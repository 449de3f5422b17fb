// Numbers of functions as cubins have them; those of ptxas, which said them when it made the same
// code.
#include "runtime/cubin.hpp"

#include <gtest/gtest.h>

#include "support/fake_cuda/open.hpp"

namespace smelt::testing {
namespace {

using namespace smelt::runtime;

constexpr const char* kTwo = R"(
extern "C" __global__ void __launch_bounds__(256) busy(const float* x, float* y, int n) {
  __shared__ float s[300];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = x[i];
  __syncthreads();
  float a[64];
  for (int k = 0; k < 64; ++k) a[k] = s[(threadIdx.x + k) & 255] * n;
  float t = 0;
  for (int k = 0; k < n; ++k) t += a[(k * 7) & 63];
  y[i] = t;
}
extern "C" __global__ void idle(float* y) { y[threadIdx.x] = 1; }
)";

TEST(Cubin, HasTheFactsOfItsFunctions) {
  std::string why;
  const auto compiler = open_nvrtc(why);
  if (!compiler) GTEST_SKIP() << "no NVRTC here: " << why;
  for (const int compute : {75, 80, 90, 100}) {
    if (!compiler->supports(compute, why)) continue;
    const std::string cubin = compiler->compile(kTwo, compute);
    const auto busy = facts_of_cubin(cubin, "busy"), idle = facts_of_cubin(cubin, "idle");
    ASSERT_TRUE(busy && idle) << compute;
    EXPECT_EQ(busy->shared_bytes, 1200) << compute;
    EXPECT_EQ(busy->local_bytes, 256) << compute;  // the array that is indexed
    EXPECT_GT(busy->registers, idle->registers) << compute;
    EXPECT_LE(busy->registers, 255) << compute;
    EXPECT_EQ(idle->shared_bytes, 0) << compute;
    EXPECT_EQ(idle->local_bytes, 0) << compute;
    EXPECT_GE(idle->registers, 4) << compute;
    EXPECT_FALSE(facts_of_cubin(cubin, "absent"));
  }
}

TEST(Cubin, SaysNothingOfWhatIsCutShortOrNoCubin) {
  EXPECT_FALSE(facts_of_cubin("", "f"));
  EXPECT_FALSE(
      facts_of_cubin("\x7f"
                     "ELF",
                     "f"));
  std::string why;
  const auto compiler = open_nvrtc(why);
  if (!compiler) GTEST_SKIP() << "no NVRTC here: " << why;
  const std::string cubin = compiler->compile(kTwo, 90);
  const auto all = facts_of_cubin(cubin, "busy");
  ASSERT_TRUE(all);
  // No length and no byte that is wrong may lead outside; what is said of it is nothing, or what
  // there is.
  for (size_t n = 0; n < cubin.size(); n += 7) facts_of_cubin(cubin.substr(0, n), "busy");
  for (size_t n = 0; n < cubin.size(); n += 3) {
    std::string other = cubin;
    other[n] = static_cast<char>(other[n] ^ 0xff);
    facts_of_cubin(std::string_view(other), "busy");
  }
  EXPECT_FALSE(facts_of_cubin(cubin.substr(0, cubin.size() / 2), "busy"));
}

}  // namespace
}  // namespace smelt::testing
