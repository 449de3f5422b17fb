// Sizes that are better known than left open: those of short last axes, as of colours, coordinates
// or classes. Lanes of a vector go over several rows of such an axis; with its length known each
// has a place there that is a constant, without it every lane divides and reads on its own.
#pragma once

#include "graph/graph.hpp"

namespace smelt {

// The longest axis that is short.
inline constexpr int64_t kLongestShort = 16;

// 0 and 1 are none: they stand for arrays that are empty, or repeated.
constexpr bool is_short(int64_t size) { return size >= 2 && size <= kLongestShort; }

// Those of `sizes` that are short, of symbols that are alone for the last axis of an input of
// rank 2 or more.
SizeBinding short_sizes(const Graph& graph, const SizeBinding& sizes);

// The program for calls that have these sizes.
Graph with_sizes(const Graph& graph, const SizeBinding& sizes);

}  // namespace smelt
