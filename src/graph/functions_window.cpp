// Windows, and what is built on them: pooling, convolution, filters. A reduction over the axes of a
// window is evaluated where it is needed (schedule/local.hpp), so that nothing here takes memory.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/build_detail.hpp"
#include "graph/term.hpp"

namespace smelt::functions {

namespace {

size_t count_of(const std::vector<int64_t>& list) { return list.size(); }

// One number for each of n axes: none given means `otherwise`, one stands for all.
std::vector<int64_t> spread(const std::vector<int64_t>& given, size_t n, int64_t otherwise, const char* function,
                            const char* what) {
  if (given.empty()) return std::vector<int64_t>(n, otherwise);
  if (given.size() == 1) return std::vector<int64_t>(n, given[0]);
  if (given.size() == n) return given;
  throw UserBuildError({fmt::format("{}: {} numbers of {} for {} axes", function, count_of(given), what, n),
                        fmt::format("give one for each axis, or one for all")});
}

Axes last_axes(const GraphBuilder& b, NodeId x, size_t n, const char* function) {
  const int rank = b.rank(x);
  if (n == 0) throw UserBuildError({fmt::format("{} needs at least one size", function), "as in (3, 3)"});
  if (n > static_cast<size_t>(rank))
    throw UserBuildError({fmt::format("{}: {} sizes for {}", function, n, describe(b.at(x))),
                          "an array needs an axis for each of them"});
  Axes axes(n);
  std::iota(axes.begin(), axes.end(), rank - static_cast<int>(n));
  return axes;
}

// The axes that windows append.
Axes window_axes(int rank, size_t n) {
  Axes axes(n);
  std::iota(axes.begin(), axes.end(), rank);
  return axes;
}

Shape to_shape(const std::vector<int64_t>& list) { return Shape(list.begin(), list.end()); }

// Padded on both sides of the last axes.
NodeId padded(GraphBuilder& b, NodeId x, const std::vector<int64_t>& padding, const Operand& value,
              const char* function) {
  std::vector<IntExpr> widths(b.shape(x).size(), IntExpr(0));
  for (size_t a = 0; a < padding.size(); ++a) {
    if (padding[a] < 0)
      throw UserBuildError({fmt::format("{}: the padding {} is negative", function, padding[a]),
                            "a padding is 0 or more; a slice makes an array smaller"});
    widths[widths.size() - padding.size() + a] = padding[a];
  }
  return b.pad(x, widths, widths, value);
}

// Pooling: what slides, spread over its axes. More padding than half a window would leave windows
// without an element.
struct Slide {
  Axes axes;
  std::vector<int64_t> size, stride, padding, dilation;

  Slide(const GraphBuilder& b, NodeId x, const Pool& pool, const char* function)
      : axes(last_axes(b, x, pool.size.size(), function)), size(pool.size) {
    const size_t n = size.size();
    dilation = spread(pool.dilation, n, 1, function, "dilation");
    padding = spread(pool.padding, n, 0, function, "padding");
    stride = pool.stride.empty() ? size : spread(pool.stride, n, 1, function, "stride");
    for (size_t a = 0; a < n; ++a) {
      if (size[a] < 1)
        throw UserBuildError(
            {fmt::format("{}: a window cannot have {} elements", function, size[a]), "a size is 1 or more"});
      if (2 * padding[a] > (size[a] - 1) * dilation[a] + 1)
        throw UserBuildError(
            {fmt::format("{}: the padding {} is more than half of the window of {}", function, padding[a], size[a]),
             "a window that sees padding alone has no value; pad first, with pad(...)"});
    }
  }
  NodeId windows(GraphBuilder& b, NodeId x) const { return b.window(x, axes, to_shape(size), stride, dilation); }
};

// What never is the largest (or smallest).
NodeId neutral(GraphBuilder& b, DType t, bool largest) { return b.constant(largest ? lowest(t) : highest(t)); }

NodeId extreme_pool(GraphBuilder& b, NodeId x, const Pool& pool, ReduceKind kind, const char* function) {
  const Slide slide(b, x, pool, function);
  const int rank = b.rank(x);
  const NodeId around = padded(b, x, slide.padding, neutral(b, b.dtype(x), kind == ReduceKind::Max), function);
  return b.reduce(kind, slide.windows(b, around), window_axes(rank, slide.size.size()), false);
}

// How many elements of x, not of its padding, each window along one axis has: as an array that
// broadcasts against the result.
Term elements_seen(GraphBuilder& b, const Slide& slide, size_t a, const Shape& result, const IntExpr& n) {
  const auto d = static_cast<size_t>(slide.axes[a]);
  Shape shape(result.size(), IntExpr(1));
  shape[d] = result[d];
  const Term first = Term(b, b.iota(shape, static_cast<int>(d))) * integer(slide.stride[a]) - integer(slide.padding[a]);
  const Term end = minimum(first + integer(slide.size[a]), Term(b, b.size_value(n)));
  return end - maximum(first, integer(0));
}

// The kernel's elements, and x's windows of its shape, both in the dtype that products are summed
// in.
struct Factors {
  Term x, kernel;
  DType result;
};
Factors factors(GraphBuilder& b, NodeId x, NodeId kernel, const char* function) {
  const DType common = promote(b.dtype(x), b.dtype(kernel)).value_or(b.dtype(x));
  if (is_float(b.dtype(x)) && is_float(b.dtype(kernel))) {
    const DType wide = compute_type(common);
    return {Term(b, b.cast(x, wide)), Term(b, b.cast(kernel, wide)), common};
  }
  if (is_float(b.dtype(x)) != is_float(b.dtype(kernel)) || is_bool(b.dtype(x)) || is_bool(b.dtype(kernel)))
    throw UserBuildError({fmt::format("{} of {} by {}", function, describe(b.at(x)), describe(b.at(kernel))),
                          "both are floats, or both are integers; cast one of them"});
  const DType wide = is_unsigned_int(common) ? DType::U64 : DType::I64;
  return {Term(b, b.cast(x, wide)), Term(b, b.cast(kernel, wide)), wide};
}

}  // namespace

NodeId window(GraphBuilder& b, NodeId x, const Shape& size, Axes axes, const std::vector<int64_t>& stride,
              const std::vector<int64_t>& dilation) {
  const size_t n = size.size();
  if (axes.empty()) axes = last_axes(b, x, n, "window");
  if (axes.size() != n)
    throw UserBuildError({fmt::format("window: {} sizes for {} axes", n, axes.size()), "give a size for each axis"});
  const std::vector<int64_t> steps = spread(stride, n, 1, "window", "stride"),
                             apart = spread(dilation, n, 1, "window", "dilation");
  Axes seen;
  for (int& axis : axes) seen.push_back(axis = b.normalize_axis(axis, b.rank(x)));
  std::sort(seen.begin(), seen.end());
  if (std::adjacent_find(seen.begin(), seen.end()) == seen.end()) return b.window(x, axes, size, steps, apart);
  for (size_t a = 0; a < n; ++a) x = b.window(x, {axes[a]}, {size[a]}, {steps[a]}, {apart[a]});
  return x;
}

NodeId max_pool(GraphBuilder& b, NodeId x, const Pool& pool) {
  return extreme_pool(b, x, pool, ReduceKind::Max, "max_pool");
}
NodeId min_pool(GraphBuilder& b, NodeId x, const Pool& pool) {
  return extreme_pool(b, x, pool, ReduceKind::Min, "min_pool");
}

NodeId avg_pool(GraphBuilder& b, NodeId x, const Pool& pool, bool count_padding) {
  const Term wide = widened(b, x, "avg_pool");
  const Slide slide(b, x, pool, "avg_pool");
  const NodeId around = padded(b, wide.id(), slide.padding, Literal(0.0), "avg_pool");
  const Term sum(b,
                 b.reduce(ReduceKind::Sum, slide.windows(b, around), window_axes(b.rank(x), slide.size.size()), false));
  const bool all_full = std::all_of(slide.padding.begin(), slide.padding.end(), [](int64_t p) { return p == 0; });
  if (count_padding || all_full) {
    double elements = 1;
    for (int64_t size : slide.size) elements *= static_cast<double>(size);
    return narrowed(sum / Term(elements), b.dtype(x));
  }
  const Shape result = b.shape(sum.id());
  Term seen = integer(1);
  for (size_t a = 0; a < slide.size.size(); ++a) {
    const Term along = elements_seen(b, slide, a, result, b.shape(x)[static_cast<size_t>(slide.axes[a])]);
    seen = a == 0 ? along : seen * along;
  }
  return narrowed(sum / Term(b, b.cast(seen.id(), dtype_of(sum))), b.dtype(x));
}

NodeId conv(GraphBuilder& b, NodeId x, NodeId weight, std::optional<NodeId> bias, const Conv& how) {
  const int rank = b.rank(weight);
  if (rank < 3 || b.rank(x) != rank)
    throw UserBuildError({fmt::format("conv of {} with a weight {}", describe(b.at(x)), describe(b.at(weight))),
                          "x is [N, C, L], [N, C, H, W] or more, and the weight [O, C / groups, one size for each axis "
                          "after C]"});
  const size_t n = static_cast<size_t>(rank) - 2;
  const Shape w = b.shape(weight);
  const IntExpr groups = how.groups, channels = b.shape(x)[1];
  if (how.groups < 1)
    throw UserBuildError({fmt::format("conv cannot have {} groups", how.groups), "groups are 1 or more"});
  b.require({Constraint::Equal,
             channels,
             w[1] * groups,
             fmt::format("conv: {} has {} channels, but the weight {} takes {} in {} group{}", describe(b.at(x)),
                         channels.str(), describe(b.at(weight)), (w[1] * groups).str(), how.groups,
                         how.groups == 1 ? "" : "s"),
             {}});
  b.require({Constraint::Divisible,
             w[0],
             groups,
             fmt::format("conv: the {} results of the weight {} cannot be divided into {} groups", w[0].str(),
                         describe(b.at(weight)), how.groups),
             {}});
  if (!is_float(b.dtype(x)) || !is_float(b.dtype(weight)))
    throw UserBuildError({fmt::format("conv takes floats, not {} and {}", describe(b.at(x)), describe(b.at(weight))),
                          "cast first: f32(...)"});
  const NodeId around = padded(b, x, spread(how.padding, n, 0, "conv", "padding"), Literal(0.0), "conv");
  const Axes slides = last_axes(b, around, n, "conv");
  const Factors f = factors(b, around, weight, "conv");
  const NodeId seen =
      b.window(f.x.id(), slides, Shape(w.begin() + 2, w.end()), spread(how.stride, n, 1, "conv", "stride"),
               spread(how.dilation, n, 1, "conv", "dilation"));
  // x: [N, groups, 1, C, sizes, window]; weight: [groups, O, C, 1.., window].
  const Shape s = b.shape(seen);
  const bool grouped = how.groups > 1;
  const IntExpr outputs = grouped ? floordiv(w[0], groups) : w[0];
  Shape left{s[0]}, right;
  if (grouped) left.push_back(groups), right.push_back(groups);
  left.push_back(1), left.push_back(w[1]);
  right.push_back(outputs), right.push_back(w[1]);
  left.insert(left.end(), s.begin() + 2, s.end());
  right.insert(right.end(), n, IntExpr(1));
  right.insert(right.end(), w.begin() + 2, w.end());
  const Term products = Term(b, b.reshape(seen, left)) * Term(b, b.reshape(f.kernel.id(), right));
  const int first = grouped ? 3 : 2;
  Axes summed{first};
  for (size_t a = 0; a < n; ++a) summed.push_back(first + 1 + static_cast<int>(n + a));
  NodeId result = b.reduce(ReduceKind::Sum, products.id(), summed, false);
  Shape shape{s[0], w[0]};
  shape.insert(shape.end(), s.begin() + 2, s.begin() + 2 + static_cast<long>(n));
  result = b.reshape(result, shape);
  if (bias) {
    if (b.rank(*bias) != 1)
      throw UserBuildError(
          {fmt::format("conv: the bias is {}", describe(b.at(*bias))), "a bias has one number for each result: [O]"});
    Shape along(shape.size(), IntExpr(1));
    along[1] = b.shape(*bias)[0];
    result = (Term(b, result) + widened_to(b, b.reshape(*bias, along), b.dtype(result))).id();
  }
  return b.cast(result, f.result);
}

NodeId correlate(GraphBuilder& b, NodeId x, NodeId kernel) {
  const size_t n = b.shape(kernel).size();
  const Axes axes = last_axes(b, x, n, "correlate");
  const Factors f = factors(b, x, kernel, "correlate");
  const std::vector<int64_t> ones(n, 1);
  const Term seen(b, b.window(f.x.id(), axes, b.shape(kernel), ones, ones));
  return narrowed(Term(b, b.reduce(ReduceKind::Sum, (seen * f.kernel).id(), window_axes(b.rank(x), n), false)),
                  f.result);
}

NodeId filter(GraphBuilder& b, NodeId x, NodeId kernel, std::optional<ExtendMode> mode, const Operand& value) {
  const size_t n = b.shape(kernel).size();
  last_axes(b, x, n, "filter");
  factors(b, x, kernel, "filter");  // says what does not fit, before it is padded
  std::vector<IntExpr> low(b.shape(x).size(), IntExpr(0)), high = low;
  for (size_t a = 0; a < n; ++a) {
    const IntExpr size = b.shape(kernel)[a];
    const size_t d = low.size() - n + a;
    b.require(
        {Constraint::AtLeast, size, 1, fmt::format("filter: the kernel {} is empty", describe(b.at(kernel))), {}});
    low[d] = floordiv(size, 2);
    high[d] = size - 1 - low[d];
  }
  const NodeId around = mode ? b.extend(x, low, high, *mode) : b.pad(x, low, high, value);
  return correlate(b, around, kernel);
}

}  // namespace smelt::functions
