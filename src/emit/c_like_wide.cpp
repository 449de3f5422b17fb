// Elements that follow each other in memory, which a thread accesses at once: rows of a stencil,
// where every column of a thread is an expression of its own.
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

std::vector<ExprId> PhasePrinter::wide_loads(const std::vector<kernel::AdjacentLoads>& runs) {
  std::vector<ExprId> made;
  for (const kernel::AdjacentLoads& run : runs) {
    const Place first = place(load_at(run.loads[0]).access);
    const std::string vec = fmt::format("Vec<{}, {}>", memory_type(first.dtype), run.loads.size());
    const std::string name = fmt::format("w{}", names_++);
    const std::string from = fmt::format("*(const {}*)({} + {})", vec, first.base, integer(first.offset));
    if (run.mask == kNoExpr) {
      line("const {} {} = {};", vec, name, from);
    } else {
      const std::string condition = value(run.mask);
      line("{} {} = {{}};", vec, name);
      line("if ({}) {} = {};", condition, name, from);
    }
    for (size_t k = 0; k < run.loads.size(); ++k) {
      const std::string element = fmt::format("{}.at[{}]", name, k);
      // What is in scratch is as it is in registers.
      const std::string text = first.param < 0 ? element : from_memory(first.dtype, element);
      // Bits of zero are the number 0 of every type.
      early_[run.loads[k]] = run.mask == kNoExpr || kernel_.is_zero(run.other)
                                 ? text
                                 : fmt::format("({} ? {} : {})", value(run.mask), text, value(run.other));
      made.push_back(run.loads[k]);
    }
  }
  return made;
}

// Each as the statement that makes it, after the block; its parts are collected before.
std::vector<std::pair<ExprId, std::string>> PhasePrinter::collect_stores(
    const std::vector<const Stmt*>& stmts, const std::vector<kernel::AdjacentStores>& runs) {
  std::vector<std::pair<ExprId, std::string>> wide;
  for (const kernel::AdjacentStores& run : runs) {
    const auto store_at = [&](int n) { return stmts[static_cast<size_t>(n)]->get_if<Store>(); };
    const Place first = place(store_at(run.statements[0])->access);
    const std::string vec = fmt::format("Vec<{}, {}>", memory_type(first.dtype), run.statements.size());
    const std::string name = fmt::format("w{}", names_++);
    line("{} {};", vec, name);
    for (size_t k = 0; k < run.statements.size(); ++k)
      wide_stores_[store_at(run.statements[k])] = {fmt::format("{}.at[{}]", name, k), first.dtype};
    wide.emplace_back(run.mask, fmt::format("*({}*)({} + {}) = {};", vec, first.base, integer(first.offset), name));
  }
  return wide;
}

}  // namespace smelt::emit::c_like
