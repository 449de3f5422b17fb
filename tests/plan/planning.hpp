// Graphs, and the GPU and the CPU that tests of the planner plan for.
#pragma once

#include <string>

#include "frontends/language.hpp"
#include "plan/plan.hpp"

namespace smelt::plan {

inline Options for_gpu() {
  Options options;
  options.target = {"cuda", true, 132, 256, 0, 60 << 20, 0, 90, 227 << 10, true};
  return options;
}

inline Options for_cpu() {
  Options options;
  options.target.threads = 2;
  return options;
}

inline Graph graph_of(const std::string& program) { return simplify(lang::parse_program(program, "<test>")); }

}  // namespace smelt::plan
