// Reductions of the reference.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"
#include "ops/host.hpp"

namespace smelt::reference {

namespace {

// Eight sums side by side, then their pairwise sum: within a chunk the error stays far below one
// unit of float64.
double sum_chunk(const double* x, int64_t n) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) lanes[k] += x[i + k];
  for (int k = 0; i < n; ++i, ++k) lanes[k] += x[i];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// Each accumulator takes the elements of one result in order, a chunk at a time: from() starts,
// add() goes on, result() ends. The sums of chunks are added with Neumaier's compensation.
struct FloatSum {
  using Element = double;
  double sum = 0, compensation = 0;
  void add(const double* x, int64_t n) {
    const double part = sum_chunk(x, n);
    const double total = sum + part;
    compensation += std::fabs(sum) >= std::fabs(part) ? (sum - total) + part : (part - total) + sum;
    sum = total;
  }
  // Infinities leave a nan in the compensation.
  double result() const { return std::isfinite(sum) ? sum + compensation : sum; }
};

template <class T>
struct IntSum {
  using Element = T;
  uint64_t sum = 0;
  void add(const T* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) sum += static_cast<uint64_t>(x[i]);
  }
  T result() const { return static_cast<T>(sum); }
};

template <class T>
struct Product {
  using Element = T;
  T product = 1;
  void add(const T* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_floating_point_v<T>)
        product *= x[i];
      else
        product = host::wrap_mul(product, x[i]);
    }
  }
  T result() const { return product; }
};

template <class T, bool kMax>
T extreme_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return kMax ? host::maximum(a, b) : host::minimum(a, b);
  else
    return kMax ? std::max(a, b) : std::min(a, b);
}

template <class T, bool kMax>
struct Extreme {
  using Element = T;
  bool any = false;
  T extreme = 0;
  void add(const T* x, int64_t n) {
    if (!any) extreme = x[0];
    any = true;
    for (int64_t i = 0; i < n; ++i) extreme = extreme_of<T, kMax>(extreme, x[i]);
  }
  T result() const { return extreme; }
};

template <bool kAny>
struct Truth {
  using Element = uint8_t;
  uint8_t truth = !kAny;
  void add(const uint8_t* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) truth = kAny ? truth | x[i] : truth & x[i];
  }
  uint8_t result() const { return truth; }
};

// The first of equals; the first nan before everything.
template <class T, bool kMax>
struct ExtremeIndex {
  using Element = T;
  int64_t seen = 0, index = 0;
  T extreme = 0;
  bool nan = false;
  void add(const T* x, int64_t n) {
    for (int64_t i = 0; i < n && !nan; ++i) {
      if constexpr (std::is_floating_point_v<T>) nan = std::isnan(x[i]);
      if (seen + i != 0 && !nan && !(kMax ? x[i] > extreme : x[i] < extreme)) continue;
      extreme = x[i];
      index = seen + i;
    }
    seen += n;
  }
  int64_t result() const { return index; }
};

// `view` has the kept dimensions first, the reduced ones last.
template <class Accumulator, class Result>
void accumulate(const TensorView& view, int64_t length, Tensor& out) {
  using T = typename Accumulator::Element;
  T scratch[kChunk];
  Result* to = static_cast<Result*>(out.data);
  const int64_t results = out.count();
  if (length == 0) {
    std::fill_n(to, results, static_cast<Result>(Accumulator{}.result()));
    return;
  }
  Reader reader(view);
  for (int64_t r = 0; r < results; ++r) {
    Accumulator accumulator;
    for (int64_t left = length; left > 0; left -= kChunk) {
      const int64_t n = std::min(left, kChunk);
      accumulator.add(reader.next_as(n, scratch), n);
    }
    to[r] = accumulator.result();
  }
}

template <class T>
void reduce_as(ReduceKind kind, const TensorView& view, int64_t length, Tensor& out) {
  switch (kind) {
    case ReduceKind::Sum:
      if constexpr (std::is_floating_point_v<T>)
        return accumulate<FloatSum, double>(view, length, out);
      else
        return accumulate<IntSum<T>, T>(view, length, out);
    case ReduceKind::Prod: return accumulate<Product<T>, T>(view, length, out);
    case ReduceKind::Max: return accumulate<Extreme<T, true>, T>(view, length, out);
    case ReduceKind::Min: return accumulate<Extreme<T, false>, T>(view, length, out);
    case ReduceKind::ArgMax: return accumulate<ExtremeIndex<T, true>, int64_t>(view, length, out);
    case ReduceKind::ArgMin: return accumulate<ExtremeIndex<T, false>, int64_t>(view, length, out);
    case ReduceKind::Any: return accumulate<Truth<true>, uint8_t>(view, length, out);
    case ReduceKind::All: return accumulate<Truth<false>, uint8_t>(view, length, out);
  }
}

}  // namespace

Tensor reduce(const Node& node, const Tensor& x, const Dims& dims) {
  TensorView view = x;
  view.dims.clear();
  view.strides.clear();
  const auto take = [&](bool reduced) {
    for (size_t d = 0; d < x.dims.size(); ++d)
      if (std::binary_search(node.axes.begin(), node.axes.end(), static_cast<int>(d)) == reduced) {
        view.dims.push_back(x.dims[d]);
        view.strides.push_back(x.strides[d]);
      }
  };
  take(false);
  take(true);
  const int64_t length = element_count(Dims(view.dims.begin() + static_cast<long>(dims.size()), view.dims.end()));
  Tensor out = Tensor::empty(storage_type(node.dtype), dims);
  if (out.count() > 0) with_storage(x.dtype, [&]<class T>(T) { reduce_as<T>(node.reduce, view, length, out); });
  return out;
}

}  // namespace smelt::reference
