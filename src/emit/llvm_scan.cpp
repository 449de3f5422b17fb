// Running values over the lanes of a Vector loop.
//
// The lanes are taken in chunks as wide as a register. Within a chunk every lane takes in the one
// before it, then the one two before, four before, ...; what precedes a chunk is joined from the
// chunks' totals, and only then with what the steps before left: so one step waits for the last by
// one operation.
#include <fmt/format.h>

#include "base/check.hpp"
#include "emit/llvm_phase.hpp"

namespace smelt::emit {

Value PhasePrinter::joined(Op with, const Value& a, const Value& b) {
  if (with == Op::Max || with == Op::Min) return maximum(a, b, with == Op::Min);
  return op(is_float(a.dtype) ? info(with).llvm_float : info(with).llvm_int, a.dtype, {a, b});
}

// b, and what comes before it: where it did not restart, or multiplied by its factors.
PhasePrinter::Running PhasePrinter::after(Op with, const Running& a, const Running& b) {
  if (!b.second) return {joined(with, a.value, b.value), a.second};
  const DType t = b.value.dtype;
  Running result{b.value, b.second};
  if (b.second->dtype == DType::Bool) {
    result.value = op("select $C $a, $T $b, $T $c", t, {*b.second, b.value, joined(with, a.value, b.value)});
    if (a.second) result.second = op("or $T $a, $b", DType::Bool, {*a.second, *b.second});
  } else {
    result.value = op(info(Op::Fma).llvm_float, t, {*b.second, a.value, b.value});
    if (a.second) result.second = joined(Op::Mul, *a.second, *b.second);
  }
  return result;
}

// The lanes of x, and after them those of `other`, picked by their numbers.
Value PhasePrinter::lanes_of(const Value& x, const std::vector<int>& order, const Value* other) {
  std::string picks;
  for (int i : order) picks += fmt::format("{}i32 {}", picks.empty() ? "" : ", ", i);
  const std::string type = type_of(x);
  return define(top(), x.dtype, static_cast<int>(order.size()),
                fmt::format("shufflevector {} {}, {} {}, <{} x i32> <{}>", type, x.text, type,
                            other ? other->text : "poison", order.size(), picks));
}

// The value of nothing: what joins it stays as it is, -0 too.
static Scalar neutral(Op with, const Scalar& start) {
  return with == Op::Add && is_float(start.dtype) ? Scalar::of_float(start.dtype, -0.0) : start;
}

void PhasePrinter::scan(const kernel::Scan& s) {
  SMELT_CHECK(!s.over_grid, "a CPU scans over the grid by phases only");
  const Scalar& start = *kernel_.constant_at(s.start);
  const Value first{literal(start), start.dtype, 0, 0}, nothing{literal(neutral(s.op, start)), start.dtype, 0, 0};
  const Value x = value_of(s.value);
  const Value carry = define(top(), start.dtype, 0, fmt::format("load {}, ptr %l{}", lane_type(start.dtype), s.carry));
  std::optional<Value> second;
  if (s.factor != kernel::kNoExpr || s.restarts != kernel::kNoExpr)
    second = value_of(s.factor != kernel::kNoExpr ? s.factor : s.restarts);
  const auto leave = [&](const Value& result, const Value& last) {
    write_slot(s.carry, last);
    Changes changes = no_changes();
    changes[static_cast<size_t>(s.carry)] = true;
    forget(changes);
    bindings_[static_cast<size_t>(s.local)] = result;
    in_lanes_[static_cast<size_t>(s.local)] = result.lanes > 0;
  };
  if (!vector_.loop) {
    const Running whole = after(s.op, {carry, {}}, {x, second});
    if (!s.exclusive) return leave(whole.value, whole.value);
    const std::string_view select = "select $C $a, $T $b, $T $c";
    return leave(second ? op(select, start.dtype, {*second, first, carry}) : carry, whole.value);
  }
  ScanLanes lanes{s.op, s.exclusive, x, second, carry, first, nothing};
  if (!is_float(start.dtype) || (s.op != Op::Max && s.op != Op::Min)) {
    const auto [result, last] = scan_lanes(lanes);
    return leave(result, last);
  }
  for (Value* v : {&lanes.x, &lanes.carry, &lanes.first, &lanes.nothing}) *v = order_key(*v, s.op == Op::Min);
  const auto [result, last] = scan_lanes(lanes);
  leave(of_order_key(result, start.dtype), of_order_key(last, start.dtype));
}

// The running values of the lanes, and what the loop goes on from.
std::pair<Value, Value> PhasePrinter::scan_lanes(const ScanLanes& s) {
  const DType t = s.x.dtype;
  const std::string_view select = "select $C $a, $T $b, $T $c";
  const bool factors = s.second && s.second->dtype != DType::Bool;
  // The second value of a pair of no elements.
  const Value none_second = factors ? Value{literal(Scalar::of_int(t, 1)), t, 0, 0} : constant(DType::Bool, 0);
  Value x = s.x;
  std::optional<Value> second = s.second;
  const Value& carry = s.carry;
  const int lanes = vector_.lanes;
  x = splat(x, lanes);
  if (second) second = splat(*second, lanes);
  if (vector_.tail) {
    // Lanes past the extent add nothing.
    x = op(select, t, {*vector_.tail, x, splat(s.nothing, lanes)});
    if (factors)
      second = op(select, t, {*vector_.tail, *second, splat(none_second, lanes)});
    else if (second)
      second = op("and $T $a, $b", DType::Bool, {*vector_.tail, *second});
  }
  const int width = std::min(lanes, std::max(2, target_.vector_bits / 8 / std::max(4, size_of(t))));
  const Value none = splat(s.nothing, width), no = splat(none_second, width);
  std::vector<Running> chunks;
  std::optional<Running> before;  // the chunks so far, in every lane
  for (int c = 0; c < lanes; c += width) {
    std::vector<int> here;
    for (int i = 0; i < width; ++i) here.push_back(c + i);
    Running chunk{width == lanes ? x : lanes_of(x, here), std::nullopt};
    if (second) chunk.second = width == lanes ? *second : lanes_of(*second, here);
    for (int d = 1; d < width; d *= 2) {
      std::vector<int> order;
      for (int i = 0; i < width; ++i) order.push_back(i < d ? width + i : i - d);
      Running shifted{lanes_of(chunk.value, order, &none), std::nullopt};
      if (second) shifted.second = lanes_of(*chunk.second, order, &no);
      chunk = after(s.with, shifted, chunk);
    }
    const std::vector<int> last(static_cast<size_t>(width), width - 1);
    Running total{lanes_of(chunk.value, last), std::nullopt};
    if (second) total.second = lanes_of(*chunk.second, last);
    const Running start_of_chunk =
        before ? after(s.with, {splat(carry, width), {}}, *before) : Running{splat(carry, width), std::nullopt};
    chunks.push_back({after(s.with, start_of_chunk, chunk).value, {}});
    before = before ? after(s.with, *before, total) : total;
  }
  const Value end = after(s.with, {splat(carry, width), {}}, *before).value;
  // The chunks side by side again.
  std::vector<Value> parts;
  for (const Running& chunk : chunks) parts.push_back(chunk.value);
  while (parts.size() > 1) {
    std::vector<Value> halves;
    for (size_t i = 0; i < parts.size(); i += 2) {
      std::vector<int> order;
      for (int k = 0; k < 2 * parts[i].lanes; ++k) order.push_back(k);
      halves.push_back(lanes_of(parts[i], order, &parts[i + 1]));
    }
    parts = std::move(halves);
  }
  Value result = parts[0];
  if (s.exclusive) {
    std::vector<int> order;
    for (int i = 0; i < lanes; ++i) order.push_back(i == 0 ? lanes : i - 1);
    const Value each = splat(carry, lanes);
    result = lanes_of(result, order, &each);
    if (second) result = op(select, t, {*second, splat(s.first, lanes), result});
  }
  const Value last = define(top(), t, 0, fmt::format("extractelement {} {}, i64 0", type_of(end), end.text));
  return {result, last};
}

}  // namespace smelt::emit
