// Scatters of a GPU whose updates come in any order, by atomic operations.
//
// Atomic: phase 0: the result is x; phase 1: vector over the elements of the updates: out[row(j),
// c] += update(j, c), atomically. On chip:
//     each workgroup has a copy in shared memory and goes through a part of the updates; then it adds its copy to the result. What memory
//     has no atomic operation for is joined in a temporary of another type: short integers as words, the order of floats as integers.
//
// Exact: sums of f32 whose order does not show, because integers are added:
//     phase 0: zeros; phase 1: the largest exponent that comes to each element; phase 2: the updates as multiples of 2^-30 of the power of
//     two above that, added as 64-bit integers, of which 2^33 fit; phase 3: out = x + sum. Infinities and NaN are counted instead.
//
// Newest: phase 0: no update; phase 1: the number of the last update of each row, a maximum; phase
// 2: out = that update, or x.
#include "base/check.hpp"
#include "kernel/lower_scatter.hpp"

namespace smelt::kernel {

using schedule::reshaped_index;

namespace {

constexpr int64_t kWorkgroupsPerProcessor = 4;
constexpr int64_t kUpdatesPerWorkgroup = 8192;
constexpr int kFixedBits = 30;      // of an update, as an integer
constexpr int64_t kInfinite = 255;  // the exponent of infinities and NaN
// How they are counted: +inf in the lower half of the sum, -inf in the upper one, NaN in both.
constexpr int64_t kMinusInfinity = int64_t{1} << 32;

class Words {
 public:
  explicit Words(Builder& b) : b_(b) {}
  ExprId op(Op op, ExprId x, ExprId y) { return b_.apply(op, {x, y}); }
  ExprId number(DType t, int64_t value) { return b_.constant(Scalar::of_int(t, value)); }
  ExprId where(ExprId condition, ExprId x, ExprId y) { return b_.apply(Op::Where, {condition, x, y}); }

  static DType word_of(DType t) { return size_of(t) == 8 ? DType::I64 : DType::I32; }

  // Integers that are ordered as floats are; NaN is above (or below) all of them.
  ExprId ordered(ExprId x, bool nan_below) {
    const DType word = word_of(b_.dtype(x));
    const ExprId bits = b_.bitcast(x, word), most = number(word, static_cast<int64_t>(max_int(word)));
    const ExprId key = where(op(Op::Lt, bits, number(word, 0)), op(Op::Xor, bits, most), bits);
    return where(op(Op::Ne, x, x), nan_below ? number(word, min_int(word)) : most, key);
  }
  ExprId from_ordered(ExprId key, DType t) {
    const DType word = word_of(t);
    const ExprId most = number(word, static_cast<int64_t>(max_int(word))), least = number(word, min_int(word));
    const ExprId bits = where(op(Op::Lt, key, number(word, 0)), op(Op::Xor, key, most), key);
    const ExprId is_nan = op(Op::Or, op(Op::Eq, key, most), op(Op::Eq, key, least));
    return where(is_nan, b_.constant(Scalar::of_float(t, NAN)), b_.bitcast(bits, t));
  }

  // The exponent of an f32 as it is stored.
  ExprId exponent(ExprId x) {
    const ExprId bits = op(Op::And, b_.bitcast(x, DType::I32), number(DType::I32, 0x7fffffff));
    return b_.raw(RawOp::Shr, DType::I32, {bits, number(DType::I32, 23)});
  }
  // 2^e as an f64, for every e that is needed here.
  ExprId power(ExprId e) {
    const ExprId biased = op(Op::Add, b_.cast(e, DType::I64), number(DType::I64, 1023));
    return b_.bitcast(b_.raw(RawOp::Shl, DType::I64, {biased, number(DType::I64, 52)}), DType::F64);
  }
  // An update among others of which the largest has the exponent `top`.
  ExprId fixed(ExprId x, ExprId top) {
    const ExprId scale = power(op(Op::Sub, number(DType::I32, 126 + kFixedBits), top));
    const ExprId scaled = b_.apply(Op::Round, {op(Op::Mul, b_.cast(x, DType::F64), scale)});
    const ExprId infinity = b_.constant(Scalar::of_float(DType::F32, HUGE_VAL));
    const ExprId below = b_.constant(Scalar::of_float(DType::F32, -HUGE_VAL)), zero = number(DType::I64, 0);
    const ExprId nan = number(DType::I64, kMinusInfinity + 1), minus = number(DType::I64, kMinusInfinity);
    const ExprId counted =
        where(op(Op::Ne, x, x), nan,
              where(op(Op::Eq, x, infinity), number(DType::I64, 1), where(op(Op::Eq, x, below), minus, zero)));
    return where(op(Op::Eq, top, number(DType::I32, kInfinite)), counted, b_.raw(RawOp::ToInt, DType::I64, {scaled}));
  }
  // x and the sum of its updates, rounded once.
  ExprId sum(ExprId x, ExprId fixed, ExprId top) {
    const ExprId zero = number(DType::I64, 0);
    const ExprId scale = power(op(Op::Sub, top, number(DType::I32, 126 + kFixedBits)));
    const ExprId exact = op(Op::Mul, b_.cast(fixed, DType::F64), scale);
    const ExprId plus = op(Op::Ne, op(Op::And, fixed, number(DType::I64, 0xffffffff)), zero);
    const ExprId minus = op(Op::Ne, b_.raw(RawOp::Shr, DType::I64, {fixed, number(DType::I64, 32)}), zero);
    const auto special = [&](double v) { return b_.constant(Scalar::of_float(DType::F64, v)); };
    const ExprId counted =
        where(op(Op::And, plus, minus), special(NAN), where(plus, special(HUGE_VAL), special(-HUGE_VAL)));
    const ExprId more = where(op(Op::Eq, top, number(DType::I32, kInfinite)), counted, exact);
    const ExprId both = b_.cast(op(Op::Add, b_.cast(x, DType::F64), more), DType::F32);
    return where(op(Op::Eq, fixed, zero), x, both);
  }

 private:
  Builder& b_;
};

Op op_of(ScatterKind kind) { return kind == ScatterKind::Max ? Op::Max : kind == ScatterKind::Min ? Op::Min : Op::Add; }

}  // namespace

// Whether the row is one of the result, where the mode leaves that open; kNoExpr where it is
// always.
ExprId ScatterLowering::row_inside(const Scattered& s, ExprId row) {
  const bool open = s.mode == GatherMode::Check || s.mode == GatherMode::Drop;
  return open ? evaluator_.is_below(row, s.rows) : kNoExpr;
}

ScatterLowering::Destination ScatterLowering::destination(const Scattered& s, const IntExpr& at, const Ranges& ranges,
                                                          bool checked) {
  Destination d;
  d.column = mod(at, s.columns, ranges), d.update = floordiv(at, s.columns, ranges);
  d.row = scatter_row(s, d.update, ranges);
  d.inside = row_inside(s, d.row);
  if (!checked) evaluator_.report_row(s.id, d.row, s.rows);
  d.index = evaluator_.as_index(d.row, s.rows);
  return d;
}

void ScatterLowering::over_updates(const Scattered& s, bool checked,
                                   const std::function<void(const Destination&, std::vector<Stmt>&)>& fill) {
  over_chunks(s.updates * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    fill(destination(s, at, ranges, checked), body);
  });
}

// A phase that leaves x in a param, written in another way.
void ScatterLowering::copy_to(const Scattered& s, int param, const std::function<ExprId(ExprId)>& encode) {
  over_chunks(s.rows * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({s.rows * s.columns}, s.shape, {at}, ranges);
    const ExprId value = encode(evaluator_.value(s.x, index));
    body.push_back(builder_.store({false, param, index}, value));
  });
}

// Small constants, of which a workgroup never sees so many that their sum leaves 32 bits.
static bool counts(const Graph& graph, NodeId updates) {
  while (is_view(graph.at(updates).kind)) updates = graph.at(updates).args[0];
  const Node& node = graph.at(updates);
  return node.kind == NodeKind::Constant && is_int(node.dtype) && std::abs(node.constant.as_double()) <= 16;
}

void ScatterLowering::scatter_atomic(const Scattered& s) {
  Words words(builder_);
  const bool extreme = s.kind != ScatterKind::Add, by_order = extreme && is_float(s.dtype);
  const bool short_word = size_of(s.dtype) < 4;
  const DType wide = is_signed_int(s.dtype) ? DType::I32 : DType::U32;
  const DType type = by_order ? Words::word_of(compute_type(s.dtype)) : short_word ? wide : s.dtype;
  const auto encode = [&](ExprId x) {
    return by_order ? words.ordered(x, s.kind == ScatterKind::Min) : type == s.dtype ? x : builder_.cast(x, type);
  };
  const int out = evaluator_.output_param(s.id);
  const bool through = by_order || short_word;
  const int joined = through ? add_temporary(type, s.shape, "updates in another type") : out;
  copy_to(s, joined, encode);
  const bool narrow = type == DType::I64 && s.kind == ScatterKind::Add && counts(graph_, s.source);
  join_updates(s, {joined, type, narrow ? DType::I32 : type, false, [&](const Destination& d) {
                     return encode(evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges())));
                   }});
  if (!through) return;
  over_chunks(s.rows * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({s.rows * s.columns}, s.shape, {at}, ranges);
    const ExprId there = builder_.load({false, joined, index});
    const ExprId value =
        by_order ? words.from_ordered(there, compute_type(s.dtype)) : builder_.cast(there, s.dtype, true);
    body.push_back(builder_.store({false, out, index}, value));
  });
}

void ScatterLowering::join_updates(const Scattered& s, const Joined& joined) {
  if (schedule_.on_chip) return join_on_chip(s, joined);
  over_updates(s, joined.checked, [&](const Destination& d, std::vector<Stmt>& body) {
    const ExprId value = joined.value(d);
    const Access to{false, joined.param, s.at(d.index, d.column, evaluator_.ranges())};
    body.push_back(store_atomic(to, op_of(s.kind), value, d.inside));
  });
}

void ScatterLowering::join_on_chip(const Scattered& s, const Joined& joined) {
  const IntExpr elements = s.rows * s.columns, length = s.updates * s.columns;
  const DType word = joined.word;
  const Op op = op_of(s.kind);
  const int copy = add_scratch(word, {elements});
  const IntExpr workgroups =
      min(IntExpr::symbol(kLaunchThreads) * kWorkgroupsPerProcessor, ceildiv(length, kUpdatesPerWorkgroup));
  const IntExpr tiles = ceildiv(ceildiv(length, max(1, workgroups)), schedule_.tile);
  const IntExpr part = launch_size(Symbol::launch("tiles_of_part"), max(1, tiles)) * schedule_.tile,
                parts = launch_size(Symbol::launch("parts"), ceildiv(length, part));
  const ReduceKind kind = s.kind == ScatterKind::Add   ? ReduceKind::Sum
                          : s.kind == ScatterKind::Max ? ReduceKind::Max
                                                       : ReduceKind::Min;
  const ExprId none = builder_.constant(neutral(kind, word));
  Grid grid;
  Placement placement;
  grid.add(Symbol::loop("part_of"), parts);
  grid.decode(placement);
  const IntExpr lane = IntExpr::symbol(kLane), first = placement.value_of.at(Symbol::loop("part_of")) * part;
  std::vector<Stmt> body;
  const auto pass = [&](const IntExpr& extent, const std::function<void(const Ranges&, std::vector<Stmt>&)>& fill) {
    append(body, lanes_of(kLane, extent, placement.ranges, fill));
  };
  pass(elements, [&](const Ranges&, std::vector<Stmt>& into) {
    into.push_back(builder_.store({true, copy, {lane}}, none));
  });
  pass(min(part, length - first), [&](const Ranges& ranges, std::vector<Stmt>& into) {
    const Destination d = destination(s, first + lane, ranges, joined.checked);
    const ExprId value = joined.value(d);
    const Access to{true, copy, {d.index * s.columns + d.column}};
    into.push_back(store_atomic(to, op, builder_.cast(value, word), d.inside));
  });
  pass(elements, [&](const Ranges& ranges, std::vector<Stmt>& into) {
    const ExprId sum = builder_.load({true, copy, {lane}});
    const Index at = reshaped_index({elements}, s.shape, {lane}, ranges);
    into.push_back(store_atomic({false, joined.param, at}, op, builder_.cast(sum, joined.type),
                                builder_.apply(Op::Ne, {sum, none})));
  });
  add_phase(grid.extent(), std::move(body), part);
}

void ScatterLowering::scatter_exact(const Scattered& s) {
  Words words(builder_);
  const int tops = add_temporary(DType::I32, s.shape, "largest exponents"),
            sums = add_temporary(DType::I64, s.shape, "sums");
  const int out = evaluator_.output_param(s.id);
  const IntExpr elements = s.rows * s.columns;
  over_chunks(elements, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({elements}, s.shape, {at}, ranges);
    body.push_back(builder_.store({false, tops, index}, words.number(DType::I32, 0)));
    body.push_back(builder_.store({false, sums, index}, words.number(DType::I64, 0)));
  });
  // Where there are no rows at all, dropped updates read nothing.
  const auto top_at = [&](const Index& at, ExprId inside) {
    return builder_.load({false, tops, at}, inside, inside == kNoExpr ? kNoExpr : words.number(DType::I32, 0));
  };
  over_updates(s, false, [&](const Destination& d, std::vector<Stmt>& body) {
    const Access to{false, tops, s.at(d.index, d.column, evaluator_.ranges())};
    const ExprId value = evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges()));
    const ExprId top = words.exponent(value);
    // Most updates find a larger one there already. What they read may be old, but it only grows.
    ExprId higher = words.op(Op::Gt, top, top_at(to.index, d.inside));
    if (d.inside != kNoExpr) higher = words.op(Op::And, d.inside, higher);
    body.push_back(store_atomic(to, Op::Max, top, higher));
  });
  join_updates(s, {sums, DType::I64, DType::I64, true, [&](const Destination& d) {
                     const ExprId value =
                         evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges()));
                     return words.fixed(value, top_at(s.at(d.index, d.column, evaluator_.ranges()), d.inside));
                   }});
  over_chunks(elements, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({elements}, s.shape, {at}, ranges);
    const ExprId x = evaluator_.value(s.x, index);
    const ExprId sum = builder_.load({false, sums, index}), top = builder_.load({false, tops, index});
    body.push_back(builder_.store({false, out, evaluator_.inside(s.id, index)}, words.sum(x, sum, top)));
  });
}

void ScatterLowering::scatter_newest(const Scattered& s) {
  Words words(builder_);
  const int newest = add_temporary(DType::I64, {s.rows}, "last updates");
  const int out = evaluator_.output_param(s.id);
  over_chunks(s.rows, [&](const IntExpr& at, const Ranges&, std::vector<Stmt>& body) {
    body.push_back(builder_.store({false, newest, {at}}, words.number(DType::I64, -1)));
  });
  over_chunks(s.updates, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const ExprId row = scatter_row(s, at, ranges);
    evaluator_.report_row(s.id, row, s.rows);
    const IntExpr index = evaluator_.as_index(row, s.rows);
    body.push_back(store_atomic({false, newest, {index}}, Op::Max, builder_.index(at), row_inside(s, row)));
  });
  over_chunks(s.rows * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const IntExpr row = floordiv(at, s.columns, ranges), column = mod(at, s.columns, ranges);
    const Index index = reshaped_index({s.rows * s.columns}, s.shape, {at}, ranges);
    const ExprId last = builder_.load({false, newest, {row}});
    const ExprId some = builder_.apply(Op::Ge, {last, builder_.index(0)});
    const ExprId before = evaluator_.value(s.x, index);
    const IntExpr update = evaluator_.as_index(last, s.updates);
    evaluator_.only_where(some);
    const ExprId value = evaluator_.value(s.source, s.update_at(update, column, evaluator_.ranges()));
    evaluator_.only_where(kNoExpr);
    body.push_back(
        builder_.store({false, out, evaluator_.inside(s.id, index)}, builder_.apply(Op::Where, {some, value, before})));
  });
}

}  // namespace smelt::kernel
