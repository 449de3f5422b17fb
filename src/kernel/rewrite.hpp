// Changing the expressions of a kernel.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Gives expressions whose operands were replaced: those without any stay as they are, the others
// are copied, bottom up.
class Rewriter {
 public:
  explicit Rewriter(Kernel& kernel) : kernel_(kernel) {}
  virtual ~Rewriter() = default;

  // From here on `by` takes the place of `id`.
  void replace(ExprId id, ExprId by) { known_[id] = by; }
  ExprId operator()(ExprId root);
  void operator()(Stmt& s);  // its own expressions, and those of its body

 protected:
  // What else than operands changes in an expression; and one that takes the place of the changed
  // one, if any does.
  virtual bool changes(const Expr&) { return false; }
  virtual void change(Expr&) {}
  virtual std::optional<ExprId> instead(Expr&) { return std::nullopt; }
  ExprId add(Expr e, ExprId from);  // with the label of `from`

  Kernel& kernel_;

 private:
  ExprId rebuilt(ExprId id);

  std::unordered_map<ExprId, ExprId> known_;
};

// Gives expressions as they are where a variable has a value.
class AtValue : public Rewriter {
 public:
  // `ranges` must outlive this.
  AtValue(Kernel& kernel, Symbol var, IntExpr value, const Ranges& ranges)
      : Rewriter(kernel), at_{{var, std::move(value)}}, ranges_(ranges) {}

 protected:
  bool changes(const Expr& e) override;
  void change(Expr& e) override;
  virtual IntExpr placed(const IntExpr& e) const { return e.substitute(at_, ranges_); }
  void place(Access& access) const;

  const std::map<Symbol, IntExpr> at_;
  const Ranges& ranges_;
};

// Drops expressions that no statement uses. Returns whether there were any.
bool remove_dead_code(Kernel& kernel);

}  // namespace smelt::kernel
