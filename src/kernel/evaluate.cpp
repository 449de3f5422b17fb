#include "kernel/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "kernel/conditions.hpp"
#include "kernel/value.hpp"
#include "schedule/computing.hpp"
#include "schedule/domain.hpp"

namespace smelt::kernel {

Evaluator::Evaluator(const Graph& graph, const std::vector<NodeId>& members, Builder& builder)
    : graph_(graph),
      computes_(graph),
      members_(members.begin(), members.end()),
      builder_(builder),
      integers_(builder),
      anywhere_(builder.kernel()) {}

static int add_param(Kernel& kernel, const Graph& graph, NodeId id, ParamKind kind) {
  const Node& node = graph.at(id);
  Param p;
  p.kind = kind;
  p.dtype = node.dtype;
  p.dims = node.shape;
  // An output that is an input too does not lie as that does.
  p.strides = kind == ParamKind::Output ? row_major_strides(node.shape) : strides_of(node);
  p.value = id;
  p.note = node.kind == NodeKind::Input ? "input " + node.name : fmt::format("%{} {}", id, node.label);
  kernel.params.push_back(std::move(p));
  return static_cast<int>(kernel.params.size()) - 1;
}

int Evaluator::input_param(NodeId id) {
  auto [it, fresh] = inputs_.try_emplace(id, 0);
  if (fresh) {
    const bool scalar = graph_.at(id).kind == NodeKind::Input && graph_.at(id).shape.empty();
    it->second = add_param(builder_.kernel(), graph_, id, scalar ? ParamKind::Scalar : ParamKind::Input);
  }
  return it->second;
}

std::optional<int> Evaluator::read_from(NodeId id, std::optional<int> param) {
  const auto found = inputs_.find(id);
  const std::optional<int> before = found == inputs_.end() ? std::nullopt : std::optional(found->second);
  if (param)
    inputs_[id] = *param;
  else
    inputs_.erase(id);
  known_ = {};
  return before;
}

int Evaluator::output_param(NodeId id) {
  auto [it, fresh] = outputs_.try_emplace(id, 0);
  if (fresh) it->second = add_param(builder_.kernel(), graph_, id, ParamKind::Output);
  return it->second;
}

void Evaluator::enter(std::vector<Stmt>* block, const Ranges* ranges) {
  block_ = block;
  ranges_ = *ranges;
  guard_ = everywhere_ = kNoExpr;
  known_ = {};
  integers_.forget();
}

ExprId Evaluator::value(NodeId id, const Index& index) {
  // A scan goes over every element, whoever requests its values.
  if (guard_ != kNoExpr && graph_.at(id).kind == NodeKind::Scan && members_.count(id)) {
    const ExprId outer = std::exchange(guard_, kNoExpr);
    const ExprId result = value(id, index);
    guard_ = outer;
    return result;
  }
  std::string key = fmt::format("{}/{}", id, guard_);
  for (const IntExpr& i : index) key += "," + i.str();
  auto it = known_.values.find(key);
  if (it != known_.values.end()) return it->second;
  const ExprId ready = ready_ ? ready_(id, index) : kNoExpr;
  if (ready != kNoExpr) return known_.values[key] = ready;
  const ExprId result = compute(id, index);
  label(result, graph_.at(id));
  known_.values[key] = result;
  return result;
}

ExprId Evaluator::value_or_anything(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  // What joins others guards each of them itself, in the dimensions in which it joins them; not
  // what another kernel has stored.
  const auto guarded = [&](size_t d) {
    if (!members_.count(id)) return false;
    if (node.kind == NodeKind::Concat) return static_cast<int>(d) == node.axes[0];
    if (node.kind != NodeKind::Pad) return false;
    return !node.starts[d].is(0) || !(graph_.at(node.args[0]).shape[d] == node.shape[d]);
  };
  std::vector<schedule::Guard> guards;
  for (size_t d = 0; d < index.size(); ++d)
    if (!guarded(d)) guards.push_back({index[d], node.shape[d]});
  guard_ = guard_condition(guards);
  const ExprId result = compute(id, index);
  guard_ = kNoExpr;
  label(result, node);
  return result;
}

// Views have the value of what they show, which has its label already.
void Evaluator::label(ExprId value, const Node& node) {
  value = integers_.computed(value);
  const Expr& e = builder_.at(value);
  if (node.label.empty() || e.is<Const>() || e.is<ReadLocal>() || builder_.loaded(value)) return;
  const bool in_program = node.origin.line && !node.origin.file;
  const std::string where = in_program ? fmt::format(", line {}", node.origin.line) : "";
  builder_.kernel().labels.try_emplace(value, node.label + where);
}

ExprId Evaluator::value_to_store(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  const bool half = is_small_float(node.dtype);
  if (!half || node.kind != NodeKind::Cast || !members_.count(id)) return value(id, index);
  return builder_.before_small(value(node.args[0], index));
}

// What an operation makes of indices and small constants, as an index: what lanes have of arange(n)
// % 2 is then known. Nothing where a number might leave 64 bits.
static std::optional<IntExpr> index_operation(const Kernel& kernel, Op op, const std::vector<ExprId>& args,
                                              const Ranges& ranges) {
  constexpr int64_t kMostTimes = int64_t{1} << 20;
  if (args.size() != 2 || (!kernel.at(args[0]).is<IndexValue>() && !kernel.at(args[1]).is<IndexValue>()))
    return std::nullopt;
  const auto a = index_of(kernel, args[0]), b = index_of(kernel, args[1]);
  if (!a || !b) return std::nullopt;
  const int64_t c = b->constant().value_or(0);
  const bool small = c > 0 && c <= kMostTimes, mask = small && std::has_single_bit(static_cast<uint64_t>(c) + 1);
  const bool times = a->constant().value_or(kMostTimes + 1) <= kMostTimes && *a->constant() >= 0;
  std::optional<IntExpr> made;
  if (op == Op::Add) made = *a + *b;
  if (op == Op::Sub) made = *a - *b;
  if (op == Op::Mul && (small || times)) made = *a * *b;
  if (op == Op::FloorDiv && small) made = floordiv(*a, *b, ranges);
  if (op == Op::Mod && small) made = mod(*a, *b, ranges);
  if (op == Op::And && mask) made = mod(*a, *b + 1, ranges);
  if (op == Op::ShiftRight && small && c < 20) made = floordiv(*a, int64_t{1} << c, ranges);
  if (!made) return std::nullopt;
  const auto modest = [](const IntExpr::Term& t) {
    return t.atoms.size() <= 1 && t.coefficient <= kMostTimes && t.coefficient >= -kMostTimes;
  };
  return std::all_of(made->terms().begin(), made->terms().end(), modest) ? made : std::nullopt;
}

// An index that should lie within these; that is proved of the loops around, since guards hold
// elsewhere.
ExprId Evaluator::index(const IntExpr& value, const Between& within) {
  const ExprId made = builder_.index(value);
  if (!builder_.at(made).is<IndexValue>() || !within.within(all_of(DType::I32))) return made;
  const auto low = static_cast<int64_t>(within.low), high = static_cast<int64_t>(within.high);
  if (proves_le(low, value, ranges_) && proves_le(value, high, ranges_)) integers_.know(made, within);
  return made;
}

ExprId Evaluator::compute(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  const bool member = members_.count(id) > 0;
  if (node.kind == NodeKind::Input || (!member && computes_(id))) return load(id, index);
  switch (node.kind) {
    case NodeKind::Input: return load(id, index);
    case NodeKind::Constant: return builder_.constant(node.constant);
    case NodeKind::SizeValue: return builder_.index(node.size);
    case NodeKind::Iota: {
      const auto axis = static_cast<size_t>(node.axes[0]);
      const auto extent = node.shape[axis].constant();
      return this->index(index[axis], {0, static_cast<double>(extent.value_or(0)) - 1});
    }
    case NodeKind::Random: return drawn(node, index);
    case NodeKind::Elementwise: {
      std::vector<ExprId> args;
      for (NodeId arg : node.args) args.push_back(value(arg, index));
      if (const auto place = index_operation(builder_.kernel(), node.op, args, ranges_))
        return this->index(*place, integers_.range_of(builder_.apply(node.op, std::move(args))));
      return integers_.apply(node.op, std::move(args));
    }
    case NodeKind::Cast: return integers_.cast(value(node.args[0], index), node.dtype, node.wrap);
    case NodeKind::Reduce: {
      if (node.local) return local_reduction(id, index);
      if (const auto computed = computed_reductions_.find(id); computed != computed_reductions_.end())
        return computed->second(index);
      auto it = reductions_.find(id);
      SMELT_CHECK(it != reductions_.end(), "reduction %{} is used before it is computed", id);
      return it->second;
    }
    case NodeKind::Scan: SMELT_CHECK(scan_, "no schedule for the scan %{}", id); return scan_(id, index);
    case NodeKind::Reshape:
    case NodeKind::Permute:
    case NodeKind::Broadcast:
    case NodeKind::Slice:
    case NodeKind::Window:
    case NodeKind::Extend: return value(node.args[0], schedule::through_view(graph_, node, index, ranges_));
    case NodeKind::Pad:
    case NodeKind::Concat: return joined(node, index);
    case NodeKind::Gather: return gathered(id, index);
    case NodeKind::Custom: break;  // never a part of a kernel
    case NodeKind::Scatter: break;
  }
  throw InternalError("unknown kind of node");
}

// Seeds are one for all elements, so that no guard is before them.
ExprId Evaluator::drawn(const Node& node, const Index& index) {
  const ExprId outer = guard_;
  guard_ = kNoExpr;
  std::array<ExprId, 3> args{};
  for (size_t i = 0; i < args.size(); ++i) args[i] = value(node.args[i], {});
  guard_ = outer;
  return builder_.random(node.draw, args, schedule::flat_offset(node.shape, index), count(node.shape));
}

ExprId Evaluator::load(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  if (redirect_ && guard_ == everywhere_)
    if (auto staged = redirect_(id, index)) return builder_.load(*staged);
  const ExprId other = guard_ == kNoExpr ? kNoExpr : builder_.constant(Scalar::of_int(compute_type(node.dtype), 0));
  return builder_.load({false, input_param(id), inside(id, index)}, guard_, other);
}

Index Evaluator::inside(NodeId id, const Index& index) {
  if (!clamp_) return index;
  const Shape& shape = graph_.at(id).shape;
  Index result = index;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (proves_nonnegative(index[d], ranges_) && proves_nonnegative(shape[d] - 1 - index[d], ranges_)) continue;
    result[d] = max(0, min(index[d], shape[d] - 1));
    const ExprId value = builder_.index(index[d]);
    report_where(builder_.apply(Op::Or, {builder_.apply(Op::Lt, {value, builder_.index(0)}),
                                         builder_.apply(Op::Ge, {value, builder_.index(shape[d])})}),
                 kOutsideOfArray);
  }
  return result;
}

// Stores an error code where the condition holds and the current guard does.
void Evaluator::report_where(ExprId condition, int32_t code) {
  Kernel& kernel = builder_.kernel();
  if (kernel.error_param < 0) {
    Param p;
    p.kind = ParamKind::Output;
    p.dtype = DType::I32;
    p.dims = {1};
    p.strides = {1};
    p.note = "error";
    kernel.error_param = static_cast<int>(kernel.params.size());
    kernel.params.push_back(std::move(p));
  }
  const ExprId where = both(guard_, condition);
  if (!known_.reports.emplace(where, code).second) return;
  block_->push_back(builder_.store({false, kernel.error_param, {IntExpr(0)}},
                                   builder_.constant(Scalar::of_int(DType::I32, code)), where));
}

ExprId Evaluator::both(ExprId a, ExprId b) {
  if (a == kNoExpr) return b;
  return b == kNoExpr ? a : builder_.apply(Op::And, {a, b});
}

// e >= 0 as a condition. Neighbours that are on the same side of it whatever the loops say have
// the same condition: 4 * i + 2 >= 0 and 4 * i + 3 >= 0 are both i >= 0.
ExprId Evaluator::not_negative(const IntExpr& e) {
  int64_t common = builder_.on_gpu() ? 0 : 1;
  for (const IntExpr::Term& term : e.terms()) {
    if (!term.atoms.empty()) common = std::gcd(common, term.coefficient);
    // What such ends say is easier to use as it is.
    if (std::any_of(term.atoms.begin(), term.atoms.end(),
                    [](const auto& a) { return a->kind == AtomKind::Min || a->kind == AtomKind::Max; }))
      return kNoExpr;
  }
  if (common <= 1) return kNoExpr;
  IntExpr reduced = 0;
  for (IntExpr::Term term : e.terms()) {
    const int64_t c = term.coefficient;
    term.coefficient = c / common - (c % common < 0 ? 1 : 0);
    if (term.coefficient != 0) reduced = reduced + IntExpr::of_term(term);
  }
  return builder_.apply(Op::Ge, {builder_.index(reduced), builder_.index(0)});
}

ExprId Evaluator::guard_condition(const std::vector<schedule::Guard>& guards) {
  ExprId condition = kNoExpr;
  for (const schedule::Guard& g : guards) {
    const ExprId value = builder_.index(g.value);
    if (!schedule::holds_when_empty(g.value, ranges_)) {
      const ExprId reduced = not_negative(g.value);
      condition = both(condition, reduced != kNoExpr ? reduced : builder_.apply(Op::Ge, {value, builder_.index(0)}));
    }
    if (!schedule::holds_when_empty(g.extent - 1 - g.value, ranges_)) {
      const ExprId reduced = not_negative(g.extent - 1 - g.value);
      condition =
          both(condition, reduced != kNoExpr ? reduced : builder_.apply(Op::Lt, {value, builder_.index(g.extent)}));
    }
  }
  return condition;
}

// Each piece is evaluated under its guards only, so that nothing is read outside of its array.
ExprId Evaluator::joined(const Node& node, const Index& index) {
  ExprId result = node.kind == NodeKind::Pad ? value(node.args[1], {}) : kNoExpr;
  auto parts = schedule::pieces(graph_, node, index, ranges_);
  for (size_t p = parts.size(); p-- > 0;) {
    // Nothing is ever inside of an array without elements, or after another one where loops go
    // over that one alone.
    const auto& guards = parts[p].guards;
    const auto never = [&](const schedule::Guard& g) {
      return g.extent.is(0) || schedule::holds_when_empty(-g.value - 1, ranges_) ||
             schedule::holds_when_empty(g.value - g.extent, ranges_);
    };
    if (std::any_of(guards.begin(), guards.end(), never)) continue;
    const ExprId condition = guard_condition(guards);
    const ExprId outer = guard_;
    guard_ = both(outer, condition);
    const ExprId inside = value(parts[p].arg, parts[p].index);
    guard_ = outer;
    // A load under the same mask has the value of where it does not hold already.
    const Load* load = builder_.loaded(inside);
    const bool same = load && load->other != kNoExpr && builder_.from_small(load->other) == result;
    const ExprId mask = same ? load->mask : kNoExpr;
    if (result == kNoExpr || condition == kNoExpr || (mask != kNoExpr && mask == both(outer, condition)))
      result = inside;
    else
      result = builder_.apply(Op::Where, {condition, inside, result});
  }
  // A concatenation of nothing has no elements, so any value will do.
  return result == kNoExpr ? builder_.constant(Scalar::of_int(compute_type(node.dtype), 0)) : result;
}

ExprId Evaluator::gathered(NodeId id, const Index& index) {
  const Node& node = graph_.at(id);
  const IntExpr extent = graph_.at(node.args[0]).shape[static_cast<size_t>(node.axes[0])];
  const Index at = schedule::gather_indices_index(graph_, node, index);
  std::optional<IntExpr> place = reported_place(id, value(node.args[1], at), extent);
  if (!place) {
    const ExprId row = row_of(id, node.args[1], at, extent);
    report_row(id, row, extent);
    place = as_index(row, extent);
  }
  return value(node.args[0], schedule::gather_data_index(graph_, node, index, *place));
}

// On a GPU, which has no instructions of 64 bits: one addition and one comparison report an index,
// and what is not reported is the same in 32 bits.
std::optional<IntExpr> Evaluator::reported_place(NodeId gather, ExprId raw, const IntExpr& extent) {
  constexpr int64_t kMostRows = 1 << 30;
  const DType t = builder_.dtype(raw);
  const int64_t rows = extent.constant().value_or(0);
  if (!builder_.on_gpu() || graph_.at(gather).gather != GatherMode::Check || (t != DType::I64 && t != DType::I32) ||
      rows <= 0 || rows > kMostRows || anywhere_.of(raw).low >= 0)
    return std::nullopt;
  const Val index{&builder_, raw}, beyond = index + like(index, rows);
  const DType bits = t == DType::I64 ? DType::U64 : DType::U32;
  report_where((bitcast(beyond, bits) >= like(bitcast(beyond, bits), 2 * rows)).id, code_of(gather));
  const Val low{&builder_, builder_.cast(raw, DType::I32, true)};
  const Val place = bitcast(select(low < like(low, 0), low + like(low, rows), low), DType::U32);
  const Val inside = place.apply(Op::Min, {place.id, like(place, rows - 1).id});
  return known_index(cast(inside, DType::I64).id, extent);
}

ExprId Evaluator::row_of(NodeId id, NodeId indices, const Index& at, const IntExpr& extent) {
  const GatherMode mode = graph_.at(id).gather;
  const ExprId zero = builder_.index(0), size = builder_.index(extent);
  ExprId raw = value(indices, at);
  // A large u64 wraps as itself; everything else survives the conversion, or stays out of range.
  if (mode == GatherMode::Wrap && builder_.dtype(raw) == DType::U64)
    raw = builder_.apply(Op::Mod, {raw, builder_.cast(size, DType::U64)});
  raw = builder_.cast(raw, DType::I64);
  if (mode == GatherMode::Wrap) return integers_.apply(Op::Mod, {raw, size});
  if (mode == GatherMode::Clamp || mode == GatherMode::Drop) return raw;
  // As in Python, -1 is the last element. In 64 bits, which compilers see through best.
  if (anywhere_.of(raw).low >= 0) return raw;
  return builder_.apply(Op::Where, {builder_.apply(Op::Lt, {raw, zero}), builder_.apply(Op::Add, {raw, size}), raw});
}

ExprId Evaluator::is_below(ExprId value, const IntExpr& extent) {
  return builder_.apply(Op::And, {builder_.apply(Op::Ge, {value, builder_.index(0)}),
                                  builder_.apply(Op::Lt, {value, builder_.index(extent)})});
}

// Whether it is such an index whatever the data are.
bool Evaluator::is_always_below(ExprId value, const IntExpr& extent) {
  const auto rows = extent.constant();
  return rows && anywhere_.of(value).within({0, static_cast<double>(*rows) - 1});
}

void Evaluator::report_row(NodeId id, ExprId row, const IntExpr& extent) {
  if (graph_.at(id).gather != GatherMode::Check || is_always_below(row, extent)) return;
  report_where(builder_.apply(Op::Or, {builder_.apply(Op::Lt, {row, builder_.index(0)}),
                                       builder_.apply(Op::Ge, {row, builder_.index(extent)})}),
               code_of(id));
}

int32_t Evaluator::code_of(NodeId gather) {
  std::vector<NodeId>& checks = builder_.kernel().checks;
  const auto found = std::find(checks.begin(), checks.end(), gather);
  const auto place = static_cast<int32_t>(found - checks.begin());
  if (found == checks.end()) checks.push_back(gather);
  return place + 1;
}

IntExpr Evaluator::as_index(ExprId value, const IntExpr& extent) {
  if (is_always_below(value, extent)) return known_index(value, extent);
  const ExprId clamped =
      builder_.apply(Op::Max, {builder_.apply(Op::Min, {value, builder_.index(extent - 1)}), builder_.index(0)});
  return known_index(clamped, extent);
}

IntExpr Evaluator::known_index(ExprId value, const IntExpr& extent) {
  if (const auto found = known_.places.find(value); found != known_.places.end() && found->second.first == extent)
    return found->second.second;
  const LocalId local = builder_.new_local(DType::I64, false);
  block_->push_back(let(local, value));
  builder_.kernel().index_locals.push_back({local, extent});
  ranges_[Symbol::local(local)] = {0, extent - 1};
  const IntExpr place = IntExpr::symbol(Symbol::local(local));
  known_.places.insert_or_assign(value, std::pair{extent, place});
  return place;
}

}  // namespace smelt::kernel
