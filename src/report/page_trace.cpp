// What elements of the outputs were computed from, by the reference interpreter.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/json.hpp"
#include "report/page_parts.hpp"
#include "schedule/computing.hpp"
#include "schedule/views.hpp"
#include "smelt/error.hpp"

namespace smelt::report {
namespace {

using nlohmann::ordered_json;

// Values that are kept of all operations, and what is told of each element.
constexpr int64_t kMostValues = int64_t{1} << 25;
constexpr size_t kMostElements = 16, kMostSteps = 160;
// The most elements of a reduction that are listed.
constexpr int64_t kMostReduced = 8;

Dims index_at(int64_t flat, const Dims& dims) {
  Dims index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) index[d] = flat % dims[d], flat /= dims[d];
  return index;
}

int64_t flat_of(const Dims& index, const Dims& dims) {
  int64_t flat = 0;
  for (size_t d = 0; d < dims.size(); ++d) flat = flat * dims[d] + index[d];
  return flat;
}

Scalar element_at(const Tensor& tensor, int64_t flat) {
  return load_scalar(tensor.dtype, static_cast<const char*>(tensor.data) + flat * size_of(tensor.dtype));
}

ordered_json scalar_json(const Scalar& value) {
  if (is_float(value.dtype)) return number(value.f);
  if (is_bool(value.dtype)) return value.as_bool();
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value.dtype == DType::U64) return value.u < uint64_t{1} << 53 ? ordered_json(value.u) : ordered_json(value.str());
  const int64_t i = value.as_int();
  return std::abs(i) < kExact ? ordered_json(i) : ordered_json(value.str());
}

class Tracer {
 public:
  Tracer(const Graph& graph, const SizeBinding& sizes, const std::vector<Tensor>& arrays)
      : graph_(graph), sizes_(sizes), computing_(schedule::computing_nodes(graph)) {
    Graph all = graph;
    all.outputs.clear();
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (is_kept(static_cast<NodeId>(i))) all.outputs.push_back(static_cast<NodeId>(i));
    const std::vector<Tensor> values = interpret(all, views_of(arrays));
    for (size_t o = 0; o < values.size(); ++o) values_[all.outputs[o]] = values[o];
  }

  static int64_t values_of(const Graph& graph, const SizeBinding& sizes) {
    int64_t sum = 0;
    for (const Node& node : graph.nodes)
      if (!is_view(node.kind)) sum += std::min(element_count(evaluate(node.shape, sizes)), kMostValues + 1);
    return sum;
  }

  const Tensor& value(NodeId id) const { return values_.at(id); }

  // The steps of one element, arguments before what is made of them.
  ordered_json steps(NodeId output, const Dims& index) {
    steps_ = ordered_json::array();
    known_.clear();
    visit(output, index);
    return std::move(steps_);
  }

 private:
  bool is_kept(NodeId id) const { return !is_view(graph_.at(id).kind) || computing_[static_cast<size_t>(id)]; }

  std::optional<size_t> visit(NodeId id, Dims index) {
    // Views are looked through.
    while (!is_kept(id)) {
      const auto behind = through(id, index);
      if (!behind) return std::nullopt;
      index = *behind;
      id = graph_.at(id).args[0];
    }
    const auto key = std::pair(id, index);
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (steps_.size() + open_ >= kMostSteps) return std::nullopt;
    ++open_;
    ordered_json args = ordered_json::array();
    int64_t more = 0;
    for (const auto& [arg, at] : arguments(id, index, more)) {
      const auto step = visit(arg, at);
      args.push_back(step ? ordered_json(*step) : ordered_json(nullptr));
    }
    --open_;
    const Dims dims = evaluate(graph_.at(id).shape, sizes_);
    ordered_json step = {{"node", id},
                         {"index", index},
                         {"value", scalar_json(element_at(value(id), flat_of(index, dims)))},
                         {"args", args}};
    if (more > 0) step["more"] = more;
    steps_.push_back(std::move(step));
    return known_[key] = steps_.size() - 1;
  }

  std::optional<Dims> numbers(const schedule::Index& index) const {
    Dims out;
    try {
      for (const IntExpr& i : index) out.push_back(i.evaluate(sizes_));
    } catch (const Error&) {
      return std::nullopt;
    }
    return out;
  }

  static schedule::Index expressions(const Dims& index) { return {index.begin(), index.end()}; }

  std::optional<Dims> through(NodeId view, const Dims& index) const {
    return numbers(schedule::through_view(graph_, graph_.at(view), expressions(index), {}));
  }

  using Arguments = std::vector<std::pair<NodeId, Dims>>;

  // `more`: elements of a reduction that are not listed.
  Arguments arguments(NodeId id, const Dims& index, int64_t& more) const {
    const Node& node = graph_.at(id);
    Arguments out;
    switch (node.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        for (const NodeId arg : node.args) out.emplace_back(arg, index);
        return out;
      case NodeKind::Reduce: return reduced(node, index, more);
      case NodeKind::Scan: return scanned(node, index, more);
      case NodeKind::Pad:
      case NodeKind::Concat: return joined(node, index);
      case NodeKind::Gather: return gathered(node, index);
      default:
        // Computed views are copies; the rest is opaque.
        if (is_view(node.kind))
          if (const auto behind = through(id, index)) out.emplace_back(node.args[0], *behind);
        return out;
    }
  }

  Arguments reduced(const Node& node, const Dims& index, int64_t& more) const {
    const Dims dims = evaluate(graph_.at(node.args[0]).shape, sizes_);
    Dims extents;
    for (const int axis : node.axes) extents.push_back(dims[static_cast<size_t>(axis)]);
    const int64_t count = element_count(extents), listed = std::min(count, kMostReduced);
    more = count - listed;
    Arguments out;
    for (int64_t n = 0; n < listed; ++n) {
      const Dims position = index_at(n, extents);
      Dims at;
      for (size_t d = 0, kept = 0, dropped = 0; d < dims.size(); ++d) {
        const bool reduced = std::find(node.axes.begin(), node.axes.end(), static_cast<int>(d)) != node.axes.end();
        at.push_back(reduced ? position[dropped++] : index[kept++]);
      }
      out.emplace_back(node.args[0], std::move(at));
    }
    return out;
  }

  Arguments scanned(const Node& node, const Dims& index, int64_t& more) const {
    const auto axis = static_cast<size_t>(node.axes[0]);
    const int64_t extent = evaluate(node.shape, sizes_)[axis];
    const int64_t last = index[axis] + (node.exclusive ? (node.reverse ? 1 : -1) : 0);
    const int64_t count = node.reverse ? extent - last : last + 1, listed = std::clamp<int64_t>(count, 0, kMostReduced);
    more = std::max<int64_t>(count - listed, 0);
    Arguments out;
    for (int64_t n = 0; n < listed; ++n) {
      Dims at = index;
      at[axis] = node.reverse ? last + n : last - n;
      out.emplace_back(node.args[0], std::move(at));
    }
    return out;
  }

  Arguments joined(const Node& node, const Dims& index) const {
    for (const schedule::Piece& piece : schedule::pieces(graph_, node, expressions(index), {})) {
      const bool holds = std::all_of(piece.guards.begin(), piece.guards.end(), [&](const schedule::Guard& guard) {
        const auto numbers_of = numbers({guard.value, guard.extent});
        return numbers_of && (*numbers_of)[0] >= 0 && (*numbers_of)[0] < (*numbers_of)[1];
      });
      const auto at = holds ? numbers(piece.index) : std::nullopt;
      if (at) return {{piece.arg, *at}};
    }
    if (node.kind == NodeKind::Pad) return {{node.args[1], {}}};
    return {};
  }

  Arguments gathered(const Node& node, const Dims& index) const {
    const auto at = numbers(schedule::gather_indices_index(graph_, node, expressions(index)));
    if (!at) return {};
    Arguments out = {{node.args[1], *at}};
    // The index itself may be read through views.
    NodeId id = node.args[1];
    Dims position = *at;
    while (!is_kept(id)) {
      const auto behind = through(id, position);
      if (!behind) return out;
      position = *behind;
      id = graph_.at(id).args[0];
    }
    const int64_t extent = evaluate(graph_.at(node.args[0]).shape, sizes_)[static_cast<size_t>(node.axes[0])];
    int64_t picked = element_at(value(id), flat_of(position, evaluate(graph_.at(id).shape, sizes_))).as_int();
    if (node.gather == GatherMode::Wrap) picked = (picked % extent + extent) % extent;
    if (node.gather == GatherMode::Check && picked < 0) picked += extent;
    picked = std::clamp<int64_t>(picked, 0, extent - 1);
    if (const auto data = numbers(schedule::gather_data_index(graph_, node, expressions(index), picked)))
      out.emplace_back(node.args[0], *data);
    return out;
  }

  const Graph& graph_;
  const SizeBinding& sizes_;
  const std::vector<bool> computing_;
  std::map<NodeId, Tensor> values_;
  ordered_json steps_;
  size_t open_ = 0;
  std::map<std::pair<NodeId, Dims>, size_t> known_;
};

// Elements worth a look, each with why: ends, extremes, the first NaN, the largest error.
std::vector<std::pair<int64_t, std::string>> chosen(const Tensor& reference, const Tensor* result) {
  const int64_t count = reference.count();
  std::vector<std::pair<int64_t, std::string>> out;
  const auto add = [&](int64_t flat, const char* why) {
    const auto known = std::find_if(out.begin(), out.end(), [&](const auto& e) { return e.first == flat; });
    if (known == out.end())
      out.emplace_back(flat, why);
    else
      known->second += std::string(", ") + why;
  };
  if (count == 0) return out;
  int64_t least = -1, most = -1, nan = -1, worst = -1;
  double low = 0, high = 0, error = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = element_at(reference, i).as_double();
    if (std::isnan(v)) {
      if (nan < 0) nan = i;
      continue;
    }
    if (least < 0 || v < low) least = i, low = v;
    if (most < 0 || v > high) most = i, high = v;
    if (!result) continue;
    const double off = std::abs(element_at(*result, i).as_double() - v);
    if (off > error) worst = i, error = off;
  }
  add(std::min<int64_t>(3, count - 1), "element 3");
  add(0, "the first");
  add(count - 1, "the last");
  if (nan >= 0) add(nan, "the first NaN");
  if (most >= 0) add(most, "the largest");
  if (least >= 0) add(least, "the smallest");
  if (worst >= 0) add(worst, "the largest error");
  return out;
}

}  // namespace

bool shows_values(const Graph& graph, const SizeBinding& sizes) {
  return Tracer::values_of(graph, sizes) <= kMostValues;
}

ordered_json page_trace(const PageInput& input) {
  const Graph& graph = input.executable.graph();
  const SizeBinding& sizes = input.explanation.sizes;
  const auto none = [](const std::string& why) {
    return ordered_json{{"elements", ordered_json::array()}, {"reason", why}};
  };
  if (input.arrays.empty() && !graph.inputs.empty()) return none("the program was not run");
  if (!shows_values(graph, sizes))
    return none("the arrays are too large to keep every value of this run; smaller sizes show it");
  try {
    Tracer tracer(graph, sizes, input.arrays);
    ordered_json elements = ordered_json::array();
    for (size_t o = 0; o < graph.outputs.size() && elements.size() < kMostElements; ++o) {
      const NodeId id = graph.outputs[o];
      const Tensor& reference = tracer.value(id);
      const Tensor* fused = o < input.fused_results.size() ? &input.fused_results[o] : nullptr;
      const Tensor* unfused = o < input.unfused_results.size() ? &input.unfused_results[o] : nullptr;
      for (const auto& [flat, why] : chosen(reference, fused)) {
        if (elements.size() >= kMostElements) break;
        const Dims index = index_at(flat, reference.dims);
        ordered_json element = {{"output", o},
                                {"node", id},
                                {"index", index},
                                {"why", why},
                                {"steps", tracer.steps(id, index)},
                                {"reference", scalar_json(element_at(reference, flat))}};
        if (fused) element["fused"] = scalar_json(element_at(*fused, flat));
        if (unfused) element["unfused"] = scalar_json(element_at(*unfused, flat));
        elements.push_back(std::move(element));
      }
    }
    return {{"elements", elements}};
  } catch (const UserError& e) {  // an index of the data that is out of range, say
    return none(e.what());
  }
}

}  // namespace smelt::report
