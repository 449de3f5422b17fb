// The walk from the outputs of a group to what it reads, at the index at which each value is
// needed.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/check.hpp"
#include "schedule/domain_place.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/proofs.hpp"
#include "schedule/stencil.hpp"

namespace smelt::schedule {
namespace {

// Operations that a kernel does at other indices again, weighed by what each takes, that are worth
// their code.
constexpr int64_t kMostRepeatedWork = 1500;
// The text of a node and an index. Indices that are mirrored double at every level.
constexpr size_t kLongestIndex = 4000;

// Where rings may keep a value, it is evaluated once for all places that differ by constants
// (stencil.cpp). Of so many of these the walk sees what the others request too.
constexpr int kMostPlaces = 64;

// The divisor of a remainder; 1: something else.
int64_t remainder_by(const IntExpr& e) {
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return 1;
  const IntExpr::Atom& atom = *e.terms()[0].atoms[0];
  return atom.kind == AtomKind::Mod ? atom.b.constant().value_or(1) : 1;
}

// The share of places that lie under these guards, as far as the guards say: inserted zeros leave
// one remainder of several.
double share_under(const std::vector<Guard>& guards) {
  double share = 1;
  for (const Guard& guard : guards)
    if (const int64_t by = remainder_by(guard.value), extent = guard.extent.constant().value_or(by); extent < by)
      share *= static_cast<double>(extent) / static_cast<double>(by);
  return share;
}

Index without_constants(const Index& index) {
  Index result;
  for (const IntExpr& i : index) result.push_back(without_constant(i));
  return result;
}

// An index, once for all nodes that are needed there.
struct At {
  Index index;
  size_t length = 0;                  // of its text
  mutable const At* apart = nullptr;  // the same without constants, once it was asked for
};

// A node at an index, under guards.
struct Evaluation {
  NodeId node;
  const At* at;
  int guards = 0;
  bool operator==(const Evaluation&) const = default;
};
struct EvaluationHash {
  size_t operator()(const Evaluation& e) const {
    const size_t mixed = (static_cast<size_t>(e.node) << 20) ^ static_cast<size_t>(e.guards);
    return std::hash<const At*>()(e.at) ^ (mixed * 0x9e3779b97f4a7c15ULL);
  }
};

class Walk : Refusing {
 public:
  Walk(const Graph& graph, const Group& group, const SizeBinding& sizes, Placed placed)
      : graph_(graph),
        group_(group),
        members_(std::move(placed.members)),
        inputs_(std::move(placed.inputs)),
        domain_(std::move(placed.domain)),
        result_index_(std::move(placed.result_index)),
        sizes_(sizes),
        windows_(graph, members_, sizes) {}

  std::variant<Domain, Refusal> run() {
    at_points_ = domain_.stores_components();
    under_guards_ = at_points_ || !may_have_rings(domain_) ||
                    std::any_of(group_.nodes.begin(), group_.nodes.end(), [&](NodeId id) { return at(id).local; });
    if (!visit_all()) return why();
    domain_.overlap = windows_.overlap();
    domain_.broadcast = windows_.broadcast();
    return std::move(domain_);
  }

 private:
  bool member(NodeId id) const { return members_.count(id) > 0; }
  const Node& at(NodeId id) const { return graph_.at(id); }

  // What is still to be walked: a list of our own, since a kernel of thousands of operations in a
  // row is deeper than a stack should be.
  struct Visit {
    NodeId node;
    const At* at;
    int level;
    Overlap overlap = {};
    int guards = 0;  // a number of those that are before it
  };

  // Equal indices are one.
  const At* at_index(Index index) {
    std::string text;
    for (const IntExpr& i : index) text += "," + i.str();
    const size_t length = text.size();
    At& found = indices_[std::move(text)];
    if (found.length == 0) found = {.index = std::move(index), .length = length + 1};
    return &found;
  }
  const At* apart_from_constants(const At* at) {
    if (!at->apart) at->apart = at_index(without_constants(at->index));
    return at->apart;
  }

  bool visit_all() {
    for (const Output& o : domain_.outputs) output_at_.push_back(at_index(o.base_index));
    for (const Reduction& r : domain_.reductions)
      if (!visit(graph_.at(r.node).args[0], r.argument_index, r.level)) return false;
    for (const Output& o : domain_.outputs)
      if (!visit(o.base, o.base_index, o.level)) return false;
    return true;
  }

  bool visit(NodeId id, const Index& index, int level) {
    std::vector<Visit> waiting{{id, at_index(index), level}}, next;
    while (!waiting.empty()) {
      const Visit here = waiting.back();
      waiting.pop_back();
      if (here.at->length > kLongestIndex && member(here.node))
        return too_long(fmt::format("the index at which {} is read would have more than {} characters",
                                    name_in_words(here.node), kLongestIndex),
                        "nothing: storing a value on the way takes less time");
      if (!visited_.insert({here.node, here.at, here.guards}).second) continue;
      const int places = under_guards_ ? 1 : ++places_[{here.node, apart_from_constants(here.at)}];
      if (places > kMostPlaces) continue;
      if (!count_evaluation(here, places == 1)) return false;
      note_place(here);
      next.clear();
      if (!step(here, next)) return false;
      waiting.insert(waiting.end(), std::make_move_iterator(next.rbegin()), std::make_move_iterator(next.rend()));
    }
    return true;
  }

  // Every value at every index at which it is needed is code of its own. What is needed at many
  // makes kernels whose size is exponential in the levels of such values: it is counted on the way,
  // so that the walk ends where the kernel would be too long.
  bool count_evaluation(const Visit& here, bool written_out) {
    const Node& node = at(here.node);
    const bool computed = member(here.node);
    const int times = ++evaluations_[here.node];
    const double cost = computed ? evaluation_cost(node) : 1;
    domain_.again += cost;
    if (computed) domain_.work += cost * static_cast<double>(here.overlap.times);
    if (times <= elements_at_point(here.node, times)) domain_.once += cost;
    if (times == 1 || !computed || !written_out) return true;
    repeated_ += here.overlap.copies * std::max(1, repeat_cost(graph_, node));
    if (repeated_ <= kMostRepeatedWork) return true;
    return too_long(fmt::format("more than {} operations would be computed again, {} among them, since values are "
                                "needed at several indices",
                                kMostRepeatedWork, name_in_words(here.node)),
                    "nothing: storing the values takes less time");
  }

  // The elements of a value for each point, at least one: some of them are needed at every point.
  double elements_at_point(NodeId id, int needed) const {
    if (needed == 1) return 1;
    return elements(id) / static_cast<double>(domain_.estimate(false) * domain_.estimate(true));
  }

  double elements(NodeId id) const {
    double all = 1;
    for (const IntExpr& size : at(id).shape) all *= static_cast<double>(size.evaluate(sizes_));
    return all;
  }

  // What is computed under other guards is code of its own (kernel/evaluate.cpp). Rings keep values
  // without any: where a stencil may run they are not counted.
  int guarded(int outer, const std::vector<Guard>& guards) {
    if (guards.empty() || !under_guards_) return outer;
    std::string key = std::to_string(outer);
    for (const Guard& g : guards) key += "," + g.value.str() + "<" + g.extent.str();
    return guards_.try_emplace(std::move(key), static_cast<int>(guards_.size()) + 1).first->second;
  }

  void note_read(std::vector<Read>& list, const Visit& here) {
    if (under_guards_ && !read_.insert({here.node, here.at}).second) return;
    list.push_back({here.node, here.at->index, here.level});
  }

  void note_place(const Visit& here) {
    if (!member(here.node)) return;
    const Shape& shape = at(here.node).shape;
    for (size_t o = 0; o < output_at_.size(); ++o)
      if (output_at_[o] == here.at && at(domain_.outputs[o].base).shape == shape) {
        domain_.here.push_back(here.node);
        return;
      }
  }

  std::string name_in_words(NodeId id) const {
    const Node& node = at(id);
    return !node.label.empty() ? node.label : !node.name.empty() ? node.name : std::string(name_of(node.kind));
  }

  // One node of the walk; what it leads to, in order, goes into `next`.
  bool step(const Visit& here, std::vector<Visit>& next) {
    const auto& [id, place, level, overlap, guards] = here;
    const Index& index = place->index;
    const Node& node = at(id);
    const bool outside = !member(id) && inputs_.count(id) > 0;
    if (outside) {
      note_read(domain_.reads, here);
      return true;
    }
    const Overlap below = member(id) ? windows_.evaluated(id, index, overlap, domain_) : overlap;
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Input: note_read(domain_.reads, here); return true;
      case NodeKind::Iota: pin(index[static_cast<size_t>(node.axes[0])]); return true;
      case NodeKind::Random:
        note_read(domain_.draws, here);
        for (NodeId arg : node.args) next.push_back({arg, at_index({}), level});
        return true;
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        for (NodeId arg : node.args) next.push_back({arg, place, level, below, guards});
        return true;
      case NodeKind::Reduce:
        if (node.local && at_points_ && local_elements(graph_, node) <= kMostWrittenOut) {
          for (Index& element : elements_of_window(graph_, id, index))
            next.push_back({node.args[0], at_index(std::move(element)), level, overlap, guards});
          return true;
        }
        if (node.local) {
          next.push_back(
              {node.args[0], at_index(window_index(graph_, id, index, domain_.ranges)), level, below, guards});
          return true;
        }
        if (!(result_index_.at(id) == index))
          return refuse("the result of a reduction is needed at rows other than the current one",
                        "nothing, unless the rows can be reordered in the program");
        return true;
      case NodeKind::Scan:
        if (!(result_index_.at(id) == index))
          return refuse("the result of a scan is needed at indices other than the current one",
                        "nothing, unless the elements can be reordered in the program");
        for (NodeId arg : node.args) next.push_back({arg, place, level, below, guards});
        return true;
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend:
        next.push_back({node.args[0], at_index(through_view(graph_, node, index, domain_.ranges)), level,
                        node.kind == NodeKind::Window      ? below.through_window()
                        : node.kind == NodeKind::Broadcast ? below.through_broadcast()
                                                           : below,
                        guards});
        return true;
      case NodeKind::Pad:
      case NodeKind::Concat:
        for (const Piece& piece : pieces(graph_, node, index, domain_.ranges, proofs_)) {
          for (const Guard& guard : piece.guards) pin(guard.value);
          next.push_back({piece.arg, at_index(piece.index), level, below.guarded(share_under(piece.guards)),
                          guarded(here.guards, piece.guards)});
        }
        if (node.kind == NodeKind::Pad) next.push_back({node.args[1], at_index({}), level, {}});
        return true;
      case NodeKind::Scatter: throw InternalError("a scatter in a group of other loops");
      case NodeKind::Gather: {
        const Index from = gather_indices_index(graph_, node, index);
        next.push_back({node.args[1], at_index(from), level, below, guards});
        const Symbol picked = Symbol::gathered(domain_.ranges.size());
        domain_.gathers[picked] = from;
        domain_.ranges[picked] = {0, at(node.args[0]).shape[static_cast<size_t>(node.axes[0])] - 1};
        next.push_back({node.args[0], at_index(gather_data_index(graph_, node, index, IntExpr::symbol(picked))), level,
                        below, guards});
        return true;
      }
      case NodeKind::Custom: throw InternalError("the user's own code has no loops");
    }
    return true;
  }

  void pin(const IntExpr& e) {
    for (const Symbol symbol : e.symbols()) domain_.pinned.insert(symbol);
  }

  const Graph& graph_;
  const Group& group_;
  const std::unordered_set<NodeId> members_, inputs_;
  Domain domain_;
  std::map<NodeId, Index> result_index_;
  const SizeBinding& sizes_;
  std::unordered_map<std::string, At> indices_;
  std::vector<const At*> output_at_;
  std::unordered_set<Evaluation, EvaluationHash> visited_;
  std::unordered_map<Evaluation, int, EvaluationHash> places_;  // that differ by constants
  std::unordered_map<NodeId, int> evaluations_;
  Proofs proofs_;
  bool under_guards_ = false;
  bool at_points_ = false;  // what windows of few elements read is at places of its own
  std::unordered_map<std::string, int> guards_;
  std::unordered_set<Evaluation, EvaluationHash> read_;
  int64_t repeated_ = 0;  // operations of evaluations after the first of their node
  WindowWork windows_;
};

}  // namespace

std::variant<Domain, Refusal> find_domain(const Graph& graph, const Group& group, const SizeBinding& sizes,
                                          Online online, ShortAxes apart) {
  bool finer = true;
  const auto attempt = [&]() -> std::variant<Domain, Refusal> {
    auto placed = place_domain(graph, group, sizes, online, apart, finer);
    if (const auto* refusal = std::get_if<Refusal>(&placed)) return *refusal;
    return Walk(graph, group, sizes, std::get<Placed>(std::move(placed))).run();
  };
  auto found = attempt();
  if (finer && std::holds_alternative<Refusal>(found)) {
    finer = false;
    found = attempt();
  }
  if (auto* domain = std::get_if<Domain>(&found)) follow_memory(graph, *domain, sizes);
  return found;
}

}  // namespace smelt::schedule
