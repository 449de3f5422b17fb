// Compiled functions: what they calculate, when they compile, what they say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <functional>
#include <random>
#include <thread>

#include "support/message_of.hpp"

namespace smelt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::placed_message_of;

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

auto norm_function() {
  return compile([](Array x, Array g, Array b) {
    auto h = relu(x);
    return (h - mean(h, -1, keepdims)) * rsqrt(var(h, -1, keepdims) + 1e-5f) * g + b;
  });
}

// The same by hand, in double.
std::vector<float> norm_by_hand(const std::vector<float>& x, const std::vector<float>& g, const std::vector<float>& b) {
  std::vector<float> y(x.size());
  const size_t n = g.size();
  for (size_t row = 0; row < x.size(); row += n) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; ++i) sum += std::max(x[row + i], 0.f);
    const double mean = sum / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) squares += std::pow(std::max(x[row + i], 0.f) - mean, 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(n) + 1e-5);
    for (size_t i = 0; i < n; ++i)
      y[row + i] = static_cast<float>((std::max(x[row + i], 0.f) - mean) * scale * g[i] + b[i]);
  }
  return y;
}

TEST(Function, CalculatesWhatItSays) {
  const auto norm = norm_function();
  for (const int64_t rows : {4, 1, 7, 300}) {
    const auto x = random_floats(static_cast<size_t>(rows) * 33, 1), g = random_floats(33, 2), b = random_floats(33, 3);
    const Array y = norm(Array::from(x, {rows, 33}), Array::from(g), Array::from(b));
    EXPECT_EQ(y.str(), "f32[" + std::to_string(rows) + ", 33]");
    const auto expected = norm_by_hand(x, g, b);
    const auto values = y.span<float>();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], 2e-5) << rows << " rows, element " << i;
  }
}

TEST(Function, IsOneKernelAndSaysWhenNot) {
  const auto norm = norm_function();
  EXPECT_EQ(message_of([&] { norm.expect_kernels(1); }),
            "expect_kernels(1): nothing is compiled yet\nhelp: call the function first");  // not called yet
  const Array x = Array::from(random_floats(8 * 64, 1), {8, 64}), g = Array::from(random_floats(64, 2));
  norm(x, g, g);
  norm.expect_kernels(1);
  EXPECT_EQ(norm.explain(x, g, g).kernels.size(), 1u);
  EXPECT_NE(norm.explain(x, g, g).text().find("1 kernel"), std::string::npos);
}

TEST(Function, OneExecutableServesEveryBatch) {
  const auto norm = norm_function();
  const Array g = Array::from(random_floats(16, 2));
  for (const int64_t rows : {4, 9, 2, 100, 4, 0, 33})
    norm(Array::from(random_floats(static_cast<size_t>(rows) * 16, 1), {rows, 16}), g, g);
  EXPECT_EQ(norm.compile_count(), 1);
  ASSERT_EQ(norm.specializations().size(), 1u);
  EXPECT_EQ(norm.specializations()[0].types, "f32[B, 16], f32[16], f32[16]");
  EXPECT_EQ(norm.specializations()[0].reason, "the first call");
  EXPECT_EQ(norm.specializations()[0].exact, "");
}

// What is best for a hundred elements, one running sum to a lane, would lose a hundredth of a sum
// of millions.
TEST(Function, SizesOfAnotherClassGetTheirOwnKernels) {
  const auto total = compile([](Array x) { return sum(x); });
  const auto of = [](int64_t count) {
    return Array::from(std::vector<float>(static_cast<size_t>(count), 0.1f), {count});
  };
  for (const int64_t count : {100, 50, 300, 5000}) total(of(count));
  EXPECT_EQ(total.compile_count(), 1);
  for (const int64_t count : {1 << 24, (1 << 24) - 77, 100}) {
    const double expected = static_cast<double>(0.1f) * static_cast<double>(count);
    EXPECT_NEAR(static_cast<double>(total(of(count)).item<float>()), expected, 1e-5 * expected);
  }
  EXPECT_EQ(total.compile_count(), 2);
  EXPECT_EQ(total.specializations()[1].reason,
            "the kernels for f32[B] were chosen for B = 100; others are better for B = 16777216");
  // Columns too, which were one running sum each until they were tall enough for parts.
  const auto columns = compile([](Array x) { return sum(x, 0); });
  for (const int64_t rows : {600, 16000, 30000, 60000}) {
    const Array x = Array::from(std::vector<float>(static_cast<size_t>(rows) * 2, 0.1f), {rows, 2});
    const double expected = static_cast<double>(0.1f) * static_cast<double>(rows);
    for (const float sum : columns(x).to_vector<float>())
      EXPECT_NEAR(static_cast<double>(sum), expected, 1e-5 * expected) << rows;
  }
  // Where they would be the same, one executable supports all classes.
  const auto norm = norm_function();
  const Array g = Array::from(random_floats(16, 2));
  for (const int64_t rows : {4, 100, 3000, 50000})
    norm(Array::from(random_floats(static_cast<size_t>(rows) * 16, 1), {rows, 16}), g, g);
  EXPECT_EQ(norm.compile_count(), 1);
}

// As a number that is written in the function is.
TEST(Function, NumbersThatDoNotFitAreMistakes) {
  const auto times = compile([](Array x, Array y) { return x * y; });
  const Array bytes = Array::from<uint8_t>({1, 2}), halves = astype(Array::from({1.f, 2.f}), DType::F16);
  eval(halves);
  EXPECT_EQ(times(bytes, 100).to_vector<uint8_t>(), (std::vector<uint8_t>{100, 200}));
  EXPECT_NE(message_of([&] { times(bytes, 300); }).find("argument 1: 300 does not fit u8, which holds 0 to 255"),
            std::string::npos);
  EXPECT_NE(message_of([&] { times(bytes, -1); }).find("-1 does not fit u8"), std::string::npos);
  EXPECT_NE(message_of([&] { times(halves, 1e9); }).find("does not fit f16"), std::string::npos);
  EXPECT_THAT(message_of([&] { times.into(zeros({2}, DType::U8))(bytes, 300); }),
              HasSubstr("argument 1: 300 does not fit u8, which holds 0 to 255"));
  EXPECT_TRUE(std::isinf(times(Array::from({1.f}), HUGE_VAL).item<float>()));
  EXPECT_NE(message_of([&] { times(bytes, 1.5); }).find("cannot mix u8[2]"), std::string::npos);
  // A cast that is asked for saturates.
  const auto cast_first = compile([](Array x, Array y) { return x * astype(y, DType::U8); });
  EXPECT_EQ(cast_first(bytes, 300).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 254}));
}

TEST(Function, WhatWasMovedFromSaysSo) {
  auto f = compile([](Array x) { return x + 1; });
  const Array x = Array::from({1.f});
  auto bound = f.bind(x);
  const auto g = std::move(f);
  EXPECT_NE(message_of([&] { f(x); }).find("moved from"), std::string::npos);  // NOLINT: on purpose
  const auto other = std::move(bound);
  EXPECT_NE(message_of([&] { bound(); }).find("moved from"), std::string::npos);  // NOLINT: on purpose
  other();
  EXPECT_EQ(other.outputs()[0].item<float>(), 2);
  EXPECT_NE(message_of([] { Explanation().text(); }).find("explain()"), std::string::npos);
  EXPECT_NE(message_of([] { Explanation().json(); }).find("explain()"), std::string::npos);
}

TEST(Function, PinsOnWhatIsNotThereAreMistakes) {
  const auto body = [](Array x) { return x + 1; };
  const Array x = Array::from({1.f, 2.f});
  EXPECT_NE(message_of([&] { compile(body, Options{}.fixed(3, 0))(x); }).find("Options::fixed(3, 0): the call has 1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { compile(body, Options{}.dynamic(0, 5))(x); }).find("f32[2], which has no axis 5"),
            std::string::npos);
  EXPECT_EQ(compile(body, Options{}.fixed(0, -1))(x).to_vector<float>(), (std::vector<float>{2, 3}));
}

// Static objects are destroyed after main, after those that smelt made in it: nothing of smelt's
// may be gone by then.
struct AtExit {
  bool wanted = false;
  ~AtExit() {
    if (!wanted) return;
    Array total = sum(Array::from({1.f, 2.f, 3.f}));
    eval(total);
    if (total.item<float>() != 6) std::abort();
  }
};
static AtExit at_exit;
TEST(Function, MayBeUsedByDestructorsOfStaticObjects) { at_exit.wanted = true; }

TEST(Function, SaysWhyItCompiledAgain) {
  const auto f = compile([](Array x, Array g) { return x * g; });
  const auto zeros_of = [](Dims dims, DType dtype) {
    Array a = zeros(dims, dtype);
    eval(a);
    return a;
  };
  f(zeros_of({4, 8}, DType::F32), zeros_of({8}, DType::F32));
  f(zeros_of({5, 8}, DType::F32), zeros_of({8}, DType::F32));
  EXPECT_EQ(f.compile_count(), 1);
  f(zeros_of({5, 8}, DType::F16), zeros_of({8}, DType::F16));
  f(zeros_of({5, 9}, DType::F32), zeros_of({9}, DType::F32));
  f(zeros_of({1, 8}, DType::F32), zeros_of({8}, DType::F32));
  f(zeros_of({8}, DType::F32), zeros_of({8}, DType::F32));
  const auto all = f.specializations();
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1].reason, "argument 0 is f16[5, 8], not f32[B, 8]");
  EXPECT_EQ(all[2].reason, "argument 0 is f32[5, 9], not f32[B, 8]");
  EXPECT_EQ(all[3].reason, "argument 0 is f32[1, 8], not f32[B, 8]");
  EXPECT_EQ(all[4].types, "f32[B], f32[B]");
  f(zeros_of({100}, DType::F32), zeros_of({100}, DType::F32));
  EXPECT_EQ(f.compile_count(), 5);
}

TEST(Function, EqualLeadingSizesAreOneSizeAndMustStayEqual) {
  const auto f = compile([](Array x, Array y) { return x + y; });
  const auto of = [](int64_t rows) {
    return Array::from(std::vector<float>(static_cast<size_t>(rows) * 3, 1), {rows, 3});
  };
  f(of(4), of(4));
  f(of(7), of(7));
  EXPECT_EQ(f.compile_count(), 1);
  // [2, 3] broadcasts with nothing but itself and [1, 3].
  EXPECT_NE(message_of([&] { f(of(2), of(4)); }).find("cannot broadcast f32[2, 3] with f32[4, 3]"), std::string::npos);
  EXPECT_EQ(f(of(1), of(4)).shape(), (Dims{4, 3}));
}

TEST(Function, KnowsTheSizesWhereItAsksForThem) {
  const auto f = compile([](Array x) {
    Array sum = x[0];
    for (int64_t i = 1; i < x.shape(0); ++i) sum = sum + x[i];
    return sum;
  });
  const Array y = f(Array::from({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{9, 12}));
  ASSERT_EQ(f.specializations().size(), 1u);
  EXPECT_EQ(f.specializations()[0].types, "f32[3, 2]");
  EXPECT_EQ(f.specializations()[0].exact, "the size B is asked for, and is open");
  // An extent needs not be known.
  const auto g = compile([](Array x) { return sum(x, 0) / x.extent(0); });
  EXPECT_EQ(g(Array::from({1.f, 2.f, 3.f, 6.f}, {2, 2})).to_vector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(g(Array::from({1.f, 2.f, 3.f, 6.f, 5.f, 1.f}, {3, 2})).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(g.compile_count(), 1);
  // A slice that leaves an array is clamped, which only exact sizes can say.
  const auto h = compile([](Array x) { return x[slice(0, 3)]; });
  EXPECT_EQ(h(Array::from(std::vector<float>(10), {5, 2})).shape(), (Dims{3, 2}));
  EXPECT_EQ(h(Array::from(std::vector<float>(4), {2, 2})).shape(), (Dims{2, 2}));
  EXPECT_EQ(h(Array::from(std::vector<float>(8), {4, 2})).shape(), (Dims{3, 2}));
  EXPECT_EQ(h.compile_count(), 2);
}

TEST(Function, PinsOverruleThePolicy) {
  const auto body = [](Array x) { return x * 2; };
  const auto of = [](int64_t rows, int64_t columns) {
    return Array::from(std::vector<float>(static_cast<size_t>(rows * columns), 1), {rows, columns});
  };
  const auto fixed = compile(body, Options{}.fixed(0, 0));
  fixed(of(2, 3)), fixed(of(4, 3));
  EXPECT_EQ(fixed.compile_count(), 2);
  const auto dynamic = compile(body, Options{}.dynamic(0, -1));
  dynamic(of(2, 3)), dynamic(of(4, 5));
  EXPECT_EQ(dynamic.compile_count(), 1);
  EXPECT_EQ(dynamic.specializations()[0].types, "f32[B, N]");
}

TEST(Function, KeepsSoManyExecutables) {
  Options options;
  options.max_executables = 2;
  const auto f = compile([](Array x) { return x * 2; }, options);
  for (int64_t columns : {2, 3, 4, 3, 2})
    f(Array::from(std::vector<float>(static_cast<size_t>(columns) * 2), {2, columns}));
  EXPECT_EQ(f.specializations().size(), 2u);
  EXPECT_EQ(f.compile_count(), 4);  // [2, 2] had gone
}

TEST(Function, TakesListsAndReturnsSeveral) {
  const auto f = compile([](std::vector<Array> xs, Array y) {
    Array total = y;
    for (const Array& x : xs) total = total + x;
    return std::pair{total, maximum(xs[0], y)};
  });
  const Array a = Array::from({1.f, 5.f}), b = Array::from({2.f, 2.f}), c = Array::from({3.f, 3.f});
  auto [total, larger] = f({a, b}, c);
  EXPECT_EQ(total.to_vector<float>(), (std::vector<float>{6, 10}));
  EXPECT_EQ(larger.to_vector<float>(), (std::vector<float>{3, 5}));
  EXPECT_EQ(f({a, b, a}, c).first.to_vector<float>(), (std::vector<float>{7, 15}));
  EXPECT_EQ(f.compile_count(), 2);
  const auto three = compile([](const Array& x) { return std::tuple{x + 1, x + 2, x + 1}; });
  const auto [p, q, r] = three(a);
  EXPECT_EQ(p.to_vector<float>(), r.to_vector<float>());
  EXPECT_EQ(q.to_vector<float>(), (std::vector<float>{3, 7}));
  const auto many = compile([](Array x) { return std::vector<Array>{x, x * 2}; });
  EXPECT_EQ(many(a).at(1).to_vector<float>(), (std::vector<float>{2, 10}));
  const auto fixed = compile([](Array x) { return std::array<Array, 2>{x, -x}; });
  EXPECT_EQ(fixed(a)[1].to_vector<float>(), (std::vector<float>{-1, -5}));
  const auto none = compile([](Array) { return std::vector<Array>{}; });
  EXPECT_EQ(message_of([&] { none(a); }), "the function returns no array\nhelp: return at least one");
}

Array twice(const Array& x) { return x * 2; }

TEST(Function, ComesFromPlainFunctionsAndCapturesArrays) {
  EXPECT_EQ(compile(twice)(Array::from({1, 2})).to_vector<int>(), (std::vector<int>{2, 4}));
  const Array table = Array::from({10.f, 20.f, 30.f});
  const int line = __LINE__ + 1;
  const auto f = compile([table](Array i) { return take(table, i, 0); });
  EXPECT_EQ(f(Array::from({2, 0, -1, 1})).to_vector<float>(), (std::vector<float>{30, 10, 30, 20}));
  EXPECT_THAT(
      placed_message_of([&] {
        f(Array::from({2, 3}));
      }),
      AllOf(HasSubstr(
                "take met an index out of range: axis 0 of f32[3] has no such element: index 3 of 3 elements\n  at "),
            HasSubstr(fmt::format("function_test.cpp:{}\nhelp: ", line))));
}

TEST(Function, NumbersAreArgumentsAndWeak) {
  const auto f = compile([](Array x, Array factor) { return x * factor; });
  const Array x = Array::from(std::vector<f16>{f16(1), f16(2)});
  for (double factor : {0.5, 2.0, 3.0}) {
    const Array y = f(x, factor);
    EXPECT_EQ(y.dtype(), DType::F16);
    EXPECT_EQ(float(y.to_vector<f16>()[1]), 2 * factor);
  }
  EXPECT_EQ(f.compile_count(), 1);
  EXPECT_EQ(f(x, Array::scalar(2.f)).dtype(), DType::F32);  // an array is not weak
}

TEST(Function, BecomesPartOfAnExpression) {
  const auto inner = compile([](Array x) { return x + 1; });
  const auto outer = compile([&](Array x) { return inner(x) * inner(x * 2); });
  EXPECT_EQ(outer(Array::from({1.f, 2.f})).to_vector<float>(), (std::vector<float>{6, 15}));
  EXPECT_EQ(inner.compile_count(), 0);
  Array y = inner(Array::from({1.f}) * 3);
  EXPECT_FALSE(y.evaluated());
  eval(y);
  EXPECT_EQ(y.item<float>(), 4);
}

TEST(Function, ParametersHaveNoDataOfTheirOwn) {
  Array kept;
  const auto f = compile([&](Array x) { return kept = x * 2; });
  f(Array::from({1.f}));
  EXPECT_EQ(
      message_of([&] { eval(kept); }),
      "a parameter of a function that was being compiled has no data of its own\nhelp: return what is made of it from "
      "the function instead of keeping it");
  const auto reads = compile([](Array x) { return x * x.item<float>(); });
  EXPECT_EQ(message_of([&] { reads(Array::from({1.f})); }),
            "item(): f32[1] is not evaluated yet\nhelp: call eval(x) first");
}

TEST(Function, WritesIntoTheCallersMemory) {
  const auto f = compile([](Array x, Array y) { return x - y; });
  const Array x = Array::from({1.f, 2.f, 3.f, 4.f}, {2, 2}), y = Array::from({1.f, 1.f, 1.f, 1.f}, {2, 2});
  std::vector<float> memory(9, -1);
  // Every other column, bottom row first.
  Array out = Array::borrow(memory, {2, 2}, {-4, 2}, 5);
  f.into(out)(x, y);
  EXPECT_EQ(memory, (std::vector<float>{-1, 2, -1, 3, -1, 0, -1, 1, -1}));
  // Over its own input.
  std::vector<float> own = {5, 6, 7, 8};
  const Array in_place = Array::borrow(own, {2, 2});
  f.into(in_place)(in_place.copy(), in_place);
  EXPECT_EQ(own, (std::vector<float>{0, 0, 0, 0}));
  const std::vector<float> read_only(4);
  EXPECT_EQ(message_of([&] {
              f.into(Array::borrow(read_only, {2, 2}))(x, y);
            }),
            "output 0 is memory that must not be written\nhelp: borrow it without const");
  EXPECT_EQ(
      message_of([&] {
        f.into(Array::empty({2, 3}, DType::F32))(x, y);
      }),
      "output 0 is f32[2, 2], but the memory given for it is f32[2, 3]\nhelp: give memory of that dtype and shape");
  EXPECT_EQ(message_of([&] { f.into(out, out)(x, y); }), "the function returns 1 array, but memory for 2 was given");
  EXPECT_EQ(message_of([&] { f.into(x + 1)(x, y); }),
            "output 0 is not evaluated, so it has no memory to write to\nhelp: Array::empty or Array::borrow make one "
            "that has");
}

TEST(Function, BoundCallsReadTheArraysAsTheyAre) {
  const auto f = compile([](Array x, Array y) { return std::pair{softmax(x) + y, sum(x)}; });
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const Array x = Array::borrow(memory, {2, 2}, {1, 2});  // its transposed view: copied at every run
  const Array y = Array::from({0.f, 1.f});
  const Bound bound = f.bind(x, y);
  for (int i = 0; i < 3; ++i) {
    memory[0] += 1;
    bound();
    const auto expected = f(x, y);
    EXPECT_EQ(bound.outputs()[0].to_vector<float>(), expected.first.to_vector<float>());
    EXPECT_EQ(bound.outputs()[1].item<float>(), memory[0] + 2 + 3 + 4);
  }
  Array out = Array::empty({2, 2}, DType::F32), total = Array::empty({}, DType::F32);
  const Bound into = f.into(out, total).bind(x, y);
  into();
  EXPECT_EQ(out.to_vector<float>(), bound.outputs()[0].to_vector<float>());
  const auto gather = compile([](Array t, Array i) { return take(t, i, 0); });
  Array index = Array::from({1, 0});
  const Bound taken = gather.bind(y, index);
  taken();
  index.mutable_span<int>()[0] = 7;
  EXPECT_NE(message_of([&] { taken(); }).find("out of range"), std::string::npos);
  index.mutable_span<int>()[0] = 0;
  taken();
  EXPECT_EQ(taken.outputs()[0].to_vector<float>(), (std::vector<float>{0, 0}));
}

TEST(Function, ExpectKernelsGivesTheReasons) {
  Options options;
  options.fuse = false;
  options.name = "norm";
  const auto f = compile([](Array x) { return exp(x) + 1; }, options);
  EXPECT_EQ(message_of([&] { f.expect_kernels(1); }),
            "expect_kernels(1): nothing is compiled yet\nhelp: call the function first");
  f(Array::from({1.f, 2.f}));
  EXPECT_EQ(message_of([&] { f.expect_kernels(1); }),
            "norm has 2 kernels for f32[B], not 1\n  exp %1 -> + %5: fusion is off\n    help: run with fusion");
  f.expect_kernels(2);
}

TEST(Function, SaysWhichInputsAreReadAgain) {
  const auto f = compile([](Array x) { return std::tuple{sum(x, 0), sum(x, 1)}; });
  const Array x = Array::from(random_floats(64 * 48, 1), {64, 48});
  const Explanation e = f.explain(x);
  ASSERT_EQ(e.kernels.size(), 2u);
  ASSERT_EQ(e.read_again.size(), 1u);
  EXPECT_EQ(e.read_again[0].input, "x");
  EXPECT_EQ(e.read_again[0].bytes, 64 * 48 * 4);
  EXPECT_EQ(e.read_again[0].reason,
            "sum reduces axis 1 of [B, 48], while the rest of the kernel reduces axis 0 of [B, 48]");
  f(x);
  EXPECT_NE(message_of([&] { f.expect_kernels(1); }).find("\n  x is read for sum %"), std::string::npos);
}

TEST(Function, ExplainsAsData) {
  const auto f = compile([](Array x, Array b) { return relu(x) + b; });
  const Array x = Array::from(random_floats(8 * 16, 1), {8, 16}), b = Array::from(random_floats(16, 2));
  const Explanation e = f.explain(x, b);
  EXPECT_TRUE(e.compiled_now);
  EXPECT_FALSE(f.explain(x, b).compiled_now);
  ASSERT_EQ(e.kernels.size(), 1u);
  EXPECT_EQ(e.kernels[0].strategy, "pointwise");
  ASSERT_EQ(e.kernels[0].reads.size(), 2u);
  EXPECT_EQ(e.kernels[0].reads[0].name, "x");
  EXPECT_EQ(e.kernels[0].reads[0].dims, (Dims{8, 16}));
  EXPECT_EQ(e.kernels[0].bytes_read, 8 * 16 * 4 + 16 * 4);
  EXPECT_EQ(e.fused_bytes, 2 * 8 * 16 * 4 + 16 * 4);
  // The same program, for the sizes of another call.
  const Explanation more = f.explain(Array::from(random_floats(80 * 16, 3), {80, 16}), b);
  EXPECT_FALSE(more.compiled_now);
  EXPECT_EQ(more.fused_bytes, 2 * 80 * 16 * 4 + 16 * 4);
  EXPECT_EQ(more.decisions[0].bytes, 10 * e.decisions[0].bytes);
  ASSERT_EQ(e.decisions.size(), 1u);
  EXPECT_TRUE(e.decisions[0].fused);
  EXPECT_EQ(e.specialization.types, "f32[B, 16], f32[16]");
  EXPECT_NE(e.text().find("compiled for f32[B, 16], f32[16]: the first call\n"), std::string::npos);
  EXPECT_NE(e.text().find("1 edge is fused\n"), std::string::npos);  // a program cannot pass --edges
  EXPECT_NE(e.json().find("\"compiled_now\": true"), std::string::npos);
  EXPECT_NE(e.dump("graph").find("maximum"), std::string::npos);
  EXPECT_NE(message_of([&] { e.dump("nothing"); }).find("nothing to dump"), std::string::npos);
}

TEST(Function, ManyThreadsCallOne) {
  const auto norm = norm_function();
  const Array g = Array::from(random_floats(16, 2)), b = Array::from(random_floats(16, 3));
  std::vector<std::string> faults(6);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < faults.size(); ++t)
    threads.emplace_back([&, t] {
      try {
        for (size_t i = 0; i < 20; ++i) {
          const size_t rows = 2 + (7 * t + i) % 11;
          const auto x = random_floats(rows * 16, static_cast<unsigned>(i));
          const auto y = norm(Array::from(x, {static_cast<int64_t>(rows), 16}), g, b).to_vector<float>();
          const auto expected = norm_by_hand(x, g.to_vector<float>(), b.to_vector<float>());
          for (size_t k = 0; k < y.size(); ++k)
            if (std::abs(y[k] - expected[k]) > 2e-5) faults[t] = "a wrong element";
        }
      } catch (const std::exception& e) {
        faults[t] = e.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  EXPECT_EQ(norm.compile_count(), 1);
}

TEST(Function, WithoutCapturesAnArrayThatIsNoArgumentIsAnError) {
  const Array w = Array::from({1.f, 2.f, 3.f});
  Options options;
  options.captures = false;
  const auto uses = compile([w](Array x) { return x * w; }, options);
  const std::string message = message_of([&] { uses(w); });
  EXPECT_NE(message.find("not among its arguments, f32[3]\nhelp: pass it as an argument"), std::string::npos)
      << message;
  const auto takes = compile([](Array x, Array y) { return x * y + 1; }, options);
  EXPECT_EQ(takes(w, w).to_vector<float>(), (std::vector<float>{2, 5, 10}));
}

TEST(Function, ResultsInMemoryThatTheCallerAllocates) {
  const detail::AnyFunction f(
      [](std::span<const Array> a, std::span<const int>) {
        return std::vector<Array>{a[0] + 1, sum(a[0], -1)};
      },
      {}, "a");
  std::vector<std::string> asked;
  std::vector<Array> given;
  const auto results =
      f.call({Array::from({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})}, {}, [&](DType dtype, const Dims& dims) {
        given.push_back(Array::empty(dims, dtype));
        asked.push_back(given.back().str());
        return given.back();
      });
  EXPECT_EQ(asked, (std::vector<std::string>{"f32[3, 2]", "f32[3]"}));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].data(), given[0].data());
  EXPECT_EQ(given[0].to_vector<float>(), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(given[1].to_vector<float>(), (std::vector<float>{3, 7, 11}));
}

TEST(Explain, IsAPageToo) {
  const auto f = compile([](const Array& x) { return softmax(x * 2); });
  const Array x = ones({8, 16});
  eval(x);
  f(x);
  const std::string page = f.explain(x).html(), of_last = f.explain().html();
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0u);
  EXPECT_NE(page.find("\"schema\":\"smelt.report\""), std::string::npos);
  // With arguments it is run: each of 16 ones is 0.0625, by both pipelines and the reference.
  EXPECT_NE(page.find("\"reference\":0.0625,\"fused\":0.0625,\"unfused\":0.0625"), std::string::npos);
  EXPECT_NE(of_last.find("the program was not run"), std::string::npos);
  EXPECT_EQ(message_of([&] { Explanation().html(); }),
            "this explanation is of no function\nhelp: take one from explain()");
}

}  // namespace
}  // namespace smelt
