#include "kernel/share_divisors.hpp"

#include <algorithm>
#include <vector>

#include "kernel/rewrite.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {
namespace {

// A power of two that keeps y * scale_of(y) where neither its inverse nor what that lacks is
// subnormal. Where the dividend times it overflows or vanishes, so does the quotient.
Val scale_of(Val y) {
  const double limit = y.dtype() == DType::F64 ? 0x1p512 : 0x1p64;
  return select(abs(y) > like(y, limit), like(y, 1 / limit),
                select(abs(y) < like(y, 1 / limit), like(y, limit), like(y, 1)));
}

// 1 / b as a sum whose parts have one sign, so that infinite dividends and divisors of 0 give what
// the division gives. Its error is below 2^-45 (f32) and 2^-103 (f64) of it.
struct Inverse {
  Val high, low;
};
Inverse inverse_of(Val b) {
  const bool wide = b.dtype() == DType::F64;
  const double below_one = wide ? 1 - 0x1p-53 : 1 - 0x1p-24, tiny = wide ? 0x1p-110 : 0x1p-50;
  const Val one = like(b, 1), r = one / b;
  const Val high = select(fma(-b, r, one) < like(b, 0), r * like(b, below_one), r);  // not beyond 1 / b
  const Val lacks = fma(-b, high, one);
  return {high, select(lacks > like(b, 0), lacks * r, high * like(b, tiny))};
}

// Dividend and divisor.
const std::vector<ExprId>* quotient_at(const Kernel& kernel, ExprId id) {
  if (const Apply* e = kernel.at(id).as_apply(Op::Div)) return kernel.constant_at(e->args[1]) ? nullptr : &e->args;
  const Raw* raw = kernel.at(id).get_if<Raw>();
  return raw && raw->op == RawOp::Quotient ? &raw->args : nullptr;
}

}  // namespace

bool share_divisors(Kernel& kernel, Loop& loop, const std::unordered_map<ExprId, bool>& same) {
  std::vector<ExprId> quotients;
  for (const auto& [id, is_same] : same)
    if (const auto* args = quotient_at(kernel, id); args && same.at((*args)[1]) && !same.at((*args)[0]))
      quotients.push_back(id);
  std::sort(quotients.begin(), quotients.end());  // operands before their users
  Rewriter rewrite(kernel);
  Builder build(kernel);
  for (const ExprId id : quotients) {
    const std::vector<ExprId> args = *quotient_at(kernel, id);
    const bool exact = kernel.at(id).is<Apply>();
    const Val y{&build, args[1]}, scale = scale_of(y), x = Val{&build, rewrite(args[0])} * scale;
    const Inverse by = inverse_of(y * scale);
    const Val quotient = exact ? fma(x, by.high, x * by.low) : x * by.high;
    if (const auto label = kernel.labels.find(id); label != kernel.labels.end())
      kernel.labels.emplace(quotient.id, label->second);
    rewrite.replace(id, quotient.id);
  }
  if (quotients.empty()) return false;
  for (Stmt& s : loop.body) rewrite(s);
  return true;
}

}  // namespace smelt::kernel
