#include "base/nearest.hpp"

#include <algorithm>

namespace smelt {

// Edits (insert, delete, replace, swap of neighbours) from a to b.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  std::string best;
  size_t best_distance = word.size() < 3 ? 2 : word.size() / 3 + 1;  // this many edits are too many
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 64) continue;
    const size_t edits = distance(word, candidate);
    if (edits < best_distance && edits < candidate.size()) best = candidate, best_distance = edits;
  }
  return best;
}

}  // namespace smelt
