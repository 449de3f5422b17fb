#include "base/line_diff.hpp"

#include <algorithm>
#include <sstream>

namespace smelt {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

// The longest common subsequence of what lies between the common first and last lines.
std::vector<std::string> changed_lines(const std::string& before, const std::string& after) {
  std::vector<std::string> a = lines_of(before), b = lines_of(after);
  const auto [first_a, first_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  a.erase(a.begin(), first_a), b.erase(b.begin(), first_b);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.pop_back(), b.pop_back();
  const size_t n = a.size(), m = b.size();
  std::vector<std::vector<int>> common(n + 1, std::vector<int>(m + 1, 0));
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<std::string> changed;
  for (size_t i = 0, j = 0; i < n || j < m;) {
    if (i < n && j < m && a[i] == b[j]) {
      ++i, ++j;
    } else if (j == m || (i < n && common[i + 1][j] >= common[i][j + 1])) {
      changed.push_back("- " + a[i++]);
    } else {
      changed.push_back("+ " + b[j++]);
    }
  }
  return changed;
}

}  // namespace smelt
