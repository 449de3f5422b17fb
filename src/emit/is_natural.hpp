// Quotients and remainders that need no rounding down.
#pragma once

#include <algorithm>

#include "kernel/kernel.hpp"

namespace smelt::emit {

// Whether a numerator is known to be at least 0. A pass says so of what the phase computes;
// printers themselves divide sums of sizes, where they lay out scratch.
inline bool is_natural(const kernel::Phase& phase, const IntExpr& numerator) {
  const auto of_sizes = [](const IntExpr::Term& term) {
    return term.coefficient > 0 && std::all_of(term.atoms.begin(), term.atoms.end(), [](const IntExpr::AtomPtr& a) {
             return a->symbol && (a->symbol->is_size() || a->symbol->kind() == Symbol::Kind::Launch);
           });
  };
  return phase.naturals.count(numerator) > 0 ||
         std::all_of(numerator.terms().begin(), numerator.terms().end(), of_sizes);
}

}  // namespace smelt::emit
