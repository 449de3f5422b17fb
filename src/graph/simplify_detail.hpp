// What the rules of simplify() work with. A rule looks at a node whose arguments are simple
// already, and says what takes its place, or nothing. It must hold for every value: NaN, infinities
// and both zeros, and every integer.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "graph/graph.hpp"

namespace smelt::simplifying {

class Rewriter {
 public:
  const Node& at(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }  // stays valid while nodes are added
  const Node& arg(const Node& node, size_t i) const { return at(node.args[i]); }

  // The scalar that every element of a node is, when that is known.
  const Scalar* uniform(NodeId id) const;
  bool is_uniform(NodeId id, int value) const;  // a uniform of this value; a float zero must be +0

  // Adds what a node simplifies to: a node that is there already, if an equal one is.
  NodeId emit(Node node);
  // The same of the node as it is.
  NodeId intern(Node node);
  NodeId input(Node node);
  // Every element is `value`; origin and label come from `like`.
  NodeId emit_uniform(const Scalar& value, const Shape& shape, const Node& like);
  // An elementwise operation, or another node, in place of `node`.
  NodeId emit_elementwise(Op op, std::vector<NodeId> args, const Node& node);
  NodeId emit_like(NodeKind kind, NodeId arg, const Node& node);

  std::deque<Node> take() { return std::move(nodes_); }

 private:
  std::deque<Node> nodes_;
  std::vector<NodeId> uniform_;  // per node: the constant that its elements are, or -1
  std::unordered_map<std::string, NodeId> known_;
  int depth_ = 0;
};

// Per axis of a shape that has more axes of size 1: the axis of `from` that it is, or -1; nothing
// for other shapes.
std::optional<std::vector<int>> with_unit_axes(const Shape& from, const Shape& to);

struct Rule {
  std::string_view name;
  std::optional<NodeId> (*apply)(Rewriter& rewriter, const Node& node);
};

// Elementwise operations and casts.
std::optional<NodeId> fold_constants(Rewriter& r, const Node& node);
std::optional<NodeId> drop_identities(Rewriter& r, const Node& node);
std::optional<NodeId> cancel_pairs(Rewriter& r, const Node& node);
std::optional<NodeId> absorb_negation(Rewriter& r, const Node& node);
std::optional<NodeId> expand_powers(Rewriter& r, const Node& node);
std::optional<NodeId> divide_by_powers_of_two(Rewriter& r, const Node& node);
std::optional<NodeId> decide_choices(Rewriter& r, const Node& node);
std::optional<NodeId> merge_casts(Rewriter& r, const Node& node);

// Movement.
std::optional<NodeId> move_uniforms(Rewriter& r, const Node& node);
std::optional<NodeId> drop_still_movement(Rewriter& r, const Node& node);
std::optional<NodeId> merge_movement(Rewriter& r, const Node& node);
std::optional<NodeId> sink_unit_axes(Rewriter& r, const Node& node);
std::optional<NodeId> sink_casts(Rewriter& r, const Node& node);

// What is read.
std::optional<NodeId> slice_ranges(Rewriter& r, const Node& node);
std::optional<NodeId> join_patterns(Rewriter& r, const Node& node);
std::optional<NodeId> reduce_without_padding(Rewriter& r, const Node& node);
std::optional<NodeId> reduce_in_order(Rewriter& r, const Node& node);

}  // namespace smelt::simplifying
