// What the rules of gradients share. A rule is given a node and its cotangent, and adds to the
// cotangents of the node's arguments.
#pragma once

#include <vector>

#include "graph/build_detail.hpp"
#include "graph/gradient.hpp"

namespace smelt::gradients {

class Sweep {
 public:
  Sweep(GraphBuilder& builder, const std::vector<NodeId>& values, const std::vector<NodeId>& by);

  // From the values down to what the gradients are by.
  void run();
  // Adds to the cotangent of a node, unless nothing that the gradients are by reaches it. Of
  // another float dtype it is cast.
  void add(NodeId id, NodeId cotangent);
  NodeId cotangent(NodeId id) const { return cotangents_[static_cast<size_t>(id)]; }  // -1: zero

  // Argument k of a node, and whether its cotangent counts.
  NodeId arg(NodeId id, size_t k) const { return b.at(id).args[k]; }
  bool wants(NodeId id, size_t k) const { return active_[static_cast<size_t>(arg(id, k))]; }
  NodeId end() const { return end_; }  // nodes from here on are those of gradients

  GraphBuilder& b;

 private:
  void apply(NodeId id, NodeId g);
  void apply_custom(NodeId id);

  NodeId end_;                // after the last of the values
  std::vector<bool> active_;  // floats that depend on what the gradients are by
  std::vector<NodeId> cotangents_;
};

// The rules, by kind of node: g is the cotangent of node `id`.
void elementwise(Sweep& s, NodeId id, NodeId g);  // gradient_elementwise.cpp
void reduce(Sweep& s, NodeId id, NodeId g);       // gradient_reduce.cpp
void broadcast(Sweep& s, NodeId id, NodeId g);
void scan(Sweep& s, NodeId id, NodeId g);     // gradient_scan.cpp
void reshape(Sweep& s, NodeId id, NodeId g);  // gradient_movement.cpp
void permute(Sweep& s, NodeId id, NodeId g);
void slice(Sweep& s, NodeId id, NodeId g);
void pad(Sweep& s, NodeId id, NodeId g);
void concat(Sweep& s, NodeId id, NodeId g);
void window(Sweep& s, NodeId id, NodeId g);  // gradient_window.cpp
void extend(Sweep& s, NodeId id, NodeId g);
void gather(Sweep& s, NodeId id, NodeId g);  // gradient_gather.cpp
void scatter(Sweep& s, NodeId id, NodeId g);

// gradient_product.cpp:
// The cotangent of a sum over `product`, rounded where its factors are bf16: theirs are bf16 too,
// and so they are products of halves.
NodeId rounded_like_factors(GraphBuilder& b, NodeId product, NodeId g);
// Whether node `id` has the weights of a softmax that a product takes, and then adds to the
// cotangent of what that is of: weights * (g - sum of weights * g), where the sum is known from the
// results of that product.
bool through_softmax(Sweep& s, NodeId id, NodeId g);

// Zeros, or another number, in the dtype and shape of a node.
NodeId full_like(GraphBuilder& b, NodeId x, double value);

// Zeros around one axis.
NodeId pad_axis(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& low, const IntExpr& high,
                const Operand& value = Literal(int64_t{0}));
// The elements of x at start, start + step, .. of an axis of `length` elements, zeros between and
// around them.
NodeId spread_axis(GraphBuilder& b, NodeId x, size_t axis, const IntExpr& start, int64_t step, const IntExpr& length);

}  // namespace smelt::gradients
