// What the statements of a phase on a GPU do with locals, arrays and scratch.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

bool has_loops(const Loop& loop);  // directly inside, or an If
bool stores_to_scratch(const Loop& loop);
bool has_scans(const std::vector<Stmt>& body);
bool has_each(const std::vector<Stmt>& body);

// Runs of statements of a Vector loop, or of a loop inside of one, between loops and scans: each is
// a block. What reads at places that the data names begins one too, so that the places of all
// elements are there before.
std::vector<std::vector<const Stmt*>> blocks_of(const Kernel& kernel, const Loop& loop);

// Scratch of lanes that the units of warps multiply, and what they multiply it as.
std::map<int, DType> factors_of_warps(const Kernel& kernel, const Phase& phase);
// Whether the loop stores to such: which lane has what is then the same in all forms of the loop.
bool feeds_units(const Kernel& kernel, const Phase& phase, const Loop& loop);

struct LocalUses {
  std::set<const Loop*> vectors;  // the Vector loops that give it a value
  std::set<const Loop*> readers;  // and those that read it
  bool used_outside = false;      // of Vector loops: an accumulator
  bool combined = false;          // uniform from then on
  bool finds = false;             // a position, or what lies there, of which the first of equals counts
  bool per_column =
      false;  // of loops over columns: combined to one value for each column, or kept for each of a lane's
  bool of_element = false;  // PlainThread: every loop that reads it gives it a value first, element by element
  std::set<int> blocks;     // runs of simple statements of Vector loops in which it occurs
};

struct ScratchUses {
  bool used = false;
  // Of Scope::Lane: one of its accesses, the Vector loop around, and the dimension that the lanes
  // index.
  const Loop* vector = nullptr;
  const Access* access = nullptr;
  size_t axis = 0;
};

// Refers to the loops of the phase: it is valid until a statement of it moves.
struct PhaseUses {
  PhaseUses(const Kernel& kernel, const Phase& phase);

  const LocalUses& local(LocalId id) const { return locals[static_cast<size_t>(id)]; }
  const std::vector<int>& dependencies_of(ExprId id) const { return dependencies[static_cast<size_t>(id)]; }
  // The number of a local, a param or a scratch buffer among `dependencies`.
  int resource(LocalId id) const { return id; }
  int resource(const Access& access) const {
    return static_cast<int>(locals.size() + (access.scratch ? stored.size() : 0)) + access.array;
  }
  bool is_local(int resource) const { return resource < static_cast<int>(locals.size()); }
  // Whether no element leaves anything but what it stores, or reads what another loop has left in
  // its lanes.
  bool keeps_nothing(const Loop& loop) const;

  std::vector<LocalUses> locals;
  std::vector<ExprId> named;  // of locals: what a Let names; kNoExpr for the others
  std::vector<ScratchUses> buffers;
  std::vector<bool> stored;                     // params
  std::vector<int> uses;                        // of expressions: how many
  std::vector<std::vector<int>> dependencies;   // of expressions: the resources that change them, ascending
  std::vector<std::set<const Loop*>> loops_of;  // of loads: the Vector loops that use them, nullptr outside of any

 private:
  void block(const std::vector<Stmt>& body, const Loop* vector);
  void expression(ExprId root, const Loop* vector);
  void note_local(LocalId id, const Loop* vector);
  void note_locals(const IntExpr& index, const Loop* vector);
  void note_access(const Access& access, const Loop* vector);
  void find_dependencies();
  // Adds the locals that some statement needs from another element, another loop, or from before a
  // loop.
  void find_kept(const std::vector<Stmt>& body, std::set<LocalId>& kept) const;

  const Kernel& kernel_;
  int block_ = 0;  // number of the run of simple statements at hand
};

}  // namespace smelt::kernel
