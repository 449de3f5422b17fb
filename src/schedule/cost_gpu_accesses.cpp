#include "schedule/cost_gpu_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "schedule/local.hpp"

namespace smelt::schedule {

double GpuAccesses::step_along(NodeId node, const Index& index) const {
  if (s_.vector_axis < 0 || graph_.at(node).shape.empty()) return 0;
  const auto along = [&](int axis) {
    return stride_of(graph_, s_.domain, sizes_, node, index, s_.domain.axes[static_cast<size_t>(axis)].var);
  };
  const double step = std::min(along(s_.vector_axis), step_within_row(node, index));
  // Lanes that are more than a short axis go on along the one before it: on the average, with no
  // more than a sector from one element to the next.
  const double sector = double(kSector) / size_of(graph_.at(node).dtype),
               length = static_cast<double>(
                   std::max<int64_t>(1, s_.domain.axes[static_cast<size_t>(s_.vector_axis)].estimate));
  if (!s_.flattened || s_.strategy != Strategy::Pointwise || s_.vector_axis < 1 || length >= sector) return step;
  const double outer = along(s_.vector_axis - 1);
  if (outer == 0 || step == 0 || outer == length * step) return step;
  const double jump = std::abs(outer - (length - 1) * step);
  return ((length - 1) * std::min(step, sector) + std::min(jump, sector)) / length;
}

// The most elements from a lane to the next, on the average, where lanes pick places of one row
// alone: those of a warp are in its lines.
double GpuAccesses::step_within_row(NodeId node, const Index& index) const {
  constexpr double kWarp = 32;
  const Axis& axis = s_.domain.axes[static_cast<size_t>(s_.vector_axis)];
  const auto changes = [&](const IntExpr& i) { return symbols_behind(s_.domain, i.symbols()).count(axis.var) > 0; };
  if (!reads_gathered(index) || std::any_of(index.begin(), index.end() - 1, changes)) return kAnywhere;
  const int64_t row = graph_.at(node).shape.back().evaluate(sizes_);
  return std::max(1.0, static_cast<double>(row) / (kWarp * std::max(1, s_.lanes)));
}

int64_t GpuAccesses::extent_of(Symbol window) const {
  return s_.domain.ranges.at(window).high.constant().value_or(0) + 1;
}

IntExpr GpuAccesses::lane() const { return IntExpr::symbol(s_.domain.axes[static_cast<size_t>(s_.vector_axis)].var); }

double GpuAccesses::lines_of_window(NodeId node, const Index& index) const {
  const double size = size_of(graph_.at(node).dtype);
  std::map<Symbol, double> lines;
  for (const IntExpr& i : index)
    for (const Symbol s : i.symbols())
      if (s.kind() == Symbol::Kind::Window && s_.domain.ranges.has(s) &&
          stride_of(graph_, s_.domain, sizes_, node, index, s) * size >= kLine)
        lines[s] = static_cast<double>(extent_of(s));
  double n = 1;
  for (const auto& [symbol, extent] : lines) n *= extent;
  return n;
}

double GpuAccesses::word_of_window(NodeId node, const Index& index) const {
  const int together = s_.strategy == Strategy::Row || s_.strategy == Strategy::Pointwise ? s_.unroll : 1;
  if (std::max(1, s_.lanes) * together > 1) return 1;
  const IntExpr flat = flat_offset(graph_.at(node), index);
  const auto fits = [&](Symbol s, int64_t word) {
    const auto step = flat.coefficient_of(s);
    if (s.kind() == Symbol::Kind::Window && step && step->is(1) && s_.domain.ranges.has(s))
      return extent_of(s) % word == 0;
    return step && step->evaluate(sizes_) % word == 0;
  };
  const std::vector<Symbol> symbols = flat.symbols();
  for (int word = 16 / size_of(graph_.at(node).dtype); word > 1; word /= 2)
    if (std::all_of(symbols.begin(), symbols.end(), [&](Symbol s) { return s.is_size() || fits(s, word); }))
      return word;
  return 1;
}

double GpuAccesses::longest_side(const Index& index) const {
  int64_t longest = 1;
  for (const IntExpr& i : index)
    for (const Symbol s : i.symbols())
      if (s.kind() == Symbol::Kind::Window && s_.domain.ranges.has(s)) longest = std::max(longest, extent_of(s));
  return static_cast<double>(longest);
}

double GpuAccesses::shared_of_lanes(NodeId node, const Index& index) const {
  const IntExpr flat = flat_offset(graph_.at(node), index);
  double along = 0;
  for (const Symbol s : flat.symbols())
    if (s.kind() == Symbol::Kind::Window && s_.domain.ranges.has(s))
      if (const auto own = flat.coefficient_of(s); own && (own->is(1) || own->is(-1)))
        along = std::max(along, static_cast<double>(extent_of(s)));
  const double lanes = std::max(1, s_.lanes);
  return along == 0 ? 1 : (along + lanes - 1) / (along * lanes);
}

double GpuAccesses::shared_of_blocks(NodeId node, const Index& index) const {
  const auto columns = static_cast<double>(s_.blocking->block.back());
  double reads = columns;
  for (const IntExpr& i : index)
    for (const Symbol s : i.symbols())
      if (s.kind() == Symbol::Kind::Window && s_.domain.ranges.has(s) &&
          stride_of(graph_, s_.domain, sizes_, node, index, s) == 1)
        reads += static_cast<double>(s_.domain.ranges.at(s).high.constant().value_or(0));
  return columns / reads;
}

double GpuAccesses::reads_between_lanes(const Read& read) const {
  constexpr size_t kMostLookedAt = 64;
  const double stride = step_along(read.node, read.index);
  if (stride <= 1 || stride >= kLine || s_.domain.reads.size() > kMostLookedAt || s_.blocking) return 1;
  const IntExpr flat = flat_offset(graph_.at(read.node), read.index);
  const auto near = [&](const Read& other) {
    if (other.node != read.node) return false;
    const auto apart = (flat_offset(graph_.at(other.node), other.index) - flat).constant();
    return apart && static_cast<double>(std::abs(*apart)) < stride;
  };
  return std::min(stride, static_cast<double>(std::count_if(s_.domain.reads.begin(), s_.domain.reads.end(), near)));
}

namespace {

const Index& index_of(const Read& read) { return read.index; }
const Index& index_of(const Output& output) { return output.store_index; }

}  // namespace

bool GpuAccesses::goes_on(const IntExpr& flat, int64_t apart) const {
  int64_t step = apart;
  for (size_t axis = s_.domain.axes.size(); axis-- > 0;) {
    const Axis& a = s_.domain.axes[axis];
    const auto own = flat.coefficient_of(a.var);
    const bool flat_axis = static_cast<int>(axis) >= s_.flat_from;
    if (!own || (flat_axis ? own->evaluate(sizes_) != step : own->evaluate(sizes_) % s_.lanes != 0)) return false;
    step *= a.extent.evaluate(sizes_);
  }
  return true;
}

template <class Access>
bool GpuAccesses::fill_steps(NodeId node, const Index& index, const std::vector<Access>& all) const {
  constexpr int64_t kMostApart = 8;  // as kernel/lane_groups.cpp has them
  if (s_.lanes <= 1 || s_.vector_axis < 0 || s_.stencil || s_.blocking || reads_gathered(index)) return false;
  const IntExpr flat = flat_offset(graph_.at(node), index);
  const auto step = flat.coefficient_of(*lane().as_symbol());
  std::optional<int64_t> apart;
  if (step) apart = step->constant();
  const int bytes = size_of(graph_.at(node).dtype);
  if (!apart || *apart < 2 || *apart > kMostApart || bytes >= 4) return false;
  if (bytes * s_.lanes < 4 && std::has_single_bit(static_cast<uint64_t>(*apart * bytes))) return false;
  std::set<int64_t> found;
  for (const Access& other : all)
    if (other.node == node)
      if (const auto beyond = (flat_offset(graph_.at(node), index_of(other)) - flat).constant();
          beyond && std::abs(*beyond) < *apart)
        found.insert(*beyond);
  if (static_cast<int64_t>(found.size()) < *apart) return false;
  const IntExpr first = flat + *found.begin();
  return s_.flattened ? goes_on(first, *apart) : is_multiple_of_lanes(first - *apart * lane());
}

bool GpuAccesses::in_turn(const Read& read) const { return fill_steps(read.node, read.index, s_.domain.reads); }

bool GpuAccesses::in_turn(const Output& output) const {
  return fill_steps(output.node, output.store_index, s_.domain.outputs);
}

std::optional<IntExpr> GpuAccesses::origin_of(NodeId node, const Index& index) const {
  if (s_.vector_axis < 0 || graph_.at(node).shape.empty() || reads_gathered(index)) return std::nullopt;
  const IntExpr flat = flat_offset(graph_.at(node), index);
  // Windows along the lanes are read as a whole.
  for (const Symbol s : flat.symbols())
    if (s.kind() == Symbol::Kind::Window)
      if (const auto own = flat.coefficient_of(s); !own || own->is(1) || own->is(-1)) return std::nullopt;
  const auto step = flat.coefficient_of(*lane().as_symbol());
  return step && step->is(1) ? std::optional(flat - lane()) : std::nullopt;
}

bool GpuAccesses::is_multiple_of_lanes(const IntExpr& origin) const {
  SizeBinding first = sizes_;
  for (const Symbol s : origin.symbols()) {
    if (s.is_size()) continue;
    const auto step = origin.coefficient_of(s);
    if (!step || step->evaluate(sizes_) % s_.lanes != 0) return false;
    first[s] = 0;
  }
  return origin.evaluate(first) % s_.lanes == 0;
}

void GpuAccesses::find_begin() {
  const Axis* axis = s_.vector_axis < 0 ? nullptr : &s_.domain.axes[static_cast<size_t>(s_.vector_axis)];
  const int64_t length = !axis ? 0 : s_.flattened ? s_.domain.estimate(false) : axis->estimate;
  if (length % s_.lanes == 0) return;
  std::vector<std::pair<IntExpr, int>> origins;
  const auto count = [&](NodeId node, const Index& index) {
    const auto origin = origin_of(node, index);
    if (!origin) return;
    const auto known = std::find_if(origins.begin(), origins.end(), [&](const auto& o) { return o.first == *origin; });
    if (known == origins.end())
      origins.emplace_back(*origin, 1);
    else
      ++known->second;
  };
  for (const Output& output : s_.domain.outputs)
    if (!output.per_row) count(output.node, output.store_index);
  for (const Read& read : s_.domain.reads) count(read.node, read.index);
  const auto most = std::max_element(origins.begin(), origins.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != origins.end()) begin_ = most->first;
}

bool GpuAccesses::taken_singly(NodeId node, const Index& index) const {
  // Scans deal out their elements in order, one to a thread where a row does not begin well.
  if (s_.lanes <= 1 || s_.stencil || s_.blocking || !s_.domain.scans.empty()) return false;
  const auto origin = origin_of(node, index);
  if (!origin) return false;
  if (s_.flattened && s_.domain.pointwise()) {
    if (lies_as_axes(s_.domain, *origin + lane(), s_.flat_from, sizes_)) return false;
    // Groups of lanes go on from the end of a row with the next one.
    if (s_.domain.axes.back().estimate % s_.lanes != 0) return true;
  }
  return !is_multiple_of_lanes(*origin - begin_);
}

}  // namespace smelt::schedule
