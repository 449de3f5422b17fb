#include "schedule/common_points.hpp"

#include <algorithm>
#include <bit>

namespace smelt::schedule {
namespace {

// Elements of a point, of all outputs together: each is code of its own.
constexpr int64_t kMostOfPoint = 24;
// The longest axis that may be one of a point.
constexpr int64_t kMostOfAxis = 16;

bool is_short(const IntExpr& size) {
  const auto known = size.constant();
  return known && *known >= 1 && *known <= kMostOfAxis;
}

Shape without_ones(const Shape& shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](const IntExpr& size) { return !size.is(1); });
  return result;
}

// The dimensions of `shape` that are `points` in order, where all others are short.
std::optional<std::vector<int>> find_points(const Shape& shape, const Shape& points) {
  std::vector<int> axes;
  size_t next = 0;
  for (const IntExpr& size : shape) {
    if (next < points.size() && size == points[next]) {
      axes.push_back(static_cast<int>(next++));
    } else {
      if (!is_short(size)) return std::nullopt;
      axes.push_back(-1);
    }
  }
  return next == points.size() ? std::optional(std::move(axes)) : std::nullopt;
}

std::optional<CommonPoints> with_points(const std::vector<Shape>& shapes, Shape points) {
  CommonPoints found{std::move(points), {}};
  int64_t elements = 0;
  for (const Shape& shape : shapes) {
    auto axes = find_points(shape, found.shape);
    if (!axes) return std::nullopt;
    int64_t own = 1;
    for (size_t d = 0; d < shape.size(); ++d)
      if ((*axes)[d] < 0) own *= *shape[d].constant();
    if ((elements += own) > kMostOfPoint) return std::nullopt;
    found.axis_of.push_back(std::move(*axes));
  }
  return found;
}

}  // namespace

std::optional<CommonPoints> common_points(const std::vector<Shape>& shapes, ShortAxes apart) {
  Shape fewest = without_ones(shapes[0]), long_axes;
  for (const Shape& shape : shapes)
    if (Shape own = without_ones(shape); own.size() < fewest.size()) fewest = std::move(own);
  std::copy_if(fewest.begin(), fewest.end(), std::back_inserter(long_axes),
               [](const IntExpr& e) { return !is_short(e); });
  if (long_axes.empty()) return std::nullopt;
  auto found = with_points(shapes, std::move(fewest));
  if (!found) found = with_points(shapes, std::move(long_axes));
  if (!found || apart == 0) return found;
  Shape fewer;
  for (size_t d = 0; d < found->shape.size(); ++d) {
    const bool goes = d < 32 && (apart >> d & 1) != 0;
    if (goes && !is_short(found->shape[d])) return std::nullopt;
    if (!goes) fewer.push_back(found->shape[d]);
  }
  if (static_cast<size_t>(std::bit_width(apart)) > found->shape.size()) return std::nullopt;
  return with_points(shapes, std::move(fewer));
}

}  // namespace smelt::schedule
