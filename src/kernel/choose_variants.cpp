#include "kernel/choose_variants.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "kernel/conditions.hpp"
#include "kernel/lane_groups.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/team_forms.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

using Form = Variant::Form;

// Below this, positions and what is added to them on the way fit an int.
constexpr int64_t kNarrow = (int64_t{1} << 31) - (int64_t{1} << 20);

IntExpr bound_over_sizes(const Kernel& kernel, const IntExpr& e);

// A bound of an atom that depends on more than sizes.
IntExpr bound_of_atom(const Kernel& kernel, const IntExpr::Atom& a, const IntExpr& itself) {
  switch (a.kind) {
    case AtomKind::Min:
      return bound_over_sizes(kernel, over_sizes(kernel, a.a) || !over_sizes(kernel, a.b) ? a.a : a.b);
    case AtomKind::Max: return max(bound_over_sizes(kernel, a.a), bound_over_sizes(kernel, a.b));
    case AtomKind::FloorDiv: return over_sizes(kernel, a.b) ? floordiv(bound_over_sizes(kernel, a.a), a.b) : itself;
    case AtomKind::Mod: return bound_over_sizes(kernel, a.b);
    case AtomKind::Symbol: return itself;
  }
  return itself;
}

// What bounds an extent that the data say; null where they do not.
const IntExpr* bound_from_data(const Kernel& kernel, const IntExpr& extent) {
  const auto symbol = extent.as_symbol();
  const IndexLocal* named = symbol && symbol->is_local() ? index_named_by(kernel, symbol->local_id()) : nullptr;
  return named ? &named->extent : nullptr;
}

// A bound over the sizes: min(tile, what is left) is at most the tile. The expression is never
// negative, nor is a part of it.
IntExpr bound_over_sizes(const Kernel& kernel, const IntExpr& e) {
  if (over_sizes(kernel, e)) return e;
  IntExpr sum = 0;
  for (const IntExpr::Term& term : e.terms()) {
    if (term.coefficient < 0) continue;
    IntExpr product = term.coefficient;
    for (const IntExpr::AtomPtr& a : term.atoms) {
      IntExpr factor = IntExpr::of_term({1, {a}});
      if (!over_sizes(kernel, factor)) factor = bound_of_atom(kernel, *a, factor);
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

// Whether it is a loop over parts of the factors of a tile.
bool multiplies(const std::vector<Stmt>& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) { return s.is<Matrix>(); });
}

// Points of the loops, a bound over the sizes. Loops of as many iterations as the data say go
// through elements of arrays, whatever their place among all points: `apart` becomes at least
// theirs.
IntExpr points(const Kernel& kernel, const std::vector<Stmt>& body, IntExpr& apart) {
  IntExpr most = 1;
  for (const Stmt& s : body) {
    const auto* body = body_of(s);
    if (!body) continue;
    const IntExpr inside = points(kernel, *body, apart);
    // What meets the condition of an Each names an element of an array, whatever its place among
    // all of them.
    if (const auto* each = s.get_if<Each>())
      most = max(most, max(bound_over_sizes(kernel, each->extent), inside));
    else if (const auto* loop = s.get_if<Loop>();
             const auto* bound = loop ? bound_from_data(kernel, loop->extent) : nullptr)
      apart = max(apart, bound_over_sizes(kernel, *bound)), most = max(most, inside);
    else if (loop && loop->kind == LoopKind::Serial && multiplies(loop->body))
      most = max(most, max(bound_over_sizes(kernel, loop->extent), inside));  // its elements are those of arrays
    else if (loop)
      most = max(most, max(bound_over_sizes(kernel, loop->extent), 1) * inside);
    else
      most = max(most, inside);
  }
  return most;
}

// What must hold so that 32-bit indices do; empty when it always does. False when it never does.
bool narrow_if(const Kernel& kernel, const Phase& phase, std::vector<IntExpr>& conditions) {
  IntExpr apart = 1;
  std::vector<IntExpr> counts{points(kernel, phase.body, apart)};
  counts.push_back(apart);
  for (const Param& p : kernel.params)
    if (p.kind != ParamKind::Size) counts.push_back(p.dims.empty() ? IntExpr(1) : p.dims[0] * p.strides[0]);
  for (const Expr& e : kernel.exprs)
    if (const auto* random = e.get_if<Random>()) counts.push_back(random->extent);
  for (const IntExpr& c : counts) {
    const auto known = c.constant();
    if (!over_sizes(kernel, c)) return false;
    if (known && *known > kNarrow) return false;
    if (!known) conditions.push_back(kNarrow - c);
  }
  return true;
}

// Whether every array may be anywhere.
bool takes_any_address(const Kernel& kernel, const Variant& variant) {
  for (size_t p = 0; p < kernel.params.size(); ++p)
    if (variant.alignment[p] > size_of(kernel.params[p].dtype)) return false;
  return true;
}

// Adds what 32-bit indices require, and leaves out what always holds.
void complete(const Kernel& kernel, const std::vector<IntExpr>& sizes_fit, Variant& variant) {
  std::vector<IntExpr> when;
  if (!variant.wide) when = sizes_fit;
  when.insert(when.end(), variant.when.begin(), variant.when.end());
  variant.when.clear();
  for (const IntExpr& h : when) {
    const auto known = h.constant();
    SMELT_CHECK(over_sizes(kernel, h) && (!known || *known >= 0), "kernel {} is guarded by {}", kernel.name, h.str());
    if (!known) require({h}, variant);
  }
}

// The numbers of the variants that stay.
std::vector<size_t> chosen(const Kernel& kernel, Phase& phase) {
  std::vector<IntExpr> sizes_fit;
  const bool narrow = narrow_if(kernel, phase, sizes_fit);
  std::vector<size_t> kept;
  const Variant* best = nullptr;
  bool multiples = true;  // the fast variant before requires them, or there is none
  for (size_t v = 0; v < phase.variants.size(); ++v) {
    Variant& variant = phase.variants[v];
    switch (variant.form) {
      case Form::Ending: kept.push_back(v); continue;
      case Form::Any:
        if (best->when.empty() && takes_any_address(kernel, *best)) continue;
        variant.wide = !narrow || !best->when.empty();
        break;
      case Form::Odd:
        variant.wide = !narrow;
        if (!std::exchange(multiples, true)) continue;
        break;
      case Form::Fast:
        variant.wide = !narrow;
        multiples = std::any_of(variant.when.begin(), variant.when.end(), is_multiple);
        break;
    }
    complete(kernel, sizes_fit, variant);
    if (variant.form != Form::Any) best = &variant;
    kept.push_back(v);
  }
  return kept;
}

template <class T>
std::vector<T> only(const std::vector<T>& all, const std::vector<size_t>& kept) {
  std::vector<T> result;
  for (const size_t k : kept)
    if (k < all.size()) result.push_back(all[k]);
  return result;
}

}  // namespace

bool choose_variants(Kernel& kernel) {
  bool changed = false;
  for (Phase& phase : kernel.phases) {
    if (phase.variants.empty()) continue;
    const std::vector<size_t> kept = chosen(kernel, phase);
    phase.variants = only(phase.variants, kept);
    for_each_stmt(phase.body, [&](Stmt& s) {
      auto* loop = s.get_if<Loop>();
      if (!loop || !loop->team) return;
      loop->team = std::make_shared<const TeamForms>(
          TeamForms{only(loop->team->shapes, kept), only(loop->team->accesses, kept)});
    });
    changed = true;
  }
  return changed;
}

}  // namespace smelt::kernel
