#include "plan/channels_last.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "graph/build_detail.hpp"
#include "graph/graph_copy.hpp"
#include "plan/predict.hpp"

namespace smelt::plan {
namespace {

// Channels come in words of 16 bytes, and fewer are not worth a copy.
constexpr int64_t kWord = 8, kFewestChannels = 16;

// An array of halves from which a factor is computed by views and a cast to f32, or of f32 that is
// taken apart into halves, the node that reads it there, what pads it before, and the dimension of
// it that each dimension of the multiplication is; -1: none, as of a window.
struct Source {
  NodeId array = -1, reader = -1, pad = -1;
  std::vector<int> dims;
  bool windows = false;
};

class ChannelsLast : GraphCopy {
 public:
  ChannelsLast(const Graph& from, bool parts) : GraphCopy(from), parts_(parts) {}

  std::optional<StoredCopies> run() {
    for (size_t i = 0; i < from_.nodes.size(); ++i) find(static_cast<NodeId>(i));
    if (readers_.empty()) return std::nullopt;
    StoredCopies made;
    made.graph = copy([&](const Node& node, NodeId id) { return write(node, id); });
    // Pads and casts that only the windows read as they were.
    const std::vector<NodeId> renamed = drop_unused(made.graph);
    for (const auto& [array, copied] : copies_) {
      const NodeId stored = renamed[static_cast<size_t>(copied)];
      Split split;
      split.nodes = behind(made.graph, stored);
      split.last = stored;
      made.splits.push_back(std::move(split));
    }
    return made;
  }

 private:
  // The reader is the window, past a cast right before it, or else the cast.
  std::optional<Source> source_of(NodeId factor, size_t rank) const {
    Source found;
    found.dims.resize(rank);
    std::iota(found.dims.begin(), found.dims.end(), 0);
    bool cast = false;
    NodeId before = -1;
    for (NodeId id = factor;; before = id, id = from_.at(id).args[0]) {
      const Node& node = from_.at(id);
      if (node.kind == NodeKind::Window) {
        if (found.windows) return std::nullopt;
        const NodeId argument = node.args[0];
        const bool casts = !cast && from_.at(argument).kind == NodeKind::Cast;
        const auto own = static_cast<int>(from_.at(argument).shape.size());
        for (int& d : found.dims) d = d < own ? d : -1;
        found.windows = true, found.reader = id, found.array = casts ? from_.at(argument).args[0] : argument;
        if (casts || cast || (parts_ && !is_of_halves(argument))) break;
      } else if (node.kind == NodeKind::Cast && !cast) {
        cast = true, found.reader = id, found.array = node.args[0];
        if (from_.at(found.array).kind != NodeKind::Window) break;
      } else if (node.kind == NodeKind::Permute || node.kind == NodeKind::Broadcast || node.kind == NodeKind::Reshape) {
        through(node, found.dims);
      } else if (parts_ && !cast && before >= 0) {
        found.reader = before, found.array = id;
        break;
      } else {
        return std::nullopt;
      }
    }
    if (found.windows && from_.at(found.array).kind == NodeKind::Pad)
      found.pad = std::exchange(found.array, from_.at(found.array).args[0]);
    const DType t = from_.at(found.array).dtype;
    return is_half(t) || (parts_ && t == DType::F32) ? std::optional(found) : std::nullopt;
  }

  // Whether what is padded, if anything is, was cast to f32 from something smaller.
  bool is_of_halves(NodeId id) const {
    id = behind_views(from_, id);
    if (from_.at(id).kind == NodeKind::Pad) id = behind_views(from_, from_.at(id).args[0]);
    return from_.at(id).kind == NodeKind::Cast && size_of(from_.at(from_.at(id).args[0]).dtype) < 4;
  }

  // The dimensions of what the view shows.
  void through(const Node& view, std::vector<int>& dims) const {
    const Shape& source = from_.at(view.args[0]).shape;
    for (int& d : dims) {
      if (d < 0) continue;
      const auto shown = static_cast<size_t>(d);
      if (view.kind == NodeKind::Permute) d = view.axes[shown];
      if (view.kind == NodeKind::Reshape) d = same_dimension(source, view.shape, shown);
      if (view.kind == NodeKind::Broadcast) d = std::max(-1, d - static_cast<int>(view.shape.size() - source.size()));
    }
  }

  void find(NodeId id) {
    const Node& sum = from_.at(id);
    if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.local) return;
    const Node& product = from_.at(sum.args[0]);
    if (product.kind != NodeKind::Elementwise || product.op != Op::Mul) return;
    const std::optional<Source> factors[] = {source_of(product.args[0], product.shape.size()),
                                             source_of(product.args[1], product.shape.size())};
    if (!factors[0] || !factors[1] || factors[0]->windows == factors[1]->windows) return;
    const Source& image = *factors[factors[0]->windows ? 0 : 1];
    int channels = -1;  // the one axis that is summed and is no window
    for (const int axis : sum.axes) {
      if (image.dims[static_cast<size_t>(axis)] < 0) continue;
      if (channels >= 0) return;
      channels = axis;
    }
    if (channels < 0) return;
    const int64_t count = product.shape[static_cast<size_t>(channels)].constant().value_or(0);
    if (count < kFewestChannels || count % kWord != 0) return;
    for (const auto& factor : factors) {
      const int d = factor->dims[static_cast<size_t>(channels)];
      if (d < 0 || from_.at(factor->array).shape[static_cast<size_t>(d)].constant() != count) return;
    }
    for (const auto& factor : factors) {
      const int d = factor->dims[static_cast<size_t>(channels)];
      if (factor->pad < 0 && lies_last(factor->array, d)) continue;
      readers_[factor->reader] = {factor->array, factor->pad, d};
    }
  }

  // Whether the elements along a dimension are neighbours in memory.
  bool lies_last(NodeId array, int d) const {
    while (from_.at(array).kind == NodeKind::Permute) {
      d = from_.at(array).axes[static_cast<size_t>(d)];
      array = from_.at(array).args[0];
    }
    return from_.at(array).kind == NodeKind::Input && d + 1 == static_cast<int>(from_.at(array).shape.size());
  }

  NodeId write(const Node& node, NodeId id) {
    const auto found = readers_.find(id);
    if (found == readers_.end()) return add_as_it_is(node);
    const auto& [array, pad, d] = found->second;
    NodeId read_from = lies_last(array, d) ? written(array) : stored(array, d);
    if (pad >= 0) {
      Node around = from_.at(pad);
      around.args = {read_from, written(around.args[1])};
      read_from = add(std::move(around));
    }
    Node reader = node;
    reader.args = {read_from};
    reader.dtype = node.kind == NodeKind::Cast ? node.dtype : from_.at(array).dtype;
    const NodeId read = add(std::move(reader));
    if (at(read).dtype == node.dtype) return read;
    // Windows of f32 become windows of halves.
    return add_like({.kind = NodeKind::Cast, .dtype = node.dtype}, node.shape, {read}, node);
  }

  // The array again, as it is shown by a copy that has the dimension last.
  NodeId stored(NodeId array, int d) {
    const Node& from = from_.at(array);
    std::vector<int> order, back(from.shape.size());
    for (int k = 0; k < static_cast<int>(from.shape.size()); ++k)
      if (k != d) order.push_back(k);
    order.push_back(d);
    for (size_t k = 0; k < order.size(); ++k) back[static_cast<size_t>(order[k])] = static_cast<int>(k);
    NodeId& copy = copies_.try_emplace({array, d}, -1).first->second;
    if (copy < 0) {
      Shape shape;
      for (const int k : order) shape.push_back(from.shape[static_cast<size_t>(k)]);
      const Node view{.kind = NodeKind::Permute, .dtype = from.dtype, .axes = order};
      const NodeId turned = add_like(view, shape, {written(array)}, from);
      copy = add_like({.kind = NodeKind::Cast, .dtype = from.dtype}, shape, {turned}, {.label = "copy"});
    }
    const Node view{.kind = NodeKind::Permute, .dtype = from.dtype, .axes = back};
    return add_like(view, from.shape, {copy}, from);
  }

  // A copy, and what reads it up to the sums.
  static std::vector<NodeId> behind(const Graph& graph, NodeId copy) {
    std::set<NodeId> nodes{copy};
    for (auto id = copy + 1; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
      const Node& node = graph.at(id);
      const bool reads = std::any_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
        return nodes.count(arg) > 0 && (arg == copy || graph.at(arg).kind != NodeKind::Reduce);
      });
      if (reads) nodes.insert(id);
    }
    return {nodes.begin(), nodes.end()};
  }

  struct Read {
    NodeId array, pad;
    int d;
  };
  const bool parts_;                // whether factors of f32 are taken apart
  std::map<NodeId, Read> readers_;  // of an array that is stored with a dimension last
  std::map<std::pair<NodeId, int>, NodeId> copies_;
};

}  // namespace

std::optional<StoredCopies> with_channels_last(const Graph& graph, const Options& options) {
  const bool chooses = options.fuse && options.depth == 0 && options.tuning == Tuning{};
  const schedule::Target& target = options.target;
  if (!chooses || !target.gpu || target.plain || target.compute < 80) return std::nullopt;
  std::optional<StoredCopies> made = ChannelsLast(graph, target.compute == 90).run();
  if (!made) return std::nullopt;
  Options with = options;
  with.splits = made->splits;
  const double own_us = predict(graph, make_plan(graph, options), options).us,
               us = predict(made->graph, make_plan(made->graph, with), with).us;
  if (us >= own_us) return std::nullopt;
  for (Split& split : made->splits) split.times_as_long = own_us / us;
  return made;
}

}  // namespace smelt::plan
