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

// b, and what comes before it where it did not restart.
PhasePrinter::Running PhasePrinter::after(Op with, const Running& a, const Running& b) {
  Running result{joined(with, a.value, b.value), b.restarts};
  if (!b.restarts) return {result.value, a.restarts};
  result.value = op("select $C $a, $T $b, $T $c", b.value.dtype, {*b.restarts, b.value, result.value});
  if (a.restarts) result.restarts = op("or $T $a, $b", DType::Bool, {*a.restarts, *b.restarts});
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
  const DType t = start.dtype;
  const Value first{literal(start), t, 0, 0}, nothing{literal(neutral(s.op, start)), t, 0, 0};
  const std::string_view select = "select $C $a, $T $b, $T $c";
  Value x = value_of(s.value);
  std::optional<Value> restarts = s.restarts == kernel::kNoExpr ? std::nullopt : std::optional(value_of(s.restarts));
  const Value carry = define(top(), t, 0, fmt::format("load {}, ptr %l{}", lane_type(t), s.carry));
  const auto leave = [&](const Value& result, const Value& last) {
    write_slot(s.carry, last);
    Changes changes = no_changes();
    changes[static_cast<size_t>(s.carry)] = true;
    forget(changes);
    bindings_[static_cast<size_t>(s.local)] = result;
    in_lanes_[static_cast<size_t>(s.local)] = result.lanes > 0;
  };
  if (!vector_.loop) {
    const Running whole = after(s.op, {carry, {}}, {x, restarts});
    const Value before = restarts ? op(select, t, {*restarts, first, carry}) : carry;
    return leave(s.exclusive ? before : whole.value, whole.value);
  }
  const int lanes = vector_.lanes;
  x = splat(x, lanes);
  if (restarts) restarts = splat(*restarts, lanes);
  if (vector_.tail) {
    // Lanes past the extent add nothing.
    x = op(select, t, {*vector_.tail, x, splat(nothing, lanes)});
    if (restarts) restarts = op("and $T $a, $b", DType::Bool, {*vector_.tail, *restarts});
  }
  const int width = std::min(lanes, std::max(2, target_.vector_bits / 8 / std::max(4, size_of(t))));
  const Value none = splat(nothing, width), no = splat(constant(DType::Bool, 0), width);
  std::vector<Running> chunks;
  std::optional<Running> before;  // the chunks so far, in every lane
  for (int c = 0; c < lanes; c += width) {
    std::vector<int> here;
    for (int i = 0; i < width; ++i) here.push_back(c + i);
    Running chunk{width == lanes ? x : lanes_of(x, here), std::nullopt};
    if (restarts) chunk.restarts = width == lanes ? *restarts : lanes_of(*restarts, here);
    for (int d = 1; d < width; d *= 2) {
      std::vector<int> order;
      for (int i = 0; i < width; ++i) order.push_back(i < d ? width + i : i - d);
      Running shifted{lanes_of(chunk.value, order, &none), std::nullopt};
      if (restarts) shifted.restarts = lanes_of(*chunk.restarts, order, &no);
      chunk = after(s.op, shifted, chunk);
    }
    const std::vector<int> last(static_cast<size_t>(width), width - 1);
    Running total{lanes_of(chunk.value, last), std::nullopt};
    if (restarts) total.restarts = lanes_of(*chunk.restarts, last);
    const Running start_of_chunk =
        before ? after(s.op, {splat(carry, width), {}}, *before) : Running{splat(carry, width), std::nullopt};
    chunks.push_back({after(s.op, start_of_chunk, chunk).value, {}});
    before = before ? after(s.op, *before, total) : total;
  }
  const Value end = after(s.op, {splat(carry, width), {}}, *before).value;
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
    if (restarts) result = op(select, t, {*restarts, splat(first, lanes), result});
  }
  const Value last = define(top(), t, 0, fmt::format("extractelement {} {}, i64 0", type_of(end), end.text));
  leave(result, last);
}

}  // namespace smelt::emit
