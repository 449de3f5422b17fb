// Lowering is evaluation at an index: the value of a node of the graph, at an index given by loop
// variables, as an expression of the kernel. Views rewrite the index; what the group does not
// compute itself becomes a load.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernel/build.hpp"
#include "kernel/integers.hpp"
#include "schedule/computing.hpp"
#include "schedule/views.hpp"

namespace smelt::kernel {

using schedule::Index;

class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<NodeId>& members, Builder& builder);

  // The param that holds a value, made at first use (an Input, or a Scalar for inputs of rank 0).
  int input_param(NodeId id);
  int output_param(NodeId id);
  // From here on what is read of a value is read from this param of the same dims; nothing: from
  // its own. Returns what it was read from.
  std::optional<int> read_from(NodeId id, std::optional<int> param);

  // From here on expressions belong to `block`, with these ranges; statements that they need
  // (gathered indices) go there.
  void enter(std::vector<Stmt>* block, const Ranges* ranges);
  ExprId value(NodeId id, const Index& index);
  // The same for a value that is only stored: a store rounds to f16 and bf16 itself, so that a cast
  // to them need not.
  ExprId value_to_store(NodeId id, const Index& index);

  // Asked before every load: another place where the element already is, in scratch.
  using Redirect = std::function<std::optional<Access>(NodeId, const Index&)>;
  void set_redirect(Redirect redirect) { redirect_ = std::move(redirect); }

  // Asked for every value before it is computed: the same value at that index, if it is known
  // already; kNoExpr if not.
  using Known = std::function<ExprId(NodeId, const Index&)>;
  void set_known(Known known) { ready_ = std::move(known); }
  // The value at an index that may lie outside of it: there it is anything, and nothing is read.
  ExprId value_or_anything(NodeId id, const Index& index);

  // From here on values are needed only where these hold, and nothing is read elsewhere: that as a
  // bool, kNoExpr if always.
  ExprId only_where(const std::vector<schedule::Guard>& guards) {
    return guard_ = everywhere_ = guard_condition(guards);
  }

  // From here on, indices that are not proved inside their array by the ranges alone are clamped to
  // it; one that was outside after all is reported as an error of smelt.
  void set_clamp(bool clamp) { clamp_ = clamp; }
  Index inside(NodeId id, const Index& index);

  // The row that an index of `indices` means to a gather or scatter. Where its mode leaves it as it
  // is, it may be none of the `extent` rows.
  ExprId row_of(NodeId id, NodeId indices, const Index& at, const IntExpr& extent);
  ExprId is_below(ExprId value, const IntExpr& extent);           // 0 <= value < extent, as a bool
  void report_row(NodeId id, ExprId row, const IntExpr& extent);  // an error where it is none, if the mode wants one
  // A value as an index, clamped: a symbol of which 0 <= symbol < extent. Its statement goes to the
  // block.
  IntExpr as_index(ExprId value, const IntExpr& extent);
  IntExpr known_index(ExprId value, const IntExpr& extent);  // the same of a value that needs no clamp
  const Ranges& ranges() const { return ranges_; }
  // From here on values are needed only where this bool is true; kNoExpr: everywhere.
  void only_where(ExprId condition) { guard_ = everywhere_ = condition; }

  // What a reduction of this group is worth inside the current block.
  void set_reduction(NodeId id, ExprId value) { reductions_[id] = value; }
  // The same of what is computed wherever it is needed, from other values of the row at that index.
  using ReductionAt = std::function<ExprId(const Index&)>;
  void set_reduction(NodeId id, ReductionAt value) { computed_reductions_[id] = std::move(value); }

  // Makes the statements of a scan at the element at hand, in the current block.
  using ScanAt = std::function<ExprId(NodeId, const Index&)>;
  void set_scan(ScanAt scan) { scan_ = std::move(scan); }
  std::vector<Stmt>& block() { return *block_; }

 private:
  ExprId load(NodeId id, const Index& index);
  ExprId drawn(const Node& node, const Index& index);
  ExprId joined(const Node& node, const Index& index);
  ExprId gathered(NodeId id, const Index& index);
  std::optional<IntExpr> reported_place(NodeId gather, ExprId raw, const IntExpr& extent);
  ExprId not_negative(const IntExpr& e);
  // evaluate_local.cpp
  struct Extreme {
    ExprId value, position;  // the position of argmax and argmin
  };
  ExprId local_reduction(NodeId id, const Index& index);
  Extreme next_element(const Node& node, const Extreme& so_far, ExprId value, const IntExpr& position);
  Extreme unrolled(const Node& node, const Index& at, size_t from, const IntExpr& position, Extreme so_far);
  ExprId guard_condition(const std::vector<schedule::Guard>& guards);
  ExprId both(ExprId a, ExprId b);
  bool is_always_below(ExprId value, const IntExpr& extent);
  void report_where(ExprId condition, int32_t code);
  int32_t code_of(NodeId gather);  // that its check stores
  ExprId compute(NodeId id, const Index& index);
  ExprId index(const IntExpr& value, const Between& within);
  void label(ExprId value, const Node& node);

  const Graph& graph_;
  const schedule::Computing computes_;
  std::unordered_set<NodeId> members_;
  Builder& builder_;
  Integers integers_;       // of the current block
  IntegerRanges anywhere_;  // what holds in elements too that are not there
  std::map<NodeId, int> inputs_, outputs_;
  std::map<NodeId, ExprId> reductions_;
  std::map<NodeId, ReductionAt> computed_reductions_;
  std::vector<Stmt>* block_ = nullptr;
  Ranges ranges_;
  Redirect redirect_;
  Known ready_;
  ScanAt scan_;
  bool clamp_ = false;
  ExprId guard_ = kNoExpr, everywhere_ = kNoExpr;  // where a value is needed; where any is
  int64_t repeated_ = 1;                           // how often what is evaluated now is in the kernel
  struct InBlock {
    std::unordered_map<std::string, ExprId> values;
    std::map<ExprId, std::pair<IntExpr, IntExpr>> places;  // of values as indices: the extent, and the name
    std::set<std::pair<ExprId, int32_t>> reports;          // conditions, and the codes that they store
  };
  InBlock known_;  // within the current block
};

}  // namespace smelt::kernel
