#include "schedule/domain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/check.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/proofs.hpp"
#include "schedule/stencil.hpp"

namespace smelt::schedule {

int64_t Domain::estimate(bool reduced) const {
  int64_t n = 1;
  for (const Axis& axis : axes)
    if (axis.reduced == reduced) n *= std::max<int64_t>(axis.estimate, 1);
  return n;
}

Index Domain::values() const {
  Index index;
  for (const Axis& axis : axes) index.push_back(axis.value());
  return index;
}

IntExpr flat_offset(const Shape& shape, const Index& index) {
  IntExpr flat = 0;
  for (size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + index[d];
  return recombine(flat);
}

namespace {

// Operations that a kernel does at other indices again, weighed by what each takes, that are worth their code.
constexpr int64_t kMostRepeatedWork = 1500;
// Reductions of a row that wait for each other, and scans: each is a loop of its own, with all that leads to it.
constexpr int kMostLevels = 16;
constexpr size_t kMostScans = 16;
// How often the elements of a window are written out, at most (kernel/evaluate_local.cpp).
constexpr int64_t kMostCopies = 64;
// The text of a node and an index. Indices that are mirrored double at every level.
constexpr size_t kLongestIndex = 4000;

std::string key_of(NodeId node, const Index& index) {
  std::string key = std::to_string(node);
  for (const IntExpr& i : index) key += "," + i.str();
  return key;
}

// The sizes of a shape with neighbours of one kind (reduced or kept) multiplied, ones dropped: shapes that agree here can share loops.
std::vector<std::pair<IntExpr, bool>> signature(const Shape& shape, const std::vector<int>& reduced_axes) {
  std::vector<std::pair<IntExpr, bool>> result;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].is(1)) continue;
    const bool reduced = std::count(reduced_axes.begin(), reduced_axes.end(), static_cast<int>(d)) > 0;
    if (!result.empty() && result.back().second == reduced)
      result.back().first = result.back().first * shape[d];
    else
      result.emplace_back(shape[d], reduced);
  }
  return result;
}

std::string axes_text(const std::vector<int>& axes) {
  return fmt::format("{} {}", axes.size() == 1 ? "axis" : "axes", fmt::join(axes, ", "));
}

// A quotient or remainder of more than one loop variable: the axes of one shape lie across those of the other.
bool divides_several_variables(const IntExpr& e) {
  for (const auto& t : e.terms())
    for (const auto& atom : t.atoms) {
      if (atom->kind == AtomKind::Symbol) continue;
      std::vector<std::string> symbols;
      atom->a.collect_symbols(symbols);
      if (std::count_if(symbols.begin(), symbols.end(), [](const std::string& s) { return s[0] == '%'; }) > 1)
        return true;
    }
  return false;
}

class Walk {
 public:
  Walk(const Graph& graph, const Group& group, const SizeBinding& sizes, bool online)
      : graph_(graph),
        group_(group),
        sizes_(sizes),
        online_(online),
        members_(group.nodes.begin(), group.nodes.end()),
        inputs_(group.inputs.begin(), group.inputs.end()) {}

  std::variant<Domain, Refusal> run() {
    make_axes();
    if (!place_reductions() || !place_scans() || !place_outputs()) return *refusal_;
    under_guards_ = !may_have_rings(domain_) ||
                    std::any_of(group_.nodes.begin(), group_.nodes.end(), [&](NodeId id) { return at(id).local; });
    if (!visit_all()) return *refusal_;
    if (windows_.excess() > 0) domain_.overlap = windows_.refusal(graph_);
    return std::move(domain_);
  }

 private:
  // Says why there is no domain; what is asked whether the walk may go on then says no.
  bool refuse(std::string reason, std::string remedy) {
    refusal_ = Refusal{std::move(reason), std::move(remedy)};
    return false;
  }

  // Of a group that would be refused for this also if it had more nodes.
  bool too_long(std::string reason, std::string remedy) {
    refusal_ = Refusal{std::move(reason), std::move(remedy), true};
    return false;
  }

  bool member(NodeId id) const { return members_.count(id) > 0; }
  const Node& at(NodeId id) const { return graph_.at(id); }

  // Local reductions are evaluated like any operation on elements.
  bool runs_in_passes(NodeId id) const { return at(id).kind == NodeKind::Reduce && !at(id).local; }

  // What is computed for an output: the node itself, or what its chain of views starts from.
  NodeId base_of(NodeId id) const {
    while (is_view(at(id).kind) && at(id).kind != NodeKind::Broadcast && keeps_every_element(at(id))) {
      const NodeId arg = at(id).args[0];
      if (!member(arg) && !is_view(at(arg).kind)) break;
      id = arg;
    }
    return id;
  }

  bool keeps_every_element(const Node& view) const {
    if (view.kind == NodeKind::Window || view.kind == NodeKind::Extend) return false;
    if (view.kind != NodeKind::Slice) return true;
    for (size_t d = 0; d < view.shape.size(); ++d)
      if (!(view.shape[d] == at(view.args[0]).shape[d]) || (view.steps[d] != 1 && view.steps[d] != -1)) return false;
    return true;
  }

  // Whether loops over `shape` can store an array of the shape `stored` without dividing sums of them: [3, 4, 6] as [12, 6], but
  // not as [6, 12].
  static bool steps_evenly(const Shape& shape, const Shape& stored) {
    Index values;
    Ranges ranges{{"%one", {1, 1}}};
    for (size_t d = 0; d < shape.size(); ++d) {
      const Axis axis{fmt::format("%a{}", d), shape[d]};
      values.push_back(axis.value());
      ranges[axis.var] = {0, shape[d] - 1};
    }
    const Index index = reshaped_index(shape, stored, values, ranges);
    return std::none_of(index.begin(), index.end(), divides_several_variables);
  }

  // Of a pointwise group, the shape with the most dimensions that its elements are given in on the way to the output: what is
  // permuted before a reshape is then stepped over, not found by division.
  const Shape& finest_shape(NodeId base) const {
    const Shape* best = &at(base).shape;
    const IntExpr elements = count(*best);
    std::vector<NodeId> waiting{base};
    std::set<NodeId> seen;
    while (!waiting.empty()) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      const Node& node = at(id);
      const bool same_place =
          node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast || node.kind == NodeKind::Reshape;
      if (!same_place || !seen.insert(id).second || (!member(id) && !is_view(node.kind))) continue;
      if (node.kind == NodeKind::Reshape) {
        const Shape& before = at(node.args[0]).shape;
        if (before.size() > best->size() && count(before) == elements && steps_evenly(before, at(base).shape))
          best = &before;
      }
      waiting.insert(waiting.end(), node.args.begin(), node.args.end());
    }
    return *best;
  }

  void make_axes() {
    const Node* reference = nullptr;
    const auto rank = [&](const Node& node) {
      return node.shape.size() + (node.kind == NodeKind::Reduce ? node.axes.size() : 0);
    };
    for (NodeId id : group_.nodes)
      if ((runs_in_passes(id) || at(id).kind == NodeKind::Scan) && (!reference || rank(at(id)) > rank(*reference)))
        reference = &at(id);
    const Shape& shape = reference ? at(reference->args[0]).shape : finest_shape(base_of(group_.outputs[0]));
    for (size_t d = 0; d < shape.size(); ++d) {
      Axis axis{fmt::format("%a{}", d), shape[d], false, shape[d].evaluate(sizes_)};
      if (reference) axis.reduced = std::count(reference->axes.begin(), reference->axes.end(), static_cast<int>(d)) > 0;
      domain_.axes.push_back(axis);
      domain_.ranges[axis.var] = {0, shape[d] - 1};
    }
    // Never empty: sizes inside loops are at least 1.
    domain_.ranges["%one"] = {1, 1};
    if (reference) {
      domain_signature_ = signature(shape, reference->axes);
      domain_shape_ = shape;
      domain_reduced_ = reference->axes;
    }
  }

  Shape kept_shape() const {
    Shape shape;
    for (const Axis& axis : domain_.axes)
      if (!axis.reduced) shape.push_back(axis.extent);
    return shape;
  }
  Shape full_shape() const {
    Shape shape;
    for (const Axis& axis : domain_.axes) shape.push_back(axis.extent);
    return shape;
  }
  Index kept_values() const {
    Index index;
    for (const Axis& axis : domain_.axes)
      if (!axis.reduced) index.push_back(axis.value());
    return index;
  }

  bool place_reductions() {
    for (NodeId id : group_.nodes) {
      const Node& node = at(id);
      if (!runs_in_passes(id)) continue;
      const Shape& argument = at(node.args[0]).shape;
      if (signature(argument, node.axes) != domain_signature_ && count(argument) == count(kept_shape()) &&
          level_of(id) > 0)
        return refuse(
            fmt::format("{} reduces what the rows of {} leave, and they are all done only when every workgroup is",
                        node.label.empty() ? name_of(node.reduce) : node.label, str(domain_shape_)),
            "nothing: it takes a second kernel, which reads one value a row");
      if (signature(argument, node.axes) != domain_signature_)
        return refuse(fmt::format("{} reduces {} of {}, while the rest of the kernel reduces {} of {}",
                                  node.label.empty() ? name_of(node.reduce) : node.label, axes_text(node.axes),
                                  str(argument), axes_text(domain_reduced_), str(domain_shape_)),
                      "reduce over the same axes");
      Reduction r{id,
                  level_of(id),
                  reshaped_index(full_shape(), argument, domain_.values(), domain_.ranges),
                  {},
                  online_of(id)};
      for (size_t d = 0; d < argument.size(); ++d)
        if (!std::count(node.axes.begin(), node.axes.end(), static_cast<int>(d)))
          r.result_index.push_back(r.argument_index[d]);
      domain_.levels = std::max(domain_.levels, r.level + 1);
      if (domain_.levels > kMostLevels)
        return too_long(
            fmt::format("a row would be gone over more than {} times, which is a long kernel to compile", kMostLevels),
            "nothing: beside so many passes a round trip through memory is short");
      result_index_[id] = r.result_index;
      domain_.reductions.push_back(std::move(r));
    }
    return true;
  }

  bool place_scans() {
    for (NodeId id : group_.nodes) {
      const Node& node = at(id);
      if (node.kind != NodeKind::Scan) continue;
      const std::string_view label = node.label.empty() ? name_of_scan(node.reduce) : std::string_view(node.label);
      if (signature(node.shape, node.axes) != domain_signature_)
        return refuse(fmt::format("{} runs along axis {} of {}, while the rest of the kernel goes over {} of {}", label,
                                  node.axes[0], str(node.shape), axes_text(domain_reduced_), str(domain_shape_)),
                      "scan and reduce along the same axis");
      if (domain_.scans.size() == kMostScans)
        return too_long(
            fmt::format("a row would be scanned more than {} times, which is a long kernel to compile", kMostScans),
            "nothing: beside so many scans a round trip through memory is short");
      if (!domain_.scans.empty() && node.reverse != domain_.reversed)
        return refuse(
            fmt::format("{} runs {} to the {} of its axis, while another scan of the kernel runs the other way", label,
                        node.reverse ? "from the end" : "from the start", node.reverse ? "start" : "end"),
            "nothing, unless both can run the same way");
      domain_.reversed = node.reverse;
      Scan s{id, reshaped_index(full_shape(), node.shape, domain_.values(), domain_.ranges)};
      result_index_[id] = s.index;
      domain_.scans.push_back(std::move(s));
    }
    return true;
  }

  bool place_outputs() {
    const IntExpr full = count(full_shape()), kept = count(kept_shape());
    for (NodeId id : group_.outputs) {
      Output o{id, base_of(id), false, 0, {}, {}};
      const Shape& shape = at(o.base).shape;
      const bool any_reduction = domain_.levels > 0;
      if (any_reduction && count(shape) == kept) {
        o.per_row = true;
        o.base_index = reshaped_index(kept_shape(), shape, kept_values(), domain_.ranges);
      } else if (count(shape) == full) {
        o.base_index = reshaped_index(full_shape(), shape, domain_.values(), domain_.ranges);
        if (std::any_of(o.base_index.begin(), o.base_index.end(), divides_several_variables))
          return refuse(fmt::format("it stores {}, while the kernel runs over {} in another order", str(shape),
                                    str(full_shape())),
                        "nothing, unless both can be stored in the same order");
      } else {
        return refuse(fmt::format("it stores {}, while the kernel runs over {}", str(shape), str(full_shape())),
                      "outputs of one kernel must have the shape of its loops, or of its rows");
      }
      o.level = ready_after(o.base);
      o.store_index = o.base_index;
      std::vector<NodeId> chain;
      for (NodeId v = id; v != o.base; v = at(v).args[0]) chain.push_back(v);
      for (auto v = chain.rbegin(); v != chain.rend(); ++v) {
        auto forward = into_view(graph_, at(*v), o.store_index, domain_.ranges);
        SMELT_CHECK(forward, "output view cannot be stored through");
        o.store_index = *forward;
      }
      domain_.outputs.push_back(std::move(o));
    }
    return true;
  }

  // How many levels of reductions must be done before the node can be evaluated; of a reduction, before its argument can be.
  int level_of(NodeId id) {
    auto known = level_.find(id);
    if (known != level_.end()) return known->second;
    int level = 0;
    if (const auto online = online_of(id))
      level = level_of(online->maximum);
    else if (member(id) || !inputs_.count(id))
      for (NodeId arg : at(id).args) level = std::max(level, ready_after(arg));
    return level_[id] = level;
  }
  std::optional<OnlineSum> online_of(NodeId id) const {
    if (!online_ || !member(id)) return std::nullopt;
    const auto online = online_sum(graph_, id);
    return online && member(online->maximum) ? online : std::nullopt;
  }
  int ready_after(NodeId id) { return level_of(id) + (member(id) && runs_in_passes(id) ? 1 : 0); }

  // What is still to be walked: a list of our own, since a kernel of thousands of operations in a row is deeper than a stack should be.
  struct Visit {
    NodeId node;
    Index index;
    int level;
    Overlap overlap = {};
    int guards = 0;  // a number of those that stand before it
  };

  bool visit_all() {
    for (const Reduction& r : domain_.reductions)
      if (!visit(graph_.at(r.node).args[0], r.argument_index, r.level)) return false;
    for (const Output& o : domain_.outputs)
      if (!visit(o.base, o.base_index, o.level)) return false;
    return true;
  }

  bool visit(NodeId id, const Index& index, int level) {
    std::vector<Visit> waiting{{id, index, level}}, next;
    while (!waiting.empty()) {
      const Visit here = std::move(waiting.back());
      waiting.pop_back();
      std::string key = key_of(here.node, here.index);
      if (key.size() > kLongestIndex && member(here.node))
        return too_long(fmt::format("{} would be read at a place that takes more than {} characters to write down",
                                    name_in_words(here.node), kLongestIndex),
                        "nothing: storing a value on the way takes less time");
      if (here.guards > 0) key += fmt::format("/{}", here.guards);
      if (!visited_.insert(std::move(key)).second) continue;
      if (!count_evaluation(here)) return false;
      note_place(here);
      next.clear();
      if (!step(here, next)) return false;
      waiting.insert(waiting.end(), std::make_move_iterator(next.rbegin()), std::make_move_iterator(next.rend()));
    }
    return true;
  }

  // Every value at every index at which it is needed is code of its own. What is needed at many makes kernels whose size is exponential in
  // the levels of such values: it is counted on the way, so that the walk ends where the kernel would be too long.
  bool count_evaluation(const Visit& here) {
    const Node& node = at(here.node);
    const bool computed = member(here.node), first = counted_.insert(here.node).second;
    const double cost = computed ? cost_of(node) : 1;
    domain_.again += cost;
    if (first) domain_.once += cost;
    if (first || !computed) return true;
    repeated_ += std::min(here.overlap.times, kMostCopies) * std::max(1, repeat_cost(graph_, node));
    if (repeated_ <= kMostRepeatedWork) return true;
    return too_long(fmt::format("more than {} operations would be written out again, {} among them, since values are "
                                "needed at several places",
                                kMostRepeatedWork, name_in_words(here.node)),
                    "nothing: storing the values takes less time");
  }

  // What is computed under other guards is code of its own (kernel/evaluate.cpp). Rings keep values without any: where a stencil may run they are
  // not counted.
  int guarded(int outer, const std::vector<Guard>& guards) {
    if (guards.empty() || !under_guards_) return outer;
    std::string key = std::to_string(outer);
    for (const Guard& g : guards) key += "," + g.value.str() + "<" + g.extent.str();
    return guards_.try_emplace(std::move(key), static_cast<int>(guards_.size()) + 1).first->second;
  }

  void note_read(std::vector<Read>& list, const Visit& here) {
    if (under_guards_ && !read_.insert(key_of(here.node, here.index)).second) return;
    list.push_back({here.node, here.index, here.level});
  }

  void note_place(const Visit& here) {
    if (!member(here.node)) return;
    const Shape& shape = at(here.node).shape;
    for (const Output& o : domain_.outputs)
      if (o.base_index == here.index && at(o.base).shape == shape) {
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
    const auto& [id, index, level, overlap, guards] = here;
    const Node& node = at(id);
    const bool outside = !member(id) && inputs_.count(id) > 0;
    if (outside) {
      note_read(domain_.reads, here);
      return true;
    }
    const Overlap below = member(id) ? windows_.evaluated(graph_, id, overlap, domain_) : overlap;
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Input: note_read(domain_.reads, here); return true;
      case NodeKind::Iota: pin(index[static_cast<size_t>(node.axes[0])]); return true;
      case NodeKind::Random:
        note_read(domain_.draws, here);
        for (NodeId arg : node.args) next.push_back({arg, {}, level});
        return true;
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        for (NodeId arg : node.args) next.push_back({arg, index, level, below, guards});
        return true;
      case NodeKind::Reduce:
        if (node.local) {
          next.push_back({node.args[0], window_index(graph_, id, index, domain_.ranges), level, below, guards});
          return true;
        }
        if (!(result_index_.at(id) == index))
          return refuse("the result of a reduction is needed at other rows than the one at hand",
                        "nothing, unless the rows can be reordered in the program");
        return true;
      case NodeKind::Scan:
        if (!(result_index_.at(id) == index))
          return refuse("the result of a scan is needed at other places than the one at hand",
                        "nothing, unless the elements can be reordered in the program");
        for (NodeId arg : node.args) next.push_back({arg, index, level, below, guards});
        return true;
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend:
        next.push_back({node.args[0], through_view(graph_, node, index, domain_.ranges), level,
                        node.kind == NodeKind::Window ? below.through_window() : below, guards});
        return true;
      case NodeKind::Pad:
      case NodeKind::Concat:
        for (const Piece& piece : pieces(graph_, node, index, domain_.ranges, proofs_)) {
          for (const Guard& guard : piece.guards) pin(guard.value);
          next.push_back({piece.arg, piece.index, level, below, guarded(here.guards, piece.guards)});
        }
        if (node.kind == NodeKind::Pad) next.push_back({node.args[1], {}, level, {}});
        return true;
      case NodeKind::Scatter: throw InternalError("a scatter in a group of other loops");
      case NodeKind::Gather: {
        next.push_back({node.args[1], gather_indices_index(graph_, node, index), level, below, guards});
        const std::string picked = fmt::format("%picked{}", domain_.ranges.size());
        domain_.ranges[picked] = {0, at(node.args[0]).shape[static_cast<size_t>(node.axes[0])] - 1};
        next.push_back(
            {node.args[0], gather_data_index(graph_, node, index, IntExpr::symbol(picked)), level, below, guards});
        return true;
      }
      case NodeKind::Custom: throw InternalError("the user's own code has no loops");
    }
    return true;
  }

  void pin(const IntExpr& e) {
    std::vector<std::string> symbols;
    e.collect_symbols(symbols);
    domain_.pinned.insert(symbols.begin(), symbols.end());
  }

  const Graph& graph_;
  const Group& group_;
  const SizeBinding& sizes_;
  const bool online_;
  std::unordered_set<NodeId> members_, inputs_;
  Domain domain_;
  std::optional<Refusal> refusal_;
  Shape domain_shape_;
  std::vector<int> domain_reduced_;
  std::vector<std::pair<IntExpr, bool>> domain_signature_;
  std::map<NodeId, Index> result_index_;
  std::map<NodeId, int> level_;
  std::unordered_set<std::string> visited_;
  std::unordered_set<NodeId> counted_;
  Proofs proofs_;
  bool under_guards_ = false;
  std::unordered_map<std::string, int> guards_;
  std::unordered_set<std::string> read_;
  int64_t repeated_ = 0;  // operations of evaluations after the first of their node
  WindowWork windows_{sizes_};
};

}  // namespace

std::variant<Domain, Refusal> find_domain(const Graph& graph, const Group& group, const SizeBinding& sizes,
                                          bool online) {
  return Walk(graph, group, sizes, online).run();
}

// Whether every access steps over `inner` and then over `outer` as over one axis of outer * inner points.
static bool step_as_one(const Graph& graph, const Domain& domain, const Axis& outer, const Axis& inner) {
  auto as_one = [&](NodeId node, const Index& index) {
    const IntExpr flat = flat_offset(graph.at(node).shape, index);
    auto a = flat.coefficient_of(outer.var), b = flat.coefficient_of(inner.var);
    return a && b && *a == *b * inner.extent;
  };
  const auto steps = [&](const Read& r) { return as_one(r.node, r.index); };
  return std::all_of(domain.reads.begin(), domain.reads.end(), steps) &&
         std::all_of(domain.draws.begin(), domain.draws.end(), steps) &&
         std::all_of(domain.outputs.begin(), domain.outputs.end(),
                     [&](const Output& o) { return as_one(o.node, o.store_index); });
}

static void merge_pair(Domain& domain, size_t d) {
  Axis& outer = domain.axes[d];
  const Axis inner = domain.axes[d + 1];
  const Axis merged{outer.var + inner.var.substr(1), outer.extent * inner.extent, outer.reduced,
                    outer.estimate * inner.estimate};
  domain.ranges[merged.var] = {0, merged.extent - 1};
  const IntExpr m = IntExpr::symbol(merged.var);
  const std::map<std::string, IntExpr> parts{{outer.var, floordiv(m, inner.extent, domain.ranges)},
                                             {inner.var, mod(m, inner.extent, domain.ranges)}};
  auto rewrite = [&](Index& index) {
    for (IntExpr& i : index) i = i.substitute(parts, domain.ranges);
  };
  for (Reduction& r : domain.reductions) rewrite(r.argument_index), rewrite(r.result_index);
  for (Output& o : domain.outputs) rewrite(o.base_index), rewrite(o.store_index);
  for (Read& r : domain.reads) rewrite(r.index);
  for (Read& r : domain.draws) rewrite(r.index);
  domain.ranges.erase(outer.var);
  domain.ranges.erase(inner.var);
  outer = merged;
  domain.axes.erase(domain.axes.begin() + static_cast<long>(d) + 1);
}

void merge_short_axis(const Graph& graph, Domain& domain, int64_t least) {
  while (domain.axes.size() > 1) {
    const size_t last = domain.axes.size() - 1;
    const Axis &outer = domain.axes[last - 1], &inner = domain.axes[last];
    const int64_t extent = inner.extent.constant().value_or(least);
    if (extent >= least || domain.pinned.count(inner.var) || !step_as_one(graph, domain, outer, inner)) return;
    const bool pinned = domain.pinned.count(outer.var) > 0;
    merge_pair(domain, last - 1);
    if (pinned) domain.pinned.insert(domain.axes.back().var);
  }
}

void merge_axes(const Graph& graph, Domain& domain) {
  for (size_t d = domain.axes.size(); d-- > 0;)
    if (domain.axes[d].extent.is(1)) {
      domain.ranges.erase(domain.axes[d].var);
      domain.axes.erase(domain.axes.begin() + static_cast<long>(d));
    }
  for (size_t d = 0; d + 1 < domain.axes.size();) {
    const Axis &outer = domain.axes[d], &inner = domain.axes[d + 1];
    const bool free = !domain.pinned.count(outer.var) && !domain.pinned.count(inner.var);
    if (free && outer.reduced == inner.reduced && step_as_one(graph, domain, outer, inner))
      merge_pair(domain, d);
    else
      ++d;
  }
}

}  // namespace smelt::schedule
