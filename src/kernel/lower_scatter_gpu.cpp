// Scatters of a GPU whose updates come in any order, by atomic operations.
//
// Atomic: phase 0: the result is x; phase 1: vector over the elements of the updates: out[row(j),
// c] += update(j, c), atomically. On chip:
//     each workgroup has a copy in shared memory and goes through a part of the updates; then it adds its copy to the result. What memory
//     has no atomic operation for is joined in a temporary of another type: short integers as words, the order of floats as integers.
//
// Exact: sums of floats whose order does not show (any_order.hpp):
//     phase 0: zeros; phase 1: the largest exponent that comes to each element; phase 2: the updates as integers below that, added; for
//     f64 phase 3: what remained of them; last phase: out = x + sum.
//
// Newest: phase 0: no update; phase 1: the number of the last update of each row, a maximum; phase
// 2: out = that update, or x.
//
// Few: phase 0: the result is x; phase 1: grid over the updates, each by a team that looks through
// all
//     of them: the last of a row is stored; or each has its next one, and phase 2: the first of a row goes from one to the next.
#include "base/check.hpp"
#include "kernel/lower_scatter.hpp"

namespace smelt::kernel {

using schedule::reshaped_index;

namespace {

constexpr int64_t kWorkgroupsPerProcessor = 4;
constexpr int64_t kUpdatesPerWorkgroup = 8192;
constexpr int64_t kNoNext = INT32_MAX;  // no update is next

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
  updates = behind_views(graph, updates);
  const Node& node = graph.at(updates);
  return node.kind == NodeKind::Constant && is_int(node.dtype) && std::abs(node.constant.as_double()) <= 16;
}

DType ScatterLowering::word_of(DType t) {
  if (size_of(t) >= 4) return t;
  return is_signed_int(t) ? DType::I32 : DType::U32;
}

void ScatterLowering::scatter_atomic(const Scattered& s) {
  const bool extreme = s.kind != ScatterKind::Add, by_order = extreme && is_float(s.dtype);
  const DType type = by_order ? ordered_type(compute_type(s.dtype)) : word_of(s.dtype);
  const auto encode = [&](ExprId x) {
    return by_order          ? to_ordered(builder_, x, s.kind == ScatterKind::Min)
           : type == s.dtype ? x
                             : builder_.cast(x, type);
  };
  const int out = evaluator_.output_param(s.id);
  const bool through = by_order || type != s.dtype;
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
        by_order ? from_ordered(builder_, there, compute_type(s.dtype)) : builder_.cast(there, s.dtype, true);
    body.push_back(builder_.store({false, out, index}, value));
  });
}

void ScatterLowering::join_updates(const Scattered& s, const Updates& updates) {
  if (schedule_.on_chip) return join_on_chip(s, updates);
  over_updates(s, updates.checked, [&](const Destination& d, std::vector<Stmt>& body) {
    const ExprId value = updates.value(d);
    const Access to{false, updates.param, s.at(d.index, d.column, evaluator_.ranges())};
    body.push_back(store_atomic(to, op_of(s.kind), value, d.inside));
  });
}

void ScatterLowering::join_on_chip(const Scattered& s, const Updates& updates) {
  const IntExpr elements = s.rows * s.columns, length = s.updates * s.columns;
  const DType word = updates.word;
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
    const Destination d = destination(s, first + lane, ranges, updates.checked);
    const ExprId value = updates.value(d);
    const Access to{true, copy, {d.index * s.columns + d.column}};
    into.push_back(store_atomic(to, op, builder_.cast(value, word), d.inside));
  });
  pass(elements, [&](const Ranges& ranges, std::vector<Stmt>& into) {
    const ExprId sum = builder_.load({true, copy, {lane}});
    const Index at = reshaped_index({elements}, s.shape, {lane}, ranges);
    into.push_back(store_atomic({false, updates.param, at}, op, builder_.cast(sum, updates.type),
                                builder_.apply(Op::Ne, {sum, none})));
  });
  add_phase(grid.extent(), std::move(body), part);
}

void ScatterLowering::scatter_exact(const Scattered& s) {
  ExactSums exact(builder_, s.dtype);
  const int tops = add_temporary(DType::I32, s.shape, "largest exponents");
  std::vector<int> sums;
  for (int w = 0; w < exact.words(); ++w) sums.push_back(add_temporary(DType::I64, s.shape, "sums"));
  const int out = evaluator_.output_param(s.id);
  const IntExpr elements = s.rows * s.columns;
  const ExprId no_top = builder_.constant(Scalar::of_int(DType::I32, 0));
  over_chunks(elements, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({elements}, s.shape, {at}, ranges);
    body.push_back(builder_.store({false, tops, index}, no_top));
    for (const int sum : sums)
      body.push_back(builder_.store({false, sum, index}, builder_.constant(Scalar::of_int(DType::I64, 0))));
  });
  // Where there are no rows at all, dropped updates read nothing.
  const auto top_at = [&](const Index& at, ExprId inside) {
    return builder_.load({false, tops, at}, inside, inside == kNoExpr ? kNoExpr : no_top);
  };
  over_updates(s, false, [&](const Destination& d, std::vector<Stmt>& body) {
    const Access to{false, tops, s.at(d.index, d.column, evaluator_.ranges())};
    const ExprId value = evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges()));
    const ExprId top = exact.exponent(value);
    // Most updates find a larger one there already. What they read may be old, but it only grows.
    ExprId higher = builder_.apply(Op::Gt, {top, top_at(to.index, d.inside)});
    if (d.inside != kNoExpr) higher = builder_.apply(Op::And, {d.inside, higher});
    body.push_back(store_atomic(to, Op::Max, top, higher));
  });
  for (int w = 0; w < exact.words(); ++w)
    join_updates(s, {sums[static_cast<size_t>(w)], DType::I64, DType::I64, true, [&](const Destination& d) {
                       const ExprId value =
                           evaluator_.value(s.source, s.update_at(d.update, d.column, evaluator_.ranges()));
                       const Index at = s.at(d.index, d.column, evaluator_.ranges());
                       return exact.part(value, top_at(at, d.inside), w);
                     }});
  over_chunks(elements, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({elements}, s.shape, {at}, ranges);
    const ExprId x = evaluator_.value(s.x, index);
    std::vector<ExprId> found;
    for (const int sum : sums) found.push_back(builder_.load({false, sum, index}));
    const ExprId top = builder_.load({false, tops, index});
    body.push_back(builder_.store({false, out, evaluator_.inside(s.id, index)}, exact.total(x, found, top)));
  });
}

void ScatterLowering::scatter_newest(const Scattered& s) {
  const int newest = add_temporary(DType::I64, {s.rows}, "last updates");
  const int out = evaluator_.output_param(s.id);
  over_chunks(s.rows, [&](const IntExpr& at, const Ranges&, std::vector<Stmt>& body) {
    body.push_back(builder_.store({false, newest, {at}}, builder_.constant(Scalar::of_int(DType::I64, -1))));
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

// Joins the numbers of the updates before this one, or after it, that go to the same row: in each
// of these ways.
std::vector<LocalId> ScatterLowering::found_among(const Scattered& s, const IntExpr& update, ExprId row, bool before,
                                                  const std::vector<Found>& ways, const Ranges& around,
                                                  std::vector<Stmt>& into) {
  const IntExpr length = before ? update : s.updates - 1 - update, first = before ? IntExpr(0) : update + 1;
  std::vector<LocalId> locals;
  for (const Found& found : ways) {
    locals.push_back(builder_.new_local(DType::I32, true));
    into.push_back(assign(locals.back(), builder_.constant(Scalar::of_int(DType::I32, found.none))));
  }
  append(into, lanes_of(kLane, length, around, [&](const Ranges& ranges, std::vector<Stmt>& each) {
           const IntExpr other = first + IntExpr::symbol(kLane);
           const ExprId same = builder_.apply(Op::Eq, {scatter_row(s, other, ranges), row});
           for (size_t w = 0; w < ways.size(); ++w) {
             const ExprId number = ways[w].counts ? builder_.constant(Scalar::of_int(DType::I32, 1))
                                                  : builder_.cast(builder_.index(other), DType::I32, true);
             const ExprId none = builder_.constant(Scalar::of_int(DType::I32, ways[w].none));
             const ExprId own = builder_.apply(Op::Where, {same, number, none});
             each.push_back(assign(locals[w], builder_.apply(ways[w].op, {builder_.local(locals[w]), own})));
           }
         }));
  for (size_t w = 0; w < ways.size(); ++w) into.push_back(combine(locals[w], ways[w].op));
  return locals;
}

void ScatterLowering::scatter_few(const Scattered& s) {
  copy_to_output(s);
  if (s.kind == ScatterKind::Set) return set_few(s);
  const int nexts = add_temporary(DType::I32, {s.updates}, "next updates of the same rows"),
            counts = add_temporary(DType::I32, {s.updates}, "updates that each joins");
  find_few(s, nexts, counts);
  join_few(s, nexts, counts);
}

// Each update looks for those after it.
void ScatterLowering::set_few(const Scattered& s) {
  over_teams(s, Symbol::loop("update"), s.updates,
             [&](const IntExpr& update, const Piece& columns, const Ranges& around, std::vector<Stmt>& body) {
               evaluator_.enter(&body, &around);
               const Destination d = destination(s, update * s.columns, around);
               const Ranges known = evaluator_.ranges();
               const LocalId after = found_among(s, update, d.row, false, {any()}, known, body)[0];
               body.push_back(
                   If{only_if(d, after), lanes_of(kLane, columns.length, known, [&](const Ranges& ranges, auto& into) {
                        const IntExpr column = columns.first + IntExpr::symbol(kLane);
                        const ExprId value = evaluator_.value_to_store(s.source, s.update_at(update, column, ranges));
                        into.push_back(builder_.store(
                            {false, evaluator_.output_param(s.id), s.at(d.index, column, ranges)}, value));
                      })});
             });
}

// Whether nothing was found, and the row is there.
ExprId ScatterLowering::only_if(const Destination& d, LocalId found) {
  const ExprId none = builder_.constant(Scalar::of_int(DType::I32, any().none));
  const ExprId alone = builder_.apply(Op::Eq, {builder_.local(found), none});
  return d.inside == kNoExpr ? alone : builder_.apply(Op::And, {d.inside, alone});
}

// Updates find the next one of their row, and the first of each row how many there are.
void ScatterLowering::find_few(const Scattered& s, int nexts, int counts) {
  const Symbol number = Symbol::loop("update");
  Grid grid;
  Placement placement;
  grid.add(number, s.updates);
  grid.decode(placement);
  const IntExpr update = placement.value_of.at(number);
  std::vector<Stmt> body;
  evaluator_.enter(&body, &placement.ranges);
  const Destination d = destination(s, update * s.columns, placement.ranges);
  const Ranges known = evaluator_.ranges();
  const LocalId before = found_among(s, update, d.row, true, {any()}, known, body)[0];
  const auto behind = found_among(s, update, d.row, false, {{Op::Min, kNoNext}, {Op::Add, 0, true}}, known, body);
  const LocalId next = behind[0], others = behind[1];
  const ExprId zero = builder_.constant(Scalar::of_int(DType::I32, 0)),
               one = builder_.constant(Scalar::of_int(DType::I32, 1));
  const ExprId all = builder_.apply(Op::Add, {builder_.local(others), one});
  body.push_back(builder_.store({false, nexts, {update}}, builder_.local(next)));
  body.push_back(builder_.store({false, counts, {update}}, builder_.apply(Op::Where, {only_if(d, before), all, zero})));
  add_phase(grid.extent(), std::move(body), s.updates);
}

// The first update of a row goes from one to the next.
void ScatterLowering::join_few(const Scattered& s, int nexts, int counts) {
  const auto team = [&](const IntExpr& update, const Piece& columns, const Ranges& around, std::vector<Stmt>& body) {
    evaluator_.enter(&body, &around);
    const ExprId all = builder_.cast(builder_.load({false, counts, {update}}), DType::I64);
    const IntExpr joins = evaluator_.known_index(all, s.updates + 1);
    const Destination d = destination(s, update * s.columns, evaluator_.ranges(), true);
    const Ranges known = evaluator_.ranges();
    body.push_back(If{builder_.apply(Op::Gt, {all, builder_.index(0)}),
                      lanes_of(kLane, columns.length, known, [&](const Ranges& ranges, std::vector<Stmt>& into) {
                        const IntExpr column = columns.first + IntExpr::symbol(kLane);
                        const Access to{false, evaluator_.output_param(s.id), s.at(d.index, column, ranges)};
                        const LocalId joined = builder_.new_local(compute_type(s.dtype), true),
                                      at = builder_.new_local(DType::I32, true);
                        into.push_back(assign(joined, builder_.load(to)));
                        into.push_back(assign(at, builder_.cast(builder_.index(update), DType::I32, true)));
                        Ranges inner = ranges;
                        inner[Symbol::loop("k")] = {0, joins - 1};
                        std::vector<Stmt> one;
                        evaluator_.enter(&one, &inner);
                        const ExprId place = builder_.cast(builder_.local(at), DType::I64);
                        const IntExpr own = evaluator_.as_index(place, s.updates);
                        const ExprId value = evaluator_.value(s.source, s.update_at(own, column, evaluator_.ranges()));
                        one.push_back(assign(joined, joined_by(s.kind, builder_.local(joined), value)));
                        one.push_back(assign(at, builder_.load({false, nexts, {own}})));
                        into.push_back(loop(LoopKind::Serial, Symbol::loop("k"), joins, std::move(one)));
                        evaluator_.enter(&into, &ranges);
                        into.push_back(builder_.store(to, builder_.local(joined)));
                      })});
  };
  over_teams(s, Symbol::loop("update"), s.updates, team);
}

}  // namespace smelt::kernel
