// The kernel that is built, which the lowerings of all families share: a family derives from
// Lowering. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/evaluate.hpp"
#include "kernel/lower.hpp"
#include "kernel/nest.hpp"

namespace smelt::kernel {

// Whether there are whole pieces of this size, whatever the sizes of a call.
inline bool divides(int64_t size, const IntExpr& n) { return n.constant() && *n.constant() % size == 0; }

using schedule::Axis;
using schedule::Domain;
using schedule::Schedule;
using StoredOutput = schedule::Output;

Op op_of(ReduceKind kind);
// What changes no value; of max the smallest value, so that masked lanes never win.
Scalar neutral(ReduceKind kind, DType t);

class Lowering {
 public:
  Lowering(const Graph& graph, const schedule::Group& group, const Schedule& schedule, std::string name);
  Lowering(const Lowering&) = delete;  // its parts refer to each other
  Lowering& operator=(const Lowering&) = delete;
  virtual ~Lowering() = default;
  Kernel run(bool clamp);

 protected:
  virtual void phases() = 0;

  const Axis& vector_axis() const { return domain().axes[static_cast<size_t>(schedule_.vector_axis)]; }
  const Domain& domain() const { return schedule_.domain; }
  Store store_output(const StoredOutput& output, const Placement& placement, ExprId value, ExprId mask = kNoExpr);
  void finish();
  Dialect dialect() const;
  bool on_gpu() const { return schedule_.team > 0; }
  Loop vector(IntExpr extent, std::vector<Stmt> body) const;  // a Vector loop "%i" as the schedule has it
  void add_phase(IntExpr extent, std::vector<Stmt> body, IntExpr work);
  void set_team(int threads);      // of the phase added last
  void end_with_last_workgroup();  // the phase added last is run by the last workgroup of the one before
  int add_temporary(DType dtype, Shape dims, const std::string& note);
  int add_scratch(DType dtype, std::vector<IntExpr> dims);
  IntExpr launch_size(Symbol symbol, const IntExpr& value);
  // The axes, merged row-major, at a position, and that they are inside.
  void place(Placement& placement, const std::vector<int>& axes, const IntExpr& position) const;
  std::vector<schedule::Guard> guards_of(const Placement& placement, const std::vector<int>& axes,
                                         const std::vector<int>& more = {}) const;
  std::vector<Axis> kept_axes() const;
  // Arrays of what parts of the reduced axes make, for each point of these axes.
  int add_partial(DType dtype, int64_t parts, const std::vector<Axis>& axes, const std::string& note);
  static schedule::Index partial_at(const IntExpr& part, const std::vector<Axis>& axes, const Placement& placement);
  // A value for a buffer where `inside` holds, which may be kNoExpr; else 0.
  ExprId or_zero(ExprId value, ExprId inside, int buffer);
  // The outputs of an element.
  std::vector<Stmt> elements(const Placement& placement, const std::vector<schedule::Guard>& inside = {});

  const Graph& graph_;
  const schedule::Group& group_;
  const Schedule& schedule_;
  Kernel kernel_;
  Builder builder_;
  Evaluator evaluator_;
  std::vector<Stmt> allocs_;
};

}  // namespace smelt::kernel
