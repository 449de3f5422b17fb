#include "plan/rolls.hpp"

#include <algorithm>

#include "plan/predict.hpp"

namespace smelt::plan {

std::optional<Graph> with_rolls_in_stencils(const Graph& graph, const Options& options) {
  if (!compares_forms(graph, options)) return std::nullopt;
  std::optional<Graph> continued = with_rolls_continued(graph);
  if (!continued) return std::nullopt;
  continued = simplify(*continued);
  const Plan plan = make_plan(graph, options), other = make_plan(*continued, options);
  // A single step gains nothing: its ranges are predicted slower than they are.
  const bool in_stencils = std::any_of(other.groups.begin(), other.groups.end(), [](const FusionGroup& group) {
    return group.parts.empty() && group.strategy() == Strategy::Stencil;
  });
  if (!in_stencils || other.groups.size() >= plan.groups.size()) return std::nullopt;
  return is_faster(*continued, other, graph, plan, options) ? continued : std::nullopt;
}

}  // namespace smelt::plan
