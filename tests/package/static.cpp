// <smelt/static.hpp> alone: compiled with nothing but the folder of its headers, and linked with
// nothing.
#include <smelt/static.hpp>

#include <cstdio>
#include <vector>

namespace st = smelt::fixed;

int main() {
  const auto f = st::i8(st::clamp(st::round(st::arg<0> / 4.2 + 1.2), -128, 127));
  const std::vector<float> x = {-1000, -1, 0, 3, 1000};
  std::vector<int8_t> y(x.size());
  st::run(static_cast<int64_t>(x.size()), st::in(x.data()), st::out(y.data()) = f);
  for (size_t i = 0; i < x.size(); ++i)
    if (y[i] != f(x[i])) return 1;
  std::printf("%d %d %d\n", y[0], y[3], y[4]);
  return y[0] == -128 && y[3] == 2 && y[4] == 127 ? 0 : 1;
}
