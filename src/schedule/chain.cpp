#include "schedule/chain.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "schedule/chain_forms.hpp"
#include "schedule/computing.hpp"
#include "schedule/views.hpp"

namespace smelt::schedule {
namespace {

constexpr size_t kMostVisited = 1024;  // values at an index

// From a value at an index to what it depends on, as lowering evaluates it.
class Walk {
 public:
  Walk(const Graph& graph, const std::unordered_set<NodeId>& members, const Ranges& ranges)
      : graph_(graph), computes_(graph), members_(members), ranges_(ranges) {}

  std::set<Symbol> symbols;
  bool reads = false;               // memory
  std::vector<ValueAt> reductions;  // of the members, each once; what leads to them is not looked at
  std::map<NodeId, Index> places;   // of what was followed, where it was first

  bool follow(NodeId id, const Index& index) {
    std::string key = std::to_string(id);
    for (const IntExpr& i : index) key += "," + i.str();
    if (!visited_.insert(std::move(key)).second) return true;
    if (visited_.size() > kMostVisited) return false;
    places.try_emplace(id, index);
    const Node& node = graph_.at(id);
    if (node.kind == NodeKind::Input || (!members_.count(id) && computes_(id))) {
      reads = true;
      return note(index);
    }
    switch (node.kind) {
      case NodeKind::Constant:
      case NodeKind::SizeValue: return true;
      case NodeKind::Iota: return note({index[static_cast<size_t>(node.axes[0])]});
      case NodeKind::Elementwise:
      case NodeKind::Cast:
        return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) { return follow(arg, index); });
      case NodeKind::Reshape:
      case NodeKind::Permute:
      case NodeKind::Broadcast:
      case NodeKind::Slice:
      case NodeKind::Window:
      case NodeKind::Extend: return follow(node.args[0], through_view(graph_, node, index, ranges_));
      case NodeKind::Pad:
      case NodeKind::Concat:
        for (const Piece& piece : pieces(graph_, node, index, ranges_)) {
          for (const Guard& guard : piece.guards) note({guard.value});
          if (!follow(piece.arg, piece.index)) return false;
        }
        return node.kind == NodeKind::Concat || follow(node.args[1], {});
      case NodeKind::Gather:
        return follow(node.args[1], gather_indices_index(graph_, node, index)) &&
               follow(node.args[0], gather_data_index(graph_, node, index, IntExpr::symbol(Symbol::gathered(0))));
      case NodeKind::Reduce: reductions.push_back({id, index}); return note(index);
      default: return false;
    }
  }

 private:
  bool note(const Index& index) {
    for (const IntExpr& i : index)
      for (const Symbol s : i.symbols()) symbols.insert(s);
    return true;
  }

  const Graph& graph_;
  const Computing computes_;
  const std::unordered_set<NodeId>& members_;
  const Ranges& ranges_;
  std::unordered_set<std::string> visited_;
};

class ChainFinder {
 public:
  ChainFinder(const Graph& graph, const Group& group, const SizeBinding& sizes)
      : graph_(graph), group_(group), sizes_(sizes), members_(group.nodes.begin(), group.nodes.end()) {}

  std::optional<Chain> run(Domain& domain) {
    std::vector<NodeId> values;
    for (const NodeId weights : find_weights()) {
      if (rounds_sums(graph_, weights)) values.push_back(weights);
      for (const bool weighs : {true, false})
        if ((weighs ? form_of_weights(graph_, weights).has_value() : rounds_sums(graph_, weights)) &&
            is_chain({weights}, weighs, domain))
          return std::move(chain_);
    }
    if (values.size() > 1 && is_chain(values, false, domain)) return std::move(chain_);
    return std::nullopt;
  }

 private:
  // The members that may be a factor of a last product, cast to f32.
  std::vector<NodeId> find_weights() const {
    std::vector<NodeId> found;
    for (const NodeId id : group_.nodes) {
      if (multiplication_of_halves(graph_, id, true) < 0) continue;
      for (const NodeId factor : graph_.at(graph_.at(id).args[0]).args)
        if (const NodeId weights = behind_views(graph_, factor);
            members_.count(weights) && std::find(found.begin(), found.end(), weights) == found.end())
          found.push_back(weights);
    }
    return found;
  }

  bool is_chain(const std::vector<NodeId>& weights, bool weighs, Domain& domain) {
    weights_ = std::set<NodeId>(weights.begin(), weights.end());
    chain_ = {};
    sums_at_.clear();
    return last_products(domain, weighs) && (weighs ? weights_form() : values_form()) && first_products() &&
           is_unseen_elsewhere() && rows_are_stored(domain);
  }

  ValueAt shown(NodeId id, Index index) const {
    while (is_view(graph_.at(id).kind)) {
      index = through_view(graph_, graph_.at(id), index, ranges_);
      id = graph_.at(id).args[0];
    }
    return {id, std::move(index)};
  }

  // The group from the weights on, as if these were read from memory. One row is an axis of one
  // point.
  bool last_products(Domain& domain, bool one_row) {
    Group outer;
    row_outputs_.clear();
    for (const NodeId id : group_.outputs) (is_before(id) ? row_outputs_ : outer.outputs).push_back(id);
    std::vector<NodeId> todo = outer.outputs;
    std::set<NodeId> found;
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (weights_.count(id) || !found.insert(id).second) continue;
      const bool reads_on =
          members_.count(id) || (is_view(graph_.at(id).kind) && graph_.at(id).kind != NodeKind::Input);
      if (reads_on)
        for (const NodeId arg : graph_.at(id).args) todo.push_back(arg);
    }
    for (const NodeId id : group_.nodes)
      if (found.count(id)) outer.nodes.push_back(id);
    outer.inputs = group_.inputs;
    outer.inputs.insert(outer.inputs.end(), weights_.begin(), weights_.end());
    std::sort(outer.inputs.begin(), outer.inputs.end());
    const auto is_output = [&](NodeId id) { return std::count(outer.outputs.begin(), outer.outputs.end(), id) > 0; };
    if (outer.nodes.empty() || std::any_of(weights_.begin(), weights_.end(), is_output)) return false;
    outer_ = std::set<NodeId>(outer.nodes.begin(), outer.nodes.end());
    auto made = find_domain(graph_, outer, sizes_);
    if (!std::holds_alternative<Domain>(made)) return false;
    domain = std::get<Domain>(std::move(made));
    auto product = find_product(graph_, outer, domain, one_row);
    if (!product || product->sums.size() != weights_.size()) return false;
    if (product->rows.empty()) {
      product->rows = {static_cast<int>(domain.axes.size())};
      domain.axes.push_back({Symbol::loop("row"), 1, false, 1});
      domain.ranges[domain.axes.back().var] = {0, 0};
    }
    std::set<NodeId> taken;
    for (const ProductSum& sum : product->sums) {
      const NodeId weights = behind_views(graph_, sum.rows);
      if (!weights_.count(weights) || !taken.insert(weights).second) return false;
      if (!widens_halves(graph_, behind_views(graph_, sum.columns))) return false;
      chain_.lasts.push_back({{}, weights, -1});
    }
    chain_.product = std::move(*product);
    ranges_ = domain.ranges;
    const auto variables = [&](const std::vector<int>& axes) {
      std::set<Symbol> found;
      for (const int a : axes) found.insert(domain.axes[static_cast<size_t>(a)].var);
      return found;
    };
    keys_ = variables(chain_.product.inner);
    rows_ = variables(chain_.product.rows);
    columns_ = variables(chain_.product.columns);
    arguments_.clear();
    for (const ProductSum& sum : chain_.product.sums)
      arguments_.push_back(domain.reductions[sum.reduction].argument_index);
    columns_extent_ = count_of(domain, chain_.product.columns);
    return true;
  }

  // What a value of the group depends on in it, itself included.
  std::set<NodeId> all_before(NodeId value) const {
    std::set<NodeId> found;
    std::vector<NodeId> todo{value};
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (!members_.count(id) && !is_view(graph_.at(id).kind)) continue;
      if (!found.insert(id).second) continue;
      todo.insert(todo.end(), graph_.at(id).args.begin(), graph_.at(id).args.end());
    }
    return found;
  }

  // Whether it needs reductions, but not the last product.
  bool is_before(NodeId value) const {
    const std::set<NodeId> before = all_before(value);
    return std::none_of(weights_.begin(), weights_.end(), [&](NodeId id) { return before.count(id) > 0; }) &&
           std::any_of(before.begin(), before.end(), [&](NodeId id) { return graph_.at(id).kind == NodeKind::Reduce; });
  }

  static bool mentions(const Walk& walk, const std::set<Symbol>& variables) {
    return std::any_of(variables.begin(), variables.end(), [&](Symbol s) { return walk.symbols.count(s) > 0; });
  }

  // The index of the argument of a reduction over the keys, whose result is at `index`.
  std::optional<Index> with_keys(NodeId reduction, Index index) const {
    const Node& node = graph_.at(reduction);
    if (node.axes.size() != 1) return std::nullopt;
    index.insert(index.begin() + node.axes[0], IntExpr::symbol(*keys_.begin()));
    return index;
  }

  // A value of the row: of its reductions, the maximum of x and the sum of the exponentials alone.
  bool of_the_row(const ValueAt& value, const ValueAt& exponentials) {
    Walk walk(graph_, members_, ranges_);
    if (!walk.follow(value.node, value.index) || mentions(walk, keys_)) return false;
    for (const ValueAt& reduction : walk.reductions) {
      const Node& node = graph_.at(reduction.node);
      const auto at = with_keys(reduction.node, reduction.index);
      const bool is_maximum = node.reduce == ReduceKind::Max, is_total = node.reduce == ReduceKind::Sum;
      const ValueAt& wanted = is_maximum ? chain_.scores() : exponentials;
      if (!at || (!is_maximum && !is_total)) return false;
      const ValueAt argument = shown(node.args[0], *at);
      if (argument.node != wanted.node || !(argument.index == wanted.index)) return false;
      NodeId& known = is_maximum ? chain_.maximum : chain_.total;
      if (known >= 0 && known != reduction.node) return false;
      known = reduction.node;
      if (is_maximum) row_at_ = reduction.index;
    }
    return true;
  }

  bool weights_form() {
    if (keys_.size() != 1) return false;
    const WeightForm form = *form_of_weights(graph_, chain_.lasts[0].weights);
    const ValueAt rounded = rounded_of(0);
    // What rounds to weights is a member, and so is what it rounds.
    const ValueAt exponentials = shown(form.exponentials, rounded.index), other = shown(form.other, rounded.index);
    const Node& exp = graph_.at(exponentials.node);
    const Node& below = graph_.at(exp.args[0]);
    if (!members_.count(exponentials.node) || !members_.count(exp.args[0]) || !is_elementwise(below, Op::Sub))
      return false;
    if (graph_.at(rounded.node).dtype != half() || exp.dtype != DType::F32) return false;
    chain_.lasts[0].value = shown(below.args[0], exponentials.index);
    chain_.below = shown(below.args[1], exponentials.index);
    if (!members_.count(chain_.scores().node)) return false;
    if (!of_the_row(chain_.below, exponentials) || !of_the_row(other, exponentials)) return false;
    (form.divides ? chain_.over : chain_.times) = other;
    exponentials_ = exponentials;
    return chain_.maximum >= 0;
  }

  // The halves that a last product takes, which are a member, and where.
  ValueAt rounded_of(size_t last) const {
    const ValueAt weights = shown(chain_.product.sums[last].rows, arguments_[last]);
    return shown(graph_.at(weights.node).args[0], weights.index);
  }

  DType half() const { return graph_.at(graph_.at(chain_.lasts[0].weights).args[0]).dtype; }
  bool is_of(NodeId factor) const { return graph_.at(graph_.at(behind_views(graph_, factor)).args[0]).dtype == half(); }

  // Any operations, as long as what they need of reductions are products.
  bool values_form() {
    if (!row_outputs_.empty()) return false;
    for (size_t n = 0; n < chain_.lasts.size(); ++n) {
      const ValueAt rounded = rounded_of(n);
      if (graph_.at(rounded.node).dtype != half()) return false;
      chain_.lasts[n].value = shown(graph_.at(rounded.node).args[0], rounded.index);
      if (!members_.count(chain_.lasts[n].value.node)) return false;
    }
    return true;
  }

  bool first_products() {
    size_t taken = 0;
    for (size_t n = 0; n < chain_.lasts.size(); ++n) {
      const auto of_last = first_products_of(n);
      if (!of_last) return false;
      taken += *of_last;
    }
    // Each value takes the place of a first product's sums, of which they share some.
    if (chain_.lasts.size() > 1 && (chain_.lasts.size() > chain_.firsts.size() || taken == chain_.firsts.size()))
      return false;
    for (size_t n = 0; n < chain_.lasts.size(); ++n) {
      LastProduct& last = chain_.lasts[n];
      const ValueAt columns = halves_of(chain_.product.sums[n].columns, arguments_[n]);
      if (!chain_.weighs() && (members_.count(columns.node) || !reads_keys())) return false;
      for (size_t f = 0; f < chain_.firsts.size() && last.of_columns < 0; ++f)
        if (is_of_columns(chain_.firsts[f], columns)) last.of_columns = static_cast<int>(f);
    }
    return true;
  }

  // How many it takes.
  std::optional<size_t> first_products_of(size_t last) {
    const ValueAt& value = chain_.lasts[last].value;
    Walk walk(graph_, members_, ranges_);
    if (!walk.follow(value.node, value.index) || walk.reductions.empty()) return std::nullopt;
    if (mentions(walk, columns_) || !is_of(chain_.product.sums[last].columns)) return std::nullopt;
    if (chain_.weighs() && walk.reductions.size() != 1) return std::nullopt;
    for (const ValueAt& sum : walk.reductions)
      if (!first_product(sum)) return std::nullopt;
    // Keys that no value sees.
    std::vector<Seen> before = std::move(chain_.seen);
    chain_.seen.clear();
    find_seen(value, chain_.weighs());
    if (last > 0)
      std::erase_if(chain_.seen, [&](const Seen& seen) {
        return std::none_of(before.begin(), before.end(), [&](const Seen& other) {
          return other.condition == seen.condition && other.least == seen.least;
        });
      });
    find_of_keys(value, walk);
    return walk.reductions.size();
  }

  // The largest parts of a value that depend on the key alone, but not on the row.
  void find_of_keys(const ValueAt& value, const Walk& all) {
    const Node& node = graph_.at(value.node);
    if (node.kind != NodeKind::Input && !(all.places.count(value.node) && all.places.at(value.node) == value.index))
      return;
    Walk walk(graph_, members_, ranges_);
    if (!walk.follow(value.node, value.index) || (!walk.reductions.empty() && !members_.count(value.node))) return;
    if (walk.reductions.empty() && mentions(walk, keys_) && !mentions(walk, rows_)) {
      const bool is_known = std::any_of(chain_.of_keys.begin(), chain_.of_keys.end(),
                                        [&](const ValueAt& v) { return v.node == value.node; });
      if (walk.reads && !is_known && compute_type(node.dtype) == DType::F32) chain_.of_keys.push_back(value);
      return;
    }
    if (members_.count(value.node) && (node.kind == NodeKind::Elementwise || node.kind == NodeKind::Cast))
      for (const NodeId arg : node.args) find_of_keys(shown(arg, value.index), all);
  }

  bool first_product(const ValueAt& sum) {
    const NodeId multiplication = multiplication_of_halves(graph_, sum.node, chain_.weighs());
    if (multiplication < 0 || !members_.count(multiplication)) return false;
    const auto known = sums_at_.find(sum.node);
    if (known != sums_at_.end()) return known->second == sum.index;
    sums_at_[sum.node] = sum.index;
    FirstProduct first;
    first.sum = sum.node;
    const Node& product = graph_.at(multiplication);
    const int axis = graph_.at(sum.node).axes[0];
    const IntExpr extent = product.shape[static_cast<size_t>(axis)];
    first.depth = {Symbol::loop("depth" + std::to_string(chain_.firsts.size())), extent, true, extent.evaluate(sizes_)};
    Index index = sum.index;
    index.insert(index.begin() + axis, first.depth.value());
    ranges_[first.depth.var] = {0, extent - 1};
    ValueAt sides[2];
    bool of_keys[2], of_rows[2];
    for (size_t s = 0; s < 2; ++s) {
      Walk factor(graph_, members_, ranges_);
      if (!factor.follow(product.args[s], index) || !factor.reductions.empty() || !is_of(product.args[s])) return false;
      of_keys[s] = mentions(factor, keys_);
      of_rows[s] = mentions(factor, rows_);
      sides[s] = {product.args[s], index};
    }
    if (of_keys[0] == of_keys[1]) return false;
    const size_t keys = of_keys[0] ? 0 : 1;
    if (of_rows[keys]) return false;
    first.keys = sides[keys], first.rows = sides[1 - keys];
    chain_.firsts.push_back(std::move(first));
    return true;
  }

  // The array of halves that a factor widens, and where.
  ValueAt halves_of(NodeId factor, const Index& index) const {
    const ValueAt cast = shown(factor, index);
    return shown(graph_.at(cast.node).args[0], cast.index);
  }

  // Whether what each tile of rows takes of the keys is there as halves: it would be computed again
  // for each of them.
  bool reads_keys() const {
    return std::none_of(chain_.firsts.begin(), chain_.firsts.end(), [&](const FirstProduct& first) {
      return members_.count(halves_of(first.keys.node, first.keys.index).node) > 0;
    });
  }

  // Whether the last product has the same factor at its columns as this one at its depth.
  bool is_of_columns(const FirstProduct& first, const ValueAt& columns) const {
    if (columns_.size() != 1 || !(first.depth.extent == columns_extent_)) return false;
    const ValueAt keys = halves_of(first.keys.node, first.keys.index);
    if (keys.node != columns.node || keys.index.size() != columns.index.size()) return false;
    for (size_t d = 0; d < keys.index.size(); ++d)
      if (!(keys.index[d] == columns.index[d].substitute({{*columns_.begin(), first.depth.value()}}, ranges_)))
        return false;
    return true;
  }

  // Nothing between the two products is stored, or needed after the second one.
  bool is_unseen_elsewhere() const {
    std::vector<NodeId> between{chain_.maximum, chain_.total};
    for (const LastProduct& last : chain_.lasts) between.insert(between.end(), {last.weights, last.value.node});
    for (const FirstProduct& first : chain_.firsts) between.push_back(first.sum);
    return std::none_of(between.begin(), between.end(), [&](NodeId id) { return outer_.count(id) > 0; });
  }

  // Whether what is stored before the last product has one value for each row.
  bool rows_are_stored(const Domain& domain) {
    if (row_outputs_.empty()) return true;
    const Shape& rows = graph_.at(chain_.maximum).shape;
    IntExpr place = 0, elements = 1;
    for (size_t d = rows.size(); d-- > 0;) place = place + row_at_[d] * elements, elements = elements * rows[d];
    if (!has_all_rows(domain, place, elements)) return false;
    for (const NodeId id : row_outputs_) {
      const Shape& shape = graph_.at(id).shape;
      ValueAt value{id, Index(shape.size())};
      IntExpr behind = 1;
      for (size_t d = shape.size(); d-- > 0;) {
        value.index[d] = mod(floordiv(place, behind, ranges_), shape[d], ranges_);
        behind = behind * shape[d];
      }
      if (!(behind == elements) || !of_the_row(value, exponentials_)) return false;
      chain_.row_results.push_back(std::move(value));
    }
    return true;
  }

  // Whether the rows are at all these places, each at one of its own.
  bool has_all_rows(const Domain& domain, IntExpr place, const IntExpr& elements) const {
    std::vector<int> axes = chain_.product.batch;
    axes.insert(axes.end(), chain_.product.rows.begin(), chain_.product.rows.end());
    IntExpr so_far = 1;
    while (!axes.empty()) {
      const auto next = std::find_if(axes.begin(), axes.end(), [&](int a) {
        const Axis& axis = domain.axes[static_cast<size_t>(a)];
        if (axis.extent.is(1)) return true;
        const auto step = place.coefficient_of(axis.var);
        return step && *step == so_far;
      });
      if (next == axes.end()) return false;
      const Axis& axis = domain.axes[static_cast<size_t>(*next)];
      if (!axis.extent.is(1)) place = place - so_far * axis.value();
      so_far = so_far * axis.extent;
      axes.erase(next);
    }
    return so_far == elements && (place.is(0) || place.symbols().empty());
  }

  // Scores that are -inf unless a condition on positions holds; other values that are 0.
  void find_seen(const ValueAt& value, bool is_score) {
    if (keys_.size() != 1 || !members_.count(value.node)) return;
    const Node& node = graph_.at(value.node);
    const auto follow = [&](size_t k, bool score) { find_seen(shown(node.args[k], value.index), score); };
    const auto is_finite = [&](NodeId arg) {
      const Node& constant = graph_.at(behind_views(graph_, arg));
      return constant.kind == NodeKind::Constant && std::isfinite(constant.constant.as_double());
    };
    if (!is_score && is_elementwise(node, Op::Mul)) {
      for (size_t k = 0; k < 2; ++k)
        if (is_finite(node.args[1 - k])) follow(k, false);
    } else if (!is_score && is_elementwise(node, Op::Exp)) {
      const ValueAt below = shown(node.args[0], value.index);
      if (is_elementwise(graph_.at(below.node), Op::Sub))
        find_seen(shown(graph_.at(below.node).args[0], below.index), true);
    } else if (is_elementwise(node, Op::Where)) {
      const ValueAt otherwise = shown(node.args[2], value.index);
      const Node& constant = graph_.at(otherwise.node);
      const double least = is_score ? -HUGE_VAL : 0;
      if (constant.kind != NodeKind::Constant || !is_float(constant.dtype) || constant.constant.f != least) return;
      note_condition(shown(node.args[0], value.index));
      follow(1, is_score);
    }
  }

  void note_condition(const ValueAt& condition) {
    const Node& node = graph_.at(condition.node);
    if (node.kind != NodeKind::Elementwise || node.args.size() != 2) return;
    if (node.op == Op::And) {
      for (const NodeId arg : node.args) note_condition(shown(arg, condition.index));
      return;
    }
    const auto a = position(shown(node.args[0], condition.index)), b = position(shown(node.args[1], condition.index));
    if (!a || !b) return;
    std::optional<IntExpr> holds;
    if (node.op == Op::Le) holds = *b - *a;
    if (node.op == Op::Lt) holds = *b - *a - 1;
    if (node.op == Op::Ge) holds = *a - *b;
    if (node.op == Op::Gt) holds = *a - *b - 1;
    const auto step = holds ? holds->coefficient_of(*keys_.begin()) : std::nullopt;
    if (step && (step->is(1) || step->is(-1))) chain_.seen.push_back({*holds, condition.node});
  }

  // An integer that follows from positions alone, where 64 bits are enough for it.
  std::optional<IntExpr> position(const ValueAt& value) const {
    const Node& node = graph_.at(value.node);
    if (!is_int(node.dtype) || size_of(node.dtype) < 4) return std::nullopt;
    if (node.kind == NodeKind::Iota) return value.index[static_cast<size_t>(node.axes[0])];
    if (node.kind == NodeKind::Constant)
      return std::abs(node.constant.i) < (int64_t{1} << 30) ? std::optional<IntExpr>(node.constant.i) : std::nullopt;
    if (node.kind == NodeKind::SizeValue) return node.size;
    if (node.kind == NodeKind::Cast) return position(shown(node.args[0], value.index));
    if (node.kind != NodeKind::Elementwise || (node.op != Op::Add && node.op != Op::Sub)) return std::nullopt;
    const auto a = position(shown(node.args[0], value.index)), b = position(shown(node.args[1], value.index));
    if (!a || !b) return std::nullopt;
    return node.op == Op::Add ? *a + *b : *a - *b;
  }

  const Graph& graph_;
  const Group& group_;
  const SizeBinding& sizes_;
  std::unordered_set<NodeId> members_;
  std::set<NodeId> outer_;
  std::set<NodeId> weights_;         // of the last products
  std::vector<Index> arguments_;     // of what each of them sums
  std::map<NodeId, Index> sums_at_;  // of the first ones
  IntExpr columns_extent_;
  Ranges ranges_;
  std::set<Symbol> keys_, rows_, columns_;
  std::vector<NodeId> row_outputs_;  // stored before the last product
  Index row_at_;                     // of the maximum of the row
  ValueAt exponentials_;
  Chain chain_;
};

}  // namespace

std::optional<Chain> find_chain(const Graph& graph, const Group& group, const SizeBinding& sizes, Domain& domain) {
  const auto reductions = std::count_if(group.nodes.begin(), group.nodes.end(),
                                        [&](NodeId id) { return graph.at(id).kind == NodeKind::Reduce; });
  if (reductions < 2) return std::nullopt;
  return ChainFinder(graph, group, sizes).run(domain);
}

int64_t Chain::columns_staged() const {
  return columns_padded *
         std::count_if(lasts.begin(), lasts.end(), [](const LastProduct& last) { return last.of_columns < 0; });
}

int64_t Chain::units() const {
  int64_t all = product.tile_columns * static_cast<int64_t>(lasts.size());
  for (const FirstProduct& first : firsts) all += first.depth_units;
  return all;
}

int64_t Chain::depths() const {
  int64_t all = 0;
  for (const FirstProduct& first : firsts) all += first.depth_padded;
  return all;
}

int64_t Chain::deepest() const {
  int64_t most = 0;
  for (const FirstProduct& first : firsts) most = std::max(most, first.depth_padded);
  return most;
}

}  // namespace smelt::schedule
