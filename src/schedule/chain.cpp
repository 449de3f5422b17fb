#include "schedule/chain.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "schedule/computing.hpp"
#include "schedule/views.hpp"

namespace smelt::schedule {
namespace {

constexpr size_t kMostVisited = 256;  // nodes of what leads to weights

bool is_elementwise(const Node& node, Op op) { return node.kind == NodeKind::Elementwise && node.op == op; }

// A factor of halves that is multiplied in f32: the cast.
bool widens_halves(const Graph& graph, NodeId id) {
  const Node& cast = graph.at(id);
  return cast.kind == NodeKind::Cast && cast.dtype == DType::F32 && is_half(graph.at(cast.args[0]).dtype);
}

// A sum over the products of two factors of halves: its multiplication; -1 for others.
NodeId multiplication_of_halves(const Graph& graph, NodeId id) {
  const Node& sum = graph.at(id);
  if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.axes.size() != 1) return -1;
  const Node& product = graph.at(sum.args[0]);
  const bool multiplies = is_elementwise(product, Op::Mul) && product.dtype == DType::F32 &&
                          std::all_of(product.args.begin(), product.args.end(),
                                      [&](NodeId factor) { return widens_halves(graph, behind_views(graph, factor)); });
  return multiplies ? sum.args[0] : -1;
}

// The exponentials below a maximum in what is rounded to weights, and what else is there.
struct WeightForm {
  NodeId exponentials = -1, other = -1;  // with the views that lead to them
  bool divides = false;
};
std::optional<WeightForm> form_of_weights(const Graph& graph, NodeId cast) {
  if (!widens_halves(graph, cast)) return std::nullopt;
  const Node& rounds = graph.at(behind_views(graph, graph.at(cast).args[0]));
  if (rounds.kind != NodeKind::Cast || graph.at(rounds.args[0]).dtype != DType::F32) return std::nullopt;
  const Node& scaled = graph.at(rounds.args[0]);
  const bool divides = is_elementwise(scaled, Op::Div);
  if (!divides && !is_elementwise(scaled, Op::Mul)) return std::nullopt;
  for (size_t side = 0; side < (divides ? 1 : 2); ++side)
    if (is_elementwise(graph.at(behind_views(graph, scaled.args[side])), Op::Exp))
      return WeightForm{scaled.args[side], scaled.args[1 - side], divides};
  return std::nullopt;
}

// From a value at an index to what it depends on, as lowering evaluates it.
class Walk {
 public:
  Walk(const Graph& graph, const std::unordered_set<NodeId>& members, const Ranges& ranges)
      : graph_(graph), computes_(graph), members_(members), ranges_(ranges) {}

  std::set<Symbol> symbols;
  std::vector<ValueAt> reductions;  // of the members, each once; what leads to them is not looked at

  bool follow(NodeId id, const Index& index) {
    std::string key = std::to_string(id);
    for (const IntExpr& i : index) key += "," + i.str();
    if (!visited_.insert(std::move(key)).second) return true;
    if (visited_.size() > 4 * kMostVisited) return false;
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Input || (!members_.count(id) && computes_(id))) return note(index);
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Iota: return note({index[static_cast<size_t>(node.axes[0])]});
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return follow(arg, index); });
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend: return follow(node.args[0], through_view(graph_, node, index, ranges_));
      case NodeKind::Pad:
      case NodeKind::Concat:
        for (const Piece& piece : pieces(graph_, node, index, ranges_)) {
          for (const Guard& guard : piece.guards) note({guard.value});
          if (!follow(piece.arg, piece.index)) return false;
        }
        return node.kind == NodeKind::Concat || follow(node.args[1], {});
      case NodeKind::Gather:
        return follow(node.args[1], gather_indices_index(graph_, node, index)) &&
               follow(node.args[0], gather_data_index(graph_, node, index, IntExpr::symbol(Symbol::gathered(0))));
      case NodeKind::Reduce: reductions.push_back({id, index}); return note(index);
      default: return false;
    }
  }

 private:
  bool note(const Index& index) {
    for (const IntExpr& i : index)
      for (const Symbol s : i.symbols()) symbols.insert(s);
    return true;
  }

  const Graph& graph_;
  const Computing computes_;
  const std::unordered_set<NodeId>& members_;
  const Ranges& ranges_;
  std::unordered_set<std::string> visited_;
};

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const Group& group, const SizeBinding& sizes)
      : graph_(graph), group_(group), sizes_(sizes), members_(group.nodes.begin(), group.nodes.end()) {}

  std::optional<Chain> run(Domain& domain) {
    for (const NodeId id : group_.nodes) {
      if (multiplication_of_halves(graph_, id) < 0) continue;
      const Node& product = graph_.at(graph_.at(id).args[0]);
      for (const NodeId factor : product.args) {
        const NodeId weights = behind_views(graph_, factor);
        if (!members_.count(weights) || !form_of_weights(graph_, weights)) continue;
        weights_ = weights;
        chain_ = {};
        chain_.weights = weights;
        if (second_product(domain) && weights_form() && first_product() && is_unseen_elsewhere())
          return std::move(chain_);
      }
    }
    return std::nullopt;
  }

 private:
  ValueAt shown(NodeId id, Index index) const {
    while (is_view(graph_.at(id).kind)) {
      index = through_view(graph_, graph_.at(id), index, ranges_);
      id = graph_.at(id).args[0];
    }
    return {id, std::move(index)};
  }

  // The group from the weights on, as if these were read from memory.
  bool second_product(Domain& domain) {
    Group outer;
    std::vector<NodeId> todo = group_.outputs;
    std::set<NodeId> found;
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (id == weights_ || !found.insert(id).second) continue;
      const bool reads_on =
          members_.count(id) || (is_view(graph_.at(id).kind) && graph_.at(id).kind != NodeKind::Input);
      if (reads_on)
        for (const NodeId arg : graph_.at(id).args) todo.push_back(arg);
    }
    for (const NodeId id : group_.nodes)
      if (found.count(id)) outer.nodes.push_back(id);
    outer.outputs = group_.outputs;
    outer.inputs = group_.inputs;
    outer.inputs.push_back(weights_);
    std::sort(outer.inputs.begin(), outer.inputs.end());
    if (outer.nodes.empty() || std::count(outer.outputs.begin(), outer.outputs.end(), weights_)) return false;
    outer_ = std::set<NodeId>(outer.nodes.begin(), outer.nodes.end());
    auto made = find_domain(graph_, outer, sizes_);
    if (!std::holds_alternative<Domain>(made)) return false;
    domain = std::get<Domain>(std::move(made));
    auto product = find_product(graph_, outer, domain);
    if (!product || product->sums.size() != 1 || product->inner.size() != 1) return false;
    if (behind_views(graph_, product->sums[0].rows) != weights_) return false;
    if (!widens_halves(graph_, behind_views(graph_, product->sums[0].columns))) return false;
    chain_.product = std::move(*product);
    ranges_ = domain.ranges;
    keys_ = domain.axes[static_cast<size_t>(chain_.product.inner[0])].var;
    for (const int a : chain_.product.rows) rows_.insert(domain.axes[static_cast<size_t>(a)].var);
    for (const int a : chain_.product.columns) columns_.insert(domain.axes[static_cast<size_t>(a)].var);
    const Reduction& sum = domain.reductions[chain_.product.sums[0].reduction];
    weights_at_ = shown(chain_.product.sums[0].rows, sum.argument_index);
    return true;
  }

  // The index of the argument of a reduction over the keys, whose result is at `index`.
  std::optional<Index> with_keys(NodeId reduction, Index index) const {
    const Node& node = graph_.at(reduction);
    if (node.axes.size() != 1) return std::nullopt;
    index.insert(index.begin() + node.axes[0], IntExpr::symbol(keys_));
    return index;
  }

  // A value of the row: of its reductions, the maximum of x and the sum of the exponentials alone.
  bool of_the_row(const ValueAt& value, const ValueAt& exponentials) {
    Walk walk(graph_, members_, ranges_);
    if (!walk.follow(value.node, value.index) || walk.symbols.count(keys_)) return false;
    for (const ValueAt& reduction : walk.reductions) {
      const Node& node = graph_.at(reduction.node);
      const auto at = with_keys(reduction.node, reduction.index);
      const bool is_maximum = node.reduce == ReduceKind::Max, is_total = node.reduce == ReduceKind::Sum;
      const ValueAt& wanted = is_maximum ? chain_.scores : exponentials;
      if (!at || (!is_maximum && !is_total)) return false;
      const ValueAt argument = shown(node.args[0], *at);
      if (argument.node != wanted.node || !(argument.index == wanted.index)) return false;
      NodeId& known = is_maximum ? chain_.maximum : chain_.total;
      if (known >= 0 && known != reduction.node) return false;
      known = reduction.node;
    }
    return true;
  }

  bool weights_form() {
    const WeightForm form = *form_of_weights(graph_, weights_);
    const ValueAt rounded = shown(graph_.at(weights_).args[0], weights_at_.index);
    // What rounds to weights is a member, and so is what it rounds.
    const ValueAt exponentials = shown(form.exponentials, rounded.index), other = shown(form.other, rounded.index);
    const Node& exp = graph_.at(exponentials.node);
    const Node& below = graph_.at(exp.args[0]);
    if (!members_.count(exponentials.node) || !members_.count(exp.args[0]) || !is_elementwise(below, Op::Sub))
      return false;
    if (graph_.at(rounded.node).dtype != half() || exp.dtype != DType::F32) return false;
    chain_.scores = shown(below.args[0], exponentials.index);
    chain_.below = shown(below.args[1], exponentials.index);
    if (!members_.count(chain_.scores.node)) return false;
    if (!of_the_row(chain_.below, exponentials) || !of_the_row(other, exponentials)) return false;
    (form.divides ? chain_.over : chain_.times) = other;
    return chain_.maximum >= 0;
  }

  DType half() const { return graph_.at(graph_.at(weights_).args[0]).dtype; }
  bool is_of(NodeId factor) const { return graph_.at(graph_.at(behind_views(graph_, factor)).args[0]).dtype == half(); }

  bool first_product() {
    Walk walk(graph_, members_, ranges_);
    if (!walk.follow(chain_.scores.node, chain_.scores.index) || walk.reductions.size() != 1) return false;
    for (const Symbol s : columns_)
      if (walk.symbols.count(s)) return false;
    const ValueAt& sum = walk.reductions[0];
    const NodeId multiplication = multiplication_of_halves(graph_, sum.node);
    if (multiplication < 0 || !members_.count(multiplication)) return false;
    chain_.products = sum.node;
    const Node& product = graph_.at(multiplication);
    const int axis = graph_.at(sum.node).axes[0];
    const IntExpr extent = product.shape[static_cast<size_t>(axis)];
    chain_.depth = {Symbol::loop("depth"), extent, true, extent.evaluate(sizes_)};
    Index index = sum.index;
    index.insert(index.begin() + axis, chain_.depth.value());
    ranges_[chain_.depth.var] = {0, extent - 1};
    ValueAt sides[2];
    bool of_keys[2], of_rows[2];
    for (size_t s = 0; s < 2; ++s) {
      Walk factor(graph_, members_, ranges_);
      if (!factor.follow(product.args[s], index) || !factor.reductions.empty() || !is_of(product.args[s])) return false;
      of_keys[s] = factor.symbols.count(keys_) > 0;
      of_rows[s] = std::any_of(rows_.begin(), rows_.end(), [&](Symbol r) { return factor.symbols.count(r) > 0; });
      sides[s] = {product.args[s], index};
    }
    if (of_keys[0] == of_keys[1]) return false;
    const size_t keys = of_keys[0] ? 0 : 1;
    if (of_rows[keys] || !is_of(chain_.product.sums[0].columns)) return false;
    chain_.key = sides[keys], chain_.query = sides[1 - keys];
    find_seen(chain_.scores);
    return true;
  }

  // Nothing between the two products is stored, or needed after the second one.
  bool is_unseen_elsewhere() const {
    const NodeId between[] = {weights_, chain_.scores.node, chain_.maximum, chain_.total, chain_.products};
    return std::none_of(std::begin(between), std::end(between), [&](NodeId id) { return outer_.count(id) > 0; });
  }

  // Scores that are -inf unless a condition on positions holds.
  void find_seen(const ValueAt& value) {
    const Node& node = graph_.at(value.node);
    if (!is_elementwise(node, Op::Where) || !members_.count(value.node)) return;
    const ValueAt otherwise = shown(node.args[2], value.index);
    const Node& constant = graph_.at(otherwise.node);
    if (constant.kind != NodeKind::Constant || !is_float(constant.dtype) || constant.constant.f != -HUGE_VAL) return;
    note_condition(shown(node.args[0], value.index));
    find_seen(shown(node.args[1], value.index));
  }

  void note_condition(const ValueAt& condition) {
    const Node& node = graph_.at(condition.node);
    if (node.kind != NodeKind::Elementwise || node.args.size() != 2) return;
    if (node.op == Op::And) {
      for (const NodeId arg : node.args) note_condition(shown(arg, condition.index));
      return;
    }
    const auto a = position(shown(node.args[0], condition.index)), b = position(shown(node.args[1], condition.index));
    if (!a || !b) return;
    std::optional<IntExpr> holds;
    if (node.op == Op::Le) holds = *b - *a;
    if (node.op == Op::Lt) holds = *b - *a - 1;
    if (node.op == Op::Ge) holds = *a - *b;
    if (node.op == Op::Gt) holds = *a - *b - 1;
    const auto step = holds ? holds->coefficient_of(keys_) : std::nullopt;
    if (step && (step->is(1) || step->is(-1))) chain_.seen.push_back({*holds, condition.node});
  }

  // An integer that follows from positions alone, where 64 bits are enough for it.
  std::optional<IntExpr> position(const ValueAt& value) const {
    const Node& node = graph_.at(value.node);
    if (!is_int(node.dtype) || size_of(node.dtype) < 4) return std::nullopt;
    if (node.kind == NodeKind::Iota) return value.index[static_cast<size_t>(node.axes[0])];
    if (node.kind == NodeKind::Constant)
      return std::abs(node.constant.i) < (int64_t{1} << 30) ? std::optional<IntExpr>(node.constant.i) : std::nullopt;
    if (node.kind == NodeKind::SizeValue) return node.size;
    if (node.kind == NodeKind::Cast) return position(shown(node.args[0], value.index));
    if (node.kind != NodeKind::Elementwise || (node.op != Op::Add && node.op != Op::Sub)) return std::nullopt;
    const auto a = position(shown(node.args[0], value.index)), b = position(shown(node.args[1], value.index));
    if (!a || !b) return std::nullopt;
    return node.op == Op::Add ? *a + *b : *a - *b;
  }

  const Graph& graph_;
  const Group& group_;
  const SizeBinding& sizes_;
  std::unordered_set<NodeId> members_;
  std::set<NodeId> outer_;
  NodeId weights_ = -1;
  ValueAt weights_at_;
  Ranges ranges_;
  Symbol keys_ = Symbol::loop("keys");
  std::set<Symbol> rows_, columns_;
  Chain chain_;
};

}  // namespace

std::optional<Chain> find_chain(const Graph& graph, const Group& group, const SizeBinding& sizes, Domain& domain) {
  const auto reductions = std::count_if(group.nodes.begin(), group.nodes.end(),
                                        [&](NodeId id) { return graph.at(id).kind == NodeKind::Reduce; });
  if (reductions < 3) return std::nullopt;
  return ChainFinder(graph, group, sizes).run(domain);
}

std::vector<NodeId> nodes_of_chain(const Graph& graph, NodeId sum) {
  const NodeId multiplication = multiplication_of_halves(graph, sum);
  if (multiplication < 0) return {};
  const Computing computes(graph);
  std::set<NodeId> nodes{sum, multiplication};
  const auto add_factor = [&](NodeId factor) { nodes.insert(behind_views(graph, factor)); };
  // What descends from the first product, back from the weights.
  std::map<NodeId, bool> descends;
  bool too_many = false;
  const auto visit = [&](const auto& self, NodeId id) -> bool {
    if (const auto known = descends.find(id); known != descends.end()) return known->second;
    if (too_many || descends.size() > kMostVisited) return too_many = true, false;
    descends[id] = false;
    if (const NodeId first = multiplication_of_halves(graph, id); first >= 0) {
      nodes.insert(id), nodes.insert(first);
      for (const NodeId factor : graph.at(first).args) add_factor(factor);
      return descends[id] = true;
    }
    bool found = false;
    for (const NodeId arg : graph.at(id).args) found = self(self, arg) || found;
    if (found && computes(id)) nodes.insert(id);
    return descends[id] = found;
  };
  bool is_chain = false;
  for (const NodeId factor : graph.at(multiplication).args) {
    const NodeId weights = behind_views(graph, factor);
    nodes.insert(weights);
    if (form_of_weights(graph, weights) && visit(visit, weights)) is_chain = true;
  }
  return is_chain && !too_many ? std::vector<NodeId>(nodes.begin(), nodes.end()) : std::vector<NodeId>{};
}

}  // namespace smelt::schedule
