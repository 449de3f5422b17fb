#include "plan/isolate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/check.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

const Symbol kCount = Symbol::launch("count");

class Isolation {
 public:
  Isolation(const Graph& graph, const FusionGroup& group)
      : graph_(graph),
        group_(group),
        inside_(group.nodes.begin(), group.nodes.end()),
        read_(group.inputs.begin(), group.inputs.end()) {}

  Isolated run(bool open_sizes) {
    for (const NodeId id : group_.outputs) reach(id);
    if (open_sizes && even()) open();
    for (const NodeId id : order_) copy(id);
    made_.graph.constraints = graph_.constraints;
    made_.group.nodes = renamed(group_.nodes);
    made_.group.outputs = renamed(group_.outputs);
    made_.group.inputs = renamed(group_.inputs);
    made_.graph.outputs = made_.group.outputs;
    made_.key = key();
    return std::move(made_);
  }

 private:
  // What it reads ends the way; an input of the program that is stored too is both.
  bool ends(NodeId id) const { return read_.count(id) > 0 && !inside_.count(id); }

  // Arguments first, by a stack of its own: chains may be long.
  void reach(NodeId root) {
    std::vector<std::pair<NodeId, size_t>> open;
    const auto enter = [&](NodeId id) {
      if (seen_.insert(id).second) open.emplace_back(id, 0);
    };
    enter(root);
    while (!open.empty()) {
      auto& [id, next] = open.back();
      const std::vector<NodeId>& args = graph_.at(id).args;
      if (ends(id) || next == args.size()) {
        order_.push_back(id);
        open.pop_back();
      } else {
        enter(args[next++]);
      }
    }
  }

  static bool is_one(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](const IntExpr& size) { return size.is(1); });
  }

  static bool names_axes(NodeKind kind) {
    return kind != NodeKind::Elementwise && kind != NodeKind::Cast && kind != NodeKind::Input &&
           kind != NodeKind::Constant && kind != NodeKind::SizeValue && kind != NodeKind::Reshape &&
           kind != NodeKind::Broadcast;
  }

  // Whether every value has the same shape, or is one number. Gaps between rows need the axes.
  bool even() {
    for (const NodeId id : order_) {
      const Node& node = graph_.at(id);
      if (node.kind == NodeKind::Input && !node.steps.empty()) return false;
      // A reduction to one number has an argument of another shape.
      if (!ends(id) && (node.kind == NodeKind::Reduce || node.kind == NodeKind::Scan)) return false;
      if (is_one(node.shape)) {
        if (std::binary_search(group_.outputs.begin(), group_.outputs.end(), id)) return false;
        if (!ends(id) && names_axes(node.kind)) return false;  // of the shape that it had
        continue;
      }
      if (!shape_) shape_ = node.shape;
      if (node.shape != *shape_) return false;
      if (ends(id)) continue;
      const bool same_index = node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast ||
                              node.kind == NodeKind::Input ||
                              (node.kind == NodeKind::Broadcast && is_one(graph_.at(node.args[0]).shape));
      if (!same_index) return false;
    }
    return shape_.has_value();
  }

  void open() {
    made_.sizes.emplace_back(kCount, count(*shape_));
    shape_ = Shape{IntExpr::symbol(kCount)};
  }

  Shape shape_of(const Node& node) const {
    if (made_.sizes.empty() || node.shape.empty()) return node.shape;
    return is_one(node.shape) ? Shape{1} : *shape_;
  }

  void copy(NodeId id) {
    const Node& from = graph_.at(id);
    if (!ends(id)) {
      Node node = from;
      node.shape = shape_of(from);
      node.name.clear();
      for (NodeId& arg : node.args) arg = renamed_.at(arg);
      return add(id, std::move(node));
    }
    Node input{};
    input.kind = NodeKind::Input;
    input.dtype = from.dtype;
    input.shape = shape_of(from);
    if (from.kind == NodeKind::Input) input.steps = from.steps;
    if (from.kind == NodeKind::Input || !from.shape.empty()) return add(id, std::move(input));
    // A number that another kernel leaves in memory is no argument of the launch: a step that is
    // not of the group comes before it.
    add(-1, input);
    Node loaded = input;
    loaded.kind = NodeKind::Cast;
    loaded.args = {static_cast<NodeId>(made_.graph.nodes.size()) - 1};
    add(id, std::move(loaded));
  }

  void add(NodeId id, Node node) {
    const auto here = static_cast<NodeId>(made_.graph.nodes.size());
    if (node.kind == NodeKind::Input) made_.graph.inputs.push_back(here);
    made_.graph.nodes.push_back(std::move(node));
    made_.original.push_back(id);
    if (id >= 0) renamed_[id] = here;
  }

  std::vector<NodeId> renamed(const std::vector<NodeId>& ids) const {
    std::vector<NodeId> result;
    for (const NodeId id : ids)
      // What none of the outputs needs is left out.
      if (const auto found = renamed_.find(id); found != renamed_.end()) result.push_back(found->second);
    std::sort(result.begin(), result.end());
    return result;
  }

  std::string key() const {
    return fmt::format("{}computes {}\nreads {}\n{} {}\n", print(made_.graph), fmt::join(made_.group.nodes, " "),
                       fmt::join(made_.group.inputs, " "), name_of(group_.strategy()),
                       schedule::text_of(group_.tuning));
  }

  const Graph& graph_;
  const FusionGroup& group_;
  const std::unordered_set<NodeId> inside_, read_;
  std::unordered_set<NodeId> seen_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, NodeId> renamed_;
  std::optional<Shape> shape_;
  Isolated made_;
};

}  // namespace

Isolated isolate(const Graph& graph, const FusionGroup& group, bool open_sizes) {
  return Isolation(graph, group).run(open_sizes);
}

}  // namespace smelt::plan
