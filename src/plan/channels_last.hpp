// Images and weights of convolutions that matrix units multiply, stored with their channels last.
//
//   %1 = window %0 axes=[2, 3]         %1 = permute %0 order=[0, 2, 3, 1]
//   %2 = sum %1 * ..., channels   →    %2 = cast %1
//                                      %3 = permute %2 order=[0, 3, 1, 2]
//                                      %4 = window %3 axes=[2, 3]
//                                      ...
//
// Asynchronous copies take 16 bytes that lie together. Of an image with channels first those are
// neighbours along a line, and each place of the window begins at other bytes; channels are whole
// words wherever the window is.
#pragma once

#include <optional>

#include "plan/stored_copies.hpp"

namespace smelt::plan {

// Nothing without such convolutions, and where there are no matrix units.
std::optional<StoredCopies> with_channels_last(const Graph& graph, const Options& options);

}  // namespace smelt::plan
