// Scans over the grid: how a part of a row finds what all before it add up to.
//
// Part p makes its total known as soon as it has it. It then takes the totals of the parts before
// it among its 32, those of the groups of 32 before it among its 32 groups, and those of all sets
// of 1024 before; the last part of a group, and of a set, makes its total known on the way. No part
// waits for a running value, only for totals, two steps deep at most; so no chain of parts grows,
// and as every level is joined in one order, the result does not depend on who was first. Parts are
// numbered as they begin, so that all that one waits for has begun.
#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/cuda_text.hpp"
#include "kernel/text.hpp"

namespace smelt::emit {

HelperList cuda::scan_grid_helpers() {
  return {
      {{}, ""},
      {{"peek"}, R"(SMELT_INLINE unsigned long long peek(const unsigned long long* at) {
  unsigned long long x;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(at) : "memory");
  return x;
})"},
      {{"poke"}, R"(SMELT_INLINE void poke(unsigned long long* at, unsigned long long x) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(at), "l"(x) : "memory");
})"},
      {{},
       R"(// A total as words: up to 4 bytes in one word with the mark that it is there (and whether it has
// restarted), or words of 8 bytes and the mark in the next word.
template <class T> struct Total {
  __device__ __forceinline__ static T value(const T& x) { return x; }
  __device__ __forceinline__ static unsigned restarts(const T&) { return 0; }
  __device__ __forceinline__ static T make(T value, unsigned) { return value; }
  typedef T Value;
};
template <class V> struct Total<Run<V>> {
  __device__ __forceinline__ static V value(const Run<V>& x) { return x.value; }
  __device__ __forceinline__ static unsigned restarts(const Run<V>& x) { return x.restarts ? 2u : 0u; }
  __device__ __forceinline__ static Run<V> make(V value, unsigned flags) { return Run<V>{value, flags & 2u}; }
  typedef V Value;
};
template <class V> union Bits {
  enum { kWords = (sizeof(V) + 7) / 8 };
  V value;
  unsigned low;
  unsigned long long all[kWords];
  __device__ __forceinline__ Bits() { for (int i = 0; i < kWords; ++i) all[i] = 0; }
};)"},
      {{"publish"},
       R"(template <class T> SMELT_INLINE void publish(unsigned long long* at, const T& x) {
  typedef typename Total<T>::Value V;
  Bits<V> bits;
  bits.value = Total<T>::value(x);
  const unsigned long long flags = 1u | Total<T>::restarts(x);
  if (sizeof(V) <= 4) {
    poke(at, flags << 32 | bits.low);
  } else {
#pragma unroll
    for (int i = 0; i < Bits<V>::kWords; ++i) poke(at + i, bits.all[i]);
    asm volatile("st.release.gpu.global.u64 [%0], %1;" :: "l"(at + Bits<V>::kWords), "l"(flags << 32) : "memory");
  }
})",
       {"poke"}},
      {{"await"},
       R"(// The total there, when it is known; `word`: what was seen there last.
template <class T> SMELT_INLINE T await(const unsigned long long* at, unsigned long long word) {
  typedef typename Total<T>::Value V;
  Bits<V> bits;
  if (sizeof(V) <= 4) {
    while (!(word >> 32)) word = peek(at);
    bits.low = (unsigned)word;
  } else {
    do asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at + Bits<V>::kWords) : "memory");
    while (!(word >> 32));
#pragma unroll
    for (int i = 0; i < Bits<V>::kWords; ++i) bits.all[i] = peek(at + i);
  }
  return Total<T>::make(bits.value, (unsigned)(word >> 32));
})",
       {"peek"}},
      {{"before_part"},
       R"(// By one warp. `parts`: how many the row has, kWords to each, on three levels that follow each other.
template <int kWords, class T, class Join>
SMELT_INLINE T before_part(unsigned long long* row, int part, int parts, const T& mine, const T& nothing, int lane,
                           const Join& join) {
  const unsigned all = 0xffffffffu;
  unsigned long long *const groups = row + (long long)parts * kWords, *const sets = groups + (long long)parts * kWords;
  if (lane == 0) publish(row + (long long)part * kWords, mine);
  const int group = part >> 5, set = part >> 10;
  // What is there already, of all three levels at once.
  const int at0 = (group << 5) + lane, at1 = (set << 5) + lane;
  const unsigned long long word0 = at0 < part ? peek(row + (long long)at0 * kWords) : 0;
  const unsigned long long word1 = at1 < group ? peek(groups + (long long)at1 * kWords) : 0;
  const unsigned long long word2 = lane < set ? peek(sets + (long long)lane * kWords) : 0;
  T x = nothing;
  if (at0 < part) x = await<T>(row + (long long)at0 * kWords, word0);
  __syncwarp(all);
  T result = from_lane(all, running<32>(all, x, lane, join), 31, 32);
  const T group_total = join(result, mine);
  if (lane == 0 && (part & 31) == 31) publish(groups + (long long)group * kWords, group_total);
  x = nothing;
  if (at1 < group) x = await<T>(groups + (long long)at1 * kWords, word1);
  __syncwarp(all);
  T above = from_lane(all, running<32>(all, x, lane, join), 31, 32);
  if (lane == 0 && (part & 1023) == 1023) publish(sets + (long long)set * kWords, join(above, group_total));
  result = join(above, result);
  above = nothing;
  for (int first = 0; first < set; first += 32) {
    x = nothing;
    if (first + lane < set) x = await<T>(sets + (long long)(first + lane) * kWords, first ? 0 : word2);
    __syncwarp(all);
    above = join(above, from_lane(all, running<32>(all, x, lane, join), 31, 32));
  }
  return join(above, result);
})",
       {"from_lane", "running", "peek", "publish", "await"}},
      {{"scan_part"},
       R"(// As scan_team, for one part of a row: `before` gives what earlier parts add up to, when it gets this part's total.
template <int kWarps, int kGroups, int kLanes, bool kExclusive, class T, class Join, class Before>
SMELT_INLINE void scan_part(T (&x)[kGroups * kLanes], const T& carry, T nothing, int t, T* meet, const Join& join,
                            const Before& before) {
  constexpr int kTotals = kGroups * kWarps, kEach = (kTotals + 31) / 32;
  const unsigned all = 0xffffffffu;
  const int lane = t & 31, warp = t >> 5;
  T own[kGroups];
#pragma unroll
  for (int u = 0; u < kGroups; ++u) {
#pragma unroll
    for (int l = 1; l < kLanes; ++l) x[u * kLanes + l] = join(x[u * kLanes + l - 1], x[u * kLanes + l]);
    const T upto = running<32>(all, x[u * kLanes + kLanes - 1], lane, join);
    const T left = from_lane_before(all, upto, 1, 32);
    own[u] = lane ? left : nothing;
    if (lane == 31) meet[u * kWarps + warp] = upto;
  }
  __syncthreads();
  if (warp == 0) {
    T sums[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int at = lane * kEach + k;
      const T y = at < kTotals ? meet[at] : nothing;
      sums[k] = k ? join(sums[k ? k - 1 : 0], y) : y;
    }
    const T upto = running<32>(all, sums[kEach - 1], lane, join);
    T left = from_lane_before(all, upto, 1, 32);
    if (lane == 0) left = nothing;
    left = join(join(carry, before(from_lane(all, upto, 31, 32), lane)), left);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const int at = lane * kEach + k;
      if (at < kTotals) meet[at] = k ? join(left, sums[k ? k - 1 : 0]) : left;
    }
  }
  __syncthreads();
#pragma unroll
  for (int u = 0; u < kGroups; ++u) {
    const T ahead = join(meet[u * kWarps + warp], own[u]);
#pragma unroll
    for (int l = kLanes - 1; l >= 0; --l) {
      if (!kExclusive) x[u * kLanes + l] = join(ahead, x[u * kLanes + l]);
      else x[u * kLanes + l] = l ? join(ahead, x[u * kLanes + (l ? l - 1 : 0)]) : ahead;
    }
  }
})",
       {"from_lane_before", "from_lane", "running"}},
  };
}

namespace c_like {

// The first warp finds what comes before each warp's part of every group, and hands it out in
// `meet`.
void PhasePrinter::scan_grid(const Scan& s, const ScanText& text, const RunText& run) {
  SMELT_CHECK(vector_.one_step && team_.threads > 32 && team_.cluster() == 1,
              "a scan over the grid by parts of many steps");
  const int words = kernel::scan_words(kernel_.locals[static_cast<size_t>(s.local)].dtype, s.factor != kNoExpr);
  const int n = text.number;
  const int warps = team_.threads / 32;
  statics_ += fmt::format("  __shared__ {} meet{}[{}];\n", run.type, n, vector_.unroll * warps);
  // The first word of the row: that of its part 0.
  Access row = s.over_grid->meet;
  row.index[row.index.size() - 2] = 0;
  const Place p = place(row);
  line("unsigned long long* const row{} = {} + {};", n, p.base, integer(p.offset));
  line("const auto before{} = [&](const {}& total, int lane) -> {} {{", n, run.type, run.type);
  line("  return {}<{}>(row{}, (int)({}), (int)({}), total, static_cast<{}>({}), lane, {});", used_("before_part"),
       words, n, integer(s.over_grid->part), integer(s.over_grid->parts), run.type, text.nothing, run.join);
  line("}};");
  line("{}<{}, {}, {}, {}, {}>(x{}, {}, {}, tw, meet{}, {}, before{});", used_("scan_part"), warps, vector_.unroll,
       vector_.lanes, s.exclusive ? "true" : "false", run.type, n, run.carry, text.nothing, n, run.join, n);
}

}  // namespace c_like
}  // namespace smelt::emit
