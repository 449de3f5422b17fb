/// \file
/// Types for shapes, axes and subscripts: sizes that may not be known yet, axes, slices.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "smelt/export.hpp"
#include "smelt/handle.hpp"
#include "smelt/where.hpp"

namespace smelt {

class Array;

namespace detail {
struct ArrayNode;
using NodePtr = Handle<ArrayNode>;
// Weak numbers.
SMELT_API NodePtr bool_literal(bool number);
SMELT_API NodePtr int_literal(int64_t number);
SMELT_API NodePtr uint_literal(uint64_t number);
SMELT_API NodePtr float_literal(double number);
// false, for what only the use of a template is to refuse.
template <class T>
inline constexpr bool kNever = false;
}  // namespace detail

/// A size: an integer, or the size of an array that a function is compiled for without knowing it
/// (Array::extent). Sums, differences, products, quotients and remainders of sizes are sizes.
class SMELT_API Size {
 public:
  /// A number.
  template <std::integral T>
  Size(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: meant to convert
  /// The number. Inside of a function that is compiled for many sizes it may be unknown; then the
  /// function is compiled for the sizes at hand instead.
  int64_t value() const;
  explicit operator int64_t() const { return value(); }  ///< value()

  friend SMELT_API Size operator+(const Size& a, const Size& b);  ///< the sum
  friend SMELT_API Size operator-(const Size& a, const Size& b);  ///< the difference
  friend SMELT_API Size operator*(const Size& a, const Size& b);  ///< the product
  friend SMELT_API Size operator/(const Size& a, const Size& b);  ///< rounded down; b must be above 0
  friend SMELT_API Size operator%(const Size& a, const Size& b);  ///< the remainder; b must be above 0

  /// \cond internal
  explicit Size(detail::NodePtr node) : node_(std::move(node)) {}
  const detail::NodePtr& node() const { return node_; }  // empty: it is a number
  int64_t number() const { return value_; }
  /// \endcond

 private:
  int64_t value_ = 0;
  detail::NodePtr node_;
};

/// A shape: {4, 8}, {x.extent(0), -1}, a vector of int64_t, or one size.
class Sizes {
 public:
  Sizes(std::initializer_list<Size> sizes) : sizes_(sizes) {}  ///< {4, 8}
  /// Array::dims, for example.
  Sizes(const std::vector<int64_t>& sizes) : sizes_(sizes.begin(), sizes.end()) {}  // NOLINT: meant to convert
  /// A list that is made at run time.
  Sizes(std::vector<Size> sizes) : sizes_(std::move(sizes)) {}  // NOLINT: meant to convert
  /// One axis.
  Sizes(const Size& size) : sizes_{size} {}  // NOLINT: meant to convert
  /// One axis.
  template <std::integral T>
  Sizes(T size) : sizes_{Size(size)} {}                      // NOLINT: meant to convert
  const std::vector<Size>& items() const { return sizes_; }  ///< outermost first

 private:
  std::vector<Size> sizes_;
};

/// One axis of an array; negative ones count from the end.
class Axis {
 public:
  /// Its number.
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Axis(T axis)
      : axis_(static_cast<int>(axis)) {}  // NOLINT: meant to convert
  /// Refused: `sum(x, true)` would be the sum along axis 1.
  template <std::same_as<bool> T>
  constexpr Axis(T) {  // NOLINT: meant to be found
    static_assert(detail::kNever<T>,
                  "an axis is an integer, not a bool: keepdims comes behind it, as in sum(x, -1, keepdims)");
  }
  constexpr operator int() const { return axis_; }  ///< the number

 private:
  int axis_ = 0;
};

/// Axes of an array: -1, {0, 1}, or {} for the default of a function (mostly all axes). Negative
/// ones count from the end.
class Axes {
 public:
  Axes() = default;  ///< none named
  /// One axis.
  template <std::integral T>
  Axes(T axis) : axes_{Axis(axis)} {}  // NOLINT: meant to convert
  /// One axis.
  Axes(Axis axis) : axes_{axis} {}                                             // NOLINT: meant to convert
  Axes(std::initializer_list<Axis> axes) : axes_(axes.begin(), axes.end()) {}  ///< {0, 1}
  /// A list that is made at run time.
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}  // NOLINT: meant to convert
  bool given() const { return !axes_.empty(); }            ///< false for {}
  const std::vector<int>& items() const { return axes_; }  ///< as they were given

 private:
  std::vector<int> axes_;
};

/// Whether a reduction keeps its axes, with size 1. Written as the tag `keepdims`, or as a bool.
struct KeepDims {
  bool value = false;              ///< true keeps them
  constexpr KeepDims() = default;  ///< drops them
  /// Integers are refused, since they could be meant as an axis.
  constexpr KeepDims(std::same_as<bool> auto keep) : value(keep) {}  // NOLINT: meant to convert, but not integers
};
/// mean(x, -1, keepdims)
inline constexpr KeepDims keepdims = true;

/// A bound of a slice that is left out.
inline constexpr std::nullopt_t none = std::nullopt;

/// start:stop:step of a subscript.
struct Slice {
  std::optional<Size> start;  ///< none: from the beginning
  std::optional<Size> stop;   ///< none: to the end
  int64_t step = 1;           ///< not 0; negative ones go backwards
};
/// The elements from `start` to before `stop`, every `step`-th; bounds below 0 count from the end.
/// slice(none, none, -1) is the axis backwards.
inline Slice slice(std::optional<Size> start, std::optional<Size> stop, int64_t step = 1) {
  return {std::move(start), std::move(stop), step};
}
/// The whole axis.
inline Slice slice() { return {}; }
/// The elements from `start` on. In Python, slice(n) is the elements before n.
[[deprecated("write slice(start, none), or slice(none, stop)")]] inline Slice slice(std::optional<Size> start) {
  return {std::move(start), {}, 1};
}

/// All axes that a subscript does not name: x[{ellipsis, 0}].
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;  ///< the item itself
/// A new axis of size 1: x[{slice(), newaxis}].
struct NewAxis {};
inline constexpr NewAxis newaxis;  ///< the item itself

/// One item of a subscript.
class SMELT_API Index {
 public:
  /// What it is.
  enum class Kind : uint8_t { Element, Slice, Ellipsis, NewAxis, Array };
  /// An element; below 0 it counts from the end.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T element, Where where = Where::here())  // NOLINT: meant to convert
      : kind_(Kind::Element), slice_{Size(element), {}, 1}, where_(where) {}
  /// An element whose index is a size.
  Index(const Size& element, Where where = Where::here())  // NOLINT: meant to convert
      : kind_(Kind::Element), slice_{element, {}, 1}, where_(where) {}
  /// A slice.
  Index(Slice slice, Where where = Where::here())  // NOLINT: meant to convert
      : kind_(Kind::Slice), slice_(std::move(slice)), where_(where) {}
  /// All axes not named.
  Index(Ellipsis, Where where = Where::here()) : kind_(Kind::Ellipsis), where_(where) {}  // NOLINT: meant to convert
  /// A new axis.
  Index(NewAxis, Where where = Where::here()) : kind_(Kind::NewAxis), where_(where) {}  // NOLINT: meant to convert
  /// An array of integers, as take().
  Index(const Array& indices, Where where = Where::here());  // NOLINT: meant to convert
  Kind kind() const { return kind_; }                        ///< what it is
  const Slice& slice() const { return slice_; }              ///< an element is its start
  /// \cond internal
  const detail::NodePtr& indices() const { return indices_; }
  Where where() const { return where_; }
  /// \endcond

 private:
  Kind kind_;
  Slice slice_;
  detail::NodePtr indices_;
  Where where_;
};

/// The content of the brackets of a subscript: one item, or {0, ellipsis, newaxis, slice(1, -1)}.
class Indices {
 public:
  Indices(std::initializer_list<Index> items) : items_(items) {}  ///< {0, slice(1, -1)}
  /// A list that is made at run time.
  Indices(std::vector<Index> items) : items_(std::move(items)) {}  // NOLINT: meant to convert
  /// One item.
  template <class T>
  requires std::is_convertible_v<const T&, Index> Indices(const T& item, Where where = Where::here())
      : items_{Index(item, where)} {}                         // NOLINT: meant to convert
  const std::vector<Index>& items() const { return items_; }  ///< as they were given

 private:
  std::vector<Index> items_;
};

/// The indices of take(), scatter() and the like: an array of integers, or numbers that are
/// constants of the function, {2, 1, 0}. Integers below 0 count from the end.
class SMELT_API IndexList {
 public:
  /// An array of integers.
  IndexList(const Array& indices);                                                   // NOLINT: meant to convert
  IndexList(std::initializer_list<int64_t> items) : items_(items), listed_(true) {}  ///< {2, 1, 0}
  /// One index, which drops the axis.
  template <std::integral T>
  requires(!std::same_as<T, bool>) IndexList(T index) : index_(index) {}  // NOLINT: meant to convert
  /// One index that is a size.
  IndexList(const Size& index) : index_(index) {}  // NOLINT: meant to convert
  /// \cond internal
  bool listed() const { return listed_; }
  const std::vector<int64_t>& items() const { return items_; }
  const detail::NodePtr& array() const { return array_; }
  const std::optional<Size>& index() const { return index_; }
  /// \endcond

 private:
  std::vector<int64_t> items_;
  bool listed_ = false;
  detail::NodePtr array_;
  std::optional<Size> index_;
};

/// Elements before and after each axis, for pad(): 1 on all sides, {1, 2} before and after every
/// axis, {{0, 0}, {1, 2}} per axis.
class PadWidth {
 public:
  /// The elements around one axis.
  struct Pair {
    Size before;  ///< 0 and more
    Size after;   ///< 0 and more
  };
  /// The same on all sides.
  template <std::integral T>
  PadWidth(T width) : pairs_{{width, width}} {}  // NOLINT: meant to convert
  /// The same on all sides.
  PadWidth(const Size& width) : pairs_{{width, width}} {}                          // NOLINT: meant to convert
  PadWidth(const Size& before, const Size& after) : pairs_{{before, after}} {}     ///< of every axis
  PadWidth(std::initializer_list<Pair> pairs) : per_axis_(true), pairs_(pairs) {}  ///< one for each axis
  /// One pair for each axis.
  PadWidth(std::vector<Pair> pairs) : per_axis_(true), pairs_(std::move(pairs)) {}  // NOLINT: meant to convert
  bool per_axis() const { return per_axis_; }                                       ///< else one pair for all
  const std::vector<Pair>& pairs() const { return pairs_; }                         ///< as they were given

 private:
  bool per_axis_ = false;
  std::vector<Pair> pairs_;
};

}  // namespace smelt
