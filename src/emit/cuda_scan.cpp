// What scans of a team call.
#include "emit/cuda_text.hpp"

namespace smelt::emit::cuda {

HelperList scan_helpers() {
  return {
      {{}, ""},
      {{}, R"(// A running value that may have restarted on the way.
template <class T> struct Run { T value; unsigned restarts; };
// A running sum, and the product of the factors on the way.
template <class T> struct Scaled { T value; T factor; };)"},
      {{"from_lane_before"},
       R"(template <class T> SMELT_INLINE T from_lane_before(unsigned mask, T x, int d, int width) {
  if (width == 1) return x;
  union { T value; unsigned words[(sizeof(T) + 3) / 4]; } u;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) + 3) / 4; ++i) u.words[i] = __shfl_up_sync(mask, u.words[i], d, width);
  return u.value;
})"},
      {{"from_lane"}, R"(template <class T> SMELT_INLINE T from_lane(unsigned mask, T x, int lane, int width) {
  if (width == 1) return x;
  union { T value; unsigned words[(sizeof(T) + 3) / 4]; } u;
  u.value = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(T) + 3) / 4; ++i) u.words[i] = __shfl_sync(mask, u.words[i], lane, width);
  return u.value;
})"},
      {{"running"},
       R"(// Of lane 0 to this one.
template <int kWidth, class T, class Join> SMELT_INLINE T running(unsigned mask, T x, int lane, const Join& join) {
#pragma unroll
  for (int d = 1; d < kWidth; d *= 2) {
    const T y = from_lane_before(mask, x, d, kWidth);
    if (lane >= d) x = join(y, x);
  }
  return x;
})",
       {"from_lane_before"}},
      {{"scan_team"},
       R"(// x becomes the running values of kGroups groups, one after the other, of kWidth * kWarps * kLanes elements each, kLanes of them to a
// thread, after `carry`, which becomes that of all. `meet`: memory where the warps meet, `turn`: which half of it.
template <int kWidth, int kWarps, int kGroups, int kLanes, bool kExclusive, class T, class Join>
SMELT_INLINE void scan_team(T (&x)[kGroups * kLanes], T& carry, T nothing, unsigned mask, int t, T (*meet)[32],
                            int& turn, const Join& join) {
  constexpr int kBatch = kWarps > 1 ? (kGroups < 32 / kWarps ? kGroups : 32 / kWarps) : kGroups;
  const int lane = t & (kWidth - 1), warp = t / kWidth;
#pragma unroll
  for (int first = 0; first < kGroups; first += kBatch) {
    T before[kBatch], total[kBatch];
#pragma unroll
    for (int g = 0; g < kBatch; ++g) {
      const int u = first + g;
      if (u >= kGroups) continue;
#pragma unroll
      for (int l = 1; l < kLanes; ++l) x[u * kLanes + l] = join(x[u * kLanes + l - 1], x[u * kLanes + l]);
      const T all = running<kWidth>(mask, x[u * kLanes + kLanes - 1], lane, join);
      const T left = from_lane_before(mask, all, 1, kWidth);
      before[g] = lane ? left : nothing;
      if (kWarps == 1) total[g] = from_lane(mask, all, kWidth - 1, kWidth);
      if (kWarps > 1 && lane == kWidth - 1) meet[turn][g * kWarps + warp] = all;
    }
    if (kWarps > 1) {
      __syncthreads();
      T all = lane < kBatch * kWarps && first * kWarps + lane < kGroups * kWarps ? meet[turn][lane] : nothing;
      all = running<32>(0xffffffffu, all, lane, join);
#pragma unroll
      for (int g = 0; g < kBatch; ++g) {
        const int at = g * kWarps + warp;
        const T left = from_lane(0xffffffffu, all, at ? at - 1 : 0, 32);
        const T ahead = at ? join(carry, left) : carry;
        before[g] = join(ahead, before[g]);
      }
      carry = join(carry, from_lane(0xffffffffu, all, kBatch * kWarps - 1, 32));
      turn ^= 1;
    }
#pragma unroll
    for (int g = 0; g < kBatch; ++g) {
      const int u = first + g;
      if (u >= kGroups) continue;
      if (kWarps == 1) {
        before[g] = join(carry, before[g]);
        carry = join(carry, total[g]);
      }
#pragma unroll
      for (int l = kLanes - 1; l >= 0; --l) {
        if (!kExclusive) x[u * kLanes + l] = join(before[g], x[u * kLanes + l]);
        else x[u * kLanes + l] = l ? join(before[g], x[u * kLanes + (l ? l - 1 : 0)]) : before[g];
      }
    }
  }
})",
       {"from_lane_before", "from_lane", "running"}},
  };
}

}  // namespace smelt::emit::cuda
