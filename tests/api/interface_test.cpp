// What a new user writes first: arrays from lists, reads, files, updates, names; and what messages
// say of a slip.
#include <gtest/gtest.h>
#include <unistd.h>
#include <smelt/smelt.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include "support/message_of.hpp"
#include "support/programs.hpp"

namespace smelt {
namespace {

using testing::message_of;
using testing::placed_message_of;

Array counted(Dims shape) {
  std::vector<float> values(1);
  for (const int64_t size : shape) values.resize(values.size() * static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0.f);
  return Array::from(values, std::move(shape));
}

std::vector<float> evaluated(Array a) {
  eval(a);
  return a.to_vector<float>();
}

std::string here(int line) { return "\n  at " + std::string(__FILE__) + ":" + std::to_string(line); }

TEST(Interface, ListsInListsAreArrays) {
  const Array m = Array::from({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(m.str(), "i32[2, 3]");
  EXPECT_EQ(m.to_vector<int>(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Array::from({{1.f}, {2.f}}).str(), "f32[2, 1]");
  EXPECT_EQ(Array::from({{{1., 2.}, {3., 4.}}, {{5., 6.}, {7., 8.}}}).str(), "f64[2, 2, 2]");
  EXPECT_EQ(Array::from({{true, false}}).str(), "bool[1, 2]");
  EXPECT_EQ(message_of([] {
              Array::from({{1, 2}, {3}});
            }),
            "Array::from: list 1 has 1 item, and list 0 has 2\nhelp: lists side by side have one length");
  EXPECT_EQ(message_of([] {
              Array::from({{{1}, {2}}, {{3}}});
            }),
            "Array::from: list 1 has 1 item, and list 0 has 2\nhelp: lists side by side have one length");
}

TEST(Interface, NumbersOfSeveralTypesBecomeOne) {
  const Array x = Array::from({1, 2.5f, -3});
  EXPECT_EQ(x.str(), "f32[3]");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2.5f, -3}));
  EXPECT_EQ(Array::from({1, 2.5}).str(), "f64[2]");
  EXPECT_EQ(Array::from({1.f, 2.5}).str(), "f64[2]");
  EXPECT_EQ(Array::from({1, int64_t{1} << 40}).to_vector<int64_t>()[1], int64_t{1} << 40);
  EXPECT_EQ(Array::from({uint8_t{200}, int8_t{-1}}).str(), "i16[2]");
  EXPECT_EQ(Array::from({f16(0.5f), bf16(0.25f)}).str(), "f32[2]");
  EXPECT_EQ(Array::from({1, 2.5, 3, 4}, {2, 2}).str(), "f64[2, 2]");
  EXPECT_EQ(Array::from({{1, 2.5}, {3, 4}}).to_vector<double>(), (std::vector<double>{1, 2.5, 3, 4}));
  EXPECT_EQ(Array::from({{1, 2}, {3.5, 4.5}}).to_vector<double>(), (std::vector<double>{1, 2, 3.5, 4.5}));
  EXPECT_EQ(Array::from({std::numeric_limits<uint64_t>::max(), uint64_t{1}}).to_vector<uint64_t>()[0],
            std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(message_of([] {
              Array::from({true, 2});
            }),
            "Array::from: bool and i32 in one list\nhelp: write numbers of one type");
  EXPECT_EQ(message_of([] {
              Array::from({uint64_t{1}, -1});
            }),
            "Array::from: u64 and i32 in one list\nhelp: write numbers of one type");
}

TEST(Interface, MemoryComesAsSpansAndPointers) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const Array copied = Array::from(memory, {2, 3}),
              from_pointer = Array::from(static_cast<const float*>(memory), {3, 2});
  Array borrowed = Array::borrow(static_cast<float*>(memory), {3, 2});
  const Array columns = Array::borrow(static_cast<const float*>(memory), {2, 3}, {1, 2});
  memory[1] = 7;
  EXPECT_EQ(copied.to_vector<float>()[1], 1);
  EXPECT_EQ(from_pointer.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(borrowed.to_vector<float>()[1], 7);
  EXPECT_EQ(columns.to_vector<float>(), (std::vector<float>{0, 2, 4, 7, 3, 5}));
  borrowed.mutable_span<float>()[0] = 9;
  EXPECT_EQ(memory[0], 9);
  EXPECT_EQ(Array::from(std::span<const float>(memory).subspan(4)).to_vector<float>(), (std::vector<float>{4, 5}));
}

TEST(Interface, ElementsAreReadByTheirIndex) {
  const Array x = counted({2, 3});
  EXPECT_EQ(x(1, 2), 5);
  EXPECT_EQ(x(-1, 0), 3);
  EXPECT_EQ(x.item<float>(0, -1), 2);
  const std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(Array::borrow(memory, {2, 2}, {-3, 2}, 3)(1, 1), 2);
  EXPECT_TRUE(std::isnan(Array::from({std::nan("")})(0)));
  EXPECT_EQ(Array::from({true, false})(0), 1);
  EXPECT_EQ(Array::from({f16(0.5f)})(0), 0.5);
  EXPECT_EQ(Array::from({std::numeric_limits<int64_t>::max()}).item<int64_t>(0), std::numeric_limits<int64_t>::max());
  EXPECT_NE(
      message_of([] { Array::from({std::numeric_limits<int64_t>::max()})(0); }).find("item<int64_t>(i, j) reads it"),
      std::string::npos);
  EXPECT_EQ(message_of([&] { x(2, 0); }),
            "x(i, j): index 2 is out of range for axis 0 of f32[2, 3]\nhelp: indices go from -2 to 1");
  EXPECT_EQ(message_of([&] { x(1); }), "x(i, j): 1 index for f32[2, 3]\nhelp: give one for each axis");
  EXPECT_EQ(message_of([&] { x.item<float>(); }),
            "item(): f32[2, 3] has 6 elements, not one\nhelp: give an index for each axis; span() reads all");
  EXPECT_EQ(message_of([&] { (x + 1)(0, 0); }), "x(i, j): f32[2, 3] is not evaluated yet\nhelp: call eval(x) first");
}

TEST(Interface, ShapesHaveNumPysNames) {
  const Array x = counted({2, 3, 4});
  EXPECT_EQ(x.shape(), (Dims{2, 3, 4}));
  EXPECT_EQ(x.shape(-1), 4);
  EXPECT_EQ(x.ndim(), 3);
  EXPECT_EQ(x.size(), 24);
  EXPECT_EQ((x + 1).size(), 24);
  EXPECT_NE(message_of([&] { x.shape(3); }).find("axis 3 is out of range"), std::string::npos);
}

TEST(Interface, FunctionsAreMethods) {
  const Array x = counted({2, 3}) - 2.5;
  EXPECT_EQ(evaluated(x.sum(-1)), evaluated(sum(x, -1)));
  EXPECT_EQ(evaluated(x.abs().max(0, true)), evaluated(max(abs(x), 0, keepdims)));
  EXPECT_EQ(evaluated(x.T().reshape({3, 2}).softmax()), evaluated(softmax(transpose(x))));
  EXPECT_EQ(evaluated(x.cumsum()), evaluated(cumsum(x)));
  EXPECT_EQ(evaluated(x.cumsum(0, {.reverse = true})), evaluated(cumsum(x, 0, {.reverse = true})));
  EXPECT_EQ(evaluated(x.clamp({}, 1)), evaluated(clamp(x, {}, 1)));
  EXPECT_EQ(evaluated((x > 0).where(x, 0)), evaluated(where(x > 0, x, 0)));
  EXPECT_EQ(x.cast<double>().str(), "f64[2, 3]");
  EXPECT_EQ(x.split(3, 1).size(), 3u);
  EXPECT_EQ(x.max_and_argmax().second.str(), "i64[2]");
  EXPECT_EQ(x.pad(1).str(), "f32[4, 5]");
  EXPECT_EQ(evaluated(x.var(0, {}, 1)), evaluated(var(x, 0, {}, 1)));
}

TEST(Interface, FunctionsOfTheLibraryAreCompiledAsTheyAre) {
  const Array x = Array::from({-1.f, 2.f});
  EXPECT_EQ(compile(relu)(x).to_vector<float>(), (std::vector<float>{0, 2}));
  EXPECT_EQ(compile(maximum)(x, Array::from({0.f, 3.f})).to_vector<float>(), (std::vector<float>{0, 3}));
}

TEST(Interface, NoAxesAreAllAxes) {
  const Array x = counted({2, 3});
  EXPECT_EQ(sum(x, {}).str(), "f32");
  EXPECT_EQ(sum(x, std::vector<int>{}).str(), "f32");
  EXPECT_EQ(sum(x, Axes()).str(), "f32");
  EXPECT_EQ(sum(x, {}, keepdims).str(), "f32[1, 1]");
}

TEST(Interface, PartsAreReplaced) {
  Array x = counted({3, 4});
  EXPECT_EQ(evaluated(slice_update(x, 1, 9)), (std::vector<float>{0, 1, 2, 3, 9, 9, 9, 9, 8, 9, 10, 11}));
  EXPECT_EQ(evaluated(slice_update(x, {slice(none, none, -2), slice(1, 3)}, Array::from({{1.f, 2.f}, {3.f, 4.f}}))),
            (std::vector<float>{0, 3, 4, 3, 4, 5, 6, 7, 8, 1, 2, 11}));
  EXPECT_EQ(evaluated(x.slice_update({ellipsis, -1}, x[{slice(), 0}] * -1)),
            (std::vector<float>{0, 1, 2, -0.f, 4, 5, 6, -4, 8, 9, 10, -8}));
  EXPECT_EQ(evaluated(slice_update(x, {0, newaxis, slice(none, 2)}, Array::from({{5.f, 6.f}}))),
            (std::vector<float>{5, 6, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(slice_update(astype(x, DType::F16), 0, 1.5).str(), "f16[3, 4]");
  x = slice_update(x, {0, 0}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(evaluated(x)[0]));
  EXPECT_EQ(message_of([&] { slice_update(x, 0, counted({3})); }),
            "slice_update: a value of shape [3] does not fit the region of f32[3, 4], which has the shape [4]\n"
            "help: give the shape [4], or one that broadcasts to it");
  EXPECT_EQ(
      message_of([&] { slice_update(x, x > 1, 0); }),
      "slice_update: an index of bools, bool[3, 4]\nhelp: where(mask, value, x) sets the elements that a mask selects");
}

TEST(Interface, UpdatesFuse) {
  const auto step = compile([](Array x, Array edge) {
    const Array inner = x[{slice(1, -1), slice(1, -1)}] * 0.5 + edge;
    return relu(slice_update(x, {slice(1, -1), slice(1, -1)}, inner)) + 1;
  });
  for (const int64_t rows : {5, 7, 130}) {
    Array x = counted({rows, 9}) - 20;
    eval(x);
    const Array edge = counted({7});
    const Array y = step(x, edge);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < 9; ++j) {
        const bool inner = i > 0 && i < rows - 1 && j > 0 && j < 8;
        const double v = static_cast<double>(i * 9 + j - 20);
        const double want = std::max(inner ? v * 0.5 + static_cast<double>(j - 1) : v, 0.0) + 1;
        ASSERT_EQ(y(i, j), want) << rows << " rows, " << i << ", " << j;
      }
  }
  step.expect_kernels(1);
}

TEST(Interface, FilesAreNumPys) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("smelt_interface_" + std::to_string(getpid()) + ".npy")).string();
  const std::vector<double> memory = {0, 1, 2, std::nan(""), -0.0, 5};
  save(path, Array::borrow(memory, {3, 2}, {1, 3}));
  const Array back = load(path);
  EXPECT_EQ(back.str(), "f64[3, 2]");
  EXPECT_TRUE(std::isnan(back(0, 1)));
  EXPECT_TRUE(std::signbit(back(1, 1)));
  save(path, Array::empty({0, 3}, DType::I8));
  EXPECT_EQ(load(path).str(), "i8[0, 3]");
  EXPECT_NE(message_of([&] { save(path, back + 1); }).find("call eval(x) first"), std::string::npos);
  EXPECT_EQ(message_of([&] { save(path, Array::from({bf16(1.f)})); }),
            "save(): bf16[1] is bf16, which NumPy lacks\nhelp: cast it: astype(x, DType::F32)");
  EXPECT_EQ(load(path).str(), "i8[0, 3]");
  std::ofstream(path) << "no array";
  EXPECT_NE(message_of([&] { load(path); }).find(path), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_NE(message_of([&] { load(path); }).find(path), std::string::npos);
}

TEST(Interface, MessagesNameTheLine) {
  const Array x = counted({4, 8}), y = counted({4, 3});
  std::string message = placed_message_of([&] { x + y; });
  EXPECT_EQ(message, "+: cannot broadcast f32[4, 8] with f32[4, 3]" + here(__LINE__ - 1) +
                         "\nhelp: sizes 8 and 3 of axis -1 must be equal, or one of them 1");
  message = placed_message_of([&] { reshape(x, {3, -1}); });
  EXPECT_EQ(message, "cannot reshape f32[4, 8] (32 elements) to [3, -1]: 3 must divide the number of elements" +
                         here(__LINE__ - 2));
  const auto line_of = [](const std::function<void()>& f) {
    const std::string told = placed_message_of(f);
    const size_t at = told.find(std::string(__FILE__) + ":");
    return at == std::string::npos ? 0 : std::atoi(told.c_str() + at + std::string(__FILE__).size() + 1);
  };
  EXPECT_EQ(line_of([&] { x.reshape({5}); }), __LINE__);
  EXPECT_EQ(line_of([&] { x[9]; }), __LINE__);
  EXPECT_EQ(line_of([&] { x[{slice(), 8}]; }), __LINE__);
  Array z = x;
  EXPECT_EQ(line_of([&] { z += y; }), __LINE__);
  EXPECT_EQ(line_of([&] { -Array(); }), __LINE__);
  EXPECT_EQ(line_of([&] { x&& x; }), __LINE__);
  EXPECT_EQ(line_of([&] { concat({x, y}, 1) * Array(); }), __LINE__);
  EXPECT_EQ(line_of([&] { x.extent(2); }), __LINE__);
  EXPECT_EQ(line_of([&] { counted({3}).mT(); }), __LINE__);
  EXPECT_EQ(line_of([&] { x.max_and_argmax(5); }), __LINE__);
  EXPECT_EQ(line_of([&] { max(x, y); }), __LINE__);
  // In a function that is traced too.
  int line = 0;
  const auto f = compile([&](Array a, Array b) {
    line = __LINE__ + 1;
    return softmax(a * b);
  });
  EXPECT_EQ(line_of([&] { f(x, y); }), line);
}

TEST(Interface, ParametersHaveTheirNames) {
  const auto f = compile({"x", "gain", "rest"},
                         [](Array x, Array gain, std::vector<Array> rest) { return x * gain + rest[0] + rest[1]; });
  const Array x = Array::from({uint8_t{1}, uint8_t{2}});
  EXPECT_EQ(message_of([&] { f(x, 300, {x, x}); }).substr(0, 32), "argument gain: 300 does not fit ");
  EXPECT_EQ(message_of([&] {
              f(x, Array(), {x, x});
            }),
            "argument gain: this Array is empty\nhelp: Array() is no array; give it a value first");
  EXPECT_EQ(message_of([&] {
              f.bind(x, 1, {x, x + x});
            }),
            "bind(): argument rest[1], u8[2], is not evaluated yet\nhelp: call eval(x) first");
  f(x, 2, {x, x});
  f(x, Array::from({uint8_t{2}, uint8_t{3}}), {x, x});
  EXPECT_NE(f.specializations()[1].reason.find("argument gain is u8[2], not a number"), std::string::npos)
      << f.specializations()[1].reason;
  const std::string text = f.explain().text();
  for (const char* name : {"gain: u8", "rest[0]: u8", "rest[1]: u8"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
  EXPECT_EQ(message_of([&] {
              compile({"image", "gain"}, [](Array a, Array b) { return a * b; })(counted({2}), x);
            }),
            "*: cannot mix f32[2] with u8[2]\nhelp: write astype(gain, DType::F32)");
  EXPECT_EQ(message_of([] { compile({"x"}, [](Array a, Array b) { return a + b; }); }),
            "Options::parameters: 1 name for 2 parameters\nhelp: give a name for each");
}

TEST(Interface, OptionsAreThoseOfTheCommandLine) {
  const auto refused = [](Options options) {
    return message_of([&] { compile([](Array x) { return x + 1; }, options); });
  };
  EXPECT_EQ(refused({.threads = -3}), "Options::threads: -3 is not a whole number from 0 to 4096");
  EXPECT_EQ(refused({.threads = 4097}), "Options::threads: 4097 is not a whole number from 0 to 4096");
  EXPECT_EQ(refused({.max_executables = 0}), "Options::max_executables: 0 is not a whole number from 1 to 1048576");
  EXPECT_NE(message_of([] { compile_text("x + 1", {"x"}, {.threads = -1}); }).find("-1 is not a whole number from 0"),
            std::string::npos);
  Options old;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  old.most = 1;
#pragma GCC diagnostic pop
  const auto f = compile([](Array x) { return x + 1; }, old);
  for (const int64_t columns : {2, 3, 5}) f(counted({2, columns}));
  EXPECT_EQ(f.specializations().size(), 1u);
}

TEST(Interface, IntoIsSpelledInOneWay) {
  const Program program = compile_text("x * 2, x + y", {"x", "y"});
  const Array x = counted({3}), y = counted({3});
  const Array twice = Array::empty({3}, DType::F32), total = Array::empty({3}, DType::F32);
  program.into(twice, total)({{"y", y}, {"x", x}});
  EXPECT_EQ(twice.to_vector<float>(), (std::vector<float>{0, 2, 4}));
  program.into({total, twice})(x, y);
  EXPECT_EQ(total.to_vector<float>(), (std::vector<float>{0, 2, 4}));
  const Bound bound = program.into(twice, total).bind(x, y),
              named = program.into(twice, total).bind({{"x", x}, {"y", y}});
  bound();
  EXPECT_EQ(twice.to_vector<float>(), (std::vector<float>{0, 2, 4}));
  named();
  EXPECT_EQ(program.bind(x, y).outputs().size(), 2u);
  EXPECT_EQ(message_of([&] { program.into(twice)(x, y); }),
            "the function returns 2 arrays, but memory for 1 was given");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Interface, OldNamesMeanWhatTheyMeant) {
  const Array x = counted({2, 3});
  EXPECT_EQ(x.dims(), x.shape());
  EXPECT_EQ(x.dim(-1), 3);
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.count(), 6);
  EXPECT_EQ(x[slice(1)].str(), "f32[1, 3]");
  const Program twice = compile_text("x * 2", {"x"});
  const Array y = Array::empty({2, 3}, DType::F32);
  twice.run_into({y}, {{"x", x}});
  EXPECT_EQ(y(1, 2), 10);
  const Bound bound = twice.bind_into({y}, {{"x", y.copy()}});
  bound();
  EXPECT_EQ(y(1, 2), 20);
}
#pragma GCC diagnostic pop

TEST(Interface, SizesOfInputsAreExpressions) {
  const Program gates = compile_text(shared_program("gates"));
  for (const int64_t h : {20, 24, 33}) {
    const Array ones = Array::from(std::vector<float>(static_cast<size_t>(2 * 4 * h), 1.f), {2, 4 * h});
    const Array y = gates(ones, Array::from(std::vector<float>(static_cast<size_t>(h), 0.5f)))[0];
    EXPECT_EQ(y.to_vector<float>(), std::vector<float>(4, static_cast<float>(h)));
  }
  EXPECT_LE(gates.compile_count(), 2);
  EXPECT_EQ(message_of([&] {
              gates(counted({2, 12}), counted({4}));
            }),
            "input w is f32[I, 4*H], but axis 1 of the array has size 12, not 16: H is 4 (axis 0 of input h)");
  const Program alone = compile_text("input w: f32[3*H]\nreturn w.reshape(3, H)");
  EXPECT_EQ(alone(counted({6}))[0].str(), "f32[3, 2]");
  EXPECT_EQ(message_of([&] { alone(counted({7})); }),
            "input w is f32[3*H], but axis 0 of the array has size 7: no H of 0 or more makes 3*H that");
}

// The array is the first argument, and the others keep their order and their defaults.
TEST(Interface, MethodsAreTheFunctions) {
  const Array x = counted({2, 3, 4}) * 0.5f - 3.f, y = counted({2, 3, 4}) * 0.25f + 1.f, z = y * 2.f;
  const std::vector<std::pair<Array, Array>> same = {
      {x.subtract(y), subtract(x, y)},
      {x.divide(y), divide(x, y)},
      {x.floor_divide(y), floor_divide(x, y)},
      {x.remainder(y), remainder(x, y)},
      {x.fmod(y), fmod(x, y)},
      {y.pow(x), pow(y, x)},
      {x.fma(y, z), fma(x, y, z)},
      {(x > 0.f).where(y, z), where(x > 0.f, y, z)},
      {x.clamp(-1.f, 1.f), clamp(x, -1.f, 1.f)},
      {x.clamp(), clamp(x)},
      {x.elu(0.5f), elu(x, 0.5f)},
      {x.gelu(Approximate::Tanh), gelu(x, Approximate::Tanh)},
      {x.lerp(y, 0.25f), lerp(x, y, 0.25f)},
      {x.sum({0, 2}), sum(x, {0, 2})},
      {x.var(1, keepdims, 1), var(x, 1, keepdims, 1)},
      {x.norm(3, -1), norm(x, 3, -1)},
      {x.cumsum(1, {.exclusive = true}), cumsum(x, 1, {.exclusive = true})},
      {x.cumsum(), cumsum(x)},
      {x.vecdot(y, 1), vecdot(x, y, 1)},
      {x.matmul(y.mT()), matmul(x, y.mT())},
      {x.reshape({4, 6}), reshape(x, {4, 6})},
      {x.swapaxes(0, 2), swapaxes(x, 0, 2)},
      {x.moveaxis(0, -1), moveaxis(x, 0, -1)},
      {x.flip(1), flip(x, 1)},
      {x.roll(1, 2), roll(x, 1, 2)},
      {x.tile({2, 1, 3}), tile(x, {2, 1, 3})},
      {x.repeat(2, 1), repeat(x, 2, 1)},
      {x.take({2, 0}, 1), take(x, {2, 0}, 1)},
      {x.tril(-1), tril(x, -1)},
      {x.full_like(7.f), full_like(x, 7.f)},
      {x.softmax(1), softmax(x, 1)},
      {x.window(2, 2), window(x, 2, 2)},
  };
  for (size_t i = 0; i < same.size(); ++i) {
    EXPECT_EQ(same[i].first.str(), same[i].second.str()) << "row " << i;
    EXPECT_EQ(evaluated(same[i].first), evaluated(same[i].second)) << "row " << i;
  }
}

}  // namespace
}  // namespace smelt
