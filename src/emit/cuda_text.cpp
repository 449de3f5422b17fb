#include "emit/cuda_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/check.hpp"

namespace smelt::emit::cuda {

std::string type_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::I8: return "signed char";
    case DType::U8: return "unsigned char";
    case DType::I16: return "short";
    case DType::U16: return "unsigned short";
    case DType::I32: return "int";
    case DType::U32: return "unsigned";
    case DType::I64: return "long long";
    case DType::U64: return "unsigned long long";
    case DType::F32: return "float";
    case DType::F64: return "double";
    case DType::F16:
    case DType::BF16: break;
  }
  throw InternalError("f16 and bf16 have no register type");
}

std::string memory_type(DType dtype) {
  if (is_bool(dtype)) return "unsigned char";
  if (is_float(dtype) && size_of(dtype) == 2) return "unsigned short";
  return type_of(dtype);
}

static std::string braced(const std::string& number) { return number[0] == '-' ? "(" + number + ")" : number; }

std::string literal(const Scalar& constant) {
  const DType t = constant.dtype;
  switch (t) {
    case DType::Bool: return constant.as_bool() ? "true" : "false";
    case DType::I64:
      return constant.i == INT64_MIN ? "(-9223372036854775807LL - 1)" : fmt::format("({}LL)", constant.i);
    case DType::I32: return constant.i == INT32_MIN ? "(-2147483647 - 1)" : braced(std::to_string(constant.i));
    case DType::U64: return fmt::format("{}ULL", constant.as_int());
    case DType::U32: return fmt::format("{}u", static_cast<uint32_t>(constant.as_int()));
    case DType::F32: {
      const float f = static_cast<float>(constant.f);
      if (!std::isfinite(f)) return fmt::format("__uint_as_float({:#x}u)", std::bit_cast<uint32_t>(f));
      const bool whole = std::fabs(f) < 65536 && f == std::trunc(f) && !(f == 0 && std::signbit(f));
      return braced(whole ? fmt::format("{:.1f}f", f) : fmt::format("{:a}f", f));
    }
    case DType::F64: {
      const double f = constant.f;
      if (!std::isfinite(f)) return fmt::format("__longlong_as_double({:#x}LL)", std::bit_cast<uint64_t>(f));
      return braced(fmt::format("{:a}", f));
    }
    default: return fmt::format("(({}){})", type_of(t), static_cast<int64_t>(constant.as_int()));
  }
}

namespace {

std::string unsigned_type(DType t) {
  return size_of(t) == 8 ? "unsigned long long" : size_of(t) == 4 ? "unsigned" : type_of(t);
}

// Wrapping arithmetic: in the unsigned type, or in int for what is narrower.
// The low bits of an integer, as one of 8 or 16 bits.
std::string low_bits(DType t, const std::string& x) {
  return fmt::format("({})low_bits_{}((unsigned)({}))", type_of(t), name_of(t), x);
}

std::string wrapped(const char* op, DType t, const std::string& a, const std::string& b) {
  if (is_signed_int(t) && size_of(t) >= 4) {
    const std::string u = unsigned_type(t);
    return fmt::format("({})(({}){} {} ({}){})", type_of(t), u, a, op, u, b);
  }
  if (size_of(t) >= 4) return fmt::format("({} {} {})", a, op, b);
  // Two u16 may overflow the int that they are promoted to.
  return low_bits(t, fmt::format("(unsigned){} {} (unsigned){}", a, op, b));
}

std::string function(const char* name, DType t, const std::vector<std::string>& args) {
  std::string text = fmt::format("{}{}(", name, t == DType::F64 ? "" : "f");
  for (size_t i = 0; i < args.size(); ++i) text += (i ? ", " : "") + args[i];
  return text + ")";
}

std::string in_bits(const char* op, DType t, const std::string& a, const std::string& b) {
  return fmt::format("({})({} {} {})", type_of(t), a, op, b);
}

}  // namespace

std::string apply(Op op, DType t, const std::vector<std::string>& args) {
  const std::string& a = args[0];
  const std::string& b = args[args.size() > 1 ? 1 : 0];
  const bool floating = is_float(t);
  const bool word = is_int(t) && size_of(t) <= 4;
  auto infix = [&](const char* symbol) { return fmt::format("({} {} {})", a, symbol, b); };
  switch (op) {
    case Op::Add: return floating ? infix("+") : wrapped("+", t, a, b);
    case Op::Sub: return floating ? infix("-") : wrapped("-", t, a, b);
    case Op::Mul: return floating ? infix("*") : wrapped("*", t, a, b);
    case Op::Div: return infix("/");
    case Op::Neg: return fmt::format("(-{})", a);
    case Op::Abs: return function("fabs", t, args);
    case Op::Fma: return function("fma", t, args);
    case Op::Floor: return function("floor", t, args);
    case Op::Ceil: return function("ceil", t, args);
    case Op::Trunc: return function("trunc", t, args);
    case Op::Round: return function("rint", t, args);
    case Op::Sqrt: return t == DType::F32 ? fmt::format("square_root({})", args[0]) : function("sqrt", t, args);
    case Op::Copysign: return function("copysign", t, args);
    case Op::Max:
      if (t == DType::U32) return fmt::format("maximum_of_unsigned({}, {})", a, b);
      if (word) return fmt::format("({})maximum_of_ints({}, {})", type_of(t), a, b);
      return floating ? fmt::format("maximum({}, {})", a, b) : fmt::format("({0} > {1} ? {0} : {1})", a, b);
    case Op::Min:
      if (t == DType::U32) return fmt::format("minimum_of_unsigned({}, {})", a, b);
      if (word) return fmt::format("({})minimum_of_ints({}, {})", type_of(t), a, b);
      return floating ? fmt::format("minimum({}, {})", a, b) : fmt::format("({0} < {1} ? {0} : {1})", a, b);
    case Op::Eq: return infix("==");
    case Op::Ne: return infix("!=");
    case Op::Lt: return infix("<");
    case Op::Le: return infix("<=");
    case Op::Gt: return infix(">");
    case Op::Ge: return infix(">=");
    case Op::IsNan: return fmt::format("({0} != {0})", a);
    case Op::And: return in_bits("&", t, a, b);
    case Op::Or: return in_bits("|", t, a, b);
    case Op::Xor: return in_bits("^", t, a, b);
    case Op::Not:
      if (is_bool(t)) return fmt::format("(!{})", a);
      return size_of(t) < 4 ? low_bits(t, "~" + a) : fmt::format("({})(~{})", type_of(t), a);
    case Op::Where:
      if (word) return fmt::format("({0})choose_int({1}, (int){2}, (int){3})", type_of(t), a, b, args[2]);
      return t == DType::F32 ? fmt::format("choose({}, {}, {})", a, b, args[2])
                             : fmt::format("({} ? {} : {})", a, b, args[2]);
    default: throw InternalError(fmt::format("{} of {} reached the printer unexpanded", name_of(op), name_of(t)));
  }
}

std::string raw(kernel::RawOp op, DType from, DType to, const std::vector<std::string>& args) {
  const std::string& a = args[0];
  const std::string& b = args[args.size() > 1 ? 1 : 0];
  switch (op) {
    case kernel::RawOp::TruncDiv: return fmt::format("({})({} / {})", type_of(to), a, b);
    case kernel::RawOp::TruncRem: return fmt::format("({})({} % {})", type_of(to), a, b);
    case kernel::RawOp::Shl:
      if (size_of(to) < 4) return low_bits(to, fmt::format("(unsigned){} << (int){}", a, b));
      return fmt::format("({})(({}){} << (int){})", type_of(to), unsigned_type(to), a, b);
    case kernel::RawOp::Shr: return fmt::format("({})({} >> (int){})", type_of(to), a, b);
    case kernel::RawOp::ToInt: (void)from; return fmt::format("({}){}", type_of(to), a);
    case kernel::RawOp::PowerOfTwo: return fmt::format("power_of_two({})", a);
    case kernel::RawOp::PowerOfTwoFull: return fmt::format("power_of_two_full({})", a);
    case kernel::RawOp::Reciprocal: return fmt::format("reciprocal({})", a);
    case kernel::RawOp::Quotient: return fmt::format("quotient({}, {})", a, b);
    case kernel::RawOp::InverseRoot: return fmt::format("inverse_root({})", a);
    case kernel::RawOp::Root: return fmt::format("root({})", a);
    case kernel::RawOp::SaturatedFma: return fmt::format("saturated_fma({}, {}, {})", a, b, args[2]);
    case kernel::RawOp::RoundF16: return fmt::format("round_f16({})", a);
    case kernel::RawOp::RoundBF16: return fmt::format("round_bf16({})", a);
    case kernel::RawOp::FromThread: {
      const int n = std::stoi(b.substr(b[0] == '('));
      const std::string x = size_of(from) < 4 ? fmt::format("(int){}", a) : a;
      return fmt::format("({})__shfl_{}_sync(0xffffffffu, {}, {})", type_of(to), n < 0 ? "up" : "down", x, std::abs(n));
    }
  }
  throw InternalError("unknown raw operation");
}

std::string cast(const std::string& x, DType from, DType to, bool wrap) {
  if (from == to) return x;
  const std::string type = type_of(to);
  if (is_bool(to)) return fmt::format("({} != 0)", x);
  if (is_float(to) || is_bool(from)) return fmt::format("({}){}", type, x);
  if (from == DType::F32 && size_of(to) <= 4) return fmt::format("to_{}({})", name_of(to), x);
  if (is_float(from)) {
    // The machine's conversion saturates; of NaN it makes 0 only for narrow targets. Narrower integers are clamped before.
    const std::string low = literal(Scalar::of_float(from, static_cast<double>(min_int(to))));
    const std::string high = literal(Scalar::of_float(from, static_cast<double>(max_int(to))));
    const std::string limits = size_of(to) < 4 ? fmt::format("larger({}, smaller({}, {}))", low, high, x) : x;
    return fmt::format("({0} == {0} ? ({1}){2} : ({1})0)", x, type, limits);
  }
  std::string v = x;
  if (wrap && size_of(to) < 4) return low_bits(to, x);
  if (!wrap) {
    const bool is_signed = is_signed_int(from);
    if (is_signed && (!is_signed_int(to) || size_of(to) < size_of(from)))
      v = fmt::format("larger({}, {})", v, literal(Scalar::of_int(from, min_int(to))));
    if (max_int(to) < max_int(from)) v = fmt::format("smaller({}, {})", v, literal(Scalar::of_uint(from, max_int(to))));
  }
  return fmt::format("({}){}", type, v);
}

std::string bitcast(const std::string& x, DType from, DType to) {
  if (!is_float(from) && !is_float(to)) return fmt::format("({}){}", type_of(to), x);
  const bool wide = size_of(to) == 8;
  if (is_float(to)) return fmt::format("{}({})", wide ? "__longlong_as_double" : "__int_as_float", x);
  return fmt::format("({}){}({})", type_of(to), wide ? "__double_as_longlong" : "__float_as_int", x);
}

std::string from_memory(DType dtype, const std::string& x) {
  if (is_bool(dtype)) return fmt::format("({} != 0)", x);
  if (dtype == DType::F16) return fmt::format("from_f16({})", x);
  if (dtype == DType::BF16) return fmt::format("from_bf16({})", x);
  return x;
}

std::string to_memory(DType dtype, const std::string& x) {
  if (is_bool(dtype)) return fmt::format("(unsigned char)({} ? 1 : 0)", x);
  if (dtype == DType::F16) return fmt::format("to_f16({})", x);
  if (dtype == DType::BF16) return fmt::format("to_bf16({})", x);
  return x;
}

std::string prelude(const CudaTarget& target) {
  std::string text = R"(#define SMELT_INLINE static __device__ __forceinline__

template <class T, int N> struct __align__(sizeof(T) * N) Vec { T at[N]; };
// 16 bytes that the L2 cache replaces last. Rows and arrays that are read once and pass by then displace each other and not what is written
// beside them, which goes to memory in longer runs: measured, a layernorm of 16384 rows of 4096 takes 128 us on an H200 in place of 133.
template <class T, int N> SMELT_INLINE Vec<T, N> lasting(const T* p) {
#if __CUDA_ARCH__ >= 800
  union { Vec<T, N> all; unsigned at[4]; } word;
#if __CUDA_ARCH__ == 900
  const unsigned long long policy = 0x14f0000000000000ull;  // what createpolicy gives, without its instructions
#else
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(word.at[0]), "=r"(word.at[1]), "=r"(word.at[2]), "=r"(word.at[3])
               : "l"(p), "l"(policy)
               : "memory");
  return word.all;
#else
  return *(const Vec<T, N>*)p;
#endif
}
// A load that stays in its place in the program: of many before what stores, the compiler would move most behind the first stores.
template <class T> SMELT_INLINE T fetched(const T* p) {
  union { T value; unsigned char u8; unsigned short u16; unsigned u32; unsigned long long u64; } x;
  if (sizeof(T) == 8) {
    asm volatile("ld.global.b64 %0, [%1];" : "=l"(x.u64) : "l"(p) : "memory");
  } else if (sizeof(T) == 4) {
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(x.u32) : "l"(p) : "memory");
  } else if (sizeof(T) == 2) {
    asm volatile("ld.global.b16 %0, [%1];" : "=h"(x.u16) : "l"(p) : "memory");
  } else {
    unsigned byte;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(byte) : "l"(p) : "memory");
    x.u8 = (unsigned char)byte;
  }
  return x.value;
}
template <class T> SMELT_INLINE T smaller(T a, T b) { return a < b ? a : b; }
template <class T> SMELT_INLINE T larger(T a, T b) { return a > b ? a : b; }
// a / d and a % d by d's multiplier m = 2^62 / d + 1: floor(a * m / 2^62).
SMELT_INLINE int int_quotient(int a, long long m) {
  const unsigned long long low = (unsigned long long)(unsigned)a * (unsigned)m;
  const unsigned long long high = (unsigned long long)(unsigned)a * (unsigned)(m >> 32) + (low >> 32);
  return (int)(high >> 30);
}
SMELT_INLINE int int_remainder(int a, int d, long long m) { return a - int_quotient(a, m) * d; }
template <class T> SMELT_INLINE T floor_div(T a, T b) { T q = a / b; return a % b < 0 ? q - 1 : q; }
template <class T> SMELT_INLINE T floor_mod(T a, T b) { T r = a % b; return r < 0 ? r + b : r; }

SMELT_INLINE float from_bf16(unsigned short x) { return __uint_as_float((unsigned)x << 16); }
SMELT_INLINE float from_f16(unsigned short x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y; }
SMELT_INLINE unsigned short to_f16(float x) { unsigned short y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; }
)";
  if (target.compute >= 80) {
    text +=
        "SMELT_INLINE unsigned short to_bf16(float x) {\n"
        "  unsigned short y;\n"
        "  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
        "  return y;\n}\n"
        "SMELT_INLINE float round_bf16(float x) {\n"
        "  unsigned y;\n"  // a bf16 is the upper half of an f32
        "  asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(y) : \"f\"(x), \"f\"(0.0f));\n"
        "  return __uint_as_float(y);\n}\n";
  } else {
    text +=
        "SMELT_INLINE unsigned short to_bf16(float x) {\n"
        "  const unsigned bits = __float_as_uint(x);\n"
        "  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;\n"
        "  return (unsigned short)(x == x ? rounded : (bits >> 16) | 0x40u);\n}\n"
        "SMELT_INLINE float round_bf16(float x) { return from_bf16(to_bf16(x)); }\n";
  }
  text += R"(
// Truncate and saturate; NaN becomes 0.
SMELT_INLINE signed char to_i8(float x) { int y; asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(y) : "f"(x)); return (signed char)y; }
SMELT_INLINE unsigned char to_u8(float x) { int y; asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(y) : "f"(x)); return (unsigned char)y; }
SMELT_INLINE short to_i16(float x) { int y; asm("cvt.rzi.s16.f32 %0, %1;" : "=r"(y) : "f"(x)); return (short)y; }
SMELT_INLINE unsigned short to_u16(float x) { int y; asm("cvt.rzi.u16.f32 %0, %1;" : "=r"(y) : "f"(x)); return (unsigned short)y; }
SMELT_INLINE int to_i32(float x) { int y; asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(y) : "f"(x)); return y; }
SMELT_INLINE unsigned to_u32(float x) { unsigned y; asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(y) : "f"(x)); return y; }
// Without a branch, which the compiler prefers where one side is long.
SMELT_INLINE float choose(bool c, float a, float b) {
  float y;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.f32 %0, %2, %3, p; }" : "=f"(y) : "r"((unsigned)c), "f"(a), "f"(b));
  return y;
}
// Integers of 8 and 16 bits are computed in 32 and cut: of a conversion to 8 bits, and of a negated short, the assembler of CUDA 13.0 may
// lose the cut for sm_90 when it can use the sum itself. An instruction of its own for that it keeps.
SMELT_INLINE int low_bits_i8(unsigned x) { int y; asm("bfe.s32 %0, %1, 0, 8;" : "=r"(y) : "r"(x)); return y; }
SMELT_INLINE int low_bits_i16(unsigned x) { int y; asm("bfe.s32 %0, %1, 0, 16;" : "=r"(y) : "r"(x)); return y; }
SMELT_INLINE unsigned low_bits_u8(unsigned x) { unsigned y; asm("bfe.u32 %0, %1, 0, 8;" : "=r"(y) : "r"(x)); return y; }
SMELT_INLINE unsigned low_bits_u16(unsigned x) { unsigned y; asm("bfe.u32 %0, %1, 0, 16;" : "=r"(y) : "r"(x)); return y; }
// Of two extremes in a row of which one operand is negated, the assembler of CUDA 13.0 makes one instruction for sm_90, and loses the
// negation. Signed integers are therefore compared as unsigned ones with another first bit, and the other way round.
SMELT_INLINE int maximum_of_ints(int a, int b) {
  unsigned y;
  asm("max.u32 %0, %1, %2;" : "=r"(y) : "r"((unsigned)a ^ 0x80000000u), "r"((unsigned)b ^ 0x80000000u));
  return (int)(y ^ 0x80000000u);
}
SMELT_INLINE int minimum_of_ints(int a, int b) {
  unsigned y;
  asm("min.u32 %0, %1, %2;" : "=r"(y) : "r"((unsigned)a ^ 0x80000000u), "r"((unsigned)b ^ 0x80000000u));
  return (int)(y ^ 0x80000000u);
}
SMELT_INLINE unsigned maximum_of_unsigned(unsigned a, unsigned b) {
  int y;
  asm("max.s32 %0, %1, %2;" : "=r"(y) : "r"((int)(a ^ 0x80000000u)), "r"((int)(b ^ 0x80000000u)));
  return (unsigned)y ^ 0x80000000u;
}
SMELT_INLINE unsigned minimum_of_unsigned(unsigned a, unsigned b) {
  int y;
  asm("min.s32 %0, %1, %2;" : "=r"(y) : "r"((int)(a ^ 0x80000000u)), "r"((int)(b ^ 0x80000000u)));
  return (unsigned)y ^ 0x80000000u;
}
SMELT_INLINE int choose_int(bool c, int a, int b) {
  int y;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.b32 %0, %2, %3, p; }" : "=r"(y) : "r"((unsigned)c), "r"(a), "r"(b));
  return y;
}
SMELT_INLINE float round_f16(float x) { return from_f16(to_f16(x)); }
SMELT_INLINE float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
SMELT_INLINE float power_of_two_full(float x) { float y; asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
SMELT_INLINE float reciprocal(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
SMELT_INLINE float inverse_root(float x) { float y; asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// Rounded correctly, of every x, as sqrtf is, but without its branch for what is tiny or not finite: those are scaled, or chosen.
SMELT_INLINE float square_root(float x) {
  float y;
  asm("{ .reg .pred tiny, usual; .reg .f32 a, r, g, h, e, y;\n"
      "setp.lt.f32 tiny, %1, 0f0D800000; mov.f32 a, %1; @tiny mul.rn.f32 a, a, 0f5F800000;\n"
      "rsqrt.approx.ftz.f32 r, a; mul.rn.f32 g, a, r; mul.rn.f32 h, r, 0f3F000000; neg.f32 e, g;\n"
      "fma.rn.f32 e, e, g, a; fma.rn.f32 y, e, h, g; @tiny mul.rn.f32 y, y, 0f2F800000;\n"
      "setp.neu.f32 usual, %1, 0f00000000; setp.neu.and.f32 usual, %1, 0f7F800000, usual;\n"
      "selp.f32 %0, y, %1, usual; }" : "=f"(y) : "f"(x));
  return y;
}
SMELT_INLINE float root(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
SMELT_INLINE float quotient(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
SMELT_INLINE float saturated_fma(float a, float b, float c) {
  float y;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
  return y;
}

// NaN wins; +0 is above -0.
)";
  text += target.compute >= 80 ? R"(SMELT_INLINE float maximum(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
SMELT_INLINE float minimum(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
)"
                               : R"(SMELT_INLINE float maximum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) & __float_as_int(b));
  return a != a ? a : a == b ? equal : a > b ? a : b;
}
SMELT_INLINE float minimum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) | __float_as_int(b));
  return a != a ? a : a == b ? equal : a < b ? a : b;
}
)";
  return text + R"(SMELT_INLINE double maximum(double a, double b) {
  const double equal = __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a != a ? a : a == b ? equal : a > b ? a : b;
}
SMELT_INLINE double minimum(double a, double b) {
  const double equal = __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a != a ? a : a == b ? equal : a < b ? a : b;
}
)";
}

}  // namespace smelt::emit::cuda
