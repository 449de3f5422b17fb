// Sums of products, where the rules of their parts alone would cost more than they need.
#include <algorithm>
#include <optional>

#include "graph/gradient_detail.hpp"
#include "graph/softmax.hpp"
#include "graph/term.hpp"

namespace smelt::gradients {

using functions::Term;

namespace {

NodeId behind_views_and_casts(const GraphBuilder& b, NodeId id) {
  while (is_view(b.at(id).kind) || b.at(id).kind == NodeKind::Cast) id = b.at(id).args[0];
  return id;
}

// A sum along one axis of products: their multiplication; -1 for others.
NodeId multiplication_of(const GraphBuilder& b, NodeId id) {
  const Node& sum = b.at(id);
  const bool sums = sum.kind == NodeKind::Reduce && sum.reduce == ReduceKind::Sum && sum.axes.size() == 1;
  return sums && is_elementwise(b.at(sum.args[0]), Op::Mul) ? sum.args[0] : -1;
}

bool widens_bf16(const GraphBuilder& b, NodeId id) {
  const Node& cast = b.at(behind_views(b, id));
  return cast.kind == NodeKind::Cast && b.dtype(cast.args[0]) == DType::BF16;
}

// The sum over `of` times `along`, which multiplies nothing else, if the sweep has its cotangent.
NodeId sum_with(const Sweep& s, NodeId of, NodeId along) {
  for (NodeId id = of + 1; id < s.end(); ++id) {
    const NodeId product = multiplication_of(s.b, id);
    if (product < 0 || s.cotangent(id) < 0) continue;
    for (size_t k = 0; k < 2; ++k)
      if (s.arg(product, k) == along && behind_views_and_casts(s.b, s.arg(product, 1 - k)) == of) return id;
  }
  return -1;
}

// What the program rounds a sum to, in the dtype of the sum: that is stored in any case.
NodeId as_rounded(const Sweep& s, NodeId sum) {
  for (NodeId id = sum + 1; id < s.end(); ++id)
    if (s.b.at(id).kind == NodeKind::Cast && s.arg(id, 0) == sum && is_float(s.b.dtype(id)))
      return s.b.cast(id, s.b.dtype(sum));
  return sum;
}

}  // namespace

NodeId rounded_like_factors(GraphBuilder& b, NodeId product, NodeId g) {
  if (!is_elementwise(b.at(product), Op::Mul) || b.dtype(g) != DType::F32) return g;
  if (widens_bf16(b, g)) return g;
  const std::vector<NodeId> factors = b.at(product).args;
  if (!std::all_of(factors.begin(), factors.end(), [&](NodeId factor) { return widens_bf16(b, factor); })) return g;
  return b.cast(b.cast(g, DType::BF16), DType::F32);
}

// Whether every element of `to` is the one of `from` in the same row-major order, each perhaps
// several times in a row.
static bool keeps_order(const GraphBuilder& b, NodeId to, NodeId from) {
  for (; to != from; to = b.at(to).args[0]) {
    const NodeKind kind = b.at(to).kind;
    if (kind != NodeKind::Reshape && kind != NodeKind::Broadcast && kind != NodeKind::Cast) return false;
  }
  return true;
}

// For weights whose cotangent is sum over n of c[m, n] v[k, n], and o[m, n] = sum over k of
// weights[m, k] v[k, n]: the sum over k of cotangent times weights is that of c times o over n.
// Nothing where they are no such weights.
static std::optional<Term> sum_of_weights(const Sweep& s, NodeId weights, NodeId g) {
  GraphBuilder& b = s.b;
  const NodeId sum = behind_views_and_casts(b, g), product = multiplication_of(b, sum);
  if (product < 0) return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    const NodeId values = s.arg(product, k), results = sum_with(s, weights, values);
    if (results < 0) continue;
    const NodeId c = s.cotangent(results), of_results = multiplication_of(b, results);
    const NodeId held = s.arg(of_results, s.arg(of_results, 0) == values ? 1 : 0);
    if (behind_views_and_casts(b, s.arg(product, 1 - k)) != behind_views_and_casts(b, c)) continue;
    if (!keeps_order(b, held, weights)) continue;
    const int n = b.at(sum).axes[0], keys = b.at(results).axes[0];
    const Term both = Term(b, c) * Term(b, as_rounded(s, results));
    return Term(b, b.reduce(ReduceKind::Sum, both.id(), {n > keys ? n - 1 : n}, false));
  }
  return std::nullopt;
}

// What weights e / (sum of e along an axis) are made of: e, which is an exponential, and what
// divides or multiplies it, before it is repeated. Rows that are 0 may be divided by another
// number.
struct Softmax {
  NodeId exponentials, rows;
};
static std::optional<Softmax> softmax_of(const GraphBuilder& b, NodeId weights) {
  const Node& node = b.at(weights);
  const bool divides = is_elementwise(node, Op::Div);
  if (!divides && !is_elementwise(node, Op::Mul)) return std::nullopt;
  for (size_t k = divides ? 1 : 0; k < 2; ++k) {
    const NodeId e = node.args[1 - k];
    const Node& repeated = b.at(node.args[k]);
    if (!is_elementwise(b.at(e), Op::Exp) || repeated.kind != NodeKind::Broadcast) continue;
    const NodeId total = sum_of_exponentials(b, repeated.args[0], divides);
    if (total >= 0 && b.at(total).axes.size() == 1 && b.at(total).args[0] == e) return Softmax{e, repeated.args[0]};
  }
  return std::nullopt;
}

bool through_softmax(Sweep& s, NodeId id, NodeId g) {
  GraphBuilder& b = s.b;
  const auto softmax = softmax_of(b, id);
  if (!softmax || !s.wants(softmax->exponentials, 0)) return false;
  const auto sum = sum_of_weights(s, id, g);
  // One number to a row of weights.
  if (!sum || !(count(b.shape(sum->id())) == count(b.shape(softmax->rows)))) return false;
  const Term rows(b, b.reshape(sum->id(), b.shape(softmax->rows)));
  s.add(s.arg(softmax->exponentials, 0), (Term(b, id) * (Term(b, g) - rows)).id());
  return true;
}

}  // namespace smelt::gradients
