// Index arithmetic between neighbouring lanes. Lane numbers are small, so what lanes add to lane 0
// is computed in narrow numbers, and 64-bit work is left to scalars: vector divisions and
// comparisons of 64 bits are slow or missing on most targets.
#include <fmt/format.h>

#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using Atom = IntExpr::Atom;

// 0, step, 2 * step, ...
Value PhasePrinter::lane_steps(int64_t step, DType dtype) {
  const Value lanes = iota(vector_.lanes, dtype);
  return step == 1 ? lanes : op("mul $T $a, $b", dtype, {lanes, constant(dtype, step)});
}

// A floordiv or mod whose numerators are neighbours: one scalar division for lane 0, whose
// remainder the lanes add to.
std::optional<Value> PhasePrinter::divide_neighbours(const Atom& a) {
  const auto known = vector_.forms->divisions.find(a.key);
  if (known == vector_.forms->divisions.end()) return std::nullopt;
  const kernel::LaneDivision& form = known->second;
  const auto divisor = a.b.constant();
  if (divisor && *divisor > kernel::kMostLaneStep * vector_.lanes) return std::nullopt;
  const DType narrow = DType::U32, wide = DType::I64;
  const bool quotient = a.kind == AtomKind::FloorDiv;
  const Value remainder = integer(form.remainder);
  Value result;
  if (!divisor) {
    result = divide_by_size(a, remainder, form.step);
  } else {
    const Value sum = op("add $T $a, $b", narrow, {convert("trunc", remainder, narrow), lane_steps(form.step, narrow)});
    const Value by = constant(narrow, *divisor);
    if (form.step * (vector_.lanes - 1) < *divisor) {
      // At most one multiple of the divisor lies between lane 0 and any other.
      const Value past = op("icmp uge $T $a, $b", DType::Bool, {sum, by});
      const Value less = op("sub $T $a, $b", narrow, {sum, by});
      result = quotient ? past : op("select $C $a, $T $b, $T $c", narrow, {past, less, sum});
    } else {
      result = op(quotient ? "udiv $T $a, $b" : "urem $T $a, $b", narrow, {sum, by});
    }
    result = convert("zext", result, wide);
  }
  return quotient ? op("add $T $a, $b", wide, {integer(form.quotient), result}) : result;
}

// (remainder + lane * step) divided by a size of the call, in doubles. The sum t is a whole number
// below 2^52, and the quotient small; (t + 1/2) / b keeps a distance of 1/(2b) from whole numbers,
// far more than the product with 1/b is wrong by, so that truncation gives the exact quotient.
Value PhasePrinter::divide_by_size(const Atom& a, const Value& remainder, int64_t step) {
  const DType f = DType::F64, wide = DType::I64;
  const Value size = op("call $T @llvm.smax.$V($T $a, $T $b)", wide, {integer(a.b), constant(wide, 1)});
  const Value one{"1.0", f, 0, 0}, half{"5.0e-01", f, 0, 0};
  const Value inverse = op("fdiv $T $a, $b", f, {one, convert("sitofp", size, f)});
  const Value first = op("fadd $T $a, $b", f, {convert("sitofp", remainder, f), half});
  const Value sum = op("fadd $T $a, $b", f, {first, convert("uitofp", lane_steps(step, DType::U32), f)});
  const Value times = convert("fptosi", op("fmul $T $a, $b", f, {sum, inverse}), DType::I32);
  const Value quotient = convert("zext", times, wide);
  if (a.kind == AtomKind::FloorDiv) return quotient;
  const Value total = op("add $T $a, $b", wide, {remainder, lane_steps(step, wide)});
  return op("sub $T $a, $b", wide, {total, op("mul $T $a, $b", wide, {quotient, size})});
}

// The values of `e`, one per lane, as that of lane 0 and constants.
std::optional<Value> PhasePrinter::tabulated(const IntExpr& e) {
  const auto table = vector_.forms->tables.find(e);
  if (vector_.tail || table == vector_.forms->tables.end()) return std::nullopt;
  std::string text;
  for (const int64_t beyond : table->second) text += fmt::format("{}i64 {}", text.empty() ? "" : ", ", beyond);
  return op("add $T $a, $b", DType::I64, {integer(e), {"<" + text + ">", DType::I64, vector_.lanes, vector_.scope}});
}

Value PhasePrinter::constant_mask(const std::vector<bool>& truths) {
  std::string text;
  for (const bool t : truths) text += fmt::format("{}i1 {}", text.empty() ? "" : ", ", t);
  return {"<" + text + ">", DType::Bool, vector_.lanes, vector_.scope};  // another loop may have other lanes
}

// Index against index, as masks of padding and joining do: base + lane * step against 0 is lane *
// step against -base, cut to a range that no lane leaves.
std::optional<Value> PhasePrinter::compare_indices(kernel::ExprId id, const kernel::Apply& e) {
  if (!vector_.loop || info(e.op).rule != TypeRule::Compare) return std::nullopt;
  if (const auto known = vector_.forms->conditions.find(id); !vector_.tail && known != vector_.forms->conditions.end())
    return constant_mask(known->second);
  const auto form = vector_.forms->comparisons.find(id);
  if (form == vector_.forms->comparisons.end()) return std::nullopt;
  const kernel::LaneComparison& known = form->second;
  const DType wide = DType::I64, narrow = DType::I32;
  constexpr int64_t far = int64_t{1} << 30;
  Value bound = op("sub $T $a, $b", wide, {constant(wide, 0), integer(known.difference)});
  bound = op("call $T @llvm.smax.$V($T $a, $T $b)", wide, {bound, constant(wide, -far)});
  bound = op("call $T @llvm.smin.$V($T $a, $T $b)", wide, {bound, constant(wide, far)});
  return op(info(known.at_least ? Op::Ge : e.op).llvm_int, DType::Bool,
            {lane_steps(known.step, narrow), convert("trunc", bound, narrow)});
}

}  // namespace smelt::emit
