// The sweep: every node after all its users, so that its cotangent is complete when its rule is
// asked.
#include "graph/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "graph/build_detail.hpp"
#include "graph/custom_code.hpp"
#include "graph/gradient_detail.hpp"
#include "smelt/custom_call.hpp"

namespace smelt {

namespace gradients {

// The most nodes of the graph. Each gradient of a gradient is several times as large, and programs
// may come from anyone.
constexpr NodeId kMostNodes = 1 << 20;

Sweep::Sweep(GraphBuilder& builder, const std::vector<NodeId>& values, const std::vector<NodeId>& by)
    : b(builder), end_(values.empty() ? 0 : *std::max_element(values.begin(), values.end()) + 1) {
  for (const NodeId id : by) end_ = std::max(end_, id + 1);
  active_.resize(static_cast<size_t>(end_));
  cotangents_.resize(active_.size(), -1);
  for (const NodeId id : by) active_[static_cast<size_t>(id)] = true;
  for (NodeId id = 0; id < end_; ++id) {
    const Node& node = b.at(id);
    if (!is_float(node.dtype) || node.stops) continue;
    for (const NodeId arg : node.args)
      if (active_[static_cast<size_t>(arg)]) active_[static_cast<size_t>(id)] = true;
  }
}

void Sweep::add(NodeId id, NodeId cotangent) {
  const auto i = static_cast<size_t>(id);
  if (!active_[i]) return;
  if (cotangent > kMostNodes)
    fail(fmt::format("with this gradient the program has more than {} operations", kMostNodes),
         "take fewer gradients of gradients");
  cotangent = b.cast(cotangent, b.dtype(id));
  SMELT_CHECK(b.shape(cotangent) == b.shape(id), "a cotangent {} of {}", describe(b.at(cotangent)), describe(b.at(id)));
  cotangents_[i] = cotangents_[i] < 0 ? cotangent : b.elementwise(Op::Add, {cotangents_[i], cotangent});
}

void Sweep::run() {
  for (NodeId id = end_; id-- > 0;) {
    const Node& node = b.at(id);
    if (!active_[static_cast<size_t>(id)]) continue;
    const bool wanted =
        std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return active_[static_cast<size_t>(arg)]; });
    if (!wanted || node.stops) continue;
    b.set_origin(node.origin,
                 node.label.empty() || node.label.starts_with("gradient") ? node.label : "gradient of " + node.label);
    if (node.kind == NodeKind::Custom)
      apply_custom(id);
    else if (cotangent(id) >= 0)
      apply(id, cotangent(id));
  }
}

void Sweep::apply(NodeId id, NodeId g) {
  switch (b.at(id).kind) {
    case NodeKind::Elementwise: return elementwise(*this, id, g);
    case NodeKind::Cast: return add(arg(id, 0), g);
    case NodeKind::Reduce: return reduce(*this, id, g);
    case NodeKind::Scan: return scan(*this, id, g);
    case NodeKind::Reshape: return reshape(*this, id, g);
    case NodeKind::Permute: return permute(*this, id, g);
    case NodeKind::Broadcast: return broadcast(*this, id, g);
    case NodeKind::Slice: return slice(*this, id, g);
    case NodeKind::Window: return window(*this, id, g);
    case NodeKind::Extend: return extend(*this, id, g);
    case NodeKind::Pad: return pad(*this, id, g);
    case NodeKind::Concat: return concat(*this, id, g);
    case NodeKind::Gather: return gather(*this, id, g);
    case NodeKind::Scatter: return scatter(*this, id, g);
    case NodeKind::Custom:
    case NodeKind::Input:
    case NodeKind::Constant:
    case NodeKind::SizeValue:
    case NodeKind::Iota:
    case NodeKind::Random: break;
  }
  throw InternalError(fmt::format("a gradient through {}", name_of(b.at(id).kind)));
}

// The results of one call have one rule; it is applied at the first of them, when those of all are
// complete.
void Sweep::apply_custom(NodeId id) {
  const std::shared_ptr<const CustomUse> use = b.at(id).custom;
  const std::vector<NodeId> inputs = b.at(id).args;
  if (b.at(id).result != 0) return;
  std::vector<NodeId> results(use->results.size(), -1), given(results.size(), -1);
  for (NodeId other = id; other < end_; ++other)
    if (b.at(other).custom == use) {
      const auto r = static_cast<size_t>(b.at(other).result);
      results[r] = other;
      given[r] = cotangent(other);
    }
  if (std::all_of(given.begin(), given.end(), [](NodeId g) { return g < 0; })) return;
  const std::string& name = use->code->name;
  if (!use->code->rule)
    fail(fmt::format("the operation {} has no gradient", name),
         fmt::format("give the CustomOperation of {} a gradient function, or take its inputs as constants: "
                     "stop_gradient(x)",
                     name));
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r] < 0) results[r] = b.custom_result(id, static_cast<int>(r));
    if (given[r] < 0) given[r] = full_like(b, results[r], 0);
  }
  const std::vector<NodeId> made = use->code->rule->build(b, inputs, results, given);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (made.at(i) >= 0) add(inputs[i], made[i]);
}

NodeId full_like(GraphBuilder& b, NodeId x, double value) {
  return b.broadcast_to(b.constant(Scalar::of_float(b.dtype(x), value)), b.shape(x));
}

}  // namespace gradients

std::vector<NodeId> vector_jacobian_product(GraphBuilder& b, const std::vector<NodeId>& values,
                                            const std::vector<NodeId>& cotangents, const std::vector<NodeId>& by) {
  SMELT_CHECK(values.size() == cotangents.size(), "{} cotangents for {} values", cotangents.size(), values.size());
  for (const NodeId id : by)
    if (!is_float(b.dtype(id)))
      fail(fmt::format("there is no gradient by {}: only floats have one", describe(b.at(id))),
           fmt::format("cast it to a float first, {}, and take the gradient by that", cast_text(b, id, DType::F32)));
  for (size_t v = 0; v < values.size(); ++v) {
    const Node &value = b.at(values[v]), &cotangent = b.at(cotangents[v]);
    if (!is_float(value.dtype))
      fail(fmt::format("there is no gradient of {}: only floats have one", describe(value)),
           fmt::format("cast it to a float: {}", cast_text(b, values[v], DType::F32)));
    if (!is_float(cotangent.dtype) || !(cotangent.shape == value.shape))
      fail(fmt::format("the cotangent of {} is {}", describe(value), describe(cotangent)),
           "a cotangent is a float array of the shape of its value");
  }
  gradients::Sweep sweep(b, values, by);
  for (size_t v = 0; v < values.size(); ++v) sweep.add(values[v], cotangents[v]);
  sweep.run();
  std::vector<NodeId> result;
  for (const NodeId id : by)
    result.push_back(sweep.cotangent(id) >= 0 ? sweep.cotangent(id) : gradients::full_like(b, id, 0));
  return result;
}

std::vector<NodeId> gradient(GraphBuilder& b, NodeId value, const std::vector<NodeId>& by) {
  if (b.rank(value) != 0)
    fail(fmt::format("a gradient is of one number, not of {}", describe(b.at(value))),
         "reduce it: sum(...) or mean(...); vjp takes values of any shape, with their cotangents");
  return vector_jacobian_product(b, {value}, {gradients::full_like(b, value, 1)}, by);
}

}  // namespace smelt
