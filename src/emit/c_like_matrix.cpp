// Tiles of matrix units: a type names the tile, an array the sums of a thread.
#include <algorithm>

#include "emit/c_like.hpp"
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
    case kernel::Matrix::Step::Multiply: {
      const auto stage = [&](int b) {
        const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(b)].dims;
        return fmt::format("b{} + stage * {}", b, *count(dims).constant() / *dims[0].constant());
      };
      line("{}<Tile{}>(m{}, {}, {}, t);", used_("multiply_tile"), f, f, stage(s.rows), stage(s.columns));
      return;
    }
    case kernel::Matrix::Step::Put:
      line("{}<Tile{}, {}>(m{}, b{}, t);", used_("put_tile"), f,
           kernel_.fragments[static_cast<size_t>(f)].columns + kernel::Fragment::kApart, f, s.into);
      forget(uses_.resource({true, s.into, {}}));
      return;
  }
}

// Parts are made as many iterations ahead as there are stages for. Behind the barrier of an iteration every thread sees its part, and
// nobody uses the stage any more that the next part goes to. Units that multiply on their own still have the part before then.
void PhasePrinter::pipeline(const Loop& s) {
  std::vector<const Stmt*> makes, multiplies;
  int fragment = 0;
  for (const Stmt& inner : s.body) {
    const auto* matrix = inner.get_if<kernel::Matrix>();
    (matrix ? multiplies : makes).push_back(&inner);
    if (matrix) fragment = matrix->fragment;
  }
  const kernel::Fragment& sums = kernel_.fragments[static_cast<size_t>(fragment)];
  const bool alone = sums.in_groups();  // units go on while threads do something else
  const int ahead = kernel::parts_ahead(s.stages, sums);
  const std::string type = index_type(), count = fmt::format("n{}", names_++), part = fmt::format("s{}", names_++),
                    next = fmt::format("s{}", names_++);
  line("const {} {} = {};", type, count, integer(s.extent));
  ++serial_depth_;
  const auto make = [&] {
    open(fmt::format("if ({} < {})", next, count));
    symbols_[s.var] = next;
    push();
    for (const Stmt* inner : makes) statement(*inner);
    pop();
    close();
    line("{}();", used_("end_part"));
  };
  line("#pragma unroll 1");
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", type, next, ahead));
  make();
  close();
  line("#pragma unroll 1");
  open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", type, part, count));
  line("const int stage = (int){} % {};", part, s.stages);
  line("{}<{}>();", used_("await_parts"), ahead - 1);
  barrier();
  if (alone) line("{}();", used_("begin_multiplication"));
  for (const Stmt* inner : multiplies) statement(*inner);
  if (alone) line("{}();", used_("end_multiplication"));
  line("const {} {} = {} + {};", type, next, part, ahead);
  make();
  if (alone) line("{}<1>();", used_("await_multiplications"));
  close();
  --serial_depth_;
  if (!alone) return;
  line("{}<0>();", used_("await_multiplications"));
  for (const Stmt* inner : multiplies)
    line("{0}(m{1});", used_("settle_sums"), inner->get_if<kernel::Matrix>()->fragment);
}

}  // namespace smelt::emit::c_like
