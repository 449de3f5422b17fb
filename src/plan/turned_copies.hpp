// Arrays that are stored in the order in which rows read them, where the cost model predicts that
// to be much faster. A CPU only.
//
//   %1 = permute %0             %1 = permute %0
//   %2 = max %1 axes=[1]   →    %2 = cast %1
//   ...                         %3 = max %2 axes=[1]
//
// A row whose elements lie in lines of their own takes a line for each of them, in every pass over
// it; a copy transposes tiles.
#pragma once

#include <optional>

#include "plan/stored_copies.hpp"

namespace smelt::plan {

// Nothing where the graph does best as it is.
std::optional<StoredCopies> with_turned_copies(const Graph& graph, const Options& options);

}  // namespace smelt::plan
