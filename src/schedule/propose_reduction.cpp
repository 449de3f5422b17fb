// Threads to a row, elements at a time, and workgroups to a cluster, for kernels with reductions
// and scans.
#include <algorithm>

#include "schedule/propose.hpp"
#include "schedule/schedule_gpu.hpp"

namespace smelt::schedule {

std::vector<Tuning> propose_row(const Schedule& first, const Target& target) {
  std::vector<Tuning> tunings;
  const int workgroup = first.workgroup, cluster = std::max(1, first.team / std::max(1, workgroup));
  if (first.team >= 2 * kWarp || first.team == workgroup)
    for (const int threads : {workgroup / 4, workgroup / 2, 2 * workgroup})
      if (threads >= kWarp && threads <= kMostThreads) tunings.push_back({.threads = threads, .cluster = cluster});
  // Several rows to a warp, each with more steps.
  if (first.team <= 2 * kWarp)
    for (const int threads : {first.team / 2, first.team / 4, first.team / 8})
      if (threads >= 1) tunings.push_back({.unroll = first.held ? 0 : 2 * first.unroll, .threads = threads});
  if (first.columns > 0) {
    for (const int threads : {512, kMostThreads}) tunings.push_back({.threads = threads, .tile = 2 * first.columns});
    // As many threads in larger or smaller workgroups; and half or twice as many columns.
    for (const int threads : {256, 512, kMostThreads})
      for (const int wider : {1, 2, 4})
        if (const int all = first.team * wider / 2; target.clusters && all > threads && all <= kMostCluster * threads)
          tunings.push_back({.threads = threads, .cluster = all / threads, .tile = first.columns * wider / 2});
  } else if (target.clusters && first.team >= 256) {
    for (const int workgroups : {1, 2, 4, 8})
      for (const int threads : {256, 512}) tunings.push_back({.threads = threads, .cluster = workgroups});
  }
  if (!first.held)
    for (const int unroll : {1, 2 * first.unroll}) tunings.push_back({.unroll = unroll});
  return tunings;
}

std::vector<Tuning> propose_split(const Schedule&) {
  return {{.threads = 128}, {.threads = 256}, {.threads = 1024}, {.unroll = 2}, {.unroll = 8}};
}

std::vector<Tuning> propose_column(const Schedule& first) {
  return {{.lanes = 1},
          {.lanes = 2},
          {.lanes = 4},
          {.unroll = std::max(1, first.unroll / 2)},
          {.unroll = 2 * first.unroll}};
}

}  // namespace smelt::schedule
