// Quotients whose divisor a row shares, as products on an emulated GPU: they are what the division
// gives.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "emit/cuda.hpp"
#include "kernel/facts.hpp"
#include "kernel/passes.hpp"
#include "kernel/samples.hpp"
#include "support/fake_cuda/emulate.hpp"
#include "support/symbols.hpp"

namespace smelt::kernel {
namespace {

// out2[g, i] = in0[g, i] / in1[g], by teams of 32 threads.
void fill_quotients(Sample& s, DType t, int64_t rows, int64_t length) {
  const IntExpr g = sym("g"_loop), i = sym("i"_loop);
  const int in = s.input(t, {rows, length}), by = s.input(t, {rows}), out = s.output(t, {rows, length});
  const ExprId quotient = s.build.apply(Op::Div, {s.load(in, {g, i}), s.load(by, {g})});
  s.phase(grid("g"_loop, rows, {vector("i"_loop, length, {store({false, out, {g, i}}, quotient)}, 1)}));
  s.kernel.dialect = Dialect::Gpu;
  s.kernel.phases[0].team = {32, 32};
}

template <class T>
class Quotients : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Quotients, Floats);

// Neighbours in the order of floats are neighbours as integers.
template <class T>
int64_t units_apart(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const auto place = [](T x) {
    const auto bits = std::bit_cast<Bits>(x);
    return static_cast<int64_t>(bits < 0 ? std::numeric_limits<Bits>::min() - bits : bits);
  };
  return std::abs(place(a) - place(b));
}

TYPED_TEST(Quotients, AreThoseOfTheDivision) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "threads of the emulated GPU have stacks that the sanitizer does not know";
#endif
  if (!smelt::testing::can_emulate()) GTEST_SKIP() << "no " << SMELT_TEST_CXX << " here";
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T tiny = Limits::denorm_min(), least = Limits::min(), most = Limits::max(), inf = Limits::infinity();
  std::vector<T> by{1,
                    2,
                    3,
                    7,
                    -10,
                    T(0.1),
                    T(1) / 3,
                    -T(127),
                    least,
                    -least,
                    tiny,
                    3 * tiny,
                    least / 3,
                    most,
                    -most / 3,
                    inf,
                    -inf,
                    0,
                    -T(0),
                    Limits::quiet_NaN(),
                    std::nextafter(T(1), T(0)),
                    std::nextafter(T(2), T(0)),
                    std::ldexp(T(1.7), Limits::max_exponent - 3),
                    std::ldexp(T(1.3), Limits::min_exponent + 2)};
  std::vector<T> of{
      0, -T(0), 1, -1, 3, least, -least, tiny, 5 * tiny, most, -most, inf, -inf, most / 7, Limits::quiet_NaN()};
  uint64_t state = 5;
  const auto random = [&] {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state >> 12) * 0x1p-52 + 0x1p-53;
  };
  while (of.size() < 2000) {
    const int range = of.size() % 3 == 0 ? Limits::max_exponent - 2 : 8;
    of.push_back(static_cast<T>(std::ldexp(random() + 1, static_cast<int>((random() - 0.5) * 2 * range))));
  }
  while (by.size() < 60) by.push_back(static_cast<T>(random() * 100));
  const auto rows = static_cast<int64_t>(by.size()), length = static_cast<int64_t>(of.size());
  std::vector<T> in, out(static_cast<size_t>(rows * length));
  for (int64_t r = 0; r < rows; ++r) in.insert(in.end(), of.begin(), of.end());

  Sample s;
  fill_quotients(s, sizeof(T) == 4 ? DType::F32 : DType::F64, rows, length);
  Proved proved;
  run_passes(s.kernel, proved);
  const emit::DeviceSource source = emit::emit_cuda(s.kernel, {80});
  const smelt::testing::HostLibrary library(source.text);
  const emit::DeviceFunction& function = source.phases[0].variants.back().function;
  const T *from = in.data(), *divisors = by.data();
  T* to = out.data();
  ASSERT_EQ(library.launch(function.name, {&from, &divisors, &to}, {static_cast<unsigned>(rows), 1, 1}, {32, 1, 1}, 0),
            "")
      << source.text;
  int64_t rounded = 0, ordinary = 0;
  for (size_t k = 0; k < out.size(); ++k) {
    const T x = in[k], y = by[k / of.size()], expected = x / y, got = out[k];
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << x << " / " << y << " gave " << got;
      continue;
    }
    ASSERT_LE(units_apart(expected, got), 1) << x << " / " << y << " gave " << got << ", not " << expected;
    if (expected == 0 || std::isinf(expected)) {
      ASSERT_TRUE(units_apart(expected, got) == 1 || std::signbit(got) == std::signbit(expected)) << x << " / " << y;
    }
    if (std::abs(expected) > std::ldexp(least, 40) && std::abs(x) > std::ldexp(least, 40)) {
      ++ordinary;
      rounded += got == expected;
    }
  }
  EXPECT_GT(ordinary, 50000);
  EXPECT_EQ(rounded, ordinary) << "of quotients that are not small";
}

}  // namespace
}  // namespace smelt::kernel
