// Changing the expressions of a kernel.
#pragma once

#include <unordered_map>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

// Gives expressions whose operands were replaced: those without any stay as they are, the others
// are copied, bottom up.
class Rewriter {
 public:
  explicit Rewriter(Kernel& kernel) : kernel_(kernel) {}

  // From here on `by` takes the place of `id`.
  void replace(ExprId id, ExprId by) { known_[id] = by; }
  ExprId operator()(ExprId root);
  void operator()(Stmt& s);  // its own expressions, and those of its body

 private:
  ExprId rebuilt(ExprId id);

  Kernel& kernel_;
  std::unordered_map<ExprId, ExprId> known_;
};

// Drops expressions that no statement uses. Returns whether there were any.
bool remove_dead_code(Kernel& kernel);

}  // namespace smelt::kernel
