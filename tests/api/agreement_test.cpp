// Every function that is more than one operation: from C++ and from text, the same results, to the
// bit.
#include <gtest/gtest.h>
#include <smelt/smelt.hpp>

#include <cstring>
#include <functional>
#include <random>
#include <set>

#include "frontends/function_table.hpp"

namespace smelt {
namespace {

// Arrays that the functions are called on, x: f32[3, 4, 6] with a nan and an inf.
struct Arrays {
  Array x, y, w, b, c, q, targets, i, g, m;
  Arrays() {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    const auto floats = [&](Dims dims) {
      int64_t count = 1;
      for (int64_t d : dims) count *= d;
      std::vector<float> values(static_cast<size_t>(count));
      for (float& v : values) v = normal(random);
      return Array::from(values, std::move(dims));
    };
    x = floats({3, 4, 6}), y = floats({3, 4, 6}), w = floats({6}), b = floats({6}), c = floats({4}), g = floats({4});
    x.mutable_span<float>()[5] = std::numeric_limits<float>::quiet_NaN();
    x.mutable_span<float>()[50] = std::numeric_limits<float>::infinity();
    m = Array::from({0.5f, 1.f, 2.f, 1.5f});
    q = Array::from({int8_t{-128}, int8_t{0}, int8_t{7}, int8_t{127}, int8_t{3}, int8_t{-1}});
    targets = Array::from({0, 5, 2, 9, 1, 3, 0, 0, 4, 2, -1, 5}, {3, 4});
    i = Array::from({1, 0, 2, -1});
  }
};

struct Row {
  const char* text;
  std::function<Array(const Arrays&)> cpp;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"logical_and(x, y > 0)", [](const Arrays& a) { return logical_and(a.x, a.y > 0); }},
      {"logical_or(x, y > 0)", [](const Arrays& a) { return logical_or(a.x, a.y > 0); }},
      {"logical_xor(x, y > 0)", [](const Arrays& a) { return logical_xor(a.x, a.y > 0); }},
      {"logical_not(x)", [](const Arrays& a) { return logical_not(a.x); }},
      {"clamp(x, -1, b)", [](const Arrays& a) { return clamp(a.x, -1, a.b); }},
      {"clamp(x, hi=0.5)", [](const Arrays& a) { return clamp(a.x, {}, 0.5); }},
      {"relu(x)", [](const Arrays& a) { return relu(a.x); }},
      {"leaky_relu(x, 0.2)", [](const Arrays& a) { return leaky_relu(a.x, 0.2); }},
      {"leaky_relu(x)", [](const Arrays& a) { return leaky_relu(a.x); }},
      {"elu(x, 0.7)", [](const Arrays& a) { return elu(a.x, 0.7); }},
      {"gelu(x)", [](const Arrays& a) { return gelu(a.x); }},
      {"gelu(x, 'tanh')", [](const Arrays& a) { return gelu(a.x, Approximate::Tanh); }},
      {"gelu_tanh(x)", [](const Arrays& a) { return gelu_tanh(a.x); }},
      {"sigmoid(x)", [](const Arrays& a) { return sigmoid(a.x); }},
      {"silu(x)", [](const Arrays& a) { return silu(a.x); }},
      {"softplus(x)", [](const Arrays& a) { return softplus(a.x); }},
      {"mish(x)", [](const Arrays& a) { return mish(a.x); }},
      {"hardswish(x)", [](const Arrays& a) { return hardswish(a.x); }},
      {"quantize_int8(x, 0.1, 3)", [](const Arrays& a) { return quantize_int8(a.x, 0.1, 3); }},
      {"dequantize(q, 0.1, 3, f64)", [](const Arrays& a) { return dequantize(a.q, 0.1, 3, DType::F64); }},
      {"lerp(x, y, 0.25)", [](const Arrays& a) { return lerp(a.x, a.y, 0.25); }},
      {"sum(x, (0, 2))",
       [](const Arrays& a) {
         return sum(a.x, {0, 2});
       }},
      {"prod(x, 1, True)", [](const Arrays& a) { return prod(a.x, 1, keepdims); }},
      {"max(x, -1)", [](const Arrays& a) { return max(a.x, -1); }},
      {"min(x)", [](const Arrays& a) { return min(a.x); }},
      {"any(x > 2, 0)", [](const Arrays& a) { return any(a.x > 2, 0); }},
      {"all(x > -2, 0)", [](const Arrays& a) { return all(a.x > -2, 0); }},
      {"cumsum(x)", [](const Arrays& a) { return cumsum(a.x); }},
      {"cumsum(x, 1, exclusive=True, restart=x > 1)",
       [](const Arrays& a) { return cumsum(a.x, 1, {.exclusive = true, .restart = a.x > 1}); }},
      {"cumprod(x, 0, reverse=True)", [](const Arrays& a) { return cumprod(a.x, 0, {.reverse = true}); }},
      {"cummax(x, 1)", [](const Arrays& a) { return cummax(a.x, 1); }},
      {"cummin(x)", [](const Arrays& a) { return cummin(a.x); }},
      {"cummean(x)", [](const Arrays& a) { return cummean(a.x); }},
      {"logcumsumexp(x)", [](const Arrays& a) { return logcumsumexp(a.x); }},
      {"argmax(x, 1)", [](const Arrays& a) { return argmax(a.x, 1); }},
      {"argmin(x)", [](const Arrays& a) { return argmin(a.x); }},
      {"mean(x, -1, True)", [](const Arrays& a) { return mean(a.x, -1, keepdims); }},
      {"var(x, (1, 2), 1)",
       [](const Arrays& a) {
         return var(a.x, {1, 2}, {}, 1);
       }},
      {"std(x, 0, 0, True)", [](const Arrays& a) { return stddev(a.x, 0, keepdims); }},
      {"logsumexp(x, -1)", [](const Arrays& a) { return logsumexp(a.x, -1); }},
      {"norm(x, 3, -1)", [](const Arrays& a) { return norm(a.x, 3, -1); }},
      {"l2norm(x, 1)", [](const Arrays& a) { return l2norm(a.x, 1); }},
      {"matmul(x, y.mT)", [](const Arrays& a) { return a.x.matmul(a.y.mT()); }},
      {"linear(x, x[0])", [](const Arrays& a) { return linear(a.x, a.x[0]); }},
      {"einsum('bij,bkj->ki', (x, y))",
       [](const Arrays& a) {
         return einsum("bij,bkj->ki", {a.x, a.y});
       }},
      {"dot(x, x[0].T)", [](const Arrays& a) { return dot(a.x, a.x[0].T()); }},
      {"vecdot(x, y, 1)", [](const Arrays& a) { return vecdot(a.x, a.y, 1); }},
      {"outer(w, b)", [](const Arrays& a) { return outer(a.w, a.b); }},
      {"tensordot(x, y, ((0, 2), (0, 2)))",
       [](const Arrays& a) {
         return tensordot(a.x, a.y, {0, 2}, {0, 2});
       }},
      {"tensordot(w, b, 0)", [](const Arrays& a) { return tensordot(a.w, a.b, 0); }},
      {"scaled_dot_product_attention(x, y, x, None, True)",
       [](const Arrays& a) { return scaled_dot_product_attention(a.x, a.y, a.x, {}, true); }},
      {"softmax(x)", [](const Arrays& a) { return softmax(a.x); }},
      {"softmax(x, (1, 2))",
       [](const Arrays& a) {
         return softmax(a.x, {1, 2});
       }},
      {"log_softmax(x, 0)", [](const Arrays& a) { return log_softmax(a.x, 0); }},
      {"layernorm(x, w, b)", [](const Arrays& a) { return layernorm(a.x, a.w, a.b); }},
      {"layernorm(x, axis=(1, 2), eps=0.1)",
       [](const Arrays& a) {
         return layernorm(a.x, {}, {}, {1, 2}, 0.1);
       }},
      {"rmsnorm(x, w, -1, 0.01)", [](const Arrays& a) { return rmsnorm(a.x, a.w, -1, 0.01); }},
      {"groupnorm(x, 2, c, g)", [](const Arrays& a) { return groupnorm(a.x, 2, a.c, a.g); }},
      {"batchnorm(x, c, m, g, c, 0.01)", [](const Arrays& a) { return batchnorm(a.x, a.c, a.m, a.g, a.c, 0.01); }},
      {"cross_entropy(x, targets)", [](const Arrays& a) { return cross_entropy(a.x, a.targets); }},
      {"cross_entropy(x, targets, -1, 'none')",
       [](const Arrays& a) { return cross_entropy(a.x, a.targets, -1, Reduction::None); }},
      {"mse(x, y, 'sum')", [](const Arrays& a) { return mse(a.x, a.y, Reduction::Sum); }},
      {"huber(x, y, 0.3, 'none')", [](const Arrays& a) { return huber(a.x, a.y, 0.3, Reduction::None); }},
      {"reshape(x, 6, -1)",
       [](const Arrays& a) {
         return reshape(a.x, {6, -1});
       }},
      {"flatten(x)", [](const Arrays& a) { return flatten(a.x); }},
      {"transpose(x, 1, 2, 0)",
       [](const Arrays& a) {
         return transpose(a.x, {1, 2, 0});
       }},
      {"transpose(x)", [](const Arrays& a) { return a.x.T(); }},
      {"swapaxes(x, 0, 2)", [](const Arrays& a) { return swapaxes(a.x, 0, 2); }},
      {"x.mT", [](const Arrays& a) { return a.x.mT(); }},
      {"moveaxis(x, 0, -1)", [](const Arrays& a) { return moveaxis(a.x, 0, -1); }},
      {"broadcast_to(w, 2, 6)",
       [](const Arrays& a) {
         return broadcast_to(a.w, {2, 6});
       }},
      {"expand_dims(w, 0)", [](const Arrays& a) { return expand_dims(a.w, 0); }},
      {"squeeze(w[None, :, None])",
       [](const Arrays& a) {
         return squeeze(a.w[{newaxis, slice(), newaxis}]);
       }},
      {"concat((x, y), 1)",
       [](const Arrays& a) {
         return concat({a.x, a.y}, 1);
       }},
      {"stack((w, b), 1)",
       [](const Arrays& a) {
         return stack({a.w, a.b}, 1);
       }},
      {"pad(x, ((0, 1), (2, 0), (1, 1)), 9)",
       [](const Arrays& a) {
         return pad(a.x, {{0, 1}, {2, 0}, {1, 1}}, 9);
       }},
      {"pad(w, (1, 2), 0, 'reflect')",
       [](const Arrays& a) {
         return pad(a.w, {1, 2}, 0, PadMode::Reflect);
       }},
      {"window(w, 3, 0, 2, 1)", [](const Arrays& a) { return window(a.w, 3, 0, 2, 1); }},
      {"window(x, (2, 2), (0, 2))",
       [](const Arrays& a) {
         return window(a.x, {2, 2}, {0, 2});
       }},
      {"max_pool(x, (2, 3))",
       [](const Arrays& a) {
         return max_pool(a.x, {2, 3});
       }},
      {"min_pool(x, 3, 1, padding=1)", [](const Arrays& a) { return min_pool(a.x, 3, 1, 1); }},
      {"avg_pool(x, (2, 3), padding=1, count_padding=False)",
       [](const Arrays& a) {
         return avg_pool(a.x, {2, 3}, {}, 1, false);
       }},
      {"conv(x, reshape(y, (6, 4, 3)), w, 2, 1)",
       [](const Arrays& a) {
         return conv(a.x, reshape(a.y, {6, 4, 3}), a.w, 2, 1);
       }},
      {"correlate(x, b)", [](const Arrays& a) { return correlate(a.x, a.b); }},
      {"filter(x, b, 'symmetric')", [](const Arrays& a) { return filter(a.x, a.b, PadMode::Symmetric); }},
      {"pad(w, (1, 2))",
       [](const Arrays& a) {
         return pad(a.w, {1, 2});
       }},
      {"flip(x, 1)", [](const Arrays& a) { return flip(a.x, 1); }},
      {"roll(x, (1, -2), (0, 2))",
       [](const Arrays& a) {
         return roll(a.x, {1, -2}, {0, 2});
       }},
      {"roll(x, 5)", [](const Arrays& a) { return roll(a.x, 5); }},
      {"tile(w, 2, 3)",
       [](const Arrays& a) {
         return tile(a.w, {2, 3});
       }},
      {"repeat(x, 2, 1)", [](const Arrays& a) { return repeat(a.x, 2, 1); }},
      {"take(x, i, 1)", [](const Arrays& a) { return take(a.x, a.i, 1); }},
      {"take(x, i * 40, mode='wrap')", [](const Arrays& a) { return take(a.x, a.i * 40, {}, OutOfRange::Wrap); }},
      {"take(w, i * 40, 0, 'clip')", [](const Arrays& a) { return take(a.w, a.i * 40, 0, OutOfRange::Clip); }},
      {"take_along_axis(w, i, 0)", [](const Arrays& a) { return take_along_axis(a.w, a.i, 0); }},
      {"slice_update(x, (0, ..., slice(None, None, -2)), y[0, :, :3] * 2)",
       [](const Arrays&
              a) { return slice_update(a.x, {0, ellipsis, slice(none, none, -2)}, a.y[{0, slice(), slice(0, 3)}] * 2); }},
      {"slice_update(x, -1, 3)", [](const Arrays& a) { return a.x.slice_update(-1, 3); }},
      {"moveaxis(x, (0, 1), (-1, 0))", [](const Arrays& a) { return moveaxis(a.x, {0, 1}, {-1, 0}); }},
      {"tril(x, 1)", [](const Arrays& a) { return tril(a.x, 1); }},
      {"triu(x, -1)", [](const Arrays& a) { return triu(a.x, -1); }},
      {"arange(2, 11, 3)", [](const Arrays&) { return arange(2, 11, 3); }},
      {"arange(4, dtype=u8)", [](const Arrays&) { return arange(4, {}, 1, DType::U8); }},
      {"eye(3, 4, 1)", [](const Arrays&) { return eye(3, 4, 1); }},
      {"full((2, 3), 7, f16)", [](const Arrays&) { return full({2, 3}, 7, DType::F16); }},
      {"zeros((2, 3))", [](const Arrays&) { return zeros({2, 3}); }},
      {"ones(4, i8)", [](const Arrays&) { return ones(4, DType::I8); }},
      {"full_like(x, 2)", [](const Arrays& a) { return full_like(a.x, 2); }},
      {"zeros_like(x, i32)", [](const Arrays& a) { return zeros_like(a.x, DType::I32); }},
      {"ones_like(q)", [](const Arrays& a) { return ones_like(a.q); }},
      {"astype(x, i8)", [](const Arrays& a) { return cast<int8_t>(a.x); }},
      {"wrap_cast(targets, u8)", [](const Arrays& a) { return wrap_cast(a.targets, DType::U8); }},
      {"scatter(w, i * 40, 1.0, mode='clip')",
       [](const Arrays& a) { return scatter(a.w, a.i * 40, 1.0, 0, OutOfRange::Clip); }},
      {"scatter_add(w, i, take(w, i), mode='drop', deterministic=False)",
       [](const Arrays& a) { return scatter_add(a.w, a.i, take(a.w, a.i), 0, OutOfRange::Drop, false); }},
      {"scatter_mul(scatter_max(w, i, 2.0), i, 2.0)",
       [](const Arrays& a) { return scatter_mul(scatter_max(a.w, a.i, 2.0), a.i, 2.0); }},
      {"scatter_max(w, i, 0.5)", [](const Arrays& a) { return scatter_max(a.w, a.i, 0.5); }},
      {"scatter_min(w, i, 0.5)", [](const Arrays& a) { return scatter_min(a.w, a.i, 0.5); }},
      {"bincount(i, 5) + histogram(w, 5, -1, 1)",
       [](const Arrays& a) { return bincount(a.i, 5) + histogram(a.w, 5, -1, 1); }},
      {"segment_sum(take(w, i), i, 4)", [](const Arrays& a) { return segment_sum(take(a.w, a.i), a.i, 4); }},
      {"one_hot(i, 3, i8)", [](const Arrays& a) { return one_hot(a.i, 3, DType::I8); }},
      {"embedding(x[0], i)", [](const Arrays& a) { return embedding(a.x[0], a.i); }},
      {"rotary(x, w[:3], b[3:])",
       [](const Arrays& a) { return rotary(a.x, a.w[slice(none, 3)], a.b[slice(3, none)]); }},
      {"rope(x, i, 100, True)", [](const Arrays& a) { return rope(a.x, a.i, 100, true); }},
      {"split(x, 2, 1)[1]", [](const Arrays& a) { return split(a.x, 2, 1)[1]; }},
      {"part(x, 3, 1, 2)", [](const Arrays& a) { return part(a.x, 3, 1, 2); }},
      {"max_and_argmax(x, 1)[1]", [](const Arrays& a) { return max_and_argmax(a.x, 1).second; }},
      {"random_bits((3, 5), 7)", [](const Arrays&) { return random_bits({3, 5}, 7); }},
      {"uniform((3, 5), 7, 2, 1, f64)", [](const Arrays&) { return uniform({3, 5}, 7, 2, 1, DType::F64); }},
      {"normal((9), sum(targets))", [](const Arrays& a) { return normal(9, sum(a.targets)); }},
      {"bernoulli((3, 4, 6), w * 0.1, 7)", [](const Arrays& a) { return bernoulli({3, 4, 6}, a.w * 0.1, 7); }},
      {"dropout(x, 0.5, 7, stream=2)", [](const Arrays& a) { return dropout(a.x, 0.5, 7, 0, 2); }},
      {"stop_gradient(x)", [](const Arrays& a) { return stop_gradient(a.x); }},
      {"gradient(sum(gelu(x)), x)", [](const Arrays& a) { return gradient(sum(gelu(a.x)), a.x); }},
      {"vjp(softmax(x), x, exp(x))", [](const Arrays& a) { return vjp({softmax(a.x)}, {a.x}, {exp(a.x)})[0]; }},
      {"value_and_gradient(logsumexp)(x)[1]",
       [](const Arrays& a) { return value_and_gradient([](Array x) { return logsumexp(x); })(a.x).second; }},
      {"x[1, ::-1, 1:-1:2]", [](const Arrays& a) { return a.x[{1, slice(none, none, -1), slice(1, -1, 2)}]; }},
      {"x[..., i]", [](const Arrays& a) { return a.x[{ellipsis, a.i}]; }},
      {"fma(x, y, 2) % 3 - hypot(x, y)", [](const Arrays& a) { return fma(a.x, a.y, 2) % 3 - hypot(a.x, a.y); }},
      {"where(x < y, x, 0)", [](const Arrays& a) { return where(a.x < a.y, a.x, 0); }},
      {"(targets << 2) | 1", [](const Arrays& a) { return (a.targets << 2) | 1; }},
      {"~targets ^ 3", [](const Arrays& a) { return ~a.targets ^ 3; }},
      {"not (x > 0) and (y > 0) or (x == y)", [](const Arrays& a) { return (!(a.x > 0) && a.y > 0) || a.x == a.y; }},
  };
  return table;
}

bool same_bits(const Array& a, const Array& b) {
  if (a.str() != b.str()) return false;
  const Array left = a.copy(), right = b.copy();
  return left.size() == 0 ||
         std::memcmp(left.data(), right.data(), static_cast<size_t>(left.size() * size_of(left.dtype()))) == 0;
}

TEST(Agreement, EveryFunctionGivesWhatItsTextGives) {
  const Arrays a;
  const std::vector<std::pair<std::string, Array>> inputs = {
      {"x", a.x}, {"y", a.y}, {"w", a.w}, {"b", a.b}, {"c", a.c}, {"q", a.q}, {"targets", a.targets},
      {"i", a.i}, {"g", a.g}, {"m", a.m}};
  std::string declarations;
  for (const auto& [name, array] : inputs) declarations += "input " + name + ": " + array.str() + "\n";
  for (const Row& row : rows()) {
    const Program program = compile_text(declarations + "return " + row.text);
    const Array expected = program(a.x, a.y, a.w, a.b, a.c, a.q, a.targets, a.i, a.g, a.m)[0];
    Array lazy = row.cpp(a);
    eval(lazy);
    EXPECT_TRUE(same_bits(lazy, expected)) << row.text << ": " << lazy << " and " << expected;
  }
}

// A function that is added to the language is added here.
TEST(Agreement, NoFunctionIsLeftOut) {
  std::string texts;
  for (const Row& row : rows()) texts += std::string(" ") + row.text;
  for (const lang::Function& f : lang::functions()) {
    // slice() makes an item of a subscript, range() numbers.
    if (f.op || f.row.name == "slice" || f.row.name == "range") continue;
    EXPECT_NE(texts.find(" " + std::string(f.row.name) + "("), std::string::npos) << f.row.name;
  }
}

}  // namespace
}  // namespace smelt
