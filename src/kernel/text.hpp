// How the parts of a Kernel are called in print() and in messages.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

std::string_view name_of(LoopKind kind);
std::string_view name_of(Scope scope);
std::string_view name_of(RawOp op);
std::string name_of(const Variant& variant);  // "held fast"

std::string param_name(const Kernel& kernel, int param);       // "in0", "out1", "tmp2", "scalar3", "size4"
std::string access_text(const Kernel& kernel, const Access&);  // "in0[%i0, %i1 + 1]"
std::string expr_text(const Kernel& kernel, ExprId expr);      // on one line, cut short when long
// The text of one expression, given how its operands are written.
using OperandText = std::function<std::string(ExprId)>;
std::string text_of(const Kernel& kernel, const Expr& e, const OperandText& operand);
bool is_leaf(const Expr& e);                    // never too long for its statement
bool is_open(const Expr& e, const Expr& user);  // printed in parentheses as an operand of `user`

// The variants of a phase, and how they run a loop of it: a line each.
std::vector<std::string> lines_of(const Kernel& kernel, const Phase& phase);
std::vector<std::string> lines_of(const Kernel& kernel, const Phase& phase, const Loop& loop);

}  // namespace smelt::kernel
