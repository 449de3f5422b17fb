// smelt ops: the table of scalar operations, made from ops.def.
#include "ops/op.hpp"

#include <fmt/format.h>

#include "arguments.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

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

nlohmann::ordered_json json_of_ops() {
  using nlohmann::ordered_json;
  ordered_json ops = ordered_json::array();
  for (int i = 0; i < kOpCount; ++i) {
    const OpInfo& op = row(i);
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
    ops.push_back(entry);
  }
  return {{"ops", ops}};
}

}  // namespace

int run_ops(const OpsOptions& options) {
  const Output output(options.common);
  check_device_name(options.common);  // the table is the same everywhere, and yet a wrong name is a mistake
  const report::Table table = table_of_ops();
  output.text(options.markdown ? table.markdown() : table.str(0, 2));
  output.json(json_of_ops());
  return kFine;
}

}  // namespace smelt::tool
