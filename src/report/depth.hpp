// How long a program takes as a function of how many operations its kernels may have at most: where
// fusing more stops to pay.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compile/compile.hpp"
#include "report/bench.hpp"
#include "report/style.hpp"

namespace smelt::report {

struct Depth {
  int limit = 0;    // operations that a kernel may have; 0: as many as the planner likes
  int longest = 0;  // that one has
  int kernels = 0;
  int64_t bytes = 0;          // that all kernels read and write
  int64_t spilled_bytes = 0;  // of a thread, the worst kernel's; GPU
  double predicted_ms = 0;    // by the cost model
  Summary measured_ms;        // of a call, the best of three rounds; on a GPU by its own clock, caches flushed before
};

struct Depths {
  std::vector<Depth> points;     // limit 1, 2, ... and last without a limit
  double operations_per_ms = 0;  // multiply-adds of 32 bits that the cost model holds this device to do
  size_t fastest() const;
  // The shortest kernels that come within 5 % of the fastest: beyond it returns diminish.
  size_t enough() const;
};

Depths measure_depths(const Graph& graph, const Machine& device, const CompileOptions& options,
                      const std::vector<Tensor>& inputs, const BenchOptions& bench_options);

std::string to_text(const Depths& depths, const Style& style);
nlohmann::ordered_json to_json(const Depths& depths);

}  // namespace smelt::report
