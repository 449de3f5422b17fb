#include "report/table.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "report/units.hpp"

namespace smelt::report {
namespace {

std::string padded(const std::string& text, size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return align == Align::Left ? text + blanks : blanks + text;
}

// A bar would end the cell.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  SMELT_CHECK(cells.size() == columns_.size(), "a row of {} cells in a table of {} columns", cells.size(),
              columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::str(int indent, int gap) const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  if (std::any_of(titles.begin(), titles.end(), [](const auto& t) { return !t.empty(); })) lines.push_back(titles);
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& line : lines)
    for (size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], display_width(line[c]));

  std::string out;
  for (const auto& cells : lines) {
    std::string line(static_cast<size_t>(indent), ' ');
    for (size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) line.append(static_cast<size_t>(gap), ' ');
      line += padded(cells[c], widths[c], columns_[c].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string Table::markdown() const {
  std::string out = "|", rule = "|";
  for (const Column& column : columns_) {
    out += ' ' + escaped(column.title) + " |";
    rule += column.align == Align::Left ? "---|" : "---:|";
  }
  out += '\n' + rule + '\n';
  for (const auto& row : rows_) {
    out += '|';
    for (const std::string& cell : row) out += ' ' + escaped(cell) + " |";
    out += '\n';
  }
  return out;
}

}  // namespace smelt::report
