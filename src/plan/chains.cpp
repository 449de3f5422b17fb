#include "plan/chains.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "graph/build_detail.hpp"
#include "graph/graph_copy.hpp"
#include "graph/softmax.hpp"
#include "schedule/candidates.hpp"
#include "schedule/chain.hpp"

namespace smelt::plan {
namespace {

// Whether these nodes, which store these alone, have a schedule as a chain, and whether that weighs
// rows.
enum class Made : uint8_t { No, Weighed, Yes };
Made made_of(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<NodeId>& sums,
             const Options& options) {
  if (nodes.empty()) return Made::No;
  schedule::Group group;
  group.nodes = nodes;
  group.outputs = sums;
  std::set<NodeId> inputs;
  for (const NodeId id : nodes)
    for (const NodeId arg : graph.at(id).args)
      if (const NodeId read = behind_views(graph, arg); !std::binary_search(nodes.begin(), nodes.end(), read))
        inputs.insert(read);
  group.inputs.assign(inputs.begin(), inputs.end());
  const auto made = schedule::make_schedule(graph, group, options);
  const auto* schedule = std::get_if<schedule::Schedule>(&made);
  if (!schedule || !schedule->chain) return Made::No;
  return schedule->chain->weighs() ? Made::Weighed : Made::Yes;
}

class ChainsApart : GraphCopy {
 public:
  ChainsApart(const Graph& from, const Options& options) : GraphCopy(from), options_(options) {}

  std::optional<Graph> run() {
    find();
    if (own_.empty()) return std::nullopt;
    Graph made = copy([&](const Node& node, NodeId id) { return write(node, id); });
    drop_unused(made);
    return made;
  }

 private:
  // What others need too is written again, right before the multiplication of the last product.
  void find() {
    std::vector<std::vector<NodeId>> users(from_.nodes.size());
    for (size_t i = 0; i < from_.nodes.size(); ++i)
      for (const NodeId arg : from_.nodes[i].args) users[static_cast<size_t>(arg)].push_back(static_cast<NodeId>(i));
    for (size_t i = 0; i < from_.nodes.size(); ++i) {
      const NodeId sum = static_cast<NodeId>(i);
      std::set<NodeId> between = schedule::between_products(from_, sum);
      if (between.empty()) continue;
      const NodeId last = from_.nodes[i].args[0];
      // What is stored in any case is read.
      if (std::any_of(from_.outputs.begin(), from_.outputs.end(), [&](NodeId id) { return between.count(id) > 0; }))
        continue;
      const bool is_shared = std::any_of(between.begin(), between.end(), [&](NodeId id) {
        const auto& of = users[static_cast<size_t>(id)];
        return std::any_of(of.begin(), of.end(), [&](NodeId user) { return user != last && !between.count(user); });
      });
      if (!is_shared || made_of(from_, schedule::nodes_of_weights(from_, sum), {sum}, options_) == Made::Weighed)
        continue;
      if (made_of(from_, schedule::nodes_of_chain(from_, sum), {sum}, options_) != Made::Yes) continue;
      own_[last] = {sum, std::move(between), -1};
    }
    for (auto& [last, own] : own_)
      for (auto& [other, first] : own_)
        if (other < last && first.with < 0 && own.with < 0 && are_one(first.sum, own.sum)) own.with = other;
  }

  // Whether two are one kernel, which has what is between for both.
  bool are_one(NodeId first, NodeId second) const {
    std::vector<NodeId> nodes;
    const std::vector<NodeId> of_first = schedule::nodes_of_chain(from_, first),
                              of_second = schedule::nodes_of_chain(from_, second);
    std::set_union(of_first.begin(), of_first.end(), of_second.begin(), of_second.end(), std::back_inserter(nodes));
    if (nodes.size() == of_first.size() + of_second.size()) return false;
    return made_of(from_, nodes, {first, second}, options_) == Made::Yes;
  }

  NodeId write(const Node& node, NodeId id) {
    const auto own = own_.find(id);
    if (own == own_.end()) return add_as_it_is(node);
    std::map<NodeId, NodeId>& again = again_[own->second.with < 0 ? id : own->second.with];
    const auto written_with = [&](Node made) {
      for (NodeId& arg : made.args) {
        const auto found = again.find(arg);
        arg = found == again.end() ? written(arg) : found->second;
      }
      return add(std::move(made));
    };
    for (const NodeId between : own->second.between) {
      if (again.count(between)) continue;
      const auto weights = weights_of(between, own->second.between);
      again[between] = weights ? as_one_exponential(*weights, again) : written_with(from_.at(between));
    }
    return written_with(node);
  }

  // exp(x - a) / b, or times 1 / b, where a and b are known of a row, and b is a sum of
  // exponentials.
  struct Weights {
    NodeId exponential, difference, x, a, b;  // a and b as they are repeated
    bool divides;
  };
  std::optional<Weights> weights_of(NodeId id, const std::set<NodeId>& between) const {
    const auto is_op = [&](NodeId n, Op op) { return is_elementwise(from_.at(n), op); };
    const auto is_of_rows = [&](NodeId n) { return from_.at(n).kind == NodeKind::Broadcast && !between.count(n); };
    const bool divides = is_op(id, Op::Div);
    if (!divides && !is_op(id, Op::Mul)) return std::nullopt;
    const std::vector<NodeId>& args = from_.at(id).args;
    for (size_t k = 0; k < (divides ? 1 : 2); ++k) {
      const NodeId exponential = args[k], b = args[1 - k];
      if (!is_op(exponential, Op::Exp) || !between.count(exponential) || !is_of_rows(b)) continue;
      const NodeId difference = from_.at(exponential).args[0];
      if (!is_op(difference, Op::Sub) || !is_of_rows(from_.at(difference).args[1])) continue;
      const NodeId a = from_.at(difference).args[1];
      if (sum_of_exponentials(from_, b, divides) < 0) continue;
      if (from_.at(from_.at(a).args[0]).shape == from_.at(from_.at(b).args[0]).shape)
        return Weights{exponential, difference, from_.at(difference).args[0], a, b, divides};
    }
    return std::nullopt;
  }

  // As exp(x - (a + log b)): of a row one value is needed then.
  NodeId as_one_exponential(const Weights& w, const std::map<NodeId, NodeId>& again) {
    const Node &exponential = from_.at(w.exponential), &repeated = from_.at(w.a);
    const Shape& of_rows = from_.at(repeated.args[0]).shape;
    const auto made = [&](Op op, const Shape& shape, std::vector<NodeId> args) {
      Node node{.kind = NodeKind::Elementwise};
      node.op = op;
      node.dtype = exponential.dtype;
      return add_like(std::move(node), shape, std::move(args), exponential);
    };
    const auto row_of = [&](NodeId broadcast) { return written(from_.at(broadcast).args[0]); };
    const auto [row, is_new] = rows_.try_emplace({row_of(w.a), row_of(w.b)}, -1);
    if (is_new)
      row->second = made(w.divides ? Op::Add : Op::Sub, of_rows, {row_of(w.a), made(Op::Log, of_rows, {row_of(w.b)})});
    Node view{.kind = NodeKind::Broadcast};
    view.dtype = exponential.dtype;
    const NodeId rows = add_like(std::move(view), exponential.shape, {row->second}, repeated);
    const auto x = again.find(w.x);
    const NodeId difference = made(Op::Sub, exponential.shape, {x == again.end() ? written(w.x) : x->second, rows});
    return made(Op::Exp, exponential.shape, {difference});
  }

  const Options& options_;
  // What a product has for itself, or with another one: the multiplication of that, or -1.
  struct Own {
    NodeId sum;
    std::set<NodeId> between;
    NodeId with;
  };
  std::map<NodeId, Own> own_;                         // by multiplications
  std::map<NodeId, std::map<NodeId, NodeId>> again_;  // what was written for them
  std::map<std::pair<NodeId, NodeId>, NodeId> rows_;  // what is subtracted of exponents, by what it is made of
};

}  // namespace

std::optional<Graph> with_chains_apart(const Graph& graph, const Options& options) {
  if (!options.target.gpu || options.target.plain || options.target.compute < 80 || !options.fuse) return std::nullopt;
  return ChainsApart(graph, options).run();
}

}  // namespace smelt::plan
