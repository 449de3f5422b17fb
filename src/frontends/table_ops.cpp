// The operations of the op table. A new row of ops.def is a function of the language without a word
// here; this file adds the other names that NumPy, the Array API standard and PyTorch have for
// some.
#include "frontends/function_table.hpp"

namespace smelt::lang {

static constexpr std::pair<Op, std::string_view> kAliases[] = {
    {Op::Sub, "sub"},
    {Op::Mul, "mul"},
    {Op::Div, "div true_divide"},
    {Op::FloorDiv, "floordiv"},
    {Op::Mod, "mod"},
    {Op::Pow, "power"},
    {Op::Neg, "neg"},
    {Op::Abs, "absolute fabs"},
    {Op::Sign, "sgn"},
    {Op::Trunc, "fix"},
    {Op::Round, "rint around"},
    {Op::Asin, "arcsin"},
    {Op::Acos, "arccos"},
    {Op::Atan, "arctan"},
    {Op::Atan2, "arctan2"},
    {Op::Asinh, "arcsinh"},
    {Op::Acosh, "arccosh"},
    {Op::Atanh, "arctanh"},
    {Op::Eq, "eq"},
    {Op::Ne, "ne"},
    {Op::Lt, "lt"},
    {Op::Le, "le"},
    {Op::Gt, "gt"},
    {Op::Ge, "ge"},
    {Op::Not, "bitwise_invert invert"},
    {Op::ShiftLeft, "bitwise_left_shift"},
    {Op::ShiftRight, "bitwise_right_shift"},
};

static Row row_of(const OpInfo& op) {
  Row row{op.name, "", "", op.doc, nullptr};
  for (const auto& [other, aliases] : kAliases)
    if (other == op.op) row.aliases = aliases;
  constexpr std::string_view kSignatures[] = {"", "a", "a, b", "a, b, c"};
  row.signature = kSignatures[op.arity];
  if (op.rule == TypeRule::Select) {
    row.signature = "condition, x, y";
    row.doc = "x where condition is true, else y";
  }
  return row;
}

std::span<const Row> op_rows() {
  static const auto* rows = [] {  // never destroyed, as the table
    auto* made = new std::vector<Row>;
    for (int i = 0; i < kOpCount; ++i) made->push_back(row_of(info(static_cast<Op>(i))));
    return made;
  }();
  return *rows;
}

}  // namespace smelt::lang
