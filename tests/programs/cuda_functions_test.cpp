// The functions that every CUDA module may call, compiled for the host: what is C++ in them,
// against exact arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "emit/cuda_text.hpp"
#include "support/fake_cuda/emulate.hpp"

namespace smelt::testing {
namespace {

using I64 = long long;

class CudaFunctions : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_emulate()) GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
    std::string functions;
    for (const emit::Definition& helper : emit::cuda::prelude({75})) functions += helper.text + "\n";
    library_ = std::make_unique<HostLibrary>(functions, kProbes, 75);
  }
  template <class F>
  F* function(const std::string& name) const {
    F* const found = library_->function<F>(name);
    if (!found) throw std::runtime_error("no probe " + name);
    return found;
  }

  static constexpr const char* kProbes = R"(
extern "C" {
int quotient_of_ints(int a, long long m) { return int_quotient(a, m); }
int remainder_of_ints(int a, int d, long long m) { return int_remainder(a, d, m); }
long long floor_div_64(long long a, long long b) { return floor_div<long long>(a, b); }
long long floor_mod_64(long long a, long long b) { return floor_mod<long long>(a, b); }
int floor_div_32(int a, int b) { return floor_div<int>(a, b); }
int floor_mod_32(int a, int b) { return floor_mod<int>(a, b); }
unsigned short brain_float(float x) { return to_bf16(x); }
float rounded_brain_float(float x) { return round_bf16(x); }
float from_brain_float(unsigned short x) { return from_bf16(x); }
float from_byte_at(const unsigned char* p, int n) { return from_u8_at(p, n); }
float from_signed_byte_at(const signed char* p, int n) { return from_i8_at(p, n); }
float low_bit_at(const unsigned char* p, int n) { return from_bits_at<0, 1>(p, n); }
float low_half_at(const unsigned char* p, int n) { return from_bits_at<0, 4>(p, n); }
float high_half_at(const unsigned char* p, int n) { return from_bits_at<4, 4>(p, n); }
float some_bits_at(const unsigned char* p, int n) { return from_bits_at<2, 3>(p, n); }
float high_bits_at(const unsigned char* p, int n) { return from_bits_at<1, 7>(p, n); }
float high_bit_at(const unsigned char* p, int n) { return from_bits_at<7, 1>(p, n); }
double maximum_64(double a, double b) { return maximum(a, b); }
double minimum_64(double a, double b) { return minimum(a, b); }
float maximum_32(float a, float b) { return maximum(a, b); }
float minimum_32(float a, float b) { return minimum(a, b); }
}
)";
  std::unique_ptr<HostLibrary> library_;
};

// What the launch hands over for a divisor: kernel/multipliers.hpp.
I64 multiplier(int d) { return (I64{1} << 62) / d + 1; }

TEST_F(CudaFunctions, BytesAndTheirBitsBecomeFloats) {
  using AtByte = float(const unsigned char*, int);
  alignas(4) unsigned char bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  const struct {
    const char* name;
    int at, count;
  } parts[] = {{"from_byte_at", 0, 8}, {"low_bit_at", 0, 1},   {"low_half_at", 0, 4}, {"high_half_at", 4, 4},
               {"some_bits_at", 2, 3}, {"high_bits_at", 1, 7}, {"high_bit_at", 7, 1}};
  for (const auto& part : parts) {
    auto* const read = function<AtByte>(part.name);
    for (int n = 0; n < 256; ++n)
      EXPECT_EQ(read(bytes, n), static_cast<float>(bytes[n] >> part.at & ((1 << part.count) - 1))) << part.name << n;
  }
  auto* const signed_at = function<float(const signed char*, int)>("from_signed_byte_at");
  for (int n = 0; n < 256; ++n) {
    const auto as_signed = static_cast<signed char>(bytes[n]);
    EXPECT_EQ(signed_at(reinterpret_cast<const signed char*>(bytes), n), static_cast<float>(as_signed));
  }
}

TEST_F(CudaFunctions, DivisionByAMultiplierIsExact) {
  auto* const quotient = function<int(int, I64)>("quotient_of_ints");
  auto* const remainder = function<int(int, int, I64)>("remainder_of_ints");
  std::mt19937 random(1);
  const auto check = [&](int a, int d) {
    ASSERT_EQ(quotient(a, multiplier(d)), a / d) << a << " / " << d;
    ASSERT_EQ(remainder(a, d, multiplier(d)), a % d) << a << " % " << d;
  };
  for (int d = 1; d < 300; ++d)
    for (int a = 0; a < 1000; ++a) check(a, d);
  for (int n = 0; n < 200'000; ++n) {
    const int d = static_cast<int>(random() >> (1 + random() % 31)) | 1, a = static_cast<int>(random() >> 1);
    check(a, d);
    // Next to a multiple, where one too few or too many shows.
    const int multiple = a / d * d;
    for (const int off : {-1, 0, 1})
      if (multiple + off >= 0) check(multiple + off, d);
  }
  for (const int d : {1, 2, 3, 7, 641, 65536, 65537, 1 << 30, INT32_MAX - 1, INT32_MAX})
    for (const int a : {0, 1, d - 1, d, INT32_MAX - 1, INT32_MAX}) check(a, d);
}

template <class T, class Div>
void check_floor(const Div& div, const Div& mod) {
  const auto check = [&](I64 a, I64 b) {
    const I64 q = a >= 0 ? a / b : -((-a + b - 1) / b);
    ASSERT_EQ(div(static_cast<T>(a), static_cast<T>(b)), q) << a << " // " << b;
    ASSERT_EQ(mod(static_cast<T>(a), static_cast<T>(b)), a - q * b) << a << " % " << b;
  };
  for (I64 b = 1; b < 40; ++b)
    for (I64 a = -200; a <= 200; ++a) check(a, b);
  std::mt19937_64 random(2);
  for (int n = 0; n < 50'000; ++n) check(static_cast<int>(random()), static_cast<int>(random() >> 33) | 1);
}
TEST_F(CudaFunctions, QuotientsRoundDown) {
  check_floor<I64>(function<I64(I64, I64)>("floor_div_64"), function<I64(I64, I64)>("floor_mod_64"));
  check_floor<int>(function<int(int, int)>("floor_div_32"), function<int(int, int)>("floor_mod_32"));
}

float of_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

// All bf16, and between each two neighbours the middle and what is just next to it.
TEST_F(CudaFunctions, Bf16RoundsToTheNearestAndTiesToEven) {
  auto* const narrow = function<unsigned short(float)>("brain_float");
  auto* const rounded = function<float(float)>("rounded_brain_float");
  auto* const wide = function<float(unsigned short)>("from_brain_float");
  for (uint32_t h = 0; h < 65536; ++h) {
    const float low = of_bits(h << 16);
    ASSERT_EQ(bits_of(wide(static_cast<unsigned short>(h))), h << 16);
    if (std::isnan(low)) {
      ASSERT_TRUE(std::isnan(wide(narrow(low)))) << h;
      ASSERT_TRUE(std::isnan(wide(narrow(of_bits(h << 16 | 1))))) << h;
      ASSERT_TRUE(std::isnan(wide(narrow(of_bits(h << 16 | 0xffff))))) << h;
      continue;
    }
    ASSERT_EQ(narrow(low), h);
    if (std::isinf(low)) continue;
    const uint32_t even = (h & 1) ? h + 1 : h;
    for (const auto& [rest, expected] :
         {std::pair<uint32_t, uint32_t>{0x0001, h}, {0x7fff, h}, {0x8000, even}, {0x8001, h + 1}, {0xffff, h + 1}}) {
      ASSERT_EQ(narrow(of_bits(h << 16 | rest)), expected) << h << " " << rest;
      ASSERT_EQ(bits_of(rounded(of_bits(h << 16 | rest))), expected << 16) << h << " " << rest;
    }
  }
}

template <class T, class F>
void check_extremes(const F& maximum, const F& minimum) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const std::vector<T> values = {-inf, T(-2), std::numeric_limits<T>::denorm_min(), T(-0.0), T(0.0), T(1.5), inf, nan};
  for (const T a : values)
    for (const T b : values) {
      const T most = maximum(a, b), least = minimum(a, b);
      if (std::isnan(a) || std::isnan(b)) {
        EXPECT_TRUE(std::isnan(most) && std::isnan(least)) << a << " " << b;
        continue;
      }
      EXPECT_EQ(most, std::max(a, b));
      EXPECT_EQ(least, std::min(a, b));
      if (a == 0 && b == 0) {
        EXPECT_EQ(std::signbit(most), std::signbit(a) && std::signbit(b)) << a << " " << b;
        EXPECT_EQ(std::signbit(least), std::signbit(a) || std::signbit(b)) << a << " " << b;
      }
    }
}
TEST_F(CudaFunctions, NanWinsAndPlusZeroIsAboveMinusZero) {
  check_extremes<double>(function<double(double, double)>("maximum_64"),
                         function<double(double, double)>("minimum_64"));
  check_extremes<float>(function<float(float, float)>("maximum_32"), function<float(float, float)>("minimum_32"));
}

}  // namespace
}  // namespace smelt::testing
