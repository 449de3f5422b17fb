#include "emit/llvm.hpp"

#include <fmt/format.h>

#include <set>

#include "emit/llvm_phase.hpp"

namespace smelt::emit {

using kernel::Kernel;
using kernel::Param;
using kernel::ParamKind;

static std::string_view name_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::Input: return "input";
    case ParamKind::Output: return "output";
    case ParamKind::Temporary: return "temporary";
    case ParamKind::Scalar: return "scalar";
    case ParamKind::Size: return "size";
  }
  return "";
}

static std::string header(const Kernel& kernel) {
  std::string text = fmt::format("; kernel {}\n", kernel.name);
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    if (p.kind == ParamKind::Size) {
      text += fmt::format("; %s{} {} {}", i, name_of(p.kind), comment_text(p.symbol->str()));
    } else {
      text += fmt::format("; %p{} {} {}{}", i, name_of(p.kind), smelt::name_of(p.dtype), comment_text(str(p.dims)));
    }
    text += p.note.empty() ? "\n" : fmt::format("  {}\n", comment_text(p.note));
  }
  return text;
}

std::string emit_llvm(const Kernel& kernel, const LlvmTarget& target) {
  std::set<std::string> declarations;
  std::string phases;
  for (size_t i = 0; i < kernel.phases.size(); ++i)
    phases += "\n" + PhasePrinter(kernel, static_cast<int>(i), target, declarations).print();
  std::string text = header(kernel) + phases + "\n";
  for (const std::string& declaration : declarations) text += declaration + "\n";
  // Without these, targets whose clock drops with wide vectors would split them.
  text += fmt::format(
      "\nattributes #0 = {{ nounwind \"prefer-vector-width\"=\"{0}\" \"min-legal-vector-width\"=\"{0}\" }}\n",
      target.vector_bits);
  return text + "!0 = !{i32 1}\n";
}

IntExpr scratch_bytes(const Kernel& kernel) {
  IntExpr total;
  for (const kernel::ScratchBuffer& buffer : kernel.buffers)
    if (!on_stack(buffer)) total = total + bytes_of(buffer);
  return total;
}

}  // namespace smelt::emit
