// Predicted times of a CPU. Every thread goes through its part of the elements in steps of a vector
// loop; what a step takes is counted in instructions of one vector register, of which a core does
// two in a cycle.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "schedule/cost_parts.hpp"
#include "schedule/cut.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Instructions of one access. Measured on a Xeon at 2.5 GHz (AVX-512): pools and slices of short
// rows, pairs of points.
constexpr double kOfShuffles = 2.5;  // of a vector, for each line that its lanes lie in
constexpr int kMostShuffled = 8;     // elements between neighbours, for that
constexpr double kGather = 3.6;      // of an element whose place is known from the first lane's
constexpr double kOwnPlace = 7;      // of an element whose place is found for itself, from its number in several axes
constexpr double kDivided = 14;      // the same, by divisions
constexpr double kBroadcast = 0.5;   // of a step
constexpr double kPiece = 2;         // of a piece of neighbours, among lanes from several places
// Elements that alternate have code of their own up to so many remainders, and loads for each.
constexpr int64_t kMostAlternating = 8, kMostReadAlternating = 128;
// To begin a vector loop, and to join the lanes of an accumulator: for each register more than one,
// and each halving of one.
constexpr double kBegin = 5, kJoin = 2;
constexpr double kJoinSum = 1, kJoinExtreme = 3, kJoinPosition = 6;  // times that
// Cycles in which a step waits for the one before, of reductions; two instructions are done in
// each.
constexpr double kChain = 4, kInstructionsPerCycle = 2;
// Longer windows are not done side by side with the next ones.
constexpr int64_t kLongestBesideOthers = 16;
// Rows that columns side by side take from memory together, where they are split over the grid.
constexpr double kRowsInFlight = 4;
constexpr double kCacheLine = 64;
// Microseconds in which a thread waits for a piece of a row that it stores to a page far from the
// last one.
constexpr double kFarPiece = 0.1;
// The first-level cache: bytes between addresses that share a set, and the lines of a set.
constexpr double kWaySize = 4096;
constexpr int kWays = 8;
constexpr double kPage = 4096;
constexpr double kPagesNear = 64;  // whose addresses a core translates at once

class CpuPrediction {
 public:
  CpuPrediction(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options)
      : graph_(graph), group_(group), s_(schedule), options_(options), facts_(facts_of(options.target)) {}

  Cost run() {
    passes_ = std::max(1, passes_of(s_.domain));
    find_steps();
    int64_t read = 0;
    for (const Read& r : s_.domain.reads) read += std::min(window_elements(s_.domain, r.index), kMostWrittenOut);
    alternating_ = s_.domain.pointwise() && !s_.flattened && !s_.stencil && read <= kMostReadAlternating;
    find_accesses();
    find_issue();
    Cost cost;
    const double threads = std::clamp(iterations_, 1.0, static_cast<double>(facts_.processors));
    const double cache_bytes = facts_.cache_bytes * threads / facts_.processors;
    cost.memory_us = facts_.moving_us(memory_bytes_, ratio(written_bytes_, memory_bytes_), threads);
    cost.cache_us = line_bytes_ / cache_bytes + torn_bytes_ / facts_.memory_bytes + far_pieces_ * kFarPiece / threads;
    cost.issue_us = std::max(instructions_, divider_) * width() / (facts_.operations * threads);
    // Rows come from memory in the first of several passes, which the others follow.
    if (s_.strategy == Strategy::Row)
      cost.issue_us = std::max(cost.issue_us, cost.memory_us + cost.issue_us * (passes_ - 1) / passes_);
    cost.latency_us = chain_ * kInstructionsPerCycle * width() / (facts_.operations * threads);
    cost.launch_us = facts_.launch_us + (s_.strategy == Strategy::Split ? facts_.next_launch_us : 0);
    take_longest(cost);
    return cost;
  }

 private:
  double width() const { return std::max(4, options_.target.vector_bits / 32); }
  double kept() const { return static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(false))); }
  double points() const { return kept() * static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(true))); }
  const Axis* axis() const {
    return s_.vector_axis < 0 ? nullptr : &s_.domain.axes[static_cast<size_t>(s_.vector_axis)];
  }
  double along() const { return axis() ? static_cast<double>(std::max<int64_t>(1, axis()->estimate)) : 1; }
  // The lanes of whole steps.
  double in_steps(double elements) const { return ceil_ratio(elements, s_.lanes) * s_.lanes; }
  bool along_rows() const { return s_.domain.levels > 0 && axis() && axis()->reduced; }
  bool down_columns() const { return !s_.domain.pointwise() && axis() && !axis()->reduced && s_.narrow_axis < 0; }

  // Elements that one pass goes through, whether they are there or not, and the vector loops that
  // it begins.
  void find_steps() {
    const double length = along(), rows = points() / length;
    const double tile = s_.tile > 0 ? std::min(static_cast<double>(s_.tile), length) : length;
    if (s_.flattened && s_.flat_from > 0) {
      const double run = points_from(s_.flat_from), runs = points() / run;
      executed_ = runs * in_steps(run);
      begun_ = iterations_ = runs * ceil_ratio(run, static_cast<double>(std::max<int64_t>(1, s_.tile)));
    } else if (s_.flattened || s_.narrow_axis >= 0) {
      executed_ = in_steps(points());
      begun_ = iterations_ = ceil_ratio(points(), static_cast<double>(std::max<int64_t>(1, s_.tile)));
    } else if (s_.pieces) {
      executed_ = rows * in_steps(length);
      begun_ = rows;
      iterations_ = ceil_ratio(rows, static_cast<double>(s_.tile));
    } else if (down_columns()) {
      const bool own = s_.tile <= s_.lanes;  // each lane goes down its own column
      executed_ = rows * (std::floor(length / tile) * in_steps(tile) + in_steps(std::fmod(length, tile)));
      begun_ = own ? ceil_ratio(kept(), s_.lanes) : points() / tile;
      in_scratch_ = own ? 0 : s_.strategy == Strategy::Split ? 2 / kRowsInFlight : 2;
      iterations_ = s_.strategy == Strategy::Split ? points() : ceil_ratio(kept(), tile);
    } else if (s_.domain.pointwise()) {
      executed_ = rows * in_ranges(length);
      begun_ = iterations_ = rows * ceil_ratio(length, tile);
    } else {
      executed_ = rows * in_steps(length);
      begun_ = rows;
      iterations_ = s_.strategy == Strategy::Split ? points() : kept();
    }
  }

  // The cost of a row whose ranges are separate loops.
  double in_ranges(double length) const {
    if (!s_.cut || s_.cut->axis != s_.vector_axis) return in_steps(length);
    const std::vector<IntExpr>& starts = s_.cut->starts;
    const auto start = [&](size_t r) {
      return r < starts.size() ? static_cast<double>(starts[r].evaluate(options_.sizes)) : length;
    };
    double executed = 0;
    for (size_t r = 0; r < starts.size(); ++r) executed += in_steps(start(r + 1) - start(r));
    return executed;
  }

  double stride(NodeId node, const Index& index, const Axis& a) const {
    return stride_of(graph_, s_.domain, options_.sizes, node, index, a.var);
  }

  double points_from(int first) const {
    double count = 1;
    for (size_t d = static_cast<size_t>(first); d < s_.domain.axes.size(); ++d)
      count *= static_cast<double>(std::max<int64_t>(1, s_.domain.axes[d].estimate));
    return count;
  }

  // Whether elements that follow each other in the vector loop do so in the array, over all its
  // axes.
  bool in_order(NodeId node, const Index& index) const {
    const IntExpr place = flat_offset(graph_.at(node), index);
    int64_t step = 1;
    for (size_t d = s_.domain.axes.size(); d-- > static_cast<size_t>(s_.flat_from);) {
      const Axis& a = s_.domain.axes[d];
      const auto along = place.coefficient_of(a.var);
      if (a.estimate > 1 && !(along && along->evaluate(options_.sizes) == step)) return false;
      step *= a.estimate;
    }
    return true;
  }

  // Whether each lane has the same place in a row in every step.
  bool even() const {
    const int64_t length = s_.domain.axes.back().extent.constant().value_or(0);
    return length > 0 && s_.lanes % length == 0;
  }

  // Whether neighbours of the axis before the last are neighbours in the array: as many pieces as a
  // row has elements.
  bool is_turned(NodeId node, const Index& index) const {
    const std::vector<Axis>& axes = s_.domain.axes;
    return axes.size() > 1 && stride(node, index, axes[axes.size() - 2]) == 1;
  }

  // What a place is the remainder by, of numbers by which elements alternate; 1: of none.
  static int64_t alternation(const IntExpr& e, Symbol var) {
    int64_t by = 1;
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->symbol) continue;
        const int64_t divisor = atom->b.constant().value_or(0);
        const bool of_axis = atom->kind == AtomKind::Mod && divisor >= 2 && divisor <= kMostAlternating;
        if (of_axis && atom->a.coefficient_of(var)) by = std::max(by, divisor);
      }
    return by;
  }
  bool alternates_in_lanes(NodeId node, const Index& index) const {
    return axis() && alternation_of(node, index, *axis()) > 1;
  }
  int64_t alternation_of(NodeId node, const Index& index, const Axis& a) const {
    int64_t by = 1;
    if (alternating_ && !flat_offset(graph_.at(node), index).coefficient_of(a.var))
      for (const IntExpr& i : index) by = std::max(by, i.mentions(a.var) ? alternation(i, a.var) : 1);
    return by;
  }
  // Elements for each that is read: where zeros are inserted between elements, those of each
  // remainder are computed on their own (kernel/split_lanes.hpp).
  double spread(NodeId node, const Index& index) const {
    double by = 1;
    for (const Axis& a : s_.domain.axes) by *= static_cast<double>(alternation_of(node, index, a));
    return by;
  }

  // Instructions that bring, or store, one element.
  double instructions_of(NodeId node, const Index& index, int64_t most_shuffled) const {
    if (!axis() || graph_.at(node).shape.empty()) return 0;
    const double registers = std::max(1.0, size_of(graph_.at(node).dtype) / 4.0) / width();
    const double step = alternates_in_lanes(node, index) ? 1 : stride(node, index, *axis());
    // Rows that the data picks are read in order, as stride_of() knows.
    const bool anywhere = (reads_gathered(index) && !facts_.measured) || step >= kAnywhere;
    if (s_.flattened) {
      if (anywhere) return std::has_single_bit(static_cast<uint64_t>(along())) ? kOwnPlace : kDivided;
      if (in_order(node, index)) return registers;
      if (!even()) return kOwnPlace;
      if (step <= kMostShuffled) return kPiece * std::max(1.0, step) / along() + registers;
      return is_turned(node, index) ? 2 * kPiece * along() / s_.lanes + registers : kOwnPlace;
    }
    // Vectors that are less than a register take as long as a whole one.
    const double part = std::max(1.0, width() / s_.lanes);
    if (anywhere) return facts_.gather * part;
    if (step == 0) return kBroadcast / s_.lanes;
    if (step == 1) return registers * part;
    if (step > static_cast<double>(most_shuffled) || part > 1) return kGather * part;
    return std::min(kGather, kOfShuffles * step * registers);
  }

  // Accesses of a read: in each pass that does not find its value on chip.
  double times_read(const Read& read) const {
    const double times = static_cast<double>(window_elements(s_.domain, read.index)) * executed_ / points();
    const bool stays = s_.domain.levels > 0 && !moves_along(s_.domain, read, true);
    if (stays) return times * (in_scratch_ > 0 ? points() / kRowsInFlight : kept());
    return times * points() * std::max(1, passes_ - read.level);
  }

  void find_accesses() {
    std::map<NodeId, double> moved;  // bytes of each array
    std::set<NodeId> stored;
    const auto note = [&](NodeId node, const Index& index, double times, bool stored) {
      const bool joined = stored && is_joined(node, index);
      instructions_ += times * instructions_of(node, index, joined ? kMostJoined : kMostShuffled);
      if (!joined && !alternates_in_lanes(node, index) && in_own_lines(node, index))
        (stored && along_rows() ? torn_bytes_ : line_bytes_) += times * (stored ? 2 : 1) * kCacheLine;
      const DType dtype = graph_.at(node).dtype;
      if (dtype == DType::BF16 || dtype == DType::F16)
        instructions_ += times * facts_.costs.numbers->of(dtype == DType::BF16 ? Fact::Bf16 : Fact::F16) / width();
      moved[node] += times * size_of(dtype);
    };
    for (const Read& read : s_.domain.reads)
      note(read.node, read.index, times_read(read) / spread(read.node, read.index), false);
    for (const Output& o : s_.domain.outputs) {
      note(o.node, o.store_index, o.per_row ? kept() : executed_, true);
      stored.insert(o.node);
      if (!o.per_row && down_columns() && has_far_rows(s_, options_.target))
        far_pieces_ += executed_ / std::min(along(), static_cast<double>(std::max<int64_t>(s_.lanes, s_.tile)));
    }
    for (const auto& [node, bytes] : moved) {
      const double once = std::min(array_bytes(graph_, options_.sizes, node), bytes);
      memory_bytes_ += once;
      if (stored.count(node)) written_bytes_ += once;
    }
  }

  // Whether stores side by side have all elements between the lanes.
  bool is_joined(NodeId node, const Index& index) const {
    const auto beside = std::count_if(s_.domain.outputs.begin(), s_.domain.outputs.end(),
                                      [&](const Output& o) { return o.node == node; });
    return axis() && beside > 1 && stride(node, index, *axis()) == static_cast<double>(beside);
  }

  // Each element in a line of its own, of an array that the caches near a core do not hold. Tiles
  // use all of their lines.
  bool in_own_lines(NodeId node, const Index& index) const {
    if (!axis() || s_.flattened || s_.strategy == Strategy::Tiled) return false;
    const double elements = stride(node, index, *axis()), step = elements * size_of(graph_.at(node).dtype);
    // Places that no step gives are neighbours, but at the ends of rows; those that the data names
    // are not.
    return step >= kCacheLine && (elements < kAnywhere || reads_gathered(index)) &&
           array_bytes(graph_, options_.sizes, node) > static_cast<double>(options_.target.l2_bytes) / 2 &&
           !serves_next(node, index, step) && !reads_windows_of_lines(node, index);
  }

  // Whether the elements of a window, which are read together, lie in the lines of the lanes.
  bool reads_windows_of_lines(NodeId node, const Index& index) const {
    const IntExpr place = flat_offset(graph_.at(node), index);
    return place.any_symbol([&](Symbol s) {
      const auto step = s.kind() == Symbol::Kind::Window ? place.coefficient_of(s) : std::nullopt;
      return step && step->is(1);
    });
  }

  // Whether the lines that the lanes read serve the steps that follow, in columns that lie along a
  // row of the array. Lines whose distance is a power of two push each other out of the first-level
  // cache, and lines on many pages take longer to find than they save.
  bool serves_next(NodeId node, const Index& index, double step) const {
    if (std::fmod(step, kWaySize) == 0 && s_.lanes > kWays) return false;
    if (step >= kPage && std::max(static_cast<double>(s_.lanes), static_cast<double>(s_.tile)) > kPagesNear)
      return false;
    const auto beside = [&](const Axis& a) { return a.reduced && stride(node, index, a) == 1; };
    return down_columns() && std::any_of(s_.domain.axes.begin(), s_.domain.axes.end(), beside);
  }

  void find_issue() {
    const double operations =
        s_.stencil ? operations_of(graph_, group_.nodes, options_.sizes, facts_.costs) * s_.stencil->repeated
                   : all_operations() / spread_windows();
    instructions_ += operations * executed_ / points() / width() + begun_ * passes_ * kBegin;
    const auto accumulators = static_cast<double>(s_.domain.reductions.size() + s_.domain.scans.size());
    instructions_ += in_scratch_ * accumulators * executed_ / width();
    if (along_rows()) {
      const double steps = std::max(1.0, s_.lanes / width()) - 1 + std::log2(std::min<double>(s_.lanes, width()));
      instructions_ += kept() * kJoin * steps * joined();
      chain_ = executed_ * s_.domain.levels / s_.lanes * kChain;
    }
    for (const Read& read : s_.domain.reads)
      if (window_elements(s_.domain, read.index) > kLongestBesideOthers)
        chain_ = std::max(chain_, times_read(read) / s_.lanes * kChain / 2);
  }

  // By what windows over inserted zeros have fewer elements.
  double spread_windows() const {
    double by = 1;
    for (const Read& read : s_.domain.reads)
      if (window_elements(s_.domain, read.index) > 1) by = std::max(by, spread(read.node, read.index));
    return by;
  }

  // Cheap operations are done again in passes that need them, others are kept where a row fits.
  // Divisions that take longer than all the rest are counted beside it.
  double all_operations() {
    const Work work = work_behind(graph_, group_, options_.sizes, facts_.costs);
    const double again = 1 + 0.5 * (passes_ - 1);
    const double row = static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(true))) * sizeof(float);
    const bool keeps = row * std::max(1.0, static_cast<double>(s_.tile)) <= static_cast<double>(s_.keep_bytes);
    const double expensive = keeps ? 1 : again;
    // Vectors that are less than a register take as many instructions for fewer elements.
    const double part = axis() ? std::max(1.0, width() / s_.lanes) : 1;
    divider_ = part * work.divider * expensive * executed_ / points() / width();
    return part * ((work.cheap - joined_by_stores()) * again + work.expensive * expensive) + scanned();
  }

  // What is stored side by side is joined by its stores.
  double joined_by_stores() const {
    double operations = 0;
    if (s_.domain.outputs.size() > group_.outputs.size())
      for (const NodeId id : group_.nodes)
        if (graph_.at(id).kind == NodeKind::Concat)
          operations += operations_of(graph_, {id}, options_.sizes, facts_.costs);
    return operations;
  }

  // What running results along the lanes take besides one operation for each element.
  double scanned() const {
    if (!axis() || s_.domain.scans.empty() || s_.strategy == Strategy::Column) return 0;
    double sum = 0;
    for (const Scan& scan : s_.domain.scans) {
      const ReduceKind kind = graph_.at(scan.node).reduce;
      const double cost =
          facts_.costs.numbers->of(kind == ReduceKind::Max || kind == ReduceKind::Min ? Fact::ScanExtreme : Fact::Scan);
      sum += points() * std::max(0.0, cost - 1);
    }
    return sum;
  }

  // Accumulators, by what it takes to join their lanes.
  double joined() const {
    double sum = 0;
    for (const Reduction& r : s_.domain.reductions) switch (graph_.at(r.node).reduce) {
        case ReduceKind::ArgMax:
        case ReduceKind::ArgMin: sum += kJoinPosition; break;
        case ReduceKind::Max:
        case ReduceKind::Min: sum += kJoinExtreme; break;
        default: sum += kJoinSum;
      }
    return sum;
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Options& options_;
  const TargetFacts facts_;
  int passes_ = 1;
  double executed_ = 0, begun_ = 0, iterations_ = 1;
  double in_scratch_ = 0;  // accesses of scratch for each element and accumulator
  double instructions_ = 0, memory_bytes_ = 0, written_bytes_ = 0, line_bytes_ = 0;
  bool alternating_ = false;
  double divider_ = 0;     // instructions that go on beside others
  double torn_bytes_ = 0;  // of lines that are read and written for one element of a row
  double far_pieces_ = 0;  // of rows that are stored to other pages
  double chain_ = 0;       // cycles
};

}  // namespace

Cost predict_on_cpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  return CpuPrediction(graph, group, schedule, options).run();
}

}  // namespace smelt::schedule
