// Random words. The neighbours of a thread share blocks of Philox: their words are computed before
// the loop over them.
#include <fmt/ranges.h>

#include <map>

#include "emit/c_like.hpp"
#include "emit/c_like_phase.hpp"

namespace smelt::emit::c_like {

using philox::Draw;

bool draws(const Kernel& kernel) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [](const Expr& e) { return e.is<Random>(); });
}

std::string PhasePrinter::random(const Random& e, const std::vector<std::string>& args) {
  return as_.random_word(used_, static_cast<int>(e.draw), args, integer(e.element));
}

// Computes the words of this group's draws; each lane of them is then as if it had been loaded.
std::vector<ExprId> PhasePrinter::draw_groups(const std::vector<kernel::GroupDraw>& draws) {
  std::vector<ExprId> drawn;
  if (vector_.lanes == 1) return drawn;
  std::map<std::string, std::string> arrays;
  for (const kernel::GroupDraw& group : draws) {
    const ExprId id = group.draw;
    const auto& e = kernel_.at(id).get<Random>();
    std::vector<std::string> args;
    for (const ExprId arg : e.args) args.push_back(value(arg));
    vector_.grouped = true;
    const std::string first = integer(group.base);
    vector_.grouped = false;
    const auto call = [&](const std::string& words) {
      const int draw = static_cast<int>(e.draw);
      if (looped_) return as_.random_words(used_, draw, group.aligned, args, first, words);
      return fmt::format("{}<{}, {}, {}>({}, (Counter){}, {});", used_("random_words"), group.count(), group.aligned,
                         draw, fmt::join(args, ", "), first, words);
    };
    auto [array, fresh] = arrays.try_emplace(call(""), "");
    if (fresh) {
      array->second = fmt::format("w{}", names_++);
      line("unsigned {}[{}];", array->second, group.count());
      line("{}", call(array->second));
    }
    std::string list;
    for (const int word : group.words) list += fmt::format("{}{}[{}]", list.empty() ? "" : ", ", array->second, word);
    line("const unsigned rn{}[{}] = {{{}}};", id, vector_.lanes, list);
    early_[id] = fmt::format("rn{}[l]", id);
    drawn.push_back(id);
  }
  return drawn;
}

}  // namespace smelt::emit::c_like
