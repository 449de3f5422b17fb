#include "kernel/passes.hpp"

#include <utility>

#include "kernel/barriers.hpp"
#include "kernel/choose_variants.hpp"
#include "kernel/classify_accesses.hpp"
#include "kernel/find_boxes.hpp"
#include "kernel/hoist.hpp"
#include "kernel/in_place.hpp"
#include "kernel/index_forms.hpp"
#include "kernel/jam_rows.hpp"
#include "kernel/load_early.hpp"
#include "kernel/multipliers.hpp"
#include "kernel/narrow_sums.hpp"
#include "kernel/naturals.hpp"
#include "kernel/partition_loops.hpp"
#include "kernel/prefetch.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/shape_loops.hpp"
#include "kernel/split_grids.hpp"
#include "kernel/split_lanes.hpp"
#include "kernel/unroll_short.hpp"
#include "kernel/verify_parts.hpp"
#include "kernel/widen_accesses.hpp"
#include "smelt/error.hpp"

namespace smelt::kernel {
namespace {

constexpr bool kGpu = true, kCpu = true, kMayFail = true;

void verify_variants(const Kernel& kernel) {
  verify_teams(kernel);
  verify_team_accesses(kernel);
}

constexpr Pass kPasses[] = {
    {"divide-by-multipliers", "sizes that indices are divided by get multipliers", kGpu, !kCpu, add_multipliers},
    {"hoist-invariants", "what all elements of a loop compute alike is computed before it", kGpu, !kCpu,
     hoist_invariants},
    {"narrow-sums", "sums of integers that are known to be small are accumulated in narrower lanes", kGpu, kCpu,
     narrow_sums},
    {"split-grids", "rows that are joined by turns are taken together, each as what it is", !kGpu, kCpu, split_grids,
     kMayFail},
    {"split-lanes", "elements that alternate, and ranges of joined ones, are vectors of their own", !kGpu, kCpu,
     split_lanes, kMayFail},
    {"jam-rows", "rows that share much of what they read are taken together", !kGpu, kCpu, jam_rows, kMayFail},
    {"prefetch", "rows that a later iteration reads are fetched into the caches", !kGpu, kCpu, add_prefetches},
    {"unroll-short-loops", "loops over what lies between lanes are unrolled, so that lanes are whole vectors", !kGpu,
     kCpu, unroll_short_loops},
    {"partition-loops", "conditions that fail at the ends of rows alone are asked there alone", !kGpu, kCpu,
     partition_loops, kMayFail},
    {"place-scratch", "scratch that threads do not share is theirs one by one", kGpu, !kCpu, place_scratch},
    {"insert-barriers", "threads wait before they meet in shared scratch", kGpu, !kCpu, insert_barriers},
    {"remove-dead-code", "expressions that no statement uses go", kGpu, kCpu, remove_dead_code},
    {"classify-accesses", "the lanes of an access are neighbours, at a distance, in pieces, or anywhere", !kGpu, kCpu,
     classify_accesses},
    {"classify-indices", "what lanes add to the index of lane 0 is a table, or takes one division", !kGpu, kCpu,
     classify_indices, kMayFail, verify_indices},
    {"shape-vector-loops", "each variant of a phase spreads its Vector loops over the threads", kGpu, !kCpu,
     shape_vector_loops, !kMayFail, verify_teams},
    {"load-early", "loads that wait for nothing of their block go before it; passes over a row share them", kGpu, !kCpu,
     load_early, kMayFail, verify_team_accesses},
    {"widen-accesses", "accesses that follow each other in memory are made at once", kGpu, !kCpu, widen_accesses,
     kMayFail, verify_team_accesses},
    {"choose-variants", "variants that a better one makes superfluous go; what is left fits its indices", kGpu, !kCpu,
     choose_variants, !kMayFail, verify_variants},
    {"find-boxes", "parts of a pipeline that are boxes of arrays are copied by the device's engine", kGpu, !kCpu,
     find_boxes, kMayFail, verify_boxes},
    {"find-naturals", "quotients of what is never below 0 need no rounding down", kGpu, kCpu, find_naturals, kMayFail,
     verify_naturals},
    {"find-in-place", "outputs that may reuse the memory of an input read at their own index", kGpu, kCpu,
     find_in_place},
};

bool run_and_check(const Pass& pass, Kernel& kernel, Proved& proved) {
  const bool changed = pass.run(kernel);
  if (changed && pass.check)
    pass.check(kernel);
  else if (changed)
    verify(kernel, proved);
  return changed;
}

// As `lowered` does with indices that it cannot prove: what is slower instead of what might be
// wrong.
bool run_or_undo(const Pass& pass, Kernel& kernel, Proved& proved) {
  Kernel before = kernel;
  const auto undo = [&] {
    kernel = std::move(before);
    kernel.undone.push_back(pass.name);
    return false;
  };
  try {
    return run_and_check(pass, kernel, proved);
  } catch (const InternalError&) {
    return undo();
  } catch (const UserError&) {  // a number did not fit 64 bits
    return undo();
  }
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

bool run_pass(const Pass& pass, Kernel& kernel, Proved& proved) {
  return pass.may_fail ? run_or_undo(pass, kernel, proved) : run_and_check(pass, kernel, proved);
}

void run_passes(Kernel& kernel, Proved& proved, const PassObserver& observer) {
  const bool gpu = kernel.dialect != Dialect::Portable;
  for (const Pass& pass : kPasses) {
    if (gpu ? !pass.gpu : !pass.cpu) continue;
    const bool changed = run_pass(pass, kernel, proved);
    if (observer) observer(pass, kernel, changed);
  }
}

}  // namespace smelt::kernel
