#include "plan/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "plan/isolate.hpp"

namespace smelt::plan {
namespace {

// Beside the time of a group that moves so much, that of a launch is nothing.
constexpr int64_t kLargeGroup = int64_t{1} << 30;
// Different forms of work in one launch of a GPU: each adds to the code, and all take the registers of the hungriest.
constexpr size_t kMostForms = 8;

class Batcher {
 public:
  Batcher(const Graph& graph, std::vector<FusionGroup> groups, const std::vector<std::string>& words,
          const Options& options)
      : graph_(graph), groups_(std::move(groups)), words_(words), options_(options) {
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId id : groups_[g].outputs) stored_by_[id] = g;
  }

  std::vector<FusionGroup> run() {
    find_levels();
    std::vector<size_t> leader(groups_.size());  // of each group: the first of its batch
    for (size_t g = 0; g < groups_.size(); ++g) leader[g] = g;
    for (const std::vector<size_t>& batch : batches())
      for (const size_t g : batch) leader[g] = batch[0];
    return ordered(leader);
  }

 private:
  // Groups of one level have no path between them.
  void find_levels() {
    level_.assign(groups_.size(), 0);
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId id : groups_[g].inputs)
        if (const auto from = stored_by_.find(id); from != stored_by_.end())
          level_[g] = std::max(level_[g], level_[from->second] + 1);
  }

  int64_t bytes(NodeId id) const {
    return element_count(evaluate(graph_.at(id).shape, options_.sizes)) * size_of(graph_.at(id).dtype);
  }

  // Values between groups wait longer when many groups make theirs first: they should still be in a cache then.
  int64_t waiting_bytes(const FusionGroup& group) const {
    int64_t total = 0;
    for (const NodeId id : group.outputs)
      if (!is_output_.count(id)) total += bytes(id);
    return total;
  }

  std::vector<std::vector<size_t>> batches() const {
    const int64_t cache = options_.target.gpu ? options_.target.l2_bytes : options_.target.l3_bytes;
    struct Open {
      std::vector<size_t> groups;
      std::set<std::string> forms;
      int64_t waiting = 0;
    };
    std::map<std::pair<int, std::string>, Open> open;
    std::vector<std::vector<size_t>> done;
    const auto close = [&](Open& batch) {
      if (batch.groups.size() > 1) done.push_back(std::move(batch.groups));
      batch = {};
    };
    for (size_t g = 0; g < groups_.size(); ++g) {
      int64_t moved = 0;
      for (const NodeId id : groups_[g].inputs) moved += bytes(id);
      for (const NodeId id : groups_[g].outputs) moved += bytes(id);
      if (words_[g].empty() || moved > kLargeGroup) continue;
      Open& batch = open[{level_[g], words_[g]}];
      const int64_t waiting = waiting_bytes(groups_[g]);
      std::string form = isolate(graph_, groups_[g], true).key;
      const bool full = options_.target.gpu && batch.forms.size() == kMostForms && !batch.forms.count(form);
      if (full || (batch.waiting + waiting > cache / 2 && waiting > 0)) close(batch);
      batch.groups.push_back(g);
      batch.forms.insert(std::move(form));
      batch.waiting += waiting;
    }
    for (auto& [key, batch] : open) close(batch);
    return done;
  }

  // Every batch when all that its parts read is stored; else in the order that there was.
  std::vector<FusionGroup> ordered(const std::vector<size_t>& leader) const {
    std::vector<std::vector<size_t>> members(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g) members[leader[g]].push_back(g);
    std::vector<size_t> waits(groups_.size(), 0);  // of leaders: units that must run before
    std::vector<std::set<size_t>> before(groups_.size());
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId id : groups_[g].inputs)
        if (const auto from = stored_by_.find(id); from != stored_by_.end() && leader[from->second] != leader[g])
          before[leader[from->second]].insert(leader[g]);
    for (const std::set<size_t>& readers : before)
      for (const size_t reader : readers) ++waits[reader];
    std::set<size_t> ready;
    for (size_t g = 0; g < groups_.size(); ++g)
      if (leader[g] == g && waits[g] == 0) ready.insert(g);
    std::vector<FusionGroup> result;
    while (!ready.empty()) {
      const size_t g = *ready.begin();
      ready.erase(ready.begin());
      result.push_back(united(members[g]));
      for (const size_t reader : before[g])
        if (--waits[reader] == 0) ready.insert(reader);
    }
    return result;
  }

  FusionGroup united(const std::vector<size_t>& members) const {
    if (members.size() == 1) return groups_[members[0]];
    FusionGroup batch;
    std::set<NodeId> nodes, outputs, inputs;
    std::set<std::string> forms;
    for (const size_t g : members) {
      const FusionGroup& part = groups_[g];
      nodes.insert(part.nodes.begin(), part.nodes.end());
      outputs.insert(part.outputs.begin(), part.outputs.end());
      inputs.insert(part.inputs.begin(), part.inputs.end());
      batch.parts.push_back(part);
    }
    batch.nodes.assign(nodes.begin(), nodes.end());
    batch.outputs.assign(outputs.begin(), outputs.end());
    batch.inputs.assign(inputs.begin(), inputs.end());
    batch.strategy = Strategy::Batch;
    batch.schedule_note = fmt::format("{} independent {} kernels in one launch; the first: {}", members.size(),
                                      name_of(batch.parts[0].strategy), batch.parts[0].schedule_note);
    return batch;
  }

  const Graph& graph_;
  std::vector<FusionGroup> groups_;
  const std::vector<std::string>& words_;
  const Options& options_;
  std::unordered_map<NodeId, size_t> stored_by_;
  std::set<NodeId> is_output_{graph_.outputs.begin(), graph_.outputs.end()};
  std::vector<int> level_;
};

}  // namespace

std::vector<FusionGroup> batch_groups(const Graph& graph, std::vector<FusionGroup> groups,
                                      const std::vector<std::string>& words, const Options& options) {
  return Batcher(graph, std::move(groups), words, options).run();
}

}  // namespace smelt::plan
