#include "report/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace smelt::report {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(half), values.end());
  const double upper = values[half];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + static_cast<long>(half)) + upper) / 2;
}

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
