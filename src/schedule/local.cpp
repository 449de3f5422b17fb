#include "schedule/local.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {

static bool mentions(const Index& index, Symbol::Kind kind) {
  const auto here = [&](const IntExpr& i) { return i.any_symbol([&](Symbol s) { return s.kind() == kind; }); };
  return std::any_of(index.begin(), index.end(), here);
}

bool mentions(const Index& index, Symbol symbol) {
  return std::any_of(index.begin(), index.end(), [&](const IntExpr& i) { return i.mentions(symbol); });
}

int64_t window_elements(const Domain& domain, const Index& index) {
  std::set<Symbol> windows;
  for (const IntExpr& i : index)
    for (const Symbol s : i.symbols())
      if (s.kind() == Symbol::Kind::Window && domain.ranges.has(s)) windows.insert(s);
  int64_t elements = 1;
  for (const Symbol s : windows) elements *= domain.ranges.at(s).high.constant().value_or(0) + 1;
  return elements;
}

bool reads_windows(const Index& index) { return mentions(index, Symbol::Kind::Window); }
bool reads_gathered(const Index& index) { return mentions(index, Symbol::Kind::Gathered); }

Index window_index(const Graph& graph, NodeId reduce, const Index& index, Ranges& ranges) {
  const Node& node = graph.at(reduce);
  const Shape& shape = graph.at(node.args[0]).shape;
  Index result;
  for (size_t d = 0, kept = 0; d < shape.size(); ++d) {
    const int axis = static_cast<int>(d);
    if (!std::binary_search(node.axes.begin(), node.axes.end(), axis)) {
      result.push_back(index[kept++]);
    } else if (shape[d].is(1)) {
      result.emplace_back(0);
    } else {
      const Symbol var = Symbol::window(reduce, axis);
      ranges[var] = {0, shape[d] - 1};
      result.push_back(IntExpr::symbol(var));
    }
  }
  return result;
}

std::vector<Index> elements_of_window(const Graph& graph, NodeId reduce, const Index& index) {
  const Node& node = graph.at(reduce);
  const Shape& shape = graph.at(node.args[0]).shape;
  std::vector<Index> found{{}};
  for (size_t d = 0, kept = 0; d < shape.size(); ++d) {
    const bool reduced = std::binary_search(node.axes.begin(), node.axes.end(), static_cast<int>(d));
    const int64_t extent = reduced ? shape[d].constant().value() : 1;
    std::vector<Index> longer;
    for (const Index& start : found)
      for (int64_t i = 0; i < extent; ++i) {
        longer.push_back(start);
        longer.back().push_back(reduced ? IntExpr(i) : index[kept]);
      }
    kept += reduced ? 0 : 1;
    found = std::move(longer);
  }
  return found;
}

Overlap WindowWork::evaluated(const Graph& graph, NodeId id, const Overlap& overlap, const Domain& domain) {
  const Node& node = graph.at(id);
  const int64_t own = node.local ? local_elements(graph, node) : 1;
  const Overlap below{overlap.times * own, overlap.place == Overlap::Outside ? Overlap::Outside : Overlap::Inside};
  const bool guard = node.kind == NodeKind::Pad || node.kind == NodeKind::Concat;
  if (overlap.place == Overlap::Outside || is_view(node.kind) || node.args.empty()) return {below.times, overlap.place};
  double points = static_cast<double>(overlap.times);
  for (const Axis& axis : domain.axes) points *= static_cast<double>(std::max<int64_t>(axis.estimate, 1));
  double elements = 1;
  for (const IntExpr& size : node.shape) elements *= static_cast<double>(size.evaluate(sizes_));
  if (overlap.place == Overlap::JustInside)
    allowed_ += 2 * kOperationsPerByte * elements * static_cast<double>(size_of(node.dtype));
  // Guards are hoisted, so that they cost next to nothing.
  const double cost = (guard ? 0.0 : static_cast<double>(std::max(cost_of(node), 1))) * static_cast<double>(own);
  if (const double again = (points - elements) * cost; again > 0) {
    repeated_ += again;
    if (again > worst_cost_) worst_ = id, worst_cost_ = again, worst_times_ = points / std::max(elements, 1.0);
  }
  return guard && overlap.place == Overlap::JustInside ? Overlap{below.times, Overlap::JustInside} : below;
}

Refusal WindowWork::refusal(const Graph& graph) const {
  const Node& node = graph.at(worst_);
  return {fmt::format(
              "overlapping windows would compute {} {:.0f} times for each element, which costs more than storing it",
              node.label.empty() ? std::string(name_of(node.kind)) : node.label, worst_times_),
          "nothing, unless the windows overlap less or their elements cost less"};
}

}  // namespace smelt::schedule
