// Casts of the reference: the same meaning as convert() of base/scalar.hpp, a loop per pair of
// types.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "graph/interpret_array.hpp"

namespace smelt::reference {

namespace {

// Rounds to a small float, all in double: normal numbers by their bits, subnormal ones by adding a
// number so large that only multiples of the format's smallest step remain.
template <DType kTo>
double round_small(double value) {
  constexpr FloatFormat f = float_format(kTo);
  constexpr auto power = [](int exponent) { return std::bit_cast<double>(uint64_t(1023 + exponent) << 52); };
  constexpr double smallest_normal = power(f.least), subnormal_shift = power(f.least - f.mantissa + 52);
  constexpr double largest = power(f.most) * (2 - (f.has_infinity ? 1 : 2) * power(-f.mantissa));
  const double magnitude = std::fabs(value);
  if (magnitude < smallest_normal) return std::copysign((magnitude + subnormal_shift) - subnormal_shift, value);
  constexpr int kDropped = 52 - f.mantissa;
  uint64_t bits = std::bit_cast<uint64_t>(magnitude);
  bits += (uint64_t{1} << (kDropped - 1)) - 1 + ((bits >> kDropped) & 1);
  const double rounded = std::bit_cast<double>(bits >> kDropped << kDropped);
  if (rounded <= largest) return std::copysign(rounded, value);
  return f.has_infinity && !std::isnan(value) ? std::copysign(HUGE_VAL, value) : std::copysign(NAN, value);
}

template <class To>
To int_from_double(double value) {
  if (std::isnan(value)) return 0;
  // A power of two, so exact in double for every width.
  const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
  if (value >= above) return std::numeric_limits<To>::max();
  if (value <= (std::is_signed_v<To> ? -above : 0)) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

template <class To, class From>
To int_from_int(From value, bool wrap) {
  if (!wrap && std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (!wrap && std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <class From>
void to_float(DType to, const Tensor& x, Tensor& out) {
  const auto loop = [&](auto f) { each<From, double>(x, out, f); };
  const auto small = [&]<DType kTo>() { loop([](From v) { return round_small<kTo>(static_cast<double>(v)); }); };
  switch (to) {
    case DType::F8E4M3: return small.template operator()<DType::F8E4M3>();
    case DType::F8E5M2: return small.template operator()<DType::F8E5M2>();
    case DType::F16: return small.template operator()<DType::F16>();
    case DType::BF16: return small.template operator()<DType::BF16>();
    case DType::F32: return loop([](From v) { return static_cast<double>(static_cast<float>(v)); });
    default: return loop([](From v) { return static_cast<double>(v); });
  }
}

template <class From>
void to_int(bool wrap, const Tensor& x, Tensor& out) {
  with_storage(out.dtype, [&]<class To>(To) {
    if constexpr (std::is_same_v<To, double>)
      return;
    else if constexpr (std::is_same_v<From, double>)
      each<From, To>(x, out, int_from_double<To>);
    else
      each<From, To>(x, out, [wrap](From v) { return int_from_int<To>(v, wrap); });
  });
}

}  // namespace

Tensor cast(const Node& node, DType from, const Tensor& x) {
  Tensor out = Tensor::empty(storage_type(node.dtype), x.dims);
  with_storage(from, [&]<class From>(From) {
    if (is_bool(node.dtype))
      each<From, uint8_t>(x, out, [](From v) { return !(v == 0); });
    else if (is_float(node.dtype))
      to_float<From>(node.dtype, x, out);
    else
      to_int<From>(node.wrap, x, out);
  });
  return out;
}

}  // namespace smelt::reference
