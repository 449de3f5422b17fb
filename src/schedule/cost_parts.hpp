// What predictions for both kinds of target have in common. Internal to this folder.
#pragma once

#include <cmath>
#include <set>

#include "schedule/cost.hpp"
#include "schedule/parts.hpp"
#include "schedule/product.hpp"

namespace smelt::schedule {

inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }
inline double ceil_ratio(double a, double b) { return std::ceil(ratio(a, b)); }

// Whether the place of a read changes along some reduced (or kept) axis.
bool moves_along(const Domain& domain, const Read& read, bool reduced);
// Elements between those of neighbours along an axis, most of them; kAnywhere where the data names
// the places.
constexpr double kAnywhere = 1e9;
double stride_of(const Graph& graph, const Domain& domain, const SizeBinding& sizes, NodeId node, const Index& index,
                 Symbol var);
double array_bytes(const Graph& graph, const SizeBinding& sizes, NodeId node);
// Bytes of all reads and stores of a group, each once.
double group_bytes(const Graph& graph, const SizeBinding& sizes, const Group& group);

// Calls visit(factor, elements of a part, whether it lies along the inner axes).
template <class Visit>
void for_factors(const Product& p, const Visit& visit) {
  std::set<NodeId> seen;
  for (const ProductSum& sum : p.sums) {
    if (seen.insert(sum.rows).second)
      visit(sum.rows, static_cast<double>(p.tile_rows * p.tile_inner), p.rows_along_inner);
    if (seen.insert(sum.columns).second)
      visit(sum.columns, static_cast<double>(p.tile_columns * p.tile_inner), p.columns_along_inner);
  }
}

// cost_gpu.cpp
Cost predict_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
// cost_scatter.cpp
Cost predict_scatter_on_cpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
Cost predict_scatter_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
// cost_product_gpu.cpp
Cost predict_product_on_gpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
// The time to add up the parts that the inner axes are split in.
double us_of_adding_parts(const Graph& graph, const Schedule& schedule, const Options& options);
// cost_product_threads.cpp
// Cycles of a multiprocessor with so many resident workgroups for what follows from the sums of a
// tile.
double cycles_beyond_sums(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options,
                          double together);
Cost predict_product_of_threads(const Graph& graph, const Group& group, const Schedule& schedule,
                                const Options& options);
// cost_product.cpp
Cost predict_product(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
Cost predict_chain(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);
// cost_cpu.cpp
Cost predict_on_cpu(const Graph& graph, const Group& group, const Schedule& schedule, const Options& options);

}  // namespace smelt::schedule
