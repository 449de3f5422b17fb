#include "kernel/passes.hpp"

#include "kernel/barriers.hpp"
#include "kernel/hoist.hpp"
#include "kernel/multipliers.hpp"
#include "kernel/prefetch.hpp"
#include "kernel/rewrite.hpp"

namespace smelt::kernel {
namespace {

constexpr bool kGpu = true, kCpu = true;

constexpr Pass kPasses[] = {
    {"divide-by-multipliers", "sizes that indices are divided by get multipliers", kGpu, !kCpu, add_multipliers},
    {"hoist-invariants", "what all elements of a loop compute alike is computed before it", kGpu, !kCpu,
     hoist_invariants},
    {"prefetch", "rows that a later iteration reads are fetched into the caches", !kGpu, kCpu, add_prefetches},
    {"place-scratch", "scratch that threads do not share is theirs one by one", kGpu, !kCpu, place_scratch},
    {"insert-barriers", "threads wait before they meet in shared scratch", kGpu, !kCpu, insert_barriers},
    {"remove-dead-code", "expressions that no statement uses go", kGpu, kCpu, remove_dead_code},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

void run_passes(Kernel& kernel, const PassObserver& observer) {
  const bool gpu = kernel.dialect != Dialect::Portable;
  for (const Pass& pass : kPasses) {
    if (gpu ? !pass.gpu : !pass.cpu) continue;
    const bool changed = pass.run(kernel);
    if (changed) verify(kernel);
    if (observer) observer(pass, kernel, changed);
  }
}

}  // namespace smelt::kernel
