// From the sizes of a call's arrays to the values of the program's size symbols.
#include <fmt/format.h>

#include <optional>

#include "base/check.hpp"
#include "graph/graph.hpp"

namespace smelt {

namespace {

struct Binding {
  SizeBinding sizes;
  std::map<Symbol, std::string> found_in;  // symbol -> "axis 0 of input x"
};

std::string input_text(const Graph& graph, size_t i) {
  const Node& node = graph.at(graph.inputs[i]);
  return node.name.empty() ? fmt::format("input {}", i) : fmt::format("input {}", node.name);
}

std::string type_text(const Node& node) {
  return fmt::format("{}{}", name_of(node.dtype), node.shape.empty() ? "" : str(node.shape));
}

void check_ranks(const Graph& graph, const std::vector<Dims>& input_dims) {
  if (input_dims.size() != graph.inputs.size())
    throw UserError(
        fmt::format("the program has {} inputs, and {} arrays are given", graph.inputs.size(), input_dims.size()));
  for (size_t i = 0; i < input_dims.size(); ++i) {
    const Node& node = graph.at(graph.inputs[i]);
    if (input_dims[i].size() != node.shape.size())
      throw UserError(fmt::format("{} is {}, of rank {}, but the array has shape {}, of rank {}", input_text(graph, i),
                                  type_text(node), node.shape.size(), str(input_dims[i]), input_dims[i].size()));
    element_count(input_dims[i]);
  }
}

// The one symbol of `size` that has no value yet.
std::optional<Symbol> only_unknown(const IntExpr& size, const SizeBinding& known) {
  std::optional<Symbol> unknown;
  for (const Symbol s : size.symbols()) {
    if (known.count(s)) continue;
    if (unknown) return std::nullopt;
    unknown = s;
  }
  return unknown;
}

// The value of `symbol` that makes `size` equal `value`, when size is linear in it: a * symbol + b.
std::optional<int64_t> solve(const IntExpr& size, Symbol symbol, int64_t value, const SizeBinding& known) {
  const auto coefficient = size.coefficient_of(symbol);
  if (!coefficient) return std::nullopt;
  const __int128 a = coefficient->evaluate(known);
  const __int128 b = (size - *coefficient * IntExpr::symbol(symbol)).evaluate(known);
  if (a == 0 || (value - b) % a != 0) return std::nullopt;
  const __int128 solution = (value - b) / a;
  if (solution < 0 || solution > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(solution);
}

// Finds more symbols by one walk over the inputs; false when none was left to find. Sizes that are
// a symbol alone come first: where another disagrees, that one is wrong.
bool bind_more(const Graph& graph, const std::vector<Dims>& input_dims, bool alone, Binding& binding) {
  bool found = false;
  for (size_t i = 0; i < input_dims.size(); ++i) {
    const Shape& shape = graph.at(graph.inputs[i]).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].constant() || (alone && !shape[d].as_symbol())) continue;
      const auto symbol = only_unknown(shape[d], binding.sizes);
      if (!symbol) continue;
      const auto value = solve(shape[d], *symbol, input_dims[i][d], binding.sizes);
      if (!value) continue;
      binding.sizes[*symbol] = *value;
      binding.found_in[*symbol] = fmt::format("axis {} of {}", d, input_text(graph, i));
      found = true;
    }
  }
  return found;
}

// "B is 4 (axis 0 of input x)"
std::string values_text(const std::vector<Symbol>& symbols, const Binding& binding) {
  std::string text;
  for (const Symbol s : symbols)
    text += fmt::format("{}{} is {} ({})", text.empty() ? "" : ", ", s, binding.sizes.at(s), binding.found_in.at(s));
  return text;
}

void check_size(const Graph& graph, size_t i, size_t d, int64_t given, const Binding& binding) {
  const Node& node = graph.at(graph.inputs[i]);
  const IntExpr& size = node.shape[d];
  const std::string place =
      fmt::format("{} is {}, but axis {} of the array has size {}", input_text(graph, i), type_text(node), d, given);
  const std::vector<Symbol> symbols = size.symbols();
  for (const Symbol s : symbols)
    if (!binding.sizes.count(s)) {
      const std::string why =
          only_unknown(size, binding.sizes) && size.coefficient_of(s)
              ? fmt::format("no {} of 0 or more makes {} that", s, size.str())
              : fmt::format("{} cannot be found from it: declare an input with a size {} alone", s, s);
      throw UserError(fmt::format("{}: {}", place, why));
    }
  const int64_t expected = size.evaluate(binding.sizes);
  if (expected == given) return;
  if (symbols.empty()) throw UserError(fmt::format("{}, not {}", place, expected));
  throw UserError(fmt::format("{}, not {}: {}", place, expected, values_text(symbols, binding)));
}

}  // namespace

bool holds(const Constraint& c, const SizeBinding& sizes) {
  const int64_t left = c.left.evaluate(sizes), right = c.right.evaluate(sizes);
  switch (c.kind) {
    case Constraint::Equal: return left == right;
    case Constraint::AtLeast: return left >= right;
    case Constraint::Divisible: return right != 0 && left % right == 0;
  }
  return false;
}

SizeBinding bind_sizes(const Graph& graph, const std::vector<Dims>& input_dims) {
  check_ranks(graph, input_dims);
  Binding binding;
  bind_more(graph, input_dims, true, binding);
  while (bind_more(graph, input_dims, false, binding)) {
  }
  for (size_t i = 0; i < input_dims.size(); ++i)
    for (size_t d = 0; d < input_dims[i].size(); ++d) check_size(graph, i, d, input_dims[i][d], binding);
  for (const Constraint& c : graph.constraints) {
    if (holds(c, binding.sizes)) continue;
    std::vector<Symbol> symbols = c.left.symbols();
    c.right.collect_symbols(symbols);
    throw UserError(fmt::format("{}; here {}", c.message, values_text(symbols, binding)));
  }
  return std::move(binding.sizes);
}

}  // namespace smelt
