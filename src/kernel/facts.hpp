// What is known of the integers at a place in a kernel: the loops around it, the masks that hold
// there, the sizes of the call.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/int_expr.hpp"

namespace smelt::kernel {

class Proved;
struct Kernel;

class Facts {
 public:
  // `launch_sizes` are symbols with a value, a later one may use earlier ones: a proof looks at the
  // values where the symbols alone do not do. What is proved is kept in `proved`, if there are
  // some, for other places where the same is known.
  explicit Facts(std::vector<std::pair<Symbol, IntExpr>> launch_sizes = {}, Proved* proved = nullptr);

  void add_range(Symbol symbol, const IntExpr& extent);  // 0 <= symbol < extent, so the extent is >= 1
  void add(const IntExpr& e);                            // e >= 0

  // True when e >= 0 follows. A size is taken to be >= 1 only where that follows too: from a loop
  // around it that runs. More effort looks further; without a number, as far as it goes.
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
  // What follows from the facts, as far as anyone has asked.
  struct Found {
    std::vector<Prepared> prepared;  // with no launch size replaced, with the last one, the last two, ...
    std::vector<Prepared> raised;  // one, or none yet: with every launch size replaced, sizes from their least value on
    std::map<std::pair<std::string, int>, bool> known;
  };
  friend class Proved;

  void changed(const std::string& by);
  Found& found() const;
  bool search(const IntExpr& e, int effort) const;
  bool proves_sides(const IntExpr& e, int effort) const;
  Prepared prepare(const std::map<Symbol, IntExpr>& replacements, bool raised = false) const;
  Prepared& prepared(size_t launch_sizes) const;
  Prepared& raised() const;

  std::vector<std::pair<Symbol, IntExpr>> launch_sizes_;
  std::vector<std::pair<Symbol, IntExpr>> variables_;  // outermost first, with their extents
  std::vector<IntExpr> facts_;
  bool impossible_ = false;  // the facts contradict each other: this place is never reached
  std::string text_;         // of all that is known, in order
  Proved* proved_;
  mutable std::shared_ptr<Found> found_;  // empty until something is asked
};

// What is known everywhere in a kernel.
Facts facts_of(const Kernel& kernel, Proved* proved = nullptr);

// What has been proved so far, by what is known at the place: a kernel that is verified again after
// a pass is proved again only where the pass has changed something.
class Proved {
 private:
  friend class Facts;
  std::unordered_map<std::string, std::shared_ptr<Facts::Found>> by_facts_;
};

}  // namespace smelt::kernel
