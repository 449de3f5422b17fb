// Parts of computed factors in the pipelines of products on a GPU: what they are computed from is
// read into registers while the part before is computed and multiplied, so that memory is not
// waited for.
//
//   vector %i over the first part:       held = a
//   serial %kb over parts, in stages:
//     vector %i over the part:           panel of the stage = f(held)
//     vector %i over the next part:      held = a
//     ...
#include <algorithm>

#include "kernel/lower_product.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

constexpr int64_t kMostHeldBytes = 128;  // of a panel, in the registers of a thread

// Reads of arrays in an expression that differ between parts, in a fixed order.
std::vector<ExprId> reads_of_part(const Kernel& kernel, ExprId root) {
  std::vector<ExprId> found;
  visit_below(kernel, {root}, [&](ExprId id, const Expr& e) {
    const auto* load = e.get_if<Load>();
    if (load && !load->access.scratch) found.push_back(id);
    return !load;
  });
  return found;
}

const Store* only_store(const std::vector<Stmt>& part) {
  const std::vector<Stmt>& element = part.front().get<Loop>().body;
  return element.size() == 1 ? element.front().get_if<Store>() : nullptr;
}

}  // namespace

// Statements of the pipeline that make a part; `before` gets what precedes the pipeline.
std::vector<Stmt> ProductLowering::stage_ahead(const Panel& panel, bool of_rows, const Tile& tile, const Piece& parts,
                                               bool whole, std::vector<Stmt>& before) {
  const auto staged = [&](const IntExpr& number) {
    return stage(panel, of_rows, tile, parts.first + number, whole, false);
  };
  const IntExpr part = IntExpr::symbol(kPart);
  std::vector<Stmt> made = staged(part);
  const Store* const now = only_store(made);
  if (!now || now->later) return made;
  // The same expression of the next part, and of the first one.
  const std::vector<Stmt> next = staged(min(part + 1, parts.length - 1, tile.placement.ranges)), first = staged(0);
  if (!only_store(next) || !only_store(first)) return made;
  const std::vector<ExprId> reads = reads_of_part(kernel_, now->value),
                            reads_next = reads_of_part(kernel_, only_store(next)->value),
                            reads_first = reads_of_part(kernel_, only_store(first)->value);
  if (reads.size() != reads_next.size() || reads.size() != reads_first.size()) return made;

  const int64_t points = (of_rows ? product().tile_rows : product().tile_columns) * product().tile_inner;
  int64_t bytes = 0;
  std::vector<Stmt> hold, hold_first;
  Rewriter from_registers(kernel_);
  for (size_t n = 0; n < reads.size(); ++n) {
    const int64_t more = points / schedule_.team * size_of(builder_.dtype(reads[n]));
    if (reads[n] == reads_next[n] || bytes + more > kMostHeldBytes) continue;
    bytes += more;
    const Access held{true, add_scratch(builder_.dtype(reads[n]), {points}), {IntExpr::symbol(kLane)}};
    hold.push_back(Store{held, reads_next[n]});
    hold_first.push_back(Store{held, reads_first[n]});
    kernel_.exprs.push_back({builder_.dtype(reads[n]), Load{held, kNoExpr, kNoExpr}});
    from_registers.replace(reads[n], static_cast<ExprId>(kernel_.exprs.size() - 1));
  }
  if (hold.empty()) return made;
  for (Stmt& s : made) from_registers(s);
  made.push_back(over_part(of_rows, std::move(hold)));
  append(before, single(loop(LoopKind::Serial, Symbol::loop("first"), min(1, parts.length),
                             single(over_part(of_rows, std::move(hold_first))))));
  return made;
}

}  // namespace smelt::kernel
