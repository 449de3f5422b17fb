// Gradients in C++: of functions and of values, compiled and not, of operations of the user's.
#include "smelt/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smelt/smelt.hpp"
#include "support/message_of.hpp"

namespace smelt {
namespace {

std::vector<double> numbers(Array a) {
  eval(a);
  Array wide = astype(a, DType::F64);
  eval(wide);
  return wide.to_vector<double>();
}

using testing::message_of;
using List = std::vector<double>;

TEST(Gradient, OfAFunction) {
  const auto f = [](Array x, Array y) { return sum(x * x * y); };
  const Array x = Array::from({1.0, 2.0, 3.0}), y = Array::from({4.0, 5.0, 6.0});
  EXPECT_EQ(numbers(gradient(f)(x, y)), (List{8, 20, 36}));
  EXPECT_EQ(numbers(gradient(f, 1)(x, y)), (List{1, 4, 9}));
  const std::vector<Array> both = gradient(f, {0, 1})(x, y);
  EXPECT_EQ(numbers(both[0]), (List{8, 20, 36}));
  EXPECT_EQ(numbers(both[1]), (List{1, 4, 9}));
  const auto [value, slope] = value_and_gradient(f)(x, y);
  EXPECT_EQ(numbers(value), (List{4 + 20 + 54}));
  EXPECT_EQ(numbers(slope), (List{8, 20, 36}));
}

TEST(Gradient, OneArrayAsTwoArguments) {
  const auto f = [](Array x, Array y) { return sum(x * x * y); };
  const Array x = Array::from({1.0, 2.0});
  EXPECT_EQ(numbers(gradient(f)(x, x)), (List{2, 8}));
  EXPECT_EQ(numbers(gradient(f, 1)(x, x)), (List{1, 4}));
  const Array late = x * 1.5;  // not evaluated
  EXPECT_EQ(numbers(gradient(f)(late, late)), (List{4.5, 18}));
}

TEST(Gradient, WithinCompiledFunctions) {
  const auto loss = [](Array w, Array x) { return mean(square(tanh(sum(x * w, -1)))); };
  const auto step = compile([=](Array w, Array x) { return w - 0.1 * gradient(loss)(w, x); });
  const auto whole = compile(value_and_gradient(loss));
  for (const int64_t rows : {3, 7, 64}) {
    std::vector<float> data(static_cast<size_t>(rows) * 5);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 11) / 10 - 0.4f;
    const Array x = Array::from(data, {rows, 5}), w = Array::from({0.1f, -0.2f, 0.3f, 0.4f, 0.5f});
    const auto [value, slope] = whole(w, x);
    const List got = numbers(slope), moved = numbers(step(w, x)), before = numbers(w);
    // In f64, by hand.
    List expected(5);
    double total = 0;
    for (int64_t r = 0; r < rows; ++r) {
      double product = 0;
      for (size_t c = 0; c < 5; ++c) product += static_cast<double>(data[static_cast<size_t>(r) * 5 + c]) * before[c];
      const double t = std::tanh(product);
      total += t * t / static_cast<double>(rows);
      for (size_t c = 0; c < 5; ++c)
        expected[c] +=
            2 * t * (1 - t * t) * static_cast<double>(data[static_cast<size_t>(r) * 5 + c]) / static_cast<double>(rows);
    }
    EXPECT_NEAR(value.item<float>(), total, 1e-6);
    for (size_t c = 0; c < 5; ++c) {
      EXPECT_NEAR(got[c], expected[c], 1e-6) << rows;
      EXPECT_NEAR(moved[c], before[c] - 0.1 * expected[c], 1e-6) << rows;
    }
  }
  EXPECT_EQ(whole.compile_count(), 2);  // 64 rows are far from 3, as for every function
}

TEST(Gradient, OfListsOfParameters) {
  const auto loss = [](std::vector<Array> w, Array x) {
    Array h = x;
    for (const Array& a : w) h = sin(h * a);
    return sum(h);
  };
  const auto step = compile([=](std::vector<Array> w, Array x) { return gradient(loss)(w, x); });
  const Array a = Array::from({0.5, 0.25}), b = Array::from({2.0, 3.0}), x = Array::from({1.0, 2.0});
  const std::vector<Array> got = step({a, b}, x);
  ASSERT_EQ(got.size(), 2u);
  const List by_a = numbers(got[0]), by_b = numbers(got[1]);
  const double first = std::sin(0.5), second = std::sin(0.5);
  EXPECT_NEAR(by_a[0], std::cos(first * 2) * 2 * std::cos(0.5) * 1, 1e-12);
  EXPECT_NEAR(by_b[0], std::cos(first * 2) * first, 1e-12);
  EXPECT_NEAR(by_b[1], std::cos(second * 3) * second, 1e-12);
  const auto both = compile(value_and_gradient(loss, {0, 1}))({a, b}, x);
  EXPECT_EQ(both.second.size(), 3u);
  EXPECT_NEAR(both.first.item<double>(), std::sin(2 * first) + std::sin(3 * second), 1e-12);
}

TEST(Gradient, OfGradients) {
  const auto f = [](Array x) { return sum(x * x * x * x); };
  const auto second = [=](Array x) { return sum(gradient(f)(x)); };
  const auto third = [=](Array x) { return sum(gradient(second)(x)); };
  const Array x = Array::from({1.0, 2.0, -3.0});
  EXPECT_EQ(numbers(gradient(second)(x)), (List{12, 48, 108}));
  EXPECT_EQ(numbers(gradient(third)(x)), (List{24, 48, -72}));
  EXPECT_EQ(numbers(compile(gradient(third))(x)), (List{24, 48, -72}));
  EXPECT_EQ(numbers(gradient(gradient([](Array t) { return sin(t); }))(Array::scalar(0.5))), (List{-std::sin(0.5)}));
}

TEST(Gradient, OfValuesThatAreNotCalculated) {
  const Array x = Array::from({1.0, 2.0}), h = x * x, loss = sum(h * h);
  const Array by_x = gradient(loss, x), by_h = gradient(loss, h);
  const std::vector<Array> both = gradient(loss, {x, h});
  eval(loss);  // its steps are gone; those of the gradients are their own
  eval(h);
  EXPECT_EQ(numbers(by_x), (List{4, 32}));
  EXPECT_EQ(numbers(by_h), (List{2, 8}));
  EXPECT_EQ(numbers(both[0]), (List{4, 32}));
  EXPECT_EQ(numbers(both[1]), (List{2, 8}));
  EXPECT_EQ(loss.item<double>(), 17);
}

TEST(Gradient, OfGradientsByValuesInBetween) {
  const Array x = Array::from({1.0, 2.0}), h = x * 2;
  const Array slope = gradient(sum(h * h * h), h);
  const Array second = gradient(sum(slope), h), mixed = gradient(sum(slope), x);
  eval(h);  // h is data for what is written from now on, and an expression in what was written before
  const Array both = gradient(sum(slope * h), h);
  EXPECT_EQ(numbers(second), (List{12, 24}));
  EXPECT_EQ(numbers(mixed), (List{24, 48}));
  EXPECT_EQ(numbers(both), (List{36, 144}));  // 3 h^2 * h
  EXPECT_EQ(numbers(gradient(sum(h * h), h)), (List{4, 8}));
}

TEST(Gradient, LoopsThatDifferentiateTheirOwnSteps) {
  const Array rate = Array::scalar(0.1);
  Array x = Array::from({1.0, -2.0});
  for (int i = 0; i < 20; ++i) x = x - rate * gradient(sum(square(x)), x);
  const Array by_rate = gradient(sum(x), rate);
  // x_20 = x_0 (1 - 2 rate)^20
  EXPECT_NEAR(numbers(x)[0], std::pow(0.8, 20), 1e-12);
  EXPECT_NEAR(numbers(by_rate)[0], -1 * 20 * std::pow(0.8, 19) * -2, 1e-9);
}

TEST(Gradient, VectorJacobianProducts) {
  const Array x = Array::from({1.0, 2.0}), y = exp(x), z = x * 3;
  const std::vector<Array> got = vjp({y, z}, {x}, {Array::from({1.0, 0.5}), Array::from({10.0, 20.0})});
  const List numbers_of = numbers(got[0]);
  EXPECT_NEAR(numbers_of[0], std::exp(1.0) + 30, 1e-12);
  EXPECT_NEAR(numbers_of[1], std::exp(2.0) / 2 + 60, 1e-12);
  const auto compiled = compile([](Array a, Array g) { return vjp({softmax(a)}, {a}, {g})[0]; });
  const List rows = numbers(compiled(Array::from({0.f, 0.f}, {1, 2}), Array::from({1.f, 0.f}, {1, 2})));
  EXPECT_NEAR(rows[0], 0.25, 1e-7);
  EXPECT_NEAR(rows[1], -0.25, 1e-7);
}

TEST(Gradient, StopsAndNumbers) {
  const Array x = Array::from({1.0, 2.0});
  EXPECT_EQ(numbers(gradient([](Array a) { return sum(a * stop_gradient(a)); })(x)), (List{1, 2}));
  EXPECT_EQ(numbers(gradient([](Array a, Array b) { return sum(a) * b; }, 1)(x, 2.0)), (List{3}));
  EXPECT_EQ(numbers(compile([](Array a, Array b) {
              return gradient([](Array p, Array q) { return sum(p) * q; }, 1)(a, b);
            })(x, 2.0)),
            (List{3}));
  EXPECT_EQ(numbers(gradient([](Array a, Array) { return sum(a); }, 1)(x, x)), (List{0, 0}));
  // Straight through the rounding.
  const auto rounded = [](Array a) { return sum(square(a + stop_gradient(round(a) - a))); };
  EXPECT_EQ(numbers(gradient(rounded)(Array::from({1.2, 2.7}))), (List{2, 6}));
}

TEST(Gradient, SizesNoneAndOne) {
  const auto f = compile(gradient([](Array x) { return sum(softmax(x) * x) + sum(cumsum(x, -1)); }));
  for (const Dims& dims : {Dims{0, 3}, Dims{1, 1}, Dims{2, 1}, Dims{33, 31}}) {
    const Array x = Array::from(std::vector<float>(static_cast<size_t>(dims[0] * dims[1]), 0.5f), dims);
    EXPECT_EQ(f(x).shape(), dims);
    // All elements are equal: softmax gives 1/n, and element c takes part in n - c sums.
    const List got = numbers(f(x));
    for (size_t i = 0; i < got.size(); ++i) {
      const auto n = static_cast<double>(dims[1]), c = static_cast<double>(static_cast<int64_t>(i) % dims[1]);
      EXPECT_NEAR(got[i], 1 / n + (n - c), 1e-4);
    }
  }
}

TEST(Gradient, OfFunctionsThatAskForSizes) {
  const auto f = [](Array x, Array y) {
    const Array wide = broadcast_to(y, {x.extent(0), x.extent(1)});
    return sum(square(x * wide)) / x.extent(0);
  };
  const auto slope = compile(gradient(f, 1));
  for (const int64_t rows : {2, 3, 5}) {
    const Array x = Array::from(std::vector<double>(static_cast<size_t>(rows) * 2, 2.0), {rows, 2}),
                y = Array::from({1.0, 3.0});
    for (const List& got : {numbers(slope(x, y)), numbers(gradient(f, 1)(x, y))}) {
      EXPECT_NEAR(got[0], 8, 1e-12);
      EXPECT_NEAR(got[1], 24, 1e-12);
    }
  }
  EXPECT_EQ(slope.compile_count(), 1);
  // One that needs to know them is compiled for each.
  const auto known = compile(gradient([](Array x) { return sum(x) * static_cast<double>(x.shape(0)); }));
  EXPECT_EQ(numbers(known(Array::from({1.0, 2.0, 3.0}))), (List{3, 3, 3}));
}

TEST(Gradient, IsFusedWithWhatItIsMadeOf) {
  using Function = std::function<Array(Array)>;
  const Function functions[] = {
      [](Array x) { return softmax(x); },
      [](Array x) { return log_softmax(x); },
      [](Array x) { return layernorm(x); },
      [](Array x) { return rmsnorm(x); },
      [](Array x) { return gelu(x); },
      [](Array x) { return mish(x); },
      [](Array x) { return dropout(relu(x), 0.1, 7); },
      [](Array x) { return cumsum(x); },
      [](Array x) {
        return concat({x[{slice(), slice(0, 64)}] * 2, exp(x[{slice(), slice(64, none)}])}, 1);
      }};
  for (const Function& function : functions) {
    const auto slope = compile([&](Array x, Array g) { return vjp({function(x)}, {x}, {g})[0]; });
    const Array x = Array::from(std::vector<float>(32 * 128, 0.5f), {32, 128});
    if (!slope.explain(x, x).kernels.empty()) slope.expect_kernels(1);
  }
  const auto pool = compile([](Array x, Array g) { return vjp({max_pool(x, {2, 2})}, {x}, {g})[0]; });
  const Array image = Array::from(std::vector<float>(8 * 64, 1.0f), {1, 8, 64});
  pool(image, Array::from(std::vector<float>(4 * 32, 1.0f), {1, 4, 32}));
  pool.expect_kernels(1);
}

// ---- operations of the user's

CustomOperation doubled_square() {
  CustomOperation o;
  o.name = "doubled_square";
  o.pure = true;
  o.cpu = [](const CustomCall& call) {
    const auto x = call.inputs[0].span<double>(), y = call.inputs[1].span<double>();
    const auto to = call.outputs[0].span<double>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = 2 * x[i] * x[i] * y[i];
  };
  return o;
}

TEST(Gradient, OfACustomOperationWithARule) {
  CustomOperation o = doubled_square();
  o.gradient = [](const CustomGradient& g) {
    return std::vector<Array>{4 * g.inputs[0] * g.inputs[1] * g.cotangents[0],
                              g.outputs[0] / g.inputs[1] * g.cotangents[0]};
  };
  const Custom f(o);
  const Array x = Array::from({1.0, 2.0, 3.0}), y = Array::from({4.0, 5.0, 6.0});
  const auto loss = [&](Array a, Array b) { return sum(f({a, b}) * a); };
  const auto compiled = compile(gradient(loss, {0, 1}));
  for (const std::vector<Array>& got : {gradient(loss, {0, 1})(x, y), compiled(x, y)}) {
    EXPECT_EQ(numbers(got[0]), (List{6 * 4, 6 * 4 * 5, 6 * 9 * 6}));
    EXPECT_EQ(numbers(got[1]), (List{2, 16, 54}));
  }
  // The gradient of the gradient goes through the operation again, and through its rule.
  const auto slope = [&](Array a) { return sum(gradient(loss)(a, y)); };
  EXPECT_EQ(numbers(gradient(slope)(x)), (List{12 * 4, 12 * 2 * 5, 12 * 3 * 6}));
}

TEST(Gradient, OfACustomOperationWithSeveralResults) {
  CustomOperation o;
  o.name = "halves";
  o.outputs = [](const std::vector<Array>& in) {
    const Size half = in[0].extent(0) / 2;
    return std::vector<CustomType>{{DType::F64, half}, {DType::F64, half}};
  };
  o.cpu = [](const CustomCall& call) {
    const auto x = call.inputs[0].span<double>();
    for (size_t i = 0; i < x.size() / 2; ++i)
      call.outputs[0].span<double>()[i] = x[i], call.outputs[1].span<double>()[i] = x[x.size() / 2 + i];
  };
  o.gradient = [](const CustomGradient& g) { return std::vector<Array>{concat({g.cotangents[0], g.cotangents[1]})}; };
  const Custom halves(o);
  const Array x = Array::from({1.0, 2.0, 3.0, 4.0});
  EXPECT_EQ(numbers(gradient([&](Array a) { return sum(square(halves.all({a})[1])); })(x)), (List{0, 0, 6, 8}));
  EXPECT_EQ(numbers(gradient([&](Array a) {
              const auto h = halves.all({a});
              return sum(h[0] * h[1]);
            })(x)),
            (List{3, 4, 1, 2}));
}

TEST(Gradient, OfScalarFunctionsAndNamedSteps) {
  const auto swish =
      scalar_function("double swish(double x, double beta) { double t = x * beta; return x / (1.0 + exp(-t)); }");
  const Array x = Array::from({0.5, -1.0});
  const List got = numbers(gradient([&](Array a) { return sum(swish(a, 1.0)); })(x));
  for (size_t i = 0; i < 2; ++i) {
    const double v = i ? -1.0 : 0.5, s = 1 / (1 + std::exp(-v));
    EXPECT_NEAR(got[i], s + v * s * (1 - s), 1e-12);
  }
  const auto soft = [](Array a) {
    return sum(elementwise(
        "softsign", [](const Array& u) { return u / (1 + abs(u)); }, a));
  };
  EXPECT_NEAR(numbers(gradient(soft)(x))[1], 0.25, 1e-12);
}

// ---- mistakes

TEST(Gradient, Mistakes) {
  const Array x = Array::from({1.f, 2.f}), i = Array::from({int64_t{1}, int64_t{2}});
  EXPECT_EQ(message_of([&] { gradient([](Array a) { return a * 2; })(x); }),
            "gradient(): a gradient is of one float, not of f32[2]\nhelp: reduce it, sum(x) or mean(x); vjp() takes "
            "values of any shape");
  EXPECT_EQ(message_of([&] { gradient([](Array a) { return sum(a); })(i); }),
            "gradient(): argument 0 is i64[2], and gradients are by arrays of floats\nhelp: cast it first: astype(x, "
            "DType::F32)");
  EXPECT_EQ(message_of([&] { gradient([](Array a) { return sum(a); })(2); }),
            "gradient(): argument 0 is the number 2, and gradients are by floats\nhelp: write it as a float: 2.0");
  EXPECT_EQ(message_of([&] { gradient([](Array a) { return sum(a); }, 1)(x); }),
            "a gradient by argument 1 of a function of 1 argument\nhelp: arguments count from 0");
  const Array loss = sum(x * x), other = Array::from({1.f});
  EXPECT_EQ(message_of([&] { gradient(loss, other); }),
            "gradient(): the value is not made of the array 0, f32[1]\nhelp: name an array that it was made of; what "
            "was evaluated on "
            "the way is a constant");
  eval(loss);
  EXPECT_EQ(message_of([&] { gradient(loss, x); }),
            "gradient(): the value is not made of the array 0, f32[2]\nhelp: it is evaluated, and what is evaluated is "
            "not made of "
            "anything: take the gradient before eval(), or use gradient(f, argument)");
  const Custom f(doubled_square());
  const Array y = Array::from({1.0, 2.0});
  EXPECT_EQ(message_of([&] { gradient([&](Array a) {
                               return sum(f({a, a}));
                             })(y); }),
            "gradient(): the operation doubled_square has no gradient\nhelp: give the CustomOperation of "
            "doubled_square a gradient "
            "function, or take its inputs as constants: stop_gradient(x)");
  EXPECT_EQ(message_of([&] {
              gradient([](Array a) {
                eval(a);
                return sum(a);
              })(x);
            }).substr(0, 70),
            std::string("a parameter of a function that was being compiled has no data of its own").substr(0, 70));
  EXPECT_EQ(message_of([&] { vjp({x * 2}, {x}, {y}); }), "nothing thrown");  // cast to the dtype of its value
  EXPECT_EQ(message_of([&] { vjp({x * 2}, {x}, {Array::from({1.f})}); }),
            "vjp(): the cotangent of f32[2] is f32[1]\nhelp: a cotangent is a float array of the shape of its value");
  EXPECT_EQ(message_of([&] { vjp({x * 2}, {x}, {}); }), "vjp(): 0 cotangents for 1 values\nhelp: give one for each");
}

TEST(Gradient, MistakesOfRules) {
  const Array x = Array::from({1.0, 2.0});
  const auto with = [&](std::function<std::vector<Array>(const CustomGradient&)> rule) {
    CustomOperation o = doubled_square();
    o.gradient = std::move(rule);
    const Custom f(o);
    return message_of([&] { gradient([&](Array a) { return sum(f({a, a})); })(x); });
  };
  EXPECT_EQ(with([](const CustomGradient& g) { return std::vector<Array>{g.cotangents[0]}; }),
            "gradient(): the gradient of doubled_square has 1 arrays for 2 inputs\nhelp: return one for each, Array() "
            "where there is none");
  EXPECT_EQ(with([](const CustomGradient& g) {
              return std::vector<Array>{sum(g.cotangents[0]), Array()};
            }),
            "gradient(): the gradient of doubled_square by input 0, f64[2], is f64\nhelp: return a float array of the "
            "shape of the input");
  EXPECT_EQ(with([&](const CustomGradient& g) {
              return std::vector<Array>{x * g.cotangents[0], Array()};
            }),
            "gradient(): the gradient of doubled_square uses an array that it is not given\nhelp: make it an input of "
            "the operation");
}

}  // namespace
}  // namespace smelt
