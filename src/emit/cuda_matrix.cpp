// What tiles that matrix units multiply call: PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions".
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "emit/cuda_text.hpp"
#include "kernel/pipeline.hpp"

namespace smelt::emit::cuda {

std::pair<std::string, std::string> sums_of_group(int sums) {
  std::string registers, operands;
  for (int i = 0; i < sums; ++i) {
    registers += fmt::format("{}%{}", i ? ", " : "", i);
    operands += fmt::format("{}\"+f\"(d[{}])", i ? ", " : "", i);
  }
  return {std::move(registers), std::move(operands)};
}

namespace {

// wgmma: four warps multiply 64 rows that all of them find in shared memory. One function for each
// number of columns, since the instruction names its registers.
std::string group_step(int columns, bool bf16) {
  const int sums = columns / 2;
  const auto [registers, operands] = sums_of_group(sums);
  return fmt::format(
      R"(template <int kTurnedRows, int kTurnedColumns> SMELT_INLINE void multiply_group_{0}_{1}(float* d, unsigned long long f, unsigned long long g, int add) {{
  asm volatile("{{ .reg .pred p; setp.ne.u32 p, %{2}, 0; wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {{{3}}}, %{4}, %{5}, p, 1, 1, %{6}, %{7}; }}"
               : {8} : "l"(f), "l"(g), "r"(add), "n"(kTurnedRows), "n"(kTurnedColumns));
}})",
      columns, bf16 ? "bf16" : "f16", sums + 2, registers, sums, sums + 1, sums + 3, sums + 4, operands);
}

constexpr const char* kGroup =
    R"(// The same by groups of four warps, each with 64 rows and all columns. Operands are described to the instruction: where they begin, and
// how far apart 8 rows and the next 8 are, and columns of rows (PTX ISA, matrix descriptors).
template <int kRow> SMELT_INLINE unsigned long long described(const unsigned short* p, int column_bytes) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(p);
  return (unsigned long long)((at & 0x3ffffu) >> 4) | (unsigned long long)(column_bytes >> 4) << 16 |
         (unsigned long long)kRow << 32 | (unsigned long long)(kRow == 64 ? 1 : 2) << 62;
}
// What step k of a part adds to a description: 16 bytes are one.
template <class Tile> SMELT_INLINE constexpr int columns_at(int k) {
  return (Tile::kColumnsInner ? k / Tile::kColumnsWide * (Tile::kColumns * Tile::kColumnsWide) + k % Tile::kColumnsWide
                              : k * Tile::kColumnsWide) / 8;
}
template <class Tile> SMELT_INLINE constexpr int rows_at(int k) {
  return (Tile::kRowsInner ? k / Tile::kRowsWide * (Tile::kRows * Tile::kRowsWide) + k % Tile::kRowsWide : k * Tile::kRowsWide) / 8;
}
template <class Tile> SMELT_INLINE unsigned long long described_columns(const unsigned short* g) {
  return described<Tile::kColumnsWide>(g, Tile::kInner * Tile::kColumnsWide * 2);
}
template <class Tile, bool kFresh> SMELT_INLINE void multiply_groups(float* sums, const unsigned short* f, const unsigned short* g, int t) {
  const int row = t / 128 * 64;
  const unsigned long long rows = described<Tile::kRowsWide>(
      f + (Tile::kRowsInner ? row * Tile::kRowsWide : row / Tile::kRowsWide * (Tile::kInner * Tile::kRowsWide)),
      Tile::kInner * Tile::kRowsWide * 2);
  const unsigned long long columns = described_columns<Tile>(g);
#pragma unroll
  for (int k = 0; k < Tile::kInner; k += 16) {
    const unsigned long long of_rows = rows + rows_at<Tile>(k), of_columns = columns + columns_at<Tile>(k);
    )";

HelperList group_helpers(const kernel::Kernel& kernel) {
  HelperList list;
  std::string calls;
  std::vector<std::string> needs;
  std::set<std::pair<int, bool>> made;
  for (const kernel::Fragment& f : kernel.fragments) {
    const bool bf16 = f.factors == DType::BF16;
    if (!made.emplace(f.columns, bf16).second) continue;
    needs.push_back(fmt::format("multiply_group_{}_{}", f.columns, bf16 ? "bf16" : "f16"));
    list.push_back({{needs.back()}, group_step(f.columns, bf16)});
    calls += fmt::format(
        "if (Tile::kColumns == {} && Tile::kBf16 == {}) {}<!Tile::kRowsInner, !Tile::kColumnsInner>(sums, of_rows, "
        "of_columns, !kFresh || k > 0);\n    ",
        f.columns, bf16, needs.back());
  }
  list.push_back(
      {{"multiply_groups"}, "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n" + (kGroup + calls) + "\n  }\n}\n#endif", needs});
  return list;
}

// How parts of a pipeline come and are waited for: PTX ISA, "Asynchronous copy" and "Asynchronous
// Warpgroup Level Matrix Instructions".
HelperList pipeline_helpers(bool groups) {
  const auto of_groups = [&](const char* code) {
    return fmt::format("\n#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n  {}\n#endif\n", code);
  };
  // What was stored becomes visible to the units.
  const std::string fence =
      groups ? of_groups("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");") : " ";
  return {
      {{"copy_later"}, R"(// Of a group of elements, or of nothing in its place, which is 0.
template <int kBytes> SMELT_INLINE void copy_later(void* to, const void* from, bool inside) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  const unsigned long long source = (unsigned long long)__cvta_generic_to_global(from);
  if (kBytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(at), "l"(source), "r"(inside ? 16 : 0));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" :: "r"(at), "l"(source), "n"(kBytes), "r"(inside ? kBytes : 0));
})"},
      {{"end_part"}, R"(SMELT_INLINE void end_part() { asm volatile("cp.async.commit_group;" ::: "memory"); })"},
      {{"await_parts"},
       R"(// For all copies of this thread but those of the last kBehind parts.
template <int kBehind> SMELT_INLINE void await_parts() {
  asm volatile("cp.async.wait_group %0;" :: "n"(kBehind) : "memory");)" +
           fence + "}"},
      {{"begin_multiplication"},
       "SMELT_INLINE void begin_multiplication() {" +
           of_groups("asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");") + "}"},
      {{"end_multiplication"},
       "SMELT_INLINE void end_multiplication() {" +
           of_groups("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");") + "}"},
      {{"await_multiplications"},
       "template <int kBehind> SMELT_INLINE void await_multiplications() {" +
           of_groups("asm volatile(\"wgmma.wait_group.sync.aligned %0;\" :: \"n\"(kBehind) : \"memory\");") + "}"},
      {{"settle_sums"}, R"(// Nothing reads the sums before this.
template <int kSums> SMELT_INLINE void settle_sums(float (&sums)[kSums]) {
#pragma unroll
  for (int s = 0; s < kSums; ++s) asm volatile("" : "+f"(sums[s]) :: "memory");
})"},
  };
}

}  // namespace

HelperList matrix_helpers(const kernel::Kernel& kernel) {
  const bool groups = kernel::all_in_groups(kernel);
  HelperList list{{{}, ""}};
  if (groups) append(list, group_helpers(kernel));
  if (groups) append(list, box_helpers());
  append(list, pipeline_helpers(groups));
  list.push_back(
      {{"swizzled"},
       R"(// The place of an element among rows of kRow halves, whose pieces of 8 change places by the number of the row.
template <int kRow> SMELT_INLINE int swizzled(int at) { return at ^ (at >> 3 & (kRow - 8)); })"});
  std::vector<std::string> needs{"load_matrices", "multiply_matrices", "swizzled"};
  if (groups) needs.push_back("multiply_groups");
  append(
      list,
      {
          {{"load_matrices"},
           R"(// Four matrices of 8 x 8 halves from shared memory, each lane with the address of one of their rows. Lane l gets elements 2 * (l % 4)
// and the next of row l / 4 of each; turned: of column l / 4.
template <bool kTurned> SMELT_INLINE void load_matrices(unsigned* to, const unsigned short* row) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(row);
  if (kTurned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(at) : "memory");
})"},
          {{"multiply_matrices"},
           R"(// sums += a * b of 16 x 16 and 16 x 8 halves. Lane l has sums [l / 4 and 8 more, 2 * (l % 4) and the next].
template <bool kBf16> SMELT_INLINE void multiply_matrices(float* sums, const unsigned* a, const unsigned* b) {
  if (kBf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
})"},
          {{"packed_halves"},
           R"(template <bool kBf16> SMELT_INLINE unsigned packed_halves(float low, float high) {
  unsigned word;
  if (kBf16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
})"},
          {{"multiply_lanes"},
           R"(// sums += rows * columns, by a warp, for parts of 64 terms: of each a lane has 16 neighbours of each eighth row and column, two to a word.
// Both lie alike, so terms go to the units in the order in which lanes have them.
template <class Tile> SMELT_INLINE void multiply_lanes(float* sums, const unsigned* f, const unsigned* g) {
  constexpr int kHeld = 8;
#pragma unroll
  for (int part = 0; part < Tile::kInner / 64; ++part)
#pragma unroll
    for (int k = 0; k < kHeld; k += 2)
#pragma unroll
      for (int i = 0; i < Tile::kRows / 16; ++i) {
        const unsigned* const upper = f + (part * (Tile::kRows / 8) + 2 * i) * kHeld + k;
        const unsigned a[4] = {upper[0], upper[kHeld], upper[1], upper[kHeld + 1]};
#pragma unroll
        for (int j = 0; j < Tile::kColumns / 8; ++j)
          multiply_matrices<Tile::kBf16>(sums + (i * (Tile::kColumns / 8) + j) * 4, a, g + (part * (Tile::kColumns / 8) + j) * kHeld + k);
      }
})",
           {"multiply_matrices", "MatrixTile"}},
          {{"hold_half"},
           R"(// Element n, one after the other.
template <bool kBf16> SMELT_INLINE void hold_half(unsigned* words, int n, float x) {
  words[n / 2] = n % 2 ? packed_halves<kBf16>(__uint_as_float(words[n / 2]), x) : __float_as_uint(x);
}
template <bool> SMELT_INLINE void hold_half(unsigned* words, int n, unsigned short x) {
  words[n / 2] = n % 2 ? words[n / 2] | (unsigned)x << 16 : x;
})",
           {"packed_halves"}},
          {{"add_sums"},
           R"(template <bool kFinite, int kSums> SMELT_INLINE void add_sums(float (&to)[kSums], const float (&from)[kSums]) {
#pragma unroll
  for (int s = 0; s < kSums; ++s) to[s] += !kFinite || fabsf(from[s]) <= 3.402823466e38f ? from[s] : 0.0f;
}
// Whole numbers up to 2^22, whose sums wrap: with 1.5 * 2^23 added, the bits of a float are those of the number and a constant.
template <bool, int kSums> SMELT_INLINE void add_sums(int (&to)[kSums], const float (&from)[kSums]) {
#pragma unroll
  for (int s = 0; s < kSums; ++s) to[s] = (int)((unsigned)to[s] + __float_as_uint(from[s] + 12582912.0f) - 0x4b400000u);
})"},
          {{"multiply_tile", "put_tile", "MatrixTile"},
           R"(// A tile of kRows x kColumns sums, kInner of the inner axis at a time, by kWarps warps, kDown of them along the rows. Factors lie in rows of kRowsWide and kColumnsWide, swizzled: [kInner / wide, own, wide] along the inner axis, else
// [own / wide, kInner, wide].
template <int kRows_, int kColumns_, int kInner_, int kWarps, int kDown_, bool kRowsInner_, bool kColumnsInner_, bool kBf16_>
struct MatrixTile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kInner = kInner_, kDown = kDown_;
  static constexpr int kRowsWide = (kRowsInner_ ? kInner : kRows) > 32 ? 64 : 32, kColumnsWide = (kColumnsInner_ ? kInner : kColumns) > 32 ? 64 : 32;
  static constexpr bool kRowsInner = kRowsInner_, kColumnsInner = kColumnsInner_, kBf16 = kBf16_;
  static constexpr int kOwnRows = kRows / kDown, kOwnColumns = kColumns / (kWarps / kDown);  // of a warp
  static constexpr int kSums = kOwnRows * kOwnColumns / 32;                                  // of a thread
};
// Where row r of 8 x 8 halves is, from (own, inner) on.
template <bool kAlongInner, int kWide, int kOwn, int kInner> SMELT_INLINE int in_panel(int own, int inner, int r) {
  return swizzled<kWide>(kAlongInner ? inner / kWide * (kOwn * kWide) + (own + r) * kWide + inner % kWide
                                     : own / kWide * (kInner * kWide) + (inner + r) * kWide + own % kWide);
}
// `fresh`: the sums before do not count.
template <class Tile, bool kFresh = false> SMELT_INLINE void multiply_tile(float* sums, const unsigned short* f, const unsigned short* g, int t) {
)" +
               std::string(groups ? R"(#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  multiply_groups<Tile, kFresh>(sums, f, g, t);
  return;
#endif
  if (kFresh)
    for (int s = 0; s < Tile::kSums; ++s) sums[s] = 0;
)"
                                  : "") +
               R"(  const int lane = t & 31, half = (lane >> 3) & 1, other = lane >> 4, r = lane & 7;
  const int row = (t >> 5) % Tile::kDown * Tile::kOwnRows, column = (t >> 5) / Tile::kDown * Tile::kOwnColumns;
#pragma unroll
  for (int k = 0; k < Tile::kInner; k += 16) {
    unsigned a[Tile::kOwnRows / 16][4], b[Tile::kOwnColumns / 16][4];
#pragma unroll
    for (int i = 0; i < Tile::kOwnRows / 16; ++i) {
      const int own = row + 16 * i + 8 * half, inner = k + 8 * other;
      load_matrices<!Tile::kRowsInner>(a[i], f + in_panel<Tile::kRowsInner, Tile::kRowsWide, Tile::kRows, Tile::kInner>(own, inner, r));
    }
#pragma unroll
    for (int i = 0; i < Tile::kOwnColumns / 16; ++i) {
      const int own = column + 16 * i + 8 * other, inner = k + 8 * half;
      load_matrices<!Tile::kColumnsInner>(b[i], g + in_panel<Tile::kColumnsInner, Tile::kColumnsWide, Tile::kColumns, Tile::kInner>(own, inner, r));
    }
#pragma unroll
    for (int i = 0; i < Tile::kOwnRows / 16; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kOwnColumns / 8; ++j)
        multiply_matrices<Tile::kBf16>(sums + (i * (Tile::kOwnColumns / 8) + j) * 4, a[i], b[j / 2] + j % 2 * 2);
  }
}
template <class Tile, int kPitch, class T> SMELT_INLINE void put_tile(const T* sums, T* to, int t) {
  const int row = (t >> 5) % Tile::kDown * Tile::kOwnRows + (t & 31) / 4;
  const int column = (t >> 5) / Tile::kDown * Tile::kOwnColumns + (t & 3) * 2;
#pragma unroll
  for (int i = 0; i < Tile::kOwnRows / 16; ++i)
#pragma unroll
    for (int j = 0; j < Tile::kOwnColumns / 8; ++j)
#pragma unroll
      for (int s = 0; s < 4; s += 2) {
        const T* const pair = sums + (i * (Tile::kOwnColumns / 8) + j) * 4 + s;
        *(Vec<T, 2>*)(to + (row + 16 * i + s / 2 * 8) * kPitch + column + 8 * j) = Vec<T, 2>{{pair[0], pair[1]}};
      }
})",
           needs},
      });
  return list;
}

}  // namespace smelt::emit::cuda
