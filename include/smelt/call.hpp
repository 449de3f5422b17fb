/// \file
/// How the functions of smelt/functions.hpp call the one implementation that they share with the
/// expression language.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smelt/array.hpp"
#include "smelt/choices.hpp"

namespace smelt::detail {

// An argument of a function of the expression language.
struct SMELT_API Argument {
  enum class Kind : uint8_t { None, Node, Integer, Number, Flag, Type, Text, Tuple, Slice, Ellipsis };
  Kind kind = Kind::None;
  NodePtr node;
  int64_t integer = 0;
  double number = 0;
  DType type{};
  std::string text;
  std::vector<Argument> items;  // of a tuple; start, stop and step of a slice

  Argument() = default;
  Argument(const Array& array) : kind(array.defined() ? Kind::Node : Kind::None), node(array.node()) {}
  Argument(const Size& size)
      : kind(size.node() ? Kind::Node : Kind::Integer), node(size.node()), integer(size.number()) {}
  Argument(const Sizes& sizes) : Argument(tuple(sizes.items())) {}
  Argument(const Axes& axes);
  Argument(Axis axis) : kind(Kind::Integer), integer(axis) {}
  Argument(Approximate approximate);
  Argument(Reduction reduction);
  Argument(OutOfRange mode);
  Argument(PadMode mode);
  Argument(Precision precision);
  Argument(KeepDims keep) : kind(Kind::Flag), integer(keep.value) {}
  Argument(std::same_as<bool> auto flag) : kind(Kind::Flag), integer(flag) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Argument(T value)
      : kind(std::same_as<T, bool> ? Kind::Flag : Kind::Integer), integer(value) {}
  Argument(double value) : kind(Kind::Number), number(value) {}
  Argument(DType value) : kind(Kind::Type), type(value) {}
  Argument(std::string_view value) : kind(Kind::Text), text(value) {}
  Argument(const std::vector<Array>& arrays) : Argument(tuple(arrays)) {}
  Argument(const PadWidth& width);
  Argument(const Index& index);
  Argument(const IndexList& list);
  Argument(const Indices& indices) : Argument(tuple(indices.items())) {}
  template <class T>
  Argument(const std::optional<T>& value) : Argument(value ? Argument(*value) : Argument()) {}

  template <class Range>
  static Argument tuple(const Range& items) {
    Argument tuple;
    tuple.kind = Kind::Tuple;
    for (const auto& item : items) tuple.items.emplace_back(item);
    return tuple;
  }
};

// The function of the language by this name (of static storage), on arguments by position; trailing
// ones may be left out.
SMELT_API Array call(std::string_view function, std::vector<Argument> arguments, Where where);

}  // namespace smelt::detail
