// Index expressions of a kernel as numbers. Internal to this folder.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "kernel/kernel.hpp"
#include "report/page_accesses.hpp"

namespace smelt::report {

class PageIndices {
 public:
  PageIndices(const kernel::Kernel& kernel, const SizeBinding& sizes, const ElementOf& element)
      : kernel_(kernel), values_(sizes), element_(element) {}

  void set(Symbol symbol, int64_t value) { values_[symbol] = value; }
  void define(kernel::LocalId local, kernel::ExprId value) { locals_[local] = value; }

  // Nothing where it depends on data that is not known.
  std::optional<int64_t> evaluate(const IntExpr& e, int depth) const;
  // Elements from the start of the array.
  std::optional<int64_t> offset(const kernel::Access& access, const kernel::Param& param, int depth = 0) const;
  // Whether a condition holds.
  std::optional<bool> holds(kernel::ExprId condition) const;

 private:
  std::optional<Scalar> value(kernel::ExprId id, int depth) const;
  std::vector<Scalar> values(const std::vector<kernel::ExprId>& ids, int depth) const;
  std::optional<Scalar> apply(const kernel::Apply& apply, DType dtype, int depth) const;
  std::optional<Scalar> apply(const kernel::Raw& raw, DType dtype, int depth) const;

  const kernel::Kernel& kernel_;
  SizeBinding values_;
  const ElementOf& element_;
  std::map<kernel::LocalId, kernel::ExprId> locals_;
};

}  // namespace smelt::report
