// How indices differ between the neighbouring elements of a Vector loop that a thread of a GPU
// takes at a time: its group.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/phase_uses.hpp"
#include "kernel/team_forms.hpp"

namespace smelt::kernel {

// Whether a kernel is given the symbol: a size.
bool is_argument(const Kernel& kernel, Symbol symbol);
// Whether all symbols of an expression are: its value is known at the launch.
bool over_sizes(const Kernel& kernel, const IntExpr& e);

// Where loads are in their arrays, in elements: computed once for all variants of a phase.
class Offsets {
 public:
  explicit Offsets(const Kernel& kernel) : kernel_(kernel), of_loads_(kernel.exprs.size()) {}
  const IntExpr& of(ExprId load);

 private:
  const Kernel& kernel_;
  std::vector<std::optional<IntExpr>> of_loads_;
};

class LaneGroups {
 public:
  // `peeled`: the groups of a loop that is peeled begin where `origin` + its variable is a multiple
  // of the lanes; else the variable is. Outside of Vector loops, `loop` is nullptr and nothing
  // varies.
  LaneGroups(const Kernel& kernel, const PhaseUses& uses, const Loop* loop, int lanes, bool peeled)
      : kernel_(kernel), uses_(uses), loop_(loop), lanes_(lanes), peeled_(peeled) {}

  // Whether elements of the loop differ in a value.
  bool varies(const IntExpr& e) const;
  bool varies(ExprId id) const;
  // By how much the value grows from one lane to the next: 0, 1, -1, or nothing that is the same
  // for all lanes. `when` gets what must be at least 0 for that.
  std::optional<int> step(const IntExpr& e, std::vector<IntExpr>& when) const;
  // The same, of any number.
  std::optional<int64_t> distance(const IntExpr& e, std::vector<IntExpr>& when) const;
  // Whether lane 0 has a multiple of the lanes, where each of `when` is at least 0.
  bool divisible(const IntExpr& e, std::vector<IntExpr>& when) const;
  // Whether the value is a multiple of n where `var` is one.
  bool divisible(const IntExpr& e, int64_t n, std::optional<Symbol> var, std::vector<IntExpr>& when) const;
  // Whether all lanes have the same value, where each of `when` is at least 0.
  bool same(ExprId id, std::vector<IntExpr>& when) const;

 private:
  std::optional<int> step(const IntExpr::Atom& a, std::vector<IntExpr>& when) const;
  // Whether all lanes have one value of a local, or of an expression whatever it is.
  bool is_same(LocalId id, std::vector<IntExpr>& when) const;
  bool is_one(ExprId id, std::vector<IntExpr>& when) const;

  const Kernel& kernel_;
  const PhaseUses& uses_;
  const Loop* loop_;
  const int lanes_;
  const bool peeled_;
};

// Whether what holds under these conditions may be used by the variant: the odd one has sizes that
// are no multiples.
bool may_require(bool holds, const std::vector<IntExpr>& when, const Variant& variant);

// An access of a group to an array.
struct GroupAccess {
  int param;  // -1: scratch, which is aligned
  DType dtype;
  IntExpr offset;
};
// Whether its lanes are neighbouring elements that one aligned access covers: 1, or -1 where they
// are downwards and that is asked for; else 0. The variant then requires what that takes of sizes
// and of the address.
int step_of_group(const LaneGroups& groups, const LoopShape& shape, const GroupAccess& access, bool downwards,
                  Variant& variant);
// Accesses of which the lanes of each lie between the lanes of the others, as the three bytes of
// pixels: n of them are a run of n groups' elements, from a multiple of the lanes on. Each as
// positions in `accesses`, by address. The variant requires as above. Elements of 4 bytes are as
// fast by themselves.
std::vector<std::vector<size_t>> interleaved_groups(const LaneGroups& groups, const LoopShape& shape,
                                                    const std::vector<GroupAccess>& accesses, Variant& variant);

}  // namespace smelt::kernel
