// eval(): values become data, several in one plan.
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "api/specialize.hpp"
#include "graph/out_of_range.hpp"

namespace smelt {

namespace {

using detail::Data;
using detail::Needed;
using detail::Specializer;

// Compiled expressions by their structure, so that one in a loop is compiled once. Bounded; the one
// not used for longest goes.
class CompiledExpressions {
 public:
  std::shared_ptr<Specializer> at(const std::string& structure) {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(structure); found != places_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      return found->second->second;
    }
    Options options;
    options.name = "eval";
    recent_.emplace_front(structure, std::make_shared<Specializer>(std::move(options)));
    places_.emplace(structure, recent_.begin());
    if (recent_.size() > kMost) {
      places_.erase(recent_.back().first);
      recent_.pop_back();
    }
    return recent_.front().second;
  }

 private:
  static constexpr size_t kMost = 256;
  using Entry = std::pair<std::string, std::shared_ptr<Specializer>>;
  std::mutex mutex_;
  std::list<Entry> recent_;  // the latest first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
};

std::atomic<int> compile_count{0};

// The expressions of the process; never destroyed, since static arrays may be evaluated until the
// end.
CompiledExpressions& compiled_expressions() {
  static auto* compiled = new CompiledExpressions;
  return *compiled;
}

// The place in this program of the step that the compiled program has at `origin`; none where
// several steps there are at different places here.
Origin place_here(const Origin& origin, const std::vector<Origin>& compiled, const std::vector<Origin>& here) {
  const auto same = [](const Origin& a, const Origin& b) {
    return a.line == b.line && std::string_view(a.file ? a.file : "") == (b.file ? b.file : "");
  };
  std::optional<Origin> found;
  for (size_t s = 0; s < compiled.size(); ++s) {
    if (!same(compiled[s], origin)) continue;
    if (found && !same(*found, here[s])) return {};
    found = here[s];
  }
  return found.value_or(Origin{});
}

}  // namespace

int detail::eval_compile_count() { return compile_count.load(); }

void eval(const std::vector<Array>& values) {
  std::vector<Array> outputs;
  for (const Array& value : values)
    if (!detail::node_of(value, "eval()")->data()) outputs.push_back(value);
  if (outputs.empty()) return;
  const Needed needed = detail::needed_by(outputs);
  detail::Arguments arguments;
  for (const detail::NodePtr& node : needed.data) arguments.arrays.push_back(node->data());
  const auto build = [&](const std::vector<detail::InputType>& types, const std::vector<int>&) {
    return detail::Traced{detail::build_graph(needed, outputs, {}, {}, types), {}, detail::places_of(needed)};
  };
  const auto specials = compiled_expressions().at(detail::structure_of(needed, outputs));
  bool compiled = false;
  const detail::SpecialPtr special = specials->find(arguments, build, &compiled);
  compile_count += compiled;
  const std::vector<Array> results = [&] {
    try {
      return detail::run(*special, arguments);
    } catch (const OutOfRangeError& error) {
      throw error.at(place_here(error.origin(), special->places, detail::places_of(needed)));
    }
  }();
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Data& data = *results[o].node()->data();
    outputs[o].node()->evaluated(data);
  }
}

}  // namespace smelt
