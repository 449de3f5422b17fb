#include "base/int_expr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/check.hpp"

namespace smelt {

using Atoms = std::vector<IntExpr::AtomPtr>;

static int compare(const Atoms& a, const Atoms& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] != b[i])
      if (int order = a[i]->key.compare(b[i]->key)) return order;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

// Sizes multiply in user programs, so coefficients can overflow; that is the user's error, not
// undefined behaviour.
[[noreturn]] static void throw_too_large(int64_t a, char operation, int64_t b) {
  throw UserError(fmt::format("a size does not fit 64 bits: {} {} {}", a, operation, b));
}

static int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) throw_too_large(a, '+', b);
  return r;
}

static int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw_too_large(a, '*', b);
  return r;
}

// A sum or product in parentheses, for use inside // and %.
static std::string wrapped(const IntExpr& e) {
  const bool simple = e.constant() || e.as_symbol();
  return simple ? e.str() : "(" + e.str() + ")";
}

struct IntExprBuilder {
  static IntExpr from(std::vector<IntExpr::Term> terms) {
    std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return compare(a.atoms, b.atoms) < 0; });
    IntExpr e;
    for (auto& t : terms) {
      if (!e.terms_.empty() && compare(e.terms_.back().atoms, t.atoms) == 0)
        e.terms_.back().coefficient = checked_add(e.terms_.back().coefficient, t.coefficient);
      else
        e.terms_.push_back(std::move(t));
      if (e.terms_.back().coefficient == 0) e.terms_.pop_back();
    }
    return e;
  }
  // a + sign * b. Both are in order already, so that no sorting is needed.
  static IntExpr merged(const IntExpr& a, const IntExpr& b, int64_t sign) {
    IntExpr e;
    e.terms_.reserve(a.terms_.size() + b.terms_.size());
    auto x = a.terms_.begin();
    auto y = b.terms_.begin();
    while (x != a.terms_.end() || y != b.terms_.end()) {
      const int order = x == a.terms_.end() ? 1 : y == b.terms_.end() ? -1 : compare(x->atoms, y->atoms);
      if (order < 0) {
        e.terms_.push_back(*x++);
        continue;
      }
      const int64_t second = checked_mul(y->coefficient, sign);
      const int64_t sum = order == 0 ? checked_add(x++->coefficient, second) : second;
      if (sum != 0) e.terms_.push_back({sum, y->atoms});
      ++y;
    }
    return e;
  }
  static IntExpr of_atom(AtomKind kind, IntExpr a, IntExpr b, std::optional<Symbol> symbol = {}) {
    auto atom = std::make_shared<IntExpr::Atom>();
    atom->kind = kind;
    switch (kind) {
      case AtomKind::Symbol: atom->key = symbol->str(); break;
      case AtomKind::FloorDiv: atom->key = fmt::format("({} // {})", wrapped(a), wrapped(b)); break;
      case AtomKind::Mod: atom->key = fmt::format("({} % {})", wrapped(a), wrapped(b)); break;
      case AtomKind::Min: atom->key = fmt::format("min({}, {})", a.str(), b.str()); break;
      case AtomKind::Max: atom->key = fmt::format("max({}, {})", a.str(), b.str()); break;
    }
    atom->symbol = symbol;
    atom->a = std::move(a);
    atom->b = std::move(b);
    return from({{1, {std::move(atom)}}});
  }
};

IntExpr IntExpr::of_terms(std::vector<Term> terms) { return IntExprBuilder::from(std::move(terms)); }

IntExpr IntExpr::of_term(Term term) { return IntExprBuilder::from({std::move(term)}); }

IntExpr::IntExpr(int64_t constant) {
  if (constant) terms_.push_back({constant, {}});
}

IntExpr IntExpr::symbol(Symbol symbol) { return IntExprBuilder::of_atom(AtomKind::Symbol, {}, {}, symbol); }

IntExpr operator+(const IntExpr& a, const IntExpr& b) {
  if (a.terms_.empty()) return b;
  if (b.terms_.empty()) return a;
  return IntExprBuilder::merged(a, b, 1);
}

IntExpr operator*(const IntExpr& a, const IntExpr& b) {
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  std::vector<IntExpr::Term> terms;
  for (const auto& s : a.terms_)
    for (const auto& t : b.terms_) {
      IntExpr::Term product{checked_mul(s.coefficient, t.coefficient), s.atoms};
      product.atoms.insert(product.atoms.end(), t.atoms.begin(), t.atoms.end());
      std::sort(product.atoms.begin(), product.atoms.end(),
                [](const auto& x, const auto& y) { return x->key < y->key; });
      terms.push_back(std::move(product));
    }
  return IntExprBuilder::from(std::move(terms));
}

IntExpr operator-(const IntExpr& a, const IntExpr& b) { return IntExprBuilder::merged(a, b, -1); }

bool operator==(const IntExpr& a, const IntExpr& b) {
  if (a.terms_.size() != b.terms_.size()) return false;
  for (size_t i = 0; i < a.terms_.size(); ++i)
    if (a.terms_[i].coefficient != b.terms_[i].coefficient || compare(a.terms_[i].atoms, b.terms_[i].atoms) != 0)
      return false;
  return true;
}

bool operator<(const IntExpr& a, const IntExpr& b) {
  for (size_t i = 0; i < a.terms_.size() && i < b.terms_.size(); ++i) {
    if (int order = compare(a.terms_[i].atoms, b.terms_[i].atoms)) return order < 0;
    if (a.terms_[i].coefficient != b.terms_[i].coefficient) return a.terms_[i].coefficient < b.terms_[i].coefficient;
  }
  return a.terms_.size() < b.terms_.size();
}

std::optional<int64_t> IntExpr::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_[0].atoms.empty()) return terms_[0].coefficient;
  return std::nullopt;
}

std::optional<Symbol> IntExpr::as_symbol() const {
  if (terms_.size() != 1 || terms_[0].coefficient != 1 || terms_[0].atoms.size() != 1) return std::nullopt;
  return terms_[0].atoms[0]->symbol;
}

std::string IntExpr::str() const {
  if (terms_.empty()) return "0";
  std::string text;
  auto append = [&](const Term& t) {
    int64_t c = t.coefficient;
    if (!text.empty())
      text += c < 0 ? " - " : " + ";
    else if (c < 0)
      text += "-";
    const uint64_t magnitude = c < 0 ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    if (t.atoms.empty() || magnitude != 1) text += fmt::format("{}{}", magnitude, t.atoms.empty() ? "" : "*");
    for (size_t i = 0; i < t.atoms.size(); ++i) text += (i ? "*" : "") + t.atoms[i]->key;
  };
  for (const Term& t : terms_)
    if (!t.atoms.empty()) append(t);
  for (const Term& t : terms_)
    if (t.atoms.empty()) append(t);  // the constant last, as people write it
  return text;
}

bool IntExpr::mentions(Symbol symbol) const {
  return any_symbol([&](Symbol s) { return s == symbol; });
}

std::vector<Symbol> IntExpr::symbols() const {
  std::vector<Symbol> found;
  collect_symbols(found);
  return found;
}

void IntExpr::collect_symbols(std::vector<Symbol>& into) const {
  for (const Term& t : terms_)
    for (const AtomPtr& atom : t.atoms) {
      if (!atom->symbol) {
        atom->a.collect_symbols(into);
        atom->b.collect_symbols(into);
      } else if (std::find(into.begin(), into.end(), *atom->symbol) == into.end()) {
        into.push_back(*atom->symbol);
      }
    }
}

std::optional<IntExpr> IntExpr::coefficient_of(Symbol symbol) const {
  IntExpr coefficient;
  for (const Term& t : terms_) {
    Term rest{t.coefficient, {}};
    int found = 0;
    for (const AtomPtr& atom : t.atoms) {
      if (atom->symbol == symbol) {
        ++found;
      } else {
        if (atom->a.mentions(symbol) || atom->b.mentions(symbol)) return std::nullopt;
        rest.atoms.push_back(atom);
      }
    }
    if (found > 1) return std::nullopt;
    if (found) coefficient = coefficient + IntExpr::of_term(std::move(rest));
  }
  return coefficient;
}

IntExpr IntExpr::substitute(const std::map<Symbol, IntExpr>& replacements, const Ranges& ranges) const {
  IntExpr result;
  for (const Term& t : terms_) {
    IntExpr product = t.coefficient;
    for (const AtomPtr& atom : t.atoms) {
      if (atom->symbol) {
        auto it = replacements.find(*atom->symbol);
        product = product * (it != replacements.end() ? it->second : IntExpr::of_term({1, {atom}}));
        continue;
      }
      IntExpr a = atom->a.substitute(replacements, ranges), b = atom->b.substitute(replacements, ranges);
      switch (atom->kind) {
        case AtomKind::Symbol: break;
        case AtomKind::FloorDiv: product = product * floordiv(a, b, ranges); break;
        case AtomKind::Mod: product = product * mod(a, b, ranges); break;
        case AtomKind::Min: product = product * min(a, b, ranges); break;
        case AtomKind::Max: product = product * max(a, b, ranges); break;
      }
    }
    result = result + product;
  }
  return recombine(result);
}

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;  // only an empty array divides by its size, and then nothing is read
  if (b == -1) return checked_mul(a, -1);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t IntExpr::evaluate(const std::map<Symbol, int64_t>& values) const {
  int64_t sum = 0;
  for (const Term& t : terms_) {
    int64_t product = t.coefficient;
    for (const AtomPtr& atom : t.atoms) {
      int64_t value = 0;
      if (atom->symbol) {
        const auto known = values.find(*atom->symbol);
        SMELT_CHECK(known != values.end(), "size {} has no value", *atom->symbol);
        value = known->second;
      } else {
        const int64_t a = atom->a.evaluate(values), b = atom->b.evaluate(values);
        switch (atom->kind) {
          case AtomKind::Symbol: break;
          case AtomKind::FloorDiv: value = floor_quotient(a, b); break;
          case AtomKind::Mod: value = b == 0 ? 0 : a - b * floor_quotient(a, b); break;
          case AtomKind::Min: value = std::min(a, b); break;
          case AtomKind::Max: value = std::max(a, b); break;
        }
      }
      product = checked_mul(product, value);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

// The atoms of t without those of the divisor; nothing when the divisor has one that t has not.
static std::optional<Atoms> atoms_without(const Atoms& atoms, const Atoms& divisor) {
  if (divisor.size() > atoms.size()) return std::nullopt;
  size_t matched = 0;
  for (size_t i = 0; i < atoms.size() && matched < divisor.size(); ++i)
    if (divisor[matched] == atoms[i] || divisor[matched]->key == atoms[i]->key) ++matched;
  if (matched != divisor.size()) return std::nullopt;
  Atoms rest;
  rest.reserve(atoms.size() - matched);
  matched = 0;
  for (const auto& atom : atoms) {
    if (matched < divisor.size() && (divisor[matched] == atom || divisor[matched]->key == atom->key))
      ++matched;
    else
      rest.push_back(atom);
  }
  return rest;
}

// By one term: whole multiples come out; of a constant also the part that is one (7 = 1*4 + 3).
static Division divide_by_term(const IntExpr& a, const IntExpr& b) {
  const auto& divisor = b.terms()[0];
  if (divisor.coefficient <= 0) return {0, a};
  std::vector<IntExpr::Term> pieces;
  for (const auto& t : a.terms()) {
    auto rest = atoms_without(t.atoms, divisor.atoms);
    if (!rest) continue;
    const int64_t times = floor_quotient(t.coefficient, divisor.coefficient);
    if (times * divisor.coefficient != t.coefficient && !t.atoms.empty()) continue;
    if (times == 0) continue;
    pieces.push_back({times, std::move(*rest)});
  }
  if (pieces.empty()) return {0, a};
  const IntExpr quotient = IntExpr::of_terms(std::move(pieces));
  return {quotient, a - quotient * b};
}

// By a sum, with one of its terms as the leading one: what that term divides comes out, as long as
// there is such a term.
static Division divide_by_sum(const IntExpr& a, const IntExpr& b, const IntExpr::Term& lead) {
  constexpr int kMaxSteps = 8;  // the rest of the divisor may bring the leading term back, without end
  Division d{0, a};
  for (int step = 0; step < kMaxSteps; ++step) {
    IntExpr piece;
    for (const auto& t : d.remainder.terms()) {
      auto rest = atoms_without(t.atoms, lead.atoms);
      if (!rest || t.coefficient % lead.coefficient != 0) continue;
      piece = IntExpr::of_term({t.coefficient / lead.coefficient, std::move(*rest)});
      break;
    }
    if (piece.is(0)) break;
    d.quotient = d.quotient + piece;
    d.remainder = d.remainder - piece * b;
  }
  return d;
}

Division divide_terms(const IntExpr& a, const IntExpr& b) {
  if (a == b) return {1, 0};
  if (b.terms().size() == 1) return divide_by_term(a, b);
  // A product of sums has 2^n terms, of which those with the most factors lead.
  constexpr size_t kFewTerms = 8;
  size_t least_factors = 1;
  if (b.terms().size() > kFewTerms)
    for (const auto& t : b.terms()) least_factors = std::max(least_factors, t.atoms.size());
  Division best{0, a};
  for (const auto& lead : b.terms()) {
    if (lead.atoms.size() < least_factors) continue;
    Division d = divide_by_sum(a, b, lead);
    if (d.remainder.terms().size() < best.remainder.terms().size()) best = std::move(d);
    if (best.remainder.is(0)) break;
  }
  return best;
}

// By a number, where what comes out of every term is the nearest multiple: of (4 j + 4) // 5 that
// is j, and 4 - j remains. Nothing when the remainder is not proved to lie within 0 .. b - 1.
static std::optional<Division> divide_nearest(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  const auto divisor = b.constant();
  if (!divisor || *divisor < 2) return std::nullopt;
  std::vector<IntExpr::Term> pieces;
  bool within = false;  // a term is no multiple, yet has one in it
  for (const auto& t : a.terms()) {
    const int64_t below = floor_quotient(t.coefficient, *divisor), rest = t.coefficient - below * *divisor;
    const int64_t nearest = t.atoms.empty() || rest <= *divisor / 2 ? below : below + 1;
    within = within || (nearest != 0 && rest != 0 && !t.atoms.empty());
    if (nearest != 0) pieces.push_back({nearest, t.atoms});
  }
  if (!within) return std::nullopt;
  const IntExpr quotient = IntExpr::of_terms(std::move(pieces));
  const Division d{quotient, a - quotient * b};
  if (!proves_nonnegative(d.remainder, ranges) || !proves_nonnegative(b - 1 - d.remainder, ranges)) return std::nullopt;
  return d;
}

// a = step * high + low with low within 0 .. step - 1, and b a multiple of step: then a // b is
// high // (b // step), as of 64 k + i by 128 with i below 64, or of 2 k + 1 by 16.
struct Steps {
  IntExpr high, low;
  int64_t step = 1;
};
static std::optional<Steps> divide_in_steps(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  const auto divisor = b.constant();
  if (!divisor || *divisor < 4) return std::nullopt;
  std::set<int64_t, std::greater<>> steps;
  for (const auto& t : a.terms())
    if (!t.atoms.empty()) steps.insert(std::gcd(t.coefficient, *divisor));
  for (const int64_t step : steps) {
    if (step < 2) break;
    std::vector<IntExpr::Term> high, low;
    for (const auto& t : a.terms()) {
      const int64_t rest = t.atoms.empty()             ? t.coefficient - floor_quotient(t.coefficient, step) * step
                           : t.coefficient % step == 0 ? 0
                                                       : t.coefficient;
      if (rest != 0) low.push_back({rest, t.atoms});
      if (rest != t.coefficient) high.push_back({(t.coefficient - rest) / step, t.atoms});
    }
    Steps found{IntExpr::of_terms(std::move(high)), IntExpr::of_terms(std::move(low)), step};
    if (proves_nonnegative(found.low, ranges) && proves_nonnegative(step - 1 - found.low, ranges)) return found;
  }
  return std::nullopt;
}

IntExpr floordiv(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  if (b.is(1)) return a;
  if (auto x = a.constant(), y = b.constant(); x && y) return floor_quotient(*x, *y);
  const auto [quotient, remainder] = divide_terms(a, b);
  if (remainder.is(0)) return quotient;
  if (proves_nonnegative(remainder, ranges) && proves_nonnegative(b - 1 - remainder, ranges)) return quotient;
  if (proves_nonnegative(-remainder - 1, ranges) && proves_nonnegative(remainder + b, ranges)) return quotient - 1;
  if (const auto near = divide_nearest(a, b, ranges)) return near->quotient;
  if (const auto steps = divide_in_steps(remainder, b, ranges))
    return quotient + floordiv(steps->high, *b.constant() / steps->step, ranges);
  return quotient + IntExprBuilder::of_atom(AtomKind::FloorDiv, remainder, b);
}

IntExpr mod(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  if (b.is(1)) return 0;
  if (auto x = a.constant(), y = b.constant(); x && y) return *y ? *x - *y * floor_quotient(*x, *y) : 0;
  const auto [quotient, remainder] = divide_terms(a, b);
  if (remainder.is(0)) return 0;
  if (proves_nonnegative(remainder, ranges) && proves_nonnegative(b - 1 - remainder, ranges)) return remainder;
  if (proves_nonnegative(-remainder - 1, ranges) && proves_nonnegative(remainder + b, ranges)) return remainder + b;
  if (const auto near = divide_nearest(a, b, ranges)) return near->remainder;
  if (const auto steps = divide_in_steps(remainder, b, ranges))
    return steps->step * mod(steps->high, *b.constant() / steps->step, ranges) + steps->low;
  return IntExprBuilder::of_atom(AtomKind::Mod, remainder, b);
}

// What a nested minimum or maximum is of.
static void collect_sides(AtomKind kind, const IntExpr& e, std::vector<IntExpr>& sides) {
  const auto& terms = e.terms();
  const bool one = terms.size() == 1 && terms[0].coefficient == 1 && terms[0].atoms.size() == 1;
  if (!one || terms[0].atoms[0]->kind != kind) return sides.push_back(e);
  collect_sides(kind, terms[0].atoms[0]->a, sides);
  collect_sides(kind, terms[0].atoms[0]->b, sides);
}

// Those of both without the ones that another bounds by a constant: of the starts of many pieces
// that follow one another the first is left. Nothing when all are needed.
static std::optional<std::vector<IntExpr>> fewer_sides(AtomKind kind, const IntExpr& a, const IntExpr& b) {
  std::vector<IntExpr> sides, left;
  collect_sides(kind, a, sides);
  collect_sides(kind, b, sides);
  if (sides.size() < 3) return std::nullopt;
  for (IntExpr& side : sides) {
    const auto is_bounded_by = [&](const IntExpr& by, const IntExpr& bounded) {
      const auto difference = (kind == AtomKind::Min ? bounded - by : by - bounded).constant();
      return difference && *difference >= 0;
    };
    if (std::any_of(left.begin(), left.end(), [&](const IntExpr& l) { return is_bounded_by(l, side); })) continue;
    std::erase_if(left, [&](const IntExpr& l) { return is_bounded_by(side, l); });
    left.push_back(std::move(side));
  }
  if (left.size() == sides.size()) return std::nullopt;
  return left;
}

IntExpr min(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  if (const auto sides = fewer_sides(AtomKind::Min, a, b))
    return std::accumulate(sides->begin() + 1, sides->end(), sides->front(),
                           [&](const IntExpr& x, const IntExpr& y) { return min(x, y, ranges); });
  if (proves_le(a, b, ranges)) return a;
  if (proves_le(b, a, ranges)) return b;
  return a < b ? IntExprBuilder::of_atom(AtomKind::Min, a, b) : IntExprBuilder::of_atom(AtomKind::Min, b, a);
}

IntExpr max(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  if (const auto sides = fewer_sides(AtomKind::Max, a, b))
    return std::accumulate(sides->begin() + 1, sides->end(), sides->front(),
                           [&](const IntExpr& x, const IntExpr& y) { return max(x, y, ranges); });
  if (proves_le(a, b, ranges)) return b;
  if (proves_le(b, a, ranges)) return a;
  return a < b ? IntExprBuilder::of_atom(AtomKind::Max, a, b) : IntExprBuilder::of_atom(AtomKind::Max, b, a);
}

IntExpr ceildiv(const IntExpr& a, const IntExpr& b, const Ranges& ranges) { return floordiv(a + b - 1, b, ranges); }

IntExpr recombine(const IntExpr& e) {
  for (const auto& t : e.terms())
    for (size_t i = 0; i < t.atoms.size(); ++i) {
      const IntExpr::Atom& atom = *t.atoms[i];
      if (atom.kind != AtomKind::Mod) continue;
      // rest * mod(a, b) meets rest * b * floordiv(a, b)?
      IntExpr::Term rest_term{t.coefficient, t.atoms};
      rest_term.atoms.erase(rest_term.atoms.begin() + static_cast<long>(i));
      const IntExpr rest = IntExpr::of_term(rest_term);
      const IntExpr quotient = IntExprBuilder::of_atom(AtomKind::FloorDiv, atom.a, atom.b);
      const IntExpr partner = rest * atom.b * quotient;
      IntExpr without = e - partner - IntExpr::of_term(t);
      if (without.terms().size() + partner.terms().size() + 1 == e.terms().size())
        return recombine(without + rest * atom.a);
    }
  return e;
}

}  // namespace smelt
