// Where the axes, reductions, scans and outputs of a group lie in its loops.
#include "schedule/domain_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "schedule/common_points.hpp"

namespace smelt::schedule {
namespace {

// Reductions of a row that wait for each other, and scans: each is a loop of its own, with all that
// leads to it.
constexpr int kMostLevels = 16;
constexpr size_t kMostScans = 16;
// The sizes of a shape with neighbours of one kind (reduced or kept) multiplied, ones dropped:
// shapes that agree here can share loops.
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

// A quotient or remainder of more than one loop variable: the axes of one shape lie across those of
// the other.
bool divides_several_variables(const IntExpr& e) {
  for (const auto& t : e.terms())
    for (const auto& atom : t.atoms) {
      if (atom->symbol) continue;
      const std::vector<Symbol> symbols = atom->a.symbols();
      if (std::count_if(symbols.begin(), symbols.end(), [](Symbol s) { return !s.is_size(); }) > 1) return true;
    }
  return false;
}

class Placement : Refusing {
 public:
  Placement(const Graph& graph, const Group& group, const SizeBinding& sizes, Online online, ShortAxes apart,
            bool finer)
      : graph_(graph),
        group_(group),
        sizes_(sizes),
        online_(online),
        apart_(apart),
        moments_(online != Online::Nothing && std::none_of(group.nodes.begin(), group.nodes.end(),
                                                           [&](NodeId id) { return at(id).kind == NodeKind::Scan; })),
        finer_(finer),
        members_(group.nodes.begin(), group.nodes.end()),
        inputs_(group.inputs.begin(), group.inputs.end()) {}

  bool is_finer() const { return finer_; }  // once it has run

  std::variant<Placed, Refusal> run() {
    make_axes();
    if (apart_ && !points_) {
      refuse("it has no such short axes", "");
      return why();
    }
    if (!place_reductions() || !place_scans() || !place_outputs()) return why();
    return Placed{std::move(domain_), std::move(result_index_), std::move(members_), std::move(inputs_)};
  }

 private:
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

  // Whether loops over `shape` can store an array of the shape `stored` without dividing sums of
  // them: [3, 4, 6] as [12, 6], but not as [6, 12].
  static bool steps_evenly(const Shape& shape, const Shape& stored) {
    Index values;
    Ranges ranges = Ranges::inside_loops();
    for (size_t d = 0; d < shape.size(); ++d) {
      const Axis axis{Symbol::loop(fmt::format("a{}", d)), shape[d]};
      values.push_back(axis.value());
      ranges[axis.var] = {0, shape[d] - 1};
    }
    const Index index = reshaped_index(shape, stored, values, ranges);
    return std::none_of(index.begin(), index.end(), divides_several_variables);
  }

  // The shape with the most dimensions between the elements of a pointwise group and its output: a
  // permutation before a reshape then has constant strides, and needs no division.
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

  // The shape of what `reference` reduces, or one that some reshape of the group splits it into,
  // each axis wholly reduced or kept: what is permuted before it is stepped over then, not found by
  // division. `reduced` becomes the axes of that shape.
  const Shape& finer_shape(const Node& reference, std::vector<int>& reduced) {
    const Shape& own = at(reference.args[0]).shape;
    const Shape* best = &own;
    const IntExpr elements = count(own);
    if (!std::exchange(finer_, false) || elements.is(0)) return own;
    const auto consider = [&](const Shape& shape) {
      if (shape.size() <= best->size() || !(count(shape) == elements)) return;
      const auto split = split_axes(own, reference.axes, shape);
      if (split) best = &shape, reduced = *split;
    };
    for (const NodeId id : reshapes()) {
      consider(at(id).shape);
      consider(at(at(id).args[0]).shape);
    }
    finer_ = best != &own;
    return *best;
  }

  // Those of the group, and of the views that it reads through; in order.
  std::vector<NodeId> reshapes() const {
    std::vector<NodeId> views, found;
    const auto look_at = [&](NodeId id) {
      if (at(id).kind == NodeKind::Reshape) found.push_back(id);
      for (const NodeId arg : at(id).args)
        if (!member(arg) && is_view(at(arg).kind) && !inputs_.count(arg)) views.push_back(arg);
    };
    for (const NodeId id : group_.nodes) look_at(id);
    std::unordered_set<NodeId> seen;
    while (!views.empty()) {
      const NodeId id = views.back();
      views.pop_back();
      if (seen.insert(id).second) look_at(id);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Which axes of `finer` are those of `shape` that are reduced; nothing where one is both, or part
  // of two.
  static std::optional<std::vector<int>> split_axes(const Shape& shape, const std::vector<int>& reduced,
                                                    const Shape& finer) {
    std::vector<int> result;
    size_t next = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool is_reduced = std::count(reduced.begin(), reduced.end(), static_cast<int>(d)) > 0;
      IntExpr product = 1;
      while (next < finer.size() && !(product == shape[d])) {
        if (is_reduced) result.push_back(static_cast<int>(next));
        product = product * finer[next++];
      }
      if (!(product == shape[d])) return std::nullopt;
    }
    while (next < finer.size() && finer[next].is(1)) ++next;
    return next == finer.size() ? std::optional(std::move(result)) : std::nullopt;
  }

  // Where the outputs of a pointwise group have different shapes: what those have in common.
  void find_points() {
    std::vector<Shape> shapes;
    for (const NodeId id : group_.outputs) shapes.push_back(at(base_of(id)).shape);
    const auto as_many = [&](const Shape& shape) { return count(shape) == count(shapes[0]); };
    if (apart_ || !std::all_of(shapes.begin(), shapes.end(), as_many)) points_ = common_points(shapes, apart_);
  }

  void make_axes() {
    const Node* reference = nullptr;
    const auto rank = [&](const Node& node) {
      return node.shape.size() + (node.kind == NodeKind::Reduce ? node.axes.size() : 0);
    };
    for (NodeId id : group_.nodes)
      if ((runs_in_passes(id) || at(id).kind == NodeKind::Scan) && (!reference || rank(at(id)) > rank(*reference)))
        reference = &at(id);
    std::vector<int> reduced;
    if (reference) reduced = reference->axes;
    if (!reference) find_points();
    const Shape& shape = reference ? finer_shape(*reference, reduced)
                         : points_ ? points_->shape
                                   : finest_shape(base_of(group_.outputs[0]));
    domain_.ranges = Ranges::inside_loops();
    for (size_t d = 0; d < shape.size(); ++d) {
      Axis axis{Symbol::loop(fmt::format("a{}", d)), shape[d], false, shape[d].evaluate(sizes_)};
      axis.reduced = std::count(reduced.begin(), reduced.end(), static_cast<int>(d)) > 0;
      domain_.axes.push_back(axis);
      domain_.ranges[axis.var] = {0, shape[d] - 1};
    }
    if (reference) {
      domain_signature_ = signature(shape, reduced);
      domain_shape_ = shape;
      domain_reduced_ = reduced;
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
            fmt::format(
                "{} reduces the results of all rows of {}, which are complete only when every workgroup is done",
                node.label.empty() ? name_of(node.reduce) : node.label, str(domain_shape_)),
            "nothing: it takes a second kernel, which reads one value for each row");
      if (signature(argument, node.axes) != domain_signature_)
        return refuse(fmt::format("{} reduces {} of {}, while the rest of the kernel reduces {} of {}",
                                  node.label.empty() ? name_of(node.reduce) : node.label, axes_text(node.axes),
                                  str(argument), axes_text(domain_reduced_), str(domain_shape_)),
                      "reduce over the same axes");
      Reduction r{id, level_of(id),  reshaped_index(full_shape(), argument, domain_.values(), domain_.ranges),
                  {}, online_of(id), moment_of(id)};
      for (size_t d = 0; d < argument.size(); ++d)
        if (!std::count(node.axes.begin(), node.axes.end(), static_cast<int>(d)))
          r.result_index.push_back(r.argument_index[d]);
      domain_.levels = std::max(domain_.levels, r.level + 1);
      if (domain_.levels > kMostLevels)
        return too_long(
            fmt::format("the kernel would make more than {} passes over a row, and take long to compile", kMostLevels),
            "nothing: a round trip through memory is short compared with so many passes");
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
            fmt::format("the kernel would scan a row more than {} times, and take long to compile", kMostScans),
            "nothing: a round trip through memory is short compared with so many scans");
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

  // An output of a point for each of its elements.
  void place_at_points() {
    for (size_t i = 0; i < group_.outputs.size(); ++i) {
      const NodeId id = group_.outputs[i], base = base_of(id);
      const Shape& shape = at(base).shape;
      const std::vector<int>& axis_of = points_->axis_of[i];
      Index index(shape.size(), IntExpr(0));
      for (size_t d = 0; d < shape.size(); ++d)
        if (axis_of[d] >= 0) index[d] = domain_.axes[static_cast<size_t>(axis_of[d])].value();
      for (bool more = true; more;) {
        domain_.outputs.push_back(stored(id, base, index));
        more = false;
        for (size_t d = shape.size(); d-- > 0 && !more;) {
          if (axis_of[d] >= 0) continue;
          more = !(index[d] + 1 == shape[d]);
          index[d] = more ? index[d] + 1 : IntExpr(0);
        }
      }
    }
  }

  // What is stored of `base` at an index.
  Output stored(NodeId id, NodeId base, Index index) {
    Output o{id, base, false, ready_after(base), index, std::move(index)};
    std::vector<NodeId> chain;
    for (NodeId v = id; v != base; v = at(v).args[0]) chain.push_back(v);
    for (auto v = chain.rbegin(); v != chain.rend(); ++v) {
      auto forward = into_view(graph_, at(*v), o.store_index, domain_.ranges);
      SMELT_CHECK(forward, "output view cannot be stored through");
      o.store_index = *forward;
    }
    return o;
  }

  bool place_outputs() {
    if (points_) {
      place_at_points();
      return true;
    }
    const IntExpr full = count(full_shape()), kept = count(kept_shape());
    for (NodeId id : group_.outputs) {
      const NodeId base = base_of(id);
      const Shape& shape = at(base).shape;
      const bool any_reduction = domain_.levels > 0, per_row = any_reduction && count(shape) == kept;
      Index index;
      if (per_row) {
        index = reshaped_index(kept_shape(), shape, kept_values(), domain_.ranges);
      } else if (count(shape) == full) {
        index = reshaped_index(full_shape(), shape, domain_.values(), domain_.ranges);
        if (std::any_of(index.begin(), index.end(), divides_several_variables))
          return refuse(fmt::format("it stores {}, while the kernel runs over {} in another order", str(shape),
                                    str(full_shape())),
                        "nothing, unless both can be stored in the same order");
      } else {
        return refuse(fmt::format("it stores {}, while the kernel runs over {}", str(shape), str(full_shape())),
                      "outputs of one kernel must have the shape of its loops, or of its rows");
      }
      domain_.outputs.push_back(stored(id, base, std::move(index)));
      domain_.outputs.back().per_row = per_row;
    }
    return true;
  }

  // How many levels of reductions must be done before the node can be evaluated; of a reduction,
  // before its argument can be.
  int level_of(NodeId id) {
    auto known = level_.find(id);
    if (known != level_.end()) return known->second;
    int level = 0;
    if (const auto online = online_of(id))
      level = level_of(online->maximum);
    else if (const auto moment = moment_of(id))
      level = level_beside(*moment);
    else if (member(id) || !inputs_.count(id))
      for (NodeId arg : at(id).args) level = std::max(level, ready_after(arg));
    return level_[id] = level;
  }
  std::optional<OnlineSum> online_of(NodeId id) const {
    if (online_ != Online::All || !member(id)) return std::nullopt;
    const auto online = online_sum(graph_, id);
    return online && member(online->maximum) ? online : std::nullopt;
  }
  // Where that saves a pass.
  std::optional<Moment> moment_of(NodeId id) {
    if (!moments_ || !member(id) || !runs_in_passes(id)) return std::nullopt;
    auto found = moment(graph_, id);
    if (found && level_beside(*found) >= ready_after(at(id).args[0])) found.reset();
    return found;
  }
  // The factors are needed in its pass, and what belongs to whole rows when that is done.
  int level_beside(const Moment& moment) {
    int level = 0;
    for (const Moment::Factor& factor : moment.factors) level = std::max(level, ready_after(factor.value));
    for (const NodeId value : moment.of_rows()) level = std::max(level, ready_after(value) - 1);
    return level;
  }
  int ready_after(NodeId id) { return level_of(id) + (member(id) && runs_in_passes(id) ? 1 : 0); }

  const Graph& graph_;
  const Group& group_;
  const SizeBinding& sizes_;
  const Online online_;
  const ShortAxes apart_;
  const bool moments_;
  bool finer_;
  std::unordered_set<NodeId> members_, inputs_;
  Domain domain_;
  Shape domain_shape_;
  std::vector<int> domain_reduced_;
  std::vector<std::pair<IntExpr, bool>> domain_signature_;
  std::optional<CommonPoints> points_;
  std::map<NodeId, Index> result_index_;
  std::map<NodeId, int> level_;
};

}  // namespace

std::variant<Placed, Refusal> place_domain(const Graph& graph, const Group& group, const SizeBinding& sizes,
                                           Online online, ShortAxes apart, bool& finer) {
  Placement placement(graph, group, sizes, online, apart, finer);
  auto placed = placement.run();
  finer = placement.is_finer();
  return placed;
}

}  // namespace smelt::schedule
