// How an explanation calls things.
#include <fmt/format.h>

#include <cctype>

#include "report/explain_parts.hpp"
#include "report/units.hpp"

namespace smelt::report {

std::string operation_of(const Node& node) {
  if (node.kind == NodeKind::Elementwise) return std::string(name_of(node.op));
  if (node.kind == NodeKind::Reduce) return std::string(name_of(node.reduce));
  if (node.kind == NodeKind::Scan) return std::string(name_of_scan(node.reduce));
  return std::string(name_of(node.kind));
}

std::string label_of(const Node& node) { return printable(node.label.empty() ? operation_of(node) : node.label, 40); }

std::string describe(const BuiltFunction& f) {
  return fmt::format(
      "{}: {} threads{}, {} registers, {}{} shared, {} of them on a multiprocessor, occupancy {:.0f} %", f.name,
      f.threads, f.cluster > 1 ? fmt::format(" in clusters of {}", f.cluster) : "", f.facts.registers,
      f.facts.local_bytes > 0 ? format_memory(f.facts.local_bytes) + " spilled per thread, " : "",
      format_memory(f.facts.shared_bytes + f.shared_bytes), f.workgroups_per_processor, 100 * f.occupancy);
}

std::string name_of_value(const Graph& graph, NodeId id) {
  const Node& node = graph.at(id);
  if (node.kind == NodeKind::Input) return printable(node.name, 40);
  const std::string label = label_of(node), operation = operation_of(node);
  const bool is_word = std::isalpha(static_cast<unsigned char>(label[0])) != 0;
  return fmt::format("{}{} %{}", label, !is_word || label == operation ? "" : "." + operation, id);
}

// Which output of the program a value is, from 1; 0 when it is none.
static size_t output_number(const Graph& graph, NodeId id) {
  for (size_t o = 0; o < graph.outputs.size(); ++o)
    if (graph.outputs[o] == id) return o + 1;
  return 0;
}

std::string role_of_value(const Graph& graph, NodeId id) {
  if (graph.at(id).kind == NodeKind::Input) return printable(graph.at(id).name, 40);
  const size_t output = output_number(graph, id);
  return output > 0 ? fmt::format("output {}", output) : name_of_value(graph, id);
}

}  // namespace smelt::report
