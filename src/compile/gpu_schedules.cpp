// Other schedules for a group than its first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compile/gpu_kernel.hpp"
#include "schedule/parts.hpp"

namespace smelt {
namespace {

constexpr int kWarp = 32, kMostThreads = 1024, kMostCluster = 8;

// That one iteration of a stencil goes down; 0: it is none.
int64_t rows_of(const schedule::Schedule& s) { return s.stencil ? s.stencil->chunk : 0; }

std::vector<int64_t> block_of(const schedule::Schedule& s) {
  return s.blocking ? s.blocking->block : std::vector<int64_t>{};
}

bool same_form(const schedule::Schedule& a, const schedule::Schedule& b) {
  return a.team == b.team && a.workgroup == b.workgroup && a.lanes == b.lanes && a.unroll == b.unroll &&
         a.tile == b.tile && a.held == b.held && a.strategy == b.strategy && rows_of(a) == rows_of(b) &&
         block_of(a) == block_of(b);
}

std::vector<Alternative> distinct(const GpuBuild& build, size_t group, const schedule::Schedule& first,
                                  const std::vector<plan::Tuning>& tunings) {
  std::vector<Alternative> found;
  for (const plan::Tuning& tuning : tunings) {
    std::optional<Alternative> made = alternative_with(build, group, tuning);
    if (!made || same_form(*made->schedule, first)) continue;
    const auto same = [&](const Alternative& a) { return same_form(*a.schedule, *made->schedule); };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(std::move(*made));
  }
  return found;
}

}  // namespace

std::optional<Alternative> alternative_with(const GpuBuild& build, size_t group, const plan::Tuning& tuning) {
  const plan::FusionGroup& planned = build.state.plan.groups[group];
  if (tuning == planned.tuning) return Alternative{tuning, planned.schedule};
  plan::Options options = build.options;
  options.tuning = tuning;
  auto made = schedule::make_schedule(build.state.graph, planned, options);
  schedule::Schedule* schedule = std::get_if<schedule::Schedule>(&made);
  if (!schedule) return std::nullopt;
  return Alternative{tuning, std::make_shared<const schedule::Schedule>(std::move(*schedule))};
}

void take(const GpuBuild& build, size_t group, const Alternative& other, std::string why) {
  plan::FusionGroup& planned = build.state.plan.groups[group];
  planned.tuning = other.tuning;
  planned.schedule = other.schedule;
  planned.rebuilt = std::move(why);
}

std::vector<Alternative> lighter_schedules(const GpuBuild& build, size_t group) {
  const plan::Tuning own = build.state.plan.groups[group].tuning;
  const std::shared_ptr<const schedule::Schedule> first = build.state.plan.groups[group].schedule;
  const int cluster = std::max(1, first->team / std::max(1, first->workgroup));
  std::vector<plan::Tuning> tunings;
  const auto add = [&](int lanes, int unroll, int threads) {
    plan::Tuning tuning = own;
    tuning.lanes = lanes, tuning.unroll = unroll;
    if (threads > 0) tuning.threads = threads, tuning.cluster = cluster;
    tunings.push_back(tuning);
  };
  // Threads of a large workgroup have few registers each: a multiprocessor's are shared by all of them.
  add(0, 1, 0);
  if (first->workgroup > 256) add(0, 1, 256);
  add(std::max(1, first->lanes / 2), 1, 0);
  if (first->workgroup > 256) add(1, 1, 256);
  add(1, 1, 0);
  if (first->workgroup > 128) add(1, 1, 128);
  std::vector<Alternative> found = distinct(build, group, *first, tunings);
  // What was held in registers between passes would be read again.
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const Alternative& a) {
                               return schedule::passes_of(first->domain) > 1 && first->held && !a.schedule->held;
                             }),
              found.end());
  return found;
}

std::vector<Alternative> other_schedules(const GpuBuild& build, size_t group) {
  const std::optional<Alternative> own = alternative_with(build, group, {});
  if (!own) return {};
  const std::shared_ptr<const schedule::Schedule> first = own->schedule;
  std::vector<plan::Tuning> tunings;
  const auto add = [&](int lanes, int unroll, int threads, int cluster) {
    plan::Tuning tuning;
    tuning.lanes = lanes, tuning.unroll = unroll, tuning.threads = threads, tuning.cluster = cluster;
    tunings.push_back(tuning);
  };
  const int lanes = first->lanes, unroll = first->unroll, workgroup = first->workgroup;
  switch (first->strategy) {
    case plan::Strategy::Pointwise:
      if (first->blocking) {
        for (const int rows : {1, 2, 4})
          for (const int shared : {4, 8, 16}) add(0, rows, 0, shared);
        add(0, 0, 256, 0), add(2, 0, 0, 0);
        break;
      }
      for (const int u : {1, 2, 4})
        if (u != unroll) add(0, u, 0, 0);
      for (const int threads : {128, 512}) add(0, 0, threads, 0);
      if (lanes > 1) add(lanes / 2, 0, 0, 0), add(lanes / 2, 2 * unroll, 0, 0);
      break;
    case plan::Strategy::Tiled:
      for (const int u : {2, 4, 16}) add(0, u, 0, 0);
      break;
    case plan::Strategy::Stencil:
      for (const int l : {2, 4, 8})
        if (l != lanes) add(l, 0, 0, 0);
      for (const int rows : {16, 32, 64, 128}) add(0, rows, 0, 0);
      break;
    case plan::Strategy::Row:
      if (first->team >= 2 * kWarp || first->team == workgroup)
        for (const int threads : {workgroup / 4, workgroup / 2, 2 * workgroup})
          if (threads >= kWarp && threads <= kMostThreads) add(0, 0, threads, std::max(1, first->team / workgroup));
      if (build.options.target.clusters && first->team >= 256)
        for (const int cluster : {1, 2, 4, kMostCluster})
          for (const int threads : {256, 512}) add(0, 0, threads, cluster);
      if (!first->held)
        for (const int u : {1, 2 * unroll}) add(0, u, 0, 0);
      break;
    case plan::Strategy::Split:
      for (const int threads : {128, 256, 1024}) add(0, 0, threads, 0);
      for (const int u : {2, 8}) add(0, u, 0, 0);
      break;
    case plan::Strategy::Scatter: break;
    case plan::Strategy::Column:
      for (const int l : {1, 2, 4}) add(l, 0, 0, 0);
      break;
    case plan::Strategy::Custom:
    case plan::Strategy::Batch: break;  // of the parts: not tried
  }
  return distinct(build, group, *first, tunings);
}

std::string describe(const schedule::Schedule& s) {
  if (s.blocking)
    return fmt::format("{} threads, blocks of {} results to each", s.workgroup, fmt::join(s.blocking->block, " x "));
  if (s.stencil) return fmt::format("{} threads, {} columns of {} rows to each", s.workgroup, s.lanes, rows_of(s));
  return fmt::format("{} thread{}{}, {} x {} elements to each", s.workgroup, s.workgroup == 1 ? "" : "s",
                     s.team > s.workgroup ? fmt::format(" in clusters of {}", s.team / s.workgroup) : "", s.unroll,
                     s.lanes);
}

}  // namespace smelt
