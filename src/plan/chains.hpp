// Products of products (schedule/chain.hpp) that share what is between them: each gets it for
// itself.
//
//   %5 = sum of products             %5 = sum of products       %8 = sum of the same products
//   %6 = exp %5                 →    %6 = exp %5                %9 = exp %8
//   %7 = sum %6 * .., rows           %7 = sum %6 * .., rows     %10 = sum %9 * .., columns
//   %8 = sum %6 * .., columns
//
// Results of products that are as many as pairs of rows are not stored then. Gradients of attention
// are such: each of three products has the scores, or what follows from them, as a factor.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace smelt::plan {

// Nothing where there are none that share anything, and where there are no matrix units.
std::optional<Graph> with_chains_apart(const Graph& graph, const Options& options);

}  // namespace smelt::plan
