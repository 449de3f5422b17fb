// Tiles of matrix units: a type names the tile, an array the sums of a thread.
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

void PhasePrinter::declare_fragments() {
  for (size_t f = 0; f < kernel_.fragments.size(); ++f) {
    const kernel::Fragment& made = kernel_.fragments[f];
    line("using Tile{} = {}<{}, {}, {}, {}, {}, {}, {}, {}>;", f, used_("MatrixTile"), made.rows, made.columns,
         made.inner, team_.threads / 32, made.down, made.rows_along_inner, made.columns_along_inner,
         made.factors == DType::BF16);
    line("float m{0}[Tile{0}::kSums];", f);
  }
}

void PhasePrinter::matrix(const kernel::Matrix& s) {
  const int f = s.fragment;
  switch (s.step) {
    case kernel::Matrix::Step::Clear:
      line("#pragma unroll");
      line("for (int s = 0; s < Tile{0}::kSums; ++s) m{0}[s] = 0;", f);
      return;
    case kernel::Matrix::Step::Multiply:
      line("{}<Tile{}>(m{}, b{}, b{}, t);", used_("multiply_tile"), f, f, s.rows, s.columns);
      return;
    case kernel::Matrix::Step::Put:
      line("{}<Tile{}, {}>(m{}, b{}, t);", used_("put_tile"), f,
           kernel_.fragments[static_cast<size_t>(f)].columns + kernel::Fragment::kApart, f, s.into);
      forget(uses_.resource({true, s.into, {}}));
      return;
  }
}

}  // namespace smelt::emit::c_like
