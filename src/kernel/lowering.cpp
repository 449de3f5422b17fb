#include "kernel/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "kernel/passes.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

Lowering::Lowering(const Graph& graph, const schedule::Group& group, const Schedule& schedule, std::string name)
    : graph_(graph), group_(group), schedule_(schedule), builder_(kernel_), evaluator_(graph, group.nodes, builder_) {
  kernel_.name = std::move(name);
  kernel_.dialect = dialect();
}

// What half precision stores may be computed a little less exactly, unless it also decides
// something: which element to take, say.
Dialect Lowering::dialect() const {
  if (schedule_.plain) return on_gpu() ? Dialect::PlainTeam : Dialect::PlainThread;
  if (!on_gpu()) return Dialect::Portable;
  const auto stores_half = [&](NodeId id) { return is_small_float(graph_.at(id).dtype); };
  auto decides = [&](NodeId id) {
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Cast) return is_int(node.dtype) && is_float(graph_.at(node.args[0]).dtype);
    if (node.kind != NodeKind::Elementwise || !is_float(node.dtype)) return false;
    switch (node.op) {
      case Op::FloorDiv:
      case Op::Mod:
      case Op::Fmod:
      case Op::Floor:
      case Op::Ceil:
      case Op::Trunc:
      case Op::Round: return true;
      default: return false;
    }
  };
  const bool half = std::all_of(group_.outputs.begin(), group_.outputs.end(), stores_half) &&
                    std::none_of(group_.nodes.begin(), group_.nodes.end(), decides);
  return half ? Dialect::GpuHalf : Dialect::Gpu;
}

Kernel Lowering::run(bool clamp) {
  kernel_.clamped = clamp;
  evaluator_.set_clamp(clamp);
  phases();
  finish();
  return std::move(kernel_);
}

std::vector<Stmt> Lowering::elements(const Placement& placement, const std::vector<schedule::Guard>& inside) {
  std::vector<Stmt> body, stores;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId mask = evaluator_.only_where(inside);
  for (const StoredOutput& o : domain().outputs)
    stores.push_back(store_output(o, placement, evaluator_.value_to_store(o.base, placement.at(o.base_index)), mask));
  evaluator_.only_where(kNoExpr);
  append(body, std::move(stores));
  return body;
}

Store Lowering::store_output(const StoredOutput& output, const Placement& placement, ExprId value, ExprId mask) {
  return builder_.store(
      {false, evaluator_.output_param(output.node), evaluator_.inside(output.node, placement.at(output.store_index))},
      value, mask, !output.per_row);
}

Loop Lowering::vector(IntExpr extent, std::vector<Stmt> body) const {
  Loop made = loop(LoopKind::Vector, kLane, std::move(extent), std::move(body), schedule_.lanes, schedule_.unroll);
  made.whole = schedule_.held;
  made.columns = schedule_.columns;
  return made;
}

void Lowering::add_phase(IntExpr extent, std::vector<Stmt> body, IntExpr work) {
  body.insert(body.begin(), allocs_.begin(), allocs_.end());
  allocs_.clear();
  Phase phase;
  phase.body.push_back(loop(LoopKind::Grid, kGrid, std::move(extent), std::move(body)));
  phase.work = std::move(work);
  phase.team = {schedule_.team, schedule_.workgroup, schedule_.resident};
  if (schedule_.plain && !on_gpu()) phase.team = {1, std::max(1, schedule_.workgroup)};
  kernel_.phases.push_back(std::move(phase));
}

void Lowering::set_team(int threads) {
  Team& team = kernel_.phases.back().team;
  team.threads = team.workgroup = threads;
}

std::vector<Axis> Lowering::kept_axes() const {
  std::vector<Axis> kept;
  for (const Axis& axis : domain().axes)
    if (!axis.reduced) kept.push_back(axis);
  return kept;
}

int Lowering::add_partial(DType dtype, int64_t parts, const std::vector<Axis>& axes, const std::string& note) {
  Shape dims{parts};
  for (const Axis& axis : axes) dims.push_back(axis.extent);
  return add_temporary(dtype, std::move(dims), note);
}

schedule::Index Lowering::partial_at(const IntExpr& part, const std::vector<Axis>& axes, const Placement& placement) {
  schedule::Index index{part};
  for (const Axis& axis : axes) index.push_back(placement.value_of.at(axis.var));
  return index;
}

void Lowering::end_with_last_workgroup() {
  kernel_.phases.back().last = true;
  kernel_.counter_param = add_temporary(DType::I32, {1}, "workgroups that are done");
}

int Lowering::add_temporary(DType dtype, Shape dims, const std::string& note) {
  Param p;
  p.kind = ParamKind::Temporary;
  p.dtype = dtype;
  p.strides = row_major_strides(dims);
  p.dims = std::move(dims);
  p.note = note;
  kernel_.params.push_back(std::move(p));
  return static_cast<int>(kernel_.params.size()) - 1;
}

int Lowering::add_scratch(DType dtype, std::vector<IntExpr> dims) {
  kernel_.buffers.push_back({dtype, std::move(dims)});
  const int id = static_cast<int>(kernel_.buffers.size()) - 1;
  allocs_.push_back(alloc(id));
  return id;
}

void Lowering::place(Placement& placement, const std::vector<int>& axes, const IntExpr& position) const {
  std::vector<Axis> these;
  for (const int a : axes) these.push_back(domain().axes[static_cast<size_t>(a)]);
  placement.unravel(these, position);
}

std::vector<schedule::Guard> Lowering::guards_of(const Placement& placement, const std::vector<int>& axes,
                                                 const std::vector<int>& more) const {
  std::vector<schedule::Guard> guards;
  for (const std::vector<int>* these : {&axes, &more})
    for (const int a : *these) {
      const Axis& axis = domain().axes[static_cast<size_t>(a)];
      guards.push_back({placement.value_of.at(axis.var), axis.extent});
    }
  return guards;
}

// Whether the first condition is the second one and maybe more.
static bool implies(const Kernel& kernel, ExprId mask, ExprId condition) {
  if (mask == condition) return true;
  const auto* both = mask == kNoExpr ? nullptr : kernel.at(mask).get_if<Apply>();
  return both && both->op == Op::And &&
         std::any_of(both->args.begin(), both->args.end(), [&](ExprId arg) { return implies(kernel, arg, condition); });
}

namespace {

// What is 0 where a condition does not hold, since all that it is computed from is.
class ZeroOutside {
 public:
  ZeroOutside(const Kernel& kernel, ExprId inside) : kernel_(kernel), inside_(inside) {}

  bool holds(ExprId id, int depth = 0) {
    constexpr int kDeepest = 64;
    if (depth > kDeepest) return false;
    const auto [known, fresh] = known_.try_emplace(id, false);
    if (fresh) known->second = finds(kernel_.at(id), depth + 1);
    return known->second;
  }

 private:
  bool finds(const Expr& e, int depth) {
    const auto zero = [&](ExprId arg) { return holds(arg, depth); };
    if (const auto* load = e.get_if<Load>())
      return implies(kernel_, load->mask, inside_) && kernel_.is_zero(load->other);
    if (const auto* constant = e.get_if<Const>()) return constant->value.as_double() == 0;
    if (const auto* cast = e.get_if<Cast>()) return zero(cast->x);
    if (const auto* raw = e.get_if<Raw>()) {
      const bool keeps = raw->op == RawOp::RoundF16 || raw->op == RawOp::RoundBF16 || raw->op == RawOp::Shr;
      return keeps && zero(raw->args[0]);
    }
    const auto* made = e.get_if<Apply>();
    if (!made) return false;
    switch (made->op) {
      case Op::And: return std::any_of(made->args.begin(), made->args.end(), zero);
      // All must be: 0 times infinity is none.
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Neg: return std::all_of(made->args.begin(), made->args.end(), zero);
      default: return false;
    }
  }

  const Kernel& kernel_;
  const ExprId inside_;
  std::map<ExprId, bool> known_;
};

}  // namespace

ExprId Lowering::or_zero(ExprId value, ExprId inside, int buffer) {
  if (inside == kNoExpr || ZeroOutside(kernel_, inside).holds(value)) return value;
  const DType in_panel = kernel_.buffers[static_cast<size_t>(buffer)].dtype;
  return builder_.apply(Op::Where,
                        {inside, value, builder_.constant(neutral(ReduceKind::Sum, compute_type(in_panel)))});
}

IntExpr Lowering::launch_size(Symbol symbol, const IntExpr& value) {
  if (value.constant()) return value;
  kernel_.launch_sizes.push_back({symbol, value});
  return IntExpr::symbol(symbol);
}

namespace {

// The sizes that a kernel names, in order of appearance: they are the arguments of the launch.
std::vector<Symbol> arguments_of(const Kernel& kernel) {
  std::vector<Symbol> found;
  const auto use = [&](const std::vector<IntExpr>& es) {
    for (const IntExpr& e : es) e.collect_symbols(found);
  };
  for (const Param& p : kernel.params) use(p.dims), use(p.strides);
  for (const ScratchBuffer& b : kernel.buffers) use(b.dims);
  for (const LaunchSize& l : kernel.launch_sizes) use({l.value});
  for (const Expr& e : kernel.exprs) {
    for_each_index(e, [&](const IntExpr& i) { use({i}); });
    if (const auto* random = e.get_if<Random>()) use({random->extent});
  }
  for (const Phase& p : kernel.phases) {
    use({p.work});
    for_each_stmt(p.body, [&](const Stmt& s) { for_each_index(s, [&](const IntExpr& i) { use({i}); }); });
  }
  for (const IndexLocal& l : kernel.index_locals) use({l.extent});
  std::erase_if(found, [](Symbol s) { return !s.is_size() && s.kind() != Symbol::Kind::Launch; });
  return found;
}

// At least 1 when outputs of so many bytes do not stay in the caches until they are read again. A
// large cache keeps half of itself of outputs alone, and three quarters of outputs and inputs; how
// much of a very large one is left for us, which others use too, is not known.
IntExpr streams(const IntExpr& written, const IntExpr& moved, int64_t cache_bytes) {
  const IntExpr some = floordiv(written, kStreamBytes);
  const int64_t alone = std::min(cache_bytes / 2, 2 * kStreamBytes);
  if (alone <= kStreamBytes) return some;
  return max(floordiv(written, alone), min(some, floordiv(moved, alone * 3 / 2)));
}

}  // namespace

void Lowering::finish() {
  IntExpr written = 0, moved = 0;
  for (Param& p : kernel_.params) {
    const auto is_of = [&](const std::vector<NodeId>& arrays) {
      return p.kind == ParamKind::Input && std::count(arrays.begin(), arrays.end(), p.value) > 0;
    };
    p.lasts = is_of(schedule_.lasting);
    p.passes = is_of(schedule_.passing) && std::binary_search(group_.alone.begin(), group_.alone.end(), p.value);
    if (p.kind == ParamKind::Output && p.value >= 0) written = written + count(p.dims) * size_of(p.dtype);
    if (p.kind == ParamKind::Output || p.kind == ParamKind::Input) moved = moved + count(p.dims) * size_of(p.dtype);
  }
  kernel_.launch_sizes.push_back({kLaunchStream, min(1, streams(written, moved, schedule_.cache_bytes))});
  std::vector<Symbol> arguments = arguments_of(kernel_);
  for (const LaunchSize& l : kernel_.launch_sizes)
    if (!std::count(arguments.begin(), arguments.end(), l.symbol)) arguments.push_back(l.symbol);
  // What was checked of this kernel's sizes when they were bound.
  auto assume = [&](const IntExpr& e) {
    const auto unknown = [&](Symbol s) { return std::count(arguments.begin(), arguments.end(), s) == 0; };
    if (!e.any_symbol(unknown)) kernel_.assumptions.push_back(e);
  };
  for (const Constraint& c : graph_.constraints) {
    if (c.kind == Constraint::Divisible) continue;
    assume(c.left - c.right);
    if (c.kind == Constraint::Equal) assume(c.right - c.left);
  }
  for (Symbol symbol : arguments) kernel_.params.push_back(size_param(symbol));
}

}  // namespace smelt::kernel
