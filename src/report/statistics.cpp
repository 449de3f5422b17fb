#include "report/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "base/median.hpp"

namespace smelt::report {

Summary summarize(const std::vector<double>& values) {
  Summary s;
  s.runs = static_cast<int>(values.size());
  if (values.empty()) return s;
  s.median = median(values);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  s.min = *low;
  s.max = *high;
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::fabs(value - s.median));
  s.spread = 1.4826 * median(std::move(deviations));  // of a normal distribution: sigma / MAD
  const double standard_error =
      1.2533 * s.spread / std::sqrt(static_cast<double>(values.size()));  // sqrt(pi / 2) of the mean's
  s.noise = s.median > 0 ? standard_error / s.median : 0;
  return s;
}

}  // namespace smelt::report
