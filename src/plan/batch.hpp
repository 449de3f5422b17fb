// Horizontal fusion: independent groups of like kind become the parts of one launch.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace smelt::plan {

// What one launch does for several groups. Groups that do the same share a form: a program of its
// own, with a schedule for all of the work that the parts of this form have together.
struct Batch {
  struct Form {
    Graph graph;
    schedule::Group group;  // within `graph`
    std::shared_ptr<const schedule::Schedule> schedule;
  };
  struct Part {
    int form = 0;
    std::vector<NodeId> original;                   // per node of the form's graph; -1: only there
    std::vector<std::pair<Symbol, IntExpr>> sizes;  // the form's symbols, and what of the program they are
  };
  std::vector<Form> forms;
  std::vector<Part> parts;
};

// Groups in the order of execution, each with its word (schedule::batch_word). The result is in an
// order of execution too.
std::vector<FusionGroup> batch_groups(const Graph& graph, std::vector<FusionGroup> groups,
                                      const std::vector<std::string>& words, const Options& options);

// The groups of a plan, those that one launch runs side by side one by one.
std::vector<const FusionGroup*> one_by_one(const Plan& plan);

}  // namespace smelt::plan
