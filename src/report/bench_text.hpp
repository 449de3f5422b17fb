// Benchmark results as text and as a picture.
#pragma once

#include <string>
#include <vector>

#include "report/bench.hpp"
#include "report/style.hpp"

namespace smelt::report {

// The table of one size: unfused, fused, and what it was checked against.
std::string bench_table(const BenchTitle& title, const BenchResult& result, const Style& style);
// A row per size of `symbol`; `inputs` as in "x: f32[B,1024]".
std::string sweep_table(const BenchTitle& title, Symbol symbol, const std::vector<std::string>& inputs,
                        const std::vector<BenchResult>& results, const Style& style);
// An SVG bar chart of all sizes: time, bytes moved, bandwidth.
std::string bench_chart(const BenchTitle& title, const std::vector<BenchResult>& results);

}  // namespace smelt::report
