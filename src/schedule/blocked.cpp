#include "schedule/blocked.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "schedule/computing.hpp"
#include "schedule/local.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

// Elements of a window that are written out for one result, and fused multiply-adds in the body of the innermost loop.
constexpr int64_t kMostUnrolled = 32, kMostProducts = 640;
constexpr int64_t kMostColumns = 4, kMostRows = 8, kMostShared = 8;
// Lanes that one part of a shared axis must have: fewer would leave most of a workgroup idle.
constexpr int64_t kFewLanes = 64;

int64_t extent_of(const Graph& graph, NodeId reduce, int axis) {
  return graph.at(graph.at(reduce).args[0]).shape[static_cast<size_t>(axis)].constant().value();
}

// The local reductions of a group, if each is needed at the element at hand only and nothing stands in the way of blocks.
class Finder {
 public:
  Finder(const Graph& graph, const Group& group, const Domain& domain)
      : graph_(graph),
        computes_(graph),
        domain_(domain),
        members_(group.nodes.begin(), group.nodes.end()),
        ranges_(domain.ranges) {}

  std::optional<std::vector<BlockedSum>> run() {
    for (const Output& o : domain_.outputs) waiting_.push_back({o.base, o.base_index});
    while (!waiting_.empty()) {
      const auto [id, index] = std::move(waiting_.back());
      waiting_.pop_back();
      if (!visit(id, index)) return std::nullopt;
    }
    return sums_.empty() ? std::nullopt : std::optional(std::move(sums_));
  }

 private:
  bool from_memory(NodeId id) const {
    return graph_.at(id).kind == NodeKind::Input || (!members_.count(id) && computes_(id));
  }
  bool elementwise(NodeId id) const {
    const NodeKind kind = graph_.at(id).kind;
    return members_.count(id) && (kind == NodeKind::Elementwise || kind == NodeKind::Cast);
  }

  // Whether a local reduction is computed on the way to this value.
  bool has_local(NodeId id) {
    const auto known = has_local_.find(id);
    if (known != has_local_.end()) return known->second;
    const Node& node = graph_.at(id);
    bool found = false;
    if (!from_memory(id))
      found = node.local || std::any_of(node.args.begin(), node.args.end(), [&](NodeId a) { return has_local(a); });
    return has_local_[id] = found;
  }

  bool visit(NodeId id, const Index& index) {
    if (!has_local(id)) return true;
    const Node& node = graph_.at(id);
    switch (node.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        if (seen_.insert(id).second)
          for (const NodeId arg : node.args) waiting_.push_back({arg, index});
        return true;
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice: waiting_.push_back({node.args[0], through_view(graph_, node, index, ranges_)}); return true;
      case NodeKind::Reduce: return node.local && sum(id, index);
      default: return false;
    }
  }

  bool sum(NodeId id, const Index& index) {
    const Node& node = graph_.at(id);
    if (const auto at = index_.find(id); at != index_.end()) return at->second == index;
    if (node.reduce == ReduceKind::ArgMax || node.reduce == ReduceKind::ArgMin || has_local(node.args[0])) return false;
    index_[id] = index;
    const Index at = window_index(graph_, id, index, ranges_);
    BlockedSum found;
    found.node = id;
    std::set<NodeId> seen;
    std::vector<NodeId> waiting{node.args[0]};
    while (!waiting.empty()) {
      const NodeId top = waiting.back();
      waiting.pop_back();
      if (!seen.insert(top).second) continue;
      if (elementwise(top)) {
        waiting.insert(waiting.end(), graph_.at(top).args.begin(), graph_.at(top).args.end());
        continue;
      }
      Operand operand{top, top, at};
      while (is_view(graph_.at(operand.base).kind) && !from_memory(operand.base)) {
        const Node& view = graph_.at(operand.base);
        operand.index = through_view(graph_, view, operand.index, ranges_);
        operand.base = view.args[0];
      }
      found.operands.push_back(std::move(operand));
    }
    sums_.push_back(std::move(found));
    return true;
  }

  const Graph& graph_;
  const Computing computes_;
  const Domain& domain_;
  std::unordered_set<NodeId> members_;
  Ranges ranges_;
  std::map<NodeId, bool> has_local_;
  std::map<NodeId, Index> index_;
  std::set<NodeId> seen_;
  std::vector<std::pair<NodeId, Index>> waiting_;
  std::vector<BlockedSum> sums_;
};

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

// The size of blocks that saves most of `most`, of those that fit: large ones share more, but the last one may stick out.
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
    choose_blocks();
    for (BlockedSum& sum : made_.sums) unroll(sum);
    while (rows_ >= 0 && rows() > 1 && registers() > needs_.registers) {
      rows() = (rows() + 1) / 2;
      for (BlockedSum& sum : made_.sums) unroll(sum);
    }
    if (made_.results() == 1) return std::nullopt;
    for (BlockedSum& sum : made_.sums)
      if (!stage(sum)) return std::nullopt;
    return std::move(made_);
  }

 private:
  // Those that neighbouring lanes have in common are staged; the axes that they depend on are shared.
  bool divide_operands() {
    bool any = false;
    for (BlockedSum& sum : made_.sums) {
      bool moves = false;
      for (Operand& operand : sum.operands) {
        moves = moves || mentions(operand.index, domain_.axes[columns_].var);
        if (mentions(operand.index, domain_.axes[columns_].var) || !reads_windows(operand.index)) continue;
        operand.staged = any = true;
        for (size_t a = 0; a < domain_.axes.size(); ++a)
          if (mentions(operand.index, domain_.axes[a].var)) made_.shared[a] = true;
      }
      if (!moves) return false;
    }
    int64_t lanes = 1;
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      if (!made_.shared[a]) lanes *= std::max<int64_t>(1, domain_.axes[a].estimate);
    return any && lanes >= kFewLanes;
  }

  int64_t threads() const {
    int64_t n = 1;
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      n *= (std::max<int64_t>(1, domain_.axes[a].estimate) + made_.block[a] - 1) / made_.block[a];
    return n;
  }

  void choose_blocks() {
    const int64_t most = std::max<int64_t>(1, needs_.results / static_cast<int64_t>(made_.sums.size()));
    const auto estimate = [&](size_t a) { return std::max<int64_t>(1, domain_.axes[a].estimate); };
    const auto any = [](int64_t) { return true; };
    int shared = -1;
    for (size_t a = 0; a < domain_.axes.size(); ++a) {
      if (a == columns_ || domain_.axes[a].extent.is(1)) continue;
      (made_.shared[a] ? shared : rows_) = static_cast<int>(a);
    }
    int64_t& columns = made_.block[columns_];
    columns =
        needs_.columns ? needs_.columns : best_block(estimate(columns_), std::min(most, kMostColumns), is_power_of_two);
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
    if (shared >= 0) share(std::min(most / columns, needs_.shared ? needs_.shared : kMostShared));
    if (rows_ >= 0) {
      const int64_t limit = std::max<int64_t>(1, most / made_.results());
      rows() =
          best_block(estimate(static_cast<size_t>(rows_)), std::min(limit, needs_.rows ? needs_.rows : kMostRows), any);
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

  // The last axes of the window are written out.
  void unroll(BlockedSum& sum) const {
    const Node& node = graph_.at(sum.node);
    int64_t elements = 1;
    sum.unrolled = 0;
    for (size_t a = node.axes.size(); a-- > 0; ++sum.unrolled) {
      const int64_t extent = extent_of(graph_, sum.node, node.axes[a]);
      if (elements * extent > kMostUnrolled || elements * extent * made_.results() > kMostProducts) return;
      elements *= extent;
    }
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
  Blocking made_;
};

}  // namespace

std::optional<Blocking> find_blocking(const Graph& graph, const Group& group, const Domain& domain,
                                      const BlockNeeds& needs) {
  const auto local = [&](NodeId id) { return graph.at(id).local; };
  if (!domain.pointwise() || domain.axes.empty() || std::none_of(group.nodes.begin(), group.nodes.end(), local))
    return std::nullopt;
  auto sums = Finder(graph, group, domain).run();
  if (!sums) return std::nullopt;
  return Chooser(graph, domain, needs, std::move(*sums)).run();
}

}  // namespace smelt::schedule
