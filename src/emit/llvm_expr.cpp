// Expressions, computed when first needed, in the outermost scope that can.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"
#include "kernel/walk.hpp"

namespace smelt::emit {

using kernel::Expr;
using kernel::ExprId;

// The mutable locals, and the arrays that this phase stores to, whose contents each expression
// depends on. Arguments come before their users, so one pass in order finds them all.
void PhasePrinter::find_dependencies() {
  std::vector<Symbol> symbols;
  for (size_t id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    std::vector<int>& found = dependencies_[id];
    symbols.clear();
    for_each_index(e, [&](const IntExpr& index) { index.collect_symbols(symbols); });
    for (const Symbol s : symbols)
      if (s.is_local() && kernel_.locals[static_cast<size_t>(s.local_id())].is_mutable) found.push_back(s.local_id());
    if (const auto* read = e.get_if<kernel::ReadLocal>())
      if (kernel_.locals[static_cast<size_t>(read->local)].is_mutable) found.push_back(read->local);
    if (const auto* load = e.get_if<kernel::Load>())
      if (stored_[static_cast<size_t>(resource_of(load->access))]) found.push_back(resource_of(load->access));
    for (ExprId operand : operands(e)) {
      const std::vector<int>& more = dependencies_[static_cast<size_t>(operand)];
      found.insert(found.end(), more.begin(), more.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
}

// Depth first with a stack of its own: chains of thousands of operations are ordinary.
Value PhasePrinter::value_of(ExprId root) {
  std::vector<ExprId> waiting{root};
  while (!waiting.empty()) {
    const ExprId id = waiting.back();
    const Expr& e = kernel_.at(id);
    // Immutable locals are bound, not remembered: an unrolled loop binds them again.
    const auto* read = e.get_if<kernel::ReadLocal>();
    const bool is_bound = read && !kernel_.locals[static_cast<size_t>(read->local)].is_mutable;
    SMELT_CHECK(!is_bound || bindings_[static_cast<size_t>(read->local)], "local {} is read before its Let",
                read->local);
    if (is_bound || known_[static_cast<size_t>(id)]) {
      waiting.pop_back();
      continue;
    }
    const size_t depth = waiting.size();
    for (ExprId operand : operands(e)) {
      const auto* bound = kernel_.at(operand).get_if<kernel::ReadLocal>();
      const bool ready =
          known_[static_cast<size_t>(operand)].has_value() || (bound && bindings_[static_cast<size_t>(bound->local)]);
      if (!ready) waiting.push_back(operand);
    }
    if (waiting.size() > depth) continue;
    waiting.pop_back();
    const auto label = target_.labels ? kernel_.labels.find(id) : kernel_.labels.end();
    if (label != kernel_.labels.end()) label_ = "  ; " + comment_text(label->second);
    remember(id, compute(id));
    label_.clear();
  }
  const auto& known = known_[static_cast<size_t>(root)];
  return known ? *known : read_local(kernel_.at(root).get<kernel::ReadLocal>().local);
}

Value PhasePrinter::compute(ExprId id) {
  const Expr& e = kernel_.at(id);
  return e.match(
      [&](const kernel::Const& c) {
        return Value{literal(c.value), e.dtype, 0, 0};
      },
      [&](const kernel::ReadLocal& read) { return read_local(read.local); },
      [&](const kernel::IndexValue& index) { return integer_lanes(index.value); },
      [&](const kernel::Cast& made) { return cast(value_of(made.x), e.dtype, made.wrap); },
      [&](const kernel::Bitcast& made) { return bitcast(value_of(made.x), e.dtype); },
      [&](const kernel::Raw& made) { return raw(made, e.dtype); },
      [&](const kernel::Random& made) { return random(id, made); },
      [&](const kernel::Load& made) { return load(id, made); },
      [&](const kernel::Apply& made) { return apply(id, made, e.dtype); });
}

Value PhasePrinter::apply(ExprId id, const kernel::Apply& e, DType dtype) {
  if (const auto mask = compare_indices(id, e)) return *mask;
  if (const auto quotient = divide_by_constant(e)) return *quotient;
  std::vector<Value> args;
  for (const ExprId arg : e.args) args.push_back(value_of(arg));
  const OpInfo& row = info(e.op);
  const std::string_view spelling = is_float(args.back().dtype) ? row.llvm_float : row.llvm_int;
  SMELT_CHECK(!spelling.empty(), "{} of {} reached the printer unexpanded", row.name, name_of(args.back().dtype));
  return op(spelling, dtype, args);
}

// By an instruction of 16 lanes, which takes words as i32.
Value PhasePrinter::dot(std::string_view instruction, const std::vector<Value>& args) {
  constexpr int kLanes = 16;
  const int lanes = vector_.lanes;
  SMELT_CHECK(vector_.loop && lanes % kLanes == 0, "a dot product of {} lanes", lanes);
  int scope = 0;
  std::vector<std::string> texts;
  for (const Value& a : args) {
    const Value all = splat(a, lanes);
    texts.push_back(all.text);
    scope = std::max(scope, all.scope);
  }
  const DType t = args[0].dtype;
  const std::string totals = vector_of(lane_type(t), lanes), words = vector_of("i32", lanes);
  std::vector<std::string> parts;
  for (int first = 0; first < lanes; first += kLanes) {
    std::vector<int64_t> order;
    for (int i = 0; i < kLanes; ++i) order.push_back(first + i);
    std::vector<std::string> part;
    for (size_t a = 0; a < texts.size(); ++a)
      part.push_back(shuffle(scope, a == 0 ? totals : words, texts[a], "poison", order));
    parts.push_back(
        name(scope, fmt::format("call {0} @llvm.x86.{1}({0} {2}, {3} {4}, {3} {5})", vector_of(lane_type(t), kLanes),
                                instruction, part[0], vector_of("i32", kLanes), part[1], part[2])));
  }
  for (int width = kLanes; parts.size() > 1; width *= 2) {
    std::vector<int64_t> order;
    for (int i = 0; i < 2 * width; ++i) order.push_back(i);
    std::vector<std::string> wider;
    for (size_t p = 0; p < parts.size(); p += 2)
      wider.push_back(shuffle(scope, vector_of(lane_type(t), width), parts[p], parts[p + 1], order));
    parts = std::move(wider);
  }
  return {parts[0], t, lanes, scope};
}

Value PhasePrinter::raw(const kernel::Raw& e, DType dtype) {
  std::vector<Value> args;
  for (ExprId id : e.args) args.push_back(value_of(id));
  switch (e.op) {
    case kernel::RawOp::TruncDiv: return op("$sdiv $T $a, $b", dtype, args);
    case kernel::RawOp::TruncRem: return op("$srem $T $a, $b", dtype, args);
    case kernel::RawOp::Shl: return op("shl $T $a, $b", dtype, args);
    case kernel::RawOp::Shr: return op("$shr $T $a, $b", dtype, args);
    case kernel::RawOp::ToInt: {
      // Frozen, because what does not fit would otherwise make everything that it touches
      // undefined.
      const Value x = convert("fptosi", args[0], dtype);
      return define(x.scope, dtype, x.lanes, fmt::format("freeze {} {}", type_of(x), x.text));
    }
    case kernel::RawOp::DotBF16: return dot("avx512bf16.dpbf16ps.512", args);
    case kernel::RawOp::DotBytes: return dot("avx512.vpdpbusd.512", args);
    default: throw InternalError("an operation of GPUs reached the LLVM printer");
  }
}

Value PhasePrinter::read_local(kernel::LocalId id) {
  const kernel::Local& local = kernel_.locals[static_cast<size_t>(id)];
  if (!local.is_mutable) {
    SMELT_CHECK(bindings_[static_cast<size_t>(id)], "local {} is read before its Let", id);
    return *bindings_[static_cast<size_t>(id)];
  }
  const Slot& slot = slots_[static_cast<size_t>(id)];
  SMELT_CHECK(slot.declared, "local {} is read but never assigned", id);
  const bool as_lanes =
      vector_.loop && slot.lanes && (slot.declared_in || slot.in_lanes || vector_.changes[static_cast<size_t>(id)]);
  SMELT_CHECK(as_lanes || !slot.in_lanes, "local {} is read before the Combine of its lanes", id);
  SMELT_CHECK(!as_lanes || slot.lanes == vector_.lanes, "local {} has {} lanes, its loop {}", id, slot.lanes,
              vector_.lanes);
  const int lanes = as_lanes ? slot.lanes : 0;
  return define(
      changing_scope(id), local.dtype, lanes,
      fmt::format("load {}, ptr %l{}{}", vector_of(lane_type(local.dtype), lanes), id, lanes ? ".lanes" : ""));
}

}  // namespace smelt::emit
