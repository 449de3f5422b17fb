// Functions in OpenCL C that only some kernels need: random words, and roundings for drivers that
// are CPUs.
#pragma once

#include "emit/prelude.hpp"

namespace smelt::emit {

// Functions of the driver that have branches, without. $T a float, $I the integer of its width, $W
// the float from which on all are integers.
inline HelperList rounding_forms() {
  return {
      {{}, ""},
      {{"with_sign_of"}, R"(SMELT_INLINE $T with_sign_of($T x, $T a) {
  const $I sign = ($I)1 << (8 * sizeof($T) - 1);
  return as_$T((as_$I(x) & ~sign) | (as_$I(a) & sign));
})"},
      {{"to_even"},
       R"(SMELT_INLINE $T to_even($T a) {
  const $T positive = with_sign_of(a, ($T)1), x = with_sign_of((positive + $W) - $W, a);
  return positive < $W ? x : a;
})",
       {"with_sign_of"}},
      {{"to_floor"},
       R"(SMELT_INLINE $T to_floor($T a) {
  const $T x = to_even(a), less = x - 1;
  return x > a ? less : x;
})",
       {"to_even"}},
      {{"to_ceiling"},
       R"(SMELT_INLINE $T to_ceiling($T a) {
  const $T x = to_even(a), more = with_sign_of(x + 1, a);
  return x < a ? more : x;
})",
       {"with_sign_of", "to_even"}},
      {{"to_zero"},
       R"(SMELT_INLINE $T to_zero($T a) { return with_sign_of(to_floor(with_sign_of(a, ($T)1)), a); })",
       {"with_sign_of", "to_floor"}},
  };
}

inline constexpr const char* kRoundingNames = R"(#define rint to_even
#define floor to_floor
#define ceil to_ceiling
#define trunc to_zero)";

inline HelperList opencl_random_helpers() {
  return {
      {{}, ""},
      {{"philox"}, R"(// Philox4x32-10: the four words of a counter.
SMELT_INLINE void philox(ulong seed, ulong counter, ulong stream, uint* words) {
  uint a = (uint)counter, b = (uint)(counter >> 32), c = (uint)stream, d = (uint)(stream >> 32);
  uint k = (uint)seed, l = (uint)(seed >> 32);
  #pragma unroll
  for (int round = 0; round < 10; ++round) {
    const ulong p = 0xD2511F53ul * a, q = 0xCD9E8D57ul * c;
    a = (uint)(q >> 32) ^ b ^ k, b = (uint)q;
    c = (uint)(p >> 32) ^ d ^ l, d = (uint)p;
    k += 0x9E3779B9u, l += 0xBB67AE85u;
  }
  words[0] = a, words[1] = b, words[2] = c, words[3] = d;
})"},
      {{"pair_words"},
       R"(// `draw` 1: the first word of each pair twice; 2: the second, less a quarter of 2^32 in odd places.
SMELT_INLINE void pair_words(int draw, uint* w) {
  if (draw == 1) w[1] = w[0], w[3] = w[2];
  if (draw == 2) w[0] = w[1], w[1] -= 0x40000000u, w[2] = w[3], w[3] -= 0x40000000u;
})"},
      {{"random_word"},
       R"(SMELT_INLINE uint random_word(int draw, ulong seed, ulong offset, ulong stream, ulong element) {
  uint w[4];
  philox(seed, offset + (element >> 2), stream, w);
  pair_words(draw, w);
  return element & 2 ? (element & 1 ? w[3] : w[2]) : (element & 1 ? w[1] : w[0]);
})",
       {"philox", "pair_words"}},
      {{"random_words"},
       R"(// Those of four neighbours; `whole`: the first is a multiple of 4.
SMELT_INLINE void random_words(int draw, bool whole, ulong seed, ulong offset, ulong stream, ulong element,
                               uint* words) {
  uint w[8];
  const ulong block = (ulong)((long)element >> 2);
  philox(seed, offset + block, stream, w);
  pair_words(draw, w);
  if (!whole) {
    philox(seed, offset + block + 1, stream, w + 4);
    pair_words(draw, w + 4);
    #pragma unroll
    for (int n = 0; n < 6; ++n) w[n] = element & 2 ? w[n + 2] : w[n];
    #pragma unroll
    for (int n = 0; n < 4; ++n) w[n] = element & 1 ? w[n + 1] : w[n];
  }
  #pragma unroll
  for (int n = 0; n < 4; ++n) words[n] = w[n];
})",
       {"philox", "pair_words"}},
  };
}

}  // namespace smelt::emit
