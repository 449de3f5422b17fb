// Running values of the reference.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"
#include "ops/host.hpp"

namespace smelt::reference {

namespace {

// How a value runs: from start(), one element after the other.
template <class T>
struct RunningSum {
  T sum;
  double compensation = 0;  // Neumaier's
  static T start() { return 0; }
  void begin(T x) { sum = x, compensation = 0; }
  void add(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      const T total = sum + x;
      compensation += std::fabs(sum) >= std::fabs(x) ? (sum - total) + x : (x - total) + sum;
      sum = total;
    } else {
      sum = host::wrap_add(sum, x);
    }
  }
  // Infinities leave a nan in the compensation, which must not make a 0 of -0 either.
  T value() const {
    if constexpr (std::is_floating_point_v<T>)
      return std::isfinite(sum) && compensation != 0 ? sum + compensation : sum;
    return sum;
  }
};

template <class T>
struct RunningProduct {
  T product;
  static T start() { return 1; }
  void begin(T x) { product = x; }
  void add(T x) {
    if constexpr (std::is_floating_point_v<T>)
      product *= x;
    else
      product = host::wrap_mul(product, x);
  }
  T value() const { return product; }
};

template <class T, bool kMax>
struct RunningExtreme {
  T extreme;
  static T start() {
    if constexpr (std::is_floating_point_v<T>) return kMax ? -HUGE_VAL : HUGE_VAL;
    return kMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
  void begin(T x) { extreme = x; }
  void add(T x) {
    if constexpr (std::is_floating_point_v<T>)
      extreme = kMax ? host::maximum(extreme, x) : host::minimum(extreme, x);
    else
      extreme = kMax ? std::max(extreme, x) : std::min(extreme, x);
  }
  T value() const { return extreme; }
};

// An array as lines along the axis: `outer` times `length` times `inner` elements.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
};

template <class Running, class T>
void run_along(const Node& node, const Lines& lines, const T* x, const uint8_t* restart, T* to) {
  for (int64_t o = 0; o < lines.outer; ++o)
    for (int64_t i = 0; i < lines.inner; ++i) {
      Running running;
      running.begin(Running::start());
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t at = (o * lines.length + (node.reverse ? lines.length - 1 - k : k)) * lines.inner + i;
        const bool restarts = k == 0 || (restart && restart[at]);
        if (node.exclusive) {
          if (restarts) running.begin(Running::start());
          to[at] = running.value();
          running.add(x[at]);
        } else {
          restarts ? running.begin(x[at]) : running.add(x[at]);
          to[at] = running.value();
        }
      }
    }
}

// What comes before an element is multiplied by its factor, and the element added.
template <class T>
void recur_along(bool reverse, const Lines& lines, const T* x, const T* factors, T* to) {
  for (int64_t o = 0; o < lines.outer; ++o)
    for (int64_t i = 0; i < lines.inner; ++i) {
      T running{};
      for (int64_t k = 0; k < lines.length; ++k) {
        const int64_t at = (o * lines.length + (reverse ? lines.length - 1 - k : k)) * lines.inner + i;
        running = k == 0 && std::isfinite(factors[at]) ? x[at] : factors[at] * running + x[at];
        to[at] = running;
      }
    }
}

template <class T>
void scan_as(const Node& node, const Lines& lines, const T* x, const uint8_t* restart, T* to) {
  switch (node.reduce) {
    case ReduceKind::Sum: return run_along<RunningSum<T>>(node, lines, x, restart, to);
    case ReduceKind::Prod: return run_along<RunningProduct<T>>(node, lines, x, restart, to);
    case ReduceKind::Max: return run_along<RunningExtreme<T, true>>(node, lines, x, restart, to);
    case ReduceKind::Min: return run_along<RunningExtreme<T, false>>(node, lines, x, restart, to);
    default: throw InternalError("a scan of no kind");
  }
}

}  // namespace

Tensor scan(const Node& node, const std::vector<Tensor>& args, const Dims& dims) {
  const Tensor x = packed(args[0]);
  const Tensor second = args.size() > 1 ? packed(args[1]) : Tensor{};
  Lines lines;
  for (size_t d = 0; d < dims.size(); ++d) {
    const int axis = node.axes[0], here = static_cast<int>(d);
    (here < axis ? lines.outer : here > axis ? lines.inner : lines.length) *= dims[d];
  }
  Tensor out = Tensor::empty(storage_type(node.dtype), dims);
  if (out.count() == 0) return out;
  if (args.size() > 1 && second.dtype == DType::F64)
    recur_along(node.reverse, lines, static_cast<const double*>(x.data), static_cast<const double*>(second.data),
                static_cast<double*>(out.data));
  else
    with_storage(node.dtype, [&]<class T>(T) {
      const auto* restarts = args.size() > 1 ? static_cast<const uint8_t*>(second.data) : nullptr;
      scan_as<T>(node, lines, static_cast<const T*>(x.data), restarts, static_cast<T*>(out.data));
    });
  return out;
}

}  // namespace smelt::reference
