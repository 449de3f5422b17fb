// Scatter: updates go to rows of the result that the data names. On a CPU in one of two ways, both
// in an order that the sizes alone fix.
//
// Ranges, also on a GPU: grid over parts of the rows and blocks of the columns
//     the rows of the part are those of x
//     each update j, in order, whose row lies in this part:  vector over the columns: out[row(j), c] = out[row(j), c] + update(j, c)
//
// Copies, where the result is small compared with the updates:
//     phase 0: grid over parts of the updates: a copy of the result that holds what changes nothing, then the updates of this part
//     phase 1: vector over the elements: x, and all copies of it
#include <fmt/format.h>

#include "base/check.hpp"
#include "kernel/lower_scatter.hpp"

namespace smelt::kernel {

using schedule::reshaped_index;
using schedule::ScatterForm;

namespace {

// Columns of a block on a CPU: what is added to stays in the first-level cache.
constexpr int64_t kColumns = 4096;
// Threads of a multiprocessor that look for the updates of their rows.
constexpr int64_t kThreads = 1024;
// Parts of the rows to a thread of the CPU, so that those with many updates do not hold up the
// others. Every part looks at all updates, which costs little compared with a long row, and much
// with a short one: so many columns to a part.
constexpr int64_t kMostPartsPerThread = 4;
constexpr int64_t kColumnsPerPart = 16;
constexpr int64_t kMostCopies = 64;
constexpr int64_t kUpdatesPerCopy = 1 << 16;
constexpr int64_t kUpdatesPerCopied = 4;  // compared with the elements of a copy
// Updates whose rows are found together, by lanes.
constexpr int64_t kRowsOfBlock = 512;

Index joined(Index front, const Index& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

}  // namespace

Index ScatterLowering::Scattered::at(const IntExpr& row, const IntExpr& column, const Ranges& ranges) const {
  return joined({row}, reshaped_index({columns}, rest, {column}, ranges));
}

Index ScatterLowering::Scattered::update_at(const IntExpr& update, const IntExpr& column, const Ranges& ranges) const {
  return joined(reshaped_index({updates}, places, {update}, ranges), reshaped_index({columns}, rest, {column}, ranges));
}

ScatterLowering::Scattered ScatterLowering::scattered() const {
  const Node& node = graph_.at(group_.outputs[0]);
  Scattered s;
  s.id = group_.outputs[0];
  s.kind = node.scatter, s.mode = node.gather, s.dtype = node.dtype;
  s.x = node.args[0], s.indices = node.args[1], s.source = node.args[2];
  s.shape = node.shape;
  s.rest.assign(node.shape.begin() + 1, node.shape.end());
  s.places = graph_.at(s.indices).shape;
  s.rows = node.shape[0], s.columns = count(s.rest), s.updates = count(s.places);
  return s;
}

void ScatterLowering::phases() {
  const Scattered s = scattered();
  switch (schedule_.scatter) {
    case ScatterForm::Ranges: return scatter_ranges(s);
    case ScatterForm::Copies: return scatter_copies(s);
    case ScatterForm::Atomic: return scatter_atomic(s);
    case ScatterForm::Exact: return scatter_exact(s);
    case ScatterForm::Levels: return scatter_levels(s);
    case ScatterForm::Newest: return scatter_newest(s);
    case ScatterForm::Few: return scatter_few(s);
    case ScatterForm::Listed: return scatter_listed(s);
  }
}

// A Vector loop over `length`.
std::vector<Stmt> ScatterLowering::lanes_of(Symbol var, const IntExpr& length, Ranges ranges,
                                            const std::function<void(const Ranges&, std::vector<Stmt>&)>& fill) {
  ranges[var] = {0, length - 1};
  std::vector<Stmt> body;
  evaluator_.enter(&body, &ranges);
  fill(ranges, body);
  Loop made = vector(length, std::move(body));
  made.var = var;
  return {std::move(made)};
}

void ScatterLowering::over_chunks(const IntExpr& length, const Fill& fill, const std::function<void()>& before) {
  Grid grid;
  Placement placement;
  const Symbol number = Symbol::loop("chunk");
  grid.add_pieces(number, length, schedule_.tile);
  grid.decode(placement);
  const Piece chunk = piece_at(placement, number, length, schedule_.tile);
  std::vector<Stmt> body;
  Ranges around = placement.ranges;
  if (before) {
    evaluator_.enter(&body, &around);
    before();
    around = evaluator_.ranges();
  }
  append(body, lanes_of(kLane, chunk.length, around, [&](const Ranges& ranges, std::vector<Stmt>& into) {
           fill(chunk.first + IntExpr::symbol(kLane), ranges, into);
         }));
  add_phase(grid.extent(), std::move(body), schedule_.tile);
}

ExprId ScatterLowering::scatter_row(const Scattered& s, const IntExpr& update, const Ranges& ranges) {
  const ExprId row =
      evaluator_.row_of(s.id, s.indices, reshaped_index({s.updates}, s.places, {update}, ranges), s.rows);
  if (s.mode != GatherMode::Clamp) return row;
  return builder_.apply(Op::Max, {builder_.apply(Op::Min, {row, builder_.index(s.rows - 1)}), builder_.index(0)});
}

ExprId ScatterLowering::joined_by(ScatterKind kind, ExprId there, ExprId update) {
  switch (kind) {
    case ScatterKind::Set: return update;
    case ScatterKind::Add: return builder_.apply(Op::Add, {there, update});
    case ScatterKind::Mul: return builder_.apply(Op::Mul, {there, update});
    case ScatterKind::Max: return builder_.apply(Op::Max, {there, update});
    case ScatterKind::Min: return builder_.apply(Op::Min, {there, update});
  }
  throw InternalError("a scatter of no kind");
}

// Rows that there are not, in a phase of its own, so that each is looked at once.
void ScatterLowering::check_rows(const Scattered& s) {
  if (s.mode != GatherMode::Check) return;
  over_chunks(s.updates, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>&) {
    evaluator_.report_row(s.id, scatter_row(s, at, ranges), s.rows);
  });
}

void ScatterLowering::scatter_ranges(const Scattered& s) {
  if (schedule_.copies_first) copy_to_output(s);
  check_rows(s);
  const IntExpr width = on_gpu() ? IntExpr(int64_t{schedule_.team} * schedule_.lanes) : kColumns;
  const IntExpr blocks = s.columns.is(1) ? IntExpr(1) : ceildiv(s.columns, width);
  const IntExpr evened = min(kMostPartsPerThread, max(1, floordiv(s.columns, kColumnsPerPart)));
  const IntExpr workers = IntExpr::symbol(kLaunchThreads) * (on_gpu() ? IntExpr(kThreads / schedule_.team) : evened);
  const IntExpr wanted = max(1, min(s.rows, ceildiv(workers, max(1, blocks))));
  const IntExpr part = launch_size(Symbol::launch("part"), max(1, ceildiv(s.rows, wanted)));
  const Symbol r = Symbol::loop("rows"), c = Symbol::loop("columns");
  Grid grid;
  Placement placement;
  grid.add(r, launch_size(Symbol::launch("parts"), ceildiv(s.rows, part)));
  grid.add(c, blocks);
  grid.decode(placement);
  const IntExpr first_column = placement.value_of.at(c) * width;
  const Range here{piece_at(placement, r, s.rows, part),
                   part,
                   {first_column, min(width, s.columns - first_column)},
                   placement.ranges};
  std::vector<Stmt> body;
  if (!schedule_.copies_first) body = copied_range(s, here);
  body.push_back(joined_range(s, here));
  add_phase(grid.extent(), std::move(body), s.updates);
}

// A phase that leaves x in the output. As it is read it need not be, where the output is the same
// memory.
void ScatterLowering::copy_to_output(const Scattered& s) {
  const int out = evaluator_.output_param(s.id);
  over_chunks(s.rows * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& body) {
    const Index index = reshaped_index({s.rows * s.columns}, s.shape, {at}, ranges);
    const ExprId value = evaluator_.value_to_store(s.x, index);
    body.push_back(builder_.store({false, out, evaluator_.inside(s.id, index)}, value));
  });
  for (size_t p = 0; p < kernel_.params.size(); ++p)
    if (kernel_.params[p].kind == ParamKind::Input && kernel_.params[p].value == s.x)
      kernel_.phases.back().copies = {static_cast<int>(p), out};
}

// The values of the range before any update.
std::vector<Stmt> ScatterLowering::copied_range(const Scattered& s, const Range& here) {
  const int out = evaluator_.output_param(s.id);
  const IntExpr lane = IntExpr::symbol(kLane);
  const auto copied = [&](const Index& at, std::vector<Stmt>& into) {
    const ExprId value = evaluator_.value_to_store(s.x, at);
    into.push_back(builder_.store({false, out, evaluator_.inside(s.id, at)}, value));
  };
  // What a thread of a GPU has copied it adds to as well, so that both go over a row alike.
  if (const auto width = s.columns.constant(); !on_gpu() && width && *width <= kColumns)
    return lanes_of(kLane, here.rows.length * s.columns, here.ranges,
                    [&](const Ranges& ranges, std::vector<Stmt>& into) {
                      const IntExpr first = here.rows.first * s.columns;
                      copied(reshaped_index({s.rows * s.columns}, s.shape, {first + lane}, ranges), into);
                    });
  const Symbol r = Symbol::loop("r");
  Ranges ranges = here.ranges;
  ranges[r] = {0, here.rows.length - 1};
  return in_loops({{r, here.rows.length}},
                  lanes_of(kLane, here.columns.length, ranges, [&](const Ranges& inner, std::vector<Stmt>& into) {
                    copied(s.at(here.rows.first + IntExpr::symbol(r), here.columns.first + lane, inner), into);
                  }));
}

// Those updates, in order, whose rows lie in the range.
Stmt ScatterLowering::joined_range(const Scattered& s, const Range& here) {
  const int out = evaluator_.output_param(s.id);
  const Symbol number = Symbol::loop("j");
  const IntExpr j = IntExpr::symbol(number), &first = here.rows.first;
  Ranges ranges = here.ranges;
  ranges[number] = {0, s.updates - 1};
  std::vector<Stmt> none, update;
  evaluator_.enter(&none, &ranges);
  const ExprId row = scatter_row(s, j, ranges);
  const ExprId mine =
      builder_.apply(Op::And, {builder_.apply(Op::Ge, {row, builder_.index(first)}),
                               builder_.apply(Op::Lt, {row, builder_.index(first + here.rows.length)})});
  SMELT_CHECK(none.empty(), "the indices of %{} need statements of their own", s.id);
  evaluator_.enter(&update, &ranges);
  const ExprId chosen = scatter_row(s, j, ranges);
  IntExpr place;
  if (on_gpu()) {
    const ExprId within = builder_.apply(Op::Sub, {chosen, builder_.index(first)});
    place = min(first + evaluator_.as_index(within, here.part), s.rows - 1);
  } else {
    place = evaluator_.known_index(chosen, s.rows);  // inside, as the condition says
  }
  ranges = evaluator_.ranges();
  const auto joins = [&](const IntExpr& column, const Ranges& inner, std::vector<Stmt>& into) {
    const Access to{false, out, s.at(place, column, inner)};
    const Index from = s.update_at(j, column, inner);
    if (s.kind == ScatterKind::Set) {
      const ExprId value = evaluator_.value_to_store(s.source, from);
      into.push_back(builder_.store(to, value));
    } else {
      const ExprId value = evaluator_.value(s.source, from);
      into.push_back(builder_.store(to, joined_by(s.kind, builder_.load(to), value)));
    }
  };
  if (s.columns.is(1))
    joins(0, ranges, update);
  else
    append(update, lanes_of(kLane, here.columns.length, ranges, [&](const Ranges& inner, std::vector<Stmt>& into) {
             joins(here.columns.first + IntExpr::symbol(kLane), inner, into);
           }));
  return each(number, s.updates, mine, std::move(update), schedule_.lanes);
}

// ---- copies

// Nothing, as an update.
static Scalar nothing(ScatterKind kind, DType t) {
  switch (kind) {
    case ScatterKind::Set: break;
    case ScatterKind::Add: return is_float(t) ? Scalar::of_float(t, -0.0) : neutral(ReduceKind::Sum, t);
    case ScatterKind::Mul: return neutral(ReduceKind::Prod, t);
    case ScatterKind::Max: return neutral(ReduceKind::Max, t);
    case ScatterKind::Min: return neutral(ReduceKind::Min, t);
  }
  throw InternalError("no update changes nothing");
}

// A copy has one row more, for updates that go nowhere.
void ScatterLowering::scatter_copies(const Scattered& s) {
  const DType type = compute_type(s.dtype);
  const IntExpr least = max(kUpdatesPerCopy, s.rows * s.columns * kUpdatesPerCopied);
  const IntExpr wanted = max(1, min(kMostCopies, floordiv(s.updates * s.columns, least)));
  const IntExpr part = launch_size(Symbol::launch("part"), ceildiv(s.updates, wanted));
  const IntExpr parts = launch_size(Symbol::launch("parts"), max(1, ceildiv(s.updates, max(1, part))));
  const int copies = add_temporary(type, {parts, s.rows + 1, s.columns}, "updates of a part");
  Grid grid;
  Placement placement;
  grid.add(Symbol::loop("part_of"), parts);
  grid.decode(placement);
  const IntExpr p = placement.value_of.at(Symbol::loop("part_of"));
  const Piece here = piece_at(placement, Symbol::loop("part_of"), s.updates, part);
  const IntExpr elements = (s.rows + 1) * s.columns;
  std::vector<Stmt> body =
      lanes_of(kLane, elements, placement.ranges, [&](const Ranges& ranges, std::vector<Stmt>& into) {
        const Index at = reshaped_index({elements}, {s.rows + 1, s.columns}, {IntExpr::symbol(kLane)}, ranges);
        into.push_back(builder_.store({false, copies, joined({p}, at)}, builder_.constant(nothing(s.kind, type))));
      });
  if (s.columns.is(1))
    updates_of_elements(s, copies, p, here.first, here.length, placement.ranges, body);
  else
    updates_of_rows(s, copies, p, here.first, here.length, placement.ranges, body);
  add_phase(grid.extent(), std::move(body), part * s.columns);
  const int out = evaluator_.output_param(s.id);
  over_chunks(s.rows * s.columns, [&](const IntExpr& at, const Ranges& ranges, std::vector<Stmt>& into) {
    const Index index = reshaped_index({s.rows * s.columns}, s.shape, {at}, ranges);
    const Index place = reshaped_index({s.rows * s.columns}, {s.rows, s.columns}, {at}, ranges);
    const LocalId sum = builder_.new_local(type, true);
    into.push_back(assign(sum, evaluator_.value(s.x, index)));
    std::vector<Stmt> add;
    const ExprId more = builder_.load({false, copies, joined({IntExpr::symbol(Symbol::loop("p"))}, place)});
    add.push_back(assign(sum, joined_by(s.kind, builder_.local(sum), more)));
    into.push_back(loop(LoopKind::Serial, Symbol::loop("p"), parts, std::move(add)));
    into.push_back(builder_.store({false, out, evaluator_.inside(s.id, index)}, builder_.local(sum)));
  });
}

// The row that an update goes to in a copy.
static ExprId row_in_copy(Builder& builder, Evaluator& evaluator, ExprId row, const IntExpr& rows, GatherMode mode) {
  if (mode == GatherMode::Clamp || mode == GatherMode::Wrap) return row;
  return builder.apply(Op::Where, {evaluator.is_below(row, rows), row, builder.index(rows)});
}

// Rows and values of a block of updates, lane by lane; then one after the other.
void ScatterLowering::updates_of_elements(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first,
                                          const IntExpr& length, const Ranges& outside, std::vector<Stmt>& body) {
  const DType type = compute_type(s.dtype);
  const IntExpr b = IntExpr::symbol(Symbol::loop("b")), block = first + b * kRowsOfBlock,
                count = min(kRowsOfBlock, length - b * kRowsOfBlock);
  const int rows = add_scratch(DType::I64, {kRowsOfBlock});
  Ranges ranges = outside;
  ranges[Symbol::loop("b")] = {0, ceildiv(length, kRowsOfBlock) - 1};
  std::vector<Stmt> inside;
  ExprId same = kNoExpr;
  int values = -1;
  inside = lanes_of(Symbol::loop("l"), count, ranges, [&](const Ranges& inner, std::vector<Stmt>& into) {
    const IntExpr lane = IntExpr::symbol(Symbol::loop("l")), update = block + lane;
    const ExprId row = scatter_row(s, update, inner);
    evaluator_.report_row(s.id, row, s.rows);
    into.push_back(builder_.store({true, rows, {lane}}, row_in_copy(builder_, evaluator_, row, s.rows, s.mode)));
    const ExprId value = evaluator_.value(s.source, s.update_at(update, 0, inner));
    if (builder_.at(value).is<Const>()) {
      same = value;
    } else {
      values = add_scratch(type, {kRowsOfBlock});
      into.push_back(builder_.store({true, values, {lane}}, value));
    }
  });
  std::vector<Stmt> one;
  ranges[Symbol::loop("k")] = {0, count - 1};
  evaluator_.enter(&one, &ranges);
  const IntExpr k = IntExpr::symbol(Symbol::loop("k"));
  const IntExpr row = evaluator_.as_index(builder_.load({true, rows, {k}}), s.rows + 1);
  const Access to{false, copies, {part, row, 0}};
  const ExprId value = values < 0 ? same : builder_.load({true, values, {k}});
  one.push_back(builder_.store(to, joined_by(s.kind, builder_.load(to), value)));
  inside.push_back(loop(LoopKind::Serial, Symbol::loop("k"), count, std::move(one)));
  body.push_back(loop(LoopKind::Serial, Symbol::loop("b"), ceildiv(length, kRowsOfBlock), std::move(inside)));
}

void ScatterLowering::updates_of_rows(const Scattered& s, int copies, const IntExpr& part, const IntExpr& first,
                                      const IntExpr& length, Ranges ranges, std::vector<Stmt>& body) {
  const IntExpr update = first + IntExpr::symbol(Symbol::loop("k"));
  ranges[Symbol::loop("k")] = {0, length - 1};
  std::vector<Stmt> one;
  evaluator_.enter(&one, &ranges);
  const ExprId found = scatter_row(s, update, ranges);
  evaluator_.report_row(s.id, found, s.rows);
  const IntExpr row = evaluator_.as_index(row_in_copy(builder_, evaluator_, found, s.rows, s.mode), s.rows + 1);
  ranges = evaluator_.ranges();
  append(one, lanes_of(Symbol::loop("l"), s.columns, ranges, [&](const Ranges& inner, std::vector<Stmt>& into) {
           const IntExpr column = IntExpr::symbol(Symbol::loop("l"));
           const Access to{false, copies, {part, row, column}};
           const ExprId value = evaluator_.value(s.source, s.update_at(update, column, inner));
           into.push_back(builder_.store(to, joined_by(s.kind, builder_.load(to), value)));
         }));
  body.push_back(loop(LoopKind::Serial, Symbol::loop("k"), length, std::move(one)));
}

}  // namespace smelt::kernel
