// Which nodes of a graph may become a chain: from the sum of its last product back to arrays.
#include <map>
#include <set>

#include "schedule/chain.hpp"
#include "schedule/chain_forms.hpp"
#include "schedule/computing.hpp"

namespace smelt::schedule {

bool widens_halves(const Graph& graph, NodeId id) {
  const Node& cast = graph.at(id);
  return cast.kind == NodeKind::Cast && cast.dtype == DType::F32 && is_half(graph.at(cast.args[0]).dtype);
}

NodeId multiplication_of_halves(const Graph& graph, NodeId id, bool one_row) {
  const Node& sum = graph.at(id);
  if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.axes.size() != 1) return -1;
  const Node& product = graph.at(sum.args[0]);
  if (!is_elementwise(product, Op::Mul) || product.dtype != DType::F32) return -1;
  int repeated = 0;
  for (const NodeId arg : product.args) {
    const NodeId factor = behind_views(graph, arg);
    if (!widens_halves(graph, factor)) return -1;
    if (!(count(graph.at(factor).shape) == count(product.shape))) ++repeated;
  }
  return repeated >= (one_row ? 1 : 2) ? sum.args[0] : -1;
}

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

bool rounds_sums(const Graph& graph, NodeId cast) {
  if (!widens_halves(graph, cast)) return false;
  const Node& rounds = graph.at(behind_views(graph, graph.at(cast).args[0]));
  return rounds.kind == NodeKind::Cast && graph.at(rounds.args[0]).dtype == DType::F32;
}

namespace {

constexpr size_t kMostNodes = 256;

// The nodes from products of halves to a value, views included: those that depend on one.
class Descent {
 public:
  // With those of weights: reductions other than the products, which else end the way, and products
  // of one row.
  Descent(const Graph& graph, bool of_weights) : graph_(graph), of_weights_(of_weights) {}

  // The value itself, and all between; nothing where it depends on no product, or on too much.
  std::set<NodeId> to(NodeId value) {
    if (!visit(value) || too_many_) return {};
    std::set<NodeId> found;
    for (const auto& [id, descends] : known_)
      if (descends) found.insert(id);
    return found;
  }

 private:
  bool visit(NodeId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (too_many_ || known_.size() > kMostNodes) return too_many_ = true, false;
    known_[id] = false;
    if (const NodeId product = multiplication_of_halves(graph_, id, of_weights_); product >= 0)
      return known_[product] = known_[id] = true;
    if (!of_weights_ && graph_.at(id).kind == NodeKind::Reduce) return false;
    bool found = false;
    for (const NodeId arg : graph_.at(id).args) found = visit(arg) || found;
    return known_[id] = found;
  }

  const Graph& graph_;
  const bool of_weights_;
  std::map<NodeId, bool> known_;
  bool too_many_ = false;
};

// That of the last product, and those of products between.
std::vector<NodeId> multiplications(const Graph& graph, NodeId last, const std::set<NodeId>& between, bool one_row) {
  std::vector<NodeId> found{last};
  for (const NodeId id : between)
    if (const NodeId product = multiplication_of_halves(graph, id, one_row); product >= 0) found.push_back(product);
  return found;
}

// With what leads to the factors of products from arrays of halves, and without views.
std::vector<NodeId> with_factors(const Graph& graph, NodeId sum, const std::set<NodeId>& between, bool one_row) {
  const Computing computes(graph);
  const NodeId multiplication = multiplication_of_halves(graph, sum, one_row);
  std::set<NodeId> nodes{sum, multiplication};
  for (const NodeId id : between)
    if (computes(id) || multiplication_of_halves(graph, id, one_row) >= 0) nodes.insert(id);
  for (const NodeId product : multiplications(graph, multiplication, between, one_row)) {
    nodes.insert(product);
    for (const NodeId factor : graph.at(product).args) nodes.insert(behind_views(graph, factor));
  }
  return {nodes.begin(), nodes.end()};
}

}  // namespace

std::vector<NodeId> nodes_of_weights(const Graph& graph, NodeId sum) {
  const NodeId multiplication = multiplication_of_halves(graph, sum, true);
  if (multiplication < 0) return {};
  for (const NodeId factor : graph.at(multiplication).args) {
    const NodeId weights = behind_views(graph, factor);
    if (!form_of_weights(graph, weights)) continue;
    if (const std::set<NodeId> between = Descent(graph, true).to(weights); !between.empty())
      return with_factors(graph, sum, between, true);
  }
  return {};
}

std::set<NodeId> between_products(const Graph& graph, NodeId sum) {
  const NodeId multiplication = multiplication_of_halves(graph, sum, false);
  if (multiplication < 0) return {};
  for (const NodeId factor : graph.at(multiplication).args) {
    if (!rounds_sums(graph, behind_views(graph, factor))) continue;
    std::set<NodeId> between = Descent(graph, false).to(factor);
    if (between.empty()) continue;
    for (const NodeId product : multiplications(graph, multiplication, between, false))
      for (NodeId id : graph.at(product).args) {
        for (; is_view(graph.at(id).kind); id = graph.at(id).args[0]) between.insert(id);
        between.insert(id);
      }
    return between;
  }
  return {};
}

std::vector<NodeId> nodes_of_chain(const Graph& graph, NodeId sum) {
  const std::set<NodeId> between = between_products(graph, sum);
  return between.empty() ? std::vector<NodeId>{} : with_factors(graph, sum, between, false);
}

}  // namespace smelt::schedule
