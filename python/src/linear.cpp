// Triangular factorizations of matrices, by Eigen on the CPU: fusion stops at them.
#include <Eigen/Dense>

#include <cmath>

#include "stacks.hpp"

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

template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Matrices that follow one another in memory.
template <class T>
Eigen::Map<const Rows<T>> matrix(std::span<const T> all, int64_t number, int64_t rows, int64_t columns) {
  return {all.data() + number * rows * columns, rows, columns};
}
template <class T>
Eigen::Map<Rows<T>> matrix(std::span<T> all, int64_t number, int64_t rows, int64_t columns) {
  return {all.data() + number * rows * columns, rows, columns};
}

// P A = L U, rows exchanged for the largest pivot.
template <class T>
using Factors = Eigen::PartialPivLU<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>;

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
      const auto x = call.outputs[0].span<T>();
      const int64_t n = call.inputs[0].dims.back(), columns = call.inputs[1].dims.back();
      if (b.empty()) return;
      const auto count = static_cast<int64_t>(b.size()) / (n * columns);
      for_each_of(call, count, cube(n) + static_cast<double>(2 * n * n * columns), [&](int64_t m) {
        const Factors<T> f(matrix(a, m, n, n));
        if ((f.matrixLU().diagonal().array() == 0).any()) throw UserError("solve: the matrix is singular");
        matrix(x, m, n, columns) = f.solve(matrix(b, m, n, columns));
      });
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
      for_each_of(call, static_cast<int64_t>(to.size() / each), cube(n), [&](int64_t m) {
        const Factors<T> f(matrix(a, m, n, n));
        T product = static_cast<T>(f.permutationP().determinant()), sign = product, sum = 0;
        for (const T pivot : f.matrixLU().diagonal()) {
          product *= pivot;
          sign *= pivot > 0 ? T(1) : pivot < 0 ? T(-1) : T(0) * pivot;
          sum += std::log(std::abs(pivot));
        }
        T* const results = to.data() + static_cast<size_t>(m) * each;
        results[0] = logarithm ? sign : product;
        if (logarithm) results[1] = sum;
      });
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
      for_each_of(call, static_cast<int64_t>(a.size()) / (n * n), cube(n), [&](int64_t m) {
        const Rows<T> lower = Eigen::LLT<Rows<T>>(matrix(a, m, n, n)).matrixL();
        if (!(lower.diagonal().array() > 0).all()) throw UserError("cholesky: the matrix is not positive definite");
        matrix(to, m, n, n) = lower;
      });
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
