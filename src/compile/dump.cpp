// The stages of a program as text.
#include <fmt/format.h>

#include "base/line_diff.hpp"
#include "compile/custom.hpp"
#include "compile/state.hpp"
#include "kernel/lower.hpp"
#include "plan/batch.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

constexpr std::string_view kAfter = "after:";

// Lowers every kernel that has code of its own again.
void lower_again(const Executable::State& state, const kernel::PassObserver& observer) {
  for (size_t k = 0; k < state.kernels.size(); ++k) {
    if (state.alike[k] != k || is_custom(state, k)) continue;
    const plan::FusionGroup& group = state.plan.groups[k];
    if (group.parts.empty()) {
      kernel::lower(state.graph, group, *group.schedule, fmt::format("k{}", k), observer);
      continue;
    }
    const std::vector<plan::Batch::Form>& forms = group.batch->forms;
    for (size_t f = 0; f < forms.size(); ++f)
      kernel::lower(forms[f].graph, forms[f].group, *forms[f].schedule, fmt::format("b{}", f), observer);
  }
}

std::string dump_passes(const Executable::State& state) {
  std::string text, before;
  lower_again(state, [&](const kernel::Pass& pass, const kernel::Kernel& kernel, bool changed) {
    if (pass.name == kernel::kLowering.name) {
      before = kernel::print(kernel);
      text += fmt::format("kernel {}\n", kernel.name);
      return;
    }
    text += fmt::format("  {}: {}{}\n", pass.name, pass.purpose, changed ? "" : " (nothing here)");
    if (!changed) return;
    std::string after = kernel::print(kernel);
    for (const std::string& line : changed_lines(before, after)) text += "    " + line + "\n";
    before = std::move(after);
  });
  return text;
}

std::string kernels_text(const Executable::State& state, std::string (*print)(const kernel::Kernel&)) {
  std::string text;
  for (size_t k = 0; k < state.kernels.size(); ++k)
    text += state.alike[k] == k ? print(state.kernels[k])
                                : fmt::format("group {}: the kernel of group {}\n", k, state.alike[k]);
  return text;
}

std::string dump_after(const Executable::State& state, std::string_view name) {
  std::string text;
  lower_again(state, [&](const kernel::Pass& pass, const kernel::Kernel& kernel, bool) {
    if (pass.name == name) text += kernel::print(kernel);
  });
  return text.empty() ? fmt::format("no kernel here goes through {}\n", name) : text;
}

}  // namespace

bool is_stage_of_kernels(std::string_view stage) {
  if (stage == "passes") return true;
  if (stage.substr(0, kAfter.size()) != kAfter) return false;
  const std::string_view name = stage.substr(kAfter.size());
  for (const kernel::Pass& pass : kernel::passes())
    if (pass.name == name) return true;
  return name == kernel::kLowering.name;
}

std::string Executable::dump(const std::string& stage) const {
  std::string text;
  if (stage == "graph") return print(state_->graph);
  if (stage == "plan") return plan::print(state_->graph, state_->plan);
  const bool gpu = state_->device.is_gpu;
  const auto is = [&](const char* name) { return stage == name; };
  if (!is_stage_of_kernels(stage) && !is("kernel") && !is("source") &&
      !(!gpu ? is("asm") : !state_->device.opencl && (is("ptx") || is("sass"))))
    throw UserError(
        fmt::format("nothing to dump by the name '{}' for {}\nhelp: one of graph, plan, passes, after:PASS, kernel, "
                    "source, {}",
                    stage, gpu ? "a GPU" : "the CPU", gpu ? "ptx, sass" : "asm"));
  if (interpreted()) return "no LLVM here, so there are no kernels: " + state_->device.missing + "\n";
  if (is("passes")) return dump_passes(*state_);
  if (is_stage_of_kernels(stage)) return dump_after(*state_, std::string_view(stage).substr(kAfter.size()));
  if (is("ptx")) return dump_ptx(*state_);
  if (is("sass")) return dump_sass(*state_);
  if (is("kernel"))
    text = kernels_text(*state_, kernel::print);
  else
    for (const std::string& source : state_->sources)
      text += is("asm") ? state_->device.llvm->assembly(source) : source;
  return text;
}

std::string Executable::annotated(const std::string& stage) const {
  if (interpreted()) return dump(stage);
  if (stage == "kernel") return kernels_text(*state_, kernel::print_with_labels);
  const bool has_labels = state_->device.is_gpu || stage != "source";
  return has_labels ? dump(stage) : sources_with_labels(*state_);
}

}  // namespace smelt
