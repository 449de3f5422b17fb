// What the kernels of a plan take, and what would change that, by the cost model that chooses
// schedules.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "schedule/cost.hpp"
#include "schedule/target_facts.hpp"

namespace smelt::plan {

struct Prediction {
  std::vector<std::optional<schedule::Cost>> kernels;  // of the plan; nothing for the user's own code
  schedule::TargetFacts facts;
  double us = 0;         // of the kernels that have a prediction
  bool complete = true;  // all have one
};

// For the sizes among the options.
Prediction predict(const Graph& graph, const Plan& plan, const Options& options);

// Whether other forms of the graph are planned too: the plan is the planner's own to choose, and
// two of them take little time.
bool compares_forms(const Graph& graph, const Options& options);
// Whether another form of a graph, planned so, is predicted to take clearly less. The threads at
// hand do not decide: they must not change the order of sums.
bool is_faster(const Graph& other, const Plan& other_plan, const Graph& graph, const Plan& plan, Options options);

// Two kernels that are not one.
struct Boundary {
  size_t first = 0, second = 0;    // of the plan
  std::vector<size_t> decisions;   // cut edges from the first to the second
  std::vector<size_t> read_again;  // inputs that both read
  double two_us = 0;
  std::optional<double> one_us;  // of one kernel, where there is a schedule for it
  // That one kernel saves: two_us - one_us, or at most so much, of one that moves the bytes once
  // and does the work of both.
  double gain_us = 0;
  bool avoidable = false;  // every remedy says what would change it
};
std::vector<Boundary> boundaries(const Graph& graph, const Plan& plan, const Options& options,
                                 const Prediction& prediction);

// Another schedule of a kernel, predicted to be faster than its own.
struct FasterSchedule {
  size_t kernel = 0;
  std::shared_ptr<const schedule::Schedule> schedule;
  double us = 0, own_us = 0;
};
// Faster schedules of the kernels that take longest; insignificant differences are left out.
std::vector<FasterSchedule> faster_schedules(const Graph& graph, const Plan& plan, const Options& options,
                                             const Prediction& prediction);

}  // namespace smelt::plan
