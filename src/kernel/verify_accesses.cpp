// Shows for every load and store that each index lies inside its dimension: from the ranges of the
// loops around it, from the conditions around it, or from its own mask.
#include <functional>
#include <optional>

#include "kernel/conditions.hpp"
#include "kernel/facts.hpp"
#include "kernel/multipliers.hpp"
#include "kernel/text.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {
namespace {

class Accesses {
 public:
  Accesses(const Kernel& kernel, Proved& proved)
      : kernel_(kernel), proved_(proved), value_of_(kernel.locals.size(), kNoExpr) {}

  void run() {
    const Facts facts = facts_of(kernel_, &proved_);
    for (const Phase& phase : kernel_.phases) block(phase.body, facts, {});
  }

 private:
  using Seen = std::vector<bool>;  // expressions already shown to be safe in a block around this place

  void block(const std::vector<Stmt>& body, const Facts& facts, Seen seen) {
    seen.resize(kernel_.exprs.size());
    for (const Stmt& s : body) statement(s, facts, seen);
  }

  void statement(const Stmt& s, const Facts& facts, Seen& seen) {
    const auto inside = [&](const std::string& around, const std::vector<Stmt>& body, const Facts& known) {
      around_.push_back(around);
      block(body, known, seen);
      around_.pop_back();
    };
    s.match(
        [&](const Loop& loop) {
          Facts more = facts;
          more.add_range(loop.var, loop.extent);
          inside(fmt::format("{} {} < {}", name_of(loop.kind), loop.var, loop.extent.str()), loop.body, more);
          if (!loop.interior) return;
          const auto& [first, last, holds, body] = *loop.interior;
          if (!facts.proves(first) || !facts.proves(loop.extent - last))
            fail(kernel_, "the interior {} .. {} of {} is not inside of 0 .. {}", first.str(), last.str(), loop.var,
                 loop.extent.str());
          more.add(IntExpr::symbol(loop.var) - first);
          more.add(last - 1 - IntExpr::symbol(loop.var));
          for (const IntExpr& h : holds) more.add(h);
          inside(fmt::format("inside {} <= {} < {}", first.str(), loop.var, last.str()), body, more);
        },
        [&](const Each& each) {
          Facts more = facts;
          more.add_range(each.var, each.extent);
          loads(each.condition, more, seen);
          learn(each.condition, true, more);
          inside(fmt::format("each {} < {}", each.var, each.extent.str()), each.body, more);
        },
        [&](const If& branch) {
          loads(branch.condition, facts, seen);
          Facts more = facts;
          learn(branch.condition, true, more);
          inside("if " + expr_text(kernel_, branch.condition), branch.body, more);
        },
        [&](const Let& let) {
          loads(let.value, facts, seen);
          value_of_[static_cast<size_t>(let.local)] = let.value;
        },
        [&](const Assign& assign) { loads(assign.value, facts, seen); },
        [&](const Store& store) {
          loads(store.value, facts, seen);
          loads(store.mask, facts, seen);
          access("store", store.access, store.mask, facts);
          if (store.cursor) access("append by", *store.cursor, store.mask, facts);
        },
        [&](const Scan& scan) {
          loads(scan.value, facts, seen);
          loads(scan.restarts, facts, seen);
          loads(scan.factor, facts, seen);
          if (scan.over_grid) access("scan through", scan.over_grid->meet, kNoExpr, facts);
        },
        [&](const TileProduct& tiles) { tile_product(tiles, facts); }, [&](const Turn& turned) { turn(turned, facts); },
        [](const Matrix&) {},  // of whole buffers: verify_types.cpp sees that their sizes are right
        [](const Combine&) {}, [](const Barrier&) {}, [](const Prefetch&) {}, [](const Alloc&) {});
  }

  // The first and the last element of a block.
  void corners(const char* what, Access a, const IntExpr& down, const IntExpr& across, const Facts& facts) {
    access(what, a, kNoExpr, facts);
    IntExpr &last = a.index[a.index.size() - 1], &before = a.index[a.index.size() - 2];
    last = last + across - 1, before = before + down - 1;
    access(what, a, kNoExpr, facts);
  }

  void tile_product(const TileProduct& s, const Facts& facts) {
    corners("multiply", s.into, 16 * s.down, 16 * s.across, facts);
    corners("multiply", s.columns, s.words, 16 * s.across, facts);
    if (s.rows_axis < 0) return corners("multiply", s.rows, 16 * s.down, s.words, facts);
    access("multiply", s.rows, kNoExpr, facts);
    access("multiply", s.last_of_rows(), kNoExpr, facts);
  }

  void turn(const Turn& s, const Facts& facts) {
    corners("turn", s.from, s.rows, s.columns, facts);
    corners("turn", s.into, s.columns, s.rows, facts);
  }

  void loads(ExprId id, const Facts& facts, Seen& seen) {
    if (id == kNoExpr || seen[static_cast<size_t>(id)]) return;
    seen[static_cast<size_t>(id)] = true;
    const Expr& e = kernel_.at(id);
    for_each_operand(e, [&](ExprId operand) { loads(operand, facts, seen); });
    if (const auto* load = e.get_if<Load>()) access("load", load->access, load->mask, facts);
  }

  void access(const char* what, const Access& a, ExprId mask, const Facts& facts) {
    const std::vector<IntExpr>& dims = a.scratch ? kernel_.buffers[static_cast<size_t>(a.array)].dims
                                                 : kernel_.params[static_cast<size_t>(a.array)].dims;
    std::optional<Facts> masked;
    auto proved = [&](const IntExpr& e) {
      // Little effort with the mask comes before much without.
      for (int effort = 0; effort < Facts::kEfforts; ++effort) {
        if (facts.proves(e, effort)) return true;
        if (mask == kNoExpr) continue;
        if (!masked) learn(mask, true, masked.emplace(facts));
        if (masked->proves(e, effort)) return true;
      }
      return false;
    };
    for (size_t d = 0; d < dims.size(); ++d) {
      const IntExpr& i = a.index[d];
      if (!proved(i)) blame(what, a, mask, d, fmt::format("{} >= 0", i.str()));
      if (!proved(dims[d] - 1 - i)) blame(what, a, mask, d, fmt::format("{} < {}", i.str(), dims[d].str()));
    }
  }

  [[noreturn]] void blame(const char* what, const Access& a, ExprId mask, size_t d, const std::string& goal) const {
    std::string place;
    for (const std::string& line : around_) place += (place.empty() ? "" : ", ") + line;
    if (mask != kNoExpr) place += ", masked by " + expr_text(kernel_, mask);
    fail(kernel_, "{} {}: index {} is not proved inside its dimension: {} does not follow from {}", what,
         access_text(kernel_, a), d, goal, place);
  }

  // What a condition that is true (or false) says of indices.
  void learn(ExprId id, bool truth, Facts& facts) const {
    const auto* condition = resolved(id).get_if<Apply>();
    if (!condition) return;
    const auto& [op, args] = *condition;
    if (op == Op::Not) return learn(args[0], !truth, facts);
    if ((op == Op::And && truth) || (op == Op::Or && !truth)) {
      learn(args[0], truth, facts);
      learn(args[1], truth, facts);
      return;
    }
    if (args.size() != 2) return;
    const auto a = index_value(args[0]), b = index_value(args[1]);
    if (!a || !b) return;
    const auto less = [&](const IntExpr& x, const IntExpr& y) { facts.add(y - x - 1); };
    const auto at_most = [&](const IntExpr& x, const IntExpr& y) { facts.add(y - x); };
    switch (op) {
      case Op::Lt: return truth ? less(*a, *b) : at_most(*b, *a);
      case Op::Le: return truth ? at_most(*a, *b) : less(*b, *a);
      case Op::Gt: return truth ? less(*b, *a) : at_most(*a, *b);
      case Op::Ge: return truth ? at_most(*b, *a) : less(*a, *b);
      case Op::Eq:
      case Op::Ne:
        if (truth != (op == Op::Eq)) return;
        at_most(*a, *b);
        return at_most(*b, *a);
      default: return;
    }
  }

  // A local that was named once is what it was named for.
  const Expr& resolved(ExprId id) const {
    const auto* read = kernel_.at(id).get_if<ReadLocal>();
    const ExprId named = read ? value_of_[static_cast<size_t>(read->local)] : kNoExpr;
    return named == kNoExpr ? kernel_.at(id) : resolved(named);
  }

  // An i64 as an index expression, if it is one.
  std::optional<IntExpr> index_value(ExprId id) const {
    if (kernel_.at(id).dtype != DType::I64) return std::nullopt;
    if (const auto* read = kernel_.at(id).get_if<ReadLocal>())
      if (index_named_by(kernel_, read->local)) return IntExpr::symbol(Symbol::local(read->local));
    const Expr& e = resolved(id);
    if (const auto* index = e.get_if<IndexValue>()) return index->value;
    if (const auto* constant = e.get_if<Const>()) return constant->value.i;
    return std::nullopt;
  }

  const Kernel& kernel_;
  Proved& proved_;
  std::vector<ExprId> value_of_;  // of locals with a Let, which may have another value in an interior
  std::vector<std::string> around_;
};

}  // namespace

void verify_accesses(const Kernel& kernel, Proved& proved) { Accesses(kernel, proved).run(); }

}  // namespace smelt::kernel
