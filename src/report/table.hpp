// Text tables with aligned columns.
#pragma once

#include <string>
#include <vector>

namespace smelt::report {

enum class Align : unsigned char { Left, Right };

struct Column {
  std::string title;
  Align align = Align::Right;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);  // one per column
  // Lines that end in a newline each; no line of titles when all of them are empty. Columns are
  // `gap` blanks apart.
  std::string str(int indent = 0, int gap = 3) const;
  std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace smelt::report
