// QR, eigenvalues of symmetric matrices and singular values, by loops on the CPU: fusion stops at
// them. They are computed in double, of matrices that are scaled to elements of at most 1.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "binding.hpp"

namespace smelt::python {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
// Below it squares lose digits. Elements are at most 1, so this is nothing beside the largest.
constexpr double tiny = 1e-150;

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Matrix(int64_t m, int64_t n) : rows(m), columns(n), values(static_cast<size_t>(m * n)) {}
  double* row(int64_t i) { return values.data() + i * columns; }
  const double* row(int64_t i) const { return values.data() + i * columns; }
  double& at(int64_t i, int64_t j) { return row(i)[j]; }
  double at(int64_t i, int64_t j) const { return row(i)[j]; }
};

Matrix identity(int64_t rows, int64_t columns) {
  Matrix made(rows, columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) made.at(i, i) = 1;
  return made;
}

Matrix transposed(const Matrix& a) {
  Matrix made(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) made.at(j, i) = a.at(i, j);
  return made;
}

double dot(const double* a, const double* b, int64_t n) {
  constexpr int64_t lanes = 8;  // sums that a compiler may keep in a vector
  double sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t l = 0; l < lanes; ++l) sums[l] += a[i + l] * b[i + l];
  for (int64_t l = 0; i + l < n; ++l) sums[l] += a[i + l] * b[i + l];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// y += factor * x
void add(double factor, const double* x, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

// Two rows become c a + s b and c b - s a.
void rotate(double c, double s, double* a, double* b, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    a[i] = c * x + s * y;
    b[i] = c * y - s * x;
  }
}

double length(const double* x, int64_t n) {
  double largest = 0, sum = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0) return 0;
  for (int64_t i = 0; i < n; ++i) sum += (x[i] / largest) * (x[i] / largest);
  return largest * std::sqrt(sum);
}

// H = 1 - tau v v^T with v[0] = 1 is a reflection. H x is beta times the first unit vector.
struct Reflection {
  std::vector<double> v;
  double tau, beta;

  explicit Reflection(std::vector<double> x) : v(std::move(x)) {
    const double first = v[0], rest = length(v.data() + 1, static_cast<int64_t>(v.size()) - 1);
    v[0] = 1;
    tau = 0, beta = first;
    if (rest == 0) return;
    beta = -std::copysign(std::hypot(first, rest), first);
    tau = (beta - first) / beta;
    for (size_t i = 1; i < v.size(); ++i) v[i] /= first - beta;
  }

  // The rows of a from `row` on, and its columns from `column` on, become H times that.
  void apply(Matrix& a, int64_t row, int64_t column) const {
    if (tau == 0) return;
    const auto height = static_cast<int64_t>(v.size());
    const int64_t width = a.columns - column;
    std::vector<double> products(static_cast<size_t>(width));
    for (int64_t i = 0; i < height; ++i)
      add(v[static_cast<size_t>(i)], a.row(row + i) + column, products.data(), width);
    for (int64_t i = 0; i < height; ++i)
      add(-tau * v[static_cast<size_t>(i)], products.data(), a.row(row + i) + column, width);
  }
};

// The product of reflections, the first of which is for rows from `offset` on, the next from the
// row after that: its first columns.
Matrix product(const std::vector<Reflection>& reflections, int64_t offset, int64_t rows, int64_t columns) {
  Matrix q = identity(rows, columns);
  for (auto k = static_cast<int64_t>(reflections.size()); k-- > 0;)
    reflections[static_cast<size_t>(k)].apply(q, k + offset, k + offset);
  return q;
}

std::vector<double> column_of(const Matrix& a, int64_t column, int64_t row) {
  std::vector<double> x;
  for (int64_t i = row; i < a.rows; ++i) x.push_back(a.at(i, column));
  return x;
}

struct Qr {
  Matrix q, r;
};

// a = q r. q has `columns` columns, as many as a has rows, or fewer where a has fewer columns.
Qr qr(Matrix a, int64_t columns, bool with_q = true) {
  std::vector<Reflection> reflections;
  for (int64_t k = 0; k < std::min(a.rows, a.columns); ++k) {
    const Reflection& h = reflections.emplace_back(column_of(a, k, k));
    h.apply(a, k, k + 1);
    a.at(k, k) = h.beta;
    for (int64_t i = k + 1; i < a.rows; ++i) a.at(i, k) = 0;
  }
  Matrix q = with_q ? product(reflections, 0, a.rows, columns) : Matrix(0, 0);
  a.values.resize(static_cast<size_t>(columns * a.columns));
  a.rows = columns;
  return {std::move(q), std::move(a)};
}

struct Eigen {
  std::vector<double> values;
  Matrix vectors;  // a row each
};

// A symmetric matrix as Q T Q^T with T tridiagonal: T in its diagonal and in the elements beside
// it.
void make_tridiagonal(Matrix a, std::vector<double>& diagonal, std::vector<double>& beside, Matrix* q) {
  const int64_t n = a.rows;
  std::vector<Reflection> reflections;
  std::vector<double> w;
  for (int64_t k = 0; k + 2 < n; ++k) {
    const Reflection& h = reflections.emplace_back(column_of(a, k, k + 1));
    const int64_t size = n - k - 1;
    w.assign(static_cast<size_t>(size), 0);
    for (int64_t i = 0; i < size; ++i)
      w[static_cast<size_t>(i)] = h.tau * dot(a.row(k + 1 + i) + k + 1, h.v.data(), size);
    add(-h.tau / 2 * dot(w.data(), h.v.data(), size), h.v.data(), w.data(), size);
    for (int64_t i = 0; i < size; ++i) {
      double* const row = a.row(k + 1 + i) + k + 1;
      add(-h.v[static_cast<size_t>(i)], w.data(), row, size);
      add(-w[static_cast<size_t>(i)], h.v.data(), row, size);
    }
    beside.push_back(h.beta);
  }
  if (n > 1) beside.push_back(a.at(n - 1, n - 2));
  for (int64_t i = 0; i < n; ++i) diagonal.push_back(a.at(i, i));
  if (q) *q = product(reflections, 1, n, n);
}

// One step of the QR iteration with Wilkinson's shift, on the rows from `low` to `high`.
void qr_step(std::vector<double>& d, std::vector<double>& e, Matrix* vectors, size_t low, size_t high) {
  const double half = (d[high - 1] - d[high]) / 2, last = e[high - 1];
  double x = d[low] - (d[high] - last * (last / (half + std::copysign(std::hypot(half, last), half))));
  double z = e[low];
  for (size_t k = low; k < high; ++k) {
    const double r = std::hypot(x, z), c = r == 0 ? 1 : x / r, s = r == 0 ? 0 : z / r;
    if (k > low) e[k - 1] = r;
    const double a = d[k], b = e[k], g = d[k + 1];
    d[k] = c * c * a + 2 * c * s * b + s * s * g;
    d[k + 1] = s * s * a - 2 * c * s * b + c * c * g;
    e[k] = c * s * (g - a) + (c * c - s * s) * b;
    if (vectors)
      rotate(c, s, vectors->row(static_cast<int64_t>(k)), vectors->row(static_cast<int64_t>(k) + 1), vectors->columns);
    x = e[k];
    if (k + 1 < high) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

std::vector<size_t> sorted(const std::vector<double>& values, bool ascending) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ascending ? values[a] < values[b] : values[a] > values[b]; });
  return order;
}

Eigen eigen(Matrix a, bool with_vectors) {
  const int64_t n = a.rows;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) a.at(i, j) = a.at(j, i);
  std::vector<double> d, e;
  Matrix vectors(0, 0);
  make_tridiagonal(std::move(a), d, e, with_vectors ? &vectors : nullptr);
  vectors = transposed(vectors);
  int64_t steps = 0;
  for (size_t high = d.size(); high-- > 1;) {
    for (;;) {
      const auto zero = [&](size_t i) {
        return std::abs(e[i]) <= epsilon * (std::abs(d[i]) + std::abs(d[i + 1])) || std::abs(e[i]) < tiny;
      };
      if (zero(high - 1)) break;
      size_t low = high - 1;
      while (low > 0 && !zero(low - 1)) --low;
      if (++steps > 60 * n) throw UserError("eigh: the iteration for the eigenvalues did not converge");
      qr_step(d, e, with_vectors ? &vectors : nullptr, low, high);
    }
    e[high - 1] = 0;
  }
  Eigen made{{}, Matrix(vectors.rows, vectors.columns)};
  for (const size_t k : sorted(d, true)) {
    const double* const from = vectors.row(static_cast<int64_t>(k));
    if (with_vectors) std::copy(from, from + n, made.vectors.row(static_cast<int64_t>(made.values.size())));
    made.values.push_back(d[k]);
  }
  return made;
}

struct Svd {
  Matrix u;
  std::vector<double> values;
  Matrix vh;
};

// Rotates pairs of rows of w, and of `turned` alike, until all rows of w are orthogonal (Jacobi).
void make_rows_orthogonal(Matrix& w, Matrix& turned) {
  const int64_t n = w.rows;
  const double most = epsilon * std::sqrt(static_cast<double>(n));
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < 60; ++sweep) {
    rotated = false;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        double* const a = w.row(i);
        double* const b = w.row(j);
        const double aa = dot(a, a, w.columns), bb = dot(b, b, w.columns), ab = dot(a, b, w.columns);
        if (!(std::abs(ab) > most * std::sqrt(aa) * std::sqrt(bb))) continue;
        rotated = true;
        const double zeta = (aa - bb) / (2 * ab), t = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double c = 1 / std::hypot(1, t);
        rotate(c, c * t, a, b, w.columns);
        rotate(c, c * t, turned.row(i), turned.row(j), turned.columns);
      }
  }
}

// The rows from `from` on become an orthonormal basis of what those above have not.
void complete_rows(Matrix& basis, int64_t from) {
  if (from == basis.rows) return;
  Matrix known(basis.columns, from);
  for (int64_t i = 0; i < from; ++i)
    for (int64_t j = 0; j < basis.columns; ++j) known.at(j, i) = basis.at(i, j);
  const Matrix all = qr(std::move(known), basis.columns).q;
  for (int64_t i = from; i < basis.rows; ++i)
    for (int64_t j = 0; j < basis.columns; ++j) basis.at(i, j) = all.at(j, i);
}

// a = u diag(values) vh, of a matrix that has no fewer rows than columns: a = q r, and the rows of
// r are turned until they are orthogonal.
Svd svd_of_tall(const Matrix& a, bool full, bool with_vectors) {
  const int64_t n = a.columns;
  Qr parts = qr(a, full ? a.rows : n, with_vectors);
  Matrix& w = parts.r;
  w.values.resize(static_cast<size_t>(n * n));
  w.rows = n;
  Matrix turned = with_vectors ? identity(n, n) : Matrix(n, 0);
  make_rows_orthogonal(w, turned);

  std::vector<double> lengths;
  for (int64_t i = 0; i < n; ++i) lengths.push_back(length(w.row(i), n));
  const std::vector<size_t> order = sorted(lengths, false);
  Svd made{Matrix(0, 0), {}, Matrix(n, n)};
  for (const size_t k : order) made.values.push_back(lengths[k]);
  if (!with_vectors) return made;
  int64_t nonzero = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double value = made.values[static_cast<size_t>(i)];
    if (value <= tiny) break;
    add(1 / value, w.row(static_cast<int64_t>(order[static_cast<size_t>(i)])), made.vh.row(i), n);
    nonzero = i + 1;
  }
  complete_rows(made.vh, nonzero);
  made.u = parts.q;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < n; ++j)
      made.u.at(i, j) = dot(parts.q.row(i), turned.row(static_cast<int64_t>(order[static_cast<size_t>(j)])), n);
  return made;
}

Svd svd(const Matrix& a, bool full, bool with_vectors) {
  if (a.rows >= a.columns) return svd_of_tall(a, full, with_vectors);
  Svd other = svd_of_tall(transposed(a), full, with_vectors);
  return {transposed(other.vh), std::move(other.values), transposed(other.u)};
}

// ---- operations on stacks of matrices

// What makes the results of one matrix, their elements one after another; the matrix is scaled by
// two to the power of -exponent.
using Results = std::vector<std::vector<double>>;
using Decompose = std::function<Results(Matrix, int exponent)>;
using Shapes = std::vector<std::vector<int64_t>>;

std::vector<double> scaled(std::vector<double> values, int exponent) {
  for (double& x : values) x = std::ldexp(x, exponent);
  return values;
}

template <class T>
void decompose_all(const CustomCall& call, const Decompose& decompose) {
  const auto& dims = call.inputs[0].dims;
  const int64_t rows = dims[dims.size() - 2], columns = dims.back();
  int64_t count = 1;
  for (size_t d = 0; d + 2 < dims.size(); ++d) count *= dims[d];
  for (int64_t m = 0; m < count; ++m) {
    Matrix a(rows, columns);
    const T* const from = call.inputs[0].span<T>().data() + m * rows * columns;
    std::copy(from, from + rows * columns, a.values.begin());
    double largest = 0;
    bool finite = true;
    for (const double x : a.values) {
      largest = std::max(largest, std::abs(x));
      finite = finite && std::isfinite(x);
    }
    const int exponent = finite && largest > 0 ? std::ilogb(largest) + 1 : 0;
    a.values = finite ? scaled(std::move(a.values), -exponent) : std::vector<double>(a.values.size());
    const Results results = decompose(std::move(a), exponent);
    for (size_t k = 0; k < results.size(); ++k) {
      T* to = call.outputs[k].span<T>().data() + m * static_cast<int64_t>(results[k].size());
      for (const double x : results[k]) *to++ = finite ? static_cast<T>(x) : std::numeric_limits<T>::quiet_NaN();
    }
  }
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
      [wide](Matrix a, int exponent) {
        const int64_t columns = wide(a.rows, a.columns);
        Qr made = qr(std::move(a), columns);
        return Results{std::move(made.q.values), scaled(std::move(made.r.values), exponent)};
      });
}

Custom eigh(bool with_vectors) {
  return operation(
      with_vectors ? "eigh" : "eigvalsh",
      [with_vectors](int64_t n, int64_t) {
        return with_vectors ? Shapes{{n}, {n, n}} : Shapes{{n}};
      },
      [with_vectors](Matrix a, int exponent) {
        Eigen made = eigen(std::move(a), with_vectors);
        Results results{scaled(std::move(made.values), exponent)};
        if (with_vectors) results.push_back(transposed(made.vectors).values);
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
      [full](Matrix a, int exponent) {
        Svd made = svd(a, full, true);
        return Results{std::move(made.u.values), scaled(std::move(made.values), exponent), std::move(made.vh.values)};
      });
}

Custom svdvals() {
  return operation(
      "svdvals", [](int64_t m, int64_t n) { return Shapes{{std::min(m, n)}}; },
      [](Matrix a, int exponent) { return Results{scaled(svd(a, false, false).values, exponent)}; });
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
