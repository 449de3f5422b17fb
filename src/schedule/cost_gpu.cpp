// Predicted times of a GPU.
#include "schedule/cost_gpu_accesses.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Instructions around the operations of one step of a thread, and around one access.
constexpr double kStepOperations = 8, kAccessOperations = 2;
// That threads of a team take to join a word with another's, and a warp's with those of others.
constexpr double kShuffleOperations = 5.5, kMeetOperations = 27;
// Rows by which stencils read ahead.
constexpr double kRowsAhead = 3;
// Finding the place of an element in axes that were merged takes a division an axis.
constexpr double kDivision = 10;
constexpr int kBaseRegisters = 20, kAddressableRegisters = 255;
// Kernels that should need more seldom do with what they have.
constexpr double kSafeRegisters = 192;
// Rows that a thread of a split column reads at once.
constexpr double kRowsAtOnce = 4;
// Fitted to the times of 2,800 candidates for 370 kernels on an H200, from 4 us to 4 ms: the time
// in which a multiprocessor starts a workgroup; and what a kernel takes until memory is busy and
// after that, where it is for so long; and the part of latency that is seen beside what limits.
constexpr double kStartUs = 0.08;
// What a register that a thread lacks adds; and what a multiprocessor lacks of enough warps.
constexpr double kSpilled = 0.02, kMostSpilledOfParts = 16, kComputing = 0.22, kComputingInParts = 0.02;
constexpr double kRampUs = 4, kRampsUp = 10, kSeenLatency = 0.1;
// How many times as long memory takes where workgroups share columns, whose rows are far apart: 1.0
// to 1.5 of 20 kernels on an H200, most where rows are odd.
constexpr double kSharedColumns = 1.1, kSharedOddColumns = 1.25;
// Bytes beside a narrow tile of columns, on the average: of what is read, neighbours find most in
// the shared cache. Fitted to 60 kernels on an H100, whose tiles have 8 to 128 columns: 32 bytes of
// softmax over the first axis of odd rows took 2.3 times as long as their bytes.
constexpr double kReadBeside = 16, kStoredBeside = 64;

bool contains(const std::vector<NodeId>& ids, NodeId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

class GpuPrediction {
 public:
  GpuPrediction(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options)
      : graph_(graph),
        group_(group),
        s_(schedule),
        options_(options),
        facts_(facts_of(options.target)),
        at_(graph, schedule, options.sizes) {}

  Cost run() {
    points_ = static_cast<double>(s_.domain.estimate(true)) * static_cast<double>(s_.domain.estimate(false));
    passes_ = std::max(1, passes_of(s_.domain));
    lanes_ = std::max(1, s_.lanes);
    find_grid();
    find_registers();
    find_traffic();
    find_issue();
    find_latency();
    const int next = s_.strategy != Strategy::Split ? 0 : scans_parts_again() ? 2 : 1;
    cost_.launch_us = facts_.launch_us + next * facts_.next_launch_us;
    combine();
    return cost_;
  }

 private:
  void combine() {
    cost_.memory_us *= kMemoryTime;
    if (s_.columns > 0 && cluster_ > 1) cost_.memory_us *= lanes_ == 1 ? kSharedOddColumns : kSharedColumns;
    cost_.latency_us = std::max(cost_.latency_us, workgroups_ / facts_.processors * kStartUs);
    const double spills = 1 + kSpilled * spilled_;
    for (double* us : {&cost_.cache_us, &cost_.on_chip_us, &cost_.issue_us, &cost_.latency_us}) *us *= spills;
    cost_.launch_us += kRampUs * std::min(1.0, cost_.memory_us / kRampsUp) + kSeenLatency * cost_.latency_us;
    take_longest(cost_);
  }

  bool rows() const { return s_.strategy == Strategy::Row; }
  double kept() const { return static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(false))); }
  double reduced() const { return static_cast<double>(std::max<int64_t>(1, s_.domain.estimate(true))); }
  double along() const {
    return s_.vector_axis < 0 ? 1
                              : static_cast<double>(
                                    std::max<int64_t>(1, s_.domain.axes[static_cast<size_t>(s_.vector_axis)].estimate));
  }

  bool along_rows() const { return s_.vector_axis >= 0 && s_.domain.axes[static_cast<size_t>(s_.vector_axis)].reduced; }
  const Axis& split_axis() const { return axis_in_parts(s_); }
  // Parts of columns are read for their totals, and again for what is stored.
  bool scans_parts_again() const { return s_.strategy == Strategy::Split && !along_rows() && !s_.domain.scans.empty(); }
  // The parts of all rows of a split.
  double parts_of_rows() const {
    if (!s_.domain.scans.empty()) return 1e9;
    const Axis& split = split_axis();
    const bool of_lanes = !s_.flat && &split == &s_.domain.axes[static_cast<size_t>(s_.vector_axis)];
    const double most = static_cast<double>(std::min(most_parts_of(split, of_lanes), kMaxParts));
    const double full = std::ceil(static_cast<double>(facts_.processors) * kTeamsPerProcessor / kept());
    return kept() * std::min({most, ceil_ratio(reduced(), kPartElements), full});
  }

  // Neighbours of the last kept axis.
  double along_columns() const {
    const int last = last_axis(s_.domain, false);
    return last < 0 ? 1 : static_cast<double>(std::max<int64_t>(1, s_.domain.axes[static_cast<size_t>(last)].estimate));
  }

  // Threads, workgroups, and the steps that a thread takes one after the other.
  void find_grid() {
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
      // A flat row counts with its columns.
      const double width = std::max(1, s_.columns), length = s_.flat ? reduced() * width : along();
      // Columns of a tile that are not there keep their threads all the same.
      const double tiles = s_.columns > 0 ? ceil_ratio(along_columns(), width) : 1;
      teams = s_.columns > 0 ? ratio(kept(), along_columns()) * tiles : kept();
      const double steps = ceil_ratio(length, team * lanes_);
      rounds_ = ceil_ratio(steps, std::max(1, s_.unroll)) * (s_.flat ? 1 : ratio(reduced(), length));
      executed_ =
          points_ * ratio(steps * team * lanes_, length) * (s_.columns > 0 ? ratio(tiles * width, along_columns()) : 1);
    } else if (s_.strategy == Strategy::Column) {
      const double tile = team * lanes_;
      teams = s_.flattened ? ceil_ratio(kept(), tile) : ratio(kept(), along()) * ceil_ratio(along(), tile);
      rounds_ = ceil_ratio(reduced(), std::max(1, s_.unroll));
      executed_ = teams * team * lanes_ * reduced();
    } else if (s_.strategy == Strategy::Tiled) {
      const double side = static_cast<double>(std::max<int64_t>(1, s_.tile)),
                   elements = side * side * static_cast<double>(s_.unit);
      teams = ceil_ratio(kept(), elements);
      rounds_ = ceil_ratio(elements, static_cast<double>(threads_) * std::max(1, s_.unroll));
      executed_ = points_;
    } else if (s_.strategy == Strategy::Split) {
      // As many parts as fill the GPU.
      double wanted = static_cast<double>(facts_.processors) * facts_.threads / team;
      const double at_once = team < threads_ ? kRowsAtOnce : 1;  // down columns
      if (along_rows())
        wanted = std::min(wanted, parts_of_rows());
      else if (!s_.columns)
        wanted = std::min({wanted, static_cast<double>(facts_.processors * kWarpsPerProcessor),
                           ceil_ratio(kept(), team * lanes_) * static_cast<double>(kMostColumnParts)});
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
    double reads = 0, widest = 4, kept = 0;
    for (const Read& read : s_.domain.reads) {
      if (at_.step_along(read.node, read.index) == 0) continue;
      const double size = size_of(graph_.at(read.node).dtype);
      const auto window = static_cast<double>(window_elements(s_.domain, read.index));
      if (invariant(read))
        kept += size * window * lanes_;
      else  // the windows of all elements that are under way are loaded before anything is computed
        reads += size * (rows() ? window : (1 + at_.longest_side(read.index)) / 2);
      widest = std::max(widest, size);
    }
    const double taken = lanes_ * std::max(1, s_.strategy == Strategy::Column ? std::min(s_.unroll, 8) : s_.unroll);
    const double in_flight = reads * (s_.strategy == Strategy::Tiled ? std::max(1, s_.unroll) : taken);
    // Held values stay as they were in memory; others are computed with while the next ones come.
    double registers = kBaseRegisters + kept / 4 + in_flight / 4 + (s_.held ? 0 : taken * widest / 4);
    if (s_.stencil) {
      double rings = 0;
      for (const Ring& ring : s_.stencil->rings) rings += static_cast<double>(ring.rows) * lanes_;
      registers = kBaseRegisters + 20 + rings;
    }
    if (s_.blocking) registers = 36 + static_cast<double>(s_.blocking->results()) * 1.5;
    registers = std::min<double>(std::ceil(registers / 8) * 8, kAddressableRegisters);
    cost_.registers = static_cast<int>(registers);
    // A workgroup has as many threads as it has: what does not fit their registers spills.
    const double most = std::floor(static_cast<double>(facts_.registers) / threads_);
    spilled_ = std::max(0.0, registers - std::min(most, kSafeRegisters));
    // Rows that do not fit the registers are read later.
    if (s_.strategy == Strategy::Split) spilled_ = std::min(spilled_, kMostSpilledOfParts);
    registers = std::min(std::max(16.0, registers), most);
    double resident = std::min({static_cast<double>(facts_.threads / threads_),
                                std::floor(static_cast<double>(facts_.registers) / (registers * threads_)),
                                static_cast<double>(facts_.workgroups)});
    if (const double shared = shared_bytes(); shared > 0)
      resident = std::min(resident, std::floor(static_cast<double>(facts_.shared_bytes) / shared));
    // Blocks have at least so many.
    if (s_.resident > 0) resident = s_.blocking ? std::max<double>(resident, s_.resident) : s_.resident;
    resident_ = std::max(1.0, resident);
    cost_.resident_workgroups = static_cast<int>(resident_);
    cost_.workgroups = static_cast<int64_t>(workgroups_);
  }

  // Bytes kept of a row, or of columns side by side, between passes.
  double stage_bytes() const {
    return reduced() * 4 * double(s_.strategy == Strategy::Column ? s_.tile : std::max(1, s_.columns));
  }
  bool stays_on_chip() const { return passes_ > 1 && !s_.held && stage_bytes() <= static_cast<double>(s_.keep_bytes); }
  double shared_bytes() const {
    if (s_.strategy == Strategy::Tiled) {
      int64_t bytes = 0;
      for (const Read& read : s_.staged) {
        const DType t = graph_.at(read.node).dtype;
        bytes += s_.tile * staged_row(s_.tile, t, s_.unit) * size_of(t);
      }
      for (const Output& output : s_.domain.outputs) {
        const DType t = graph_.at(output.node).dtype;
        if (s_.turns_results) bytes += s_.tile * staged_row(s_.tile, t, 1) * size_of(t);
      }
      return static_cast<double>(bytes);
    }
    if (!stays_on_chip()) return 0;
    // Chains of norms keep a value for each: one in two passes needs what the one before has
    // computed.
    const double values =
        std::min(std::max(1.0, (passes_ - 1) / 2.0), std::floor(static_cast<double>(s_.keep_bytes) / stage_bytes()));
    return values * stage_bytes() * std::max(1.0, static_cast<double>(threads_) / std::max(1, s_.team)) / cluster_;
  }

  // How often an access is made, over all threads: in each pass that does not find its value on
  // chip.
  double times_read(const Read& read) const {
    const auto window = static_cast<double>(window_elements(s_.domain, read.index));
    if (invariant(read))
      return kept() * window * (rows() ? std::max(1, s_.team) * (s_.columns ? double(lanes_) / s_.columns : 1) : 1);
    const int passes = scans_parts_again() ? 2 : passes_;
    const int again = s_.held || stays_on_chip() ? 1 : std::max(1, passes - read.level);
    return points_ * again * window;
  }
  // What does not change along a row or column stays in registers, unless it is a large window.
  bool invariant(const Read& read) const {
    constexpr int64_t kInRegisters = 32;
    return s_.domain.levels > 0 && !moves_along(s_.domain, read, true) &&
           window_elements(s_.domain, read.index) <= kInRegisters;
  }
  // The bytes that one multiprocessor reads of an array that is the same for all rows, or of which
  // any place may be picked, if its first-level cache holds them.
  std::optional<double> near_bytes(const Read& read) const {
    constexpr double kStays = 8 << 10;  // what streams past does not drive it out
    const double bytes = array_bytes(graph_, options_.sizes, read.node);
    if (bytes > kStays && moves_along(s_.domain, read, false) && !reads_gathered(read.index)) return std::nullopt;
    const bool in_parts = s_.strategy == Strategy::Split && along_rows() && mentions(read.index, split_axis().var);
    const double held = in_parts ? bytes * std::min(1.0, resident_ / parts_of_rows()) : bytes;
    if (held + shared_bytes() * resident_ > static_cast<double>(facts_.shared_bytes)) return std::nullopt;
    return in_parts ? bytes / facts_.processors : bytes;
  }
  // Whether this array is read for a value: through paddings, or for what is computed from it.
  bool leads_to(NodeId array, NodeId id) const {
    std::set<NodeId> waiting{id};  // the last of them first: what it is computed from comes before it
    while (!waiting.empty() && *waiting.rbegin() > array) {
      const NodeId last = *waiting.rbegin();
      waiting.erase(last);
      if (std::binary_search(group_.inputs.begin(), group_.inputs.end(), last)) continue;
      waiting.insert(graph_.at(last).args.begin(), graph_.at(last).args.end());
    }
    return waiting.count(array) > 0;
  }
  // Whether a window over the same array is read too.
  bool is_in_window(const Read& read) const {
    return !reads_windows(read.index) &&
           std::any_of(s_.domain.reads.begin(), s_.domain.reads.end(),
                       [&](const Read& other) { return other.node == read.node && reads_windows(other.index); });
  }
  // In blocks a value that was read serves many results, and what is staged all threads of a
  // workgroup.
  double times_in_blocks(const Read& read) const {
    double times = 0;
    const double threads = kept() / static_cast<double>(s_.blocking->results());
    for (const BlockedSum& sum : s_.blocking->sums)
      for (const Operand& operand : sum.operands) {
        if (!leads_to(read.node, operand.base)) continue;
        const Evaluations made = evaluations_of(graph_, s_.domain, *s_.blocking, sum, operand);
        times += threads * static_cast<double>(made.places * made.runs) / (operand.staged ? threads_ : 1);
      }
    return times > 0 ? times : times_read(read);
  }
  // What a warp's accesses take: bytes of the shared cache, cycles of the first-level one (in which
  // it delivers a line), and instructions. `near`:
  // all that a multiprocessor reads, where its first-level cache holds that. `together`: reads that
  // have the elements between lanes; `in_turn`: as words of those of several lanes.
  void count_access(NodeId node, const Index& index, double times, bool staged, std::optional<double> near, bool shared,
                    double together, bool in_turn) {
    const double size = size_of(graph_.at(node).dtype), stride = at_.step_along(node, index);
    if (stride == 0) {
      // One value for a warp, in every step of it.
      access_operations_ +=
          times / lanes_ / (reads_windows(index) ? at_.word_of_window(node, index) : 1) * kAccessOperations;
      on_chip_ += times / lanes_ / kWarp * kLine;
      return;
    }
    const bool windows = reads_windows(index) && !s_.blocking;
    const bool singly = stride == 1 && at_.taken_singly(node, index);
    const double apart = stride * size, word = windows ? at_.word_of_window(node, index) : 1;
    const double bytes = staged ? size : std::min<double>(kSector, std::max(size, apart / together));
    // What a sector has beyond this element serves the next ones from the first-level cache, where
    // lanes are near.
    double from_cache = times * bytes;
    if (s_.blocking && !s_.blocking->staged())
      from_cache *= at_.shared_of_blocks(node, index);
    else if (windows)
      from_cache = times / static_cast<double>(window_elements(s_.domain, index)) * at_.lines_of_window(node, index) *
                   std::min<double>(kLine, apart);
    cache_bytes_ += near ? std::min(from_cache, *near * facts_.processors) : from_cache;
    const double accesses = times / kWarp / ((stride == 1 && !windows && !singly) || in_turn ? lanes_ : 1);
    // Each lane gets its words, of so many lanes a cycle. Rows side by side in a warp that read the
    // same elements read them once.
    const double at_once = kWarp / std::max(1.0, word * size / 4);
    const double threads = shared ? std::min<double>(at_once, std::max(1, s_.team)) : at_once;
    double bytes_of_lane =
        staged ? size : std::min<double>(kLine, (stride == 1 && !singly) || in_turn ? apart : apart * lanes_);
    // A sector for each lane takes the first-level cache twice as long as its bytes, and parts of
    // sectors of odd rows somewhat longer.
    constexpr double kSinglyInRows = 1.6;
    if (singly) bytes_of_lane *= bytes_of_lane >= kSector ? 2 : rows() ? kSinglyInRows : 1;
    // Lanes that pick places of a small array meet in its lines.
    if (near && stride >= kAnywhere) bytes_of_lane = std::min(bytes_of_lane, std::max<double>(kLine, *near) / kWarp);
    // Windows begin anywhere, so that a warp's elements lie in two lines. The elements of a row
    // share what their windows read.
    if (windows && stride == 1) bytes_of_lane *= 2 * (rows() ? at_.shared_of_lanes(node, index) : 1);
    // The rows of a warp lie in lines of their own.
    constexpr double kLinesAtOnce = 4;
    const double lines =
        rows() && s_.columns == 0 && along_rows() && !near ? std::max(1.0, kWarp / kLinesAtOnce / s_.team) : 1;
    on_chip_ +=
        std::max(times / word * std::max(word * size, bytes_of_lane * threads / at_once), accesses * lines * kLine);
    access_operations_ += times * kAccessOperations / ((stride == 1 && !singly) || in_turn ? lanes_ : word);
    if (staged) on_chip_ += 2 * times * 4, access_operations_ += 2 * times;
  }

  // Elements that are not neighbours of a thread's other ones are stored one by one, and each is a
  // sector of its own where the next thread's is in another: nothing puts stores together.
  void count_store(const Output& output, double times) {
    const bool staged = s_.turns_results || contains(s_.interleaved, output.node);
    const bool in_turn = !staged && at_.in_turn(output);
    count_access(output.node, output.store_index, times, staged, std::nullopt, false, 1, in_turn);
    const double size = size_of(graph_.at(output.node).dtype),
                 apart = at_.step_along(output.node, output.store_index) * size;
    const bool singly = at_.taken_singly(output.node, output.store_index);
    if (staged || in_turn || lanes_ == 1 || (apart <= size && !singly)) return;
    constexpr double kPartsOfSectors = 5;  // four rows of odd length that change places: 119 us on an H100, 59 in pairs
    cache_bytes_ += times * (std::min<double>(kSector, apart * lanes_) - std::min<double>(kSector, apart)) *
                    (singly ? kPartsOfSectors : 1);
  }

  // Bytes that memory moves of an array: all of it once, but no more than is asked for.
  double memory_bytes(NodeId node, double times) const {
    return std::min(array_bytes(graph_, options_.sizes, node), times * size_of(graph_.at(node).dtype));
  }

  void find_traffic() {
    const bool again = scans_parts_again() ||
                       (passes_ > 1 && !s_.held && !stays_on_chip() && (rows() || s_.strategy == Strategy::Column));
    // Rows that are read again: from the shared cache, where all that are under way fit it.
    const double under_way = resident_ * facts_.processors / cluster_;
    const double width = s_.strategy == Strategy::Column ? static_cast<double>(s_.tile) : 1;
    double row_bytes = 0;
    std::map<NodeId, double> asked;
    const bool rings = s_.stencil && !s_.stencil->rings.empty();
    for (const Read& read : s_.domain.reads) {
      // A ring has the rows of an array for all that need them.
      if (rings && asked.count(read.node)) continue;
      if (s_.blocking && (asked.count(read.node) || is_in_window(read))) continue;
      const double times = rings ? executed_ : s_.blocking ? times_in_blocks(read) : times_read(read);
      const bool staged = std::any_of(s_.staged.begin(), s_.staged.end(),
                                      [&](const Read& r) { return r.node == read.node && r.index == read.index; });
      count_access(read.node, read.index, times, staged, near_bytes(read),
                   rows() && !moves_along(s_.domain, read, false), at_.reads_between_lanes(read),
                   !staged && at_.in_turn(read));
      asked[read.node] += times;
      row_bytes += reduced() * width * size_of(graph_.at(read.node).dtype);
    }
    const bool from_memory = again && under_way * row_bytes > static_cast<double>(facts_.cache_bytes_total) / 2;
    double bytes = 0, torn = 0;
    for (const auto& [node, times] : asked)
      bytes += memory_bytes(node, times) * (from_memory && times > points_ ? std::floor(times / points_) : 1) *
               (times >= points_ ? of_narrow_tile(node, false) : 1);
    for (const Output& output : s_.domain.outputs) {
      const double times = output.per_row ? kept() : points_;
      if (output.per_row)
        cache_bytes_ += times * kSector;
      else
        count_store(output, times);
      if (!output.per_row && s_.blocking) cache_bytes_ += times * apart_bytes(output);
      bytes += times * size_of(graph_.at(output.node).dtype) * (output.per_row ? 1 : of_narrow_tile(output.node, true));
      if (!output.per_row) torn += times * torn_bytes(output);
    }
    bytes += spilled_ * 8 * points_ / lanes_ / kWarp;
    cost_.memory_us = bytes / facts_.memory_bytes;
    cost_.cache_us = cache_bytes_ / facts_.cache_bytes + torn / facts_.memory_bytes;
    cost_.on_chip_us = on_chip_ / (facts_.on_chip_bytes * busy()) * computing();
  }

  // Columns side by side that a workgroup has of each row: memory moves more than them, what stands
  // beside them in their sectors too where rows do not begin at sectors. How many times as much as
  // the tile.
  double of_narrow_tile(NodeId node, bool stored) const {
    constexpr double kNarrow = 64, kBurst = 8, kTorn = 48;  // bytes
    const double size = size_of(graph_.at(node).dtype), width = s_.columns * size;
    if (!rows() || s_.columns == 0) return 1;
    const double tile = stored ? std::max<double>(width, kSector) : width;
    const bool whole = std::fmod(along_columns() * size, kSector) == 0;
    if (whole) return width >= kNarrow ? 1 : (tile + (stored && width < kSector ? kTorn : kBurst)) / width;
    return (tile + (stored ? kStoredBeside : kReadBeside)) / width;
  }

  // Adjacent results of a block that begin between words are stored one by one, so each instruction
  // reaches all sectors of the warp's results. Returns the additional bytes of an element.
  double apart_bytes(const Output& output) const {
    const Node& node = graph_.at(output.node);
    const int64_t length = node.shape.empty() ? 1 : node.shape.back().evaluate(options_.sizes);
    if (length % lanes_ == 0 || at_.step_along(output.node, output.store_index) != 1) return 0;
    const double size = size_of(node.dtype);
    return std::min<double>(kSector, lanes_ * size) - size;
  }

  // A row that is stored as a column writes parts of sectors, which memory reads and writes before
  // the next rows have come to them. For each element.
  double torn_bytes(const Output& output) const {
    const double step = at_.step_along(output.node, output.store_index) * size_of(graph_.at(output.node).dtype);
    const bool large =
        array_bytes(graph_, options_.sizes, output.node) > static_cast<double>(facts_.cache_bytes_total) / 2;
    return rows() && s_.columns == 0 && along_rows() && large && step >= kSector ? 2 * kSector : 0;
  }

  // Processors with work, on the average over the waves of workgroups.
  double busy() const {
    const double slots = facts_.processors * resident_;
    if (workgroups_ <= facts_.processors) return std::max(1.0, workgroups_);
    if (s_.blocking) return workgroups_ / wholes_of_blocks();
    return facts_.processors * std::min(1.0, workgroups_ / (ceil_ratio(workgroups_, slots) * slots) + 0.5);
  }

  // What a multiprocessor does one after the other, in workgroups: those of the last wave, if few,
  // have too few warps to keep it busy.
  double wholes_of_blocks() const {
    constexpr double kEnoughWarps = 12;
    const double all = std::ceil(workgroups_ / facts_.processors), last = std::fmod(all, resident_);
    const double warps = last * threads_ / kWarp;
    return all - last + (last > 0 ? last * std::max(1.0, kEnoughWarps / warps) : 0);
  }

  // Warps that a multiprocessor has at a time.
  double warps() const {
    return std::max(1.0, std::min(resident_, std::ceil(workgroups_ / facts_.processors)) * threads_ / kWarp);
  }
  // How many times as long it takes with these warps as with as many as make no difference: they
  // wait for each other's results. Fitted to candidates of one kernel each, on an H200.
  static double waiting(double warps, double enough, double weight) {
    return 1 + weight * (std::max(1.0, enough / warps) - 1);
  }
  double computing() const {
    if (s_.blocking || s_.stencil || !s_.domain.scans.empty()) return waiting(warps(), 8, 1);
    return s_.strategy == Strategy::Split ? waiting(warps(), 64, kComputingInParts) : waiting(warps(), 32, kComputing);
  }

  // How often elements are evaluated, on the average, since they are needed at several indices.
  double evaluated_again() const {
    constexpr double kClearly = 1.5;
    if (!s_.domain.stores_components() && has_local(graph_, group_)) return 1;
    const double all = s_.domain.work * points_, once = evaluations_behind(graph_, group_, options_.sizes);
    return all > kClearly * once && once > 0 ? all / once : 1;
  }

  // Operations by which the threads of teams join what each of them has.
  double joining() const {
    if (!rows() || s_.columns > 0 || s_.team <= 1 || !s_.domain.scans.empty()) return 0;
    double words = 0;
    for (const Reduction& r : s_.domain.reductions) words += words_of(r.node);
    const double steps = std::log2(std::min(s_.team, kWarp));
    const double once = steps * kShuffleOperations + (s_.team > kWarp ? kMeetOperations + 5 * kShuffleOperations : 0);
    return kept() * s_.team * words * once;
  }
  // Sums of integers are narrowed.
  double words_of(NodeId node) const {
    const Node& reduce = graph_.at(node);
    const bool finds = reduce.reduce == ReduceKind::ArgMax || reduce.reduce == ReduceKind::ArgMin;
    return finds ? 3 : reduce.dtype == DType::F64 ? 2 : 1;
  }

  void find_issue() {
    double operations = operations_behind(graph_, group_, options_.sizes, facts_.costs);
    if (s_.stencil)
      operations = schedule::operations_of(graph_, group_.nodes, options_.sizes, facts_.costs) * s_.stencil->repeated;
    if (s_.strategy == Strategy::Pointwise && !s_.blocking && !s_.cut) operations *= evaluated_again();
    if (rows() && passes_ > 1 && !s_.held) operations *= 1 + (stays_on_chip() ? 0.25 : 0.5) * (passes_ - 1);
    if (executed_ > points_ && !s_.stencil) operations *= executed_ / points_;
    const double steps = std::max(executed_, points_) * passes_ /
                         (lanes_ * (s_.blocking ? double(s_.blocking->results()) : std::max(1, s_.unroll)));
    const bool divides = s_.flattened || (s_.flat && s_.strategy == Strategy::Split && !s_.columns);
    const double overhead =
        access_operations_ + joining() +
        steps * (kStepOperations + (divides ? kDivision * static_cast<double>(s_.domain.axes.size() - 1) : 0));
    cost_.issue_us = (operations + overhead) / (facts_.operations * busy()) * computing();
  }

  void find_latency() {
    const int levels = std::max(1, s_.domain.levels);
    const bool passes_read = !s_.held && !stays_on_chip();
    const bool whole_rows = rows() || s_.strategy == Strategy::Column;
    const bool near =
        s_.domain.levels > 0 && std::all_of(s_.domain.reads.begin(), s_.domain.reads.end(),
                                            [&](const Read& r) { return invariant(r) || near_bytes(r).has_value(); });
    double once =
        facts_.latency_us + (near ? facts_.near_latency_us : facts_.next_latency_us) * (std::max(1.0, rounds_) - 1);
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
    // With many waves the last one takes only its share of a wave: workgroups are no longer in
    // step.
    const double waves = std::max(1.0, workgroups_ / (facts_.processors * resident_)) +
                         (workgroups_ > facts_.processors * resident_ ? 0.5 : 0);
    cost_.latency_us = waves * once;
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Options& options_;
  const TargetFacts facts_;
  const GpuAccesses at_;
  Cost cost_;
  double points_ = 1, executed_ = 0;  // elements; those that threads go through, whether they are there or not
  double rounds_ = 1;                 // round trips to memory of one thread
  double workgroups_ = 1, resident_ = 1, cluster_ = 1, spilled_ = 0;
  double cache_bytes_ = 0, on_chip_ = 0, access_operations_ = 0;
  int threads_ = 1, passes_ = 1, lanes_ = 1;
};

}  // namespace

Cost predict_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options) {
  return GpuPrediction(graph, group, schedule, options).run();
}

}  // namespace smelt::schedule
