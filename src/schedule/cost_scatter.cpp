// Predicted times of scatters: what memory moves, and updates one by one on a CPU, or those that
// meet in one word on a GPU.
#include <algorithm>
#include <cmath>
#include <set>

#include "schedule/cost_parts.hpp"
#include "schedule/operations.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Measured on an H200: atomic operations of the shared cache in a microsecond, of 32 or 64 bits, at
// places that random numbers name; the time between two on the same word, and additions of words of
// 64 bits in shared memory in a microsecond.
constexpr int kPhasesOfLists = 9;
constexpr double kInCache = 96e3, kSameWordUs = 0.1, kOnChip = 8 * 1755;
constexpr double kIssued = 0.54;       // of a multiprocessor's operations
constexpr double kLookOperations = 8;  // of an update that looks at another
constexpr double kReads = 150e3;       // reads of sectors anywhere in the shared cache, in a microsecond

}  // namespace

Cost predict_scatter_on_cpu(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  // Instructions of an update, of each vector of its row, and to look whether it lies in a part of
  // the rows. Measured on an AMD EPYC (Zen 4, AVX-512): counts and sums of random rows.
  constexpr double kOfUpdate = 6, kOfVector = 4, kOfLook = 0.7;
  // Microseconds until a line of the result is there, where the second-level cache, and the last
  // one, do not hold the result: several are under way at a time.
  constexpr double kFarUs = 1e-3, kMemoryUs = 4e-3, kLineBytes = 64;
  // As kernel/lower_scatter.cpp splits updates and rows.
  constexpr double kMostParts = 64, kUpdatesOfPart = 1 << 16, kUpdatesOfElement = 4;
  constexpr double kMostPartsOfThread = 4, kColumnsOfPart = 16, kWorkOfPiece = 32768;
  const TargetFacts facts = facts_of(options.target);
  const Node& node = graph.at(group.outputs[0]);
  const auto elements = [&](const Shape& shape) {
    return static_cast<double>(std::max<int64_t>(1, element_count(evaluate(shape, options.sizes))));
  };
  const double size = size_of(node.dtype), result = elements(node.shape),
               updates = elements(graph.at(node.args[1]).shape);
  const double columns = std::max(1.0, elements(graph.at(node.args[2]).shape) / updates),
               rows = std::max(1.0, result / columns);
  const double width = std::max(4, options.target.vector_bits / 32);
  double parts = 1, looks = 0, copied = 0;
  if (s.scatter == ScatterForm::Copies) {
    const double least = std::max(kUpdatesOfPart, result * kUpdatesOfElement);
    parts = std::clamp(std::floor(updates * columns / least), 1.0, kMostParts);
    copied = 2 * parts * result / width;
  } else {
    parts =
        std::min(rows, facts.processors * std::clamp(std::floor(columns / kColumnsOfPart), 1.0, kMostPartsOfThread));
    looks = parts * updates * kOfLook;
  }
  // Threads take so many parts that they are worth it (compile/prepare.cpp).
  const double work = s.scatter == ScatterForm::Copies ? updates * columns / parts : updates;
  const double pieces = ceil_ratio(parts, std::max(1.0, std::floor(kWorkOfPiece / work)));
  const double threads = ratio(parts, ceil_ratio(parts, std::min<double>(facts.processors, pieces)));
  const double vectors = columns > 1 ? ceil_ratio(columns, width) : 0;
  const double far = result * size > static_cast<double>(facts.caches[2])   ? kMemoryUs
                     : result * size > static_cast<double>(facts.caches[1]) ? kFarUs
                                                                            : 0;
  Cost cost;
  const double bytes = group_bytes(graph, options.sizes, group);
  cost.memory_us = facts.moving_us(bytes, ratio(result * size, bytes), threads);
  const double instructions = updates * (kOfUpdate + vectors * kOfVector) + looks + copied;
  cost.issue_us = instructions * width / (facts.operations * threads) +
                  updates * ceil_ratio(columns * size, kLineBytes) * far / threads;
  cost.launch_us = facts.launch_us + facts.next_launch_us;
  cost.workgroups = static_cast<int64_t>(parts);
  take_longest(cost);
  return cost;
}

namespace {

// What the updates of a scatter take to be computed once: operations, and sectors that gathers
// read.
struct UpdateWork {
  double operations = 0, sectors = 0;
};

// Each element is computed from the start by the thread that adds it: nothing is shared between the
// columns of an update but what a thread has of them.
class UpdateWalk {
 public:
  UpdateWalk(const Graph& graph, const Group& group, const Schedule& s, const Options& options,
             const OperationCosts& costs, double updates, double terms)
      : graph_(graph), group_(group), s_(s), options_(options), costs_(costs), updates_(updates), terms_(terms) {}

  UpdateWork of(const Node& scatter) {
    visit(scatter.args[1], 1);
    visit(scatter.args[2], 1);
    return work_;
  }

 private:
  double elements(const Node& node) const {
    return static_cast<double>(element_count(evaluate(node.shape, options_.sizes)));
  }

  void visit(NodeId id, double times) {
    const Node& node = graph_.at(id);
    const bool member = std::binary_search(group_.nodes.begin(), group_.nodes.end(), id);
    const bool stored = std::binary_search(group_.inputs.begin(), group_.inputs.end(), id);
    if (stored || node.kind == NodeKind::Constant || (!member && !is_view(node.kind)) || !seen_.insert(id).second)
      return;
    const bool listed = s_.scatter == ScatterForm::Listed, of_update = elements(node) <= updates_ * times;
    const double threads = listed && of_update ? updates_ * ceil_ratio(terms_ / updates_, s_.lanes) : terms_;
    const double own = node.kind == NodeKind::Gather ? kGather : operations_of_element(graph_, node, costs_);
    work_.operations += own * threads * times;
    if (node.kind == NodeKind::Gather)
      work_.sectors += times * arrays_behind(node.args[0]) *
                       (listed && of_update ? updates_
                        : of_update         ? terms_
                                            : std::max(updates_, terms_ * size_of(node.dtype) / kSector));
    const double below = node.local ? times * static_cast<double>(local_elements(graph_, node)) : times;
    for (const NodeId arg : node.args) visit(arg, below);
  }

  // Arrays that are read where an element of a node is computed.
  double arrays_behind(NodeId id) const {
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Constant || node.shape.empty()) return 0;
    if (std::binary_search(group_.inputs.begin(), group_.inputs.end(), id) || node.args.empty()) return 1;
    double arrays = 0;
    for (const NodeId arg : node.args) arrays += arrays_behind(arg);
    return arrays;
  }

  static constexpr double kSector = 32, kGather = 30;  // bytes, instructions around an index
  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Options& options_;
  const OperationCosts& costs_;
  const double updates_, terms_;
  std::set<NodeId> seen_;
  UpdateWork work_;
};

}  // namespace

Cost predict_scatter_on_gpu(const Graph& graph, const Group& group, const Schedule& s, const Options& options) {
  const TargetFacts facts = facts_of(options.target);
  const Node& node = graph.at(group.outputs[0]);
  const auto elements = [&](const Shape& shape) {
    return static_cast<double>(std::max<int64_t>(1, element_count(evaluate(shape, options.sizes))));
  };
  const double result = elements(node.shape), updates = elements(graph.at(node.args[1]).shape),
               terms = elements(graph.at(node.args[2]).shape);
  const bool exact = s.scatter == ScatterForm::Exact, levels = s.scatter == ScatterForm::Levels,
             atomic = exact || levels || s.scatter == ScatterForm::Atomic;
  const int words = size_of(node.dtype) == 8 ? 2 : 1;
  // Phases that compute the updates, and those that read what is known of the element first.
  const double computed = exact                         ? 1 + words
                          : levels && !s.stores_updates ? 2
                                                        : 1,
               looks = exact && !s.on_chip ? 1 + words : 0;
  const UpdateWork work = UpdateWalk(graph, group, s, options, facts.costs, updates, terms).of(node);
  Cost cost;
  const double bytes = group_bytes(graph, options.sizes, group),
               again = (computed - 1) * bytes + (s.stores_updates ? 2 * terms * size_of(compute_type(node.dtype)) : 0);
  const bool near = bytes < static_cast<double>(facts.cache_bytes_total) / 2;
  cost.memory_us = bytes / facts.memory_bytes + again / (near ? facts.cache_bytes : facts.memory_bytes);
  cost.issue_us = computed * work.operations / (kIssued * facts.operations * facts.processors);
  const double in_cache = std::max(terms / kInCache, terms / result * kSameWordUs);
  double meeting = 0;
  if (s.scatter == ScatterForm::Listed)
    meeting = 2 * std::max(updates / kInCache, terms / result * kSameWordUs);
  else if (atomic)
    meeting = s.on_chip ? words * terms / (facts.processors * kOnChip) : words * in_cache;
  cost.cache_us = meeting + (looks * terms + computed * work.sectors) / kReads;
  const bool few = s.scatter == ScatterForm::Few;
  if (few) cost.issue_us += updates * updates * kLookOperations / (kIssued * facts.operations * facts.processors);
  const int phases = s.scatter == ScatterForm::Listed   ? kPhasesOfLists
                     : few                              ? (node.scatter == ScatterKind::Set ? 2 : 3)
                     : exact                            ? 3 + words
                     : levels                           ? 5
                     : atomic                           ? 2
                     : s.scatter == ScatterForm::Newest ? 3
                                                        : 1;
  cost.launch_us = facts.launch_us + (phases - 1) * facts.next_launch_us;
  cost.latency_us = phases * facts.latency_us;
  cost.workgroups = static_cast<int64_t>(ceil_ratio(terms, std::max<double>(1, static_cast<double>(s.tile))));
  take_longest(cost);
  return cost;
}

}  // namespace smelt::schedule
