// Loads whose lanes are regular, or mostly so: a few elements apart, or neighbours but where an index wraps around or is clamped.
#include <fmt/format.h>

#include <set>

#include "emit/llvm_phase.hpp"
#include "kernel/lanes.hpp"

namespace smelt::emit {

// The distance of neighbouring lanes as long as no floordiv or mod in it wraps around between them, and no clamp
// holds. `fits` becomes the condition
// of that (a scalar, computed at run time). Nothing when the lanes are not that regular.
std::optional<int64_t> PhasePrinter::step_without_wraps(const IntExpr& given, std::optional<Value>& fits) {
  std::vector<IntExpr> holds;
  const IntExpr e = kernel::Lanes(*vector_.var, in_lanes_).without_clamps(given, holds);
  IntExpr total;
  std::vector<IntExpr::AtomPtr> wrapping;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr slope;  // of the one factor that varies
    IntExpr::Term rest{term.coefficient, {}};
    bool found = false;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      if (!varies(IntExpr::of_term({1, {a}}))) {
        rest.atoms.push_back(a);
        continue;
      }
      if (found) return std::nullopt;
      found = true;
      if (a->symbol && a->symbol == vector_.var) {
        slope = 1;
        continue;
      }
      if (a->kind != AtomKind::FloorDiv && a->kind != AtomKind::Mod) return std::nullopt;
      const int64_t step = lane_step(a->a).value_or(0);
      // A small divisor wraps in nearly every step.
      const int64_t divisor = a->b.constant().value_or(INT64_MAX);
      if (step <= 0 || varies(a->b) || divisor < 2 * step * vector_.lanes) return std::nullopt;
      wrapping.push_back(a);
      slope = a->kind == AtomKind::Mod ? step : 0;
    }
    total = total + slope * IntExpr::of_term(rest);
  }
  const auto step = total.constant();
  if (!step || (wrapping.empty() && holds.empty())) return std::nullopt;
  std::set<std::string> seen;
  const auto require = [&](const Value& inside) {
    fits = fits ? op("and $T $a, $b", DType::Bool, {*fits, inside}) : inside;
  };
  // What is linear in the lanes holds for all of them when it does for the first and the last.
  for (const IntExpr& h : holds)
    for (const IntExpr& end : {h, h + lane_step(h).value_or(0) * (vector_.lanes - 1)})
      if (seen.insert(end.str()).second)
        require(op("icmp sge $T $a, $b", DType::Bool, {integer(end), constant(DType::I64, 0)}));
  for (const IntExpr::AtomPtr& a : wrapping) {
    const IntExpr last = mod(a->a, a->b, ranges_) + *lane_step(a->a) * (vector_.lanes - 1);
    if (!seen.insert((last - a->b).str()).second) continue;
    require(op("icmp slt $T $a, $b", DType::Bool, {integer(last), integer(a->b)}));
  }
  return step;
}

static constexpr int64_t kMostApart = 8;

// Neighbours that are few elements apart: what lies between is read too, in whole vectors. Nothing beyond the last lane's element is touched: the last
// vector ends with it, or in a last step all vectors have a mask.
bool PhasePrinter::strides(int64_t step) const {
  if (vector_.tail) return step >= 2 && step <= kMostApart / 2 && vector_.lanes >= 16;
  return step >= 2 && step <= kMostApart && vector_.lanes >= 8;
}

std::string PhasePrinter::load_strided(const Place& p, int64_t step) {
  const int64_t lanes = vector_.lanes;
  const int align = size_of(p.dtype);
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, vector_.lanes);
  const bool whole = !vector_.tail;
  const auto part_of = [&](int64_t lane) { return lane * step / lanes; };
  const auto first_of = [&](int64_t part) {
    return part + 1 < step || !whole ? part * lanes : (lanes - 1) * step + 1 - lanes;
  };
  const auto read = [&](int64_t part) {
    const Value at = pointer(p, p.offset + first_of(part));
    if (whole) return name(top(), fmt::format("load {}, ptr {}, align {}", type, at.text, align));
    // Elements from here to the last lane's.
    const Value times = op("mul $T $a, $b", DType::I64, {vector_.left, constant(DType::I64, step)});
    const Value left = op("sub $T $a, $b", DType::I64, {times, constant(DType::I64, step - 1 + first_of(part))});
    const Value narrow = convert("trunc", left, DType::I32);
    const Value mask =
        op("icmp slt $T $a, $b", DType::Bool, {iota(vector_.lanes, DType::I32), splat(narrow, vector_.lanes)});
    return name(top(), masked_call("load", memory, vector_.lanes, at.text, align, mask.text, "zeroinitializer", false));
  };
  std::string result;
  for (int64_t part = 0; part < step; ++part) {
    const std::string next = read(part);
    std::vector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t place = lane * step - first_of(part_of(lane));
      order.push_back(part_of(lane) < part ? lane : part_of(lane) > part ? 0 : part == 0 ? place : lanes + place);
    }
    const bool once = part == 0;
    result = shuffle(top(), type, once ? next : result, once ? "poison" : next, order);
  }
  return result;
}

// What one of two blocks makes, by a condition.
std::string PhasePrinter::either(const Value& fits, const std::string& type, const std::function<std::string()>& near,
                                 const std::function<std::string()>& far) {
  const int label = ++labels_;
  const auto in_block = [&](const std::function<std::string()>& load) {
    push(false, no_changes());
    const std::string result = load();
    return std::pair{result, pop()};
  };
  const auto [from_near, near_text] = in_block(near);
  const auto [from_far, far_text] = in_block(far);
  line(fmt::format("br i1 {}, label %near{}, label %far{}", fits.text, label, label));
  scopes_.back().text += fmt::format("near{0}:\n{1}  br label %got{0}\nfar{0}:\n{2}  br label %got{0}\ngot{0}:\n",
                                     label, near_text, far_text);
  return name(top(), fmt::format("phi {} [ {}, %near{} ], [ {}, %far{} ]", type, from_near, label, from_far, label));
}

// A scattered load that is mostly regular: where no index wraps between its lanes, it is a plain load.
std::optional<std::string> PhasePrinter::load_mostly_regular(const Place& p) {
  std::optional<Value> fits;
  const auto step = step_without_wraps(p.offset, fits);
  if (!step || *step < 0 || (*step > 1 && !strides(*step))) return std::nullopt;
  const int lanes = vector_.lanes, align = size_of(p.dtype);
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  const Value at = pointer(p, p.offset);
  const auto near = [&] {
    if (*step > 1) return load_strided(p, *step);
    if (*step == 1) return name(top(), fmt::format("load {}, ptr {}, align {}", type, at.text, align));
    const std::string one = name(top(), fmt::format("load {}, ptr {}, align {}", memory, at.text, align));
    const std::string first = name(top(), fmt::format("insertelement {} poison, {} {}, i64 0", type, memory, one));
    return name(top(),
                fmt::format("shufflevector {} {}, {} poison, <{} x i32> zeroinitializer", type, first, type, lanes));
  };
  const auto far = [&] {
    const std::string all = splat(constant(DType::Bool, 1), lanes).text;
    const Value each = lane_pointers(p, false);
    return gather(top(), memory, each.text, align, all);
  };
  return either(*fits, type, near, far);
}

}  // namespace smelt::emit
