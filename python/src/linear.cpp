// Triangular factorizations of matrices, by loops on the CPU: fusion stops at them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "binding.hpp"

namespace smelt::python {

namespace {

template <class F>
void for_float(const char* name, DType dtype, F&& f) {
  if (dtype == DType::F32) return f(float{});
  if (dtype == DType::F64) return f(double{});
  throw UserError(std::string(name) + ": matrices of " + python_name(dtype) +
                  " are not supported\nhelp: float32 and float64 are");
}

// The sizes of an array without its last axes.
std::vector<Size> leading(const Array& x, int axes) {
  std::vector<Size> sizes;
  for (int d = 0; d + axes < x.ndim(); ++d) sizes.push_back(x.extent(d));
  return sizes;
}

// A square matrix as P A = L U, rows exchanged for the largest pivot.
template <class T>
struct Factors {
  std::vector<T> lu;
  std::vector<int64_t> rows;  // of A, in the order of the factors
  int sign = 1;

  Factors(const T* a, int64_t n) : lu(a, a + n * n), rows(static_cast<size_t>(n)) {
    std::iota(rows.begin(), rows.end(), int64_t{0});
    for (int64_t k = 0; k < n; ++k) {
      int64_t pivot = k;
      for (int64_t i = k + 1; i < n; ++i)
        if (std::abs(at(i, k, n)) > std::abs(at(pivot, k, n))) pivot = i;
      if (pivot != k) {
        std::swap_ranges(&at(k, 0, n), &at(k, 0, n) + n, &at(pivot, 0, n));
        std::swap(rows[static_cast<size_t>(k)], rows[static_cast<size_t>(pivot)]);
        sign = -sign;
      }
      if (at(k, k, n) == 0) continue;
      for (int64_t i = k + 1; i < n; ++i) {
        const T factor = at(i, k, n) /= at(k, k, n);
        for (int64_t j = k + 1; j < n; ++j) at(i, j, n) -= factor * at(k, j, n);
      }
    }
  }
  T& at(int64_t i, int64_t j, int64_t n) { return lu[static_cast<size_t>(i * n + j)]; }
};

template <class T>
void solve_one(const T* a, const T* b, T* x, int64_t n, int64_t columns) {
  Factors<T> f(a, n);
  for (int64_t i = 0; i < n; ++i) {
    if (f.at(i, i, n) == 0) throw UserError("solve: the matrix is singular");
    const T* const from = b + f.rows[static_cast<size_t>(i)] * columns;
    T* const row = x + i * columns;
    std::copy(from, from + columns, row);
    for (int64_t k = 0; k < i; ++k)
      for (int64_t c = 0; c < columns; ++c) row[c] -= f.at(i, k, n) * x[k * columns + c];
  }
  for (int64_t i = n; i-- > 0;) {
    T* const row = x + i * columns;
    for (int64_t k = i + 1; k < n; ++k)
      for (int64_t c = 0; c < columns; ++c) row[c] -= f.at(i, k, n) * x[k * columns + c];
    for (int64_t c = 0; c < columns; ++c) row[c] /= f.at(i, i, n);
  }
}

Custom solving() {
  CustomOperation o;
  o.name = "solve";
  o.on_host = o.pure = true;
  o.output = [](const std::vector<Array>& inputs) {
    return CustomType{inputs[1].dtype(), Sizes(leading(inputs[1], 0))};
  };
  o.cpu = [](const CustomCall& call) {
    for_float("solve", call.inputs[0].dtype, [&]<class T>(T) {
      const auto a = call.inputs[0].span<T>(), b = call.inputs[1].span<T>();
      T* const x = call.outputs[0].span<T>().data();
      const int64_t n = call.inputs[0].dims.back(), columns = call.inputs[1].dims.back();
      if (b.empty()) return;
      for (size_t m = 0; m * static_cast<size_t>(n * columns) < b.size(); ++m) {
        const auto at = static_cast<int64_t>(m);
        solve_one(a.data() + at * n * n, b.data() + at * n * columns, x + at * n * columns, n, columns);
      }
    });
  };
  return Custom(std::move(o));
}

// The sign of the determinant and the logarithm of its size, or the determinant, for each matrix.
Custom determinants(bool logarithm) {
  CustomOperation o;
  o.name = logarithm ? "slogdet" : "det";
  o.on_host = o.pure = true;
  o.output = [logarithm](const std::vector<Array>& inputs) {
    std::vector<Size> sizes = leading(inputs[0], 2);
    sizes.push_back(Size(logarithm ? 2 : 1));
    return CustomType{inputs[0].dtype(), Sizes(sizes)};
  };
  o.cpu = [logarithm](const CustomCall& call) {
    for_float("det", call.inputs[0].dtype, [&]<class T>(T) {
      const auto a = call.inputs[0].span<T>();
      const auto to = call.outputs[0].span<T>();
      const int64_t n = call.inputs[0].dims.back();
      const size_t each = logarithm ? 2 : 1;
      for (size_t m = 0; m * each < to.size(); ++m) {
        Factors<T> f(a.data() + static_cast<int64_t>(m) * n * n, n);
        T product = static_cast<T>(f.sign), sign = product, sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          const T pivot = f.at(i, i, n);
          product *= pivot;
          sign *= pivot > 0 ? T(1) : pivot < 0 ? T(-1) : T(0) * pivot;
          sum += std::log(std::abs(pivot));
        }
        to[m * each] = logarithm ? sign : product;
        if (logarithm) to[m * each + 1] = sum;
      }
    });
  };
  return Custom(std::move(o));
}

Custom cholesky() {
  CustomOperation o;
  o.name = "cholesky";
  o.on_host = o.pure = true;
  o.cpu = [](const CustomCall& call) {
    for_float("cholesky", call.inputs[0].dtype, [&]<class T>(T) {
      const auto a = call.inputs[0].span<T>();
      const auto to = call.outputs[0].span<T>();
      const int64_t n = call.inputs[0].dims.back();
      if (a.empty()) return;
      for (size_t m = 0; m * static_cast<size_t>(n * n) < a.size(); ++m) {
        const T* const from = a.data() + m * static_cast<size_t>(n * n);
        T* const l = to.data() + m * static_cast<size_t>(n * n);
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            if (j > i) {
              l[i * n + j] = 0;
              continue;
            }
            T sum = from[i * n + j];
            for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
            if (i == j && !(sum > 0)) throw UserError("cholesky: the matrix is not positive definite");
            l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
          }
      }
    });
  };
  return Custom(std::move(o));
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def("solve", [](const Array& a, const Array& b) {
    static const auto* operation = new Custom(solving());
    return wrap((*operation)({a, b}));
  });
  m.def("determinants", [](const Array& a, bool logarithm) {
    static const auto* plain = new Custom(determinants(false));
    static const auto* logarithms = new Custom(determinants(true));
    return wrap((logarithm ? *logarithms : *plain)({a}));
  });
  m.def("cholesky", [](const Array& a) {
    static const auto* operation = new Custom(cholesky());
    return wrap((*operation)({a}));
  });
}

}  // namespace smelt::python
