#include "schedule/cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "schedule/computing.hpp"
#include "schedule/local.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"

namespace smelt::schedule {
namespace {

constexpr size_t kMostRanges = 16;
// The cost of an operation that is another one in each place: both sides of a choice, or a shift by
// numbers that lanes do not share.
constexpr int kDecided = 12;

// Made of symbols by + and *. Where it is a remainder, as in roll(x, 1), that a place lies inside
// does not follow from its range.
bool is_plain(const IntExpr& size) {
  for (const IntExpr::Term& term : size.terms()) {
    IntExpr product = term.coefficient;
    for (const Symbol symbol : IntExpr::of_term(term).symbols()) product = product * IntExpr::symbol(symbol);
    if (!(product == IntExpr::of_term(term))) return false;
  }
  return true;
}

class CutFinder {
 public:
  CutFinder(const Graph& graph, const Group& group, const Domain& domain)
      : graph_(graph), computes_(graph), members_(group.nodes.begin(), group.nodes.end()), domain_(domain) {}

  std::optional<Cut> run() {
    for (const Output& o : domain_.outputs) {
      waiting_.push_back({o.base, o.base_index});
      while (!waiting_.empty() && !cut_) {
        const auto [id, index] = std::move(waiting_.back());
        waiting_.pop_back();
        visit(id, index);
      }
    }
    return cut_;
  }
  // What operations take that lanes of one place of an axis do not: those of which its places share
  // the result, and those that an index makes another operation in each place. Until arrays that
  // are joined were found.
  int saved_along(Symbol var) {
    saved_along_ = var;
    run();
    return saved_;
  }

 private:
  // Chains may be longer than the stack is deep.
  void visit(NodeId id, const Index& index) {
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Input || (!members_.count(id) && computes_(id))) return;
    if (node.kind == NodeKind::Concat) return joined(node, index);
    if (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast) {
      if (!seen_.insert(id).second) return;
      if (saved_along_) save(node, index);
      for (size_t a = node.args.size(); a-- > 0;) waiting_.push_back({node.args[a], index});
    } else if (is_view(node.kind) && node.kind != NodeKind::Window && node.kind != NodeKind::Extend) {
      waiting_.push_back({node.args[0], through_view(graph_, node, index, domain_.ranges)});
    }
  }

  void save(const Node& node, const Index& index) {
    const auto along = [&](const IntExpr& i) { return i.mentions(*saved_along_); };
    if (std::none_of(index.begin(), index.end(), along)) saved_ += cost_of(node);
    const bool decided = node.op == Op::Where || node.op == Op::ShiftLeft || node.op == Op::ShiftRight ||
                         node.op == Op::FloorDiv || node.op == Op::Mod || node.op == Op::Pow;
    if (node.kind != NodeKind::Elementwise || !decided) return;
    const auto from_index = [&](NodeId id) { return is_of_indices(id); };
    const bool some = std::any_of(node.args.begin(), node.args.end(), from_index);
    if (some && !std::all_of(node.args.begin(), node.args.end(), from_index)) saved_ += kDecided;
  }

  // Whether nothing but the index says what a value is. What takes many operations to say is not
  // looked into.
  bool is_of_indices(NodeId id, int depth = 0) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) return false;
    const auto known = of_indices_.find(id);
    if (known != of_indices_.end()) return known->second;
    const Node& node = graph_.at(id);
    bool found = node.kind == NodeKind::Iota;
    if (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast || is_view(node.kind)) {
      const auto moves = [&](NodeId arg) { return is_of_indices(arg, depth + 1); };
      found =
          std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return moves(arg) || is_constant(arg); }) &&
          std::any_of(node.args.begin(), node.args.end(), moves);
    }
    return of_indices_[id] = found;
  }
  bool is_constant(NodeId id) const {
    id = behind_views(graph_, id);
    return graph_.at(id).kind == NodeKind::Constant;
  }

  // The index along the joined axis is an axis of the domain, from some place on.
  void joined(const Node& node, const Index& index) {
    const size_t along = static_cast<size_t>(node.axes[0]);
    IntExpr begin = 0;
    for (const NodeId arg : node.args) {  // in one of them alone
      const IntExpr place = index[along] - begin, size = graph_.at(arg).shape[along];
      if (proves_nonnegative(place, domain_.ranges) && proves_nonnegative(size - 1 - place, domain_.ranges)) {
        Index inside = index;
        inside[along] = place;
        waiting_.push_back({arg, std::move(inside)});
        return;
      }
      begin = begin + size;
    }
    for (size_t a = 0; a < domain_.axes.size(); ++a) {
      const auto step = index[along].coefficient_of(domain_.axes[a].var);
      if (!step || !step->is(1)) continue;
      const IntExpr first = index[along] - IntExpr::symbol(domain_.axes[a].var);
      if (!first.is(0) || !(node.shape[along] == domain_.axes[a].extent)) return;
      Cut cut{static_cast<int>(a), {}};
      IntExpr front = 0;
      for (const NodeId arg : node.args) {
        const IntExpr size = graph_.at(arg).shape[along];
        if (!is_plain(size)) return;
        if (!size.is(0)) cut.starts.push_back(front);
        front = front + size;
      }
      if (cut.starts.size() > 1) cut_ = cut;
      return;
    }
  }

  const Graph& graph_;
  const Computing computes_;
  const std::set<NodeId> members_;
  const Domain& domain_;
  std::set<NodeId> seen_;
  std::vector<std::pair<NodeId, Index>> waiting_;
  std::optional<Cut> cut_;
  std::optional<Symbol> saved_along_;
  int saved_ = 0;
  std::map<NodeId, bool> of_indices_;
};

// What is read of a range that this one is not.
bool always_outside(const Graph& graph, const Domain& domain, const Read& read) {
  const Shape& shape = graph.at(read.node).shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (proves_nonnegative(-1 - read.index[d], domain.ranges) ||
        proves_nonnegative(read.index[d] - shape[d], domain.ranges))
      return true;
  return false;
}

// What the domain stores and reads, once for each of the places `var` + starts[i], `var` standing
// for `value`.
void side_by_side(const Graph& graph, const std::vector<IntExpr>& starts, const IntExpr& value, Symbol var,
                  Domain& domain) {
  const std::vector<Output> outputs = std::move(domain.outputs);
  const std::vector<Read> reads = std::move(domain.reads);
  domain.outputs.clear(), domain.reads.clear();
  for (const IntExpr& start : starts) {
    const std::map<Symbol, IntExpr> shifted{{var, value + start}};
    const auto shift = [&](Index& index) {
      for (IntExpr& i : index) i = i.substitute(shifted, domain.ranges);
    };
    for (Output o : outputs) {
      shift(o.base_index), shift(o.store_index);
      domain.outputs.push_back(std::move(o));
    }
    for (Read read : reads) {
      shift(read.index);
      const auto same = [&](const Read& r) { return r.node == read.node && r.index == read.index; };
      if (!always_outside(graph, domain, read) && std::none_of(domain.reads.begin(), domain.reads.end(), same))
        domain.reads.push_back(std::move(read));
    }
  }
}

}  // namespace

std::optional<Cut> find_cut(const Graph& graph, const Group& group, const Domain& domain, const SizeBinding& sizes,
                            int64_t least) {
  std::optional<Cut> cut = CutFinder(graph, group, domain).run();
  if (!cut || cut->starts.size() > kMostRanges) return std::nullopt;
  int64_t run = 1;
  for (size_t a = static_cast<size_t>(cut->axis) + 1; a < domain.axes.size(); ++a) run *= domain.axes[a].estimate;
  const Axis& axis = domain.axes[static_cast<size_t>(cut->axis)];
  for (size_t r = 0; r < cut->starts.size(); ++r) {
    const IntExpr end = r + 1 < cut->starts.size() ? cut->starts[r + 1] : axis.extent;
    if ((end - cut->starts[r]).evaluate(sizes) * run < least) return std::nullopt;
  }
  return cut;
}

bool join_ranges(const Graph& graph, const Cut& cut, const SizeBinding& sizes, Domain& domain) {
  constexpr size_t kMostJoined = 4;
  Axis& axis = domain.axes[static_cast<size_t>(cut.axis)];
  if (cut.starts.size() > kMostJoined) return false;
  const IntExpr length = cut.starts[1];
  for (size_t r = 0; r < cut.starts.size(); ++r)
    if (!(cut.starts[r] == length * static_cast<int64_t>(r))) return false;
  if (!(axis.extent == length * static_cast<int64_t>(cut.starts.size()))) return false;
  if (length.is(1) && domain.axes.size() > 1) {
    write_out(graph, cut.axis, domain);
    return true;
  }
  axis.extent = length;
  axis.estimate = length.evaluate(sizes);
  domain.ranges[axis.var] = {0, length - 1};
  side_by_side(graph, cut.starts, IntExpr::symbol(axis.var), axis.var, domain);
  return true;
}

std::optional<int> short_axis(const Graph& graph, const Domain& domain) {
  // Stores side by side write parts of sectors; reads find the rest of theirs in the first-level
  // cache.
  constexpr int64_t kMostStored = 4, kMostRead = 7;
  constexpr int64_t kMostOutputs = 8;
  const int last = static_cast<int>(domain.axes.size()) - 1;
  if (last < 1) return std::nullopt;
  const auto length = [&](int axis) { return domain.axes[static_cast<size_t>(axis)].extent.constant().value_or(0); };
  const auto is_short = [&](int axis, int64_t most) { return length(axis) >= 2 && length(axis) <= most; };
  const auto writes_out = [&](int axis) {
    return length(axis) * static_cast<int64_t>(domain.outputs.size()) <= kMostOutputs &&
           std::none_of(domain.reads.begin(), domain.reads.end(),
                        [&](const Read& r) { return reads_windows(r.index); });
  };
  if (is_short(last, kMostStored) && writes_out(last)) return last;
  for (int axis = 0; axis < last; ++axis) {
    // Not what is the same for all points of another axis, as a factor for each channel.
    const auto is_along = [&](const Read& r) {
      return contiguous_axis(graph, domain, r.node, r.index) == axis &&
             std::any_of(r.index.begin(), r.index.end(),
                         [&](const IntExpr& i) { return i.mentions(domain.axes.back().var); });
    };
    if (is_short(axis, kMostRead) && writes_out(axis) &&
        std::any_of(domain.reads.begin(), domain.reads.end(), is_along))
      return axis;
  }
  return std::nullopt;
}

std::optional<int> axis_between_lanes(const Graph& graph, const Group& group, const Domain& domain, int64_t least) {
  // Results for a lane, but where arrays are joined in shorter parts than are read as vectors.
  constexpr int64_t kMostBetween = 8, kLongPart = 4;
  constexpr int kWorthMoving = 12;  // of operations: to interleave what is computed takes some, too
  const int last = static_cast<int>(domain.axes.size()) - 1;
  if (last < 1 || !domain.draws.empty()) return std::nullopt;
  const Axis& axis = domain.axes[static_cast<size_t>(last)];
  const int64_t length = axis.extent.constant().value_or(0);
  const int64_t results = length * static_cast<int64_t>(domain.outputs.size());
  if (length < 2 || results > kMostJoined || domain.axes[static_cast<size_t>(last) - 1].estimate < least)
    return std::nullopt;
  const auto apart = [&](const Output& o) {
    const auto step = flat_offset(graph.at(o.node), o.store_index).coefficient_of(axis.var);
    return !step || !step->is(1);
  };
  if (std::any_of(domain.outputs.begin(), domain.outputs.end(), apart) ||
      std::any_of(domain.reads.begin(), domain.reads.end(), [](const Read& r) { return reads_windows(r.index); }))
    return std::nullopt;
  const auto cut = CutFinder(graph, group, domain).run();
  if (cut && cut->axis == last) {
    const auto parts = static_cast<int64_t>(cut->starts.size());
    return results <= kMostBetween || parts * kLongPart > length ? std::optional(last) : std::nullopt;
  }
  if (results > kMostBetween) return std::nullopt;
  const int saved = CutFinder(graph, group, domain).saved_along(axis.var);
  return saved * (length - 1) >= kWorthMoving ? std::optional(last) : std::nullopt;
}

int between_lanes(const Graph& graph, const Domain& domain, int axis) {
  constexpr int64_t kMostRead = 8;
  int64_t most = 1;
  const auto add = [&](NodeId node, const Index& index, int64_t furthest, int64_t counted) {
    const auto step = flat_offset(graph.at(node), index).coefficient_of(domain.axes[static_cast<size_t>(axis)].var);
    const int64_t apart = step ? std::abs(step->constant().value_or(1)) : 1;
    if (apart <= furthest) most = std::max(most, std::min(apart, counted));
  };
  // What is the same for all of what is reduced is read once, before that.
  const bool reduces = last_axis(domain, true) >= 0;
  const auto varies = [&](const Read& r) {
    return std::any_of(domain.axes.begin(), domain.axes.end(), [&](const Axis& a) {
      const auto mentions = [&](const IntExpr& i) { return i.mentions(a.var); };
      return a.reduced && std::any_of(r.index.begin(), r.index.end(), mentions);
    });
  };
  for (const Read& r : domain.reads)
    if (!reduces || varies(r)) add(r.node, r.index, kMostApart, kMostRead);
  for (const Output& o : domain.outputs) add(o.node, o.store_index, kMostJoined, kMostJoined);
  return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(most)));
}

void write_out(const Graph& graph, int axis, Domain& domain) {
  const Axis gone = domain.axes[static_cast<size_t>(axis)];
  std::vector<IntExpr> places;
  for (int64_t place = 0; place < *gone.extent.constant(); ++place) places.push_back(place);
  domain.axes.erase(domain.axes.begin() + axis);
  domain.once = domain.again;  // whoever writes an axis out has weighed what is computed again
  side_by_side(graph, places, 0, gone.var, domain);
}

void take_cut(Schedule& s, std::optional<Cut> cut) {
  s.cut = std::move(cut);
  if (s.cut) s.note += fmt::format(", {} ranges of axis {} separately", s.cut->starts.size(), s.cut->axis);
}

}  // namespace smelt::schedule
