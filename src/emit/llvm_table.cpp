// Lanes that a short axis divides evenly: in every step the same lane has the same place in that axis, so that quotients, remainders and
// conditions are tables of constants. Interleaved and separated arrays are then whole vectors and shuffles, in place of gathers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emit/llvm_phase.hpp"
#include "kernel/conditions.hpp"

namespace smelt::emit {

using kernel::ExprId;

// Arrays that are read side by side, and what may lie between two elements of one, in vectors.
static constexpr size_t kMostArrays = 8;
static constexpr int64_t kWidest = 8;

static const Symbol kStep = Symbol::loop("step");  // its number

IntExpr PhasePrinter::first_lane() const { return vector_.once ? IntExpr(0) : IntExpr::symbol(kStep) * vector_.lanes; }

// What each lane's value of `e` is beyond lane 0's, when that is the same in every whole step.
std::optional<PhasePrinter::Table> PhasePrinter::table_of(const IntExpr& e) const {
  if (!vector_.loop || vector_.tail || !vector_.even) return std::nullopt;
  Ranges ranges = ranges_;
  ranges[kStep] = {0, IntExpr::symbol(Symbol::loop("steps"))};
  Table table;
  for (int lane = 0; lane < vector_.lanes; ++lane) {
    const IntExpr there = first_lane() + lane;
    const IntExpr value = e.substitute({{*vector_.var, there}}, ranges);
    if (varies(value)) return std::nullopt;  // what the data says
    table.push_back(lane == 0 ? value : value - table[0]);
    if (lane > 0 && table.back().mentions(kStep)) return std::nullopt;
  }
  table[0] = 0;
  return table;
}

// The values of `e`, one per lane, as that of lane 0 and constants.
std::optional<Value> PhasePrinter::tabulated(const IntExpr& e) {
  const auto table = table_of(e);
  if (!table) return std::nullopt;
  std::string text;
  for (const IntExpr& beyond : *table) {
    const auto number = beyond.constant();
    if (!number) return std::nullopt;
    text += fmt::format("{}i64 {}", text.empty() ? "" : ", ", *number);
  }
  return op("add $T $a, $b", DType::I64, {integer(e), {"<" + text + ">", DType::I64, vector_.lanes, vector_.scope}});
}

// A condition on indices that every lane knows of itself.
std::optional<std::vector<bool>> PhasePrinter::truths_of(ExprId id) const {
  if (const auto* read = kernel_.at(id).get_if<kernel::ReadLocal>()) {
    const auto let = lets_.find(read->local);
    return let == lets_.end() ? std::nullopt : truths_of(let->second);
  }
  const auto* condition = kernel_.at(id).get_if<kernel::Apply>();
  if (!condition) return std::nullopt;
  const kernel::Apply& e = *condition;
  if (e.op == Op::Not || e.op == Op::And || e.op == Op::Or) {
    auto left = truths_of(e.args[0]);
    if (!left) return std::nullopt;
    if (e.op == Op::Not) {
      left->flip();
      return left;
    }
    const auto right = truths_of(e.args[1]);
    if (!right) return std::nullopt;
    for (size_t l = 0; l < left->size(); ++l)
      (*left)[l] = e.op == Op::And ? (*left)[l] && (*right)[l] : (*left)[l] || (*right)[l];
    return left;
  }
  if (e.args.size() != 2 || info(e.op).rule != TypeRule::Compare) return std::nullopt;
  const auto a = index_of(kernel_, e.args[0]), b = index_of(kernel_, e.args[1]);
  if (!a || !b) return std::nullopt;
  const IntExpr difference = *a - *b;
  const auto table = table_of(difference);
  if (!table) return std::nullopt;
  const auto first = difference.substitute({{*vector_.var, first_lane()}}, ranges_).constant();
  if (!first) return std::nullopt;
  std::vector<bool> truths;
  for (const IntExpr& beyond : *table) {
    const auto c = beyond.constant();
    if (!c) return std::nullopt;
    const int64_t value = *first + *c;
    switch (e.op) {
      case Op::Lt: truths.push_back(value < 0); break;
      case Op::Le: truths.push_back(value <= 0); break;
      case Op::Gt: truths.push_back(value > 0); break;
      case Op::Ge: truths.push_back(value >= 0); break;
      case Op::Eq: truths.push_back(value == 0); break;
      case Op::Ne: truths.push_back(value != 0); break;
      default: return std::nullopt;
    }
  }
  return truths;
}

Value PhasePrinter::constant_mask(const std::vector<bool>& truths) {
  std::string text;
  for (const bool t : truths) text += fmt::format("{}i1 {}", text.empty() ? "" : ", ", t);
  return {"<" + text + ">", DType::Bool, vector_.lanes, vector_.scope};  // another loop may have other lanes
}

// `e` as far as lanes differ in it, as long as no quotient or remainder in it wraps around between lane 0 and the others: each of
// `inside` is then at least 0 in lane 0. Nothing where lanes differ in other ways.
std::optional<IntExpr> PhasePrinter::unwrapped(const IntExpr& e, std::vector<IntExpr>& inside) const {
  IntExpr result;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr product = term.coefficient;
    int varying = 0;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      const IntExpr whole = IntExpr::of_term({1, {a}});
      if (!varies(whole)) {
        product = product * whole;
        continue;
      }
      ++varying;
      if (a->symbol) {
        product = product * whole;
        continue;
      }
      if ((a->kind != AtomKind::FloorDiv && a->kind != AtomKind::Mod) || varies(a->b)) return std::nullopt;
      const auto numerator = unwrapped(a->a, inside);
      if (!numerator) return std::nullopt;
      const auto divisor = a->b.constant();
      if (divisor && *divisor > 0 && (vector_.once || vector_.lanes % *divisor == 0) && *numerator == a->a) {
        product = product * whole;
        continue;
      }
      const auto table = table_of(*numerator);
      if (!table) return std::nullopt;
      int64_t furthest = 0;
      for (const IntExpr& beyond : *table) {
        const int64_t lane = beyond.constant().value_or(-1);
        if (lane < 0) return std::nullopt;
        furthest = std::max(furthest, lane);
      }
      if (furthest > 0) inside.push_back(a->b - 1 - mod(a->a, a->b, ranges_) - furthest);
      product = a->kind == AtomKind::Mod && furthest > 0 ? product * *numerator : IntExpr(0);
    }
    if (varying > 1) return std::nullopt;
    result = result + product;
  }
  return result;
}

// Where an index wraps around between the lanes, each is read on its own.
std::string PhasePrinter::read_unless_wrapped(const Place& p, const std::vector<Array>& arrays,
                                              const std::vector<bool>* active, const std::vector<IntExpr>& inside) {
  const int lanes = vector_.lanes;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  std::optional<Value> fits;
  std::set<std::string> seen;
  for (const IntExpr& e : inside) {
    if (!seen.insert(e.str()).second) continue;
    const Value here = op("icmp sge $T $a, $b", DType::Bool, {integer(e), constant(DType::I64, 0)});
    fits = fits ? op("and $T $a, $b", DType::Bool, {*fits, here}) : here;
  }
  const auto far = [&] {
    const std::string mask = constant_mask(active ? *active : std::vector<bool>(static_cast<size_t>(lanes), true)).text;
    const Value each = lane_pointers(p, active != nullptr);
    return gather(top(), memory, each.text, size_of(p.dtype), mask);
  };
  return either(
      *fits, type, [&] { return read_arrays(p, arrays); }, far);
}

// The lanes of a load from tables: what each array holds between its first and its last element is read whole, and shuffled. Both of
// those are read by a lane, so that nothing outside of what may be read is touched.
std::optional<std::string> PhasePrinter::load_table(const Place& p, const std::vector<bool>* active) {
  if (!vector_.loop || !vector_.even) return std::nullopt;
  std::vector<IntExpr> inside;
  const auto differences = unwrapped(p.offset, inside);
  const auto table = differences ? table_of(*differences) : std::nullopt;
  const std::vector<Array> arrays = table ? arrays_of(*table, active) : std::vector<Array>{};
  if (arrays.empty()) return std::nullopt;
  return inside.empty() ? read_arrays(p, arrays) : read_unless_wrapped(p, arrays, active, inside);
}

// The arrays, or parts of one, that the lanes of a load read: nothing when these are too many, or too far apart. What is less than a vector
// apart is read together; what is more, as the colours of a picture are, is read together only where there would be too many parts.
std::vector<PhasePrinter::Array> PhasePrinter::arrays_of(const Table& table, const std::vector<bool>* active) const {
  for (const int64_t most : {int64_t{vector_.lanes}, kWidest * vector_.lanes}) {
    std::vector<Array> arrays;
    for (int lane = 0; lane < vector_.lanes && arrays.size() <= kMostArrays; ++lane) {
      if (active && !(*active)[static_cast<size_t>(lane)]) continue;
      const IntExpr& beyond = table[static_cast<size_t>(lane)];
      int64_t number = 0;
      for (const IntExpr::Term& t : beyond.terms())
        if (t.atoms.empty()) number = t.coefficient;
      const IntExpr apart = beyond - number;
      const auto near = [&](const Array& a) {
        return a.apart == apart && number - a.low < kWidest * vector_.lanes &&
               a.high - number < kWidest * vector_.lanes && number - a.high <= most && a.low - number <= most;
      };
      auto a = std::find_if(arrays.begin(), arrays.end(), near);
      if (a == arrays.end()) a = arrays.insert(arrays.end(), {apart, number, number, {}});
      a->low = std::min(a->low, number), a->high = std::max(a->high, number);
      a->lanes.emplace_back(lane, number);
    }
    if (arrays.size() <= kMostArrays) return arrays;
  }
  return {};
}

std::string PhasePrinter::read_arrays(const Place& p, const std::vector<Array>& arrays) {
  const int align = size_of(p.dtype), lanes = vector_.lanes;
  const std::string memory = memory_type(p.dtype), type = vector_of(memory, lanes);
  std::string result = "poison";
  for (const Array& a : arrays) {
    const auto count = static_cast<int>(a.high - a.low + 1);
    const std::string whole = vector_of(memory, count);
    const Value at = pointer(p, p.offset + a.apart + a.low);
    const std::string read = name(top(), fmt::format("load {}, ptr {}, align {}", whole, at.text, align));
    std::vector<int64_t> from(static_cast<size_t>(lanes), -1);
    for (const auto& [lane, number] : a.lanes) from[static_cast<size_t>(lane)] = number - a.low;
    const std::string own = shuffle(top(), whole, read, "poison", from);
    if (result == "poison") {
      result = own;
      continue;
    }
    std::vector<int64_t> order;
    for (int lane = 0; lane < lanes; ++lane) order.push_back(from[static_cast<size_t>(lane)] < 0 ? lane : lanes + lane);
    result = shuffle(top(), type, result, own, order);
  }
  return result;
}

}  // namespace smelt::emit
