#include "schedule/stencil.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "schedule/computing.hpp"
#include "schedule/proofs.hpp"
#include "schedule/schedule.hpp"

namespace smelt::schedule {
namespace {

// No halo is so wide: a margin for the ranges of the variables while the walk goes on.
constexpr int64_t kMargin = 1 << 20;
// A walk that meets so many more evaluations than there are operations is given up.
constexpr size_t kMostRequests = 1 << 12;
// And one that finds so many times the operations, and some: no rings would make up for that.
constexpr double kFarTooMany = 16, kSomeWork = 256;
// Rings must save this part of the operations.
constexpr double kWorthwhile = 1.25;
constexpr int64_t kMostRingRows = 64, kMostHalo = 256;
// Each is a loop of its own to compile.
constexpr size_t kMostRings = 20;
// Where the caches serve neighbours, what is in memory is read at so many places without being
// kept.
constexpr size_t kMostReads = 32;

// One place at which a value is needed: for columns from -left to +right beyond those of the strip,
// from `start` steps before the first row of outputs on.
struct Request {
  Index index;
  int64_t left = 0, right = 0, start = 0;
  bool fetched = false;  // for a ring of what is in memory: read ahead of its use already
  std::set<size_t>
      readers;  // the steps that need it: rings in the order in which they were found, from 1 on; 0: the outputs
};

// The dimension of an index that steps with a variable, if that is all it does with it: -1 when
// none mentions it.
std::optional<int> stepping_dim(const Index& index, Symbol variable) {
  int found = -1;
  for (size_t d = 0; d < index.size(); ++d) {
    if (!index[d].mentions(variable)) continue;
    const auto step = index[d].coefficient_of(variable);
    if (found >= 0 || !step || !step->is(1)) return std::nullopt;
    found = static_cast<int>(d);
  }
  return found;
}

// The dimension that goes on by 1 after so many columns.
struct ColumnStep {
  int dim = -1;
  int64_t columns = 1;
};

// The number of elements of a pixel where this is the place in it: `variable` % 3.
std::optional<int64_t> place_in_pixel(const IntExpr& e, Symbol variable) {
  if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() != 1) return std::nullopt;
  const IntExpr::Atom& a = *e.terms()[0].atoms[0];
  if (a.symbol || a.kind != AtomKind::Mod || !(a.a == IntExpr::symbol(variable))) return std::nullopt;
  return a.b.constant();
}

// How an index steps with the columns: by one dimension, or where a column is an element of a pixel
// by the number of the pixel, the place in it being its own dimension: x[y, i // 3 + 1, i % 3].
std::optional<ColumnStep> column_step(const Index& index, Symbol column, bool pixels) {
  if (const auto dim = stepping_dim(index, column)) return ColumnStep{*dim, 1};
  std::vector<int> moving;
  for (size_t d = 0; d < index.size(); ++d)
    if (index[d].mentions(column)) moving.push_back(static_cast<int>(d));
  if (!pixels || moving.size() != 2) return std::nullopt;
  for (const auto& [pixel, place] : {std::pair{moving[0], moving[1]}, std::pair{moving[1], moving[0]}}) {
    const auto elements = place_in_pixel(index[static_cast<size_t>(place)], column);
    if (!elements || *elements < 2) continue;
    const IntExpr number = floordiv(IntExpr::symbol(column), *elements);
    if (!(index[static_cast<size_t>(pixel)] - number).mentions(column)) return ColumnStep{pixel, *elements};
  }
  return std::nullopt;
}

class StencilFinder {
  using Places = std::vector<std::vector<Request>>;

 public:
  StencilFinder(const Graph& graph, const Group& group, const Domain& domain, const StencilNeeds& needs)
      : graph_(graph),
        computes_(graph),
        domain_(domain),
        needs_(needs),
        members_(group.nodes.begin(), group.nodes.end()) {
    all_once_ = static_cast<double>(group.inputs.size());
    for (const NodeId id : group.nodes) all_once_ += cost_of(graph.at(id));
    result_.column_axis = static_cast<int>(domain.axes.size()) - 1;
    result_.row_axis = result_.column_axis - 1;
    column_ = domain.axes[static_cast<size_t>(result_.column_axis)].var;
    if (result_.row_axis >= 0) row_ = domain.axes[static_cast<size_t>(result_.row_axis)].var;
    result_.warm_up = kMargin;
    ranges_ = widened(domain, result_);
    result_.warm_up = 0;
  }

  // Operations of one point, or nothing when there are too many places.
  std::optional<double> run(bool keep) {
    requests_.clear();
    result_.rings.clear();
    result_.warm_up = 0;
    shares_rows_ = false;
    total_ = 0, picked_ = 0, cost_ = single_ = done_ = 0, kept_ = false;
    const double most =
        keep ? std::max(kMostRepeated * all_once_, all_once_ + kRoundTrip) + 1 : kFarTooMany * all_once_ + kSomeWork;
    for (const Output& o : domain_.outputs) request(o.base, {o.base_index, 0, 0, 0, false, {0}});
    while (!requests_.empty()) {
      const auto last = std::prev(requests_.end());
      const NodeId id = last->first;
      const std::vector<Request> here = std::move(last->second);
      requests_.erase(last);
      if ((total_ += here.size()) > kMostRequests + 4 * members_.size() || done_ > most ||
          result_.rings.size() > kMostRings)
        return std::nullopt;
      for (const std::vector<Request>& rows : keep ? by_rows(here) : Places{here}) {
        shares_rows_ = shares_rows_ || (keep && from_memory(id) && differ_in_rows(rows));
        const std::optional<Request> ring = keep ? keep_in_ring(id, rows) : std::nullopt;
        if (ring)
          evaluate(id, *ring);
        else
          for (const Request& r : rows) evaluate(id, r);
      }
      single_ += from_memory(id) ? 1 : cost_of(graph_.at(id));
    }
    std::reverse(result_.rings.begin(), result_.rings.end());
    for (Ring& ring : result_.rings)
      for (RingPlace& place : ring.places) {
        std::set<size_t> readers;
        for (const size_t found : place.readers) readers.insert(result_.rings.size() - found);
        place.readers = std::move(readers);
      }
    result_.repeated = single_ > 0 ? done_ / single_ : 1;
    return cost_;
  }

  bool kept() const { return kept_; }                // something that is needed at several places
  bool shares_rows() const { return shares_rows_; }  // of what is in memory, one is read for several rows of outputs
  Stencil& result() { return result_; }
  double once() const { return single_; }  // operations of a point, if each were done once

 private:
  bool member(NodeId id) const { return members_.count(id) > 0; }
  bool from_memory(NodeId id) const {
    const Node& node = graph_.at(id);
    return node.kind == NodeKind::Input || (!member(id) && computes_(id));
  }

  void request(NodeId id, Request r) {
    std::vector<Request>& known = requests_[id];
    for (Request& k : known)
      if (k.index == r.index) {
        k.left = std::max(k.left, r.left);
        k.right = std::max(k.right, r.right);
        k.start = std::max(k.start, r.start);
        k.fetched = k.fetched && r.fetched;
        k.readers.insert(r.readers.begin(), r.readers.end());
        return;
      }
    known.push_back(std::move(r));
  }

  bool may_keep(NodeId id) const {
    const Node& node = graph_.at(id);
    if (from_memory(id)) return needs_.rings_of_inputs && !node.shape.empty();
    // What continues an array steps through it unevenly; a row of it is even.
    if (node.kind == NodeKind::Extend) return true;
    return member(id) && (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast ||
                          node.kind == NodeKind::Pad || node.kind == NodeKind::Concat || node.kind == NodeKind::Gather);
  }

  // Only pads, ends that are repeated or mirrored, slices and casts are between it and an array.
  bool plainly_from_memory(NodeId id) const {
    while (!from_memory(id)) {
      const Node& node = graph_.at(id);
      const bool clamps = node.kind == NodeKind::Extend && node.extend != ExtendMode::Wrap;
      if (!clamps && node.kind != NodeKind::Pad && node.kind != NodeKind::Slice && node.kind != NodeKind::Cast)
        return false;
      id = node.args[0];
    }
    return true;
  }

  // The column of an array that is read for this value at this index, less that of the point, when
  // only pads, slices and casts are between.
  std::optional<int64_t> memory_column(NodeId id, Index index) const {
    while (!from_memory(id)) {
      const Node& node = graph_.at(id);
      if (node.kind == NodeKind::Pad)
        index = pieces(graph_, node, index, ranges_, proofs_)[0].index;
      else if (node.kind == NodeKind::Slice)
        index = through_view(graph_, node, index, ranges_);
      else if (node.kind != NodeKind::Cast)
        return std::nullopt;
      id = node.args[0];
    }
    if (index.empty()) return std::nullopt;
    return (index.back() - IntExpr::symbol(*column_)).constant();
  }

  // What two places have in common that differ by constants along the rows and columns only;
  // nothing for others.
  std::optional<std::string> apart_from_steps(const Index& index) const {
    const auto row_dim = !row_ ? -1 : stepping_dim(index, *row_);
    const auto column = column_step(index, *column_, needs_.pixels);
    if (!row_dim || !column) return std::nullopt;
    std::string text;
    for (size_t d = 0; d < index.size(); ++d) {
      const bool moves = static_cast<int>(d) == *row_dim || static_cast<int>(d) == column->dim;
      text += "," + (moves ? without_constant(index[d]) : index[d]).str();
    }
    return text;
  }

  // Places that differ by constants along the rows and columns only, together.
  Places by_rows(const std::vector<Request>& here) const {
    if (here.size() == 1) return {here};
    Places groups;
    std::map<std::string, size_t> known;
    for (const Request& r : here) {
      const std::optional<std::string> common = apart_from_steps(r.index);
      const size_t group = common ? known.try_emplace(*common, groups.size()).first->second : groups.size();
      if (group == groups.size()) groups.emplace_back();
      groups[group].push_back(r);
    }
    return groups;
  }

  bool differ_in_rows(const std::vector<Request>& here) const {
    const auto row_dim = !row_ ? std::nullopt : stepping_dim(here[0].index, *row_);
    if (!row_dim || *row_dim < 0) return false;
    const auto d = static_cast<size_t>(*row_dim);
    return std::any_of(here.begin(), here.end(), [&](const Request& r) { return !(r.index[d] == here[0].index[d]); });
  }

  // The one evaluation that serves all these places, when the value is to be kept.
  std::optional<Request> keep_in_ring(NodeId id, const std::vector<Request>& here) {
    const bool several = here.size() > 1;
    // What is read at one place may be kept to be read ahead.
    const bool fetch = needs_.ahead > 0 && from_memory(id) && !here[0].fetched && row_;
    if ((!several && !fetch) || !may_keep(id)) return std::nullopt;
    if (!needs_.rings_of_inputs && here.size() <= kMostReads && plainly_from_memory(id)) return std::nullopt;
    Ring ring;
    ring.node = id;
    const Index& first = here[0].index;
    const auto row_dim = !row_ ? -1 : stepping_dim(first, *row_);
    const auto step = column_step(first, *column_, needs_.pixels);
    if (!row_dim || !step || (*row_dim >= 0 && *row_dim == step->dim)) return std::nullopt;
    if (!several && (*row_dim < 0 || step->dim < 0)) return std::nullopt;
    ring.row_dim = *row_dim, ring.column_dim = step->dim, ring.column_step = step->columns;
    std::vector<int64_t> down(here.size(), 0), across(here.size(), 0);
    for (size_t k = 0; k < here.size(); ++k)
      for (size_t d = 0; d < first.size(); ++d) {
        const auto offset = (here[k].index[d] - first[d]).constant();
        const bool row = static_cast<int>(d) == ring.row_dim, column = static_cast<int>(d) == ring.column_dim;
        if (!offset || (*offset != 0 && !row && !column)) return std::nullopt;
        if (row) down[k] = *offset;
        if (column) across[k] = *offset * ring.column_step;
      }
    int64_t lowest = *std::max_element(down.begin(), down.end());
    const int64_t highest = *std::min_element(down.begin(), down.end());
    if (ring.row_dim >= 0 && memory_column(id, first)) lowest += needs_.ahead;
    ring.rows = lowest - highest + 1;
    ring.index = first;
    if (ring.row_dim >= 0)
      ring.index[static_cast<size_t>(ring.row_dim)] = first[static_cast<size_t>(ring.row_dim)] + lowest;
    ring.left = -across[0] + here[0].left, ring.right = across[0] + here[0].right;
    for (size_t k = 0; k < here.size(); ++k) {
      ring.left = std::max(ring.left, here[k].left - across[k]);
      ring.right = std::max(ring.right, here[k].right + across[k]);
      ring.start = std::max(ring.start, here[k].start + lowest - down[k]);
    }
    int64_t shifted = 0;
    const auto shift_by = [&](int64_t wanted) {
      IntExpr& at = ring.index[static_cast<size_t>(ring.column_dim)];
      const int64_t elements = wanted / ring.column_step, columns = elements * ring.column_step;
      at = at + elements;
      ring.left += columns, ring.right -= columns, shifted += columns;
    };
    // The same halo on both sides, whichever place was met first; but arrays are read by whole
    // words.
    if (ring.column_dim >= 0) shift_by((ring.halo() + 1) / 2 - ring.left);
    ring.memory = memory_column(id, ring.index);
    if (ring.memory && needs_.lanes > 1 && ring.column_dim >= 0) {
      const int64_t beyond = ((*ring.memory % needs_.lanes) + needs_.lanes) % needs_.lanes;
      shift_by(2 * beyond <= needs_.lanes ? -beyond : needs_.lanes - beyond);
      ring.memory = memory_column(id, ring.index);
    }
    for (size_t k = 0; k < here.size(); ++k)
      ring.places.push_back({lowest - down[k], across[k] - shifted, here[k].readers});
    if (ring.rows > kMostRingRows || ring.halo() > kMostHalo) return std::nullopt;
    result_.warm_up = std::max(result_.warm_up, ring.start);
    cost_ += needs_.ring_cost * (1 + static_cast<double>(here.size()));
    kept_ = kept_ || several;
    Request once{ring.index, ring.left, ring.right, ring.start, ring.memory.has_value(), {}};
    result_.rings.push_back(std::move(ring));
    once.readers.insert(result_.rings.size());
    return once;
  }

  void evaluate(NodeId id, const Request& r) {
    const Node& node = graph_.at(id);
    const double width = static_cast<double>(needs_.columns + r.left + r.right) / static_cast<double>(needs_.columns);
    const double work = width * (from_memory(id) ? 1 : cost_of(node));
    cost_ += work, done_ += work;
    if (from_memory(id)) return;
    const auto onto = [&](NodeId arg, Index index) {
      request(arg, {std::move(index), r.left, r.right, r.start, r.fetched, r.readers});
    };
    switch (node.kind) {
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        for (NodeId arg : node.args) onto(arg, r.index);
        return;
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window: return onto(node.args[0], through_view(graph_, node, r.index, ranges_));
      case NodeKind::Extend:
        cost_ += 2 * needs_.guard_cost * width;
        return onto(node.args[0], through_view(graph_, node, r.index, ranges_));
      case NodeKind::Pad:
      case NodeKind::Concat:
        for (const Piece& piece : pieces(graph_, node, r.index, ranges_, proofs_)) {
          cost_ += needs_.guard_cost * width * static_cast<double>(piece.guards.size());
          onto(piece.arg, piece.index);
        }
        if (node.kind == NodeKind::Pad) onto(node.args[1], {});
        return;
      case NodeKind::Gather: {
        onto(node.args[1], gather_indices_index(graph_, node, r.index));
        const IntExpr picked = IntExpr::symbol(Symbol::gathered(++picked_));
        return onto(node.args[0], gather_data_index(graph_, node, r.index, picked));
      }
      case NodeKind::Random:
        for (NodeId arg : node.args) onto(arg, {});
        return;
      case NodeKind::Input:
      case NodeKind::Constant:
      case NodeKind::SizeValue:
      case NodeKind::Iota:
      case NodeKind::Reduce:
      case NodeKind::Custom:
      case NodeKind::Scatter:
      case NodeKind::Scan: return;
    }
  }

  const Graph& graph_;
  const Computing computes_;
  const Domain& domain_;
  const StencilNeeds& needs_;
  std::unordered_set<NodeId> members_;
  std::optional<Symbol> row_, column_;  // the variables
  Ranges ranges_;
  mutable Proofs proofs_;
  Stencil result_;
  std::map<NodeId, std::vector<Request>> requests_;  // of nodes that are still to be evaluated: readers come first
  double all_once_ = 0;                              // no more operations than these, if each were done once
  size_t total_ = 0;
  int picked_ = 0;
  bool kept_ = false, shares_rows_ = false;
  double cost_ = 0;               // of a point, with reads and rings
  double done_ = 0, single_ = 0;  // operations of a point, and those if each were done once
};

}  // namespace

IntExpr without_constant(const IntExpr& e) {
  for (const IntExpr::Term& term : e.terms())
    if (term.atoms.empty()) return e - term.coefficient;
  return e;
}

std::optional<RingPlace> place_in_ring(const Ring& ring, const Index& newest, const Index& index) {
  RingPlace place;
  for (size_t d = 0; d < index.size(); ++d) {
    const auto offset = (index[d] - newest[d]).constant();
    if (!offset) return std::nullopt;
    if (static_cast<int>(d) == ring.row_dim)
      place.back = -*offset;
    else if (static_cast<int>(d) == ring.column_dim)
      place.right = *offset * ring.column_step;
    else if (*offset != 0)
      return std::nullopt;
  }
  if (place.back < 0 || place.back >= ring.rows) return std::nullopt;
  return place;
}

Ranges widened(const Domain& domain, const Stencil& stencil) {
  Ranges ranges = domain.ranges;
  int64_t left = 0, right = 0;
  for (const Ring& ring : stencil.rings) left = std::max(left, ring.left), right = std::max(right, ring.right);
  if (stencil.rings.empty()) left = right = stencil.warm_up;
  const auto widen = [&](int axis, int64_t before, int64_t behind) {
    if (axis < 0) return;
    Interval& range = ranges.at(domain.axes[static_cast<size_t>(axis)].var);
    range.low = range.low - before;
    range.high = range.high + behind;
  };
  widen(stencil.column_axis, left, right);
  widen(stencil.row_axis, stencil.warm_up, 0);
  return ranges;
}

std::optional<double> operations_of_point(const Graph& graph, const Group& group, const Domain& domain) {
  return StencilFinder(graph, group, domain, {}).run(false);
}

StencilSearch find_stencil(const Graph& graph, const Group& group, const Domain& domain, const StencilNeeds& needs) {
  StencilSearch search;
  const auto local = [&](NodeId id) { return graph.at(id).local; };
  if (domain.levels > 0 || domain.axes.empty() || domain.outputs.empty() ||
      std::any_of(group.nodes.begin(), group.nodes.end(), local)) {
    search.again = 0;
    return search;
  }
  StencilFinder finder(graph, group, domain, needs);
  search.again = finder.run(false);
  search.once = finder.once();
  if (search.again && *search.again < kWorthwhile * search.once) return search;  // nothing is needed twice
  const auto kept = finder.run(true);
  search.once = finder.once();
  if (!kept || !finder.kept()) {
    if (kept && finder.shares_rows() && finder.result().rings.empty()) search.rows = std::move(finder.result());
    return search;
  }
  if (search.again && *search.again < kWorthwhile * *kept * needs.idle) return search;
  search.stencil = std::move(finder.result());
  return search;
}

}  // namespace smelt::schedule
