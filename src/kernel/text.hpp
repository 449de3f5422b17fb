// How the parts of a Kernel are called in print() and in messages.
#pragma once

#include <string>
#include <string_view>

#include "kernel/kernel.hpp"

namespace smelt::kernel {

std::string_view name_of(LoopKind kind);
std::string_view name_of(Scope scope);
std::string_view name_of(RawOp op);

std::string param_name(const Kernel& kernel, int param);       // "in0", "out1", "tmp2", "scalar3", "size4"
std::string access_text(const Kernel& kernel, const Access&);  // "in0[%i0, %i1 + 1]"
std::string expr_text(const Kernel& kernel, ExprId expr);      // on one line, cut short when long

}  // namespace smelt::kernel
