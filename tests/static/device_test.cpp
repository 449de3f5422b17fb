// The device side of smelt/static compiles for every architecture that smelt supports; no GPU is
// needed.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "support/fake_cuda/open.hpp"

namespace smelt::testing {
namespace {

// The header and all that it includes, as one text: NVRTC opens no files here.
std::string flattened(const std::string& name, std::set<std::string>& seen) {
  if (!seen.insert(name).second) return "";
  std::ifstream file(std::string(SMELT_SOURCE_DIR) + "/include/" + name);
  EXPECT_TRUE(file) << name;
  std::string text, line;
  const std::string include = "#include \"smelt/";
  while (std::getline(file, line))
    if (line.rfind(include, 0) == 0)
      text += flattened(line.substr(10, line.size() - 11), seen);
    else if (line != "#pragma once")
      text += line + "\n";
  return text;
}

const char* kKernels = R"(
namespace st = smelt::fixed;
extern "C" __global__ void quantize(long n, const float* x, signed char* y) {
  const auto f = st::i8(st::clamp(st::round(st::arg<0> / 4.2 + 1.2), -128, 127));
  st::detail::elements_of_thread<4>(n, st::in(x), st::out(y) = f);
}
extern "C" __global__ void scalars(int n, const float* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = st::i32(st::exp(st::arg<0>) * 2 + st::arg<1>)(x[i], 3.5);
}
extern "C" __global__ void halves(long n, const st::f16* a, const st::bf16* b, st::f16* c, st::bf16* d) {
  constexpr auto x = st::arg<0>;
  constexpr auto y = st::arg<1>;
  st::detail::elements_of_thread<8>(n, st::in(a, b), st::out(c) = st::gelu(x) * st::clamp(x, -3, 3),
                                    st::out(d) = st::where(st::isnan(y), 0, st::silu(y)));
}
extern "C" __global__ void integers(long n, const int* a, const unsigned char* b, long* c, bool* d) {
  constexpr auto x = st::arg<0>;
  constexpr auto y = st::arg<1>;
  st::detail::elements_of_thread<2>(n, st::in(a, b, 7), st::out(c) = st::i64(st::floor_divide(x, y) + x % st::arg<2> + st::pow(x, 3)),
                                    st::out(d) = ((x << 2) > (x >> 1)) ^ (y == 3));
}
)";

// Long to compile: for one architecture.
const char* kFunctions = R"(
extern "C" __global__ void functions(long n, const float* a, float* c) {
  constexpr auto x = st::arg<0>;
  const auto f = st::exp(x) + st::exp2(x) + st::log(x) + st::log1p(x) + st::sin(x) + st::asin(x) + st::atan(x) + st::sinh(x) + st::tanh(x) +
                 st::erf(x) + st::erfc(x) + st::cbrt(x) + st::pow(x, 2.5) + st::hypot(x, 3) + st::fmod(x, 0.7);
  st::detail::elements_of_thread<1>(n, st::in(a), st::out(c) = f);
}
extern "C" __global__ void of_f64(int n, const double* a, double* c) {
  const auto f = st::log(st::arg<0>) + st::exp(st::arg<0>) + st::call([](double v) { return v * 2; }, st::arg<0>);
  if (threadIdx.x < n) c[threadIdx.x] = f(a[threadIdx.x]);
}
)";

class StaticDevice : public ::testing::TestWithParam<int> {};

TEST_P(StaticDevice, Compiles) {
  std::string why;
  const auto nvrtc = open_nvrtc(why);
  if (!nvrtc) GTEST_SKIP() << "no NVRTC here: " << why;
  if (!nvrtc->supports(GetParam(), why)) GTEST_SKIP() << why;
  std::set<std::string> seen;
  const std::string source = flattened("smelt/static.hpp", seen) + kKernels + (GetParam() == 90 ? kFunctions : "");
  EXPECT_EQ(source.find("#include \"smelt"), std::string::npos);
  runtime::NvrtcOptions options;
  options.for_device = true;
  EXPECT_GT(nvrtc->compile(source, GetParam(), options).size(), 1000u);
}

INSTANTIATE_TEST_SUITE_P(All, StaticDevice, ::testing::Values(75, 80, 90, 100),
                         [](const ::testing::TestParamInfo<int>& info) { return "sm_" + std::to_string(info.param); });

}  // namespace
}  // namespace smelt::testing
