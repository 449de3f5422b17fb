#include "kernel/facts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "kernel/kernel.hpp"
#include "smelt/error.hpp"

namespace smelt::kernel {
namespace {

using Replacements = std::map<Symbol, IntExpr>;

// What is given at a place counts, however much that is: loops, masks, conditions of an interior.
// Their parts and what follows from them are added up to these numbers; trying all pairs of more
// would only take time.
constexpr size_t kMaxFacts = 64;
constexpr size_t kMaxConsequences = 24;
constexpr size_t kMaxSteps = 60;
constexpr int kMostParts = 6;  // minima, maxima and quotients inside each other

// g * x + c >= 0 for integers says x + floor(c / g) >= 0.
IntExpr without_common_factor(const IntExpr& e) {
  int64_t divisor = 0, rest = 0;
  for (const auto& t : e.terms())
    (t.atoms.empty() ? rest : divisor) = t.atoms.empty() ? t.coefficient : std::gcd(divisor, t.coefficient);
  if (divisor <= 1) return e;
  IntExpr smaller = floordiv(rest, divisor);
  for (const auto& t : e.terms())
    if (!t.atoms.empty()) smaller = smaller + IntExpr::of_term({t.coefficient / divisor, t.atoms});
  return smaller;
}

// A quotient of sizes, and of such quotients, with plus and by a positive number: never negative.
bool never_negative(const IntExpr::Atom& atom) {
  const auto sizes_only = [](const IntExpr& e) {
    return std::all_of(e.terms().begin(), e.terms().end(), [](const IntExpr::Term& t) {
      return t.coefficient >= 0 && std::all_of(t.atoms.begin(), t.atoms.end(), [](const IntExpr::AtomPtr& a) {
               return a->symbol ? a->symbol->is_size() : never_negative(*a);
             });
    });
  };
  return atom.kind == AtomKind::FloorDiv && sizes_only(atom.a) && atom.b.constant().value_or(0) > 0;
}

// e without its constant, by an atom that all its other terms have.
IntExpr cofactor(const IntExpr& e, const IntExpr::AtomPtr& factor) {
  IntExpr quotient;
  for (const auto& t : e.terms()) {
    if (t.atoms.empty()) continue;
    IntExpr::Term rest = t;
    rest.atoms.erase(
        std::find_if(rest.atoms.begin(), rest.atoms.end(), [&](const auto& a) { return a->key == factor->key; }));
    quotient = quotient + IntExpr::of_term(rest);
  }
  return quotient;
}

// The factors that all products of e have in common, where e is below 0 without them: none of them
// is 0.
std::vector<IntExpr::AtomPtr> common_factors(const IntExpr& e) {
  std::vector<IntExpr::AtomPtr> common;
  bool first = true, below = false;
  for (const auto& t : e.terms()) {
    if (t.atoms.empty()) {
      below = t.coefficient < 0;
      continue;
    }
    if (first) common = t.atoms;
    first = false;
    std::erase_if(common, [&](const IntExpr::AtomPtr& a) {
      return std::none_of(t.atoms.begin(), t.atoms.end(), [&](const auto& b) { return b->key == a->key; });
    });
  }
  return below ? common : std::vector<IntExpr::AtomPtr>{};
}

// What e >= 0 says without a minimum, maximum or quotient in it: i < min(a, b) is i < a and i < b,
// and i < a // b is (i + 1) * b <= a.
std::vector<IntExpr> taken_apart(const IntExpr& e) {
  std::vector<IntExpr> parts;
  for (const auto& t : e.terms()) {
    if (t.atoms.size() != 1 || std::abs(t.coefficient) != 1) continue;
    const IntExpr::Atom& atom = *t.atoms[0];
    const IntExpr rest = e - IntExpr::of_term(t);
    if (atom.kind == (t.coefficient > 0 ? AtomKind::Min : AtomKind::Max))
      for (const IntExpr& side : {atom.a, atom.b}) parts.push_back(rest + side * t.coefficient);
    // a // b >= -rest, so a >= -rest * b; a // b <= rest, so a < (rest + 1) * b.
    if (atom.kind == AtomKind::FloorDiv)
      parts.push_back(t.coefficient > 0 ? atom.a + rest * atom.b : (rest + 1) * atom.b - 1 - atom.a);
  }
  return parts;
}

// What else e >= 0 says.
void add_with_consequences(const IntExpr& e, std::vector<IntExpr>& into, int depth = 0) {
  if (e.constant() || depth > 4 || (depth > 0 && into.size() >= kMaxConsequences)) return;
  if (std::find(into.begin(), into.end(), e) != into.end()) return;
  into.push_back(e);
  if (const IntExpr smaller = without_common_factor(e); !(smaller == e))
    add_with_consequences(smaller, into, depth + 1);
  for (const IntExpr::AtomPtr& factor : common_factors(e))
    if (never_negative(*factor)) {
      add_with_consequences(IntExpr::of_term({1, {factor}}) - 1, into, depth + 1);
      add_with_consequences(cofactor(e, factor) - 1, into, depth + 1);
    }
  for (const IntExpr& part : taken_apart(e)) add_with_consequences(part, into, depth + 1);
}

// The parts of e are facts like e, not consequences, of which only so many are kept: the bound of
// an innermost loop, which comes last, is often a minimum of quotients.
void add_with_parts(const IntExpr& e, std::vector<IntExpr>& into, int depth = 0) {
  if (e.constant() || depth > kMostParts || (depth > 0 && into.size() >= kMaxFacts)) return;
  add_with_consequences(e, into);
  for (const IntExpr& part : taken_apart(e)) add_with_parts(part, into, depth + 1);
}

// Whether a product is not negative: of sizes, loop variables, remainders, quotients of sizes.
bool never_negative(const IntExpr::Term& t) {
  return std::all_of(t.atoms.begin(), t.atoms.end(), [](const IntExpr::AtomPtr& a) {
    return a->symbol || a->kind == AtomKind::Mod || never_negative(*a);
  });
}

// Sizes that must be >= 1 for e >= 0: one product outweighs all the rest, so no factor of it is 0.
void positive_sizes(const IntExpr& e, std::set<Symbol>& into) {
  const IntExpr::Term* positive = nullptr;
  bool below = false;  // a negative constant
  for (const auto& t : e.terms()) {
    if (t.coefficient < 0 && !never_negative(t)) return;
    if (t.coefficient > 0 && (positive || t.atoms.empty())) return;
    if (t.coefficient > 0) positive = &t;
    if (t.coefficient < 0 && t.atoms.empty()) below = true;
  }
  if (positive && below)
    for (const auto& atom : positive->atoms)
      if (atom->symbol) into.insert(*atom->symbol);
}

// Where e >= 0 says size >= k, since whatever is taken from it is not negative: the size, and k.
std::optional<std::pair<Symbol, int64_t>> least_size(const IntExpr& e) {
  std::optional<std::pair<Symbol, int64_t>> least;
  int64_t constant = 0;
  for (const auto& t : e.terms()) {
    if (t.atoms.empty()) {
      constant = t.coefficient;
    } else if (t.coefficient > 0) {
      const bool size =
          t.coefficient == 1 && t.atoms.size() == 1 && t.atoms[0]->symbol && t.atoms[0]->symbol->is_size();
      if (least || !size) return std::nullopt;
      least = {*t.atoms[0]->symbol, 0};
    } else if (!never_negative(t)) {
      return std::nullopt;
    }
  }
  if (least) least->second = -constant;
  return least;
}

// Narrows the range of the innermost variable that a fact bounds alone; the bound then names outer
// variables only.
void narrow(const IntExpr& fact, const std::vector<std::pair<Symbol, IntExpr>>& variables, Ranges& ranges) {
  for (auto v = variables.rbegin(); v != variables.rend(); ++v) {
    if (!fact.mentions(v->first)) continue;
    const auto coefficient = fact.coefficient_of(v->first);
    if (!coefficient || !(coefficient->is(1) || coefficient->is(-1))) return;
    const IntExpr rest = fact - *coefficient * IntExpr::symbol(v->first);
    Interval& range = ranges.at(v->first);
    if (coefficient->is(1))
      range.low = max(range.low, -rest);
    else
      range.high = min(range.high, rest);
    return;
  }
}

bool mentions_any(const IntExpr& e, const std::vector<std::pair<Symbol, IntExpr>>& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](const auto& v) { return e.mentions(v.first); });
}

// What e is at least, with every remainder by a constant at its end that makes e smallest.
IntExpr with_least_remainders(const IntExpr& e) {
  IntExpr least = e;
  for (const auto& t : e.terms()) {
    if (t.atoms.size() != 1 || t.atoms[0]->kind != AtomKind::Mod) continue;
    const int64_t divisor = t.atoms[0]->b.constant().value_or(0);
    if (divisor > 0) least = least - IntExpr::of_term(t) + std::min<int64_t>(t.coefficient, 0) * (divisor - 1);
  }
  return least;
}

// Other ways to say e >= 0. Without its remainders, which says more. And without its quotients, one
// at a time; each of those forms says exactly the same:
//   rest + c * (a // b) >= 0   is   a // b >= -(rest // c)     is   a + (rest // c) * b >= 0
//   rest - c * (a // b) >= 0   is   a // b <= rest // c        is   (rest // c + 1) * b - 1 - a >= 0
// And b times e, which can meet facts with b * (a // b): e is an integer, so b * e > -b is enough.
std::vector<IntExpr> other_forms(const IntExpr& e, const std::vector<std::pair<Symbol, IntExpr>>& variables) {
  std::vector<IntExpr> forms{e}, scaled;
  if (const IntExpr least = with_least_remainders(e); !(least == e)) forms.push_back(least);
  for (size_t done = 0; done < 8 && done < forms.size(); ++done) {
    const IntExpr form = forms[done];
    for (const auto& t : form.terms()) {
      if (t.atoms.size() != 1 || t.atoms[0]->kind != AtomKind::FloorDiv) continue;
      const IntExpr::Atom& atom = *t.atoms[0];
      // Loop variables next to the quotient go into it: c * (a // b) + c * q is c * ((a + q * b) //
      // b).
      IntExpr inside = atom.a, rest = 0;
      bool divides = true;
      for (const auto& other : form.terms()) {
        if (&other == &t) continue;
        const IntExpr term = IntExpr::of_term(other);
        if (!mentions_any(term, variables)) {
          rest = rest + term;
        } else if (other.coefficient % t.coefficient == 0) {
          inside = inside + IntExpr::of_term({other.coefficient / t.coefficient, other.atoms}) * atom.b;
        } else {
          divides = false;
        }
      }
      if (!divides || !mentions_any(atom.a, variables)) continue;
      const IntExpr bound = floordiv(rest, std::abs(t.coefficient));
      forms.push_back(t.coefficient > 0 ? inside + bound * atom.b : (bound + 1) * atom.b - 1 - inside);
      if (atom.b.constant()) scaled.push_back(form * atom.b + atom.b - 1);
      break;
    }
  }
  forms.insert(forms.end(), scaled.begin(), scaled.end());
  return forms;
}

bool same_atoms(const IntExpr::Term& x, const IntExpr::Term& y) {
  return std::equal(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                    [](const auto& a, const auto& b) { return a->key == b->key; });
}

// Multiples of e that can meet a fact, where the fact bounds a multiple of something in e: k * e +
// k - 1 >= 0 says e > -1.
void add_multiples(const IntExpr& e, const std::vector<IntExpr>& facts, std::vector<IntExpr>& into) {
  for (const IntExpr& fact : facts)
    for (const auto& f : fact.terms())
      for (const auto& t : e.terms()) {
        if (f.atoms.empty() || !same_atoms(f, t) || std::abs(t.coefficient) != 1) continue;
        const int64_t k = t.coefficient * f.coefficient;
        if (k <= 1 || k > INT32_MAX) continue;
        const IntExpr multiple = e * k + k - 1;
        if (std::find(into.begin(), into.end(), multiple) == into.end()) into.push_back(multiple);
      }
}

// Factors with which taking a fact away from e cancels one of its terms.
std::vector<IntExpr> factors(const IntExpr& e, const IntExpr& fact, const Ranges& ranges) {
  std::vector<IntExpr> found;
  for (const auto& f : fact.terms())
    for (const auto& t : e.terms()) {
      if (f.atoms.empty() || t.coefficient % f.coefficient != 0 || t.coefficient / f.coefficient < 0) continue;
      IntExpr::Term quotient{t.coefficient / f.coefficient, {}};
      size_t matched = 0;
      for (const auto& atom : t.atoms) {
        if (matched < f.atoms.size() && f.atoms[matched]->key == atom->key)
          ++matched;
        else
          quotient.atoms.push_back(atom);
      }
      const IntExpr factor = IntExpr::of_term(quotient);
      if (matched != f.atoms.size() || std::find(found.begin(), found.end(), factor) != found.end()) continue;
      if (proves_nonnegative(factor, ranges)) found.push_back(factor);
    }
  return found;
}

// e >= 0 when e minus some facts (each >= 0, taken some number of times) is.
bool follows(const IntExpr& e, const std::vector<IntExpr>& facts, const Ranges& ranges, int more, size_t& steps) {
  if (proves_nonnegative(e, ranges)) return true;
  if (more == 0) return false;
  // Facts that cancel something come first.
  for (const bool cancelling : {true, false})
    for (const IntExpr& fact : facts) {
      std::vector<IntExpr> takes = factors(e, fact, ranges);
      if (!cancelling)
        takes = std::find(takes.begin(), takes.end(), IntExpr(1)) == takes.end() ? std::vector<IntExpr>{1}
                                                                                 : std::vector<IntExpr>{};
      for (const IntExpr& factor : takes) {
        if (++steps > kMaxSteps) return false;
        if (follows(e - factor * fact, facts, ranges, more - 1, steps)) return true;
      }
    }
  return false;
}

}  // namespace

Facts::Facts(std::vector<std::pair<Symbol, IntExpr>> launch_sizes, Proved* proved)
    : launch_sizes_(std::move(launch_sizes)), proved_(proved) {
  for (const auto& [symbol, value] : launch_sizes_) text_ += symbol.str() + " = " + value.str() + "; ";
}

void Facts::changed(const std::string& by) {
  text_ += by;
  found_.reset();
}

Facts::Found& Facts::found() const {
  if (found_) return *found_;
  if (!proved_) return *(found_ = std::make_shared<Found>());
  auto& shared = proved_->by_facts_[text_];
  if (!shared) shared = std::make_shared<Found>();
  return *(found_ = shared);
}

void Facts::add_range(Symbol symbol, const IntExpr& extent) {
  variables_.emplace_back(symbol, extent);
  changed(symbol.str() + " < ");
  add(extent - 1);
}

void Facts::add(const IntExpr& e) {
  if (auto c = e.constant(); c && *c < 0) impossible_ = true;
  add_with_parts(e, facts_);
  changed(e.str() + "; ");
}

// proves_nonnegative takes every size for >= 1. One that may be 0 is written as another, less 1.
void Facts::Prepared::rewrite_sizes_of(const IntExpr& e) {
  for (const Symbol s : e.symbols())
    if (!variables.count(s) && !positive.count(s))
      sizes.try_emplace(s, IntExpr::symbol(Symbol::proof("0" + s.str())) - 1);
}

void Facts::Prepared::raise(Symbol size, int64_t at_least) {
  int64_t& known = least[size];
  if (at_least <= known) return;
  known = at_least;
  sizes.insert_or_assign(size, IntExpr::symbol(Symbol::proof("+" + size.str())) + (at_least - 1));
}

IntExpr Facts::Prepared::rewritten(const IntExpr& e) {
  const IntExpr replaced = replacements.empty() ? e : e.substitute(replacements, {});
  rewrite_sizes_of(replaced);
  return sizes.empty() ? replaced : replaced.substitute(sizes, {});
}

Facts::Prepared Facts::prepare(const Replacements& replacements, bool raised) const {
  Prepared p;
  p.replacements = replacements;
  p.positive = {kLaunchThreads};
  std::vector<IntExpr> replaced;
  for (const IntExpr& fact : facts_) {
    positive_sizes(fact, p.positive);
    if (!replacements.empty()) add_with_consequences(fact.substitute(replacements, {}), replaced);
  }
  for (const IntExpr& fact : replaced) positive_sizes(fact, p.positive);
  if (raised)
    for (const std::vector<IntExpr>* facts : {&facts_, static_cast<const std::vector<IntExpr>*>(&replaced)})
      for (const IntExpr& fact : *facts)
        if (const auto least = least_size(fact); least && least->second > 1 && least->second < INT32_MAX)
          p.raise(least->first, least->second);
  p.ranges = Ranges::inside_loops();  // rewrite_sizes_of says which may be 0
  for (const auto& [name, extent] : variables_) p.variables.insert(name);
  for (const auto& [name, extent] : variables_) p.ranges[name] = {0, p.rewritten(extent) - 1};
  for (const IntExpr& fact : facts_) add_with_consequences(p.rewritten(fact), p.facts);
  for (const IntExpr& fact : p.facts) narrow(fact, variables_, p.ranges);
  return p;
}

// For goals that follow from how large sizes are at least, as products of several do.
Facts::Prepared& Facts::raised() const {
  std::vector<Prepared>& raised = found().raised;
  if (raised.empty()) {
    Replacements replacements;
    for (size_t l = 0; l < launch_sizes_.size(); ++l)
      replacements[launch_sizes_[l].first] = launch_sizes_[l].second.substitute(replacements, {});
    raised.push_back(prepare(replacements, true));
  }
  return raised.front();
}

Facts::Prepared& Facts::prepared(size_t launch_sizes) const {
  std::vector<Prepared>& prepared = found().prepared;
  while (prepared.size() <= launch_sizes) {
    Replacements replacements;
    for (size_t l = launch_sizes_.size() - prepared.size(); l < launch_sizes_.size(); ++l)
      replacements[launch_sizes_[l].first] = launch_sizes_[l].second.substitute(replacements, {});
    prepared.push_back(prepare(replacements));
  }
  return prepared[launch_sizes];
}

bool Facts::proves(const IntExpr& e, int effort) const {
  if (auto c = e.constant(); impossible_ || c) return impossible_ || *c >= 0;
  auto& known = found().known;
  const std::pair goal{e.str(), effort};
  auto [it, fresh] = known.try_emplace(goal, false);
  if (!fresh) return it->second;
  try {
    const bool proved = search(e, effort) || (effort > 0 && proves_sides(e, effort));
    return known[goal] = proved;
  } catch (const UserError&) {
    return false;  // a number on the way did not fit 64 bits: no proof
  }
}

// rest + min(a, b) >= 0 where both sides are, rest - min(a, b) >= 0 where one is; of maxima the
// other way round.
bool Facts::proves_sides(const IntExpr& e, int effort) const {
  for (const auto& t : e.terms()) {
    if (t.atoms.size() != 1 || std::abs(t.coefficient) != 1) continue;
    const IntExpr::Atom& atom = *t.atoms[0];
    if (atom.kind != AtomKind::Min && atom.kind != AtomKind::Max) continue;
    const IntExpr rest = e - IntExpr::of_term(t);
    const bool first = proves(rest + atom.a * t.coefficient, effort);
    const bool both = (atom.kind == AtomKind::Min) == (t.coefficient > 0);
    if (both && !first) return false;
    if (!both && first) return true;
    if (proves(rest + atom.b * t.coefficient, effort)) return true;
    // One of them is at least their middle.
    return !both && proves((atom.a + atom.b) * t.coefficient + rest * 2 + 1, effort);
  }
  return false;
}

bool Facts::search(const IntExpr& e, int effort) const {
  for (const IntExpr& fact : facts_)
    if (auto c = (e - fact).constant(); c && *c >= 0) return true;
  std::vector<IntExpr> goals = effort == 0 ? std::vector<IntExpr>{e} : other_forms(e, variables_);
  if (effort > 1) add_multiples(e, facts_, goals);
  // How many launch sizes to replace, how many facts to use at once.
  const size_t most_replaced = effort == 0 ? 0 : launch_sizes_.size();
  for (size_t replaced = 0; replaced <= most_replaced; ++replaced) {
    Prepared& p = prepared(replaced);
    const int facts = effort == 1 ? (replaced == 0 ? 1 : 0) : std::max(0, effort - 1);
    for (const IntExpr& goal : goals) {
      size_t steps = 0;
      if (follows(p.rewritten(goal), p.facts, p.ranges, facts, steps)) return true;
    }
  }
  if (effort + 1 < kEfforts) return false;
  // Whatever the loops say: minima and maxima are not taken apart where an index was built by such
  // a proof.
  if (proves_nonnegative(e, {})) return true;
  size_t steps = 0;
  Prepared& p = raised();
  return follows(p.rewritten(e), p.facts, p.ranges, 1, steps);
}

bool Facts::proves(const IntExpr& e) const {
  for (int effort = 0; effort < kEfforts; ++effort)
    if (proves(e, effort)) return true;
  return false;
}

Facts facts_of(const Kernel& kernel, Proved* proved) {
  std::vector<std::pair<Symbol, IntExpr>> launch;
  for (const LaunchSize& l : kernel.launch_sizes)
    if (l.symbol.kind() != Symbol::Kind::Multiplier) launch.emplace_back(l.symbol, l.value);
  Facts facts(std::move(launch), proved);
  for (const IntExpr& e : kernel.assumptions) facts.add(e);
  for (const IndexLocal& local : kernel.index_locals) facts.add_range(Symbol::local(local.local), local.extent);
  return facts;
}

}  // namespace smelt::kernel
