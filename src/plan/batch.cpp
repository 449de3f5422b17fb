#include "plan/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/check.hpp"
#include "plan/isolate.hpp"

namespace smelt::plan {
namespace {

// The time of a launch is negligible for a group that moves so much.
constexpr int64_t kLargeGroup = int64_t{1} << 30;
// Different forms of work in one launch of a GPU: each adds to the code, and all take the registers
// of the one that needs most.
constexpr size_t kMostForms = 8;

// On a GPU every workgroup looks its part up first. Longer ones do that less often: as long as
// together they fill the GPU once, a thread has no more under way than its registers take, and a
// part has some workgroups.
constexpr int kThreadsPerProcessor = 2048, kMostUnroll = 4;
constexpr int64_t kBytesUnderWay = 64;

// 1: as it is.
int unroll_of_part(const Graph& graph, const schedule::Schedule& s, int64_t parts, const Target& target) {
  if (!target.gpu || s.strategy != Strategy::Pointwise || s.unroll != 1) return 1;
  const int64_t points = s.domain.estimate(false);
  int64_t bytes = 0;  // that a thread reads at a time
  for (const schedule::Read& read : s.domain.reads)
    if (!graph.at(read.node).shape.empty()) bytes += s.lanes * size_of(graph.at(read.node).dtype);
  const int64_t resident = int64_t{target.threads} * kThreadsPerProcessor * s.lanes;
  int unroll = 1;
  while (2 * unroll <= kMostUnroll && 10 * points >= 9 * resident * 2 * unroll &&
         bytes * 2 * unroll <= kBytesUnderWay && points / parts >= 4 * s.tile * 2 * unroll)
    unroll *= 2;
  return unroll;
}

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

  // Values between groups wait longer when many groups make theirs first: they should still be in a
  // cache then.
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
    batch.batch = std::make_shared<const Batch>(forms_of(batch.parts));
    return batch;
  }

  Batch forms_of(const std::vector<FusionGroup>& parts) const {
    Batch batch;
    std::map<std::string, int> form_of;
    std::vector<SizeBinding> sizes;  // of a form: what all of its parts have together
    std::vector<int64_t> count;
    for (const FusionGroup& part : parts) {
      Isolated alone = isolate(graph_, part, true);
      const auto [known, fresh] = form_of.try_emplace(alone.key, static_cast<int>(batch.forms.size()));
      const auto form = static_cast<size_t>(known->second);
      if (fresh) {
        batch.forms.push_back({std::move(alone.graph), std::move(alone.group), nullptr});
        sizes.emplace_back();
        count.push_back(0);
      }
      ++count[form];
      for (const auto& [symbol, size] : alone.sizes) sizes[form][symbol] += size.evaluate(options_.sizes);
      batch.parts.push_back({known->second, std::move(alone.original), std::move(alone.sizes)});
    }
    for (size_t f = 0; f < batch.forms.size(); ++f) {
      Batch::Form& form = batch.forms[f];
      schedule::Options options = options_;
      for (const auto& [symbol, size] : sizes[f]) options.sizes[symbol] = size;
      const auto scheduled = [&] {
        auto made = schedule::make_schedule(form.graph, form.group, options);
        SMELT_CHECK(std::holds_alternative<schedule::Schedule>(made), "a part of a batch has no schedule of its own");
        return std::make_shared<const schedule::Schedule>(std::get<schedule::Schedule>(std::move(made)));
      };
      form.schedule = scheduled();
      options.tuning.unroll = unroll_of_part(form.graph, *form.schedule, count[f], options.target);
      if (options.tuning.unroll > 1) form.schedule = scheduled();
    }
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

std::vector<const FusionGroup*> one_by_one(const Plan& plan) {
  std::vector<const FusionGroup*> groups;
  for (const FusionGroup& group : plan.groups) {
    if (group.parts.empty()) groups.push_back(&group);
    for (const FusionGroup& part : group.parts) groups.push_back(&part);
  }
  return groups;
}

}  // namespace smelt::plan
