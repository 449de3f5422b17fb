// What chains of products call: weights of the rows of a tile, and a tile whose rows' factor stays
// in registers.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/cuda_text.hpp"
#include "kernel/pipeline.hpp"

namespace smelt::emit::cuda {
namespace {

// wgmma with the rows' factor in registers, as it left the product before.
std::string held_step(int columns, bool bf16) {
  const int sums = columns / 2;
  const auto [registers, operands] = sums_of_group(sums);
  return fmt::format(
      R"(template <int kTurnedColumns> SMELT_INLINE void multiply_held_group_{0}_{1}(float* d, const unsigned* a, unsigned long long g) {{
  asm volatile("{{ .reg .pred p; setp.ne.u32 p, %{2}, 0; wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{3}}}, {{%{4}, %{5}, %{6}, %{7}}}, %{8}, p, 1, 1, %{9}; }}"
               : {10} : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(g), "r"(1), "n"(kTurnedColumns));
}})",
      columns, bf16 ? "bf16" : "f16", sums + 5, registers, sums, sums + 1, sums + 2, sums + 3, sums + 4, sums + 6,
      operands);
}

HelperList held_group_helpers(const kernel::Kernel& kernel) {
  HelperList list;
  std::string calls;
  std::vector<std::string> needs{"multiply_groups", "MatrixTile"};
  std::set<std::pair<int, bool>> made;
  for (const kernel::Fragment& f : kernel.fragments) {
    const bool bf16 = f.factors == DType::BF16;
    if (!f.holds_rows || !made.emplace(f.columns, bf16).second) continue;
    needs.push_back(fmt::format("multiply_held_group_{}_{}", f.columns, bf16 ? "bf16" : "f16"));
    list.push_back({{needs.back()}, held_step(f.columns, bf16)});
    calls += fmt::format(
        "if (Tile::kColumns == {} && Tile::kBf16 == {}) {}<!Tile::kColumnsInner>(sums, a + k / 4, of_columns);\n    ",
        f.columns, bf16, needs.back());
  }
  list.push_back({{"multiply_held_groups"},
                  R"(#ifdef __CUDA_ARCH_FEAT_SM90_ALL
template <class Tile> SMELT_INLINE void multiply_held_groups(float* sums, const unsigned* a, const unsigned short* g) {
  const unsigned long long columns = described_columns<Tile>(g);
#pragma unroll
  for (int k = 0; k < Tile::kInner; k += 16) {
    const unsigned long long of_columns = columns + columns_at<Tile>(k);
    )" + calls + R"(
  }
}
#endif)",
                  needs});
  return list;
}

constexpr const char* kWeighRows =
    R"(// A thread has sums of two rows, 8 apart, and its 3 neighbours have the others of these rows.
struct RowWeights { float most[2], total[2], next[2], now[2]; };
SMELT_INLINE void clear_weights(RowWeights& w) {
  w.most[0] = w.most[1] = __uint_as_float(0xff800000u), w.total[0] = w.total[1] = 0;
}
// Scores, `scale` times what is given, become weights exp(score - base), where the base of a row is its largest score so far, or one that is not much less: only when
// scores grow by more than kMuch, what was added up is rescaled. Totals are those of the thread until put_rows() joins them. Of scores
// that are all -inf nothing is subtracted. One fma does for small bases; what it rounds would be too much for others.
template <class Scores> SMELT_INLINE void weigh_rows(float* scores, RowWeights& w, float scale) {
  const float none = __uint_as_float(0xff800000u), log2e = 1.44269504f, kMuch = 5, kSmall = 1024;
  // Both rows side by side and each in two halves, [row][half]: few warps are there to hide what waits for what.
  float most[2][2], total[2][2] = {}, base[2], shift[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) most[r][0] = scores[2 * r], most[r][1] = scores[4 + 2 * r];
#pragma unroll
  for (int j = 0; j < Scores::kSums; j += 8)
#pragma unroll
    for (int k = 0; k < 8; ++k) most[k / 2 % 2][k / 4] = fmaxf(most[k / 2 % 2][k / 4], scores[j + k]);
#pragma unroll
  for (int r = 0; r < 2; ++r) most[r][0] = fmaxf(most[r][0], most[r][1]);
#pragma unroll
  for (int d = 1; d < 4; d *= 2)
#pragma unroll
    for (int r = 0; r < 2; ++r) most[r][0] = fmaxf(most[r][0], __shfl_xor_sync(0xffffffffu, most[r][0], d));
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    w.next[r] = (most[r][0] - w.most[r]) * scale > kMuch || w.most[r] == none ? most[r][0] : w.most[r];
    base[r] = w.next[r] == none ? 0.0f : w.next[r];
    shift[r] = base[r] * (scale * log2e);
  }
  if (__ballot_sync(0xffffffffu, !(fabsf(base[0] * scale) <= kSmall) || !(fabsf(base[1] * scale) <= kSmall))) {
#pragma unroll
    for (int j = 0; j < Scores::kSums; ++j) scores[j] -= base[j / 2 % 2];
    shift[0] = shift[1] = 0;
  }
#pragma unroll
  for (int j = 0; j < Scores::kSums; j += 8)
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float weight = power_of_two(fmaf(scores[j + k], scale * log2e, -shift[k / 2 % 2]));
      scores[j + k] = weight;
      total[k / 2 % 2][k / 4] += weight;
    }
#pragma unroll
  for (int r = 0; r < 2; ++r) w.now[r] = total[r][0] + total[r][1];
}
template <class Tile> SMELT_INLINE void rescale_rows(float* sums, RowWeights& w, float of_scores) {
  if (__ballot_sync(0xffffffffu, w.next[0] != w.most[0] || w.next[1] != w.most[1])) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float log2e = 1.44269504f, none = __uint_as_float(0xff800000u);
      const float scale = w.next[r] == w.most[r] ? 1.0f : w.most[r] == none ? 0.0f : power_of_two((w.most[r] - w.next[r]) * (of_scores * log2e));
      w.total[r] *= scale, w.most[r] = w.next[r];
#pragma unroll
      for (int j = 0; j < Tile::kSums; j += 4) sums[j + 2 * r] *= scale, sums[j + 2 * r + 1] *= scale;
    }
  }
  w.total[0] += w.now[0], w.total[1] += w.now[1];
}
template <class Tile> SMELT_INLINE void put_rows(const RowWeights& w, float* to, int t, float scale) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float total = w.total[r];
    total += __shfl_xor_sync(0xffffffffu, total, 1);
    total += __shfl_xor_sync(0xffffffffu, total, 2);
    const int row = (t >> 5) * 16 + (t & 31) / 4 + 8 * r;
    if ((t & 3) == 0) to[row] = w.most[r] * scale, to[Tile::kRows + row] = total;
  }
})";

std::string multiply_held(bool groups) {
  return R"(// Rows as halves: the sums of 16 x 8 that a product leaves are the first half of the rows that the next one takes.
template <class Tile> SMELT_INLINE void round_rows(unsigned* a, const float* rows) {
#pragma unroll
  for (int k = 0; k < Tile::kInner / 4; ++k) a[k] = packed_halves<Tile::kBf16>(rows[2 * k], rows[2 * k + 1]);
}
// sums += rows * g
template <class Tile> SMELT_INLINE void multiply_held(float* sums, const unsigned* a, const unsigned short* g, int t) {
)" +
         std::string(groups ? R"(#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  multiply_held_groups<Tile>(sums, a, g);
  return;
#endif
)"
                            : "") +
         R"(  const int lane = t & 31, half = (lane >> 3) & 1, other = lane >> 4, r = lane & 7;
#pragma unroll
  for (int k = 0; k < Tile::kInner; k += 16)
#pragma unroll
    for (int i = 0; i < Tile::kColumns / 16; ++i) {
      unsigned b[4];
      const int own = 16 * i + 8 * other, inner = k + 8 * half;
      load_matrices<!Tile::kColumnsInner>(b, g + in_panel<Tile::kColumnsInner, Tile::kColumnsWide, Tile::kColumns, Tile::kInner>(own, inner, r));
      multiply_matrices<Tile::kBf16>(sums + 8 * i, a + k / 4, b);
      multiply_matrices<Tile::kBf16>(sums + 8 * i + 4, a + k / 4, b + 2);
    }
})";
}

}  // namespace

HelperList chain_helpers(const kernel::Kernel& kernel) {
  const bool groups = kernel::all_in_groups(kernel);
  HelperList list = groups ? held_group_helpers(kernel) : HelperList{};
  std::vector<std::string> needs{"load_matrices", "multiply_matrices", "packed_halves", "MatrixTile"};
  if (groups) needs.push_back("multiply_held_groups");
  append(list,
         {
             {{"RowWeights", "clear_weights", "weigh_rows", "rescale_rows", "put_rows"}, kWeighRows, {"power_of_two"}},
             {{"multiply_held", "round_rows"}, multiply_held(groups), needs},
         });
  return list;
}

}  // namespace smelt::emit::cuda
