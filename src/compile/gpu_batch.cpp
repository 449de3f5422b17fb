// Batches on a GPU: which of its functions each part runs in, and the tables that tell workgroups
// their parts.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "compile/gpu_batch.hpp"

namespace smelt {
namespace {

// Parts that could do with a faster function run with those that cannot, up to so many workgroups:
// a launch more would take longer.
constexpr int64_t kFewWorkgroups = 16384;

bool takes(const emit::DeviceVariant& variant, const SizeBinding& sizes) {
  return std::all_of(variant.when.begin(), variant.when.end(),
                     [&](const IntExpr& e) { return e.evaluate(sizes) >= 0; });
}

bool is_aligned(const emit::DeviceVariant& variant, const std::vector<uint64_t>& values) {
  for (size_t i = 0; i < variant.alignment.size(); ++i)
    if (variant.alignment[i] > 1 && values[i] % static_cast<uint64_t>(variant.alignment[i]) != 0) return false;
  return true;
}

template <class T>
void put(std::vector<uint64_t>& table, int64_t at, T value) {
  std::memcpy(reinterpret_cast<char*>(table.data()) + at, &value, sizeof value);
}

}  // namespace

std::vector<Prepared::GpuPhase> gpu_part_shapes(const Executable::State& state, size_t kernel, size_t body,
                                                const SizeBinding& sizes) {
  const Launch& launch = state.launches[kernel];
  std::vector<Prepared::GpuPhase> shapes;
  for (size_t p = 0; p < launch.gpu_phases.size(); ++p) {
    const int64_t extent =
        state.kernels[kernel].bodies[body].phases[p].body.back().get<kernel::Loop>().extent.evaluate(sizes);
    Prepared::GpuPhase made;
    made.runs = extent > 0;
    for (const auto& function : launch.gpu_phases[p].variants) {
      const emit::DeviceVariant& variant = function->bodies()[body];
      runtime::LaunchShape shape;
      shape.threads = variant.function.threads;
      shape.workgroups = extent / variant.function.iterations + (extent % variant.function.iterations != 0);
      shape.shared_bytes = variant.function.shared_bytes.evaluate(sizes);
      if (made.runs && shape.workgroups > runtime::kMostWorkgroups)
        throw UserError("a part of " + describe_kernel(state, kernel) + " needs more workgroups than a launch has");
      made.variants.push_back(takes(variant, sizes) ? std::optional(shape) : std::nullopt);
    }
    shapes.push_back(std::move(made));
  }
  return shapes;
}

std::vector<std::vector<size_t>> parts_by_variant(const Executable::State& state, const Prepared& prepared,
                                                  size_t kernel, size_t phase,
                                                  const std::vector<std::vector<uint64_t>>& values) {
  const Launch& launch = state.launches[kernel];
  const std::vector<kernel::Part>& parts = state.kernels[kernel].parts;
  const GpuPhase& functions = launch.gpu_phases[phase];
  const size_t variants = functions.variants.size();
  const auto fits = [&](size_t i, size_t v) {
    const auto body = static_cast<size_t>(parts[i].body);
    return prepared.launches[kernel].parts[i].gpu_phases[phase].variants[v].has_value() &&
           is_aligned(functions.variants[v]->bodies()[body], values[i]);
  };
  std::vector<std::vector<size_t>> chosen(variants);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!prepared.launches[kernel].parts[i].gpu_phases[phase].runs) continue;
    size_t v = 0;
    while (v + 1 < variants && !fits(i, v)) ++v;
    chosen[v].push_back(i);
  }
  // The last takes all, but slowly.
  for (size_t v = 0; v + 2 < variants; ++v) {
    int64_t workgroups = 0;
    for (const size_t i : chosen[v])
      workgroups += prepared.launches[kernel].parts[i].gpu_phases[phase].variants[v]->workgroups;
    const bool join = !chosen[v + 1].empty() && workgroups <= kFewWorkgroups &&
                      std::all_of(chosen[v].begin(), chosen[v].end(), [&](size_t i) { return fits(i, v + 1); });
    if (!join) continue;
    std::vector<size_t> joined;
    std::merge(chosen[v].begin(), chosen[v].end(), chosen[v + 1].begin(), chosen[v + 1].end(),
               std::back_inserter(joined));
    chosen[v + 1] = std::move(joined);
    chosen[v].clear();
  }
  return chosen;
}

GpuStep table_step(const Executable::State& state, const Prepared& prepared, size_t kernel, size_t phase,
                   size_t variant, const std::vector<size_t>& parts, const std::vector<std::vector<uint64_t>>& values) {
  const Launch& launch = state.launches[kernel];
  const emit::BatchTable& table = launch.table;
  GpuStep step;
  step.kernel = static_cast<int>(kernel);
  step.values.assign(static_cast<size_t>(table.bytes() / 8), 0);
  int64_t before = 0;
  for (size_t n = 0; n < parts.size(); ++n) {
    const size_t i = parts[n];
    const int body = state.kernels[kernel].parts[i].body;
    const runtime::LaunchShape& shape = *prepared.launches[kernel].parts[i].gpu_phases[phase].variants[variant];
    const std::vector<int>& place = table.place[static_cast<size_t>(body)];
    for (size_t p = 0; p < place.size(); ++p) {
      if (place[p] == emit::BatchTable::kNowhere) continue;
      const int64_t word =
          place[p] < 0 ? -1 - place[p] : table.commons + static_cast<int64_t>(n) * table.words + place[p];
      step.values[static_cast<size_t>(word)] = values[i][p];
    }
    put(step.values, table.first_at() + 4 * static_cast<int64_t>(n), static_cast<uint32_t>(before));
    put(step.values, table.body_at() + static_cast<int64_t>(n), static_cast<uint8_t>(body));
    before += shape.workgroups;
    step.shape.threads = shape.threads;
    step.shape.shared_bytes = std::max(step.shape.shared_bytes, shape.shared_bytes);
  }
  step.shape.workgroups = before;
  uint32_t shift = 0;
  while ((before >> shift) >= emit::BatchTable::kNear) ++shift;
  put(step.values, table.count_at(), static_cast<uint32_t>(parts.size()));
  put(step.values, table.count_at() + 4, shift);
  const auto first = [&](size_t n) {
    uint32_t value = 0;
    std::memcpy(&value,
                reinterpret_cast<const char*>(step.values.data()) + table.first_at() + 4 * static_cast<int64_t>(n), 4);
    return static_cast<int64_t>(value);
  };
  size_t part = 0;
  for (int64_t n = 0; n <= emit::BatchTable::kNear; ++n) {
    while (part + 1 < parts.size() && first(part + 1) <= n << shift) ++part;
    put(step.values, table.near_at() + 2 * n, static_cast<uint16_t>(part));
  }
  step.arguments.push_back(step.values.data());
  return step;
}

}  // namespace smelt
