// Dtypes of expressions: the promotion table, numbers that have no dtype, what is stored.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "smelt/dtype.hpp"
#include "smelt/static.hpp"

namespace smelt {
namespace {

namespace st = smelt::fixed;
constexpr auto x = st::arg<0>;
constexpr auto y = st::arg<1>;

template <class E, class... A>
using result = decltype(std::declval<E>()(std::declval<A>()...));

static_assert(std::is_same_v<result<decltype(x * 2 + 1), float>, float>);
static_assert(std::is_same_v<result<decltype(x * 2.5), st::f16>, st::f16>);
static_assert(std::is_same_v<result<decltype(x + y), st::f16, st::bf16>, float>);
static_assert(std::is_same_v<result<decltype(x + y), st::f16, double>, double>);
static_assert(std::is_same_v<result<decltype(x + y), uint8_t, int8_t>, int16_t>);
static_assert(std::is_same_v<result<decltype(x + y), uint32_t, int32_t>, int64_t>);
static_assert(std::is_same_v<result<decltype(x + y), long long, int16_t>, int64_t>);
static_assert(std::is_same_v<result<decltype(x + 1), int8_t>, int8_t>);
static_assert(std::is_same_v<result<decltype(x < 1), int8_t>, bool>);
static_assert(std::is_same_v<result<decltype(x + st::value(1.0f)), st::f16>, float>);
static_assert(std::is_same_v<result<decltype(st::where(x > 0, 1.0, 0)), int8_t>, float>);
static_assert(std::is_same_v<result<decltype(st::where(x > 0, 1, 0)), float>, int64_t>);
static_assert(std::is_same_v<result<decltype(st::isnan(x) || y), float, bool>, bool>);
static_assert(std::is_same_v<result<decltype(st::i8(x)), double>, int8_t>);
static_assert(
    std::is_same_v<result<decltype(st::call([](float a) { return static_cast<int>(a); }, x)), st::f16>, int32_t>);

// The table of the library, dtype by dtype.
template <class A, class B>
void check_promotion() {
  constexpr auto mine = st::detail::promote(st::detail::dtype_of<A>, st::detail::dtype_of<B>);
  const auto table = promote(dtype_of<A>, dtype_of<B>);
  EXPECT_EQ(table ? static_cast<int>(*table) : static_cast<int>(st::detail::D::None), static_cast<int>(mine));
}
template <class A>
void check_row() {
  check_promotion<A, bool>(), check_promotion<A, int8_t>(), check_promotion<A, int16_t>(),
      check_promotion<A, int32_t>();
  check_promotion<A, int64_t>(), check_promotion<A, uint8_t>(), check_promotion<A, uint16_t>(),
      check_promotion<A, uint32_t>();
  check_promotion<A, uint64_t>(), check_promotion<A, float>(), check_promotion<A, double>();
}
TEST(StaticTypes, Promotion) {
  check_row<bool>(), check_row<int8_t>(), check_row<int16_t>(), check_row<int32_t>(), check_row<int64_t>(),
      check_row<uint8_t>();
  check_row<uint16_t>(), check_row<uint32_t>(), check_row<uint64_t>(), check_row<float>(), check_row<double>();
}

TEST(StaticTypes, NumbersThatDoNotFit) {
  const auto message_of = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const std::out_of_range& e) {
      return e.what();
    }
    return "";
  };
  const std::string says =
      "smelt: a number in an expression does not fit the dtype that it meets: cast the array to a wider one";
  EXPECT_EQ(message_of([&] { (x + 300)(static_cast<int8_t>(1)); }), says);
  EXPECT_EQ(message_of([&] { (x * 1e6)(st::to_f16(1)); }), says);
  EXPECT_EQ(message_of([&] { (x - 1 + (y << -1))(uint8_t{5}, uint8_t{1}); }), says);
  EXPECT_EQ((x + 127)(static_cast<int8_t>(1)), -128);
  std::vector<int8_t> a(3), b(3);
  EXPECT_EQ(message_of([&] { st::run(3, st::in(a.data()), st::out(b.data()) = x * 1000); }), says);
}

TEST(StaticTypes, Composition) {
  const auto f = x * 2 + y;
  const auto g = f(y, st::relu(x));  // y * 2 + relu(x)
  EXPECT_EQ(g(-3.0f, 5.0f), 10.0f);
  EXPECT_EQ(g(3.0f, 5.0f), 13.0f);
  EXPECT_EQ(f(1, 2), 4);
  const float scale = 3;
  EXPECT_EQ(st::call([scale](float a, int b) { return a * scale + static_cast<float>(b); }, x, st::i32(y))(2.0f, 4.9f),
            10.0f);
}

TEST(StaticTypes, OneLoopManyOutputs) {
  const int64_t n = 5003;
  std::vector<float> a(n), w(n), s(n);
  std::vector<uint8_t> big(n);
  for (int64_t i = 0; i < n; ++i)
    a[static_cast<size_t>(i)] = static_cast<float>(i % 100) - 50, w[static_cast<size_t>(i)] = 0.5f;
  float total = 0, most = 0;
  int64_t positive = 0;
  bool* flags = reinterpret_cast<bool*>(big.data());
  st::run(n, st::in(a.data(), w.data(), 2.0f), st::out(s.data()) = x * y + st::arg<2>, st::out(flags) = x > 48,
          st::out(&total) = st::sum(x), st::out(&most) = st::max(x * y), st::out(&positive) = st::sum(x > 0));
  float expected = 0;
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(s[i], a[i] * 0.5f + 2) << i;
    ASSERT_EQ(flags[i], a[i] > 48) << i;
    expected += a[i];
    count += a[i] > 0;
  }
  EXPECT_EQ(total, expected);
  EXPECT_EQ(most, 24.5f);
  EXPECT_EQ(positive, count);
  st::run(n, st::in(a.data()), st::out(a.data()) = x + 1);  // in place
  EXPECT_EQ(a[1], -48);
  st::run(0, st::in(a.data()), st::out(&total) = st::sum(x));
  EXPECT_EQ(total, 0);
  try {
    st::run(0, st::in(a.data()), st::out(&total) = st::max(x));
    FAIL() << "a maximum of nothing";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "smelt: the maximum or minimum of nothing");
  }
}

// Large enough to be written past the caches, at addresses that allow it and that do not.
TEST(StaticTypes, LargeArrays) {
  const int64_t n = (5 << 20) + 77;
  std::vector<float> a(static_cast<size_t>(n) + 8), b(static_cast<size_t>(n) + 8);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 4096);
  for (const int64_t shift : {0, 1}) {
    st::run(n, st::in(a.data()), st::out(b.data() + shift) = x * 3);
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) wrong += b[static_cast<size_t>(i + shift)] != a[static_cast<size_t>(i)] * 3;
    EXPECT_EQ(wrong, 0) << shift;
  }
}

}  // namespace
}  // namespace smelt
