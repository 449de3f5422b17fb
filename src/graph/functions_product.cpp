// Products: sums of products over axes that two arrays share. Every one of them is broadcasts, a
// multiplication and a sum, so that what comes before and after fuses as around any other
// reduction; schedules see from the axes that it is a product.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "graph/build_detail.hpp"
#include "graph/term.hpp"

namespace smelt::functions {
namespace {

// Axes by name: a letter of einsum, or below 0 an axis that broadcasts, -1 the last of those.
using Names = std::vector<int>;

struct Named {
  NodeId x;
  Names names;
};

bool has(const Names& names, int name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::string axis_text(int name) {
  return name < 0 ? fmt::format("the axis {} of those that broadcast", name)
                  : fmt::format("axis {}", static_cast<char>(name));
}

IntExpr size_of_axis(const GraphBuilder& b, const Named& a, int name) {
  const auto d = std::find(a.names.begin(), a.names.end(), name) - a.names.begin();
  return b.shape(a.x)[static_cast<size_t>(d)];
}

// The array with its axes in the order of `all`, of size 1 where it has none.
NodeId aligned(GraphBuilder& b, const Named& a, const Names& all) {
  std::vector<int> order;
  Shape shape;
  for (const int name : all) {
    const auto d = std::find(a.names.begin(), a.names.end(), name);
    shape.push_back(d == a.names.end() ? IntExpr(1) : size_of_axis(b, a, name));
    if (d != a.names.end()) order.push_back(static_cast<int>(d - a.names.begin()));
  }
  const NodeId moved = std::is_sorted(order.begin(), order.end()) ? a.x : b.permute(a.x, order);
  return b.shape(moved) == shape ? moved : b.reshape(moved, shape);
}

// The diagonal of an axis that is named twice, as a sum along the second with zeros elsewhere.
Named diagonal(GraphBuilder& b, Named a) {
  for (size_t d = 0; d < a.names.size(); ++d)
    for (size_t e = d + 1; e < a.names.size(); ++e) {
      if (a.names[d] != a.names[e]) continue;
      const Shape shape = b.shape(a.x);
      if (!(shape[d] == shape[e]))
        fail(fmt::format("einsum: {} has sizes {} and {} in {}", axis_text(a.names[d]), shape[d].str(), shape[e].str(),
                         describe(b.at(a.x))),
             "an axis that is named twice is a diagonal");
      const DType t = b.dtype(a.x);
      const NodeId here =
          b.elementwise(Op::Eq, {b.iota(shape, static_cast<int>(d)), b.iota(shape, static_cast<int>(e))});
      const NodeId kept = b.elementwise(Op::Where, {here, a.x, zero_of(b, t).id()});
      const int axis = static_cast<int>(e);
      a.x = is_bool(t) ? b.reduce(ReduceKind::Any, kept, {axis}, false)
                       : b.cast(b.reduce(ReduceKind::Sum, kept, {axis}, false), t, true);
      a.names.erase(a.names.begin() + axis);
      e = d;
    }
  return a;
}

// The dtype that products of this one add up in. Integers wrap, so that 64 bits give the low bits
// of any of them.
DType wide_type(DType t) {
  if (is_bool(t)) return t;
  return is_float(t) ? compute_type(t) : is_unsigned_int(t) ? DType::U64 : DType::I64;
}

NodeId sum_over(GraphBuilder& b, NodeId x, const std::vector<int>& axes) {
  if (axes.empty()) return x;
  return b.reduce(is_bool(b.dtype(x)) ? ReduceKind::Any : ReduceKind::Sum, x, axes, false);
}

void append(Names& to, const Names& more) { to.insert(to.end(), more.begin(), more.end()); }

// What only one array has and the result has not is summed before anything is multiplied.
Named summed_alone(GraphBuilder& b, Named a, const Names& others, DType wide) {
  std::vector<int> axes;
  Names left;
  for (size_t d = 0; d < a.names.size(); ++d) {
    if (has(others, a.names[d]))
      left.push_back(a.names[d]);
    else
      axes.push_back(static_cast<int>(d));
  }
  if (axes.empty()) return a;
  return {sum_over(b, b.cast(a.x, wide), axes), left};
}

void check_sizes(const GraphBuilder& b, const Named& x, const Named& y, const std::string& what) {
  for (const int name : x.names) {
    if (!has(y.names, name)) continue;
    const IntExpr a = size_of_axis(b, x, name), c = size_of_axis(b, y, name);
    const bool broadcasts = name < 0 && (a.is(1) || c.is(1));
    if (!(a == c) && !broadcasts)
      fail(fmt::format("{}: {} and {} do not fit: {} has {} and {} elements", what, describe(b.at(x.x)),
                       describe(b.at(y.x)), axis_text(name), a.str(), c.str()),
           "axes that are multiplied with each other have one size");
  }
}

// The product of two arrays with the axes `result`, in the dtype that it adds up in.
NodeId product(GraphBuilder& b, Named x, Named y, const Names& result, DType common, Precision precision) {
  const DType wide = wide_type(common);
  const auto needed = [&](const Named& other) {
    Names names = result;
    append(names, other.names);
    return names;
  };
  x = summed_alone(b, std::move(x), needed(y), wide);
  y = summed_alone(b, std::move(y), needed(x), wide);
  Names all = result;
  std::vector<int> axes;
  for (const int name : x.names)
    if (!has(result, name)) {
      axes.push_back(static_cast<int>(all.size()));
      all.push_back(name);
    }
  const NodeId left = aligned(b, {b.cast(x.x, wide), x.names}, all);
  const NodeId right = aligned(b, {b.cast(y.x, wide), y.names}, all);
  if (is_bool(wide)) return sum_over(b, b.elementwise(Op::And, {left, right}), axes);
  return sum_over(b, b.multiply(left, right, common == DType::F32 ? precision : Precision::Full), axes);
}

DType common_dtype_of(const GraphBuilder& b, NodeId x, NodeId y, std::string_view what) {
  const Operand both[] = {x, y};
  return is_bool(b.dtype(x)) && is_bool(b.dtype(y)) ? DType::Bool : common_dtype(b, Op::Mul, both, std::string(what));
}

NodeId narrow(GraphBuilder& b, NodeId x, DType to) { return b.cast(x, to, !is_float(to) && !is_bool(to)); }

// The names of axes that broadcast: -n .. -1.
Names broadcasting(size_t n) {
  Names names;
  for (size_t d = 0; d < n; ++d) names.push_back(static_cast<int>(d) - static_cast<int>(n));
  return names;
}

// ---- einsum's subscripts

struct Subscripts {
  std::vector<Names> arrays;
  Names result;
};

class SubscriptParser {
 public:
  SubscriptParser(const GraphBuilder& b, std::string_view text, const std::vector<NodeId>& arrays)
      : b_(b), arrays_(arrays) {
    for (const char c : text)
      if (c != ' ') text_ += c;
  }

  Subscripts run() {
    const size_t arrow = text_.find("->");
    const std::string left = text_.substr(0, arrow);
    std::vector<std::string> terms{""};
    for (const char c : left) {
      if (c == ',')
        terms.emplace_back();
      else
        terms.back() += c;
    }
    if (terms.size() != arrays_.size())
      fail(fmt::format("einsum: '{}' names the axes of {} array{}, and {} {} given", text_, terms.size(),
                       terms.size() == 1 ? "" : "s", arrays_.size(), arrays_.size() == 1 ? "is" : "are"),
           "one list of letters for each array: einsum('ij,jk->ik', a, b)");
    Subscripts s;
    for (size_t i = 0; i < terms.size(); ++i) s.arrays.push_back(names_of(terms[i], arrays_[i]));
    for (const Names& names : s.arrays)
      for (const int name : names)
        if (name < 0) broadcast_ = std::max(broadcast_, static_cast<size_t>(-name));
    s.result = arrow == std::string::npos ? implied(s.arrays) : stated(text_.substr(arrow + 2), s.arrays);
    return s;
  }

 private:
  [[noreturn]] void unexpected(const std::string& what) const {
    fail(fmt::format("einsum: {} in '{}'", what, text_),
         "letters name axes, '...' those that broadcast: 'bij,bjk->bik'");
  }

  // The letters, and where the dots are; -1: nowhere.
  std::pair<Names, int> letters(const std::string& term) const {
    Names names;
    int dots = -1;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term.compare(i, 3, "...") == 0 && dots < 0) {
        dots = static_cast<int>(names.size());
        i += 2;
      } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
        names.push_back(term[i]);
      } else {
        unexpected(fmt::format("unexpected '{}'", term[i]));
      }
    }
    return {names, dots};
  }

  Names names_of(const std::string& term, NodeId x) const {
    auto [names, dots] = letters(term);
    const size_t rank = b_.shape(x).size();
    if (names.size() > rank || (dots < 0 && names.size() != rank))
      fail(fmt::format("einsum: '{}' names {} ax{}, and the array is {}", term, names.size(),
                       names.size() == 1 ? "is" : "es", describe(b_.at(x))),
           "a letter for each axis, or '...' for the rest");
    const Names others = broadcasting(rank - names.size());
    if (dots >= 0) names.insert(names.begin() + dots, others.begin(), others.end());
    return names;
  }

  // Without an arrow: what broadcasts, then the letters that occur once, in their order.
  Names implied(const std::vector<Names>& arrays) const {
    std::vector<int> all, once = broadcasting(broadcast_);
    for (const Names& names : arrays)
      for (const int name : names)
        if (name >= 0) all.push_back(name);
    std::sort(all.begin(), all.end());
    for (const int name : all)
      if (std::count(all.begin(), all.end(), name) == 1) once.push_back(name);
    return once;
  }

  Names stated(const std::string& term, const std::vector<Names>& arrays) const {
    const auto [letters_of_result, dots] = letters(term);
    Names names = letters_of_result;
    for (size_t d = 0; d < names.size(); ++d) {
      if (std::count(names.begin(), names.end(), names[d]) > 1)
        unexpected(fmt::format("the result has the axis {} twice", static_cast<char>(names[d])));
      if (std::none_of(arrays.begin(), arrays.end(), [&](const Names& a) { return has(a, names[d]); }))
        unexpected(fmt::format("no array has the axis {} of the result", static_cast<char>(names[d])));
    }
    if (dots < 0 && broadcast_ > 0) unexpected("the result lacks '...'");
    const Names others = broadcasting(broadcast_);
    if (dots >= 0) names.insert(names.begin() + dots, others.begin(), others.end());
    return names;
  }

  const GraphBuilder& b_;
  const std::vector<NodeId>& arrays_;
  std::string text_;
  size_t broadcast_ = 0;
};

}  // namespace

NodeId einsum(GraphBuilder& b, std::string_view subscripts, const std::vector<NodeId>& arrays, Precision precision) {
  if (arrays.empty()) fail("einsum takes one array or more", "einsum('ij,jk->ik', a, b)");
  const Subscripts s = SubscriptParser(b, subscripts, arrays).run();
  Named so_far = diagonal(b, {arrays[0], s.arrays[0]});
  if (arrays.size() == 1) {
    const DType t = b.dtype(so_far.x);
    const Named left = summed_alone(b, so_far, s.result, wide_type(t));
    return narrow(b, aligned(b, left, s.result), t);
  }
  for (size_t i = 1; i < arrays.size(); ++i) {
    const Named next = diagonal(b, {arrays[i], s.arrays[i]});
    check_sizes(b, so_far, next, "einsum");
    // What the result or an array that follows needs.
    Names kept;
    if (i + 1 == arrays.size()) {
      kept = s.result;
    } else {
      Names later = s.result, both = so_far.names;
      for (size_t j = i + 1; j < arrays.size(); ++j) append(later, s.arrays[j]);
      append(both, next.names);
      for (const int name : both)
        if (has(later, name) && !has(kept, name)) kept.push_back(name);
    }
    const DType common = common_dtype_of(b, so_far.x, next.x, "einsum");
    so_far = {narrow(b, product(b, so_far, next, kept, common, precision), common), kept};
  }
  return so_far.x;
}

// The product of x[..., m, k] and y[..., k, n], where a vector has no m or n, in the dtype of its
// sums.
static NodeId wide_matmul(GraphBuilder& b, NodeId x, NodeId y, DType common, Precision precision) {
  const size_t rx = b.shape(x).size(), ry = b.shape(y).size();
  Named left{x, broadcasting(rx > 2 ? rx - 2 : 0)}, right{y, broadcasting(ry > 2 ? ry - 2 : 0)};
  Names result = broadcasting(std::max(left.names.size(), right.names.size()));
  if (rx > 1) left.names.push_back('m'), result.push_back('m');
  left.names.push_back('k');
  right.names.push_back('k');
  if (ry > 1) right.names.push_back('n'), result.push_back('n');
  return product(b, left, right, result, common, precision);
}

static void require_rows(const GraphBuilder& b, NodeId x, NodeId y, size_t axis_of_y, std::string_view what) {
  const Shape &a = b.shape(x), &c = b.shape(y);
  if (!(a.back() == c[axis_of_y]))
    fail(fmt::format("{}: {} has rows of {}, and {} has {} along its axis {}", what, describe(b.at(x)), a.back().str(),
                     describe(b.at(y)), c[axis_of_y].str(), axis_of_y),
         "they are multiplied with each other, so they have one size; x.mT turns a matrix");
}

// The axes in front of the matrices.
static void require_stacks(const GraphBuilder& b, NodeId x, NodeId y, std::string_view what) {
  const Shape &a = b.shape(x), &c = b.shape(y);
  for (size_t back = 3; back <= std::min(a.size(), c.size()); ++back) {
    const IntExpr &of_x = a[a.size() - back], &of_y = c[c.size() - back];
    if (!(of_x == of_y) && !of_x.is(1) && !of_y.is(1))
      fail(fmt::format("{}: {} and {} are stacks of {} and {} matrices", what, describe(b.at(x)), describe(b.at(y)),
                       of_x.str(), of_y.str()),
           "the axes in front of a matrix are equal, or 1");
  }
}

NodeId matmul(GraphBuilder& b, NodeId x, NodeId y, std::string_view what, Precision precision) {
  const size_t rx = b.shape(x).size(), ry = b.shape(y).size();
  if (rx == 0 || ry == 0)
    fail(fmt::format("{}: {} is a number, not a matrix", what, describe(b.at(rx == 0 ? x : y))),
         "x * y multiplies by a number");
  require_rows(b, x, y, ry > 1 ? ry - 2 : 0, what);
  require_stacks(b, x, y, what);
  const DType common = common_dtype_of(b, x, y, what);
  return narrow(b, wide_matmul(b, x, y, common, precision), common);
}

NodeId dot(GraphBuilder& b, NodeId x, NodeId y, Precision precision) {
  const size_t rx = b.shape(x).size(), ry = b.shape(y).size();
  if (rx == 0 || ry == 0) return b.elementwise(Op::Mul, {x, y});
  require_rows(b, x, y, ry > 1 ? ry - 2 : 0, "dot");
  return tensordot(b, x, y, {-1}, {ry > 1 ? -2 : -1}, precision);
}

NodeId vecdot(GraphBuilder& b, NodeId x, NodeId y, int axis) {
  const auto last = [&](NodeId a) { return moveaxis(b, a, {axis}, {-1}); };
  const NodeId u = last(x), v = last(y);
  require_rows(b, u, v, b.shape(v).size() - 1, "vecdot");
  const DType common = common_dtype_of(b, x, y, "vecdot"), wide = wide_type(common);
  const NodeId both = b.elementwise(is_bool(wide) ? Op::And : Op::Mul, {b.cast(u, wide), b.cast(v, wide)});
  return narrow(b, sum_over(b, both, {-1}), common);
}

NodeId outer(GraphBuilder& b, NodeId x, NodeId y) {
  return b.elementwise(Op::Mul, {b.reshape(x, {-1, 1}), b.reshape(y, {1, -1})});
}

NodeId tensordot(GraphBuilder& b, NodeId x, NodeId y, Axes of_x, Axes of_y, Precision precision) {
  if (of_x.size() != of_y.size())
    fail(fmt::format("tensordot: {} axes of x and {} of y", of_x.size(), of_y.size()),
         "they are multiplied pair by pair");
  const auto named = [&](NodeId a, const Axes& axes, int first) {
    Named n{a, Names(b.shape(a).size(), 0)};
    for (size_t i = 0; i < axes.size(); ++i) {
      int& name = n.names[static_cast<size_t>(b.normalize_axis(axes[i], b.rank(a)))];
      if (name != 0) fail(fmt::format("tensordot: axis {} is named twice", axes[i]), "name each axis once");
      name = static_cast<int>(i) + 1;
    }
    for (int& name : n.names)
      if (name == 0) name = first++;
    return n;
  };
  constexpr int kOfX = 1000, kOfY = 2000;
  const Named left = named(x, of_x, kOfX), right = named(y, of_y, kOfY);
  for (size_t i = 0; i < of_x.size(); ++i) {
    const IntExpr a = size_of_axis(b, left, static_cast<int>(i) + 1),
                  c = size_of_axis(b, right, static_cast<int>(i) + 1);
    if (!(a == c))
      fail(fmt::format("tensordot: axis {} of {} has {} elements, and axis {} of {} has {}", of_x[i], describe(b.at(x)),
                       a.str(), of_y[i], describe(b.at(y)), c.str()),
           "axes that are multiplied with each other have one size");
  }
  Names result;
  for (const Named& n : {left, right})
    for (const int name : n.names)
      if (name >= kOfX) result.push_back(name);
  const DType common = common_dtype_of(b, x, y, "tensordot");
  return narrow(b, product(b, left, right, result, common, precision), common);
}

NodeId linear(GraphBuilder& b, NodeId x, NodeId weight, std::optional<NodeId> bias, Precision precision) {
  if (b.shape(x).empty())
    fail(fmt::format("linear: {} is a number", describe(b.at(x))), "x has rows along its last axis");
  if (b.shape(weight).size() != 2)
    fail(fmt::format("linear: the weight is {}", describe(b.at(weight))), "it is a matrix [out, in], as in torch");
  require_rows(b, x, weight, 1, "linear");
  const DType common = common_dtype_of(b, x, weight, "linear");
  const NodeId sums = wide_matmul(b, x, swapaxes(b, weight, -2, -1), common, precision);
  if (!bias) return narrow(b, sums, common);
  return narrow(b, b.elementwise(Op::Add, {sums, b.cast(*bias, b.dtype(sums))}), common);
}

// Where heads of q share those of k and v: [.., heads, length, n] as [.., heads of k, heads to
// each, length, n].
static NodeId grouped(GraphBuilder& b, NodeId x, const IntExpr& groups) {
  Shape shape = b.shape(x);
  const size_t heads = shape.size() - 3;
  const bool whole = shape[heads].is(1);
  const IntExpr each = whole ? IntExpr(1) : floordiv(shape[heads], groups);
  shape[heads] = whole ? IntExpr(1) : groups;
  shape.insert(shape.begin() + static_cast<long>(heads) + 1, each);
  return b.reshape(x, shape);
}

NodeId attention(GraphBuilder& b, NodeId q, NodeId k, NodeId v, std::optional<NodeId> mask, bool causal,
                 std::optional<Operand> scale, Precision precision) {
  constexpr std::string_view kName = "scaled_dot_product_attention";
  for (const NodeId x : {q, k, v})
    if (b.shape(x).size() < 2) fail(fmt::format("{} takes [.., length, n], not {}", kName, describe(b.at(x))), "");
  require_rows(b, q, k, b.shape(k).size() - 1, kName);
  const auto length_of = [&](NodeId x) { return b.shape(x)[b.shape(x).size() - 2].constant(); };
  if (const auto keys = length_of(k), values = length_of(v); keys && values && *keys != *values)
    fail(fmt::format("{}: k, {}, has {} rows, and v, {}, has {}", kName, describe(b.at(k)), *keys, describe(b.at(v)),
                     *values),
         "each key has one value");
  const auto heads = [&](NodeId x) {
    return b.shape(x).size() < 3 ? std::nullopt : b.shape(x)[b.shape(x).size() - 3].constant();
  };
  const auto of_q = heads(q), of_k = heads(k), of_v = heads(v);
  if (of_q && of_k && of_v && *of_q != *of_k && *of_k > 1 && of_k == of_v && *of_q % *of_k == 0) {
    if (mask && b.shape(*mask).size() >= 3) mask = grouped(b, *mask, *of_k);
    const NodeId result =
        attention(b, grouped(b, q, *of_k), grouped(b, k, *of_k), grouped(b, v, *of_k), mask, causal, scale, precision);
    Shape shape = b.shape(result);
    shape.erase(shape.end() - 4);
    shape[shape.size() - 3] = *of_q;
    return b.reshape(result, shape);
  }
  const DType common = common_dtype_of(b, q, k, kName);
  if (!is_float(common)) fail(fmt::format("{} takes floats, not {}", kName, describe(b.at(q))), "cast first");
  const Term sums(b, wide_matmul(b, q, swapaxes(b, k, -2, -1), common, precision));
  const IntExpr length = b.shape(q).back();
  const Term unit = length.constant() ? Term(1.0 / std::sqrt(static_cast<double>(*length.constant())))
                                      : rsqrt(Term(b, b.cast(b.size_value(length), dtype_of(sums))));
  Term scores = sums * (scale ? widened_to(b, *scale, dtype_of(sums)) : unit);
  const Term never(-HUGE_VAL);
  if (mask) {
    const Term m(b, *mask);
    scores = is_bool(b.dtype(*mask)) ? where(m, scores, never) : scores + widened_to(b, *mask, dtype_of(sums));
  }
  if (causal) {
    const Shape shape = b.shape(scores.id());
    const int last = static_cast<int>(shape.size()) - 1;
    scores = where(Term(b, b.iota(shape, last)) <= Term(b, b.iota(shape, last - 1)), scores, never);
  }
  // A row that sees no key has weights of 0, as in torch.
  const Term most = kept(ReduceKind::Max, scores, {-1});
  const Term e = exp(scores - held(mask ? where(equal(most, never), Term(0.0), most) : most));
  const Term total = kept(ReduceKind::Sum, e, {-1});
  const Term weights = e * apply(Op::Reciprocal, {mask ? where(equal(total, Term(0.0)), Term(1.0), total) : total});
  const NodeId rounded = narrowed(weights, b.dtype(v));
  return narrow(b, wide_matmul(b, rounded, v, common_dtype_of(b, rounded, v, kName), precision), b.dtype(q));
}

}  // namespace smelt::functions
