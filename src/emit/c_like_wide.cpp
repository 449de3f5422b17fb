// Neighbouring elements that one thread accesses one by one become one access of up to 16 bytes: rows of a stencil, where every column
// of a thread is an expression of its own.
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "kernel/conditions.hpp"
#include "kernel/offset.hpp"

namespace smelt::emit::c_like {
namespace {

// What stands under conditions that are one where `conditions` hold.
template <class T>
struct Alike {
  std::vector<T> members;
  std::vector<IntExpr> conditions;
  void add(T member, std::vector<IntExpr> asked) {
    members.push_back(member);
    conditions.insert(conditions.end(), asked.begin(), asked.end());
  }
};

}  // namespace

// Whether the value is always a multiple of n. `conditions` gets what must hold of the sizes for that.
bool PhasePrinter::multiple_of(const IntExpr& e, int64_t n, std::vector<IntExpr>& conditions) const {
  for (const IntExpr::Term& term : e.terms()) {
    if (term.coefficient % n == 0) continue;
    const auto size = std::find_if(term.atoms.begin(), term.atoms.end(), [&](const IntExpr::AtomPtr& a) {
      return a->symbol && kernel::is_argument(kernel_, *a->symbol);
    });
    if (size == term.atoms.end() || variant_.form == kernel::Variant::Form::Odd) return false;
    conditions.push_back(-mod(IntExpr::symbol(*(*size)->symbol), n));
  }
  return true;
}

// This variant runs only where these hold.
void PhasePrinter::ask(const std::vector<IntExpr>& conditions) {
  asks_for_multiples_ = asks_for_multiples_ || !conditions.empty();
  conditions_.insert(conditions_.end(), conditions.begin(), conditions.end());
}

// Runs of places that follow each other in one array, `most` at a time and beginning at a multiple of that: each as positions in `places`.
std::vector<std::vector<size_t>> PhasePrinter::runs_of(const std::vector<Place>& places) {
  struct Row {
    std::string base;
    IntExpr start;
    std::map<int64_t, size_t> at;  // by offset from the start
  };
  std::vector<Row> rows;
  for (size_t i = 0; i < places.size(); ++i) {
    const Place& p = places[i];
    std::optional<int64_t> offset;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) {
      if (r.base != p.base) return false;
      offset = (p.offset - r.start).constant();
      return offset.has_value();
    });
    if (row == rows.end()) row = rows.insert(rows.end(), {p.base, p.offset, {}}), offset = 0;
    row->at.try_emplace(*offset, i);
  }
  std::vector<std::vector<size_t>> runs;
  for (const Row& row : rows)
    for (auto it = row.at.begin(); it != row.at.end();) {
      const Place& first = places[it->second];
      std::vector<size_t> run;
      std::vector<IntExpr> conditions;
      for (int most = 16 / size_of(first.dtype); most > 1 && run.empty(); most /= 2) {
        conditions.clear();
        if (!multiple_of(first.offset, most, conditions)) continue;
        for (int k = 0; k < most; ++k)
          if (const auto next = row.at.find(it->first + k); next != row.at.end()) run.push_back(next->second);
        if (static_cast<int>(run.size()) < most) run.clear();
      }
      if (run.empty()) {
        ++it;
        continue;
      }
      ask(conditions);
      if (first.param >= 0) {
        int& alignment = alignment_[static_cast<size_t>(first.param)];
        alignment = std::max(alignment, static_cast<int>(run.size()) * size_of(first.dtype));
      }
      std::advance(it, run.size());
      runs.push_back(std::move(run));
    }
  return runs;
}

bool PhasePrinter::is_zero(ExprId id) const {
  const Scalar* known = kernel_.constant_at(id);
  if (!known) return false;
  if (!is_float(known->dtype)) return known->i == 0 && known->u == 0;
  return known->f == 0 && !std::signbit(known->f);
}

// A text that two conditions have in common only when both hold or neither does. Of neighbours between the same multiples
// of n (or of half of it): 4 * i + 2 < W and 4 * i + 3 < W are one where W is a multiple of 4, which `conditions` then asks.
std::string PhasePrinter::condition_key(ExprId id, int n, std::vector<IntExpr>& conditions) const {
  if (id == kNoExpr) return "";
  const std::string itself = fmt::format("#{}", id);
  const auto* e = kernel_.at(id).get_if<Apply>();
  if (!e || e->args.size() != 2) return itself;
  if (e->op == Op::And) {
    std::string a = condition_key(e->args[0], n, conditions), b = condition_key(e->args[1], n, conditions);
    if (b < a) std::swap(a, b);
    return a == b ? a : a + " & " + b;
  }
  const auto at_least_zero = kernel::holds_where(kernel_, *e);
  if (!at_least_zero) return itself;
  const IntExpr& left = *at_least_zero;
  const int64_t constant = kernel::constant_term(left);
  for (; n > 1; n /= 2) {
    std::vector<IntExpr> asked;
    if (!multiple_of(left - constant, n, asked)) continue;
    conditions.insert(conditions.end(), asked.begin(), asked.end());
    return (left - ((constant % n) + n) % n).str();
  }
  return left.str();
}

// Loads of the block that follow each other, under one mask, are made ahead together.
std::vector<ExprId> PhasePrinter::wide_loads(const std::vector<const Stmt*>& stmts) {
  std::vector<ExprId> made;
  if (!variant_.vectors || vector_.count() != 1) return made;
  std::map<std::pair<std::string, ExprId>, Alike<ExprId>> by_mask;
  std::set<int> given;  // locals and scratch that get values in the block
  for (const Stmt* s : stmts) {
    if (const auto local = given_by(*s)) given.insert(*local);
    if (const auto* store = s->get_if<Store>(); store && store->access.scratch)
      given.insert(uses_.resource(store->access));
  }
  const auto depends = [&](ExprId id) {
    const auto& on = uses_.dependencies_of(id);
    return std::any_of(on.begin(), on.end(), [&](int resource) { return given.count(resource) > 0; });
  };
  const auto may_be_wide = [&](const Access& access) {
    const auto array = static_cast<size_t>(access.array);
    if (access.scratch) return !is_private(access.array);
    return !uses_.stored[array] && kernel_.params[array].kind != ParamKind::Scalar;
  };
  visit_unknown(stmts, [&](ExprId id, const Expr& e) {
    const auto* load = e.get_if<Load>();
    if (!load || early_.count(id) || depends(id) || !may_be_wide(load->access)) return;
    if (load->other != kNoExpr && !kernel_.constant_at(load->other)) return;
    std::vector<IntExpr> asked;
    const std::string mask = condition_key(load->mask, 16 / size_of(place(load->access).dtype), asked);
    by_mask[{mask, load->other}].add(id, std::move(asked));
  });
  for (auto& [key, alike] : by_mask) {
    std::vector<ExprId>& loads = alike.members;
    std::sort(loads.begin(), loads.end());
    const std::pair<ExprId, ExprId> mask{load_at(loads[0]).mask, key.second};
    std::vector<Place> places;
    for (const ExprId id : loads) places.push_back(place(load_at(id).access));
    for (const std::vector<size_t>& run : runs_of(places)) {
      const Place& first = places[run[0]];
      const std::string vec = fmt::format("Vec<{}, {}>", memory_type(first.dtype), run.size());
      const std::string name = fmt::format("w{}", names_++);
      ask(alike.conditions);
      const std::string from = fmt::format("*(const {}*)({} + {})", vec, first.base, integer(first.offset));
      const bool in_scratch = first.param < 0;  // as it is in registers
      if (mask.first == kNoExpr) {
        line("const {} {} = {};", vec, name, from);
      } else {
        const std::string condition = value(mask.first);
        line("{} {} = {{}};", vec, name);
        line("if ({}) {} = {};", condition, name, from);
      }
      for (size_t k = 0; k < run.size(); ++k) {
        const std::string element = fmt::format("{}.at[{}]", name, k);
        const std::string text = in_scratch ? element : from_memory(first.dtype, element);
        const ExprId id = loads[run[k]];
        // Bits of zero are the number 0 of every type.
        early_[id] = mask.first == kNoExpr || is_zero(mask.second)
                         ? text
                         : fmt::format("({} ? {} : {})", value(mask.first), text, value(mask.second));
        made.push_back(id);
      }
    }
  }
  return made;
}

// Stores of the block that follow each other are collected, and written behind it.
std::vector<PhasePrinter::WideStore> PhasePrinter::collect_stores(const std::vector<const Stmt*>& stmts) {
  std::vector<WideStore> wide;
  if (!variant_.vectors || vector_.count() != 1) return wide;
  std::map<std::string, Alike<const Store*>> by_mask;
  for (const Stmt* stmt : stmts) {
    const auto* s = stmt->get_if<Store>();
    if (!s || s->access.scratch || s->atomic) continue;
    std::vector<IntExpr> asked;
    const int most = 16 / size_of(kernel_.params[static_cast<size_t>(s->access.array)].dtype);
    const std::string mask = condition_key(s->mask, most, asked);
    by_mask[mask].add(s, std::move(asked));
  }
  for (const auto& [key, alike] : by_mask) {
    const std::vector<const Store*>& stores = alike.members;
    const ExprId mask = stores[0]->mask;
    std::vector<Place> places;
    for (const Store* s : stores) places.push_back(place(s->access));
    for (const std::vector<size_t>& run : runs_of(places)) {
      const Place& first = places[run[0]];
      const std::string vec = fmt::format("Vec<{}, {}>", memory_type(first.dtype), run.size());
      const std::string name = fmt::format("w{}", names_++);
      ask(alike.conditions);
      line("{} {};", vec, name);
      std::vector<const Store*> parts;
      for (size_t k = 0; k < run.size(); ++k) {
        wide_stores_[stores[run[k]]] = {fmt::format("{}.at[{}]", name, k), first.dtype};
        parts.push_back(stores[run[k]]);
      }
      wide.push_back({parts, mask, fmt::format("*({}*)({} + {}) = {};", vec, first.base, integer(first.offset), name)});
    }
  }
  return wide;
}

}  // namespace smelt::emit::c_like
