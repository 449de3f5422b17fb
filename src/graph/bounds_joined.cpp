// Errors of what joins elements: reductions, scans and scatters.
#include <algorithm>

#include "base/check.hpp"
#include "graph/bounds_detail.hpp"

namespace smelt::bounds {

void Joined::take(double x, double e) {
  worst_ = std::max(worst_, e);
  error_sum_ += e;
  count_ += 1;
  all_finite_ = all_finite_ && std::isfinite(x);
  uncertain_zero_ = uncertain_zero_ || crosses_zero(x, e);
  if (!std::isfinite(x)) return;
  magnitude_ += std::fabs(x);
  whole_ = whole_ && x == std::nearbyint(x);
  if (x == 0) return;
  logs_ += std::fabs(std::log2(std::fabs(x)));
  relative_ += e / std::fabs(x);
}

double Joined::error(const Node& node, DType from, double v, double additions) const {
  if (std::isinf(worst_)) return kAnything;
  if (!is_float(node.dtype)) return uncertain_zero_ || (worst_ > 0 && !is_float(from)) ? kAnything : 0;
  const Format f = format_of(node.dtype), computed = format_of(compute_type(node.dtype));
  switch (node.reduce) {
    case ReduceKind::Sum: {
      if (magnitude_ + error_sum_ > computed.largest) return kAnything;
      if (!all_finite_) return 0;
      const bool exact = whole_ && magnitude_ <= 1 / computed.epsilon;
      const double total = error_sum_ + (exact ? 0 : additions * computed.epsilon * magnitude_);
      const double rounded = rounding(v, node.dtype, 0.5, total == 0);
      return total + rounded > 0 && std::fabs(v) + total > f.largest ? kAnything : total + rounded;
    }
    case ReduceKind::Prod: {
      if (logs_ > (compute_type(node.dtype) == DType::F64 ? 1000 : 120)) return kAnything;
      if (relative_ > 0.1 || uncertain_zero_) return kAnything;
      if (!std::isfinite(v) || v == 0) return 0;
      const bool exact = whole_ && logs_ <= -std::log2(computed.epsilon) && worst_ == 0;
      const double own = std::fabs(v) * (2 * relative_ + (exact ? 0 : 2 * count_ * computed.epsilon));
      return std::fabs(v) + own > f.largest ? kAnything : own + rounding(v, node.dtype, 0.5, own == 0);
    }
    default: return std::isfinite(v) ? worst_ : 0;
  }
}

// Blocks of some hundred additions, and then few.
double Joined::error_of_reduction(const Node& node, DType from, double v) const {
  return error(node, from, v, 2 * std::min(count_, 320 + std::log2(count_ + 1)));
}

namespace {

// For every element, row-major, the result that it falls into.
template <typename Visit>
void each_element(const Node& node, const Dims& dims, const Visit& visit) {
  Dims strides(dims.size(), 0);
  int64_t stride = 1, count = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    count *= dims[d];
    if (std::count(node.axes.begin(), node.axes.end(), static_cast<int>(d))) continue;
    strides[d] = stride;
    stride *= dims[d];
  }
  Dims index(dims.size(), 0);
  int64_t to = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<size_t>(i), static_cast<size_t>(to));
    for (size_t d = index.size(); d-- > 0;) {
      to += strides[d];
      if (++index[d] < dims[d]) break;
      to -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

// Calls visit(element, whether it is the first) for every line along the axis of a scan, in its
// direction.
template <typename Visit>
void along_lines(const Node& node, const Dims& dims, const Visit& visit) {
  int64_t outer = 1, length = 1, inner = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int here = static_cast<int>(d);
    (here < node.axes[0] ? outer : here > node.axes[0] ? inner : length) *= dims[d];
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      for (int64_t k = 0; k < length; ++k)
        visit((o * length + (node.reverse ? length - 1 - k : k)) * inner + i, k == 0);
}

// An index is anything where another element may be as large as the one that was found.
Errors of_arg(const Node& node, const Tensor& x, const Errors& errors, const Tensor& result) {
  struct Best {
    double value = 0, error = 0;
    int64_t seen = 0;
  };
  const Elements elements(x), found(result);
  std::vector<Best> best(static_cast<size_t>(result.count()));
  Errors out(best.size(), 0.0);
  const auto index_of = [&](size_t k) { return found.at(static_cast<int64_t>(k)).as_int(); };
  each_element(node, x.dims, [&](size_t i, size_t k) {
    if (best[k].seen++ == index_of(k)) best[k] = {elements.number(static_cast<int64_t>(i)), errors[i], best[k].seen};
  });
  for (Best& b : best) b.seen = 0;
  each_element(node, x.dims, [&](size_t i, size_t k) {
    const double value = elements.number(static_cast<int64_t>(i));
    Best& b = best[k];
    if (std::isinf(errors[i])) out[k] = kAnything;
    if (b.seen++ == index_of(k) || std::isnan(b.value) || std::isnan(value) || errors[i] + b.error == 0) return;
    if (!(std::fabs(value - b.value) > errors[i] + b.error)) out[k] = kAnything;
  });
  return out;
}

}  // namespace

Errors of_reduction(const Node& node, const Tensor& x, const Errors& errors, const Tensor& result) {
  if (node.reduce == ReduceKind::ArgMax || node.reduce == ReduceKind::ArgMin) return of_arg(node, x, errors, result);
  const Elements elements(x), values(result);
  std::vector<Joined> joined(static_cast<size_t>(result.count()));
  each_element(node, x.dims,
               [&](size_t i, size_t k) { joined[k].take(elements.number(static_cast<int64_t>(i)), errors[i]); });
  Errors out(joined.size(), 0.0);
  for (size_t k = 0; k < out.size(); ++k)
    out[k] = joined[k].error_of_reduction(node, x.dtype, values.number(static_cast<int64_t>(k)));
  return out;
}

Errors of_scan(const Node& node, const Tensor& x, const Errors& errors, const Tensor* restarts,
               const Errors& restart_errors, const Tensor& result) {
  const Elements elements(x), values(result);
  Errors out(errors.size(), 0.0);
  Joined line;
  bool lost = false;  // nobody knows whether it restarted
  along_lines(node, x.dims, [&](int64_t at, bool first) {
    const auto place = static_cast<size_t>(at);
    if (first) line = {}, lost = false;
    if (restarts && restart_errors[place] > 0) lost = true;
    if (restarts && !lost && Elements(*restarts).at(at).as_bool()) line = {};
    if (!node.exclusive) line.take(elements.number(at), errors[place]);
    out[place] = lost ? kAnything : line.error_of_scan(node, x.dtype, values.number(at));
    if (node.exclusive) line.take(elements.number(at), errors[place]);
  });
  return out;
}

// Products of factors, and sums, are rounded as often as there are elements so far.
Errors of_recurrence(const Node& node, const Tensor& x, const Errors& errors, const Tensor& factors,
                     const Errors& factor_errors, const Tensor& result) {
  const Elements elements(x), by(factors), values(result);
  const Format f = format_of(node.dtype), computed = format_of(compute_type(node.dtype));
  Errors out(errors.size(), 0.0);
  double own = 0, magnitude = 0, count = 0;
  along_lines(node, x.dims, [&](int64_t at, bool first) {
    const auto place = static_cast<size_t>(at);
    if (first) own = magnitude = count = 0;
    const double factor = std::fabs(by.f(at)), value = values.f(at), factor_error = factor_errors[place];
    own = (factor + factor_error) * own + factor_error * magnitude + errors[place];
    magnitude = factor * magnitude + std::fabs(elements.f(at));
    count += 1;
    const double total = own + 4 * count * computed.epsilon * magnitude + computed.tiny * magnitude;
    const bool unknown = std::isinf(own) || std::isnan(own) || magnitude + own > computed.largest;
    if (!std::isfinite(value) || !std::isfinite(magnitude))
      out[place] = std::isinf(errors[place]) || std::isinf(factor_error) || unknown ? kAnything : 0;
    else
      out[place] = unknown || std::fabs(value) + total > f.largest
                       ? kAnything
                       : total + rounding(value, node.dtype, 0.5, total == 0);
  });
  return out;
}

// Each element is a sum of what came to it, in any order, or the last of that.
Errors of_scatter(const Node& node, const Scattered& from, const Tensor& result) {
  for (const double e : from.index_errors)
    if (e > 0) return Errors(from.before_errors.size(), kAnything);
  const Elements before(from.before), indices(from.indices), updates(from.updates), values(result);
  const int64_t count = static_cast<int64_t>(from.before_errors.size());
  const int64_t rows = result.dims[0], inner = rows ? count / rows : 0;
  struct Place {
    Joined joined;
    double last = 0;  // the error of what came last
    int came = 0;
  };
  std::vector<Place> places(from.before_errors.size());
  const auto come = [&](int64_t to, double value, double error) {
    Place& place = places[static_cast<size_t>(to)];
    if (node.scatter == ScatterKind::Set) place = {};
    place.joined.take(value, error);
    place.last = error;
    ++place.came;
  };
  for (int64_t i = 0; i < count; ++i) come(i, before.number(i), from.before_errors[static_cast<size_t>(i)]);
  for (int64_t k = 0; inner && k < static_cast<int64_t>(from.update_errors.size()) / inner; ++k) {
    const double wish = indices.number(k), size = static_cast<double>(rows);
    int64_t row = static_cast<int64_t>(std::clamp(wish, -size - 1, size));
    if (node.gather == GatherMode::Wrap) row = static_cast<int64_t>(indices.at(k).as_int() % rows + rows) % rows;
    if (node.gather == GatherMode::Clamp) row = std::clamp<int64_t>(row, 0, rows - 1);
    if (node.gather == GatherMode::Check && row < 0) row += rows;
    if (row < 0 || row >= rows) continue;
    for (int64_t c = 0; c < inner; ++c)
      come(row * inner + c, updates.number(k * inner + c), from.update_errors[static_cast<size_t>(k * inner + c)]);
  }
  Node joined = node;
  joined.reduce = node.scatter == ScatterKind::Mul   ? ReduceKind::Prod
                  : node.scatter == ScatterKind::Max ? ReduceKind::Max
                  : node.scatter == ScatterKind::Min ? ReduceKind::Min
                                                     : ReduceKind::Sum;
  Errors out(places.size(), 0.0);
  for (size_t i = 0; i < out.size(); ++i) {
    const double v = values.number(static_cast<int64_t>(i));
    out[i] = places[i].came == 1 ? places[i].last : places[i].joined.error_of_reduction(joined, from.updates.dtype, v);
    if (places[i].came > 1 && v == 0 && is_float(node.dtype)) out[i] = std::max(out[i], kSignOfZero);
  }
  return out;
}

}  // namespace smelt::bounds
