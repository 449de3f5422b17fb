#include "schedule/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_set>

#include "graph/build_detail.hpp"
#include "schedule/computing.hpp"
#include "schedule/operations.hpp"
#include "schedule/parts.hpp"
#include "schedule/proofs.hpp"

namespace smelt::schedule {
namespace {

// Smaller products take longer to stage than to add up in the loops of other families.
constexpr int64_t kFewestOfColumns = 8, kFewestOfInner = 8;
constexpr int64_t kSmallProduct = 1 << 14;  // multiplications

// What a factor is computed from.
struct Dependence {
  std::set<int> axes;  // of the domain
  bool along_inner = true;
  int64_t largest = -1;  // elements that are read of the array that decides what is contiguous
  int nearest = -1;      // the axis along which its elements are neighbours
  IntExpr offset;        // of what is read of it
  DType dtype{};
  Index index;  // at which it is read
  Shape strides;
  int reads = 0, casts = 0;
  bool is_plain = true;  // nothing but views and casts of what is read
};

class FactorFinder {
 public:
  FactorFinder(const Graph& graph, const Group& group, const Domain& domain, bool one_row)
      : graph_(graph),
        computes_(graph),
        domain_(domain),
        one_row_(one_row),
        members_(group.nodes.begin(), group.nodes.end()) {}

  std::optional<Product> run() {
    if (domain_.levels != 1 || !domain_.scans.empty() || domain_.reductions.empty()) return std::nullopt;
    for (const Output& o : domain_.outputs)
      if (!o.per_row) return std::nullopt;
    Product product;
    for (size_t r = 0; r < domain_.reductions.size(); ++r)
      if (!add(r, product)) return std::nullopt;
    return product;
  }

 private:
  bool add(size_t place, Product& product) {
    const Reduction& reduction = domain_.reductions[place];
    const Node& node = graph_.at(reduction.node);
    if (node.reduce != ReduceKind::Sum || reduction.online || reduction.moment) return false;
    const Node& argument = graph_.at(node.args[0]);
    if (!members_.count(node.args[0]) || argument.kind != NodeKind::Elementwise || argument.op != Op::Mul) return false;
    Dependence sides[2];
    for (size_t s = 0; s < 2; ++s) {
      visited_.clear();
      if (!follow(argument.args[s], reduction.argument_index, sides[s])) return false;
    }
    std::vector<int> batch, own[2], inner;
    for (size_t a = 0; a < domain_.axes.size(); ++a) {
      const int axis = static_cast<int>(a);
      const bool first = sides[0].axes.count(axis) > 0, second = sides[1].axes.count(axis) > 0;
      if (domain_.axes[a].reduced)
        inner.push_back(axis);
      else
        (first == second ? batch : own[first ? 0 : 1]).push_back(axis);
    }
    if (inner.empty() || (own[0].empty() && own[1].empty())) return false;
    const bool one_row = own[0].empty() || own[1].empty();
    if (one_row && !one_row_) return false;
    // Columns are the axes along which the result is stored: vectors along phases of channels would
    // be scattered.
    const auto [along, longer] = stored_along();
    const auto has = [&](size_t s, int axis) { return std::count(own[s].begin(), own[s].end(), axis) > 0; };
    size_t columns = one_row ? (own[0].empty() ? 1 : 0) : own[0].back() > own[1].back() ? 0 : 1;
    for (size_t s = 0; s < 2 && !one_row; ++s)
      if (has(s, along)) columns = own[s].size() > 1 && has(1 - s, longer) ? 1 - s : s;
    if (!product.sums.empty()) columns = own[0] == product.columns ? 0 : 1;
    const ProductSum sum{reduction.node, argument.args[1 - columns], argument.args[columns], place};
    const std::optional<Lines> lines[] = {lines_of(sides[0], own[0], inner), lines_of(sides[1], own[1], inner)};
    if (product.sums.empty()) {
      product.batch = batch, product.inner = inner;
      product.rows = own[1 - columns], product.columns = own[columns];
      product.rows_along_inner = sides[1 - columns].along_inner;
      product.columns_along_inner = sides[columns].along_inner;
      product.lines_of_rows = lines[1 - columns], product.lines_of_columns = lines[columns];
      product.rows_far_apart = !one_row && is_far_apart(sides[1 - columns], product.rows.back());
      product.columns_far_apart = is_far_apart(sides[columns], product.columns.back());
      if (!one_row && product.rows.back() == along && product.columns.back() == longer)
        product.run = domain_.axes[static_cast<size_t>(along)].extent.constant().value_or(1);
      const int nearest = sides[sides[0].largest > sides[1].largest ? 0 : 1].nearest;
      if (std::count(inner.begin(), inner.end(), nearest) > 0) product.nearest_inner = nearest;
    } else if (product.batch != batch || product.rows != own[1 - columns] || product.columns != own[columns]) {
      return false;
    } else {
      if (product.lines_of_rows != lines[1 - columns]) product.lines_of_rows.reset();
      if (product.lines_of_columns != lines[columns]) product.lines_of_columns.reset();
    }
    product.sums.push_back(sum);
    return true;
  }

  std::optional<Lines> lines_of(const Dependence& side, const std::vector<int>& own,
                                const std::vector<int>& inner) const {
    if (!side.is_plain || side.reads != 1 || side.casts > 1 || own.size() != 1 || inner.size() != 1) return {};
    const Symbol a = domain_.axes[static_cast<size_t>(own[0])].var, b = domain_.axes[static_cast<size_t>(inner[0])].var,
                 over = side.along_inner ? a : b, within = side.along_inner ? b : a;
    const auto apart = side.offset.coefficient_of(over), along = side.offset.coefficient_of(within);
    if (!apart || !apart->constant() || *apart->constant() < 1 || !along || !along->is(1)) return {};
    int axis = -1;
    for (size_t d = 0; d + 1 < side.index.size() && !side.index.back().mentions(over); ++d)
      if (side.index[d].coefficient_of(over).value_or(0).is(1) && side.strides[d] == *apart) axis = static_cast<int>(d);
    return Lines{*apart->constant() * size_of(side.dtype), side.dtype, side.casts > 0, axis};
  }

  // The first-level cache keeps the lines of a small array.
  bool is_far_apart(const Dependence& side, int axis) const {
    constexpr int64_t kLine = 64, kSmall = 32 << 10;
    const auto apart = side.offset.coefficient_of(domain_.axes[static_cast<size_t>(axis)].var);
    return !side.along_inner && side.largest * size_of(side.dtype) > kSmall && apart &&
           std::abs(apart->constant().value_or(0)) * size_of(side.dtype) >= kLine;
  }

  // The axis along which neighbours of the largest result lie in memory, and, where that is a short
  // one, the longer one whose elements are next to each other but for its runs: in results by
  // phases that is the places of a phase. -1: none.
  std::pair<int, int> stored_along() const {
    constexpr int64_t kShort = 8;
    std::pair<int, int> along{-1, -1};
    int64_t largest = 0;
    IntExpr offset;
    for (const Output& o : domain_.outputs) {
      const int64_t elements = count(graph_.at(o.node).shape).constant().value_or(1);
      if (elements <= largest) continue;
      largest = elements;
      along.first = contiguous_axis(graph_, domain_, o.node, o.store_index);
      offset = flat_offset(graph_.at(o.node), o.store_index);
    }
    if (along.first < 0) return along;
    const IntExpr& run = domain_.axes[static_cast<size_t>(along.first)].extent;
    if (run.constant().value_or(0) < 2 || *run.constant() > kShort) return along;
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      if (!domain_.axes[a].reduced && offset.coefficient_of(domain_.axes[a].var).value_or(0) == run &&
          domain_.axes[a].estimate > 2 * kShort)
        along.second = static_cast<int>(a);
    return along;
  }

  // Goes from a value at an index to what is read, as lowering evaluates it.
  bool follow(NodeId id, const Index& index, Dependence& found) {
    std::string key = std::to_string(id);
    for (const IntExpr& i : index) key += "," + i.str();
    if (!visited_.insert(std::move(key)).second) return true;
    const Node& node = graph_.at(id);
    const bool member = members_.count(id) > 0;
    if (node.kind == NodeKind::Input || (!member && computes_(id))) return note_read(id, index, found);
    const auto all = [&](const Index& at) {
      return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return follow(arg, at, found); });
    };
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return found.is_plain = false, true;
      case NodeKind::Iota: return found.is_plain = false, note(index[static_cast<size_t>(node.axes[0])], found);
      case NodeKind::Elementwise: return found.is_plain = false, all(index);
      case NodeKind::Cast: return ++found.casts, all(index);
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend: return follow(node.args[0], through_view(graph_, node, index, domain_.ranges), found);
      case NodeKind::Pad:
      case NodeKind::Concat:
        found.is_plain = false;
        for (const Piece& piece : pieces(graph_, node, index, domain_.ranges)) {
          for (const Guard& guard : piece.guards) note(guard.value, found);
          if (!follow(piece.arg, piece.index, found)) return false;
        }
        return node.kind == NodeKind::Concat || follow(node.args[1], {}, found);
      case NodeKind::Gather: {
        found.is_plain = false;
        if (!follow(node.args[1], gather_indices_index(graph_, node, index), found)) return false;
        return follow(node.args[0], gather_data_index(graph_, node, index, IntExpr::symbol(Symbol::gathered(0))),
                      found);
      }
      default: return false;
    }
  }

  bool note(const IntExpr& e, Dependence& found) const {
    for (size_t a = 0; a < domain_.axes.size(); ++a)
      if (e.mentions(domain_.axes[a].var)) found.axes.insert(static_cast<int>(a));
    return true;
  }

  bool note_read(NodeId id, const Index& index, Dependence& found) const {
    ++found.reads;
    for (const IntExpr& i : index) note(i, found);
    int64_t elements = 1;
    for (const IntExpr& i : index)
      for (const Axis& axis : domain_.axes)
        if (i.mentions(axis.var)) elements *= axis.estimate;
    if (elements <= found.largest) return true;
    found.largest = elements;
    const IntExpr offset = flat_offset(graph_.at(id), index);
    found.offset = offset, found.dtype = graph_.at(id).dtype;
    found.index = index, found.strides = strides_of(graph_.at(id));
    const int contiguous = contiguous_axis(graph_, domain_, id, index);
    found.nearest = contiguous;
    if (contiguous < 0)
      found.along_inner = std::any_of(domain_.axes.begin(), domain_.axes.end(), [&](const Axis& axis) {
        return axis.reduced && (repeats(offset, axis.var) || lies_in_pieces(offset, axis.var));
      });
    else
      found.along_inner = domain_.axes[static_cast<size_t>(contiguous)].reduced !=
                          has_longer_line(offset, domain_.axes[static_cast<size_t>(contiguous)]);
    return true;
  }

  // Whether several neighbours along the axis read one element, and the next ones the next: numbers
  // of 4 bits in a byte, the scale of a group.
  static bool repeats(const IntExpr& offset, const Symbol& var) {
    return std::any_of(offset.terms().begin(), offset.terms().end(), [&](const IntExpr::Term& term) {
      if (std::abs(term.coefficient) != 1 || term.atoms.size() != 1) return false;
      const IntExpr::Atom& atom = *term.atoms[0];
      return atom.kind == AtomKind::FloorDiv && atom.a.coefficient_of(var).value_or(0).is(1);
    });
  }

  // Whether neighbours along the axis lie side by side in pieces of whole words, as heads that are
  // joined: %k + 64 * (%k // 64), or %k % 64 + 512 * (%k // 64).
  static bool lies_in_pieces(const IntExpr& offset, const Symbol& var) {
    constexpr int64_t kWord = 8;
    bool side_by_side = false;
    for (const IntExpr::Term& term : offset.terms()) {
      if (!IntExpr::of_term(term).mentions(var)) continue;
      if (term.atoms.size() != 1) return false;
      const IntExpr::Atom& atom = *term.atoms[0];
      const bool is_var = atom.symbol && *atom.symbol == var;
      if (!is_var && !(atom.kind == AtomKind::FloorDiv || atom.kind == AtomKind::Mod)) return false;
      if (!is_var && (!(atom.a == IntExpr::symbol(var)) || atom.b.constant().value_or(1) % kWord != 0)) return false;
      if (is_var || atom.kind == AtomKind::Mod) {
        if (term.coefficient != 1 || side_by_side) return false;
        side_by_side = true;
      }
    }
    return side_by_side;
  }

  // Whether the elements along a kept axis are only a few apart, and more than those along an inner
  // one: a window that moves by steps. The other way round, in the gradient of its weights, the
  // windows overlap, else they are one line, and lanes that load every second element pay where
  // they are several times as many.
  bool has_longer_line(const IntExpr& offset, const Axis& dense) const {
    constexpr int64_t kFewApart = 4, kTimesAsMany = 4;
    return std::any_of(domain_.axes.begin(), domain_.axes.end(), [&](const Axis& axis) {
      const int64_t apart = std::abs(offset.coefficient_of(axis.var).value_or(0).constant().value_or(0));
      if (axis.reduced == dense.reduced || apart == 0) return false;
      return dense.reduced ? apart <= kFewApart && axis.estimate > dense.estimate
                           : apart == 2 && dense.estimate > apart && axis.estimate >= kTimesAsMany * dense.estimate;
    });
  }

  const Graph& graph_;
  const Computing computes_;
  const Domain& domain_;
  const bool one_row_;
  std::unordered_set<NodeId> members_;
  std::unordered_set<std::string> visited_;
};

}  // namespace

std::optional<Product> find_product(const Graph& graph, const Group& group, const Domain& domain, bool one_row) {
  return FactorFinder(graph, group, domain, one_row).run();
}

NodeId multiplication_of(const Graph& graph, NodeId id) {
  const Node& sum = graph.at(id);
  if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum || sum.local) return -1;
  const Node& product = graph.at(sum.args[0]);
  if (product.kind != NodeKind::Elementwise || product.op != Op::Mul || product.label.empty() ||
      product.label != sum.label)
    return -1;
  const auto repeated = [&](NodeId factor) { return graph.at(factor).kind == NodeKind::Broadcast; };
  return std::all_of(product.args.begin(), product.args.end(), repeated) ? sum.args[0] : -1;
}

bool is_wider(DType from, DType to) {
  if (!is_int(to) || size_of(to) < size_of(from)) return false;
  return from == to || (size_of(to) > size_of(from) && (is_signed_int(to) || is_unsigned_int(from)));
}

// Whether a value of a small float is a number of that dtype where it is computed: operations keep
// f32 in between (docs/numerics.md), so it is what was stored or cast, moved or chosen.
static bool is_rounded(const Graph& graph, const Group& group, NodeId id) {
  const Node& node = graph.at(id);
  const auto rounded = [&](NodeId arg) { return is_rounded(graph, group, arg); };
  if (is_view(node.kind) || node.kind == NodeKind::Gather) return rounded(node.args[0]);
  if (node.kind == NodeKind::Pad || node.kind == NodeKind::Concat)
    return std::all_of(node.args.begin(), node.args.end(), rounded);
  if (!std::binary_search(group.nodes.begin(), group.nodes.end(), id)) return true;
  if (node.kind != NodeKind::Elementwise) return node.kind == NodeKind::Cast || node.kind == NodeKind::Constant;
  const bool chooses = node.op == Op::Where || node.op == Op::Max || node.op == Op::Min;
  if (!chooses && node.op != Op::Neg && node.op != Op::Abs) return false;
  return std::all_of(node.args.begin() + (node.op == Op::Where), node.args.end(), rounded);
}

std::optional<DType> half_of_factors(const Graph& graph, const Group& group, const Product& product, DType of_f8,
                                     bool rounds) {
  std::optional<DType> half;
  bool any = false;
  for (const ProductSum& sum : product.sums)
    for (NodeId factor : {sum.rows, sum.columns}) {
      while (is_view(graph.at(factor).kind)) factor = graph.at(factor).args[0];
      const Node& cast = graph.at(factor);
      const bool member = std::binary_search(group.nodes.begin(), group.nodes.end(), factor);
      if (!member || cast.kind != NodeKind::Cast || cast.dtype != DType::F32) return std::nullopt;
      const DType from = graph.at(cast.args[0]).dtype;
      const bool is_byte = is_int(from) && size_of(from) == 1;  // which both halves hold
      if (!is_byte &&
          (!is_small_float(from) || (!(rounds && is_half(from)) && !is_rounded(graph, group, cast.args[0]))))
        return std::nullopt;
      any = true;
      if (is_byte || is_f8(from)) continue;
      if (from != half.value_or(from)) return std::nullopt;
      half = from;
    }
  return any ? half.value_or(of_f8) : half;
}

int parts_of_factor(const Graph& graph, const Group& group, NodeId factor) {
  constexpr int kAll = 3;
  while (is_view(graph.at(factor).kind)) factor = graph.at(factor).args[0];
  const Node& cast = graph.at(factor);
  if (cast.kind != NodeKind::Cast || !std::binary_search(group.nodes.begin(), group.nodes.end(), factor)) return kAll;
  const DType from = graph.at(cast.args[0]).dtype;
  if (from == DType::Bool || (is_int(from) && size_of(from) == 1)) return 1;
  if (!is_small_float(from) || !is_rounded(graph, group, cast.args[0])) return kAll;
  return from == DType::F16 ? 2 : 1;
}

std::vector<std::pair<int, int>> pairs_of_parts(const ProductSum& sum) {
  const int most = sum.is_full ? 2 : 1;
  std::vector<std::pair<int, int>> pairs;
  for (int both = 0; both <= most; ++both)
    for (int of_rows = 0; of_rows <= both; ++of_rows)
      if (of_rows < sum.parts_of_rows && both - of_rows < sum.parts_of_columns)
        pairs.emplace_back(of_rows, both - of_rows);
  return pairs;
}

int held_sums(const Product& product) {
  int held = 0;
  for (const ProductSum& sum : product.sums)
    held += product.whole                                    ? product.exact_in_f32 ? 1 : kHeldOfWhole
            : product.units && sum.in_parts() && sum.is_full ? kHeldOfParts
                                                             : 1;
  return held;
}

static bool pads_with_zeros(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::Pad) return false;
  const Node& value = graph.at(node.args[1]);
  return value.kind == NodeKind::Constant && !value.constant.as_bool();
}

// What a factor is computed from, past moves, casts and zeros around it.
static NodeId source_of(const Graph& graph, const Group& group, NodeId factor) {
  const auto is_member = [&](NodeId id) { return std::binary_search(group.nodes.begin(), group.nodes.end(), id); };
  while (is_view(graph.at(factor).kind) || pads_with_zeros(graph, graph.at(factor)) ||
         (is_member(factor) && graph.at(factor).kind == NodeKind::Cast))
    factor = graph.at(factor).args[0];
  return factor;
}

bool is_computed(const Graph& graph, const Group& group, NodeId factor) {
  return std::binary_search(group.nodes.begin(), group.nodes.end(), source_of(graph, group, factor));
}

Behind behind_factor(const Graph& graph, const Group& group, NodeId factor) {
  const auto has = [](const std::vector<NodeId>& nodes, NodeId id) {
    return std::binary_search(nodes.begin(), nodes.end(), id);
  };
  Behind all;
  std::set<NodeId> waiting{factor};
  while (!waiting.empty()) {  // the last first: what it is computed from comes before it
    const NodeId id = *waiting.rbegin();
    waiting.erase(id);
    const Node& node = graph.at(id);
    if (node.kind == NodeKind::Constant) continue;
    if (has(group.inputs, id) || (!has(group.nodes, id) && !is_view(node.kind))) {
      ++all.arrays;
      all.inputs.insert(id);
      continue;
    }
    all.operations += cost_of(node), all.gathers |= node.kind == NodeKind::Gather;
    waiting.insert(node.args.begin(), node.args.end());
  }
  return all;
}

std::string why_stored_before(const Graph& graph, const Group& group, const Product& product) {
  constexpr double kMostArrays = 12;
  for (const ProductSum& sum : product.sums)
    for (const NodeId factor : {sum.rows, sum.columns})
      if (const double arrays = behind_factor(graph, group, factor).arrays; arrays > kMostArrays)
        return fmt::format("each element of a factor would be looked for in {:.0f} arrays", arrays);
  return "";
}

bool is_copied(const Graph& graph, const Group& group, NodeId factor) {
  return is_half(graph.at(source_of(graph, group, factor)).dtype) && !is_computed(graph, group, factor);
}

// Whether windows go along the elements that are neighbours in memory: they begin anywhere.
static bool has_windows_along_lines(const Graph& graph, NodeId source, NodeId factor) {
  std::vector<NodeId> views;
  for (NodeId id = factor; id != source; id = graph.at(id).args[0]) views.push_back(id);
  int d = static_cast<int>(graph.at(source).shape.size()) - 1;
  for (; !views.empty() && d >= 0; views.pop_back()) {
    const Node& view = graph.at(views.back());
    const Shape& from = graph.at(view.args[0]).shape;
    if (view.kind == NodeKind::Window && std::count(view.axes.begin(), view.axes.end(), d) > 0) return true;
    if (view.kind == NodeKind::Permute)
      d = static_cast<int>(std::find(view.axes.begin(), view.axes.end(), d) - view.axes.begin());
    if (view.kind == NodeKind::Broadcast) d += static_cast<int>(view.shape.size() - from.size());
    if (view.kind == NodeKind::Reshape) {
      int to = static_cast<int>(view.shape.size()) - 1;
      while (to >= 0 && same_dimension(from, view.shape, static_cast<size_t>(to)) != d) --to;
      d = to;
    }
  }
  return false;
}

bool is_copied_wide(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor) {
  if (!is_copied(graph, group, factor)) return false;
  if (has_windows_along_lines(graph, source_of(graph, group, factor), factor)) return false;
  const Node& array = graph.at(source_of(graph, group, factor));
  return array.shape.empty() || row_apart(array).evaluate(sizes) * size_of(array.dtype) % 16 == 0;
}

NodeId array_to_take_apart(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor) {
  const NodeId source = source_of(graph, group, factor);
  const Node& array = graph.at(source);
  if (array.dtype != DType::F32 || array.shape.empty() || is_computed(graph, group, factor) ||
      row_apart(array).evaluate(sizes) * size_of(DType::BF16) % 16 != 0)
    return -1;
  bool windows = false;
  for (; factor != source; factor = graph.at(factor).args[0]) {
    if (graph.at(factor).kind == NodeKind::Cast) return -1;
    windows = windows || graph.at(factor).kind == NodeKind::Window;
  }
  return windows ? source : -1;
}

bool comes_in_boxes(const Graph& graph, const Group& group, const SizeBinding& sizes, NodeId factor, DType units) {
  const NodeId source = source_of(graph, group, factor);
  if (!is_copied_wide(graph, group, sizes, factor) || graph.at(source).dtype != units) return false;
  // A part of several lines of an image, and what is around it, is no box.
  for (; factor != source; factor = graph.at(factor).args[0])
    if (graph.at(factor).kind == NodeKind::Window || graph.at(factor).kind == NodeKind::Pad) return false;
  return true;
}

int64_t bytes_of_sums(const Graph& graph, const Product& product) {
  int64_t bytes = 4;
  for (const ProductSum& sum : product.sums)
    bytes = std::max<int64_t>(bytes, size_of(compute_type(graph.at(sum.node).dtype)));
  return bytes;
}

std::optional<LargeProduct> large_product(const Graph& graph, const Group& group, const Domain& domain,
                                          int64_t fewest_of_rows, bool one_row) {
  auto found = find_product(graph, group, domain, one_row);
  if (!found) return std::nullopt;
  const int64_t rows = estimate_of(domain, found->rows), columns = estimate_of(domain, found->columns),
                inner = estimate_of(domain, found->inner), bytes = bytes_of_sums(graph, *found);
  if (rows < fewest_of_rows || columns < kFewestOfColumns || inner < kFewestOfInner ||
      rows * columns * inner < kSmallProduct)
    return std::nullopt;
  return LargeProduct{std::move(*found), rows, columns, inner, bytes};
}

int64_t estimate_of(const Domain& domain, const std::vector<int>& axes) {
  int64_t points = 1;
  for (const int a : axes) points *= domain.axes[static_cast<size_t>(a)].estimate;
  return points;
}

IntExpr count_of(const Domain& domain, const std::vector<int>& axes) {
  IntExpr points = 1;
  for (const int a : axes) points = points * domain.axes[static_cast<size_t>(a)].extent;
  return points;
}

}  // namespace smelt::schedule
