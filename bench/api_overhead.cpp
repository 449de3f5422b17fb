// What a call costs from C++ on the CPU: a bound call, a call into the caller's memory, and a plain
// call, on arrays so small that nothing else takes time. Prints the median of samples, and the
// fastest and slowest tenth.
#include <smelt/smelt.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

using namespace smelt;

namespace {

void measure(const char* what, const std::function<void()>& call) {
  constexpr int kSamples = 201, kCalls = 2000;
  for (int i = 0; i < kCalls; ++i) call();
  std::vector<double> nanoseconds;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                          kCalls);
  }
  std::sort(nanoseconds.begin(), nanoseconds.end());
  std::printf("  %-34s %8.0f ns   (%.0f to %.0f)\n", what, nanoseconds[kSamples / 2], nanoseconds[kSamples / 10],
              nanoseconds[kSamples * 9 / 10]);
}

void measure_all(const char* name, const Function<Array(Array, Array)>& f, const Array& x, const Array& y) {
  std::printf("%s\n", name);
  const Bound bound = f.bind(x, y);
  const Array out = Array::empty(f(x, y).shape(), DType::F32);
  const auto into = f.into(out);
  measure("bound", [&] { bound(); });
  measure("into the caller's memory", [&] { into(x, y); });
  measure("with a fresh output", [&] { f(x, y); });
}

}  // namespace

int main() {
  try {
    const Array x = Array::from(std::vector<float>(16, 0.5f)), y = Array::from(std::vector<float>(16, 0.25f));
    measure_all("exp((x + y) * 2), 16 elements", compile([](Array a, Array b) { return exp((a + b) * 2); }), x, y);
    const Array rows = Array::from(std::vector<float>(64, 0.5f), {4, 16});
    measure_all("layernorm(relu(x)) * y, 4 rows of 16",
                compile([](Array a, Array b) { return layernorm(relu(a)) * b; }), rows, y);
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
