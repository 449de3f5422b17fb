// What a GPU runs, as text: PTX by NVRTC, machine instructions by NVIDIA's tools where they are.
#include <fmt/format.h>

#include <fstream>

#include "compile/state.hpp"
#include "runtime/child_program.hpp"
#include "smelt/error.hpp"

namespace smelt {
namespace {

// Its programs for machine instructions, and what asks them for the code of a cubin.
constexpr struct {
  const char* name;
  const char* option;
} kTools[] = {{"nvdisasm", "-c"}, {"cuobjdump", "-sass"}};

// By the first program that can: one of an older toolkit does not know newer architectures.
std::string disassembled(const std::string& file) {
  std::string refusals;
  for (const auto& tool : kTools)
    for (const std::string& program : runtime::find_cuda_tool(tool.name)) {
      const runtime::ChildResult result = runtime::run_child(program, {tool.option, file});
      if (result.status == 0) return result.output;
      refusals += fmt::format("\n{} failed: {}", program, result.output.substr(0, 2000));
    }
  if (!refusals.empty()) throw UserError("machine instructions of a GPU cannot be shown" + refusals);
  throw UserError(
      "machine instructions of a GPU need nvdisasm or cuobjdump of the CUDA toolkit, and neither is here\n"
      "help: pip install nvidia-cuda-nvdisasm, or look at --dump ptx");
}

}  // namespace

std::string dump_ptx(const Executable::State& state) {
  std::string text;
  for (const std::string& source : state.sources)
    text += state.device.nvrtc->ptx(source, state.device.gpu_facts.compute, state.nvrtc);
  return text;
}

std::string dump_sass(const Executable::State& state) {
  const runtime::TemporaryFolder folder;
  const std::string file = folder.path() + "/kernel.cubin";
  std::string text;
  for (const std::string& source : state.sources) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        << state.device.nvrtc->compile(source, state.device.gpu_facts.compute, state.nvrtc);
    text += disassembled(file);
  }
  return text;
}

}  // namespace smelt
