// Integer expressions.
#include <algorithm>
#include <bit>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/is_natural.hpp"

namespace smelt::emit::c_like {

using Atom = IntExpr::Atom;
using Term = IntExpr::Term;

std::string PhasePrinter::atom(const Atom& a) {
  if (a.symbol) {
    if (a.symbol->is_local()) return fmt::format("({}){}", index_type(), read_local(a.symbol->local_id()));
    if (vector_.loop && a.symbol == vector_.loop->var) return vector_.grouped ? "i0" : "i";
    const auto found = symbols_.find(*a.symbol);
    SMELT_CHECK(found != symbols_.end(), "the size {} is no parameter of the kernel", *a.symbol);
    return found->second;
  }
  if (const std::string known = own_place(a); !known.empty()) return known;
  if (const std::string known = place_in_group(a); !known.empty()) return known;
  const std::string x = integer(a.a), y = integer(a.b);
  const std::string type = index_type();
  switch (a.kind) {
    case AtomKind::Min: return helper(as_, used_, "smaller", type, x, y);
    case AtomKind::Max: return helper(as_, used_, "larger", type, x, y);
    case AtomKind::FloorDiv:
    case AtomKind::Mod: {
      const bool quotient = a.kind == AtomKind::FloorDiv;
      const bool natural_number = is_natural(phase_, a.a);
      if (natural_number && !function_.wide && !a.b.constant())
        if (const auto m = multipliers_.find(kernel::multiplier_of(a.b).str()); m != multipliers_.end())
          return quotient ? fmt::format("{}({}, {})", used_("int_quotient"), x, m->second)
                          : fmt::format("{}({}, {}, {})", used_("int_remainder"), x, y, m->second);
      if (natural_number) return natural_division(quotient, x, y);
      return helper(as_, used_, quotient ? "floor_div" : "floor_mod", type, x, y);
    }
    case AtomKind::Symbol: break;
  }
  return "";
}

// Unsigned division by a constant is a multiplication and a shift.
std::string PhasePrinter::natural_division(bool quotient, const std::string& x, const std::string& y) const {
  const std::string natural = function_.wide ? std::string(as_.wide_unsigned) : "unsigned";
  return fmt::format("({0})(({1}){2} {3} ({1}){4})", index_type(), natural, x, quotient ? "/" : "%", y);
}

// The row and the column of the element at hand, from those of the thread.
std::string PhasePrinter::own_place(const Atom& a) const {
  const bool quotient = a.kind == AtomKind::FloorDiv;
  if (!vector_.columns || vector_.edge || !(quotient || a.kind == AtomKind::Mod)) return "";
  if (a.a != IntExpr::symbol(vector_.loop->var) || a.b != IntExpr(vector_.columns)) return "";
  if (quotient) return vector_.unroll == 1 ? "first_row" : fmt::format("(first_row + u * {})", vector_.rows);
  return vector_.grouped || vector_.lanes == 1 ? "own_column" : "(own_column + l)";
}

// The quotient or remainder of an element by a number that the lanes of a group divide, or that
// divides them: from those of lane 0, which all lanes share, and of the lane, which are constants.
// By larger powers of two the compiler finds them, and compares them for all lanes at once.
std::string PhasePrinter::place_in_group(const Atom& a) const {
  const bool quotient = a.kind == AtomKind::FloorDiv;
  if (!(quotient || a.kind == AtomKind::Mod) || !vector_.loop || a.a != IntExpr::symbol(vector_.loop->var)) return "";
  const auto by = a.b.constant();
  const int64_t lanes = vector_.lanes;
  if (vector_.grouped || vector_.edge || lanes == 1 || !vector_.origin.is(0) || !by || *by <= 0) return "";
  const bool many = *by % lanes == 0 && !std::has_single_bit(static_cast<uint64_t>(*by));
  if (lanes % *by != 0 && !many) return "";
  const auto of = [&](const char* place) { return natural_division(quotient, place, std::to_string(*by)); };
  if (many) return quotient ? of("i0") : fmt::format("({} + l)", of("i0"));
  return quotient ? fmt::format("({} + {})", of("i0"), of("l")) : of("l");
}

std::string PhasePrinter::integer(const IntExpr& e) {
  const std::string suffix(function_.wide ? as_.wide_suffix : "");
  std::string text;
  for (const Term& term : e.terms()) {
    int64_t c = term.coefficient;
    const bool minus = c < 0 && c != INT64_MIN;
    if (minus) c = -c;
    std::string part;
    for (const IntExpr::AtomPtr& a : term.atoms) part += (part.empty() ? "" : " * ") + atom(*a);
    if (part.empty())
      part = std::to_string(c) + suffix;
    else if (c != 1)
      part += " * " + std::to_string(c) + suffix;
    text += text.empty() ? (minus ? "-" : "") + part : (minus ? " - " : " + ") + part;
  }
  if (text.empty()) return "0";
  const bool simple = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  return simple ? text : "(" + text + ")";
}

}  // namespace smelt::emit::c_like
