// Operators, subscripts and sizes as steps of an expression.
#include <fmt/format.h>

#include "api/node.hpp"
#include "base/check.hpp"
#include "smelt/array.hpp"

namespace smelt {

using detail::Argument;
using detail::Expression;

namespace {

Array apply(Op op, std::string_view written, const Array& a, const Array& b) {
  detail::node_of(a, written), detail::node_of(b, written);
  Expression e{Expression::Kind::Operator};
  e.op = op;
  e.written = written;
  e.arguments = {a, b};
  return make(std::move(e));
}

Array apply(Op op, std::string_view written, const Array& a) {
  detail::node_of(a, written);
  Expression e{Expression::Kind::Operator};
  e.op = op;
  e.written = written;
  e.arguments = {a};
  return make(std::move(e));
}

const Array& truth(const Array& a, std::string_view written) {
  if (a.dtype() != DType::Bool)
    throw UserError(fmt::format("{} takes bools, not {}\nhelp: compare first, as in x != 0", written, a.str()));
  return a;
}

Array subscript(const Array& x, std::vector<Argument> items) {
  detail::node_of(x, "[]");
  Expression e{Expression::Kind::Subscript};
  e.written = "[]";
  e.arguments = {x, Argument::tuple(items)};
  return make(std::move(e));
}

Array extent_of(const Array& x, int axis) {
  Expression e{Expression::Kind::Extent};
  e.written = "extent";
  e.index = axis;
  e.arguments = {x};
  return make(std::move(e));
}

Size size_from(const Array& value) {
  const detail::Type& type = value.node()->type;
  if (type.kind == detail::Type::Kind::Literal)
    if (const auto* i = std::get_if<int64_t>(&type.literal)) return Size(*i);
  SMELT_CHECK(type.kind == detail::Type::Kind::Size, "a size that is {}", value.str());
  return Size(value.node());
}

Size size_step(Op op, std::string_view written, const Size& a, const Size& b) {
  const Array result = apply(op, written, Array(a), Array(b));
  const auto kind = result.node()->type.kind;
  if (kind == detail::Type::Kind::Literal || kind == detail::Type::Kind::Size) return size_from(result);
  // The language keeps no quotient by what may be 0 as a size.
  throw detail::SizeUnknown(fmt::format("{} {} {} needs to know its sizes", Array(a).str(), written, Array(b).str()));
}

}  // namespace

Array operator+(const Array& a, const Array& b) { return apply(Op::Add, "+", a, b); }
Array operator-(const Array& a, const Array& b) { return apply(Op::Sub, "-", a, b); }
Array operator*(const Array& a, const Array& b) { return apply(Op::Mul, "*", a, b); }
Array operator/(const Array& a, const Array& b) { return apply(Op::Div, "/", a, b); }
Array operator%(const Array& a, const Array& b) { return apply(Op::Mod, "%", a, b); }
Array operator-(const Array& a) { return apply(Op::Neg, "-", a); }
Array operator~(const Array& a) { return apply(Op::Not, "~", a); }
Array operator!(const Array& a) { return apply(Op::Not, "!", truth(a, "!")); }
Array operator&(const Array& a, const Array& b) { return apply(Op::And, "&", a, b); }
Array operator|(const Array& a, const Array& b) { return apply(Op::Or, "|", a, b); }
Array operator^(const Array& a, const Array& b) { return apply(Op::Xor, "^", a, b); }
Array operator&&(const Array& a, const Array& b) { return apply(Op::And, "&&", truth(a, "&&"), truth(b, "&&")); }
Array operator||(const Array& a, const Array& b) { return apply(Op::Or, "||", truth(a, "||"), truth(b, "||")); }
Array operator<<(const Array& a, const Array& b) { return apply(Op::ShiftLeft, "<<", a, b); }
Array operator>>(const Array& a, const Array& b) { return apply(Op::ShiftRight, ">>", a, b); }
Array operator==(const Array& a, const Array& b) { return apply(Op::Eq, "==", a, b); }
Array operator!=(const Array& a, const Array& b) { return apply(Op::Ne, "!=", a, b); }
Array operator<(const Array& a, const Array& b) { return apply(Op::Lt, "<", a, b); }
Array operator<=(const Array& a, const Array& b) { return apply(Op::Le, "<=", a, b); }
Array operator>(const Array& a, const Array& b) { return apply(Op::Gt, ">", a, b); }
Array operator>=(const Array& a, const Array& b) { return apply(Op::Ge, ">=", a, b); }

Array operator+(const Array& a) {
  if (a.dtype() == DType::Bool) throw UserError("+ takes numbers, not bools\nhelp: cast them: astype(x, DType::I32)");
  return a;
}

Array& Array::operator+=(const Array& b) { return *this = *this + b; }
Array& Array::operator-=(const Array& b) { return *this = *this - b; }
Array& Array::operator*=(const Array& b) { return *this = *this * b; }
Array& Array::operator/=(const Array& b) { return *this = *this / b; }

Array Array::operator[](const Index& index) const { return subscript(*this, {Argument(index)}); }
Array Array::operator[](std::initializer_list<Index> index) const {
  std::vector<Argument> items;
  for (const Index& item : index) items.emplace_back(item);
  return subscript(*this, std::move(items));
}

Array Array::T() const { return detail::call("transpose", {*this}); }
Array Array::mT() const { return detail::call("swapaxes", {*this, -2, -1}); }

Index::Index(const smelt::Array& indices) : kind_(Kind::Array), indices_(detail::node_of(indices, "[]")) {}

// ---- sizes

Array::Array(const Size& size) : node_(size.node() ? size.node() : detail::int_literal(size.number())) {}

Size Array::extent(int axis) const {
  const auto& shape = detail::node_of(*this, "extent()")->type.shape;
  const int rank = static_cast<int>(shape.size()), at = axis < 0 ? axis + rank : axis;
  if (at >= 0 && at < rank)
    if (const auto known = shape[static_cast<size_t>(at)].constant()) return Size(*known);
  return size_from(extent_of(*this, axis));
}

int64_t Size::value() const {
  if (!node_) return value_;
  throw detail::SizeUnknown(fmt::format("the size {} is asked for, and is open", node_->type.size.str()));
}

Size operator+(const Size& a, const Size& b) { return size_step(Op::Add, "+", a, b); }
Size operator-(const Size& a, const Size& b) { return size_step(Op::Sub, "-", a, b); }
Size operator*(const Size& a, const Size& b) { return size_step(Op::Mul, "*", a, b); }
Size operator/(const Size& a, const Size& b) { return size_step(Op::FloorDiv, "//", a, b); }
Size operator%(const Size& a, const Size& b) { return size_step(Op::Mod, "%", a, b); }

}  // namespace smelt
