// Statements other than loops.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::Stmt;

void PhasePrinter::statements(const std::vector<Stmt>& body) {
  for (const Stmt& s : body) statement(s);
}

void PhasePrinter::statement(const Stmt& s) {
  s.match([&](const kernel::Loop& made) { loop(made); }, [&](const kernel::Let& made) { let(made); },
          [&](const kernel::Assign& made) { assign(made); }, [&](const kernel::Combine& made) { combine(made); },
          [&](const kernel::Scan& made) { scan(made); },
          [](const kernel::Alloc&) {},  // its memory is there from the start
          [&](const kernel::Store& made) { store(made); }, [&](const kernel::Turn& made) { turn(made); },
          [&](const kernel::TileProduct& made) { tile_product(made); },
          [&](const kernel::Prefetch& made) { prefetch(made); },
          [](const kernel::Matrix&) { throw InternalError("a CPU has no matrix units"); },
          [](const kernel::Barrier&) { throw InternalError("a CPU has no barriers"); },
          [&](const kernel::If& made) { conditional(made); }, [&](const kernel::Each& made) { each(made); });
}

void PhasePrinter::loop(const kernel::Loop& s) {
  switch (s.kind) {
    case kernel::LoopKind::Grid:
      SMELT_CHECK(top() == 0, "a Grid loop stands inside another loop");
      return count_loop(s, {"%begin", DType::I64, 0, 0}, {"%end", DType::I64, 0, 0});
    case kernel::LoopKind::Vector:
      if (s.lanes > 1) return vector_loop(s);
      [[fallthrough]];
    case kernel::LoopKind::Thread:
    case kernel::LoopKind::Serial: return count_loop(s, constant(DType::I64, 0), integer(s.extent));
    case kernel::LoopKind::Unrolled: return unrolled_loop(s);
  }
}

void PhasePrinter::let(const kernel::Let& s) {
  Value value = value_of(s.value);
  // What only the interior computes must not be used before its first step.
  if (vector_.inner && !vector_.ordinary.count(s.value)) value.scope = std::max(value.scope, vector_.scope);
  bindings_[static_cast<size_t>(s.local)] = value;
  in_lanes_[static_cast<size_t>(s.local)] = value.lanes > 0;
}

void PhasePrinter::write_slot(kernel::LocalId id, const Value& value) {
  line(fmt::format("store {} {}, ptr %l{}{}", type_of(value), value.text, id, value.lanes ? ".lanes" : ""));
}

void PhasePrinter::assign(const kernel::Assign& s) {
  Slot& slot = slots_[static_cast<size_t>(s.local)];
  Value value = value_of(s.value);
  if (vector_.loop && slot.lanes) {
    value = splat(value, slot.lanes);
    // Lanes past the extent keep what they have.
    if (vector_.tail && !slot.declared_in)
      value = op("select $C $a, $T $b, $T $c", value.dtype, {*vector_.tail, value, read_local(s.local)});
    write_slot(s.local, value);
    slot.in_lanes = !slot.declared_in;
  } else {
    SMELT_CHECK(value.lanes == 0, "local {} becomes one value per lane outside a Vector loop", s.local);
    write_slot(s.local, value);
    if (slot.lanes) write_slot(s.local, splat(value, slot.lanes));
    slot.in_lanes = false;
  }
  Changes changes = no_changes();
  changes[static_cast<size_t>(s.local)] = true;
  forget(changes);
}

// Floats as integers in the same order, and back: those below 0 have their other bits flipped.
Value PhasePrinter::flip_below_zero(const Value& bits) {
  const int width = 8 * size_of(bits.dtype);
  const Value sign = op("ashr $T $a, $b", bits.dtype, {bits, constant(bits.dtype, width - 1)});
  const Value magnitude = op("lshr $T $a, $b", bits.dtype, {sign, constant(bits.dtype, 1)});
  return op("xor $T $a, $b", bits.dtype, {bits, magnitude});
}

// Signed integers in the order of the floats, +0 above -0 and NaN above all (or below all, if the
// smaller one is looked for). Their maximum takes one instruction of one cycle; that of floats
// three comparisons and three choices, each waiting for the one before.
Value PhasePrinter::order_key(const Value& x, bool smaller) {
  const DType bits = size_of(x.dtype) == 8 ? DType::I64 : DType::I32;
  // A NaN with the sign of the end that wins.
  const int64_t nan = size_of(x.dtype) == 8 ? 0x7ff8000000000000 : 0x7fc00000;
  const int64_t sign = size_of(x.dtype) == 8 ? min_int(DType::I64) : min_int(DType::I32);
  const Value is_nan = op("fcmp uno $T $a, $b", DType::Bool, {x, x});
  const Value last = constant(bits, smaller ? nan + sign : nan);
  return flip_below_zero(op("select $C $a, $T $b, $T $c", bits, {is_nan, last, bitcast(x, bits)}));
}

Value PhasePrinter::of_order_key(const Value& key, DType dtype) { return bitcast(flip_below_zero(key), dtype); }

// The largest (or smallest) of few lanes, NaN if any is, +0 above -0.
Value PhasePrinter::extreme_lane(const Value& x, bool smaller) {
  return of_order_key(reduce_lanes(smaller ? Op::Min : Op::Max, order_key(x, smaller)), x.dtype);
}

// Halves again and again: lane i meets lane i + n/2. The order is the same on every machine.
Value PhasePrinter::reduce_lanes(Op with, Value x) {
  constexpr int kVectorBytes = 64;
  const bool extreme = with == Op::Max || with == Op::Min;
  for (int half = x.lanes / 2; half >= 1; half /= 2) {
    const std::string type = type_of(x);
    auto part = [&](int first) {
      if (half == 1)
        return define(x.scope, x.dtype, 0, fmt::format("extractelement {} {}, i64 {}", type, x.text, first));
      std::string order;
      for (int i = 0; i < half; ++i) order += fmt::format("{}i32 {}", i ? ", " : "", first + i);
      return define(x.scope, x.dtype, half,
                    fmt::format("shufflevector {} {}, {} poison, <{} x i32> <{}>", type, x.text, type, half, order));
    };
    if (extreme && is_float(x.dtype) && x.lanes > 2 && x.lanes * size_of(x.dtype) <= kVectorBytes)
      return extreme_lane(x, with == Op::Min);
    const Value low = part(0), high = part(half);
    if (extreme)
      x = maximum(low, high, with == Op::Min);
    else
      x = op(is_float(x.dtype) ? info(with).llvm_float : info(with).llvm_int, x.dtype, {low, high});
  }
  return x;
}

void PhasePrinter::combine(const kernel::Combine& s) {
  SMELT_CHECK(!vector_.loop, "local {} is combined inside a Vector loop", s.local);
  Slot& slot = slots_[static_cast<size_t>(s.local)];
  if (!slot.lanes) return;  // its loop had one lane
  auto lanes_of = [&](kernel::LocalId id) {
    const DType t = kernel_.locals[static_cast<size_t>(id)].dtype;
    return define(top(), t, slot.lanes,
                  fmt::format("load {}, ptr %l{}.lanes", vector_of(lane_type(t), slot.lanes), id));
  };
  auto settle = [&](kernel::LocalId id, const Value& value) {
    write_slot(id, value);
    write_slot(id, splat(value, slot.lanes));
    slots_[static_cast<size_t>(id)].in_lanes = false;
    Changes changes = no_changes();
    changes[static_cast<size_t>(id)] = true;
    forget(changes);
  };
  const Value each = lanes_of(s.local);
  const Value result = reduce_lanes(s.op, each);
  if (s.index_local >= 0) {
    SMELT_CHECK(slots_[static_cast<size_t>(s.index_local)].lanes == slot.lanes, "the index has other lanes");
    // The smallest index among the lanes that hold the result; where the result is NaN, among those
    // that hold NaN.
    Value holds =
        op(is_float(each.dtype) ? info(Op::Eq).llvm_float : info(Op::Eq).llvm_int, DType::Bool, {each, result});
    if (is_float(each.dtype)) {
      const Value nan = op("fcmp uno $T $a, $b", DType::Bool, {each, each});
      holds = op("or $T $a, $b", DType::Bool, {holds, nan});  // if any lane is NaN, no lane equals the result
    }
    const Value index = lanes_of(s.index_local);
    const Value none = constant(index.dtype, static_cast<int64_t>(max_int(index.dtype)));
    const Value candidates = op("select $C $a, $T $b, $T $c", index.dtype, {holds, index, none});
    settle(s.index_local, reduce_lanes(Op::Min, candidates));
  }
  settle(s.local, result);
}

// Every line of the elements that are asked for.
void PhasePrinter::prefetch(const kernel::Prefetch& s) {
  constexpr int64_t kLine = 64;
  Place p;
  p.dtype = kernel_.params[static_cast<size_t>(s.param)].dtype;
  p.base = fmt::format("%p{}", s.param);
  const Value at = pointer(p, s.offset);
  for (int64_t byte = 0; byte < s.elements.constant().value() * size_of(p.dtype); byte += kLine) {
    const std::string there = name(top(), fmt::format("getelementptr i8, ptr {}, i64 {}", at.text, byte));
    line(fmt::format("call void @llvm.prefetch.p0(ptr {}, i32 0, i32 {}, i32 1)", there, 4 - s.level));
  }
}

void PhasePrinter::conditional(const kernel::If& s) {
  const Value condition = value_of(s.condition);
  SMELT_CHECK(condition.lanes == 0, "the condition of an If differs between lanes");
  const int label = ++labels_;
  Changes changes = no_changes();
  collect_changes(s.body, changes);
  push(true, changes);
  statements(s.body);
  const std::string body = pop();
  line(fmt::format("br i1 {}, label %then{}, label %done{}", condition.text, label, label));
  scopes_.back().text += fmt::format("then{}:\n{}  br label %done{}\ndone{}:\n", label, body, label, label);
}

}  // namespace smelt::emit
