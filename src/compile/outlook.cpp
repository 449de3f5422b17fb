// What the cost model says of a plan, for those who want to know what to change.
#include "compile/compile.hpp"
#include "compile/state.hpp"

namespace smelt {

static plan::Options options_for(const Executable::State& state, const SizeBinding& sizes) {
  plan::Options options = state.target;
  options.sizes = sizes;
  return options;
}

plan::Prediction Executable::predicted(const SizeBinding& sizes) const {
  return plan::predict(state_->graph, state_->plan, options_for(*state_, sizes));
}

Outlook Executable::outlook(const SizeBinding& sizes) const {
  const Graph& graph = state_->graph;
  const plan::Options options = options_for(*state_, sizes);
  Outlook outlook;
  outlook.own = plan::predict(graph, state_->plan, options);
  outlook.fuses = options.fuse;
  plan::Options other = options;
  other.fuse = !options.fuse;
  const Graph of_other = other.fuse ? graph : merge_equal_nodes(graph);
  const double us = plan::predict(of_other, plan::make_plan(of_other, other), other).us;
  outlook.unfused_us = options.fuse ? us : outlook.own.us;
  outlook.fused_us = options.fuse ? outlook.own.us : us;
  if (options.fuse) outlook.boundaries = plan::boundaries(graph, state_->plan, options, outlook.own);
  outlook.faster = plan::faster_schedules(graph, state_->plan, options, outlook.own);
  return outlook;
}

plan::Plan Executable::unfused_plan(const SizeBinding& sizes) const {
  plan::Options options = options_for(*state_, sizes);
  options.fuse = false;
  return plan::make_plan(state_->graph, options);
}

std::vector<plan::ReplayState> Executable::replay(const SizeBinding& sizes, size_t most) const {
  return plan::replay(state_->graph, state_->plan, options_for(*state_, sizes), most);
}

}  // namespace smelt
