// Panels of products on a CPU: what leads to a factor, evaluated once and laid out as blocks read
// it.
#include <algorithm>

#include "kernel/lower_product.hpp"

namespace smelt::kernel {

static const Symbol kWord = Symbol::loop("w"), kBlock = Symbol::loop("ib");
static constexpr int64_t kSquare = 16;  // the side of what Turn turns
static_assert(kSquare == schedule::kSideOfTile, "panels have whole squares, and whole tiles");

ProductLowering::Panels ProductLowering::add_panels() {
  const schedule::Product& p = product();
  constexpr int64_t kApart = 16;  // elements, so that neighbours of the inner axes are not in one set of a cache
  const int64_t words = words_of_part(), blocks = (p.tile_columns + p.block_columns - 1) / p.block_columns;
  Panels panels;
  const auto add = [&](std::vector<Panel>& of, NodeId factor, size_t reduction, const std::vector<IntExpr>& dims) {
    if (std::any_of(of.begin(), of.end(), [&](const Panel& panel) { return panel.factor == factor; })) return;
    const DType t = p.units ? DType::U32 : compute_type(graph_.at(factor).dtype);
    of.push_back({factor, reduction, add_scratch(t, dims)});
    of.back().of_rows = &of == &panels.rows;
    add_turned(of.back());
  };
  for (const schedule::ProductSum& sum : p.sums) {
    if (!p.rows_in_place)
      add(panels.rows, sum.rows, sum.reduction,
          rows_by_row() ? std::vector<IntExpr>{p.tile_rows, words + 16} : std::vector<IntExpr>{words, p.tile_rows});
    if (p.lines > 0)
      add(panels.columns, sum.columns, sum.reduction, {words, blocks * p.block_columns + kApart});
    else if (p.stages_columns)
      add(panels.columns, sum.columns, sum.reduction, {p.tile_columns, words + kApart});
    else if (!p.few_rows && !p.columns_in_place)
      add(panels.columns, sum.columns, sum.reduction, {blocks, words + (p.tiles ? 1 : 0), p.block_columns});
    const int64_t rows = by_blocks() ? p.block_rows : p.tile_rows, across = by_blocks() ? 1 : blocks;
    panels.sums.push_back(add_scratch(held_type(sum), {rows, across * p.block_columns + (p.tiles ? kApart : 0)}));
  }
  if (p.moved_rows)
    for (Panel& panel : panels.columns) panel.moved = add_scratch(DType::I32, {blocks, p.block_columns});
  return panels;
}

// Words of the inner axes that a panel has: matrix units take whole tiles, and blocks are turned in
// whole squares.
int64_t ProductLowering::words_of_part() const {
  const schedule::Product& p = product();
  return ((p.tile_inner + p.terms - 1) / p.terms + kSquare - 1) / kSquare * kSquare;
}

// The words of a part that are multiplied. Both factors have zeros in those beyond the inner axes.
IntExpr ProductLowering::whole_words(const Piece& inner) const {
  const IntExpr words = ceildiv(inner.length, product().terms);
  return product().tiles ? ceildiv(words, schedule::kSideOfTile) * schedule::kSideOfTile : words;
}

// Whether a panel of rows has the words of a row next to each other.
bool ProductLowering::rows_by_row() const { return product().rows_along_inner || product().tiles; }

const ProductLowering::Panel& ProductLowering::panel_of(const std::vector<Panel>& panels, NodeId factor,
                                                        int part) const {
  return *std::find_if(panels.begin(), panels.end(),
                       [&](const Panel& p) { return p.factor == factor && p.part == part; });
}

ExprId ProductLowering::factor_at(const Panel& panel, const Placement& placement) {
  return evaluator_.value(panel.factor, placement.at(domain().reductions[panel.reduction].argument_index));
}

// One of the terms of a word, shifted to its place in the word.
ExprId ProductLowering::term_in_word(ExprId value, int64_t term) {
  const auto number = [&](uint64_t n) { return builder_.constant(Scalar::of_uint(DType::U32, n)); };
  if (product().units == DType::BF16) {
    const ExprId bits = builder_.bitcast(value, DType::U32);
    return term == 0 ? builder_.raw(RawOp::Shr, DType::U32, {bits, number(16)})
                     : builder_.apply(Op::And, {bits, number(0xffff0000u)});
  }
  const ExprId byte = builder_.apply(Op::And, {builder_.cast(value, DType::U32, true), number(0xff)});
  return term == 0 ? byte : builder_.raw(RawOp::Shl, DType::U32, {byte, number(static_cast<uint64_t>(8 * term))});
}

// What a panel has of the inner axes from `first` on: an element, or as many as one multiplication
// takes.
ExprId ProductLowering::word_at(const Panel& panel, Placement placement, const IntExpr& first, bool last) {
  const schedule::Product& p = product();
  ExprId word = kNoExpr;
  for (int64_t t = 0; t < p.terms; ++t) {
    place(placement, p.inner, first + t);
    if (p.terms == 1) return factor_at(panel, placement);
    const bool beyond = last && t > 0;
    const ExprId inside = beyond ? evaluator_.only_where(guards_of(placement, p.inner)) : kNoExpr;
    ExprId term = term_in_word(factor_at(panel, placement), t);
    if (inside != kNoExpr)
      term = builder_.apply(Op::Where, {inside, term, builder_.constant(Scalar::of_uint(DType::U32, 0))});
    evaluator_.only_where(kNoExpr);
    word = word == kNoExpr ? term : builder_.apply(Op::Or, {word, term});
  }
  if (panel.of_rows && p.moved_rows)
    word = builder_.apply(Op::Xor, {word, builder_.constant(Scalar::of_uint(DType::U32, 0x80808080u))});
  return word;
}

// The words that lie inside of the inner axes, and the one after them. `in_lanes`: lanes go along
// them, line by line where there are lines.
std::vector<ProductLowering::Words> ProductLowering::words_of(const Piece& inner, bool in_lanes) const {
  const int64_t terms = product().terms;
  if (in_lanes && product().inner_lines > 0) {
    const int64_t line = product().tile_inner / product().inner_lines;
    const IntExpr lines = floordiv(inner.length, line);
    return {{lines.is(1) ? 0 : IntExpr::symbol(kInnerLine) * (line / terms), line / terms, false, lines}};
  }
  const IntExpr whole = floordiv(inner.length, terms), rest = ceildiv(inner.length, terms) - whole;
  std::vector<Words> words{{0, whole, false}};
  if (!rest.is(0)) words.push_back({whole, rest, true});
  return words;
}

LoopExtents ProductLowering::with_lines(LoopExtents loops, const Words& words) {
  if (!words.lines.is(1)) loops.emplace_back(kInnerLine, words.lines);
  return loops;
}

std::vector<Stmt> ProductLowering::pack_rows(const Panel& panel, const Tile& tile, const Piece& inner) {
  const IntExpr lane = IntExpr::symbol(kLane), outer = IntExpr::symbol(kRow);
  const schedule::Product& p = product();
  if (panel.turned >= 0) return pack_turned(panel, tile, inner);
  const bool along_inner = p.rows_along_inner;
  std::vector<Stmt> body;
  for (const Words& words : words_of(inner, along_inner)) {
    Placement placement = tile.placement;
    placement.ranges[kInnerLine] = {0, words.lines - 1};
    const IntExpr outer_extent = along_inner ? tile.rows.length : words.count;
    const IntExpr lane_extent = along_inner ? words.count : tile.rows.length;
    placement.ranges[kRow] = {0, outer_extent - 1};
    placement.ranges[kLane] = {0, lane_extent - 1};
    const IntExpr row = along_inner ? outer : lane, word = words.first + (along_inner ? lane : outer);
    place(placement, p.rows, tile.rows.first + row);
    place(placement, p.columns, 0);
    std::vector<Stmt> element;
    evaluator_.enter(&element, &placement.ranges);
    const ExprId value = word_at(panel, placement, inner.first + word * p.terms, words.last);
    element.push_back(builder_.store(
        {true, panel.buffer, rows_by_row() ? schedule::Index{row, word} : schedule::Index{word, row}}, value));
    append(body, in_loops(with_lines({{kRow, outer_extent}}, words), single(vector(lane_extent, std::move(element)))));
  }
  // What a block has beyond the rows is multiplied all the same.
  const IntExpr whole = ceildiv(tile.rows.length, p.block_rows) * p.block_rows;
  const IntExpr rest = whole - tile.rows.length, words = whole_words(inner), some = ceildiv(inner.length, p.terms);
  if (!(words == some))
    append(body, in_loops({{kRow, tile.rows.length}},
                          single(vector(words - some, single(zero_of(panel, {outer, some + lane}))))));
  if (rest.is(0) || (!p.few_rows && blocks_down(tile).back().exact)) return body;
  const bool by_row = rows_by_row();
  const IntExpr beyond = tile.rows.length + (by_row ? outer : lane);
  append(
      body,
      in_loops({{kRow, by_row ? rest : words}},
               single(vector(by_row ? words : rest, single(zero_of(panel, by_row ? schedule::Index{beyond, lane}
                                                                                 : schedule::Index{outer, beyond}))))));
  return body;
}

Stmt ProductLowering::zero_of(const Panel& panel, schedule::Index at) {
  const DType t = kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype;
  return builder_.store({true, panel.buffer, std::move(at)}, builder_.constant(neutral(ReduceKind::Sum, t)));
}

Access ProductLowering::rows_at(const Panel& panel, const IntExpr& row, const IntExpr& word) const {
  return {true, panel.buffer, rows_by_row() ? schedule::Index{row, word} : schedule::Index{word, row}};
}

// The lanes of a vector of columns.
Access ProductLowering::columns_at(const Panel& panel, const IntExpr& vector, const IntExpr& word) const {
  const IntExpr lane = IntExpr::symbol(kLane);
  if (product().lines > 0) return {true, panel.buffer, {word, vector * product().block_columns + lane}};
  return {true, panel.buffer, {vector, word, lane}};
}

// Columns of several axes: a panel has the lines of a tile one after the other, so that each is
// packed by vectors of neighbours.
std::vector<Stmt> ProductLowering::pack_lines(const Panel& panel, const Tile& tile, const Piece& inner) {
  const schedule::Product& p = product();
  const IntExpr lane = IntExpr::symbol(kLane), line = IntExpr::symbol(kLine), k = IntExpr::symbol(kWord);
  const IntExpr vectors = ceildiv(tile.across, p.block_columns), all = ceildiv(inner.length, p.terms),
                whole = whole_words(inner);
  std::vector<Stmt> body;
  if (!(whole == all))
    append(body, in_loops({{kWord, whole - all}},
                          single(vector(vectors * p.block_columns, single(zero_of(panel, {all + k, lane}))))));
  const auto zeros = [&](const IntExpr& lines, const IntExpr& first, const IntExpr& count) {
    if (count.is(0)) return;
    append(body, in_loops({{kLine, lines}, {kWord, all}},
                          single(vector(count, single(zero_of(panel, {k, in_tile(line, first + lane)}))))));
  };
  // What is beyond the columns is multiplied all the same.
  zeros(tile.lines.length, tile.columns.length, in_tile(1, 0) - tile.columns.length);
  zeros(1, tile.across, vectors * p.block_columns - tile.across);
  for (const Words& words : words_of(inner)) {
    Placement placement = tile.placement;
    placement.ranges[kLine] = {0, tile.lines.length - 1};
    placement.ranges[kLane] = {0, tile.columns.length - 1};
    placement.ranges[kWord] = {0, words.count - 1};
    place(placement, p.rows, 0);
    place_column(placement, tile, line, lane);
    std::vector<Stmt> element;
    evaluator_.enter(&element, &placement.ranges);
    const ExprId value = word_at(panel, placement, inner.first + (words.first + k) * p.terms, words.last);
    element.push_back(builder_.store({true, panel.buffer, {words.first + k, in_tile(line, lane)}}, value));
    append(body, in_loops({{kLine, tile.lines.length}, {kWord, words.count}},
                          single(vector(tile.columns.length, std::move(element)))));
  }
  if (panel.moved >= 0) append(body, sum_moved(panel, vectors, all));
  return body;
}

// Columns of few rows, as they lie in memory.
std::vector<Stmt> ProductLowering::stage_columns(const Panel& panel, const Tile& tile, const Piece& inner) {
  const IntExpr lane = IntExpr::symbol(kLane), column = IntExpr::symbol(kColumnVector);
  Placement placement = tile.placement;
  place(placement, product().rows, 0);
  place(placement, product().columns, tile.columns.first + column);
  place(placement, product().inner, inner.first + lane);
  placement.ranges[kColumnVector] = {0, tile.columns.length - 1};
  placement.ranges[kLane] = {0, inner.length - 1};
  std::vector<Stmt> element;
  evaluator_.enter(&element, &placement.ranges);
  element.push_back(builder_.store({true, panel.buffer, {column, lane}}, factor_at(panel, placement)));
  return in_loops({{kColumnVector, tile.columns.length}}, single(vector(inner.length, std::move(element))));
}

// Whether neighbours in memory are not those that a panel has next to each other.
void ProductLowering::add_turned(Panel& panel) {
  constexpr int64_t kApart = 16;
  const schedule::Product& p = product();
  const bool turns = panel.of_rows ? p.tiles && !p.rows_along_inner && p.rows.size() == 1
                                   : p.columns_along_inner && !p.few_rows && p.lines == 0;
  const DType t = kernel_.buffers[static_cast<size_t>(panel.buffer)].dtype;
  if (!turns || p.block_columns % kSquare != 0 || (size_of(t) != 4 && size_of(t) != 8)) return;
  const int64_t words = words_of_part();
  panel.turned = panel.of_rows ? add_scratch(t, {words, p.block_rows + kApart})
                               : add_scratch(t, {p.block_columns, words + kApart});
}

// Block by block: copied as it lies, then turned by squares of registers, as stores that go across
// would take a cycle each.
std::vector<Stmt> ProductLowering::pack_turned(const Panel& panel, const Tile& tile, const Piece& inner) {
  const schedule::Product& p = product();
  const bool of_rows = panel.of_rows;
  const Symbol blocks = of_rows ? kBlock : kColumnVector;
  const Piece& own = of_rows ? tile.rows : tile.columns;
  const int64_t block = of_rows ? p.block_rows : p.block_columns;
  const IntExpr lane = IntExpr::symbol(kLane), outer = IntExpr::symbol(kRow), b = IntExpr::symbol(blocks),
                some = ceildiv(inner.length, p.terms), all = ceildiv(some, kSquare) * kSquare;
  const auto at = [&](const IntExpr& element, const IntExpr& word) {
    return of_rows ? schedule::Index{word, element} : schedule::Index{element, word};
  };
  Placement around = tile.placement;
  const IntExpr count = ceildiv(own.length, block);
  around.ranges[blocks] = {0, count - 1};
  const IntExpr width = min(block, own.length - b * block, around.ranges);
  std::vector<Stmt> body, each;
  const auto zeros = [&](std::vector<Stmt>& into, const IntExpr& elements, const IntExpr& first, const IntExpr& words,
                         const IntExpr& first_word) {
    const IntExpr down = of_rows ? words : elements, across = of_rows ? elements : words;
    const Stmt zero = builder_.store(
        {true, panel.turned, at(first + (of_rows ? lane : outer), first_word + (of_rows ? outer : lane))},
        builder_.constant(neutral(ReduceKind::Sum, kernel_.buffers[static_cast<size_t>(panel.turned)].dtype)));
    append(into, in_loops({{kRow, down}}, single(vector(across, single(zero)))));
  };
  // Matrix units multiply what is beyond the inner axes, or beyond a block, all the same.
  if (p.tiles && !(all == some)) zeros(body, block, 0, all - some, some);
  if (!(width == IntExpr(block))) zeros(each, block - width, width, all, 0);
  for (const Words& words : words_of(inner, !of_rows)) {
    Placement placement = around;
    placement.ranges[kInnerLine] = {0, words.lines - 1};
    placement.ranges[of_rows ? kLane : kRow] = {0, width - 1};
    placement.ranges[of_rows ? kRow : kLane] = {0, words.count - 1};
    const IntExpr element = of_rows ? lane : outer, word = words.first + (of_rows ? outer : lane);
    place(placement, of_rows ? p.columns : p.rows, 0);
    place(placement, of_rows ? p.rows : p.columns, own.first + b * block + element);
    std::vector<Stmt> copied;
    evaluator_.enter(&copied, &placement.ranges);
    const ExprId value = word_at(panel, placement, inner.first + word * p.terms, words.last);
    copied.push_back(builder_.store({true, panel.turned, at(element, word)}, value));
    append(each, in_loops(with_lines({{kRow, of_rows ? words.count : width}}, words),
                          single(vector(of_rows ? width : words.count, std::move(copied)))));
  }
  each.push_back(Turn{.into = {true, panel.buffer, of_rows ? schedule::Index{b * block, 0} : schedule::Index{b, 0, 0}},
                      .from = {true, panel.turned, {0, 0}},
                      .rows = of_rows ? all : IntExpr(block),
                      .columns = of_rows ? IntExpr(block) : all});
  append(body, in_loops({{blocks, count}}, std::move(each)));
  if (panel.moved >= 0) append(body, sum_moved(panel, count, some));
  return body;
}

std::vector<Stmt> ProductLowering::pack_columns(const Panel& panel, const Tile& tile, const Piece& inner) {
  const schedule::Product& p = product();
  if (panel.turned >= 0) return pack_turned(panel, tile, inner);
  const IntExpr lane = IntExpr::symbol(kLane), vec = IntExpr::symbol(kColumnVector), k = IntExpr::symbol(kWord);
  const IntExpr vectors = ceildiv(tile.columns.length, p.block_columns),
                full = floordiv(tile.columns.length, p.block_columns), all = ceildiv(inner.length, p.terms),
                whole = whole_words(inner);
  std::vector<Stmt> body;
  if (!(whole == all))
    append(body, in_loops({{kColumnVector, vectors}, {kWord, whole - all}},
                          single(vector(p.block_columns, single(zero_of(panel, {vec, all + k, lane}))))));
  // What a vector has beyond the columns is multiplied all the same.
  if (!(vectors == full))
    append(body, in_loops({{kColumnVector, vectors - full}, {kWord, all}},
                          single(vector(p.block_columns, single(zero_of(panel, {full + vec, k, lane}))))));
  for (const Words& words : words_of(inner, p.columns_along_inner)) {
    Placement placement = tile.placement;
    place(placement, p.rows, 0);
    placement.ranges[kInnerLine] = {0, words.lines - 1};
    placement.ranges[kColumnVector] = {0, vectors - 1};
    const IntExpr width = min(p.block_columns, tile.columns.length - vec * p.block_columns, placement.ranges);
    const IntExpr column = p.columns_along_inner ? IntExpr::symbol(kRow) : lane,
                  word = words.first + (p.columns_along_inner ? lane : k);
    placement.ranges[p.columns_along_inner ? kRow : kLane] = {0, width - 1};
    placement.ranges[p.columns_along_inner ? kLane : kWord] = {0, words.count - 1};
    place(placement, p.columns, tile.columns.first + vec * p.block_columns + column);
    std::vector<Stmt> element;
    evaluator_.enter(&element, &placement.ranges);
    const ExprId value = word_at(panel, placement, inner.first + word * p.terms, words.last);
    element.push_back(builder_.store({true, panel.buffer, {vec, word, column}}, value));
    append(body, p.columns_along_inner ? in_loops(with_lines({{kColumnVector, vectors}, {kRow, width}}, words),
                                                  single(vector(words.count, std::move(element))))
                                       : in_loops({{kWord, words.count}, {kColumnVector, vectors}},
                                                  single(vector(width, std::move(element)))));
  }
  if (panel.moved >= 0) append(body, sum_moved(panel, vectors, all));
  return body;
}

// Rows that were moved by 128 add 128 times the sum of a column to each of its results.
std::vector<Stmt> ProductLowering::sum_moved(const Panel& panel, const IntExpr& vectors, const IntExpr& words) {
  const IntExpr lane = IntExpr::symbol(kLane), vec = IntExpr::symbol(kColumnVector), k = IntExpr::symbol(kWord);
  const int64_t lanes = product().block_columns;
  const LocalId sum = builder_.new_local(DType::I32, true);
  std::vector<Stmt> body = single(assign(sum, builder_.constant(Scalar::of_int(DType::I32, 0))));
  const ExprId moved = builder_.constant(Scalar::of_uint(DType::U32, 0x80808080u)),
               column = builder_.load(columns_at(panel, vec, k));
  append(body, in_loops({{kWord, words}}, single(assign(sum, builder_.raw(RawOp::DotBytes, DType::I32,
                                                                          {builder_.local(sum), moved, column})))));
  body.push_back(builder_.store({true, panel.moved, {vec, lane}}, builder_.local(sum)));
  return in_loops({{kColumnVector, vectors}},
                  single(loop(LoopKind::Vector, kLane, lanes, std::move(body), static_cast<int>(lanes))));
}

}  // namespace smelt::kernel
