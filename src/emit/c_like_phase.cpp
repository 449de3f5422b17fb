#include "emit/c_like_phase.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "kernel/barriers.hpp"
#include "kernel/multipliers.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {

constexpr int64_t kLargest = int64_t{1} << 56;  // no size or stride is greater
// Registers of a thread that kept values may take; the rest is for computing.
constexpr int64_t kKeptBytes = 4 * 128;

PhasePrinter::PhasePrinter(const CLike& as, const Kernel& kernel, int phase, Variant variant)
    : as_(as),
      kernel_(kernel),
      phase_(kernel.phases[static_cast<size_t>(phase)]),
      variant_(variant),
      team_(phase_.team),
      shuffles_(std::any_of(kernel.exprs.begin(), kernel.exprs.end(), is_shuffle)),
      looped_(kernel.dialect == kernel::Dialect::PlainThread),
      scans_(has_scans(phase_.body) || has_each(phase_.body)),
      locals_(kernel.locals.size()),
      buffers_(kernel.buffers.size()),
      stored_(kernel.params.size(), false),
      uses_(kernel.exprs.size(), 0),
      dependencies_(kernel.exprs.size()),
      known_(kernel.exprs.size()),
      loops_of_(kernel.exprs.size()),
      alignment_(kernel.params.size(), 0) {
  SMELT_CHECK(team_.threads > 0, "kernel {} has no threads: it was not scheduled for a GPU", kernel.name);
  SMELT_CHECK(kernel.ordered || kernel.buffers.empty(), "kernel {} did not go through its passes", kernel.name);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    if (p.kind != ParamKind::Size) {
      if (p.kind != ParamKind::Scalar) alignment_[i] = size_of(p.dtype);
      continue;
    }
    const std::string& name = symbols_[*p.symbol] = kernel::param_name(kernel, static_cast<int>(i));
    if (p.symbol->kind() == Symbol::Kind::Multiplier) {
      const auto size = std::find_if(kernel.launch_sizes.begin(), kernel.launch_sizes.end(),
                                     [&](const kernel::LaunchSize& l) { return l.symbol == p.symbol; });
      multipliers_[size->value.str()] = name + "_";
      continue;
    }
    ranges_[*p.symbol] = {p.symbol->kind() == Symbol::Kind::Stride ? -kLargest : 0, kLargest};
  }
}

CLike::Frame PhasePrinter::frame(const std::string& name) const {
  CLike::Frame frame{name, team_, {}, {}, variant_.part, false};
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& p = kernel_.params[i];
    const std::string called = kernel::param_name(kernel_, static_cast<int>(i));
    switch (p.kind) {
      case ParamKind::Size: frame.parameters.push_back(fmt::format("const {} {}_", as_.wide, called)); break;
      case ParamKind::Scalar:
        frame.parameters.push_back(fmt::format("const {} {}_", memory_type(p.dtype), called));
        break;
      default: frame.parameters.emplace_back(); frame.arrays.push_back({memory_type(p.dtype), called, stored_[i]});
    }
  }
  return frame;
}

// ---- analysis: who assigns and reads what, where

void PhasePrinter::note_access(const Access& access, const Loop* vector) {
  if (!access.scratch) return;
  BufferInfo& info = buffers_[static_cast<size_t>(access.array)];
  const bool first = !info.used;
  info.used = true;
  if (!first || !is_private(access.array)) return;
  const auto axis = kernel::axis_along(access, vector->var);
  SMELT_CHECK(axis, "no axis of scratch buffer {} is dealt out to the threads", access.array);
  info.vector = vector, info.access = &access, info.axis = *axis;
}

void PhasePrinter::note_local(LocalId id, const Loop* vector) {
  LocalInfo& info = locals_[static_cast<size_t>(id)];
  if (vector)
    info.blocks.insert(block_);
  else
    info.used_outside = true;
}

void PhasePrinter::note_locals(const IntExpr& index, const Loop* vector) {
  for (const Symbol s : index.symbols())
    if (s.is_local()) note_local(s.local_id(), vector);
}

void PhasePrinter::analyse(ExprId root, const Loop* vector) {
  std::vector<ExprId> waiting{root};
  std::set<ExprId> seen;
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    waiting.pop_back();
    ++uses_[static_cast<size_t>(id)];
    if (!seen.insert(id).second) continue;
    const Expr& e = kernel_.at(id);
    if (const auto* read = e.get_if<ReadLocal>()) note_local(read->local, vector);
    for_each_index(e, [&](const IntExpr& x) { note_locals(x, vector); });
    if (const auto* load = e.get_if<Load>()) {
      note_access(load->access, vector);
      loops_of_[static_cast<size_t>(id)].insert(vector);
    }
    for_each_operand(e, [&](ExprId operand) { waiting.push_back(operand); });
  }
}

void PhasePrinter::analyse(const std::vector<Stmt>& body, const Loop* vector) {
  ++block_;
  const auto local = [&](LocalId id) -> LocalInfo& { return locals_[static_cast<size_t>(id)]; };
  for (const Stmt& s : body) {
    for_each_expression(s, [&](ExprId id) { analyse(id, vector); });
    const auto given = [&](LocalId id) {
      note_local(id, vector);
      if (vector) local(id).vectors.insert(vector);
    };
    s.match(
        [&](const Loop& loop) {
          analyse(loop.body, loop.kind == LoopKind::Vector ? &loop : vector);
          ++block_;
        },
        [&](const If& branch) { analyse(branch.body, vector); }, [&](const Each& each) { analyse(each.body, vector); },
        [&](const Let& let) { given(let.local); }, [&](const Assign& assign) { given(assign.local); },
        [&](const Store& store) {
          if (!store.access.scratch) stored_[static_cast<size_t>(store.access.array)] = true;
          note_access(store.access, vector);
          for (const IntExpr& x : store.access.index) note_locals(x, vector);
        },
        [&](const Combine& combine) {
          for (const LocalId id : {combine.local, combine.index_local})
            if (id >= 0) local(id).combined = true, local(id).per_column = combine.columns > 0;
        },
        [&](const Scan& scan) {
          note_local(scan.local, vector);
          note_local(scan.carry, nullptr);
          if (scan.over_grid) stored_[static_cast<size_t>(scan.over_grid->meet.array)] = true;
          local(scan.local).vectors.insert(vector);
          ++block_;  // it stands between two
        },
        [](const Barrier&) {}, [](const Prefetch&) {}, [](const Turn&) {}, [](const Alloc&) {});
  }
}

// Locals that some statement needs from another element, another loop, or from before a loop.
void PhasePrinter::find_locals_of_elements(const std::vector<Stmt>& body, std::set<LocalId>& others) const {
  const auto is_simple = [](const Stmt& s) { return s.is<Let>() || s.is<Assign>() || s.is<Store>(); };
  std::set<LocalId> given;
  const auto read = [&](int local) {
    if (local < static_cast<int>(locals_.size()) && !given.count(local)) others.insert(local);
  };
  const auto read_by = [&](const Stmt& s) {
    for_each_expression(s, [&](ExprId id) {
      for (const int on : dependencies_[static_cast<size_t>(id)]) read(on);
    });
    if (const auto* store = s.get_if<Store>())
      for (const IntExpr& x : store->access.index)
        for (const Symbol symbol : x.symbols())
          if (symbol.is_local()) read(symbol.local_id());
  };
  for (const Stmt& s : body) {
    given.clear();
    const Loop* vector = loop_of(s, LoopKind::Vector);
    if (vector && std::all_of(vector->body.begin(), vector->body.end(), is_simple)) {
      for (const Stmt& inner : vector->body) {
        read_by(inner);
        if (const auto local = given_by(inner)) given.insert(*local);
      }
      continue;
    }
    read_by(s);
    if (const auto local = given_by(s)) others.insert(*local);
    if (const auto* combine = s.get_if<Combine>()) others.insert({combine->local, combine->index_local});
    if (const auto* scan = s.get_if<Scan>()) others.insert({scan->local, scan->carry});
    if (const auto* inside = body_of(s)) find_locals_of_elements(*inside, others);
  }
}

// A local gets an array of lanes when its loops combine it, or when it outlives a block of statements.
void PhasePrinter::settle_locals() {
  if (looped_) {
    std::set<LocalId> others;
    find_locals_of_elements(phase_.body, others);
    for (size_t id = 0; id < locals_.size(); ++id) {
      LocalInfo& info = locals_[id];
      info.of_element = kernel_.locals[id].is_mutable && !info.vectors.empty() && !others.count(static_cast<int>(id));
    }
  }
  for (size_t id = 0; id < locals_.size(); ++id) {
    LocalInfo& info = locals_[id];
    if (info.vectors.empty() || info.of_element) continue;
    int most = 1, edge = 0;
    for (const Loop* loop : info.vectors) {
      const Vector shape = shape_of(*loop);
      most = std::max(most, shape.count());
      edge = std::max(edge, shape.odd ? 1 : 0);
    }
    if (info.per_column)
      info.slots = shape_of(**info.vectors.begin()).lanes;
    else if (info.used_outside)
      info.slots = looped_ ? most : kernel::accumulator_lanes(most, 1);
    else if (kernel_.locals[id].is_mutable || info.blocks.size() > 1)
      info.slots = most + edge;
  }
}

void PhasePrinter::settle_buffers() {
  for (size_t b = 0; b < buffers_.size(); ++b) {
    BufferInfo& info = buffers_[b];
    if (!info.used) continue;
    const kernel::ScratchBuffer& buffer = kernel_.buffers[b];
    const int64_t size = size_of(compute_type(buffer.dtype));
    SMELT_CHECK(is_private(static_cast<int>(b)) || team_.cluster() == 1, "scratch buffer {} is shared by a cluster", b);
    IntExpr bytes = count(buffer.dims) * size;
    if (is_private(static_cast<int>(b))) {
      const Vector v = shape_of(*info.vector);
      const bool flat =
          std::none_of(info.vector->body.begin(), info.vector->body.end(), [](const Stmt& s) { return s.is<Loop>(); });
      info.in_registers = v.single && flat && buffer.dims.size() == 1 && size * v.count() <= kKeptBytes;
      if (info.in_registers) {
        line("{} k{}[{}];", type_of(compute_type(buffer.dtype)), b, v.count() + (v.odd ? 1 : 0));
        continue;
      }
      IntExpr outer = 1;
      for (size_t d = 0; d < buffer.dims.size(); ++d)
        if (d != info.axis) outer = outer * buffer.dims[d];
      const IntExpr groups = ceildiv(buffer.dims[info.axis], team_.threads * v.count()) * v.unroll + (v.odd ? 1 : 0);
      line("const int b{}_groups = {};", b, integer(groups));
      bytes = outer * groups * v.lanes * std::min(team_.threads, team_.workgroup) * size;
    }
    bytes = ceildiv(bytes, 16) * 16;
    line("{4}{0}* const b{1} = ({4}{0}*)(scratch + {2}{3});", type_of(compute_type(buffer.dtype)), b,
         integer(shared_bytes_),
         team_.iterations() > 1 ? fmt::format(" + ({} / {}) * {}", as_.thread, team_.threads, integer(bytes)) : "",
         as_.on_chip);
    shared_bytes_ = shared_bytes_ + bytes * team_.iterations();
    uses_scratch_ = true;
  }
}

// The mutable locals and stored arrays that each expression depends on.
void PhasePrinter::find_dependencies() {
  const int locals = static_cast<int>(kernel_.locals.size()), params = static_cast<int>(kernel_.params.size());
  std::vector<Symbol> symbols;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    std::vector<int>& found = dependencies_[id];
    symbols.clear();
    for_each_index(e, [&](const IntExpr& index) { index.collect_symbols(symbols); });
    for (const Symbol s : symbols)
      if (s.is_local()) found.push_back(s.local_id());
    if (const auto* read = e.get_if<ReadLocal>()) found.push_back(read->local);
    const auto* load = e.get_if<Load>();
    if (load && (load->access.scratch || stored_[static_cast<size_t>(load->access.array)]))
      found.push_back(locals + (load->access.scratch ? params : 0) + load->access.array);
    for_each_operand(e, [&](ExprId operand) {
      const std::vector<int>& more = dependencies_[static_cast<size_t>(operand)];
      found.insert(found.end(), more.begin(), more.end());
    });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
}

void PhasePrinter::declare() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& p = kernel_.params[i];
    const std::string name = kernel::param_name(kernel_, static_cast<int>(i));
    if (p.kind == ParamKind::Size && p.symbol->kind() != Symbol::Kind::Multiplier)
      line("const {0} {1} = ({0}){1}_;", index_type(), name);
    if (p.kind == ParamKind::Scalar)
      line("const {} {} = {};", type_of(compute_type(p.dtype)), name, from_memory(p.dtype, name + "_"));
  }
  for (size_t id = 0; id < locals_.size(); ++id) {
    const std::string type = type_of(kernel_.locals[id].dtype);
    const LocalInfo& info = locals_[id];
    if (info.slots) line("{} a{}[{}];", type, id, info.slots);
    if (kernel_.locals[id].is_mutable && (info.vectors.empty() || info.used_outside || info.of_element))
      line("{} v{};", type, id);
  }
}

void PhasePrinter::end_with(PhasePrinter& last) {
  SMELT_CHECK(team_.iterations() == 1 && team_.cluster() == 1 && last.team_.workgroup == team_.workgroup,
              "kernel {} ends in workgroups of another kind", kernel_.name);
  const std::string body = last.body();
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
  stored_[static_cast<size_t>(kernel_.counter_param)] = true;
  for (size_t i = 0; i < stored_.size(); ++i) stored_[i] = stored_[i] || last.stored_[i];
  shared_bytes_ = max(shared_bytes_, last.shared_bytes_);
  uses_scratch_ = uses_scratch_ || last.uses_scratch_;
}

std::string PhasePrinter::print(const std::string& name) {
  const std::string inside = body() + ending_;
  CLike::Frame made = frame(name);
  made.scratch = uses_scratch_;
  return as_.signature(made) + " {\n" + as_.opening(made) + inside + "}\n";
}

std::string PhasePrinter::body() {
  analyse(phase_.body, nullptr);
  if (phase_.counter >= 0) stored_[static_cast<size_t>(phase_.counter)] = true;
  find_dependencies();
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
    line("cluster_arrive();");
  } else {
    line("const int tw = threadIdx.x, t = tw;");
    line("const unsigned team = {:#x}u;", threads < 32 ? (uint64_t{1} << threads) - 1 : 0xffffffffu);
  }
  settle_buffers();
  statement(phase_.body.back());
  pop();
  return statics_ + boxes_ + out_;
}

}  // namespace smelt::emit::c_like
