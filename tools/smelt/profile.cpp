// smelt profile: what the counters of a GPU say, fused and unfused. Nsight Compute runs smelt
// again, which runs the program.
#include "report/profile.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "arguments.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "report/json.hpp"
#include "report/units.hpp"
#include "runtime/child_program.hpp"
#include "smelt/error.hpp"

namespace smelt::tool {
namespace {

Machine gpu_of(const CommonOptions& options) {
  Machine device = find_device_here(options);
  if (!device.is_gpu)
    throw UserError(
        "smelt profile reads the counters of a GPU, and the device is the CPU\nhelp: on a machine with a GPU, --device "
        "cuda; "
        "`smelt devices` reports what is missing here");
  return device;
}

Executable compile_side(const Program& program, const Machine& device, bool fuse) {
  CompileOptions options;
  options.sizes = program.sizes();
  options.fuse = fuse;
  return compile(program.graph(), device, options);
}

// The same program and inputs for the child, whose arguments are taken as they are by whatever runs
// it.
std::vector<std::string> arguments_for_child(const ProfileOptions& options, const char* side) {
  std::vector<std::string> arguments = {"profile-run",
                                        "--side",
                                        side,
                                        "--device",
                                        options.common.device,
                                        "--seed",
                                        fmt::format("{}", options.program.seed)};
  for (const std::string& input : options.program.inputs) arguments.insert(arguments.end(), {"--input", input});
  for (const std::string& size : options.program.sizes) arguments.insert(arguments.end(), {"--size", size});
  arguments.insert(arguments.end(), {"--", options.program.program});
  return arguments;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<report::CountedLaunch> count(const std::string& ncu, const ProfileOptions& options, const char* side) {
  const runtime::TemporaryFolder folder;
  const std::string log = folder.path() + "/counters.csv";
  // Clocks as they are: a locked one would change the times. Kernels only, not the copies of arrays
  // with strides.
  std::vector<std::string> arguments = {"--csv",
                                        "--page",
                                        "raw",
                                        "--print-units",
                                        "base",
                                        "--clock-control",
                                        "none",
                                        "--kernel-name",
                                        "regex:^k[0-9]+_p",
                                        "--log-file",
                                        log,
                                        "--metrics",
                                        report::counters_wanted(),
                                        std::filesystem::canonical("/proc/self/exe").string()};
  const std::vector<std::string> child = arguments_for_child(options, side);
  arguments.insert(arguments.end(), child.begin(), child.end());
  const runtime::ChildResult result = runtime::run_child(ncu, arguments, {{"LC_ALL", "C"}});
  return report::parse_counters(read_file(log) + "\n" + result.output);
}

}  // namespace

report::Profile count_program(const ProfileOptions& options, const Program& program, const Machine& device,
                              Progress& progress) {
  const std::vector<std::string> ncu = runtime::find_cuda_tool("ncu");
  if (ncu.empty())
    throw UserError(
        "counters of a GPU are read by Nsight Compute, and there is no ncu here (looked for on the PATH, in CUDA_HOME, "
        "/usr/local/cuda* and /opt/nvidia/nsight-compute)\n"
        "help: apt-get install nsight-compute from NVIDIA's repository, or `smelt explain --measure` for times alone");
  progress.stage("compiling");
  report::Profile profile;
  profile.title = report::title_of(program.title(), device, device.gpu_facts.processors);
  profile.inputs = program.describe_inputs({}, program.sizes());
  for (const bool fused : {true, false}) {
    const char* name = fused ? "fused" : "unfused";
    report::ProfileSide& side = fused ? profile.fused : profile.unfused;
    side = report::predicted_side(compile_side(program, device, fused), program.sizes());
    progress.stage(fmt::format("counting, {}", name));
    side.launches = count(ncu.front(), options, name);
  }
  return profile;
}

int run_profile(const ProfileOptions& options) {
  const Output output(options.common);
  const Machine device = gpu_of(options.common);
  const Program program(options.program, true);
  check_memory(program, program.dims(), device.gpu_facts.memory_bytes);
  auto progress = std::make_unique<Progress>(options.common);
  const report::Profile profile = count_program(options, program, device, *progress);
  progress.reset();
  output.text(report::to_text(profile, output.style()));
  output.json(report::to_json(profile));
  return kFine;
}

// Every kernel once, each by itself: a graph would be counted as one. Nsight Compute repeats each
// as often as it has to.
int run_profiled(const ProfileOptions& options) {
  const Machine device = gpu_of(options.common);
  const Program program(options.program, true);
  const Executable executable = compile_side(program, device, options.side == "fused");
  std::vector<Tensor> there, outputs;
  std::vector<TensorView> views;
  for (const Tensor& array : program.arrays()) {
    there.push_back(array.dims.empty() ? array : to_device(device, array));
    views.push_back(there.back());
  }
  const std::vector<Dims> dims = executable.output_dims(views);
  for (size_t o = 0; o < dims.size(); ++o)
    outputs.push_back(device_empty(device, executable.graph().at(executable.graph().outputs[o]).dtype, dims[o]));
  executable.run_each(views, {outputs.begin(), outputs.end()}, [](size_t, const std::function<void()>& run) { run(); });
  return kFine;
}

}  // namespace smelt::tool
