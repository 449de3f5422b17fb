// Time per element of the expansions, vectorised by the compiler that builds this, against the
// vector mathematics of glibc (libmvec) and SLEEF, on arrays that stay in the first-level cache.
// Prints a Markdown table.
#include <fmt/format.h>
#include <immintrin.h>
#include <sleef.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "base/median.hpp"
#include "ops/expand/on_host.hpp"

#ifdef __AVX512F__
using F32 = __m512;
using F64 = __m512d;
#define MVEC1(name) _ZGVeN16v_##name
#define MVEC2(name) _ZGVeN16vv_##name
#define MVEC1_F64(name) _ZGVeN8v_##name
#define SLEEF_F32(name, ulp) Sleef_##name##f16_##ulp
#define SLEEF_F64(name, ulp) Sleef_##name##d8_##ulp
#else
using F32 = __m256;
using F64 = __m256d;
#define MVEC1(name) _ZGVdN8v_##name
#define MVEC2(name) _ZGVdN8vv_##name
#define MVEC1_F64(name) _ZGVdN4v_##name
#define SLEEF_F32(name, ulp) Sleef_##name##f8_##ulp
#define SLEEF_F64(name, ulp) Sleef_##name##d4_##ulp
#endif

extern "C" {
F32 MVEC1(expf)(F32);
F32 MVEC1(tanhf)(F32);
F32 MVEC1(erff)(F32);
F32 MVEC1(sinf)(F32);
F32 MVEC1(logf)(F32);
F32 MVEC2(powf)(F32, F32);
F64 MVEC1_F64(exp)(F64);
F64 MVEC1_F64(sin)(F64);
}

namespace smelt::bench {
namespace {

constexpr size_t kCount = 2048;

template <class T>
struct Arrays {
  alignas(64) T a[kCount], b[kCount], out[kCount];

  Arrays(double low, double high, double low_b, double high_b) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> first(low, high), second(low_b, high_b);
    for (T& x : a) x = static_cast<T>(first(random));
    for (T& x : b) x = static_cast<T>(second(random));
  }
};

// Nanoseconds per element: the median of several runs, each of about a millisecond.
template <class Body>
double nanoseconds(Body body) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRepeat = 200;
  std::vector<double> times;
  for (int run = 0; run < 41; ++run) {
    const auto start = Clock::now();
    for (int k = 0; k < kRepeat; ++k) {
      body();
      asm volatile("" ::: "memory");
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    times.push_back(seconds / kRepeat / kCount * 1e9);
  }
  return median(std::move(times));
}

template <class T, class F>
[[gnu::noinline, gnu::flatten]] void each(Arrays<T>& x, F f) {
  for (size_t i = 0; i < kCount; ++i) x.out[i] = f(x.a[i], x.b[i]);
}

template <class V, class T, class F>
[[gnu::noinline]] void each_vector(Arrays<T>& x, F f) {
  for (size_t i = 0; i < kCount; i += sizeof(V) / sizeof(T))
    *reinterpret_cast<V*>(x.out + i) = f(*reinterpret_cast<const V*>(x.a + i), *reinterpret_cast<const V*>(x.b + i));
}

template <class V, class T, class Ours, class Mvec, class Sleef>
void row(const char* name, const char* range, Arrays<T> x, Ours ours, Mvec mvec, Sleef sleef) {
  const double a = nanoseconds([&] { each(x, ours); });
  const double b = nanoseconds([&] { each_vector<V>(x, mvec); });
  const double c = nanoseconds([&] { each_vector<V>(x, sleef); });
  fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", name, range, a, b, c);
  std::fflush(stdout);
}

#define OURS(id, T) [](T a, [[maybe_unused]] T b) { return expand::on_float::id<T>(a, b, a); }
#define ONE(V, f) [](V a, V) { return f(a); }

void run() {
  fmt::print("| function | arguments | shared expansion | libmvec | SLEEF |\n|---|---|---|---|---|\n");
  row<F32>("exp f32", "-20 .. 20", Arrays<float>(-20, 20, 0, 1), OURS(Exp, float), ONE(F32, MVEC1(expf)),
           ONE(F32, SLEEF_F32(exp, u10)));
  row<F32>("tanh f32", "-5 .. 5", Arrays<float>(-5, 5, 0, 1), OURS(Tanh, float), ONE(F32, MVEC1(tanhf)),
           ONE(F32, SLEEF_F32(tanh, u35)));
  row<F32>("erf f32", "-4 .. 4", Arrays<float>(-4, 4, 0, 1), OURS(Erf, float), ONE(F32, MVEC1(erff)),
           ONE(F32, SLEEF_F32(erf, u10)));
  row<F32>("sin f32", "-30 .. 30", Arrays<float>(-30, 30, 0, 1), OURS(Sin, float), ONE(F32, MVEC1(sinf)),
           ONE(F32, SLEEF_F32(sin, u35)));
  row<F32>("sin f32", "-1e9 .. 1e9", Arrays<float>(-1e9, 1e9, 0, 1), OURS(Sin, float), ONE(F32, MVEC1(sinf)),
           ONE(F32, SLEEF_F32(sin, u35)));
  row<F32>("log f32", "0 .. 100", Arrays<float>(0, 100, 0, 1), OURS(Log, float), ONE(F32, MVEC1(logf)),
           ONE(F32, SLEEF_F32(log, u35)));
  row<F32>("pow f32", "0 .. 10, -5 .. 5", Arrays<float>(0, 10, -5, 5), OURS(Pow, float), MVEC2(powf),
           SLEEF_F32(pow, u10));
  row<F64>("exp f64", "-20 .. 20", Arrays<double>(-20, 20, 0, 1), OURS(Exp, double), ONE(F64, MVEC1_F64(exp)),
           ONE(F64, SLEEF_F64(exp, u10)));
  row<F64>("sin f64", "-30 .. 30", Arrays<double>(-30, 30, 0, 1), OURS(Sin, double), ONE(F64, MVEC1_F64(sin)),
           ONE(F64, SLEEF_F64(sin, u35)));
}

}  // namespace
}  // namespace smelt::bench

int main() { smelt::bench::run(); }
