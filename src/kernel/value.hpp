// Val: an expression of a kernel with C++ operators, so that the expansions of smelt/static/expand/
// can be instantiated on it. The list of what it offers, with its meaning, is in
// smelt/static/expand/algebra.hpp.
#pragma once

#include "base/check.hpp"
#include "kernel/build.hpp"

namespace smelt::kernel {

struct Val {
  Builder* builder;
  ExprId id;

  DType dtype() const { return builder->dtype(id); }
  bool is_f() const { return is_float(dtype()); }
  Val apply(Op op, std::vector<ExprId> args) const { return {builder, builder->apply(op, std::move(args))}; }
  Val raw(RawOp op, DType dtype, std::vector<ExprId> args) const {
    return {builder, builder->raw(op, dtype, std::move(args))};
  }

  friend Val operator+(Val a, Val b) { return a.apply(Op::Add, {a.id, b.id}); }
  friend Val operator-(Val a, Val b) { return a.apply(Op::Sub, {a.id, b.id}); }
  friend Val operator*(Val a, Val b) { return a.apply(Op::Mul, {a.id, b.id}); }
  friend Val operator/(Val a, Val b) {
    return a.is_f() ? a.apply(Op::Div, {a.id, b.id}) : a.raw(RawOp::TruncDiv, a.dtype(), {a.id, b.id});
  }
  friend Val operator%(Val a, Val b) { return a.raw(RawOp::TruncRem, a.dtype(), {a.id, b.id}); }
  friend Val operator-(Val a) { return a.apply(Op::Neg, {a.id}); }
  friend Val operator&(Val a, Val b) { return a.apply(Op::And, {a.id, b.id}); }
  friend Val operator|(Val a, Val b) { return a.apply(Op::Or, {a.id, b.id}); }
  friend Val operator^(Val a, Val b) { return a.apply(Op::Xor, {a.id, b.id}); }
  friend Val operator~(Val a) { return a.apply(Op::Not, {a.id}); }
  friend Val operator!(Val a) { return a.apply(Op::Not, {a.id}); }
  friend Val operator<<(Val a, Val b) { return a.raw(RawOp::Shl, a.dtype(), {a.id, b.id}); }
  friend Val operator>>(Val a, Val b) { return a.raw(RawOp::Shr, a.dtype(), {a.id, b.id}); }
  friend Val operator==(Val a, Val b) { return a.apply(Op::Eq, {a.id, b.id}); }
  friend Val operator!=(Val a, Val b) { return a.apply(Op::Ne, {a.id, b.id}); }
  friend Val operator<(Val a, Val b) { return a.apply(Op::Lt, {a.id, b.id}); }
  friend Val operator<=(Val a, Val b) { return a.apply(Op::Le, {a.id, b.id}); }
  friend Val operator>(Val a, Val b) { return a.apply(Op::Gt, {a.id, b.id}); }
  friend Val operator>=(Val a, Val b) { return a.apply(Op::Ge, {a.id, b.id}); }
};

template <class N>
Val like(Val x, N n) {
  const DType t = x.dtype();
  Scalar s = is_float(t)          ? Scalar::of_float(t, static_cast<double>(n))
             : is_unsigned_int(t) ? Scalar::of_uint(t, static_cast<uint64_t>(n))
                                  : Scalar::of_int(t, static_cast<int64_t>(n));
  return {x.builder, x.builder->constant(s)};
}

inline Val fma(Val a, Val b, Val c) { return a.apply(Op::Fma, {a.id, b.id, c.id}); }
inline Val sqrt(Val a) { return a.apply(Op::Sqrt, {a.id}); }
inline Val abs(Val a) { return a.apply(Op::Abs, {a.id}); }
inline Val floor(Val a) { return a.apply(Op::Floor, {a.id}); }
inline Val trunc(Val a) { return a.apply(Op::Trunc, {a.id}); }
inline Val rint(Val a) { return a.apply(Op::Round, {a.id}); }
inline Val copysign(Val a, Val b) { return a.apply(Op::Copysign, {a.id, b.id}); }
inline Val select(Val c, Val a, Val b) { return c.apply(Op::Where, {c.id, a.id, b.id}); }

inline Val cast(Val a, DType to) { return {a.builder, a.builder->cast(a.id, to)}; }
inline Val bitcast(Val a, DType to) { return {a.builder, a.builder->bitcast(a.id, to)}; }
// What smelt/static/unit.hpp offers.
inline Val power_of_two(Val a) { return a.raw(RawOp::PowerOfTwo, DType::F32, {a.id}); }
inline Val power_of_two_full(Val a) { return a.raw(RawOp::PowerOfTwoFull, DType::F32, {a.id}); }
inline Val reciprocal(Val a) { return a.raw(RawOp::Reciprocal, DType::F32, {a.id}); }
inline Val quotient(Val a, Val b) { return a.raw(RawOp::Quotient, DType::F32, {a.id, b.id}); }
inline Val inverse_root(Val a) { return a.raw(RawOp::InverseRoot, DType::F32, {a.id}); }
inline Val root(Val a) { return a.raw(RawOp::Root, DType::F32, {a.id}); }
inline Val sine(Val a) { return a.raw(RawOp::Sine, a.dtype(), {a.id}); }
inline Val cosine(Val a) { return a.raw(RawOp::Cosine, a.dtype(), {a.id}); }
inline Val tangent(Val a) { return a.raw(RawOp::Tangent, a.dtype(), {a.id}); }
inline Val truncated_remainder(Val a, Val b) { return a.raw(RawOp::TruncatedRemainder, DType::F32, {a.id, b.id}); }
inline Val floored_remainder(Val a, Val b) { return a.raw(RawOp::FlooredRemainder, DType::F32, {a.id, b.id}); }
inline Val floored_quotient(Val a, Val b) { return a.raw(RawOp::FlooredQuotient, DType::F32, {a.id, b.id}); }
inline Val saturated_fma(Val a, Val b, Val c) { return a.raw(RawOp::SaturatedFma, DType::F32, {a.id, b.id, c.id}); }
inline Val at_most(Val a, double limit) {
  const Val c = like(a, limit);
  if (a.builder->on_gpu() && a.dtype() == DType::F32) return a.apply(Op::Min, {a.id, c.id});
  return select(a > c, c, a);
}
inline Val at_least(Val a, double limit) {
  const Val c = like(a, limit);
  if (a.builder->on_gpu() && a.dtype() == DType::F32) return a.apply(Op::Max, {a.id, c.id});
  return select(a < c, c, a);
}

inline DType signed_of_width(DType t) {
  switch (size_of(t)) {
    case 1: return DType::I8;
    case 2: return DType::I16;
    case 4: return DType::I32;
    default: return DType::I64;
  }
}
inline DType unsigned_of_width(DType t) {
  switch (size_of(t)) {
    case 1: return DType::U8;
    case 2: return DType::U16;
    case 4: return DType::U32;
    default: return DType::U64;
  }
}
inline DType float_of_width(DType t) { return size_of(t) == 8 ? DType::F64 : DType::F32; }
inline Val bits(Val a) { return bitcast(a, signed_of_width(a.dtype())); }
inline Val from_bits(Val a) { return bitcast(a, float_of_width(a.dtype())); }
inline Val to_int(Val a) { return a.raw(RawOp::ToInt, signed_of_width(a.dtype()), {a.id}); }
inline Val to_float(Val a) { return cast(a, float_of_width(a.dtype())); }
inline Val as_unsigned(Val a) { return bitcast(a, unsigned_of_width(a.dtype())); }
inline Val as_signed(Val a) { return bitcast(a, signed_of_width(a.dtype())); }
inline Val widen(Val a) { return cast(a, DType::F64); }
inline Val narrow(Val a) { return cast(a, DType::F32); }
inline bool is_signed(Val a) { return is_signed_int(a.dtype()); }
inline int width(Val a) { return 8 * size_of(a.dtype()); }

template <class On32, class On64>
auto by_width(Val x, On32 on32, On64 on64) {
  return size_of(x.dtype()) == 8 ? on64(x) : on32(x);
}

}  // namespace smelt::kernel
