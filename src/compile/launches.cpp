// The launches of a call, for those who want to see them.
#include <algorithm>

#include "compile/state.hpp"

namespace smelt {
namespace {

KernelLaunch cpu_launch(const kernel::Kernel& kernel, size_t phase, const SizeBinding& sizes) {
  const Prepared::Phase shape = cpu_phase(kernel.phases[phase], sizes);
  KernelLaunch launch;
  launch.iterations = shape.extent;
  launch.grain = shape.grain;
  return launch;
}

// Shapes of all parts of a batch, added up.
KernelLaunch gpu_launch(const GpuPhase& functions, const std::vector<Prepared::GpuPhase>& parts) {
  KernelLaunch launch;
  for (const Prepared::GpuPhase& part : parts) {
    const auto taken =
        std::find_if(part.variants.begin(), part.variants.end(), [](const auto& shape) { return shape.has_value(); });
    if (taken == part.variants.end()) continue;
    if (launch.workgroups == 0) launch.variant = static_cast<size_t>(taken - part.variants.begin());
    launch.workgroups += (*taken)->workgroups;
    launch.threads = (*taken)->threads;
    launch.cluster = (*taken)->cluster;
    launch.shared_bytes = std::max(launch.shared_bytes, (*taken)->shared_bytes);
  }
  if (launch.workgroups > 0) launch.function = functions.variants[launch.variant]->emitted().name;
  return launch;
}

}  // namespace

std::vector<KernelLaunch> Executable::launches(const SizeBinding& sizes) const {
  const State& state = *state_;
  std::vector<KernelLaunch> all;
  for (size_t k = 0; k < state.launches.size(); ++k) {
    const kernel::Kernel& kernel = state.kernels[k];
    if (state.launches[k].custom) continue;
    SizeBinding own = sizes;
    own[kernel::kLaunchThreads] = state.threads;
    const bool batch = kernel.is_batch();
    if (batch)
      for (const auto& [symbol, size] : kernel.parts[0].sizes) own[symbol] = size.evaluate(own);
    const auto body = static_cast<size_t>(batch ? kernel.parts[0].body : 0);
    const kernel::Kernel& described = batch ? kernel.bodies[body] : kernel;
    add_launch_sizes(described, own);
    std::vector<std::vector<Prepared::GpuPhase>> parts;  // per part of a batch, per phase
    if (state.device.is_gpu && !batch) parts.push_back(gpu_shapes(state, k, own));
    if (state.device.is_gpu && batch)
      for (const kernel::Part& part : kernel.parts) {
        SizeBinding of_part = sizes;
        of_part[kernel::kLaunchThreads] = state.threads;
        for (const auto& [symbol, size] : part.sizes) of_part[symbol] = size.evaluate(of_part);
        const auto b = static_cast<size_t>(part.body);
        add_launch_sizes(kernel.bodies[b], of_part);
        parts.push_back(gpu_part_shapes(state, k, b, of_part));
      }
    for (size_t p = 0; p < described.phases.size(); ++p) {
      KernelLaunch launch = cpu_launch(described, p, own);
      const int64_t iterations = launch.iterations;
      if (state.device.is_gpu) {
        std::vector<Prepared::GpuPhase> of_phase;
        for (const auto& part : parts) of_phase.push_back(part[p]);
        launch = gpu_launch(state.launches[k].gpu_phases[p], of_phase);
        launch.iterations = iterations;
        // Nothing to do, or done by the launch before.
        if (launch.workgroups == 0) continue;
      }
      launch.kernel = k;
      launch.phase = p;
      if (batch) launch.body = body;
      launch.sizes = own;
      all.push_back(std::move(launch));
    }
  }
  return all;
}

}  // namespace smelt
