// QR, eigenvalues of symmetric matrices and singular values, by Eigen on the CPU: fusion stops at
// them. They are computed in double, of matrices that are scaled to elements of at most 1.
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "stacks.hpp"

namespace smelt::python {

namespace {

using Matrix = Eigen::MatrixXd;
template <class T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void check(const char* name, Eigen::ComputationInfo info) {
  if (info != Eigen::Success) throw UserError(std::string(name) + ": the iteration did not converge");
}

// ---- operations on stacks of matrices

// What makes the results of one matrix, their elements one after another; the matrix is scaled by
// two to the power of -exponent.
using Results = std::vector<Matrix>;
using Decompose = std::function<Results(const Matrix&, int exponent)>;
using Shapes = std::vector<std::vector<int64_t>>;

Matrix scaled(const Matrix& a, int exponent) {
  return a.unaryExpr([exponent](double x) { return std::ldexp(x, exponent); });
}

template <class T>
void decompose_all(const CustomCall& call, const Decompose& decompose) {
  const auto& dims = call.inputs[0].dims;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  int64_t count = 1;
  for (size_t d = 0; d + 2 < dims.size(); ++d) count *= dims[d];
  for_each_of(call, count, 10 * cube(std::max(rows, columns)), [&](int64_t m) {
    const T* const from = call.inputs[0].span<T>().data() + m * rows * columns;
    const Matrix a = Eigen::Map<const Rows<T>>(from, rows, columns).template cast<double>();
    const bool finite = a.allFinite();
    const double largest = finite && a.size() > 0 ? a.cwiseAbs().maxCoeff() : 0;
    const int exponent = largest > 0 ? std::ilogb(largest) + 1 : 0;
    const Results results = decompose(finite ? scaled(a, -exponent) : Matrix::Zero(rows, columns), exponent);
    for (size_t k = 0; k < results.size(); ++k) {
      const Matrix& made = results[k];
      Eigen::Map<Rows<T>> to(call.outputs[k].span<T>().data() + m * made.size(), made.rows(), made.cols());
      if (finite)
        to = made.cast<T>();
      else
        to.setConstant(std::numeric_limits<T>::quiet_NaN());
    }
  });
}

// `shapes` has the last sizes of the results for a matrix of these rows and columns.
Custom operation(std::string name, std::function<Shapes(int64_t rows, int64_t columns)> shapes, Decompose decompose) {
  CustomOperation o;
  o.name = name;
  o.on_host = o.pure = true;
  o.outputs = [shapes](const std::vector<Array>& inputs) {
    const Array& x = inputs[0];
    std::vector<CustomType> types;
    for (const std::vector<int64_t>& last : shapes(x.extent(x.ndim() - 2).value(), x.extent(x.ndim() - 1).value())) {
      std::vector<Size> sizes;
      for (int d = 0; d + 2 < x.ndim(); ++d) sizes.push_back(x.extent(d));
      sizes.insert(sizes.end(), last.begin(), last.end());
      types.push_back({x.dtype(), Sizes(sizes)});
    }
    return types;
  };
  o.cpu = [name, decompose](const CustomCall& call) {
    switch (call.inputs[0].dtype) {
      case DType::F32: return decompose_all<float>(call, decompose);
      case DType::F64: return decompose_all<double>(call, decompose);
      default:
        throw UserError(name + ": matrices of " + python_name(call.inputs[0].dtype) +
                        " are not supported\nhelp: float32 and float64 are");
    }
  };
  return Custom(std::move(o));
}

Custom qr_of(bool complete) {
  const auto wide = [complete](int64_t rows, int64_t columns) { return complete ? rows : std::min(rows, columns); };
  return operation(
      complete ? "qr_complete" : "qr",
      [wide](int64_t m, int64_t n) {
        return Shapes{{m, wide(m, n)}, {wide(m, n), n}};
      },
      [wide](const Matrix& a, int exponent) {
        const int64_t columns = wide(a.rows(), a.cols());
        if (a.size() == 0) return Results{Matrix::Identity(a.rows(), columns), Matrix::Zero(columns, a.cols())};
        const Eigen::HouseholderQR<Matrix> qr(a);
        const Matrix r = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
        return Results{qr.householderQ() * Matrix::Identity(a.rows(), columns), scaled(r, exponent)};
      });
}

// It reads the lower triangle.
Custom eigh(bool with_vectors) {
  const char* const name = with_vectors ? "eigh" : "eigvalsh";
  return operation(
      name,
      [with_vectors](int64_t n, int64_t) {
        return with_vectors ? Shapes{{n}, {n, n}} : Shapes{{n}};
      },
      [name, with_vectors](const Matrix& a, int exponent) {
        const Eigen::SelfAdjointEigenSolver<Matrix> made(
            a, with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
        check(name, made.info());
        Results results{scaled(made.eigenvalues(), exponent)};
        if (with_vectors) results.push_back(made.eigenvectors());
        return results;
      });
}

Custom svd_of(bool full) {
  return operation(
      full ? "svd_full" : "svd",
      [full](int64_t m, int64_t n) {
        const int64_t k = std::min(m, n);
        return Shapes{{m, full ? m : k}, {k}, {full ? n : k, n}};
      },
      [full](const Matrix& a, int exponent) {
        if (a.size() == 0) {
          const int64_t m = a.rows(), n = a.cols();
          return Results{Matrix::Identity(m, full ? m : 0), Matrix(0, 1), Matrix::Identity(full ? n : 0, n)};
        }
        const Eigen::BDCSVD<Matrix> svd(
            a, full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV);
        check("svd", svd.info());
        return Results{svd.matrixU(), scaled(svd.singularValues(), exponent), svd.matrixV().transpose()};
      });
}

Custom svdvals() {
  return operation(
      "svdvals", [](int64_t m, int64_t n) { return Shapes{{std::min(m, n)}}; },
      [](const Matrix& a, int exponent) {
        const Eigen::BDCSVD<Matrix> svd(a);
        check("svdvals", svd.info());
        return Results{scaled(svd.singularValues(), exponent)};
      });
}

nb::tuple results_of(const Custom& operation, const Array& x) {
  nb::list made;
  for (Array& result : operation.all({x})) made.append(wrap(std::move(result)));
  return nb::tuple(made);
}

}  // namespace

void bind_decompositions(nb::module_& m) {
  m.def("qr", [](const Array& x, bool complete) {
    static const auto* reduced = new Custom(qr_of(false));
    static const auto* all = new Custom(qr_of(true));
    return results_of(complete ? *all : *reduced, x);
  });
  m.def("eigh", [](const Array& x, bool with_vectors) {
    static const auto* values = new Custom(eigh(false));
    static const auto* both = new Custom(eigh(true));
    return results_of(with_vectors ? *both : *values, x);
  });
  m.def("svd", [](const Array& x, bool full) {
    static const auto* reduced = new Custom(svd_of(false));
    static const auto* all = new Custom(svd_of(true));
    return results_of(full ? *all : *reduced, x);
  });
  m.def("svdvals", [](const Array& x) {
    static const auto* operation = new Custom(svdvals());
    return results_of(*operation, x);
  });
}

}  // namespace smelt::python
