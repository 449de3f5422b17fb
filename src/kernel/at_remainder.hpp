// A body in one of the cases that conditions on a remainder distinguish: what is then known of them
// is decided.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "kernel/rewrite.hpp"

namespace smelt::kernel {

// Iterations of a variable: `number`, or, of those of each period, the one of this number in period
// `before`.
struct Iterations {
  Symbol var;
  int64_t period;  // 0: all are one
  IntExpr before, number;
};

class AtRemainder : public AtValue {
 public:
  // `own_locals`: whether the case has other locals than the body where the body assigns them.
  AtRemainder(Kernel& kernel, const Iterations& iterations, const IntExpr& periods, const Ranges& ranges,
              bool own_locals);

  int decided() const { return decided_; }
  std::vector<Stmt> of(const std::vector<Stmt>& body);

 private:
  bool changes(const Expr& e) override;
  void change(Expr& e) override;
  std::optional<ExprId> instead(Expr& e) override;
  IntExpr placed(const IntExpr& e) const override;

  bool is_never_minus_0(ExprId id) const;
  std::optional<bool> truth(ExprId id) const;
  void add_own(LocalId id);
  LocalId own(LocalId id) const;

  const bool own_locals_;
  const std::map<Symbol, IntExpr> in_period_;    // of the two parts of the variable
  Ranges known_;                                 // and of these parts
  int decided_ = 0;                              // conditions
  std::unordered_map<LocalId, LocalId> locals_;  // those that the body assigns, and the case's own
};

}  // namespace smelt::kernel
