/// \file
/// What stands in shapes, axes and subscripts: sizes that may not be known yet, axes, slices.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "smelt/export.hpp"

namespace smelt {

class Array;

namespace detail {
struct ArrayNode;
using NodePtr = std::shared_ptr<ArrayNode>;
// Weak numbers.
SMELT_API NodePtr bool_literal(bool number);
SMELT_API NodePtr int_literal(int64_t number);
SMELT_API NodePtr uint_literal(uint64_t number);
SMELT_API NodePtr float_literal(double number);
}  // namespace detail

/// A size: an integer, or the size of an array that a function is compiled for without knowing it (Array::extent). Sums,
/// differences, products, quotients and remainders of sizes are sizes.
class SMELT_API Size {
 public:
  /// A number.
  template <std::integral T>
  Size(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: meant to convert
  /// The number. Inside of a function that is compiled for many sizes it may be unknown; then the function is compiled for the sizes
  /// at hand instead.
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

/// Axes of an array: -1, {0, 1}, or {} for what a function does without (mostly all axes). Negative ones count from the end.
class Axes {
 public:
  Axes() = default;  ///< none named
  /// One axis.
  Axes(int axis) : given_(true), axes_{axis} {}                                    // NOLINT: meant to convert
  Axes(std::initializer_list<int> axes) : given_(axes.size() > 0), axes_(axes) {}  ///< {0, 1}
  /// A list that is made at run time.
  Axes(std::vector<int> axes) : given_(true), axes_(std::move(axes)) {}  // NOLINT: meant to convert
  bool given() const { return given_; }                                  ///< false for {}
  const std::vector<int>& items() const { return axes_; }                ///< as they were given

 private:
  bool given_ = false;
  std::vector<int> axes_;
};

/// Whether a reduction keeps its axes, with size 1. Written as the tag `keepdims`, or as a bool.
struct KeepDims {
  bool value = false;              ///< true keeps them
  constexpr KeepDims() = default;  ///< drops them
  /// No integer, which would be taken for something else.
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
/// The elements from `start` to before `stop`, every `step`-th; bounds below 0 count from the end. slice() is the whole axis, slice(none,
/// none, -1) the axis backwards.
inline Slice slice(std::optional<Size> start = none, std::optional<Size> stop = none, int64_t step = 1) {
  return {std::move(start), std::move(stop), step};
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
  Index(T element) : kind_(Kind::Element), slice_{Size(element), {}, 1} {}  // NOLINT: meant to convert
  /// An element whose place is a size.
  Index(const Size& element) : kind_(Kind::Element), slice_{element, {}, 1} {}  // NOLINT: meant to convert
  /// A slice.
  Index(Slice slice) : kind_(Kind::Slice), slice_(std::move(slice)) {}  // NOLINT: meant to convert
  /// All axes not named.
  Index(Ellipsis) : kind_(Kind::Ellipsis) {}  // NOLINT: meant to convert
  /// A new axis.
  Index(NewAxis) : kind_(Kind::NewAxis) {}  // NOLINT: meant to convert
  /// An array of integers, as take().
  Index(const Array& indices);                   // NOLINT: meant to convert
  Kind kind() const { return kind_; }            ///< what it is
  const Slice& slice() const { return slice_; }  ///< an element is its start
  /// \cond internal
  const detail::NodePtr& indices() const { return indices_; }
  /// \endcond

 private:
  Kind kind_;
  Slice slice_;
  detail::NodePtr indices_;
};

/// Elements before and after each axis, for pad(): 1 on all sides, {1, 2} before and after every axis, {{0, 0}, {1, 2}} per axis.
class PadWidth {
 public:
  /// Of one axis.
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
