// Computes the offset of every lane by itself and compares it with what the form of the access
// says.
#include "kernel/lane_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>

#include "kernel/classify_accesses.hpp"
#include "kernel/lanes.hpp"
#include "kernel/offset.hpp"

namespace smelt::kernel {
namespace {

using AccessForm = LaneAccess::Form;

// Offsets of the lanes of one access, as differences from that of lane 0.
class LaneOffsets {
 public:
  // Each of `holds` is at least 0 in lane 0.
  LaneOffsets(const LaneSteps& steps, const std::vector<IntExpr>& holds)
      : var_(steps.var), lanes_(steps.lanes), first_(first_of(steps)) {
    for (const IntExpr& h : holds) holds_.push_back(at(h, 0));
  }

  IntExpr beyond_first(const IntExpr& offset, int lane) { return of_lane(offset, lane) - of_lane(offset, 0); }
  // As it is where lane 0 is.
  IntExpr at(const IntExpr& e, int lane) const {
    const bool as_it_is = !e.mentions(var_) || (lane == 0 && first_ == IntExpr::symbol(var_));
    return as_it_is ? e : e.substitute({{var_, first_ + lane}}, ranges_);
  }

 private:
  struct Division {
    IntExpr numerator, divisor, quotient, remainder;
  };

  static IntExpr first_of(const LaneSteps& steps) {
    return steps.even ? first_lane(steps.lanes, steps.once) : IntExpr::symbol(steps.var);
  }

  bool holds(const IntExpr& h) const {
    return std::any_of(holds_.begin(), holds_.end(),
                       [&](const IntExpr& known) { return (h - known).constant().value_or(-1) >= 0; });
  }

  IntExpr of_lane(const IntExpr& e, int lane) {
    IntExpr sum;
    for (const IntExpr::Term& term : e.terms()) {
      IntExpr product = term.coefficient;
      for (const IntExpr::AtomPtr& a : term.atoms) product = product * atom(a, lane);
      sum = sum + product;
    }
    return sum;
  }

  IntExpr atom(const IntExpr::AtomPtr& shared, int lane) {
    const IntExpr::Atom& a = *shared;
    const IntExpr whole = IntExpr::of_term({1, {shared}});
    if (a.symbol || !whole.mentions(var_)) return at(whole, lane);
    const IntExpr here = of_lane(a.a, lane), there = of_lane(a.b, lane);
    if (a.kind == AtomKind::Min || a.kind == AtomKind::Max) {
      const auto side = side_of(a);
      if (side) return of_lane(*side, lane);
      return a.kind == AtomKind::Min ? min(here, there, ranges_) : max(here, there, ranges_);
    }
    const bool quotient = a.kind == AtomKind::FloorDiv;
    const Division& first = first_division(shared);
    if (there == first.divisor) {
      // The remainder of lane 0 and what the lane adds stay below the divisor.
      const IntExpr moved = here - first.numerator;
      const auto steps = moved.constant();
      if (steps && (*steps == 0 || (*steps > 0 && holds(there - 1 - first.remainder - moved))))
        return quotient ? first.quotient : first.remainder + moved;
    }
    return quotient ? floordiv(here, there, ranges_) : mod(here, there, ranges_);
  }

  // The division of lane 0, cached: its proofs take long, and every lane needs it.
  const Division& first_division(const IntExpr::AtomPtr& a) {
    const auto known = first_divisions_.find(a);
    if (known != first_divisions_.end()) return known->second;
    const IntExpr numerator = of_lane(a->a, 0), divisor = of_lane(a->b, 0);
    const Division made{numerator, divisor, floordiv(numerator, divisor, ranges_), mod(numerator, divisor, ranges_)};
    return first_divisions_.emplace(a, made).first->second;
  }

  // The side that a minimum or maximum is known to be in all lanes.
  std::optional<IntExpr> side_of(const IntExpr::Atom& a) const {
    const IntExpr x = without_clamps(a.a), y = without_clamps(a.b);
    const bool least = a.kind == AtomKind::Min;
    if (binds(least ? y - x : x - y)) return x;
    if (binds(least ? x - y : y - x)) return y;
    return std::nullopt;
  }

  IntExpr without_clamps(const IntExpr& e) const {
    IntExpr sum;
    for (const IntExpr::Term& term : e.terms()) {
      IntExpr product = term.coefficient;
      for (const IntExpr::AtomPtr& a : term.atoms) {
        const bool clamp = a->kind == AtomKind::Min || a->kind == AtomKind::Max;
        const auto side = clamp ? side_of(*a) : std::nullopt;
        product = product * side.value_or(IntExpr::of_term({1, {a}}));
      }
      sum = sum + product;
    }
    return sum;
  }

  // Whether a difference that is linear in the lanes is known to be at least 0 in the first and in
  // the last.
  bool binds(const IntExpr& difference) const {
    return difference.coefficient_of(var_) && holds(at(difference, 0)) && holds(at(difference, lanes_ - 1));
  }

  const Symbol var_;
  const int lanes_;
  const IntExpr first_;
  // Nothing of where symbols lie: what is asked here follows from how they are divided, and a proof
  // for each lane takes long.
  const Ranges ranges_ = Ranges::inside_loops();
  std::vector<IntExpr> holds_;
  std::unordered_map<IntExpr::AtomPtr, Division> first_divisions_;
};

std::string fault_of_pieces(const LaneAccess& access, const IntExpr& offset, const LaneSteps& steps,
                            const std::vector<bool>* active, LaneOffsets& offsets) {
  const int lanes = steps.lanes;
  std::vector<int> times(static_cast<size_t>(lanes), 0);
  for (const LaneAccess::Piece& p : access.pieces) {
    bool low = false, high = false;  // what is read lies between what lanes read
    for (const auto& [lane, number] : p.lanes) {
      if (lane < 0 || lane >= lanes || number < p.low || number > p.high)
        return fmt::format("lane {} reads {} of a piece {} .. {}", lane, number, p.low, p.high);
      ++times[static_cast<size_t>(lane)];
      low = low || number == p.low, high = high || number == p.high;
      const IntExpr beyond = offsets.beyond_first(offset, lane), said = offsets.at(p.apart, 0) + number;
      if (!(beyond == said))
        return fmt::format("lane {} is {} elements from lane 0, not {}", lane, beyond.str(), said.str());
    }
    if ((!low || !high) && p.within.empty())
      return fmt::format("no lane reads the ends of a piece {} .. {}", p.low, p.high);
  }
  // In the last step its lanes are neighbours at this distance.
  const auto slope = offset.coefficient_of(steps.var);
  if (access.step != 0 && !(slope && slope->is(access.step)))
    return fmt::format("a distance of {} elements from lane to lane, of {}", access.step, offset.str());
  for (int lane = 0; lane < lanes; ++lane)
    if (times[static_cast<size_t>(lane)] != (!active || (*active)[static_cast<size_t>(lane)] ? 1 : 0))
      return fmt::format("lane {} reads {} times", lane, times[static_cast<size_t>(lane)]);
  return "";
}

}  // namespace

LaneSteps steps_of(const Loop& loop) {
  return {loop.var, loop.lanes, loop.begins == 0 || loop.begins == loop.lanes, loop.extent.is(loop.lanes)};
}

std::optional<LineRow> line_row(const Kernel& kernel, const Access& access, const LaneSteps& steps) {
  const int size = access.scratch ? size_of(kernel.buffers[static_cast<size_t>(access.array)].dtype) : 0;
  if ((size != 4 && size != 8) || steps.lanes * size % kLineBytes != 0) return std::nullopt;
  const IntExpr offset = flat_offset(kernel, access), rest = offset - IntExpr::symbol(steps.var);
  const auto slope = offset.coefficient_of(steps.var);
  const bool aligned = std::all_of(rest.terms().begin(), rest.terms().end(), [&](const IntExpr::Term& t) {
    return t.atoms.empty() || t.coefficient % (kLineBytes / size) == 0;
  });
  if (!slope || !slope->is(1) || !aligned) return std::nullopt;
  const int64_t column = constant_term(rest);
  return LineRow{{access.array, (rest - column).str()}, column};
}

IntExpr in_lane(const LaneSteps& steps, const IntExpr& e, int lane) { return LaneOffsets(steps, {}).at(e, lane); }

IntExpr merged_quotients(const IntExpr& e) {
  const auto is_quotient = [](const IntExpr::Atom& a) {
    return a.kind == AtomKind::FloorDiv && !a.symbol && a.b.constant().value_or(0) > 0;
  };
  IntExpr sum;
  for (const IntExpr::Term& term : e.terms()) {
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      IntExpr factor = IntExpr::of_term({1, {a}});
      if (is_quotient(*a)) {
        const IntExpr below = merged_quotients(a->a);
        const bool one =
            below.terms().size() == 1 && below.terms()[0].coefficient == 1 && below.terms()[0].atoms.size() == 1;
        if (one && is_quotient(*below.terms()[0].atoms[0])) {
          const IntExpr::Atom& inner = *below.terms()[0].atoms[0];
          factor = floordiv(inner.a, inner.b * a->b);
        }
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

std::string lane_fault(const LaneSteps& steps, const LaneAccess& access, const IntExpr& given,
                       const std::vector<bool>* active) {
  if (access.form == AccessForm::Gather) return "";
  const IntExpr offset = merged_quotients(given);
  LaneOffsets offsets(steps, access.holds);
  if (access.form == AccessForm::Pieces) return fault_of_pieces(access, offset, steps, active, offsets);
  const int64_t step = access.form == AccessForm::Broadcast ? 0 : access.step;
  if (access.behind != 0 && step != 1) return "lanes at a distance are read from lines";
  const auto slope = offset.coefficient_of(steps.var);
  if (slope && slope->is(step) && access.holds.empty()) return "";
  for (int lane = 1; lane < steps.lanes; ++lane) {
    const IntExpr beyond = offsets.beyond_first(offset, lane);
    if (!(beyond - step * lane).is(0))
      return fmt::format("lane {} is {} elements from lane 0, not {}", lane, beyond.str(), step * lane);
  }
  return "";
}

}  // namespace smelt::kernel
