// Short reductions over what two arrays make together, each of which is broadcast along an axis of
// the other: the distances of all pairs of points, the nearest of some centroids. Few of the
// elements are read and many are computed, so each result is computed where it is needed:
//
//   sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)     x: [M, 3], y: [N, 3]     ->  one expression of M x N results
#include <algorithm>
#include <optional>
#include <set>

#include "graph/build_detail.hpp"
#include "graph/graph.hpp"
#include "graph/repeats.hpp"

namespace smelt {
namespace {

// Operations between such a reduction and the arrays: past these it is not looked for.
constexpr int kMostViewSteps = 256;

// Smaller products have each result evaluated where it is needed: terms, what one factor has alone,
// and multiplications.
constexpr int64_t kFewestTerms = 8, kFewestOfOne = 8, kSmallProduct = 1 << 14;

// Products of matrices with no more terms than these are as fast where they are needed: nothing of
// a tile is used often.
constexpr int64_t kFewTerms = 8;

// Terms of sums on a CPU that are reduced again: what a lane has of its own stays in registers.
constexpr int64_t kMostReducedAgain = 32;

// Rows of which a thread of a GPU has the whole: loops over them are written out.
constexpr int64_t kShortRow = 8;

// Which dimension of a node each dimension of the reduction's argument is; -1: the node is the same
// along it.
using Dimensions = std::vector<int>;

// What is read of each array, as far as elementwise operations and views lead.
class Leaves {
 public:
  explicit Leaves(const Graph& graph) : graph_(graph) {}

  // False when an operation on the way does not compute each of its elements alone.
  bool find(NodeId id, Dimensions dims) {
    if (--steps_ < 0) return false;
    const Node& node = graph_.at(id);
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Input: leaves.push_back(dims); return true;
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return find(arg, dims); });
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Reshape:
      case NodeKind::Slice: return through(node, dims) && find(node.args[0], dims);
      default: return false;
    }
  }

  std::vector<Dimensions> leaves;

 private:
  // The dimensions of what the view shows; false when a reshape leaves none of them recognizable.
  bool through(const Node& view, Dimensions& dims) const {
    const Shape& source = graph_.at(view.args[0]).shape;
    for (int& d : dims) {
      if (d < 0) continue;
      const auto before = static_cast<size_t>(d);
      if (view.kind == NodeKind::Permute) d = view.axes[before];
      if (view.kind == NodeKind::Reshape && (d = same_dimension(source, view.shape, before)) < 0) return false;
      if (view.kind == NodeKind::Broadcast) d = std::max(-1, d - static_cast<int>(view.shape.size() - source.size()));
      if (d >= 0 && source[static_cast<size_t>(d)].is(1)) d = -1;
    }
    return true;
  }

  const Graph& graph_;
  int steps_ = kMostViewSteps;
};

bool is_short(const Graph& graph, const Node& reduce, int64_t most) {
  int64_t elements = 1;
  for (const int axis : reduce.axes) {
    const auto size = graph.at(reduce.args[0]).shape[static_cast<size_t>(axis)].constant();
    if (!size || *size < 1 || (elements *= *size) > most) return false;
  }
  return true;
}

// Whether it reduces long windows that begin far from each other, as frames of a signal do:
// neighbouring results then share no lines of what they read, and each is better read along its
// window.
bool is_of_far_windows(const Graph& graph, const Node& reduce) {
  constexpr int64_t kFar = 64, kLong = 64;  // bytes between the first elements, elements
  const auto last = static_cast<int>(graph.at(reduce.args[0]).shape.size()) - 1;
  if (!std::count(reduce.axes.begin(), reduce.axes.end(), last) || is_short(graph, reduce, kLong - 1)) return false;
  bool found = false;
  std::vector<NodeId> todo{reduce.args[0]};
  for (int steps = 0; !todo.empty(); ++steps) {
    const Node& node = graph.at(todo.back());
    todo.pop_back();
    if (steps > kMostViewSteps) return false;
    if (node.kind == NodeKind::Window) {
      const auto along = static_cast<int>(graph.at(node.args[0]).shape.size()) - 1;
      const int64_t apart = node.steps.back() * size_of(node.dtype);
      if (node.axes.back() != along || node.dilation.back() != 1 || apart < kFar) return false;
      found = true;
    } else if (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast) {
      todo.insert(todo.end(), node.args.begin(), node.args.end());
    }
  }
  return found;
}

// Whether it adds up products of small floats, which are cast to f32 first: matrix units do that,
// from their own number of terms on.
bool is_product_of_halves(const Graph& graph, const Node& reduce) {
  constexpr int64_t kTerms = 16;
  const Node& product = graph.at(reduce.args[0]);
  if (reduce.reduce != ReduceKind::Sum || product.kind != NodeKind::Elementwise || product.op != Op::Mul ||
      is_short(graph, reduce, kTerms - 1))
    return false;
  return std::all_of(product.args.begin(), product.args.end(), [&](NodeId factor) {
    while (graph.at(factor).kind == NodeKind::Broadcast || graph.at(factor).kind == NodeKind::Reshape ||
           graph.at(factor).kind == NodeKind::Permute || graph.at(factor).kind == NodeKind::Window)
      factor = graph.at(factor).args[0];
    const Node& cast = graph.at(factor);
    return cast.kind == NodeKind::Cast && cast.dtype == DType::F32 && is_small_float(graph.at(cast.args[0]).dtype);
  });
}

// Whether it sums over an axis in words of 16 bytes, as over channels: matrix units get those by
// asynchronous copies, and elements of windows one by one.
bool sums_words(const Graph& graph, const Node& reduce) {
  constexpr int64_t kWord = 8, kFewest = 16;
  const Shape& shape = graph.at(reduce.args[0]).shape;
  return std::any_of(reduce.axes.begin(), reduce.axes.end(), [&](int axis) {
    const int64_t size = shape[static_cast<size_t>(axis)].constant().value_or(0);
    return size >= kFewest && size % kWord == 0;
  });
}

// Points of these dimensions; those that are not known are many.
int64_t points(const Shape& shape, const std::vector<int>& dims) {
  constexpr int64_t kMany = 1 << 20;
  int64_t n = 1;
  for (const int d : dims) n = std::min(kMany, n * shape[static_cast<size_t>(d)].constant().value_or(kMany));
  return n;
}

bool of_two_arrays(const Graph& graph, const Node& reduce) {
  const Shape& shape = graph.at(reduce.args[0]).shape;
  Dimensions own(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) own[d] = shape[d].is(1) ? -1 : static_cast<int>(d);
  Leaves found(graph);
  if (!found.find(reduce.args[0], own)) return false;
  const auto misses = [&](const Dimensions& leaf, bool reduced) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (std::count(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(d)) == reduced && own[d] >= 0 &&
          leaf[d] < 0)
        return true;
    return false;
  };
  const auto takes_part = [&](const Dimensions& leaf) { return !misses(leaf, true) && misses(leaf, false); };
  return found.leaves.size() > 1 &&
         std::all_of(found.leaves.begin(), found.leaves.end(), [&](const Dimensions& l) { return misses(l, false); }) &&
         std::count_if(found.leaves.begin(), found.leaves.end(), takes_part) > 1;
}

// The nodes that read each node.
std::vector<std::vector<NodeId>> readers_of(const Graph& graph) {
  std::vector<std::vector<NodeId>> readers(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId arg : graph.nodes[i].args) readers[static_cast<size_t>(arg)].push_back(static_cast<NodeId>(i));
  return readers;
}

// Sums over two arrays that are only reduced again, as the distance to the nearest of some points
// is: none of them is ever stored where each is computed where it is needed.
class ReducedAgain {
 public:
  explicit ReducedAgain(const Graph& graph)
      : graph_(graph), users_(readers_of(graph)), stored_(graph.outputs.begin(), graph.outputs.end()) {}

  bool has(NodeId id) const {
    std::vector<NodeId> waiting{id};
    std::set<NodeId> seen;
    while (!waiting.empty()) {
      const NodeId at = waiting.back();
      waiting.pop_back();
      if (!seen.insert(at).second) continue;
      if (stored_.count(at) || seen.size() > static_cast<size_t>(kMostViewSteps)) return false;
      for (const NodeId user : users_[static_cast<size_t>(at)]) {
        const Node& node = graph_.at(user);
        if (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast || node.kind == NodeKind::Reshape)
          waiting.push_back(user);
        else if (node.kind != NodeKind::Reduce)
          return false;
      }
    }
    return seen.size() > 1 || !users_[static_cast<size_t>(id)].empty();
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
  std::set<NodeId> stored_;
};

// Sums of short rows whose results are used one for each row, and which alone use what is computed
// of the rows: then nothing has to go along the rows.
class ShortRows {
 public:
  explicit ShortRows(const Graph& graph)
      : graph_(graph), users_(readers_of(graph)), stored_(graph.outputs.begin(), graph.outputs.end()) {}

  bool has(NodeId id) const {
    if (!reduces_short_row(id) || goes_back(id)) return false;
    std::vector<NodeId> waiting{graph_.at(id).args[0]};
    std::set<NodeId> seen;
    while (!waiting.empty()) {
      const NodeId at = waiting.back();
      waiting.pop_back();
      if (!seen.insert(at).second || graph_.at(at).shape.empty()) continue;
      if (seen.size() > static_cast<size_t>(kMostViewSteps) || !computes_elements(graph_.at(at))) return false;
      for (const NodeId arg : graph_.at(at).args) waiting.push_back(arg);
    }
    return std::all_of(seen.begin(), seen.end(), [&](NodeId at) {
      if (graph_.at(at).shape.empty()) return true;
      const std::vector<NodeId>& users = users_[static_cast<size_t>(at)];
      return !stored_.count(at) && std::all_of(users.begin(), users.end(), [&](NodeId user) {
        return seen.count(user) || reduces_short_row(user);
      });
    });
  }

 private:
  bool reduces_short_row(NodeId id) const {
    const Node& node = graph_.at(id);
    if (node.kind != NodeKind::Reduce) return false;
    const Node& argument = graph_.at(node.args[0]);
    return node.axes == std::vector<int>{static_cast<int>(argument.shape.size()) - 1} &&
           is_short(graph_, node, kShortRow) && !is_short(graph_, node, 1);
  }
  static bool computes_elements(const Node& node) {
    return node.kind == NodeKind::Input || node.kind == NodeKind::Constant || node.kind == NodeKind::SizeValue ||
           node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast || node.kind == NodeKind::Broadcast ||
           node.kind == NodeKind::Reshape;
  }
  // Whether what is computed from it has more elements than it.
  bool goes_back(NodeId id) const {
    std::vector<NodeId> waiting{id};
    std::set<NodeId> seen;
    while (!waiting.empty()) {
      const NodeId at = waiting.back();
      waiting.pop_back();
      if (!seen.insert(at).second) continue;
      if (graph_.at(at).kind == NodeKind::Broadcast || seen.size() > static_cast<size_t>(kMostViewSteps)) return true;
      for (const NodeId user : users_[static_cast<size_t>(at)])
        if (graph_.at(user).kind != NodeKind::Reduce) waiting.push_back(user);
    }
    return false;
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
  std::set<NodeId> stored_;
};

}  // namespace

// Terms of a sum of products, results, and rows and columns of these: axes of one factor alone.
struct SizesOfProduct {
  int64_t terms, all, own[2];
};

static std::optional<SizesOfProduct> sizes_of_product(const Graph& graph, const Node& reduce) {
  const Node& product = graph.at(reduce.args[0]);
  if (reduce.reduce != ReduceKind::Sum || product.kind != NodeKind::Elementwise || product.op != Op::Mul)
    return std::nullopt;
  const Shape& shape = product.shape;
  std::vector<int> own[2], all;
  for (size_t d = 0; d < shape.size(); ++d) {
    all.push_back(static_cast<int>(d));
    bool repeated[2];
    for (size_t s = 0; s < 2; ++s) {
      const Node& factor = graph.at(product.args[s]);
      if (factor.kind != NodeKind::Broadcast) return std::nullopt;
      repeated[s] = repeats_along(graph, factor, d);
    }
    if (repeated[0] != repeated[1]) own[repeated[0] ? 1 : 0].push_back(static_cast<int>(d));
  }
  return SizesOfProduct{points(shape, reduce.axes), points(shape, all), {points(shape, own[0]), points(shape, own[1])}};
}

bool is_dense_product(const Graph& graph, const Node& reduce) {
  const auto sizes = sizes_of_product(graph, reduce);
  return sizes && sizes->terms >= kFewestTerms && sizes->all >= kSmallProduct && sizes->own[0] >= kFewestOfOne &&
         sizes->own[1] >= kFewestOfOne;
}

// Whether it is of f32 and so large that matrix units, which multiply parts of the factors, are
// worth taking these apart.
static bool is_large_product_of_f32(const Graph& graph, const Node& reduce) {
  constexpr int64_t kTerms = 192, kFewestColumns = 48, kFewestRows = 1024;
  constexpr double kMultiplications = 1 << 28;
  const auto sizes = reduce.dtype == DType::F32 ? sizes_of_product(graph, reduce) : std::nullopt;
  return sizes && sizes->terms >= kTerms && std::min(sizes->own[0], sizes->own[1]) >= kFewestColumns &&
         std::max(sizes->own[0], sizes->own[1]) >= kFewestRows &&
         static_cast<double>(sizes->terms) * static_cast<double>(sizes->own[0]) * static_cast<double>(sizes->own[1]) >=
             kMultiplications;
}

Graph with_local_reductions(Graph graph, int64_t most, bool in_tiles, bool units, bool parts) {
  std::optional<ReducedAgain> reduced_again;
  std::optional<ShortRows> short_rows;
  if (in_tiles)
    reduced_again.emplace(graph);
  else
    short_rows.emplace(graph);  // lanes of a CPU go along rows, or across them
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const auto by_units = [&] {
      return sums_words(graph, node) &&
             ((units && is_product_of_halves(graph, node)) || (parts && is_large_product_of_f32(graph, node)));
    };
    if (node.local && is_dense_product(graph, node) && (in_tiles || by_units())) graph.nodes[i].local = false;
    if (node.local && is_of_far_windows(graph, node)) graph.nodes[i].local = false;
    if (short_rows && short_rows->has(static_cast<NodeId>(i))) graph.nodes[i].local = true;
    const bool again = reduced_again && node.kind == NodeKind::Reduce && reduced_again->has(static_cast<NodeId>(i));
    if (node.kind == NodeKind::Reduce && !node.local && is_short(graph, node, again ? kMostReducedAgain : most) &&
        !is_product_of_halves(graph, node) && (is_short(graph, node, kFewTerms) || !is_dense_product(graph, node)) &&
        of_two_arrays(graph, node))
      graph.nodes[i].local = true;
  }
  return graph;
}

}  // namespace smelt
