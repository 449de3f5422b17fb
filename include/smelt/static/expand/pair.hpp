// Numbers of twice the precision, as unevaluated sums of two.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

// A number as an unevaluated sum, the second part far below the first.
template <class V>
struct Pair {
  V high, low;
};

// a + b
template <class V>
SMELT_HD Pair<V> exact_sum(V a, V b) {
  const auto sum = a + b, b_seen = sum - a;
  return {sum, (a - (sum - b_seen)) + (b - b_seen)};
}

// a + b, where |a| >= |b| or a is 0.
template <class V>
SMELT_HD Pair<V> sum_of_ordered(V a, V b) {
  const auto sum = a + b;
  return {sum, b - (sum - a)};
}

template <class V>
SMELT_HD Pair<V> product(Pair<V> a, Pair<V> b) {
  const auto high = a.high * b.high;
  const auto error = fma(a.high, b.high, -high);
  return {high, fma(a.high, b.low, fma(a.low, b.high, error))};
}

template <class V>
SMELT_HD Pair<V> pair_like(V x, double high, double low) {
  return {like(x, high), like(x, low)};
}

}  // namespace smelt::expand
