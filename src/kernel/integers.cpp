#include "kernel/integers.hpp"

#include <algorithm>

#include "kernel/conditions.hpp"
#include "kernel/value.hpp"
#include "ops/op.hpp"

namespace smelt::kernel {

namespace {

bool is_wide(DType t) { return is_int(t) && size_of(t) == 8; }
bool is_comparison(Op op) { return info(op).rule == TypeRule::Compare; }

// Whether the low bits of the result follow from those of the operands.
bool is_modular(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Square:
    case Op::Neg:
    case Op::And:
    case Op::Or:
    case Op::Xor:
    case Op::Not: return true;
    default: return false;
  }
}

// Whether it means the same in fewer bits, where those hold the operands and the result.
bool is_exact(Op op) {
  switch (op) {
    case Op::Where:
    case Op::Max:
    case Op::Min:
    case Op::Abs:
    case Op::Sign:
    case Op::FloorDiv:
    case Op::Mod:
    case Op::ShiftLeft:
    case Op::ShiftRight: return true;
    default: return is_comparison(op);
  }
}

}  // namespace

ExprId Integers::computed(ExprId id) {
  const auto* cast = builder_.at(id).get_if<Cast>();
  if (!cast || !is_wide(builder_.dtype(id))) return id;
  const ExprId x = cast->x;
  const DType from = builder_.dtype(x);
  const bool is_narrow = is_bool(from) || (is_int(from) && size_of(from) < 8);
  return is_narrow && ranges_.of(x).within(all_of(builder_.dtype(id))) ? x : id;
}

bool Integers::fits(ExprId id) { return ranges_.of(id).within(all_of(DType::I32)); }

ExprId Integers::narrowed(ExprId id) { return builder_.cast(computed(id), DType::I32, true); }

ExprId Integers::apply(Op op, std::vector<ExprId> args) {
  const DType t = builder_.dtype(args.back());
  if (!is_int(t)) return builder_.apply(op, std::move(args));
  // Masks are found by the indices that they compare.
  const auto is_index = [&](ExprId id) { return index_of(builder_.kernel(), id).has_value(); };
  const bool compares = is_comparison(op);
  if (compares && is_index(args[0]) && is_index(args[1])) return builder_.apply(op, std::move(args));
  const auto values = args.begin() + (op == Op::Where ? 1 : 0);
  const bool all_fit = std::all_of(values, args.end(), [&](ExprId id) { return fits(id); });
  // On GPUs choices of 32 bits are spelled in a way that hides from the compiler what it knows of
  // them.
  const bool is_hidden = builder_.on_gpu() && (op == Op::Where || op == Op::Max || op == Op::Min);
  if (!is_wide(t) || is_hidden || (!is_modular(op) && !(is_exact(op) && all_fit))) return made(op, args);
  const ExprId wide = made(op, args);
  if (builder_.constant_at(wide) || (!compares && !fits(wide))) return wide;
  std::transform(values, args.end(), values, [&](ExprId id) { return narrowed(id); });
  const ExprId narrow = made(op, args);
  return compares ? narrow : builder_.cast(narrow, t, true);
}

// The operation in the type that its operands have.
ExprId Integers::made(Op op, const std::vector<ExprId>& args) {
  if (is_comparison(op)) {
    const ExprId whole = builder_.apply(op, args);
    const Between known = ranges_.of(whole);
    return known.low == known.high ? builder_.constant(Scalar::of_bool(known.low > 0)) : whole;
  }
  switch (op) {
    case Op::Max:
    case Op::Min: return extreme(op, args);
    case Op::Abs: return ranges_.of(args[0]).low >= 0 ? args[0] : builder_.apply(op, args);
    case Op::ShiftLeft:
    case Op::ShiftRight: return shifted(op, args);
    case Op::FloorDiv:
    case Op::Mod: {
      const Between known = ranges_.of_division(op, args[0], args[1]);
      const ExprId result = divided(op, args);
      if (known.within(ranges_.of(result))) ranges_.know(result, known);
      return result;
    }
    default: return builder_.apply(op, args);
  }
}

ExprId Integers::extreme(Op op, const std::vector<ExprId>& args) {
  for (size_t n = 0; n < 2; ++n) {
    const Between own = ranges_.of(args[n]), other = ranges_.of(args[1 - n]);
    if (op == Op::Max ? own.low >= other.high : own.high <= other.low) return args[n];
  }
  return builder_.apply(op, args);
}

ExprId Integers::shifted(Op op, const std::vector<ExprId>& args) {
  const DType t = builder_.dtype(args[0]);
  const Between count = ranges_.of(args[1]);
  if (count.low < 0 || count.high >= 8 * size_of(t)) return builder_.apply(op, args);
  return builder_.raw(op == Op::ShiftLeft ? RawOp::Shl : RawOp::Shr, t, args);
}

// By a positive constant. Of an a below 0 the quotient is ~(~a / c), which is rounded down since ~a
// is a natural number.
ExprId Integers::divided(Op op, const std::vector<ExprId>& args) {
  const Val a{&builder_, args[0]};
  const Scalar* divides_by = builder_.constant_at(args[1]);
  if (!is_signed(a) || !divides_by || divides_by->i <= 0 || builder_.constant_at(a.id)) return builder_.apply(op, args);
  const int64_t c = divides_by->i;
  const bool natural = ranges_.of(a.id).low >= 0;
  if (!natural && width(a) < 32) return builder_.apply(op, args);
  const DType t = a.dtype(), naturals = unsigned_of_width(t);
  const Val divisor{&builder_, builder_.constant(Scalar::of_uint(naturals, static_cast<uint64_t>(c)))};
  const auto of_type = [&](Val x, DType to) { return Val{&builder_, builder_.cast(x.id, to, true)}; };
  if (natural) {
    const Val x = of_type(a, naturals);
    return of_type(op == Op::FloorDiv ? x / divisor : x % divisor, t).id;
  }
  const Val sign = a >> like(a, width(a) - 1);
  const Val quotient = sign ^ of_type(of_type(a ^ sign, naturals) / divisor, t);
  return op == Op::FloorDiv ? quotient.id : (a - quotient * like(a, c)).id;
}

ExprId Integers::cast(ExprId x, DType to, bool wrap) {
  const DType from = builder_.dtype(x);
  if (is_float(from) && is_wide(to) && !wrap) {
    const Between known = truncated(ranges_.of_float(x));
    if (!known.within(all_of(DType::I32)) || !known.within(all_of(to))) return builder_.cast(x, to);
    const ExprId narrow = builder_.cast(x, DType::I32);
    ranges_.know(narrow, known);
    return builder_.cast(narrow, to, true);
  }
  if (!is_int(from)) return builder_.cast(x, to, wrap);
  const ExprId narrow = computed(x);
  if (is_bool(to)) return builder_.cast(narrow, to, wrap);
  if (is_int(to)) {
    const bool stays = ranges_.of(x).within(all_of(to));
    return builder_.cast(narrow, to, wrap || stays);
  }
  if (!is_small_float(to) || is_f8(to)) return builder_.cast(narrow, to, wrap);
  // Whole numbers that the format has need no rounding; of those that an f32 has, one is left.
  const double own = to == DType::F16 ? 1 << 11 : 1 << 8, of_f32 = 1 << 24;
  const Between known = ranges_.of(x);
  if (!known.within({-of_f32, of_f32})) return builder_.cast(narrow, to, wrap);
  const ExprId exact = builder_.cast(narrow, DType::F32);
  return known.within({-own, own}) ? exact : builder_.cast(exact, to);
}

}  // namespace smelt::kernel
