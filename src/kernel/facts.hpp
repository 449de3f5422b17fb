// What is known of the integers at a place in a kernel: the loops around it, the masks that hold there, the sizes of the call.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/int_expr.hpp"

namespace smelt::kernel {

class Facts {
 public:
  // `launch_sizes` are symbols with a value, a later one may use earlier ones: a proof looks at the values where the symbols
  // alone do not do.
  explicit Facts(std::vector<std::pair<Symbol, IntExpr>> launch_sizes = {}) : launch_sizes_(std::move(launch_sizes)) {}

  void add_range(Symbol symbol, const IntExpr& extent);  // 0 <= symbol < extent, so the extent is >= 1
  void add(const IntExpr& e);                            // e >= 0

  // True when e >= 0 follows. A size is taken to be >= 1 only where that follows too: from a loop around it that runs. More
  // effort looks further; without a number, as far as it goes.
  static constexpr int kEfforts = 4;
  bool proves(const IntExpr& e, int effort) const;
  bool proves(const IntExpr& e) const;

 private:
  // The facts in the form that proves_nonnegative takes.
  struct Prepared {
    std::map<Symbol, IntExpr> replacements;  // launch sizes by their values
    std::set<Symbol> variables, positive;    // symbols with a range; sizes that are >= 1
    std::map<Symbol, IntExpr> sizes;         // sizes that may be 0, or are larger than 1, by a symbol that is >= 1
    Ranges ranges;
    std::vector<IntExpr> facts;
    std::map<Symbol, int64_t> least;  // of sizes that are known to be larger than 1
    void raise(Symbol size, int64_t least);
    void rewrite_sizes_of(const IntExpr& e);
    IntExpr rewritten(const IntExpr& e);
  };
  bool search(const IntExpr& e, int effort) const;
  bool proves_sides(const IntExpr& e, int effort) const;
  Prepared prepare(const std::map<Symbol, IntExpr>& replacements, bool raised = false) const;
  Prepared& prepared(size_t launch_sizes) const;
  Prepared& raised() const;

  std::vector<std::pair<Symbol, IntExpr>> launch_sizes_;
  std::vector<std::pair<Symbol, IntExpr>> variables_;  // outermost first, with their extents
  std::vector<IntExpr> facts_;
  bool impossible_ = false;                 // the facts contradict each other: this place is never reached
  mutable std::vector<Prepared> prepared_;  // with no launch size replaced, with the last one, the last two, ...
  mutable std::vector<Prepared>
      raised_;  // one, or none yet: with every launch size replaced, sizes from their least value on
  mutable std::map<std::pair<std::string, int>, bool> known_;
};

}  // namespace smelt::kernel
