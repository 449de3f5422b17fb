#include "kernel/jam_rows.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel/at_remainder.hpp"
#include "kernel/conditions.hpp"
#include "kernel/naturals.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

// Rows of an iteration, and the least rows for that: of a period, and iterations that are left for
// threads.
constexpr int64_t kRows = 4, kFewestRows = 8, kFewestIterations = 64;
// Loads of a row that are worth it, of which one in so many is of all rows, and the expressions of
// all rows.
constexpr size_t kFewestLoads = 12, kLeastShared = 4, kMostExprs = 2048;
// Rows have as many accumulators in registers as one had.
constexpr int kFewestLanes = 16;

std::string place_of(const Access& access) {
  std::string place = std::to_string(access.array);
  for (const IntExpr& i : access.index) place += "," + i.str();
  return place;
}

// Gives equal expressions of several rows as one.
class EqualOnes : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  bool changes(const Expr&) override { return true; }
  std::optional<ExprId> instead(Expr& e) override {
    std::string key = key_of(e);
    if (key.empty()) return std::nullopt;
    const auto next = static_cast<ExprId>(kernel_.exprs.size());
    const auto [known, fresh] = known_.try_emplace(std::to_string(static_cast<int>(e.dtype)) + std::move(key), next);
    return fresh ? std::nullopt : std::optional(known->second);
  }

  // Empty: of those that are not looked for.
  static std::string key_of(const Expr& e) {
    std::string key;
    if (const auto* index = e.get_if<IndexValue>()) key = "i" + index->value.str();
    if (const auto* apply = e.get_if<Apply>()) key = "a" + std::to_string(static_cast<int>(apply->op));
    if (const auto* load = e.get_if<Load>())
      key = (load->mask == kNoExpr ? "l" : load->other == kNoExpr ? "m" : "o") + place_of(load->access) + ":";
    if (!key.empty())
      for (const ExprId operand : operands(e)) key += " " + std::to_string(operand);
    return key;
  }

  std::unordered_map<std::string, ExprId> known_;
};

class JamRows {
 public:
  explicit JamRows(Kernel& kernel) : kernel_(kernel) {}

  bool run() {
    bool changed = false;
    for (Phase& phase : kernel_.phases) {
      auto* grid = phase.body.size() == 1 ? loop_of(phase.body.back(), LoopKind::Grid) : nullptr;
      if (grid && is_plain(*grid)) changed = jam(phase, *grid) || changed;
    }
    return changed;
  }

 private:
  // One Vector loop that stores each element of its own.
  bool is_plain(const Loop& grid) const {
    const Loop* row = grid.body.size() == 1 ? loop_of(grid.body[0], LoopKind::Vector) : nullptr;
    if (!row || row->interior || row->lanes < 2 || row->extent.mentions(grid.var)) return false;
    bool plain = true;
    for_each_stmt(row->body, [&](const Stmt& s) {
      const auto* loop = s.get_if<Loop>();
      const auto* store = s.get_if<Store>();
      plain =
          plain && ((loop && loop->kind != LoopKind::Vector && !loop->extent.mentions(grid.var)) || s.is<Assign>() ||
                    (store && !store->access.scratch && !store->atomic && !store->cursor && store->mask == kNoExpr));
    });
    for (const Stmt& s : row->body)
      if (const auto* inside = body_of(s))
        for_each_stmt(*inside, [&](const Stmt& below) { plain = plain && !below.is<Store>(); });
    return plain;
  }

  // What a row loads, and what of it all rows load alike, in lanes.
  struct Loads {
    std::set<std::string> all, shared;
    size_t exprs = 0;
  };
  Loads loads_of(const Loop& grid) const {
    Loads loads;
    const Symbol lane = grid.body[0].get<Loop>().var;
    visit_below(kernel_, expressions_of(grid.body), [&](ExprId, const Expr& e) {
      ++loads.exprs;
      const auto* load = e.get_if<Load>();
      if (!load) return true;
      const std::string place = place_of(load->access);
      const auto names = [&](Symbol symbol) {
        return any_index(e, [&](const IntExpr& i) { return i.mentions(symbol); });
      };
      loads.all.insert(place);
      if (names(lane) && !names(grid.var)) loads.shared.insert(place);
      return true;
    });
    return loads;
  }

  // The iterations in which the last of the axes that are a Grid loop is gone through.
  std::optional<int64_t> period(const Loop& grid) const {
    std::set<int64_t> found;
    const auto look = [&](const IntExpr& e) { collect(e, grid.var, found); };
    visit_below(kernel_, expressions_of(grid.body), [&](ExprId, const Expr& e) {
      for_each_index(e, look);
      return true;
    });
    for_each_stmt(grid.body, [&](const Stmt& s) {
      if (const auto* store = s.get_if<Store>())
        for (const IntExpr& i : store->access.index) look(i);
    });
    if (found.empty()) return grid.extent.constant();
    return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
  }

  static void collect(const IntExpr& e, Symbol var, std::set<int64_t>& into) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->symbol) continue;
        const auto by = atom->b.constant();
        if (atom->kind == AtomKind::Mod && atom->a.as_symbol() == var)
          into.insert(by.value_or(0));
        else
          collect(atom->a, var, into);
      }
  }

  bool jam(Phase& phase, Loop& grid) {
    const auto rows = period(grid);
    const Loads loads = loads_of(grid);
    const auto iterations = grid.extent.constant();
    if (!rows || *rows < kFewestRows || loads.all.size() < kFewestLoads ||
        loads.shared.size() * kLeastShared < loads.all.size() || loads.exprs * kRows > kMostExprs ||
        (iterations && *iterations < kRows * kFewestIterations))
      return false;
    const Division periods = divide_terms(grid.extent, *rows);
    if (!periods.remainder.is(0)) return false;
    const int64_t whole = *rows / kRows, rest = *rows - whole * kRows, blocks = whole + (rest > 0 ? 1 : 0);
    Ranges ranges = ranges_in(kernel_, phase);
    ranges[grid.var] = {0, periods.quotient * blocks - 1};
    const IntExpr var = IntExpr::symbol(grid.var), block = mod(var, blocks, ranges),
                  before = floordiv(var, blocks, ranges);
    const auto together = [&](const IntExpr& first, int64_t count) {
      std::vector<std::vector<Stmt>> copies;
      for (int64_t r = 0; r < count; ++r)
        copies.push_back(
            AtRemainder(kernel_, {grid.var, *rows, before, first + r}, periods.quotient, ranges, r > 0).of(grid.body));
      std::vector<Stmt> body = joined(copies);
      EqualOnes equal(kernel_);
      for (Stmt& s : body) equal(s);
      return body;
    };
    std::vector<Stmt> made = together(block * kRows, kRows);
    if (rest > 0) {
      // Where only one iteration takes them, by its number: a store names the Grid loop.
      std::vector<Stmt> last = together(periods.quotient.is(1) ? block * kRows : IntExpr(whole * kRows), rest);
      made = {If{is_below(kernel_, block, whole), std::move(made)},
              If{is_below(kernel_, whole - 1, block), std::move(last)}};
    }
    grid.extent = periods.quotient * blocks;
    grid.body = std::move(made);
    phase.work = phase.work * kRows;
    return true;
  }

  // Statements of equal bodies, beside each other.
  static std::vector<Stmt> joined(std::vector<std::vector<Stmt>>& copies) {
    std::vector<Stmt> made;
    for (size_t i = 0; i < copies[0].size(); ++i) {
      if (!copies[0][i].is<Loop>()) {
        for (std::vector<Stmt>& copy : copies) made.push_back(std::move(copy[i]));
        continue;
      }
      std::vector<std::vector<Stmt>> bodies;
      for (std::vector<Stmt>& copy : copies) bodies.push_back(std::move(copy[i].get<Loop>().body));
      Loop loop = std::move(copies[0][i].get<Loop>());
      loop.body = joined(bodies);
      if (loop.kind == LoopKind::Vector) loop.lanes = lanes_for(loop.lanes);
      made.push_back(std::move(loop));
    }
    return made;
  }

  static int lanes_for(int lanes) { return lanes % 2 == 0 && lanes / 2 >= kFewestLanes ? lanes / 2 : lanes; }

  Kernel& kernel_;
};

}  // namespace

bool jam_rows(Kernel& kernel) { return JamRows(kernel).run(); }

}  // namespace smelt::kernel
