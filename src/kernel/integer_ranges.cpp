#include "kernel/integer_ranges.hpp"

#include <algorithm>
#include <cmath>

namespace smelt::kernel {

namespace {

constexpr int kDeepest = 12;

Between joined(const Between& a, const Between& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Between product(const Between& a, const Between& b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

double largest(const Between& a) { return std::max(std::fabs(a.low), std::fabs(a.high)); }

// The least 2^n - 1 of at least v.
double ones(double v) {
  double power = 1;
  while (power <= v) power *= 2;
  return power - 1;
}

// By what a shift multiplies; 0 where that is not one number.
double shift_factor(const Between& b, DType t) {
  return b.low == b.high && b.low >= 0 && b.low < 8 * size_of(t) ? std::exp2(b.low) : 0;
}

Between compared(Op op, const Between& a, const Between& b, const Between& all) {
  const auto decided = [&](bool is_true, bool is_false) {
    return is_true ? Between{1, 1} : is_false ? Between{0, 0} : all;
  };
  const bool apart = a.high < b.low || b.high < a.low, same = a.low == a.high && b.low == b.high && a.low == b.low;
  switch (op) {
    case Op::Eq: return decided(same, apart);
    case Op::Ne: return decided(apart, same);
    case Op::Lt: return decided(a.high < b.low, a.low >= b.high);
    case Op::Le: return decided(a.high <= b.low, a.low > b.high);
    case Op::Gt: return decided(a.low > b.high, a.high <= b.low);
    case Op::Ge: return decided(a.low >= b.high, a.high < b.low);
    default: return all;
  }
}

constexpr Between kAnyFloat{-INFINITY, INFINITY};

// The same after the result was rounded to a float of this type.
Between rounded(const Between& exact, DType t) {
  const double most = t == DType::F64 ? 1e300 : is_small_float(t) ? 4e2 : 1e38;
  const double error = t == DType::F64 ? 0x1p-50 : is_small_float(t) ? 0x1p-2 : 0x1p-22;
  if (!(exact.low >= -most && exact.high <= most)) return kAnyFloat;
  return {exact.low - std::fabs(exact.low) * error, exact.high + std::fabs(exact.high) * error};
}

bool is_finite(const Between& a) { return std::isfinite(a.low) && std::isfinite(a.high); }

}  // namespace

Between quotient(const Between& a, const Between& b) {
  if (b.low == b.high && b.low > 0) return {std::floor(a.low / b.low), std::floor(a.high / b.low)};
  return {-largest(a), largest(a)};
}

Between remainder(const Between& a, const Between& b) {
  if (a.low >= 0 && a.high < b.low) return a;
  const auto below = [](double v) { return v > 0 ? v - 1 : 0; };
  return {-below(-b.low), below(b.high)};
}

Between truncated(const Between& of_float) {
  return {std::min(0.0, std::trunc(of_float.low)), std::max(0.0, std::trunc(of_float.high))};
}

Between all_of(DType t) {
  if (is_bool(t)) return {0, 1};
  return {static_cast<double>(min_int(t)), static_cast<double>(max_int(t))};
}

Between IntegerRanges::of(ExprId id, int depth) {
  if (const auto found = known_.find(id); found != known_.end()) return found->second;
  const Expr& e = kernel_->at(id);
  const Between all = all_of(e.dtype);
  if (const auto* constant = e.get_if<Const>()) {
    const double value = constant->value.as_double();
    return {value, value};
  }
  if (depth == kDeepest) return all;
  Between found = all;
  if (const auto* cast = e.get_if<Cast>()) {
    found = is_float(kernel_->at(cast->x).dtype) ? truncated(of_float(cast->x, depth + 1)) : of(cast->x, depth + 1);
    if (!cast->wrap) found = {std::clamp(found.low, all.low, all.high), std::clamp(found.high, all.low, all.high)};
  } else if (const auto* apply = e.get_if<Apply>()) {
    found = of(*apply, all, depth + 1);
  } else if (const auto* raw = e.get_if<Raw>()) {
    found = of(*raw, all, depth + 1);
  }
  return known_[id] = found.within(all) ? found : all;
}

Between IntegerRanges::of(const Apply& e, const Between& all, int depth) {
  const DType t = kernel_->at(e.args.back()).dtype;
  if (is_float(t)) return all;
  const auto arg = [&](size_t n) { return of(e.args[n], depth); };
  switch (e.op) {
    case Op::Add: return {arg(0).low + arg(1).low, arg(0).high + arg(1).high};
    case Op::Sub: return {arg(0).low - arg(1).high, arg(0).high - arg(1).low};
    case Op::Mul: return product(arg(0), arg(1));
    case Op::Square: return {0, largest(arg(0)) * largest(arg(0))};
    case Op::Neg: return {-arg(0).high, -arg(0).low};
    case Op::Abs: return {arg(0).low > 0 ? arg(0).low : 0, largest(arg(0))};
    case Op::Sign: return {-1, 1};
    case Op::Where: return joined(arg(1), arg(2));
    case Op::Max: return {std::max(arg(0).low, arg(1).low), std::max(arg(0).high, arg(1).high)};
    case Op::Min: return {std::min(arg(0).low, arg(1).low), std::min(arg(0).high, arg(1).high)};
    case Op::FloorDiv: return quotient(arg(0), arg(1));
    case Op::Mod: return remainder(arg(0), arg(1));
    case Op::Not: return is_bool(t) ? all : Between{all.low + all.high - arg(0).high, all.low + all.high - arg(0).low};
    case Op::And: {
      const Between a = arg(0), b = arg(1);
      if (a.low < 0 && b.low < 0) return all;
      return {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
    }
    case Op::Or:
    case Op::Xor: {
      const Between a = arg(0), b = arg(1);
      return a.low < 0 || b.low < 0 ? all : Between{0, ones(std::max(a.high, b.high))};
    }
    default: return compared(e.op, arg(0), arg(e.args.size() - 1), all);
  }
}

Between IntegerRanges::of_float(ExprId id, int depth) {
  const Expr& e = kernel_->at(id);
  if (depth == kDeepest) return kAnyFloat;
  if (const auto* constant = e.get_if<Const>()) {
    const double value = constant->value.as_double();
    return std::isnan(value) ? Between{} : Between{value, value};
  }
  if (const auto* cast = e.get_if<Cast>()) {
    const bool of_integer = !is_float(kernel_->at(cast->x).dtype);
    return rounded(of_integer ? of(cast->x, depth + 1) : of_float(cast->x, depth + 1), e.dtype);
  }
  const auto* apply = e.get_if<Apply>();
  return apply && is_float(kernel_->at(apply->args.back()).dtype) ? of_float(*apply, depth + 1) : kAnyFloat;
}

Between IntegerRanges::of_float(const Apply& e, int depth) {
  const DType t = kernel_->at(e.args.back()).dtype;
  const auto arg = [&](size_t n) { return of_float(e.args[n], depth); };
  switch (e.op) {
    case Op::Max: return {std::max(arg(0).low, arg(1).low), std::max(arg(0).high, arg(1).high)};
    case Op::Min: return {std::min(arg(0).low, arg(1).low), std::min(arg(0).high, arg(1).high)};
    case Op::Where: return joined(arg(1), arg(2));
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round: return {std::floor(arg(0).low), std::ceil(arg(0).high)};
    case Op::Neg: return {-arg(0).high, -arg(0).low};
    case Op::Abs: return {arg(0).low > 0 ? arg(0).low : 0, largest(arg(0))};
    case Op::Add: return rounded({arg(0).low + arg(1).low, arg(0).high + arg(1).high}, t);
    case Op::Sub: return rounded({arg(0).low - arg(1).high, arg(0).high - arg(1).low}, t);
    case Op::Mul: return is_finite(arg(0)) && is_finite(arg(1)) ? rounded(product(arg(0), arg(1)), t) : kAnyFloat;
    default: return kAnyFloat;
  }
}

Between IntegerRanges::of(const Raw& e, const Between& all, int depth) {
  if (e.args.size() != 2 || is_float(kernel_->at(e.args[0]).dtype)) return all;
  const Between a = of(e.args[0], depth), b = of(e.args[1], depth);
  const double factor = shift_factor(b, kernel_->at(e.args[0]).dtype);
  switch (e.op) {
    case RawOp::TruncDiv: return a.low >= 0 && b.low > 0 ? quotient(a, b) : all;
    case RawOp::TruncRem: return a.low >= 0 && b.low > 0 ? remainder(a, b) : all;
    case RawOp::Shl: return factor > 0 ? product(a, {factor, factor}) : all;
    case RawOp::Shr: return factor > 0 ? quotient(a, {factor, factor}) : all;
    default: return all;
  }
}

}  // namespace smelt::kernel
