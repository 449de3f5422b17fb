#include "kernel/draw_pattern.hpp"

#include <algorithm>

#include "kernel/offset.hpp"

namespace smelt::kernel {

int DrawPattern::count() const { return (*std::max_element(words.begin(), words.end()) / 4 + 1) * 4; }

bool LaneDraw::shared_by(int lanes) const {
  return static_cast<int>(words.size()) >= lanes &&
         std::all_of(words.begin(), words.begin() + lanes, [&](int w) { return w - words[0] < 4 * lanes; });
}

int LaneDraw::count(int lanes) const { return (*std::max_element(words.begin(), words.begin() + lanes) / 4 + 1) * 4; }

std::optional<DrawPattern> draw_pattern(const IntExpr& element, const Loop& loop, int lanes, int unit,
                                        const Ranges& ranges) {
  const Symbol quarter = Symbol::loop("q");
  // A local may be another in each lane: an index that was gathered.
  if (element.any_symbol([](Symbol s) { return s.is_local(); })) return std::nullopt;
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

std::optional<LaneDraw> lane_draw(const IntExpr& element, const Loop& loop, const Ranges& ranges) {
  if (!element.mentions(loop.var) || (loop.begins == 0 ? loop.lanes : loop.begins) % 4 != 0) return std::nullopt;
  for (const int lanes : {loop.lanes, 16, 8, 4}) {
    const auto pattern = lanes <= loop.lanes ? draw_pattern(element, loop, lanes, 4, ranges) : std::nullopt;
    if (!pattern) continue;
    const auto& terms = pattern->quarters.terms();
    const bool aligned = std::all_of(terms.begin(), terms.end(), [](const auto& t) { return t.coefficient % 4 == 0; });
    return LaneDraw{pattern->base, pattern->words, aligned};
  }
  return std::nullopt;
}

}  // namespace smelt::kernel
