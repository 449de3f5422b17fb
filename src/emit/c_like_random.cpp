// Random words. The neighbours of a thread share blocks of Philox: their words are computed before the loop over them.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/random_pattern.hpp"
#include "kernel/lanes.hpp"

namespace smelt::emit::c_like {

using philox::Draw;

constexpr int kBlock = 4;  // words that one run of Philox gives

bool draws(const Kernel& kernel) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [](const Expr& e) { return e.is<Random>(); });
}

std::string PhasePrinter::random(const Random& e, const std::vector<std::string>& args) {
  return as_.random_word(static_cast<int>(e.draw), args, integer(e.element));
}

// Lanes of a loop over all elements that compute a block of random words together.
int PhasePrinter::lanes_of_draws(const Loop& s) const {
  return as_.random_words && kernel::draws(kernel_, s) ? kBlock : 1;
}

// Draws that nothing computed in this block decides over.
std::vector<ExprId> PhasePrinter::early_draws(const std::vector<const Stmt*>& stmts) const {
  std::vector<ExprId> found;
  visit_unknown(stmts, [&](ExprId id, const Expr& e) {
    const auto* random = e.get_if<Random>();
    if (!random || !groups_of_lanes().varies(random->element)) return;
    const auto& depends = uses_.dependencies_of(id);
    const bool computed = std::any_of(depends.begin(), depends.end(), [&](int on) {
      return !uses_.is_local(on) || uses_.local(on).vectors.count(vector_.loop);
    });
    const bool uniform = std::none_of(random->args.begin(), random->args.end(),
                                      [&](ExprId arg) { return groups_of_lanes().varies(arg); });
    if (!computed && uniform) found.push_back(id);
  });
  std::sort(found.begin(), found.end());
  return found;
}

// Computes the words of this group's draws; each lane of them is then as if it had been loaded.
std::vector<ExprId> PhasePrinter::draw_groups(const std::vector<const Stmt*>& stmts) {
  std::vector<ExprId> drawn;
  if (vector_.lanes == 1) return drawn;
  std::map<std::string, std::string> arrays;
  for (const ExprId id : early_draws(stmts)) {
    const auto& e = kernel_.at(id).get<Random>();
    // The groups of the odd form begin anywhere.
    const int unit = vector_.peeled ? 1 : vector_.lanes;
    auto pattern = draw_pattern(e.element, *vector_.loop, vector_.lanes, unit, ranges_);
    if (!pattern || (looped_ && pattern->count() != kBlock)) continue;
    std::vector<IntExpr> needed;
    bool whole = groups_of_lanes().divisible(pattern->quarters, 4, std::nullopt, needed);
    if (whole && (vector_.peeled || looped_) && !needed.empty()) whole = false, needed.clear();
    if (whole && !needed.empty()) {
      asks_for_multiples_ = true;
      conditions_.insert(conditions_.end(), needed.begin(), needed.end());
    }
    std::vector<std::string> args;
    for (const ExprId arg : e.args) args.push_back(value(arg));
    vector_.grouped = true;
    const std::string first = integer(pattern->base);
    vector_.grouped = false;
    const auto call = [&](const std::string& words) {
      const int draw = static_cast<int>(e.draw);
      if (looped_) return as_.random_words(draw, whole, args, first, words);
      return fmt::format("random_words<{}, {}, {}>({}, (Counter){}, {});", pattern->count(), whole, draw,
                         fmt::join(args, ", "), first, words);
    };
    auto [array, fresh] = arrays.try_emplace(call(""), "");
    if (fresh) {
      array->second = fmt::format("w{}", names_++);
      line("unsigned {}[{}];", array->second, pattern->count());
      line("{}", call(array->second));
    }
    std::string list;
    for (const int word : pattern->words)
      list += fmt::format("{}{}[{}]", list.empty() ? "" : ", ", array->second, word);
    line("const unsigned rn{}[{}] = {{{}}};", id, vector_.lanes, list);
    early_[id] = fmt::format("rn{}[l]", id);
    drawn.push_back(id);
  }
  return drawn;
}

}  // namespace smelt::emit::c_like
