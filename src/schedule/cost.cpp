#include "schedule/cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

constexpr int kWarp = 32, kSector = 32;
// Instructions around the operations of one step of a thread, and around one access.
constexpr double kStepOperations = 8, kAccessOperations = 2;
// Rows by which stencils read ahead.
constexpr double kRowsAhead = 3;
// Finding the place of an element in axes that were merged takes a division an axis.
constexpr double kDivision = 10;
constexpr int kBaseRegisters = 20, kMostRegisters = 255;
// Rows that a thread of a split column reads at once.
constexpr double kRowsAtOnce = 4;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }
double ceil_ratio(double a, double b) { return std::ceil(ratio(a, b)); }

// In the units of cost_of, which says 20 for all functions: exponentials and logarithms are the
// cheap ones.
double operations_of(const Node& node) {
  if (node.kind != NodeKind::Elementwise) return cost_of(node);
  const bool cheap = node.op == Op::Exp || node.op == Op::Exp2 || node.op == Op::Log || node.op == Op::Log2;
  return cheap ? 10 : cost_of(node);
}

// Evaluations of every operation of the group, by what each costs: windows evaluate what they see
// once for each of their elements, and views are evaluated where their readers are.
double operations_behind(const Graph& graph, const Group& group, const SizeBinding& sizes) {
  std::map<NodeId, double, std::greater<>> waiting;  // consumers first
  const auto elements = [&](NodeId id) {
    return static_cast<double>(element_count(evaluate(graph.at(id).shape, sizes)));
  };
  for (const NodeId id : group.outputs) waiting[id] = elements(id);
  double total = 0;
  while (!waiting.empty()) {
    const auto [id, times] = *waiting.begin();
    waiting.erase(waiting.begin());
    const Node& node = graph.at(id);
    const bool member = std::binary_search(group.nodes.begin(), group.nodes.end(), id);
    if (!member && (!is_view(node.kind) || std::binary_search(group.inputs.begin(), group.inputs.end(), id))) continue;
    double below = times;
    if (node.local)
      below *= static_cast<double>(local_elements(graph, node));
    else if (node.kind == NodeKind::Reduce || node.kind == NodeKind::Broadcast)
      below = elements(node.args[0]);
    if (member) total += (node.kind == NodeKind::Reduce ? below : times) * operations_of(node);
    for (const NodeId arg : node.args) {
      double& most = waiting[arg];
      most = std::max(most, below);
    }
  }
  return total;
}

class Prediction {
 public:
  Prediction(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options)
      : graph_(graph), group_(group), s_(schedule), options_(options), facts_(facts_of(options.target)) {}

  Cost run() {
    points_ = static_cast<double>(s_.domain.estimate(true)) * static_cast<double>(s_.domain.estimate(false));
    passes_ = std::max(1, passes_of(s_.domain));
    lanes_ = std::max(1, s_.lanes);
    find_grid();
    find_registers();
    find_traffic();
    find_issue();
    find_latency();
    cost_.launch_us = facts_.launch_us + (s_.strategy == Strategy::Split ? facts_.next_launch_us : 0);
    pick();
    return cost_;
  }

 private:
  bool rows() const { return s_.strategy == Strategy::Row; }
  bool gpu() const { return options_.target.gpu; }
  double kept() const { return static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(false))); }
  double reduced() const { return static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(true))); }
  double along() const {
    return s_.vector_axis < 0 ? 1
                              : static_cast<double>(
                                    std::max<int64_t>(1, s_.domain.axes[static_cast<size_t>(s_.vector_axis)].estimate));
  }

  // Threads, workgroups, and the steps that a thread takes one after the other.
  void find_grid() {
    if (!gpu()) return;
    const double team = std::max(1, s_.team);
    threads_ = std::max(kWarp, s_.workgroup);
    const double step = team * lanes_ * std::max(1, s_.unroll);
    double teams = 1;
    if (s_.stencil) {
      const double width = std::max(1.0, along()), height = ratio(kept(), width);
      const double chunk = static_cast<double>(std::max<int64_t>(1, s_.stencil->chunk));
      teams = ceil_ratio(width, static_cast<double>(std::max<int64_t>(1, s_.tile))) * ceil_ratio(height, chunk);
      rounds_ = chunk + static_cast<double>(s_.stencil->warm_up);
      executed_ = points_ * s_.stencil->repeated;
    } else if (rows()) {
      // Of a flat row, all of its elements and those of the columns beside it.
      const double width = std::max(1, s_.columns), length = s_.flat ? reduced() * width : along();
      teams = ceil_ratio(kept(), width);
      const double steps = ceil_ratio(length, team * lanes_);
      rounds_ = ceil_ratio(steps, std::max(1, s_.unroll)) * (s_.flat ? 1 : ratio(reduced(), length));
      executed_ = points_ * ratio(steps * team * lanes_, length);
    } else if (s_.strategy == Strategy::Column) {
      teams = ceil_ratio(kept(), team * lanes_);
      rounds_ = ceil_ratio(reduced(), std::max(1, s_.unroll));
      executed_ = teams * team * lanes_ * reduced();
    } else if (s_.strategy == Strategy::Tiled) {
      const double side = static_cast<double>(std::max<int64_t>(1, s_.tile));
      teams = ceil_ratio(kept(), side * side);
      rounds_ = ceil_ratio(side * side, static_cast<double>(threads_) * std::max(1, s_.unroll));
      executed_ = points_;
    } else if (s_.strategy == Strategy::Split) {
      // As many parts as fill the GPU.
      const double wanted = static_cast<double>(facts_.processors) * facts_.threads / team;
      const double at_once = team < threads_ ? kRowsAtOnce : 1;  // down columns
      teams = std::max(1.0, std::min(wanted, ratio(points_, step * at_once)));
      rounds_ = ceil_ratio(points_, teams * step * at_once);
      executed_ = points_;
    } else {
      const double tile = s_.blocking ? team * static_cast<double>(s_.blocking->results()) : step;
      teams = ceil_ratio(kept(), tile);
      executed_ = s_.flattened || s_.blocking ? teams * tile : points_;
      if (!s_.flattened && !s_.blocking && !s_.domain.axes.empty()) {
        teams = ratio(kept(), along()) * ceil_ratio(along(), tile);
        executed_ = teams * tile;
      }
    }
    const double per_workgroup = std::max(1.0, threads_ / team);
    cluster_ = std::max(1.0, team / threads_);
    workgroups_ = std::ceil(teams / per_workgroup) * cluster_;
  }

  // What a thread reads at a time, held or on the way to its operations.
  void find_registers() {
    if (!gpu()) return;
    double reads = 0, widest = 4;
    for (const Read& read : s_.domain.reads) {
      if (step_along(read.node, read.index) == 0) continue;
      const double size = size_of(graph_.at(read.node).dtype);
      reads += size;
      widest = std::max(widest, size);
    }
    const double taken = lanes_ * std::max(1, s_.strategy == Strategy::Column ? std::min(s_.unroll, 8) : s_.unroll);
    const double in_flight = reads * (s_.strategy == Strategy::Tiled ? std::max(1, s_.unroll) : taken);
    // Held values stay as they were in memory; others are computed with while the next ones come.
    double registers = kBaseRegisters + in_flight / 4 + (s_.held ? 0 : taken * widest / 4);
    if (s_.stencil) {
      double rings = 0;
      for (const Ring& ring : s_.stencil->rings) rings += static_cast<double>(ring.rows) * lanes_;
      registers = kBaseRegisters + 20 + rings;
    }
    if (s_.blocking) registers = 36 + static_cast<double>(s_.blocking->results()) * 1.5;
    registers = std::min<double>(std::ceil(registers / 8) * 8, kMostRegisters);
    cost_.registers = static_cast<int>(registers);
    // A workgroup has as many threads as it has: what does not fit their registers spills.
    const double most = std::floor(static_cast<double>(facts_.registers) / threads_);
    spilled_ = std::max(0.0, registers - most);
    registers = std::min(std::max(16.0, registers), most);
    double resident = std::min({static_cast<double>(facts_.threads / threads_),
                                std::floor(static_cast<double>(facts_.registers) / (registers * threads_)),
                                static_cast<double>(facts_.workgroups)});
    if (const double shared = shared_bytes(); shared > 0)
      resident = std::min(resident, std::floor(static_cast<double>(facts_.shared_bytes) / shared));
    if (s_.resident > 0) resident = s_.resident;
    resident_ = std::max(1.0, resident);
    cost_.resident_workgroups = static_cast<int>(resident_);
    cost_.workgroups = static_cast<int64_t>(workgroups_);
  }

  // Of a row, or of the columns side by side, between its passes.
  double stage_bytes() const {
    return reduced() * 4 * double(s_.strategy == Strategy::Column ? s_.tile : std::max(1, s_.columns));
  }
  bool stays_on_chip() const { return passes_ > 1 && !s_.held && stage_bytes() <= static_cast<double>(s_.keep_bytes); }
  double shared_bytes() const {
    if (s_.strategy == Strategy::Tiled)
      return static_cast<double>(s_.staged.size()) * static_cast<double>(s_.tile * (s_.tile + 1)) * 4;
    if (!stays_on_chip()) return 0;
    return stage_bytes() * std::max(1.0, static_cast<double>(threads_) / std::max(1, s_.team)) / cluster_;
  }

  // How often an access is made, over all threads: in each pass that does not find its value on
  // chip.
  double times_read(const Read& read) const {
    const int again = s_.held || stays_on_chip() ? 1 : std::max(1, passes_ - read.level);
    return points_ * again * window_elements(read.index);
  }
  // In blocks a value that was read serves many results, and what is staged all threads of a
  // workgroup.
  double times_in_blocks(const Read& read) const {
    double times = 0;
    const double threads = kept() / static_cast<double>(s_.blocking->results());
    for (const BlockedSum& sum : s_.blocking->sums)
      for (const Operand& operand : sum.operands) {
        if (operand.base != read.node) continue;
        const Evaluations made = evaluations_of(graph_, s_.domain, *s_.blocking, sum, operand);
        times += threads * static_cast<double>(made.places * made.runs) / (operand.staged ? threads_ : 1);
      }
    return times > 0 ? times : times_read(read);
  }
  double window_elements(const Index& index) const {
    if (!reads_windows(index)) return 1;
    double elements = 1;
    for (const NodeId id : group_.nodes)
      if (graph_.at(id).local)
        elements = std::max(elements, static_cast<double>(local_elements(graph_, graph_.at(id))));
    return elements;
  }

  // Elements between those of neighbouring lanes; very many where that is no constant.
  double step_along(NodeId node, const Index& index) const {
    if (s_.vector_axis < 0 || graph_.at(node).shape.empty()) return 0;
    const IntExpr flat = flat_offset(graph_.at(node).shape, index);
    const auto step = flat.coefficient_of(s_.domain.axes[static_cast<size_t>(s_.vector_axis)].var);
    return step ? std::abs(static_cast<double>(step->evaluate(options_.sizes))) : 1e9;
  }

  // Sectors that a warp's access touches, for each element of it; and the instructions that it
  // takes.
  void count_access(NodeId node, const Index& index, double times, bool staged) {
    const double size = size_of(graph_.at(node).dtype);
    const IntExpr flat = flat_offset(graph_.at(node).shape, index);
    const auto step = s_.vector_axis < 0 ? std::optional<IntExpr>(IntExpr(0))
                                         : flat.coefficient_of(s_.domain.axes[static_cast<size_t>(s_.vector_axis)].var);
    const double stride = step ? std::abs(static_cast<double>(step->evaluate(options_.sizes))) : 1e9;
    if (stride == 0) {
      // One value for a warp, in every step of it.
      access_operations_ += times / lanes_ * kAccessOperations;
      on_chip_ += times / lanes_ / kWarp * kSector;
      return;
    }
    const bool together = staged || stride * size <= kSector;
    const double bytes = staged ? size : std::min<double>(kSector, stride * size);
    // What a sector has beyond this element serves the next ones from the first-level cache, where
    // lanes are near.
    cache_bytes_ += times * bytes;
    on_chip_ += times * (together ? bytes : kSector * 4.0);
    access_operations_ += times * kAccessOperations / (stride == 1 ? lanes_ : 1);
    if (staged) on_chip_ += 2 * times * 4, access_operations_ += 2 * times;
  }

  // Bytes that memory moves of an array: all of it once, but no more than is asked for.
  double memory_bytes(NodeId node, double times) const {
    const double elements = static_cast<double>(element_count(evaluate(graph_.at(node).shape, options_.sizes)));
    return std::min(elements, times) * size_of(graph_.at(node).dtype);
  }

  void find_traffic() {
    const bool again = passes_ > 1 && !s_.held && !stays_on_chip() && (rows() || s_.strategy == Strategy::Column);
    // Rows that are read again: from the shared cache, where all that are under way fit it.
    const double under_way = gpu() ? resident_ * facts_.processors / cluster_ : facts_.processors;
    const double width = s_.strategy == Strategy::Column ? static_cast<double>(s_.tile) : 1;
    double row_bytes = 0;
    std::map<NodeId, double> asked;
    const bool rings = s_.stencil && !s_.stencil->rings.empty();
    for (const Read& read : s_.domain.reads) {
      // A ring has the rows of an array for all that need them.
      if (rings && asked.count(read.node)) continue;
      if (s_.blocking && asked.count(read.node)) continue;
      const double times = rings ? executed_ : s_.blocking ? times_in_blocks(read) : times_read(read);
      const bool staged = std::any_of(s_.staged.begin(), s_.staged.end(),
                                      [&](const Read& r) { return r.node == read.node && r.index == read.index; });
      count_access(read.node, read.index, times, staged);
      asked[read.node] += times;
      row_bytes += reduced() * width * size_of(graph_.at(read.node).dtype);
    }
    const bool from_memory = again && under_way * row_bytes > static_cast<double>(facts_.cache_bytes_total) / 2;
    double bytes = 0;
    for (const auto& [node, times] : asked)
      bytes += memory_bytes(node, times) * (from_memory && times > points_ ? std::floor(times / points_) : 1);
    for (const Output& output : s_.domain.outputs) {
      const double times = output.per_row ? kept() : points_;
      if (output.per_row)
        cache_bytes_ += times * kSector;
      else
        count_access(output.node, output.store_index, times, false);
      bytes += times * size_of(graph_.at(output.node).dtype);
    }
    bytes += spilled_ * 8 * points_ / lanes_ / kWarp;
    cost_.memory_us = bytes / facts_.memory_bytes;
    cost_.cache_us = cache_bytes_ / facts_.cache_bytes;
    cost_.on_chip_us = on_chip_ / (facts_.on_chip_bytes * busy());
  }

  // Processors with work, on the average over the waves of workgroups.
  double busy() const {
    if (!gpu()) return facts_.processors;
    const double slots = facts_.processors * resident_;
    if (workgroups_ <= facts_.processors) return std::max(1.0, workgroups_);
    return facts_.processors * std::min(1.0, workgroups_ / (ceil_ratio(workgroups_, slots) * slots) + 0.5);
  }

  void find_issue() {
    double operations = operations_behind(graph_, group_, options_.sizes);
    if (s_.stencil)
      operations =
          static_cast<double>(schedule::operations_of(graph_, group_.nodes, options_.sizes)) * s_.stencil->repeated;
    if (rows() && passes_ > 1 && !s_.held && !stays_on_chip()) operations *= 1 + 0.5 * (passes_ - 1);
    if (executed_ > points_ && !s_.stencil) operations *= executed_ / points_;
    double overhead = access_operations_;
    if (gpu()) {
      const double steps = std::max(executed_, points_) * passes_ /
                           (lanes_ * (s_.blocking ? double(s_.blocking->results()) : std::max(1, s_.unroll)));
      overhead +=
          steps * (kStepOperations + (s_.flattened ? kDivision * static_cast<double>(s_.domain.axes.size() - 1) : 0));
    } else {
      overhead /= std::max(4, options_.target.vector_bits / 32);
    }
    cost_.issue_us = (operations + overhead) / (facts_.operations * busy());
  }

  void find_latency() {
    if (!gpu()) return;
    const int levels = std::max(1, s_.domain.levels);
    const bool passes_read = !s_.held && !stays_on_chip();
    const bool whole_rows = rows() || s_.strategy == Strategy::Column;
    double once = facts_.latency_us + facts_.next_latency_us * (std::max(1.0, rounds_) - 1);
    if (whole_rows && passes_ > 1)
      once += (passes_ - 1) * (passes_read ? facts_.cache_latency_us * std::max(1.0, rounds_) : 0.05);
    if (s_.stencil)
      once = facts_.latency_us + rounds_ * (facts_.next_latency_us / kRowsAhead +
                                            facts_.shuffles_us / 2 * static_cast<double>(s_.stencil->rings.size()));
    if (rows() && s_.team > kWarp) {
      const double barrier = facts_.barrier_us * std::log2(static_cast<double>(threads_) / kWarp + 1);
      once += levels * (2 * barrier + (cluster_ > 1 ? facts_.cluster_us : 0));
    }
    if (rows()) once += levels * facts_.shuffles_us;
    // Of many waves the last is no longer than the part that is left of it: workgroups are not in
    // step by then.
    const double waves = std::max(1.0, workgroups_ / (facts_.processors * resident_)) +
                         (workgroups_ > facts_.processors * resident_ ? 0.5 : 0);
    cost_.latency_us = waves * once;
  }

  void pick() {
    const std::pair<double, Resource> terms[] = {{cost_.memory_us, Resource::Memory},
                                                 {cost_.cache_us, Resource::Cache},
                                                 {cost_.on_chip_us, Resource::OnChip},
                                                 {cost_.issue_us, Resource::Issue},
                                                 {cost_.latency_us, Resource::Latency}};
    double most = 0;
    for (const auto& [us, resource] : terms)
      if (us > most) most = us, cost_.limit = resource;
    cost_.us = cost_.launch_us + most;
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Options& options_;
  const TargetFacts facts_;
  Cost cost_;
  double points_ = 1, executed_ = 0;  // elements; those that threads go through, whether they are there or not
  double rounds_ = 1;                 // round trips to memory of one thread
  double workgroups_ = 1, resident_ = 1, cluster_ = 1, spilled_ = 0;
  double cache_bytes_ = 0, on_chip_ = 0, access_operations_ = 0;
  int threads_ = 1, passes_ = 1, lanes_ = 1;
};

}  // namespace

std::string_view name_of(Resource resource) {
  switch (resource) {
    case Resource::Memory: return "memory";
    case Resource::Cache: return "cache";
    case Resource::OnChip: return "on-chip memory";
    case Resource::Issue: return "operations";
    case Resource::Latency: return "latency";
  }
  return "?";
}

Cost predict(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  return Prediction(graph, group, schedule, options).run();
}

}  // namespace smelt::schedule
