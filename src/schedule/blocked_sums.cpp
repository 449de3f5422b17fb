// Which sums over windows of a group could have blocks, and what they are computed from.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schedule/blocked.hpp"
#include "schedule/computing.hpp"
#include "schedule/local.hpp"

namespace smelt::schedule {
namespace {

// Collects them from the outputs of the group on.
class SumFinder {
 public:
  SumFinder(const Graph& graph, const Group& group, const Domain& domain)
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
        // At two elements it would take sums at two.
        if (const auto [seen, fresh] = seen_.try_emplace(id, index); !fresh) return seen->second == index;
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
  std::map<NodeId, Index> seen_;
  std::vector<std::pair<NodeId, Index>> waiting_;
  std::vector<BlockedSum> sums_;
};

}  // namespace

std::optional<std::vector<BlockedSum>> find_sums(const Graph& graph, const Group& group, const Domain& domain) {
  return SumFinder(graph, group, domain).run();
}

}  // namespace smelt::schedule
