// Sums of exponentials in the same pass as their maximum. Every lane keeps `top`, the largest value
// that it has met, and its sum relative to that; when a larger value comes, the sum is scaled down:
//
//   e = exp(-|x - top|);  sum = x > top ? sum * e + 1 : sum + e;  top = max(top, x)
//
// After the pass the lanes agree on the maximum, and every lane scales its sum to it before they
// are added up.
#include <limits>

#include "base/check.hpp"
#include "kernel/lower_reduction.hpp"
#include "kernel/value.hpp"

namespace smelt::kernel {

// Finds the maximum of each sum that runs online. `top` starts at the smallest finite value, so
// that no difference from it is inf - inf.
void AccumulatorLowering::pair_online(std::vector<Accumulator>& accs) {
  for (size_t s = 0; s < accs.size(); ++s) {
    if (accs[s].of_moments() || !accs[s].reduction->online) continue;
    for (size_t m = 0; m < accs.size(); ++m)
      if (!accs[m].of_moments() && accs[m].reduction->node == accs[s].reduction->online->maximum) {
        accs[s].maximum = static_cast<int>(m);
        if (accs[m].relative < 0) accs[m].relative = static_cast<int>(s);
      }
    SMELT_CHECK(accs[s].maximum >= 0, "the maximum of sum %{} is in another pass", accs[s].reduction->node);
    accs[s].top = builder_.new_local(accs[s].value_type, true);
  }
}

static Scalar smallest_finite(DType t) {
  return Scalar::of_float(t, t == DType::F64 ? -std::numeric_limits<double>::max()
                                             : -static_cast<double>(std::numeric_limits<float>::max()));
}

std::vector<Stmt> AccumulatorLowering::start_online(const std::vector<Accumulator>& accs) {
  std::vector<Stmt> stmts;
  for (const Accumulator& a : accs)
    if (a.maximum >= 0) stmts.push_back(assign(a.top, builder_.constant(smallest_finite(a.value_type))));
  return stmts;
}

// exp(x) for x <= 0, as a term of a sum of which another term is 1. Of f32, 2^(x / ln 2) is as good
// there as exp: the error of the product grows with |x|, but |x| exp(x) is never more than 1/e.
static Val term_below_one(Val x) {
  if (x.dtype() == DType::F32 && x.builder->has_functions()) return power_of_two(x * like(x, 1.4426950408889634));
  return x.apply(Op::Exp, {x.id});
}

std::vector<Stmt> AccumulatorLowering::update_online(const Accumulator& a, ExprId value) {
  const Val x{&builder_, builder_.cast(value, a.value_type)}, top{&builder_, builder_.local(a.top)},
      sum{&builder_, builder_.local(a.value)};
  const Val e = term_below_one(-abs(x - top));
  const Val next = select(x > top, fma(sum, e, like(x, 1)), sum + e);
  return {assign(a.value, next.id), assign(a.top, builder_.apply(Op::Max, {top.id, x.id}))};
}

// Ends with the uniform results in the accumulators.
std::vector<Stmt> AccumulatorLowering::finish_online(const std::vector<Accumulator>& accs) {
  const int lanes = accumulator_lanes(schedule_.lanes, schedule_.unroll);
  const IntExpr everyone = IntExpr(int64_t{schedule_.team} * lanes);
  std::vector<Stmt> tops, scaled, sums, results;
  for (const Accumulator& a : accs) {
    if (a.relative >= 0) {
      const ExprId top = builder_.local(accs[static_cast<size_t>(a.relative)].top);
      tops.push_back(assign(a.value, builder_.apply(Op::Max, {builder_.local(a.value), top})));
    }
    if (a.maximum < 0) continue;
    const Val sum{&builder_, builder_.local(a.value)}, top{&builder_, builder_.local(a.top)},
        maximum{&builder_, builder_.local(accs[static_cast<size_t>(a.maximum)].value)};
    scaled.push_back(assign(a.value, (sum * term_below_one(top - maximum)).id));
    sums.push_back(combine_lanes(a));
    // Only where nothing is finite and nothing is nan is there no term: exp(-inf) of each.
    const Val inf = like(sum, HUGE_VAL), nan = like(sum, std::numeric_limits<double>::quiet_NaN()), zero = like(sum, 0);
    const bool finite_shift = a.reduction->online->finite_shift;
    const Val whole = select(maximum == inf, finite_shift ? inf : nan, sum);
    results.push_back(assign(a.value, finite_shift ? whole.id : select(sum == zero, nan, whole).id));
  }
  std::vector<Stmt> stmts;
  stmts.push_back(loop(LoopKind::Vector, Symbol::loop("l"), everyone, std::move(tops), 1, lanes));
  for (const Accumulator& a : accs)
    if (a.maximum < 0 && !a.of_moments()) stmts.push_back(combine_lanes(a));
  stmts.push_back(loop(LoopKind::Vector, Symbol::loop("l"), everyone, std::move(scaled), 1, lanes));
  append(stmts, std::move(sums));
  // A maximum that stayed where it started may be -inf: only then nothing was added.
  for (const Accumulator& a : accs) {
    if (a.relative < 0) continue;
    const Val sum{&builder_, builder_.local(accs[static_cast<size_t>(a.relative)].value)},
        maximum{&builder_, builder_.local(a.value)};
    stmts.push_back(assign(a.value, select(sum == like(sum, 0), like(sum, -HUGE_VAL), maximum).id));
  }
  append(stmts, std::move(results));
  return stmts;
}

}  // namespace smelt::kernel
