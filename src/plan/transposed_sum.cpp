#include "plan/transposed_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "schedule/views.hpp"

namespace smelt::plan {
namespace {

using schedule::Guard;
using schedule::Index;

// Views between a sum and the arrays: past these none is looked for.
constexpr int kMostSteps = 64;

// An element of an array that is read, and where zeros are read instead.
struct Access {
  NodeId array = -1;
  Index index;
  std::vector<Guard> guards;
};

// An expression with one quotient by a constant, as (numerator) // divisor, or with one remainder.
struct Quotient {
  IntExpr numerator;
  int64_t divisor = 1;
  IntExpr shift;  // of a remainder: what is added to it
};
std::optional<Quotient> quotient_of(const IntExpr& e, AtomKind kind) {
  std::optional<Quotient> found;
  for (const IntExpr::Term& term : e.terms())
    for (const IntExpr::AtomPtr& atom : term.atoms) {
      if (atom->kind == AtomKind::Symbol) continue;
      const auto divisor = atom->b.constant();
      if (atom->kind != kind || found || term.coefficient != 1 || term.atoms.size() != 1 || !divisor || *divisor < 2)
        return std::nullopt;
      const IntExpr rest = e - IntExpr::of_term(term);
      found = kind == AtomKind::FloorDiv ? Quotient{atom->a + rest * *divisor, *divisor, 0}
                                         : Quotient{atom->a, *divisor, rest};
    }
  if (!found && kind == AtomKind::FloorDiv) found = {e, 1, 0};
  return found;
}

// Axes of a result that are read as two, of channels as groups and those in each: elements of the
// inner one.
using Splits = std::map<size_t, int64_t>;

class Finder {
 public:
  Finder(const Graph& graph, const std::vector<int>& uses, const Splits& splits)
      : graph_(graph), uses_(uses), splits_(splits) {}

  std::optional<TransposedSum> run(NodeId id) {
    const Node& read = graph_.at(id);
    const bool slices = is_range(read);
    const Node* of = slices ? &graph_.at(read.args[0]) : &read;
    if (slices && of->kind == NodeKind::Cast) of = &graph_.at(of->args[0]);
    const Node& sum = *of;
    if (sum.kind != NodeKind::Reduce || sum.reduce != ReduceKind::Sum) return std::nullopt;
    Index index;
    for (size_t d = 0; d < read.shape.size(); ++d) {
      const auto split = splits_.find(d);
      IntExpr i = split == splits_.end() ? of_result(read.shape[d]) : 0;
      if (split != splits_.end()) {
        const IntExpr outer = of_result(floordiv(read.shape[d], split->second));
        i = outer * split->second + of_result(split->second);
      }
      index.push_back(i + (slices ? read.starts[d] : IntExpr(0)));
    }
    Access product{sum.args[0], with_summed(sum, index), {}};
    if (!follow(product)) return std::nullopt;
    if (graph_.at(product.array).kind == NodeKind::Reduce && !enter_sum(sum, product)) return std::nullopt;
    const Node& multiply = graph_.at(product.array);
    if (multiply.kind != NodeKind::Elementwise || multiply.op != Op::Mul || multiply.dtype != sum.dtype)
      return std::nullopt;
    found_.product = product.array;
    Access factors[2];
    for (size_t s = 0; s < 2; ++s) {
      factors[s] = {multiply.args[s], product.index, product.guards};
      if (!follow(factors[s])) return std::nullopt;
      for (const IntExpr& e : factors[s].index) note_splits(e, read.shape);
    }
    const bool second = moves(factors[1]);
    if (moves(factors[0]) == second) return std::nullopt;
    const Access &image = factors[second ? 1 : 0], &weights = factors[second ? 0 : 1];
    const bool is_one = image.array != weights.array && weights.guards.size() == product.guards.size() &&
                        read_image(image) && read_weights(weights) && covers_variables();
    return is_one ? std::optional(std::move(found_)) : std::nullopt;
  }

  // Where the indices read an axis of the result as two.
  const Splits& seen_splits() const { return seen_; }

  // Neighbours of an array, as they are.
  static bool is_range(const Node& node) {
    return node.kind == NodeKind::Slice &&
           std::all_of(node.steps.begin(), node.steps.end(), [](int64_t step) { return step == 1; });
  }

 private:
  IntExpr variable(const IntExpr& extent) {
    if (extent.is(1)) {
      found_.extents.push_back(extent);
      return 0;
    }
    const Symbol symbol = Symbol::loop(fmt::format("variable{}", found_.extents.size()));
    numbers_[symbol] = static_cast<int>(found_.extents.size());
    found_.extents.push_back(extent);
    ranges_[symbol] = {0, extent - 1};
    return IntExpr::symbol(symbol);
  }

  IntExpr of_result(const IntExpr& extent) {
    found_.result.push_back(static_cast<int>(found_.extents.size()));
    return variable(extent);
  }

  void note_splits(const IntExpr& e, const Shape& shape) {
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->kind != AtomKind::FloorDiv && atom->kind != AtomKind::Mod) continue;
        const auto symbol = atom->a.as_symbol();
        const auto inner = atom->b.constant();
        const auto number = symbol ? numbers_.find(*symbol) : numbers_.end();
        if (number == numbers_.end() || !inner || !splits_.empty() || !is_result(number->second)) continue;
        const auto d = static_cast<size_t>(number->second);
        if (shape[d].constant() && *shape[d].constant() % *inner == 0) seen_[d] = *inner;
      }
  }

  // The index of what a sum adds up.
  Index with_summed(const Node& sum, const Index& kept) {
    const Shape& shape = graph_.at(sum.args[0]).shape;
    Index index;
    size_t k = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool summed = std::binary_search(sum.axes.begin(), sum.axes.end(), static_cast<int>(d));
      if (summed && !shape[d].is(1)) found_.summed.push_back(static_cast<int>(found_.extents.size()));
      index.push_back(summed ? variable(shape[d]) : kept[k++]);
    }
    return index;
  }

  // A sum that nothing else reads, of which `outer` is one again.
  bool enter_sum(const Node& outer, Access& at) {
    const Node& inner = graph_.at(at.array);
    if (inner.reduce != ReduceKind::Sum || inner.dtype != outer.dtype || is_small_float(inner.dtype) ||
        !is_read_once(outer.args[0], at.array))
      return false;
    found_.of_sums = true;
    at.index = with_summed(inner, at.index);
    at.array = inner.args[0];
    return follow(at);
  }

  // Whether nothing else needs an array, or what a sum sees of it.
  bool is_read_once(NodeId view, NodeId array) const {
    while (view != array && uses_[static_cast<size_t>(view)] == 1) view = graph_.at(view).args[0];
    return view == array && uses_[static_cast<size_t>(array)] == 1;
  }

  // Past views, zeros around arrays and one cast, to what is computed or an input.
  bool follow(Access& at) {
    bool casts = false;
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const Node& node = graph_.at(at.array);
      if (node.kind == NodeKind::Extend) return true;
      if (is_view(node.kind)) {
        at.index = schedule::through_view(graph_, node, at.index, ranges_);
        at.array = node.args[0];
      } else if (node.kind == NodeKind::Cast && !casts && !node.wrap) {
        casts = true;
        at.array = node.args[0];
      } else if (node.kind == NodeKind::Pad || node.kind == NodeKind::Concat) {
        if (!into_piece(node, at)) return true;
      } else {
        return true;
      }
    }
    return false;
  }

  bool is_zero(NodeId id) const {
    id = behind_views(graph_, id);
    const Node& node = graph_.at(id);
    return node.kind == NodeKind::Constant && convert(node.constant, DType::F64).f == 0;
  }

  // Into the one array that is joined with zeros.
  bool into_piece(const Node& joined, Access& at) const {
    const bool pads = joined.kind == NodeKind::Pad;
    if (pads ? !is_zero(joined.args[1])
             : std::count_if(joined.args.begin(), joined.args.end(), [&](NodeId arg) { return !is_zero(arg); }) != 1)
      return false;
    for (schedule::Piece& piece : schedule::pieces(graph_, joined, at.index, ranges_)) {
      if (!pads && is_zero(piece.arg)) continue;
      at.array = piece.arg;
      at.index = std::move(piece.index);
      // A dimension of one element has one index, where it is read at all.
      for (size_t d = 0; d < at.index.size(); ++d)
        if (graph_.at(piece.arg).shape[d].is(1)) at.index[d] = 0;
      at.guards.insert(at.guards.end(), piece.guards.begin(), piece.guards.end());
      return true;
    }
    return false;
  }

  // The coefficients of the variables, if there is nothing else but a constant.
  std::optional<std::map<int, int64_t>> linear(const IntExpr& e) const {
    std::map<int, int64_t> coefficients;
    for (const IntExpr::Term& term : e.terms())
      for (const IntExpr::AtomPtr& atom : term.atoms) {
        if (atom->kind != AtomKind::Symbol) return std::nullopt;
        const auto number = numbers_.find(*atom->symbol);
        if (number == numbers_.end()) continue;  // a size
        if (term.atoms.size() != 1) return std::nullopt;
        coefficients[number->second] = term.coefficient;
      }
    return coefficients;
  }

  // What is left of e without its variables, of which these are the coefficients.
  IntExpr without_variables(const IntExpr& e, const std::map<int, int64_t>& in) const {
    IntExpr rest = e;
    for (const auto& [symbol, v] : numbers_)
      if (in.count(v)) rest = rest - IntExpr::symbol(symbol) * in.at(v);
    return rest;
  }

  bool is_result(int v) const { return std::count(found_.result.begin(), found_.result.end(), v) > 0; }

  // Whether some dimension is read along a variable of the result and one that is summed.
  bool moves(const Access& at) const {
    return std::any_of(at.index.begin(), at.index.end(), [&](const IntExpr& e) {
      const auto of = quotient_of(e, AtomKind::FloorDiv);
      const auto in = of ? linear(of->numerator) : std::nullopt;
      return in && is_window(*in);
    });
  }
  bool is_window(const std::map<int, int64_t>& in) const {
    if (in.size() != 2) return false;
    const auto first = in.begin(), second = std::next(first);
    return is_result(first->first) && !is_result(second->first) && first->second == 1 &&
           found_.extents[static_cast<size_t>(second->first)].constant().has_value() &&
           (std::abs(second->second) == 1 || !is_radix(in));
  }
  // Whether the variables count through a dimension.
  bool is_radix(const std::map<int, int64_t>& in) const { return !in_radix(in).empty(); }
  std::vector<int> in_radix(const std::map<int, int64_t>& in) const {
    std::vector<int> order;
    for (const auto& [v, coefficient] : in) order.push_back(v);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return in.at(a) > in.at(b); });
    IntExpr apart = 1;
    for (size_t k = order.size(); k-- > 0;) {
      if (!(apart == IntExpr(in.at(order[k])))) return {};
      apart = apart * found_.extents[static_cast<size_t>(order[k])];
    }
    return order;
  }

  // A dimension that variables count through; nothing where they do not.
  std::optional<TransposedSum::Dimension> plain(const IntExpr& e, const IntExpr& extent) const {
    if (extent.is(1)) return e.is(0) ? std::optional(TransposedSum::Dimension{}) : std::nullopt;
    const auto in = linear(e);
    if (!in || in->empty()) return std::nullopt;
    TransposedSum::Dimension made{in_radix(*in)};
    IntExpr elements = 1;
    for (const int v : made.variables) elements = elements * found_.extents[static_cast<size_t>(v)];
    const bool is_whole = elements == extent && without_variables(e, *in).is(0);
    return !made.variables.empty() && is_whole ? std::optional(made) : std::nullopt;
  }

  struct Along {
    IntExpr numerator;
    int64_t column = 0;  // the remainder that elements have
    bool aligned = false;
    int tap = -1;
  };

  bool read_image(const Access& image) {
    const Shape& shape = graph_.at(image.array).shape;
    found_.image.array = image.array;
    std::vector<Along> along;
    for (size_t d = 0; d < shape.size(); ++d) {
      const IntExpr& e = image.index[d];
      if (auto dimension = plain(e, shape[d])) {
        found_.image.dimensions.push_back(std::move(*dimension));
        continue;
      }
      const auto of = quotient_of(e, AtomKind::FloorDiv);
      const auto in = of ? linear(of->numerator) : std::nullopt;
      if (!in || !is_window(*in)) return false;
      TransposedSum::Window window;
      window.place = in->begin()->first;
      window.stride = of->divisor;
      window.low = 0, window.high = shape[d];
      found_.image.dimensions.push_back({{}, static_cast<int>(found_.windows.size())});
      found_.windows.push_back(window);
      along.push_back({of->numerator, 0, of->divisor == 1, in->rbegin()->first});
    }
    return align(image.guards, along) && cut(image.guards, along) && turn(along);
  }

  // Which elements have a part: remainders of the numerators.
  bool align(const std::vector<Guard>& guards, std::vector<Along>& along) const {
    for (const Guard& guard : guards) {
      const auto of = quotient_of(guard.value, AtomKind::Mod);
      if (!of) continue;
      bool found = false;
      for (size_t w = 0; w < along.size() && !found; ++w) {
        const int64_t stride = found_.windows[w].stride;
        if (stride != of->divisor || !guard.extent.is(1)) continue;
        const IntExpr apart = along[w].numerator - of->numerator;
        const auto in = linear(apart);
        if (!in || std::any_of(in->begin(), in->end(), [&](const auto& v) { return v.second % stride != 0; })) continue;
        const IntExpr constant = without_variables(apart, *in);
        if (!constant.constant() || !of->shift.constant()) continue;
        along[w].column = floor_remainder(*constant.constant() - *of->shift.constant(), stride);
        along[w].aligned = found = true;
      }
      if (!found) return false;
    }
    return std::all_of(along.begin(), along.end(), [](const Along& a) { return a.aligned; });
  }

  // Where the array ends, or what is read of it.
  bool cut(const std::vector<Guard>& guards, const std::vector<Along>& along) {
    for (const Guard& guard : guards) {
      if (quotient_of(guard.value, AtomKind::Mod)) continue;
      const auto of = quotient_of(guard.value, AtomKind::FloorDiv);
      if (!of) return false;
      bool found = false;
      for (size_t w = 0; w < along.size() && !found; ++w) {
        TransposedSum::Window& window = found_.windows[w];
        const IntExpr apart = of->numerator - along[w].numerator;
        if (!linear(apart) || !linear(apart)->empty() || (of->divisor != 1 && of->divisor != window.stride)) continue;
        // Element q of the array has the numerator stride * q + column.
        IntExpr low, high;
        if (of->divisor == window.stride) {
          const IntExpr first = -floordiv(apart + along[w].column, window.stride);
          low = first, high = first + guard.extent;
        } else {
          const IntExpr first = -(apart + along[w].column);
          low = ceildiv(first, window.stride), high = ceildiv(first + guard.extent, window.stride);
        }
        window.low = max(window.low, low), window.high = min(window.high, high);
        found = true;
      }
      if (!found) return false;
    }
    return true;
  }

  // Taps in the order in which elements of the image follow each other.
  bool turn(const std::vector<Along>& along) {
    for (size_t w = 0; w < along.size(); ++w) {
      TransposedSum::Window& window = found_.windows[w];
      const auto in = *linear(along[w].numerator);
      const int64_t coefficient = in.at(along[w].tap);
      const auto taps = static_cast<size_t>(along[w].tap);
      if (taps_.count(along[w].tap)) return false;
      window.taps = *found_.extents[taps].constant();
      window.dilation = std::abs(coefficient);
      window.offset = IntExpr(along[w].column) - without_variables(along[w].numerator, in);
      if (coefficient < 0) window.offset = window.offset + IntExpr(window.dilation) * (window.taps - 1);
      taps_[along[w].tap] = {static_cast<int>(w), coefficient < 0};
    }
    for (const auto& [tap, of] : taps_) found_.summed.erase(std::find(found_.summed.begin(), found_.summed.end(), tap));
    return true;
  }

  bool read_weights(const Access& weights) {
    const Shape& shape = graph_.at(weights.array).shape;
    found_.weights.array = weights.array;
    for (size_t d = 0; d < shape.size(); ++d) {
      const IntExpr& e = weights.index[d];
      const auto in = linear(e);
      if (in && in->size() == 1 && taps_.count(in->begin()->first)) {
        const auto& [tap, coefficient] = *in->begin();
        const auto& [window, turned] = taps_.at(tap);
        const int64_t taps = found_.windows[static_cast<size_t>(window)].taps;
        const bool is_whole = without_variables(e, *in).is(coefficient < 0 ? taps - 1 : 0);
        if (!shape[d].is(taps) || std::abs(coefficient) != 1 || !is_whole) return false;
        found_.weights.dimensions.push_back({{}, window, (coefficient < 0) != turned});
      } else if (auto dimension = plain(e, shape[d])) {
        found_.weights.dimensions.push_back(std::move(*dimension));
      } else {
        return false;
      }
    }
    return true;
  }

  // Every window has its places in the image alone and its taps in the weights, once each, and
  // every other variable is somewhere.
  bool covers_variables() const {
    if (found_.windows.empty()) return false;
    std::vector<int> reads(found_.extents.size(), 0), taps(found_.windows.size(), 0);
    for (const TransposedSum::Factor* factor : {&found_.image, &found_.weights}) {
      std::vector<int> own(found_.extents.size(), 0);
      for (const TransposedSum::Dimension& dimension : factor->dimensions) {
        for (const int v : dimension.variables)
          if (++reads[static_cast<size_t>(v)], own[static_cast<size_t>(v)]++ != 0) return false;
        if (factor == &found_.weights && dimension.window >= 0) ++taps[static_cast<size_t>(dimension.window)];
      }
    }
    for (const TransposedSum::Window& window : found_.windows)
      if (reads[static_cast<size_t>(window.place)]++ != 0) return false;
    for (const auto& [tap, of] : taps_)
      if (reads[static_cast<size_t>(tap)]++ != 0) return false;
    return std::all_of(taps.begin(), taps.end(), [](int n) { return n == 1; }) &&
           std::all_of(found_.summed.begin(), found_.summed.end(),
                       [&](int v) { return reads[static_cast<size_t>(v)] > 0; });
  }

  const Graph& graph_;
  const std::vector<int>& uses_;
  const Splits& splits_;
  Splits seen_;
  TransposedSum found_;
  Ranges ranges_;
  std::map<Symbol, int> numbers_;             // of the variables
  std::map<int, std::pair<int, bool>> taps_;  // variables that are taps: of which window, and from its end
};

}  // namespace

std::vector<std::pair<NodeId, TransposedSum>> find_transposed_sums(const Graph& graph) {
  const std::vector<int> uses = use_counts(graph);
  std::vector<NodeId> users(graph.nodes.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (const NodeId arg : graph.nodes[i].args) users[static_cast<size_t>(arg)] = static_cast<NodeId>(i);
  const auto only_user = [&](NodeId id) {
    return uses[static_cast<size_t>(id)] == 1 ? users[static_cast<size_t>(id)] : -1;
  };
  std::vector<std::pair<NodeId, TransposedSum>> found;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind != NodeKind::Reduce) continue;
    auto read = static_cast<NodeId>(i), range = only_user(read);
    if (range >= 0 && graph.at(range).kind == NodeKind::Cast && is_float(graph.at(range).dtype))
      range = only_user(range);
    if (range >= 0 && Finder::is_range(graph.at(range))) read = range;
    const Splits none;
    Finder finder(graph, uses, none);
    auto sum = finder.run(read);
    if (!sum && !finder.seen_splits().empty()) sum = Finder(graph, uses, finder.seen_splits()).run(read);
    if (sum) found.emplace_back(read, std::move(*sum));
  }
  return found;
}

}  // namespace smelt::plan
