// The functions of a phase: one that is fast where sizes and addresses allow, and one that takes
// all of them.
#include <algorithm>

#include "base/check.hpp"
#include "emit/c_like_phase.hpp"
#include "emit/llvm_types.hpp"
#include "kernel/text.hpp"

namespace smelt::emit::c_like {
namespace {

DeviceFunction function(const Kernel& kernel, const std::string& name, const kernel::Team& team,
                        const PhasePrinter& printed) {
  std::vector<int> arguments;
  for (const Param& p : kernel.params)
    arguments.push_back(p.kind == ParamKind::Size ? 8 : p.kind == ParamKind::Scalar ? size_of(p.dtype) : 0);
  return {name,           printed.workgroup(),    team.iterations(),
          team.cluster(), printed.shared_bytes(), std::move(arguments),
          printed.boxes()};
}

}  // namespace

std::string comment_on_params(const Kernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const Param& p = kernel.params[i];
    const std::string name = kernel::param_name(kernel, static_cast<int>(i));
    if (p.kind == ParamKind::Size)
      text += fmt::format("// {} {}", name, comment_text(p.symbol->str()));
    else
      text += fmt::format("// {} {}{}", name, smelt::name_of(p.dtype), comment_text(str(p.dims)));
    text += p.note.empty() ? "\n" : fmt::format("  {}\n", comment_text(p.note));
  }
  return text;
}

std::vector<Printed> print_variants(const Kernel& kernel, size_t number, const std::string& name,
                                    const Printing& printing) {
  using kernel::Variant;
  const kernel::Phase& phase = kernel.phases[number];
  SMELT_CHECK(!phase.variants.empty(), "kernel {} did not go through its passes", kernel.name);
  const bool ends = number + 1 < kernel.phases.size() && kernel.phases[number + 1].last;
  const auto find = [](const kernel::Phase& in, Variant::Form form, bool held) {
    const auto found = std::find_if(in.variants.begin(), in.variants.end(),
                                    [&](const Variant& v) { return v.form == form && v.held == held; });
    return static_cast<size_t>(found - in.variants.begin());
  };
  std::vector<Printed> printed;
  for (size_t v = 0; v < phase.variants.size(); ++v) {
    const Variant& variant = phase.variants[v];
    if (variant.form == Variant::Form::Ending || (variant.held && printing.part)) continue;
    // Where extents are never multiples of the lanes, there is the odd form only.
    const bool odd = variant.form == Variant::Form::Odd && find(phase, Variant::Form::Fast, variant.held) < v;
    const std::string called =
        name + (variant.held ? "_held" : "") + (odd ? "_odd" : "") + (variant.form == Variant::Form::Any ? "_any" : "");
    PhasePrinter printer(printing.as, kernel, number,
                         {v, variant.wide, printing.counted_stores, printing.part, printing.boxes});
    if (ends) {
      const size_t ending = find(kernel.phases[number + 1], Variant::Form::Ending, false);
      PhasePrinter last(printing.as, kernel, number + 1, {ending, variant.wide});
      printer.end_with(last);
    }
    const std::string text = printer.print(called);
    printed.push_back({{function(kernel, called, phase.team, printer), variant.when, variant.alignment},
                       "\n" + text,
                       variant.form,
                       printer.used()});
  }
  return printed;
}

DeviceSource print_kernel(const Kernel& kernel, const Printing& printing, const HelperList& helpers) {
  DeviceSource source;
  std::string functions;
  UsedHelpers used;
  for (size_t i = 0; i < kernel.phases.size(); ++i) {
    DevicePhase result;
    for (Printed& p : print_variants(kernel, i, fmt::format("{}_p{}", kernel.name, i), printing)) {
      functions += p.text;
      used.add(p.used);
      result.variants.push_back(std::move(p.variant));
    }
    source.phases.push_back(std::move(result));
  }
  source.text = comment_on_params(kernel) + text_of(helpers, used) + functions;
  source.begin = printing.as.begin;
  return source;
}

}  // namespace smelt::emit::c_like
