#include "plan/phase_forms.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "graph/build_detail.hpp"
#include "graph/gradient.hpp"

namespace smelt::plan {
namespace {

int64_t quotient_up(int64_t a, int64_t b) { return -floor_quotient(-a, b); }

// What an axis goes along: a variable of the sum, elements of the image under a window, a phase of
// its places, or its taps.
struct Axis {
  enum Kind : uint8_t { Variable, Elements, Phase, Taps } kind = Variable;
  int number = -1;
  friend bool operator==(const Axis& a, const Axis& b) { return a.kind == b.kind && a.number == b.number; }
};

// An array, and what its axes go along.
struct Value {
  NodeId id = -1;
  std::vector<Axis> axes;

  size_t place(const Axis& axis) const {
    return static_cast<size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  }
  bool has(const Axis& axis) const { return place(axis) < axes.size(); }
};

class Writer {
  // Phases of one window: place stride * i + p, for i < places, reads element i + t + (p + turn) //
  // stride - before, and the tap stride * t + stride - 1 - (p + turn) % stride.
  struct Phases {
    int64_t stride = 1, taps = 1, dilation = 1, turn = 0;
    IntExpr before = 0, places = 0, front = 0;
    bool moves() const { return turn > 0; }  // whether later phases read later elements
  };

 public:
  Writer(const Graph& graph, NodeId id, const TransposedSum& sum)
      : graph_(graph), like_(graph.at(id)), product_(graph.at(sum.product)), sum_(sum) {
    b_.set_origin(like_.origin, like_.label);
    image_ = input("image", sum.image);
    weights_ = input("weights", sum.weights);
  }

  // `rotated`: places are counted so that all phases read the same elements; results are cut out of
  // more of them.
  Graph phases(bool rotated) {
    Value x = image_, w = weights_;
    std::vector<Axis> made, summed;
    std::vector<Phases> along;
    for (const TransposedSum::Window& window : sum_.windows) along.push_back(phases_of(window, rotated));
    for (size_t j = 0; j < along.size(); ++j) {
      x = padded(x, static_cast<int>(j), along[j]);
      w = apart(w, static_cast<int>(j), along[j]);
    }
    x = with_windows(x, along);
    Shape shape;
    for (const int v : sum_.result) {
      const int j = window_at(v);
      if (j < 0) {
        made.push_back({Axis::Variable, v});
        shape.push_back(extent_of(v));
        continue;
      }
      const Phases& phases = along[static_cast<size_t>(j)];
      made.push_back({Axis::Elements, j});
      if (phases.stride > 1) made.push_back({Axis::Phase, j});
      shape.push_back(phases.places * phases.stride);
    }
    for (const int v : sum_.summed) summed.push_back({Axis::Variable, v});
    for (size_t j = 0; j < along.size(); ++j) summed.push_back({Axis::Taps, static_cast<int>(j)});
    // What is cut out is a copy in any case: each of few phases is stored by itself before that.
    const std::vector<Axis> stored = rotated && made.back().kind == Axis::Phase && along.back().stride < kManyPhases
                                         ? with_phases_first(made)
                                         : made;
    const Value sums{contracted(x, w, stored, summed), stored};
    std::vector<int> order;
    for (const Axis& axis : made) order.push_back(static_cast<int>(sums.place(axis)));
    return cut(b_.reshape(b_.permute(sums.id, order), shape), along);
  }

  // The products of all elements and taps; a result adds up those of its own phase. Where the
  // stride does not divide the taps, the products of the taps that are not there are zeros.
  Graph columns() {
    std::vector<Phases> along;
    for (const TransposedSum::Window& window : sum_.windows) along.push_back(phases_of(window, true));
    Value x = products(image_, weights_);
    std::vector<int> axes, order;
    std::vector<int64_t> ones(along.size(), 1), dilation, diagonal;
    Shape sizes, kept, merged, shape;
    for (size_t j = 0; j < along.size(); ++j) {
      x = padded(x, static_cast<int>(j), along[j]);
      const size_t taps = x.place({Axis::Taps, static_cast<int>(j)});
      std::vector<IntExpr> low(x.axes.size(), IntExpr(0)), high = low;
      high[taps] = along[j].taps * along[j].stride - sum_.windows[j].taps;
      x.id = b_.pad(x.id, low, high, Literal(int64_t{0}));
      x = apart(x, static_cast<int>(j), along[j]);
    }
    for (size_t j = 0; j < along.size(); ++j) {
      axes.push_back(static_cast<int>(x.place({Axis::Elements, static_cast<int>(j)})));
      sizes.push_back(along[j].taps), dilation.push_back(along[j].dilation);
    }
    x.id = b_.window(x.id, axes, sizes, ones, dilation);
    for (const int v : sum_.result) {
      const int j = window_at(v);
      order.push_back(static_cast<int>(x.place(j < 0 ? Axis{Axis::Variable, v} : Axis{Axis::Elements, j})));
      if (j >= 0 && along[static_cast<size_t>(j)].stride > 1)
        order.push_back(static_cast<int>(x.place({Axis::Phase, j})));
      const Phases* phases = j < 0 ? nullptr : &along[static_cast<size_t>(j)];
      shape.push_back(phases ? phases->places * phases->stride : extent_of(v));
    }
    for (const int axis : order) kept.push_back(b_.shape(x.id)[static_cast<size_t>(axis)]);
    // Tap t of a phase meets element t of a window: the diagonal of both as one axis.
    merged = kept;
    std::vector<IntExpr> starts(kept.size() + along.size(), IntExpr(0));
    diagonal.assign(kept.size(), 1);
    std::vector<int> summed;
    for (size_t j = 0; j < along.size(); ++j) {
      order.push_back(static_cast<int>(x.place({Axis::Taps, static_cast<int>(j)})));
      order.push_back(static_cast<int>(x.axes.size() + j));
      summed.push_back(static_cast<int>(kept.size()));
      kept.push_back(along[j].taps);
      merged.push_back(along[j].taps * along[j].taps);
      diagonal.push_back(along[j].taps + 1);
    }
    const NodeId pairs = b_.reshape(b_.permute(x.id, order), merged);
    const NodeId own = b_.slice(pairs, starts, diagonal, kept);
    return cut(b_.reshape(b_.reduce(ReduceKind::Sum, own, summed, false), shape), along);
  }

  // The same along strides and dilations, by the gradient of windows.
  Graph spread_columns() {
    Value x = image_, made;
    std::vector<int> axes;
    std::vector<int64_t> steps, dilation;
    Shape taps, extents;
    for (const int v : sum_.result) extents.push_back(extent_of(v));
    Shape from = extents;
    std::vector<IntExpr> low(from.size(), IntExpr(0)), high = low, starts = low;
    for (size_t j = 0; j < sum_.windows.size(); ++j) {
      const TransposedSum::Window& window = sum_.windows[j];
      const size_t elements = x.place({Axis::Elements, static_cast<int>(j)});
      x.id = slice_axis(b_, x.id, elements, window.low, window.high - window.low);
      const IntExpr reach = IntExpr(window.taps - 1) * window.dilation, count = window.high - window.low;
      const auto d =
          static_cast<size_t>(std::find(sum_.result.begin(), sum_.result.end(), window.place) - sum_.result.begin());
      axes.push_back(static_cast<int>(d));
      taps.push_back(window.taps), steps.push_back(window.stride), dilation.push_back(window.dilation);
      from[d] = (count - 1) * window.stride + reach + 1;
      // Element `low` at the last tap is a part of result stride * low + offset - reach.
      const IntExpr first = reach - window.offset - window.low * window.stride;
      low[d] = max(0, -first);
      starts[d] = max(0, first);
      high[d] = max(0, extents[d] + first - from[d]);
    }
    Value w = weights_;
    for (size_t j = 0; j < sum_.windows.size(); ++j) w = turned(w, {Axis::Taps, static_cast<int>(j)});
    const NodeId places = b_.broadcast_to(b_.constant(Scalar::of_float(product_.dtype, 0)), from);
    const NodeId windows = b_.window(places, axes, taps, steps, dilation);
    NodeId result = vector_jacobian_product(b_, {windows}, {products(x, w).id}, {places})[0];
    result = b_.pad(result, low, high, Literal(int64_t{0}));
    return finished(b_.slice(result, starts, std::vector<int64_t>(from.size(), 1), extents));
  }

 private:
  // Neighbours of one phase that threads side by side have: a sector of them.
  static constexpr int64_t kManyPhases = 8;

  static std::vector<Axis> with_phases_first(std::vector<Axis> axes) {
    std::stable_partition(axes.begin(), axes.end(), [](const Axis& axis) { return axis.kind == Axis::Phase; });
    return axes;
  }
  const IntExpr& extent_of(int variable) const { return sum_.extents[static_cast<size_t>(variable)]; }
  // The results among those of whole phases.
  Graph cut(NodeId result, const std::vector<Phases>& along) {
    for (size_t d = 0; d < sum_.result.size(); ++d)
      if (const int j = window_at(sum_.result[d]); j >= 0)
        result = slice_axis(b_, result, d, along[static_cast<size_t>(j)].front, extent_of(sum_.result[d]));
    return finished(result);
  }
  Graph finished(NodeId result) { return b_.finish({b_.cast(b_.reshape(result, like_.shape), like_.dtype)}); }

  Phases phases_of(const TransposedSum::Window& window, bool rotated) const {
    const IntExpr& extent = extent_of(window.place);
    Phases made{window.stride, quotient_up(window.taps, window.stride), window.dilation};
    if (window.stride == 1) {
      made.before = window.offset, made.places = extent;
      return made;
    }
    int64_t offset = *window.offset.constant();
    made.turn = floor_remainder(-offset - 1, window.stride);
    if (rotated) {
      made.front = made.turn;
      offset += std::exchange(made.turn, 0);
    }
    made.before = -quotient_up(-offset, window.stride);
    made.places = ceildiv(extent + made.front, window.stride);
    return made;
  }

  int window_at(int variable) const {
    for (size_t j = 0; j < sum_.windows.size(); ++j)
      if (sum_.windows[j].place == variable) return static_cast<int>(j);
    return -1;
  }

  // An array with an axis for each variable, and one for the elements, or the taps, of each window.
  Value input(const char* name, const TransposedSum::Factor& factor) {
    const Node& array = graph_.at(factor.array);
    Value made{b_.input(name, array.dtype, array.shape), {}};
    Shape shape;
    for (size_t d = 0; d < factor.dimensions.size(); ++d) {
      const TransposedSum::Dimension& dimension = factor.dimensions[d];
      for (const int v : dimension.variables) {
        made.axes.push_back({Axis::Variable, v});
        shape.push_back(extent_of(v));
      }
      if (dimension.window < 0) continue;
      made.axes.push_back({&factor == &sum_.image ? Axis::Elements : Axis::Taps, dimension.window});
      shape.push_back(array.shape[d]);
    }
    made.id = b_.reshape(made.id, shape);
    for (const TransposedSum::Dimension& dimension : factor.dimensions)
      if (dimension.backwards) made = turned(made, {Axis::Taps, dimension.window});
    return made;
  }

  Value turned(Value x, const Axis& axis) {
    const size_t d = x.place(axis);
    const IntExpr n = b_.shape(x.id)[d];
    x.id = slice_axis(b_, x.id, d, n - 1, n, -1);
    return x;
  }

  // The elements that windows reach, with zeros where there are none.
  Value padded(Value x, int j, const Phases& phases) {
    const TransposedSum::Window& window = sum_.windows[static_cast<size_t>(j)];
    const size_t d = x.place({Axis::Elements, j});
    const IntExpr reached =
        phases.places + IntExpr(phases.taps - 1) * phases.dilation + IntExpr(phases.moves() ? 1 : 0);
    const auto inside = [&](const IntExpr& e) { return min(max(e, window.low), window.high); };
    // Element `first` of the array is the first one that is reached.
    const IntExpr first = -phases.before, start = inside(first), end = inside(first + reached);
    x.id = slice_axis(b_, x.id, d, start, end - start);
    std::vector<IntExpr> low(x.axes.size(), IntExpr(0)), high = low;
    low[d] = min(reached, max(0, start - first));
    high[d] = reached - low[d] - (end - start);
    x.id = b_.pad(x.id, low, high, Literal(int64_t{0}));
    return x;
  }

  Value with_windows(Value x, const std::vector<Phases>& along) {
    std::vector<int> axes;
    std::vector<int64_t> ones;
    Shape sizes;
    for (size_t j = 0; j < along.size(); ++j) {
      const Axis elements{Axis::Elements, static_cast<int>(j)};
      if (!along[j].moves()) continue;
      x = along[j].stride == 2 ? with_pairs(x, elements) : with_turned_phases(x, elements, along[j]);
    }
    std::vector<int64_t> dilation;
    for (size_t j = 0; j < along.size(); ++j) {
      axes.push_back(static_cast<int>(x.place({Axis::Elements, static_cast<int>(j)})));
      sizes.push_back(along[j].taps), ones.push_back(1), dilation.push_back(along[j].dilation);
    }
    x.id = b_.window(x.id, axes, sizes, ones, dilation);
    for (size_t j = 0; j < along.size(); ++j) x.axes.push_back({Axis::Taps, static_cast<int>(j)});
    return x;
  }

  // The second of two phases reads one element further on.
  Value with_pairs(Value x, const Axis& elements) {
    x.id = b_.window(x.id, {static_cast<int>(x.place(elements))}, {2}, {1}, {1});
    x.axes.push_back({Axis::Phase, elements.number});
    return x;
  }

  // Each element once for each phase, in one row from the first one that is read.
  Value with_turned_phases(Value x, const Axis& elements, const Phases& phases) {
    const size_t d = x.place(elements);
    const IntExpr n = b_.shape(x.id)[d];
    Shape one = b_.shape(x.id), row = one;
    one.insert(one.begin() + static_cast<long>(d) + 1, IntExpr(1));
    Shape all = one;
    all[d + 1] = phases.stride;
    row[d] = n * phases.stride;
    const NodeId rows = b_.reshape(b_.broadcast_to(b_.reshape(x.id, one), all), row);
    all[d] = n - 1;
    x.id = b_.reshape(slice_axis(b_, rows, d, phases.turn, (n - 1) * phases.stride), all);
    x.axes.insert(x.axes.begin() + static_cast<long>(d) + 1, {Axis::Phase, elements.number});
    return x;
  }

  // Taps by phases.
  Value apart(Value w, int j, const Phases& phases) {
    if (phases.stride == 1) return w;
    const Axis taps{Axis::Taps, j}, phase{Axis::Phase, j};
    const size_t d = w.place(taps);
    Shape shape = b_.shape(w.id);
    shape[d] = phases.taps;
    shape.insert(shape.begin() + static_cast<long>(d) + 1, IntExpr(phases.stride));
    w.id = b_.reshape(w.id, shape);
    w.axes.insert(w.axes.begin() + static_cast<long>(d) + 1, phase);
    if (phases.stride == 2 && phases.turn == 1) return w;
    w = turned(w, phase);
    if (phases.turn == 0) return w;
    std::vector<IntExpr> none(shape.size(), IntExpr(0)), behind = none;
    behind[d + 1] = phases.turn;
    w.id = slice_axis(b_, b_.extend(w.id, none, behind, ExtendMode::Wrap), d + 1, phases.turn, phases.stride);
    return w;
  }

  // Sums over all but the taps, of all elements and taps.
  Value products(const Value& x, const Value& w) {
    std::vector<Axis> made, summed;
    for (const int v : sum_.result)
      made.push_back(window_at(v) < 0 ? Axis{Axis::Variable, v} : Axis{Axis::Elements, window_at(v)});
    for (size_t j = 0; j < sum_.windows.size(); ++j) made.push_back({Axis::Taps, static_cast<int>(j)});
    for (const int v : sum_.summed) summed.push_back({Axis::Variable, v});
    return {contracted(x, w, made, summed), made};
  }

  // The sum over `summed` of the products of both, which has the axes `made`.
  NodeId contracted(const Value& x, const Value& w, const std::vector<Axis>& made, const std::vector<Axis>& summed) {
    std::vector<Axis> all = made;
    all.insert(all.end(), summed.begin(), summed.end());
    Shape shape;
    for (const Axis& axis : all) {
      const Value& with = x.has(axis) ? x : w;
      shape.push_back(with.has(axis) ? b_.shape(with.id)[with.place(axis)] : extent_of(axis.number));
    }
    const NodeId product = b_.multiply(spread(x, all, shape), spread(w, all, shape), product_.precision);
    if (summed.empty()) return product;
    std::vector<int> axes(summed.size());
    std::iota(axes.begin(), axes.end(), static_cast<int>(made.size()));
    return b_.reduce(ReduceKind::Sum, product, axes, false);
  }

  NodeId spread(const Value& x, const std::vector<Axis>& all, const Shape& shape) {
    std::vector<int> order;
    Shape one;
    for (size_t a = 0; a < all.size(); ++a) {
      if (x.has(all[a])) order.push_back(static_cast<int>(x.place(all[a])));
      one.push_back(x.has(all[a]) ? shape[a] : IntExpr(1));
    }
    const NodeId turned = b_.permute(b_.cast(x.id, product_.dtype), order);
    return b_.broadcast_to(b_.reshape(turned, one), shape);
  }

  GraphBuilder b_;
  const Graph& graph_;
  const Node &like_, &product_;
  const TransposedSum& sum_;
  Value image_, weights_;
};

}  // namespace

std::vector<Graph> forms_of(const Graph& graph, NodeId id, const TransposedSum& sum) {
  const auto all = [&](const auto& condition) {
    return std::all_of(sum.windows.begin(), sum.windows.end(), condition);
  };
  const bool dense = all([](const TransposedSum::Window& w) { return w.stride == 1; });
  const bool apart =
      all([](const TransposedSum::Window& w) { return w.stride == 1 || (w.dilation == 1 && w.offset.constant()); });
  const bool whole = apart && all([](const TransposedSum::Window& w) { return w.taps % w.stride == 0; });
  const bool turns = whole && std::any_of(sum.windows.begin(), sum.windows.end(), [](const auto& w) {
                       return w.stride > 1 && floor_remainder(-*w.offset.constant() - 1, w.stride) != 0;
                     });
  std::vector<Graph> forms;
  const auto add = [&](Graph form) {
    if (form.constraints.empty()) forms.push_back(std::move(form));
  };
  if (whole && (sum.of_sums || !dense)) add(Writer(graph, id, sum).phases(false));
  if (turns) add(Writer(graph, id, sum).phases(true));
  if (apart && !dense) add(Writer(graph, id, sum).columns());
  if (!apart && !sum.of_sums && is_float(graph.at(id).dtype)) add(Writer(graph, id, sum).spread_columns());
  return forms;
}

}  // namespace smelt::plan
