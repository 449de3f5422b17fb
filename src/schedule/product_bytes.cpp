// Products of integers of 8 bits: which these are, and whether 32 bits hold their sums.
#include <algorithm>
#include <limits>

#include "schedule/product.hpp"

namespace smelt::schedule {

std::optional<std::pair<DType, DType>> bytes_of_factors(const Graph& graph, const Group& group,
                                                        const Product& product) {
  std::optional<DType> sides[2];
  for (const ProductSum& sum : product.sums)
    for (const bool columns : {false, true}) {
      NodeId factor = columns ? sum.columns : sum.rows;
      const DType to = graph.at(factor).dtype;
      if (!is_int(to) || size_of(to) < 4) return std::nullopt;
      const auto passes = [&](const Node& node) {
        if (is_view(node.kind)) return true;
        return node.kind == NodeKind::Cast && is_int(graph.at(node.args[0]).dtype) &&
               is_wider(graph.at(node.args[0]).dtype, node.dtype) &&
               std::binary_search(group.nodes.begin(), group.nodes.end(), factor);
      };
      while (passes(graph.at(factor))) factor = graph.at(factor).args[0];
      const DType from = graph.at(factor).dtype;
      if (size_of(from) != 1 || !is_int(from) || from != sides[columns].value_or(from)) return std::nullopt;
      sides[columns] = from;
    }
  return std::pair(*sides[0], *sides[1]);
}

// Whether all that reads the sum are casts to integers of at most 32 bits, which wrap.
static bool keeps_low_bits(const Graph& graph, NodeId sum) {
  const auto reads = [&](const Node& node) { return std::count(node.args.begin(), node.args.end(), sum) > 0; };
  const auto keeps = [](const Node& node) {
    return node.kind == NodeKind::Cast && node.wrap && is_int(node.dtype) && size_of(node.dtype) <= 4;
  };
  return std::count(graph.outputs.begin(), graph.outputs.end(), sum) == 0 &&
         std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return !reads(n) || keeps(n); });
}

bool terms_fit(const Domain& domain, const Product& product, const std::pair<DType, DType>& bytes, int64_t integers) {
  const auto largest = [](DType t) -> int64_t { return t == DType::U8 ? 255 : 128; };
  const auto terms = count_of(domain, product.inner).constant();
  return terms && *terms <= integers / (largest(bytes.first) * largest(bytes.second));
}

bool sums_fit(const Graph& graph, const Domain& domain, const Product& product, const std::pair<DType, DType>& bytes) {
  const bool fit = terms_fit(domain, product, bytes, std::numeric_limits<int32_t>::max());
  return std::all_of(product.sums.begin(), product.sums.end(), [&](const ProductSum& sum) {
    const DType t = graph.at(sum.node).dtype;
    return t == DType::I32 || (t == DType::I64 && (fit || keeps_low_bits(graph, sum.node)));
  });
}

}  // namespace smelt::schedule
