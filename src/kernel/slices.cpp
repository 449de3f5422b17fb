#include "kernel/slices.hpp"

#include <map>
#include <utility>
#include <vector>

#include "kernel/conditions.hpp"
#include "kernel/facts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// The index of an element along the first dimensions, as one number.
struct Leading {
  size_t dims;      // how many of them
  IntExpr of_part;  // places that a part has
};

class Slices {
 public:
  Slices(const Kernel& kernel, const Loop& grid, size_t param, IntExpr slices, IntExpr iterations, Leading leading,
         Slicing how)
      : kernel_(kernel),
        grid_(grid),
        param_(static_cast<int>(param)),
        slices_(std::move(slices)),
        iterations_(std::move(iterations)),
        leading_(std::move(leading)),
        how_(how),
        ranges_(ranges_of_sizes(kernel)) {
    at_[grid.var] = iterations_ * slice_ + IntExpr::symbol(within_);
    widen(ranges_, *slice_.as_symbol(), slices_);
    widen(ranges_, within_, iterations_);
  }

  bool run() {
    Facts facts = facts_of(kernel_);
    facts.add_range(*slice_.as_symbol(), slices_);
    facts.add_range(within_, iterations_);
    around_ = {{*slice_.as_symbol(), slices_}, {within_, iterations_}};
    return stay(grid_.body, facts);
  }

 private:
  bool stay(const std::vector<Stmt>& body, const Facts& facts) {
    for (const Stmt& s : body) {
      bool inside = true;
      visit_accesses(kernel_, s, [&](const Access& a, bool) {
        inside = inside && (a.scratch || a.array != param_ || stays(a, facts));
      });
      if (const auto* tiles = s.get_if<TileProduct>(); tiles && tiles->rows_axis >= 0 && tiles->rows.array == param_)
        inside = inside && stays(tiles->last_of_rows(), facts);
      if (!inside) return false;
      const std::vector<Stmt>* inner = body_of(s);
      if (!inner) continue;
      Facts more = facts;
      const size_t outside = around_.size();
      const auto enter = [&](Symbol var, const IntExpr& whole) {
        if (how_ == Slicing::Tried) return around_.emplace_back(var, whole), void();
        const IntExpr extent = whole.substitute(at_, ranges_);
        more.add_range(var, extent);
        widen(ranges_, var, extent);
      };
      if (const auto* loop = s.get_if<Loop>()) enter(loop->var, loop->extent);
      if (const auto* each = s.get_if<Each>()) enter(each->var, each->extent);
      const Interior* interior = interior_of(s);
      if (!stay(*inner, more) || (interior && !stay(interior->body, more))) return false;
      around_.erase(around_.begin() + static_cast<std::ptrdiff_t>(outside), around_.end());
    }
    return true;
  }

  // Whether an element is outside of its part at the ends of the loops around, or in the middle of
  // some: most that are can be seen there, where proofs would look for long.
  bool is_seen_outside(const Access& a, const std::vector<IntExpr>& dims) const {
    constexpr int64_t kSize = 5;
    for (int point = 0; point < 6; ++point) {
      std::map<Symbol, int64_t> values;
      const auto value = [&](const IntExpr& e) {
        for (const Symbol s : e.symbols()) values.try_emplace(s, s.is_size() ? kSize : 0);
        return e.evaluate(values);
      };
      bool runs = true;
      for (size_t n = 0; n < around_.size(); ++n) {
        const int64_t last = value(around_[n].second) - 1;
        const bool at_end = n == 0 ? point > 3 : n == 1 ? point % 2 == 1 : point % 4 > 1;
        runs = runs && last >= 0;
        values[around_[n].first] = n == 0 && point > 1 && point < 4 ? last / 2 : at_end ? last : 0;
        if (n == 1) values[grid_.var] = value(iterations_) * values.at(*slice_.as_symbol()) + values.at(within_);
      }
      if (!runs) continue;
      int64_t place = 0;
      for (size_t d = 0; d < leading_.dims; ++d) place = place * value(dims[d]) + value(a.index[d]);
      if (floor_quotient(place, value(leading_.of_part)) != values.at(*slice_.as_symbol())) return true;
    }
    return false;
  }

  bool stays(const Access& a, const Facts& facts) const {
    const std::vector<IntExpr>& dims = kernel_.params[static_cast<size_t>(param_)].dims;
    if (how_ == Slicing::Tried) return !is_seen_outside(a, dims);
    IntExpr place;
    for (size_t d = 0; d < leading_.dims; ++d) place = place * dims[d] + a.index[d].substitute(at_, ranges_);
    const IntExpr in_part = recombine(place) - leading_.of_part * slice_;
    constexpr int kEffort = 1;  // what is so is simple to prove
    return facts.proves(in_part, kEffort) && facts.proves(leading_.of_part - 1 - in_part, kEffort);
  }

  const Kernel& kernel_;
  const Loop& grid_;
  const int param_;
  const IntExpr slices_, iterations_, slice_ = IntExpr::symbol(Symbol::proof("slice"));
  const Symbol within_ = Symbol::proof("within");
  const Leading leading_;
  const Slicing how_;
  Ranges ranges_;
  std::map<Symbol, IntExpr> at_;
  std::vector<std::pair<Symbol, IntExpr>> around_;  // loops, with their extents
};

}  // namespace

bool stays_in_slices(const Kernel& kernel, size_t param, const IntExpr& slices, Slicing how) {
  if (kernel.phases.size() != 1) return false;
  const auto* grid = loop_of(kernel.phases[0].body.back(), LoopKind::Grid);
  if (!grid) return false;
  const auto [iterations, rest] = divide_terms(grid->extent, slices);
  if (!rest.is(0)) return false;
  IntExpr places = 1;
  const std::vector<IntExpr>& dims = kernel.params[param].dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    places = places * dims[d];
    const auto [of_part, left] = divide_terms(places, slices);
    if (left.is(0)) return Slices(kernel, *grid, param, slices, iterations, {d + 1, of_part}, how).run();
  }
  return false;
}

}  // namespace smelt::kernel
