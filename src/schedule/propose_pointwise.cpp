// Elements at a time and threads of a workgroup, for kernels without reductions.
#include <algorithm>

#include "schedule/propose.hpp"

namespace smelt::schedule {

std::vector<Tuning> propose_pointwise(const Schedule& first) {
  std::vector<Tuning> tunings;
  for (const int unroll : {1, 2, 4})
    if (unroll != first.unroll) tunings.push_back({.unroll = unroll});
  for (const int threads : {128, 512}) tunings.push_back({.threads = threads});
  tunings.push_back({.merged = true});
  if (first.lanes > 1) {
    tunings.push_back({.lanes = first.lanes / 2});
    tunings.push_back({.lanes = first.lanes / 2, .unroll = 2 * first.unroll});
  } else if (first.unroll > 1) {  // elements of a byte or two, read one by one, leave few bytes under way
    tunings.push_back({.lanes = 4, .unroll = 1});
    tunings.push_back({.lanes = 4, .unroll = 2});
  }
  return tunings;
}

// For blocks `unroll` stands for rows, `cluster` for results along shared axes.
std::vector<Tuning> propose_blocked(const Schedule&) {
  std::vector<Tuning> tunings;
  for (const int rows : {1, 2, 4})
    for (const int shared : {4, 8, 16}) tunings.push_back({.unroll = rows, .cluster = shared});
  tunings.push_back({.threads = 256});
  tunings.push_back({.lanes = 2});
  for (const int shared : {4, 8, 16}) tunings.push_back({.lanes = 1, .cluster = shared});
  return tunings;
}

std::vector<Tuning> propose_tiled(const Schedule&) { return {{.unroll = 2}, {.unroll = 4}, {.unroll = 16}}; }

// For stencils an `unroll` of 8 and more stands for the rows of an iteration.
std::vector<Tuning> propose_stencil(const Schedule& first) {
  std::vector<Tuning> tunings;
  for (const int lanes : {2, 4, 8})
    if (lanes != first.lanes) tunings.push_back({.lanes = lanes});
  for (const int rows : {16, 32, 64, 128}) tunings.push_back({.unroll = rows});
  return tunings;
}

std::vector<Tuning> propose_lighter(const Schedule& first) {
  if (first.strategy == Strategy::Stencil || first.blocking) return {};
  const int cluster = std::max(1, first.team / std::max(1, first.workgroup));
  std::vector<Tuning> tunings;
  const auto add = [&](int lanes, int threads) {
    tunings.push_back({.lanes = lanes, .unroll = 1, .threads = threads, .cluster = threads > 0 ? cluster : 0});
  };
  add(0, 0);
  if (first.strategy == Strategy::Tiled) return tunings;  // `lanes` would be the side of a tile
  if (first.workgroup > 256) add(0, 256);
  add(std::max(1, first.lanes / 2), 0);
  if (first.workgroup > 256) add(1, 256);
  add(1, 0);
  if (first.workgroup > 128) add(1, 128);
  return tunings;
}

}  // namespace smelt::schedule
