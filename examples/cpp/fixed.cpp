// Fusion by the C++ compiler alone. See docs/cpp-api.md.
#include <smelt/static.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace st = smelt::fixed;

int main() {
  constexpr auto x = st::arg<0>;
  const auto quantize = st::i8(st::clamp(st::round(x / 4.2 + 1.2), -128, 127));
  const auto activate = st::silu(x) * st::arg<1> + 0.5;

  const int8_t one = quantize(3.0f);  // a function of scalars

  const int64_t n = 100000;
  std::vector<float> in(n), weight(n, 2.0f), out(n);
  for (int64_t i = 0; i < n; ++i) in[static_cast<size_t>(i)] = static_cast<float>(i % 2000) - 1000;
  std::vector<int8_t> bytes(n);
  float total = 0;
  // One loop: every input is read once, every output written once.
  st::run(n, st::in(in.data(), weight.data()), st::out(bytes.data()) = quantize, st::out(out.data()) = activate,
          st::out(&total) = st::sum(st::abs(x)));

  const auto chained = activate(st::f32(quantize), st::call([](float w) { return std::fmin(w, 1.0f); }, st::arg<1>));
  std::printf("%d, sum %.0f, %.3f\n", one, total, static_cast<double>(chained(8.4f, 2.0f)));
  return one == 2 && bytes[1003] == 2 && total == 5e7f ? 0 : 1;
}
