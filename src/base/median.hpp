// The median of measurements.
#pragma once

#include <vector>

namespace smelt {

double median(std::vector<double> values);  // 0 of nothing; the mean of the middle two

}  // namespace smelt
