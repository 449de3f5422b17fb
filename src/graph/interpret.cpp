// The reference: a graph evaluated node by node, slowly and obviously, in float64.
#include <fmt/format.h>

#include <unordered_map>

#include "base/check.hpp"
#include "graph/interpret_array.hpp"

namespace smelt {

namespace {

void check_dtypes(const Graph& graph, const std::vector<TensorView>& inputs) {
  for (size_t i = 0; i < inputs.size() && i < graph.inputs.size(); ++i) {
    const Node& node = graph.at(graph.inputs[i]);
    if (inputs[i].dtype != node.dtype)
      throw UserError(fmt::format("input {} is {}, but the array is {}",
                                  node.name.empty() ? fmt::format("{}", i) : node.name, name_of(node.dtype),
                                  name_of(inputs[i].dtype)));
  }
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const std::vector<TensorView>& inputs)
      : graph_(graph), values_(graph.nodes.size()), uses_left_(use_counts(graph)) {
    std::vector<Dims> dims;
    for (const TensorView& input : inputs) dims.push_back(input.dims);
    sizes_ = bind_sizes(graph, dims);
    check_dtypes(graph, inputs);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (uses_left_[static_cast<size_t>(graph.inputs[i])] > 0)
        values_[static_cast<size_t>(graph.inputs[i])] = reference::load_input(inputs[i]);
  }

  std::vector<Tensor> run() {
    for (size_t id = 0; id < graph_.nodes.size(); ++id)
      if (uses_left_[id] > 0 && graph_.nodes[id].kind != NodeKind::Input) values_[id] = evaluate(graph_.nodes[id]);
    std::vector<Tensor> results;
    for (NodeId id : graph_.outputs) results.push_back(reference::packed(values_[static_cast<size_t>(id)]));
    return results;
  }

 private:
  // The value of an argument; its last user takes it away, so that memory ends with it.
  Tensor take(NodeId id) {
    Tensor& value = values_[static_cast<size_t>(id)];
    return --uses_left_[static_cast<size_t>(id)] > 0 ? value : std::move(value);
  }

  Tensor evaluate(const Node& node) {
    const Dims dims = smelt::evaluate(node.shape, sizes_);
    const auto arg_dtype = [&] { return graph_.at(node.args[0]).dtype; };
    std::vector<Tensor> args;
    for (NodeId id : node.args) args.push_back(take(id));
    switch (node.kind) {
      case NodeKind::Input: break;
      case NodeKind::Constant: return reference::scalar_array(node.constant);
      case NodeKind::SizeValue: return reference::scalar_array(Scalar::of_int(DType::I64, node.size.evaluate(sizes_)));
      case NodeKind::Iota: return reference::iota(node, dims);
      case NodeKind::Random: return reference::random(node, args, dims);
      case NodeKind::Elementwise: return reference::elementwise(node, std::move(args), dims);
      case NodeKind::Cast: return reference::cast(node, arg_dtype(), args[0]);
      case NodeKind::Reduce: return reference::reduce(node, args[0], dims);
      case NodeKind::Scan: return reference::scan(node, args, dims);
      case NodeKind::Reshape: return reference::reshape(args[0], dims);
      case NodeKind::Permute: return reference::permute(node, args[0]);
      case NodeKind::Broadcast: return reference::broadcast(args[0], dims);
      case NodeKind::Slice: return reference::slice(node, args[0], dims, sizes_);
      case NodeKind::Window: return reference::window(node, args[0], dims);
      case NodeKind::Extend: return reference::extend(node, args[0], dims, sizes_);
      case NodeKind::Pad: return reference::pad(node, args[0], args[1], dims, sizes_);
      case NodeKind::Concat: return reference::concat(node, args, dims);
      case NodeKind::Gather: return reference::gather(node, args[0], args[1], dims);
      case NodeKind::Custom: return custom(node, args);
      case NodeKind::Scatter: return reference::scatter(node, args[0], args[1], args[2]);
    }
    throw InternalError("the interpreter met an input that is not listed");
  }

  // A call is made for the first of its results that is needed.
  Tensor custom(const Node& node, const std::vector<Tensor>& args) {
    const auto [known, fresh] = calls_.try_emplace(node.custom.get());
    if (fresh) {
      std::vector<DType> dtypes;
      for (NodeId id : node.args) dtypes.push_back(graph_.at(id).dtype);
      std::vector<Dims> dims;
      for (const CustomUse::Result& result : node.custom->results)
        dims.push_back(smelt::evaluate(result.shape, sizes_));
      known->second = reference::custom(*node.custom, dtypes, args, dims);
    }
    return known->second[static_cast<size_t>(node.result)];
  }

  const Graph& graph_;
  std::unordered_map<const CustomUse*, std::vector<Tensor>> calls_;
  std::vector<Tensor> values_;
  std::vector<int> uses_left_;
  SizeBinding sizes_;
};

}  // namespace

std::vector<Tensor> interpret(const Graph& graph, const std::vector<TensorView>& inputs) {
  return Interpreter(graph, inputs).run();
}

}  // namespace smelt
