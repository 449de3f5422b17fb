// Integer expressions over symbols (symbol.hpp). No two symbols of a program or kernel print alike.
// Kept as a polynomial over atoms, so that equal expressions are equal values:
//
//   IntExpr := sum of  coefficient * atom * atom * ...
//   Atom    := symbol | floordiv(IntExpr, IntExpr) | mod(IntExpr, IntExpr) | min(IntExpr, IntExpr) |
//   max(IntExpr, IntExpr)
//
// floordiv and mod are those of Python: the quotient rounds down, the remainder has the divisor's
// sign.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/symbol.hpp"

namespace smelt {

class Ranges;

// Rounded down; 0 where b is.
int64_t floor_quotient(int64_t a, int64_t b);
inline int64_t floor_remainder(int64_t a, int64_t b) { return a - floor_quotient(a, b) * b; }

class IntExpr {
 public:
  struct Atom;
  using AtomPtr = std::shared_ptr<const Atom>;
  struct Term {
    int64_t coefficient;
    std::vector<AtomPtr> atoms;  // sorted by key, empty for the constant term
  };

  IntExpr() = default;
  IntExpr(int64_t constant);  // NOLINT: sizes are written as plain numbers everywhere
  static IntExpr symbol(Symbol symbol);
  static IntExpr of_term(Term term);
  static IntExpr of_terms(std::vector<Term> terms);  // their sum

  friend IntExpr operator+(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator-(const IntExpr& a, const IntExpr& b);
  friend IntExpr operator*(const IntExpr& a, const IntExpr& b);
  IntExpr operator-() const { return IntExpr(0) - *this; }
  friend bool operator==(const IntExpr& a, const IntExpr& b);
  friend bool operator<(const IntExpr& a, const IntExpr& b);  // some total order, for maps

  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == value; }
  std::optional<Symbol> as_symbol() const;  // when it is one symbol and nothing else
  const std::vector<Term>& terms() const { return terms_; }
  std::string str() const;

  bool mentions(Symbol symbol) const;
  template <class Condition>
  bool any_symbol(const Condition& meets) const;
  std::vector<Symbol> symbols() const;                    // each once, in order of first appearance
  void collect_symbols(std::vector<Symbol>& into) const;  // those that are not there yet
  // The coefficient of `symbol` when the expression is linear in it (and it is in no floordiv, mod,
  // min or max).
  std::optional<IntExpr> coefficient_of(Symbol symbol) const;
  IntExpr substitute(const std::map<Symbol, IntExpr>& replacements, const Ranges& ranges) const;

  // Its value with numbers for the symbols. Throws UserError when the result does not fit 64 bits,
  // InternalError when a symbol has none.
  int64_t evaluate(const std::map<Symbol, int64_t>& values) const;

 private:
  friend struct IntExprBuilder;
  std::vector<Term> terms_;  // sorted by their atoms, no zero coefficients
};

struct Interval {
  IntExpr low, high;  // both ends included
};

// What is known of symbols: low <= symbol <= high. Without a range, a size may be 0 outside of
// loops, and is at least 1 inside loops, because they run at least once; a loop's variable may be 0
// anywhere. Giving a symbol a range means being inside a loop.
class Ranges {
 public:
  using Map = std::map<Symbol, Interval>;
  Ranges() = default;  // outside of loops
  Ranges(std::initializer_list<Map::value_type> known) : known_(known), sizes_may_be_0_(known.size() == 0) {}
  static Ranges inside_loops() {
    Ranges made;
    made.sizes_may_be_0_ = false;
    return made;
  }

  bool sizes_may_be_0() const { return sizes_may_be_0_; }
  bool has(Symbol symbol) const { return known_.count(symbol) > 0; }
  Interval& at(Symbol symbol) { return known_.at(symbol); }
  const Interval& at(Symbol symbol) const { return known_.at(symbol); }
  Interval& operator[](Symbol symbol) { return sizes_may_be_0_ = false, known_[symbol]; }
  void add(Symbol symbol, Interval range) {  // if it has none
    if (!has(symbol)) (*this)[symbol] = std::move(range);
  }
  void erase(Symbol symbol) { known_.erase(symbol); }
  size_t size() const { return known_.size(); }

 private:
  Map known_;
  bool sizes_may_be_0_ = true;
};

// A node that is no polynomial.
enum class AtomKind : uint8_t { Symbol, FloorDiv, Mod, Min, Max };
struct IntExpr::Atom {
  AtomKind kind;
  std::optional<Symbol> symbol;  // of AtomKind::Symbol
  IntExpr a, b;                  // of the others
  std::string key;               // canonical text: equal keys mean equal atoms
};

template <class Condition>
bool IntExpr::any_symbol(const Condition& meets) const {
  for (const Term& t : terms_)
    for (const AtomPtr& atom : t.atoms)
      if (atom->symbol ? meets(*atom->symbol) : atom->a.any_symbol(meets) || atom->b.any_symbol(meets)) return true;
  return false;
}

// a = quotient * b + remainder, by taking out the terms that b divides; the remainder may be
// anything.
struct Division {
  IntExpr quotient, remainder;
};
Division divide_terms(const IntExpr& a, const IntExpr& b);

// Constructors that simplify as far as the ranges allow. The divisor must be known to be positive.
IntExpr floordiv(const IntExpr& a, const IntExpr& b, const Ranges& ranges = {});
IntExpr mod(const IntExpr& a, const IntExpr& b, const Ranges& ranges = {});
IntExpr min(const IntExpr& a, const IntExpr& b, const Ranges& ranges = {});
IntExpr max(const IntExpr& a, const IntExpr& b, const Ranges& ranges = {});
IntExpr ceildiv(const IntExpr& a, const IntExpr& b, const Ranges& ranges = {});

// True when e >= 0 for every value of the symbols inside their ranges; false means "not proved".
bool proves_nonnegative(const IntExpr& e, const Ranges& ranges);
inline bool proves_le(const IntExpr& a, const IntExpr& b, const Ranges& ranges) {
  return proves_nonnegative(b - a, ranges);
}

// b*floordiv(a,b) + mod(a,b) becomes a.
IntExpr recombine(const IntExpr& e);

}  // namespace smelt
