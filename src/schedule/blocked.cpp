#include "schedule/blocked.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "schedule/local.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

// Elements of a window that are written out for one result, and fused multiply-adds in the body of
// the innermost loop.
constexpr int64_t kMostUnrolled = 32, kMostProducts = 640;
constexpr int64_t kMostBlockColumns = 4, kMostBlockRows = 8, kMostShared = 8;
// Elements of a window whose results are worth sharing what they read; how much less that must take
// of the first-level cache, and a larger block against a smaller one.
constexpr int64_t kLongWindow = 16;
constexpr double kWorthSharing = 1.5, kWorthMore = 0.85;
constexpr double kWarpLanes = 32, kWarpLineBytes = 128;
constexpr int64_t kFar = 64;  // elements, of which each lies in a line of its own
// Lines that the first-level caches deliver to a warp while memory delivers a byte to each thread.
constexpr double kLinesPerByte = 1.3;
// Lines in the time of what a thread computes of the place of its block.
constexpr double kIndexLines = 15;
// Most unrolled elements of all results, for sums without staged operands.
constexpr int64_t kMostTaps = 1024;
// Lanes that one part of a shared axis must have: fewer would leave most of a workgroup idle.
constexpr int64_t kFewLanes = 64;

int64_t extent_of(const Graph& graph, NodeId reduce, int axis) {
  return graph.at(graph.at(reduce).args[0]).shape[static_cast<size_t>(axis)].constant().value();
}

// Whether an operand is the same for all results of a block of `size` along an axis.
bool stays(const Domain& domain, const Operand& operand, size_t axis, int64_t size) {
  const Axis& along = domain.axes[axis];
  if (!mentions(operand.index, along.var)) return true;
  const auto extent = along.extent.constant();
  if (!extent || *extent % size != 0) return false;
  Ranges ranges = domain.ranges;
  ranges[Symbol::loop("block")] = {0, *extent / size - 1};
  const auto at = [&](int64_t r) {
    Index index;
    for (const IntExpr& i : operand.index)
      index.push_back(i.substitute({{along.var, IntExpr::symbol(Symbol::loop("block")) * size + r}}, ranges));
    return index;
  };
  const Index first = at(0);
  for (int64_t r = 1; r < size; ++r)
    if (at(r) != first) return false;
  return true;
}

// The size of blocks that saves most of `most`, of those that fit: large ones share more, but the
// last one may stick out.
template <class Fits>
int64_t best_block(int64_t extent, int64_t most, Fits fits) {
  int64_t best = 1;
  double best_score = 0;
  for (int64_t size = 1; size <= most; ++size) {
    if (!fits(size)) continue;
    const double used = static_cast<double>(extent) / static_cast<double>((extent + size - 1) / size * size);
    const double score = used * static_cast<double>(size) / static_cast<double>(size + 1);
    if (score > best_score) best = size, best_score = score;
  }
  return best;
}

bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

int64_t Blocking::results() const {
  int64_t n = 1;
  for (const int64_t size : block) n *= size;
  return n;
}

bool Blocking::staged() const {
  return std::any_of(sums.begin(), sums.end(), [](const BlockedSum& sum) {
    return std::any_of(sum.operands.begin(), sum.operands.end(), [](const Operand& o) { return o.staged; });
  });
}

int chunked_axis(const Graph& graph, const BlockedSum& sum) {
  const Node& node = graph.at(sum.node);
  for (size_t a = 0; a + sum.unrolled < node.axes.size(); ++a)
    if (extent_of(graph, sum.node, node.axes[a]) > 1) return static_cast<int>(a);
  return -1;
}

StagedShape staged_shape(const Graph& graph, const Domain& domain, const Blocking& blocking, const BlockedSum& sum,
                         const Operand& operand) {
  StagedShape shape;
  for (const int axis : graph.at(sum.node).axes)
    if (mentions(operand.index, Symbol::window(sum.node, axis))) shape.window.push_back(axis);
  for (size_t a = 0; a < domain.axes.size(); ++a)
    if (blocking.shared[a] && blocking.block[a] > 1 && mentions(operand.index, domain.axes[a].var))
      shape.axis = static_cast<int>(a);
  return shape;
}

Evaluations evaluations_of(const Graph& graph, const Domain& domain, const Blocking& blocking, const BlockedSum& sum,
                           const Operand& operand) {
  const std::vector<int>& axes = graph.at(sum.node).axes;
  std::map<Symbol, int64_t> counts;  // of variables: how many values each takes
  for (size_t a = 0; a < domain.axes.size(); ++a) counts[domain.axes[a].var] = blocking.block[a];
  Evaluations made;
  for (size_t a = 0; a < axes.size(); ++a) {
    const Symbol var = Symbol::window(sum.node, axes[a]);
    const int64_t extent = extent_of(graph, sum.node, axes[a]);
    const bool written_out = a + sum.unrolled >= axes.size();
    counts[var] = written_out ? extent : 1;
    if (!written_out && mentions(operand.index, var)) made.runs *= extent;
  }
  for (const IntExpr& i : operand.index) {
    const std::vector<Symbol> symbols = i.symbols();
    std::vector<Symbol> varying;
    for (Symbol symbol : symbols)
      if (const auto known = counts.find(symbol); known != counts.end() && known->second > 1) varying.push_back(symbol);
    std::map<Symbol, int64_t> at;
    // Somewhere in the middle of large arrays.
    for (Symbol symbol : symbols) at[symbol] = symbol.is_size() ? 1 << 20 : 0;
    for (const Axis& axis : domain.axes) at[axis.var] = 16 * counts.at(axis.var);
    const std::map<Symbol, int64_t> first = at;
    std::set<int64_t> values;
    for (bool more = true; more;) {
      values.insert(i.evaluate(at));
      more = false;
      for (const Symbol v : varying) {
        if (++at[v] < first.at(v) + counts.at(v)) {
          more = true;
          break;
        }
        at[v] = first.at(v);
      }
    }
    made.places *= static_cast<int64_t>(values.size());
  }
  return made;
}

namespace {

class Chooser {
 public:
  Chooser(const Graph& graph, const Domain& domain, const BlockNeeds& needs, std::vector<BlockedSum> sums)
      : graph_(graph), domain_(domain), needs_(needs), columns_(domain.axes.size() - 1) {
    made_.sums = std::move(sums);
    made_.block.assign(domain.axes.size(), 1);
    made_.shared.assign(domain.axes.size(), false);
  }

  std::optional<Blocking> run() {
    if (!divide_operands()) return std::nullopt;
    find_rows();
    if (!any_staged_) return share_windows() ? std::optional(std::move(made_)) : std::nullopt;
    choose_blocks();
    unroll_all();
    while (rows_ >= 0 && rows() > 1 && registers() > needs_.registers) {
      rows() = (rows() + 1) / 2;
      unroll_all();
    }
    if (made_.results() == 1) return std::nullopt;
    for (BlockedSum& sum : made_.sums)
      if (!stage(sum)) return std::nullopt;
    return std::move(made_);
  }

 private:
  // Those that neighbouring lanes have in common are staged; the axes that they depend on are
  // shared.
  bool divide_operands() {
    for (BlockedSum& sum : made_.sums) {
      bool moves = false;
      for (Operand& operand : sum.operands) {
        moves = moves || mentions(operand.index, domain_.axes[columns_].var);
        if (mentions(operand.index, domain_.axes[columns_].var) || !reads_windows(operand.index)) continue;
        operand.staged = any_staged_ = true;
        for (size_t a = 0; a < domain_.axes.size(); ++a)
          if (mentions(operand.index, domain_.axes[a].var)) made_.shared[a] = true;
      }
      if (!moves) return false;
    }
    int64_t lanes = 1;
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      if (!made_.shared[a]) lanes *= std::max<int64_t>(1, domain_.axes[a].estimate);
    return lanes >= kFewLanes;
  }

  int64_t threads() const {
    int64_t n = 1;
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      n *= (std::max<int64_t>(1, domain_.axes[a].estimate) + made_.block[a] - 1) / made_.block[a];
    return n;
  }

  void find_rows() {
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      if (a != columns_ && !domain_.axes[a].extent.is(1)) (made_.shared[a] ? shared_ : rows_) = static_cast<int>(a);
  }

  // Without a factor that many results have in common: results side by side share what their
  // windows have in common. The block that takes least of the first-level cache for each of them;
  // false where windows are short, or share little.
  bool share_windows() {
    for (const BlockedSum& sum : made_.sums)
      if (local_elements(graph_, graph_.at(sum.node)) < kLongWindow) return false;
    Blocking best;
    double least = 0;
    for (const int64_t columns : {1, 2, 4, 8})
      for (const int64_t rows : {1, 2, 4}) {
        const bool one = columns == 1 && rows == 1;
        if ((rows > 1 && rows_ < 0) || (!one && needs_.columns && columns != needs_.columns)) continue;
        if (!one && needs_.rows && rows_ >= 0 && rows != needs_.rows) continue;
        made_.block[columns_] = columns;
        if (rows_ >= 0) this->rows() = rows;
        const bool written_out = unroll_all();
        if (!one && (!written_out || threads() < needs_.threads || live_values() > needs_.registers)) continue;
        const double lines = lines_of_result();
        if (one && waits_for_memory(lines)) return false;
        if (one)
          least = lines / kWorthSharing;
        else if (lines < (best.sums.empty() ? least : kWorthMore * least))
          least = lines, best = made_;
      }
    made_ = std::move(best);
    return !made_.sums.empty();
  }

  // Results, and the elements that the rows of a block have in common.
  int64_t live_values() const {
    int64_t most = 0, words = 1;
    for (const BlockedSum& sum : made_.sums) {
      const Node& node = graph_.at(sum.node);
      words = std::max<int64_t>(words, size_of(node.dtype) / 4);
      const int64_t inner = extent_of(graph_, sum.node, node.axes.back()) + made_.block[columns_];
      const int64_t rows = made_.results() / made_.block[columns_];
      most = std::max(most, rows > 1 ? rows * inner : made_.block[columns_]);
    }
    return words * (made_.results() * static_cast<int64_t>(made_.sums.size()) + most);
  }

  // Lines that a warp's accesses touch for each of its results: elements one by one, which begin
  // anywhere, or words of 16 bytes.
  double lines_of_result() const {
    const auto columns = static_cast<double>(made_.block[columns_]);
    const auto lines_of = [&](double size, double step) {
      return std::min(kWarpLanes, columns * step * kWarpLanes * size / kWarpLineBytes);
    };
    const auto results = static_cast<double>(made_.results());
    double lines = kIndexLines / results;
    for (const BlockedSum& sum : made_.sums)
      for (const Operand& operand : sum.operands) {
        const Evaluations made = evaluations_of(graph_, domain_, made_, sum, operand);
        const auto reads = static_cast<double>(made.places) * static_cast<double>(made.runs);
        const double size = size_of(graph_.at(operand.base).dtype);
        const double step = static_cast<double>(step_of(operand));
        const auto word = static_cast<double>(word_of(operand));
        lines += reads / results * (word > 1 ? lines_of(size, step) / word : std::max(2.0, lines_of(size, step)));
      }
    return lines;
  }

  // Elements between those of neighbouring results.
  int64_t step_of(const Operand& operand) const {
    const IntExpr flat = flat_offset(graph_.at(operand.base), operand.index);
    const auto step = flat.coefficient_of(domain_.axes[columns_].var);
    return step ? std::max<int64_t>(1, std::abs(step->constant().value_or(kFar))) : kFar;
  }

  // Elements of one access, where blocks and all rows of the array begin at such words.
  int64_t word_of(const Operand& operand) const {
    const Node& array = graph_.at(operand.base);
    const auto length = array.shape.empty() ? std::optional<int64_t>(1) : row_apart(array).constant();
    int64_t word = 16 / size_of(array.dtype);
    while (word > 1 && ((length && *length % word != 0) || made_.block[columns_] * step_of(operand) % word != 0))
      word /= 2;
    return word;
  }

  // Whether each result by itself already waits for memory more than for the first-level cache.
  bool waits_for_memory(double lines) const {
    double bytes = 0;
    for (const Output& output : domain_.outputs) bytes += size_of(graph_.at(output.node).dtype);
    for (const BlockedSum& sum : made_.sums)
      for (const Operand& operand : sum.operands) {
        const int64_t step = step_of(operand);
        bytes += static_cast<double>(step * (rows_ >= 0 ? step : 1)) * size_of(graph_.at(operand.base).dtype);
      }
    return lines < kLinesPerByte * bytes;
  }

  // Whether a thread should have columns that follow each other. Warps whose threads have one
  // column each reach fewer lines at a time where columns lie apart, or rows begin anywhere and
  // windows have little in common.
  bool side_by_side() const {
    constexpr int64_t kMostApart = 31;  // bytes: less than a sector
    constexpr int64_t kShortWindow = 3;
    const Symbol column = domain_.axes[columns_].var;
    bool singly = false;
    for (const BlockedSum& sum : made_.sums)
      for (const Operand& operand : sum.operands) {
        if (operand.staged || !mentions(operand.index, column)) continue;
        const Node& array = graph_.at(operand.base);
        const auto step = flat_offset(array, operand.index).coefficient_of(column);
        if (!step || !step->constant()) return true;
        if (std::abs(*step->constant()) * size_of(array.dtype) > kMostApart) return false;
        const auto row = row_apart(array).constant();
        const bool along = std::abs(*step->constant()) == 1;
        singly = singly || (along && row && *row % 2 != 0 && window_along(sum, operand) <= kShortWindow);
      }
    return !singly;
  }
  // Elements of a window beside each other: neighbouring columns have all but one in common.
  int64_t window_along(const BlockedSum& sum, const Operand& operand) const {
    const IntExpr flat = flat_offset(graph_.at(operand.base), operand.index);
    int64_t elements = 1;
    for (const int axis : graph_.at(sum.node).axes)
      if (const auto step = flat.coefficient_of(Symbol::window(sum.node, axis)); step && step->is(1))
        elements *= extent_of(graph_, sum.node, axis);
    return elements;
  }

  void choose_blocks() {
    const int64_t most = std::max<int64_t>(1, needs_.results / static_cast<int64_t>(made_.sums.size()));
    const auto estimate = [&](size_t a) { return std::max<int64_t>(1, domain_.axes[a].estimate); };
    const auto any = [](int64_t) { return true; };
    const int shared = shared_;
    int64_t& columns = made_.block[columns_];
    const bool few_results = threads() < kMostBlockColumns * needs_.threads;
    const int64_t beside = few_results || side_by_side() ? kMostBlockColumns : 1;
    columns = needs_.columns ? needs_.columns : best_block(estimate(columns_), std::min(most, beside), is_power_of_two);
    // Sizes of blocks along the shared axis for which what a thread reads stays the same.
    const auto share = [&](int64_t limit) {
      const auto a = static_cast<size_t>(shared);
      made_.block[a] = best_block(estimate(a), std::max<int64_t>(1, limit), [&](int64_t size) {
        for (const BlockedSum& sum : made_.sums)
          for (const Operand& operand : sum.operands)
            if (!operand.staged && !stays(domain_, operand, a, size)) return false;
        return true;
      });
    };
    const int64_t most_shared = columns == 1 && needs_.results > 32 ? 2 * kMostShared : kMostShared;
    if (shared >= 0) share(std::min(most / columns, needs_.shared ? needs_.shared : most_shared));
    if (rows_ >= 0) {
      const int64_t limit = std::max<int64_t>(1, most / made_.results());
      rows() = best_block(estimate(static_cast<size_t>(rows_)),
                          std::min(limit, needs_.rows ? needs_.rows : kMostBlockRows), any);
    }
    // Few results are spread over all threads before one has many.
    const auto few = [&] { return threads() < needs_.threads; };
    while (rows_ >= 0 && rows() > 1 && few()) rows() /= 2;
    if (shared >= 0 && made_.block[static_cast<size_t>(shared)] > 4 && few()) share(4);
    while (columns > 2 && few()) columns /= 2;
    while (shared >= 0 && made_.block[static_cast<size_t>(shared)] > 1 && few())
      share(made_.block[static_cast<size_t>(shared)] / 2);
  }

  int64_t& rows() { return made_.block[static_cast<size_t>(rows_)]; }

  // For results, and what is read for those of one sum.
  int64_t registers() const {
    int64_t most = 0, words = 1;
    for (const BlockedSum& sum : made_.sums) {
      int64_t places = 0;
      words = std::max<int64_t>(words, size_of(graph_.at(sum.node).dtype) / 4);
      for (const Operand& operand : sum.operands)
        if (!operand.staged) places += evaluations_of(graph_, domain_, made_, sum, operand).places;
      most = std::max(most, places);
    }
    return words * (made_.results() * static_cast<int64_t>(made_.sums.size()) + most);
  }

  // The last axes of the window are written out; false where none of them is.
  bool unroll(BlockedSum& sum) const {
    const Node& node = graph_.at(sum.node);
    // What is not staged is read again for every element that is not written out.
    const int64_t most = any_staged_ ? kMostUnrolled : kMostTaps, products = any_staged_ ? kMostProducts : kMostTaps;
    int64_t elements = 1;
    sum.unrolled = 0;
    for (size_t a = node.axes.size(); a-- > 0; ++sum.unrolled) {
      const int64_t extent = extent_of(graph_, sum.node, node.axes[a]);
      if (elements * extent > most || elements * extent * made_.results() > products) break;
      elements *= extent;
    }
    return elements > 1;
  }
  bool unroll_all() {
    bool all = true;
    for (BlockedSum& sum : made_.sums) all = unroll(sum) && all;
    return all;
  }

  // How much is staged at a time; false where even a little is too much.
  bool stage(BlockedSum& sum) const {
    int64_t fixed = 0, per_point = 0;  // bytes
    const int chunked = chunked_axis(graph_, sum);
    const int axis = chunked < 0 ? -1 : graph_.at(sum.node).axes[static_cast<size_t>(chunked)];
    for (const Operand& operand : sum.operands) {
      if (!operand.staged) continue;
      const StagedShape shape = staged_shape(graph_, domain_, made_, sum, operand);
      int64_t bytes = size_of(compute_type(graph_.at(operand.base).dtype));
      bool in_parts = false;
      if (shape.axis >= 0) bytes *= (made_.block[static_cast<size_t>(shape.axis)] + 3) / 4 * 4;
      for (const int d : shape.window) {
        if (d == axis)
          in_parts = true;
        else
          bytes *= extent_of(graph_, sum.node, d);
      }
      (in_parts ? per_point : fixed) += bytes;
    }
    const int64_t budget = needs_.staged_bytes / static_cast<int64_t>(made_.sums.size());
    const int64_t length = axis < 0 ? 1 : extent_of(graph_, sum.node, axis);
    if (fixed + per_point * length <= budget) return true;
    if (per_point == 0 || fixed + per_point > budget) return false;
    sum.chunk = (budget - fixed) / per_point;
    for (int64_t even = sum.chunk; 2 * even > sum.chunk; --even)
      if (length % even == 0) {
        sum.chunk = even;
        break;
      }
    return true;
  }

  const Graph& graph_;
  const Domain& domain_;
  const BlockNeeds& needs_;
  const size_t columns_;  // the axis of the lanes
  int rows_ = -1;         // another axis that is not shared
  int shared_ = -1;       // the innermost shared axis
  bool any_staged_ = false;
  Blocking made_;
};

}  // namespace

std::optional<Blocking> find_blocking(const Graph& graph, const Group& group, const Domain& domain,
                                      const BlockNeeds& needs) {
  const auto local = [&](NodeId id) { return graph.at(id).local; };
  if (!domain.pointwise() || domain.axes.empty() || std::none_of(group.nodes.begin(), group.nodes.end(), local))
    return std::nullopt;
  auto sums = find_sums(graph, group, domain);
  if (!sums) return std::nullopt;
  return Chooser(graph, domain, needs, std::move(*sums)).run();
}

}  // namespace smelt::schedule
