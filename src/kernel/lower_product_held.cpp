// Parts of factors of products on a GPU that are no copies under way: what they are computed from
// is read into registers while the part before is multiplied, so that memory is not waited for.
// What takes more than an expression, as a gather does, is computed then, and held itself.
//
//   vector %i over the first part:       held = a
//   serial %kb over parts:
//     vector %i over the part:           panel = f(held)
//     vector %i over the next part:      held = a
//     ...
#include <algorithm>

#include "kernel/lower_product.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

constexpr int64_t kMostHeldBytes = 128, kMostHeldElements = 64;  // of a panel, in the registers of a thread

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

// What a part ends with: a gather finds its places before.
Store* last_store(std::vector<Stmt>& part) {
  std::vector<Stmt>& element = part.front().get<Loop>().body;
  return element.empty() ? nullptr : element.back().get_if<Store>();
}

}  // namespace

// Statements of the pipeline that make a part; `before` gets what precedes the pipeline.
std::vector<Stmt> ProductLowering::stage_ahead(const Panel& panel, bool of_rows, const Tile& tile, const Piece& parts,
                                               bool whole, std::vector<Stmt>& before) {
  const auto staged = [&](const IntExpr& number) { return stage(panel, of_rows, tile, parts.first + number, whole); };
  const IntExpr part = IntExpr::symbol(kPart);
  std::vector<Stmt> made = staged(part);
  const Store* const now = only_store(made);
  if (now && now->later) return made;
  const int64_t points = (of_rows ? product().tile_rows : product().tile_columns) * product().tile_inner;
  const auto in_first = [&](std::vector<Stmt> statements) {
    append(before, single(loop(LoopKind::Serial, Symbol::loop("first"), min(1, parts.length), std::move(statements))));
  };
  // The same expression of the next part, and of the first one.
  std::vector<Stmt> next = staged(min(part + 1, parts.length - 1, tile.placement.ranges)), first = staged(0);
  if (!now && !product().units && last_store(made) && last_store(next) && last_store(first)) {
    const Access held{true,
                      add_scratch(kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype, {points}),
                      {IntExpr::symbol(kLane)}};
    const Access to = last_store(made)->access;
    last_store(next)->access = last_store(first)->access = held;
    std::vector<Stmt> put = single(over_part(of_rows, single(builder_.store(to, builder_.load(held)))));
    append(put, std::move(next));
    in_first(std::move(first));
    return put;
  }
  if (!now || !only_store(next) || !only_store(first)) return made;
  const std::vector<ExprId> reads = reads_of_part(kernel_, now->value),
                            reads_next = reads_of_part(kernel_, only_store(next)->value),
                            reads_first = reads_of_part(kernel_, only_store(first)->value);
  if (reads.size() != reads_next.size() || reads.size() != reads_first.size()) return made;

  int64_t bytes = 0;
  std::vector<Stmt> hold, hold_first;
  Rewriter from_registers(kernel_);
  for (size_t n = 0; n < reads.size(); ++n) {
    const int64_t elements = (points + schedule_.team - 1) / schedule_.team,
                  more = elements * size_of(builder_.dtype(reads[n]));
    if (elements > kMostHeldElements || reads[n] == reads_next[n] || bytes + more > kMostHeldBytes) continue;
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
  in_first(single(over_part(of_rows, std::move(hold_first))));
  return made;
}

}  // namespace smelt::kernel
