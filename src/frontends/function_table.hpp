// The functions of the language in one table: calls, methods, suggestions and the manual's list all
// come from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/value.hpp"

namespace smelt::lang {

class Call;

// A row as it is written down. The signature is that of Python: "x, axis=None, *shape"; a star
// takes the rest of the arguments, or a tuple.
struct Row {
  std::string_view name;
  std::string_view aliases;  // separated by blanks
  std::string_view signature;
  std::string_view doc;
  Value (*build)(Call&);  // empty: the operation of the op table of this name
};

struct Parameter {
  std::string_view name;
  std::string_view default_text;  // empty: required
  bool rest = false;
};

struct Function {
  Row row;
  std::string_view group;
  std::vector<std::string_view> names;  // the row's name, then its aliases
  std::vector<Parameter> parameters;
  std::optional<Op> op;
};

// All functions, by group, and the one of a name or alias. Built once, never changed.
std::span<const Function> functions();
const Function* function_named(std::string_view name);
// As the user wrote it: the table's own text, never the user's.
std::string_view name_in_table(const Function& function, std::string_view written);

// The rows of each group (table_*.cpp).
std::span<const Row> op_rows();
std::span<const Row> activation_rows();
std::span<const Row> reduction_rows();
std::span<const Row> scan_rows();
std::span<const Row> scatter_rows();
std::span<const Row> normalization_rows();
std::span<const Row> product_rows();
std::span<const Row> movement_rows();
std::span<const Row> window_rows();
std::span<const Row> creation_rows();
std::span<const Row> gather_rows();
std::span<const Row> random_rows();
std::span<const Row> gradient_rows();

// "softmax(x, axis=-1)".
std::string signature_of(const Function& function);
// The list for docs/language.md: a heading and a table per group.
std::string function_reference();

}  // namespace smelt::lang
