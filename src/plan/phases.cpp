#include "plan/phases.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "graph/graph_copy.hpp"
#include "plan/phase_forms.hpp"
#include "plan/predict.hpp"
#include "schedule/candidates.hpp"

namespace smelt::plan {
namespace {

// Nodes `from` to `end` of a program alone: with two arrays as inputs.
class Part : GraphCopy {
 public:
  explicit Part(const Graph& from) : GraphCopy(from) {}

  Graph run(NodeId end, const TransposedSum& sum) {
    std::vector<bool> needed(from_.nodes.size(), false);
    needed[static_cast<size_t>(end)] = true;
    const auto is_array = [&](NodeId id) { return id == sum.image.array || id == sum.weights.array; };
    for (NodeId id = end; id >= 0; --id)
      if (needed[static_cast<size_t>(id)] && !is_array(id))
        for (const NodeId arg : from_.at(id).args) needed[static_cast<size_t>(arg)] = true;
    NodeId id = -1;
    Graph made = copy([&](const Node& node) -> NodeId {
      ++id;
      if (!needed[static_cast<size_t>(id)]) return -1;
      if (!is_array(id)) return add_as_it_is(node);
      Node input{.kind = NodeKind::Input};
      input.dtype = node.dtype;
      input.name = id == sum.image.array ? "image" : "weights";
      return add_like(std::move(input), node.shape, {}, node);
    });
    made.inputs = {written(sum.image.array), written(sum.weights.array)};
    made.outputs = {written(end)};
    made.constraints.clear();
    return made;
  }
};

class Chooser : GraphCopy {
 public:
  Chooser(const Graph& graph, const Options& options, const std::function<Graph(Graph)>& finished)
      : GraphCopy(graph), options_(options), finished_(finished) {
    // The threads at hand do not decide: they must not change the order of sums.
    if (!options_.target.gpu) options_.target.threads = schedule::kThreadsOfACpu;
  }

  std::optional<Graph> run() {
    for (const auto& [id, sum] : find_transposed_sums(from_))
      if (const Graph* best = best_of(id, sum)) chosen_.emplace(id, Chosen{best, sum.image.array, sum.weights.array});
    if (chosen_.empty()) return std::nullopt;
    NodeId id = 0;
    return copy([&](const Node& node) {
      const auto found = chosen_.find(id++);
      return found == chosen_.end() ? add_as_it_is(node) : in_place_of(node, found->second);
    });
  }

 private:
  struct Chosen {
    const Graph* form;
    NodeId image, weights;
  };

  // The form that is predicted to take clearly less than the sum as it is.
  const Graph* best_of(NodeId id, const TransposedSum& sum) {
    std::vector<Graph> forms = forms_of(from_, id, sum);
    if (forms.empty()) return nullptr;
    const Graph own = finished_(simplify(Part(from_).run(id, sum)));
    const auto [known, fresh] = best_.try_emplace(print(own));
    if (!fresh) return known->second ? &*known->second : nullptr;
    const Plan own_plan = make_plan(own, options_);
    double least = 0;
    for (Graph& form : forms) {
      const Graph other = finished_(simplify(form));
      const Plan plan = make_plan(other, options_);
      const double us = predict(other, plan, options_).us;
      if (!is_faster(other, plan, own, own_plan, options_) || (known->second && us >= least)) continue;
      least = us;
      known->second = std::move(form);
    }
    return known->second ? &*known->second : nullptr;
  }

  NodeId in_place_of(const Node& sum, const Chosen& chosen) {
    std::vector<NodeId> ids;
    for (const Node& node : chosen.form->nodes) {
      if (node.kind == NodeKind::Input) {
        ids.push_back(written(ids.empty() ? chosen.image : chosen.weights));
        continue;
      }
      Node copied = node;
      for (NodeId& arg : copied.args) arg = ids[static_cast<size_t>(arg)];
      copied.origin = sum.origin;
      copied.label = sum.label;
      ids.push_back(add(std::move(copied)));
    }
    return ids[static_cast<size_t>(chosen.form->outputs[0])];
  }

  Options options_;
  const std::function<Graph(Graph)>& finished_;
  std::map<std::string, std::optional<Graph>> best_;  // by the text of a sum
  std::map<NodeId, Chosen> chosen_;
};

}  // namespace

std::optional<Graph> with_phases(const Graph& graph, const Options& options,
                                 const std::function<Graph(Graph)>& finished) {
  if (!compares_forms(graph, options)) return std::nullopt;
  std::optional<Graph> made = Chooser(graph, options, finished).run();
  return made ? std::optional(simplify(*made)) : std::nullopt;
}

}  // namespace smelt::plan
