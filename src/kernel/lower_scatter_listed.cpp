// Scatters of a GPU into rows of several elements. Which updates each row has is listed first, in
// any order; then a team of threads takes each row, and joins its updates in registers.
//
//   phases 0 to 2: counts[r] = 0; counts[row(j)] += 1 over the updates j, atomically; cursors[r] = the counts before r, by a scan over the
//     grid
//   phase 3: vector over the updates j: list[cursors[row(j)]++] = j
//   sums of floats: grid over the rows, vector over their lists (few updates: over the list): ordered[begin + updates of the row below
//     this] = this
//   phase 4: grid over the rows and blocks of the columns; vector over the columns c
//     out[r, c] = x[r, c], joined by update(list[k], c) for the k of the row, if it is not long
//   a phase for each stage: grid over parts of the list; if its first or last one belongs to a long row:
//     joins that row's updates of the part, then adds the result to that of the row, atomically
//   last phase: grid over groups of rows: out of the long ones
//
// Sums of floats of a row are in the order of its updates; those of long rows are made as
// any_order.hpp has them, whatever the order of a list.
#include <utility>

#include "kernel/lower_scatter.hpp"
#include "kernel/walk.hpp"

namespace smelt::kernel {

using schedule::reshaped_index;

namespace {

// Updates of a part of the list, and those of a row that one team joins. A row with more begins or
// ends the list of every part that it has updates in.
constexpr int64_t kPartOfList = 128, kMostOfRow = 2 * kPartOfList;
constexpr int kListedAtOnce = 4;  // updates that are on their way at a time

// Each thread goes over a list of its own.
std::vector<Stmt> one_at_a_time(std::vector<Stmt> body) {
  for_each_stmt(body, [](Stmt& stmt) {
    if (Loop* lanes = loop_of(stmt, LoopKind::Vector)) lanes->lanes = lanes->unroll = 1;
  });
  return body;
}

}  // namespace

struct ScatterLowering::Lists {
  DType word;                 // of the three
  int counts, cursors, list;  // the count after the last row: whether any row is long
  int ordered;                // the list of short rows by the numbers of updates, where their order shows; else `list`
  std::vector<Stage> stages;
  std::vector<std::vector<int>> values = {};  // of long rows, for each stage
};

// What is known of a row once the list is there.
struct ScatterLowering::Row {
  Piece listed;
  ExprId is_long;
  IntExpr slot;  // of the joined updates of long rows: their lists begin further apart than that many updates
};

// Whether the updates of a short row are joined in their order: the sum of floats is then the same
// in every run.
bool ScatterLowering::joins_in_order(const Scattered& s) const {
  return s.kind == ScatterKind::Add && is_float(s.dtype) && !graph_.at(s.id).atomic;
}

ScatterLowering::Stage ScatterLowering::plain_sum(const Scattered& s) {
  return {
      {s.dtype, Op::Add, builder_.constant(Scalar::of_float(s.dtype, -0.0)), [](ExprId x, const auto&) { return x; }}};
}

std::vector<ScatterLowering::Stage> ScatterLowering::stages(const Scattered& s) {
  const auto zero = [&](DType t) { return builder_.constant(Scalar::of_int(t, 0)); };
  if (s.kind == ScatterKind::Max || s.kind == ScatterKind::Min) {
    const Op op = s.kind == ScatterKind::Max ? Op::Max : Op::Min;
    const ReduceKind kind = s.kind == ScatterKind::Max ? ReduceKind::Max : ReduceKind::Min;
    const DType type = is_float(s.dtype) ? ordered_type(compute_type(s.dtype)) : word_of(s.dtype);
    return {{{type, op, builder_.constant(neutral(kind, type)), [this, &s, type](ExprId x, const auto&) {
                return is_float(s.dtype) ? to_ordered(builder_, x, s.kind == ScatterKind::Min) : builder_.cast(x, type);
              }}}};
  }
  if (!is_float(s.dtype)) {
    const DType type = word_of(s.dtype);
    return {{{type, Op::Add, zero(type), [this, type](ExprId x, const auto&) { return builder_.cast(x, type); }}}};
  }
  if (graph_.at(s.id).atomic) return {plain_sum(s)};
  std::vector<Stage> made{{{DType::I32, Op::Max, zero(DType::I32),
                            [this, &s](ExprId x, const auto&) { return ExactSums(builder_, s.dtype).exponent(x); }}},
                          {}};
  for (int w = 0; w < ExactSums(builder_, s.dtype).words(); ++w)
    made[1].push_back({DType::I64, Op::Add, zero(DType::I64), [this, &s, w](ExprId x, const auto& tops) {
                         return ExactSums(builder_, s.dtype).part(x, tops[0], w);
                       }});
  return made;
}

ExprId ScatterLowering::result(const Scattered& s, ExprId x, const std::vector<ExprId>& before,
                               const std::vector<ExprId>& last) {
  if (joins_in_order(s)) return ExactSums(builder_, s.dtype).total(x, last, before[0]);
  const DType type = compute_type(s.dtype);
  if (!is_float(s.dtype)) return joined_by(s.kind, x, builder_.cast(last[0], type, true));
  if (s.kind == ScatterKind::Add) return joined_by(s.kind, x, last[0]);
  const ExprId key = builder_.apply(s.kind == ScatterKind::Max ? Op::Max : Op::Min,
                                    {to_ordered(builder_, x, s.kind == ScatterKind::Min), last[0]});
  return from_ordered(builder_, key, type);
}

// Where the lists of all rows begin, in units of what a short row has at most.
IntExpr ScatterLowering::slots(const Scattered& s) { return floordiv(s.updates, kMostOfRow) + 1; }

Shape ScatterLowering::slots_of_rows(const Scattered& s) {
  Shape dims = s.shape;
  dims[0] = slots(s);
  return dims;
}

void ScatterLowering::scatter_listed(const Scattered& s) {
  const auto fits = s.updates.constant();
  const DType word = fits && *fits < INT32_MAX ? DType::I32 : DType::I64;
  Lists lists{word,
              add_temporary(word, {s.rows + 1}, "updates of each row"),
              add_temporary(word, {s.rows}, "where the next one is listed"),
              add_temporary(word, {s.updates + 1}, "updates by their rows"),
              -1,
              stages(s)};
  lists.ordered = joins_in_order(s) ? add_temporary(word, {s.updates + 1}, "updates of each row in order") : lists.list;
  for (const Stage& stage : lists.stages) {
    std::vector<int>& values = lists.values.emplace_back();
    for (const Joined& j : stage)
      values.push_back(add_temporary(j.type, slots_of_rows(s), "joined updates of long rows"));
  }
  count_rows(s, lists);
  find_places(s, lists);
  fill_lists(s, lists);
  // So far all threads of a workgroup worked together.
  for (Phase& phase : kernel_.phases) phase.team.threads = phase.team.workgroup;
  if (joins_in_order(s)) order_lists(s, lists);
  join_short_rows(s, lists);
  for (size_t stage = 0; stage < lists.stages.size(); ++stage) join_long_rows(s, lists, stage);
  finish_long_rows(s, lists);
}

void ScatterLowering::count_rows(const Scattered& s, const Lists& lists) {
  const ExprId zero = builder_.constant(Scalar::of_int(lists.word, 0));
  const ExprId one = builder_.constant(Scalar::of_int(lists.word, 1));
  over_chunks(s.rows + 1, [&](const IntExpr& at, const Ranges&, std::vector<Stmt>& body) {
    body.push_back(builder_.store({false, lists.counts, {at}}, zero));
  });
  over_chunks(slots(s) * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({slots(s) * s.columns}, slots_of_rows(s), {at}, ranges);
    for (size_t n = 0; n < lists.stages.size(); ++n)
      for (size_t v = 0; v < lists.values[n].size(); ++v)
        body.push_back(builder_.store({false, lists.values[n][v], index}, lists.stages[n][v].nothing));
  });
  over_chunks(s.updates, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const ExprId row = scatter_row(s, at, ranges);
    evaluator_.report_row(s.id, row, s.rows);
    const IntExpr index = evaluator_.as_index(row, s.rows);
    body.push_back(store_atomic({false, lists.counts, {index}}, Op::Add, one, row_inside(s, row)));
    body.push_back(builder_.store({false, lists.list, {at}}, zero));  // where fewer are listed
    if (lists.ordered != lists.list) body.push_back(builder_.store({false, lists.ordered, {at}}, zero));
  });
}

void ScatterLowering::find_places(const Scattered& s, const Lists& lists) {
  const IntExpr tile = schedule_.tile, words = scan_words(lists.word, false);
  const IntExpr parts = launch_size(Symbol::launch("parts_of_rows"), ceildiv(s.rows, tile));
  const int meet = add_temporary(DType::U64, {IntExpr(3), parts, words}, "where parts meet");
  const IntExpr meets = parts * (words * 3);
  over_chunks(meets, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({meets}, {IntExpr(3), parts, words}, {at}, ranges);
    body.push_back(builder_.store({false, meet, index}, builder_.constant(Scalar::of_uint(DType::U64, 0))));
  });
  Grid grid;
  Placement placement;
  const Symbol p = Symbol::loop("part_of");
  grid.add(p, parts);
  grid.decode(placement);
  const Piece part = piece_at(placement, p, s.rows, tile);
  const IntExpr number = placement.value_of.at(p);
  const ExprId zero = builder_.constant(Scalar::of_int(lists.word, 0));
  const LocalId carry = builder_.new_local(lists.word, true), before = builder_.new_local(lists.word, false);
  std::vector<Stmt> body{assign(carry, zero)};
  append(body, lanes_of(kLane, part.length, placement.ranges, [&](const Ranges&, std::vector<Stmt>& into) {
           const Index row{part.first + IntExpr::symbol(kLane)};
           Scan places = scan(before, Op::Add, carry, builder_.load({false, lists.counts, row}), zero, true);
           places.over_grid = {{false, meet, {0, number, 0}}, number, parts};
           into.push_back(std::move(places));
           into.push_back(builder_.store({false, lists.cursors, row}, builder_.local(before)));
         }));
  body.back().get<Loop>().whole = true;
  add_phase(grid.extent(), std::move(body), tile);
  kernel_.phases.back().counter = meet;
}

void ScatterLowering::fill_lists(const Scattered& s, const Lists& lists) {
  over_chunks(s.updates, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const ExprId row = scatter_row(s, at, ranges);
    const IntExpr index = evaluator_.as_index(row, s.rows);
    body.push_back(append_by({false, lists.cursors, {index}}, {false, lists.list, {0}},
                             builder_.cast(builder_.index(at), lists.word), row_inside(s, row)));
  });
}

// The cursor has gone through all updates of the row.
ScatterLowering::Row ScatterLowering::row_of_lists(const Scattered& s, const Lists& lists, const IntExpr& row) {
  const auto known = [&](int param) {
    const ExprId value = builder_.cast(builder_.load({false, param, {row}}), DType::I64);
    return evaluator_.known_index(value, s.updates + 1);
  };
  const IntExpr end = known(lists.cursors), count = known(lists.counts);
  const IntExpr slot = evaluator_.known_index(builder_.index(floordiv(end - count, kMostOfRow)), slots(s));
  return {{end - count, count}, builder_.apply(Op::Gt, {builder_.index(count), builder_.index(kMostOfRow)}), slot};
}

// The update at a place of a list, which is within the list.
ExprId ScatterLowering::listed_at(const Scattered& s, int list, const IntExpr& place) {
  return builder_.load({false, list, {evaluator_.known_index(builder_.index(place), s.updates + 1)}});
}

// An update of a short row finds its place by counting those of the row before it.
void ScatterLowering::order_update(const Scattered& s, const Lists& lists, const Row& row, ExprId own,
                                   const Ranges& ranges, std::vector<Stmt>& into) {
  const Symbol number = Symbol::loop("k");
  const LocalId before = builder_.new_local(DType::I64, true);
  const ExprId so_far = builder_.local(before);
  into.push_back(assign(before, builder_.constant(Scalar::of_int(DType::I64, 0))));
  std::vector<Stmt> one;
  Ranges inner = ranges;
  inner[number] = {0, row.listed.length - 1};
  evaluator_.enter(&one, &inner);
  const ExprId other = listed_at(s, lists.list, row.listed.first + IntExpr::symbol(number));
  one.push_back(assign(
      before, builder_.apply(Op::Add, {so_far, builder_.cast(builder_.apply(Op::Lt, {other, own}), DType::I64)})));
  into.push_back(loop(LoopKind::Serial, number, row.listed.length, std::move(one), 1, kListedAtOnce));
  evaluator_.enter(&into, &ranges);
  const ExprId place = builder_.apply(Op::Add, {builder_.index(row.listed.first), so_far});
  // Only one update is written to a place; an atomic operation says so to the verifier.
  into.push_back(store_atomic({false, lists.ordered, {evaluator_.known_index(place, s.updates + 1)}}, Op::Max, own));
}

void ScatterLowering::order_lists(const Scattered& s, const Lists& lists) {
  if (schedule_.sparse) return order_updates(s, lists);
  const Symbol r = Symbol::loop("rows");
  Grid grid;
  Placement placement;
  grid.add(r, s.rows);
  grid.decode(placement);
  std::vector<Stmt> body, inside;
  evaluator_.enter(&body, &placement.ranges);
  const Row here = row_of_lists(s, lists, placement.value_of.at(r));
  append(inside,
         lanes_of(kLane, here.listed.length, evaluator_.ranges(), [&](const Ranges& ranges, std::vector<Stmt>& into) {
           evaluator_.enter(&into, &ranges);
           const ExprId own = listed_at(s, lists.list, here.listed.first + IntExpr::symbol(kLane));
           order_update(s, lists, here, own, ranges, into);
         }));
  body.push_back(If{builder_.apply(Op::Not, {here.is_long}), std::move(inside)});
  add_phase(grid.extent(), one_at_a_time(std::move(body)), s.columns);
}

// Most rows have no update: a team of one thread for each update. Behind those that are listed the
// list has update 0, which finds the place that it has anyway.
void ScatterLowering::order_updates(const Scattered& s, const Lists& lists) {
  const Symbol number = Symbol::loop("listed");
  Grid grid;
  Placement placement;
  grid.add(number, s.updates);
  grid.decode(placement);
  std::vector<Stmt> body, inside;
  evaluator_.enter(&body, &placement.ranges);
  const ExprId own = listed_at(s, lists.list, placement.value_of.at(number));
  const IntExpr update = evaluator_.as_index(builder_.cast(own, DType::I64), s.updates);
  const ExprId found = scatter_row(s, update, evaluator_.ranges());
  const Row row = row_of_lists(s, lists, evaluator_.as_index(found, s.rows));
  const ExprId is_inside = row_inside(s, found), is_short = builder_.apply(Op::Not, {row.is_long});
  const Ranges known = evaluator_.ranges();
  order_update(s, lists, row, own, known, inside);
  body.push_back(
      If{is_inside == kNoExpr ? is_short : builder_.apply(Op::And, {is_inside, is_short}), std::move(inside)});
  add_phase(grid.extent(), std::move(body), 1);
  kernel_.phases.back().team.threads = 1;
}

// The updates of one element that a list has there, joined.
std::vector<ExprId> ScatterLowering::joined_updates(const Scattered& s, int list, const Stage& stage,
                                                    const std::vector<ExprId>& before, const Piece& listed,
                                                    const IntExpr& column, const Ranges& ranges,
                                                    std::vector<Stmt>& into) {
  const Symbol number = Symbol::loop("k");
  std::vector<ExprId> values;
  std::vector<LocalId> locals;
  for (const Joined& j : stage) {
    locals.push_back(builder_.new_local(j.type, true));
    values.push_back(builder_.local(locals.back()));
    into.push_back(assign(locals.back(), j.nothing));
  }
  std::vector<Stmt> one;
  Ranges inner = ranges;
  inner[number] = {0, listed.length - 1};
  evaluator_.enter(&one, &inner);
  // Within the list, as it was made, and so is what it has there.
  const ExprId found = builder_.cast(listed_at(s, list, listed.first + IntExpr::symbol(number)), DType::I64);
  const IntExpr update = evaluator_.known_index(found, s.updates);
  const ExprId value = evaluator_.value(s.source, s.update_at(update, column, evaluator_.ranges()));
  for (size_t n = 0; n < stage.size(); ++n)
    one.push_back(assign(locals[n], builder_.apply(stage[n].op, {values[n], stage[n].term(value, before)})));
  into.push_back(loop(LoopKind::Serial, number, listed.length, std::move(one), 1, kListedAtOnce));
  return values;
}

void ScatterLowering::join_short_rows(const Scattered& s, const Lists& lists) {
  const int out = evaluator_.output_param(s.id);
  over_rows(s, [&](const IntExpr& row, const Piece& columns, Ranges around, std::vector<Stmt>& body) {
    evaluator_.enter(&body, &around);
    const Row here = row_of_lists(s, lists, row);
    around = evaluator_.ranges();
    const IntExpr column = columns.first + IntExpr::symbol(kLane);
    std::vector<Stmt> joins;
    append(joins, lanes_of(kLane, columns.length, around, [&](const Ranges& ranges, std::vector<Stmt>& into) {
             std::vector<ExprId> before, values;
             for (const Stage& stage : joins_in_order(s) ? std::vector<Stage>{plain_sum(s)} : lists.stages) {
               before = std::exchange(values, {});
               values = joined_updates(s, lists.ordered, stage, before, here.listed, column, ranges, into);
             }
             const Index at = s.at(row, column, ranges);
             evaluator_.enter(&into, &ranges);
             const ExprId x = evaluator_.value(s.x, at);
             const ExprId value = joins_in_order(s) ? joined_by(s.kind, x, values[0]) : result(s, x, before, values);
             into.push_back(builder_.store({false, out, evaluator_.inside(s.id, at)}, value));
           }));
    body.push_back(If{builder_.apply(Op::Not, {here.is_long}), std::move(joins)});
    const ExprId one = builder_.constant(Scalar::of_int(lists.word, 1));
    body.push_back(store_atomic({false, lists.counts, {s.rows}}, Op::Max, one, here.is_long));
  });
}

void ScatterLowering::join_long_rows(const Scattered& s, const Lists& lists, size_t stage) {
  const Symbol p = Symbol::loop("part_of");
  over_teams(
      s, p, ceildiv(s.updates, kPartOfList),
      [&](const IntExpr& part, const Piece& columns, Ranges around, std::vector<Stmt>& guarded) {
        std::vector<Stmt> body;
        const IntExpr first = part * kPartOfList, column = columns.first + IntExpr::symbol(kLane);
        ExprId row_of_first = kNoExpr;
        for (const IntExpr& place : {first, max(0, min(first + (kPartOfList - 1), s.updates - 1))}) {
          evaluator_.enter(&body, &around);
          const ExprId listed = builder_.cast(builder_.load({false, lists.list, {place}}), DType::I64);
          const IntExpr update = evaluator_.as_index(listed, s.updates);
          const ExprId found = scatter_row(s, update, evaluator_.ranges());
          const IntExpr row = evaluator_.as_index(found, s.rows);
          const Row here = row_of_lists(s, lists, row);
          around = evaluator_.ranges();
          ExprId joins = here.is_long;
          if (row_of_first != kNoExpr)
            joins = builder_.apply(Op::And, {joins, builder_.apply(Op::Ne, {found, row_of_first})});
          row_of_first = found;
          const IntExpr begin = max(first, here.listed.first);
          const Piece listed_here{begin, min(first + kPartOfList, here.listed.first + here.listed.length) - begin};
          std::vector<Stmt> inside;
          append(inside, lanes_of(kLane, columns.length, around, [&](const Ranges& ranges, std::vector<Stmt>& into) {
                   const Index at = s.at(here.slot, column, ranges);
                   std::vector<ExprId> before;
                   if (stage > 0)
                     for (const int param : lists.values[stage - 1])
                       before.push_back(builder_.load({false, param, at}));
                   const auto values =
                       joined_updates(s, lists.list, lists.stages[stage], before, listed_here, column, ranges, into);
                   for (size_t v = 0; v < values.size(); ++v)
                     into.push_back(
                         store_atomic({false, lists.values[stage][v], at}, lists.stages[stage][v].op, values[v]));
                 }));
          body.push_back(If{joins, std::move(inside)});
        }
        guarded.push_back(If{any_is_long(s, lists), std::move(body)});
      });
}

ExprId ScatterLowering::any_is_long(const Scattered& s, const Lists& lists) {
  return builder_.apply(
      Op::Ne, {builder_.load({false, lists.counts, {s.rows}}), builder_.constant(Scalar::of_int(lists.word, 0))});
}

// Most workgroups see that no row is long, and a team looks at several rows, since it is the
// workgroups that cost time.
void ScatterLowering::finish_long_rows(const Scattered& s, const Lists& lists) {
  constexpr int64_t kRowsOfTeam = 16;
  const int out = evaluator_.output_param(s.id);
  const Symbol number = Symbol::loop("rows"), k = Symbol::loop("row_of");
  over_teams(s, number, ceildiv(s.rows, kRowsOfTeam),
             [&](const IntExpr& group, const Piece& columns, Ranges around, std::vector<Stmt>& guarded) {
               const IntExpr first = group * kRowsOfTeam, length = min(kRowsOfTeam, s.rows - first);
               const IntExpr row = first + IntExpr::symbol(k);
               around[k] = {0, length - 1};
               std::vector<Stmt> body, inside;
               evaluator_.enter(&body, &around);
               const Row here = row_of_lists(s, lists, row);
               around = evaluator_.ranges();
               append(inside,
                      lanes_of(kLane, columns.length, around, [&](const Ranges& ranges, std::vector<Stmt>& into) {
                        const IntExpr column = columns.first + IntExpr::symbol(kLane);
                        const Index at = s.at(row, column, ranges), joined = s.at(here.slot, column, ranges);
                        std::vector<ExprId> before, values;
                        for (const std::vector<int>& params : lists.values) {
                          before = std::exchange(values, {});
                          for (const int param : params) values.push_back(builder_.load({false, param, joined}));
                        }
                        const ExprId value = result(s, evaluator_.value(s.x, at), before, values);
                        into.push_back(builder_.store({false, out, evaluator_.inside(s.id, at)}, value));
                      }));
               body.push_back(If{here.is_long, std::move(inside)});
               std::vector<Stmt> rows;
               rows.push_back(loop(LoopKind::Serial, k, length, std::move(body)));
               guarded.push_back(If{any_is_long(s, lists), std::move(rows)});
             });
}

// A phase whose iterations are those of `var` and blocks of the columns, one to a lane.
void ScatterLowering::over_teams(const Scattered& s, Symbol var, const IntExpr& extent, const TeamFill& fill) {
  const IntExpr width = int64_t{schedule_.team} * schedule_.lanes;
  const Symbol c = Symbol::loop("columns");
  Grid grid;
  Placement placement;
  grid.add(var, extent);
  grid.add(c, ceildiv(s.columns, width));
  grid.decode(placement);
  const IntExpr first = placement.value_of.at(c) * width;
  std::vector<Stmt> body;
  fill(placement.value_of.at(var), {first, min(width, s.columns - first)}, placement.ranges, body);
  for_each_stmt(body, [](Stmt& stmt) {
    if (Loop* lanes = loop_of(stmt, LoopKind::Vector)) lanes->unroll = 1;
  });
  add_phase(grid.extent(), std::move(body), s.columns);
}

void ScatterLowering::over_rows(const Scattered& s, const TeamFill& fill) {
  over_teams(s, Symbol::loop("rows"), s.rows, fill);
}

}  // namespace smelt::kernel
