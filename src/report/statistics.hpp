// What repeated measurements say.
#pragma once

#include <chrono>
#include <vector>

namespace smelt::report {

struct Summary {
  double median = 0, min = 0, max = 0;
  double spread = 0;  // median absolute deviation, scaled so that it estimates the standard deviation of normal noise
  double noise = 0;   // standard error of the median, relative to it
  int runs = 0;
};

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Summary summarize(const std::vector<double>& values);

}  // namespace smelt::report
