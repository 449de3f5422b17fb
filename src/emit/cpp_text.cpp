#include "emit/cpp_text.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/cpp.hpp"
#include "emit/small_float_text.hpp"

namespace smelt::emit {

namespace cpp {

static const CLike& spellings() {
  static const CLike table = {
      .wide = "long long",
      .wide_unsigned = "unsigned long long",
      .wide_suffix = "LL",
      .wide_unsigned_suffix = "ULL",
      .float_of_unsigned = "float_of",
      .float_of_int = "float_of",
      .double_of_long = "double_of",
      .int_of_float = "bits_of",
      .long_of_double = "bits_of",
      .float_to_int = [](UsedHelpers&, const std::string& x, DType,
                         DType to) { return fmt::format("saturated<{}>({})", type_of(to), x); },
  };
  return table;
}

std::string type_of(DType dtype) { return c_like::type_of(spellings(), dtype); }
std::string memory_type(DType dtype) { return c_like::memory_type(spellings(), dtype); }
std::string literal(const Scalar& constant) { return c_like::literal(spellings(), constant); }

std::string apply(Op op, DType t, const std::vector<std::string>& args) {
  // A product that no addition takes in.
  if (op == Op::Mul && is_float(t)) return fmt::format("product({}, {})", args[0], args[1]);
  if (op == Op::Max || op == Op::Min) return maximum(args[0], args[1], t, op == Op::Min);
  if (op == Op::Neg && is_int(t)) return apply(Op::Sub, t, {fmt::format("({})0", type_of(t)), args[0]});
  UsedHelpers ignored;  // a C++ file has all of its prelude
  return c_like::apply(spellings(), ignored, op, t, args);
}

std::string raw(kernel::RawOp op, DType from, DType to, const std::vector<std::string>& args) {
  UsedHelpers ignored;
  switch (op) {
    case kernel::RawOp::TruncDiv:
    case kernel::RawOp::TruncRem:
    case kernel::RawOp::Shl:
    case kernel::RawOp::Shr:
    case kernel::RawOp::DotBF16:
    case kernel::RawOp::DotBytes:
    case kernel::RawOp::ToInt: return c_like::raw(spellings(), ignored, op, from, to, args);
    default: break;
  }
  throw UserError(
      "smelt emit --as cpp cannot print an operation of this program yet\nhelp: compile it with smelt instead");
}

std::string cast(const std::string& x, DType from, DType to, bool wrap) {
  UsedHelpers ignored;
  return c_like::cast(spellings(), ignored, x, from, to, wrap);
}

std::string bitcast(const std::string& x, DType from, DType to) { return c_like::bitcast(spellings(), x, from, to); }

std::string maximum(const std::string& a, const std::string& b, DType dtype, bool smaller) {
  if (is_float(dtype)) return fmt::format("{}({}, {})", smaller ? "minimum" : "maximum", a, b);
  return fmt::format("{}<{}>({}, {})", smaller ? "smaller" : "larger", type_of(dtype), a, b);
}

}  // namespace cpp

static std::string small_floats() {
  std::string text;
  for (const DType small : {DType::F16, DType::F8E4M3, DType::F8E5M2}) {
    const SmallFloatSpelling as{"inline",   size_of(small) == 1 ? "unsigned char" : "unsigned short",
                                "uint32_t", "float_of",
                                "bits_of",  "std::fabs",
                                true};
    text += from_small_float(small, as) + "\n" + to_small_float(small, as) + "\n";
  }
  return text;
}

std::string cpp_prelude() {
  return R"smelt(#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(_OPENMP)
#include <omp.h>
#endif

namespace {

#if defined(__GNUC__) && !defined(__clang__)
#define SMELT_INDEPENDENT _Pragma("GCC ivdep")
#elif defined(__clang__)
#define SMELT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SMELT_INDEPENDENT
#endif

template <class To, class From>
inline To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
template <class I>
inline float float_of(I bits) {
  return same_bits<float>(static_cast<uint32_t>(bits));
}
template <class I>
inline double double_of(I bits) {
  return same_bits<double>(static_cast<uint64_t>(bits));
}
inline int bits_of(float x) { return same_bits<int>(x); }
inline long long bits_of(double x) { return same_bits<long long>(x); }

template <class T>
inline T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
inline T larger(T a, T b) {
  return a > b ? a : b;
}
inline long long floor_div(long long a, long long b) {
  const long long q = a / b;
  return a % b < 0 ? q - 1 : q;
}
inline long long floor_mod(long long a, long long b) {
  const long long r = a % b;
  return r < 0 ? r + b : r;
}

// Without a jump, so that loops vectorise.
template <class T>
inline T choose(bool c, T a, T b) {
#if defined(__GNUC__) && !defined(__clang__)
  using U = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  const U mask = static_cast<U>(-static_cast<U>(c));
  return same_bits<T>(static_cast<U>((same_bits<U>(a) & mask) | (same_bits<U>(b) & static_cast<U>(~mask))));
#else
  return c ? a : b;
#endif
}
inline bool choose(bool c, bool a, bool b) { return (c & a) | (!c & b); }

// The product by itself: what is added to it later is another rounding.
template <class T>
inline T product(T a, T b) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(a * b);
#else
  return a * b;
#endif
}

template <class T>
inline T square_root(T x) {
  return std::sqrt(x);
}

// Two bf16 in each word, of which subnormal ones are 0.
inline float low_bf16(uint32_t word) { return float_of((word & 0x7f80u ? word : word & 0x8000u) << 16); }
inline float high_bf16(uint32_t word) {
  return float_of(word & 0x7f800000u ? word & 0xffff0000u : word & 0x80000000u);
}
inline float dot_bf16(float total, uint32_t a, uint32_t b) {
  return std::fma(high_bf16(a), high_bf16(b), std::fma(low_bf16(a), low_bf16(b), total));
}
inline void add_bf16(float& low, float& high, uint32_t a, uint32_t b) {
  low = std::fma(low_bf16(a), low_bf16(b), low);
  high = std::fma(high_bf16(a), high_bf16(b), high);
}
template <class T>
inline uint32_t word_at(const T* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
// Four bytes in each word.
template <class A = uint8_t, class B = int8_t>
inline int dot_bytes(int total, uint32_t a, uint32_t b) {
  for (int shift = 0; shift < 32; shift += 8) total += static_cast<A>(a >> shift) * static_cast<B>(b >> shift);
  return total;
}

// NaN wins; +0 is above -0.
inline float maximum(float a, float b) {
  const float equal = float_of(bits_of(a) & bits_of(b));
  return choose(a != a, a, choose(a == b, equal, choose(a > b, a, b)));
}
inline float minimum(float a, float b) {
  const float equal = float_of(bits_of(a) | bits_of(b));
  return choose(a != a, a, choose(a == b, equal, choose(a < b, a, b)));
}
inline double maximum(double a, double b) {
  const double equal = double_of(bits_of(a) & bits_of(b));
  return choose(a != a, a, choose(a == b, equal, choose(a > b, a, b)));
}
inline double minimum(double a, double b) {
  const double equal = double_of(bits_of(a) | bits_of(b));
  return choose(a != a, a, choose(a == b, equal, choose(a < b, a, b)));
}

// Truncates and saturates; NaN becomes 0.
template <class To, class F>
inline To saturated(F x) {
  const F above = std::ldexp(static_cast<F>(1), std::numeric_limits<To>::digits);
  if (!(x == x)) return 0;
  if (x >= above) return std::numeric_limits<To>::max();
  if (x <= (std::is_signed<To>::value ? -above : static_cast<F>(0))) return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

inline int low_bits_i8(unsigned x) { return static_cast<int8_t>(x); }
inline int low_bits_i16(unsigned x) { return static_cast<int16_t>(x); }
inline unsigned low_bits_u8(unsigned x) { return static_cast<uint8_t>(x); }
inline unsigned low_bits_u16(unsigned x) { return static_cast<uint16_t>(x); }
inline unsigned opaque(unsigned x) { return x; }

inline float from_bf16(unsigned short x) { return float_of(static_cast<uint32_t>(x) << 16); }
inline unsigned short to_bf16(float x) {
  const uint32_t bits = static_cast<uint32_t>(bits_of(x));
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<unsigned short>(choose<uint32_t>(x != x, (bits >> 16) | 0x40u, rounded));
}
)smelt" + small_floats() +
         "\n";
}

}  // namespace smelt::emit
