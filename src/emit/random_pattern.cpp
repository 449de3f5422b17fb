#include "emit/random_pattern.hpp"

#include <algorithm>

namespace smelt::emit {

int DrawPattern::count() const { return (*std::max_element(words.begin(), words.end()) / 4 + 1) * 4; }

static int64_t constant_term(const IntExpr& e) {
  for (const IntExpr::Term& t : e.terms())
    if (t.atoms.empty()) return t.coefficient;
  return 0;
}

std::optional<DrawPattern> draw_pattern(const IntExpr& element, const kernel::Stmt& loop, int lanes, int unit,
                                        const Ranges& ranges) {
  const std::string quarter = "%q";
  std::vector<std::string> symbols;
  element.collect_symbols(symbols);
  // A local, "%v3", may be another in each lane: an index that was gathered.
  const auto is_local = [](const std::string& s) { return s.size() > 2 && s[1] == 'v' && s[2] >= '0' && s[2] <= '9'; };
  if (std::any_of(symbols.begin(), symbols.end(), is_local)) return std::nullopt;
  Ranges inside = ranges;
  inside[quarter] = {0, loop.extent - 1};
  DrawPattern pattern;
  IntExpr first;
  for (int l = 0; l < lanes; ++l) {
    const IntExpr at = element.substitute({{loop.var, IntExpr::symbol(quarter) * unit + l}}, inside);
    if (l == 0) {
      first = at;
      const int64_t rest = constant_term(at) & 3;
      pattern.base = element - rest;
      pattern.quarters = at - rest;
      pattern.words.push_back(static_cast<int>(rest));
      continue;
    }
    const auto step = (at - first).constant();
    if (!step || *step < 0 || *step >= int64_t{4} * lanes) return std::nullopt;
    pattern.words.push_back(pattern.words[0] + static_cast<int>(*step));
  }
  return pattern;
}

}  // namespace smelt::emit
