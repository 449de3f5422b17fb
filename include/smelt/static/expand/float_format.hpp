// What f32 and f64 are made of, so that one function supports both.
#pragma once

#include "smelt/static/expand/algebra.hpp"

namespace smelt::expand {

struct FloatFormat {
  int mantissa;              // explicit bits
  int bias;                  // of the exponent
  double to_integer;         // 1.5 * 2^mantissa: added to a small x it leaves rint(x) in the lowest bits
  double ln2_high, ln2_low;  // ln2_high is short: its product with an exponent is exact
  double half_pi_high, half_pi_low;
};

SMELT_HD constexpr FloatFormat format32() {
  return {23, 127, 0x1.8p23, 0x1.62e4p-1, 0x1.7f7d1cf79abcap-20, 0x1.921fb6p+0, -0x1.777a5cp-25};
}
SMELT_HD constexpr FloatFormat format64() {
  return {52, 1023, 0x1.8p52, 0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
}

inline constexpr double kLog2E = 0x1.71547652b82fep+0;

// on(x, format32()) or on(x, format64()), by the width of x.
template <class V, class On>
SMELT_HD auto with_format(V x, On on) {
  return by_width(
      x, [&](auto x) { return on(x, format32()); }, [&](auto x) { return on(x, format64()); });
}

// The one of two numbers that belongs to a format.
SMELT_HD double pick(FloatFormat format, double for_f32, double for_f64) {
  return format.mantissa == format32().mantissa ? for_f32 : for_f64;
}

// How an expansion divides and takes roots: rounded correctly, as every target can.
struct RoundedArithmetic {
  template <class V>
  SMELT_HD V quotient(V a, V b) const {
    return a / b;
  }
  template <class V>
  SMELT_HD V root(V a) const {
    return sqrt(a);
  }
};

// x within [low, high]; nan stays nan.
template <class V>
SMELT_HD V clamped(V x, double low, double high) {
  return at_least(at_most(x, high), low);
}

}  // namespace smelt::expand
