// Proofs that an integer expression is never negative, from what is known of its symbols.
//
// The expression is linear in most of its atoms, so its smallest value is found by putting one atom
// after the other at an end of its range: the low end where its coefficient is proved >= 0, the
// high end where it is proved <= 0. Atoms whose ends mention other atoms go first. What is left
// mentions sizes only, and what else has no range; with each of them written as smallest + s, s >=
// 0, it is >= 0 if no coefficient is negative.
#include <algorithm>
#include <map>
#include <optional>

#include "base/check.hpp"
#include "base/int_expr.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// A proof that needs more than this is not worth the time: the caller then keeps a mask or a
// division.
constexpr int kMaxDepth = 16;
constexpr int kMaxSteps = 250;

class Prover {
 public:
  explicit Prover(const Ranges& ranges) : ranges_(ranges), smallest_size_(ranges.sizes_may_be_0() ? 0 : 1) {}

  bool nonnegative(const IntExpr& given, int depth) const {
    if (auto c = given.constant()) return *c >= 0;
    if (depth > kMaxDepth || steps_ > kMaxSteps) return false;
    const IntExpr e = recombine(given);
    if (auto c = e.constant()) return *c >= 0;
    // Orders of elimination meet in the same expressions; one that is being tried counts as not
    // proved.
    auto [it, fresh] = known_.try_emplace(e, false);
    if (!fresh) return it->second;
    ++steps_;
    bool proved = sizes_only_nonnegative(e);
    if (!proved)
      for (const auto& atom : removable_atoms(e))
        if ((proved = nonnegative_without(e, *atom, depth))) break;
    return it->second = proved;
  }

 private:
  // Atoms that are no plain sizes, those first that no other atom's range mentions.
  std::vector<IntExpr::AtomPtr> removable_atoms(const IntExpr& e) const {
    std::vector<IntExpr::AtomPtr> atoms;
    for (const auto& t : e.terms())
      for (const auto& atom : t.atoms)
        if (removable(*atom) &&
            std::none_of(atoms.begin(), atoms.end(), [&](const auto& other) { return other->key == atom->key; }))
          atoms.push_back(atom);
    auto inside = [&](const IntExpr::AtomPtr& inner, const IntExpr::AtomPtr& outer) {
      if (!outer->symbol) return contains(outer->a, *inner) || contains(outer->b, *inner);
      const Interval& range = ranges_.at(*outer->symbol);
      return contains(range.low, *inner) || contains(range.high, *inner);
    };
    std::vector<std::pair<long, IntExpr::AtomPtr>> ranked;
    for (const auto& atom : atoms)
      ranked.emplace_back(std::count_if(atoms.begin(), atoms.end(), [&](const auto& o) { return inside(atom, o); }),
                          atom);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(ranked.begin(), ranked.end(), atoms.begin(), [](const auto& r) { return r.second; });
    if (atoms.size() > 2) atoms.resize(2);  // a wrong first choice is rare; trying every order would be exponential
    return atoms;
  }

  static bool contains(const IntExpr& e, const IntExpr::Atom& wanted) {
    for (const auto& t : e.terms())
      for (const auto& atom : t.atoms) {
        if (atom->key == wanted.key) return true;
        if (!atom->symbol && (contains(atom->a, wanted) || contains(atom->b, wanted))) return true;
      }
    return false;
  }

  bool removable(const IntExpr::Atom& atom) const { return !atom.symbol || ranges_.has(*atom.symbol); }

  bool nonnegative_without(const IntExpr& e, const IntExpr::Atom& atom, int depth) const {
    std::vector<IntExpr::Term> factors, others;
    for (const auto& t : e.terms()) {
      auto it = std::find_if(t.atoms.begin(), t.atoms.end(), [&](const auto& a) { return a->key == atom.key; });
      if (it == t.atoms.end()) {
        others.push_back(t);
        continue;
      }
      IntExpr::Term factor = t;
      factor.atoms.erase(factor.atoms.begin() + (it - t.atoms.begin()));
      if (std::any_of(factor.atoms.begin(), factor.atoms.end(), [&](const auto& a) { return a->key == atom.key; }))
        return false;  // not linear
      factors.push_back(std::move(factor));
    }
    const IntExpr coefficient = IntExpr::of_terms(std::move(factors)), rest = IntExpr::of_terms(std::move(others));
    auto at = [&](const IntExpr& value) { return nonnegative(coefficient * value + rest, depth + 1); };
    const bool rising = nonnegative(coefficient, depth + 1);
    const bool falling = !rising && nonnegative(-coefficient, depth + 1);
    switch (atom.kind) {
      case AtomKind::Symbol: {
        const Interval& range = ranges_.at(*atom.symbol);
        return (rising && at(range.low)) || (falling && at_high(range.high, at));
      }
      case AtomKind::Min:
        if (falling) return at(atom.a) || at(atom.b) || at_middle(atom, coefficient, rest, depth);
        return at(atom.a) && at(atom.b);
      case AtomKind::Max:
        if (rising) return at(atom.a) || at(atom.b) || at_middle(atom, coefficient, rest, depth);
        return at(atom.a) && at(atom.b);
      case AtomKind::Mod:
        if (rising) return at(0);
        return falling && (at(atom.b - 1) || (nonnegative(atom.a, depth + 1) && at(atom.a)));
      case AtomKind::FloorDiv: return quotient(coefficient, rest, atom, rising, falling, depth);
    }
    return false;
  }

  // The larger of two numbers is no smaller than their middle, the smaller one no larger: max(i,
  // -i) >= 0. Twice the expression is then at least what is asked here, and it is an integer.
  bool at_middle(const IntExpr::Atom& atom, const IntExpr& coefficient, const IntExpr& rest, int depth) const {
    return nonnegative(coefficient * (atom.a + atom.b) + rest * 2 + 1, depth + 1);
  }

  // The atom that an expression is; null where it is none.
  static const IntExpr::Atom* only_atom(const IntExpr& e) {
    if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return nullptr;
    return e.terms()[0].atoms[0].get();
  }

  // A range's high end may be min(a, b): then both are upper bounds, and either may do.
  template <class At>
  static bool at_high(const IntExpr& high, const At& at) {
    if (at(high)) return true;
    const IntExpr::Atom* atom = only_atom(high);
    return atom && atom->kind == AtomKind::Min && (at_high(atom->a, at) || at_high(atom->b, at));
  }

  // coefficient * (a // b) + rest >= 0, from  a - b + 1 <= b * (a // b) <= a.
  bool quotient(const IntExpr& coefficient, const IntExpr& rest, const IntExpr::Atom& atom, bool rising, bool falling,
                int depth) const {
    // c * (a // b) + c * q + r >= 0 with c, r >= 0 is a // b + q >= 0, that is a + q * b >= 0: no
    // rounding is left. The same for c * q + r - c * (a // b), where a // b <= q is a < (q + 1) *
    // b.
    if (rising || falling) {
      const auto [q, r] = divide_terms(rest, rising ? coefficient : -coefficient);
      const IntExpr whole = rising ? atom.a + q * atom.b : (q + 1) * atom.b - 1 - atom.a;
      if (nonnegative(r, depth + 1) && nonnegative(whole, depth + 1)) return true;
    }
    // When b divides the coefficient, the bounds above stay exact.
    if (const auto [factor, remainder] = divide_terms(coefficient, atom.b); remainder.is(0)) {
      if (rising && nonnegative(factor * (atom.a - atom.b + 1) + rest, depth + 1)) return true;
      if (falling && nonnegative(factor * atom.a + rest, depth + 1)) return true;
    }
    // The quotient of a minimum is the lesser one of its sides' quotients.
    const IntExpr::Atom* of = only_atom(atom.a);
    if (of && (rising || falling) && (of->kind == AtomKind::Min || of->kind == AtomKind::Max)) {
      const auto at = [&](const IntExpr& side) {
        return nonnegative(coefficient * floordiv(side, atom.b, ranges_) + rest, depth + 1);
      };
      const bool either = (of->kind == AtomKind::Min) == falling;
      if (at(of->a) ? either || at(of->b) : either && at(of->b)) return true;
    }
    if (rising) {
      if (nonnegative(atom.a, depth + 1) && nonnegative(rest, depth + 1)) return true;
      if (auto low = end_of(atom.a, false, depth)) {
        auto bound = floor_below(*low, atom.b, depth);
        return bound && nonnegative(coefficient * *bound + rest, depth + 1);
      }
    }
    if (falling) {
      if (auto high = end_of(atom.a, true, depth)) {
        auto bound = floor_above(*high, atom.b, depth);
        return bound && nonnegative(coefficient * *bound + rest, depth + 1);
      }
    }
    return false;
  }

  // Bounds of x // b that need no new floordiv: the quotient of the terms that b divides, and what
  // is left over decides the rest.
  std::optional<IntExpr> floor_above(const IntExpr& x, const IntExpr& b, int depth) const {
    const auto [quotient, remainder] = divide_terms(x, b);
    if (nonnegative(-remainder - 1, depth + 1)) return quotient - 1;
    if (nonnegative(b - 1 - remainder, depth + 1)) return quotient;
    return std::nullopt;
  }
  std::optional<IntExpr> floor_below(const IntExpr& x, const IntExpr& b, int depth) const {
    const auto [quotient, remainder] = divide_terms(x, b);
    if (nonnegative(remainder, depth + 1)) return quotient;
    if (nonnegative(remainder + b, depth + 1)) return quotient - 1;
    return std::nullopt;
  }

  // A bound of `e`, where it is one division by a size, from a bound of what is divided.
  std::optional<IntExpr> end_of_quotient(const IntExpr& e, bool upper, int depth) const {
    const IntExpr::Atom* only = only_atom(e);
    if (depth > kMaxDepth || !only) return std::nullopt;
    const IntExpr::Atom& atom = *only;
    // For one quotient only: chains of them, from indices of many axes, take too long.
    const auto plain = [](const IntExpr::Term& t) {
      return std::all_of(t.atoms.begin(), t.atoms.end(), [](const auto& a) { return a->symbol.has_value(); });
    };
    if (atom.kind != AtomKind::FloorDiv || !std::all_of(atom.a.terms().begin(), atom.a.terms().end(), plain))
      return std::nullopt;
    const auto end = end_of(atom.a, upper, depth + 1);
    if (!end) return std::nullopt;
    return upper ? floor_above(*end, atom.b, depth + 1) : floor_below(*end, atom.b, depth + 1);
  }

  // A bound of `e` by putting symbols with ranges at their ends. Divisions and minima that those
  // bring in stay.
  std::optional<IntExpr> end_of(IntExpr e, bool upper, int depth) const {
    if (const auto end = end_of_quotient(e, upper, depth)) return end;
    for (int round = 0; round < kMaxDepth; ++round) {
      const auto atoms = removable_atoms(e);
      const auto symbol = std::find_if(atoms.begin(), atoms.end(), [](const auto& a) { return a->symbol.has_value(); });
      if (symbol == atoms.end()) return e;
      const IntExpr::Atom& atom = **symbol;
      auto coefficient = e.coefficient_of(*atom.symbol);
      if (!coefficient) return std::nullopt;
      const IntExpr rest = e - *coefficient * IntExpr::symbol(*atom.symbol);
      const Interval& range = ranges_.at(*atom.symbol);
      if (nonnegative(*coefficient, depth + 1))
        e = *coefficient * (upper ? range.high : range.low) + rest;
      else if (nonnegative(-*coefficient, depth + 1))
        e = *coefficient * (upper ? range.low : range.high) + rest;
      else
        return std::nullopt;
    }
    return std::nullopt;
  }

  bool sizes_only_nonnegative(const IntExpr& e) const {
    for (const auto& t : e.terms())
      for (const auto& atom : t.atoms)
        if (removable(*atom)) return false;
    IntExpr left = e;
    while (!none_negative(left)) {
      if (smallest_size_ == 0 || stays_negative(left)) return false;
      IntExpr fewer = of_negative_terms(left);
      if (fewer == left) return none_negative(shifted(left));
      left = std::move(fewer);
    }
    return true;
  }

  static bool none_negative(const IntExpr& e) {
    return std::none_of(e.terms().begin(), e.terms().end(), [](const auto& t) { return t.coefficient < 0; });
  }

  // A loop's variable, and what else counts from 0, may be 0 also where it has no range.
  int64_t smallest(Symbol symbol) const {
    switch (symbol.kind()) {
      case Symbol::Kind::Loop:
      case Symbol::Kind::Local:
      case Symbol::Kind::Window:
      case Symbol::Kind::Gathered: return 0;
      case Symbol::Kind::Size:
      case Symbol::Kind::Launch:
      case Symbol::Kind::Multiplier:
      case Symbol::Kind::Stride:
      case Symbol::Kind::Proof: return smallest_size_;
    }
    return 0;
  }

  // Every size written as smallest + s: 2^n terms for a product of n sizes.
  IntExpr shifted(const IntExpr& e) const {
    IntExpr sum;
    for (const auto& t : e.terms()) {
      IntExpr product = t.coefficient;
      for (const auto& atom : t.atoms) product = product * (IntExpr::symbol(*atom->symbol) + smallest(*atom->symbol));
      sum = sum + product;
    }
    return sum;
  }

  // Whether a negative term stays so in shifted(e): only positive terms that have all its sizes and
  // more could make up for it.
  static bool stays_negative(const IntExpr& e) {
    const auto less = [](const auto& a, const auto& b) { return a->key < b->key; };
    const auto covers = [&](const IntExpr::Term& t, const IntExpr::Term& negative) {
      return t.coefficient > 0 &&
             std::includes(t.atoms.begin(), t.atoms.end(), negative.atoms.begin(), negative.atoms.end(), less);
    };
    return std::any_of(e.terms().begin(), e.terms().end(), [&](const auto& negative) {
      return negative.coefficient < 0 &&
             std::none_of(e.terms().begin(), e.terms().end(), [&](const auto& t) { return covers(t, negative); });
    });
  }

  // Without the symbols that no negative term has: shifted(e) has products of them with positive
  // coefficients only, and the rest of it is what remains where s is 0.
  IntExpr of_negative_terms(const IntExpr& e) const {
    const auto in_negative = [&](const IntExpr::AtomPtr& atom) {
      return std::any_of(e.terms().begin(), e.terms().end(), [&](const auto& t) {
        return t.coefficient < 0 &&
               std::any_of(t.atoms.begin(), t.atoms.end(), [&](const auto& a) { return a->key == atom->key; });
      });
    };
    const auto is_0 = [&](const IntExpr::AtomPtr& atom) { return !in_negative(atom) && smallest(*atom->symbol) == 0; };
    std::vector<IntExpr::Term> terms = e.terms();
    std::erase_if(terms, [&](const auto& t) { return std::any_of(t.atoms.begin(), t.atoms.end(), is_0); });
    for (auto& t : terms) std::erase_if(t.atoms, [&](const auto& atom) { return !in_negative(atom); });
    return IntExpr::of_terms(std::move(terms));
  }

  const Ranges& ranges_;
  int64_t smallest_size_;
  mutable int steps_ = 0;
  mutable std::map<IntExpr, bool> known_;
};

}  // namespace

bool proves_nonnegative(const IntExpr& e, const Ranges& ranges) {
  if (auto c = e.constant()) return *c >= 0;
  try {
    return Prover(ranges).nonnegative(e, 0);
  } catch (const UserError&) {
    return false;  // a number on the way did not fit 64 bits: nobody's mistake, and no proof
  }
}

}  // namespace smelt
