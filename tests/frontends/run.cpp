#include "run.hpp"

namespace smelt::lang {

std::vector<double> numbers_of(const TensorView& tensor) {
  const Tensor plain = contiguous_copy(tensor);
  std::vector<double> result;
  for (int64_t i = 0; i < plain.count(); ++i)
    result.push_back(
        load_scalar(plain.dtype, static_cast<const std::byte*>(plain.data) + i * size_of(plain.dtype)).as_double());
  return result;
}

Graph graph_of(const std::string& text, const NamedTensors& inputs) {
  std::vector<InputType> types;
  for (const auto& [name, tensor] : inputs)
    types.push_back({name, tensor.dtype, Shape(tensor.dims.begin(), tensor.dims.end())});
  Graph graph = parse_program(text, "<test>", types);
  verify(graph);
  return graph;
}

std::vector<Tensor> run(const std::string& text, const NamedTensors& inputs) {
  const Graph graph = graph_of(text, inputs);
  std::vector<TensorView> views;
  for (NodeId id : graph.inputs)
    for (const auto& [name, tensor] : inputs)
      if (name == graph.at(id).name) views.push_back(tensor);
  return interpret(graph, views);
}

std::vector<double> numbers(const std::string& text, const NamedTensors& inputs) {
  return numbers_of(run(text, inputs).at(0));
}

std::string error_of(const std::string& text, const NamedTensors& inputs) {
  try {
    graph_of(text, inputs);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace smelt::lang
