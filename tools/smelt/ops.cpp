// smelt ops: the table of scalar operations, made from ops.def, or one function of the language.
#include "ops/op.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arguments.hpp"
#include "frontends/function_table.hpp"
#include "frontends/names_elsewhere.hpp"
#include "options.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/units.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

const OpInfo& row(int i) { return info(static_cast<Op>(i)); }

// "ints, floats" where whole families are taken, single names otherwise.
std::string types_text(Op op) {
  struct Family {
    const char* name;
    bool (*has)(DType);
  };
  static constexpr Family families[] = {{"bool", is_bool}, {"ints", is_int}, {"floats", is_float}};
  std::string out;
  const auto add = [&](std::string_view word) { out += (out.empty() ? "" : ", ") + std::string(word); };
  for (const Family& family : families) {
    int members = 0, taken = 0;
    for (const DType dtype : kAllDTypes) {
      members += family.has(dtype);
      taken += family.has(dtype) && accepts(op, dtype);
    }
    if (taken == members) {
      add(family.name);
      continue;
    }
    for (const DType dtype : kAllDTypes)
      if (family.has(dtype) && accepts(op, dtype)) add(name_of(dtype));
  }
  return out;
}

std::string gives_text(const OpInfo& op) {
  switch (op.rule) {
    case TypeRule::Compare:
    case TypeRule::Test: return "bool";
    case TypeRule::Numeric:
    case TypeRule::Float:
    case TypeRule::Integer:
    case TypeRule::Bits:
    case TypeRule::Any: return "the same";
    case TypeRule::Select: return "as b, c";
  }
  return "";
}

std::string ulp_text(const OpInfo& op, double ulp) {
  if (!op.on_float) return "";
  return ulp == 0 ? "exact" : fmt::format("{}", ulp);
}

report::Table table_of_ops() {
  using report::Align;
  report::Table table({{"name", Align::Left},
                       {"arguments"},
                       {"takes", Align::Left},
                       {"gives", Align::Left},
                       {"ULP f32"},
                       {"ULP f64"},
                       {"meaning", Align::Left}});
  for (int i = 0; i < kOpCount; ++i) {
    const OpInfo& op = row(i);
    table.add({std::string(op.name), fmt::format("{}", op.arity), types_text(op.op), gives_text(op),
               ulp_text(op, op.max_ulp_f32), ulp_text(op, op.max_ulp_f64), std::string(op.doc)});
  }
  return table;
}

nlohmann::ordered_json json_of(const OpInfo& op) {
  using nlohmann::ordered_json;
  ordered_json dtypes = ordered_json::array(), gives = ordered_json::object();
  for (const DType dtype : kAllDTypes) {
    if (!accepts(op.op, dtype)) continue;
    dtypes.push_back(name_of(dtype));
    gives[std::string(name_of(dtype))] = name_of(result_type(op.op, dtype));
  }
  ordered_json entry = {{"name", op.name}, {"arity", op.arity}, {"dtypes", dtypes}, {"gives", gives}};
  entry["max_ulp_f32"] = op.on_float ? ordered_json(op.max_ulp_f32) : ordered_json(nullptr);
  entry["max_ulp_f64"] = op.on_float ? ordered_json(op.max_ulp_f64) : ordered_json(nullptr);
  entry["doc"] = op.doc;
  return entry;
}

// "+" for add: what begins with "a + b" explains the operator.
const OpInfo* op_of_operator(const std::string& symbol) {
  for (int i = 0; i < kOpCount; ++i) {
    const std::string begin = fmt::format("a {} b", symbol), doc(row(i).doc);
    if (doc.rfind(begin, 0) == 0 &&
        (doc.size() == begin.size() || std::string_view(" ;,").find(doc[begin.size()]) != std::string_view::npos))
      return &row(i);
  }
  return nullptr;
}

const lang::Function* find_function(const std::string& name) {
  if (const lang::Function* function = lang::function_named(name)) return function;
  const OpInfo* op = op_of_operator(name);
  return op ? lang::function_named(op->name) : nullptr;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  std::vector<std::string> known;
  for (const lang::Function& function : lang::functions())
    for (const std::string_view n : function.names) known.emplace_back(n);
  const std::string instead(lang::instead_of(name));
  throw UserError(fmt::format("there is no operation or function \"{}\"\nhelp: {}`smelt ops` lists the operations",
                              report::printable(name, 40),
                              instead.empty() ? did_you_mean(name, known) : instead + "; "));
}

std::string describe(const lang::Function& function) {
  report::Table table({{"", report::Align::Left}, {"", report::Align::Left}});
  if (function.names.size() > 1)
    table.add({"also", fmt::format("{}", fmt::join(function.names.begin() + 1, function.names.end(), ", "))});
  if (function.op) {
    const OpInfo& op = info(*function.op);
    table.add({"takes", types_text(op.op)});
    table.add({"gives", gives_text(op)});
    if (op.on_float)
      table.add({"error", op.max_ulp_f32 == 0 && op.max_ulp_f64 == 0
                              ? "none: the result is exact"
                              : fmt::format("at most {} ULP of f32, {} ULP of f64", op.max_ulp_f32, op.max_ulp_f64)});
  } else {
    table.add({"group", std::string(function.group)});
  }
  return fmt::format("{}\n  {}\n{}", lang::signature_of(function), function.row.doc, table.str(2));
}

nlohmann::ordered_json json_of(const lang::Function& function) {
  nlohmann::ordered_json aliases = nlohmann::ordered_json::array();
  for (size_t i = 1; i < function.names.size(); ++i) aliases.push_back(function.names[i]);
  return {{"name", function.row.name},
          {"signature", lang::signature_of(function)},
          {"aliases", aliases},
          {"group", function.group},
          {"doc", function.row.doc}};
}

int run_one(const OpsOptions& options, const Output& output) {
  if (options.markdown)
    throw UserError(
        fmt::format("--markdown prints the whole table, and \"{}\" names one row\nhelp: leave one of them out",
                    report::printable(options.name, 40)));
  const lang::Function* function = find_function(options.name);
  if (!function) fail_unknown(options.name);
  output.text(describe(*function));
  nlohmann::ordered_json ops = nlohmann::ordered_json::array();
  if (function->op) ops.push_back(json_of(info(*function->op)));
  output.json({{"ops", ops}, {"function", json_of(*function)}});
  return kFine;
}

}  // namespace

int run_ops(const OpsOptions& options) {
  const Output output(options.common);
  if (!options.name.empty()) return run_one(options, output);
  const report::Table table = table_of_ops();
  output.text(options.markdown ? table.markdown() : table.str(0, 2));
  nlohmann::ordered_json ops = nlohmann::ordered_json::array();
  for (int i = 0; i < kOpCount; ++i) ops.push_back(json_of(row(i)));
  output.json({{"ops", ops}});
  return kFine;
}

}  // namespace smelt::tool
