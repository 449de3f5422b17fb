#include "emit/c_like_phase.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "kernel/pipeline.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {

// Registers of a thread that kept values may take; the rest is for computing.
constexpr int64_t kKeptBytes = 4 * 128;

PhasePrinter::PhasePrinter(const CLike& as, const Kernel& kernel, size_t phase, const Function& function)
    : as_(as),
      kernel_(kernel),
      phase_(kernel.phases[phase]),
      function_(function),
      variant_(phase_.variants[function.variant]),
      team_(phase_.team),
      shuffles_(std::any_of(kernel.exprs.begin(), kernel.exprs.end(), is_shuffle)),
      takes_boxes_(function.boxes && !function.part && variant_.boxes),
      beside_(threads_beside()),
      looped_(kernel.dialect == kernel::Dialect::PlainThread),
      uses_(kernel, phase_),
      slots_(kernel.locals.size(), 0),
      own_edges_(kernel.locals.size(), false),
      in_registers_(kernel.buffers.size(), false),
      of_warps_(kernel::factors_of_warps(kernel, kernel.phases[phase])),
      converted_bytes_(converted_bytes()),
      known_(kernel.exprs.size()) {
  SMELT_CHECK(team_.threads > 0, "kernel {} has no threads: it was not scheduled for a GPU", kernel.name);
  SMELT_CHECK(kernel.ordered || kernel.buffers.empty(), "kernel {} did not go through its passes", kernel.name);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    if (p.kind != ParamKind::Size) continue;
    const std::string& name = symbols_[*p.symbol] = kernel::param_name(kernel, static_cast<int>(i));
    if (p.symbol->kind() != Symbol::Kind::Multiplier) continue;
    const auto size = std::find_if(kernel.launch_sizes.begin(), kernel.launch_sizes.end(),
                                   [&](const kernel::LaunchSize& l) { return l.symbol == p.symbol; });
    multipliers_[size->value.str()] = name + "_";
  }
}

CLike::Frame PhasePrinter::frame(const std::string& name) const {
  CLike::Frame frame{name, team_, {}, {}, function_.part, static_cast<int>(maps_.size()), beside_.threads};
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& p = kernel_.params[i];
    const std::string called = kernel::param_name(kernel_, static_cast<int>(i));
    switch (p.kind) {
      case ParamKind::Size: frame.parameters.push_back(fmt::format("const {} {}_", as_.wide, called)); break;
      case ParamKind::Scalar:
        frame.parameters.push_back(fmt::format("const {} {}_", memory_type(p.dtype), called));
        break;
      default:
        frame.parameters.emplace_back();
        frame.arrays.push_back(
            {memory_type(p.dtype), called, uses_.stored[i], kernel_.may_be_shared(static_cast<int>(i))});
    }
  }
  return frame;
}

// A local gets an array of lanes when its loops combine it, or when it outlives a block of
// statements.
void PhasePrinter::settle_locals() {
  for (size_t id = 0; id < slots_.size(); ++id) {
    const kernel::LocalUses& local = uses_.locals[id];
    if (local.vectors.empty() || local.of_element) continue;
    int most = 1, edge = 0;
    for (const Loop* loop : local.vectors) {
      const Vector shape = shape_of(*loop);
      most = std::max(most, shape.count());
      edge = std::max(edge, shape.peeled ? 1 : 0);
    }
    // A loop over the lanes of an accumulator must find as many as it goes over; those that no
    // element went to are neutral.
    if (local.used_outside && !local.combined)
      for (const Loop* loop : local.readers) most = std::max(most, shape_of(*loop).count());
    if (local.per_column) {
      slots_[id] = shape_of(**local.vectors.begin()).lanes;
    } else if (local.used_outside) {
      own_edges_[id] = local.finds && edge && !looped_;
      slots_[id] = (looped_ ? most : kernel::accumulator_lanes(most, 1)) + own_edges_[id];
    } else if (kernel_.locals[id].is_mutable || local.blocks.size() > 1) {
      slots_[id] = most + edge;
    }
  }
}

void PhasePrinter::settle_buffers() {
  IntExpr behind_pipeline = 0;  // bytes of scratch that reuses the memory of its stages
  for (const kernel::Lifetime lifetime :
       {kernel::Lifetime::Pipeline, kernel::Lifetime::Behind, kernel::Lifetime::Always}) {
    IntExpr& bytes = lifetime == kernel::Lifetime::Behind ? behind_pipeline : shared_bytes_;
    settle_buffers(lifetime, bytes);
    shared_bytes_ = max(shared_bytes_, behind_pipeline);
  }
}

void PhasePrinter::settle_buffers(kernel::Lifetime lifetime, IntExpr& used) {
  for (size_t b = 0; b < in_registers_.size(); ++b) {
    const kernel::ScratchUses& info = uses_.buffers[b];
    const kernel::ScratchBuffer& buffer = kernel_.buffers[b];
    if (!info.used || buffer.lifetime != lifetime) continue;
    const int64_t size = size_of(buffer.dtype);
    SMELT_CHECK(is_private(static_cast<int>(b)) || team_.cluster() == 1, "scratch buffer {} is shared by a cluster", b);
    IntExpr bytes = count(buffer.dims) * size;
    if (is_private(static_cast<int>(b))) {
      const Vector v = shape_of(*info.vector);
      if (is_fragment(static_cast<int>(b))) {
        SMELT_CHECK(
            v.one_step && v.lanes == 1 && !v.checked && IntExpr(2 * team_.threads * v.unroll) == count(buffer.dims),
            "scratch buffer {} is not gone through as its fragment lies", b);
        in_registers_[b] = true;
        continue;
      }
      if (of_warps_.count(static_cast<int>(b))) {
        SMELT_CHECK(v.one_step && !v.checked && IntExpr(team_.threads * v.count()) == buffer.dims[0],
                    "scratch buffer {} is not gone through as units multiply it", b);
        line("unsigned k{}[{}];", b, *count(buffer.dims).constant() / team_.threads / 2);
        in_registers_[b] = true;
        continue;
      }
      const bool flat =
          std::none_of(info.vector->body.begin(), info.vector->body.end(), [](const Stmt& s) { return s.is<Loop>(); });
      in_registers_[b] = v.one_step && flat && buffer.dims.size() == 1 && size * v.count() <= kKeptBytes;
      if (in_registers_[b]) {
        line("{} k{}[{}];", type_of(buffer.dtype), b, v.count() + (v.peeled ? 1 : 0));
        continue;
      }
      IntExpr outer = 1;
      for (size_t d = 0; d < buffer.dims.size(); ++d)
        if (d != info.axis) outer = outer * buffer.dims[d];
      const IntExpr groups = ceildiv(buffer.dims[info.axis], team_.threads * v.count()) * v.unroll + (v.peeled ? 1 : 0);
      line("const int b{}_groups = {};", b, integer(groups));
      bytes = outer * groups * v.lanes * std::min(team_.threads, team_.workgroup) * size;
    }
    bytes = ceildiv(bytes, 16) * 16;
    line("{4}{0}* const b{1} = ({4}{0}*)(scratch + {2}{3});", type_of(buffer.dtype), b, integer(used),
         team_.iterations() > 1 ? fmt::format(" + ({} / {}) * {}", as_.thread, team_.threads, integer(bytes)) : "",
         as_.on_chip);
    used = used + bytes * team_.iterations();
    uses_scratch_ = true;
  }
}

void PhasePrinter::declare() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& p = kernel_.params[i];
    const std::string name = kernel::param_name(kernel_, static_cast<int>(i));
    if (p.kind == ParamKind::Size && p.symbol->kind() != Symbol::Kind::Multiplier)
      line("const {0} {1} = ({0}){1}_;", index_type(), name);
    if (p.kind == ParamKind::Scalar)
      line("const {} {} = {};", type_of(p.dtype), name, from_memory(p.dtype, name + "_"));
  }
  for (size_t id = 0; id < slots_.size(); ++id) {
    const DType dtype = kernel_.locals[id].dtype;
    const kernel::LocalUses& local = uses_.locals[id];
    // A register has 32 bits: what is narrower would be extended after every assignment.
    const std::string type = is_int(dtype) && size_of(dtype) < 4 && local.combined && !looped_ ? "int" : type_of(dtype);
    if (slots_[id]) line("{} a{}[{}];", type, id, slots_[id]);
    if (kernel_.locals[id].is_mutable && (local.vectors.empty() || local.used_outside || local.of_element))
      line("{} v{};", type, id);
  }
  declare_fragments();
}

void PhasePrinter::end_with(PhasePrinter& last) {
  SMELT_CHECK(team_.iterations() == 1 && team_.cluster() == 1 && last.team_.workgroup == team_.workgroup,
              "kernel {} ends in workgroups of another kind", kernel_.name);
  const std::string body = last.body();
  used_.add(last.used_);
  const std::string counter = kernel::param_name(kernel_, kernel_.counter_param);
  // The counter goes back to 0 when it would reach the number of workgroups.
  ending_ = fmt::format(R"(  // Whichever workgroup is done last goes on with what all of them have left.
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc((unsigned*){}, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  {{
{}  }}
)",
                        counter, body);
  uses_.stored[static_cast<size_t>(kernel_.counter_param)] = true;
  for (size_t i = 0; i < uses_.stored.size(); ++i) uses_.stored[i] = uses_.stored[i] || last.uses_.stored[i];
  shared_bytes_ = max(shared_bytes_, last.shared_bytes_);
  uses_scratch_ = uses_scratch_ || last.uses_scratch_;
}

std::string PhasePrinter::print(const std::string& name) {
  const std::string inside = body() + ending_;
  CLike::Frame made = frame(name);
  if (uses_scratch_) made.scratch = 16;
  // What is swizzled by address repeats after so many bytes.
  for (size_t b = 0; b < kernel_.buffers.size(); ++b)
    if (uses_.buffers[b].used && kernel_.buffers[b].swizzled) made.scratch = 1024;
  return as_.signature(made) + " {\n" + as_.opening(made) + inside + "}\n";
}

std::string PhasePrinter::body() {
  settle_locals();
  push();
  declare();
  const int threads = team_.threads, workgroup = team_.workgroup;
  if (!as_.warps) {
    SMELT_CHECK(team_.cluster() == 1 && (team_.iterations() == 1 || threads == 1),
                "teams of kernel {} share a workgroup, and its threads meet there alone", kernel_.name);
    line("const int tw = {}, t = tw;", team_.iterations() > 1 ? "0" : fmt::format("(int){}", as_.thread));
  } else if (team_.iterations() > 1) {
    line("const int tw = threadIdx.x & {}, t = tw;", threads - 1);
    if (threads < 32)
      line("const unsigned team = {:#x}u << (threadIdx.x & 31 & ~{});", (uint64_t{1} << threads) - 1, threads - 1);
    else
      line("const unsigned team = 0xffffffffu;");
  } else if (team_.cluster() > 1) {
    line("const int tw = threadIdx.x, t = (int)(blockIdx.x % {}) * {} + tw;", team_.cluster(), workgroup);
    line("const unsigned team = 0xffffffffu;");
    line("{}();", used_("cluster_arrive"));
  } else {
    // Loops over the sums of a fragment find rows and columns from the number of the thread. Only
    // threads of the team go on to these, but that their numbers are below theirs the compiler does
    // not see by itself.
    const bool masked =
        kernel::holds_rows(kernel_) && beside_.threads > 0 && std::has_single_bit(static_cast<unsigned>(threads));
    line("const int tw = threadIdx.x{}, t = tw;", masked ? fmt::format(" & {}", threads - 1) : "");
    line("const unsigned team = {:#x}u;", threads < 32 ? (uint64_t{1} << threads) - 1 : 0xffffffffu);
  }
  settle_buffers();
  statement(phase_.body.back());
  if (reports_) {
    statics_ += "  int failed = 0;\n";
    line("if (failed) {}[0] = failed;", kernel::param_name(kernel_, kernel_.error_param));
  }
  pop();
  return statics_ + boxes_ + out_;
}

}  // namespace smelt::emit::c_like
