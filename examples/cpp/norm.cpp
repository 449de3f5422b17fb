// A function of arrays, compiled once for every batch size.
#include <smelt/smelt.hpp>

#include <cstdio>
#include <vector>

using namespace smelt;

int main() {
  auto norm = compile([](Array x, Array g, Array b) {
    auto h = relu(x);
    return (h - mean(h, -1, keepdims)) * rsqrt(var(h, -1, keepdims) + 1e-5f) * g + b;
  });

  const Array g = Array::from(std::vector<float>(1024, 2.0f)), b = Array::from(std::vector<float>(1024, 0.5f));
  for (int64_t rows : {8, 32, 100}) {
    std::vector<float> data(static_cast<size_t>(rows) * 1024);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 7) - 3;
    const Array x = Array::from(data, {rows, 1024});
    const Array y = norm(x, g, b);  // runs; y holds its result
    std::printf("%s starts with %g\n", y.str().c_str(), y.span<float>()[0]);
  }

  norm.expect_kernels(1);  // throws, with the reason, if fusion broke
  for (const Specialization& s : norm.specializations())
    std::printf("compiled for %s: %s\n", s.types.c_str(), s.reason.c_str());
  return norm.compile_count() == 1 ? 0 : 1;
}
