// Integer expressions over named symbols: sizes ("B"), and loop variables ("%i0", always with a percent sign,
// so that they never meet a user's name). Kept as a polynomial over atoms, so that equal expressions are
// equal values:
//
//   IntExpr := sum of  coefficient * atom * atom * ...
//   Atom    := symbol | floordiv(IntExpr, IntExpr) | mod(IntExpr, IntExpr) | min(IntExpr, IntExpr) |
//   max(IntExpr, IntExpr)
//
// floordiv and mod are those of Python: the quotient rounds down, the remainder has the divisor's sign.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smelt {

class IntExpr;

// What is known of symbols: low <= symbol <= high. A symbol that is not in the table is a size: >= 0 when the
// table is empty (outside of loops), >= 1 when it is not (inside loops that run at least once).
struct Interval;
using Ranges = std::map<std::string, Interval>;

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
  static IntExpr symbol(std::string name);
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
  std::optional<std::string> as_symbol() const;  // its name, when it is one symbol and nothing else
  const std::vector<Term>& terms() const { return terms_; }
  std::string str() const;

  bool mentions(const std::string& symbol) const;
  void collect_symbols(std::vector<std::string>& into) const;  // each once, in order of first appearance
  // The coefficient of `symbol` when the expression is linear in it (and it stands in no floordiv, mod, min
  // or max).
  std::optional<IntExpr> coefficient_of(const std::string& symbol) const;
  IntExpr substitute(const std::map<std::string, IntExpr>& replacements, const Ranges& ranges) const;

  // Its value with numbers for the symbols. Throws UserError when the result does not fit 64 bits,
  // InternalError when a symbol is unknown.
  int64_t evaluate(const std::function<int64_t(const std::string&)>& value_of) const;
  int64_t evaluate(const std::map<std::string, int64_t>& values) const;

 private:
  friend struct IntExprBuilder;
  std::vector<Term> terms_;  // sorted by their atoms, no zero coefficients
};

struct Interval {
  IntExpr low, high;  // both ends included
};

// A node that is no polynomial.
enum class AtomKind : uint8_t { Symbol, FloorDiv, Mod, Min, Max };
struct IntExpr::Atom {
  AtomKind kind;
  std::string name;  // of a symbol
  IntExpr a, b;      // of the others
  std::string key;   // canonical text: equal keys mean equal atoms
};

// a = quotient * b + remainder, by taking out the terms that b divides; the remainder may be anything.
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
