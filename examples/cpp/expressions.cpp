// Values that are not calculated yet: the prices of options, and what they depend on, as one plan.
#include <smelt/smelt.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>
#include <vector>

using namespace smelt;

// The distribution function of the normal distribution.
static Array normal_cdf(const Array& x) { return 0.5 * (1 + erf(x * (1 / std::numbers::sqrt2))); }

int main() {
  const Array spot = Array::from({90.0, 100.0, 110.0}), strike = Array::from({100.0, 100.0, 100.0});
  const Array rate = Array::scalar(0.02), sigma = Array::scalar(0.3), years = Array::scalar(0.5);

  // Black and Scholes 1973. Nothing runs here: a mistake in shapes or dtypes would throw on its
  // line.
  const Array deviation = sigma * sqrt(years);
  const Array d1 = (log(spot / strike) + (rate + 0.5 * square(sigma)) * years) / deviation;
  Array call = spot * normal_cdf(d1) - strike * exp(-rate * years) * normal_cdf(d1 - deviation);
  Array delta = normal_cdf(d1);

  eval(call, delta);  // both in one plan: d1 is calculated once
  std::cout << "calls  " << call << "\ndeltas " << delta << "\n";

  // By hand, for the one at the money.
  const double d = (0.02 + 0.5 * 0.09) * 0.5 / (0.3 * std::sqrt(0.5));
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const double expected = 100 * cdf(d) - 100 * std::exp(-0.01) * cdf(d - 0.3 * std::sqrt(0.5));
  return std::abs(call.span<double>()[1] - expected) < 1e-9 ? 0 : 1;
}
