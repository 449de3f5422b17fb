// The same chains through smelt/static and through the compiler: what both compute alike
// (everything but transcendental functions of a host without multiply-adds) is equal to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "compile/compile.hpp"
#include "frontends/language.hpp"
#include "smelt/static.hpp"

namespace smelt {
namespace {

namespace st = smelt::fixed;
constexpr auto x = st::arg<0>;
constexpr auto y = st::arg<1>;
constexpr int64_t kCount = 2003;  // no multiple of anything

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool kOther = false;  // the same expansions
#else
constexpr bool kOther = true;  // those of the C library
#endif

template <class T>
constexpr DType dtype_of_static() {
  if constexpr (std::is_same_v<T, st::f16>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, st::bf16>)
    return DType::BF16;
  else
    return dtype_of<T>;
}

template <class T>
Tensor column(int which) {
  constexpr DType d = dtype_of_static<T>();
  Tensor all = Tensor::empty(d, {kCount});
  std::mt19937_64 random(static_cast<uint64_t>(which + 3));
  const double special[] = {0,    -0.0, 1,   -1,       0.5,       -2.5, 3.5,   127.5, 1e-30,
                            1e30, 88,   -88, HUGE_VAL, -HUGE_VAL, NAN,  65504, 7};
  for (int64_t i = 0; i < kCount; ++i) {
    const double r = std::ldexp(static_cast<double>(random() >> 11), -50) - 4;
    const Scalar s = is_float(d) ? Scalar::of_float(d, i < 289 ? special[which ? i / 17 : i % 17] : r)
                     : is_bool(d)
                         ? Scalar::of_bool(random() % 2 != 0)
                         : Scalar::of_uint(d, i < 40 ? static_cast<uint64_t>(which ? i / 6 - 3 : i % 7 - 3) : random());
    store_scalar(s, static_cast<char*>(all.data) + i * size_of(d));
  }
  return all;
}

Scalar element(const Tensor& t, int64_t i) {
  return load_scalar(t.dtype, static_cast<const char*>(t.data) + i * size_of(t.dtype));
}

// Runs `text`, a program over x: A[N] and y: B[N], both ways.
template <class A, class B, class R, class E>
void same(const E& expression, const std::string& text, bool other_functions = false) {
  const Tensor a = column<A>(0), b = column<B>(1), mine = Tensor::empty(dtype_of_static<R>(), {kCount});
  st::run(kCount, st::in(static_cast<const A*>(a.data), static_cast<const B*>(b.data)),
          st::out(static_cast<R*>(mine.data)) = expression);

  const std::string program = "input x: " + std::string(name_of(a.dtype)) +
                              "[N]\ninput y: " + std::string(name_of(b.dtype)) + "[N]\nreturn " + text;
  SCOPED_TRACE(program);
  const Executable executable = compile(lang::parse_program(program, "<test>"), Machine::cpu(), {});
  const std::vector<Tensor> outputs = executable.run({a, b});
  ASSERT_EQ(outputs[0].dtype, mine.dtype);
  int shown = 0;
  for (int64_t i = 0; i < kCount && shown < 5; ++i) {
    const Scalar got = element(mine, i), compiled = element(outputs[0], i);
    if (got == compiled) continue;
    // Where the functions are others: as results are judged everywhere (docs/numerics.md), since 1
    // + erf(x) cancels.
    const double near = mine.dtype == DType::F64 ? 1e-12 : size_of(mine.dtype) == 2 ? 1e-3 : 1e-5;
    if (other_functions && std::fabs(got.f - compiled.f) <= 1e-6 + near * std::fabs(compiled.f)) continue;
    ++shown;
    ADD_FAILURE() << "x = " << element(a, i).str() << ", y = " << element(b, i).str() << ": " << got.str() << " here, "
                  << compiled.str() << " compiled";
  }
}

TEST(StaticChains, Arithmetic) {
  same<float, float, float>(x * 2 + y, "x * 2 + y");
  same<float, float, float>(st::fma(x, y, 0.5) / (x - y) + st::sqrt(st::abs(y)),
                            "fma(x, y, 0.5) / (x - y) + sqrt(abs(y))");
  same<double, float, double>(x * y - 1.5, "x * y - 1.5");
  same<float, float, float>(st::round(x) + st::floor(y) - st::ceil(x / 3) + st::trunc(y * 0.3),
                            "round(x) + floor(y) - ceil(x / 3) + trunc(y * 0.3)");
  same<float, float, float>(st::clamp(x, -1, 6) + st::relu(-y), "clamp(x, -1, 6) + relu(-y)");
  same<float, float, float>(st::maximum(x, y) - st::minimum(y, 0), "maximum(x, y) - minimum(y, 0)");
  same<float, float, float>(st::sign(x) * st::copysign(y, x) + st::rsqrt(y), "sign(x) * copysign(y, x) + rsqrt(y)");
}

TEST(StaticChains, Quantisation) {
  same<float, float, int8_t>(st::i8(st::clamp(st::round(x / 4.2 + 1.2), -128, 127)),
                             "int8(clamp(round(x / 4.2 + 1.2), -128, 127))");
  same<float, float, int8_t>(st::quantize_int8(x, 0.05, 3), "quantize_int8(x, 0.05, 3)");
  same<st::f16, float, int8_t>(st::quantize_int8(x, 0.05), "quantize_int8(x, 0.05)");
  same<float, double, int64_t>(st::i64(x * 1e9) - st::i64(y), "i64(x * 1e9) - i64(y)");
  same<float, double, uint32_t>(st::u32(x) + st::u32(y * 1e5), "u32(x) + u32(y * 1e5)");
  same<double, float, uint64_t>(st::u64(x * 1e19) | st::u64(y), "u64(x * 1e19) | u64(y)");
}

TEST(StaticChains, Halves) {
  same<st::f16, st::f16, st::f16>(x * 2.3 + y, "x * 2.3 + y");
  same<st::bf16, st::bf16, st::bf16>(x * y + 1.5, "x * y + 1.5");
  same<st::f16, st::bf16, float>(x * y, "x * y");
  same<float, double, st::f16>(st::cast<st::f16>(x + y), "f16(x + y)");
  same<float, double, st::bf16>(st::cast<st::bf16>(st::cast<st::f16>(x) * 3), "bf16(f16(x) * 3)");
  same<st::f16, st::f16, st::f16>(st::gelu(x + y), "gelu(x + y)", kOther);
  same<st::bf16, float, st::bf16>(st::silu(x), "silu(x)", kOther);
}

TEST(StaticChains, Integers) {
  same<int32_t, int32_t, int32_t>(st::floor_divide(x, y) + x % y - st::fmod(x, y), "x // y + x % y - fmod(x, y)");
  same<int8_t, uint8_t, int16_t>(x * y + st::abs(x), "x * y + abs(x)");
  same<uint16_t, uint16_t, uint16_t>((x << y) ^ (y >> 3) ^ ~x, "(x << y) ^ (y >> 3) ^ ~x");
  same<int64_t, int64_t, int64_t>(st::pow(x, y % 5) + st::square(x), "x ** (y % 5) + square(x)");
  same<int32_t, int16_t, int16_t>(st::i16(x) + y, "i16(x) + y");
  same<int32_t, int32_t, uint8_t>(st::wrap_cast<uint8_t>(x) + st::u8(y), "wrap_cast(x, u8) + u8(y)");
  same<int64_t, int32_t, float>(st::f32(x) / st::f32(y), "f32(x) / f32(y)");
}

TEST(StaticChains, Conditions) {
  same<float, float, float>(st::where(x > y && !(y == 0), x, -y), "where((x > y) & ~(y == 0), x, -y)");
  same<float, int32_t, bool>(((x >= 0.5) ^ (y != 3)) | st::isnan(x), "(x >= 0.5) ^ (y != 3) | isnan(x)");
  same<bool, bool, bool>((x & y) | !x, "(x & y) | ~x");
  same<float, float, bool>(st::isinf(x) == st::isfinite(y), "isinf(x) == isfinite(y)");
  same<float, float, int32_t>(st::i32(x < y) + st::i32(st::boolean(y)), "i32(x < y) + i32(bool(y))");
}

TEST(StaticChains, Functions) {
  same<float, float, float>(st::exp((x + y) * 2), "exp((x + y) * 2)", kOther);
  same<float, float, float>(st::sigmoid(x) * st::mish(y), "sigmoid(x) * mish(y)", kOther);
  same<float, float, float>(st::sin(x) * st::cos(y), "sin(x) * cos(y)", kOther);
  same<double, double, double>(st::log(st::abs(x)) * st::atan2(x, y), "log(abs(x)) * atan2(x, y)", kOther);
  same<double, double, double>(st::erf(x) * st::tan(y), "erf(x) * tan(y)", kOther);
  same<float, float, float>(st::pow(st::abs(x), y), "pow(abs(x), y)", kOther);
  same<float, float, float>(st::cbrt(x) * st::hypot(x, y), "cbrt(x) * hypot(x, y)", kOther);
  same<float, float, float>(st::hardswish(x) + st::elu(y) + st::leaky_relu(x, 0.2),
                            "hardswish(x) + elu(y) + leaky_relu(x, 0.2)", kOther);
  same<float, float, float>(st::gelu_tanh(x) * st::softplus(y), "gelu_tanh(x) * softplus(y)", kOther);
  same<float, float, float>(st::expm1(x) * st::tanh(y), "expm1(x) * tanh(y)", kOther);
}

}  // namespace
}  // namespace smelt
