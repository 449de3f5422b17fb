#include "emit/cuda_text.hpp"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "emit/ptx_text.hpp"
#include "emit/small_float_text.hpp"

namespace smelt::emit::cuda {

HelperList random_helpers() {
  return {
      {{}, ""},
      {{}, R"(typedef unsigned long long Counter;)"},
      {{"philox"}, R"(// Philox4x32-10: the four words of a counter.
SMELT_INLINE void philox(Counter seed, Counter counter, Counter stream, unsigned* words) {
  unsigned a = (unsigned)counter, b = (unsigned)(counter >> 32), c = (unsigned)stream, d = (unsigned)(stream >> 32);
  unsigned k = (unsigned)seed, l = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const Counter p = 0xD2511F53ull * a, q = 0xCD9E8D57ull * c;
    a = (unsigned)(q >> 32) ^ b ^ k, b = (unsigned)q;
    c = (unsigned)(p >> 32) ^ d ^ l, d = (unsigned)p;
    k += 0x9E3779B9u, l += 0xBB67AE85u;
  }
  words[0] = a, words[1] = b, words[2] = c, words[3] = d;
})"},
      {{"pair_words"}, R"(// What becomes of the words of whole pairs: 0 nothing; 1 the first of each pair twice; 2 the
// second, less a quarter of 2^32 in odd places.
template <int N, int draw>
SMELT_INLINE void pair_words(unsigned* w) {
#pragma unroll
  for (int n = 0; n < N; n += 2) {
    if (draw == 1) w[n + 1] = w[n];
    if (draw == 2) w[n] = w[n + 1], w[n + 1] -= 0x40000000u;
  }
})"},
      {{"random_words"},
       R"(// N words from an element on, which is a multiple of four or not.
template <int N, bool whole, int draw>
SMELT_INLINE void random_words(Counter seed, Counter offset, Counter stream, Counter element, unsigned* words) {
  // Under a mask the first elements may lie before the start of the array: rounded down, the
  // others still find their blocks.
  const Counter block = (Counter)((long long)element >> 2);
  unsigned w[N + 4];
#pragma unroll
  for (int n = 0; n < N; n += 4) philox(seed, offset + block + n / 4, stream, w + n);
  if (!whole) philox(seed, offset + block + N / 4, stream, w + N);
  pair_words<whole ? N : N + 4, draw>(w);
  if (!whole) {
#pragma unroll
    for (int n = 0; n < N + 2; ++n) w[n] = element & 2 ? w[n + 2] : w[n];
#pragma unroll
    for (int n = 0; n < N; ++n) w[n] = element & 1 ? w[n + 1] : w[n];
  }
#pragma unroll
  for (int n = 0; n < N; ++n) words[n] = w[n];
})",
       {"philox", "pair_words"}},
      {{"random_word"},
       R"(template <int draw>
SMELT_INLINE unsigned random_word(Counter seed, Counter offset, Counter stream, Counter element) {
  unsigned w[4];
  philox(seed, offset + (element >> 2), stream, w);
  pair_words<4, draw>(w);
  return element & 2 ? (element & 1 ? w[3] : w[2]) : (element & 1 ? w[1] : w[0]);
})",
       {"philox", "pair_words"}},
  };
}

namespace {

// A load of a group that stays where it is in the program.
std::string group_load(std::string_view name, std::string_view cached, std::string_view what) {
  return fmt::format(
      R"(// 4, 8 or 16 bytes {2}.
template <class T, int N> SMELT_INLINE Vec<T, N> {0}(const T* p) {{
  union {{ Vec<T, N> all; unsigned at[sizeof(T) * N / 4]; }} word;
  if constexpr (sizeof(T) * N == 4)
    asm volatile("ld.global{1}.u32 %0, [%1];" : "=r"(word.at[0]) : "l"(p));
  else if constexpr (sizeof(T) * N == 8)
    asm volatile("ld.global{1}.v2.u32 {{%0, %1}}, [%2];" : "=r"(word.at[0]), "=r"(word.at[1]) : "l"(p));
  else
    asm volatile("ld.global{1}.v4.u32 {{%0, %1, %2, %3}}, [%4];"
                 : "=r"(word.at[0]), "=r"(word.at[1]), "=r"(word.at[2]), "=r"(word.at[3])
                 : "l"(p));
  return word.all;
}})",
      name, cached, what);
}

HelperList memory_helpers() {
  return {
      {{}, R"(#define SMELT_INLINE static __device__ __forceinline__
)"},
      {{}, R"(template <class T, int N> struct __align__(sizeof(T) * N) Vec { T at[N]; };)"},
      {{"lasting"},
       R"(// 4, 8 or 16 bytes that the L2 cache evicts last. Rows and arrays that are read once then evict each other, and not what is
// written meanwhile, which goes to memory in longer runs: a layernorm of 16384 rows of 4096 took 128 us on an H200 instead of 133.
template <class T, int N> SMELT_INLINE Vec<T, N> lasting(const T* p) {
#if __CUDA_ARCH__ >= 800
  union { Vec<T, N> all; unsigned at[sizeof(T) * N / 4]; } word;
#if __CUDA_ARCH__ == 900
  const unsigned long long policy = 0x14f0000000000000ull;  // what createpolicy gives, without its instructions
#else
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
  if constexpr (sizeof(T) * N == 4)
    asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word.at[0]) : "l"(p), "l"(policy) : "memory");
  else if constexpr (sizeof(T) * N == 8)
    asm volatile("ld.global.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
                 : "=r"(word.at[0]), "=r"(word.at[1])
                 : "l"(p), "l"(policy)
                 : "memory");
  else
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(word.at[0]), "=r"(word.at[1]), "=r"(word.at[2]), "=r"(word.at[3])
                 : "l"(p), "l"(policy)
                 : "memory");
  return word.all;
#else
  return *(const Vec<T, N>*)p;
#endif
})"},
      {{"passing"},
       group_load("passing", ".L1::no_allocate",
                  "that are not kept in the L1 cache, where they would evict what is read again")},
      {{"repeated"},
       group_load("repeated", "", "that other workgroups read too; the compiler does not put off reading them")},
      {{"fetched"},
       R"(// A load that stays where it is in the program: of many loads before stores, the compiler would move most to after the first stores.
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
})"},
  };
}

HelperList integer_helpers() {
  return {
      {{"smaller"}, R"(template <class T> SMELT_INLINE T smaller(T a, T b) { return a < b ? a : b; })"},
      {{"larger"}, R"(template <class T> SMELT_INLINE T larger(T a, T b) { return a > b ? a : b; })"},
      {{"maximum_of_wides"},
       R"(SMELT_INLINE long long maximum_of_wides(long long a, long long b) { return a > b ? a : b; })"},
      {{"minimum_of_wides"},
       R"(SMELT_INLINE long long minimum_of_wides(long long a, long long b) { return a < b ? a : b; })"},
      {{"maximum_of_wides"},
       R"(SMELT_INLINE unsigned long long maximum_of_wides(unsigned long long a, unsigned long long b) { return a > b ? a : b; })"},
      {{"minimum_of_wides"},
       R"(SMELT_INLINE unsigned long long minimum_of_wides(unsigned long long a, unsigned long long b) { return a < b ? a : b; })"},
      {{"add_wide_on_chip"},
       R"(// Shared memory adds words of 32 bits at once; those of 64 bits would be exchanged until nobody is in between.
template <class T> SMELT_INLINE void add_wide_on_chip(T* at, T x) {
  unsigned* const half = (unsigned*)at;
  const unsigned low = (unsigned)x, before = atomicAdd(half, low);
  const unsigned high = (unsigned)((unsigned long long)x >> 32) + (before + low < low);
  if (high) atomicAdd(half + 1, high);
})"},
      {{"int_quotient"}, R"(// a / d and a % d by d's multiplier m = 2^62 / d + 1: floor(a * m / 2^62).
SMELT_INLINE int int_quotient(int a, long long m) {
  const unsigned long long low = (unsigned long long)(unsigned)a * (unsigned)m;
  const unsigned long long high = (unsigned long long)(unsigned)a * (unsigned)(m >> 32) + (low >> 32);
  return (int)(high >> 30);
})"},
      {{"int_remainder"},
       R"(SMELT_INLINE int int_remainder(int a, int d, long long m) { return a - int_quotient(a, m) * d; })",
       {"int_quotient"}},
      {{"floor_div"},
       R"(template <class T> SMELT_INLINE T floor_div(T a, T b) { T q = a / b; return a % b < 0 ? q - 1 : q; })"},
      {{"floor_mod"},
       R"(template <class T> SMELT_INLINE T floor_mod(T a, T b) { T r = a % b; return r < 0 ? r + b : r; })"},
      {{}, ""},
  };
}

HelperList half_helpers() {
  return {
      {{"from_bf16"},
       R"(SMELT_INLINE float from_bf16(unsigned short x) { return __uint_as_float((unsigned)x << 16); })"},
      {{"from_f16"},
       R"(SMELT_INLINE float from_f16(unsigned short x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y; })"},
      {{"to_f16"},
       R"(SMELT_INLINE unsigned short to_f16(float x) { unsigned short y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y; })"},
  };
}

// The instructions from compute capability 8.9 on take pairs and saturate, so that these have as
// few.
HelperList f8_helpers() {
  constexpr SmallFloatSpelling byte{"SMELT_INLINE",    "unsigned char",   "unsigned",
                                    "__uint_as_float", "__float_as_uint", "fabsf"};
  return {
      {{"from_f8_e4m3"},
       R"(// As an f16 it is 2^-8 of its value.
SMELT_INLINE float from_f8_e4m3(unsigned char x) {
  const unsigned rest = x & 0x7fu;
  const float y = from_f16((unsigned short)(((x & 0x80u) << 8) | (rest << 7))) * 256.0f;
  return rest == 0x7fu ? __uint_as_float(__float_as_uint(y) | 0x7fc00000u) : y;
})",
       {"from_f16"}},
      {{"to_f8_e4m3"}, to_small_float(DType::F8E4M3, byte)},
      {{"from_f8_e5m2"},
       R"(SMELT_INLINE float from_f8_e5m2(unsigned char x) { return from_f16((unsigned short)(x << 8)); })",
       {"from_f16"}},
      {{"to_f8_e5m2"}, to_small_float(DType::F8E5M2, byte)},
  };
}

HelperList bf16_helpers(int compute) {
  if (compute >= 80)
    return {
        {{"to_bf16"}, R"(SMELT_INLINE unsigned short to_bf16(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
})"},
        {{"round_bf16"}, R"(SMELT_INLINE float round_bf16(float x) {
  unsigned y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x), "f"(0.0f));
  return __uint_as_float(y);
})"},
    };
  return {
      {{"to_bf16"}, R"(SMELT_INLINE unsigned short to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (unsigned short)(x == x ? rounded : (bits >> 16) | 0x40u);
})"},
      {{"round_bf16"},
       R"(SMELT_INLINE float round_bf16(float x) { return from_bf16(to_bf16(x)); })",
       {"from_bf16", "to_bf16"}},
  };
}

// Conversions of integers are a quarter as fast as the arithmetic that these take: a byte in the
// low bits of 2^23 is 2^23 plus its value.
HelperList from_byte_helpers() {
  return {
      {{}, ""},
      {{"from_u8_at"}, R"(// Of byte n of an array, which begins at a multiple of 4.
SMELT_INLINE float from_u8_at(const unsigned char* p, int n) {
  return __uint_as_float(__byte_perm(((const unsigned*)p)[n / 4], 0x4b000000u, 0x7540u + n % 4)) - 8388608.0f;
})"},
      {{"and_or"},
       R"(// One instruction, where the compiler would make two of two constants.
SMELT_INLINE unsigned and_or(unsigned x, unsigned mask, unsigned more) {
  unsigned y;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(y) : "r"(x), "r"(mask), "r"(more));
  return y;
})"},
      {{"from_bits_at"},
       R"(// Of kCount < 8 bits from bit kAt on of byte n: where they are in their half of the word.
template <int kAt, int kCount> SMELT_INLINE float from_bits_at(const unsigned char* p, int n) {
  const int at = n % 4 * 8 + kAt, down = at + kCount > 23 ? 16 : 0, low = at - down;
  const unsigned bits = and_or(((const unsigned*)p)[n / 4] >> down, ((1u << kCount) - 1) << low, 0x4b000000u);
  const float unit = __uint_as_float(0x3f800000u - (low << 23));  // 2^-low
  return fmaf(__uint_as_float(bits), unit, -8388608.0f * unit);
})",
       {"and_or"}},
      {{"from_i8_at"}, R"(// Of byte n of an array, which begins at a multiple of 4.
SMELT_INLINE float from_i8_at(const signed char* p, int n) {
  const unsigned word = ((const unsigned*)p)[n / 4] ^ 0x80808080u;
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7540u + n % 4)) - 8388736.0f;
})"},
  };
}

// From f32 to integers: truncated (to_i8) or rounded (near_i8), and saturated; NaN becomes 0.
HelperList to_integer_helpers() {
  HelperList list{{{}, ""}};
  for (const auto& [name, ptx, type, word] : {std::tuple{"i8", "s8", "signed char", "int"},
                                              {"u8", "u8", "unsigned char", "int"},
                                              {"i16", "s16", "short", "int"},
                                              {"u16", "u16", "unsigned short", "int"},
                                              {"i32", "s32", "int", "int"},
                                              {"u32", "u32", "unsigned", "unsigned"}})
    for (const auto& [how, rounding] : {std::pair{"to", "rzi"}, {"near", "rni"}})
      list.push_back(
          {{fmt::format("{}_{}", how, name)},
           fmt::format(
               R"(SMELT_INLINE {0} {1}_{2}(float x) {{ {3} y; asm("cvt.{4}.{5}.f32 %0, %1;" : "=r"(y) : "f"(x)); return ({0})y; }})",
               type, how, name, word, rounding, ptx)});
  // Where one of the types has 64 bits the machine makes no 0 of NaN.
  struct Wide {
    const char *name, *ptx, *type, *from;
    char word, of;
  };
  for (const auto& [name, ptx, type, from, word, of] :
       {Wide{"to_i64", "s64.f32", "long long", "float", 'l', 'f'},
        Wide{"to_u64", "u64.f32", "unsigned long long", "float", 'l', 'f'},
        Wide{"f64_to_i32", "s32.f64", "int", "double", 'r', 'd'},
        Wide{"f64_to_u32", "u32.f64", "unsigned", "double", 'r', 'd'},
        Wide{"f64_to_i64", "s64.f64", "long long", "double", 'l', 'd'},
        Wide{"f64_to_u64", "u64.f64", "unsigned long long", "double", 'l', 'd'}})
    list.push_back(
        {{name},
         fmt::format(
             R"(SMELT_INLINE {0} {1}({2} x) {{ {0} y; asm("cvt.rzi.{3} %0, %1;" : "={4}"(y) : "{5}"(x)); return x == x ? y : 0; }})",
             type, name, from, ptx, word, of)});
  return list;
}

HelperList bit_helpers() {
  return {
      {{"choose"}, R"(// Without a branch, which the compiler prefers where one side is long.
SMELT_INLINE float choose(bool c, float a, float b) {
  float y;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.f32 %0, %2, %3, p; }" : "=f"(y) : "r"((unsigned)c), "f"(a), "f"(b));
  return y;
})"},
      {{"low_bits_i8"},
       R"(// Integers of 8 and 16 bits are computed in 32 and cut: of a conversion to 8 bits, and of a negated short, the assembler of CUDA 13.0 may
// lose the cut for sm_90 when it can use the sum itself. An instruction of its own for that it keeps.
SMELT_INLINE int low_bits_i8(unsigned x) { int y; asm("bfe.s32 %0, %1, 0, 8;" : "=r"(y) : "r"(x)); return y; })"},
      {{"low_bits_i16"},
       R"(SMELT_INLINE int low_bits_i16(unsigned x) { int y; asm("bfe.s32 %0, %1, 0, 16;" : "=r"(y) : "r"(x)); return y; })"},
      {{"low_bits_u8"},
       R"(SMELT_INLINE unsigned low_bits_u8(unsigned x) { unsigned y; asm("bfe.u32 %0, %1, 0, 8;" : "=r"(y) : "r"(x)); return y; })"},
      {{"low_bits_u16"},
       R"(SMELT_INLINE unsigned low_bits_u16(unsigned x) { unsigned y; asm("bfe.u32 %0, %1, 0, 16;" : "=r"(y) : "r"(x)); return y; })"},
      {{"opaque"},
       R"(// Where an unsigned was a signed integer of 8 or 16 bits, the assembler of CUDA 13.0 converts it to a float as that one. It cannot
// see what this returns.
SMELT_INLINE unsigned opaque(unsigned x) { unsigned y; asm("prmt.b32 %0, %1, %1, 0x3210;" : "=r"(y) : "r"(x)); return y; })"},
  };
}

HelperList float_helpers() {
  return {
      {{"choose"}, R"(template <class T> SMELT_INLINE T choose(bool c, T a, T b) {
  if (sizeof(T) > 4 || T(0.5f) != T(0)) return c ? a : b;
  int y;
  asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; selp.b32 %0, %2, %3, p; }" : "=r"(y) : "r"((unsigned)c), "r"((int)a), "r"((int)b));
  return (T)y;
})"},
      {{"round_f16"},
       R"(SMELT_INLINE float round_f16(float x) { return from_f16(to_f16(x)); })",
       {"from_f16", "to_f16"}},
      {{"power_of_two"},
       R"(SMELT_INLINE float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; })"},
      {{"power_of_two_full"},
       R"(SMELT_INLINE float power_of_two_full(float x) { float y; asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; })"},
      {{"reciprocal"},
       R"(SMELT_INLINE float reciprocal(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; })"},
      {{"inverse_root"},
       R"(SMELT_INLINE float inverse_root(float x) { float y; asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; })"},
      {{"square_root"},
       R"(// Rounded correctly, of every x, as sqrtf is, but without its branch for what is tiny or not finite: those are scaled, or chosen.
SMELT_INLINE float square_root(float x) {
  float y;
  asm("{ .reg .pred tiny, usual; .reg .f32 a, r, g, h, e, y;\n"
      "setp.lt.f32 tiny, %1, 0f0D800000; mov.f32 a, %1; @tiny mul.rn.f32 a, a, 0f5F800000;\n"
      "rsqrt.approx.ftz.f32 r, a; mul.rn.f32 g, a, r; mul.rn.f32 h, r, 0f3F000000; neg.f32 e, g;\n"
      "fma.rn.f32 e, e, g, a; fma.rn.f32 y, e, h, g; @tiny mul.rn.f32 y, y, 0f2F800000;\n"
      "setp.neu.f32 usual, %1, 0f00000000; setp.neu.and.f32 usual, %1, 0f7F800000, usual;\n"
      "selp.f32 %0, y, %1, usual; }" : "=f"(y) : "f"(x));
  return y;
})"},
      {{"square_root"}, R"(SMELT_INLINE double square_root(double x) { return sqrt(x); })"},
      {{"root"},
       R"(SMELT_INLINE float root(float x) { float y; asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; })"},
      {{"quotient"}, R"(SMELT_INLINE float quotient(float a, float b) {
  float y;
  asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
})"},
      {{"sine"}, R"(SMELT_INLINE float sine(float x) { return sinf(x); })"},
      {{"sine"}, R"(SMELT_INLINE double sine(double x) { return sin(x); })"},
      {{"cosine"}, R"(SMELT_INLINE float cosine(float x) { return cosf(x); })"},
      {{"cosine"}, R"(SMELT_INLINE double cosine(double x) { return cos(x); })"},
      {{"tangent"}, R"(SMELT_INLINE float tangent(float x) { return tanf(x); })"},
      {{"tangent"}, R"(SMELT_INLINE double tangent(double x) { return tan(x); })"},
      {{"far_remainder"},
       R"(// Long code, for what is rare: once for all elements of a thread.
__device__ __noinline__ float far_remainder(float x, float b) { return fmodf(x, b); })"},
      {{"remainder_near_zero"},
       R"(// x = whole * b + rest with |rest| < |b|, exactly, unless `exact` is false: then `whole` is large, or b 0, or one not finite.
struct Remainder {
  float whole, rest;
  bool exact;
};
SMELT_INLINE Remainder remainder_near_zero(float x, float b) {
  const float kRounding = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to an integer
  const float whole = fmaf(x, reciprocal(b), kRounding) - kRounding, rest = fmaf(-whole, b, x);
  return {whole, rest, fabsf(whole) < 2097152.0f && fabsf(rest) < fabsf(b)};
})",
       {"reciprocal"}},
      {{"truncated_remainder"},
       R"(SMELT_INLINE float truncated_remainder(float x, float b) {
  const Remainder r = remainder_near_zero(x, b);
  if (!r.exact) return far_remainder(x, b);
  return copysignf(r.rest != 0 && (r.rest < 0) != (x < 0) ? fabsf(b) - fabsf(r.rest) : r.rest, x);
})",
       {"remainder_near_zero", "far_remainder"}},
      {{"floored_remainder"},
       R"(SMELT_INLINE float floored_remainder(float x, float b) {
  const Remainder r = remainder_near_zero(x, b);
  const float rest = r.exact ? r.rest : far_remainder(x, b);
  return rest == 0 ? copysignf(0.0f, b) : (rest < 0) != (b < 0) ? rest + b : rest;
})",
       {"remainder_near_zero", "far_remainder"}},
      {{"far_quotient"}, R"(__device__ __noinline__ float far_quotient(float x, float b) {
  const float whole = floorf(x / b);
  if (b == 0) return whole;
  if (fabsf(x) == __int_as_float(0x7f800000)) return x - x;
  const float rest = fabsf(b) == __int_as_float(0x7f800000) ? x : fmaf(-whole, b, x);
  return rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
})"},
      {{"floored_quotient"},
       R"(SMELT_INLINE float floored_quotient(float x, float b) {
  const Remainder r = remainder_near_zero(x, b);
  if (!r.exact) return far_quotient(x, b);
  const float whole = r.rest != 0 && (r.rest < 0) != (b < 0) ? r.whole - 1 : r.whole;
  const int sign = (__float_as_int(x) ^ __float_as_int(b)) & 0x80000000;
  return __int_as_float((__float_as_int(whole) & 0x7fffffff) | sign);
})",
       {"remainder_near_zero", "far_quotient"}},
      {{"saturated_fma"}, R"(SMELT_INLINE float saturated_fma(float a, float b, float c) {
  float y;
  asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
  return y;
})"},
      {{}, ""},
  };
}

HelperList extreme_helpers(int compute) {
  if (compute >= 80)
    return {
        {{"maximum"}, R"(// NaN wins; +0 is above -0.
SMELT_INLINE float maximum(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
})"},
        {{"minimum"}, R"(SMELT_INLINE float minimum(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
})"},
    };
  return {
      {{"maximum"}, R"(// NaN wins; +0 is above -0.
SMELT_INLINE float maximum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) & __float_as_int(b));
  return a != a ? a : a == b ? equal : a > b ? a : b;
})"},
      {{"minimum"}, R"(SMELT_INLINE float minimum(float a, float b) {
  const float equal = __int_as_float(__float_as_int(a) | __float_as_int(b));
  return a != a ? a : a == b ? equal : a < b ? a : b;
})"},
  };
}

HelperList f64_extreme_helpers() {
  return {
      {{"maximum"}, R"(SMELT_INLINE double maximum(double a, double b) {
  const double equal = __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a != a ? a : a == b ? equal : a > b ? a : b;
})"},
      {{"minimum"}, R"(SMELT_INLINE double minimum(double a, double b) {
  const double equal = __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a != a ? a : a == b ? equal : a < b ? a : b;
})"},
  };
}

}  // namespace

HelperList prelude(const CudaTarget& target) {
  HelperList list = memory_helpers();
  append(list, integer_helpers());
  append(list, half_helpers());
  append(list, f8_helpers());
  append(list, bf16_helpers(target.compute));
  append(list, to_integer_helpers());
  append(list, from_byte_helpers());
  append(list, bit_helpers());
  append(list, ptx_extremes());
  append(list, float_helpers());
  append(list, extreme_helpers(target.compute));
  append(list, f64_extreme_helpers());
  return list;
}

}  // namespace smelt::emit::cuda
