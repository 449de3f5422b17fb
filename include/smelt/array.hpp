/// \file
/// Array: data with a dtype and a shape known at run time, or a value that is not calculated yet;
/// its operators, and eval().
#pragma once

#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "smelt/device.hpp"
#include "smelt/dtype.hpp"
#include "smelt/error.hpp"
#include "smelt/handle.hpp"
#include "smelt/index.hpp"
#include "smelt/methods.hpp"

namespace smelt {

/// Sizes of an array, or its strides (in elements), outermost first.
using Dims = std::vector<int64_t>;

class Located;

namespace detail {
// The elements of what is contiguous and outlives a call, without const.
template <class R>
using ElementIn = typename decltype(std::span(std::declval<R>()))::value_type;
}  // namespace detail

/// A number of any type, in a list of several types: Array::from({1, 2.5}).
class SMELT_API Number {
 public:
  /// The number.
  template <Element T>
  Number(T value) : dtype_(dtype_of<T>) {  // NOLINT: meant to convert
    if constexpr (std::is_integral_v<T>)
      integer_ = static_cast<int64_t>(value);
    else
      floating_ = static_cast<double>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  }
  DType dtype() const { return dtype_; }         ///< that of its type
  int64_t integer() const { return integer_; }   ///< of an integer or a bool; of a uint64_t its bits
  double floating() const { return floating_; }  ///< of a float

 private:
  DType dtype_;
  int64_t integer_ = 0;
  double floating_ = 0;
};

/// A multidimensional array: a cheap handle that is passed by value. It is one of
/// - data: memory of the host or of a GPU, copied, adopted with its owner, or borrowed; any
///   strides;
/// - an unevaluated value: the result of functions and operators. Its dtype and shape are known
///   immediately, so that mistakes throw where they are written; eval() calculates it, and until
///   then reading its data throws;
/// - a number: Array(2.5). It is weak, that is, it takes the dtype of the arrays that it is
///   combined with, as literals of the expression language do. A number is part of the program:
///   another number compiles another program. Use an array of rank 0, Array::scalar(x), for what
///   changes from call to call;
/// - nothing: Array(), for optional arguments.
///
/// An array never changes, except by writes to its memory (mutable_span, Function::into): write `a
/// = slice_update(a, i, v)` for `a[i] = v`.
///
/// Shapes broadcast as in NumPy and dtypes promote as the Array API standard says
/// (docs/language.md). Several threads may use handles concurrently; the caller must synchronise
/// writes to their memory.
class SMELT_API Array : public Methods<Array> {
 public:
  /// No array: an optional argument that is left out.
  Array() = default;
  /// A weak number. Throws UserError for an unsigned integer above the largest int64.
  template <class T>
  requires std::is_arithmetic_v<T> Array(T number) : Array(number_of(number)) {}  // NOLINT: meant to convert
  /// A size as a number, in arithmetic: sum(x) / x.extent(0).
  Array(const Size& size);                               // NOLINT: meant to convert
  Array(const Array& other) = default;                   ///< the same array
  Array(Array&& other) noexcept = default;               ///< leaves Array() behind
  Array& operator=(const Array& other) & = default;      ///< another array for this name
  Array& operator=(Array&& other) & noexcept = default;  ///< another array for this name
  /// Refused: `a[i] = v` would write to an array that nobody has.
  template <class T>
  void operator=(const T&) && {  // NOLINT: refused, so it returns nothing
    static_assert(detail::kNever<T>, "a[i] = v does not change a: write a = slice_update(a, i, v)");
  }
  ~Array() = default;

  // ---- data

  /// Copies `values`, of host memory. Without `dims` the shape is [number of values]. Throws
  /// UserError when the shape does not hold exactly these.
  template <class R>
  requires Element<detail::ElementIn<const R&>>
  static Array from(const R& values, Dims dims) {
    const std::span<const detail::ElementIn<const R&>> all(values);
    return copy_of(all.data(), dtype_of<detail::ElementIn<const R&>>, all.size(), std::move(dims));
  }
  /// \overload
  template <class R>
  requires Element<detail::ElementIn<const R&>>
  static Array from(const R& values) {
    return from(values, {static_cast<int64_t>(std::span<const detail::ElementIn<const R&>>(values).size())});
  }
  /// \overload
  template <Element T>
  static Array from(std::initializer_list<T> values, Dims dims) {
    return from(std::span<const T>(values.begin(), values.size()), std::move(dims));
  }
  /// \overload
  template <Element T>
  static Array from(std::initializer_list<T> values) {
    return from(std::span<const T>(values.begin(), values.size()));
  }
  /// Rows of numbers: Array::from({{1, 2}, {3, 4}}). Throws UserError when rows differ in length.
  template <Element T>
  static Array from(std::initializer_list<std::initializer_list<T>> rows) {
    std::vector<size_t> lengths;
    for (const auto& row : rows) lengths.push_back(row.size());
    Array made = empty(dims_of({rows.size()}, lengths), dtype_of<T>);
    T* to = made.mutable_span<T>().data();
    for (const auto& row : rows)
      for (const T& value : row) *to++ = value;
    return made;
  }
  /// Matrices of numbers: Array::from({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}).
  template <Element T>
  static Array from(std::initializer_list<std::initializer_list<std::initializer_list<T>>> matrices) {
    std::vector<size_t> rows, lengths;
    for (const auto& matrix : matrices) {
      rows.push_back(matrix.size());
      for (const auto& row : matrix) lengths.push_back(row.size());
    }
    Array made = empty(dims_of({matrices.size(), equal_size(rows)}, lengths), dtype_of<T>);
    T* to = made.mutable_span<T>().data();
    for (const auto& matrix : matrices)
      for (const auto& row : matrix)
        for (const T& value : row) *to++ = value;
    return made;
  }
  /// Numbers of several types, converted as in C++: {1, 2.5f} is F32, {1, int64_t{2}} is I64.
  /// Throws UserError for bools among numbers, and for uint64_t among signed integers.
  static Array from(std::initializer_list<Number> values) {
    return from(values, {static_cast<int64_t>(values.size())});
  }
  /// \overload
  static Array from(std::initializer_list<Number> values, Dims dims);
  /// \overload
  static Array from(std::initializer_list<std::initializer_list<Number>> rows);
  /// Copies the elements at this address, as many as the shape has.
  template <Element T>
  static Array from(const T* values, Dims dims) {
    const size_t count = count_of(dims);
    return copy_of(values, dtype_of<T>, count, std::move(dims));
  }
  /// An array of rank 0: an argument of kernels, so that another value does not compile another
  /// kernel.
  template <Element T>
  static Array scalar(T value) {
    return copy_of(&value, dtype_of<T>, 1, {});
  }
  /// Row-major host memory of this shape, aligned to 64 bytes and not initialised: for outputs
  /// (Function::into).
  static Array empty(Dims dims, DType dtype);

  /// The caller's memory, read (and written, unless it is const) in place: it must outlive the
  /// array and everything computed from it. Strides count elements, may be 0 or negative, and are
  /// row-major when left out; `offset` is the position of the first element in `memory`. Throws
  /// UserError when an index would leave `memory`.
  template <class R>
  requires Element<detail::ElementIn<R>>
  static Array borrow(R&& memory, Dims dims, Dims strides = {}, int64_t offset = 0) {
    const std::span all(std::forward<R>(memory));
    return borrow_range(all.data(), dtype_of<detail::ElementIn<R>>, all.size(), std::move(dims), std::move(strides),
                        offset, std::is_const_v<typename decltype(all)::element_type>);
  }
  /// The same for memory at an address, whose length is not checked.
  template <class T>
  requires Element<std::remove_const_t<T>>
  static Array borrow(T* memory, Dims dims, Dims strides = {}) {
    return adopt(memory, dtype_of<std::remove_const_t<T>>, std::move(dims), std::move(strides), nullptr);
  }
  /// Memory that `owner` keeps alive; it is released with the last array that uses it. `data` is
  /// the address of the element of index 0; strides as for borrow(). Only the shape is checked.
  static Array adopt(void* data, DType dtype, Dims dims, Dims strides, Owner owner);
  /// The same for read-only memory.
  static Array adopt(const void* data, DType dtype, Dims dims, Dims strides, Owner owner);
  /// The memory of a vector, moved into the array.
  template <Element T>
  static Array adopt(std::vector<T>&& values, Dims dims) {
    auto* holding = new detail::Holding<std::vector<T>>(std::move(values));
    Owner owner(&holding->object, holding);
    check_count(holding->object.size(), dims);
    void* data = holding->object.data();
    return adopt(data, dtype_of<T>, std::move(dims), {}, std::move(owner));
  }

  // ---- what it is

  bool defined() const { return node_ != nullptr; }  ///< false for Array()
  /// Whether its data can be read now.
  bool evaluated() const;
  /// A number has the dtype that it has on its own: I64, F32 or Bool.
  DType dtype() const;
  int ndim() const;  ///< number of axes
  /// The sizes. Inside of a function that is being compiled for many sizes it may be unknown; then
  /// the function is compiled for the sizes at hand instead. extent() avoids that.
  Dims shape() const;
  int64_t shape(Axis axis) const;  ///< one of them; axis -1 is the last
  int64_t size() const;            ///< number of elements, as shape()
  /// A size as a value: in arithmetic and in shapes it needs not be known, so that one kernel
  /// supports every size.
  Size extent(Axis axis, Where where = Where::here()) const;
  Dims strides() const;     ///< in elements; of data
  Device device() const;    ///< where its data is; of an unevaluated value Device::cpu()
  std::string str() const;  ///< "f32[4, 8]"

  // ---- its data, which must be evaluated and in host memory

  /// The elements in place, row by row. Throws UserError when the dtype is another, when the
  /// elements do not lie in row-major order (copy() helps), or when there is no data to read.
  template <Element T>
  std::span<const T> span() const {
    return {static_cast<const T*>(read(dtype_of<T>)), static_cast<size_t>(size())};
  }
  /// The same to write. Other handles of this array, and arrays that share its memory, see the
  /// change.
  template <Element T>
  std::span<T> mutable_span() {
    return {static_cast<T*>(write(dtype_of<T>)), static_cast<size_t>(size())};
  }
  /// The elements in row-major order, copied.
  template <Element T>
  std::vector<T> to_vector() const {
    const Array rows = copy_for(dtype_of<T>, "to_vector()");
    const auto elements = rows.span<T>();
    return {elements.begin(), elements.end()};
  }
  /// The one element of an array of one element, or the element at an index for each axis:
  /// x.item<float>(i, j). Indices below 0 count from the end.
  template <Element T, std::integral... I>
  T item(I... index) const {
    T value;
    read_item(dtype_of<T>, {static_cast<int64_t>(index)...}, &value);
    return value;
  }
  /// An element of any dtype, as a double: x(i, j). Throws UserError for an integer that a double
  /// does not hold; item() reads those.
  template <std::integral... I>
  requires(sizeof...(I) > 0) double operator()(I... index) const { return number_at({static_cast<int64_t>(index)...}); }
  /// The address of the element of index 0, on whatever device.
  const void* data() const;
  /// A row-major copy on the same device.
  Array copy() const;
  /// The data on this device; the array itself when it is there.
  Array to(const Device& device) const;

  // ---- views that are common enough to have a name; the functions of smelt/functions.hpp are methods too

  Array T(Where where = Where::here()) const;   ///< all axes reversed
  Array mT(Where where = Where::here()) const;  ///< the last two axes exchanged
  /// cast<E>(x)
  template <Element E>
  Array cast(Where where = Where::here()) const {
    return this->astype(dtype_of<E>, where);
  }

  /// An element, a row, a slice: x[3], x[slice(1, -1)], x[{0, ellipsis, newaxis, slice(none, none,
  /// -1)}], x[indices] as NumPy has them; nothing is moved. Integers drop an axis. One of the items
  /// may be an array of integers: take() along that axis. Bounds of slices are clamped as in NumPy.
  /// The result is another array: slice_update() replaces a part.
  Array operator[](const Indices& index) const;

  Array& operator+=(const Located& b) &;  ///< x = x + b: another value; the memory does not change
  Array& operator-=(const Located& b) &;  ///< x = x - b
  Array& operator*=(const Located& b) &;  ///< x = x * b
  Array& operator/=(const Located& b) &;  ///< x = x / b
  /// Refused, as `a[i] = v` is.
  template <class T>
  void operator+=(const T&) && {
    refuse_update<T>();
  }
  /// Refused, as `a[i] = v` is.
  template <class T>
  void operator-=(const T&) && {
    refuse_update<T>();
  }
  /// Refused, as `a[i] = v` is.
  template <class T>
  void operator*=(const T&) && {
    refuse_update<T>();
  }
  /// Refused, as `a[i] = v` is.
  template <class T>
  void operator/=(const T&) && {
    refuse_update<T>();
  }

  // ---- the names before NumPy's, until the next version

  [[deprecated("use ndim()")]] int rank() const { return ndim(); }                       ///< ndim()
  [[deprecated("use shape()")]] Dims dims() const { return shape(); }                    ///< shape()
  [[deprecated("use shape(axis)")]] int64_t dim(int axis) const { return shape(axis); }  ///< shape(axis)
  [[deprecated("use size()")]] int64_t count() const { return size(); }                  ///< size()

  /// \cond internal
  explicit Array(detail::NodePtr node) : node_(std::move(node)) {}
  const detail::NodePtr& node() const { return node_; }
  /// \endcond

 private:
  template <class T>
  static detail::NodePtr number_of(T number) {
    if constexpr (std::is_same_v<T, bool>) return detail::bool_literal(number);
    if constexpr (std::is_floating_point_v<T>) return detail::float_literal(static_cast<double>(number));
    if constexpr (std::is_signed_v<T>) return detail::int_literal(static_cast<int64_t>(number));
    return detail::uint_literal(static_cast<uint64_t>(number));
  }
  static Array copy_of(const void* values, DType dtype, size_t count, Dims dims);
  static Array borrow_range(const void* memory, DType dtype, size_t count, Dims dims, Dims strides, int64_t offset,
                            bool read_only);
  static void check_count(size_t count, const Dims& dims);
  static size_t count_of(const Dims& dims);
  // The shape of lists in lists: the sizes in front, and the length that all rows have.
  static size_t equal_size(const std::vector<size_t>& sizes);
  static Dims dims_of(const std::vector<size_t>& outer, const std::vector<size_t>& lengths);
  static Array of_numbers(const std::vector<Number>& values, Dims dims);
  template <class T>
  static void refuse_update() {
    static_assert(detail::kNever<T>, "a[i] += v does not change a: write a = slice_update(a, i, a[i] + v)");
  }
  const void* read(DType dtype) const;
  Array copy_for(DType dtype, const char* asked_by) const;
  void* write(DType dtype);
  void read_item(DType dtype, const Dims& index, void* into) const;
  double number_at(const Dims& index) const;

  detail::NodePtr node_;
};

/// \cond internal
extern template class Methods<Array>;
/// \endcond

/// What an operator takes: an array, a number or a size, with the place where it is.
class Located {
 public:
  /// As an array.
  template <class T>
  requires std::is_convertible_v<const T&, Array> Located(const T& value, Where where = Where::here())
      : array_(value), where_(where) {}          // NOLINT: meant to convert
  const Array& array() const { return array_; }  ///< what was written
  Where where() const { return where_; }         ///< and where

 private:
  Array array_;
  Where where_;
};

/// The array in a file that numpy.save wrote (.npy). Throws UserError, with the path, for any other
/// file.
SMELT_API Array load(const std::string& path);
/// Writes the array to a file that numpy.load reads (.npy). Throws UserError when it is not
/// evaluated, for BF16 and floats of 8 bits, which NumPy lacks, and when the file cannot be
/// written; an incomplete file is never left.
SMELT_API void save(const std::string& path, const Array& array);

/// Calculates the values as one plan, so that shared parts are calculated once, and keeps the
/// results in the arrays (all their copies see them). Evaluated values are not calculated again.
/// The compiled plan is kept for later calls: the same expression on other data of the same dtypes
/// and ranks is not compiled again. Runs on the GPU when the data is there, else on the CPU. Throws
/// UserError when arrays are on different devices, and for errors in the data (an index out of
/// range).
SMELT_API void eval(const std::vector<Array>& values);
/// \overload
template <class... More>
requires(std::is_same_v<More, Array>&&...) void eval(const Array& first, const More&... more) {
  eval(std::vector<Array>{first, more...});
}

/// "f32[2, 3] [[1, 2, 3], [4, 5, 6]]", long arrays shortened; of an unevaluated value the type
/// alone.
SMELT_API std::ostream& operator<<(std::ostream& out, const Array& array);

// Operators mean what they mean in the expression language; docs/language.md has the table.
// Comparisons give arrays of Bool.

SMELT_API Array operator+(const Located& a, const Located& b);  ///< add(a, b)
SMELT_API Array operator-(const Located& a, const Located& b);  ///< subtract(a, b)
SMELT_API Array operator*(const Located& a, const Located& b);  ///< multiply(a, b)
SMELT_API Array operator/(const Located& a,
                          const Located& b);  ///< divide(a, b), of floats; floor_divide(a, b) is for integers too
SMELT_API Array operator%(const Located& a, const Located& b);   ///< remainder(a, b): the sign is that of b
SMELT_API Array operator-(const Located& a);                     ///< negative(a)
SMELT_API Array operator+(const Located& a);                     ///< a itself, of numbers
SMELT_API Array operator~(const Located& a);                     ///< bitwise_not(a)
SMELT_API Array operator!(const Located& a);                     ///< bitwise_not(a) of Bool
SMELT_API Array operator&(const Located& a, const Located& b);   ///< bitwise_and(a, b)
SMELT_API Array operator|(const Located& a, const Located& b);   ///< bitwise_or(a, b)
SMELT_API Array operator^(const Located& a, const Located& b);   ///< bitwise_xor(a, b)
SMELT_API Array operator&&(const Located& a, const Located& b);  ///< bitwise_and of Bool; both sides are calculated
SMELT_API Array operator||(const Located& a, const Located& b);  ///< bitwise_or of Bool; both sides are calculated
SMELT_API Array operator<<(const Located& a, const Located& b);  ///< left_shift(a, b)
SMELT_API Array operator>>(const Located& a, const Located& b);  ///< right_shift(a, b)
SMELT_API Array operator==(const Located& a, const Located& b);  ///< equal(a, b), elementwise
SMELT_API Array operator!=(const Located& a, const Located& b);  ///< not_equal(a, b), elementwise
SMELT_API Array operator<(const Located& a, const Located& b);   ///< less(a, b), elementwise
SMELT_API Array operator<=(const Located& a, const Located& b);  ///< less_equal(a, b), elementwise
SMELT_API Array operator>(const Located& a, const Located& b);   ///< greater(a, b), elementwise
SMELT_API Array operator>=(const Located& a, const Located& b);  ///< greater_equal(a, b), elementwise

}  // namespace smelt
