// Arrays: data in and out, expressions, eval().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <numeric>
#include <sstream>

#include "api/specialize.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::placed_message_of;

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
  EXPECT_EQ(x[slice(5, none)].str(), "f32[0, 3, 4]");
}

TEST(Array, ListsOfIndicesAreNumbersOfTheFunction) {
  const Array x = Array::from({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), i = Array::from({2, 0});
  using List = std::vector<float>;
  const auto values = [](Array a) {
    eval(a);
    return a.to_vector<float>();
  };
  EXPECT_EQ(values(take(x, {2, 1, 0}, 0)), (List{5, 6, 3, 4, 1, 2}));
  EXPECT_EQ(take(x, {-1}, 0).shape(), (Dims{1, 2}));
  EXPECT_EQ(take(x, {}, 0).shape(), (Dims{0, 2}));
  EXPECT_EQ(values(take(x, -1, 0)), (List{5, 6}));
  EXPECT_EQ(values(take(x, i, 0)), (List{5, 6, 1, 2}));
  EXPECT_EQ(values(take(x, {i}, 0)), (List{5, 6, 1, 2}));
  EXPECT_EQ(values(take(x, x.extent(0) - 1, 0)), (List{5, 6}));
  EXPECT_EQ(values(x.take({0, 0, 5})), (List{1, 1, 6}));
  EXPECT_EQ(values(take(x, {7, -7}, 0, OutOfRange::Clip)), (List{5, 6, 1, 2}));
  EXPECT_EQ(values(scatter_add(x, {0, 2, 0}, Array(1.f))), (List{3, 4, 3, 4, 6, 7}));
  EXPECT_EQ(values(embedding(x, {1})), (List{3, 4}));
  EXPECT_EQ(message_of([&] {
              take(x, {0, 3}, 0);
            }),
            "take: index 3 is out of range for axis 0 of f32[3, 2]\nhelp: indices go from -3 to 2");
  const auto f = compile([](Array a) { return take(a, {3, 0}, 0); });
  EXPECT_EQ(values(f(Array::from({1.f, 2.f, 3.f, 4.f}))), (List{4, 1}));
  EXPECT_NE(message_of([&] {
              f(Array::from({1.f, 2.f}));
            }).find("index 3 is out of range for axis 0 of f32["),
            std::string::npos);
}

TEST(Array, MistakesThrowWhereTheyAreWritten) {
  const Array bytes = Array::from({uint8_t{1}, uint8_t{2}});
  EXPECT_EQ(message_of([&] { bytes.to_vector<float>(); }),
            "to_vector(): u8[2] has no elements of f32\nhelp: read u8, or cast it: astype(x, DType::...)");
  EXPECT_EQ(message_of([&] { (bytes + 1).to_vector<uint8_t>(); }),
            "to_vector(): u8[2] is not evaluated yet\nhelp: call eval(x) first");
  const Array x = Array::from(std::vector<float>(32), {4, 8}), y = Array::from(std::vector<float>(12), {4, 3});
  EXPECT_EQ(
      message_of([&] { x + y; }),
      "+: cannot broadcast f32[4, 8] with f32[4, 3]\nhelp: sizes 8 and 3 of axis -1 must be equal, or one of them 1");
  EXPECT_EQ(message_of([&] { softmax(x, 5); }),
            "softmax: axis 5 is out of range for an array of rank 2\nhelp: use an axis from -2 to 1");
  EXPECT_EQ(message_of([&] {
              x + Array::from({1, 2});
            }),
            "+: cannot mix f32[4, 8] with i32[2]\nhelp: write astype(b, DType::F32)");
  EXPECT_EQ(message_of([&] { x + Array(); }),
            "+: this Array is empty\nhelp: Array() is no array; give it a value first");
  EXPECT_EQ(message_of([&] { x[9]; }),
            "index 9 is out of range for axis 0 of f32[4, 8]\nhelp: indices go from -4 to 3");
  // What the language would write otherwise is written in C++.
  EXPECT_EQ(message_of([&] { x[slice(0, 2, 0)]; }),
            "the step of a slice is 0\nhelp: take another step: 2 takes every other element, -1 reverses");
  EXPECT_EQ(message_of([&] {
              x[{ellipsis, ellipsis}];
            }),
            "an index has at most one ...\nhelp: one ... stands for all axes that the other items leave");
  const Array indices = Array::from({0, 1}), flags = Array::from({true, false});
  EXPECT_EQ(message_of([&] {
              x[{indices, indices}];
            }),
            "two lists or arrays of indices in one subscript\n"
            "help: index twice, as in x[i][{slice(), j}], or index a flattened array");
  EXPECT_EQ(message_of([&] { scatter_max(flags, indices, flags); }),
            "scatter_max takes numbers, not bool[2]\n"
            "help: true is above false: cast it, as in astype(scatter_max(astype(x, DType::U8), ...), DType::Bool)");
  EXPECT_EQ(message_of([&] { relu(Array()); }), "relu: 'x' is an array or a number, not an empty Array");
  EXPECT_EQ(message_of([&] {
              concat({y, x, indices}, 0);
            }),
            "concat: cannot mix f32[4, 3] with i32[2]\nhelp: write astype(arrays[2], DType::F32)");
  EXPECT_EQ(message_of([&] {
              reshape(x, {3, -1});
            }),
            "cannot reshape f32[4, 8] (32 elements) to [3, -1]: 3 must divide the number of elements");
  EXPECT_EQ(message_of([&] {
              mean(Array::from({1, 2}));
            }),
            "mean takes floats, not i32[2]\nhelp: cast first: mean(astype(..., DType::F32))");
  EXPECT_EQ(message_of([&] {
              Array::from({1, 2}) * 0.5;
            }),
            "*: cannot mix i32[2] with the float 0.5\nhelp: write astype(a, DType::F32)");
}

TEST(Array, ReadsMemoryOfEveryShape) {
  std::vector<float> memory(12);
  std::iota(memory.begin(), memory.end(), 0.f);
  const auto sums = [](const Array& x) { return evaluated(sum(x * 1, -1)); };
  EXPECT_EQ(sums(Array::borrow(memory, {3, 4})), (std::vector<float>{6, 22, 38}));
  EXPECT_EQ(sums(Array::borrow(memory, {4, 3}, {1, 4})), (std::vector<float>{12, 15, 18, 21}));
  EXPECT_EQ(sums(Array::borrow(memory, {3, 4}, {-4, -1}, 11)), (std::vector<float>{38, 22, 6}));
  EXPECT_EQ(sums(Array::borrow(memory, {2, 5}, {1, 0}, 3)), (std::vector<float>{15, 20}));
  EXPECT_EQ(sums(Array::borrow(memory, {2, 0})), (std::vector<float>{0, 0}));
  EXPECT_EQ(sums(Array::from(std::vector<float>{}, {0, 3})), (std::vector<float>{}));
  Array nothing = max(Array::from(std::vector<float>{}, {0, 3}) * 2, 1);
  eval(nothing);
  EXPECT_EQ(nothing.shape(), (Dims{0}));
  Array scalar = Array::scalar(3.f) * 2;
  eval(scalar);
  EXPECT_EQ(scalar.item<float>(), 6);
  EXPECT_EQ(scalar.ndim(), 0);
  const float nan = std::nanf("");
  const auto maxima = evaluated(maximum(Array::from({nan, -0.f, 1.f}), Array::from({0.f, 0.f, nan})));
  EXPECT_TRUE(std::isnan(maxima[0]) && std::isnan(maxima[2]));
  EXPECT_FALSE(std::signbit(maxima[1]));
}

TEST(Array, ChecksWhatItBorrows) {
  std::vector<float> memory(12);
  EXPECT_THAT(
      message_of([&] {
        Array::borrow(memory, {3, 5});
      }),
      HasSubstr("f32[3, 5] with strides [5, 1] and offset 0 leaves the memory given for it, which holds 12 elements"));
  EXPECT_THAT(
      message_of([&] {
        Array::borrow(memory, {3, 4}, {-4, 1});
      }),
      HasSubstr("f32[3, 4] with strides [-4, 1] and offset 0 leaves the memory given for it, which holds 12 elements"));
  EXPECT_THAT(message_of([&] {
                Array::borrow(memory, {3}, {1, 1});
              }),
              HasSubstr("shape [3] has 1 axes, but there are 2 strides"));
  EXPECT_THAT(
      message_of([&] { Array::borrow(memory, {3}, {1}, 10); }),
      HasSubstr("f32[3] with strides [1] and offset 10 leaves the memory given for it, which holds 12 elements"));
  EXPECT_THAT(message_of([&] { Array::borrow(memory, {-1}); }), HasSubstr("shape [-1] has the negative size -1"));
  EXPECT_THAT(message_of([&] {
                Array::from(memory, {5, 2});
              }),
              HasSubstr("shape [5, 2] has 10 elements, but 12 are given"));
  EXPECT_THAT(message_of([&] { Array::adopt(static_cast<void*>(nullptr), DType::F32, {2}, {}, nullptr); }),
              HasSubstr("the address of f32[2] is null"));
  EXPECT_NO_THROW(Array::borrow(memory, {1, 12}, {99, 1}));  // a stride that is never taken
  const std::vector<float> constant(4);
  Array x = Array::borrow(constant, {4});
  EXPECT_THAT(message_of([&] { x.mutable_span<float>(); }),
              HasSubstr("mutable_span(): f32[4] is memory that must not be written"));
  EXPECT_THAT(message_of([&] { x.span<double>(); }), HasSubstr("span(): f32[4] has no elements of f64"));
  EXPECT_THAT(message_of([&] { x.item<float>(); }), HasSubstr("item(): f32[4] has 4 elements, not one"));
  EXPECT_THAT(message_of([&] {
                Array::borrow(memory, {2, 2}, {1, 2}).span<float>();
              }),
              HasSubstr("span(): the elements of f32[2, 2] do not lie row by row: its strides are [1, 2]"));
  EXPECT_EQ(Array::borrow(memory, {2, 2}, {1, 2}).copy().span<float>().size(), 4u);
  EXPECT_THAT(
      message_of([&] { (void)Array(UINT64_MAX); }),
      HasSubstr("the number 18446744073709551615 is above the largest that a program may have, 9223372036854775807"));
  EXPECT_THAT(message_of([&] { (void)Array().dtype(); }), HasSubstr("dtype(): this Array is empty"));
  EXPECT_EQ(Array().str(), "no array");
}

TEST(Array, FreesAdoptedMemoryOnce) {
  int freed = 0;
  {
    Array y;
    {
      auto* memory = new float[4]{1, 2, 3, 4};
      const Array x = Array::adopt(memory, DType::F32, {4}, {}, std::shared_ptr<void>(memory, [&](void* p) {
                                     delete[] static_cast<float*>(p);
                                     ++freed;
                                   }));
      const Array same = x;
      y = x + 1;
    }
    EXPECT_EQ(freed, 0);  // an expression needs it
    eval(y);
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{2, 3, 4, 5}));
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(Array::adopt(std::vector<int>{1, 2}, {2}).to_vector<int>(), (std::vector<int>{1, 2}));
}

TEST(Eval, SeveralValuesAreOnePlanAndLoopsCompileOnce) {
  Array x = Array::from({1.f, 2.f, 3.f, 4.f}, {2, 2});
  Array shared = exp(x), y = shared + 1, z = sum(shared, 1);
  const int before = detail::eval_compile_count();
  eval(y, z);
  EXPECT_EQ(detail::eval_compile_count(), before + 1);
  EXPECT_FALSE(shared.evaluated());
  EXPECT_FLOAT_EQ(y.to_vector<float>()[0], std::exp(1.f) + 1);
  EXPECT_FLOAT_EQ(z.to_vector<float>()[1], std::exp(3.f) + std::exp(4.f));
  eval(y);  // again: nothing to do
  EXPECT_EQ(detail::eval_compile_count(), before + 1);
  for (int i = 0; i < 50; ++i) {
    x = tanh(x * 0.5) + 1;
    eval(x);
  }
  EXPECT_EQ(detail::eval_compile_count(), before + 2);
  // Other sizes of the first axis are served too.
  Array w = tanh(Array::from(std::vector<float>(6), {3, 2}) * 0.5) + 1;
  eval(w);
  EXPECT_EQ(detail::eval_compile_count(), before + 2);
}

// Equal expressions share an executable; an error names the line of the one that is evaluated.
TEST(Eval, ErrorsNameTheLineOfTheirOwnExpression) {
  if (!Device::cpu().usable()) GTEST_SKIP() << Device::cpu().missing();
  const Array table = Array::from({10.f, 20.f, 30.f});
  const auto indices = [](int a, int b) { return Array::from({a, b}); };
  const auto place_of = [](Array y) {
    const std::string message = placed_message_of([&] { eval(y); });
    const size_t at = message.find("array_test.cpp:");
    return at == std::string::npos ? 0 : std::stoi(message.substr(at + 15));
  };
  const auto twice = [&](const Array& i, const Array& j, int& first, int& second) {
    first = __LINE__ + 1;
    const Array y = take(table, i, 0) * 2;
    second = __LINE__ + 1;
    return take(y, j, 0) * 2;
  };
  int first = 0, second = 0;
  EXPECT_EQ(place_of(twice(indices(0, 3), indices(0, 1), first, second)), first);
  EXPECT_EQ(place_of(twice(indices(0, 1), indices(0, 2), first, second)), second);
  EXPECT_EQ(place_of(twice(indices(0, 1), indices(0, 1), first, second)), 0);
  const int before = detail::eval_compile_count();
  const Array inner = take(table, indices(0, -4), 0) * 2;
  first = __LINE__ - 1;
  EXPECT_EQ(place_of(take(inner, indices(0, 1), 0) * 2), first);
  const Array valid = take(table, indices(0, 2), 0) * 2;
  second = __LINE__ + 1;
  const Array outer = take(valid, indices(2, 0), 0) * 2;
  EXPECT_EQ(place_of(outer), second);
  EXPECT_EQ(detail::eval_compile_count(), before);
  EXPECT_THAT(message_of([&] { eval(outer); }), HasSubstr("has no such element: index 2 of 2 elements\nhelp: "));

  // Two steps of one line that are on several here: no line is better than a wrong one.
  Array looped = table;
  for (int i = 0; i < 2; ++i) looped = take(looped, indices(0, 1), 0) + 1;
  eval(looped);
  const Array one = take(table, indices(0, 1), 0) + 1;
  const Array two = take(one, indices(0, 5), 0) + 1;
  EXPECT_EQ(place_of(two), 0);
}

TEST(Eval, TakesLongChainsApartWithoutRecursion) {
  Array x = Array::from({1, 2});
  for (int i = 0; i < 200'000; ++i) x = x + 1;
  x = Array();
  Array y = Array::from({1.f});
  for (int i = 0; i < 2000; ++i) y = y + y * 0;
  eval(y);
  EXPECT_EQ(y.item<float>(), 1);
}

TEST(Array, NumbersAndSizesCalculateAmongThemselves) {
  Array number = Array(2) * 3 + 0.5;
  eval(number);
  EXPECT_EQ(number.item<float>(), 6.5f);
  const Array x = Array::from(std::vector<float>(24, 1), {4, 6});
  EXPECT_EQ(reshape(x, {x.extent(0), x.extent(1) / 2, 2}).str(), "f32[4, 3, 2]");
  EXPECT_EQ((x.extent(0) * 3 + x.extent(-1) - 2).value(), 16);
  EXPECT_EQ((x.extent(-1) % 4).value(), 2);
  EXPECT_THAT(message_of([&] { x.extent(2); }), HasSubstr("extent: axis 2 is out of range for an array of rank 2"));
  EXPECT_EQ(evaluated(sum(x) / x.extent(0)), (std::vector<float>{6}));
  EXPECT_EQ(arange(3).str(), "i64[3]");
  EXPECT_EQ(evaluated(arange(0.5, 2)), (std::vector<float>{0.5, 1.5}));
  EXPECT_EQ(pad(x, {{0, 1}, {2, 3}}).str(), "f32[5, 11]");
  EXPECT_EQ(pad(x, 1).str(), "f32[6, 8]");
  EXPECT_EQ(pad(x, {1, 2}).str(), "f32[7, 9]");
  EXPECT_EQ(concat({x, x}, 1).str(), "f32[4, 12]");
  EXPECT_EQ(mean(x, {0, 1}, keepdims).str(), "f32[1, 1]");
  EXPECT_EQ(var(x, -1, true, 1).str(), "f32[4, 1]");
  EXPECT_EQ(cast<f16>(x).str(), "f16[4, 6]");
  EXPECT_EQ(max(x, x).str(), "f32[4, 6]");
  EXPECT_EQ(max(x, 0).str(), "f32[6]");
  EXPECT_EQ(x.T().str(), "f32[6, 4]");
}

TEST(Array, IsPrinted) {
  std::ostringstream out;
  out << Array::from({1.f, 2.5f, -3.f}) << "; " << Array::from({1.f}) + 1 << "; " << Array();
  EXPECT_EQ(out.str(), "f32[3] [  1, 2.5,  -3]; f32[1]; no array");
}

}  // namespace
}  // namespace smelt
