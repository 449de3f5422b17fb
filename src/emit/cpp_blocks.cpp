// Blocks of scratch in C++: turned, and multiplied as a CPU's matrix units do.
#include <fmt/format.h>

#include "emit/cpp_phase.hpp"
#include "emit/cpp_text.hpp"
#include "kernel/offset.hpp"

namespace smelt::emit::cpp {

// The element of a block that is `down` rows and `across` columns after its first.
std::string PhasePrinter::block_element(const kernel::Access& a, const char* down, const char* across) {
  const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(a.array)].dims;
  return fmt::format("b{}[{} + {} * ({}) + {}]", a.array, integer(flat_offset(kernel_, a)), down, integer(dims.back()),
                     across);
}

void PhasePrinter::turn(const kernel::Turn& s) {
  line("for (int64_t r = 0; r < {}; ++r)", integer(s.rows));
  line("  for (int64_t c = 0; c < {}; ++c) {} = {};", integer(s.columns), block_element(s.into, "c", "r"),
       block_element(s.from, "r", "c"));
}

// The word of such a row of an array.
std::string PhasePrinter::word_of_row(const kernel::TileProduct& s, const char* row, const char* word) {
  const IntExpr& apart = kernel_.params[static_cast<size_t>(s.rows.array)].strides[static_cast<size_t>(s.rows_axis)];
  return fmt::format("word_at(p{} + {} + {} * ({}) + {} * {})", s.rows.array, integer(flat_offset(kernel_, s.rows)),
                     row, integer(apart), s.terms(), word);
}

void PhasePrinter::tile_product(const kernel::TileProduct& s) {
  constexpr int kRows = 4;  // whose sums are in registers
  const bool halves = s.rows_type == DType::BF16;
  const int across = 16 * s.across;
  const std::string each = fmt::format("for (int q = 0; q < {}; ++q) for (int c = 0; c < {}; ++c)", kRows, across),
                    type = type_of(kernel_.dtype_of(s.into)), sum = block_element(s.into, "(r + q)", "c"),
                    row = s.rows_axis < 0 ? block_element(s.rows, "(r + q)", "(w + k)")
                                          : word_of_row(s, "(r + q)", "(w + k)"),
                    column = block_element(s.columns, "(w + k)", "c");
  line("for (int r = 0; r < {}; r += {}) {{", 16 * s.down, kRows);
  line("  {} total[{}][{}];", type, kRows, across);
  line("  {} total[q][c] = {};", each, s.first ? "0" : sum);
  line("  for (int64_t w = 0; w < {}; w += 16) {{", integer(s.words));
  if (halves) {
    line("    float low[{0}][{1}] = {{}}, high[{0}][{1}] = {{}};", kRows, across);
    line("    for (int k = 0; k < 16; ++k)");
    line("      {} add_bf16(low[q][c], high[q][c], {}, {});", each, row, column);
    line("    {} total[q][c] += low[q][c] + high[q][c];", each);
  } else {
    line("    for (int k = 0; k < 16; ++k)");
    line("      {} total[q][c] = dot_bytes<{}, {}>(total[q][c], {}, {});", each, type_of(s.rows_type),
         type_of(s.columns_type), row, column);
  }
  line("  }}");
  line("  {} {} = total[q][c];", each, sum);
  line("}}");
}

}  // namespace smelt::emit::cpp
