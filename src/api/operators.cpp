// Operators, subscripts and sizes as steps of an expression.
#include <fmt/format.h>

#include "api/node.hpp"
#include "base/check.hpp"
#include "smelt/array.hpp"

namespace smelt {

using detail::Argument;
using detail::Expression;

namespace {

Array apply(Op op, std::string_view written, const std::vector<Array>& arguments, const std::optional<Where>& where) {
  Expression e{Expression::Kind::Operator};
  e.op = op;
  e.written = written;
  for (const Array& array : arguments) {
    detail::node_of(array, written, where);
    e.arguments.emplace_back(array);
  }
  e.where = where;
  return make(std::move(e));
}

Array apply(Op op, std::string_view written, const Located& a, const Located& b) {
  return apply(op, written, {a.array(), b.array()}, b.where());
}

Array apply(Op op, std::string_view written, const Located& a) { return apply(op, written, {a.array()}, a.where()); }

const Located& truth(const Located& a, std::string_view written) {
  if (a.array().dtype() != DType::Bool)
    throw UserError(fmt::format("{} takes bools, not {}{}\nhelp: compare first, as in x != 0", written, a.array().str(),
                                detail::place_text(a.where())));
  return a;
}

Array extent_of(const Array& x, int axis, Where where) {
  Expression e{Expression::Kind::Extent};
  e.written = "extent";
  e.index = axis;
  e.arguments = {x};
  e.where = where;
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
  const Array result = apply(op, written, {Array(a), Array(b)}, std::nullopt);
  const auto kind = result.node()->type.kind;
  if (kind == detail::Type::Kind::Literal || kind == detail::Type::Kind::Size) return size_from(result);
  // The language keeps no quotient by what may be 0 as a size.
  throw detail::SizeUnknown(fmt::format("{} {} {} needs to know its sizes", Array(a).str(), written, Array(b).str()));
}

}  // namespace

Array operator+(const Located& a, const Located& b) { return apply(Op::Add, "+", a, b); }
Array operator-(const Located& a, const Located& b) { return apply(Op::Sub, "-", a, b); }
Array operator*(const Located& a, const Located& b) { return apply(Op::Mul, "*", a, b); }
Array operator/(const Located& a, const Located& b) { return apply(Op::Div, "/", a, b); }
Array operator%(const Located& a, const Located& b) { return apply(Op::Mod, "%", a, b); }
Array operator-(const Located& a) { return apply(Op::Neg, "-", a); }
Array operator~(const Located& a) { return apply(Op::Not, "~", a); }
Array operator!(const Located& a) { return apply(Op::Not, "!", truth(a, "!")); }
Array operator&(const Located& a, const Located& b) { return apply(Op::And, "&", a, b); }
Array operator|(const Located& a, const Located& b) { return apply(Op::Or, "|", a, b); }
Array operator^(const Located& a, const Located& b) { return apply(Op::Xor, "^", a, b); }
Array operator&&(const Located& a, const Located& b) { return apply(Op::And, "&&", truth(a, "&&"), truth(b, "&&")); }
Array operator||(const Located& a, const Located& b) { return apply(Op::Or, "||", truth(a, "||"), truth(b, "||")); }
Array operator<<(const Located& a, const Located& b) { return apply(Op::ShiftLeft, "<<", a, b); }
Array operator>>(const Located& a, const Located& b) { return apply(Op::ShiftRight, ">>", a, b); }
Array operator==(const Located& a, const Located& b) { return apply(Op::Eq, "==", a, b); }
Array operator!=(const Located& a, const Located& b) { return apply(Op::Ne, "!=", a, b); }
Array operator<(const Located& a, const Located& b) { return apply(Op::Lt, "<", a, b); }
Array operator<=(const Located& a, const Located& b) { return apply(Op::Le, "<=", a, b); }
Array operator>(const Located& a, const Located& b) { return apply(Op::Gt, ">", a, b); }
Array operator>=(const Located& a, const Located& b) { return apply(Op::Ge, ">=", a, b); }

Array operator+(const Located& a) {
  if (a.array().dtype() == DType::Bool)
    throw UserError(fmt::format("+ takes numbers, not bools{}\nhelp: cast them: astype(x, DType::I32)",
                                detail::place_text(a.where())));
  return a.array();
}

Array& Array::operator+=(const Located& b) & { return *this = apply(Op::Add, "+", {*this, b.array()}, b.where()); }
Array& Array::operator-=(const Located& b) & { return *this = apply(Op::Sub, "-", {*this, b.array()}, b.where()); }
Array& Array::operator*=(const Located& b) & { return *this = apply(Op::Mul, "*", {*this, b.array()}, b.where()); }
Array& Array::operator/=(const Located& b) & { return *this = apply(Op::Div, "/", {*this, b.array()}, b.where()); }

Array Array::operator[](const Indices& index) const {
  Expression e{Expression::Kind::Subscript};
  e.written = "[]";
  if (!index.items().empty()) e.where = index.items().front().where();
  detail::node_of(*this, "[]", e.where);
  e.arguments = {*this, Argument(index)};
  return make(std::move(e));
}

Array Array::T(Where where) const { return detail::call("transpose", {*this}, where); }
Array Array::mT(Where where) const { return detail::call("swapaxes", {*this, -2, -1}, where); }

Index::Index(const smelt::Array& indices, Where where)
    : kind_(Kind::Array), indices_(detail::node_of(indices, "[]", where)), where_(where) {}

IndexList::IndexList(const smelt::Array& indices) : array_(indices.node()) {}

// ---- sizes

Array::Array(const Size& size) : node_(size.node() ? size.node() : detail::int_literal(size.number())) {}

Size Array::extent(Axis axis, Where where) const {
  const auto& sizes = detail::node_of(*this, "extent()", where)->type.shape;
  const int rank = static_cast<int>(sizes.size()), named = axis, at = named < 0 ? named + rank : named;
  if (at >= 0 && at < rank)
    if (const auto known = sizes[static_cast<size_t>(at)].constant()) return Size(*known);
  return size_from(extent_of(*this, axis, where));
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
