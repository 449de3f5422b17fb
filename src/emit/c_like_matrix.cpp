// Tiles of matrix units: a type names the tile, an array the sums of a thread.
#include <algorithm>

#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "kernel/pipeline.hpp"

namespace smelt::emit::c_like {

// The array of a fragment's sums: that of the scratch in which loops find them, if there is one.
std::string PhasePrinter::sums_of(int fragment) const {
  const int registers = kernel_.fragments[static_cast<size_t>(fragment)].registers;
  return registers >= 0 ? fmt::format("k{}", registers) : fmt::format("m{}", fragment);
}

// Whether it is the scratch of a fragment's sums.
bool PhasePrinter::is_fragment(int buffer) const {
  return std::any_of(kernel_.fragments.begin(), kernel_.fragments.end(),
                     [&](const kernel::Fragment& f) { return f.registers == buffer; });
}

void PhasePrinter::declare_fragments() {
  for (size_t f = 0; f < kernel_.fragments.size(); ++f) {
    const kernel::Fragment& made = kernel_.fragments[f];
    line("using Tile{} = {}<{}, {}, {}, {}, {}, {}, {}, {}>;", f, used_("MatrixTile"), made.rows, made.columns,
         made.inner, team_.threads / 32, made.down, made.rows_along_inner, made.columns_along_inner,
         made.factors == DType::BF16);
    line("float {}[Tile{}::kSums];", sums_of(static_cast<int>(f)), f);
    if (made.has_weights) line("{} w{};", used_("RowWeights"), f);
  }
}

// The stage at hand of a buffer, of which one without a pipeline has one.
std::string PhasePrinter::stage_of(int buffer) const {
  const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(buffer)].dims;
  const int64_t stages = *dims[0].constant();
  return stages == 1 ? fmt::format("b{}", buffer)
                     : fmt::format("b{} + stage * {}", buffer, *count(dims).constant() / stages);
}

void PhasePrinter::matrix(const kernel::Matrix& s) {
  const int f = s.fragment;
  const std::string sums = sums_of(f), by = s.by < 0 ? "" : sums_of(s.by);
  const kernel::Fragment& made = kernel_.fragments[static_cast<size_t>(f)];
  switch (s.step) {
    case kernel::Matrix::Step::Clear:
      line("#pragma unroll");
      line("for (int s = 0; s < Tile{}::kSums; ++s) {}[s] = 0;", f, sums);
      if (made.has_weights) line("{}(w{});", used_("clear_weights"), f);
      break;
    case kernel::Matrix::Step::Multiply:
      if (s.by >= 0)
        line("{}<Tile{}>({}, {}, {}, t);", used_("multiply_held"), f, sums, by, stage_of(s.columns));
      else
        line("{}<Tile{}>({}, {}, {}, t);", used_("multiply_tile"), f, sums, stage_of(s.rows), stage_of(s.columns));
      break;
    case kernel::Matrix::Step::Weigh:
      line("{}<Tile{}, Tile{}>({}, {}, w{});", used_("weigh_rows"), s.by, f, by, sums, f);
      break;
    case kernel::Matrix::Step::PutRows: line("{}<Tile{}>(w{}, b{}, t);", used_("put_rows"), f, f, s.into); break;
    case kernel::Matrix::Step::Put:
      line("{}<Tile{}, {}>({}, b{}, t);", used_("put_tile"), f, made.columns + kernel::Fragment::kApart, sums, s.into);
      break;
  }
  for (const int b : {s.into, made.registers, s.by < 0 ? -1 : kernel_.fragments[static_cast<size_t>(s.by)].registers})
    if (b >= 0) forget(uses_.resource({true, b, {}}));
}

// Parts are made as many iterations ahead as there are stages for. Behind the barrier of an iteration every thread sees its part, and
// nobody uses the stage any more that the next part goes to. Units that go on alone still have the part before then.
void PhasePrinter::pipeline(const Loop& s) {
  const size_t first_use = kernel::uses_of_pipeline(s);
  const bool alone = kernel::goes_on_alone(kernel_, s);
  const int ahead = kernel::parts_ahead(kernel_, s);
  const std::string type = index_type(), count = fmt::format("n{}", names_++), part = fmt::format("s{}", names_++),
                    next = fmt::format("s{}", names_++);
  line("const {} {} = {};", type, count, integer(s.extent));
  ++serial_depth_;
  const auto make = [&] {
    open(fmt::format("if ({} < {})", next, count));
    symbols_[s.var] = next;
    push();
    for (size_t k = 0; k < first_use; ++k) statement(s.body[k]);
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
  line("const {} {} = {} + {};", type, next, part, ahead);
  line("{}<{}>();", used_("await_parts"), ahead - 1);
  barrier();
  if (!alone) make();
  symbols_[s.var] = part;
  push();
  if (alone) line("{}();", used_("begin_multiplication"));
  for (size_t k = first_use; k < s.body.size(); ++k) alone ? statement(s.body[k]) : use_part(s.body[k]);
  if (alone) line("{}();", used_("end_multiplication"));
  pop();
  if (alone) {
    make();
    line("{}<1>();", used_("await_multiplications"));
  }
  close();
  --serial_depth_;
  if (!alone) return;
  line("{}<0>();", used_("await_multiplications"));
  for (size_t k = first_use; k < s.body.size(); ++k)
    line("{}({});", used_("settle_sums"), sums_of(s.body[k].get<kernel::Matrix>().fragment));
}

// A step of a pipeline whose sums the next one takes.
void PhasePrinter::use_part(const Stmt& s) {
  const auto* matrix = s.get_if<kernel::Matrix>();
  const bool waits = matrix && matrix->step == kernel::Matrix::Step::Multiply &&
                     kernel_.fragments[static_cast<size_t>(matrix->fragment)].in_groups();
  if (waits) line("{}();", used_("begin_multiplication"));
  statement(s);
  if (!waits) return;
  line("{}();", used_("end_multiplication"));
  line("{}<0>();", used_("await_multiplications"));
  line("{}({});", used_("settle_sums"), sums_of(matrix->fragment));
}

}  // namespace smelt::emit::c_like
