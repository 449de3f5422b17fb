// Comparisons of indices: where they hold.
#pragma once

#include <optional>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// An i64 as an index, if it is one.
std::optional<IntExpr> index_of(const Kernel& kernel, ExprId id);

// The index that a local names, if it names one; and whether a symbol is one of these.
const IndexLocal* index_named_by(const Kernel& kernel, LocalId local);
bool is_named_index(const Kernel& kernel, Symbol symbol);

// What is at least 0 where this comparison of two indices holds, and nowhere else; nothing for ==,
// != and other operations.
std::optional<IntExpr> holds_where(const Kernel& kernel, const Apply& e);

// A new expression of the kernel: whether an index is below another one.
ExprId is_below(Kernel& kernel, const IntExpr& index, const IntExpr& extent);

// What is at least 0 where h is, without a quotient by a positive constant: x // c + k >= 0 says of
// x what x + c k >= 0 says, and k - x // c >= 0 what c k + c - 1 - x >= 0 says.
IntExpr undivided(const IntExpr& h);

// What is known of the sizes and strides that a kernel is given, inside of its loops or not.
Ranges ranges_of_sizes(const Kernel& kernel);

// Adds 0 <= symbol < extent; a symbol that has a range already gets the wider one.
void widen(Ranges& ranges, Symbol symbol, const IntExpr& extent);

// What is known of symbols at a place of a kernel that is being walked: of sizes, and of the loops
// and named indices around.
class SymbolsAround {
 public:
  explicit SymbolsAround(const Kernel& kernel) : kernel_(kernel), ranges_(ranges_of_sizes(kernel)) {}
  SymbolsAround(const SymbolsAround&) = delete;
  const Ranges& ranges() const { return ranges_; }
  void enter(Symbol symbol, const IntExpr& extent);
  void enter(const Let& let);            // if it names an index
  void enter_body_of(const Stmt& stmt);  // the variable of a Loop or an Each

  // What is entered while it lives is forgotten at its end.
  class Scope {
   public:
    explicit Scope(SymbolsAround& around) : around_(around), before_(around.entered_.size()) {}
    Scope(const Scope&) = delete;
    ~Scope();

   private:
    SymbolsAround& around_;
    const size_t before_;
  };

 private:
  const Kernel& kernel_;
  Ranges ranges_;
  std::vector<Symbol> entered_;
};

}  // namespace smelt::kernel
