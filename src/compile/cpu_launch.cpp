// A kernel, or a batch of them, on the threads of the CPU.
#include <algorithm>

#include "base/check.hpp"
#include "compile/custom.hpp"

namespace smelt {
namespace {

void run_phase(const Launch& launch, const Prepared::Launch& prepared, size_t phase, void** arrays, int64_t begin,
               int64_t end, char* scratch) {
  launch.phases[phase](begin, end, arrays, prepared.arguments.data(), scratch);
}

void launch_kernel(const Executable::State& state, const Launch& launch, const Prepared::Launch& prepared,
                   void** arrays, char* scratch) {
  for (size_t p = 0; p < launch.phases.size(); ++p) {
    const Prepared::Phase& phase = prepared.phases[p];
    if (phase.extent <= 0) continue;
    if (const auto& copied = launch.copies[p]; copied && arrays[copied->first] == arrays[copied->second]) continue;
    if (phase.extent <= phase.grain) {
      run_phase(launch, prepared, p, arrays, 0, phase.extent, scratch);
      continue;
    }
    runtime::parallel_for(state.threads, phase.extent, phase.grain, [&](int thread, int64_t begin, int64_t end) {
      run_phase(launch, prepared, p, arrays, begin, end, scratch + prepared.scratch_bytes * thread);
    });
  }
}

// The iterations of all parts as one loop. Work is counted in thousandths of a piece, so that many
// tiny parts are one piece.
void launch_batch(const Executable::State& state, const Launch& launch, const Prepared::Launch& prepared,
                  Addresses& addresses, char* scratch) {
  constexpr int64_t kPiece = 1000;
  size_t phases = 0;
  for (const Launch& part : launch.parts) phases = std::max(phases, part.phases.size());
  for (size_t p = 0; p < phases; ++p) {
    std::vector<int64_t> first{0}, weight;  // of an iteration of each part
    for (size_t i = 0; i < launch.parts.size(); ++i) {
      const bool runs = p < prepared.parts[i].phases.size();
      const Prepared::Phase phase = runs ? prepared.parts[i].phases[p] : Prepared::Phase{0, 1};
      weight.push_back(std::max<int64_t>(1, kPiece / phase.grain));
      first.push_back(first.back() + std::max<int64_t>(0, phase.extent) * weight.back());
    }
    // Each iteration belongs to the piece in which its work begins.
    const auto run = [&](int thread, int64_t begin, int64_t end) {
      auto i = static_cast<size_t>(std::upper_bound(first.begin(), first.end(), begin) - first.begin()) - 1;
      for (; i < launch.parts.size() && first[i] < end; ++i) {
        const auto from = [&](int64_t at) {
          return (std::clamp(at, first[i], first[i + 1]) - first[i] + weight[i] - 1) / weight[i];
        };
        if (from(begin) < from(end))
          run_phase(launch.parts[i], prepared.parts[i], p, addresses[i].data(), from(begin), from(end),
                    scratch + prepared.scratch_bytes * thread);
      }
    };
    if (first.back() <= kPiece)
      run(0, 0, first.back());
    else
      runtime::parallel_for(state.threads, first.back(), kPiece, run);
  }
}

}  // namespace

Addresses find_addresses(const Launch& launch, const Arena& arena, char* memory, int32_t* error,
                         const std::vector<TensorView>& inputs, const std::vector<TensorView>& outputs) {
  if (!launch.parts.empty()) {
    Addresses all;
    for (const Launch& part : launch.parts)
      all.push_back(std::move(find_addresses(part, arena, memory, error, inputs, outputs)[0]));
    return all;
  }
  std::vector<void*> arrays;
  for (const Binding& b : launch.arrays) switch (b.kind) {
      case Binding::Input: arrays.push_back(inputs[static_cast<size_t>(b.index)].data); break;
      case Binding::Output: arrays.push_back(outputs[static_cast<size_t>(b.index)].data); break;
      case Binding::Slot: arrays.push_back(memory + arena.offsets[static_cast<size_t>(b.index)]); break;
      case Binding::Error: arrays.push_back(error); break;
      case Binding::Counter: throw InternalError("a kernel for a CPU counts workgroups");
    }
  return {std::move(arrays)};
}

void launch_on_cpu(const Executable::State& state, const Launch& launch, const Prepared::Launch& prepared,
                   Addresses& addresses, char* scratch) {
  if (launch.custom)
    run_custom(state.threads, *launch.custom, prepared.dims, addresses[0].data());
  else if (launch.parts.empty())
    launch_kernel(state, launch, prepared, addresses[0].data(), scratch);
  else
    launch_batch(state, launch, prepared, addresses, scratch);
}

}  // namespace smelt
