// Predicted times of products on a GPU without matrix units, whose threads multiply what they stage
// in shared memory.
//
// A workgroup stages and multiplies one part of the factors after the other. Then it hands the sums
// of its tile to the threads that compute and store the results. A multiprocessor is busy with
// either for some cycles; a workgroup alone takes longer, since it waits for memory and for its own
// instructions. Resident workgroups hide each other's latency.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "schedule/cost_parts.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/product.hpp"
#include "schedule/schedule_gpu.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::schedule {
namespace {

// Fitted to 630 candidates of 103 products of f32 and f64 on an H200, 5 us to 2 ms. Predictions are
// off by 13 % on the average, and by 9 % among the candidates of one product.
constexpr double kThreadClock = 1930;            // cycles in a microsecond
constexpr double kMultiplied = 128, kIssue = 4;  // multiplications, and instructions of warps, in a cycle
constexpr double kLoad = 4.5, kSharedLoad = 1;   // cycles of a warp's load of 16 bytes for each thread, and
                                                 // where neighbours read the same
constexpr double kConflict = 2;                  // ways of the bank conflict where a part is transposed
constexpr double kPiece = 32, kOddPiece = 50;    // elements of a row that are loaded at full speed; where rows
                                                 // begin anywhere
// Instructions of an operation in simple ones, of an access, of storing an element on chip, and of
// handing a sum to the thread that stores its result.
constexpr double kOperation = 0.4, kAccess = 3.5, kStage = 5, kResult = 9.5;
constexpr double kOfPiece = 30;  // more, where columns are pieces of odd lengths that no run makes one
// Outside of the arrays 0 is divided by 0, which takes the slow path of a division.
constexpr double kSlowDivision = 55;
// Cycles between instructions of one warp, and between those of slow divisions.
constexpr double kOfOneWarp = 2.5, kSlowOfOneWarp = 4;
// Latency in cycles: of a part, of what follows from the sums of a tile, and of an element that an
// index names.
constexpr double kPartLatency = 670, kResultLatency = 550, kPlaceLatency = 250;
constexpr double kAtBarriers = 0.4;     // how much longer a part takes where no other workgroup fills the barriers
constexpr double kNotHidden = 0.4;      // of the shorter of computing and waiting
constexpr double kBesideLimit = 0.4;    // of the terms that do not limit
constexpr double kShareOfMemory = 0.8;  // of the bytes: the cache holds what was written last
constexpr double kShareOfCache = 0.5;   // of the bytes: the first-level cache serves neighbours
constexpr double kLineOfResults = 128;  // bytes
constexpr double kTorn = 512;           // bytes that memory moves to write a part of a line

// Work of a workgroup: the cycles that it keeps a multiprocessor busy, and those that it takes
// where no other workgroup is resident.
struct Work {
  double busy = 0, alone = 0;
  // Cycles that each of so many resident workgroups adds.
  double among(double resident, double at_barriers) const {
    const double together = busy * (1 + at_barriers / resident), waiting = alone / resident;
    return std::max(together, waiting) + kNotHidden * std::min(together, waiting);
  }
};

// What it takes to compute an element.
struct PerElement {
  double operations = 0, reads = 0, gathers = 0, divisions = 0;
};

class ThreadsPrediction {
 public:
  ThreadsPrediction(const Graph& graph, const Group& group, const Schedule& s, const Options& options)
      : graph_(graph),
        group_(group),
        s_(s),
        p_(*s.product),
        options_(options),
        facts_(facts_of(options.target)),
        rows_(estimate(p_.rows)),
        columns_(estimate(p_.columns)),
        tiles_of_rows_(std::max(1.0, ceil_ratio(rows_, static_cast<double>(p_.tile_rows)))),
        tiles_of_columns_(std::max(1.0, ceil_ratio(columns_, static_cast<double>(p_.tile_columns)))) {}

  Cost run() const {
    const double tiles = estimate(p_.batch) * tiles_of_rows_ * tiles_of_columns_ * p_.split;
    const double parts = ceil_ratio(ceil_ratio(estimate(p_.inner), static_cast<double>(p_.tile_inner)), p_.split);
    Cost cost;
    cost.workgroups = static_cast<int64_t>(tiles);
    cost.resident_workgroups = resident();
    const Work part = work_of_part();
    Work results = work_of_results(kResult);
    results.alone += kResultLatency;
    const auto cycles = [&](double together) {
      return parts * part.among(together, kAtBarriers) + results.among(together, 0);
    };
    const double of_processor = std::max(1.0, ceil_ratio(tiles, facts_.processors));
    const double together = std::min<double>(cost.resident_workgroups, of_processor);
    const double last = std::fmod(of_processor, together);
    const double bytes = moved_bytes();
    const bool near = bytes < static_cast<double>(facts_.cache_bytes_total) / 2;
    cost.issue_us = ((of_processor - last) * cycles(together) + (last > 0 ? last * cycles(last) : 0)) / kThreadClock;
    cost.memory_us = kShareOfMemory * bytes / (near ? facts_.cache_bytes : facts_.memory_bytes);
    cost.cache_us = kShareOfCache * tiles * parts * static_cast<double>(bytes_of_part(p_)) / facts_.cache_bytes +
                    torn_bytes() / facts_.memory_bytes;
    // The others overlap but for a share of them.
    double& longest = std::max({std::ref(cost.issue_us), std::ref(cost.memory_us), std::ref(cost.cache_us)});
    longest += kBesideLimit * (cost.issue_us + cost.memory_us + cost.cache_us - longest);
    cost.launch_us = facts_.launch_us + us_of_adding_parts(graph_, s_, options_);
    take_longest(cost);
    return cost;
  }

  // To compute and store what follows from the sums of a tile; elements outside of the arrays are
  // computed too. `of_sum`: instructions of handing over a sum.
  Work work_of_results(double of_sum) const {
    const auto elements = static_cast<double>(p_.tile_rows * p_.tile_columns);
    const auto along = (count_of(s_.domain, p_.columns) * p_.run).constant();
    const double at_once = along && *along % s_.lanes != 0 ? 1 : s_.lanes,
                 stored_at_once = p_.run > 1 ? at_once : std::min(at_once, at_a_time(p_.columns));
    double stores = sums() * words();
    const bool are_pieces = p_.run == 1 && p_.columns.size() > 1 && at_a_time(p_.columns) == 1;
    PerElement each;
    if (p_.split == 1) {
      std::set<NodeId> reduced;
      for (const ProductSum& sum : p_.sums) reduced.insert(sum.node);
      each = evaluation(group_.outputs, reduced);
      stores = static_cast<double>(group_.outputs.size());
    }
    const double slow = each.divisions * (1 - rows_there() * columns_there()) * kSlowDivision;
    const double busy = elements / kMultiplied *
                        (of_sum * sums() * words() + (are_pieces ? kOfPiece : 0) + each.operations * kOperation + slow +
                         (each.reads / at_once + stores / stored_at_once) * kAccess);
    // Branches on what is within the arrays serialize the gathers of a thread.
    const double whole = std::floor(rows_ / static_cast<double>(p_.tile_rows)) *
                         std::floor(columns_ / static_cast<double>(p_.tile_columns)) /
                         (tiles_of_rows_ * tiles_of_columns_);
    const double places = gathers_along_columns() ? each.gathers * (1 - whole) : 0;
    return {busy, kOfOneWarp * busy * kMultiplied / threads() +
                      elements / threads() * (slow * kSlowOfOneWarp + places * kPlaceLatency)};
  }

 private:
  double estimate(const std::vector<int>& axes) const { return static_cast<double>(estimate_of(s_.domain, axes)); }
  double sums() const { return static_cast<double>(p_.sums.size()); }
  double words() const { return static_cast<double>(bytes_of_sums(graph_, p_)) / 4; }
  double threads() const { return s_.workgroup; }
  const Axis& last_of(const std::vector<int>& axes) const { return s_.domain.axes[static_cast<size_t>(axes.back())]; }
  // Elements that a thread accesses at a time: one where rows are odd.
  double at_a_time(const std::vector<int>& axes) const {
    const auto length = axes.empty() ? std::optional<int64_t>(1) : last_of(axes).extent.constant();
    return length && *length % s_.lanes != 0 ? 1 : s_.lanes;
  }
  // The share of the rows, or columns, of all tiles that is within the arrays.
  double rows_there() const { return rows_ / (tiles_of_rows_ * static_cast<double>(p_.tile_rows)); }
  double columns_there() const { return columns_ / (tiles_of_columns_ * static_cast<double>(p_.tile_columns)); }

  // To stage and multiply a part.
  Work work_of_part() const {
    const double warps = threads() / kWarp;
    const int64_t across = p_.tile_columns / p_.block_columns;
    const double of_rows = across % 2 == 0 ? kSharedLoad : kLoad,
                 of_columns = across == 1 || shares_columns(p_) ? kSharedLoad : kLoad;
    const double steps = warps * static_cast<double>(p_.tile_inner) * words() * sums() / 4;
    const auto rows = static_cast<double>(p_.block_rows), columns = static_cast<double>(p_.block_columns);
    double on_chip = steps * (rows * of_rows + columns * of_columns);
    const double multiplying =
        static_cast<double>(p_.tile_rows * p_.tile_columns * p_.tile_inner) * sums() * words() / kMultiplied +
        steps * (rows + columns) / kIssue;
    double staging = 0, waiting = kPartLatency;
    for_factors(p_, [&](NodeId factor, double elements, bool along_inner) {
      const bool of_rows = is_of_rows(factor);
      const std::vector<int>& own = of_rows ? p_.rows : p_.columns;
      const double at_once = at_a_time(along_inner ? p_.inner : own), of_thread = elements / threads();
      const double absent = 1 - (of_rows ? rows_there() : columns_there());
      const PerElement each = evaluation({factor}, {});
      // Along the inner axes a part has a piece of each row, and is transposed.
      const double lines =
          along_inner ? std::max(1.0, (at_once > 1 ? kPiece : kOddPiece) / static_cast<double>(p_.tile_inner)) : 1;
      on_chip += elements * words() / kWarp * (along_inner && p_.tile_inner > 8 ? kConflict : 1);
      on_chip += elements * words() / kWarp * each.reads * lines;
      staging += elements *
                 (each.operations * kOperation + each.divisions * absent * kSlowDivision +
                  each.reads / at_once * kAccess + kStage / (along_inner ? 1 : s_.lanes)) /
                 kMultiplied;
      waiting += of_thread *
                 (each.divisions * absent * kSlowDivision * kSlowOfOneWarp + each.gathers / at_once * kPlaceLatency);
      if (each.gathers > 0) waiting += kPartLatency;
      if (each.reads > held_reads(of_thread * size_of(graph_.at(factor).dtype))) waiting += kPartLatency;
    });
    return {std::max(multiplying + staging, on_chip),
            waiting + (multiplying + kOfOneWarp * staging) * kMultiplied / threads()};
  }
  bool is_of_rows(NodeId factor) const {
    return std::any_of(p_.sums.begin(), p_.sums.end(), [&](const ProductSum& sum) { return sum.rows == factor; });
  }
  // How many arrays of a factor are prefetched while the part before is multiplied.
  static double held_reads(double bytes_of_thread) {
    constexpr double kMostHeldBytes = 128;
    return bytes_of_thread > kMostHeldBytes ? 0 : std::max(1.0, std::floor(kMostHeldBytes / bytes_of_thread));
  }

  bool gathers_along_columns() const {
    if (p_.columns.empty()) return false;
    const Symbol column = last_of(p_.columns).var;
    const auto picks = [&](Symbol s) {
      return s_.domain.gathers.count(s) > 0 && symbols_behind(s_.domain, {s}).count(column) > 0;
    };
    return std::any_of(s_.domain.reads.begin(), s_.domain.reads.end(), [&](const Read& read) {
      return std::any_of(read.index.begin(), read.index.end(), [&](const IntExpr& i) {
        const auto symbols = i.symbols();
        return std::any_of(symbols.begin(), symbols.end(), picks);
      });
    });
  }

  // What an element of each of these nodes takes, where those of others are given.
  PerElement evaluation(const std::vector<NodeId>& nodes, const std::set<NodeId>& given) const {
    const auto has = [](const std::vector<NodeId>& of, NodeId id) {
      return std::binary_search(of.begin(), of.end(), id);
    };
    PerElement all;
    std::map<NodeId, double, std::greater<>> waiting;  // the last first: what it is computed from comes before it
    for (const NodeId id : nodes) waiting[id] = 1;
    while (!waiting.empty()) {
      const auto [id, times] = *waiting.begin();
      waiting.erase(waiting.begin());
      const Node& node = graph_.at(id);
      if (node.kind == NodeKind::Constant || given.count(id)) continue;
      if (has(group_.inputs, id) || (!has(group_.nodes, id) && !is_view(node.kind))) {
        all.reads += times;
        continue;
      }
      const double below = node.local ? times * static_cast<double>(local_elements(graph_, node)) : times;
      all.operations +=
          (node.kind == NodeKind::Reduce ? below : times) * operations_of_element(graph_, node, facts_.costs);
      if (node.kind == NodeKind::Gather) all.gathers += times;
      if (node.kind == NodeKind::Elementwise && node.op == Op::Div && is_float(node.dtype) &&
          graph_.at(behind_views(graph_, node.args[1])).kind != NodeKind::Constant)
        all.divisions += times;
      for (const NodeId arg : node.args) {
        double& most = waiting[arg];
        most = std::max(most, below);
      }
    }
    return all;
  }

  // Bytes that memory moves: each array once, but no more of it than is read.
  double moved_bytes() const {
    std::map<NodeId, double> asked;
    for (const Read& read : s_.domain.reads) {
      std::set<Symbol> symbols;
      for (const IntExpr& i : read.index) symbols.merge(symbols_behind(s_.domain, i.symbols()));
      double places = static_cast<double>(window_elements(s_.domain, read.index));
      for (const Axis& axis : s_.domain.axes)
        if (symbols.count(axis.var)) places *= static_cast<double>(axis.estimate);
      asked[read.node] += places * size_of(graph_.at(read.node).dtype);
    }
    double bytes = 0;
    for (const auto& [node, most] : asked) bytes += std::min(most, array_bytes(graph_, options_.sizes, node));
    for (const NodeId id : group_.outputs) bytes += array_bytes(graph_, options_.sizes, id);
    return bytes;
  }
  // Bytes that memory moves for lines that tiles of the batch share: each of these tiles writes a
  // part of a line, which the cache has evicted before the next one.
  double torn_bytes() const {
    double bytes = 0;
    if (p_.split > 1) return 0;
    for (const Output& output : s_.domain.outputs) {
      std::map<double, double> extents;  // of the axes of a tile, by the step along them
      for (const std::vector<int>* axes : {&p_.rows, &p_.columns})
        for (const int axis : *axes) {
          const Axis& a = s_.domain.axes[static_cast<size_t>(axis)];
          if (a.estimate > 1)
            extents[stride_of(graph_, s_.domain, options_.sizes, output.node, output.store_index, a.var)] =
                static_cast<double>(a.estimate);
        }
      double run = size_of(graph_.at(output.node).dtype);
      const double size = run, all = array_bytes(graph_, options_.sizes, output.node);
      for (const auto& [step, extent] : extents)
        if (step * size == run) run *= extent;
      if (run < kLineOfResults && all > static_cast<double>(facts_.cache_bytes_total) / 2) bytes += all / run * kTorn;
    }
    return bytes;
  }

  // Workgroups that a multiprocessor has registers and shared memory for.
  int resident() const {
    constexpr int64_t kAddressing = 32, kComputing = 12, kEach = 8;
    const int64_t each = bytes_of_sums(graph_, p_) / 4, threads = s_.workgroup,
                  all = static_cast<int64_t>(p_.sums.size());
    double held = 0;
    int64_t others = kAddressing;
    for_factors(p_, [&](NodeId factor, double elements, bool) {
      const Behind behind = behind_factor(graph_, group_, factor);
      held += behind.arrays * elements / static_cast<double>(threads);
      if (behind.operations > 0) others = kAddressing + kComputing;
    });
    const int64_t block = p_.block_rows * p_.block_columns * all + p_.block_rows + p_.block_columns;
    const int64_t registers = (each * (block + static_cast<int64_t>(held)) + others + kEach - 1) / kEach * kEach;
    const int64_t shared =
        std::max(bytes_of_part(p_) * each, p_.tile_rows * (p_.tile_columns + 4) * all * bytes_of_sums(graph_, p_)) +
        2048;
    return static_cast<int>(
        std::max<int64_t>(1, std::min({facts_.registers / (registers * threads), facts_.shared_bytes / shared,
                                       static_cast<int64_t>(facts_.threads) / threads})));
  }

  const Graph& graph_;
  const Group& group_;
  const Schedule& s_;
  const Product& p_;
  const Options& options_;
  const TargetFacts facts_;
  const double rows_, columns_, tiles_of_rows_, tiles_of_columns_;
};

}  // namespace

double cycles_beyond_sums(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options,
                          double together) {
  return ThreadsPrediction(graph, group, schedule, options).work_of_results(0).among(together, 0);
}

Cost predict_product_of_threads(const Graph& graph, const Group& group, const Schedule& schedule,
                                const Options& options) {
  return ThreadsPrediction(graph, group, schedule, options).run();
}

}  // namespace smelt::schedule
