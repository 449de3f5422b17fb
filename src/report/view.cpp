#include "report/view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/units.hpp"

namespace smelt::report {
namespace {

constexpr int64_t kWhole = 8;       // a dimension no longer than this is shown whole
constexpr int64_t kEnds = 3;        // elements shown at either end of a long dimension
constexpr size_t kMostCells = 400;  // of many dimensions, fewer at either end

bool less(const Scalar& a, const Scalar& b) {
  if (is_float(a.dtype)) return a.f < b.f;
  return is_unsigned_int(a.dtype) ? a.u < b.u : a.i < b.i;
}

// Calls visit(element's address) in row-major order.
template <class Visit>
void for_each_element(const TensorView& array, const Visit& visit) {
  const int64_t n = array.count();
  const int size = size_of(array.dtype);
  Dims index(array.dims.size(), 0);
  const char* at = static_cast<const char*>(array.data);
  for (int64_t i = 0; i < n; ++i) {
    visit(at);
    for (size_t d = index.size(); d-- > 0;) {
      at += array.strides[d] * size;
      if (++index[d] < array.dims[d]) break;
      at -= array.dims[d] * array.strides[d] * size;
      index[d] = 0;
    }
  }
}

std::string cell(const Scalar& value) {
  if (!is_float(value.dtype)) return value.str();
  if (!std::isfinite(value.f)) return fmt::format("{}", value.f);
  const double size = std::fabs(value.f);
  if (size != 0 && (size >= 1e6 || size < 1e-4)) return fmt::format("{:.4e}", value.f);
  return fmt::format("{:.5g}", value.f);
}

struct View {
  const TensorView& array;
  int64_t ends = kEnds;
  size_t width = 0;

  bool cut(size_t d) const { return array.dims[d] > (ends == kEnds ? kWhole : 2 * ends); }
  std::vector<int64_t> shown(size_t d) const {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < array.dims[d]; ++i)
      if (!cut(d) || i < ends || i >= array.dims[d] - ends) {
        out.push_back(i);
      } else {
        i = array.dims[d] - ends - 1;
      }
    return out;
  }
  size_t cells() const {
    size_t n = 1;
    for (size_t d = 0; d < array.dims.size(); ++d) n *= shown(d).size();
    return n;
  }
  Scalar at(const char* data) const { return load_scalar(array.dtype, data); }

  void measure(size_t d, const char* data) {
    if (d == array.dims.size()) {
      width = std::max(width, cell(at(data)).size());
      return;
    }
    for (const int64_t i : shown(d)) measure(d + 1, data + i * array.strides[d] * size_of(array.dtype));
  }

  std::string print(size_t d, const char* data) const {
    if (d == array.dims.size()) return fmt::format("{:>{}}", cell(at(data)), width);
    const bool last = d + 1 == array.dims.size();
    const std::string between =
        last ? ", " : "," + std::string(array.dims.size() - d - 1, '\n') + std::string(d + 1, ' ');
    std::string out = "[";
    const std::vector<int64_t> indices = shown(d);
    for (size_t k = 0; k < indices.size(); ++k) {
      if (k > 0) out += between;
      if (k > 0 && indices[k] != indices[k - 1] + 1) out += "..." + between;
      out += print(d + 1, data + indices[k] * array.strides[d] * size_of(array.dtype));
    }
    return out + "]";
  }
};

}  // namespace

std::string describe_type(DType dtype, const Dims& dims) {
  if (dims.empty()) return std::string(name_of(dtype));
  return fmt::format("{}[{}]", name_of(dtype), fmt::join(dims, ","));
}

ArrayStatistics statistics_of(const TensorView& array) {
  ArrayStatistics s;
  double sum = 0, lost = 0;  // Kahan's compensation: the mean of many elements keeps its digits
  for_each_element(array, [&](const char* at) {
    const Scalar value = load_scalar(array.dtype, at);
    const double x = value.as_double();
    s.nans += std::isnan(x);
    s.infinities += std::isinf(x);
    if (s.count++ == 0) s.min = s.max = value;
    if (std::isnan(x) || less(value, s.min)) s.min = std::isnan(s.min.as_double()) ? s.min : value;
    if (std::isnan(x) || less(s.max, value)) s.max = std::isnan(s.max.as_double()) ? s.max : value;
    const double y = x - lost, t = sum + y;
    lost = std::isfinite(t) ? (t - sum) - y : 0;
    sum = t;
  });
  s.mean = s.count > 0 ? sum / static_cast<double>(s.count) : std::nan("");
  return s;
}

std::string short_view(const TensorView& array) {
  if (array.count() == 0) return "[]";
  View view{array};
  while (view.ends > 1 && view.cells() > kMostCells) --view.ends;
  view.measure(0, static_cast<const char*>(array.data));
  return view.print(0, static_cast<const char*>(array.data));
}

}  // namespace smelt::report
