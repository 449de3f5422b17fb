#include "frontends/function_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/check.hpp"

namespace smelt::lang {

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  }
  return parts;
}

Function function_of(const Row& row, std::string_view group) {
  Function f{row, group, {row.name}, {}, std::nullopt};
  for (std::string_view alias : split(row.aliases, " ")) f.names.push_back(alias);
  for (std::string_view text : split(row.signature, ", ")) {
    Parameter p;
    p.rest = text.starts_with('*');
    if (p.rest) text.remove_prefix(1);
    const size_t equals = text.find('=');
    p.name = text.substr(0, equals);
    if (equals != std::string_view::npos) p.default_text = text.substr(equals + 1);
    f.parameters.push_back(p);
  }
  if (!row.build) f.op = op_from_name(row.name);
  SMELT_CHECK(row.build || f.op, "row {} names no operation", row.name);
  return f;
}

struct Table {
  std::vector<Function> functions;
  std::map<std::string_view, const Function*> by_name;
};

Table make_table() {
  const std::pair<std::string_view, std::span<const Row>> groups[] = {
      {"Elementwise", op_rows()},
      {"Activations and quantisation", activation_rows()},
      {"Reductions", reduction_rows()},
      {"Scans", scan_rows()},
      {"Normalisation and losses", normalization_rows()},
      {"Products", product_rows()},
      {"Movement", movement_rows()},
      {"Windows", window_rows()},
      {"Creation and casts", creation_rows()},
      {"Gathers and parts", gather_rows()},
      {"Scatters", scatter_rows()},
      {"Random numbers", random_rows()},
      {"Gradients", gradient_rows()}};
  Table table;
  for (const auto& [group, rows] : groups)
    for (const Row& row : rows) table.functions.push_back(function_of(row, group));
  for (const Function& f : table.functions)
    for (std::string_view name : f.names)
      SMELT_CHECK(table.by_name.emplace(name, &f).second, "two functions are called {}", name);
  return table;
}

const Table& table() {
  static const auto* made = new Table(make_table());  // never destroyed: destructors of static objects may use it
  return *made;
}

}  // namespace

std::span<const Function> functions() { return table().functions; }

const Function* function_named(std::string_view name) {
  const auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : found->second;
}

std::string_view name_in_table(const Function& function, std::string_view written) {
  const auto found = std::find(function.names.begin(), function.names.end(), written);
  return found == function.names.end() ? function.row.name : *found;
}

std::string signature_of(const Function& function) {
  return fmt::format("{}({})", function.row.name, function.row.signature);
}

std::string function_reference() {
  std::string text;
  std::string_view group;
  for (const Function& f : functions()) {
    if (f.group != group) {
      group = f.group;
      text +=
          fmt::format("{}### {}\n\n| function | also | meaning |\n|---|---|---|\n", text.empty() ? "" : "\n", group);
    }
    std::string doc;
    for (char c : f.row.doc) doc += c == '|' ? "\\|" : std::string(1, c);
    const std::vector<std::string_view> aliases(f.names.begin() + 1, f.names.end());
    text += fmt::format("| `{}` | {} | {} |\n", signature_of(f),
                        aliases.empty() ? "" : fmt::format("`{}`", fmt::join(aliases, "` `")), doc);
  }
  return text;
}

}  // namespace smelt::lang
