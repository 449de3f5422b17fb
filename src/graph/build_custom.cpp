// Operations whose code is the user's.
#include <fmt/format.h>

#include <algorithm>

#include "graph/build_detail.hpp"
#include "graph/custom_code.hpp"
#include "smelt/error.hpp"

namespace smelt {

NodeId GraphBuilder::custom(std::shared_ptr<const CustomCode> code, std::vector<NodeId> inputs,
                            std::vector<CustomUse::Result> results) {
  if (inputs.empty()) fail(fmt::format("{} needs at least one array", code->name), "give it one");
  if (results.empty()) fail(fmt::format("{} has no results", code->name), "return the type of at least one");
  for (const NodeId id : inputs)
    if (shape(id).empty())
      fail(fmt::format("{} takes arrays with at least one axis, not {}", code->name, describe(at(id))),
           "give the number as an array of one element: reshape(x, {1})");
  for (const CustomUse::Result& result : results) {
    if (result.shape.empty())
      fail(fmt::format("a result of {} must have at least one axis", code->name), "return the shape {1}");
    check_shape(result.shape);
  }
  Node node{.kind = NodeKind::Custom};
  node.dtype = results[0].dtype;
  node.shape = results[0].shape;
  node.args = std::move(inputs);
  node.custom = std::make_shared<const CustomUse>(CustomUse{std::move(code), std::move(results)});
  return add(std::move(node));
}

NodeId GraphBuilder::custom_result(NodeId first, int result) {
  if (result == 0) return first;
  Node node = at(first);
  const CustomUse::Result& type = node.custom->results.at(static_cast<size_t>(result));
  node.result = result;
  node.dtype = type.dtype;
  node.shape = type.shape;
  return add(std::move(node));
}

// Before: %1 = permute %0, %2 = custom %1.  After: %1 = permute %0, %2 = cast %1, %3 = custom %2.
Graph store_for_custom(const Graph& graph) {
  const auto generated = [](const Node& node) {
    return is_view(node.kind) || node.kind == NodeKind::Constant || node.kind == NodeKind::Iota;
  };
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) { return n.kind == NodeKind::Custom; }))
    return graph;
  Graph stored = graph;
  stored.nodes.clear();
  std::vector<NodeId> renamed, copies(graph.nodes.size(), -1);
  const auto add = [&](Node node) {
    stored.nodes.push_back(std::move(node));
    return static_cast<NodeId>(stored.nodes.size() - 1);
  };
  for (const Node& node : graph.nodes) {
    Node made = node;
    for (NodeId& arg : made.args) {
      const Node& from = graph.at(arg);
      const auto old = static_cast<size_t>(arg);
      arg = renamed[old];
      if (node.kind != NodeKind::Custom || !generated(from)) continue;
      if (copies[old] < 0) {
        Node copy{.kind = NodeKind::Cast};
        copy.dtype = from.dtype;
        copy.shape = from.shape;
        copy.args = {arg};
        copy.origin = node.origin;
        copy.label = "copy";
        copies[old] = add(std::move(copy));
      }
      arg = copies[old];
    }
    renamed.push_back(add(std::move(made)));
  }
  for (std::vector<NodeId>* ids : {&stored.inputs, &stored.outputs})
    for (NodeId& id : *ids) id = renamed[static_cast<size_t>(id)];
  return stored;
}

namespace detail {

void check_span(DType dtype, DType asked) {
  if (dtype == asked) return;
  throw UserError(
      fmt::format("the elements of an array of {} were asked for as {}\nhelp: write span<T> with the type of {}",
                  name_of(dtype), name_of(asked), name_of(dtype)));
}

}  // namespace detail

}  // namespace smelt
