#include "schedule/domain.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/cost_parts.hpp"

namespace smelt::schedule {

int64_t Domain::estimate(bool reduced) const {
  int64_t n = 1;
  for (const Axis& axis : axes)
    if (axis.reduced == reduced) n *= std::max<int64_t>(axis.estimate, 1);
  return n;
}

IntExpr Domain::reduced_count() const {
  IntExpr product = 1;
  for (const Axis& axis : axes)
    if (axis.reduced) product = product * axis.extent;
  return product;
}

bool Domain::stores_components() const {
  std::set<NodeId> stored;
  return std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) { return !stored.insert(o.node).second; });
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

IntExpr flat_offset(const Node& node, const Index& index) {
  if (node.kind != NodeKind::Input || node.steps.empty()) return flat_offset(node.shape, index);
  IntExpr flat = 0;
  for (size_t d = 0; d < index.size(); ++d) flat = flat + node.steps[d] * index[d];
  return recombine(flat);
}

namespace {

// An array of a group, and the elements between neighbours along each axis of the domain.
struct Steps {
  double bytes = 0;
  std::vector<double> along;
};

// Nothing for what is read at places that are not evenly apart.
std::optional<Steps> steps_through(const Graph& graph, const Domain& domain, const SizeBinding& sizes, NodeId node,
                                   const Index& index) {
  Steps steps{array_bytes(graph, sizes, node), {}};
  const IntExpr flat = flat_offset(graph.at(node), index);
  for (const Axis& axis : domain.axes) {
    const auto step = flat.coefficient_of(axis.var);
    if (!step) return std::nullopt;
    steps.along.push_back(std::abs(static_cast<double>(step->evaluate(sizes))));
  }
  return steps;
}

}  // namespace

void follow_memory(const Graph& graph, Domain& domain, const SizeBinding& sizes) {
  constexpr double kAgreed = 8;         // times the bytes of what disagrees
  constexpr size_t kMostAccesses = 64;  // of a kernel that is worth the look
  if (domain.pointwise() || domain.axes.size() < 2 || domain.reads.size() > kMostAccesses) return;
  std::vector<Steps> all;
  for (const Read& r : domain.reads)
    if (auto steps = steps_through(graph, domain, sizes, r.node, r.index)) all.push_back(std::move(*steps));
  for (const Output& o : domain.outputs)
    if (!o.per_row)
      if (auto steps = steps_through(graph, domain, sizes, o.node, o.store_index)) all.push_back(std::move(*steps));
  // Positions are counted, and scans run, in the order of the program.
  const bool ordered = !domain.scans.empty() || finds_positions(graph, domain);
  const auto outside_in = [&](size_t d) {
    if (ordered && domain.axes[d].reduced && domain.axes[d + 1].reduced) return false;
    double as_it_is = 0, turned = 0;
    for (const Steps& steps : all) {
      const double outer = steps.along[d], inner = steps.along[d + 1];
      if (outer == 0 || inner == 0 || outer == inner) continue;
      (outer > inner ? as_it_is : turned) += steps.bytes;
    }
    return turned > kAgreed * as_it_is;
  };
  for (size_t round = 0; round < domain.axes.size(); ++round)
    for (size_t d = 0; d + 1 < domain.axes.size(); ++d) {
      if (!outside_in(d)) continue;
      std::swap(domain.axes[d], domain.axes[d + 1]);
      for (Steps& steps : all) std::swap(steps.along[d], steps.along[d + 1]);
    }
}

// Accesses that go up an axis, less those that go down.
struct Directions {
  int read = 0, stored = 0;
};

// Whether the loop over the last axis should run from its end: reversed lanes are loaded with a
// shuffle, but stores of them cannot bypass the caches.
static bool lanes_run_down(const Directions& along) {
  const int all = along.read + along.stored;
  return all < 0 || (all == 0 && along.stored < 0);
}

// The same for the axes around lanes that are read upwards. Rows are stored as fast in either
// order, but processors fetch ahead only where the rows that are read follow each other in memory.
static bool rows_run_down(const Directions& along) { return along.read < 0 || (along.read == 0 && along.stored < 0); }

static Directions directions_along(const Graph& graph, const Domain& domain, const SizeBinding& sizes, Symbol var) {
  Directions found;
  const auto direction = [&](NodeId node, const Index& index) {
    const auto step = flat_offset(graph.at(node), index).coefficient_of(var);
    const int64_t elements = step ? step->evaluate(sizes) : 0;
    return elements > 0 ? 1 : elements < 0 ? -1 : 0;
  };
  for (const Read& r : domain.reads) found.read += direction(r.node, r.index);
  for (const Output& o : domain.outputs) found.stored += direction(o.node, o.store_index);
  return found;
}

// Whether the elements of one point of the axis are few neighbours, as the bytes of pixels.
static bool has_short_runs(const Domain& domain, const Axis& axis) {
  constexpr int64_t kShortRun = 8;
  int64_t run = 1;
  for (const Axis* inner = &domain.axes.back(); inner != &axis; --inner) {
    const auto extent = inner->extent.constant();
    if (!extent || (run *= *extent) > kShortRun) return false;
  }
  return run > 1;
}

void follow_direction(const Graph& graph, Domain& domain, const SizeBinding& sizes) {
  // Positions are counted, scans run, and moments are measured, in the order of the program.
  const auto ordered = [&](const Reduction& r) { return r.moment || r.online; };
  if (!domain.scans.empty() || finds_positions(graph, domain) ||
      std::any_of(domain.reductions.begin(), domain.reductions.end(), ordered))
    return;
  const auto last =
      std::find_if(domain.axes.rbegin(), domain.axes.rend(), [](const Axis& a) { return !a.extent.is(1); });
  if (last == domain.axes.rend()) return;
  const Directions lanes = directions_along(graph, domain, sizes, last->var);
  const bool upwards = lanes_run_down(lanes) == (lanes.read < 0);
  for (const Axis& axis : domain.axes) {
    if (axis.extent.is(1)) continue;
    const Directions found = directions_along(graph, domain, sizes, axis.var);
    // Short runs are lanes together: vectors are read in any order, and stored in that of memory.
    const bool down = has_short_runs(domain, axis) ? found.stored < 0
                      : upwards && &axis != &*last ? rows_run_down(found)
                                                   : lanes_run_down(found);
    if (!down) continue;
    const std::map<Symbol, IntExpr> turned{{axis.var, axis.extent - 1 - axis.value()}};
    const auto turn = [&](Index& index) {
      for (IntExpr& i : index) i = i.substitute(turned, domain.ranges);
    };
    for (Reduction& r : domain.reductions) turn(r.argument_index), turn(r.result_index);
    for (Output& o : domain.outputs) turn(o.base_index), turn(o.store_index);
    for (std::vector<Read>* list : {&domain.reads, &domain.draws})
      for (Read& read : *list) turn(read.index);
    for (auto& [picked, from] : domain.gathers) turn(from);
  }
}

// Whether every access steps over `inner` and then over `outer` as over one axis of outer * inner
// points.
static bool step_as_one(const Graph& graph, const Domain& domain, const Axis& outer, const Axis& inner) {
  auto as_one = [&](NodeId node, const Index& index) {
    const IntExpr flat = flat_offset(graph.at(node), index);
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
  const Axis merged{Symbol::loop(outer.var.name() + inner.var.name()), outer.extent * inner.extent, outer.reduced,
                    outer.estimate * inner.estimate};
  domain.ranges[merged.var] = {0, merged.extent - 1};
  const IntExpr m = IntExpr::symbol(merged.var);
  const std::map<Symbol, IntExpr> parts{{outer.var, floordiv(m, inner.extent, domain.ranges)},
                                        {inner.var, mod(m, inner.extent, domain.ranges)}};
  auto rewrite = [&](Index& index) {
    for (IntExpr& i : index) i = i.substitute(parts, domain.ranges);
  };
  for (Reduction& r : domain.reductions) rewrite(r.argument_index), rewrite(r.result_index);
  for (Scan& s : domain.scans) rewrite(s.index);
  for (Output& o : domain.outputs) rewrite(o.base_index), rewrite(o.store_index);
  for (Read& r : domain.reads) rewrite(r.index);
  for (Read& r : domain.draws) rewrite(r.index);
  for (auto& [picked, from] : domain.gathers) rewrite(from);
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
