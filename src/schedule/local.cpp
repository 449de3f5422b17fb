#include "schedule/local.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/check.hpp"
#include "schedule/operations.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {

static bool mentions(const Index& index, Symbol::Kind kind) {
  const auto here = [&](const IntExpr& i) { return i.any_symbol([&](Symbol s) { return s.kind() == kind; }); };
  return std::any_of(index.begin(), index.end(), here);
}

size_t first_written_out(const Graph& graph, const Node& reduce, int64_t around) {
  const Shape& shape = graph.at(reduce.args[0]).shape;
  const int64_t most = std::min(kMostWrittenOut, kMostWrittenOutInside / around);
  size_t first = reduce.axes.size();
  for (int64_t elements = 1; first > 0; --first) {
    elements *= shape[static_cast<size_t>(reduce.axes[first - 1])].constant().value();
    if (elements > most) break;
  }
  return first;
}

bool mentions(const Index& index, Symbol symbol) {
  return std::any_of(index.begin(), index.end(), [&](const IntExpr& i) { return i.mentions(symbol); });
}

std::set<Symbol> symbols_behind(const Domain& domain, std::vector<Symbol> waiting) {
  std::set<Symbol> found;
  while (!waiting.empty()) {
    const Symbol symbol = waiting.back();
    waiting.pop_back();
    if (!found.insert(symbol).second) continue;
    if (const auto picked = domain.gathers.find(symbol); picked != domain.gathers.end())
      for (const IntExpr& i : picked->second)
        for (const Symbol s : i.symbols()) waiting.push_back(s);
  }
  return found;
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

// Operations of one evaluation; an extreme of floats looks for NaN.
static double evaluation(const Node& node) {
  constexpr int kExtreme = 4;
  const bool extreme = node.local && is_float(node.dtype) && node.reduce != ReduceKind::Sum;
  return extreme ? kExtreme : std::max(cost_of(node), 1);
}

// A half that becomes f32 where it is read, which takes next to nothing.
static bool widens_half(const Graph& graph, const Node& node) {
  return node.kind == NodeKind::Cast && node.dtype == DType::F32 && is_half(graph.at(node.args[0]).dtype);
}

double WindowWork::operations_behind(NodeId id) {
  const auto [known, fresh] = behind_.try_emplace(id, 0);
  if (!fresh) return known->second;
  std::map<NodeId, double, std::greater<>> waiting{{id, 1}};  // consumers first
  double total = 0;
  while (!waiting.empty()) {
    const auto [n, times] = *waiting.begin();
    waiting.erase(waiting.begin());
    const Node& node = graph_.at(n);
    if (!members_.count(n) && !is_view(node.kind)) continue;
    const double below = node.local ? times * static_cast<double>(local_elements(graph_, node)) : times;
    // Guards are hoisted, so that they cost next to nothing.
    const bool guard = node.kind == NodeKind::Pad || node.kind == NodeKind::Concat;
    if (members_.count(n) && !guard && !node.args.empty() && !widens_half(graph_, node))
      total += below * evaluation(node);
    for (const NodeId arg : node.args) {
      double& most = waiting[arg];
      most = std::max(most, below);
    }
  }
  return behind_[id] = total;
}

// Points of the domain; a value that the last axes do not change is computed before the loop over
// them, where that is a loop of some length.
static double evaluations(const Domain& domain, const Index& index, bool inside) {
  constexpr double kLoop = 256;
  double points = 1, unchanged = 1;
  for (const Axis& axis : domain.axes) {
    const auto extent = static_cast<double>(std::max<int64_t>(axis.estimate, 1));
    points *= extent;
    unchanged = inside || mentions(index, axis.var) ? 1 : unchanged * extent;
  }
  return unchanged >= kLoop ? points / unchanged : points;
}

Overlap WindowWork::evaluated(NodeId id, const Index& index, const Overlap& overlap, const Domain& domain) {
  const Node& node = graph_.at(id);
  if (is_view(node.kind) || node.kind == NodeKind::Pad || node.kind == NodeKind::Concat || node.args.empty())
    return overlap;
  const int64_t own = node.local ? local_elements(graph_, node) : 1;
  constexpr double kClearly = 1.5;  // that storing saves so much is known to about this factor
  const bool inside = overlap.place == Overlap::JustInside;
  if (inside || (node.local && domain.pointwise())) {
    const double points = evaluations(domain, index, inside) * static_cast<double>(overlap.times) * overlap.share;
    double elements = 1;
    for (const IntExpr& size : node.shape) elements *= std::max(1.0, static_cast<double>(size.evaluate(sizes_)));
    if (points > elements) {
      const double saved = (points - elements) * operations_behind(id) -
                           kClearly * 2 * kOperationsPerByte * elements * static_cast<double>(size_of(node.dtype));
      Worst& worst = overlap.place == Overlap::Outside ? broadcast_ : seen_;
      if (saved > worst.saved) worst = {id, points / std::max(elements, 1.0), saved};
    }
  }
  int64_t copies = overlap.copies;
  if (node.local)
    for (size_t a = first_written_out(graph_, node, copies); a < node.axes.size(); ++a)
      copies *= graph_.at(node.args[0]).shape[static_cast<size_t>(node.axes[a])].constant().value();
  return {overlap.times * own, overlap.place == Overlap::Outside ? Overlap::Outside : Overlap::Inside, overlap.share,
          copies};
}

std::optional<Refusal> WindowWork::refusal(const Worst& worst, std::string_view why) const {
  if (worst.node < 0) return std::nullopt;
  const Node& node = graph_.at(worst.node);
  return Refusal{fmt::format("{} would compute {} {:.0f} times for each element, which costs more than storing it", why,
                             node.label.empty() ? std::string(name_of(node.kind)) : node.label, worst.times),
                 "nothing, unless it is needed less often or its elements cost less"};
}

}  // namespace smelt::schedule
