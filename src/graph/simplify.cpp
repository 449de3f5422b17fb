// Why: builders write graphs plainly (a constant per literal, a broadcast per use), and the planner
// wants them small. Before: %2 = constant f32 1, %3 = broadcast f32[B] %2, %4 = multiply f32[B] %0
// %3, return %4 After:  return %0
#include <algorithm>

#include "base/check.hpp"
#include "graph/custom_code.hpp"
#include "graph/simplify_detail.hpp"

namespace smelt {

namespace simplifying {

namespace {

constexpr Rule kRules[] = {
    {"fold constants", fold_constants},
    {"drop identities", drop_identities},
    {"cancel pairs", cancel_pairs},
    {"absorb negation", absorb_negation},
    {"expand powers", expand_powers},
    {"divide by powers of two", divide_by_powers_of_two},
    {"decide choices", decide_choices},
    {"merge casts", merge_casts},
    {"move uniforms", move_uniforms},
    {"drop still movement", drop_still_movement},
    {"merge movement", merge_movement},
    {"sink unit axes", sink_unit_axes},
    {"sink casts", sink_casts},
    {"slice ranges", slice_ranges},
    {"reduce without padding", reduce_without_padding},
    {"reduce in order", reduce_in_order},
    {"join patterns", join_patterns},
};

// A rule's result is simplified again; no chain of rules is anywhere near as long as this.
constexpr int kMaxDepth = 64;

void append(std::string& key, const void* bytes, size_t n) { key.append(static_cast<const char*>(bytes), n); }

template <class T>
void append(std::string& key, const T& value) {
  append(key, &value, sizeof value);
}

void append(std::string& key, const std::vector<IntExpr>& list) {
  append(key, list.size());
  for (const IntExpr& e : list) key += e.str(), key += ';';
}

template <class T>
void append(std::string& key, const std::vector<T>& list) {
  append(key, list.size());
  append(key, list.data(), list.size() * sizeof(T));
}

// Equal keys mean equal values.
std::string key_of(const Node& node) {
  std::string key;
  append(key, node.kind);
  append(key, node.op);
  append(key, node.precision);
  append(key, node.reduce);
  append(key, node.wrap);
  append(key, node.gather);
  append(key, node.draw);
  append(key, node.scatter);
  append(key, node.atomic);
  append(key, node.along);
  append(key, node.reverse);
  append(key, node.exclusive);
  append(key, node.dtype);
  append(key, node.shape);
  append(key, node.args);
  append(key, node.axes);
  append(key, node.starts);
  append(key, node.steps);
  append(key, node.dilation);
  append(key, node.extend);
  append(key, node.custom ? node.custom->code.get() : nullptr);
  append(key, node.result);
  if (node.kind == NodeKind::Constant) {
    // All nans are one; -0 has its own bits.
    const double f = node.constant.f == node.constant.f ? node.constant.f : __builtin_nan("");
    append(key, f);
    append(key, node.constant.i);
    append(key, node.constant.u);
  }
  if (node.kind == NodeKind::SizeValue) key += node.size.str();
  return key;
}

bool moves(NodeKind kind) { return is_view(kind); }

}  // namespace

const Scalar* Rewriter::uniform(NodeId id) const {
  const NodeId constant = uniform_[static_cast<size_t>(id)];
  return constant < 0 ? nullptr : &at(constant).constant;
}

bool Rewriter::is_uniform(NodeId id, int value) const {
  const Scalar* s = uniform(id);
  return s && *s == Scalar::of_int(s->dtype, value) && convert(*s, DType::I64).i == value;
}

NodeId Rewriter::intern(Node node) {
  if (node.kind == NodeKind::Custom && !node.custom->code->pure)
    return input(std::move(node));  // every call of it counts
  const auto [place, fresh] = known_.try_emplace(key_of(node), static_cast<NodeId>(nodes_.size()));
  if (!fresh) return place->second;
  const NodeId id = place->second;
  uniform_.push_back(node.kind == NodeKind::Constant ? id
                     : moves(node.kind)              ? uniform_[static_cast<size_t>(node.args[0])]
                                                     : -1);
  nodes_.push_back(std::move(node));
  return id;
}

NodeId Rewriter::input(Node node) {
  uniform_.push_back(-1);
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId Rewriter::emit(Node node) {
  if (depth_ < kMaxDepth) {
    ++depth_;
    for (const Rule& rule : kRules)
      if (const auto replacement = rule.apply(*this, node)) {
        --depth_;
        const Node& r = at(*replacement);
        SMELT_CHECK(r.dtype == node.dtype && r.shape == node.shape, "simplify: {} made {}{} of {}{}", rule.name,
                    name_of(r.dtype), str(r.shape), name_of(node.dtype), str(node.shape));
        return *replacement;
      }
    --depth_;
  }
  return intern(std::move(node));
}

NodeId Rewriter::emit_uniform(const Scalar& value, const Shape& shape, const Node& like) {
  Node node{.kind = NodeKind::Constant};
  node.dtype = value.dtype;
  node.constant = value;
  node.origin = like.origin;
  node.label = like.label;
  NodeId id = intern(node);
  const auto view = [&](NodeKind kind, const Shape& to) {
    if (at(id).shape == to) return;
    Node moved{.kind = kind};
    moved.dtype = value.dtype;
    moved.shape = to;
    moved.args = {id};
    moved.origin = like.origin;
    moved.label = like.label;
    id = intern(std::move(moved));
  };
  view(NodeKind::Reshape, Shape(shape.size(), 1));
  view(NodeKind::Broadcast, shape);
  return id;
}

NodeId Rewriter::emit_elementwise(Op op, std::vector<NodeId> args, const Node& node) {
  Node made{.kind = NodeKind::Elementwise};
  made.op = op;
  made.dtype = result_type(op, at(args.back()).dtype);
  made.shape = node.shape;
  made.args = std::move(args);
  made.origin = node.origin;
  made.label = node.label;
  return emit(std::move(made));
}

NodeId Rewriter::emit_like(NodeKind kind, NodeId arg, const Node& node) {
  Node made = node;
  made.kind = kind;
  made.args = {arg};
  return emit(std::move(made));
}

}  // namespace simplifying

namespace {

using simplifying::Rewriter;

// One walk in order: every node is rewritten once its arguments are. Without rules equal nodes
// become one.
Graph rewrite(const Graph& graph, bool by_rules = true) {
  Rewriter rewriter;
  std::vector<NodeId> replaced_by;
  Graph result;
  for (const Node& node : graph.nodes) {
    Node copy = node;
    for (NodeId& arg : copy.args) arg = replaced_by[static_cast<size_t>(arg)];
    replaced_by.push_back(node.kind == NodeKind::Input ? rewriter.input(std::move(copy))
                          : by_rules                   ? rewriter.emit(std::move(copy))
                                                       : rewriter.intern(std::move(copy)));
  }
  for (NodeId id : graph.inputs) result.inputs.push_back(replaced_by[static_cast<size_t>(id)]);
  for (NodeId id : graph.outputs) result.outputs.push_back(replaced_by[static_cast<size_t>(id)]);
  result.nodes = rewriter.take();
  result.constraints = graph.constraints;
  result.source = graph.source;
  return result;
}

Graph without_unused(Graph graph) {
  drop_unused(graph);
  return graph;
}

}  // namespace

std::vector<NodeId> drop_unused(Graph& graph) {
  std::vector<bool> needed(graph.nodes.size());
  for (NodeId id : graph.inputs) needed[static_cast<size_t>(id)] = true;
  for (NodeId id : graph.outputs) needed[static_cast<size_t>(id)] = true;
  for (size_t id = graph.nodes.size(); id-- > 0;)
    if (needed[id])
      for (NodeId arg : graph.nodes[id].args) needed[static_cast<size_t>(arg)] = true;

  std::vector<NodeId> renamed(graph.nodes.size(), -1);
  std::deque<Node> kept;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id]) continue;
    renamed[id] = static_cast<NodeId>(kept.size());
    kept.push_back(std::move(graph.nodes[id]));
    for (NodeId& arg : kept.back().args) arg = renamed[static_cast<size_t>(arg)];
  }
  graph.nodes = std::move(kept);
  for (NodeId& id : graph.inputs) id = renamed[static_cast<size_t>(id)];
  for (NodeId& id : graph.outputs) id = renamed[static_cast<size_t>(id)];
  return renamed;
}

Graph merge_equal_nodes(const Graph& graph) { return rewrite(graph, false); }

Graph simplify(const Graph& graph) {
  // Rules see simple arguments only, so one walk nearly always ends it; the second shows that it
  // did.
  constexpr int kMaxWalks = 4;
  Graph simple = without_unused(graph);
  for (int walk = 0; walk < kMaxWalks; ++walk) {
    const size_t before = simple.nodes.size();
    simple = without_unused(rewrite(simple));
    if (simple.nodes.size() == before) break;
  }
  return without_unused(join_reductions(std::move(simple)));
}

}  // namespace smelt
