// Arrays: data in and out, expressions, eval().
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <numeric>

namespace smelt {
namespace {

std::vector<float> evaluated(Array a) {
  eval(a);
  return a.to_vector<float>();
}

TEST(Array, NothingIsCalculatedBehindTheUsersBack) {
  const Array x = Array::from({1.f, 2.f, 3.f});
  const Array y = x * 2 + 1;
  EXPECT_FALSE(y.evaluated());
  EXPECT_EQ(y.str(), "f32[3]");
  try {
    y.span<float>();
    FAIL() << "read an unevaluated value";
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "span(): f32[3] is not evaluated yet\nhelp: call eval(x) first");
  }
  const Array copy = y;
  eval(y);
  EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{3, 5, 7}));
}

TEST(Array, SubscriptsAreThoseOfNumPy) {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.f);
  const Array x = Array::from(values, {2, 3, 4});
  EXPECT_EQ(evaluated(x[1][0]), (std::vector<float>{12, 13, 14, 15}));
  EXPECT_EQ(evaluated(x[{1, ellipsis, -1}]), (std::vector<float>{15, 19, 23}));
  EXPECT_EQ(evaluated(x[{0, slice(none, none, -1), slice(0, 10, 2)}]), (std::vector<float>{8, 10, 4, 6, 0, 2}));
  EXPECT_EQ((x[{ellipsis, newaxis}].str()), "f32[2, 3, 4, 1]");
  EXPECT_EQ(evaluated(x[{0, Array::from({2, 0}), 1}]), (std::vector<float>{9, 1}));
  EXPECT_EQ(x[slice(5)].str(), "f32[0, 3, 4]");
}

TEST(Array, MistakesThrowWhereTheyAreWritten) {
  const Array x = Array::from(std::vector<float>(32), {4, 8}), y = Array::from(std::vector<float>(12), {4, 3});
  const auto message = [](auto&& f) -> std::string {
    try {
      f();
    } catch (const UserError& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(
      message([&] { x + y; }),
      "+: cannot broadcast f32[4, 8] with f32[4, 3]\nhelp: sizes 8 and 3 of axis -1 must be equal, or one of them 1");
  EXPECT_EQ(message([&] { softmax(x, 5); }),
            "softmax: axis 5 is out of range for an array of rank 2\nhelp: use an axis from -2 to 1");
  EXPECT_EQ(message([&] {
              x + Array::from({1, 2});
            }),
            "+: cannot mix f32[4, 8] with i32[2]\nhelp: write astype(b, DType::F32)");
  EXPECT_EQ(message([&] { x + Array(); }), "+: this Array is empty\nhelp: Array() is no array; give it a value first");
  EXPECT_EQ(message([&] { x[9]; }),
            "[]: index 9 is out of range for axis 0 of f32[4, 8]\nhelp: indices go from -4 to 3");
  EXPECT_EQ(message([&] {
              reshape(x, {3, -1});
            }),
            "cannot reshape f32[4, 8] (32 elements) to [3, -1]: 3 must divide the number of elements");
  EXPECT_EQ(message([&] {
              mean(Array::from({1, 2}));
            }),
            "mean takes floats, not i32[2]\nhelp: cast first: mean(astype(..., DType::F32))");
  EXPECT_EQ(message([&] {
              Array::from({1, 2}) * 0.5;
            }),
            "*: cannot mix i32[2] with the float 0.5\nhelp: write astype(a, DType::F32)");
}

}  // namespace
}  // namespace smelt
