// What the texts of an explanation share. Internal to this folder.
#pragma once

#include <optional>

#include "report/explain.hpp"

namespace smelt::report {

int64_t total_bytes(const Explanation& e, const std::vector<NodeId>& values);
// The measured time of a schedule, for the one that runs that of its kernel; nothing: not measured.
std::optional<double> measured_us(const Explanation& e, size_t kernel, const Considered& c);
// What the cost model says of a kernel; nothing where it says nothing.
std::optional<schedule::Cost> predicted(const Explanation& e, size_t kernel);
// Compared with one kernel per operation.
double speedup(const Outlook& outlook);
std::string label_of(const Node& node);
std::string microseconds(double us, int digits = 3);  // "12.3 µs"
// A change that the cost model predicts to gain a twentieth of the time or more; the most first.
struct Advice {
  std::string what;  // "make one kernel of kernels 1 and 2 (what allows it: ...)"
  std::string kind;  // "boundary", "schedule", "fusion"
  std::vector<size_t> kernels;
  double gain_us = 0;
};
std::vector<Advice> advice(const Explanation& e);

std::string summary_text(const Explanation& e, const Style& style);
// Where the plan is cut; with `all` every edge.
std::string edges_text(const Explanation& e, const Style& style);

}  // namespace smelt::report
