// Tiles of matrix units: a type names the tile, an array the sums of a thread.
#include <algorithm>
#include <functional>
#include <utility>

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
  bool any = false;
  kernel::for_each_stmt(phase_.body, [&](const Stmt& s) { any = any || s.is<kernel::Matrix>(); });
  if (!any) return;
  for (size_t f = 0; f < kernel_.fragments.size(); ++f) {
    const kernel::Fragment& made = kernel_.fragments[f];
    line("using Tile{} = {}<{}, {}, {}, {}, {}, {}, {}, {}>;", f, used_("MatrixTile"), made.rows, made.columns,
         made.inner, made.of_warps ? 1 : team_.threads / 32, made.down, made.rows_along_inner, made.columns_along_inner,
         made.factors == DType::BF16);
    line("{} {}[Tile{}::kSums];", type_of(made.sums), sums_of(static_cast<int>(f)), f);
    if (made.has_weights) line("{} w{};", used_("RowWeights"), f);
    if (made.holds_rows) line("unsigned p{0}[Tile{0}::kInner / 4];", f);
  }
}

// An element of a factor that units of warps multiply: two halves are a word.
void PhasePrinter::hold_half(const Store& s, const std::string& value) {
  const int b = s.access.array;
  const std::string at = s.access.index.size() == 1 ? "n" : fmt::format("2 * n + {}", integer(s.access.index[1]));
  line("{}<{}>(k{}, {}, {});", used_("hold_half"), of_warps_.at(b) == DType::BF16, b, at, value);
}

void PhasePrinter::weigh_rows(const kernel::Matrix& s) {
  line("{}<Tile{}>({}, w{}, {});", used_("weigh_rows"), s.by, sums_of(s.by), s.fragment, scale_of(s));
}

std::string PhasePrinter::scale_of(const kernel::Matrix& s) const {
  return literal(Scalar::of_float(DType::F32, static_cast<double>(s.scale)));
}

// A stage of a buffer, of which one without a pipeline has one.
std::string PhasePrinter::stage_of(int buffer, const char* stage) const {
  const std::vector<IntExpr>& dims = kernel_.buffers[static_cast<size_t>(buffer)].dims;
  const int64_t stages = *dims[0].constant();
  return stages == 1 ? fmt::format("b{}", buffer)
                     : fmt::format("b{} + {} * {}", buffer, stage, *count(dims).constant() / stages);
}

void PhasePrinter::matrix(const kernel::Matrix& s) {
  const int f = s.fragment;
  const std::string sums = sums_of(f);
  const kernel::Fragment& made = kernel_.fragments[static_cast<size_t>(f)];
  switch (s.step) {
    case kernel::Matrix::Step::Clear:
      line("#pragma unroll");
      line("for (int s = 0; s < Tile{}::kSums; ++s) {}[s] = 0;", f, sums);
      if (made.has_weights) line("{}(w{});", used_("clear_weights"), f);
      break;
    case kernel::Matrix::Step::Multiply:
      if (made.of_warps) {
        line("{}<Tile{}>({}, k{}, k{});", used_("multiply_lanes"), f, sums, s.rows, s.columns);
      } else if (s.by >= 0) {
        if (!made.has_weights) round_rows(s);
        multiply_held(s, "stage");
      } else {
        line("{}<Tile{}{}>({}, {}, {}, t);", used_("multiply_tile"), f, std::exchange(fresh_, false) ? ", true" : "",
             sums, stage_of(s.rows, "stage"), stage_of(s.columns, "stage"));
      }
      break;
    case kernel::Matrix::Step::Weigh:
      weigh_rows(s);
      rescale(s);
      break;
    case kernel::Matrix::Step::PutRows:
      line("{}<Tile{}>(w{}, b{}, t, {});", used_("put_rows"), f, f, s.into, scale_of(s));
      break;
    case kernel::Matrix::Step::Add:
    case kernel::Matrix::Step::AddFinite:
      line("{}<{}>({}, {});", used_("add_sums"), s.step == kernel::Matrix::Step::AddFinite, sums, sums_of(s.by));
      break;
    case kernel::Matrix::Step::Put:
      if (const int pitch = made.columns + made.apart(); made.of_warps)
        line("{}<Tile{}, {}>({}, b{} + (t >> 5) * {}, t & 31);", used_("put_tile"), f, pitch, sums, s.into,
             made.rows * pitch);
      else
        line("{}<Tile{}, {}>({}, b{}, t);", used_("put_tile"), f, pitch, sums, s.into);
      break;
  }
  for (const int b : {s.into, made.registers, s.by < 0 ? -1 : kernel_.fragments[static_cast<size_t>(s.by)].registers})
    if (b >= 0) forget(uses_.resource({true, b, {}}));
}

// What was added up by an earlier maximum, and the weights as the rows' factor of the next
// multiplication.
void PhasePrinter::rescale(const kernel::Matrix& weigh) {
  const int f = weigh.fragment;
  line("{}<Tile{}>({}, w{}, {});", used_("rescale_rows"), f, sums_of(f), f, scale_of(weigh));
  round_rows(weigh);
}

// The fragment that is the rows' factor, as halves.
void PhasePrinter::round_rows(const kernel::Matrix& s) {
  line("{0}<Tile{1}>(p{1}, {2});", used_("round_rows"), s.fragment, sums_of(s.by));
}

void PhasePrinter::multiply_held(const kernel::Matrix& s, const char* stage) {
  const int f = s.fragment;
  line("{}<Tile{}>({}, p{}, {}, t);", used_("multiply_held"), f, sums_of(f), f, stage_of(s.columns, stage));
}

// Parts are made as many iterations ahead as there are stages for. After the barrier of an
// iteration every thread sees its part, and nobody uses the stage any more that the next part goes
// to. Units that go on alone still have the part before then.
void PhasePrinter::pipeline(const Loop& s) {
  if (takes_boxes_) return pipeline_of_boxes(s);
  const size_t first_use = kernel::uses_of_pipeline(s);
  const bool alone = kernel::goes_on_alone(kernel_, s), adds = kernel::adds_meanwhile(kernel_, s),
             weighs = kernel::weighs_meanwhile(kernel_, s);
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
  // The units have work while threads make the next part.
  bool made = false;
  const std::function<void()> make_meanwhile = [&] {
    if (std::exchange(made, true)) return;
    make();
    symbols_[s.var] = part;
  };
  symbols_[s.var] = part;
  push();
  if (!kernel::all_in_groups(kernel_)) make_meanwhile();
  if (alone) {
    line("{}();", used_("begin_multiplication"));
    for (size_t k = first_use; k < s.body.size(); ++k) statement(s.body[k]);
    line("{}();", used_("end_multiplication"));
    make_meanwhile();
    line("{}<1>();", used_("await_multiplications"));
  } else if (adds) {
    use_part_and_add(s, make_meanwhile);
  } else if (weighs) {
    line("const int before = (int)({} + {}) % {};", part, s.stages - 1, s.stages);
    use_part_meanwhile(s, first_use, part, make_meanwhile);
  } else {
    for (size_t k = first_use; k < s.body.size(); ++k) use_part(s.body[k], make_meanwhile);
  }
  pop();
  close();
  --serial_depth_;
  end_of_pipeline(s, count);
}

// What the units still multiply.
void PhasePrinter::end_of_pipeline(const Loop& s, const std::string& count) {
  const size_t first_use = kernel::uses_of_pipeline(s);
  const bool alone = kernel::goes_on_alone(kernel_, s), adds = kernel::adds_meanwhile(kernel_, s),
             chains = takes_boxes_ ? kernel::chains_meanwhile(kernel_, s) : kernel::weighs_meanwhile(kernel_, s);
  if (chains) multiply_last_rows(s, count);
  if (!alone && !adds && !chains) return;
  line("{}<0>();", used_("await_multiplications"));
  for (size_t k = first_use; k < s.body.size(); ++k)
    if (const auto* matrix = s.body[k].get_if<kernel::Matrix>();
        matrix && matrix->step == kernel::Matrix::Step::Multiply && (alone || adds || matrix->by >= 0))
      line("{}({});", used_("settle_sums"), sums_of(matrix->fragment));
}

bool PhasePrinter::is_step(const Loop& pipeline, size_t at, kernel::Matrix::Step step) {
  const auto* matrix = at < pipeline.body.size() ? pipeline.body[at].get_if<kernel::Matrix>() : nullptr;
  return matrix && matrix->step == step;
}

// The multiplications that begin with sums of 0, and the others, which go on while threads add up
// what these made; those of the part before are done then.
void PhasePrinter::use_part_and_add(const Loop& s, const std::function<void()>& make) {
  size_t k = kernel::uses_of_pipeline(s);
  const auto step_of = [&](size_t at) { return s.body[at].get<kernel::Matrix>().step; };
  line("{}();", used_("begin_multiplication"));
  for (; step_of(k) == kernel::Matrix::Step::Clear; k += 2) {
    fresh_ = true;
    statement(s.body[k + 1]);
  }
  line("{}();", used_("end_multiplication"));
  const bool others = step_of(k) == kernel::Matrix::Step::Multiply;
  for (; step_of(k) == kernel::Matrix::Step::Multiply; ++k) statement(s.body[k]);
  if (others) line("{}();", used_("end_multiplication"));
  make();
  line("{}<{}>();", used_("await_multiplications"), others ? 1 : 0);
  for (; k < s.body.size(); ++k) {
    line("{}({});", used_("settle_sums"), sums_of(s.body[k].get<kernel::Matrix>().by));
    statement(s.body[k]);
  }
}

void PhasePrinter::multiply_last_rows(const Loop& s, const std::string& count) {
  open(fmt::format("if ({} > 0)", count));
  line("const int before = (int)({} - 1) % {};", count, s.stages);
  const int group = kernel::groups_of_parts(kernel_, s) - 1;
  if (takes_boxes_ && group > 0) await_boxes(s, group, "before", count + " - 1");
  line("{}();", used_("begin_multiplication"));
  multiply_held(s.body.back().get<kernel::Matrix>(), "before");
  line("{}();", used_("end_multiplication"));
  close();
}

// While the scores of a part are weighed, the units multiply the weights of the part before.
void PhasePrinter::use_part_meanwhile(const Loop& s, size_t first_use, const std::string& part,
                                      const std::function<void()>& make) {
  const auto& weigh = s.body[s.body.size() - 2].get<kernel::Matrix>();
  const auto& last = s.body.back().get<kernel::Matrix>();
  for (size_t k = first_use; k < s.body.size() - 2; ++k) {
    const auto* matrix = s.body[k].get_if<kernel::Matrix>();
    const bool multiplies = matrix && matrix->step == kernel::Matrix::Step::Multiply;
    if (multiplies) line("{}();", used_("begin_multiplication"));
    statement(s.body[k]);
    if (!multiplies) continue;
    line("{}();", used_("end_multiplication"));
    open(fmt::format("if ({} > 0)", part));
    multiply_held(last, "before");
    close();
    line("{}();", used_("end_multiplication"));
    make();
    line("{}<1>();", used_("await_multiplications"));
    line("{}({});", used_("settle_sums"), sums_of(matrix->fragment));
  }
  weigh_rows(weigh);
  line("{}<0>();", used_("await_multiplications"));
  line("{}({});", used_("settle_sums"), sums_of(last.fragment));
  rescale(weigh);
}

// A step of a pipeline whose sums the next one takes.
void PhasePrinter::use_part(const Stmt& s, const std::function<void()>& make) {
  const auto* matrix = s.get_if<kernel::Matrix>();
  const bool waits = matrix && matrix->step == kernel::Matrix::Step::Multiply &&
                     kernel_.fragments[static_cast<size_t>(matrix->fragment)].in_groups();
  if (waits) line("{}();", used_("begin_multiplication"));
  statement(s);
  if (!waits) return;
  line("{}();", used_("end_multiplication"));
  make();
  line("{}<0>();", used_("await_multiplications"));
  line("{}({});", used_("settle_sums"), sums_of(matrix->fragment));
}

}  // namespace smelt::emit::c_like
