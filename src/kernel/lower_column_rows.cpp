// Columns in rows: rows of a tile of columns one after another, as they lie in memory. What runs
// down a column, the accumulators and the results of earlier passes, is in scratch, which the
// first-level cache holds.
//
//   grid %g over the outer kept axes and the tiles of columns
//     for each level of reductions:
//       vector %i over the columns of a tile: nothing yet, into scratch
//       serial over the reduced axes:
//         vector %i over the columns of a tile:  take from scratch; go on by a row; put into scratch
//       vector %i over the columns of a tile:  store results of one element a column
//
// Split: the grid goes over parts of the first reduced axis too, a step takes several rows where
// these do not follow each other in memory (Schedule::unroll), and a second phase joins the parts.
#include <unordered_map>
#include <unordered_set>

#include "kernel/invariants.hpp"
#include "kernel/lower_column.hpp"
#include "kernel/rewrite.hpp"
#include "kernel/walk.hpp"
#include "schedule/parts.hpp"

namespace smelt::kernel {

// Rows of a column that a part should have at least, and what they are a multiple of.
constexpr int64_t kPartRows = 256, kMultiple = 4;
// Fewer rows of a column compute what they share each for itself.
constexpr int64_t kFewRows = 4;

// Whether integers are divided by others than constants.
static bool divides_integers(const Kernel& kernel, const std::vector<ExprId>& roots) {
  bool divides = false;
  visit_below(kernel, roots, [&](ExprId, const Expr& e) {
    const auto* raw = e.get_if<Raw>();
    const bool divided = raw && !is_float(e.dtype) && (raw->op == RawOp::TruncDiv || raw->op == RawOp::TruncRem);
    divides = divides || (divided && !kernel.at(raw->args[1]).is<Const>());
    return true;
  });
  return divides;
}

// Scratch for what runs down the columns: from `starts`, the assignments that begin it.
ColumnLowering::Carried ColumnLowering::carry(const std::vector<Stmt>& starts) {
  Carried carried;
  for (const Stmt& start : starts) {
    const auto& s = start.get<Assign>();
    const DType t = kernel_.locals[static_cast<size_t>(s.local)].dtype;
    const Access at{true, add_scratch(t, {schedule_.tile}), {IntExpr::symbol(kLane)}};
    carried.begin.push_back(builder_.store(at, s.value));
    carried.take.push_back(assign(s.local, builder_.load(at)));
    carried.put.push_back(builder_.store(at, builder_.local(s.local)));
  }
  return carried;
}

// The loops of one pass around `lanes`, what a row does; the accumulators of a block are added to
// their totals after it. From then on `known` takes what the pass found.
std::vector<Stmt> ColumnLowering::rows_of_tile(const ColumnLoops& loops, const std::vector<Accumulator>& accs,
                                               const Carried& carried, std::vector<Stmt> lanes,
                                               std::vector<Stmt>& known) {
  const auto outside = loops.serial.begin() + static_cast<long>(loops.blocks);
  std::vector<Stmt> rows = in_loops({outside, loops.serial.end()}, single(vector(loops.width, std::move(lanes))));
  std::vector<Stmt> body;
  if (loops.blocks == 0 || accs.empty()) {
    if (!carried.begin.empty()) body.push_back(vector(loops.width, carried.begin));
    append(body, in_loops({loops.serial.begin(), outside}, std::move(rows)));
    append(known, carried.take);
    return body;
  }
  const std::vector<Accumulator> of_all = totals_of(accs);
  Carried totals = carry(start(of_all));
  std::vector<Stmt> join = totals.take;
  append(join, carried.take);
  append(join, take_parts(of_all, accs));
  append(join, std::move(totals.put));
  std::vector<Stmt> block = single(vector(loops.width, carried.begin));
  append(block, std::move(rows));
  block.push_back(vector(loops.width, std::move(join)));
  body.push_back(vector(loops.width, std::move(totals.begin)));
  append(body, in_loops({loops.serial.begin(), outside}, std::move(block)));
  append(known, std::move(totals.take));
  return body;
}

// Of `takes` those whose locals `lanes` read.
std::vector<Stmt> ColumnLowering::read_by(const std::vector<Stmt>& lanes, const std::vector<Stmt>& takes) const {
  std::unordered_set<LocalId> read;
  visit_below(kernel_, expressions_of(lanes), [&](ExprId, const Expr& e) {
    if (const auto* local = e.get_if<ReadLocal>()) read.insert(local->local);
    return true;
  });
  std::vector<Stmt> needed;
  for (const Stmt& take : takes)
    if (read.count(*given_by(take))) needed.push_back(take);
  return needed;
}

// What follows from the passes before and from elements that all rows share is the same in all rows
// of a column: `lanes` find it in scratch. Returns the loop that computes it. `known` are the
// assignments of what these passes found.
std::vector<Stmt> ColumnLowering::once_a_column(const ColumnLoops& loops, const std::vector<Stmt>& known,
                                                std::vector<Stmt>& lanes) {
  std::unordered_set<LocalId> found;
  for (const Stmt& s : known) found.insert(*given_by(s));
  const std::vector<ExprId> roots = expressions_of(lanes);
  const bool shares = domain().estimate(true) >= kFewRows;
  const auto of_row = [&](const IntExpr& index) {
    return index.any_symbol([&](Symbol s) {
      return s.is_local() ||
             std::any_of(loops.serial.begin(), loops.serial.end(), [&](const auto& l) { return l.first == s; });
    });
  };
  const auto is_same = [&](const Expr& e) {
    if (const auto* read = e.get_if<ReadLocal>()) return found.count(read->local) > 0;
    if (const auto* load = e.get_if<Load>())
      return shares && !load->access.scratch &&
             std::none_of(load->access.index.begin(), load->access.index.end(), of_row);
    if (const auto* index = e.get_if<IndexValue>()) return shares && !of_row(index->value);
    return e.is<Const>() || e.is<Apply>() || e.is<Raw>() || e.is<Cast>() || e.is<Bitcast>();
  };
  // Lanes beyond the tile read 0 from scratch, and may not divide by it.
  const bool divides = divides_integers(kernel_, roots);
  const std::unordered_map<ExprId, bool> same = same_below(kernel_, roots, is_same);
  Rewriter rewrite(kernel_);
  std::vector<Stmt> stores;
  visit_below(kernel_, roots, [&](ExprId id, const Expr& e) {
    if (!same.at(id)) return true;
    const bool kept = is_float(e.dtype) || (e.dtype != DType::Bool && !divides);
    const auto* cast = e.get_if<Cast>();
    const bool computed = e.is<Apply>() || e.is<Raw>() || (cast && !kernel_.at(cast->x).is<IndexValue>());
    if (!kept || !computed) return true;
    const Access at{true, add_scratch(e.dtype, {schedule_.tile}), {IntExpr::symbol(kLane)}};
    stores.push_back(builder_.store(at, id));
    rewrite.replace(id, builder_.load(at));
    return false;
  });
  if (stores.empty()) return stores;
  for (Stmt& s : lanes) rewrite(s);
  std::vector<Stmt> body = read_by(stores, known);
  append(body, std::move(stores));
  return single(vector(loops.width, std::move(body)));
}

void ColumnLowering::columns_in_rows() {
  scans_down_ = true;
  ColumnLoops loops = column_loops(nullptr);
  block_rows(loops);
  std::vector<Stmt> known;
  PassLoops in = column_passes(loops);
  in.around = [&](const std::vector<Accumulator>& accs, std::vector<Stmt> starts, std::vector<Stmt> element) {
    if (element.empty()) return element;
    std::vector<Stmt> begin = start(accs), body = once_a_column(loops, known, element);
    std::vector<Stmt> lanes = read_by(element, known);
    append(begin, std::move(starts));
    const Carried carried = carry(begin);
    append(lanes, carried.take);
    append(lanes, std::move(element));
    append(lanes, carried.put);
    append(body, rows_of_tile(loops, accs, carried, std::move(lanes), known));
    return body;
  };
  in.around_outputs = [&](std::vector<Stmt> outputs) {
    std::vector<Stmt> lanes = read_by(outputs, known);
    append(lanes, std::move(outputs));
    return single(vector(loops.width, std::move(lanes)));
  };
  add_phase(loops.count, passes(loops.placement, std::move(in)),
            domain().reduced_count() * schedule_.tile * (domain().levels + 1));
}

void ColumnLowering::split_columns_in_rows() {
  const SplitAxis split = split_axis(first_reduced(), wanted_parts(first_reduced(), kPartRows, 1), kMultiple);
  ColumnLoops loops = column_loops(&split);
  Placement& placement = loops.placement;
  const std::vector<Accumulator> accs = accumulators(0);
  const Carried carried = carry(start(accs));
  // Loops around a vector loop that takes `rows` of the part from `first` on.
  const auto over_rows = [&](Symbol var, const IntExpr& extent, const IntExpr& first, int64_t rows) {
    loops.serial.front() = {var, extent};
    placement.ranges[var] = {0, extent - 1};
    std::vector<Stmt> lanes = carried.take, elements;
    for (int64_t u = 0; u < rows; ++u) {
      placement.place(split.axis->var, loops.rows.first + first + u);
      element_pass(0, accs, placement, elements);
    }
    append(lanes, std::move(elements));
    append(lanes, carried.put);
    return in_loops(loops.serial, single(vector(loops.width, std::move(lanes))));
  };
  const Symbol q = Symbol::loop("q"), r = Symbol::loop("r");
  const int64_t at_once = schedule_.unroll;
  const IntExpr steps = floordiv(loops.rows.length, at_once), done = steps * at_once;
  std::vector<Stmt> body = single(vector(loops.width, carried.begin)), results = carried.take;
  append(body, over_rows(q, steps, IntExpr::symbol(q) * at_once, at_once));
  if (const IntExpr rest = loops.rows.length - done; !rest.is(0))
    append(body, over_rows(r, rest, done + IntExpr::symbol(r), 1));
  const std::vector<Partial> parts = partials(accs, column_partials(split));
  store_partials(accs, parts, column_partial_at(placement, loops.part), results);
  body.push_back(vector(loops.width, std::move(results)));
  add_phase(loops.count, std::move(body), split.part * schedule_.tile);
  combine_columns(loops.outer, split, accs, parts);
}

}  // namespace smelt::kernel
