#include <algorithm>
#include <map>
#include <memory>

#include "kernel/team_forms.hpp"
#include "kernel/text.hpp"
#include "kernel/walk.hpp"
#include "report/page_parts.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

// Kernels that are described; more are like these, and would make the page large.
constexpr size_t kMostKernels = 256, kMostAccesses = 48;
// More than these are looked at in fewer places.
constexpr size_t kKernelsInFull = 16;

ordered_json access_json(const AccessRow& row) {
  ordered_json out = {{"array", row.array},
                      {"node", row.value},
                      {"kind", row.stored ? "store" : "load"},
                      {"index", row.index},
                      {"pattern", name_of(row.pattern)},
                      {"element_bytes", row.element_bytes},
                      {"lane_bytes", row.lane_bytes},
                      {"stride_bytes", row.stride_bytes},
                      {"executions", row.executions},
                      {"sampled", row.sampled},
                      {"conditional", row.conditional},
                      {"atomic", row.atomic}};
  if (row.pattern == AccessPattern::Unknown) return out;
  out["offsets"] = row.offsets;
  out["sectors"] = row.sectors;
  out["ideal_sectors"] = row.ideal_sectors;
  out["lines"] = row.lines;
  out["total_sectors"] = row.total_sectors;
  return out;
}

// Vector loops of a phase: how elements are dealt out.
ordered_json loops_json(const kernel::Phase& phase, const KernelLaunch& launch, bool gpu) {
  ordered_json loops = ordered_json::array();
  kernel::for_each_stmt(phase.body, [&](const kernel::Stmt& s) {
    const auto* loop = kernel::loop_of(s, kernel::LoopKind::Vector);
    if (!loop) return;
    ordered_json made = {{"var", loop->var.str()}, {"extent", loop->extent.str()}, {"lanes", loop->lanes}};
    try {
      made["elements"] = loop->extent.evaluate(launch.sizes);
    } catch (const Error&) {  // it depends on loops around
    }
    if (gpu && loop->team) {
      const kernel::LoopShape& shape = loop->team->shapes[std::min(launch.variant, loop->team->shapes.size() - 1)];
      made["lanes"] = shape.lanes;
      made["unroll"] = shape.unroll;
      made["one_step"] = shape.one_step;
      made["peeled"] = shape.peeled;
    }
    if (std::find(loops.begin(), loops.end(), made) == loops.end()) loops.push_back(std::move(made));
  });
  return loops;
}

ordered_json launch_json(const Executable& executable, const KernelLaunch& launch, const ElementOf& element) {
  const bool gpu = executable.device().is_gpu;
  const kernel::Kernel& whole = executable.kernels()[launch.kernel];
  const kernel::Kernel& kernel = launch.body ? whole.bodies[*launch.body] : whole;
  const kernel::Phase& phase = kernel.phases[launch.phase];
  ordered_json out = {
      {"phase", launch.phase}, {"iterations", launch.iterations}, {"loops", loops_json(phase, launch, gpu)}};
  if (launch.body) out["parts"] = whole.parts.size();
  if (gpu) {
    out["function"] = launch.function;
    out["workgroups"] = launch.workgroups;
    out["threads"] = launch.threads;
    out["cluster"] = launch.cluster;
    out["team"] = phase.team.threads;
    out["dynamic_shared_bytes"] = launch.shared_bytes;
  } else {
    out["grain"] = launch.grain;
  }
  ordered_json rows = ordered_json::array();
  size_t left_out = 0;
  const int saved = executable.kernels().size() > kKernelsInFull ? 8 : 1;
  for (const AccessRow& row : accesses_of(kernel, launch, gpu, element, saved)) {
    if (rows.size() < kMostAccesses)
      rows.push_back(access_json(row));
    else
      ++left_out;
  }
  out["accesses"] = rows;
  if (left_out > 0) out["accesses_left_out"] = left_out;
  return out;
}

}  // namespace

ordered_json page_launches(const Executable& executable, const SizeBinding& sizes, const std::vector<Tensor>& arrays) {
  const Graph& graph = executable.graph();
  const ElementOf element = [&](NodeId value, const Dims& index) -> std::optional<Scalar> {
    const auto input = std::find(graph.inputs.begin(), graph.inputs.end(), value);
    const auto i = static_cast<size_t>(input - graph.inputs.begin());
    if (input == graph.inputs.end() || i >= arrays.size()) return std::nullopt;
    const Tensor& array = arrays[i];
    if (!array.data || index.size() != array.dims.size()) return std::nullopt;
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= array.dims[d]) return std::nullopt;
      offset += index[d] * array.strides[d];
    }
    return load_scalar(array.dtype, static_cast<const char*>(array.data) + offset * size_of(array.dtype));
  };
  ordered_json kernels = ordered_json::array();
  const size_t count = executable.kernels().size();
  for (size_t k = 0; k < std::min(count, kMostKernels); ++k) kernels.push_back(ordered_json::array());
  for (const KernelLaunch& launch : executable.launches(sizes))
    if (launch.kernel < kernels.size()) kernels[launch.kernel].push_back(launch_json(executable, launch, element));
  return kernels;
}

}  // namespace smelt::report
