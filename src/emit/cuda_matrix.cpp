// What tiles that matrix units multiply call: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions".
#include "emit/cuda_text.hpp"

namespace smelt::emit::cuda {

HelperList matrix_helpers() {
  return {
      {{}, ""},
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
      {{"multiply_tile", "put_tile", "MatrixTile"},
       R"(// A tile of kRows x kColumns sums, kInner of the inner axis at a time, by kWarps warps, of which kDown are beside each other along the
// rows. Factors lie in pieces of 8: [kInner / 8, own + 1, 8] along the inner axis, else [own / 8, kInner + 1, 8].
template <int kRows_, int kColumns_, int kInner_, int kWarps, int kDown_, bool kRowsInner_, bool kColumnsInner_, bool kBf16_>
struct MatrixTile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kInner = kInner_, kDown = kDown_;
  static constexpr bool kRowsInner = kRowsInner_, kColumnsInner = kColumnsInner_, kBf16 = kBf16_;
  static constexpr int kOwnRows = kRows / kDown, kOwnColumns = kColumns / (kWarps / kDown);  // of a warp
  static constexpr int kSums = kOwnRows * kOwnColumns / 32;                                  // of a thread
};
template <class Tile> SMELT_INLINE void multiply_tile(float* sums, const unsigned short* f, const unsigned short* g, int t) {
  const int lane = t & 31, half = (lane >> 3) & 1, other = lane >> 4, r = lane & 7;
  const int row = (t >> 5) % Tile::kDown * Tile::kOwnRows, column = (t >> 5) / Tile::kDown * Tile::kOwnColumns;
#pragma unroll
  for (int k = 0; k < Tile::kInner; k += 16) {
    unsigned a[Tile::kOwnRows / 16][4], b[Tile::kOwnColumns / 16][4];
#pragma unroll
    for (int i = 0; i < Tile::kOwnRows / 16; ++i) {
      const int own = row + 16 * i + 8 * half, inner = k + 8 * other;
      load_matrices<!Tile::kRowsInner>(a[i], f + (Tile::kRowsInner ? inner / 8 * (Tile::kRows + 1) + own + r
                                                                   : own / 8 * (Tile::kInner + 1) + inner + r) * 8);
    }
#pragma unroll
    for (int i = 0; i < Tile::kOwnColumns / 16; ++i) {
      const int own = column + 16 * i + 8 * other, inner = k + 8 * half;
      load_matrices<!Tile::kColumnsInner>(b[i], g + (Tile::kColumnsInner ? inner / 8 * (Tile::kColumns + 1) + own + r
                                                                         : own / 8 * (Tile::kInner + 1) + inner + r) * 8);
    }
#pragma unroll
    for (int i = 0; i < Tile::kOwnRows / 16; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kOwnColumns / 8; ++j)
        multiply_matrices<Tile::kBf16>(sums + (i * (Tile::kOwnColumns / 8) + j) * 4, a[i], b[j / 2] + j % 2 * 2);
  }
}
template <class Tile, int kPitch> SMELT_INLINE void put_tile(const float* sums, float* to, int t) {
  const int row = (t >> 5) % Tile::kDown * Tile::kOwnRows + (t & 31) / 4;
  const int column = (t >> 5) / Tile::kDown * Tile::kOwnColumns + (t & 3) * 2;
#pragma unroll
  for (int i = 0; i < Tile::kOwnRows / 16; ++i)
#pragma unroll
    for (int j = 0; j < Tile::kOwnColumns / 8; ++j)
#pragma unroll
      for (int s = 0; s < 4; ++s)
        to[(row + 16 * i + s / 2 * 8) * kPitch + column + 8 * j + s % 2] = sums[(i * (Tile::kOwnColumns / 8) + j) * 4 + s];
})",
       {"load_matrices", "multiply_matrices"}},
  };
}

}  // namespace smelt::emit::cuda
